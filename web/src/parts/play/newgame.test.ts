import { expect, test } from 'vitest';
import type { EngineState, StrengthRange } from '../../api/wire';
import {
  defaultForm,
  restoreForm,
  hasAdvanced,
  namedStrengths,
  shownLevel,
  strengthIn,
  strengthName,
  strengthRange,
  type NewGameForm,
} from './newgame';

const skill: StrengthRange = { kind: 'level', option: 'Skill Level', min: 0, max: 20 };
const elo: StrengthRange = { kind: 'elo', min: 1320, max: 3190 };

test('starts with a medium level', () => {
  expect(strengthIn(skill, defaultForm().strength)).toBe(10);
  expect(strengthIn(skill, defaultForm().players.second.strength)).toBe(10);
  expect(strengthIn({ ...skill, min: 1, max: 1500 }, 9000)).toBe(750);
});

test('starts with a medium Elo', () => {
  expect(strengthIn(elo, defaultForm().strength)).toBe(1500);
  // A level is not an Elo rating.
  expect(strengthIn(elo, 7)).toBe(1500);
  expect(strengthIn({ kind: 'elo', min: 100, max: 1400 }, 1500)).toBe(750);
  expect(strengthIn({ kind: 'elo', min: 2000, max: 3000 }, 1500)).toBe(2500);
});

test('uses the strength range of the variant', () => {
  const engine = { strength: elo, strength_in_shogi: skill } as EngineState;
  expect(strengthRange(engine, 'chess')).toBe(elo);
  expect(strengthRange(engine, 'chess960')).toBe(elo);
  expect(strengthRange(engine, 'shogi')).toBe(skill);
  expect(strengthRange({ ...engine, strength_in_shogi: null }, 'shogi')).toBeNull();
  expect(strengthRange(undefined, 'chess')).toBeNull();
});

test('accepts both ends of the range', () => {
  for (const value of [0, 5, 20]) expect(strengthIn(skill, value)).toBe(value);
  for (const value of [1320, 1400, 3190]) expect(strengthIn(elo, value)).toBe(value);
});

test('restores the number of a start position', () => {
  const number = (value: unknown) => restoreForm(JSON.stringify({ ...defaultForm(), number: value })).number;
  expect(number(518)).toBe(518);
  expect(number(0)).toBe(0);
  expect(number(null)).toBeNull();
  expect(number('518')).toBeNull();
  expect(number(5.5)).toBeNull();
});

test('does not restore a custom position', () => {
  const form = restoreForm(
    JSON.stringify({ ...defaultForm(), start: 'text', text: '4k3/8/8/8/8/8/8/4K3 w - - 0 1' }),
  );
  expect([form.start, form.text]).toEqual(['standard', '']);
});

test('detects changed advanced settings', () => {
  const chosen = (change: Partial<NewGameForm>) => hasAdvanced({ ...defaultForm(), ...change });
  expect(chosen({})).toBe(false);
  // Irrelevant in other variants.
  expect([chosen({ number: 518 }), chosen({ variant: 'chess960', number: 0 })]).toEqual([false, true]);
  expect(chosen({ time: { ...defaultForm().time, nodes: 200 } })).toBe(true);
  expect(chosen({ book: '/a.pgn' })).toBe(true);
  const options = { 3: { Hash: '64' } };
  expect([chosen({ opponent: 3, options }), chosen({ opponent: 4, options })]).toEqual([true, false]);
});

test('ignores null fields of a stored form', () => {
  expect(restoreForm('{"time":null,"players":null,"variant":null}')).toEqual(defaultForm());
});

test('names strengths by rating or level', () => {
  expect(namedStrengths(elo).map(([name, value]) => `${name} ${value}`)).toEqual([
    'intermediate 1320',
    'advanced 1600',
    'expert 1900',
    'master 2200',
    'grandmaster 2500',
    'superhuman 2800',
  ]);
  expect(strengthName(elo, 1500)).toBe('intermediate');
  const levels = { ...skill, min: -20, max: 20 };
  expect([-20, -3, 20].map((value) => strengthName(levels, value))).toEqual([
    'beginner',
    'advanced',
    'superhuman',
  ]);
  expect(namedStrengths(levels)).toHaveLength(8);
  expect(namedStrengths({ ...skill, min: 0, max: 2 }).map(([name]) => name)).toEqual([
    'beginner',
    'intermediate',
    'master',
  ]);
  expect([shownLevel(levels, -3), shownLevel(skill, 0), shownLevel(elo, 1500)]).toEqual([18, 0, 1500]);
});
