// Creates docs/screenshots with a real server and engine: `npm run screenshots`.
import { showReport } from './browser';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { LONG, WHOLE, begin, enter, moveElements, newGame, paste, useServer, visit } from './fixture';
import { GifEncoder, paletteOf } from '../src/parts/share/gif';
import { en, pattern, starts } from './labels';

const OUT = '../docs/screenshots';

const CHESS =
  '[White "Adolf Anderssen"]\n[Black "Lionel Kieseritzky"]\n[Event "London"]\n[Date "1851.06.21"]\n\n' +
  '1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 5. Bxb5 Nf6 6. Nf3 Qh6 7. d3 Nh5 8. Nh4 Qg5 9. Nf5 c6 10. g4 Nf6 ' +
  '11. Rg1 cxb5 12. h4 Qg6 13. h5 Qg5 14. Qf3 Ng8 15. Bxf4 Qf6 16. Nc3 Bc5 17. Nd5 Qxb2 18. Bd6 Bxg1 19. e5 Qxa1+ ' +
  '20. Ke2 Na6 21. Nxg7+ Kd8 22. Qf6+ Nxf6 23. Be7# 1-0\n';
const SHOGI = [
  '手合割：平手',
  ...[
    '７六歩(77)',
    '３四歩(33)',
    '２六歩(27)',
    '８四歩(83)',
    '２五歩(26)',
    '８五歩(84)',
    '７八金(69)',
    '３二金(41)',
    '２四歩(25)',
    '同　歩(23)',
    '同　飛(28)',
    '８六歩(85)',
    '同　歩(87)',
    '同　飛(82)',
  ].map((move, index) => `${index + 1} ${move}`),
].join('\n');

const DARK = { colorScheme: 'dark' } as const;
const JAPANESE = { locale: 'ja-JP' } as const;
const NARROW = { viewport: { width: 360, height: 740 } };

/** Opens a record and steps to a ply. */
async function open(page: Page, text: string, plies: number): Promise<string> {
  const before = page.url();
  await paste(page, text);
  await page.waitForURL((url) => url.href !== before);
  await moveElements(page)
    .nth(plies - 1)
    .waitFor();
  await moveElements(page)
    .nth(plies - 1)
    .click();
  await page.locator('.moves [aria-current]').waitFor();
  return new URL(page.url()).hash;
}

/** Analyzes until several lines are shown. */
async function analyse(page: Page) {
  await page.getByRole('button', { name: pattern('panel.start') }).click();
  await page.getByTestId('line').nth(2).waitFor();
  await page.waitForFunction(
    () => Number(/\d+/.exec(document.querySelector('.facts b')?.textContent ?? '')?.[0]) >= 12,
    null,
    LONG,
  );
}

const journey = useServer();

/** Saves a screenshot after the page is complete. */
async function shoot(
  name: string,
  hash: string,
  options: object,
  ready: (page: Page) => Locator,
  act: (page: Page) => Promise<void> = async () => {},
) {
  const page = await journey.page(hash, {
    viewport: { width: 1240, height: 780 },
    reducedMotion: 'reduce',
    ...options,
  });
  await ready(page)
    .first()
    .waitFor({ ...LONG, state: 'attached' });
  await act(page);
  // A chess board fills its container, rounded to whole pixels per square.
  await page.waitForFunction(() =>
    [...document.querySelectorAll('cg-container')].every((board) => {
      const place = board.parentElement?.getBoundingClientRect().width ?? 0;
      return Math.abs(place - board.getBoundingClientRect().width) < 8;
    }),
  );
  await page.evaluate(() => Promise.all([...document.images].map((image) => image.decode())));
  await page.screenshot({ path: `${OUT}/${name}.png` });
  await page.context().close();
}

const line = (page: Page) => page.getByTestId('line').nth(2);

test('analysis', async () => {
  const page = await journey.page();
  const chess = await open(page, CHESS, 22);
  await showReport(page, en('tab.report'));
  await page.getByLabel(en('report.seconds')).fill('0.1');
  await page.getByLabel(en('report.annotate')).uncheck();
  await page.getByRole('button', { name: en('report.run') }).click();
  await page.getByRole('tabpanel').getByText(en('report.done'), { exact: true }).waitFor(WHOLE);
  await shoot(
    'report',
    chess,
    {},
    (one) => one.locator('.moves .move'),
    async (one) => {
      await showReport(one, en('tab.report'));
      await one.getByRole('slider', { name: en('report.graph') }).waitFor();
      await one.getByRole('button', { name: en('report.learn') }).waitFor();
    },
  );
  await analyse(page);
  await shoot('analyse-chess', chess, {}, line);
  await shoot('analyse-chess-dark', chess, DARK, line);
  await shoot('analyse-chess-narrow', chess, NARROW, line);
  await page
    .getByTestId('engine-panel')
    .getByRole('button', { name: en('panel.stop') })
    .click();
  const shogi = await open(page, SHOGI, 14);
  await analyse(page);
  await shoot('analyse-shogi', shogi, {}, line);
  await shoot('analyse-shogi-dark', shogi, { ...DARK, ...JAPANESE }, line);
  await shoot('analyse-shogi-narrow', shogi, { ...NARROW, ...JAPANESE }, line);
});

test('the other pages', async () => {
  const page = await journey.page();
  await shoot('new-game', '#/play/0/new', {}, (one) => one.locator('form.new option'));
  await newGame(page, 'shogi');
  await begin(page);
  await enter(page, 'P-7f');
  await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
  const shogi = new URL(page.url()).hash;
  await shoot('play-shogi', shogi, {}, (one) => one.getByTestId('status'));
  await shoot('play-shogi-dark', shogi, { ...DARK, ...JAPANESE }, (one) => one.getByTestId('status'));
  await visit(page, en('nav.matches'));
  await page.getByRole('button', { name: en('match.new') }).click();
  await expect.poll(() => page.getByLabel(en('match.engine', { number: 2 })).count(), LONG).toBe(1);
  await page.getByLabel(starts('new.variant')).selectOption('chess960');
  await page.getByLabel(starts('time.kind')).selectOption('none');
  await page.getByLabel(en('time.nodes')).fill('400');
  await page.getByLabel(en('match.pairs')).fill('200');
  await page.getByLabel(en('match.concurrency')).fill('2');
  await page.getByRole('button', { name: en('match.start'), exact: true }).click();
  const played = page.getByRole('progressbar');
  await played.waitFor(LONG);
  await expect
    .poll(() => played.evaluate((bar) => (bar as HTMLProgressElement).value), LONG)
    .toBeGreaterThan(11);
  const match = new URL(page.url()).hash;
  await shoot('matches', match, {}, (one) => one.locator('cg-board piece').nth(40));
  await shoot('engines', '#/engines', {}, (one) => one.getByTestId('process'));
  await shoot('library', '#/library', {}, (one) => one.getByRole('row').nth(5));
});

/** The pixels of a screenshot in RGBA. */
async function pixels(page: Page): Promise<Uint8ClampedArray> {
  const png = (await page.screenshot()).toString('base64');
  const raw = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context?.drawImage(image, 0, 0);
    const { data } = context?.getImageData(0, 0, image.width, image.height) ?? { data: [] };
    let text = '';
    // A call has a maximum number of arguments.
    for (let at = 0; at < data.length; at += 0x8000)
      text += String.fromCharCode(...data.slice(at, at + 0x8000));
    return btoa(text);
  }, png);
  return new Uint8ClampedArray(Buffer.from(raw, 'base64'));
}

test('the animation of the README', async () => {
  const [width, height] = [1000, 620];
  const page = await journey.page('', { viewport: { width, height }, reducedMotion: 'reduce' });
  const frames: [image: Uint8ClampedArray, delay: number][] = [];
  const take = async (delay: number) => frames.push([await pixels(page), delay]);
  await open(page, CHESS, 36);
  await take(100);
  await analyse(page);
  await take(180);
  // The sacrifices of the last moves.
  for (let ply = 37; ply <= 45; ply++) {
    await page.keyboard.press('ArrowRight');
    await page.locator(`.moves [aria-current]`).waitFor();
    if (ply < 45)
      await expect
        .poll(() => page.getByTestId('engine-panel').first().getAttribute('data-node'), LONG)
        .toBe(await page.locator('[data-cursor]').getAttribute('data-cursor'));
    await page.waitForTimeout(600);
    await take(90);
  }
  await page
    .getByTestId('engine-panel')
    .getByRole('button', { name: en('panel.remove') })
    .click();
  await showReport(page, en('tab.report'));
  await page.getByLabel(en('report.seconds')).fill('0.1');
  await page.getByRole('button', { name: en('report.run') }).click();
  await page.getByRole('tabpanel').getByText(en('report.done'), { exact: true }).waitFor(WHOLE);
  await take(260);
  await take(160);
  await open(page, SHOGI, 14);
  await analyse(page);
  await take(260);
  const gif = new GifEncoder(width, height, paletteOf(frames.map(([image]) => image)));
  for (const [image, delay] of frames) gif.add(image, delay);
  const bytes = gif.finish();
  expect(bytes.length).toBeLessThan(1_500_000);
  writeFileSync(`${OUT}/tour.gif`, bytes);
});
