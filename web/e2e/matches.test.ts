// Engines against each other: a match that is watched, paused, resumed and over, and a tournament.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './browser';
import { ENGINES, LONG, WHOLE, addEngine, greeted, travel, visit } from './journey';

const here = travel();

/** Opens the form of a match, with games that take no time. */
async function form(page: Page) {
  await page.getByRole('button', { name: 'New match' }).click();
  await expect.poll(() => page.getByLabel('Engine 2').count(), LONG).toBe(1);
  await page.getByLabel('Kind').selectOption('none');
  await page.getByLabel('Nodes at most').fill('30');
}

const match = (page: Page) => page.getByTestId('match');

/** How many games were played, as the match says. */
const played = (page: Page) =>
  match(page)
    .getByRole('progressbar')
    .evaluate((bar) => (bar as HTMLProgressElement).value);

/** The number of games in each cell of the crosstable, row by row. */
async function crosstable(page: Page): Promise<number[][]> {
  const rows = await match(page).locator('table').first().locator('tbody tr').all();
  const cells = await Promise.all(rows.map((row) => row.locator('td.small').allTextContents()));
  const games = (text: string) => (text.match(/\d+/g) ?? []).reduce((sum, count) => sum + Number(count), 0);
  return cells.map((row) => row.map(games));
}

test(
  'a match is started, watched, paused, resumed and ended',
  async () => {
    const page = await here.page('#/matches');
    await form(page);
    await page.getByLabel('Name', { exact: true }).fill('Journey');
    await page.getByLabel('Pairs of games').fill('10000');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await match(page).getByRole('heading', { name: 'Journey' }).waitFor();
    const board = match(page).getByLabel('Board 1');
    await board.waitFor(LONG);
    const pieces = () =>
      board.locator('[data-square]').evaluateAll((all) => all.map((it) => it.ariaLabel).join());
    const before = await pieces();
    await expect.poll(pieces, LONG).not.toBe(before);
    await expect.poll(() => played(page), LONG).toBeGreaterThan(1);
    expect(await violations(page)).toEqual([]);

    await match(page).getByRole('button', { name: 'Pause' }).click();
    await match(page).getByText('paused', { exact: true }).waitFor(LONG);
    const then = await played(page);
    expect(then).toBeLessThan(20_000);
    const [[, one], [other]] = (await crosstable(page)) as [[number, number], [number, number]];
    expect([one, other]).toEqual([then, then]);

    // It goes on where it was, after the program was started anew as well.
    const hash = new URL(page.url()).hash;
    await here.server.restart();
    const again = await here.page(hash);
    await match(again).getByText('paused', { exact: true }).waitFor(LONG);
    expect(await played(again)).toBe(then);
    await match(again).getByRole('button', { name: 'Go on' }).click();
    await expect.poll(() => played(again), LONG).toBeGreaterThan(then);
    await match(again).getByRole('button', { name: 'Stop after these games' }).click();
    await match(again).getByText('paused', { exact: true }).waitFor(LONG);
    await match(again).getByRole('button', { name: 'Delete' }).click();
    await again.getByText('This match is no more.').or(again.getByText('No matches yet.')).first().waitFor();
  },
  WHOLE.timeout,
);

test(
  'a tournament of three has a crosstable of all',
  async () => {
    const page = await here.page('#/engines');
    await greeted(await addEngine(page, { name: 'Mime', path: ENGINES.mime }));
    await visit(page, 'Matches');
    await form(page);
    await page.getByRole('button', { name: 'Another engine' }).click();
    await page.getByLabel('Format').selectOption('round_robin');
    await page.getByLabel('Pairs of games').fill('1');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await match(page).getByText('over', { exact: true }).waitFor(WHOLE);
    expect(await played(page)).toBe(6);
    expect(await crosstable(page)).toEqual([
      [0, 2, 2],
      [2, 0, 2],
      [2, 2, 0],
    ]);
    await match(page).getByText('Games: 6').click();
    expect(await match(page).locator('details tr').count()).toBe(6);
    // They are in the library, too.
    await visit(page, 'Library');
    await expect.poll(() => page.getByText('/ 6').count(), LONG).toBe(1);
  },
  WHOLE.timeout,
);
