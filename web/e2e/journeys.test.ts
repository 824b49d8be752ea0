// Journeys through the page with a real server and the built-in engine.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { faultsOf, launch, violations } from './browser';
import { RealServer } from './server';

let browser: Browser;
let server: RealServer;

beforeAll(async () => {
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
});

beforeEach(async () => {
  server = new RealServer();
  await server.start();
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await server.stop();
});

const squares = (page: Page) => page.locator('[data-square]').first().waitFor({ state: 'attached' });

/** Opens the form of a new game. A person has to move within these seconds, too. */
async function newGame(page: Page, variant: 'Chess' | 'Chess960' | 'Shogi', seconds = 5) {
  await page.getByRole('radio', { name: variant, exact: true }).check({ force: true });
  await page.getByLabel('Opponent').waitFor();
  await expect.poll(() => page.getByLabel('Opponent').locator('option').count()).toBeGreaterThan(1);
  await page.getByLabel('Kind').first().selectOption('per_move');
  await page.getByLabel('Seconds', { exact: true }).fill(String(seconds));
}

async function begin(page: Page) {
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await squares(page);
}

async function enter(page: Page, text: string) {
  const field = page.locator('#entry');
  await field.fill(text);
  await field.press('Enter');
}

const made = (page: Page) => page.locator('.moves .move:not(.gap)');

const words = async (page: Page) => (await made(page).allTextContents()).map((word) => word.trim());

async function click(page: Page, square: string) {
  const box = await page.locator(`[data-square="${square}"]`).first().boundingBox();
  if (!box) throw new Error(`no square ${square}`);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

test.each([
  ['Chess', 'e2', 'e4'],
  ['Shogi', '7g', '7f'],
] as const)('from the first start to an answered move of %s', async (variant, from, to) => {
  const page = await server.page(browser);
  const faults = faultsOf(page);
  await newGame(page, variant);
  await begin(page);
  await click(page, from);
  await click(page, to);
  await expect.poll(() => made(page).count(), { timeout: 60_000 }).toBe(2);
  await expect.poll(() => page.getByTestId('live').textContent()).not.toBe('');
  expect(await violations(page)).toEqual([]);
  expect(faults).toEqual([]);
});

test('a full game of two engines at a fast clock is saved by itself', async () => {
  const page = await server.page(browser);
  await newGame(page, 'Chess');
  await page.getByText('More', { exact: true }).click();
  await page.getByLabel('Set each side by itself').check();
  for (const side of ['White', 'Black']) {
    const group = page.getByRole('group', { name: side });
    await group.getByLabel('Player').selectOption({ index: 1 });
    await group.getByLabel('Kind').selectOption('per_move');
    await group.getByLabel('Seconds').fill('0.01');
  }
  await begin(page);
  await expect.poll(() => page.getByTestId('status').textContent(), { timeout: 80_000 }).toMatch(/won|Draw/);
  await page.getByRole('link', { name: 'Library' }).click();
  await page.getByRole('row').nth(1).getByText('Narikin', { exact: false }).first().waitFor();
});

test('lines are never of another position while one steps fast', async () => {
  const page = await server.page(browser);
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
  for (const move of ['e4', 'e5', 'Nf3', 'Nc6', 'Bb5', 'a6']) {
    const count = await made(page).count();
    await enter(page, move);
    await expect.poll(() => made(page).count()).toBe(count + 1);
  }
  await page.getByRole('button', { name: /Analyse with/ }).click();
  await page.getByTestId('line').first().waitFor();
  // Whose turn it is tells which moves can begin a line.
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { stale: seen });
    const look = () => {
      const lane = document.querySelector('[data-testid=lane]');
      const lines = document.querySelectorAll('[data-testid=line]').length;
      const cursor = document.querySelector('[data-cursor]')?.getAttribute('data-cursor');
      const node = lane?.getAttribute('data-node');
      if (lines > 0 && cursor !== node) seen.push(`${cursor} shows ${node}`);
      requestAnimationFrame(look);
    };
    look();
  });
  await page.locator('body').click({ position: { x: 5, y: 500 } });
  for (let round = 0; round < 4; round++) {
    for (let step = 0; step < 6; step++) await page.keyboard.press('ArrowLeft');
    for (let step = 0; step < 6; step++) await page.keyboard.press('ArrowRight');
  }
  await page.getByTestId('line').first().waitFor();
  expect(await page.evaluate(() => (window as unknown as { stale: string[] }).stale)).toEqual([]);
});

test('a game goes on after a reload, and after the server was killed', async () => {
  const page = await server.page(browser);
  await newGame(page, 'Chess');
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => made(page).count(), { timeout: 60_000 }).toBe(2);
  const before = await words(page);
  await page.reload();
  await expect.poll(() => words(page)).toEqual(before);
  const hash = new URL(page.url()).hash;
  await server.kill();
  await server.start();
  const again = await server.page(browser, hash);
  await expect.poll(() => words(again)).toEqual(before);
  await again.getByRole('button', { name: 'Go on', exact: true }).click();
  await enter(again, 'd4');
  await expect.poll(() => made(again).count(), { timeout: 60_000 }).toBeGreaterThanOrEqual(3);
});

test('two tabs show the same', async () => {
  const one = await server.page(browser);
  await one.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(one);
  const two = await one.context().newPage();
  await two.goto(one.url());
  await squares(two);
  await enter(one, 'e4');
  await expect.poll(() => words(two)).toEqual(['e4']);
  await enter(two, 'c5');
  await expect.poll(() => words(one)).toEqual(['e4', 'c5']);
});

test('a game of shogi by keys alone, in Japanese', async () => {
  const page = await server.page(browser, '', { locale: 'ja-JP' });
  await page.getByRole('radio', { name: '将棋' }).waitFor();
  await page.getByRole('radio', { name: '将棋' }).focus();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: '対局開始' }).focus();
  await page.keyboard.press('Enter');
  await squares(page);
  await page.keyboard.press('m');
  await page.keyboard.type('７六歩');
  await page.keyboard.press('Enter');
  await expect.poll(() => made(page).count(), { timeout: 60_000 }).toBe(2);
  expect(await made(page).first().textContent()).toContain('７六歩');
  expect(await violations(page)).toEqual([]);
});

const RECORDS: [string, string, string][] = [
  ['PGN', '[White "Greco"]\n[Black "NN"]\n\n1. e4 e5 2. Nf3 f6?? (2... Nc6) 3. Nxe5 *\n', 'pgn'],
  ['FEN', '8/8/8/4k3/8/8/4P3/4K3 w - - 0 1', 'position'],
  ['position line', 'position startpos moves e2e4 e7e5', 'line'],
  [
    'SFEN',
    'position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves 7g7f 3c3d',
    'line',
  ],
  ['KIF', '手合割：平手\n先手：甲\n後手：乙\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ２二角成(88)\n', 'kif'],
  ['KI2', '先手：甲\n後手：乙\n\n▲７六歩    △３四歩    ▲２二角成\n', 'ki2'],
  ['CSA', 'V2.2\nN+A\nN-B\nPI\n+\n+7776FU\n-3334FU\n', 'csa'],
  [
    'JKF',
    '{"header":{"先手":"甲"},"moves":[{},{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6},"color":0,"piece":"FU"}}]}',
    'jkf',
  ],
];

test.each(RECORDS)('%s is pasted, and exported again', async (_, text, format) => {
  const page = await server.page(browser);
  await page.evaluate((record) => {
    const data = new DataTransfer();
    data.setData('text/plain', record);
    window.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }));
  }, text);
  await squares(page);
  await page.getByRole('tab', { name: 'Record' }).click();
  await page.getByLabel('Format').selectOption(format);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  const field = page.getByLabel('The record as text');
  await field.waitFor();
  await expect.poll(() => field.inputValue()).not.toBe('');
});

test.each(['stockfish', 'fairy-stockfish', 'gnuchess'])('the options of %s', async (name) => {
  const page = await server.page(browser, '#/engines');
  await page.getByRole('button', { name: 'Add an engine' }).click();
  const args = name === 'gnuchess' ? ' --uci' : '';
  await page.getByLabel('Path, command line or tcp://').fill(`/usr/games/${name}${args}`);
  await page.getByLabel('Path, command line or tcp://').blur();
  await page.getByRole('button', { name: 'Add and ask' }).click();
  await expect.poll(() => page.getByTestId('engine').count(), { timeout: 60_000 }).toBe(2);
  const card = page.getByTestId('engine').nth(1);
  await expect
    .poll(() => card.getByRole('button', { name: 'Options' }).isEnabled(), { timeout: 60_000 })
    .toBe(true);
  await card.getByRole('button', { name: 'Options' }).click();
  await expect.poll(() => page.locator('[data-option]').count()).toBeGreaterThan(2);
  await page.getByRole('searchbox').fill('Hash');
  const hash = page.locator('[data-option="Hash"] input');
  await hash.fill('32');
  await hash.blur();
  await page.locator('[data-option="Hash"].changed').waitFor();
  expect(await violations(page)).toEqual([]);
});

test('the log hears both sides, and says what one types', async () => {
  const page = await server.page(browser, '#/engines');
  await page.getByRole('button', { name: 'Console' }).first().click();
  const field = page.getByLabel(/Say something to the engine/);
  await expect.poll(() => field.isEnabled(), { timeout: 60_000 }).toBe(true);
  await field.fill('isready');
  await field.press('Enter');
  await page.getByText('readyok', { exact: true }).first().waitFor();
});
