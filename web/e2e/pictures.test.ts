// Pictures of each page, compared with those of the documentation; Firefox has a smaller set of its own.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { Explorer } from '../src/api/wire';
import { BROWSER, SIZES, sharedBrowser, showReport } from './browser';
import { illustrated } from './illustrated';
import { en } from './labels';
import { comparePicture } from './picture';

const FOLDER = BROWSER === 'firefox' ? 'e2e/pictures/firefox' : '../docs/screenshots/pages';
const WIDTHS = [390, 1280, 1440, 1920];
const SCHEMES = ['light', 'dark'] as const;
/** Firefox shows each page once in each theme. */
const taken = (width: number, scheme: 'light' | 'dark') =>
  WIDTHS.includes(width) && (BROWSER !== 'firefox' || width === (scheme === 'light' ? 1440 : 390));

const browser = await sharedBrowser();

/** Shows the first game next to the list. */
async function preview(page: Page) {
  await page.locator('[data-row] a').first().focus();
  await page.keyboard.press('Home');
}

const VIEWS: [name: string, route: string, ready: string, opens?: (page: Page) => Promise<unknown>][] = [
  ['home', '#/home', '.home cg-board piece, .home svg'],
  ['new-game', '#/play/new', 'form option'],
  ['play', '#/play/2', 'cg-board piece'],
  ['play-shogi', '#/play/4', 'sg-pieces piece'],
  ['analysis', '#/analyse/1', '.moves .move'],
  ['analysis-shogi', '#/analyse/3', '.moves .move'],
  ['report', '#/analyse/1', '.moves .move', (page) => showReport(page, en('tab.report'))],
  ['library', '#/library', '[data-row]', preview],
  ['training', '#/training', 'main'],
  ['matches', '#/matches', 'main'],
  ['match', '#/matches/3', 'cg-board piece'],
  ['queue', '#/matches/workers', 'main table'],
  ['queue-match', '#/matches/abcdef0123456789', 'main table'],
  ['engines', '#/engines', 'main'],
  ['settings', '#/settings', 'main input'],
  ['about', '#/about', 'main table'],
];

const NO_GAMES: Explorer = {
  kind: 'library',
  counts: { first: 0, draws: 0, second: 0, unknown: 0 },
  moves: [],
  games: [],
};

test.each(VIEWS)('looks like its stored pictures: %s', async (name, route, ready, opens) => {
  const server = illustrated();
  // The answers of the explorer are those of chess.
  if (name === 'analysis-shogi') server.http.set('explorer', NO_GAMES);
  server.now = new Date('2026-06-01T10:00:00Z');
  const page = await server.page(browser, route, { timezoneId: 'UTC', reducedMotion: 'reduce' });
  await page.locator(ready).first().waitFor({ state: 'attached' });
  const different: string[] = [];
  for (const [width, height] of SIZES) {
    for (const colorScheme of SCHEMES.filter((scheme) => taken(width, scheme))) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await opens?.(page);
      const found = await comparePicture(page, `${FOLDER}/${name}-${width}-${colorScheme}.png`);
      if (found) different.push(found);
    }
  }
  expect(different).toEqual([]);
  await page.context().close();
});
