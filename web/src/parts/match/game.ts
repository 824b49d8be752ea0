// Opens games of matches.
import { downloadFile, gamePath } from '../../store/matches.svelte';
import { getText } from '../../store/http';
import { attempt } from '../../store/server.svelte';
import { isReader } from '../../store/session';
import { go } from '../../app/route.svelte';
import { importText } from '../library/import';
import { showGame } from '../library/openGames';
import type { Shown } from './shown';

/** Opens a game on a board. Readers have no boards: they download it. */
export async function openMatchGame(match: Pick<Shown, 'source' | 'id' | 'variant'>, number: number) {
  if (isReader()) return downloadFile(match, 'games', number);
  if (match.source === 'local')
    return void (await showGame({ kind: 'open_match_game', id: Number(match.id), number }));
  const found = await attempt(async () => (await getText(gamePath(match), { game: String(number) })).blob());
  if (!found) return;
  const name = match.variant === 'shogi' ? 'game.csa' : 'game.pgn';
  const result = await importText(found, name, { open: true });
  if (result?.opened) go('analyse', result.opened);
}
