// Input on the board with a real server: mouse, touch, drops and premoves.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { drag, errorsOf, tap, touchDrag } from './browser';
import {
  ENGINES,
  LONG,
  addEngine,
  begin,
  click,
  from,
  handshakeDone,
  squares,
  useServer,
  untimed,
  visit,
  moveTexts,
  type Variant,
  analysisBoard,
} from './fixture';
import { en } from './labels';

const fixture = useServer();

/** Kings, a pawn and two in hand. */
const FEW = '4k4/9/9/9/9/9/2P6/9/4K4 b 2P 1';
const PHONE = { hasTouch: true, viewport: { width: 390, height: 844 } };

const now = (page: Page, ...moves: string[]) => expect.poll(() => moveTexts(page), LONG).toEqual(moves);

/** An analysis board with a position. */
async function boardAt(page: Page, variant: Variant, text: string) {
  await analysisBoard(page, variant, text);
  await squares(page);
}

/** A board of shogi with few pieces. */
async function board(page: Page) {
  await boardAt(page, 'shogi', FEW);
  await page.getByRole('gridcell', { name: '7g, Black (sente) pawn' }).waitFor({ state: 'attached' });
}

test('shogi: drags pieces on the board and from the hand', async () => {
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

test('shogi: taps and drags pieces by touch, including those in hand', async () => {
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

test('chess: taps and drags pieces by touch', async () => {
  const page = await fixture.page('', PHONE);
  await analysisBoard(page);
  await page.getByRole('gridcell', { name: 'e2, White pawn' }).waitFor({ state: 'attached' });
  await tap(page, 'e2');
  await tap(page, 'e4');
  await now(page, 'e4');
  await touchDrag(page, 'g8', 'f6');
  await now(page, 'e4', 'Nf6');
});

/** Two clicks, a mouse drag, two taps. */
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
  // The rook is on the target square of the king, one step away.
  ['the rook', '1r2k2r/8/8/8/8/8/8/1R3KR1 w GBhb - 0 1', 'f1', 'g1', 'O-O'],
  ['the rook far away', '1r2k2r/8/8/8/8/8/8/1R3KR1 w GBhb - 0 1', 'f1', 'b1', 'O-O-O'],
  ['the square', '1r2k2r/8/8/8/8/8/8/1R3KR1 w GBhb - 0 1', 'f1', 'c1', 'O-O-O'],
  // Castling has the same target: a single step is a king move.
  ['no more than the next square', '1r2k1r1/8/8/8/8/8/8/RK5R w HAgb - 0 1', 'b1', 'c1', 'Kc1'],
] as const)('Chess960: moves the king to %s', async (_, text, from, to, move) => {
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
] as const)('promotes a piece of %s', async (variant, text, from, to, choice, move) => {
  const page = await fixture.page('', PHONE);
  for (const hand of HANDS) {
    await page.goto(new URL('/#/play/0/new', page.url()).href);
    await boardAt(page, variant, text);
    await hand(page, from, to);
    await page.getByRole('button', { name: choice, exact: true }).click();
    await now(page, move);
  }
});

test('shogi: plays a premove and a premoved drop', async () => {
  const page = await fixture.page('#/engines');
  await handshakeDone(
    await addEngine(page, { name: 'Mime', path: ENGINES.mime, args: ['usi'], protocol: 'usi' }),
  );
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
  // Mime plays the first move in lexicographic order.
  await now(page, 'P-7f', 'K-4a', 'K-5h');
  await expect.poll(() => marked.count()).toBe(0);
  await click(page, 'first:P');
  await click(page, '5e');
  await expect.poll(() => marked.count()).toBe(2);
  await answered();
  await now(page, 'P-7f', 'K-4a', 'K-5h', 'K-3a', 'P*5e');
});
