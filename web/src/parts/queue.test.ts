import { expect, test, vi } from 'vitest';
import { eloText, optionLines, pairsText, pentanomial, readOptions } from './queue';
import type { QueueStatus, Score } from '../store/queue.svelte';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

test('reads the options that it writes', () => {
  const options = { Hash: '16', 'Debug Log File': 'a=b', Clear: '' };
  expect(readOptions(optionLines(options))).toEqual(options);
  expect(readOptions(' \n Hash = 8 \nOwnBook')).toEqual({ Hash: '8', OwnBook: '' });
});

test('shows a limit of pairs and Elo only if there is one', () => {
  const status = (fields: Partial<QueueStatus>) => fields as QueueStatus;
  expect(pairsText(status({ pairs: 3, total: 10 }))).toBe('3 / 10');
  expect(pairsText(status({ pairs: 3, total: 0 }))).toBe('3');
  expect(eloText(status({ elo: { elo: 1.25, error: 2 } }), 'Elo ')).toBe('Elo 1.3 ± 2.0');
  expect(eloText(status({ elo: null }), 'Elo ')).toBe('');
});

test('counts pairs by points', () => {
  const status = (...pairs: Score['pairs'][]) =>
    ({ scores: pairs.map((it) => ({ wins: 0, draws: 0, losses: 0, pairs: it })) }) as unknown as QueueStatus;
  expect(pentanomial(status([1, 2, 3, 4, 5, 6]))).toEqual([1, 2, 7, 5, 6]);
  expect(pentanomial(status([0, 0, 0, 0, 0, 0]))).toBeNull();
  expect(pentanomial(status())).toBeNull();
});
