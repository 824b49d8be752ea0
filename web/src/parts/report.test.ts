import { expect, test } from 'vitest';
import type { EngineState, Job } from '../api/wire';
import { blankReport, progressOf, settingsOf } from './report';

const engines = [{ id: 3 }, { id: 5 }] as EngineState[];

test('uses the selected engine or the first', () => {
  expect(settingsOf(blankReport(), engines)?.engine).toBe(3);
  expect(settingsOf({ ...blankReport(), engine: 5 }, engines)?.engine).toBe(5);
  expect(settingsOf({ ...blankReport(), engine: 9 }, engines)?.engine).toBe(3);
  expect(settingsOf(blankReport(), [])).toBeNull();
});

test('converts seconds to milliseconds, at least 10', () => {
  const time = (seconds: number) => settingsOf({ ...blankReport(), seconds }, engines)?.limits.time;
  expect(time(0.5)).toBe(500);
  expect(time(0)).toBe(10);
  expect(time(Number.NaN)).toBe(10);
});

test('combines the progress of files and games', () => {
  const job = (more: Partial<Job>): Job => ({
    id: 1,
    added: 0,
    folder: '/games',
    settings: settingsOf(blankReport(), engines),
    status: 'running',
    files_done: 0,
    files: 0,
    games: 0,
    done: 0,
    failed: 0,
    current: null,
    errors: [],
    ...more,
  });
  expect(progressOf(job({}))).toBe(0);
  expect(progressOf(job({ files: 2, files_done: 1, games: 9 }))).toBeCloseTo(0.05);
  expect(progressOf(job({ files: 2, files_done: 2, games: 4, done: 2 }))).toBeCloseTo(0.55);
  expect(progressOf(job({ folder: null, games: 4, done: 1 }))).toBeCloseTo(0.25);
  expect(progressOf(job({ settings: null, files: 4, files_done: 2, games: 100 }))).toBeCloseTo(0.5);
  expect(progressOf(job({ status: 'done', files: 0 }))).toBe(1);
});
