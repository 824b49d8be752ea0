// The open boards: their names, and how they are closed and opened again.
import type { GameLine } from '../api/wire';
import { gameNames, renamed } from '../parts/library/openGames';
import type { GameId } from '../store/ids';
import { act } from '../store/server.svelte';
import { t } from '../i18n/index.svelte';
import { prefs, setPref } from './prefs.svelte';
import { go, isBoardPage, router, type Page } from './route.svelte';
import { toast } from './toasts.svelte';

class Boards {
  /** Closed in this browser tab, the last one last. */
  closed = $state<GameId[]>([]);
  /** The board whose name is being edited. */
  editing = $state<GameId | null>(null);
}

export const boards = new Boards();

/** The page on which a board is shown: the present one, or else Analysis. */
export const boardPage = (): Page => (isBoardPage(router.route) ? router.route.page : 'analyse');

/** The name of a board: of the user, or else the players. */
export function boardName(game: GameLine): string {
  const own = gameNames(prefs.gameNames)[game.id];
  if (own) return own;
  const { first, second } = game.names;
  return first || second ? `${first || '?'} – ${second || '?'}` : t(`variant.${game.variant}`);
}

export function renameBoard(game: GameId, name: string) {
  boards.editing = null;
  setPref('gameNames', renamed(prefs.gameNames, game, name));
}

export function openBoard(game: GameId) {
  go(boardPage(), game);
}

/** Closes a board. The next one is shown if it was `current`. */
export async function closeBoard(game: GameLine, all: GameLine[], current: GameId | null) {
  const index = all.indexOf(game);
  const next = all[index + 1] ?? all[index - 1];
  // The page of a closed game would open it again.
  if (game.id === current) go(boardPage(), next?.id ?? null, next ? '' : 'new');
  if (await act({ kind: 'close_game', game: game.id })) boards.closed.push(game.id);
}

/** Closes boards; a message offers to open them again. */
export async function closeBoards(games: GameLine[]) {
  const closed: GameId[] = [];
  for (const { id } of games) if (await act({ kind: 'close_game', game: id })) closed.push(id);
  if (!closed.length) return;
  boards.closed.push(...closed);
  const accept = () => void openAgain(closed);
  toast(t('boards.closed', { count: closed.length }), 'good', { label: t('boards.open_again'), accept });
}

async function openAgain(games: GameId[]) {
  for (const game of games) await act({ kind: 'open_game', game });
  boards.closed = boards.closed.filter((id) => !games.includes(id));
}

export async function reopenBoard() {
  const game = boards.closed.pop();
  if (game === undefined) return;
  const answer = await act({ kind: 'open_game', game });
  if (answer?.kind === 'game') openBoard(answer.game);
}
