// What the app costs: the time to the first paint, the size of the script, the server's memory, and four engines that
// say as much as they can. README.md says how to run it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { chromium } = createRequire(join(root, 'web/package.json'))('playwright-core');

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    starts: { type: 'string', default: '10' },
    program: { type: 'string', default: join(root, 'target/release/readyok') },
    engine: { type: 'string', default: join(root, 'target/release/misbehave') },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});
for (const path of [values.program, values.engine, values.chromium]) {
  if (!existsSync(path)) throw new Error(`${path} is not there: see benches/app/README.md`);
}

const BUDGET = { paint: 300, script: 150 * 1024, memory: 30 * 1024 };
const ENGINES = 4;
/** A frame of a screen that shows sixty a second. */
const FRAME = 1000 / 60;
/** Memory may grow by so much over the run before it counts: allocators breathe. KiB. */
const BREATH = 4 * 1024;

let failed = false;
function tell(what, value, unit, good = true) {
  failed ||= !good;
  console.log(`${what.padEnd(46)} ${String(value).padStart(9)} ${unit}${good ? '' : '   OVER BUDGET'}`);
}

/** A server with a folder of its own, from its start to the link that it prints. */
class Server {
  data = mkdtempSync(join(tmpdir(), 'readyok-bench-'));
  begun = performance.now();
  #process = spawn(
    values.program,
    ['serve', '--no-open', '--data', this.data],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );

  async link() {
    let said = '';
    for await (const text of this.#process.stdout) {
      said += text;
      const link = /http:\/\/\S+/.exec(said)?.[0];
      if (link) {
        this.listening = performance.now() - this.begun;
        this.#process.stdout.resume();
        return link;
      }
    }
    throw new Error(`the server has ended: ${said}`);
  }

  /** KiB of the server's own process: all that is in memory, and what is not a file. */
  memory() {
    const text = readFileSync(`/proc/${this.#process.pid}/status`, 'utf8');
    const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)[1]);
    return { all: of('VmRSS'), own: of('RssAnon') };
  }

  /** Milliseconds of processor time. */
  processor() {
    const fields = readFileSync(`/proc/${this.#process.pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  async end() {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.data, { recursive: true, force: true });
  }
}

/** Measures something of a server, which is not left behind whatever happens: its engines may flood. */
async function served(measure) {
  const server = new Server();
  try {
    await measure(server);
  } finally {
    await server.end();
  }
}

/** Asks the server for something over a socket of its own, and gives back the answer. */
const ask = (page, command) =>
  page.evaluate(async (wanted) => {
    const protocols = ['readyok', localStorage.getItem('readyok.session')];
    const socket = new WebSocket(`ws://${location.host}/api/ws`, protocols);
    try {
      return await new Promise((found, gone) => {
        socket.onopen = () => socket.send(JSON.stringify({ id: 1, command: wanted }));
        socket.onclose = gone;
        socket.onmessage = ({ data }) => {
          const message = JSON.parse(data);
          if (message.kind === 'answer') found(message.answer);
          if (message.kind === 'refusal') gone(new Error(message.error.text));
        };
      });
    } finally {
      socket.close();
    }
  }, command);

const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** Milliseconds from the visit of a page to its first contentful paint. */
const firstPaint = (page) =>
  page.evaluate(
    () =>
      new Promise((found) => {
        new PerformanceObserver((list) => {
          const first = list.getEntries().find((one) => one.name === 'first-contentful-paint');
          if (first) found(first.startTime);
        }).observe({ type: 'paint', buffered: true });
      }),
  );

async function startOf(server, browser, times) {
  const link = await server.link();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.locator('form.new').waitFor();
  const ready = await page.evaluate(() => performance.now());
  const paint = await firstPaint(page);
  // What the browser and the machine take for any page at all.
  const other = await browser.newContext();
  const word = await other.newPage();
  await word.goto('data:text/html,<p>word');
  times.word.push(await firstPaint(word));
  await other.close();
  times.listening.push(server.listening);
  times.paint.push(server.listening + paint);
  times.ready.push(server.listening + ready);
  await context.close();
}

async function start(browser) {
  const times = { listening: [], paint: [], ready: [], word: [] };
  for (let run = 0; run < Number(values.starts); run++) await served((server) => startOf(server, browser, times));
  tell('start to the link', middle(times.listening).toFixed(0), 'ms');
  const first = middle(times.paint);
  tell('start to the first paint', first.toFixed(0), 'ms', first < BUDGET.paint);
  tell('  of that for a page with one word', middle(times.word).toFixed(0), 'ms');
  tell('start to the form of a new game, at most', middle(times.ready).toFixed(0), 'ms');
}

function script() {
  const size = gzipSync(readFileSync(join(root, 'web/dist/app.js')), { level: 6 }).length;
  tell('script, gzipped', (size / 1024).toFixed(1), 'KiB', size < BUDGET.script);
}

/** One list of engines, none of which does anything. */
async function idle(server, browser) {
  const page = await browser.newPage();
  await page.goto(await server.link());
  await page.goto(new URL('/#/engines', page.url()).href);
  // It is asked for its options in both protocols, and leaves.
  const ended = page.locator('[data-testid=process][data-status=ended]');
  await ended.nth(1).waitFor({ timeout: 60_000 });
  const { all, own } = server.memory();
  tell('server with an idle list of engines', (all / 1024).toFixed(1), 'MiB', all < BUDGET.memory);
  tell('  of that not pages of the program', (own / 1024).toFixed(1), 'MiB');
  await page.close();
}

/** Counts frames in the page, and how many were due that did not come. */
async function watchFrames(page) {
  await page.evaluate((frame) => {
    window.frames60 = { shown: 0, dropped: 0, longest: 0, late: [], on: true };
    let last;
    const look = (now) => {
      const all = window.frames60;
      if (all.on && last !== undefined) {
        const dropped = Math.max(0, Math.round((now - last) / frame) - 1);
        all.shown += 1;
        all.dropped += dropped;
        all.longest = Math.max(all.longest, now - last);
        if (dropped > 0) all.late.push(performance.timeOrigin + now);
      }
      last = all.on ? now : undefined;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, FRAME);
}

const frames = (page, on) =>
  page.evaluate((so) => {
    const seen = window.frames60;
    window.frames60 = { shown: 0, dropped: 0, longest: 0, late: [], on: so };
    return seen;
  }, on);

/** KiB of the page's objects, without what nobody uses any more. */
async function heap(session) {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1024;
}

async function flood(server, browser, minutes) {
  const page = await browser.newPage({ viewport: { width: 1366, height: 860 } });
  await page.goto(await server.link());
  await page.locator('form.new').waitFor();
  const reach = { kind: 'program', path: values.engine, args: ['go: !flood'], dir: null, env: {} };
  const engines = [];
  for (let number = 1; number <= ENGINES; number++) {
    const entry = { name: `Flood ${number}`, reach, protocol: 'uci' };
    engines.push((await ask(page, { kind: 'add_engine', entry })).engine);
  }
  const start = { kind: 'usual' };
  const wanted = { variant: 'chess', start, rules: 'federation', book: null, players: null };
  const { game } = await ask(page, { kind: 'new_game', game: wanted });
  await page.goto(new URL(`/#/analyse/${game}`, page.url()).href);
  await page.locator('[data-square]').first().waitFor({ state: 'attached' });
  const session = await page.context().newCDPSession(page);
  await watchFrames(page);

  // What the machine does to the frames of a page in which nothing happens.
  await page.waitForFunction(() => window.frames60.shown >= 600, null, { timeout: 600_000 });
  const quiet = await frames(page, true);
  tell('frames dropped while nothing happens', `${quiet.dropped}/${quiet.shown}`, '');

  const settings = { lines: 3, goal: { kind: 'infinite' }, only: [], threat: false, locked: false };
  for (const engine of engines) await ask(page, { kind: 'analyse', game, engine, settings });
  await page.locator('[data-testid=lane][data-status=searching]').nth(ENGINES - 1).waitFor({ timeout: 120_000 });
  await page.waitForFunction((all) => document.querySelectorAll('[data-testid=line]').length >= all, ENGINES * 3, {
    timeout: 120_000,
  });

  const samples = [];
  const [began, worked] = [performance.now(), server.processor()];
  const late = [];
  let dropped = 0;
  let shown = 0;
  let longest = 0;
  await frames(page, true);
  const periods = Math.max(4, Math.ceil(minutes * 2));
  for (let period = 1; period <= periods; period++) {
    const until = (period / periods) * minutes * 60_000;
    await page.waitForFunction(
      (wait) => new Promise((done) => setTimeout(() => done(true), wait)),
      Math.max(0, until - (performance.now() - began)),
      { timeout: 0 },
    );
    // Collecting garbage stops the page: its frames do not count.
    const seen = await frames(page, false);
    shown += seen.shown;
    dropped += seen.dropped;
    longest = Math.max(longest, seen.longest);
    late.push(...seen.late.map((at) => (at - performance.timeOrigin - began) / 1000));
    samples.push({ server: server.memory().all, page: await heap(session) });
    await frames(page, true);
  }
  const share = (server.processor() - worked) / (performance.now() - began);
  const nodes = await page.locator('[data-testid=lane]').count();
  if (nodes !== ENGINES) throw new Error('an engine has been lost');
  tell('frames dropped while four engines flood', `${dropped}/${shown}`, '', dropped <= quiet.dropped * (shown / quiet.shown));
  if (late.length > 0) tell('  how long after the first line', late.map((at) => at.toFixed(1)).join(', '), 's');
  tell('the longest frame', longest.toFixed(0), 'ms');
  tell('processors that the server takes', share.toFixed(2), '');
  for (const who of ['server', 'page']) {
    const list = samples.map((sample) => sample[who]);
    const [early, late] = [list[Math.floor(list.length / 4)], list.at(-1)];
    tell(`memory of the ${who}: after a quarter`, (early / 1024).toFixed(1), 'MiB');
    tell(`memory of the ${who}: in the end`, (late / 1024).toFixed(1), 'MiB', late - early < BREATH);
  }
  await page.close();
}

const browser = await chromium.launch({ executablePath: values.chromium, args: ['--no-sandbox', '--disable-gpu'] });
try {
  script();
  await start(browser);
  await served((server) => idle(server, browser));
  const minutes = Number(values.minutes);
  if (minutes > 0) await served((server) => flood(server, browser, minutes));
} finally {
  await browser.close();
}
process.exitCode = failed ? 1 : 0;
