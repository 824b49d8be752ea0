// Performance of the app: the time to the first paint, the size of the script, the memory of the server, steps through a
// game with three engines, a large tree, and frames and long tasks with engines at full output. Usage: see README.md.
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
    engines: { type: 'string', default: '3' },
    starts: { type: 'string', default: '10' },
    steps: { type: 'string', default: '60' },
    program: { type: 'string', default: join(root, 'target/release/readyok') },
    engine: { type: 'string', default: join(root, 'target/release/examples/misbehave') },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});
for (const path of [values.program, values.engine, values.chromium]) {
  if (!existsSync(path)) throw new Error(`${path} does not exist: see benches/app/README.md`);
}

const BUDGET = { paint: 300, script: 170_000, memory: 30 * 1024, step: 20, variation: 30, open: 200, tree: 100 };
/** Number of engines at full output. */
const ENGINES = Number(values.engines);
/** Duration of a frame at 60 Hz, in ms. */
const FRAME = 1000 / 60;
/** Tolerated growth of memory over the run, in KiB. */
const MAX_GROWTH = 4 * 1024;

let failed = false;
function print(name, value, unit, good = true) {
  failed ||= !good;
  console.log(`${name.padEnd(46)} ${String(value).padStart(9)} ${unit}${good ? '' : '   OVER BUDGET'}`);
}

/** A server process with its own data directory. */
class Server {
  data = mkdtempSync(join(tmpdir(), 'readyok-bench-'));
  started = performance.now();
  #process = spawn(
    values.program,
    ['serve', '--no-open', '--data', this.data],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );

  async link() {
    let output = '';
    for await (const text of this.#process.stdout) {
      output += text;
      const link = /http:\/\/\S+/.exec(output)?.[0];
      if (link) {
        this.listening = performance.now() - this.started;
        this.#process.stdout.resume();
        return link;
      }
    }
    throw new Error(`the server has exited: ${output}`);
  }

  /** Resident and anonymous memory of the server process, in KiB. */
  memory() {
    const text = readFileSync(`/proc/${this.#process.pid}/status`, 'utf8');
    const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)[1]);
    return { resident: of('VmRSS'), anonymous: of('RssAnon') };
  }

  /** CPU time in ms. */
  cpu() {
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

/** Runs a measurement with a server, and always ends the server. */
async function withServer(measure) {
  const server = new Server();
  try {
    await measure(server);
  } finally {
    await server.end();
  }
}

/** Sends a command over a separate socket and returns the answer. */
const send = (page, command) =>
  page.evaluate(async (request) => {
    const protocols = ['readyok', localStorage.getItem('readyok.session')];
    const socket = new WebSocket(`ws://${location.host}/api/ws`, protocols);
    try {
      return await new Promise((resolve, reject) => {
        socket.onopen = () => socket.send(JSON.stringify({ id: 1, command: request }));
        socket.onclose = reject;
        socket.onmessage = ({ data }) => {
          const message = JSON.parse(data);
          if (message.kind === 'answer') resolve(message.answer);
          if (message.kind === 'error') reject(new Error(JSON.stringify(message.error)));
        };
      });
    } finally {
      socket.close();
    }
  }, command);

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** Milliseconds from the visit of a page to its first contentful paint. */
const firstPaint = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => {
          const first = list.getEntries().find((one) => one.name === 'first-contentful-paint');
          if (first) resolve(first.startTime);
        }).observe({ type: 'paint', buffered: true });
      }),
  );

async function startOf(server, browser, times) {
  const link = await server.link();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.locator('.home').waitFor();
  const ready = await page.evaluate(() => performance.now());
  const paint = await firstPaint(page);
  // The lower bound: a nearly empty page.
  const other = await browser.newContext();
  const empty = await other.newPage();
  await empty.goto('data:text/html,<p>text');
  times.empty.push(await firstPaint(empty));
  await other.close();
  times.listening.push(server.listening);
  times.paint.push(server.listening + paint);
  times.ready.push(server.listening + ready);
  await context.close();
}

async function start(browser) {
  const times = { listening: [], paint: [], ready: [], empty: [] };
  for (let run = 0; run < Number(values.starts); run++) await withServer((server) => startOf(server, browser, times));
  print('start to the link', median(times.listening).toFixed(0), 'ms');
  const first = median(times.paint);
  print('start to the first paint', first.toFixed(0), 'ms', first < BUDGET.paint);
  print('  of which for a nearly empty page', median(times.empty).toFixed(0), 'ms');
  print('start to the complete start page', median(times.ready).toFixed(0), 'ms');
}

/** The names of a script and of its static imports. */
function initialScripts(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(join(root, 'crates/server/dist', name), 'utf8');
  for (const [, other] of text.matchAll(/(?:^|[;}])import(?:[^"'();]*from)?["']\.\/([^"']+)["']/g)) {
    initialScripts(other, found);
  }
  return found;
}

function script() {
  const sizes = [...initialScripts('app.js')].map(
    (name) => gzipSync(readFileSync(join(root, 'crates/server/dist', name)), { level: 6 }).length,
  );
  const size = sizes.reduce((sum, one) => sum + one, 0);
  print('script of the first paint, gzipped', (size / 1000).toFixed(1), 'KB', size <= BUDGET.script);
}

/** Measures the memory with an idle engine list. */
async function idle(server, browser) {
  const page = await browser.newPage();
  await page.goto(await server.link());
  await page.goto(new URL('/#/engines', page.url()).href);
  // Its options are read in both protocols.
  const ended = page.locator('[data-testid=process][data-status=ended]');
  await ended.nth(1).waitFor({ state: 'attached', timeout: 60_000 });
  const { resident, anonymous } = server.memory();
  print('server with an idle engine list', (resident / 1024).toFixed(1), 'MiB', resident < BUDGET.memory);
  print('  of which anonymous', (anonymous / 1024).toFixed(1), 'MiB');
  await page.close();
}

/** Sends a record over HTTP and returns the number of its game. */
const open = (page, name, text) =>
  page.evaluate(
    async ([file, body]) => {
      const authorization = `Bearer ${localStorage.getItem('readyok.session')}`;
      const options = { method: 'POST', headers: { authorization, 'content-type': 'application/octet-stream' }, body };
      const response = await fetch(`./api/import?name=${file}&open=true`, options);
      return (await response.json()).opened;
    },
    [name, text],
  );

/** Opens a game and waits for its board. */
async function show(page, game) {
  await page.goto(new URL(`/#/analyse/${game}`, page.url()).href);
  await page.locator('[data-square]').first().waitFor({ state: 'attached' });
}

/** Milliseconds from a key to the new position in the document, and to the first new variation if one is expected. */
const stepBy = (page, key, engines) =>
  page.evaluate(
    ([pressed, expected]) =>
      new Promise((resolve) => {
        const cursor = () => document.querySelector('[data-cursor]').getAttribute('data-cursor');
        const before = cursor();
        const start = performance.now();
        let position = null;
        const check = () => {
          if (position === null && cursor() !== before) position = performance.now() - start;
          const lines = document.querySelectorAll('[data-testid=line]').length;
          if (position === null || (expected > 0 && lines === 0)) return;
          watch.disconnect();
          resolve({ position, variation: performance.now() - start });
        };
        const watch = new MutationObserver(check);
        watch.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: pressed, bubbles: true }));
      }),
    [key, engines],
  );

/** An opening that is followed by shuffling knights: 80 plies. */
const GAME =
  '1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5 11. d4 Qc7 ' +
  '12. Nbd2 cxd4 13. cxd4 Nc6 14. Nb3 a5 15. Be3 a4 16. Nbd2 Bd7 17. Rc1 Qb7 18. Bb1 Rfc8 19. Qe2 Bd8 20. Rcd1 Ne8 ' +
  '21. Qf1 g6 22. dxe5 dxe5 23. Qe2 Bb6 24. Bh6 Ng7 25. Nf1 Nd4 26. Qe3 Be6 27. N3h2 Rc4 *';

/** Steps through a game while engines analyze it. */
async function steps(server, browser, count) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(await server.link());
  await page.locator('.home').waitFor();
  const game = await open(page, 'game.pgn', GAME);
  const engines = [1];
  while (engines.length < 3) engines.push((await send(page, { kind: 'copy_engine', engine: 1 })).engine);
  await show(page, game);
  const settings = { lines: 3, goal: { kind: 'infinite' }, only: [], threat: false, locked: false };
  for (const engine of engines) await send(page, { kind: 'analyse', game, engine, settings });
  await page.locator('[data-testid=engine-panel][data-status=searching]').nth(2).waitFor({ timeout: 120_000 });
  await page.waitForFunction(() => document.querySelectorAll('[data-testid=line]').length >= 9, null, { timeout: 120_000 });
  const times = [];
  for (let step = 0; step < count; step++) {
    // There and back, 40 plies each.
    times.push(await stepBy(page, Math.floor(step / 40) % 2 === 0 ? 'ArrowRight' : 'ArrowLeft', 3));
    await page.waitForTimeout(300);
  }
  const position = median(times.map((one) => one.position));
  const variation = median(times.map((one) => one.variation));
  print('step to the new position, three engines', position.toFixed(1), 'ms', position <= BUDGET.step);
  print('step to the first new variation', variation.toFixed(1), 'ms', variation <= BUDGET.variation);
  await page.close();
}

/** A record of 20,000 moves: 800 in the main line, and a variation of 24 after each. */
function largeRecord() {
  const main = ['Nf3', 'Nf6', 'Ng1', 'Ng8'];
  const moves = [];
  for (let ply = 0; ply < 800; ply++) {
    const out = ply % 2 === 0 ? ['Nc3', 'Nc6', 'Nb1', 'Nb8'] : ['Nc6', 'Nc3', 'Nb8', 'Nb1'];
    const number = `${Math.floor(ply / 2) + 1}${ply % 2 === 0 ? '.' : '...'}`;
    const variation = Array.from({ length: 24 }, (_, index) => out[index % 4]).join(' ');
    moves.push(`${number} ${main[ply % 4]} (${number} ${variation})`);
  }
  return `${moves.join(' ')} *`;
}

/** Opens a tree of 20,000 nodes and steps through it. */
async function largeTree(server, browser) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(await server.link());
  await page.locator('.home').waitFor();
  const game = await open(page, 'large.pgn', largeRecord());
  const shown = [];
  for (let run = 0; run < 5; run++) {
    await page.goto(new URL('/#/engines', page.url()).href);
    await page.locator('[data-testid=engine]').first().waitFor();
    // From the change of the address to the frame with the moves.
    shown.push(
      await page.evaluate(
        (hash) =>
          new Promise((resolve) => {
            const start = performance.now();
            const look = () => {
              if (!document.querySelector('.moves [data-node]')) requestAnimationFrame(look);
              else requestAnimationFrame(() => resolve(performance.now() - start));
            };
            location.hash = hash;
            look();
          }),
        `#/analyse/${game}`,
      ),
    );
  }
  print('20,000 moves: opened', median(shown).toFixed(0), 'ms', median(shown) <= BUDGET.open);
  const times = [];
  for (let step = 0; step < 40; step++) times.push((await stepBy(page, 'ArrowRight', 0)).position);
  print('20,000 moves: step', median(times).toFixed(1), 'ms', median(times) <= BUDGET.tree);
  await page.locator('.moves [data-testid=variation] button[aria-expanded=false]').nth(20).click();
  const last = (await stepBy(page, 'End', 0)).position;
  print('20,000 moves: step to the end', last.toFixed(1), 'ms', last <= BUDGET.tree);
  await page.close();
}

/** Counts shown and dropped frames and long tasks in the page. */
async function watchFrames(page) {
  await page.evaluate((frame) => {
    window.frames60 = { shown: 0, dropped: 0, longest: 0, late: [], tasks: [], on: true };
    let last;
    // Tasks of 50 ms and more.
    new PerformanceObserver((list) => {
      if (window.frames60.on) window.frames60.tasks.push(...list.getEntries().map((one) => one.duration));
    }).observe({ type: 'longtask' });
    const onFrame = (now) => {
      const all = window.frames60;
      if (all.on && last !== undefined) {
        const dropped = Math.max(0, Math.round((now - last) / frame) - 1);
        all.shown += 1;
        all.dropped += dropped;
        all.longest = Math.max(all.longest, now - last);
        if (dropped > 0) all.late.push(performance.timeOrigin + now);
      }
      last = all.on ? now : undefined;
      requestAnimationFrame(onFrame);
    };
    requestAnimationFrame(onFrame);
  }, FRAME);
}

const frames = (page, on) =>
  page.evaluate((isOn) => {
    const counted = window.frames60;
    window.frames60 = { shown: 0, dropped: 0, longest: 0, late: [], tasks: [], on: isOn };
    return counted;
  }, on);

/** Size of the reachable objects of the page, in KiB. */
async function heap(session) {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1024;
}

async function flood(server, browser, minutes) {
  const page = await browser.newPage({ viewport: { width: 1366, height: 860 } });
  await page.goto(await server.link());
  await page.locator('.home').waitFor();
  const source = { kind: 'program', path: values.engine, args: ['go: !flood'], dir: null, env: {} };
  const engines = [];
  for (let number = 1; number <= ENGINES; number++) {
    const entry = { name: `Flood ${number}`, source, protocol: 'uci' };
    engines.push((await send(page, { kind: 'add_engine', entry })).engine);
  }
  const start = { kind: 'usual' };
  const newGame = { variant: 'chess', start, rules: 'federation', book: null, players: null };
  const { game } = await send(page, { kind: 'new_game', game: newGame });
  await page.goto(new URL(`/#/analyse/${game}`, page.url()).href);
  await page.locator('[data-square]').first().waitFor({ state: 'attached' });
  const session = await page.context().newCDPSession(page);
  await watchFrames(page);

  // Dropped frames of an idle page.
  await page.waitForFunction(() => window.frames60.shown >= 600, null, { timeout: 600_000 });
  const idleFrames = await frames(page, true);
  print('dropped frames while idle', `${idleFrames.dropped}/${idleFrames.shown}`, '');

  const settings = { lines: 3, goal: { kind: 'infinite' }, only: [], threat: false, locked: false };
  for (const engine of engines) await send(page, { kind: 'analyse', game, engine, settings });
  await page.locator('[data-testid=engine-panel][data-status=searching]').nth(ENGINES - 1).waitFor({ timeout: 120_000 });
  await page.waitForFunction((all) => document.querySelectorAll('[data-testid=line]').length >= all, ENGINES * 3, {
    timeout: 120_000,
  });

  const samples = [];
  const [startTime, startCpu] = [performance.now(), server.cpu()];
  const late = [];
  let dropped = 0;
  let shown = 0;
  const tasks = [];
  let longest = 0;
  await frames(page, true);
  const periods = Math.max(4, Math.ceil(minutes * 2));
  for (let period = 1; period <= periods; period++) {
    const until = (period / periods) * minutes * 60_000;
    await page.waitForFunction(
      (wait) => new Promise((resolve) => setTimeout(() => resolve(true), wait)),
      Math.max(0, until - (performance.now() - startTime)),
      { timeout: 0 },
    );
    // Garbage collection blocks the page; these frames do not count.
    const counted = await frames(page, false);
    shown += counted.shown;
    dropped += counted.dropped;
    longest = Math.max(longest, counted.longest);
    tasks.push(...counted.tasks);
    late.push(...counted.late.map((at) => (at - performance.timeOrigin - startTime) / 1000));
    samples.push({ server: server.memory().resident, page: await heap(session) });
    await frames(page, true);
  }
  const cores = (server.cpu() - startCpu) / (performance.now() - startTime);
  const panels = await page.locator('[data-testid=engine-panel]').count();
  if (panels !== ENGINES) throw new Error('an engine is missing');
  print(`dropped frames with ${ENGINES} engines`, `${dropped}/${shown}`, '', dropped <= idleFrames.dropped * (shown / idleFrames.shown));
  if (late.length > 0) print('  time of the dropped frames', late.map((at) => at.toFixed(1)).join(', '), 's');
  print('the longest frame', longest.toFixed(0), 'ms');
  print('tasks of 50 ms and more', tasks.length, '', tasks.length <= idleFrames.tasks.length * (shown / idleFrames.shown));
  if (tasks.length > 0) print('  the longest', Math.max(...tasks).toFixed(0), 'ms');
  print('CPU cores used by the server', cores.toFixed(2), '');
  for (const part of ['server', 'page']) {
    const list = samples.map((sample) => sample[part]);
    const [early, late] = [list[Math.floor(list.length / 4)], list.at(-1)];
    print(`memory of the ${part} after a quarter`, (early / 1024).toFixed(1), 'MiB');
    print(`memory of the ${part} at the end`, (late / 1024).toFixed(1), 'MiB', late - early < MAX_GROWTH);
  }
  await page.close();
}

const browser = await chromium.launch({ executablePath: values.chromium, args: ['--no-sandbox', '--disable-gpu'] });
try {
  script();
  await start(browser);
  await withServer((server) => idle(server, browser));
  const count = Number(values.steps);
  if (count > 0) {
    await withServer((server) => steps(server, browser, count));
    await withServer((server) => largeTree(server, browser));
  }
  const minutes = Number(values.minutes);
  if (minutes > 0) await withServer((server) => flood(server, browser, minutes));
} finally {
  await browser.close();
}
process.exitCode = failed ? 1 : 0;
