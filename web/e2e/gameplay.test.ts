// Playing a game with a fake server: premoves, sounds, clocks, material, and failures of engines.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { ClockState, Command, GameState, Play, Side } from '../src/api/wire';
import { sharedBrowser, middle, violations } from './browser';
import { defaultServer, game, positionView, legal, node, open, storePrefs, START, SHOGI } from './fakeServer';
import { en, ja, inLanguage } from './labels';

const browser = await sharedBrowser();

const ENGINE = 2;

/** A game of a human with White against an engine. */
function play(more: Partial<Play> = {}, human: Side = 'first'): Play {
  const time = { kind: 'none' } as const;
  const limits = { depth: null, nodes: null, time: null, mate: null };
  const me = {
    player: { kind: 'human', name: 'Ada', time } as const,
    name: 'Ada',
    info: null,
    pondering: null,
  };
  const engine = {
    player: {
      kind: 'engine',
      engine: ENGINE,
      time,
      limits,
      ponder: false,
      strength: null,
      options: {},
    } as const,
    name: 'Stockfish',
    info: {
      node: null,
      depth: 21,
      score: { kind: 'cp', value: 37 } as const,
      nodes: 1000,
      nps: 100,
      time: 10,
      pv: [],
    },
    pondering: null,
  };
  return {
    status: 'searching',
    failure: null,
    players: human === 'first' ? { first: me, second: engine } : { first: engine, second: me },
    last_move_node: 0,
    clocks: null,
    draw_offer: null,
    claim: null,
    hint: null,
    rematch: null,
    ...more,
  };
}

/** Chess after 1.e4; the engine thinks. */
const e4 = node(1, 0, 1, 'e2e4', { western: 'e4' });
const AFTER_E4 = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1';
const AFTER_E5 = 'rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2';
function thinking(more: Partial<GameState> = {}): GameState {
  return game(5, 'chess', {
    nodes: [node(0, null, 0, '', { western: '' }, { children: [1] }), e4],
    cursor: 1,
    position: positionView(AFTER_E4, [legal('e7e5', 'e5')], { turn: 'second' }),
    play: play({ last_move_node: 1 }),
    ...more,
  });
}

const clickSquare = async (page: Page, square: string) => {
  const { x, y } = await middle(page, square);
  await page.mouse.click(x, y);
};

const none = { opening: null };

/** The number of squares marked for a premove. chessground hides unused elements. */
const premoves = (page: Page) => page.locator('square.current-premove:visible').count();

inLanguage('en', () => {
  test('plays a premove after the reply, but not after a takeback', async () => {
    const fake = defaultServer();
    open(fake, thinking());
    const page = await fake.page(browser, '#/play/5');
    const moves = () => fake.commands.filter((command) => command.kind === 'move').map(({ text }) => text);
    await clickSquare(page, 'g1');
    await clickSquare(page, 'f3');
    await expect.poll(() => premoves(page)).toBe(2);
    // The takeback leads back to the start.
    fake.delta('game/5', {
      kind: 'game',
      delta: {
        removed: [1],
        nodes: [node(0, null, 0, '', { western: '' })],
        at: { cursor: 0, position: positionView(START, [legal('g1f3', 'Nf3')]), ...none },
        play: play({ status: 'your_turn' }),
      },
    });
    await expect.poll(() => premoves(page)).toBe(0);
    await page.locator('[data-cursor="0"]').waitFor();
    expect(moves()).toEqual([]);
    // Again, with a reply of the engine.
    fake.delta('game/5', {
      kind: 'game',
      delta: {
        nodes: [node(0, null, 0, '', { western: '' }, { children: [1] }), e4],
        at: { cursor: 1, position: positionView(AFTER_E4, [], { turn: 'second' }), ...none },
        play: play({ last_move_node: 1 }),
      },
    });
    await page.locator('[data-cursor="1"]').waitFor();
    await clickSquare(page, 'g1');
    await clickSquare(page, 'f3');
    await expect.poll(() => premoves(page)).toBe(2);
    fake.delta('game/5', {
      kind: 'game',
      delta: {
        nodes: [{ ...e4, children: [2] }, node(2, 1, 2, 'e7e5', { western: 'e5' })],
        at: { cursor: 2, position: positionView(AFTER_E5, [legal('g1f3', 'Nf3')]), ...none },
        play: play({ status: 'your_turn', last_move_node: 2 }),
      },
    });
    await expect.poll(moves).toEqual(['g1f3']);
    await page.context().close();
  });

  test('promotes a premoved pawn to a queen', async () => {
    const fake = defaultServer();
    const fen = '7k/1P4pp/8/8/8/8/6PP/6K1 b - - 1 1';
    open(fake, thinking({ position: positionView(fen, [legal('h7h6', 'h6')], { turn: 'second' }) }));
    const page = await fake.page(browser, '#/play/5');
    await clickSquare(page, 'b7');
    await clickSquare(page, 'b8');
    await expect.poll(() => premoves(page)).toBe(2);
    const promotions = ['b', 'n', 'q', 'r'].map((letter) =>
      legal(`b7b8${letter}`, `b8=${letter.toUpperCase()}+`),
    );
    fake.delta('game/5', {
      kind: 'game',
      delta: {
        nodes: [{ ...e4, children: [2] }, node(2, 1, 2, 'h7h6', { western: 'h6' })],
        at: { cursor: 2, position: positionView('7k/1P4p1/7p/8/8/8/6PP/6K1 w - - 0 2', promotions), ...none },
        play: play({ status: 'your_turn', last_move_node: 2 }),
      },
    });
    await expect
      .poll(() => fake.commands.flatMap((command) => (command.kind === 'move' ? [command.text] : [])))
      .toEqual(['b7b8q']);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.context().close();
  });
});

test.each(['en', 'ja'] as const)(
  'explains the failure of an engine and offers to continue (%s)',
  async (language) => {
    const text = language === 'en' ? en : ja;
    const fake = defaultServer();
    storePrefs(fake, { language });
    const failure = { side: 'second', error: { code: 'output_closed' } } as const;
    open(fake, thinking({ play: play({ last_move_node: 1, status: 'interrupted', failure }) }));
    const page = await fake.page(browser, '#/play/5');
    const alert = page.getByTestId('failure');
    const shown = await alert.textContent();
    expect(shown).toContain(text('play.failed', { engine: 'Stockfish' }));
    expect(shown).toContain(text('error.output_closed'));
    expect(await violations(page)).toEqual([]);
    const last = (): Command | undefined => fake.commands.findLast(({ kind }) => kind !== 'set_settings');
    await alert.getByRole('button', { name: text('play.failed.restart') }).click();
    await expect.poll(last).toEqual({ kind: 'resume', game: 5, from: null, players: null });
    await alert.getByLabel(text('play.failed.replace')).selectOption({ label: 'Narikin' });
    const { first, second } = play().players;
    await expect.poll(last).toEqual({
      kind: 'resume',
      game: 5,
      from: null,
      players: { first: first.player, second: { ...second.player, engine: 1 } },
    });
    await alert.getByRole('button', { name: text('play.failed.abort') }).click();
    await expect.poll(last).toEqual({ kind: 'abort', game: 5 });
    await page.context().close();
  },
);

test.each(['en', 'ja'] as const)(
  'hides the output of the opponent during a game unless the setting shows it (%s)',
  async (language) => {
    const text = language === 'en' ? en : ja;
    const fake = defaultServer();
    storePrefs(fake, { language });
    const evaluation = { score: { kind: 'cp', value: 41 } as const, depth: 20 };
    const nodes = [node(0, null, 0, '', { western: '' }, { children: [1] }), { ...e4, evaluation }];
    open(fake, thinking({ nodes }));
    const page = await fake.page(browser, '#/play/5');
    const bars = async () => (await page.locator('.bar .info').allTextContents()).join(' ');
    await page.locator('.moves .move').first().waitFor();
    expect(await bars()).not.toMatch(/\d/);
    expect(await page.locator('.moves small').count()).toBe(0);
    await page.goto(`${page.url().split('#')[0]}#/settings`);
    await page.getByLabel(text('settings.opponent_info')).check();
    await page.goBack();
    // From the view of the first side, as in the move list.
    await expect.poll(bars).toContain('−0.37');
    await expect.poll(() => page.locator('.moves small').textContent()).toBe('+0.41');
    await page.context().close();
  },
);

test.each(['en', 'ja'] as const)('shows a mating move without a sign (%s)', async (language) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  const mate = node(1, 0, 1, 'h2h4', { western: 'h4#' });
  const evaluation = { score: { kind: 'mated', plies: 0 } as const, depth: null };
  const nodes = [node(0, null, 0, '', { western: '' }, { children: [1] }), { ...mate, evaluation }];
  open(fake, game(5, 'chess', { nodes, cursor: 1 }));
  // An engine has announced the mate before its move.
  const before = { score: { kind: 'mate', plies: 1 } as const, depth: 20 };
  const outcome = { result: '1-0', termination: 'checkmate', detail: null } as const;
  const played = [node(0, null, 0, '', { western: '' }, { children: [1] }), { ...mate, evaluation: before }];
  open(fake, game(6, 'chess', { nodes: played, cursor: 1, outcome }));
  const page = await fake.page(browser, '#/analyse/5');
  await page.locator('.moves .move').first().waitFor();
  expect(await page.locator('.moves').textContent()).not.toContain('−#');
  expect(await page.locator('.evalbar').textContent()).not.toContain('−');
  await page.goto(`${page.url().split('#')[0]}#/analyse/6`);
  await page.getByText(text('termination.checkmate.chess')).first().waitFor();
  expect(await page.locator('.moves small').count()).toBe(0);
  await page.context().close();
});

test.each(['en', 'ja'] as const)('shows captured pieces next to the players (%s)', async (language) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  const fen = 'r1bqkbnr/pppp1ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 4';
  open(fake, game(5, 'chess', { position: positionView(fen, []) }));
  const page = await fake.page(browser, '#/analyse/5');
  const names = ['chess.knight', 'chess.pawn'] as const;
  const pieces = `${names.map((name) => `${text(name)} 1`).join(', ')}, +4`;
  const captured = page.getByTestId('captured');
  await expect.poll(() => captured.count()).toBe(1);
  await expect.poll(() => captured.getAttribute('aria-label')).toBe(text('play.captured', { pieces }));
  await expect.poll(() => captured.textContent()).toContain('+4');
  await page.context().close();
});

/** The luminance of a color by WCAG 2.2. */
const luminance = (color: string) => {
  const [r = 0, g = 0, b = 0] = [...color.matchAll(/[\d.]+/g)].map(([value]) => {
    const part = Number(value) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

// Black pieces are outlined in the color of texts. WCAG 1.4.11 requires a contrast of 3:1 for graphics.
test.each(['light', 'dark', 'contrast'] as const)(
  'shows captured black pieces in the %s theme',
  async (theme) => {
    const fake = defaultServer();
    storePrefs(fake, { theme });
    const fen = 'r1bqkbnr/pppp1ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 4';
    open(fake, game(5, 'chess', { position: positionView(fen, []) }));
    const page = await fake.page(browser, '#/analyse/5');
    const [under, outline] = await page
      .getByTestId('captured')
      .locator('i')
      .first()
      .evaluate((element) => {
        const around = /rgb\([^)]*\)/.exec(getComputedStyle(element).filter)?.[0] ?? '';
        for (let one: Element | null = element; one; one = one.parentElement) {
          const { backgroundColor } = getComputedStyle(one);
          if (!backgroundColor.startsWith('rgba')) return [backgroundColor, around] as const;
        }
        return ['', around] as const;
      });
    const contrast = (color: string) => {
      const [dark = 0, light = 0] = [luminance(color), luminance(under)].toSorted((a, b) => a - b);
      return (light + 0.05) / (dark + 0.05);
    };
    // The piece itself, or the outline around it.
    expect(Math.max(contrast('rgb(0, 0, 0)'), contrast(outline))).toBeGreaterThan(3);
    await page.context().close();
  },
);

test('shows the ratings of the players by the record', async () => {
  const fake = defaultServer();
  open(fake, game(5, 'chess', { ratings: { first: 2817, second: null } }));
  const page = await fake.page(browser, '#/analyse/5');
  const ratings = page.getByTestId('rating');
  await expect.poll(() => ratings.allTextContents()).toEqual(['2817']);
  const headers = [{ name: 'BlackElo', value: '2700' }];
  fake.delta('game/5', { kind: 'game', delta: { headers, ratings: { first: 2817, second: 2700 } } });
  // The second player is above the board.
  await expect.poll(() => ratings.allTextContents()).toEqual(['2700', '2817']);
  await page.context().close();
});

/** Records the sounds of a page: the number of tones started. */
async function recordTones(page: Page) {
  await page.addInitScript(() => {
    const count = { tones: 0 };
    Object.assign(window, { count });
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (...at) {
      count.tones += 1;
      start.apply(this, at);
    };
  });
  await page.reload();
  return () => page.evaluate(() => (window as unknown as { count: { tones: number } }).count.tones);
}

test.each(['en', 'ja'] as const)('plays sounds of moves until muted by one click (%s)', async (language) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  open(fake, thinking());
  const page = await fake.page(browser, '#/play/5');
  const tones = await recordTones(page);
  await page.locator('[data-cursor="1"]').waitFor();
  const mute = page.getByRole('button', { name: text('sound.mute') });
  await mute.waitFor();
  expect(await tones()).toBe(0);
  const reply = node(2, 1, 2, 'e7e5', { western: 'e5' });
  const replied = (cursor: number) =>
    fake.delta('game/5', {
      kind: 'game',
      delta: {
        nodes: [{ ...e4, children: [2] }, reply],
        at: { cursor, position: positionView(cursor === 2 ? AFTER_E5 : AFTER_E4, []), ...none },
      },
    });
  replied(2);
  await expect.poll(tones).toBe(2);
  // A step back is silent.
  replied(1);
  await page.locator('[data-cursor="1"]').waitFor();
  await mute.click();
  replied(2);
  await page.locator('[data-cursor="2"]').waitFor();
  await expect.poll(() => tones()).toBe(2);
  await expect.poll(() => mute.getAttribute('aria-pressed')).toBe('true');
  await page.context().close();
});

test.each([
  ['chess', 'en'],
  ['shogi', 'ja'],
] as const)('warns once when time is low (%s, %s)', async (variant, language) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  const shogi = variant === 'shogi';
  const clocks = (remaining: number): ClockState => ({
    remaining: { first: remaining, second: 60_000 },
    byoyomi: { first: 0, second: 0 },
    increment: { first: 0, second: 0 },
    moves_to_go: { first: null, second: null },
    running: 'first',
    sent_at: 0,
  });
  const state = (remaining: number) =>
    play({ status: 'your_turn', last_move_node: 0, clocks: clocks(remaining) });
  open(fake, game(5, variant, { position: positionView(shogi ? SHOGI : START, []), play: state(60_000) }));
  const page = await fake.page(browser, '#/play/5');
  const tones = await recordTones(page);
  await page.locator('.clock.running').waitFor();
  expect(await page.locator('.clock.low').count()).toBe(0);
  fake.delta('game/5', { kind: 'game', delta: { play: state(15_000) } });
  await page.locator('.clock.running.low').waitFor();
  await expect.poll(tones).toBe(3);
  const side = text(shogi ? 'side.sente' : 'side.white');
  await expect.poll(() => page.getByTestId('live').textContent()).toContain(text('play.low', { side }));
  fake.delta('game/5', { kind: 'game', delta: { play: state(14_000) } });
  await expect.poll(() => page.locator('.clock.running').textContent()).toContain('0:13');
  await expect.poll(() => tones()).toBe(3);
  await page.context().close();
});
