// Pieces moved by hand with a real server: dragged, touched, dropped, and moved before it is one's turn.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { drag, errorsOf, tap, touchDrag } from './browser';
import {
  ENGINES,
  LONG,
  addEngine,
  begin,
  choose,
  click,
  from,
  handshakeDone,
  squares,
  useServer,
  untimed,
  visit,
  moveTexts,
  type Variant,
} from './fixture';
import { en } from './labels';

const fixture = useServer();

/** Kings, a pawn and two in hand. */
const FEW = '4k4/9/9/9/9/9/2P6/9/4K4 b 2P 1';
const PHONE = { hasTouch: true, viewport: { width: 390, height: 844 } };

const now = (page: Page, ...moves: string[]) => expect.poll(() => moveTexts(page), LONG).toEqual(moves);

/** A board to analyse, from a position. */
async function boardAt(page: Page, variant: Variant, text: string) {
  await choose(page, variant);
  await from(page, variant === 'shogi' ? 'SFEN' : 'FEN', text);
  await page.getByRole('button', { name: en('new.analysis') }).click();
  await squares(page);
}

/** A board of shogi with few pieces. */
async function board(page: Page) {
  await boardAt(page, 'shogi', FEW);
  await page.getByRole('gridcell', { name: '7g, Black (sente) pawn' }).waitFor({ state: 'attached' });
}

test('shogi: pieces are dragged over the board and out of the hand', async () => {
  const page = await fixture.page();
  const errors = errorsOf(page);
  await board(page);
  await drag(page, '7g', '7f');
  await now(page, 'P-7f');
  await drag(page, '5a', '5b');
  await now(page, 'P-7f', 'K-5b');
  await drag(page, 'first:P', '5e');
  await now(page, 'P-7f', 'K-5b', 'P*5e');
  await page.getByRole('gridcell', { name: '5e, Black (sente) pawn' }).waitFor({ state: 'attached' });
  expect(errors).toEqual([]);
});

test('shogi: pieces are touched and dragged by touch, those in hand as well', async () => {
  const page = await fixture.page('', PHONE);
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
  const page = await fixture.page('', PHONE);
  await choose(page, 'chess');
  await page.getByRole('button', { name: en('new.analysis') }).click();
  await page.getByRole('gridcell', { name: 'e2, White pawn' }).waitFor({ state: 'attached' });
  await tap(page, 'e2');
  await tap(page, 'e4');
  await now(page, 'e4');
  await touchDrag(page, 'g8', 'f6');
  await now(page, 'e4', 'Nf6');
});

/** Two clicks, a mouse that drags, two touches. */
const HANDS: ((page: Page, from: string, to: string) => Promise<void>)[] = [
  async (page, from, to) => {
    await click(page, from);
    await click(page, to);
  },
  drag,
  async (page, from, to) => {
    await tap(page, from);
    await tap(page, to);
  },
];

test.each([
  // It stands where the king is going, one step away.
  ['the rook', '1r2k2r/8/8/8/8/8/8/1R3KR1 w GBhb - 0 1', 'f1', 'g1', 'O-O'],
  ['the rook far away', '1r2k2r/8/8/8/8/8/8/1R3KR1 w GBhb - 0 1', 'f1', 'b1', 'O-O-O'],
  ['the square', '1r2k2r/8/8/8/8/8/8/1R3KR1 w GBhb - 0 1', 'f1', 'c1', 'O-O-O'],
  // Castling would lead there as well: one step is one step.
  ['no more than the next square', '1r2k1r1/8/8/8/8/8/8/RK5R w HAgb - 0 1', 'b1', 'c1', 'Kc1'],
] as const)('Chess960: a king is moved to %s', async (_, text, from, to, move) => {
  const page = await fixture.page('', PHONE);
  for (const hand of HANDS) {
    await page.goto(new URL('/#/play/0/new', page.url()).href);
    await boardAt(page, 'chess960', text);
    await hand(page, from, to);
    await now(page, move);
  }
});

test.each([
  ['chess', '4k3/P7/8/8/8/8/8/4K3 w - - 0 1', 'a7', 'a8', 'White knight', 'a8=N'],
  ['shogi', '4k4/9/2P6/9/9/9/9/9/4K4 b - 1', '7c', '7b', 'Black (sente) tokin', 'P-7b+'],
  ['shogi', '4k4/9/2P6/9/9/9/9/9/4K4 b - 1', '7c', '7b', 'Black (sente) pawn', 'P-7b='],
] as const)('a piece of %s is promoted', async (variant, text, from, to, choice, move) => {
  const page = await fixture.page('', PHONE);
  for (const hand of HANDS) {
    await page.goto(new URL('/#/play/0/new', page.url()).href);
    await boardAt(page, variant, text);
    await hand(page, from, to);
    await page.getByRole('button', { name: choice, exact: true }).click();
    await now(page, move);
  }
});

test('shogi: a move and a drop are made while the engine thinks, and played when the turn comes', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { name: 'Mime', path: ENGINES.mime, args: ['usi'] }));
  await visit(page, en('nav.play'));
  await untimed(page, 'shogi', 'Mime');
  await from(page, 'SFEN', FEW);
  await begin(page);
  const answered = () => page.getByRole('button', { name: en('play.movenow'), exact: true }).click();
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
