// Captured pieces of chess positions and the material balance.
import type { Side } from '../api/wire';
import { readSetup } from './squares';

/** Values in pawns. */
const VALUES: Record<string, number> = { Q: 9, R: 5, B: 3, N: 3, P: 1 };
const LETTERS = ['Q', 'R', 'B', 'N', 'P'];

export interface Material {
  /** The captured pieces of the other side, the most valuable first. */
  captured: { letter: string; count: number }[];
  /** The lead in pawns; 0 for the side that is behind. */
  lead: number;
}

type Counts = Record<Side, Map<string, number>>;

function counts(fen: string): Counts {
  const found: Counts = { first: new Map(), second: new Map() };
  for (const { side, letter } of readSetup(fen, false).pieces.values()) {
    found[side].set(letter, (found[side].get(letter) ?? 0) + 1);
  }
  return found;
}

/** The material of both sides, given the start position of the game. */
export function materialOf(start: string, fen: string): Record<Side, Material> {
  const [before, now] = [counts(start), counts(fen)];
  const value = (side: Side) =>
    LETTERS.reduce((sum, letter) => sum + (now[side].get(letter) ?? 0) * (VALUES[letter] ?? 0), 0);
  const of = (side: Side): Material => {
    const other = side === 'first' ? 'second' : 'first';
    const missing = (letter: string) => (before[other].get(letter) ?? 0) - (now[other].get(letter) ?? 0);
    // A promoted pawn is not captured.
    const promoted = LETTERS.slice(0, 4).reduce((sum, letter) => sum + Math.max(0, -missing(letter)), 0);
    const captured = LETTERS.map((letter) => ({
      letter,
      count: Math.max(0, missing(letter) - (letter === 'P' ? promoted : 0)),
    }));
    return {
      captured: captured.filter(({ count }) => count > 0),
      lead: Math.max(0, value(side) - value(other)),
    };
  };
  return { first: of('first'), second: of('second') };
}
