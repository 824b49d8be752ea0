import { expect, test, vi } from 'vitest';
import type { Clocks } from '../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

import { leftOf } from './clock';

const clocks = (more: Partial<Clocks> = {}): Clocks =>
  ({
    remaining: { first: 60_000, second: 5000 },
    byoyomi: { first: 0, second: 30_000 },
    running: null,
    sent_at: 1000,
    ...more,
  }) as Clocks;

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
  });
  // The other side has its full byoyomi.
  const none = clocks({ remaining: { first: 60_000, second: 0 } });
  expect(leftOf(none, 'second', 99_000)).toEqual({ text: '0:30', low: false, byoyomi: true });
  expect(leftOf(clocks({ running: 'second' }), 'second', 99_000)?.text).toBe('0:00.0');
  expect(leftOf(clocks({ running: 'first' }), 'first', 99_000)).toEqual({
    text: '0:00.0',
    low: true,
    byoyomi: false,
  });
});
