// Analysis with a real server: engine output and analysis settings.
import { spawn } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { violations, command } from './browser';
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
  useServer,
  visit,
  moveTexts,
  analysisBoard,
} from './fixture';
import { pattern, starts, ending, t, inLanguage } from './labels';

const fixture = useServer();

/** Sends each kind of `info` and searches until `stop`. */
const TALKER = [
  'uci: id name Talker | option name MultiPV type spin default 1 min 1 max 99 | uciok',
  'go: info depth 9 seldepth 12 score cp 31 wdl 400 500 100 nodes 1000 nps 500 hashfull 120 tbhits 3 ' +
    'pv e2e4 e7e5 g1f3 | info refutation d2d4 d7d5 | info currline 1 b1c3 g8f6 | ' +
    'info currmove g1f3 currmovenumber 7 | info string <i>text</i>',
  'stop: bestmove e2e4',
];

/** Depth and nodes of Talker. */
const STATISTICS = () => [`${t('panel.depth')} 9/12`, `1.0k ${t('panel.nodes')}`];

/** Opens an analysis board with a searching engine. */
async function analysing(page: Page, name: string): Promise<Locator> {
  await visit(page, t('nav.play'));
  await analysisBoard(page);
  await page.getByLabel(t('panel.add')).selectOption({ label: name });
  const panel = page.getByTestId('engine-panel');
  await panel.getByTestId('line').first().waitFor();
  return panel;
}

async function containsText(where: Locator, ...all: string[]) {
  for (const text of all) await expect.poll(() => where.textContent(), LONG).toContain(text);
}

test('keeps the move list visible with twenty lines', async () => {
  const page = await fixture.page('', { viewport: { width: 1280, height: 800 } });
  await analysisBoard(page);
  await enter(page, 'e4');
  await page.getByRole('button', { name: pattern('panel.start') }).click();
  for (let lines = 3; lines < 20; lines++) {
    await page.getByRole('button', { name: t('panel.more') }).click();
    await page.getByRole('status', { name: t('panel.lines', { count: lines + 1 }) }).waitFor();
  }
  await expect.poll(() => page.getByTestId('line').count(), LONG).toBe(20);
  const list = await page.getByRole('region', { name: t('tab.moves') }).boundingBox();
  expect((list?.y ?? 800) + (list?.height ?? 0)).toBeLessThan(800);
});

test('accumulates clicks faster than the server', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const panel = await analysing(page, 'Talker');
  await panel.getByRole('button', { name: t('panel.settings') }).click();
  await clickAll(panel, [...Array<string>(10).fill(t('panel.more')), t('panel.threat'), t('panel.lock')]);
  await panel.getByRole('status', { name: t('panel.lines', { count: 13 }) }).waitFor();
  await containsText(panel, t('panel.threat.on'));
  await panel
    .locator('button[aria-pressed=true]')
    .filter({ hasText: t('panel.lock') })
    .waitFor();
  // The server confirms it.
  await page.reload();
  await panel.getByRole('status', { name: t('panel.lines', { count: 13 }) }).waitFor();
});

test('changes the number of lines during a search', async () => {
  const page = await fixture.page();
  await analysisBoard(page);
  await page.getByRole('button', { name: /Narikin/ }).click();
  const panel = page.getByTestId('engine-panel');
  const set = async (button: string, end: number) => {
    const count = panel.getByRole('status', { name: pattern('panel.lines') });
    const step = button === t('panel.more') ? 1 : -1;
    for (let lines = Number(await count.textContent()); lines !== end;) {
      await panel.getByRole('button', { name: button }).click();
      lines += step;
      await panel.getByRole('status', { name: t('panel.lines', { count: lines }) }).waitFor();
    }
    await expect.poll(() => panel.getByRole('button', { name: button }).isDisabled()).toBe(true);
    // The start position has this number of legal moves.
    await expect.poll(() => panel.getByTestId('line').count(), LONG).toBe(end);
    await expect.poll(() => panel.getAttribute('data-status'), LONG).toBe('searching');
  };
  await set(t('panel.more'), 20);
  await set(t('panel.fewer'), 0);
});

test('shows only the progress with zero lines', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
  const panel = await analysing(page, 'Talker');
  const count = panel.getByRole('status', { name: pattern('panel.lines') });
  for (let left = Number(await count.textContent()); left > 0; left--) {
    await panel.getByRole('button', { name: t('panel.fewer') }).click();
    await panel.getByRole('status', { name: t('panel.lines', { count: left - 1 }) }).waitFor();
  }
  await expect.poll(() => panel.getByRole('button', { name: t('panel.fewer') }).isDisabled()).toBe(true);
  await expect.poll(() => panel.getByTestId('line').count(), LONG).toBe(0);
  await containsText(panel, ...STATISTICS());
  await panel.getByRole('button', { name: t('panel.more') }).click();
  await panel.getByTestId('line').first().waitFor(LONG);
});

test('analyzes with an engine and its duplicate with another option value', async () => {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, { name: 'Mime', path: ENGINES.mime });
  await handshakeDone(card);
  await card.getByRole('button', { name: t('engine.duplicate'), exact: true }).click();
  const copy = page.getByTestId('engine').filter({ hasText: 'Mime (2)' });
  await handshakeDone(copy);
  await copy.getByRole('button', { name: t('engine.options'), exact: true }).click();
  const hash = page.getByRole('dialog').locator('[data-option="Hash"]');
  await hash.locator('input').fill('64');
  await hash.locator('input').blur();
  await page.getByRole('dialog').locator('[data-option="Hash"].changed').waitFor();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('app.close') })
    .last()
    .click();

  // Only the name of a duplicate of the built-in engine can be changed.
  await page
    .getByTestId('engine')
    .first()
    .getByRole('button', { name: t('engine.duplicate'), exact: true })
    .click();
  const narikin = page.getByTestId('engine').filter({ hasText: 'Narikin (2)' });
  await narikin.getByRole('button', { name: t('engine.edit') }).click();
  await expect.poll(() => page.getByRole('dialog').getByRole('textbox').count()).toBe(1);
  await page.getByRole('dialog').getByLabel(t('add.name')).fill('Quick');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('add.save') })
    .click();
  await page.getByRole('heading', { name: 'Quick' }).waitFor();

  await visit(page, t('nav.play'));
  await analysisBoard(page);
  for (const label of ['Mime', 'Mime (2)']) {
    await page.getByLabel(t('panel.add')).selectOption({ label });
    const panel = page
      .getByTestId('engine-panel')
      .filter({ has: page.getByRole('heading', { name: label, exact: true }) });
    await panel.getByTestId('line').first().waitFor(LONG);
  }
  await visit(page, t('nav.engines'));
  for (const [name, has] of [
    ['Mime', false],
    ['Mime (2)', true],
  ] as const) {
    const of = page.getByTestId('engine').filter({ has: page.getByRole('heading', { name, exact: true }) });
    const process = of.locator('[data-testid=process][data-status=searching]');
    await process.getByRole('link', { name: t('engine.log') }).click();
    const lines = page.getByRole('region', { name: t('log.region') });
    await expect.poll(() => lines.textContent(), LONG).toContain('go infinite');
    expect((await lines.textContent())?.includes('setoption name Hash value 64')).toBe(has);
    await visit(page, t('nav.engines'));
  }
});

test('connects to an engine over TCP', async () => {
  const server = createServer((socket) => {
    const engine = spawn(ENGINES.mime, { stdio: ['pipe', 'pipe', 'ignore'] });
    socket.pipe(engine.stdin);
    engine.stdout.pipe(socket);
    // The end of one connection closes the other.
    socket.on('error', () => engine.kill());
    socket.on('close', () => engine.kill());
    engine.stdin.on('error', () => socket.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    const { port } = server.address() as AddressInfo;
    const page = await fixture.page('#/engines');
    await page.getByRole('button', { name: t('engine.add') }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(t('add.text')).fill(`tcp://127.0.0.1:${port}`);
    await dialog.getByLabel(t('add.text')).press('Tab');
    await expect.poll(() => dialog.getByLabel(t('add.address')).inputValue(), LONG).toBe(`127.0.0.1:${port}`);
    await dialog.getByLabel(t('add.name'), { exact: true }).fill('Far away');
    await dialog.getByRole('button', { name: t('add.submit') }).click();
    await expect.poll(() => page.getByTestId('engine').count(), LONG).toBe(2);
    await handshakeDone(page.getByTestId('engine').nth(1));
    const panel = await analysing(page, 'Far away');
    await panel.getByRole('button', { name: 'a3', exact: true }).waitFor();
  } finally {
    server.close();
  }
});

inLanguage('en', () => {
  test('shows all engine output, previews a line and inserts it', async () => {
    const page = await fixture.page('#/engines');
    await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
    const panel = await analysing(page, 'Talker');
    // Screen readers get it too.
    await containsText(
      page.getByTestId('live'),
      t('panel.announcement', { engine: 'Talker', score: '+0.31', move: 'e4' }),
    );
    await containsText(panel, ...STATISTICS(), '500/s', `${t('panel.hash')} 12%`, 'TB 3', 'Nf3 (7)', '+0.31');
    await containsText(panel, t('panel.refutations'), 'd4 d5', '1: Nc3 Nf6', '<i>text</i>');
    await panel.getByRole('img', { name: t('panel.wdl', { win: 40, draw: 50, loss: 10 }) }).waitFor();
    await page.getByRole('img', { name: starts('eval.is') }).waitFor({ state: 'attached' });
    expect(await violations(page)).toEqual([]);
    await panel.getByRole('button', { name: 'e5', exact: true }).hover();
    await page.locator('.preview piece.black.pawn').first().waitFor({ state: 'attached' });
    await panel.getByRole('button', { name: 'e5', exact: true }).click();
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'e5']);
  });

  test('lists the analysis of another game and stops it', async () => {
    const page = await fixture.page('#/engines');
    await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
    const panel = await analysing(page, 'Talker');
    const left = page.url();
    const elsewhere = page.getByTestId('other-analysis');
    expect(await elsewhere.count()).toBe(0);
    await command(page, t('menu.more'), t('new.title'));
    await analysisBoard(page);
    await elsewhere.waitFor();
    expect(page.url()).not.toBe(left);
    expect(await violations(page)).toEqual([]);
    await elsewhere.getByRole('link', { name: pattern('other_analysis') }).click();
    await panel.getByTestId('line').first().waitFor();
    expect(page.url()).toBe(left);
    await elsewhere.waitFor({ state: 'detached' });
    await page.goBack();
    await elsewhere.getByRole('button', { name: t('panel.stop') }).click();
    await elsewhere.waitFor({ state: 'detached' });
    await page.goForward();
    await panel.getByRole('button', { name: t('panel.resume') }).waitFor();
  });

  test('sends threats, search moves, mate searches and MultiPV', async () => {
    const page = await fixture.page('#/engines');
    await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
    const panel = await analysing(page, 'Talker');
    await panel.getByRole('button', { name: t('panel.settings') }).click();
    await panel.getByRole('button', { name: t('panel.threat') }).click();
    await containsText(panel, t('panel.threat.on'));
    // The line of a threat cannot be inserted.
    const first = panel.getByTestId('line').locator('.pv button').first();
    await expect.poll(() => first.getAttribute('aria-disabled'), LONG).toBe('true');
    await first.dispatchEvent('click');
    expect(await moveTexts(page)).toEqual([]);
    await panel.getByRole('button', { name: t('panel.threat') }).click();
    await panel.getByRole('button', { name: t('panel.restrict') }).click();
    await click(page, 'd2');
    await click(page, 'd4');
    await panel.locator('.only').getByRole('button', { name: 'd4' }).waitFor();
    // No move was played.
    expect(await moveTexts(page)).toEqual([]);
    await panel.getByRole('button', { name: t('panel.restrict') }).click();
    await panel.getByRole('button', { name: t('panel.more') }).click();
    await panel.getByRole('status', { name: t('panel.lines', { count: 4 }) }).waitFor();
    await panel.getByLabel(t('panel.goal')).selectOption('mate');
    await panel.getByLabel(t('goal.mate.unit')).waitFor();
    await panel.getByRole('button', { name: t('panel.stop'), exact: true }).click();
    await expect.poll(() => panel.getAttribute('data-status'), LONG).toBe('stopped');
    await panel.getByRole('link', { name: t('engine.log') }).click();
    const log = page.getByRole('region', { name: t('log.region') });
    await containsText(
      log,
      // After a null move.
      'position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 1 1',
      'go infinite searchmoves d2d4',
      'setoption name MultiPV value 4',
      'mate 5',
    );
  });

  test.each([
    ['1. f3 e5 2. g4 Qh4# 0-1', ending('side.black', 'checkmate'), '0-1'],
    ['[FEN "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"]\n\n1. Kf7 1/2-1/2', ending(null, 'stalemate'), '½'],
  ])('shows the result of a finished game: %s', async (text, outcome, result) => {
    const page = await fixture.page();
    await analysisBoard(page);
    const before = page.url();
    await paste(page, `${text}\n`);
    await page.waitForURL((url) => url.href !== before);
    await page.locator('.moves').getByText(outcome).waitFor();
    await page.getByRole('button', { name: t('step.last') }).click();
    await page.getByRole('button', { name: pattern('panel.start') }).click();
    await page.getByTestId('engine-panel').getByText(outcome).waitFor();
    const bar = page.getByRole('img', { name: outcome });
    expect((await bar.textContent())?.trim()).toBe(result);
  });

  test('keeps a locked engine at its position', async () => {
    const page = await fixture.page('#/engines');
    await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: TALKER }));
    const panel = await analysing(page, 'Talker');
    await panel.getByRole('button', { name: t('panel.settings') }).click();
    const lock = panel.getByRole('button', { name: t('panel.lock') });
    await lock.click();
    await panel
      .locator('button[aria-pressed=true]')
      .filter({ hasText: t('panel.lock') })
      .waitFor();
    for (const [count, move] of ['d4', 'd5'].entries()) {
      await enter(page, move);
      await expect.poll(() => moveTexts(page), LONG).toHaveLength(count + 1);
    }
    // Its line still begins at the start position.
    await panel.getByRole('button', { name: 'e4', exact: true }).waitFor();
    await lock.click();
    await panel.getByRole('link', { name: t('engine.log') }).click();
    const log = page.getByRole('region', { name: t('log.region') });
    await containsText(log, 'position startpos moves d2d4 d7d5');
    expect(await log.textContent()).not.toMatch(/moves d2d4(?! d7d5)/);
  });

  test('runs the conformance check of an engine', async () => {
    const page = await fixture.page('#/engines');
    const card = await addEngine(page, { name: 'Rogue', path: ENGINES.misbehave, args: ['start: !exit 3'] });
    await card.getByRole('button', { name: t('engine.check') }).click();
    const check = card.getByTestId('check');
    await check.and(page.locator('[data-kind=done], [data-kind=failed]')).waitFor(WHOLE);
    // An engine that exits before any output cannot conform.
    expect(await check.textContent()).not.toContain(t('check.conforms'));
    expect(await violations(page)).toEqual([]);
  });
});
