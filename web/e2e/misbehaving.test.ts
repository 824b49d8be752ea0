// Misbehaving engines: error messages, and no hang.
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { errorsOf, violations } from './browser';
import {
  ENGINES,
  LONG,
  addEngine,
  begin,
  choose,
  enter,
  handshakeDone,
  moveElements,
  newGame,
  squares,
  status,
  useServer,
  visit,
  moveTexts,
  analysisBoard,
} from './fixture';
import { en, ja, ending, prefix, valueIn } from './labels';

const fixture = useServer();
const { misbehave, mime } = ENGINES;

const processes = (page: Page, state: string) => page.locator(`[data-testid=process][data-status=${state}]`);

/** Waits until an element contains all texts. */
async function containsText(where: Locator, ...all: string[]) {
  for (const text of all) await expect.poll(() => where.first().textContent(), LONG).toContain(text);
}

/** A game of a human with White against the scripted engine. */
async function against(args: string[]): Promise<Page> {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, { name: 'Rogue', path: misbehave, args });
  await handshakeDone(card);
  await visit(page, en('nav.play'));
  await newGame(page, 'chess', 'Rogue');
  return page;
}

// Engines that fail to start: the card shows the reason.
test.each([
  [
    'exits immediately',
    ['start: !stderr no licence was found | !exit 3'],
    [en('error.exited', { status: 3 }), 'no licence was found'],
  ],
  ['crashes immediately', ['start: !stderr out of memory | !abort'], ['SIGABRT', 'out of memory']],
  ['closes its output', ['uci: !close', 'usi: !close'], [en('error.output_closed')]],
])('an engine that %s', async (_, args, why) => {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, { name: 'Rogue', path: misbehave, args });
  await containsText(card, ...why);
  await processes(page, 'dead').waitFor();
  expect(await violations(page)).toEqual([]);
  // The engine remains, and its options can be reloaded.
  await card.getByRole('button', { name: en('engine.reload') }).click();
  await expect.poll(() => processes(page, 'dead').count(), LONG).toBe(2);
});

test('an engine without any output', async () => {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, { name: 'Rogue', path: misbehave, args: ['uci:', 'usi:'] });
  await containsText(card, en('error.handshake_timeout'));
  await processes(page, 'dead').waitFor();
});

test('kills an engine that does not respond', async () => {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, {
    name: 'Rogue',
    path: misbehave,
    args: ['uci: !noise', 'usi: !noise'],
  });
  await card.getByRole('button', { name: en('process.kill') }).click();
  await containsText(processes(page, 'dead'), en('error.killed_by_user'));
});

test('shows engine failures in Japanese', async () => {
  const page = await fixture.page('#/engines', { locale: 'ja-JP' });
  const cards = page.getByTestId('engine');
  await cards.first().waitFor();
  await page.getByRole('button', { name: ja('engine.add') }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(ja('add.path'), { exact: true }).fill(misbehave);
  await dialog.getByLabel(ja('add.args')).fill('start: !stderr no licence | !exit 3');
  await dialog.getByRole('button', { name: ja('add.submit') }).click();
  await containsText(cards.nth(1), 'コード3で終了しました。最後の出力: 「no licence」');
  await containsText(processes(page, 'dead'), 'コード3で終了しました');
});

test('an engine with a missing executable', async () => {
  const page = await fixture.page('#/engines');
  await page.getByRole('button', { name: en('engine.add') }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(en('add.path'), { exact: true }).fill('/no/such/engine');
  await dialog.getByRole('button', { name: en('add.submit') }).click();
  await containsText(page.locator('.toasts'), '/no/such/engine');
  await expect.poll(() => page.getByTestId('engine').count()).toBe(1);
});

test('shows markup of an engine as plain text', async () => {
  const page = await fixture.page('#/engines');
  const errors = errorsOf(page);
  const markup = '<img src=x onerror=alert(1)>';
  const args = [
    `uci: id name ${markup} | id author ${markup} | option name ${markup} type string default ${markup} | uciok`,
    `isready: info string ${markup} | readyok`,
    `go: info string ${markup} | info depth 1 score cp 1 pv ${markup} | bestmove e7e5`,
  ];
  const card = await addEngine(page, { path: misbehave, args });
  await handshakeDone(card);
  await containsText(card.getByRole('heading'), markup);
  await card.getByRole('button', { name: en('engine.options'), exact: true }).click();
  await containsText(page.locator('[data-option]'), markup);
  await page.keyboard.press('Escape');
  await card.getByRole('button', { name: en('engine.console') }).click();
  await containsText(page.getByRole('region', { name: en('log.region') }), markup);
  await visit(page, en('nav.play'));
  await newGame(page, 'chess', markup);
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'e5']);
  expect(await page.locator('img').count()).toBe(0);
  expect(errors).toEqual([]);
});

// The user can always continue the game.
test.each([
  ['crashes', ['go: !stderr out of thoughts | !abort'], ['SIGABRT', 'out of thoughts']],
  ['ends', ['go: !stderr farewell | !exit 0'], [en('error.exited', { status: 0 }), 'farewell']],
  ['closes its output', ['go: !close'], [en('error.output_closed')]],
])('an engine that %s while it thinks', async (_, args, why) => {
  const page = await against(args);
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => status(page), LONG).toBe(en('status.interrupted'));
  await visit(page, en('nav.engines'));
  await containsText(processes(page, 'dead'), ...why);
  expect(await violations(page)).toEqual([]);
  await processes(page, 'dead')
    .getByRole('button', { name: en('process.restart') })
    .click();
  await expect.poll(() => processes(page, 'dead').count(), LONG).toBe(2);
  await visit(page, en('nav.play'));
  await squares(page);
  await page.getByRole('button', { name: en('play.takeback') }).click();
  await expect.poll(() => moveTexts(page)).toEqual([]);
});

test('an engine that ignores input while it thinks', async () => {
  const page = await against(['go: !child | !deaf']);
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => status(page), LONG).toBe(en('status.searching'));
  // No `stop` was sent, which would have a timeout of ten seconds.
  await visit(page, en('nav.engines'));
  const process = processes(page, 'searching');
  await process.waitFor();
  await process.getByRole('button', { name: en('process.kill') }).click();
  await containsText(processes(page, 'dead'), en('error.killed_by_user'));
  // Including its child processes.
  await expect
    .poll(() => fixture.server.processes().filter((line) => /^sleep|misbehave/.test(line)), LONG)
    .toEqual([]);
  await visit(page, en('nav.play'));
  await expect.poll(() => status(page)).toBe(en('status.interrupted'));
});

test('an engine without a move loses on time', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { name: 'Rogue', path: misbehave, args: ['go:', 'stop:'] }));
  await visit(page, en('nav.play'));
  await choose(page, 'chess');
  await page.locator('main').getByText(en('new.more'), { exact: true }).click();
  await page.getByLabel(en('new.per_side')).check();
  const side = page.getByRole('group', { name: en('side.black') });
  await side.getByLabel(en('new.player')).selectOption({ label: 'Rogue' });
  await side.getByLabel(en('time.base')).fill('0.01');
  await side.getByLabel(en('time.increment')).fill('0');
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => status(page), LONG).toContain(ending('side.white', 'time-forfeit'));
});

test.each([
  ['a move that is not legal', 'bestmove e2e5', ending('side.white', 'illegal-move')],
  ['what is no move', 'bestmove <script>', ending('side.white', 'engine-failure')],
  ['that it has no move', 'bestmove (none)', en('outcome.won', { side: en('side.white') })],
])('an engine that answers %s', async (_, answer, outcome) => {
  const page = await against([`go: ${answer}`]);
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => status(page), LONG).toContain(outcome);
  await expect.poll(() => moveTexts(page)).toEqual(['e4']);
});

test('an engine that sends unsolicited output', async () => {
  const page = await against(['isready: bestmove a7a5 | readyok', 'go: bestmove e7e5 | bestmove d7d5']);
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'e5']);
  await visit(page, en('nav.engines'));
  const process = processes(page, 'idle');
  await containsText(process, prefix('process.violations'));
  await process.getByRole('link', { name: en('engine.log') }).click();
  await page.getByLabel(en('log.source'), { exact: true }).selectOption('breaches');
  const breach = page.locator('.line.breach').filter({ hasText: 'bestmove a7a5' }).first();
  await breach.waitFor();
  expect(await breach.locator('.why code').first().textContent()).not.toBe('');
});

test('an engine with endless binary output', async () => {
  const page = await against([
    'isready: !hex ff fe 80 0a | !long 3000000 | !hex 0a | readyok',
    'go: !flood | !wait 300 | bestmove e7e5',
  ]);
  const errors = errorsOf(page);
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'e5']);
  await visit(page, en('nav.engines'));
  await processes(page, 'idle')
    .getByRole('link', { name: en('engine.log') })
    .click();
  // Exceeds the size of the stored log.
  const count = new RegExp(`^${en('log.lines', { count: '\\d+' })}$`);
  const received = async () => Number(valueIn(await page.getByText(count).textContent(), 'log.lines'));
  await expect.poll(received, LONG).toBeGreaterThan(10_000);
  // The page stays responsive.
  await page.getByLabel(en('log.source'), { exact: true }).selectOption('stderr');
  const log = page.getByRole('region', { name: en('log.region') });
  await expect.poll(() => log.textContent(), LONG).toBe('');
  await visit(page, en('nav.play'));
  await enter(page, 'Nf3');
  await expect.poll(() => moveElements(page).count(), LONG).toBe(3);
  expect(errors).toEqual([]);
});

test('an engine that ignores `stop` shows no line of another position', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { name: 'Rogue', path: mime, args: ['stale'] }));
  await handshakeDone(
    await addEngine(page, {
      name: 'Endless',
      path: misbehave,
      args: ['go: info depth 1 score cp 9 pv e2e4', 'stop:'],
    }),
  );
  await visit(page, en('nav.play'));
  await analysisBoard(page);
  await page.getByLabel(en('panel.add')).selectOption({ label: 'Rogue' });
  await page.getByLabel(en('panel.add')).selectOption({ label: 'Endless' });
  await expect.poll(() => page.getByTestId('line').count(), LONG).toBe(2);
  await enter(page, 'd4');
  const panels = page.getByTestId('engine-panel');
  const endless = panels.filter({ hasText: 'Endless' });
  // The engine reports a White move with Black to move: it is not shown.
  await expect.poll(() => endless.getByTestId('line').count()).toBe(0);
  await expect.poll(() => panels.filter({ hasText: 'Rogue' }).getByTestId('line').count(), LONG).toBe(1);
  await expect.poll(() => endless.getAttribute('data-status'), LONG).toBe('failed');
  expect(await endless.getByTestId('line').count()).toBe(0);
  await containsText(endless, en('error.stop_timeout'));
});

test('restarts an engine that ignores `quit`', async () => {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, { name: 'Rogue', path: misbehave, args: ['quit: !deaf'] });
  await handshakeDone(card);
  await card.getByRole('button', { name: en('engine.console') }).click();
  const process = processes(page, 'idle');
  await process.waitFor();
  const pid = /PID \d+/.exec((await process.textContent()) ?? '')?.[0] ?? '';
  await process.getByRole('button', { name: en('process.restart') }).click();
  await containsText(processes(page, 'dead').filter({ hasText: pid }), en('error.exit_timeout'));
  await process.filter({ hasNotText: pid }).waitFor(LONG);
});

test('registers later, and with a name and a code', async () => {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, { name: 'Guarded', path: mime, args: ['register'] });
  // The dialog opens automatically, once.
  const dialog = page.getByRole('dialog', { name: en('registration.title', { engine: 'Guarded' }) });
  await dialog.waitFor(LONG);
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: en('registration.later') }).click();
  await dialog.waitFor({ state: 'detached' });
  await card.getByRole('button', { name: en('engine.console') }).click();
  const log = page.getByRole('region', { name: en('log.region') });
  await containsText(log, 'registration error');
  await card.getByRole('button', { name: en('engine.register') }).click();
  await dialog.getByRole('button', { name: en('registration.later') }).click();
  await dialog.waitFor({ state: 'detached' });
  await containsText(log, 'register later');
  await card.getByRole('button', { name: en('engine.register') }).click();
  await dialog.getByLabel(en('add.name')).fill('Ada Lovelace');
  await dialog.getByLabel(en('registration.code')).fill('1843');
  await dialog.getByRole('button', { name: en('registration.send') }).click();
  await dialog.waitFor({ state: 'detached' });
  await containsText(log, 'register name Ada Lovelace code 1843', 'registration ok');
  await expect.poll(() => card.getByRole('button', { name: en('engine.register') }).count(), LONG).toBe(0);
});

test('reports a copy protection error', async () => {
  const page = await fixture.page('#/engines');
  const args = ['uci: id name Guarded | uciok | copyprotection checking | copyprotection error'];
  const card = await addEngine(page, { path: misbehave, args });
  await containsText(card, en('engine.copyprotection'), en('engine.copyprotection.text'));
});
