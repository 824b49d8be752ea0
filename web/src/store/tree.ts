// Queries on the tree of a game.
import type { Node, Side } from '../api/wire';
import type { NodeId } from './ids';
import type { Game } from './apply';

/** The nodes of the main line, without the root. */
export function mainLine(game: Game): Node[] {
  return lineFrom(game, game.root);
}

/** The main line after a node, without the node. */
export function lineFrom(game: Game, id: NodeId): Node[] {
  const line: Node[] = [];
  let next = game.nodes.get(id)?.children[0];
  while (next !== undefined) {
    const node = game.nodes.get(next);
    if (!node) break;
    line.push(node);
    next = node.children[0];
  }
  return line;
}

/** The path to a node, including it, without the root. */
export function lineTo(game: Game, id: NodeId): Node[] {
  const line: Node[] = [];
  for (let node = game.nodes.get(id); node && node.parent !== null; node = game.nodes.get(node.parent)) {
    line.push(node);
  }
  return line.toReversed();
}

/** The moves of the path to a node, without an illegal one, which is not played. */
export function movesTo(game: Game, id: NodeId): string[] {
  return lineTo(game, id).flatMap((node) => (node.kind === 'illegal' ? [] : [node.uci]));
}

/** The query for the position after a line; a threat starts with a null move. */
export function endOf(game: Game, id: NodeId, line: string[], threat: boolean) {
  const start = `${game.variant === 'shogi' ? 'sfen' : 'fen'} ${game.start}`;
  const moves = threat ? movesTo(game, id) : [...movesTo(game, id), ...line];
  const text = `position ${start} moves ${moves.join(' ')}`;
  return { variant: game.variant, text, threat: threat ? line : null };
}

export type Step = 'first' | 'back' | 'next' | 'last' | 'up' | 'down';

/** The target of a step; the node itself if it does not exist. */
export function step(game: Game, from: NodeId, how: Step): NodeId {
  const node = game.nodes.get(from);
  if (!node) return game.cursor;
  switch (how) {
    case 'first':
      return game.root;
    case 'back':
      return node.parent ?? from;
    case 'next':
      return node.children[0] ?? from;
    case 'last':
      return lineFrom(game, from).at(-1)?.id ?? from;
    case 'up':
    case 'down': {
      const siblings = node.parent === null ? [from] : (game.nodes.get(node.parent)?.children ?? [from]);
      return siblings[siblings.indexOf(from) + (how === 'up' ? -1 : 1)] ?? from;
    }
  }
}

/** The side of the move to a node. */
export function moverOf(game: Game, node: Node): Side {
  const firstMover = node.ply % 2 === 1;
  return firstMover === (game.first_turn === 'first') ? 'first' : 'second';
}

/** The number of a move, and whether it is one of the second side. */
export function numberOf(game: Game, node: Node): { number: number; second: boolean } {
  return numberAt(game, node.ply);
}

/** What the numbers of the moves of a game or a line depend on. */
type Numbering = Pick<Game, 'variant' | 'first_number' | 'first_turn'>;

/** The number of the move at a ply, and whether it is one of the second side. */
export function numberAt(game: Numbering, ply: number): { number: number; second: boolean } {
  if (game.variant === 'shogi') return { number: game.first_number + ply - 1, second: false };
  const half = game.first_turn === 'second' ? 1 : 0;
  const count = ply - 1 + half;
  return { number: game.first_number + Math.floor(count / 2), second: count % 2 === 1 };
}

/** The number before a move of a printed line, which starts at `index` 0; empty where none is usual. */
export function lineNumber(game: Numbering, ply: number, index: number): string {
  if (game.variant === 'shogi') return index === 0 ? `${game.first_number + ply - 1}.` : '';
  const { number, second } = numberAt(game, ply);
  if (second) return index === 0 ? `${number}…` : '';
  return `${number}.`;
}

/** The number of a single move, such as `5` and `5…`. */
export function numberText(game: Game, node: Node): string {
  const { number, second } = numberOf(game, node);
  return second ? `${number}…` : `${number}`;
}

/** A row of the move list: one or two moves, followed by notes. */
export interface Row {
  number: number;
  first: Node | null;
  second: Node | null;
  /** Nodes whose comments or better lines follow, and first nodes of variations. */
  notes: { node: Node; variations: Node[] }[];
}

/** The main line in rows of two moves. A move with variations or comments ends its row. */
export function rowsOf(game: Game): Row[] {
  const rows: Row[] = [];
  let open: Row | null = null;
  for (const node of mainLine(game)) {
    // In shogi each move has a number: the first one begins a row, also in handicap games.
    const first = game.variant === 'shogi' ? node.ply % 2 === 1 : moverOf(game, node) === 'first';
    const { number } = numberOf(game, node);
    if (!open || first || open.second) {
      open = { number, first: null, second: null, notes: [] };
      rows.push(open);
    }
    if (first) open.first = node;
    else open.second = node;
    const parent = node.parent === null ? undefined : game.nodes.get(node.parent);
    const variations = (parent?.children.slice(1) ?? []).flatMap((id) => game.nodes.get(id) ?? []);
    if (variations.length || node.comments.length || node.before.length || node.engine?.better.length) {
      open.notes.push({ node, variations });
      open = null;
    }
  }
  return rows;
}

/** Symbols of numeric annotation glyphs, all in common fonts: few have U+2A72 (⩲), U+27F3 (⟳) or U+2A00 (⨀). */
export const NAGS: Record<number, string> = {
  1: '!',
  2: '?',
  3: '!!',
  4: '??',
  5: '!?',
  6: '?!',
  7: '□',
  10: '=',
  13: '∞',
  14: '+/=',
  15: '=/+',
  16: '±',
  17: '∓',
  18: '+−',
  19: '−+',
  22: '⊙',
  26: '○',
  32: '↑↑',
  36: '↑',
  40: '→',
  132: '⇆',
  138: '⊕',
  140: '∆',
  146: 'N',
};

/** The glyphs of White whose successors are those of Black, with the same symbol. */
const OF_BOTH = new Set([22, 26, 32, 36, 40, 132, 138]);

/** The glyphs of a move: those of the author, and an engine's assessment unless the author has assessed the move. */
export function nagsOf(node: Node): number[] {
  const nag = node.engine?.nag ?? null;
  return nag === null || node.nags.some((own) => own >= 1 && own <= 6) ? node.nags : [nag, ...node.nags];
}

/** The evaluation of the position after a move: that of the author, or else of an engine. */
export const evaluationOf = (node: Node) => node.evaluation ?? node.engine?.evaluation ?? null;

export const nagText = (nags: number[]) =>
  nags.map((nag) => NAGS[nag] ?? (OF_BOTH.has(nag - 1) ? NAGS[nag - 1] : `$${nag}`)).join('');
