// Pieces moved by hand with a real server: dragged, touched, dropped, and moved before it is one's turn.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { drag, faultsOf, tap, touchDrag } from './browser';
import {
  ENGINES,
  LONG,
  addEngine,
  begin,
  choose,
  click,
  from,
  greeted,
  travel,
  untimed,
  visit,
  words,
} from './journey';

const here = travel();

/** Kings, a pawn and two in hand. */
const FEW = '4k4/9/9/9/9/9/2P6/9/4K4 b 2P 1';
const PHONE = { hasTouch: true, viewport: { width: 390, height: 844 } };

const now = (page: Page, ...moves: string[]) => expect.poll(() => words(page), LONG).toEqual(moves);

/** A board of shogi to analyse, from a position. */
async function board(page: Page) {
  await choose(page, 'Shogi');
  await from(page, 'SFEN', FEW);
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await page.getByRole('gridcell', { name: '7g, Black (sente) pawn' }).waitFor({ state: 'attached' });
}

test('shogi: pieces are dragged over the board and out of the hand', async () => {
  const page = await here.page();
  const faults = faultsOf(page);
  await board(page);
  await drag(page, '7g', '7f');
  await now(page, 'P-7f');
  await drag(page, '5a', '5b');
  await now(page, 'P-7f', 'K-5b');
  await drag(page, 'first:P', '5e');
  await now(page, 'P-7f', 'K-5b', 'P*5e');
  await page.getByRole('gridcell', { name: '5e, Black (sente) pawn' }).waitFor({ state: 'attached' });
  expect(faults).toEqual([]);
});

test('shogi: pieces are touched and dragged by touch, those in hand as well', async () => {
  const page = await here.page('', PHONE);
  await board(page);
  await tap(page, '7g');
  await tap(page, '7f');
  await now(page, 'P-7f');
  await touchDrag(page, '5a', '5b');
  await now(page, 'P-7f', 'K-5b');
  await tap(page, 'first:P');
  await tap(page, '5e');
  await now(page, 'P-7f', 'K-5b', 'P*5e');
  await touchDrag(page, '5b', '5a');
  await touchDrag(page, 'first:P', '4e');
  await now(page, 'P-7f', 'K-5b', 'P*5e', 'K-5a', 'P*4e');
});

test('chess: pieces are touched and dragged by touch', async () => {
  const page = await here.page('', PHONE);
  await choose(page, 'Chess');
  await page.getByRole('button', { name: 'Only a board to analyse' }).click();
  await page.getByRole('gridcell', { name: 'e2, White pawn' }).waitFor({ state: 'attached' });
  await tap(page, 'e2');
  await tap(page, 'e4');
  await now(page, 'e4');
  await touchDrag(page, 'g8', 'f6');
  await now(page, 'e4', 'Nf6');
});

test('shogi: a move and a drop are made while the engine thinks, and played when the turn comes', async () => {
  const page = await here.page('#/engines');
  await greeted(await addEngine(page, { name: 'Mime', path: ENGINES.mime, args: ['usi'] }));
  await visit(page, 'Play');
  await untimed(page, 'Shogi', 'Mime');
  await from(page, 'SFEN', FEW);
  await begin(page);
  const answered = () => page.getByRole('button', { name: 'Move now', exact: true }).click();
  const marked = page.locator('sq.current-pre, sg-hp-wrap.current-pre');
  await click(page, '7g');
  await click(page, '7f');
  await now(page, 'P-7f');
  await click(page, '5i');
  await click(page, '5h');
  await expect.poll(() => marked.count()).toBe(2);
  await answered();
  // Of all moves it makes the first by its word.
  await now(page, 'P-7f', 'K-4a', 'K-5h');
  await expect.poll(() => marked.count()).toBe(0);
  await click(page, 'first:P');
  await click(page, '5e');
  await expect.poll(() => marked.count()).toBe(2);
  await answered();
  await now(page, 'P-7f', 'K-4a', 'K-5h', 'K-3a', 'P*5e');
});
