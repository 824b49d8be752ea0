// Comparison of the pictures of pages with stored ones.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { applyPalette, quantize } from 'gifenc';
import pixelmatch from 'pixelmatch';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { expect } from 'vitest';

const BLESS = process.env.READYOK_BLESS === '1';
/** Differences of a channel, and the share of pixels that may exceed it. */
const [DIFFERENCE, SHARE] = [40 / 255, 0.001];

interface Picture {
  width: number;
  height: number;
  data: Uint8Array;
}

/** Waits until fonts are loaded and images are decoded. */
const complete = (page: Page) =>
  page.evaluate(async () => {
    await document.fonts.ready;
    await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)));
  });

/** Pictures until one is accepted, or two in a row are the same: then the page is at rest. */
async function picture(page: Page, accepts: (picture: Picture) => boolean): Promise<Picture> {
  await complete(page);
  let before: Buffer | undefined;
  let found: Picture | undefined;
  await expect
    .poll(async () => {
      const now = await page.screenshot({ animations: 'disabled' });
      if (before?.equals(now)) return true;
      before = now;
      found = PNG.sync.read(now);
      return accepts(found);
    })
    .toBe(true);
  if (!found) throw new Error('no picture was taken');
  return found;
}

/** A PNG of 256 colors: a third of the size in full colors. */
function indexed({ width, height, data }: Picture): Buffer {
  const palette = quantize(data, 256);
  const index = applyPalette(data, palette);
  const rows = Buffer.alloc(height * (width + 1));
  for (let row = 0; row < height; row++)
    rows.set(index.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  const chunk = (type: string, content: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(content.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits of a palette.
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Uint8Array.from(palette.flat())),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', new Uint8Array()),
  ]);
}

/** Stores a picture of the page once it is at rest, or immediately if it is live: while engines search. */
export async function storePicture(page: Page, path: string, state: 'at rest' | 'live'): Promise<void> {
  const found = await picture(page, () => state === 'live');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, indexed(found));
}

let folder = '';

/** The share of pixels that differ visibly, and a picture of them. */
function compare(stored: Picture, found: Picture): { share: number; difference: PNG | null } {
  const { width, height } = found;
  if (stored.width !== width || stored.height !== height) return { share: 1, difference: null };
  const difference = new PNG({ width, height });
  const options = { threshold: DIFFERENCE, includeAA: true };
  const count = pixelmatch(stored.data, found.data, difference.data, width, height, options);
  return { share: count / (width * height), difference };
}

/**
 * Compares the page with a stored picture: at most one of a thousand pixels differs visibly. Returns what is wrong;
 * `READYOK_BLESS=1` stores the picture.
 */
export async function comparePicture(page: Page, path: string): Promise<string | null> {
  const stored = existsSync(path) ? PNG.sync.read(readFileSync(path)) : null;
  const same = (one: Picture) => stored !== null && compare(stored, one).share <= SHARE;
  const found = await picture(page, same);
  if (same(found)) return null;
  if (BLESS) {
    const bytes = indexed(found);
    // The palette itself must not exceed the limit.
    expect(compare(PNG.sync.read(bytes), found).share).toBeLessThan(SHARE / 4);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    return null;
  }
  folder ||= mkdtempSync(join(tmpdir(), 'readyok-pictures-'));
  const name = join(folder, basename(path, '.png'));
  writeFileSync(`${name}.png`, PNG.sync.write(Object.assign(new PNG(found), { data: found.data })));
  if (!stored) return `${path} is missing; the page is in ${name}.png`;
  const { share, difference } = compare(stored, found);
  if (difference) writeFileSync(`${name}-difference.png`, PNG.sync.write(difference));
  return `${path}: ${(100 * share).toFixed(2)} % of the pixels differ; the page is in ${name}.png`;
}
