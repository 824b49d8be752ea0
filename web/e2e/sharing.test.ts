// Diagrams, links, and the appearance of boards and pieces.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { launch, violations } from './browser';
import { defaultServer, game, open, storePrefs } from './fakeServer';
import { en, ja } from './labels';

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
});

test.each([
  ['chess', 'en'],
  ['shogi', 'ja'],
] as const)('saves diagrams of %s (%s)', async (variant, language) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  open(fake, game(5, variant));
  const page = await fake.page(browser, '#/analyse/5');
  await page.getByRole('tab', { name: text('tab.record') }).click();
  expect(await violations(page)).toEqual([]);
  const saved = async (format: string) => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: text('share.image', { format }) }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`position-5.${format.toLowerCase()}`);
    return readFileSync(await file.path());
  };
  const svg = (await saved('SVG')).toString('utf8');
  // One image for each piece, without references to other files.
  expect(svg.match(/<svg /g)?.length).toBe(1 + (variant === 'shogi' ? 40 : 32));
  expect(svg).not.toContain('./pieces');
  const png = await saved('PNG');
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect(png.readUInt32BE(16)).toBeGreaterThan(900);
  await page.context().close();
});

test('opens the game of a link', async () => {
  const fake = defaultServer();
  open(fake, game(6, 'chess'));
  fake.http.set('import', { games: [], total: 1, opened: 6, errors: [], warnings: [] });
  // "1. e4 *", deflated.
  const link = '#/open/M9RTSDVR0AIA';
  const page = await fake.page(browser, link);
  await expect.poll(() => page.url()).toContain('#/analyse/6');
  // Also on an open page.
  await page.goto(`${page.url().split('#')[0]}#/settings`);
  const request = page.waitForRequest(/api\/import/);
  await page.goto(`${page.url().split('#')[0]}${link}`);
  expect((await request).postData()).toBe('1. e4 *');
  await expect.poll(() => page.url()).toContain('#/analyse/6');
  await page.context().close();
});

test.each(['en', 'ja'] as const)('changes the boards and pieces (%s)', async (language) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  open(fake, game(5, 'chess'));
  const page = await fake.page(browser, '#/settings');
  await page.getByLabel(text('settings.chess_board')).selectOption('brown');
  await page.getByLabel(text('settings.chess_pieces')).selectOption('simple');
  await page.getByLabel(text('settings.shogi_board')).selectOption('dark');
  expect(await violations(page)).toEqual([]);
  await page.goto(`${page.url().split('#')[0]}#/analyse/5`);
  const image = () =>
    page
      .locator('piece.white.king')
      .first()
      .evaluate((piece) => getComputedStyle(piece).backgroundImage);
  await expect.poll(image).toContain('/simple/wK.svg');
  const color = (name: string) =>
    page.evaluate((it) => getComputedStyle(document.documentElement).getPropertyValue(it).trim(), name);
  expect(await color('--square-dark')).toBe('#b58863');
  expect(await color('--shogi-board')).toBe('#b98648');
  await page.context().close();
});
