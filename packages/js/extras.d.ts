import type { Move, Position } from './index.js';

/** Loads the module of this part, `extras.wasm`. */
export function loadExtras(source?: URL | BufferSource | Response | WebAssembly.Module | Promise<Response>): Promise<void>;

/** The opening of a position of chess, regardless of the moves that led to it. */
export function opening(position: Position | string): { eco: string; name: string } | undefined;

export type Category =
  | 'win'
  | 'win or cursed win'
  | 'cursed win'
  | 'draw'
  | 'blessed loss'
  | 'loss or blessed loss'
  | 'loss';

/** The value for the side to move: a category, and the plies to the next capture or pawn move of best play. */
export interface TableValue {
  category: Category | undefined;
  dtz: number | undefined;
}

/** Syzygy endgame tables. */
export class Syzygy {
  /** Tables by file name: `KQvK.rtbw`, `KQvK.rtbz`. */
  constructor(files: Iterable<[name: string, bytes: BufferSource]> | Record<string, BufferSource>);
  /** The value of a position and of its moves, the best one first. */
  probe(position: Position | string): TableValue & { moves: (TableValue & { move: Move })[] };
  free(): void;
  [Symbol.dispose](): void;
}
