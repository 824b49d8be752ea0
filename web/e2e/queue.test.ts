// The dashboard of a match queue, with a real NATS server.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { violations } from './browser';
import { LONG, WHOLE, countActions, useServer } from './fixture';
import { en, starts } from './labels';
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

  // One page has local matches and those of the queue: one click shows the state of all.
  const page = await fixture.page('#/home');
  const rail = page.getByRole('navigation', { name: en('nav.label') });
  const actions = await countActions(page);
  await rail.getByRole('link', { name: en('nav.matches') }).click();
  const row = page.getByRole('link', { name: /^nightly/ });
  await row.getByText(en('queue.running')).waitFor(LONG);
  expect(await actions()).toBe(1);
  await page
    .getByRole('link', { name: en('queue.machines', { count: 1, cores: '' }).trim().split(' · ')[0] ?? '' })
    .waitFor(LONG);
  await row.click(LONG);
  const shown = page.getByRole('region', { name: 'nightly' });
  await shown
    .getByRole('region', { name: en('queue.pentanomial') })
    .getByRole('listitem')
    .first()
    .waitFor(LONG);
  await shown.getByTestId('worker').filter({ hasText: 'helper' }).waitFor(LONG);
  await shown.getByRole('img', { name: /^LLR/ }).waitFor(LONG);
  const conditions = shown.getByRole('region', { name: en('match.conditions') });
  await conditions.getByText('[−5, 5] normalized · α = β = 0.05').waitFor();
  await conditions.getByText('openings.epd', { exact: false }).waitFor();
  await shown
    .getByRole('region', { name: en('match.live') })
    .getByText('helper')
    .first()
    .waitFor(LONG);
  const tab = (name: string) =>
    shown
      .getByRole('radiogroup', { name: en('match.sections') })
      .getByText(name)
      .click();
  await tab(en('match.log'));
  await shown.getByText(en('log.joined', { worker: 'helper' })).waitFor(LONG);
  await tab(en('match.tab.games'));
  await shown.getByTestId('game').first().waitFor(LONG);
  expect(await violations(page)).toEqual([]);
  const address = page.url();

  await shown.getByRole('button', { name: en('match.pause') }).click();
  await shown.getByText(en('queue.paused')).waitFor(LONG);
  await shown.getByLabel(en('queue.priority')).fill('7');
  await shown.getByLabel(en('queue.priority')).press('Enter');

  // A reader changes nothing.
  const visitor = await fixture.newBrowser();
  await visitor.goto(address);
  await visitor.getByLabel(en('login.password')).fill('battery staple');
  await visitor.getByLabel(en('login.password')).press('Enter');
  await visitor.getByRole('region', { name: 'nightly' }).waitFor(LONG);
  await visitor.getByText(en('queue.readonly')).waitFor();
  await visitor.getByTestId('worker').waitFor(LONG);
  const buttons = visitor.getByRole('button').filter({ hasNotText: en('palette.open') });
  expect(await buttons.count()).toBe(0);

  // A copy with other settings is coordinated by the server. The form marks what differs.
  await shown.getByRole('button', { name: en('queue.clone') }).click();
  const form = page.getByRole('form', { name: en('match.copy') });
  await form.getByText(en('match.unchanged')).waitFor(LONG);
  expect(await form.getByLabel(en('queue.priority')).inputValue()).toBe('7');
  await form.getByLabel(en('match.name'), { exact: true }).fill('copy');
  await form.getByLabel(en('match.rounds')).fill('2');
  const fields = `${en('match.field.name')}, ${en('match.field.rounds')}`;
  await form.getByText(en('match.changed', { fields })).waitFor();
  expect(await form.locator('.changed').count()).toBe(2);
  await form.getByRole('button', { name: en('match.start') }).click();
  const copy = page.getByRole('region', { name: 'copy' });
  await copy.getByText(en('queue.finished')).waitFor(LONG);
  await page.getByLabel(en('queue.search')).fill('COPY');
  await page.getByRole('link', { name: /^copy/ }).waitFor(LONG);
  await page.getByLabel(en('queue.search')).fill('');

  // Its games, results and report are files; a game opens on a board.
  const saved = page.waitForEvent('download');
  await copy.getByRole('button', { name: en('match.downloads') }).click();
  await page.getByRole('menuitem', { name: en('match.download.pgn') }).click();
  const games = await saved;
  expect(games.suggestedFilename()).toBe('copy.pgn');
  expect(readFileSync(await games.path(), 'utf8').match(/^\[Event /gm)).toHaveLength(4);
  const opened = page.context().waitForEvent('page');
  await copy.getByRole('button', { name: en('match.report') }).click();
  const report = await opened;
  await report.getByRole('heading', { name: 'Conditions' }).waitFor(LONG);
  // It fits on a phone, without a bar below it.
  await report.setViewportSize({ width: 390, height: 844 });
  expect(await report.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  // In print, charts keep their colors and stay with their headings.
  await report.emulateMedia({ media: 'print' });
  const printed = await report.locator('.headed').evaluateAll((all) =>
    all.map((one) => {
      const svg = one.querySelector('h2 ~ figure svg');
      return [getComputedStyle(one).breakInside, svg && getComputedStyle(svg).printColorAdjust].join();
    }),
  );
  expect(printed.length).toBeGreaterThan(1);
  expect(new Set(printed)).toEqual(new Set(['avoid,exact']));
  await report.close();
  await copy
    .getByRole('radiogroup', { name: en('match.sections') })
    .getByText(en('match.tab.games'))
    .click();
  await copy.getByTestId('game').first().getByRole('button').click();
  await page.waitForURL(/#\/analyse\/\d+$/, LONG);
  await page.goto(address);

  // A form starts a test with programs of the server and an uploaded file of openings.
  await page.getByRole('button', { name: en('match.new') }).click();
  await page
    .getByRole('radiogroup', { name: en('match.source') })
    .getByText(en('match.farm'))
    .click();
  const fresh = page.getByRole('form', { name: en('match.new') });
  for (const number of [1, 2]) {
    await fresh.getByLabel(en('match.engine', { number })).selectOption({ label: en('match.program') });
    await fresh
      .getByLabel(en('match.program.path'))
      .nth(number - 1)
      .fill(PROGRAM);
    await fresh
      .getByLabel(en('match.program.args'))
      .nth(number - 1)
      .fill('engine');
  }
  await fresh.getByLabel(en('match.name'), { exact: true }).fill('formed');
  await fresh.getByLabel(starts('time.kind')).selectOption('none');
  await fresh.getByLabel(en('time.nodes')).fill('50');
  await fresh.getByLabel(en('match.pairs_per_round')).fill('2');
  await fresh.getByLabel(en('match.rule.limit')).fill('10');
  await fresh.getByLabel(en('match.openings')).selectOption('uploaded');
  const moved = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n';
  await fresh
    .getByLabel(en('queue.openings.upload'))
    .setInputFiles({ name: 'moved.epd', mimeType: 'text/plain', buffer: Buffer.from(moved) });
  await expect.poll(() => fresh.getByLabel(en('match.file')).inputValue(), LONG).toBe('moved.epd');
  await fresh.getByRole('button', { name: en('match.start'), exact: true }).click();
  const formed = page.getByRole('region', { name: 'formed' });
  await formed.getByText(en('queue.finished')).waitFor(LONG);
  await formed
    .getByRole('region', { name: en('match.conditions') })
    .getByText('moved.epd')
    .waitFor();

  // A command starts a new test.
  await page.getByRole('button', { name: en('match.new') }).click();
  await page
    .getByRole('radiogroup', { name: en('match.source') })
    .getByText(en('match.farm'))
    .click();
  await page.getByText(en('match.from_command')).click();
  const command = page.getByLabel(en('queue.command'), { exact: true });
  await command.fill(
    'readyok match narikin narikin --event pasted --nodes 50 --max-moves 10 --pgn games.pgn',
  );
  await page.getByRole('button', { name: en('match.start_command') }).click();
  await page.getByText('--pgn').last().waitFor(LONG);
  await command.fill('readyok match narikin narikin --event pasted --nodes 50 --max-moves 10');
  await page.getByRole('button', { name: en('match.start_command') }).click();
  await page.getByRole('region', { name: 'pasted' }).getByText(en('queue.finished')).waitFor(LONG);

  await page.goto(address);
  await shown.getByRole('button', { name: en('queue.stop') }).click();
  await shown.getByText(en('queue.finished')).waitFor(LONG);
});

const GIT = existsSync('/usr/bin/git') && existsSync('/usr/bin/make');
if (!GIT && process.env.READYOK_REAL_ENGINES) throw new Error('git or make is not installed');

/** A repository with commits of an engine on these branches. */
function repository(branches: string[]): string {
  const path = join(directory, 'engine');
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', path, '-c', 'user.name=Me', '-c', 'user.email=me@example.org', ...args]);
  mkdirSync(path);
  git('init', '--quiet');
  for (const branch of branches) {
    const script = `if [ "$1" = bench ]; then echo 4242 nodes; exit; fi\nexec '${PROGRAM}' engine\n`;
    writeFileSync(join(path, 'engine.sh'), `#!/bin/sh\n# ${branch}\n${script}`, { mode: 0o755 });
    writeFileSync(join(path, 'Makefile'), 'all:\n\tcp engine.sh $(EXE)\n');
    git('checkout', '--quiet', '-b', branch);
    git('add', '.');
    git('commit', '--quiet', '-m', `Change ${branch}\n\nbench: 4242`);
  }
  return path;
}

test.skipIf(!NATS || !GIT)('an author proposes takes, and an approver starts them', WHOLE, async () => {
  const path = repository(['base', 'one', 'two']);
  const password = join(directory, 'password');
  writeFileSync(password, 'correct horse\n', { mode: 0o600 });
  const hash = execFileSync(PROGRAM, ['serve', '--print-hash', '--password-file', password])
    .toString()
    .trim();
  const accounts = join(directory, 'accounts.toml');
  const account = (name: string, role: string) => `[${name}]\nrole = "${role}"\npassword = "${hash}"\n`;
  writeFileSync(accounts, account('alice', 'author') + account('bob', 'approver'), { mode: 0o600 });
  await fixture.server.restart(['--queue', queue, '--accounts', accounts, '--author-repository', path]);
  const permissions = ['--allow-any', '--allow-repository', path];
  start(PROGRAM, ['worker', '--queue', queue, '--name', 'helper', '--cache', directory, ...permissions]);

  const owner = await fixture.page('#/matches');
  const address = owner.url();
  const enter = async (name: string) => {
    const page = await fixture.newBrowser();
    await page.goto(address);
    await page.getByLabel(en('login.name')).fill(name);
    await page.getByLabel(en('login.password')).fill('correct horse');
    await page.getByLabel(en('login.password')).press('Enter');
    await page.getByRole('button', { name: en('match.new') }).waitFor(LONG);
    return page;
  };
  const alice = await enter('alice');
  await alice.getByRole('button', { name: en('match.new') }).click();
  const form = alice.getByRole('form', { name: en('match.new') });
  await form.getByLabel(en('match.name'), { exact: true }).fill('idea');
  await form.getByLabel(en('match.format')).selectOption('takes');
  await form.getByRole('button', { name: en('match.add_engine') }).click();
  for (const [index, branch] of ['base', 'one', 'two'].entries()) {
    await form.getByLabel(en('match.git.repository')).nth(index).fill(path);
    await form.getByLabel(en('match.git.revision')).nth(index).fill(branch);
  }
  await form.getByLabel(starts('time.kind')).selectOption('none');
  await form.getByLabel(en('time.nodes')).fill('50');
  await form.getByLabel(en('match.rule.limit')).fill('10');
  expect(await violations(alice)).toEqual([]);
  await form.getByRole('button', { name: en('match.start'), exact: true }).click();
  await alice.getByText(en('match.waits')).waitFor(LONG);
  const waiting = alice.getByTestId('proposals');
  await waiting.getByText('idea').waitFor(LONG);
  expect(await waiting.getByRole('button', { name: en('match.approve') }).count()).toBe(0);

  const bob = await enter('bob');
  await bob.getByRole('button', { name: en('match.approve') }).click();
  const shown = bob.getByRole('region', { name: 'idea' });
  await expect
    .poll(() => shown.getByTestId('takes').getByRole('row').nth(1).innerText(), LONG)
    .toMatch(/one\s+[1-9]/);
  await shown
    .getByRole('region', { name: en('match.conditions') })
    .getByText(en('match.bench', { bench: 4242 }), { exact: false })
    .first()
    .waitFor();
  expect(await violations(bob)).toEqual([]);
  await shown.getByLabel(en('queue.max_workers')).fill('3');
  await shown.getByLabel(en('queue.max_workers')).press('Enter');
  await shown.getByLabel(en('queue.max_threads')).fill('8');
  await shown.getByLabel(en('queue.max_threads')).press('Enter');
  // The author may stop the test, and not delete it.
  await alice.getByRole('link', { name: /^idea/ }).click(LONG);
  const own = alice.getByRole('region', { name: 'idea' });
  await own.getByRole('button', { name: en('queue.stop') }).click(LONG);
  await own.getByText(en('queue.finished')).waitFor(LONG);
  expect(await own.getByRole('button', { name: en('queue.remove') }).count()).toBe(0);
});
