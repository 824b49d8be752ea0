import { expect, test } from 'vitest';
import { centre, readSetup, rows, squareAt, writeSetup } from './squares';
import { reach } from './reach';

const FENS = [
  'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  'r3k2r/8/8/3pP3/8/8/8/R3K2R b Kq d6 3 20',
  'bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1',
];
const SFENS = [
  'lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1',
  '8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124',
  '4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1',
];

test.each(FENS)('reads and writes the FEN %s', (fen) => {
  expect(writeSetup(readSetup(fen, false), false)).toBe(fen);
});

test.each(SFENS)('reads and writes the SFEN %s', (sfen) => {
  expect(writeSetup(readSetup(sfen, true), true)).toBe(sfen);
});

test('reads invalid positions without an error', () => {
  for (const text of ['', '////', 'x', '9/9/9/9/9/9/9/9/9/9/9 b', '++++ w 99P', 'ÿ'.repeat(300)]) {
    writeSetup(readSetup(text, true), true);
    writeSetup(readSetup(text, false), false);
  }
});

test.each([true, false])('maps each square to its point and back (shogi: %s)', (shogi) => {
  for (const orientation of ['first', 'second'] as const) {
    for (const square of rows(shogi, orientation).flat()) {
      const [x, y] = centre(square, shogi, orientation) ?? [0, 0];
      expect(squareAt(x, y, shogi, orientation)).toBe(square);
    }
  }
  expect(centre('z9', shogi, 'first')).toBeNull();
});

test('lists the moves of shogi pieces on an empty board', () => {
  expect(reach('7g', 'pawn', true)).toEqual(['7f']);
  expect(reach('7c', 'pawn', false)).toEqual(['7d']);
  expect(reach('5e', 'king', true)).toHaveLength(8);
  expect(reach('5e', 'rook', true)).toHaveLength(16);
  expect(reach('2i', 'knight', true).toSorted()).toEqual(['1g', '3g']);
  expect(reach('1a', 'horse', true)).toHaveLength(10);
});
