// The players of a game: their names, and who moves on the board.
import type { Play, Side, Sides } from '../../api/wire';
import type { Game } from '../../store/apply';

/** Of the players, or else by the record; empty if unknown. */
export function namesOf(game: Game): Sides<string> {
  if (game.play) return { first: game.play.players.first.name, second: game.play.players.second.name };
  const value = (...keys: string[]) => game.headers.find((header) => keys.includes(header.name))?.value ?? '';
  return { first: value('White', '先手', '下手', 'Sente'), second: value('Black', '後手', '上手', 'Gote') };
}

/** The side of the human player, if there is exactly one. */
export function humanSide(play: Play | null): Side | null {
  if (!play) return null;
  const { first, second } = play.players;
  if (first.player.kind === second.player.kind) return null;
  return first.player.kind === 'human' ? 'first' : 'second';
}

/** Whose pieces can be moved on the board. */
export function movableIn(game: Game, analyzes: boolean): Side | 'both' | null {
  const { play } = game;
  if (!play || play.status === 'over') return 'both';
  if (play.last_move_node !== game.cursor) return analyzes ? 'both' : null;
  if (play.status === 'your_turn') return game.position.turn;
  return play.status === 'searching' || play.status === 'starting' ? humanSide(play) : null;
}
