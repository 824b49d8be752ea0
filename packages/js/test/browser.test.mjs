// The page with boards in Chromium, and workers of the browser and of Node.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const PROGRAMS = [process.env.CHROMIUM, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser'];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

describe('Chromium', () => {
  let server, browser, origin;
  before(async () => {
    server = createServer(async (request, response) => {
      try {
        const { pathname } = new URL(request.url, 'http://localhost');
        const bytes = await readFile(join(root, pathname));
        // `application/wasm` is missing, as on some servers.
        response.writeHead(200, { 'content-type': TYPES[extname(pathname)] ?? 'application/octet-stream' }).end(bytes);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    origin = `http://127.0.0.1:${server.address().port}`;
    const executablePath = PROGRAMS.find((path) => path && existsSync(path));
    assert.ok(executablePath, 'no Chromium: run scripts/install-browser.sh');
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  });
  after(async () => {
    await browser?.close();
    server?.close();
  });

  async function open(query) {
    const page = await browser.newPage();
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(`${origin}/examples/boards.html?${query}`);

    // Boards report moves asynchronously.
    const moves = (wanted) => page.waitForFunction((wanted) => document.getElementById('moves').value === wanted, wanted, { timeout: 20_000 });
    return { page, errors, moves };
  }

  const count = (page, selector, wanted) =>
    page.waitForFunction(([selector, wanted]) => document.querySelectorAll(selector).length === wanted, [selector, wanted], { timeout: 20_000 });

  /** Clicks the center of a square, counted from the left and the top. */
  async function click(page, size, column, row) {
    const box = await page.locator('#board').boundingBox();
    await page.mouse.click(box.x + ((column + 0.5) * box.width) / size, box.y + ((row + 0.5) * box.height) / size);
  }

  it('plays and replays chess', async () => {
    const { page, errors, moves } = await open('game=chess');
    await page.locator('piece.white.pawn').first().waitFor();
    await click(page, 8, 4, 6);
    await count(page, 'square.move-dest', 2);
    await click(page, 8, 4, 4);
    await moves('e2e4');
    await count(page, 'square.last-move', 2);
    // An illegal move changes nothing.
    await click(page, 8, 4, 1);
    await click(page, 8, 4, 4);
    await moves('e2e4');
    const line = ['e2e4', 'f7f6', 'd2d4', 'g7g5', 'd1h5'];
    let plies = 1;
    for (const [from, to] of [[[5, 1], [5, 2]], [[3, 6], [3, 4]], [[6, 1], [6, 3]], [[3, 7], [7, 3]]]) {
      await click(page, 8, ...from);
      await click(page, 8, ...to);
      await moves(line.slice(0, ++plies).join(' '));
    }
    await moves('e2e4 f7f6 d2d4 g7g5 d1h5');
    await count(page, 'square.check', 1);
    await page.waitForFunction(() => document.getElementById('end').value === 'checkmate');
    await page.locator('#back').click();
    await moves('e2e4 f7f6 d2d4 g7g5');
    await page.locator('#forward').click();
    await moves('e2e4 f7f6 d2d4 g7g5 d1h5');
    assert.deepEqual(errors, []);
    await page.close();
  });

  it('plays and replays shogi', async () => {
    const { page, errors, moves } = await open('game=shogi');
    await page.locator('piece.sente.pawn').first().waitFor();
    let plies = 0;
    for (const [from, to] of [[[2, 6], [2, 5]], [[6, 2], [6, 3]], [[1, 7], [7, 1]]]) {
      await click(page, 9, ...from);
      await click(page, 9, ...to);
      await moves(['7g7f', '3c3d', '8h2b'].slice(0, ++plies).join(' '));
    }
    await moves('7g7f 3c3d 8h2b');
    await click(page, 9, 6, 0);
    await click(page, 9, 7, 1);
    // A drop from the hand: the click of a real pointer.
    await page.locator('#bottom piece.sente.bishop, #bottom sg-hp-wrap piece.bishop').first().click();
    await click(page, 9, 4, 4);
    await moves('7g7f 3c3d 8h2b 3a2b B*5e');
    for (let count = 0; count < 3; count++) await page.locator('#back').click();
    await moves('7g7f 3c3d');
    for (let count = 0; count < 4; count++) await page.locator('#forward').click();
    await moves('7g7f 3c3d 8h2b 3a2b B*5e');
    assert.deepEqual(errors, []);
    await page.close();
  });

  it('works in a worker', async () => {
    const { page } = await open('');
    const text = await page.evaluate(() => {
      const code = `import { load, Position } from '${location.origin}/index.js';
        await load(); postMessage(new Position().after('e4').text());`;
      const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), { type: 'module' });
      return new Promise((done, failed) => {
        worker.onmessage = ({ data }) => done(data);
        worker.onerror = (event) => failed(new Error(event.message));
      });
    });
    assert.match(text, / b KQkq - 0 1$/);
    await page.close();
  });
});

describe('Node', () => {
  it('works in a worker with a compiled module', async () => {
    const module = await WebAssembly.compile(await readFile(join(root, 'readyok.wasm')));
    const code = `import { parentPort, workerData } from 'node:worker_threads';
      import { load, Position } from '${new URL('../index.js', import.meta.url)}';
      await load(workerData); parentPort.postMessage(new Position().after('d4').text());`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { workerData: module });
    const text = await new Promise((done, failed) => worker.once('message', done).once('error', failed));
    assert.match(text, / b KQkq - 0 1$/);
  });
});
