import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LibraryPage } from '../../api/wire';
import { blankFilter, filterOf } from './filter';

vi.stubGlobal('navigator', { language: 'en' });
vi.mock('../../store/server.svelte', () => ({ reasonOf: String }));
const { GameList } = await import('./gameList.svelte');

/** Requests that wait for an answer. */
let waiting: { path: string; body: Record<string, unknown>; answer: (page: unknown) => void }[] = [];
const fetched = vi.fn((path: string, { body, signal }: RequestInit) => {
  return new Promise((resolve, reject) => {
    const answer = (page: unknown) => resolve({ ok: true, json: async () => page });
    const entry = { path, body: JSON.parse(String(body)), answer };
    waiting.push(entry);
    signal?.addEventListener('abort', () => {
      waiting = waiting.filter((one) => one !== entry);
      reject(new Error('aborted'));
    });
  });
});

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', fetched);
});
afterEach(() => {
  vi.useRealTimers();
  waiting = [];
});

const query = (pattern: string | null) =>
  ({ ...filterOf({ ...blankFilter(), pattern: pattern ?? '' }), sort: 'date', ascending: false }) as const;
const page = (total: number): LibraryPage => ({ games: [], total, labels: [], undecided: 0 });
const settle = () => vi.advanceTimersByTimeAsync(0);

/** Answers the only search that waits. */
async function answer(total: number) {
  const searches = waiting.filter(({ path }) => path.endsWith('library/search'));
  expect(searches.length).toBe(1);
  searches[0]?.answer(page(total));
  waiting = [];
  await settle();
}

test('another search ends the one that runs', async () => {
  const list = new GameList();
  void list.search(query(null), 0);
  void list.search(query('on=Nd5'), 0);
  await settle();
  expect(waiting.map(({ body }) => body.pattern)).toEqual(['on=Nd5']);
  await answer(7);
  expect([list.total, list.query?.pattern, list.outdated]).toEqual([7, 'on=Nd5', false]);
});

test('a search that takes long reports its progress by the ticket', async () => {
  const list = new GameList();
  void list.search(query('on=Nd5'), 0);
  await vi.advanceTimersByTimeAsync(499);
  expect([waiting.length, list.running.long]).toEqual([1, false]);
  await vi.advanceTimersByTimeAsync(1);
  const [search, progress] = waiting;
  expect([progress?.path, list.running.long]).toEqual(['./api/library/progress', true]);
  expect(progress?.body).toEqual({ ticket: search?.body.ticket });
  progress?.answer({ done: 1, all: 4 });
  await settle();
  expect(list.running.progress).toEqual({ done: 1, all: 4 });
  waiting = waiting.slice(0, 1);
  await answer(3);
  expect([list.total, list.running.long, list.running.progress]).toEqual([3, false, null]);
});

test('a search that is cancelled keeps the earlier games, and is not begun by a refresh', async () => {
  const list = new GameList();
  void list.search(query(null), 0);
  await answer(9);
  void list.search(query('on=Nd5'), 0);
  await settle();
  list.cancel();
  await settle();
  expect([waiting.length, list.total, list.query?.pattern, list.outdated]).toEqual([0, 9, null, true]);
  void list.search(query('on=Nd5'), 0);
  await settle();
  expect(waiting.length).toBe(0);
  void list.resume();
  await answer(2);
  expect([list.total, list.cancelled, list.outdated]).toEqual([2, null, false]);
});

test('a refresh repeats a search that runs, after its end', async () => {
  const list = new GameList();
  void list.search(query('on=Nd5'), 0);
  await settle();
  void list.search(query('on=Nd5'), 0);
  void list.search(query('on=Nd5'), 0);
  await answer(1);
  expect(list.total).toBe(1);
  await answer(2);
  expect([list.total, waiting.length, list.outdated]).toEqual([2, 0, false]);
});
