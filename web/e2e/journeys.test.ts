// User journeys with a real server and the built-in engine.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { errorsOf, violations } from './browser';
import {
  ENGINES,
  LONG,
  WHOLE,
  addEngine,
  begin,
  choose,
  click,
  enter,
  handshakeDone,
  legalMoves,
  moveElements,
  newGame,
  opponentsListed,
  squares,
  status,
  tabTo,
  useServer,
  visit,
  walkTo,
  moveTexts,
  analysisBoard,
} from './fixture';
import { decided, en, ja, pattern, starts, inLanguage, t } from './labels';

const fixture = useServer();

test.each([
  ['chess', 'e2', 'e4'],
  ['shogi', '7g', '7f'],
] as const)('plays the first move of %s after the first start', async (variant, from, to) => {
  const page = await fixture.page();
  const errors = errorsOf(page);
  await newGame(page, variant);
  await begin(page);
  await click(page, from);
  await click(page, to);
  await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
  await expect.poll(() => page.getByTestId('live').textContent()).not.toBe('');
  expect(await violations(page)).toEqual([]);
  expect(errors).toEqual([]);
});

test('stores a complete engine game automatically', async () => {
  const page = await fixture.page();
  await choose(page, 'chess');
  await page.locator('main').getByText(en('new.more'), { exact: true }).click();
  await page.getByLabel(en('new.per_side')).check();
  for (const side of [en('side.white'), en('side.black')]) {
    const group = page.getByRole('group', { name: side });
    await group.getByLabel(en('new.player')).selectOption({ index: 1 });
    await group.getByLabel(en('time.base')).fill('0.02');
    await group.getByLabel(en('time.increment')).fill('0.02');
  }
  await begin(page);
  await expect.poll(() => status(page), WHOLE).toMatch(decided());
  await visit(page, en('nav.library'));
  await page.getByRole('row').nth(1).getByText('Narikin', { exact: false }).first().waitFor();
});

test('shows no line of another position during fast steps', async () => {
  const page = await fixture.page();
  await analysisBoard(page);
  for (const move of ['e4', 'e5', 'Nf3', 'Nc6', 'Bb5', 'a6']) {
    const count = await moveElements(page).count();
    await enter(page, move);
    await expect.poll(() => moveElements(page).count()).toBe(count + 1);
  }
  await page.getByRole('button', { name: pattern('panel.start') }).click();
  await page.getByTestId('line').first().waitFor();
  // The side to move determines the first move of a line.
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { stale: seen });
    const look = () => {
      const panel = document.querySelector('[data-testid=engine-panel]');
      const lines = document.querySelectorAll('[data-testid=line]').length;
      const cursor = document.querySelector('[data-cursor]')?.getAttribute('data-cursor');
      const node = panel?.getAttribute('data-node');
      if (lines > 0 && cursor !== node) seen.push(`${cursor} shows ${node}`);
      requestAnimationFrame(look);
    };
    look();
  });
  await page.locator('body').click({ position: { x: 5, y: 500 } });
  for (let round = 0; round < 4; round++) {
    for (let step = 0; step < 6; step++) await page.keyboard.press('ArrowLeft');
    for (let step = 0; step < 6; step++) await page.keyboard.press('ArrowRight');
  }
  await page.getByTestId('line').first().waitFor();
  expect(await page.evaluate(() => (window as unknown as { stale: string[] }).stale)).toEqual([]);
});

test('continues a game after a reload', async () => {
  const page = await fixture.page();
  await newGame(page, 'chess');
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
  const before = await moveTexts(page);
  await page.reload();
  await expect.poll(() => moveTexts(page), LONG).toEqual(before);
  await enter(page, 'd4');
  await expect.poll(() => moveElements(page).count(), LONG).toBe(4);
});

test('a killed server leaves no engine behind, and the game continues', async () => {
  const page = await fixture.page('#/engines');
  // The engine ignores input while it thinks: only a signal ends it.
  await addEngine(page, { name: 'Mute', path: ENGINES.misbehave, args: ['go: !child | !deaf'] });
  await visit(page, en('nav.play'));
  await newGame(page, 'chess', 'Mute');
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => status(page), LONG).toContain(en('status.searching'));
  await expect
    .poll(() => fixture.server.processes().some((command) => command.startsWith('sleep')), LONG)
    .toBe(true);
  const hash = new URL(page.url()).hash;
  await fixture.server.kill();
  await page.getByText(en('app.disconnected')).waitFor();
  await expect.poll(() => fixture.server.processes(), LONG).toEqual([]);

  await fixture.server.start();
  const again = await fixture.page(hash);
  await expect.poll(() => moveTexts(again), LONG).toEqual(['e4']);
  await expect.poll(() => status(again)).toBe(en('status.interrupted'));
  await again.getByRole('button', { name: en('play.resume'), exact: true }).click();
  await expect.poll(() => status(again), LONG).toContain(en('status.searching'));
  await again.getByRole('button', { name: en('play.takeback') }).click();
  await expect.poll(() => status(again), LONG).toContain(en('status.your_turn'));
});

inLanguage('en', () => {
  test('synchronizes the moves of two tabs with a cursor each', async () => {
    const one = await fixture.page();
    await analysisBoard(one);
    const two = await one.context().newPage();
    await two.goto(one.url());
    await squares(two);
    const cursor = (page: Page) => page.locator('[data-cursor]').getAttribute('data-cursor');
    await enter(one, 'e4');
    await expect.poll(() => moveTexts(two), LONG).toEqual(['e4']);
    await expect.poll(() => cursor(two)).toBe('0');
    await enter(two, 'd4');
    await one.locator('.moves [data-node="2"]').waitFor(LONG);
    // The tabs receive a change independently of each other.
    await expect.poll(() => cursor(two)).toBe('2');
    expect(await cursor(one)).toBe('1');
    await two.getByRole('button', { name: t('step.first') }).click();
    await two.locator('[data-cursor="0"]').waitFor();
    await enter(one, 'e5');
    await expect.poll(() => moveTexts(two), LONG).toEqual(['e4', 'e5']);
    // A reload returns to the same position, also without the other tab.
    await two.reload();
    await two.locator('[data-cursor="0"]').waitFor();
    await expect.poll(() => cursor(one)).toBe('3');
  });
});

test.each([
  ['chess', en('side.white'), en('side.black')],
  ['shogi', en('side.sente'), en('side.gote')],
] as const)(
  'plays a complete game of %s against Narikin by keyboard alone',
  async (variant, mine, its) => {
    const page = await fixture.page();
    const legal = await legalMoves(page);
    const keys = page.keyboard;
    await opponentsListed(page);
    if (variant === 'shogi') {
      await tabTo(page, page.getByRole('radio', { name: en('variant.chess'), exact: true }));
      await keys.press('ArrowRight');
      await keys.press('ArrowRight');
    }
    expect(await page.getByRole('radio', { name: en(`variant.${variant}`), exact: true }).isChecked()).toBe(
      true,
    );
    await tabTo(page, page.locator('summary').filter({ hasText: en('new.more') }));
    await keys.press('Enter');
    await tabTo(page, page.getByLabel(en('new.per_side')));
    await keys.press('Space');
    // Narikin has a fast clock, the user enough time for a slow machine.
    for (const [side, minutes] of [
      [mine, '600'],
      [its, '0.05'],
    ] as const) {
      await tabTo(page, page.getByRole('group', { name: side }).getByLabel(en('time.base')));
      await keys.press('Control+a');
      await keys.type(minutes);
      await tabTo(page, page.getByRole('group', { name: side }).getByLabel(en('time.increment')));
      await keys.press('Control+a');
      await keys.type('0.02');
    }
    await keys.press('Enter');
    await squares(page);
    for (let turn = 0; !decided().test(await status(page)); turn++) {
      // The first move is played on the board, the others are entered as text.
      const move = turn === 0 ? (variant === 'chess' ? 'e2e4' : '7g7f') : (await legal())[0];
      if (!move) throw new Error('no legal move');
      const count = await moveElements(page).count();
      if (turn === 0) {
        await keys.press('b');
        await walkTo(page, move.slice(0, 2));
        await keys.press('Enter');
        await walkTo(page, move.slice(2));
        await keys.press('Enter');
        await keys.press('Escape');
        await expect.poll(() => moveElements(page).count()).toBeGreaterThan(count);
        await keys.press('m');
      } else {
        await keys.type(move);
        await keys.press('Enter');
      }
      await page.waitForFunction(
        ([before, ends]) =>
          document.querySelectorAll('.moves .move:not(.gap)').length >= before + 2 ||
          new RegExp(ends).test(document.querySelector('[data-testid=status]')?.textContent ?? ''),
        [count, decided().source] as const,
        LONG,
      );
    }
    await expect.poll(() => page.getByTestId('live').textContent()).toMatch(decided());
    await tabTo(page, page.getByRole('link', { name: en('nav.library') }));
    await keys.press('Enter');
    await page.getByRole('row').nth(1).getByText('Narikin', { exact: false }).first().waitFor();
  },
  WHOLE.timeout * 2,
);

test('plays shogi by keyboard alone, in Japanese', async () => {
  const page = await fixture.page('#/play', { locale: 'ja-JP' });
  await page.getByRole('radio', { name: ja('variant.shogi') }).waitFor();
  await page.getByRole('radio', { name: ja('variant.shogi') }).focus();
  await page.keyboard.press('Space');
  // With the default clock, a first move can take longer than the test.
  await page.getByRole('button', { name: '0′ + 10″', exact: true }).focus();
  await page.keyboard.press('Enter');
  const play = page.getByRole('button', { name: ja('new.begin') });
  await expect.poll(() => play.isEnabled(), LONG).toBe(true);
  await play.focus();
  await page.keyboard.press('Enter');
  await squares(page);
  await page.keyboard.press('m');
  await page.keyboard.type('７六歩');
  await page.keyboard.press('Enter');
  await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
  await expect.poll(() => moveElements(page).first().textContent()).toContain('７六歩');
  expect(await violations(page)).toEqual([]);
});

test('plays one game with options of its own', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { name: 'Mime', path: ENGINES.mime }));
  await visit(page, en('nav.play'));
  await newGame(page, 'chess', 'Mime');
  await page.getByRole('button', { name: en('new.options') }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Style', { exact: true }).selectOption('Wild');
  await dialog
    .getByRole('button', { name: en('app.close') })
    .last()
    .click();
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
  await visit(page, en('nav.engines'));
  const process = page.locator('[data-testid=process][data-status=idle]');
  await process.getByRole('link', { name: en('engine.log') }).click();
  const log = page.getByRole('region', { name: en('log.region') });
  await expect.poll(() => log.textContent(), LONG).toContain('setoption name Style value Wild');
  // The stored options are unchanged.
  await page
    .getByTestId('engine')
    .nth(1)
    .getByRole('button', { name: en('engine.options'), exact: true })
    .click();
  await page.locator('[data-option="Style"]').waitFor();
  expect(await page.locator('[data-option="Style"].changed').count()).toBe(0);
});

test.each(['stockfish', 'fairy-stockfish', 'gnuchess'])('shows the options of %s', async (name) => {
  const page = await fixture.page('#/engines');
  await page.getByRole('button', { name: en('engine.add') }).click();
  const args = name === 'gnuchess' ? ' --uci' : '';
  await page.getByLabel(en('add.text')).fill(`/usr/games/${name}${args}`);
  await page.getByLabel(en('add.text')).blur();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: en('add.submit') })
    .click();
  await expect.poll(() => page.getByTestId('engine').count(), LONG).toBe(2);
  const card = page.getByTestId('engine').nth(1);
  await expect
    .poll(() => card.getByRole('button', { name: en('engine.options'), exact: true }).isEnabled(), LONG)
    .toBe(true);
  await card.getByRole('button', { name: en('engine.options'), exact: true }).click();
  await expect.poll(() => page.locator('[data-option]').count()).toBeGreaterThan(2);
  await page.getByRole('searchbox').fill('Hash');
  const hash = page.locator('[data-option="Hash"] input');
  await hash.fill('32');
  await hash.blur();
  await page.locator('[data-option="Hash"].changed').waitFor();
  expect(await violations(page)).toEqual([]);
});

test('logs both directions and entered commands, and exports the log', async () => {
  const page = await fixture.page('#/engines');
  await page
    .getByRole('button', { name: en('engine.console') })
    .first()
    .click();
  const field = page.getByLabel(starts('log.command'));
  await expect.poll(() => field.isEnabled(), LONG).toBe(true);
  await field.fill('isready');
  await field.press('Enter');
  await page.getByText('readyok', { exact: true }).first().waitFor();
  // The complete log is exported as a file.
  const given = page.waitForEvent('download');
  await page.getByRole('button', { name: en('log.export'), exact: true }).click();
  const file = await given;
  expect(file.suggestedFilename()).toMatch(/^log-\d+\.txt$/);
  const text = readFileSync(await file.path(), 'utf8');
  for (const line of ['> uci', '< uciok', '! isready', '< readyok']) expect(text).toContain(line);
});
