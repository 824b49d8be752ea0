// What a page wants of a board, whichever game is on it.
import type { PositionView, LegalMove, Side } from '../api/wire';

/** What is on the board. */
export interface View {
  /** FEN or SFEN. */
  text: string;
  turn: Side;
  orientation: Side;
  /** Whose pieces can be moved; nobody's if null. */
  movable: Side | 'both' | null;
  /** Where each piece can go, by its square, or by its letter and `*` for a piece in hand. */
  dests: Map<string, string[]>;
  last: string[];
  check: string | null;
  premove: boolean;
  animate: boolean;
}

/** What a board tells. */
export interface Hands {
  /** A piece was moved, or dropped from `P*`. */
  moved(from: string, to: string): void;
  /** A square or piece in hand was chosen, or the choice was given up. */
  picked(square: string | null): void;
}

/** A board on the page. */
export interface Board {
  show(view: View): void;
  /** Chooses a square or a piece in hand as a click would. */
  press(square: string): void;
  /** Gives up a choice and a move made beforehand. */
  cancel(): void;
  /** Plays the move made beforehand, if it is legal now. */
  playPremove(): void;
  destroy(): void;
}

/** Where each piece can go, of all legal moves. */
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

/** The square that a move starts from, or its piece in hand with `*`. */
export function origin(move: LegalMove): string {
  return move.from ?? `${move.drop}*`;
}

/** The moves from a square to another: more than one if a promotion is to be chosen. */
export function between(here: PositionView, from: string, to: string): LegalMove[] {
  return here.legal.filter((move) => origin(move) === from && move.to.includes(to));
}

export function other(side: Side): Side {
  return side === 'first' ? 'second' : 'first';
}
