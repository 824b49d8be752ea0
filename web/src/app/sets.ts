// The sets of pieces and the boards. A set is a folder of `public/pieces`; the colors of the boards are in
// `board/looks.ts`.
export const CHESS_SETS = ['classic', 'simple', 'staunton', 'figurine', 'letters'] as const;
export const SHOGI_SETS = ['kanji', 'brush', 'gothic', 'international'] as const;
export const CHESS_BOARDS = [
  'green',
  'brown',
  'blue',
  'gray',
  'wood',
  'purple',
  'rose',
  'sea',
  'slate',
] as const;
export const SHOGI_BOARDS = ['kaya', 'light', 'dark', 'paper', 'moss'] as const;

export type ChessPieces = (typeof CHESS_SETS)[number];
export type ShogiPieces = (typeof SHOGI_SETS)[number];
export type ChessBoard = (typeof CHESS_BOARDS)[number];
export type ShogiBoard = (typeof SHOGI_BOARDS)[number];

/** The stored name if it exists in this version, otherwise the first one. */
export function existing<T extends string>(all: readonly [T, ...T[]], stored: string): T {
  return all.find((one) => one === stored) ?? all[0];
}
