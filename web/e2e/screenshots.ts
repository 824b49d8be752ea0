// Creates docs/screenshots with a real server and engine: `npm run screenshots`.
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { LONG, useServer, visit } from './fixture';
import { storePicture } from './picture';
import { CHESS, SHOGI, analyse, fillLibrary, open, openListed, run } from './scenes';
import { GifEncoder, paletteOf } from '../src/parts/share/gif';
import { en, starts } from './labels';

const OUT = '../docs/screenshots';

const WINDOW = { viewport: { width: 1280, height: 800 } };
const DARK = { colorScheme: 'dark' } as const;
const JAPANESE = { locale: 'ja-JP' } as const;
const NARROW = { viewport: { width: 390, height: 844 } };

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
    ...WINDOW,
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
  await storePicture(page, `${OUT}/${name}.png`, 'live');
  await page.context().close();
}

const line = (page: Page) => page.getByTestId('line').nth(2);

test('analysis', async () => {
  const page = await journey.page();
  await fillLibrary(page);
  const chess = await openListed(page, 'Kasparov', 47);
  await analyse(page);
  await shoot('analyse-chess-dark', chess, DARK, line);
  await shoot('analyse-chess-narrow', chess, NARROW, line);
  await page
    .getByTestId('engine-panel')
    .getByRole('button', { name: en('panel.stop') })
    .click();
  const shogi = await open(page, SHOGI, 14);
  await analyse(page);
  await shoot('analyse-shogi-narrow', shogi, { ...NARROW, ...JAPANESE }, line);
});

test('a match', async () => {
  const page = await journey.page();
  await visit(page, en('nav.matches'));
  await page.getByRole('button', { name: en('match.new') }).click();
  await expect.poll(() => page.getByLabel(en('match.engine', { number: 2 })).count(), LONG).toBe(1);
  await page.getByLabel(starts('time.kind')).selectOption('none');
  await page.getByLabel(en('time.nodes')).fill('1500');
  await page.getByLabel(en('match.pairs')).fill('200');
  await page.getByLabel(en('match.concurrency')).fill('2');
  await page.getByRole('button', { name: en('match.start'), exact: true }).click();
  const played = page.getByTestId('match').getByRole('progressbar');
  await played.waitFor(LONG);
  await expect
    .poll(() => played.evaluate((bar) => (bar as HTMLProgressElement).value), LONG)
    .toBeGreaterThan(11);
  const match = new URL(page.url()).hash;
  await shoot(
    'matches',
    match,
    {},
    (one) => one.locator('cg-board piece').first(),
    async (one) => {
      // Games in progress.
      await one.waitForFunction(
        () =>
          [...document.querySelectorAll('cg-board')].every(
            (board) => board.querySelectorAll('piece').length < 28,
          ),
        null,
        LONG,
      );
    },
  );
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
  const [width, height] = [1200, 720];
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
    // The mate ends the analysis.
    await page.waitForFunction(
      ([wanted, last]) => {
        const cursor = document.querySelector('[data-cursor]')?.getAttribute('data-cursor');
        const panel = document.querySelector('[data-testid=engine-panel]')?.getAttribute('data-node');
        return cursor === wanted && (last || panel === wanted);
      },
      [String(ply), ply === 45] as const,
      LONG,
    );
    await page.waitForTimeout(600);
    await take(90);
  }
  await page
    .getByTestId('engine-panel')
    .getByRole('button', { name: en('panel.remove') })
    .click();
  await run(page, '0.1');
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
