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
  handshakeDone,
  paste,
  clickAll,
  squares,
  useServer,
  visit,
  moveTexts,
} from './fixture';
import { en, pattern, starts, ending } from './labels';

const fixture = useServer();

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
  await visit(page, en('nav.play'));
  await page.getByRole('button', { name: en('new.analysis') }).click();
  await squares(page);
  await page.getByLabel(en('panel.add')).selectOption({ label: name });
  const lane = page.getByTestId('engine-panel');
  await lane.getByTestId('line').first().waitFor();
  return lane;
}

async function containsText(where: Locator, ...all: string[]) {
  for (const text of all) await expect.poll(() => where.textContent(), LONG).toContain(text);
}

test('all that an engine tells is shown, and its line is looked at and taken', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  // A screen reader hears of it as well.
  await containsText(page.getByTestId('live'), 'Talker: +0.31, e4');
  await containsText(lane, 'depth 9/12', '1.0k nodes', '500/s', 'hash 12%', 'TB 3', 'Nf3 (7)', '+0.31');
  await containsText(lane, en('panel.refutations'), 'd4 d5', '1: Nc3 Nf6', '<i>a word</i>');
  await lane.getByRole('img', { name: en('panel.wdl', { win: 40, draw: 50, loss: 10 }) }).waitFor();
  await page.getByRole('img', { name: starts('eval.is') }).waitFor({ state: 'attached' });
  expect(await violations(page)).toEqual([]);
  await lane.getByRole('button', { name: 'e5', exact: true }).hover();
  await page.locator('.preview piece.black.pawn').first().waitFor({ state: 'attached' });
  await lane.getByRole('button', { name: 'e5', exact: true }).click();
  await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'e5']);
});

test('whoever leaves a game that is analysed sees that it goes on, and can stop it', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  const left = page.url();
  const elsewhere = page.getByTestId('other-analysis');
  expect(await elsewhere.count()).toBe(0);
  await page.getByRole('button', { name: en('new.title') }).click();
  await page.getByRole('button', { name: en('new.analysis') }).click();
  await elsewhere.waitFor();
  expect(page.url()).not.toBe(left);
  expect(await violations(page)).toEqual([]);
  await elsewhere.getByRole('link', { name: pattern('other_analysis') }).click();
  await lane.getByTestId('line').first().waitFor();
  expect(page.url()).toBe(left);
  await elsewhere.waitFor({ state: 'detached' });
  await page.goBack();
  await elsewhere.getByRole('button', { name: en('panel.stop') }).click();
  await elsewhere.waitFor({ state: 'detached' });
  await page.goForward();
  await lane.getByRole('button', { name: en('panel.resume') }).waitFor();
});

test('threats, chosen moves, mates, more lines', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  await lane.getByRole('button', { name: en('panel.settings') }).click();
  await lane.getByRole('button', { name: en('panel.threat') }).click();
  await containsText(lane, en('panel.threat.on'));
  // A move of the side that is not to move has no place in the tree.
  const first = lane.getByTestId('line').locator('.pv button').first();
  await expect.poll(() => first.getAttribute('aria-disabled'), LONG).toBe('true');
  await first.dispatchEvent('click');
  expect(await moveTexts(page)).toEqual([]);
  await lane.getByRole('button', { name: en('panel.threat') }).click();
  await lane.getByRole('button', { name: en('panel.restrict') }).click();
  await click(page, 'd2');
  await click(page, 'd4');
  await lane.locator('.only').getByRole('button', { name: 'd4' }).waitFor();
  // Nothing was played.
  expect(await moveTexts(page)).toEqual([]);
  await lane.getByRole('button', { name: en('panel.restrict') }).click();
  await lane.getByRole('button', { name: en('panel.more') }).click();
  await lane.getByRole('status', { name: en('panel.lines', { count: 4 }) }).waitFor();
  await lane.getByLabel(en('panel.goal')).selectOption('mate');
  await lane.getByLabel(en('goal.mate.unit')).waitFor();
  await lane.getByRole('button', { name: en('panel.stop'), exact: true }).click();
  await expect.poll(() => lane.getAttribute('data-status'), LONG).toBe('stopped');
  await lane.getByRole('link', { name: en('engine.log') }).click();
  const log = page.getByRole('region', { name: en('log.region') });
  await containsText(
    log,
    // The side to move has passed.
    'position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1',
    'go infinite searchmoves d2d4',
    'setoption name MultiPV value 4',
    'mate 5',
  );
});

test('twenty lines leave the moves of the game in sight', async () => {
  const page = await fixture.page('', { viewport: { width: 1280, height: 800 } });
  await page.getByRole('button', { name: en('new.analysis') }).click();
  await squares(page);
  await enter(page, 'e4');
  await page.getByRole('button', { name: pattern('panel.start') }).click();
  for (let lines = 3; lines < 20; lines++) {
    await page.getByRole('button', { name: en('panel.more') }).click();
    await page.getByRole('status', { name: en('panel.lines', { count: lines + 1 }) }).waitFor();
  }
  await expect.poll(() => page.getByTestId('line').count(), LONG).toBe(20);
  const list = await page.getByRole('region', { name: en('tab.moves') }).boundingBox();
  expect((list?.y ?? 800) + (list?.height ?? 0)).toBeLessThan(800);
});

test('clicks that are faster than the server add up', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  await lane.getByRole('button', { name: en('panel.settings') }).click();
  await clickAll(lane, [...Array<string>(10).fill(en('panel.more')), en('panel.threat'), en('panel.lock')]);
  await lane.getByRole('status', { name: en('panel.lines', { count: 13 }) }).waitFor();
  await containsText(lane, en('panel.threat.on'));
  await lane
    .locator('button[aria-pressed=true]')
    .filter({ hasText: en('panel.lock') })
    .waitFor();
  // That is what the server shows as well.
  await page.reload();
  await lane.getByRole('status', { name: en('panel.lines', { count: 13 }) }).waitFor();
});

test('with no line wanted, only how far an engine is', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  const count = lane.getByRole('status', { name: pattern('panel.lines') });
  for (let left = Number(await count.textContent()); left > 0; left--) {
    await lane.getByRole('button', { name: en('panel.fewer') }).click();
    await lane.getByRole('status', { name: en('panel.lines', { count: left - 1 }) }).waitFor();
  }
  expect(await lane.getByRole('button', { name: en('panel.fewer') }).isDisabled()).toBe(true);
  await expect.poll(() => lane.getByTestId('line').count(), LONG).toBe(0);
  await containsText(lane, 'depth 9/12', '1.0k nodes');
  await lane.getByRole('button', { name: en('panel.more') }).click();
  await lane.getByTestId('line').first().waitFor(LONG);
});

test('from three lines to twenty and to none while an engine searches', async () => {
  const page = await fixture.page();
  await page.getByRole('button', { name: en('new.analysis') }).click();
  await squares(page);
  await page.getByRole('button', { name: /Narikin/ }).click();
  const lane = page.getByTestId('engine-panel');
  const set = async (button: string, end: number) => {
    const count = lane.getByRole('status', { name: pattern('panel.lines') });
    const step = button === en('panel.more') ? 1 : -1;
    for (let lines = Number(await count.textContent()); lines !== end;) {
      await lane.getByRole('button', { name: button }).click();
      lines += step;
      await lane.getByRole('status', { name: en('panel.lines', { count: lines }) }).waitFor();
    }
    expect(await lane.getByRole('button', { name: button }).isDisabled()).toBe(true);
    // So many moves are legal at the start.
    await expect.poll(() => lane.getByTestId('line').count(), LONG).toBe(end);
    await expect.poll(() => lane.getAttribute('data-status'), LONG).toBe('searching');
  };
  await set(en('panel.more'), 20);
  await set(en('panel.fewer'), 0);
});

test.each([
  ['1. f3 e5 2. g4 Qh4# 0-1', ending('side.black', 'checkmate'), '0-1'],
  ['[FEN "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"]\n\n1. Kf7 1/2-1/2', ending(null, 'stalemate'), '½'],
])('shows the result of a finished game: %s', async (text, outcome, result) => {
  const page = await fixture.page();
  await page.getByRole('button', { name: en('new.analysis') }).click();
  await squares(page);
  const before = page.url();
  await paste(page, `${text}\n`);
  await page.waitForURL((url) => url.href !== before);
  await page.locator('.moves').getByText(outcome).waitFor();
  await page.getByRole('button', { name: en('step.last') }).click();
  await page.getByRole('button', { name: pattern('panel.start') }).click();
  await page.getByTestId('engine-panel').getByText(outcome).waitFor();
  const bar = page.getByRole('img', { name: outcome });
  expect((await bar.textContent())?.trim()).toBe(result);
});

test('an engine that is to stay where it is searches no other position', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const lane = await analysing(page, 'Talker');
  await lane.getByRole('button', { name: en('panel.settings') }).click();
  const lock = lane.getByRole('button', { name: en('panel.lock') });
  await lock.click();
  await lane
    .locator('button[aria-pressed=true]')
    .filter({ hasText: en('panel.lock') })
    .waitFor();
  for (const [count, move] of ['d4', 'd5'].entries()) {
    await enter(page, move);
    await expect.poll(() => moveTexts(page), LONG).toHaveLength(count + 1);
  }
  // Its line begins at the start still.
  await lane.getByRole('button', { name: 'e4', exact: true }).waitFor();
  await lock.click();
  await lane.getByRole('link', { name: en('engine.log') }).click();
  const log = page.getByRole('region', { name: en('log.region') });
  await containsText(log, 'position startpos moves d2d4 d7d5');
  expect(await log.textContent()).not.toMatch(/moves d2d4(?! d7d5)/);
});

test('an engine analyses beside a copy of itself with another value', async () => {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, { name: 'Mime', path: ENGINES.mime });
  await handshakeDone(card);
  await card.getByRole('button', { name: en('engine.duplicate'), exact: true }).click();
  const copy = page.getByTestId('engine').filter({ hasText: 'Mime (2)' });
  await handshakeDone(copy);
  await copy.getByRole('button', { name: en('engine.options'), exact: true }).click();
  const hash = page.getByRole('dialog').locator('[data-option="Hash"]');
  await hash.locator('input').fill('64');
  await hash.locator('input').blur();
  await page.getByRole('dialog').locator('[data-option="Hash"].changed').waitFor();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: en('app.close') })
    .last()
    .click();

  // Of the built-in engine a copy has a name that can be changed, and nothing else.
  await page
    .getByTestId('engine')
    .first()
    .getByRole('button', { name: en('engine.duplicate'), exact: true })
    .click();
  const narikin = page.getByTestId('engine').filter({ hasText: 'Narikin (2)' });
  await narikin.getByRole('button', { name: en('engine.edit') }).click();
  expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(1);
  await page.getByRole('dialog').getByLabel(en('add.name')).fill('Quick');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: en('engine.edit') })
    .click();
  await page.getByRole('heading', { name: 'Quick' }).waitFor();

  await visit(page, en('nav.play'));
  await page.getByRole('button', { name: en('new.analysis') }).click();
  await squares(page);
  for (const label of ['Mime', 'Mime (2)']) {
    await page.getByLabel(en('panel.add')).selectOption({ label });
    const lane = page
      .getByTestId('engine-panel')
      .filter({ has: page.getByRole('heading', { name: label, exact: true }) });
    await lane.getByTestId('line').first().waitFor(LONG);
  }
  await visit(page, en('nav.engines'));
  for (const [name, has] of [
    ['Mime', false],
    ['Mime (2)', true],
  ] as const) {
    const of = page.getByTestId('engine').filter({ has: page.getByRole('heading', { name, exact: true }) });
    const process = of.locator('[data-testid=process][data-status=searching]');
    await process.getByRole('link', { name: en('engine.log') }).click();
    const lines = page.getByRole('region', { name: en('log.region') });
    await expect.poll(() => lines.textContent(), LONG).toContain('go infinite');
    expect((await lines.textContent())?.includes('setoption name Hash value 64')).toBe(has);
    await visit(page, en('nav.engines'));
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
    const page = await fixture.page('#/engines');
    await page.getByRole('button', { name: en('engine.add') }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(en('add.text')).fill(`tcp://127.0.0.1:${port}`);
    await dialog.getByLabel(en('add.text')).press('Tab');
    await expect
      .poll(() => dialog.getByLabel(en('add.address')).inputValue(), LONG)
      .toBe(`127.0.0.1:${port}`);
    await dialog.getByLabel(en('add.name'), { exact: true }).fill('Far away');
    await dialog.getByRole('button', { name: en('add.submit') }).click();
    await expect.poll(() => page.getByTestId('engine').count(), LONG).toBe(2);
    await handshakeDone(page.getByTestId('engine').nth(1));
    const lane = await analysing(page, 'Far away');
    await lane.getByRole('button', { name: 'a3', exact: true }).waitFor();
  } finally {
    server.close();
  }
});

test('an engine is put through the checker', async () => {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, { name: 'Rogue', path: ENGINES.misbehave, args: ['start: !exit 3'] });
  await card.getByRole('button', { name: en('engine.check') }).click();
  const check = card.getByTestId('check');
  await check.and(page.locator('[data-kind=done], [data-kind=failed]')).waitFor(WHOLE);
  // It ends before it has said anything: nobody can hold it to conform.
  expect(await check.textContent()).not.toContain('conforms');
  expect(await violations(page)).toEqual([]);
});
