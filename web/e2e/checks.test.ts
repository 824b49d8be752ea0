// Progress and cancellation of the conformance check, with a fake server.
import { expect, test } from 'vitest';
import type { CheckResult, CheckRun } from '../src/api/wire';
import { sharedBrowser, violations } from './browser';
import { defaultServer, engine } from './fakeServer';
import { en, ja } from './labels';

const browser = await sharedBrowser();

const failure: CheckResult = {
  id: 'handshake.author',
  severity: 'must',
  verdict: 'fail',
  english: { rule: 'the engine sends its author', detail: 'no `id author`', clauses: ['uci: id'] },
  japanese: { rule: 'エンジンは作者を伝える', detail: '`id author` がない', clauses: ['uci: id'] },
};

test.each([
  ['en-GB', en, failure.english],
  ['ja-JP', ja, failure.japanese],
] as const)(
  'shows the progress and the failures of a check, and cancels it (%s)',
  async (locale, t, { rule }) => {
    const fake = defaultServer();
    const page = await fake.page(browser, '#/engines', { locale });
    const show = (check: CheckRun) =>
      fake.delta('engines', {
        kind: 'engines',
        delta: {
          engines: [engine(2, 'Stockfish', { check })],
          removed: [],
          processes: [],
          forgotten: [],
          search: null,
        },
      });
    const card = page.getByTestId('engine').filter({ hasText: 'Stockfish' });
    await card.waitFor();
    show({ kind: 'running', since: 0, done: 0, total: 0, failed: [] });
    const bar = card.getByRole('progressbar', { name: t('check.progress') });
    await expect.poll(() => bar.getAttribute('value')).toBe(null);
    show({ kind: 'running', since: 0, done: 34, total: 210, failed: [failure] });
    const counts = t('check.done', { done: 34, total: 210, failed: 1 });
    await expect.poll(() => card.getByTestId('check-progress').textContent()).toBe(counts);
    expect(await bar.getAttribute('value')).toBe('34');
    expect(await bar.getAttribute('max')).toBe('210');
    await card.getByText(t('check.failures', { count: 1 })).click();
    await card.getByText(rule).waitFor();
    expect(await violations(page)).toEqual([]);
    await card.getByRole('button', { name: t('check.cancel') }).click();
    await expect.poll(() => fake.commands).toContainEqual({ kind: 'cancel_check', engine: 2 });
    show({ kind: 'canceled', at: 0, done: 34, total: 210, failed: [failure] });
    await card.getByText(t('check.canceled'), { exact: true }).waitFor();
    await card.getByText(counts).waitFor();
    // It can be started again, and the failures stay visible.
    expect(await card.getByRole('button', { name: t('engine.check') }).isEnabled()).toBe(true);
    await card.getByText(rule).waitFor();
    await page.context().close();
  },
);
