import { expect, test } from 'vitest';
import { materialOf } from './material';

const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';

test('counts captured pieces and the lead', () => {
  const none = { captured: [], lead: 0 };
  expect(materialOf(START, START)).toEqual({ first: none, second: none });
  const { first, second } = materialOf(START, 'r1bqkbnr/1ppp1ppp/8/8/8/8/PPPPPPP1/RNBQKBNR w KQkq - 0 1');
  expect(first).toEqual({
    captured: [
      { letter: 'N', count: 1 },
      { letter: 'P', count: 2 },
    ],
    lead: 4,
  });
  expect(second).toEqual({ captured: [{ letter: 'P', count: 1 }], lead: 0 });
});

test('does not count promoted pawns as captured', () => {
  const fen = 'rnbqkbnr/1ppppppp/8/8/8/8/1PPPPPPP/RNBQKBNQ w q - 0 1';
  const { first, second } = materialOf('rnbqkbnr/1ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w q - 0 1', fen);
  expect(second.captured).toEqual([{ letter: 'R', count: 1 }]);
  expect(first.lead).toBe(4);
});
