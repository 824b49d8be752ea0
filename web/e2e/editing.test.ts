// Editing of a game: variations, annotations, comments, undo, headers; and the search of the library.
import { command } from './browser';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import {
  LONG,
  enter,
  paste,
  clickAll,
  tabTo,
  useServer,
  visit,
  moveTexts,
  analysisBoard,
  openChip,
  listedGames,
  saveDraft,
} from './fixture';
import { t, inLanguage, language, pieceLabel, squareLabel } from './labels';

const fixture = useServer();

async function board(): Promise<Page> {
  const page = await fixture.page();
  await analysisBoard(page);
  return page;
}

async function play(page: Page, ...moves: string[]) {
  for (const move of moves) {
    const before = await page.locator('[data-cursor]').getAttribute('data-cursor');
    await enter(page, move);
    await expect.poll(() => page.locator('[data-cursor]').getAttribute('data-cursor'), LONG).not.toBe(before);
  }
}

const text = (page: Page) => page.locator('.moves').textContent();

test('undoes and redoes moves by keys', async () => {
  const page = await board();
  await play(page, 'e4', 'e5', 'Nf3');
  await page.locator('#entry').blur();
  const cursor = () => page.locator('.moves [aria-current] > span').textContent();
  for (const left of [['e4', 'e5'], ['e4'], []]) {
    await page.keyboard.press('Control+z');
    await expect.poll(() => moveTexts(page), LONG).toEqual(left);
  }
  await page.keyboard.press('Control+y');
  await expect.poll(() => moveTexts(page), LONG).toEqual(['e4']);
  await page.keyboard.press('Control+Shift+z');
  await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'e5']);
  // Undo of a comment keeps the moves after it.
  await page.getByRole('button', { name: t('step.last') }).click();
  await expect.poll(cursor, LONG).toBe('e5');
  await page.getByLabel(t('edit.comment')).fill('open');
  await page.getByLabel(t('edit.comment')).blur();
  await expect.poll(() => text(page), LONG).toContain('open');
  await play(page, 'Nc3', 'Nc6');
  await page.getByRole('button', { name: t('edit.undo') }).click();
  await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'e5', 'Nc3']);
  await expect.poll(cursor, LONG).toBe('Nc3');
});

test('searches shogi moves without a variant and ignores an incomplete move', async () => {
  const page = await board();
  await paste(page, '手合割：平手\n先手：羽生\n1 ７六歩(77)\n2 ８四歩(83)\n3 投了\n');
  await expect.poll(async () => (await moveTexts(page)).length, LONG).toBe(2);
  await saveDraft(page);
  await visit(page, t('nav.library'));
  await openChip(page, 'library.opening_column');
  const field = page.getByLabel(t('library.opening'), { exact: true });
  const found = listedGames(page).and(page.getByLabel(/羽生/));
  for (const line of ['▲７六歩 △８四歩', '7g7f 8c8d', 'P-7f']) {
    await field.fill(line);
    await found.waitFor();
    await field.fill(`${line} x`);
    await page.getByText(`${t('category.illegal_move')} x`).waitFor();
    expect(await found.count()).toBe(0);
  }
  expect(await page.locator('.toast.bad').count()).toBe(0);
});

inLanguage('en', () => {
  test('adds, promotes and deletes variations, with undo and redo', async () => {
    const page = await board();
    await play(page, 'e4', 'e5');
    await page.getByRole('button', { name: t('step.back') }).click();
    await play(page, 'c5');
    const variations = () => page.locator('.variation').allTextContents();
    const is = async (line: string[], other: RegExp | null) => {
      await expect.poll(() => moveTexts(page), LONG).toEqual(line);
      await expect.poll(variations, LONG).toEqual(other ? [expect.stringMatching(other)] : []);
    };
    await is(['e4', 'e5'], /c5/);
    await command(page, t('moves.menu'), t('edit.promote'));
    await is(['e4', 'c5'], /e5/);
    await command(page, t('moves.menu'), t('edit.delete'));
    await is(['e4', 'e5'], null);
    const undo = page.getByRole('button', { name: t('edit.undo') });
    await undo.click();
    await is(['e4', 'c5'], /e5/);
    await undo.click();
    await is(['e4', 'e5'], /c5/);
    const redo = page.getByRole('button', { name: t('edit.redo') });
    await redo.click();
    await redo.click();
    await is(['e4', 'e5'], null);
    expect(await redo.isDisabled()).toBe(true);
  });

  test('shows the opening name and finds a game by it', async () => {
    const page = await board();
    const opening = page.getByTestId('opening');
    const name = language() === 'ja' ? 'シシリアン・ディフェンス' : 'Sicilian Defense';
    await play(page, 'e4', 'c5');
    await expect.poll(() => opening.textContent(), LONG).toMatch(new RegExp(`B20\\s+${name}`));
    await play(page, 'h4');
    await expect.poll(() => opening.textContent(), LONG).toContain(name);
    await page.getByRole('button', { name: t('step.first') }).click();
    await expect.poll(() => opening.count(), LONG).toBe(0);
    await paste(page, '[White "Anna"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n');
    // The board of the earlier moves is another draft.
    await expect.poll(() => text(page), LONG).toContain('Bb5');
    await saveDraft(page);
    await visit(page, t('nav.library'));
    await openChip(page, 'library.opening_column');
    await page.getByLabel(t('library.opening_name')).fill('ruy lopez');
    await listedGames(page).and(page.getByLabel(/Anna/)).waitFor();
  });

  test('edits a position by keyboard alone', async () => {
    const page = await board();
    await page.getByRole('button', { name: t('editor.title') }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: t('editor.move'), exact: true }).waitFor();
    // The board is a single tab stop.
    await tabTo(
      page,
      dialog.getByRole('button', { name: squareLabel('a8', pieceLabel('side.black', 'chess.rook')) }),
    );
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
    await expect.poll(() => focused()).toBe(t('new.variant'));
    await page.keyboard.press('Shift+Tab');
    for (const key of ['End', 'ArrowDown', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft'])
      await page.keyboard.press(key);
    await expect.poll(() => focused()).toBe(squareLabel('e7', pieceLabel('side.black', 'chess.pawn')));
    await page.keyboard.press('Enter');
    for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await expect.poll(() => focused()).toBe(squareLabel('e5', pieceLabel('side.black', 'chess.pawn')));
    await dialog.getByText(t('editor.valid')).waitFor();
    await tabTo(page, dialog.getByRole('button', { name: t('editor.use') }));
    await page.keyboard.press('Enter');
    await page
      .getByRole('gridcell', { name: squareLabel('e5', pieceLabel('side.black', 'chess.pawn')) })
      .waitFor({ state: 'attached' });
  });

  test('annotates a move with a move symbol, a position symbol and a comment', async () => {
    const page = await board();
    await play(page, 'e4');
    await page.getByRole('button', { name: '!!', exact: true }).click();
    await expect.poll(() => text(page), LONG).toContain('!!');
    await page.getByLabel(t('edit.annotation')).selectOption('±');
    await expect.poll(() => text(page), LONG).toContain('±');
    await page.getByRole('button', { name: '??', exact: true }).click();
    await expect.poll(() => text(page), LONG).toContain('??');
    expect(await text(page)).not.toContain('!!');
    // On and off again before the server responds.
    await clickAll(page.locator('body'), ['!?', '!?']);
    await expect.poll(() => text(page), LONG).not.toMatch(/[!?]/);
    await expect.poll(() => text(page)).toContain('±');
    await page.getByLabel(t('edit.comment')).fill('Best by test');
    await page.getByLabel(t('edit.comment')).blur();
    await expect.poll(() => text(page), LONG).toContain('Best by test');
  });

  test('searches games by player, result, opening and position', async () => {
    const page = await board();
    const game = (white: string, result: string, moves: string) =>
      `[White "${white}"]\n[Black "NN"]\n[Result "${result}"]\n[Opening "Of ${white}"]\n\n${moves} ${result}\n`;
    await paste(page, game('Anna', '1-0', '1. e4 c5 2. Nf3') + '\n' + game('Bert', '0-1', '1. d4 d5 2. c4'));
    await page
      .locator('.toasts')
      .getByText(new RegExp(t('record.done', { count: 2 })))
      .waitFor(LONG);
    await visit(page, t('nav.library'));
    const found = listedGames(page);
    const names = () =>
      found.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? '').toSorted());
    await expect.poll(names, LONG).toEqual(expect.arrayContaining(['Anna – NN', 'Bert – NN']));
    const SICILIAN = 'rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2';
    for (const [chip, label, value] of [
      ['library.player', t('library.player'), 'anna'],
      ['library.opening_column', t('library.opening'), 'e4 c5'],
      ['library.opening_column', t('library.opening_name'), 'sicilian'],
      ['library.filter.add', t('library.position'), SICILIAN],
    ] as const) {
      const field = (await openChip(page, chip)).getByLabel(label, { exact: true });
      await field.fill(value);
      await expect.poll(names, { ...LONG, message: label }).toEqual(['Anna – NN']);
      await field.fill('');
      await expect.poll(names, LONG).toContain('Bert – NN');
    }
    await (await openChip(page, 'library.result')).getByRole('combobox').selectOption('0-1');
    await expect.poll(names, LONG).toEqual(['Bert – NN']);
  });
});
