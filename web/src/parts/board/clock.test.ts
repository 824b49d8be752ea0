import { expect, test, vi } from 'vitest';
import type { ClockState, Node } from '../../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

import { leftOf, periodsOf, shownClock, timesOf } from './clock';
import type { Game } from '../../store/apply';

const clocks = (more: Partial<ClockState> = {}): ClockState =>
  ({
    remaining: { first: 60_000, second: 5000 },
    byoyomi: { first: 0, second: 30_000 },
    running: null,
    sent_at: 1000,
    ...more,
  }) as ClockState;

test('runs only the clock of the side to move', () => {
  expect(leftOf(clocks(), 'first', 31_000)?.text).toBe('1:00');
  expect(leftOf(clocks({ running: 'first' }), 'first', 31_000)?.text).toBe('0:30');
  expect(leftOf(clocks({ running: 'second' }), 'first', 31_000)?.text).toBe('1:00');
  expect(leftOf(null, 'first', 0)).toBeNull();
  expect(leftOf(clocks({ remaining: { first: null, second: null } }), 'first', 0)).toBeNull();
});

test('continues with byoyomi after the main time', () => {
  expect(leftOf(clocks({ running: 'second' }), 'second', 11_000)).toEqual({
    text: '0:25',
    low: false,
    byoyomi: true,
    seconds: 25,
  });
  // The other side has its full byoyomi.
  const none = clocks({ remaining: { first: 60_000, second: 0 } });
  expect(leftOf(none, 'second', 99_000)).toEqual({
    text: '0:30',
    low: false,
    byoyomi: true,
    seconds: 30,
  });
  expect(leftOf(clocks({ running: 'second' }), 'second', 99_000)?.text).toBe('0:00.0');
  expect(leftOf(clocks({ running: 'first' }), 'first', 99_000)).toEqual({
    text: '0:00.0',
    low: true,
    byoyomi: false,
    seconds: 0,
  });
});

/** A game with these clock times in seconds after each move. */
function played(
  control: string | null,
  clocks: (number | null)[],
  elapsed: Record<number, number> = {},
): Game {
  const nodes = [null, ...clocks].map((clock, ply) => ({
    id: ply,
    ply,
    parent: ply === 0 ? null : ply - 1,
    children: ply === clocks.length ? [] : [ply + 1],
    clock: clock === null ? null : clock * 1000,
    elapsed: elapsed[ply] ?? null,
  }));
  return {
    root: 0,
    first_turn: 'first',
    headers: control === null ? [] : [{ name: 'TimeControl', value: control }],
    nodes: new Map(nodes.map((node) => [node.id, node as unknown as Node])),
  } as unknown as Game;
}

const took = (game: Game) => timesOf(game).map((one) => one.elapsed);

test('computes move times from successive clocks of a side', () => {
  expect(took(played('600', [600, 598, 590, 597.5, 583]))).toEqual([null, null, 10_000, 500, 7000]);
});

test('includes the increment', () => {
  expect(took(played('180+2', [180, 180, 180, 175, 181]))).toEqual([null, null, 2000, 7000, 1000]);
});

test('prefers recorded move times', () => {
  expect(took(played('60', [60, 60, 50, 40], { 1: 300, 3: 9000 }))).toEqual([300, null, 9000, 20_000]);
});

test('never computes a negative move time', () => {
  // Servers compensate network lag.
  expect(took(played('60+1', [60, 60, 61.2, 62]))).toEqual([null, null, 0, 0]);
  expect(took(played(null, [60, 60, 70]))).toEqual([null, null, 0]);
});

test('computes no time next to a missing clock', () => {
  expect(took(played('60', [60, 60, null, 58, 50, 50, 45]))).toEqual([
    null,
    null,
    null,
    2000,
    null,
    8000,
    5000,
  ]);
});

test('adds time at the end of a period', () => {
  expect(took(played('2/60:30', [50, 55, 70, 40, 65, 66]))).toEqual([null, null, 10_000, 15_000, 5000, 0]);
  // A single period repeats.
  expect(took(played('2/60', [50, 50, 100, 100, 90, 95, 140, 150]))).toEqual([
    null,
    null,
    10_000,
    10_000,
    10_000,
    5000,
    10_000,
    5000,
  ]);
});

test('supports a time control per side', () => {
  const game = played('60', [60, 60, 60, 60]);
  game.headers.push({ name: 'BlackTimeControl', value: '60+5' });
  expect(took(game)).toEqual([null, null, 0, 5000]);
});

test('ignores unsupported time controls', () => {
  for (const text of ['', '?', '-', '*180', '40/x', '1+2+3', '60:']) expect(periodsOf(text)).toEqual([]);
  expect(periodsOf('40/5400+30:900')).toEqual([
    { moves: 40, base: 5_400_000, increment: 30_000 },
    { moves: null, base: 900_000, increment: 0 },
  ]);
});

test('shows the last clock of each side before the position', () => {
  const at = (cursor: number, control: string | null, clocks: (number | null)[]) => {
    const game = { ...played(control, clocks), cursor } as Game;
    return [shownClock(game, 'first'), shownClock(game, 'second')];
  };
  expect(at(3, '180+2', [178, 165, 170, 160])).toEqual([170_000, 165_000]);
  // Before its first move a side has its full time if the record has clocks.
  expect(at(0, '180+2', [178, 165])).toEqual([180_000, 180_000]);
  expect(at(1, '180+2', [178])).toEqual([178_000, 180_000]);
  expect(at(1, null, [178, 165])).toEqual([178_000, null]);
  // A move without a clock keeps the previous one.
  expect(at(3, null, [178, 165, null])).toEqual([178_000, 165_000]);
});
