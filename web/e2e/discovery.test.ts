// The search for engines on the computer, and engine lists of other programs.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
const program = (name: string, script: string) =>
  writeFileSync(join(home, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
program('bin/komodo-broken', 'exit 3');
// A shogi engine without its evaluation file.
program(
  'bin/yaneuraou-nnue',
  'while read line; do case $line in usi) echo id name YaneuraOu; echo "option name EvalDir type string default eval"; ' +
    'echo usiok;; quit) exit;; esac; done',
);
// It is known by its name, and its handshake takes as long as the test wants.
program(
  'bin/critter-slow',
  'while read line; do case $line in uci) while [ ! -e "$HOME/continue" ]; do /bin/sleep 0.1; done; echo id name Slow; ' +
    'echo uciok;; quit) exit;; esac; done',
);
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
  // Results are shown while another program has not answered.
  await mime.waitFor(LONG);
  const bar = dialog.getByRole('progressbar', { name: text('find.progress') });
  await bar.waitFor();
  expect(await found.filter({ hasText: 'critter-slow' }).count()).toBe(0);
  // A value that suits the machine.
  expect(await mime.getByTestId('values').textContent()).toMatch(/^Hash \d+$/);
  const yaneuraou = found.filter({ hasText: 'yaneuraou-nnue' });
  await yaneuraou
    .getByText(text('find.no_evaluation', { path: join(home, 'bin/eval/nn.bin') }))
    .waitFor(LONG);
  expect(await yaneuraou.getByRole('checkbox').isChecked()).toBe(false);
  writeFileSync(join(home, 'continue'), '');
  await found.filter({ hasText: 'critter-slow' }).waitFor(LONG);
  await bar.waitFor({ state: 'detached', ...LONG });
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
  const added = page.getByTestId('engine').filter({ hasText: 'From the list' });
  // The value of the list overrides that of the machine.
  await expect.poll(() => added.getByTestId('resources').textContent(), LONG).toContain('Hash 64');
  rmSync(join(home, 'continue'));

  // They are marked in the next search, and in a file with an engine list.
  await page.getByRole('button', { name: text('find.title') }).click();
  await mime.getByText(text('find.registered')).waitFor(LONG);
  await dialog.getByRole('button', { name: text('find.stop') }).click();
  await bar.waitFor({ state: 'detached', ...LONG });
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
