// A game that is edited: variations, signs, comments, undo; headers. And games that are found by what they are.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { LONG, enter, paste, squares, travel, visit, words } from './journey';

const here = travel();

async function board(): Promise<Page> {
  const page = await here.page();
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await squares(page);
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

test('variations are made, promoted and deleted, and all of it is undone and done again', async () => {
  const page = await board();
  await play(page, 'e4', 'e5');
  await page.getByRole('button', { name: 'One move back' }).click();
  await play(page, 'c5');
  const variations = () => page.locator('.variation').allTextContents();
  const is = async (line: string[], other: RegExp | null) => {
    await expect.poll(() => words(page), LONG).toEqual(line);
    await expect.poll(variations, LONG).toEqual(other ? [expect.stringMatching(other)] : []);
  };
  await is(['e4', 'e5'], /c5/);
  await page.getByRole('button', { name: 'Make the variation more important' }).click();
  await is(['e4', 'c5'], /e5/);
  await page.getByRole('button', { name: 'Delete from here' }).click();
  await is(['e4', 'e5'], null);
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.click();
  await is(['e4', 'c5'], /e5/);
  await undo.click();
  await is(['e4', 'e5'], /c5/);
  const redo = page.getByRole('button', { name: 'Redo' });
  await redo.click();
  await redo.click();
  await is(['e4', 'e5'], null);
  expect(await redo.isDisabled()).toBe(true);
});

test('a move has signs, one for itself and one for the position, and a comment', async () => {
  const page = await board();
  await play(page, 'e4');
  await page.getByRole('button', { name: '!!', exact: true }).click();
  await expect.poll(() => text(page), LONG).toContain('!!');
  await page.getByLabel('More signs').selectOption('±');
  await expect.poll(() => text(page), LONG).toContain('±');
  await page.getByRole('button', { name: '??', exact: true }).click();
  await expect.poll(() => text(page), LONG).toContain('??');
  expect(await text(page)).not.toContain('!!');
  await page.getByLabel('Comment').fill('Best by test');
  await page.getByLabel('Comment').blur();
  await expect.poll(() => text(page), LONG).toContain('Best by test');
});

test('games are found by players, result, opening and position', async () => {
  const page = await board();
  const game = (white: string, result: string, moves: string) =>
    `[White "${white}"]\n[Black "NN"]\n[Result "${result}"]\n[Opening "Of ${white}"]\n\n${moves} ${result}\n`;
  await paste(page, game('Anna', '1-0', '1. e4 c5 2. Nf3') + '\n' + game('Bert', '0-1', '1. d4 d5 2. c4'));
  await page.locator('.toasts').getByText('Games read: 2').waitFor(LONG);
  await visit(page, 'Library');
  const found = page.getByRole('button', { name: / – / });
  const names = () => found.allTextContents().then((all) => all.map((name) => name.trim()).toSorted());
  await expect.poll(names, LONG).toEqual(expect.arrayContaining(['Anna – NN', 'Bert – NN']));
  const SICILIAN = 'rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2';
  for (const [label, value] of [
    ['Player', 'anna'],
    ['Opening', 'e4 c5'],
    ['Name or code of the opening', 'of anna'],
    ['Position', SICILIAN],
  ] as const) {
    const field = page.getByLabel(label, { exact: true });
    await field.fill(value);
    await expect.poll(names, LONG).toEqual(['Anna – NN']);
    await field.fill('');
    await expect.poll(names, LONG).toContain('Bert – NN');
  }
  await page.getByLabel(/^\s*Result/).selectOption('0-1');
  await expect.poll(names, LONG).toEqual(['Bert – NN']);
});
