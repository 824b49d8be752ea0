// One interface over the boards of all variants.
import type { PositionView, LegalMove, Side } from '../api/wire';

export interface View {
  /** FEN or SFEN. */
  text: string;
  turn: Side;
  orientation: Side;
  /** The side whose pieces can be moved; null disables moves. */
  movable: Side | 'both' | null;
  /** Target squares, by origin square, or by letter and `*` for a piece in hand. */
  dests: Map<string, string[]>;
  last: string[];
  check: string | null;
  premove: boolean;
  animate: boolean;
}

export interface Hands {
  /** A piece was moved, or dropped from `P*`. */
  moved(from: string, to: string, premoved: boolean): void;
  /** A square or piece in hand was selected or deselected. */
  picked(square: string | null): void;
}

export interface Board {
  show(view: View): void;
  /** Selects a square or a piece in hand. */
  press(square: string): void;
  /** Cancels the selection and the premove. */
  cancel(): void;
  /** Plays the premove if it is legal. */
  playPremove(): void;
  cancelPremove(): void;
  destroy(): void;
}

/** Target squares of the legal moves, by origin. */
export function destinations(legal: LegalMove[]): Map<string, string[]> {
  const dests = new Map<string, string[]>();
  for (const move of legal) {
    const from = origin(move);
    const squares = dests.get(from) ?? [];
    for (const to of move.to) if (!squares.includes(to)) squares.push(to);
    dests.set(from, squares);
  }
  return dests;
}

/** The origin square of a move, or its piece in hand with `*`. */
export function origin(move: LegalMove): string {
  return move.from ?? `${move.drop}*`;
}

/** The legal moves between two squares: several if promotion is optional. */
export function between(position: PositionView, from: string, to: string): LegalMove[] {
  return position.legal.filter((move) => origin(move) === from && move.to.includes(to));
}

export function other(side: Side): Side {
  return side === 'first' ? 'second' : 'first';
}
