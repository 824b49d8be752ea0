// Moves of shogi pieces on an empty board, for premoves; the server validates them.
import { SHOGI_ROLES } from './squares';

type Step = [number, number];

const GOLD: Step[] = [
  [-1, -1],
  [0, -1],
  [1, -1],
  [-1, 0],
  [1, 0],
  [0, 1],
];
const STRAIGHT: Step[] = [
  [0, -1],
  [0, 1],
  [-1, 0],
  [1, 0],
];
const DIAGONAL: Step[] = [
  [-1, -1],
  [1, -1],
  [-1, 1],
  [1, 1],
];

const STEPS: Record<string, Step[]> = {
  king: [...STRAIGHT, ...DIAGONAL],
  gold: GOLD,
  silver: [
    [-1, -1],
    [0, -1],
    [1, -1],
    [-1, 1],
    [1, 1],
  ],
  knight: [
    [-1, -2],
    [1, -2],
  ],
  pawn: [[0, -1]],
  dragon: DIAGONAL,
  horse: STRAIGHT,
  promotedsilver: GOLD,
  promotedknight: GOLD,
  promotedlance: GOLD,
  tokin: GOLD,
};

const SLIDES: Record<string, Step[]> = {
  rook: STRAIGHT,
  dragon: STRAIGHT,
  bishop: DIAGONAL,
  horse: DIAGONAL,
  lance: [[0, -1]],
};

const RANKS = 'abcdefghi';

/** The target squares of a piece on an empty board. */
export function reach(square: string, role: string, first: boolean): string[] {
  const file = Number(square[0]);
  const rank = RANKS.indexOf(square[1] ?? '');
  const forwards = first ? 1 : -1;
  const found: string[] = [];
  const add = ([x, y]: Step, far: number) => {
    for (let step = 1; step <= far; step++) {
      const to = [file + x * step, rank + y * step * forwards] as const;
      if (to[0] < 1 || to[0] > 9 || to[1] < 0 || to[1] > 8) return;
      found.push(`${to[0]}${RANKS[to[1]]}`);
    }
  };
  for (const step of STEPS[role] ?? []) add(step, 1);
  for (const step of SLIDES[role] ?? []) add(step, 8);
  return found;
}

export const SHOGI_LETTERS: Record<string, string> = Object.fromEntries(
  Object.entries(SHOGI_ROLES).map(([letter, role]) => [role, letter]),
);
