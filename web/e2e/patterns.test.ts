// Patterns of positions in the library, opening trees, and the games that follow a tree.
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { command, violations } from './browser';
import {
  LONG,
  analysisBoard,
  enter,
  listedGames,
  moveElements,
  openChip,
  saveDraft,
  squares,
  useServer,
} from './fixture';
import { inLanguage, pieceLabel, squareLabel, starts, t } from './labels';

const fixture = useServer();

const game = (white: string, result: string, moves: string) =>
  `[White "${white}"]\n[Black "Bob"]\n[Date "2026.01.01"]\n[Result "${result}"]\n\n${moves} ${result}\n\n`;
const GAMES =
  game('Ann', '1-0', '1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3') +
  game('Cid', '0-1', '1. e4 e5 2. Nf3 Nc6 3. Bb5 a6') +
  game('Dan', '1/2-1/2', '1. Nf3 Nc6 2. e4 e5 3. Bb5 Nf6') +
  game('Eve', '1-0', '1. d4 d5 2. c4 dxc4');

async function library(text = GAMES, count = 4): Promise<Page> {
  const page = await fixture.page('#/library');
  await page.getByText(t('library.none')).waitFor();
  await page
    .getByTestId('import-files')
    .setInputFiles({ name: 'a.pgn', mimeType: 'text/plain', buffer: Buffer.from(text) });
  await expect.poll(() => listedGames(page).count(), LONG).toBe(count);
  return page;
}

const names = async (page: Page) =>
  (await listedGames(page).evaluateAll((links) => links.map((one) => one.getAttribute('aria-label')))).map(
    (name) => name?.split(' – ')[0],
  );

async function openPattern(page: Page): Promise<Locator> {
  await page
    .getByRole('search')
    .getByRole('button', { name: starts('library.pattern') })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByTestId('pattern').waitFor();
  return dialog;
}

const cell = (dialog: Locator, square: string) => dialog.locator(`[data-cell="${square}"]`);
const terms = (dialog: Locator) => dialog.getByLabel(t('pattern.text'));
const tool = (dialog: Locator, name: string) => dialog.getByRole('button', { name, exact: true });
const verdict = (dialog: Locator, count: number) =>
  expect
    .poll(async () => (await dialog.getByTestId('verdict').textContent())?.trim(), LONG)
    .toBe(t('pattern.games', { count }));

inLanguage('en', () => {
  test('a pattern that is set by mouse finds games, whose preview shows the matching position', async () => {
    const page = await library();
    const dialog = await openPattern(page);
    await verdict(dialog, 4);
    await tool(dialog, pieceLabel('side.white', 'chess.bishop')).click();
    await cell(dialog, 'b5').click();
    await expect.poll(() => terms(dialog).inputValue()).toBe('on=Bb5');
    await verdict(dialog, 2);
    const bishop = pieceLabel('side.white', 'chess.bishop');
    expect(await cell(dialog, 'b5').getAttribute('aria-label')).toBe(squareLabel('b5', bishop));
    // Wildcards, a second click, and the eraser.
    await tool(dialog, t('pattern.empty')).click();
    await cell(dialog, 'a6').click();
    await tool(dialog, t('pattern.piece_of', { side: t('side.black') })).click();
    await cell(dialog, 'f6').click();
    await cell(dialog, 'a1').click();
    await cell(dialog, 'a1').click();
    await cell(dialog, 'a2').click();
    await tool(dialog, t('pattern.any')).click();
    await cell(dialog, 'a2').click();
    await expect.poll(() => terms(dialog).inputValue()).toBe('on=-a6,af6,Bb5');
    await verdict(dialog, 1);
    // One of several pieces.
    await dialog.getByLabel(t('pattern.several')).check();
    const knight = pieceLabel('side.black', 'chess.knight');
    await tool(dialog, knight).click();
    await cell(dialog, 'c6').click();
    await tool(dialog, pieceLabel('side.black', 'chess.pawn')).click();
    await cell(dialog, 'c6').click();
    await expect.poll(() => terms(dialog).inputValue()).toBe('on=-a6,[np]c6,af6,Bb5');
    const both = `${knight} / ${pieceLabel('side.black', 'chess.pawn')}`;
    expect(await cell(dialog, 'c6').getAttribute('aria-label')).toBe(squareLabel('c6', both));
    await verdict(dialog, 1);
    await terms(dialog).fill('on=-a6,af6,Bb5');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: t('pattern.apply'), exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => names(page), LONG).toEqual(['Dan']);
    const chip = page.getByRole('search').getByRole('button', { name: starts('library.pattern') });
    expect(await chip.first().textContent()).toContain('on=-a6,af6,Bb5');

    // The preview begins at the match; another game at its own.
    const preview = page.getByTestId('preview');
    const ply = () => preview.getByTestId('ply').textContent(LONG);
    await listedGames(page).first().click();
    await expect.poll(ply, LONG).toBe('6 / 6');
    const again = await openPattern(page);
    await terms(again).fill('on=Bb5');
    await again.getByRole('button', { name: t('pattern.apply'), exact: true }).click();
    await expect.poll(ply, LONG).toBe('5 / 6');
    await expect.poll(() => preview.locator('.move.on').textContent()).toBe('Bb5');
    await preview.getByRole('button', { name: t('step.back'), exact: true }).click();
    await expect.poll(ply, LONG).toBe('4 / 6');

    await page
      .getByRole('button', { name: t('library.filter.clear', { name: t('library.pattern') }) })
      .click();
    await expect.poll(async () => (await names(page)).length, LONG).toBe(4);
    await expect.poll(ply, LONG).toBe('6 / 6');
  });

  test('a pattern is set by keyboard, and by material', async () => {
    const page = await library();
    const dialog = await openPattern(page);
    await tool(dialog, pieceLabel('side.white', 'chess.knight')).press('Enter');
    await cell(dialog, 'a8').focus();
    for (const key of ['ArrowRight', 'ArrowDown', 'End', 'ArrowLeft', 'ArrowLeft'])
      await page.keyboard.press(key);
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await expect.poll(() => terms(dialog).inputValue()).toBe('on=Nf3');
    await verdict(dialog, 3);
    await page.keyboard.press('Enter');
    await expect.poll(() => terms(dialog).inputValue()).toBe('');

    // A pawn is missing.
    const pawns = dialog.getByLabel(t('range.max', { name: pieceLabel('side.white', 'chess.pawn') }));
    await pawns.press('ArrowLeft');
    await expect.poll(() => terms(dialog).inputValue()).toBe('P=..7');
    await verdict(dialog, 1);
    await pawns.press('ArrowRight');
    await expect.poll(() => terms(dialog).inputValue()).toBe('');
    const least = dialog.getByLabel(t('range.min', { name: pieceLabel('side.black', 'chess.queen') }));
    await least.press('End');
    await expect.poll(() => terms(dialog).inputValue()).toBe('q=3..');
    await verdict(dialog, 0);
    await dialog.getByRole('button', { name: t('pattern.reset'), exact: true }).click();

    await dialog.getByLabel(t('range.max', { name: t('pattern.balance') })).fill('-1');
    await dialog.getByLabel(t('pattern.length')).fill('1');
    await dialog.getByLabel(t('editor.turn')).selectOption('first');
    await dialog.getByRole('combobox', { name: t('pattern.bishops') }).selectOption('same');
    await dialog.getByLabel(t('pattern.flip.sides')).check();
    await expect
      .poll(() => terms(dialog).inputValue())
      .toBe('balance=..-1 bishops=same turn=w for=1 flip=sides');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect((await names(page)).length).toBe(4);
  });

  test('the text of a pattern sets the board, and its errors are shown', async () => {
    const page = await library();
    const dialog = await openPattern(page);
    await terms(dialog).fill('on=Bb5,nc6 R=2 material=KRvK zz=1');
    const knight = pieceLabel('side.black', 'chess.knight');
    await expect.poll(() => cell(dialog, 'c6').getAttribute('aria-label')).toBe(squareLabel('c6', knight));
    await dialog.getByText(t('pattern.rest', { terms: 'material=KRvK zz=1' })).waitFor();
    await expect.poll(() => dialog.getByTestId('verdict').textContent(), LONG).toContain('zz=1');
    expect(await dialog.getByRole('button', { name: t('pattern.apply'), exact: true }).isDisabled()).toBe(
      true,
    );
    await terms(dialog).fill('on=Bb5');
    await verdict(dialog, 2);
    // All pawns of the board.
    await terms(dialog).fill('on=Pa2,Pb2,Pc2,Pd2,Pe4,Pf2,Pg2,Ph2,pa7,pb7,pc7,pd7,pe5,pf7,pg7,ph7');
    await dialog.getByLabel(t('pattern.pawns')).check();
    await expect.poll(() => terms(dialog).inputValue()).toBe('pawns=8/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/8');
    await verdict(dialog, 3);
    // The squares of shogi show the game.
    await terms(dialog).fill('on=P7f');
    await dialog
      .getByRole('radio', { name: t('variant.shogi') })
      .and(page.locator(':checked'))
      .waitFor();
    await verdict(dialog, 0);
    await dialog.getByRole('radio', { name: t('variant.chess') }).check({ force: true });
    await expect.poll(() => terms(dialog).inputValue()).toBe('pawns=8/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/8');
  });

  test('finds pieces in hand of shogi, in a window of a phone', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const moves = '1 ７六歩(77)\n2 ３四歩(33)\n3 ２二角成(88)\n4 同　銀(31)\n';
    await page.getByTestId('import-files').setInputFiles({
      name: 'a.kif',
      mimeType: 'text/plain',
      buffer: Buffer.from(`手合割：平手\n先手：羽生\n${moves}`),
    });
    await expect.poll(() => listedGames(page).count(), LONG).toBe(1);
    await page.setViewportSize({ width: 1280, height: 720 });
    await (await openChip(page, 'new.variant')).getByLabel(t('new.variant')).selectOption('shogi');
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
    const dialog = await openPattern(page);
    expect(await dialog.getByRole('radio').count()).toBe(0);
    const bishop = t('pattern.in_hand', { piece: pieceLabel('side.gote', 'shogi.bishop') });
    await dialog.getByLabel(t('range.min', { name: bishop })).press('ArrowRight');
    await expect.poll(() => terms(dialog).inputValue()).toBe('game=shogi b*=1..');
    await verdict(dialog, 1);
    const overflow = await dialog.evaluate((element) => element.scrollWidth - element.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    expect(await violations(page)).toEqual([]);
    await dialog.getByLabel(t('range.min', { name: bishop })).press('ArrowRight');
    await verdict(dialog, 0);
  });

  test('a search that takes long shows its progress and is cancelled; the earlier games remain', async () => {
    const page = await library();
    await page.route('**/api/library/progress', (route) => route.fulfill({ json: { done: 10, all: 40 } }));
    let held = false;
    await page.route('**/api/library/search', async (route) => {
      // Never answered.
      if (!held) await route.continue();
    });
    const dialog = await openPattern(page);
    await terms(dialog).fill('on=Bb5');
    await verdict(dialog, 2);
    held = true;
    await dialog.getByRole('button', { name: t('pattern.apply'), exact: true }).click();
    const row = page.getByTestId('searching');
    await row.getByText('10 / 40').waitFor(LONG);
    const bar = row.getByRole('progressbar');
    expect(await bar.evaluate((element: HTMLProgressElement) => element.position)).toBe(0.25);
    expect(await violations(page)).toEqual([]);
    await row.getByRole('button', { name: t('report.cancel') }).click();
    await row.waitFor({ state: 'detached' });
    expect((await names(page)).length).toBe(4);
    held = false;
    await page
      .getByTestId('search-cancelled')
      .getByRole('button', { name: t('library.search_again') })
      .click();
    await expect.poll(async () => (await names(page)).length, LONG).toBe(2);
    await page.getByTestId('search-cancelled').waitFor({ state: 'detached' });
  });

  test('selected games become an opening tree with results', async () => {
    const page = await library();
    await page.getByLabel(t('library.select.page')).check();
    await page.getByRole('button', { name: t('library.merge'), exact: true }).click();
    const popup = page.getByRole('group', { name: t('library.merge'), exact: true });
    await popup.getByLabel(t('opening_tree.plies')).fill('5');
    await popup.getByLabel(t('opening_tree.min_games')).fill('2');
    expect(await violations(page)).toEqual([]);
    await popup.getByRole('button', { name: t('opening_tree.build') }).click();
    await page.waitForURL(/#\/analyse\/\d+$/);
    await squares(page);
    // 1. e4 e5 2. Nf3 Nc6 3. Bb5 of two games, with their results.
    await expect.poll(() => page.locator('.moves').textContent(), LONG).toContain('Bb5');
    await page.locator('.toasts').getByText(starts('opening_tree.built')).waitFor(LONG);
  });

  test('lists the games that follow a tree by the place where they leave it', async () => {
    const page = await library();
    await analysisBoard(page);
    for (const move of ['e4', 'e5', 'Nf3', 'Nc6', 'Bc4']) {
      const before = await moveElements(page).count();
      await enter(page, move);
      await expect.poll(() => moveElements(page).count(), LONG).toBe(before + 1);
    }
    await saveDraft(page);
    await command(page, t('menu.more'), t('repertoire.title'));
    const dialog = page.getByRole('dialog');
    const row = dialog.getByRole('row').filter({ hasText: 'Bb5' });
    await row.waitFor(LONG);
    expect(await violations(page)).toEqual([]);
    // Two games leave it by 3. Bb5; one has another order of moves.
    await row.getByRole('button', { name: t('repertoire.games', { count: 2, move: '3.Bb5' }) }).click();
    const latest = dialog.getByRole('list', { name: t('repertoire.latest') });
    await expect.poll(() => latest.getByRole('button').count()).toBe(2);
    // The node where they leave it.
    await row.getByRole('button', { name: /Nc6$/ }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('.moves [aria-current] > span').textContent(), LONG).toBe('Nc6');
    const address = page.url();
    await command(page, t('menu.more'), t('repertoire.title'));
    await row.getByRole('button', { name: starts('repertoire.games') }).click(LONG);
    await latest.getByRole('button', { name: /^Cid/ }).click();
    await page.waitForURL((url) => /#\/analyse\/\d+$/.test(url.hash) && url.href !== address);
    await expect.poll(() => moveElements(page).count(), LONG).toBe(6);
  });
});
