// The place of this browser tab in the game that it displays, which survives a reload.
import type { Game } from './apply';
import type { GameId, NodeId } from './ids';

const KEY = 'readyok.cursor';

interface OwnCursor {
  game: GameId;
  node: NodeId;
  /** Whether it was the last position of a game in progress, which later moves replace. */
  tip: boolean;
}

const isTip = (game: Game) =>
  game.play !== null && game.play.status !== 'over' && game.play.last_move_node === game.cursor;

export function storeCursor(game: Game) {
  const cursor: OwnCursor = { game: game.id, node: game.cursor, tip: isTip(game) };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(cursor));
  } catch {
    // Without storage, a reload shows the latest position.
  }
}

/** The node at which this tab was before a reload, if it has to return there. */
export function cursorToRestore(game: Game): NodeId | null {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as OwnCursor | null;
    if (stored?.game !== game.id || stored.tip || stored.node === game.cursor) return null;
    return game.nodes.has(stored.node) ? stored.node : null;
  } catch {
    return null;
  }
}
