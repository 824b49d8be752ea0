import { expect, test } from 'vitest';
import type { CurvePoint } from '../api/wire';
import { thinned } from './apply';

const point = (pairs: number): CurvePoint => ({
  pairs,
  games: 2 * pairs,
  elo: 0,
  error: 1,
  score: 0.5,
  llr: 0,
});

test('keeps a curve of 100,000 pairs short while it grows', () => {
  let curve: CurvePoint[] = [];
  for (let pairs = 1; pairs <= 100_000; pairs += 50) {
    curve = thinned([...curve, ...Array.from({ length: 50 }, (_, index) => point(pairs + index))]);
    expect(curve.length).toBeLessThanOrEqual(850);
    expect(curve.at(-1)?.pairs).toBe(pairs + 49);
  }
  expect(curve[0]?.pairs).toBe(1);
  expect(curve.length).toBeGreaterThan(350);
  const steps = curve.map(({ pairs }) => pairs);
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  expect(thinned(Array.from({ length: 100_000 }, (_, index) => point(index))).length).toBeLessThan(500);
});
