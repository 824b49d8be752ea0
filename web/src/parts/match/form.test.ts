import { expect, test, vi } from 'vitest';
import type { MatchPlan, Time } from '../../api/wire';
import { UNLIMITED, changedFields, formOf, planOf } from './form';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

const CLOCK: Time = { kind: 'clock', base: 8000, increment: 80, byoyomi: 0, moves: 40 };

const plan = (more: Partial<MatchPlan> = {}): MatchPlan => ({
  name: 'lmr-history',
  variant: 'chess',
  engines: ['new', 'base'].map((name) => ({
    engine: { command: `/opt/${name}`, args: ['-q', 'a b', '', 'C:\\x\\', '"'] },
    name,
    time: CLOCK,
    nodes: null,
    depth: 9,
    ponder: false,
    options: { Hash: '16', 'Eval File': 'a=b.nnue' },
  })),
  format: 'gauntlet',
  rounds: UNLIMITED,
  pairs: 3,
  openings: { kind: 'file', path: '/opt/book.epd', plies: null, shuffled: false },
  concurrency: 2,
  draw: { from_move: 34, moves: 8, score: 10 },
  resign: { moves: 3, score: 400, two_sided: true },
  max_moves: 200,
  sprt: { elo0: -1.75, elo1: 0.25, alpha: 0.02, beta: 0.1, model: 'logistic' },
  seed: 7,
  ...more,
});

test.each([
  ['a test until its decision', plan()],
  [
    'handicap games without limits',
    plan({ variant: 'shogi', openings: { kind: 'handicap', name: 'lance' } }),
  ],
  ['all of Chess960', plan({ variant: 'chess960', openings: { kind: 'chess960' }, sprt: null, rounds: 4 })],
  ['positions', plan({ openings: { kind: 'positions', list: ['a w', 'b b'] }, draw: null, resign: null })],
  [
    'own time controls of registered engines',
    plan({
      engines: [CLOCK, { kind: 'per_move', time: 100 } as const].map((time, index) => ({
        engine: index,
        name: String(index),
        time,
        nodes: 500,
        depth: null,
        ponder: true,
        options: {},
      })),
    }),
  ],
])('a form of %s makes the same plan', (_, original) => {
  const form = formOf(original, 'farm');
  expect(planOf(form, [], original.seed)).toEqual(original);
  expect(changedFields(form, structuredClone(form))).toEqual([]);
});

test('names the changed fields of a copy', () => {
  const before = formOf(plan(), 'farm', 3);
  const now = structuredClone(before);
  now.time.base *= 2;
  now.alpha = 0.05;
  now.priority = 4;
  for (const player of now.players) player.options = 'Hash=64';
  expect(changedFields(before, now)).toEqual(['engines', 'time', 'sprt', 'priority']);
  // The number of rounds has no effect while only the test ends the match.
  expect(changedFields(before, { ...before, rounds: 50 })).toEqual([]);
  expect(changedFields(before, { ...before, unlimited: false, rounds: 50 })).toEqual(['rounds']);
});
