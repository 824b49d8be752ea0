import { expect, test, vi } from 'vitest';
import { eloText, optionLines, pairsText, pentanomial, readOptions } from './queue';
import type { EncounterScore } from '../../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

test('reads the options that it writes', () => {
  const options = { Hash: '16', 'Debug Log File': 'a=b', Clear: '' };
  expect(readOptions(optionLines(options))).toEqual(options);
  expect(readOptions(' \n Hash = 8 \nOwnBook')).toEqual({ Hash: '8', OwnBook: '' });
});

test('shows a limit of pairs and Elo only if there is one', () => {
  expect(pairsText({ pairs: 3, total: 10 })).toBe('3 / 10');
  expect(pairsText({ pairs: 3, total: 0 })).toBe('3');
  expect(eloText({ elo: 1.25, error: 2 }, 'Elo ')).toBe('Elo 1.3 ± 2.0');
  expect(eloText(null, 'Elo ')).toBe('');
});

test('counts pairs by points', () => {
  const score = (...pairs: EncounterScore['pairs']): EncounterScore => ({
    engine: 0,
    opponent: 1,
    wins: 0,
    draws: 0,
    losses: 0,
    pairs,
  });
  expect(pentanomial(score(1, 2, 3, 4, 5, 6))).toEqual([1, 2, 7, 5, 6]);
  expect(pentanomial(score(0, 0, 0, 0, 0, 0))).toBeNull();
  expect(pentanomial(undefined)).toBeNull();
});
