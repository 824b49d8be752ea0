// Reports with a real server and engine: of one game, with another try at its mistakes, and of many, in the background.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { faultsOf, violations } from './browser';
import { LONG, WHOLE, enter, made, paste, squares, travel, visit, witness } from './journey';

const here = travel();

const FOOLS_MATE = '[White "Foolish"]\n[Black "Lucky"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n';

const report = (page: Page) => page.getByRole('tab', { name: 'Report' }).click();
const panel = (page: Page) => page.getByRole('tabpanel');

/** Opens a record and the tab of its report. */
async function open(page: Page, text: string, plies: number) {
  const before = page.url();
  await paste(page, text);
  await page.waitForURL((url) => url.href !== before);
  await squares(page);
  await expect.poll(() => made(page).count(), LONG).toBe(plies);
  await report(page);
}

async function evaluate(page: Page, seconds: string) {
  await page.getByLabel('Seconds a move').fill(seconds);
  await page.getByRole('button', { name: 'Evaluate every move' }).click();
}

test(
  'a game is judged, and its mistakes are tried again',
  async () => {
    const page = await here.page();
    const faults = faultsOf(page);
    await page.getByRole('button', { name: 'Only a board to analyse' }).click();
    await squares(page);
    await open(page, FOOLS_MATE, 4);
    await evaluate(page, '0.2');
    await panel(page).getByText('done', { exact: true }).waitFor(WHOLE);
    await panel(page).getByText('5 / 5', { exact: true }).waitFor();
    await panel(page)
      .getByRole('cell', { name: /^\d+\.\d%$/ })
      .first()
      .waitFor();
    await panel(page)
      .getByRole('button', { name: /g4.*Blunder/i })
      .waitFor();
    expect(await violations(page)).toEqual([]);

    // The graph is walked by keys.
    const graph = page.getByRole('slider', { name: 'Evaluation over the game' });
    await graph.focus();
    await page.keyboard.press('End');
    await page
      .locator('[data-cursor]')
      .filter({ has: page.locator('[aria-valuenow="4"]') })
      .waitFor();
    expect(await graph.getAttribute('aria-valuetext')).toContain('Qh4#');

    // The report was written into the game.
    await page.getByRole('tab', { name: 'Moves' }).click();
    await page.locator('.moves .move').filter({ hasText: 'g4??' }).waitFor();
    await report(page);

    await page.getByRole('button', { name: 'Learn from mistakes' }).click();
    await page.getByLabel('Mistakes of').selectOption('first');
    const blunder = page.getByText('White played g4. What is better?');
    // Whether the first move was a mistake is for the engine to say.
    await page.getByText(/^\s*\d+\s+White played/).waitFor();
    if ((await blunder.count()) === 0) await page.getByRole('button', { name: 'Next mistake' }).click();
    await blunder.waitFor();
    const verdict = page.getByTestId('verdict');
    // Another way to be mated.
    await enter(page, 'h3');
    await expect.poll(() => verdict.getAttribute('data-good'), LONG).toBe('false');
    expect(await verdict.textContent()).toContain('It costs');
    await enter(page, 'Kd4');
    await expect.poll(() => verdict.textContent(), LONG).toContain('Kd4');
    await page.getByRole('button', { name: 'Show the best line' }).click();
    await expect.poll(() => verdict.textContent()).toContain('Best was');
    const best = /Best was (\S+)/.exec((await verdict.textContent()) ?? '')?.[1] ?? '';
    await enter(page, best);
    await expect.poll(() => verdict.getAttribute('data-good'), LONG).toBe('true');
    // Nothing of it is in the game.
    await page.getByRole('tab', { name: 'Moves' }).click();
    expect(await made(page).count()).toBe(4);
    expect(faults).toEqual([]);
  },
  WHOLE.timeout * 2,
);

test('a report is stopped, and goes on after another start of the server', async () => {
  const page = await here.page();
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
  await open(page, FOOLS_MATE, 4);
  // Mate, and mate in one, need no long thought; the move before them takes longer than anybody waits.
  await evaluate(page, '600');
  await panel(page).getByText('2 / 5', { exact: true }).waitFor(LONG);
  await panel(page).getByRole('button', { name: 'Cancel' }).click();
  await panel(page).getByText('stopped', { exact: true }).waitFor(LONG);
  const hash = new URL(page.url()).hash;
  await here.server.restart();
  const again = await here.page(hash);
  await squares(again);
  await report(again);
  await panel(again).getByText('stopped', { exact: true }).waitFor(LONG);
  // What was stopped before its time does not count.
  await panel(again).getByText('2 / 5', { exact: true }).waitFor();
  await panel(again).getByRole('button', { name: 'Go on' }).click();
  await panel(again).getByText('running', { exact: true }).waitFor(LONG);
  await panel(again).getByRole('button', { name: 'Cancel' }).click();
  await panel(again).getByText('stopped', { exact: true }).waitFor(LONG);
});

/** Picks the folder of records in the dialog. */
async function pick(page: Page) {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: here.server.data.split('/').at(-1) }).click();
  await dialog.getByRole('button', { name: 'records', exact: true }).click();
  await dialog.getByText(join(here.server.data, 'records')).waitFor();
  await dialog.getByRole('button', { name: 'This folder' }).click();
}

test(
  'a folder is read, its games are reported on, and some that were chosen',
  async () => {
    const folder = join(here.server.data, 'records');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.pgn'), `${FOOLS_MATE}\n[White "Short"]\n\n1. e4 e5 *\n`);
    writeFileSync(join(folder, 'b.kif'), '手合割：平手\n先手：甲\n   1 ７六歩(77)\n');
    writeFileSync(join(folder, 'c.pgn'), '1. e4 e4 *\n');
    const page = await here.page('#/library');
    const faults = faultsOf(page);
    await page.getByRole('button', { name: 'Read a folder' }).click();
    await pick(page);
    const job = page.getByTestId('job');
    await job.and(page.locator('[data-status=done]')).waitFor(LONG);
    await job.getByText('files 3 of 3').waitFor();
    await job.getByText('Problems: 1').click();
    await job.getByText(/^c\.pgn: /).waitFor();
    await expect.poll(() => page.getByText('/ 3').count(), LONG).toBe(1);
    await job.getByRole('button', { name: 'Forget' }).click();
    await job.waitFor({ state: 'detached' });

    // All games of a folder, which are read once more.
    await page.getByRole('button', { name: 'Report on a folder' }).click();
    await pick(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Seconds a move').fill('0.05');
    await dialog.getByRole('button', { name: 'Evaluate every move' }).click();
    await job.and(page.locator('[data-status=done]')).waitFor(WHOLE);
    await job.getByText('games 3 of 3').waitFor();
    await expect.poll(() => page.getByText('/ 6').count(), LONG).toBe(1);
    expect(await violations(page)).toEqual([]);
    await job.getByRole('button', { name: 'Forget' }).click();
    await job.waitFor({ state: 'detached' });

    // Two that are chosen.
    await page.getByLabel('Player', { exact: true }).fill('Foolish');
    await expect.poll(() => page.getByText('/ 2').count(), LONG).toBe(1);
    const choices = page.getByRole('checkbox', { name: /^Choose Foolish/ });
    await choices.nth(0).check();
    await choices.nth(1).check();
    await page.getByRole('button', { name: 'Evaluate every move' }).click();
    await dialog.getByLabel('Seconds a move').fill('0.05');
    await dialog.getByRole('button', { name: 'Evaluate every move' }).click();
    await job.getByText('2 chosen').waitFor(LONG);
    await job.and(page.locator('[data-status=done]')).waitFor(WHOLE);
    await page
      .getByRole('button', { name: /Foolish/ })
      .first()
      .click();
    await squares(page);
    await report(page);
    await panel(page).getByText('done', { exact: true }).waitFor(LONG);
    await panel(page).getByText('5 / 5', { exact: true }).waitFor();
    expect(faults).toEqual([]);
  },
  WHOLE.timeout * 2,
);

test('a job goes on after another start of the server', async () => {
  const folder = join(here.server.data, 'records');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.pgn'), '1. e4 e5 *\n\n'.repeat(3));
  const page = await here.page('#/library');
  await page.getByRole('button', { name: 'Report on a folder' }).click();
  await pick(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Seconds a move').fill('600');
  await dialog.getByRole('button', { name: 'Evaluate every move' }).click();
  await page.getByTestId('job').getByRole('button', { name: 'Open its game' }).waitFor(LONG);
  await here.server.restart();
  const again = await here.page('#/library');
  const job = again.getByTestId('job');
  await job.and(again.locator('[data-status=stopped]')).waitFor(LONG);
  await job.getByText('games 0 of 3').waitFor();
  await job.getByRole('button', { name: 'Go on' }).click();
  await job.getByRole('button', { name: 'Open its game' }).waitFor(LONG);
  await job.getByRole('button', { name: 'Cancel' }).click();
  await job.and(again.locator('[data-status=stopped]')).waitFor(LONG);
  await expect.poll(() => again.getByText('/ 3').count(), LONG).toBe(1);
});

const CLOCKED =
  '[White "A"]\n[Black "B"]\n[TimeControl "300+2"]\n\n' +
  '1. e4 {[%eval 0.3] [%clk 0:04:58]} e5 {[%eval 0.2] [%clk 0:04:50]} ' +
  '2. Nf3 {[%eval 0.4] [%clk 0:04:40]} Nc6 {[%eval 0.3] [%clk 0:04:30]} *\n';

test('graphs of evaluations and of clocks are clicked, and walked by keys', async () => {
  const page = await here.page();
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
  await open(page, CLOCKED, 4);
  for (const [name, text] of [
    ['Evaluation over the game', '0.30'],
    ['Time for each move, and what was left on the clocks', '4:30'],
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
    expect(await graph.getAttribute('aria-valuetext')).toContain(text);
    await page.keyboard.press('ArrowLeft');
    await is(3);
  }
});

test('positions are judged from the end or from the start, as is chosen', async () => {
  const page = await here.page('#/engines');
  const heard = await witness(page, here.server, 'Judge');
  await visit(page, 'Play');
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
  for (const backwards of [false, true]) {
    await open(page, CLOCKED, 4);
    const before = heard().length;
    await panel(page).getByLabel('Engine').selectOption({ label: 'Judge' });
    await panel(page).getByLabel('Backwards').setChecked(backwards);
    await evaluate(page, '0.01');
    await panel(page).getByText('done', { exact: true }).waitFor(LONG);
    const asked =
      heard()
        .slice(before)
        .match(/^position .*$/gm) ?? [];
    const plies = asked.map((line) => line.split(' moves ')[1]?.split(' ').length ?? 0);
    expect(plies).toEqual(backwards ? [4, 3, 2, 1, 0] : [0, 1, 2, 3, 4]);
    await page.getByRole('tab', { name: 'Moves' }).click();
  }
});
