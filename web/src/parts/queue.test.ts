import { expect, test, vi } from 'vitest';
import { optionLines, pentanomial, readOptions } from './queue';
import type { QueueStatus, Score } from '../store/queue.svelte';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

test('reads the options that it writes', () => {
  const options = { Hash: '16', 'Debug Log File': 'a=b', Clear: '' };
  expect(readOptions(optionLines(options))).toEqual(options);
  expect(readOptions(' \n Hash = 8 \nOwnBook')).toEqual({ Hash: '8', OwnBook: '' });
});

test('counts pairs by points', () => {
  const status = (...pairs: Score['pairs'][]) =>
    ({ scores: pairs.map((it) => ({ wins: 0, draws: 0, losses: 0, pairs: it })) }) as unknown as QueueStatus;
  expect(pentanomial(status([1, 2, 3, 4, 5, 6]))).toEqual([1, 2, 7, 5, 6]);
  expect(pentanomial(status([0, 0, 0, 0, 0, 0]))).toBeNull();
  expect(pentanomial(status())).toBeNull();
});
