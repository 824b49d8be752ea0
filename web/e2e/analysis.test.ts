// Analysis with a real server: all that an engine can tell, and all that it can be asked.
import { spawn } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { violations } from './browser';
import {
  ENGINES,
  LONG,
  WHOLE,
  addEngine,
  click,
  enter,
  greeted,
  paste,
  pressAtOnce,
  squares,
  travel,
  visit,
  words,
} from './journey';

const here = travel();

/** Tells of everything there is to tell, and searches until it is stopped. */
const TALKER = [
  'uci: id name Talker | option name MultiPV type spin default 1 min 1 max 99 | uciok',
  'go: info depth 9 seldepth 12 score cp 31 wdl 400 500 100 nodes 1000 nps 500 hashfull 120 tbhits 3 ' +
    'pv e2e4 e7e5 g1f3 | info refutation d2d4 d7d5 | info currline 1 b1c3 g8f6 | ' +
    'info currmove g1f3 currmovenumber 7 | info string <i>a word</i>',
  'stop: bestmove e2e4',
];

/** An analysis board with an engine at work. */
async function analysing(page: Page, name: string): Promise<Locator> {
  await visit(page, 'Play');
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
  await page.getByLabel('Add an engine…').selectOption({ label: name });
  const lane = page.getByTestId('lane');
  await lane.getByTestId('line').first().waitFor();
  return lane;
}

async function says(where: Locator, ...all: string[]) {
  for (const text of all) await expect.poll(() => where.textContent(), LONG).toContain(text);
}

test('all that an engine tells is shown, and its line is looked at and taken', async () => {
  const page = await here.page('#/engines');
  await greeted(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  // A screen reader hears of it as well.
  await says(page.getByTestId('live'), 'Talker: +0.31, e4');
  await says(lane, 'depth 9/12', '1.0k nodes', '500/s', 'hash 12%', 'TB 3', 'Nf3 (7)', '+0.31');
  await says(lane, 'Refutations', 'd4 d5', '1: Nc3 Nf6', '<i>a word</i>');
  await lane.getByRole('img', { name: 'Win 40%, draw 50%, loss 10%' }).waitFor();
  await page.getByRole('img', { name: /^Evaluation/ }).waitFor({ state: 'attached' });
  expect(await violations(page)).toEqual([]);
  await lane.getByRole('button', { name: 'e5', exact: true }).hover();
  await page.locator('.preview piece.black.pawn').first().waitFor({ state: 'attached' });
  await lane.getByRole('button', { name: 'e5', exact: true }).click();
  await expect.poll(() => words(page), LONG).toEqual(['e4', 'e5']);
});

test('whoever leaves a game that is analysed sees that it goes on, and can stop it', async () => {
  const page = await here.page('#/engines');
  await greeted(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  const left = page.url();
  const elsewhere = page.getByTestId('elsewhere');
  expect(await elsewhere.count()).toBe(0);
  await page.getByRole('button', { name: 'New game' }).click();
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await elsewhere.waitFor();
  expect(page.url()).not.toBe(left);
  expect(await violations(page)).toEqual([]);
  await elsewhere.getByRole('link', { name: /^Talker analyses game \d+ as well$/ }).click();
  await lane.getByTestId('line').first().waitFor();
  expect(page.url()).toBe(left);
  await elsewhere.waitFor({ state: 'detached' });
  await page.goBack();
  await elsewhere.getByRole('button', { name: 'Stop' }).click();
  await elsewhere.waitFor({ state: 'detached' });
  await page.goForward();
  await lane.getByRole('button', { name: 'Go on' }).waitFor();
});

test('threats, chosen moves, mates, more lines', async () => {
  const page = await here.page('#/engines');
  await greeted(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  await lane.getByRole('button', { name: 'Settings of the analysis' }).click();
  await lane.getByRole('button', { name: 'Threat' }).click();
  await says(lane, 'Shows what the other side threatens.');
  // A move of the side that is not to move has no place in the tree.
  const first = lane.getByTestId('line').locator('.pv button').first();
  await expect.poll(() => first.getAttribute('aria-disabled'), LONG).toBe('true');
  await first.dispatchEvent('click');
  expect(await words(page)).toEqual([]);
  await lane.getByRole('button', { name: 'Threat' }).click();
  await lane.getByRole('button', { name: 'Only some moves' }).click();
  await click(page, 'd2');
  await click(page, 'd4');
  await lane.locator('.only').getByRole('button', { name: 'd4' }).waitFor();
  // Nothing was played.
  expect(await words(page)).toEqual([]);
  await lane.getByRole('button', { name: 'Only some moves' }).click();
  await lane.getByRole('button', { name: 'More lines' }).click();
  await lane.getByRole('status', { name: '4 lines' }).waitFor();
  await lane.getByLabel('Until').selectOption('mate');
  await lane.getByLabel('Moves, or seconds in shogi').waitFor();
  await lane.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect.poll(() => lane.getAttribute('data-status'), LONG).toBe('stopped');
  await lane.getByRole('link', { name: 'Protocol log' }).click();
  const log = page.getByRole('region', { name: 'Lines of the log' });
  await says(
    log,
    // The side to move has passed.
    'position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1',
    'go infinite searchmoves d2d4',
    'setoption name MultiPV value 4',
    'mate 5',
  );
});

test('twenty lines leave the moves of the game in sight', async () => {
  const page = await here.page('', { viewport: { width: 1280, height: 800 } });
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
  await enter(page, 'e4');
  await page.getByRole('button', { name: /Analyse with/ }).click();
  for (let lines = 3; lines < 20; lines++) {
    await page.getByRole('button', { name: 'More lines' }).click();
    await page.getByRole('status', { name: `${lines + 1} lines` }).waitFor();
  }
  await expect.poll(() => page.getByTestId('line').count(), LONG).toBe(20);
  const list = await page.getByRole('region', { name: 'Moves' }).boundingBox();
  expect((list?.y ?? 800) + (list?.height ?? 0)).toBeLessThan(800);
});

test('clicks that are faster than the server add up', async () => {
  const page = await here.page('#/engines');
  await greeted(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  await lane.getByRole('button', { name: 'Settings of the analysis' }).click();
  await pressAtOnce(lane, [...Array<string>(10).fill('More lines'), 'Threat', 'Stay here']);
  await lane.getByRole('status', { name: '13 lines' }).waitFor();
  await says(lane, 'Shows what the other side threatens.');
  await lane.locator('button[aria-pressed=true]').filter({ hasText: 'Stay here' }).waitFor();
  // That is what the server says as well.
  await page.reload();
  await lane.getByRole('status', { name: '13 lines' }).waitFor();
});

test('with no line wanted, only how far an engine is', async () => {
  const page = await here.page('#/engines');
  await greeted(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  const count = lane.getByRole('status', { name: /lines$/ });
  for (let left = Number(await count.textContent()); left > 0; left--) {
    await lane.getByRole('button', { name: 'Fewer lines' }).click();
    await lane.getByRole('status', { name: `${left - 1} lines` }).waitFor();
  }
  expect(await lane.getByRole('button', { name: 'Fewer lines' }).isDisabled()).toBe(true);
  await expect.poll(() => lane.getByTestId('line').count(), LONG).toBe(0);
  await says(lane, 'depth 9/12', '1.0k nodes');
  await lane.getByRole('button', { name: 'More lines' }).click();
  await lane.getByTestId('line').first().waitFor(LONG);
});

test('from three lines to twenty and to none while an engine searches', async () => {
  const page = await here.page();
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
  await page.getByRole('button', { name: /Narikin/ }).click();
  const lane = page.getByTestId('lane');
  const set = async (press: 'More lines' | 'Fewer lines', end: number) => {
    const count = lane.getByRole('status', { name: /lines$/ });
    const step = press === 'More lines' ? 1 : -1;
    for (let lines = Number(await count.textContent()); lines !== end;) {
      await lane.getByRole('button', { name: press }).click();
      lines += step;
      await lane.getByRole('status', { name: `${lines} lines` }).waitFor();
    }
    expect(await lane.getByRole('button', { name: press }).isDisabled()).toBe(true);
    // So many moves are legal at the start.
    await expect.poll(() => lane.getByTestId('line').count(), LONG).toBe(end);
    await expect.poll(() => lane.getAttribute('data-status'), LONG).toBe('searching');
  };
  await set('More lines', 20);
  await set('Fewer lines', 0);
});

test.each([
  ['1. f3 e5 2. g4 Qh4# 0-1', 'Black won: checkmate', '0-1'],
  ['[FEN "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"]\n\n1. Kf7 1/2-1/2', 'Draw: stalemate', '½'],
])('a game that is over says how it ended: %s', async (text, words, result) => {
  const page = await here.page();
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
  const before = page.url();
  await paste(page, `${text}\n`);
  await page.waitForURL((url) => url.href !== before);
  await page.locator('.moves').getByText(words).waitFor();
  await page.getByRole('button', { name: 'To the end' }).click();
  await page.getByRole('button', { name: /Analyse with/ }).click();
  await page.getByTestId('lane').getByText(words).waitFor();
  const bar = page.getByRole('img', { name: words });
  expect((await bar.textContent())?.trim()).toBe(result);
});

test('an engine that is to stay where it is searches no other position', async () => {
  const page = await here.page('#/engines');
  await greeted(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  await lane.getByRole('button', { name: 'Settings of the analysis' }).click();
  const lock = lane.getByRole('button', { name: 'Stay here' });
  await lock.click();
  await lane.locator('button[aria-pressed=true]').filter({ hasText: 'Stay here' }).waitFor();
  for (const [count, move] of ['d4', 'd5'].entries()) {
    await enter(page, move);
    await expect.poll(() => words(page), LONG).toHaveLength(count + 1);
  }
  // Its line begins at the start still.
  await lane.getByRole('button', { name: 'e4', exact: true }).waitFor();
  await lock.click();
  await lane.getByRole('link', { name: 'Protocol log' }).click();
  const log = page.getByRole('region', { name: 'Lines of the log' });
  await says(log, 'position startpos moves d2d4 d7d5');
  expect(await log.textContent()).not.toMatch(/moves d2d4(?! d7d5)/);
});

test('an engine analyses beside a copy of itself with another value', async () => {
  const page = await here.page('#/engines');
  const card = await addEngine(page, { name: 'Mime', path: ENGINES.mime });
  await greeted(card);
  await card.getByRole('button', { name: 'Copy', exact: true }).click();
  const copy = page.getByTestId('engine').filter({ hasText: 'Mime (2)' });
  await greeted(copy);
  await copy.getByRole('button', { name: 'Options' }).click();
  const hash = page.getByRole('dialog').locator('[data-option="Hash"]');
  await hash.locator('input').fill('64');
  await hash.locator('input').blur();
  await page.getByRole('dialog').locator('[data-option="Hash"].changed').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();

  // Of the built-in engine a copy has a name that can be changed, and nothing else.
  await page.getByTestId('engine').first().getByRole('button', { name: 'Copy', exact: true }).click();
  const narikin = page.getByTestId('engine').filter({ hasText: 'Narikin (2)' });
  await narikin.getByRole('button', { name: 'Change' }).click();
  expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(1);
  await page.getByRole('dialog').getByLabel('Name').fill('Quick');
  await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click();
  await page.getByRole('heading', { name: 'Quick' }).waitFor();

  await visit(page, 'Play');
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
  for (const label of ['Mime', 'Mime (2)']) {
    await page.getByLabel('Add an engine…').selectOption({ label });
    const lane = page
      .getByTestId('lane')
      .filter({ has: page.getByRole('heading', { name: label, exact: true }) });
    await lane.getByTestId('line').first().waitFor(LONG);
  }
  await visit(page, 'Engines');
  for (const [name, has] of [
    ['Mime', false],
    ['Mime (2)', true],
  ] as const) {
    const of = page.getByTestId('engine').filter({ has: page.getByRole('heading', { name, exact: true }) });
    const process = of.locator('[data-testid=process][data-status=searching]');
    await process.getByRole('link', { name: 'Protocol log' }).click();
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await expect.poll(() => lines.textContent(), LONG).toContain('go infinite');
    expect((await lines.textContent())?.includes('setoption name Hash value 64')).toBe(has);
    await visit(page, 'Engines');
  }
});

test('an engine somewhere else is reached over TCP', async () => {
  const server = createServer((socket) => {
    const engine = spawn(ENGINES.mime, { stdio: ['pipe', 'pipe', 'ignore'] });
    socket.pipe(engine.stdin);
    engine.stdout.pipe(socket);
    // Whoever leaves first takes the other one along.
    socket.on('error', () => engine.kill());
    socket.on('close', () => engine.kill());
    engine.stdin.on('error', () => socket.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    const { port } = server.address() as AddressInfo;
    const page = await here.page('#/engines');
    await page.getByRole('button', { name: 'Add an engine' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Path, command line or tcp://').fill(`tcp://127.0.0.1:${port}`);
    await dialog.getByLabel('Path, command line or tcp://').press('Tab');
    await expect.poll(() => dialog.getByLabel('Address').inputValue(), LONG).toBe(`127.0.0.1:${port}`);
    await dialog.getByLabel('Name', { exact: true }).fill('Far away');
    await dialog.getByRole('button', { name: 'Add and ask' }).click();
    await expect.poll(() => page.getByTestId('engine').count(), LONG).toBe(2);
    await greeted(page.getByTestId('engine').nth(1));
    const lane = await analysing(page, 'Far away');
    await lane.getByRole('button', { name: 'a3', exact: true }).waitFor();
  } finally {
    server.close();
  }
});

test('an engine is put through the checker', async () => {
  const page = await here.page('#/engines');
  const card = await addEngine(page, { name: 'Rogue', path: ENGINES.misbehave, args: ['start: !exit 3'] });
  await card.getByRole('button', { name: 'Conformance check' }).click();
  const check = card.getByTestId('check');
  await check.and(page.locator('[data-kind=done], [data-kind=failed]')).waitFor(WHOLE);
  // It ends before it has said anything: nobody can hold it to conform.
  expect(await check.textContent()).not.toContain('conforms');
  expect(await violations(page)).toEqual([]);
});
