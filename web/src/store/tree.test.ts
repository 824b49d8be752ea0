import { expect, test } from 'vitest';
import type { Node } from '../api/wire';
import type { Game } from './apply';
import { NAGS, endOf, nagText, numberText } from './tree';

const node = (id: number, parent: number | null, uci: string) => ({ id, parent, uci }) as unknown as Node;
const game = {
  root: 0,
  variant: 'chess',
  start: 'a start',
  nodes: new Map([node(0, null, ''), node(1, 0, 'e2e4'), node(2, 1, 'e7e5')].map((one) => [one.id, one])),
} as unknown as Game;

test('appends a line to the moves of its node', () => {
  expect(endOf(game, 2, ['g1f3'], false)).toEqual({
    variant: 'chess',
    text: 'position fen a start moves e2e4 e7e5 g1f3',
    threat: null,
  });
});

test('sends the line of a threat separately', () => {
  expect(endOf(game, 1, ['d2d4'], true)).toEqual({
    variant: 'chess',
    text: 'position fen a start moves e2e4',
    threat: ['d2d4'],
  });
});

test('marks the number of a move of the second side', () => {
  const text = (variant: string, ply: number, first_turn = 'first') =>
    numberText({ variant, first_number: 3, first_turn } as unknown as Game, { ply } as unknown as Node);
  expect([text('chess', 1), text('chess', 2), text('chess', 3)]).toEqual(['3', '3…', '4']);
  expect(text('chess', 1, 'second')).toBe('3…');
  // In shogi each move has its own number.
  expect([text('shogi', 1), text('shogi', 2)]).toEqual(['3', '4']);
});

test('shows numeric annotation glyphs by symbols of common fonts', () => {
  // DejaVu Sans and Noto CJK have them.
  const common = /^[!-~□∞±∓−⊙○↑→⇆⊕∆]+$/;
  expect(Object.values(NAGS).filter((symbol) => !common.test(symbol))).toEqual([]);
  // Slight advantages as in Informator's ASCII form; attack and initiative as in the PGN standard.
  expect(nagText([1, 14])).toBe('!+/=');
  expect([36, 40].map((nag) => nagText([nag]))).toEqual(['↑', '→']);
  // The glyphs of Black have the symbols of those of White.
  expect([23, 37, 133, 141].map((nag) => nagText([nag]))).toEqual(['⊙', '↑', '⇆', '$141']);
});
