import { expect, test } from 'vitest';
import { percentages, shareText, total } from './explorer';

const counts = (first: number, draws: number, second: number, unknown = 0) => ({
  first,
  draws,
  second,
  unknown,
});

test('rounds percentages to a sum of 100', () => {
  expect(percentages(counts(1, 1, 1))).toEqual([34, 33, 33]);
  expect(percentages(counts(2, 0, 1))).toEqual([67, 0, 33]);
  expect(percentages(counts(0, 3, 0))).toEqual([0, 100, 0]);
  for (let first = 0; first < 12; first++) {
    for (let draws = 1; draws < 12; draws++) {
      const parts = percentages(counts(first, draws, 7)) ?? [];
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(100);
    }
  }
});

test('ignores games without a result in percentages but not in totals', () => {
  expect(percentages(counts(1, 0, 1, 8))).toEqual([50, 0, 50]);
  expect(percentages(counts(0, 0, 0, 8))).toBeNull();
  expect(total(counts(1, 2, 3, 4))).toBe(10);
});

test('shows small shares with a decimal', () => {
  expect([1, 0.75, 0.0512, 0.004, 0].map(shareText)).toEqual(['100%', '75%', '5.1%', '0.4%', '0%']);
});
