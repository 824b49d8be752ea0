// Reports with a real server and engine: of one game, with a retry of its mistakes, and batch jobs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { errorsOf, violations, showReport } from './browser';
import {
  LONG,
  WHOLE,
  enter,
  moveElements,
  paste,
  squares,
  useServer,
  visit,
  addRecordedEngine,
  analysisBoard,
  libraryMenu,
  listedGames,
} from './fixture';
import { prefix, valueIn, t, inLanguage } from './labels';

const fixture = useServer();

const FOOLS_MATE = '[White "Foolish"]\n[Black "Lucky"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n';

const report = (page: Page) => showReport(page, t('tab.report'));
const panel = (page: Page) => page.getByTestId('report');

/** Opens a record and its report tab. */
async function open(page: Page, text: string, plies: number) {
  const before = page.url();
  await paste(page, text);
  await page.waitForURL((url) => url.href !== before);
  await squares(page);
  await expect.poll(() => moveElements(page).count(), LONG).toBe(plies);
  await report(page);
}

async function evaluate(page: Page, seconds: string) {
  await page.getByLabel(t('report.seconds')).fill(seconds);
  await page.getByRole('button', { name: t('report.run') }).click();
}

/** Selects the folder of records in the dialog. */
async function pick(page: Page) {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: fixture.server.data.split('/').at(-1) }).click();
  await dialog.getByRole('button', { name: 'records', exact: true }).click();
  await dialog.getByText(join(fixture.server.data, 'records')).waitFor();
  await dialog.getByRole('button', { name: t('files.this') }).click();
}

test('resumes a job after a restart of the server', async () => {
  const folder = join(fixture.server.data, 'records');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.pgn'), ['e5', 'c5', 'c6'].map((reply) => `1. e4 ${reply} *\n\n`).join(''));
  const page = await fixture.page('#/library');
  await libraryMenu(page, 'library.more', 'library.analyze_folder');
  await pick(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(t('report.seconds')).fill('600');
  await dialog.getByRole('button', { name: t('report.run') }).click();
  await page
    .getByTestId('import')
    .getByRole('button', { name: t('job.open') })
    .waitFor(LONG);
  await fixture.server.restart();
  const again = await fixture.page('#/library');
  const entry = again.getByTestId('import');
  await entry.and(again.locator('[data-status=stopped]')).waitFor(LONG);
  await entry.getByRole('button', { name: t('report.resume') }).click();
  const row = again.getByTestId('job');
  await row.getByText(t('job.games', { done: 0, all: 3 })).waitFor(LONG);
  await entry.getByRole('button', { name: t('job.open') }).waitFor(LONG);
  await row.getByRole('button', { name: t('report.cancel') }).click();
  await entry.and(again.locator('[data-status=stopped]')).waitFor(LONG);
  await expect.poll(() => listedGames(again).count(), LONG).toBe(3);
});

const CLOCKED =
  '[White "A"]\n[Black "B"]\n[TimeControl "300+2"]\n\n' +
  '1. e4 {[%eval 0.3] [%clk 0:04:58]} e5 {[%eval 0.2] [%clk 0:04:50]} ' +
  '2. Nf3 {[%eval 0.4] [%clk 0:04:40]} Nc6 {[%eval 0.3] [%clk 0:04:30]} *\n';

inLanguage('ja', () => {
  test(
    'creates a report and retries its mistakes',
    async () => {
      const page = await fixture.page();
      const errors = errorsOf(page);
      await analysisBoard(page);
      await open(page, FOOLS_MATE, 4);
      await evaluate(page, '0.2');
      await panel(page).getByText(t('report.done'), { exact: true }).waitFor(WHOLE);
      await panel(page).getByText('5 / 5', { exact: true }).waitFor();
      await panel(page)
        .getByRole('cell', { name: /^\d+\.\d%$/ })
        .first()
        .waitFor();
      await panel(page)
        .getByRole('button', { name: new RegExp(`g4.*${t('label.blunder')}`, 'i') })
        .waitFor();
      expect(await violations(page)).toEqual([]);

      // The graph is operated by keys.
      const graph = page.getByRole('slider', { name: t('report.graph') });
      await graph.focus();
      await page.keyboard.press('End');
      await page
        .locator('[data-cursor]')
        .filter({ has: page.locator('[aria-valuenow="4"]') })
        .waitFor();
      await expect.poll(() => graph.getAttribute('aria-valuetext')).toContain('Qh4#');

      // The game is annotated.
      await page.locator('.moves .move').filter({ hasText: 'g4??' }).waitFor();
      await report(page);

      await page.getByRole('button', { name: t('report.learn') }).click();
      await page.getByLabel(t('report.mistakes_by')).selectOption('first');
      const blunder = page.getByText(t('report.better', { side: t('side.white'), move: 'g4' }));
      // The engine may label the first move as a mistake.
      await page
        .getByText(new RegExp(`^\\s*\\d+\\s+${prefix('report.better', { side: t('side.white') })}`))
        .waitFor();
      if ((await blunder.count()) === 0) await page.getByRole('button', { name: t('report.next') }).click();
      await blunder.waitFor();
      const verdict = page.getByTestId('verdict');
      // Another move that allows mate.
      await enter(page, 'h3');
      await expect.poll(() => verdict.getAttribute('data-good'), LONG).toBe('false');
      await expect.poll(() => verdict.textContent()).toContain(prefix('report.loses'));
      await enter(page, 'Kd4');
      await expect.poll(() => verdict.textContent(), LONG).toContain('Kd4');
      await page.getByRole('button', { name: t('report.show') }).click();
      await expect.poll(() => verdict.textContent()).toContain(prefix('report.solution'));
      const best = valueIn(await verdict.textContent(), 'report.solution');
      await enter(page, best);
      await expect.poll(() => verdict.getAttribute('data-good'), LONG).toBe('true');
      // The game is unchanged.
      await expect.poll(() => moveElements(page).count()).toBe(4);
      expect(errors).toEqual([]);
    },
    WHOLE.timeout * 2,
  );

  test('stops a report and resumes it after a restart of the server', async () => {
    const page = await fixture.page();
    await analysisBoard(page);
    await open(page, FOOLS_MATE, 4);
    // Mate and mate in one are solved immediately; the move before them uses the full time.
    await evaluate(page, '600');
    await panel(page).getByText('2 / 5', { exact: true }).waitFor(LONG);
    await panel(page)
      .getByRole('button', { name: t('report.cancel') })
      .click();
    await panel(page).getByText(t('report.stopped'), { exact: true }).waitFor(LONG);
    const hash = new URL(page.url()).hash;
    await fixture.server.restart();
    const again = await fixture.page(hash);
    await squares(again);
    await report(again);
    await panel(again).getByText(t('report.stopped'), { exact: true }).waitFor(LONG);
    // An interrupted position is not counted.
    await panel(again).getByText('2 / 5', { exact: true }).waitFor();
    await panel(again)
      .getByRole('button', { name: t('report.resume') })
      .click();
    await panel(again).getByText(t('report.running'), { exact: true }).waitFor(LONG);
    await panel(again)
      .getByRole('button', { name: t('report.cancel') })
      .click();
    await panel(again).getByText(t('report.stopped'), { exact: true }).waitFor(LONG);
  });

  test(
    'imports a folder and reports on all and on selected games',
    async () => {
      const folder = join(fixture.server.data, 'records');
      mkdirSync(folder);
      writeFileSync(join(folder, 'a.pgn'), `${FOOLS_MATE}\n[White "Short"]\n\n1. e4 e5 *\n`);
      writeFileSync(join(folder, 'b.kif'), '手合割：平手\n先手：甲\n   1 ７六歩(77)\n');
      writeFileSync(join(folder, 'c.pgn'), '1. e4 e4 *\n');
      const page = await fixture.page('#/library');
      const errors = errorsOf(page);
      await libraryMenu(page, 'library.import', 'library.import_folder');
      await pick(page);
      const job = page.getByTestId('import');
      await job.and(page.locator('[data-status=done]')).waitFor(LONG);
      await job.getByText(t('job.errors', { count: 1 })).click();
      const faults = page.getByTestId('faults');
      await faults.getByText(t('job.files', { done: 3, all: 3 })).waitFor();
      await faults.getByText(/^c\.pgn: /).waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => listedGames(page).count(), LONG).toBe(4);
      await job.getByRole('button', { name: t('job.dismiss') }).click();
      await job.waitFor({ state: 'detached' });

      // All games of a folder, which is imported again.
      await libraryMenu(page, 'library.more', 'library.analyze_folder');
      await pick(page);
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(t('report.seconds')).fill('0.05');
      await dialog.getByRole('button', { name: t('report.run') }).click();
      await job.and(page.locator('[data-status=done]')).waitFor(WHOLE);
      await expect.poll(() => listedGames(page).count(), LONG).toBe(4);
      expect(await violations(page)).toEqual([]);
      await job.getByRole('button', { name: t('job.dismiss') }).click();
      await job.waitFor({ state: 'detached' });

      // Two selected games.
      for (const name of ['Foolish', 'Short']) {
        await page.getByRole('checkbox', { name: new RegExp(name) }).check();
      }
      await page.getByRole('button', { name: t('report.run') }).click();
      await dialog.getByLabel(t('report.seconds')).fill('0.05');
      await dialog.getByRole('button', { name: t('report.run') }).click();
      await job.getByText(t('library.selected', { count: 2 })).waitFor(LONG);
      await job.and(page.locator('[data-status=done]')).waitFor(WHOLE);
      await page
        .getByRole('link', { name: /Foolish/ })
        .first()
        .dblclick();
      await squares(page);
      await report(page);
      await panel(page).getByText(t('report.done'), { exact: true }).waitFor(LONG);
      await panel(page).getByText('5 / 5', { exact: true }).waitFor();
      expect(errors).toEqual([]);
    },
    WHOLE.timeout * 2,
  );

  test('operates the graphs of evaluations and clocks by mouse and keys', async () => {
    const page = await fixture.page();
    await analysisBoard(page);
    await open(page, CLOCKED, 4);
    for (const [name, text] of [
      [t('report.graph'), '0.30'],
      [t('report.times'), '4:30'],
    ] as const) {
      const graph = page.getByRole('slider', { name });
      const is = (ply: number) =>
        expect.poll(() => graph.getAttribute('aria-valuenow'), LONG).toBe(String(ply));
      const { width, height } = (await graph.boundingBox()) ?? { width: 0, height: 0 };
      await graph.click({ position: { x: width / 2, y: height / 2 } });
      await is(2);
      await page.keyboard.press('ArrowRight');
      await is(3);
      await page.keyboard.press('Home');
      await is(0);
      await page.keyboard.press('End');
      await is(4);
      await expect.poll(() => graph.getAttribute('aria-valuetext')).toContain(text);
      await page.keyboard.press('ArrowLeft');
      await is(3);
    }
  });

  test('analyzes from the end or from the start', async () => {
    const page = await fixture.page('#/engines');
    const received = await addRecordedEngine(page, fixture.server, 'Judge');
    await visit(page, t('nav.play'));
    await analysisBoard(page);
    for (const backwards of [false, true]) {
      await open(page, CLOCKED, 4);
      const before = received().length;
      await panel(page).getByLabel(t('report.engine')).selectOption({ label: 'Judge' });
      await panel(page).getByLabel(t('report.backwards')).setChecked(backwards);
      await evaluate(page, '0.01');
      await panel(page).getByText(t('report.done'), { exact: true }).waitFor(LONG);
      const asked =
        received()
          .slice(before)
          .match(/^position .*$/gm) ?? [];
      const plies = asked.map((line) => line.split(' moves ')[1]?.split(' ').length ?? 0);
      expect(plies).toEqual(backwards ? [4, 3, 2, 1, 0] : [0, 1, 2, 3, 4]);
    }
  });
});
