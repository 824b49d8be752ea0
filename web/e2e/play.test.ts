// Playing with a real server: commands of a game, and the form of a new game.
import { command, layoutFaults, violations } from './browser';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import {
  ENGINES,
  LONG,
  addEngine,
  begin,
  choose,
  click,
  enter,
  from,
  handshakeDone,
  moveElements,
  newGame,
  opponents,
  squares,
  status,
  useServer,
  untimed,
  visit,
  addRecordedEngine,
  moveTexts,
  type Variant,
  listedGames,
  openChip,
} from './fixture';
import type { Key } from '../src/i18n/en';
import { starts, prefix, ending, pieceLabel, squareLabel, valueIn, t, inLanguage } from './labels';

const fixture = useServer();

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** A page with Mime, which moves immediately. */
async function withMime(args: string[] = []): Promise<Page> {
  const page = await fixture.page('#/engines');
  await handshakeDone(await addEngine(page, { name: 'Mime', path: ENGINES.mime, args }));
  await visit(page, t('nav.play'));
  return page;
}

const ROLES = ['king', 'queen', 'rook', 'bishop', 'knight', 'pawn'] as const;

/** Selects a game of two humans. */
async function localGame(page: Page, variant: Variant) {
  await choose(page, variant);
  await opponents(page).selectOption({ label: t('new.local') });
}

/** The protocol log of the playing engine. */
async function log(page: Page, state: string): Promise<string> {
  await visit(page, t('nav.engines'));
  const process = page.locator(`[data-testid=process][data-status=${state}]`);
  await process.getByRole('link', { name: t('engine.log') }).click();
  const lines = page.getByRole('region', { name: t('log.region') });
  await expect.poll(() => lines.textContent(), LONG).toContain('bestmove');
  return (await lines.textContent()) ?? '';
}

// 28 points in the promotion zone.
const ENTERED = 'K+R+R+B+B4/GGGGSSSS1/9/9/9/9/9/9/8k b - 1';

const LANCE = 'position sfen lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1';

test('keeps the sides in a rematch of a handicap game', async () => {
  const page = await fixture.page();
  await choose(page, 'shogi');
  await page.locator('main').getByText(t('new.more'), { exact: true }).click();
  await page.getByLabel(t('new.handicap')).selectOption('lance');
  await begin(page);
  const sides = async () => (await page.locator('.bar .name').allTextContents()).join();
  await press(page, t('play.resign'));
  await press(page, t('play.resign.confirm'));
  // The full name is known after the handshake.
  const named = new RegExp(`^Narikin.*,${t('new.human')}$`);
  await expect.poll(() => sides()).toMatch(named);
  const first = page.url();
  await press(page, t('play.rematch.same'));
  await expect.poll(() => page.url(), LONG).not.toBe(first);
  await page.getByRole('gridcell', { name: squareLabel('1a') }).waitFor({ state: 'attached' });
  await expect.poll(() => sides()).toMatch(named);
});

test('requires a confirmation to resign, by mouse and by keys', async () => {
  const page = await withMime();
  await localGame(page, 'chess');
  await begin(page);
  const resign = page.getByRole('button', { name: t('play.resign'), exact: true });
  await resign.dblclick();
  await expect.poll(() => status(page), LONG).toContain(t('status.to_move', { side: t('side.white') }));
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
  await resign.focus();
  await page.keyboard.press('Enter');
  await expect.poll(focused).toBe(t('play.resign.confirm'));
  await page.keyboard.press('Escape');
  await expect.poll(focused).toBe(t('play.resign'));
  await page.keyboard.press('Enter');
  await expect.poll(focused).toBe(t('play.resign.confirm'));
  await page.keyboard.press('Enter');
  await expect.poll(() => status(page), LONG).toContain(ending('side.black', 'resignation'));
});

test('keeps the focus on the pause button', async () => {
  const page = await withMime();
  await localGame(page, 'chess');
  await begin(page);
  await page.getByRole('button', { name: t('play.pause'), exact: true }).focus();
  for (const [now, next] of [
    [t('status.paused'), t('play.resume')],
    [t('status.to_move', { side: t('side.white') }), t('play.pause')],
  ]) {
    await page.keyboard.press('Enter');
    await expect.poll(() => status(page), LONG).toContain(now);
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent?.trim())).toBe(next);
  }
});

test('does not reuse a custom start position', async () => {
  const page = await withMime();
  await localGame(page, 'chess');
  await from(page, 'FEN', '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1');
  await begin(page);
  const label = () => page.locator('[data-square=d8]').getAttribute('aria-label');
  await expect.poll(label, LONG).toBe(squareLabel('d8'));
  await command(page, t('menu.more'), t('new.title'));
  await page.getByRole('button', { name: t('new.begin'), exact: true }).click();
  await expect.poll(label, LONG).toBe(squareLabel('d8', pieceLabel('side.black', 'chess.queen')));
});

test('opens the advanced section if it contains changed settings', async () => {
  const page = await fixture.page();
  await localGame(page, 'shogi');
  await page.locator('main').getByText(t('new.more'), { exact: true }).click();
  await page.getByLabel(t('new.rules')).selectOption('engines');
  await begin(page);
  await command(page, t('menu.more'), t('new.title'));
  // The section is open.
  await page.getByLabel(t('new.rules')).waitFor();
});

test.each([
  [0, 'a8', []],
  [1, 'h1', ['a3']],
] as const)('assigns random sides: %i', async (drawn, corner, first) => {
  const page = await withMime();
  await newGame(page, 'chess', 'Mime');
  await page.getByRole('radio', { name: t('new.random') }).check({ force: true });
  await page.evaluate((byte) => {
    crypto.getRandomValues = (array) => (array as unknown as Uint8Array).fill(byte) as never;
  }, drawn);
  await begin(page);
  await expect.poll(() => moveTexts(page), LONG).toEqual(first);
  await expect.poll(() => status(page), LONG).toContain(t('status.your_turn'));
  await expect.poll(() => page.locator('[data-square]').first().getAttribute('data-square')).toBe(corner);
  await enter(page, drawn === 0 ? 'e4' : 'e5');
  await expect.poll(() => moveElements(page).count(), LONG).toBe(first.length + 2);
});

test('selects a random Chess960 position', async () => {
  const page = await fixture.page();
  await choose(page, 'chess960');
  await page.locator('main').getByText(t('new.more'), { exact: true }).click();
  await expect
    .poll(() => page.getByLabel(t('new.number')).getAttribute('placeholder'))
    .toBe(t('new.number.random'));
  const drawn = new Set<string>();
  // Ten random positions are not all equal.
  for (let games = 0; games < 10 && drawn.size < 2; games++) {
    await page.goto(new URL('/#/play/0/new', page.url()).href);
    await choose(page, 'chess960');
    await begin(page);
    const rank = [];
    for (const file of 'abcdefgh') {
      const label = await page.locator(`[data-square=${file}1]`).getAttribute('aria-label');
      rank.push(
        ROLES.find((role) => label === squareLabel(`${file}1`, pieceLabel('side.white', `chess.${role}`))),
      );
    }
    expect(rank.toSorted().join(' ')).toBe('bishop bishop king knight knight queen rook rook');
    expect(rank.indexOf('rook')).toBeLessThan(rank.indexOf('king'));
    expect(rank.indexOf('king')).toBeLessThan(rank.lastIndexOf('rook'));
    drawn.add(rank.join(' '));
  }
  expect(drawn.size).toBe(2);
});

test('limits the strength of a pondering engine', async () => {
  const page = await withMime();
  await newGame(page, 'chess', 'Mime');
  await page.getByLabel(t('new.limit_strength')).check();
  await page.getByRole('slider').fill('3');
  await page.getByLabel(t('new.ponder')).check();
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
  const lines = await log(page, 'idle');
  expect(lines).toContain('setoption name Skill Level value 3');
  expect(lines).toContain('setoption name Ponder value true');
});

test('shows the ponder move and the ponder hits', async () => {
  const page = await fixture.page('#/settings');
  await page.getByLabel(t('settings.opponent_info')).check();
  await visit(page, t('nav.play'));
  await newGame(page, 'chess');
  // With few nodes, a line may have no second move.
  await page.getByLabel(t('time.nodes')).fill('20000');
  await page.getByLabel(t('new.ponder')).check();
  await begin(page);
  // Followed by a move, unlike the number of ponder hits.
  const ponder = page.getByText(new RegExp(`${prefix('play.expects')}\\S`));
  const expected = async () => valueIn(await ponder.textContent(), 'play.expects');
  await enter(page, 'e4');
  await ponder.waitFor(LONG);
  const first = await expected();
  await enter(page, first);
  await page.getByText(t('play.hits', { hits: 1, tries: 1 })).waitFor(LONG);
  await expect.poll(() => moveElements(page).count(), LONG).toBe(4);
  await ponder.waitFor(LONG);
  const second = await expected();
  // A pawn on its initial square.
  const other = ['a3', 'h3'].find((move) => move !== second && move[0] !== first[0]);
  await enter(page, other ?? '');
  await page.getByText(t('play.hits', { hits: 1, tries: 2 })).waitFor(LONG);
});

test('starts a game with book moves', async () => {
  const page = await withMime();
  const book = join(fixture.server.data, 'book.pgn');
  writeFileSync(book, '[White "A"]\n[Black "B"]\n\n1. c4 e5 2. Nc3 Nf6 *\n');
  await newGame(page, 'chess', 'Mime');
  const path = page.getByLabel(t('new.book'));
  await path.fill(join(fixture.server.data, 'none.pgn'));
  await page.getByRole('button', { name: t('new.begin'), exact: true }).click();
  await page.getByText(t('error.not_found', { subject: t('subject.file') })).waitFor();
  await path.fill(book);
  await page.getByLabel(t('new.book.plies'), { exact: true }).fill('2');
  await begin(page);
  await expect.poll(() => moveTexts(page), LONG).toEqual(['c4', 'e5']);
  await enter(page, 'a4');
  await expect.poll(() => moveTexts(page), LONG).toEqual(['c4', 'e5', 'a4', 'a5']);
});

inLanguage('ja', () => {
  test('hint, pause, flip, takeback, resign', async () => {
    const page = await withMime();
    await newGame(page, 'chess', 'Mime');
    await begin(page);
    await press(page, t('play.hint'));
    // The first legal move in lexicographic order.
    await expect.poll(() => page.getByTestId('hint').textContent(), LONG).toContain('a3');
    await enter(page, 'e4');
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'a5']);
    await press(page, t('play.pause'));
    await expect.poll(() => status(page), LONG).toBe(t('status.paused'));
    await press(page, t('play.resume'));
    await expect.poll(() => status(page), LONG).toContain(t('status.your_turn'));
    const corner = () => page.locator('[data-square]').first().getAttribute('data-square');
    await expect.poll(() => corner()).toBe('a8');
    await press(page, t('board.flip'));
    await expect.poll(corner).toBe('h1');
    // The flipped board accepts moves.
    await click(page, 'd2');
    await click(page, 'd4');
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'a5', 'd4', 'a4']);
    await press(page, t('play.takeback'));
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'a5']);
    await press(page, t('play.resign'));
    await press(page, t('play.resign.confirm'));
    await expect.poll(() => status(page), LONG).toContain(ending('side.black', 'resignation'));
    // The form starts the same kind of game again.
    await command(page, t('menu.more'), t('new.title'));
    await page.getByRole('button', { name: t('new.begin'), exact: true }).click();
    await expect.poll(() => moveTexts(page), LONG).toEqual([]);
    await expect.poll(() => status(page), LONG).toContain(t('status.your_turn'));
    await visit(page, t('nav.library'));
    await page
      .getByRole('row')
      .filter({ has: page.getByTitle(t('termination.resignation')) })
      .getByText('0–1')
      .waitFor();
  });

  test('offers takeback, draw and resignation within the first screen of a phone', async () => {
    const desk = await withMime();
    await newGame(desk, 'chess', 'Mime');
    await begin(desk);
    await enter(desk, 'e4');
    const page = await fixture.page(new URL(desk.url()).hash);
    await page.setViewportSize({ width: 390, height: 844 });
    await squares(page);
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'a5']);
    const button = (name: Key) => page.getByRole('button', { name: t(name), exact: true });
    for (const name of ['play.takeback', 'play.draw', 'play.resign', 'step.back', 'step.next'] as const) {
      const { x = -1, y = -1, width = 0, height = 0 } = (await button(name).boundingBox()) ?? {};
      expect(x >= 0 && y >= 0 && x + width <= 390 && y + height <= 844, name).toBe(true);
      expect(Math.min(width, height), name).toBeGreaterThanOrEqual(44);
    }
    expect(await violations(page)).toEqual([]);
    await button('play.takeback').click();
    await expect.poll(() => moveTexts(page), LONG).toEqual([]);
    // The board is turned by the menu.
    await command(page, t('menu.more'), t('board.flip'));
    await expect.poll(() => page.locator('[data-square]').first().getAttribute('data-square')).toBe('h1');
    await button('play.resign').click();
    expect(await layoutFaults(page)).toEqual([]);
    await button('play.resign.confirm').click();
    await expect.poll(() => status(page), LONG).toContain(ending('side.black', 'resignation'));
    await button('play.takeback').waitFor({ state: 'detached' });
  });

  test('starts a rematch by button and key with swapped sides, shared by all tabs', async () => {
    const page = await withMime();
    await newGame(page, 'chess', 'Mime');
    await begin(page);
    const resign = async () => {
      await press(page, t('play.resign'));
      await press(page, t('play.resign.confirm'));
      await expect.poll(() => status(page), LONG).toContain(t('termination.resignation'));
    };
    await resign();
    const first = page.url();
    const other = await page.context().newPage();
    await other.goto(first);
    await squares(other);
    await press(page, t('play.rematch'));
    // The engine has White and the same limit.
    await expect.poll(() => moveTexts(page), LONG).toEqual(['a3']);
    await expect.poll(() => page.locator('[data-square]').first().getAttribute('data-square')).toBe('h1');
    // The other tab stays on its page and offers a link.
    expect(other.url()).toBe(first);
    await press(other, t('play.rematch.open'));
    await expect.poll(() => moveTexts(other), LONG).toEqual(['a3']);
    expect(other.url()).toBe(page.url());
    await resign();
    await page.keyboard.press('r');
    await expect.poll(() => moveTexts(page), LONG).toEqual([]);
    await enter(page, 'e4');
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'a5']);
  });

  test('announces the clocks', async () => {
    const page = await fixture.page();
    await localGame(page, 'chess');
    await begin(page);
    const announced = () => page.getByTestId('live').textContent();
    await page.keyboard.press('c');
    const clock = (side: 'side.white' | 'side.black', time: string) =>
      t('announce.move', { side: t(side), move: time });
    // The running clock may have lost a second.
    const clocks = `^${clock('side.white', '(10:00|9:\\d\\d)')}, ${clock('side.black', '10:00')}`;
    await expect.poll(announced, LONG).toMatch(new RegExp(clocks));
  });

  test('flips the board for Black, and the engine moves first', async () => {
    const page = await withMime();
    await newGame(page, 'chess', 'Mime');
    await page.getByRole('radio', { name: t('side.black') }).check({ force: true });
    await begin(page);
    await expect.poll(() => moveTexts(page), LONG).toEqual(['a3']);
    await expect.poll(() => page.locator('[data-square]').first().getAttribute('data-square')).toBe('h1');
    await enter(page, 'e5');
    await expect.poll(() => moveElements(page).count(), LONG).toBe(3);
    await press(page, t('play.resign'));
    await press(page, t('play.resign.confirm'));
    await expect.poll(() => status(page), LONG).toContain(ending('side.white', 'resignation'));
    // The library search finds the game by its engine.
    await visit(page, t('nav.library'));
    const found = listedGames(page);
    await expect.poll(() => found.count(), LONG).toBe(1);
    await openChip(page, 'library.filter.add');
    for (const [name, count] of [
      ['narikin', 0],
      ['mime', 1],
    ] as const) {
      await page.getByRole('searchbox', { name: t('library.engine'), exact: true }).fill(name);
      await expect.poll(() => found.count(), LONG).toBe(count);
    }
  });

  test('makes an engine move immediately', async () => {
    const page = await withMime();
    await untimed(page, 'chess', 'Mime');
    await page.getByText(t('time.unlimited')).waitFor();
    await begin(page);
    await enter(page, 'e4');
    await press(page, t('play.movenow'));
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'a5']);
  });

  test('two humans agree to a draw', async () => {
    const page = await fixture.page();
    await localGame(page, 'chess');
    await begin(page);
    await enter(page, 'e4');
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4']);
    await press(page, `½ ${t('play.draw')}`);
    await press(page, t('play.accept'));
    await expect.poll(() => status(page), LONG).toContain(ending(null, 'agreement'));
  });

  test('announces a draw offer and its rejection', async () => {
    const page = await withMime();
    await newGame(page, 'chess', 'Mime');
    await begin(page);
    await press(page, `½ ${t('play.draw')}`);
    await expect
      .poll(() => page.getByTestId('live').textContent(), LONG)
      .toContain(t('play.offered', { side: t('side.white') }));
    await enter(page, 'e4');
    await page.locator('.toast').getByText(t('play.declined')).waitFor();
    await expect.poll(() => status(page), LONG).toContain(t('status.your_turn'));
  });

  test.each([
    ['repetition', '', ['Nf3', 'Nf6', 'Ng1', 'Ng8', 'Nf3', 'Nf6', 'Ng1', 'Ng8'], ending(null, 'repetition')],
    ['fifty moves', '4k3/8/8/8/8/8/R7/4K3 w - - 99 80', ['Rb2'], ending(null, 'fifty-moves')],
  ])('claims a draw by %s', async (_, start, moves, outcome) => {
    const page = await fixture.page();
    await localGame(page, 'chess');
    if (start) await from(page, 'FEN', start);
    await begin(page);
    for (const [at, move] of moves.entries()) {
      // A claim is not possible before.
      expect(await page.getByRole('button', { name: t('play.claim.draw') }).count()).toBe(0);
      await enter(page, move);
      await expect.poll(() => moveTexts(page), LONG).toEqual(moves.slice(0, at + 1));
    }
    await press(page, t('play.claim.draw'));
    await expect.poll(() => status(page), LONG).toBe(outcome);
  });

  test.each([
    ['engines', t('play.claim.declare_win'), ending('side.sente', 'declaration')],
    ['federation', t('play.claim.declare_draw'), ending(null, 'impasse')],
  ])('declares the result of a shogi game by the rules of %s', async (rules, button, outcome) => {
    const page = await fixture.page();
    await localGame(page, 'shogi');
    await from(page, 'SFEN', ENTERED);
    await page.getByLabel(starts('new.rules')).selectOption(rules);
    await begin(page);
    await press(page, button);
    await expect.poll(() => status(page), LONG).toBe(outcome);
  });

  test('sets a Chess960 number and a shogi handicap', async () => {
    const page = await fixture.page();
    await choose(page, 'chess960');
    await page.locator('main').getByText(t('new.more'), { exact: true }).click();
    await page.getByLabel(t('new.number')).fill('0');
    await begin(page);
    // BBQNNRKR.
    await page
      .getByRole('gridcell', { name: squareLabel('a1', pieceLabel('side.white', 'chess.bishop')) })
      .waitFor({ state: 'attached' });
    await page
      .getByRole('gridcell', { name: squareLabel('h8', pieceLabel('side.black', 'chess.rook')) })
      .waitFor({ state: 'attached' });
    await command(page, t('menu.more'), t('new.title'));
    await choose(page, 'shogi');
    await page.getByLabel(t('new.handicap')).selectOption('lance');
    await begin(page);
    await page.getByRole('gridcell', { name: squareLabel('1a') }).waitFor({ state: 'attached' });
    await page
      .getByRole('gridcell', { name: squareLabel('9a', pieceLabel('side.uwate', 'shogi.lance')) })
      .waitFor({ state: 'attached' });
  });

  test.each([
    ['shitate', 1],
    ['uwate', 0],
  ] as const)('uwate moves first in a handicap game: the user is %s', async (name, before) => {
    const side = t(`side.${name}`);
    const page = await fixture.page('#/engines');
    const received = await addRecordedEngine(page, fixture.server, 'Mime', 'usi');
    await visit(page, t('nav.play'));
    await newGame(page, 'shogi', 'Mime');
    await page.getByLabel(t('new.handicap')).selectOption('lance');
    await page.getByRole('radio', { name: side }).check({ force: true });
    await begin(page);
    await expect.poll(() => moveElements(page).count(), LONG).toBe(before);
    await expect.poll(() => status(page), LONG).toBe(`${t('status.your_turn')} ${side}`);
    await enter(page, before === 0 ? '3c3d' : '7g7f');
    await expect.poll(() => moveElements(page).count(), LONG).toBe(before + 2);
    expect(received()).toContain(LANCE);
  });
});
