// The lines of a game, and which of them the reader has seen.
import type { Node } from '../../api/wire';
import type { GameId, NodeId } from '../../store/ids';
import type { Game } from '../../store/apply';

/** The main line or a variation. */
export interface OutlineLine {
  /** Its moves up to its end; variations of them are lines of their own. */
  moves: Node[];
  /** 0 for the main line. */
  depth: number;
  /** Identifies its first move by the moves from the start. */
  key: string;
}

/** The move of a path as part of a hash: FNV-1a with 32 bits. */
function step(hash: number, uci: string): number {
  for (let at = 0; at < uci.length; at++) hash = Math.imul(hash ^ uci.charCodeAt(at), 0x01000193);
  return Math.imul(hash ^ 32, 0x01000193) >>> 0;
}

const START = 0x811c9dc5;

/** The lines of a game, each before its variations. */
export function outlineOf(game: Game): OutlineLine[] {
  const lines: OutlineLine[] = [];
  const first = game.nodes.get(game.root)?.children[0];
  const open: [id: NodeId | undefined, depth: number, hash: number][] = [[first, 0, START]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [id, depth, before] = next;
    const moves: Node[] = [];
    const variations: typeof open = [];
    let hash = before;
    let key = '';
    for (let node = id === undefined ? undefined : game.nodes.get(id); node;) {
      const parent = moves.length || depth === 0 ? game.nodes.get(node.parent ?? game.root) : undefined;
      for (const other of parent?.children.slice(1) ?? []) variations.push([other, depth + 1, hash]);
      hash = step(hash, node.uci);
      key ||= hash.toString(36);
      moves.push(node);
      node = node.children[0] === undefined ? undefined : game.nodes.get(node.children[0]);
    }
    if (moves.length) lines.push({ moves, depth, key });
    open.push(...variations.toReversed());
  }
  return lines;
}

/** The key of the line of a node. */
export function lineKey(game: Game, id: NodeId): string {
  const path: Node[] = [];
  let length = 0;
  for (let node = game.nodes.get(id); node && node.parent !== null; node = game.nodes.get(node.parent)) {
    path.push(node);
    // The first move of the line of the node is the last one of the path that is no main continuation.
    const isFirst = game.nodes.get(node.parent)?.children[0] !== node.id || node.parent === game.root;
    if (isFirst && length === 0) length = path.length;
  }
  let hash = START;
  for (const node of path.toReversed().slice(0, path.length - length + 1)) hash = step(hash, node.uci);
  return hash.toString(36);
}

/** Maximum number of games whose lines are remembered, and of lines of a game. */
const [MAX_GAMES, MAX_LINES] = [200, 5000];
const STORED = 'readyok.seen';

type Seen = { [game in GameId]?: string[] };

function stored(): Seen {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(STORED) ?? '{}');
    return typeof found === 'object' && found !== null ? (found as Seen) : {};
  } catch {
    return {};
  }
}

/** The keys of the lines that this browser has shown. */
export function seenLines(game: GameId): Set<string> {
  const keys = stored()[game];
  return new Set(Array.isArray(keys) ? keys : []);
}

/** Remembers lines. A browser without storage forgets them. */
export function storeSeen(game: GameId, keys: Set<string>) {
  const others = Object.entries(stored()).filter(([id]) => Number(id) !== game);
  const all = [...others.slice(1 - MAX_GAMES), [String(game), [...keys].slice(-MAX_LINES)]];
  try {
    localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(all)));
  } catch {
    // No storage, or it is full.
  }
}
