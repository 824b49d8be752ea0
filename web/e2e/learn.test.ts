// Retry of mistakes, and batch jobs, with a fake server.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { Command, Judged, Label, ReportState } from '../src/api/wire';
import { errorsOf, sharedBrowser, middle, violations, showReport } from './browser';
import { defaultServer, game, positionView, legal, node, open, START, type FakeServer } from './fakeServer';
import type { Key } from '../src/i18n/en';
import { inLanguage, starts, t } from './labels';

const browser = await sharedBrowser();

const FIRST = [legal('e2e4', 'e4'), legal('d2d4', 'd4'), legal('g1f3', 'Nf3')];

function judged(ply: number, label: Label | null, best: string): Judged {
  return {
    ply,
    node: ply,
    score: { kind: 'cp', value: 0 },
    winning: 50,
    best: [{ uci: best, text: { western: best } }],
    depth: 9,
    loss: label ? 15 : null,
    label,
  };
}

/** A game of two moves: a mistake and a blunder. */
function reported(fake: FakeServer) {
  const nodes = [
    node(0, null, 0, '', { western: '' }, { children: [1] }),
    node(1, 0, 1, 'g2g4', { western: 'g4' }, { children: [2] }),
    node(2, 1, 2, 'f7f6', { western: 'f6' }),
  ];
  const state = game(1, 'chess', { nodes, cursor: 2, position: positionView(START, [], { turn: 'first' }) });
  open(fake, state);
  const sides = { accuracy: 50, average_loss: 90, inaccuracies: 0, mistakes: 1, blunders: 0 };
  const report: ReportState = {
    settings: null,
    status: 'done',
    done: 3,
    total: 3,
    positions: [judged(0, null, 'd2d4'), judged(1, 'mistake', 'e7e5'), judged(2, 'blunder', 'e2e4')],
    sides: { first: sides, second: sides },
    error: null,
  };
  fake.topics.set('report/1', { kind: 'report', state: report });
  fake.answer = (command: Command) => {
    if (command.kind === 'go_to') {
      const turn = command.node === 1 ? 'second' : 'first';
      const moves = command.node === 1 ? [legal('e7e5', 'e5')] : FIRST;
      fake.delta('game/1', {
        kind: 'game',
        delta: { at: { cursor: command.node, position: positionView(START, moves, { turn }) } },
      } as Parameters<FakeServer['delta']>[1]);
    }
    if (command.kind === 'try_move') {
      return command.text === 'd2d4'
        ? { kind: 'tried', loss: 0, good: true, side: 'first' }
        : { kind: 'tried', loss: 12.4, good: false, side: 'first' };
    }
    return { kind: 'done' };
  };
}

async function enter(page: Page, text: string) {
  await page.locator('#entry').fill(text);
  await page.locator('#entry').press('Enter');
}

inLanguage('en', () => {
  test('finds a better move on the board and by keyboard alone', async () => {
    const fake = defaultServer();
    reported(fake);
    const page = await fake.page(browser, '#/analyse/1');
    const errors = errorsOf(page);
    await showReport(page, t('tab.report'));
    await page.getByRole('button', { name: t('report.learn') }).click();
    await page.getByText(t('report.better', { side: t('side.white'), move: 'g4' })).waitFor();
    expect(await violations(page)).toEqual([]);
    // All controls are visible next to the board on a small screen.
    await page.setViewportSize({ width: 1366, height: 600 });
    for (const name of [t('report.show'), t('report.next'), t('app.close')]) {
      const button = page.getByRole('button', { name, exact: true });
      const seen = () =>
        button.evaluate((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
        });
      await expect.poll(seen, { message: name }).toBe(true);
    }
    const verdict = page.getByTestId('verdict');

    // By mouse.
    for (const square of ['g1', 'f3']) {
      const { x, y } = await middle(page, square);
      await page.mouse.click(x, y);
    }
    await expect.poll(() => verdict.textContent()).toContain(`Nf3: ${t('report.loses', { percent: 12 })}`);
    // By keys.
    await enter(page, 'd2d4');
    await expect.poll(() => verdict.textContent()).toContain(t('report.good'));
    await expect.poll(() => verdict.getAttribute('role')).toBe('status');
    await page.locator('#entry').blur();
    await page.keyboard.press('j');
    await page.getByText(t('report.better', { side: t('side.black'), move: 'f6' })).waitFor();
    await page.keyboard.press('s');
    await expect.poll(() => verdict.textContent()).toContain(t('report.solution', { line: 'e7e5' }));
    // No move was played.
    expect(fake.commands.some((command) => command.kind === 'move')).toBe(false);
    expect(
      fake.commands.filter((command) => command.kind === 'try_move').map((command) => command.node),
    ).toEqual([0, 0]);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('filters mistakes by side', async () => {
    const fake = defaultServer();
    reported(fake);
    const page = await fake.page(browser, '#/analyse/1', { viewport: { width: 360, height: 740 } });
    await showReport(page, t('tab.report'));
    await page.getByRole('button', { name: t('report.learn') }).click();
    await page.getByLabel(t('report.mistakes_by')).selectOption('second');
    await page.getByText(t('report.better', { side: t('side.black'), move: 'f6' })).waitFor();
    await page.getByText(t('report.position', { number: 1, count: 1 })).waitFor();
    await expect.poll(() => page.getByRole('button', { name: t('report.next') }).isDisabled()).toBe(true);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
    await page.context().close();
  });

  test('shows, stops, resumes and dismisses batch jobs', async () => {
    const fake = defaultServer();
    const job = {
      id: 4,
      added: 0,
      directory: '/games',
      settings: {
        engine: 1,
        limits: { depth: null, nodes: null, time: 500, mate: null },
        backwards: true,
        annotate: true,
      },
      upload: null,
      account: null,
      skipped: 0,
      waiting: null,
      elapsed: 0,
      status: 'running' as const,
      files_done: 2,
      files: 2,
      games: 10,
      duplicates: 0,
      undecided: 0,
      bytes: 0,
      total_bytes: 0,
      done: 3,
      failed: 1,
      current: 12,
      notices: [],
      total_errors: 1,
      total_notices: 0,
      errors: [
        {
          of: { kind: 'file' as const, name: 'a.pgn' },
          why: {
            code: 'no_matching_move' as const,
            text: '<b>no move</b>',
            context: { line: 3 },
          },
        },
      ],
    };
    fake.topics.set('jobs', { kind: 'jobs', state: { jobs: [job] } });
    const page = await fake.page(browser, '#/library');
    const errors = errorsOf(page);
    const shown = page.getByTestId('job');
    await shown.getByText(t('job.games', { done: 3, all: 10 })).waitFor();
    const entry = page.getByTestId('import');
    expect(await violations(page)).toEqual([]);
    await shown.getByRole('button', { name: t('report.cancel') }).click();
    fake.delta('jobs', {
      kind: 'jobs',
      delta: { changed: [{ ...job, status: 'stopped', current: null }], removed: [] },
    });
    await entry.getByRole('button', { name: t('report.resume') }).click();
    await entry.getByRole('button', { name: t('job.dismiss') }).click();
    await expect
      .poll(() => fake.commands.map((command) => command.kind).filter((kind) => kind.endsWith('_job')))
      .toEqual(['stop_job', 'resume_job', 'delete_job']);
    fake.delta('jobs', { kind: 'jobs', delta: { changed: [], removed: [4] } });
    await entry.waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('searches the position of the board in the library', async () => {
    const fake = defaultServer();
    open(fake, game(1, 'chess'));
    const page = await fake.page(browser, '#/analyse/1');
    await page.getByRole('button', { name: t('library.find_position') }).click();
    const chip = (key: Key) =>
      page
        .getByRole('search')
        .getByRole('button', { name: starts(key) })
        .click();
    await chip('library.position');
    await expect
      .poll(() => page.getByRole('searchbox', { name: t('library.position'), exact: true }).inputValue())
      .toBe(START);
    await page.keyboard.press('Escape');
    await chip('new.variant');
    await expect
      .poll(() => page.getByRole('combobox', { name: t('new.variant') }).inputValue())
      .toBe('chess');
    await page.context().close();
  });
});
