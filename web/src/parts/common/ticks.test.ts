import { expect, test } from 'vitest';
import { extent, ticks } from './ticks';

test('has round values along an axis', () => {
  expect(ticks(-2.94, 2.94).map(({ text }) => text)).toEqual(['−2', '0', '2']);
  expect(ticks(0, 1000).map(({ at }) => at)).toEqual([0, 500, 1000]);
  expect(ticks(0, 0.5).map(({ text }) => text)).toEqual(['0.0', '0.2', '0.4']);
  expect(ticks(1, 1)).toEqual([]);
});

test('limits the intervals of the first points', () => {
  expect(extent([{ y: 0, error: 5000 }], [0])).toEqual([-928, 928]);
  expect(extent([], [-1, 1])).toEqual([-1.16, 1.16]);
});
