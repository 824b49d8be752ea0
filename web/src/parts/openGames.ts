// Open games: their names in this installation, and new boards.
import type { Variant } from '../api/wire';
import { go } from '../app/route.svelte';
import type { GameId } from '../store/ids';
import { act } from '../store/server.svelte';

/** Opens an analysis board with the start position. */
export async function newBoard(variant: Variant) {
  const start =
    variant === 'chess960' ? ({ kind: 'number', number: null } as const) : { kind: 'usual' as const };
  const game = { variant, start, players: null, rules: 'federation' as const, book: null };
  const answer = await act({ kind: 'new_game', game });
  if (answer?.kind === 'game') go('analyse', answer.game);
}

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
