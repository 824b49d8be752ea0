import { beforeEach, expect, test, vi } from 'vitest';
import type { GameLine } from '../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

import { prefs } from './prefs.svelte';
import { tabTitles, tooltip } from './tabTitles';

beforeEach(() => {
  prefs.language = 'en';
});

const line = (id: number, more: Partial<GameLine> = {}): GameLine => ({
  id,
  variant: 'chess',
  names: { first: 'Morphy', second: 'Anderssen' },
  event: '',
  round: '',
  date: null,
  plies: 0,
  playing: false,
  result: '*',
  changed: 0,
  draft: false,
  unsaved: false,
  ...more,
});

const titles = (...games: GameLine[]) => {
  const found = tabTitles(games, ({ names }) => names.first);
  return games.map(({ id }) => [found[id]?.name, found[id]?.mark].filter(Boolean).join(' '));
};

test('leaves different names as they are', () => {
  expect(titles(line(1, { date: '1858' }), line(2, { names: { first: 'Paulsen', second: '' } }))).toEqual([
    'Morphy',
    'Paulsen',
  ]);
});

test.each([
  ['dates', { date: '1858-12-20' }, { date: '1858-12-21' }, ['1858-12-20', '1858-12-21']],
  ['rounds', { date: '1858', round: '1' }, { date: '1858', round: '2' }, ['round 1', 'round 2']],
  ['events', { event: 'Paris', round: 'Final' }, { event: 'Berlin', round: 'Final' }, ['Paris', 'Berlin']],
  [
    'rounds and dates',
    { event: 'Paris', round: '1', date: '1858' },
    { event: 'Paris', round: '1', date: '1859' },
    ['1858', '1859'],
  ],
  ['numbers of equal games', { event: 'Paris' }, { event: 'Paris' }, ['#1', '#2']],
  ['numbers, if one date is unknown', { date: '1858' }, {}, ['#1', '#2']],
])('distinguishes games of the same players by %s', (_, first, second, marks) => {
  expect(titles(line(1, first), line(2, second))).toEqual(marks.map((mark) => `Morphy ${mark}`));
});

test('combines round and date if neither is sufficient', () => {
  const games = [
    line(1, { round: '1', date: '1858' }),
    line(2, { round: '1', date: '1859' }),
    line(3, { round: '2', date: '1858' }),
  ];
  expect(titles(...games)).toEqual([
    'Morphy round 1 · 1858',
    'Morphy round 1 · 1859',
    'Morphy round 2 · 1858',
  ]);
});

test('lists everything known in the tooltip', () => {
  const game = line(5, { event: 'Paris', round: '3', date: '1858-12-22', result: '1-0' });
  expect(tooltip('Morphy – Anderssen', game)).toBe(
    'Morphy – Anderssen · Paris · round 3 · 1858-12-22 · 1-0 · #5',
  );
  expect(tooltip('Chess', line(6))).toBe('Chess · #6');
});
