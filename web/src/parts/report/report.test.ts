import { expect, test } from 'vitest';
import type { EngineState, Job, Judged, Label, Node, ReportState } from '../../api/wire';
import { blankReport, mistakeNumber, mistakesOf, nextMistake, progressOf, settingsOf } from './report';
import type { Game } from '../../store/apply';

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
    directory: '/games',
    upload: null,
    account: null,
    skipped: 0,
    waiting: null,
    elapsed: 0,
    settings: settingsOf(blankReport(), engines),
    status: 'running',
    files_done: 0,
    files: 0,
    games: 0,
    duplicates: 0,
    undecided: 0,
    bytes: 0,
    total_bytes: 0,
    done: 0,
    failed: 0,
    current: null,
    errors: [],
    notices: [],
    total_errors: 0,
    total_notices: 0,
    ...more,
  });
  expect(progressOf(job({}))).toBe(0);
  expect(progressOf(job({ files: 2, files_done: 1, games: 9 }))).toBeCloseTo(0.05);
  expect(progressOf(job({ files: 2, files_done: 2, games: 4, done: 2 }))).toBeCloseTo(0.55);
  expect(progressOf(job({ directory: null, games: 4, done: 1 }))).toBeCloseTo(0.25);
  expect(progressOf(job({ settings: null, files: 4, files_done: 2, games: 100 }))).toBeCloseTo(0.5);
  expect(progressOf(job({ settings: null, files: 1, bytes: 20, total_bytes: 80 }))).toBeCloseTo(0.25);
  expect(progressOf(job({ status: 'done', files: 0 }))).toBe(1);
});

function node(id: number): Node {
  return {
    id,
    parent: id === 0 ? null : id - 1,
    children: [id + 1],
    ply: id,
    uci: `move${id}`,
    text: { western: `move ${id}` },
    comments: [],
    before: [],
    nags: [],
    engine: null,
    marks: [],
    evaluation: null,
    clock: null,
    elapsed: null,
  } as unknown as Node;
}

const game = {
  root: 0,
  variant: 'chess',
  first_turn: 'first',
  nodes: new Map([0, 1, 2, 3, 4, 5].map((id) => [id, node(id)])),
} as unknown as Game;

function judged(ply: number, label: Label | null): Judged {
  const best = [{ uci: `best${ply}`, text: { western: `best ${ply}` } }];
  return {
    ply,
    node: ply,
    score: { kind: 'cp', value: 0 },
    winning: 50,
    best,
    depth: 9,
    loss: 12,
    label,
  } as Judged;
}

const report = {
  positions: [
    judged(0, null),
    judged(1, 'mistake'),
    judged(2, 'blunder'),
    null,
    judged(4, 'best'),
    judged(5, 'inaccuracy'),
    // A removed node.
    judged(99, 'blunder'),
  ],
} as unknown as ReportState;

test('filters mistakes by side', () => {
  const plies = (of: 'first' | 'second' | null) => mistakesOf(game, report, of).map((one) => one.judged.ply);
  expect(plies('first')).toEqual([1, 5]);
  expect(plies('second')).toEqual([2]);
  expect(plies(null)).toEqual([1, 2, 5]);
  expect(mistakesOf(game, undefined, null)).toEqual([]);
});

test('contains the best line before a mistake', () => {
  const [first, second] = mistakesOf(game, report, null);
  expect(first?.before).toBe(0);
  expect(first?.better.map((move) => move.uci)).toEqual(['best0']);
  expect(second?.better.map((move) => move.uci)).toEqual(['best1']);
  expect(mistakesOf(game, report, null)[2]?.better.map((move) => move.uci)).toEqual(['best4']);
});

test('steps through the mistakes', () => {
  const all = mistakesOf(game, report, null);
  expect(nextMistake(all, 1)?.judged.ply).toBe(2);
  expect(nextMistake(all, 2)?.judged.ply).toBe(5);
  expect(nextMistake(all, 5)).toBeNull();
  expect(mistakeNumber(all, 2)).toBe(2);
});
