// The dashboard of a match queue, with a real NATS server.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { violations } from './browser';
import { LONG, WHOLE, countActions, useServer } from './fixture';
import { en } from './labels';
import { PROGRAM } from './server';

const fixture = useServer();

/** The NATS server, where it is installed. */
const NATS = (process.env.PATH ?? '')
  .split(':')
  .concat('/usr/sbin')
  .map((directory) => join(directory, 'nats-server'))
  .find((path) => existsSync(path));

if (!NATS && process.env.READYOK_REAL_ENGINES) throw new Error('nats-server is not installed');

let directory = '';
let queue = '';
let processes: ChildProcess[] = [];

function start(program: string, args: string[]) {
  const child = spawn(program, args, { cwd: directory, stdio: 'ignore' });
  processes.push(child);
  return child;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address ? address.port : 0;
}

const listens = (port: number) =>
  new Promise<boolean>((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });

beforeEach(async () => {
  if (!NATS) return;
  directory = mkdtempSync(join(tmpdir(), 'readyok-queue-'));
  const port = await freePort();
  start(NATS, ['-js', '-a', '127.0.0.1', '-p', String(port), '-sd', join(directory, 'nats')]);
  await expect.poll(() => listens(port), LONG).toBe(true);
  queue = `nats://127.0.0.1:${port}`;
});

afterEach(async () => {
  for (const child of processes) {
    const ended = new Promise((done) => child.once('exit', done));
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await ended;
  }
  processes = [];
  if (directory) rmSync(directory, { recursive: true, force: true });
});

test.skipIf(!NATS)('shows tests and workers, and changes tests', WHOLE, async () => {
  const openings = join(directory, 'openings.epd');
  writeFileSync(openings, 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n');
  const plan = join(directory, 'plan.toml');
  const engine = (name: string) =>
    `{ name = "${name}", command = "${PROGRAM}", args = ["engine"], limits = { nodes = 50 } }`;
  // Bounds around the score of equal engines: the sequential test does not end before it is paused.
  writeFileSync(
    plan,
    `game = "chess"\nevent = "nightly"\nrounds = 1000\nwait_ms = 50\nadjudication = { max_moves = 10 }\n` +
      `openings = { source = { kind = "file", path = "${openings}" } }\n` +
      `sprt = { elo0 = -5.0, elo1 = 5.0 }\nengines = [${engine('new')}, ${engine('base')}]\n`,
  );
  const reader = join(directory, 'reader');
  writeFileSync(reader, 'battery staple\n', { mode: 0o600 });
  await fixture.server.restart(['--queue', queue, '--reader-password-file', reader]);
  start(PROGRAM, ['match', '--plan', plan, '--queue', queue, '--json', '--results', 'results.jsonl']);
  start(PROGRAM, ['worker', '--queue', queue, '--name', 'helper', '--allow-any', '--cache', directory]);

  // The page of local matches lists the tests of the queue, too: one click shows the state of all.
  const page = await fixture.page('#/home');
  const rail = page.getByRole('navigation', { name: en('nav.label') });
  await rail.getByRole('link', { name: en('nav.queue') }).waitFor();
  const actions = await countActions(page);
  await rail.getByRole('link', { name: en('nav.matches') }).click();
  await page.getByText(en('match.none')).waitFor();
  const test = page.getByRole('region', { name: en('queue.tests') }).getByRole('row', { name: /^nightly/ });
  await test.getByText(en('queue.running')).waitFor(LONG);
  expect(await actions()).toBe(1);
  await rail.getByRole('link', { name: en('nav.queue') }).click();
  const link = page.getByRole('link', { name: 'nightly' });
  await link.click(LONG);
  const shown = page.getByRole('region', { name: 'nightly' });
  await shown.getByText(en('queue.pentanomial')).first().waitFor(LONG);
  await shown.getByText('helper').first().waitFor(LONG);
  await shown.getByRole('img', { name: /^LLR/ }).waitFor(LONG);
  await page.getByText('helper').last().waitFor();
  expect(await violations(page)).toEqual([]);
  const address = page.url();

  await shown.getByRole('button', { name: en('match.pause') }).click();
  await shown.getByText(en('queue.paused')).waitFor(LONG);
  await shown.getByLabel(en('queue.priority')).fill('7');
  await shown.getByLabel(en('queue.priority')).press('Enter');
  await page.getByRole('cell', { name: '7', exact: true }).first().waitFor(LONG);

  // A reader changes nothing.
  const visitor = await fixture.newBrowser();
  await visitor.goto(address);
  await visitor.getByLabel(en('login.password')).fill('battery staple');
  await visitor.getByLabel(en('login.password')).press('Enter');
  await visitor.getByRole('region', { name: 'nightly' }).waitFor(LONG);
  await visitor.getByText(en('queue.readonly')).waitFor();
  // The only button is that of the frame.
  const buttons = visitor.getByRole('button').filter({ hasNotText: en('palette.open') });
  expect(await buttons.count()).toBe(0);

  // A copy with other settings is coordinated by the server.
  await shown.getByRole('button', { name: en('queue.clone') }).click();
  await shown.getByLabel(en('match.name'), { exact: true }).fill('copy');
  await shown.getByLabel(en('match.rounds')).fill('2');
  await shown.getByRole('button', { name: en('match.start') }).click();
  const copy = page.getByRole('region', { name: 'copy' });
  await copy.getByText(en('queue.finished')).waitFor(LONG);
  await page.getByLabel(en('queue.search')).fill('COPY');
  await page.getByRole('link', { name: 'copy' }).waitFor(LONG);

  // A command starts a new test.
  await page.getByRole('button', { name: en('queue.new') }).click();
  const command = page.getByLabel(en('queue.command'), { exact: true });
  await command.fill(
    'readyok match narikin narikin --event pasted --nodes 50 --max-moves 10 --pgn games.pgn',
  );
  await page.getByRole('button', { name: en('match.start') }).click();
  await page.getByText('--pgn').last().waitFor(LONG);
  await command.fill('readyok match narikin narikin --event pasted --nodes 50 --max-moves 10 --random');
  const moved = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n';
  await page
    .getByLabel(en('queue.openings.upload'))
    .setInputFiles({ name: 'moved.epd', mimeType: 'text/plain', buffer: Buffer.from(moved) });
  await expect.poll(() => page.getByLabel(en('match.openings')).inputValue(), LONG).toBe('moved.epd');
  await page.getByRole('button', { name: en('match.start') }).click();
  await page.getByRole('region', { name: 'pasted' }).getByText(en('queue.finished')).waitFor(LONG);

  await page.goto(address);
  await shown.getByRole('button', { name: en('queue.stop') }).click();
  await shown.getByText(en('queue.finished')).waitFor(LONG);
});
