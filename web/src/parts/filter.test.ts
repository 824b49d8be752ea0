import { expect, test } from 'vitest';
import { blankFilter, filterOf } from './filter';

test('sends only the conditions that are set', () => {
  const all = filterOf(blankFilter());
  expect(Object.values(all).every((value) => value === null)).toBe(true);
  const form = { player: ' Ann ', side: 'second', rating: 2000, speed: 'blitz', position: ' ' } as const;
  expect(filterOf({ ...blankFilter(), ...form })).toEqual({
    ...all,
    player: 'Ann',
    side: 'second',
    min_rating: 2000,
    speed: 'blitz',
  });
});
