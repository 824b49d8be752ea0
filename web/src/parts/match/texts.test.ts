import { expect, test, vi } from 'vitest';
import { boundsText, eloText, fileName, optionLines, pentanomial, readOptions, signed } from './texts';
import type { EncounterScore } from '../../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

test('reads the options that it writes', () => {
  const options = { Hash: '16', 'Debug Log File': 'a=b', Clear: '' };
  expect(readOptions(optionLines(options))).toEqual(options);
  expect(readOptions(' \n Hash = 8 \nOwnBook')).toEqual({ Hash: '8', OwnBook: '' });
});

test('shows signs, errors and bounds', () => {
  expect([signed(1.25), signed(-0.04), signed(-2)]).toEqual(['+1.3', '0.0', '−2.0']);
  expect(eloText({ elo: -1.25, error: 2 })).toBe('−1.3 ± 2.0');
  expect(eloText({ elo: 7, error: null })).toBe('+7.0');
  expect(eloText(null)).toBe('');
  expect(boundsText({ elo0: -4, elo1: 0, alpha: 0.05, beta: 0.05 })).toBe(
    '[−4, 0] normalized · α = β = 0.05',
  );
  expect(fileName('C:\\books\\a.epd')).toBe('a.epd');
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
