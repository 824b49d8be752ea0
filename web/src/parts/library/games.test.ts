import { expect, test, vi } from 'vitest';
import type { LibraryGame } from '../../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
  vi.stubGlobal('location', { hash: '' });
  vi.stubGlobal('navigator', { language: 'en' });
  vi.stubGlobal('addEventListener', () => {});
});

import { moveCount, openingOf, playersText, resultText } from './games';

const game = (more: Partial<LibraryGame>): LibraryGame => ({
  id: 1,
  variant: 'chess',
  names: { first: 'Ann', second: '' },
  ratings: { first: null, second: null },
  result: '1/2-1/2',
  termination: null,
  date: null,
  event: null,
  opening: null,
  plies: 3,
  added: 0,
  changed: 0,
  source: 'import',
  labels: [],
  evaluated: true,
  commented: true,
  ...more,
});

test('divides an opening into its code and its name', () => {
  expect(openingOf(game({ opening: 'B07 Pirc Defence' }))).toEqual({ eco: 'B07', name: 'Pirc Defence' });
  expect(openingOf(game({ opening: 'B07' }))).toEqual({ eco: 'B07', name: '' });
  expect(openingOf(game({ opening: '四間飛車' }))).toEqual({ eco: '', name: '四間飛車' });
  expect(openingOf(game({}))).toEqual({ eco: '', name: '' });
});

test('counts full moves of chess and plies of shogi', () => {
  expect(moveCount(game({}))).toBe(2);
  expect(moveCount(game({ variant: 'shogi' }))).toBe(3);
  expect(playersText(game({}))).toBe('Ann – ?');
  expect(resultText('1/2-1/2')).toBe('½–½');
  expect(resultText('1-0')).toBe('1–0');
});
