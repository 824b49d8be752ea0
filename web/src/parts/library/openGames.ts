// Open games: their names in this installation, and new boards.
import type { Command, Variant } from '../../api/wire';
import { go, router } from '../../app/route.svelte';
import type { GameId } from '../../store/ids';
import { act } from '../../store/server.svelte';

/** The board that this tab shows. If it is an untouched draft, the next board takes its place. */
export function shownBoard(): GameId | null {
  const { page, id } = router.route;
  return page === 'play' || page === 'analyse' ? id : null;
}

/** The board that a new one takes the place of, as a field of a command. */
export function replaced(): { replaces?: GameId } {
  const replaces = shownBoard();
  return replaces === null ? {} : { replaces };
}

/** Opens an analysis board with the start position. Answers with its game. */
export async function newBoard(variant: Variant): Promise<GameId | null> {
  const start =
    variant === 'chess960' ? ({ kind: 'number', number: null } as const) : { kind: 'usual' as const };
  const game = { variant, start, players: null, rules: 'federation' as const, book: null };
  return showGame({ kind: 'new_game', game, ...replaced() });
}

/** Sends a command that opens a game, and shows the game. Answers with it, or null if it cannot be opened. */
export async function showGame(
  command: Command,
  page: 'play' | 'analyse' = 'analyse',
): Promise<GameId | null> {
  const answer = await act(command);
  if (answer?.kind !== 'game') return null;
  go(page, answer.game);
  return answer.game;
}

/** Opens a game of the library. */
export const openGame = (game: GameId) => showGame({ kind: 'open_game', game });

/** Maximum number of stored names; the oldest games lose theirs. */
const MAX_NAMES = 200;

/** The names given by the user, by game. */
export function gameNames(stored: string): { [game in string]?: string } {
  try {
    const found: unknown = JSON.parse(stored || '{}');
    if (typeof found !== 'object' || found === null) return {};
    return Object.fromEntries(Object.entries(found).filter(([, name]) => typeof name === 'string'));
  } catch {
    return {};
  }
}

/** The stored names after a game was renamed. An empty name restores the names of the players. */
export function renamed(stored: string, game: GameId, name: string): string {
  const { [game]: _, ...others } = gameNames(stored);
  const all = name.trim() ? { ...others, [game]: name.trim() } : others;
  // Numbers as keys are in ascending order.
  return JSON.stringify(Object.fromEntries(Object.entries(all).slice(-MAX_NAMES)));
}
