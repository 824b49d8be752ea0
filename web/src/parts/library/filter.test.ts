import { expect, test } from 'vitest';
import { blankFilter, dateOf, filterOf, positionFilter } from './filter';

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

test('finds the conditions on positions', () => {
  const all = filterOf(blankFilter());
  expect(positionFilter({ ...all, player: 'Ann', min_rating: 2000 })).toBe(null);
  const shown = { ...all, variant: 'shogi', pattern: 'on=P7f', opening: '7g7f' } as const;
  expect(positionFilter({ ...shown, player: 'Ann' })).toEqual(shown);
});

test.each([
  ['2024', '2024'],
  ['2024-05', '2024-05'],
  [' 2024-5-1 ', '2024-05-01'],
  ['2024.05.31', '2024-05-31'],
  ['2024/12/9', '2024-12-09'],
  ['２０２４年５月３１日', '2024-05-31'],
  // Still being typed.
  ['2024-', '2024'],
  ['2024-0', '2024'],
  ['2024-05-', '2024-05'],
  ['2024-05-3', '2024-05-03'],
  ['', null],
  ['202', null],
  ['2024-13', null],
  ['2024-05-32', null],
  ['2024--31', null],
  ['2024-05-31-1', null],
  ['31.05.2024', null],
  ['May 2024', null],
])('reads the date %s as %s', (text, date) => {
  expect(dateOf(text)).toBe(date);
});
