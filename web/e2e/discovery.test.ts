// The search for engines on the computer, and engine lists of other programs.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { violations } from './browser';
import { ENGINES, LONG, useServer } from './fixture';
import { en, ja } from './labels';

const home = mkdtempSync(join(tmpdir(), 'readyok-home-'));
const before = { PATH: process.env.PATH, HOME: process.env.HOME };
mkdirSync(join(home, 'bin'));
mkdirSync(join(home, '.config/cutechess'), { recursive: true });
symlinkSync(ENGINES.mime, join(home, 'bin/stockfish-mime'));
writeFileSync(join(home, 'bin/komodo-broken'), '#!/bin/sh\nexit 3\n');
chmodSync(join(home, 'bin/komodo-broken'), 0o755);
const list = [
  { name: 'From the list', command: ENGINES.mime, protocol: 'uci', options: [{ name: 'Hash', value: 64 }] },
];
writeFileSync(join(home, '.config/cutechess/engines.json'), JSON.stringify(list));
// The server inherits them.
Object.assign(process.env, { PATH: join(home, 'bin'), HOME: home });
afterAll(() => {
  Object.assign(process.env, before);
  rmSync(home, { recursive: true });
});

const fixture = useServer();

test.each([
  ['en-GB', en],
  ['ja-JP', ja],
] as const)('finds engines, and imports them with the values of a list (%s)', async (locale, text) => {
  const page = await fixture.page('#/engines', { locale });
  await page.getByRole('button', { name: text('find.title') }).click();
  const dialog = page.getByRole('dialog');
  const found = dialog.getByTestId('found').locator('li');
  const mime = found.filter({ hasText: 'stockfish-mime' });
  await mime.waitFor(LONG);
  await expect.poll(() => mime.textContent()).toContain('UCI');
  const listed = found.filter({ hasText: 'From the list' });
  await expect.poll(() => listed.textContent()).toContain('Cute Chess');
  await dialog.locator('summary').click();
  await dialog.getByText('komodo-broken').waitFor();
  expect(await violations(page)).toEqual([]);
  // Other engines of this computer stay unselected.
  for (const box of await found.getByRole('checkbox').all()) await box.uncheck();
  await mime.getByRole('checkbox').check();
  await listed.getByRole('checkbox').check();
  await dialog.getByRole('button', { name: text('find.add', { count: 2 }) }).click();
  await dialog.waitFor({ state: 'detached', ...LONG });
  await page.getByRole('heading', { name: 'From the list' }).waitFor();
  await expect.poll(() => page.getByTestId('engine').count(), LONG).toBe(3);

  // They are marked in the next search, and in a file with an engine list.
  await page.getByRole('button', { name: text('find.title') }).click();
  await mime.getByText(text('find.registered')).waitFor(LONG);
  const ini = `[Engine1]\r\nName=Arena engine\r\nPath=${join(home, 'bin/stockfish-mime')}\r\nType=UCI\r\n[Engine2]\r\nPath=/bin/sh\r\nType=Winboard\r\n`;
  await dialog.locator('input[type=file]').setInputFiles({
    name: 'arena.ini',
    mimeType: 'text/plain',
    buffer: Buffer.from(ini),
  });
  await found.filter({ hasText: 'Arena engine' }).getByText(text('find.registered')).waitFor(LONG);
  await expect.poll(() => found.count()).toBe(1);
  await dialog.locator('summary').click();
  await dialog.getByText('winboard').waitFor();
});
