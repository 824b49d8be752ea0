import { expect, test, vi } from 'vitest';
import type { Job } from '../../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
  vi.stubGlobal('location', { hash: '' });
  vi.stubGlobal('navigator', { language: 'en', languages: ['en'] });
  vi.stubGlobal('addEventListener', () => {});
});

import { countsText, faultText, jobName, share, speedText } from './imports';

const job = (more: Partial<Job> = {}): Job => ({
  id: 1,
  added: 0,
  directory: null,
  upload: 'big.pgn',
  account: null,
  skipped: 0,
  waiting: null,
  elapsed: 10_000,
  settings: null,
  status: 'running',
  files_done: 0,
  files: 1,
  games: 20_000,
  duplicates: 0,
  undecided: 0,
  bytes: 1000,
  total_bytes: 3000,
  done: 0,
  failed: 0,
  current: null,
  errors: [],
  notices: [],
  total_errors: 0,
  total_notices: 0,
  ...more,
});

test('names a job by its file', () => {
  expect(jobName(job(), [])).toBe('big.pgn');
  expect(jobName(job({ upload: null, directory: '/home/me/games/' }), [])).toBe('games');
  expect(jobName(job({ upload: null, directory: 'C:\\games\\a.pgn' }), [])).toBe('a.pgn');
});

test('shows the rate and the time that is left', () => {
  // 1000 of 3000 bytes took 10 s.
  expect(speedText(job())).toMatch(/^2,000 .* · 20 s left$/);
  expect(speedText(job({ total_bytes: 61_000 }))).toMatch(/ · 10 min left$/);
  expect(speedText(job({ elapsed: 100 }))).toBe('');
  expect(speedText(job({ bytes: 0 }))).not.toContain('left');
});

test('the number of games of a Lichess account is not known before the end', () => {
  const account = { site: 'lichess', name: 'Anna' } as const;
  const of = (more: Partial<Job>) => job({ account, upload: null, files: 0, total_bytes: 0, ...more });
  expect(jobName(of({}), [])).toBe('Anna · Lichess');
  expect([of({}), of({ files: 4, files_done: 1 }), of({ status: 'done' })].map(share)).toEqual([
    null,
    0.25,
    1,
  ]);
  expect(countsText(of({ skipped: 2 }))).toMatch(/ · Other variants, not imported: 2$/);
  expect(speedText(of({ waiting: 0 }))).toMatch(/^waits until \d/);
});

test('counts games, duplicates and files', () => {
  expect(countsText(job({ duplicates: 3 }))).toBe('Imported games: 20,000 · Duplicates: 3');
  expect(countsText(job({ files: 4, files_done: 2, upload: null }))).toMatch(/^files 2 of 4 · /);
});

test('locates a fault', () => {
  const why = { code: 'no_games' as const, context: { game: 3, line: 7 } };
  expect(faultText({ of: { kind: 'file', name: 'a.pgn' }, why }, [])).toMatch(/^a\.pgn: .*3.*7/);
});
