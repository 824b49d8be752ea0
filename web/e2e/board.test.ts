// The board by mouse, touch and keyboard, and the rendering of server states, with a fake server.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { Command, Play } from '../src/api/wire';
import { drag, errorsOf, sharedBrowser, middle, tap, violations, command } from './browser';
import {
  engine,
  defaultServer,
  game,
  positionView,
  storePrefs,
  analysis,
  legal,
  line,
  node,
  open,
  type FakeServer,
} from './fakeServer';
import { t, inLanguage, language, pieceLabel, squareLabel } from './labels';

const browser = await sharedBrowser();

const moves = (fake: FakeServer) =>
  fake.commands.flatMap((command) => (command.kind === 'move' ? [command.text] : []));
const edits = (fake: FakeServer) =>
  fake.commands.flatMap((command) => (command.kind === 'edit' ? [command.edit] : []));

async function click(page: Page, square: string) {
  const { x, y } = await middle(page, square);
  await page.mouse.click(x, y);
}

async function opened(fake: FakeServer, hash: string, options = {}): Promise<Page> {
  const page = await fake.page(browser, hash, options);
  await page.locator('[data-square]').first().waitFor({ state: 'attached' });
  return page;
}

test('moves by two clicks and by dragging', async () => {
  const fake = defaultServer();
  open(fake, game(1, 'chess'));
  const page = await opened(fake, '#/analyse/1');
  const errors = errorsOf(page);
  await click(page, 'e2');
  await click(page, 'e4');
  await expect.poll(() => moves(fake)).toEqual(['e2e4']);
  await page.reload();
  await page.locator('[data-square]').first().waitFor({ state: 'attached' });
  await drag(page, 'd2', 'd4');
  await expect.poll(() => moves(fake)).toEqual(['e2e4', 'd2d4']);
  expect(errors).toEqual([]);
  await page.context().close();
});

test.each([
  ['chess', 'r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3'],
  ['shogi', 'ln1g3nl/1ks1g2r1/1pppp1bpp/p4pp2/9/P1P1P1P2/1PBPSP1PP/2G2S1R1/LN1K1G1NL b - 31'],
] as const)('draws the pieces of %s on their squares in the first frame', async (variant, text) => {
  const fake = defaultServer();
  open(fake, game(1, variant));
  open(fake, game(2, variant, { position: positionView(text, []) }));
  const page = await opened(fake, '#/analyse/1');
  await page.addInitScript(() => {
    // After the first frame with pieces.
    const painted = new MessageChannel();
    painted.port1.addEventListener('message', () => {
      const squares = [...document.querySelectorAll('[role=grid] .inner [data-square]')].map((one) =>
        one.getBoundingClientRect(),
      );
      const far = [...document.querySelectorAll('cg-board piece, sg-pieces piece')].map((piece) => {
        const { x, y, width } = piece.getBoundingClientRect();
        return Math.min(
          ...squares.map((one) => Math.max(...[one.x - x, one.y - y, one.width - width].map(Math.abs))),
        );
      });
      Object.assign(window, { far });
    });
    painted.port1.start();
    const look = () => {
      if (document.querySelector('cg-board piece, sg-pieces piece')) painted.port2.postMessage('');
      else requestAnimationFrame(look);
    };
    look();
  });
  await page.goto('http://readyok.test/#/analyse/2');
  await page.reload();
  await page.waitForFunction(() => 'far' in window);
  const far = await page.evaluate(() => (window as unknown as { far: number[] }).far);
  expect(far.length).toBeGreaterThan(30);
  // The library rounds squares to whole pixels.
  expect(Math.max(...far)).toBeLessThan(8);
  await page.context().close();
});

test('moves by touch', async () => {
  const fake = defaultServer();
  open(fake, game(1, 'chess'));
  const page = await opened(fake, '#/analyse/1', { hasTouch: true, viewport: { width: 360, height: 740 } });
  for (const square of ['g1', 'f3']) await tap(page, square);
  await expect.poll(() => moves(fake)).toEqual(['g1f3']);
  await page.context().close();
});

test('castles by a click on the rook and on the target square', async () => {
  const castle = { ...legal('e1h1', 'O-O'), to: ['g1', 'h1'] };
  for (const to of ['g1', 'h1']) {
    const fake = defaultServer();
    open(
      fake,
      game(1, 'chess960', {
        position: positionView('4k3/8/8/8/8/8/8/4K2R w K - 0 1', [castle, legal('e1f1', 'Kf1')]),
      }),
    );
    const page = await opened(fake, '#/analyse/1');
    await click(page, 'e1');
    await click(page, to);
    await expect.poll(() => moves(fake)).toEqual(['e1h1']);
    await page.context().close();
  }
});

const human = {
  player: { kind: 'human', name: '', time: { kind: 'none' } },
  name: 'Me',
  info: null,
  pondering: null,
} as const;
const program: Play['players']['first'] = {
  player: {
    kind: 'engine',
    engine: 1,
    time: { kind: 'none' },
    limits: { depth: null, nodes: null, time: null, mate: null },
    ponder: false,
    strength: null,
    options: {},
  },
  name: 'Narikin',
  info: null,
  pondering: null,
};

/** A new game without clocks. */
const playing = (status: Play['status'], players: Play['players']): Play => ({
  status,
  players,
  failure: null,
  last_move_node: 0,
  clocks: null,
  draw_offer: null,
  claim: null,
  hint: null,
  rematch: null,
});

test('plays a premove on the own turn', async () => {
  const fake = defaultServer();
  const play = playing('searching', { first: program, second: human });
  open(fake, game(1, 'chess', { play }));
  const page = await opened(fake, '#/play/1');
  await click(page, 'e7');
  await click(page, 'e5');
  await page.locator('square.current-premove').first().waitFor({ state: 'attached' });
  expect(moves(fake)).toEqual([]);
  fake.delta('game/1', {
    kind: 'game',
    delta: {
      nodes: [
        node(0, null, 0, '', { western: '' }, { children: [1] }),
        node(1, 0, 1, 'd2d4', { western: 'd4' }),
      ],
      at: {
        cursor: 1,
        opening: null,
        position: positionView(
          'rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1',
          [legal('e7e5', 'e5'), legal('e7e6', 'e6')],
          {
            turn: 'second',
            last: { from: 'd2', to: 'd4' },
          },
        ),
      },
      play: { ...play, status: 'your_turn', last_move_node: 1 },
    },
  });
  await expect.poll(() => moves(fake)).toEqual(['e7e5']);
  await page.context().close();
});

test('shows no line of another position', async () => {
  const fake = defaultServer();
  const nodes = [
    node(0, null, 0, '', { western: '' }, { children: [1] }),
    node(1, 0, 1, 'e2e4', { western: 'e4' }),
  ];
  open(fake, game(1, 'chess', { nodes }), [analysis(0, [line(1, 25, [['d2d4', 'd4']])])]);
  const page = await opened(fake, '#/analyse/1');
  await page.getByTestId('line').first().waitFor();
  fake.delta('game/1', {
    kind: 'game',
    delta: {
      at: {
        cursor: 1,
        opening: null,
        position: positionView('rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1', [], {
          turn: 'second',
        }),
      },
    },
  });
  await expect.poll(() => page.getByTestId('line').count()).toBe(0);
  fake.delta('analysis/1', {
    kind: 'analysis',
    delta: { engines: [analysis(1, [line(1, -30, [['c7c5', 'c5']])])], removed: [] },
  });
  await page.getByTestId('line').first().waitFor();
  // From White, regardless of the side to move.
  await expect.poll(() => page.getByTestId('line').first().textContent()).toContain('+0.30');
  await page.context().close();
});

test('shows several lines with the same first move, and later updates', async () => {
  const fake = defaultServer();
  open(fake, game(1, 'chess'), [
    analysis(0, [
      line(1, 25, [['e2e4', 'e4']]),
      line(2, 25, [['e2e4', 'e4']]),
      line(3, 25, [['e2e4', 'e4']]),
    ]),
  ]);
  const page = await opened(fake, '#/analyse/1');
  await expect.poll(() => page.getByTestId('line').count()).toBe(3);
  await page.getByRole('button', { name: t('panel.more') }).click();
  await expect.poll(() => fake.commands.some((command) => command.kind === 'analyse')).toBe(true);
  await page.context().close();
});

test('steps from the requested position before the server confirms it', async () => {
  const fake = defaultServer();
  const nodes = [0, 1, 2, 3, 4].map((id) =>
    node(id, id === 0 ? null : id - 1, id, 'x', { western: `m${id}` }, { children: id < 4 ? [id + 1] : [] }),
  );
  open(fake, game(1, 'chess', { nodes }));
  const page = await opened(fake, '#/analyse/1');
  // The server does not respond.
  for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight');
  await expect
    .poll(() => fake.commands.flatMap((command) => (command.kind === 'go_to' ? [command.node] : [])))
    .toEqual([1, 2, 3]);
  await page.context().close();
});

test('shows markup in texts as plain text', async () => {
  const fake = defaultServer();
  const bad = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>';
  const nodes = [
    node(0, null, 0, '', { western: '' }, { children: [1] }),
    node(1, 0, 1, 'e2e4', { western: bad }, { comments: [bad] }),
  ];
  fake.topics.set('engines', {
    kind: 'engines',
    state: {
      engines: [
        engine(1, bad, {
          error: { code: 'system', text: bad },
          options: [
            {
              name: bad,
              kind: { kind: 'string', default: bad, directories: false },
              labels: { en: bad },
              help: { en: bad },
              set_by_server: false,
            },
          ],
        }),
      ],
      processes: [],
      machine: { cores: 1, memory: null, system: 'linux', distributions: [] },
      search: null,
    },
  });
  const hostile = analysis(0, [line(1, 1, [['a', bad]])]);
  hostile.info.text = bad;
  open(fake, game(1, 'chess', { nodes, headers: [{ name: bad, value: bad }] }), [hostile]);
  const page = await opened(fake, '#/analyse/1');
  await page.getByText(bad, { exact: false }).first().waitFor();
  await command(page, t('menu.more'), t('tab.record'));
  await page.goto('http://readyok.test/#/engines');
  await page.getByRole('button', { name: t('engine.options'), exact: true }).click();
  await page.getByRole('dialog').waitFor();
  expect(await page.evaluate(() => (window as unknown as { hurt?: number }).hurt)).toBeUndefined();
  expect(await page.locator('img, body script').count()).toBe(0);
  await page.context().close();
});

test('reconnects and shows the new state', async () => {
  const fake = defaultServer();
  open(fake, game(1, 'chess'));
  const page = await opened(fake, '#/analyse/1');
  open(fake, game(1, 'chess', { headers: [{ name: 'White', value: 'Returned' }] }));
  fake.drop();
  await page.getByText('Returned').first().waitFor();
  await page.context().close();
});

const places = [
  '#/play/0/new',
  '#/play/2',
  '#/analyse/1',
  '#/engines',
  '#/engines/7/log',
  '#/matches',
  '#/training',
  '#/library',
  '#/settings',
];

test.each(['light', 'dark', 'contrast'] as const)('axe finds no violation in the %s theme', async (theme) => {
  const fake = defaultServer();
  storePrefs(fake, { theme });
  const nodes = [
    node(0, null, 0, '', { western: '' }, { children: [1, 2] }),
    node(1, 0, 1, 'e2e4', { western: 'e4' }, { nags: [1], comments: ['Best by test.'] }),
    node(2, 0, 1, 'd2d4', { western: 'd4' }),
  ];
  open(fake, game(1, 'chess', { nodes }), [analysis(0, [line(1, 25, [['d2d4', 'd4']])])]);
  open(fake, game(2, 'shogi', { play: playing('your_turn', { first: human, second: program }) }));
  // Animated colors would disturb the contrast check.
  const page = await fake.page(browser, '', { reducedMotion: 'reduce' });
  const errors = errorsOf(page);
  for (const place of places) {
    await page.goto(`http://readyok.test/${place}`);
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme);
    expect(await violations(page), place).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), place).toBe(true);
  }
  expect(errors).toEqual([]);
  await page.context().close();
});

test('fits a narrow screen in Japanese', async () => {
  const fake = defaultServer();
  open(fake, game(1, 'chess'), [analysis(0, [line(1, 25, [['d2d4', 'd4']])])]);
  open(fake, game(2, 'shogi'));
  const page = await fake.page(browser, '', {
    viewport: { width: 360, height: 740 },
    locale: 'ja-JP',
    reducedMotion: 'reduce',
  });
  for (const place of places) {
    await page.goto(`http://readyok.test/${place}`);
    await page.locator('h1').first().waitFor({ state: 'attached' });
    const wide = await page.evaluate(() => {
      const main = document.querySelector('main');
      return main ? main.scrollWidth - main.clientWidth : 0;
    });
    expect(wide, place).toBeLessThanOrEqual(0);
    await expect.poll(() => page.evaluate(() => document.documentElement.lang)).toBe('ja');
  }
  await page.context().close();
});

test('scales the board with the screen', async () => {
  const fake = defaultServer();
  open(fake, game(1, 'chess'));
  open(fake, game(2, 'shogi'));
  const page = await fake.page(browser, '', { reducedMotion: 'reduce' });
  // With the hands, a shogi board is a third higher than wide.
  for (const [width, height, chess, shogi] of [
    [1280, 800, 550, 420],
    [1024, 600, 400, 275],
    [901, 700, 360, 325],
    [640, 400, 265, 240],
    // Moves are visible, too.
    [360, 740, 315, 250],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const [id, least] of [
      [1, chess],
      [2, shogi],
    ] as const) {
      await page.goto(`http://readyok.test/#/analyse/${id}`);
      const box = async (place: string) => {
        const found = await page.locator(place).boundingBox();
        return found ?? { x: 0, y: 0, width: 0, height: 0 };
      };
      const place = `${id} at ${width} × ${height}`;
      await page.locator('.board .square').waitFor();
      await expect
        .poll(() => box('.board .square').then((it) => it.width), { message: place })
        .toBeGreaterThan(least);
      const board = await box('.board .square');
      expect(board.y + board.height, place).toBeLessThanOrEqual(id === 1 ? height : height * 1.2);
      // The toolbar is one row, which is visible in windows that need no scrolling.
      const bar = await box('.tool');
      expect(bar.height, place).toBe(width > 720 ? 40 : 48);
      if (height > 500) expect(bar.y + bar.height, place).toBeLessThanOrEqual(height);
      if (width > 720) expect((await box('#entry')).width, place).toBeGreaterThan(90);
    }
  }
  await page.context().close();
});

test.each([1, 1.25, 2])(
  'the squares that are seen are those that are pointed at: %d',
  async (deviceScaleFactor) => {
    const fake = defaultServer();
    open(fake, game(1, 'chess'));
    const page = await fake.page(browser, '#/analyse/1', { deviceScaleFactor });
    for (const width of [1366, 1364, 1001, 363]) {
      await page.setViewportSize({ width, height: 768 });
      const far = () =>
        page.evaluate(() => {
          const [seen, pointed] = ['cg-board', '.board .square'].map((place) =>
            document.querySelector(place)?.getBoundingClientRect(),
          );
          return Math.abs((seen?.width ?? 0) - (pointed?.width ?? 99));
        });
      await expect.poll(far, { message: `${width}` }).toBeLessThan(0.1);
    }
    await page.context().close();
  },
);

test('arrow keys step through the game after a click on a tab, and through tabs after keyboard focus', async () => {
  const fake = defaultServer();
  const nodes = [
    node(0, null, 0, '', { western: '' }, { children: [1] }),
    node(1, 0, 1, 'e2e4', { western: 'e4' }),
  ];
  open(fake, game(1, 'chess', { nodes }));
  const page = await opened(fake, '#/analyse/1');
  // With room for one pane.
  await page.setViewportSize({ width: 1000, height: 800 });
  const tab = (name: string) => page.getByRole('tab', { name });
  await tab(t('tab.report')).click();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => fake.commands.filter((command) => command.kind === 'go_to').length).toBe(1);
  await expect.poll(() => tab(t('tab.report')).getAttribute('aria-selected')).toBe('true');
  await tab(t('tab.report')).focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => tab(t('tab.moves')).getAttribute('aria-selected')).toBe('true');
  await page.context().close();
});

test('shows the clocks of a record at each move', async () => {
  const fake = defaultServer();
  const nodes = [
    node(0, null, 0, '', { western: '' }, { children: [1] }),
    node(1, 0, 1, 'e2e4', { western: 'e4' }, { children: [2], clock: 178_000 }),
    node(2, 1, 2, 'e7e5', { western: 'e5' }, { clock: 165_000 }),
  ];
  const headers = [{ name: 'TimeControl', value: '180+2' }];
  const clocks = async (page: Page) =>
    (await page.getByRole('timer').allTextContents()).map((text) => text.trim());
  for (const [cursor, shown] of [
    [0, ['3:00', '3:00']],
    [1, ['3:00', '2:58']],
    [2, ['2:45', '2:58']],
  ] as const) {
    open(fake, game(1, 'chess', { nodes, headers, cursor }));
    const page = await opened(fake, '#/analyse/1');
    // Black is at the top.
    await expect.poll(() => clocks(page)).toEqual(shown);
    await page.context().close();
  }
});

test('draws unknown evaluations as equal', async () => {
  const fake = defaultServer();
  const judged = (id: number, value: number | null) =>
    node(
      id,
      id === 0 ? null : id - 1,
      id,
      id === 0 ? '' : 'e2e4',
      { western: 'e4' },
      {
        children: id < 4 ? [id + 1] : [],
        evaluation: value === null ? null : { score: { kind: 'cp', value }, depth: 9 },
      },
    );
  const nodes = [null, null, null, 20, -40].map((value, id) => judged(id, value));
  open(fake, game(1, 'chess', { nodes }));
  open(fake, game(2, 'chess', { nodes: nodes.map((one) => (one.id === 4 ? judged(4, null) : one)) }));
  const page = await opened(fake, '#/analyse/1');
  const graph = page.getByRole('slider', { name: t('report.graph') });
  // From the third of four plies to the last one.
  const shares = () =>
    graph.evaluate((chart) => {
      const box = chart.querySelector('.ground')?.getBoundingClientRect();
      const axis = chart.querySelector('.guide')?.getBoundingClientRect();
      return box && axis
        ? [(box.x - axis.x) / axis.width, box.width / axis.width].map((share) => share.toFixed(2))
        : [];
    });
  await expect.poll(shares).toEqual(['0.75', '0.25']);
  await page.goto('http://readyok.test/#/analyse/2');
  await expect.poll(() => graph.count()).toBe(0);
  await page.context().close();
});

inLanguage('en', () => {
  test('reverts a rejected move and shows the reason', async () => {
    const fake = defaultServer();
    open(fake, game(1, 'chess'));
    fake.answer = (command) =>
      command.kind === 'move'
        ? {
            category: 'illegal_move',
            error: { code: 'king_in_check', context: { move: 'e2e4' } },
          }
        : { kind: 'done' };
    const page = await opened(fake, '#/analyse/1');
    await click(page, 'e2');
    await click(page, 'e4');
    await page.getByText(t('error.king_in_check.chess')).first().waitFor();
    await expect.poll(() => page.locator('cg-board piece.white.pawn').count()).toBe(8);
    await page.context().close();
  });

  test('asks for the promotion piece and can be canceled', async () => {
    const fake = defaultServer();
    const all = ['q', 'r', 'b', 'n'].map((letter) => legal(`b7b8${letter}`, `b8=${letter.toUpperCase()}`));
    open(fake, game(1, 'chess', { position: positionView('4k3/1P6/8/8/8/8/8/4K3 w - - 0 1', all) }));
    const page = await opened(fake, '#/analyse/1');
    const knight = page.getByRole('button', { name: pieceLabel('side.white', 'chess.knight') });
    await click(page, 'b7');
    await click(page, 'b8');
    // The board reports moves shortly after the mouse event.
    await knight.waitFor();
    await page.keyboard.press('Escape');
    await knight.waitFor({ state: 'detached' });
    expect(moves(fake)).toEqual([]);
    await click(page, 'b7');
    await click(page, 'b8');
    await knight.click();
    await expect.poll(() => moves(fake)).toEqual(['b7b8n']);
    await page.context().close();
  });

  test('shogi: asks for promotion and drops a piece', async () => {
    const fake = defaultServer();
    const list = [
      legal('8h2b', 'Bx2b=', '▲２二角不成'),
      legal('8h2b+', 'Bx2b+', '▲２二角成'),
      legal('P*5e', "P'5e", '▲５五歩'),
    ];
    open(
      fake,
      game(1, 'shogi', {
        position: positionView('lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b P 3', list),
      }),
    );
    const page = await opened(fake, '#/analyse/1');
    await click(page, '8h');
    await click(page, '2b');
    await page.getByRole('button', { name: pieceLabel('side.sente', 'shogi.horse') }).click();
    await expect.poll(() => moves(fake)).toEqual(['8h2b+']);
    await page.reload();
    await page.locator('[data-square]').first().waitFor({ state: 'attached' });
    await click(page, 'first:P');
    await click(page, '5e');
    await expect.poll(() => moves(fake)).toEqual(['8h2b+', 'P*5e']);
    await page.context().close();
  });

  test.each(['chess', 'shogi'] as const)(
    'plays %s by keyboard alone, with labels of all squares',
    async (variant) => {
      const fake = defaultServer();
      open(fake, game(1, variant));
      const page = await opened(fake, '#/analyse/1');
      const [from, label] =
        variant === 'chess'
          ? ['e2', squareLabel('e2', pieceLabel('side.white', 'chess.pawn'))]
          : ['7g', squareLabel('7g', pieceLabel('side.sente', 'shogi.pawn'))];
      await page.keyboard.press('b');
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-square'));
      await expect.poll(focused).toBeTruthy();
      for (let steps = 0; steps < 40 && (await focused()) !== from; steps++) {
        const now = (await focused()) ?? '';
        const column =
          variant === 'chess' ? now.charCodeAt(0) - from.charCodeAt(0) : Number(from[0]) - Number(now[0]);
        const row =
          variant === 'chess' ? Number(now[1]) - Number(from[1]) : from.charCodeAt(1) - now.charCodeAt(1);
        await page.keyboard.press(
          column > 0 ? 'ArrowLeft' : column < 0 ? 'ArrowRight' : row > 0 ? 'ArrowDown' : 'ArrowUp',
        );
        await page.waitForFunction((old) => document.activeElement?.getAttribute('data-square') !== old, now);
      }
      const name = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
      await expect.poll(() => name()).toContain(label);
      await page.keyboard.press('Enter');
      await page.locator(`[data-square="${from}"][aria-selected="true"]`).waitFor({ state: 'attached' });
      if (variant === 'chess') {
        await page.keyboard.press('ArrowUp');
        await expect.poll(focused).toBe('e3');
      }
      await page.keyboard.press('ArrowUp');
      await expect.poll(name).toContain(t('board.reachable'));
      await page.keyboard.press('Enter');
      await expect.poll(() => moves(fake)).toEqual([variant === 'chess' ? 'e2e4' : '7g7f']);
      await page.context().close();
    },
  );

  test('accepts a move as text and announces it', async () => {
    const fake = defaultServer();
    open(fake, game(1, 'shogi'));
    const page = await opened(fake, '#/analyse/1');
    await page.keyboard.press('m');
    await page.keyboard.type('７六歩');
    await page.keyboard.press('Enter');
    await expect.poll(() => moves(fake)).toEqual(['７六歩']);
    fake.delta('game/1', {
      kind: 'game',
      delta: {
        nodes: [
          node(0, null, 0, '', { western: '' }, { children: [1] }),
          node(1, 0, 1, '7g7f', { western: 'P-7f', japanese: '▲７六歩' }),
        ],
        at: {
          cursor: 1,
          opening: null,
          position: positionView('lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2', [], {
            turn: 'second',
            last: { from: '7g', to: '7f' },
          }),
        },
      },
    });
    await expect
      .poll(() => page.getByTestId('live').textContent())
      .toContain(
        t('announce.move', { side: t('side.sente'), move: language() === 'ja' ? '▲７六歩' : 'P-7f' }),
      );
    await page.context().close();
  });

  test('keeps selection, drag and promotion dialog while the engine thinks', async () => {
    const fake = defaultServer();
    storePrefs(fake, { opponentInfo: 'true' });
    const all = ['q', 'n'].map((letter) => legal(`b7b8${letter}`, `b8=${letter.toUpperCase()}`));
    const play = playing('your_turn', { first: human, second: program });
    open(fake, game(1, 'chess', { play, position: positionView('4k3/1P6/8/8/8/8/8/4K3 w - - 0 1', all) }));
    const page = await opened(fake, '#/play/1');
    const thinks = async (depth: number) => {
      const info = { node: null, depth, score: null, nodes: null, nps: null, time: null, pv: [] };
      const players = { first: human, second: { ...program, info } };
      fake.delta('game/1', { kind: 'game', delta: { play: { ...play, players } } });
      await page.getByText(`${t('panel.depth')} ${depth}`).waitFor();
    };
    await click(page, 'b7');
    await page.locator('square.selected').waitFor({ state: 'attached' });
    await thinks(7);
    await expect.poll(() => page.locator('square.selected').count()).toBe(1);
    await click(page, 'b8');
    const knight = page.getByRole('button', { name: pieceLabel('side.white', 'chess.knight') });
    await knight.waitFor();
    await thinks(8);
    await knight.click();
    await expect.poll(() => moves(fake)).toEqual(['b7b8n']);
    await page.context().close();
  });

  test('sets options for one game and restores them in the form', async () => {
    const fake = defaultServer();
    const option = (name: string, kind: object, more = {}) =>
      ({ name, kind, labels: {}, help: {}, set_by_server: false, ...more }) as never;
    const options = [
      option('Hash', { kind: 'spin', default: 16, min: 1, max: 1024 }),
      option('OwnBook', { kind: 'check', default: false }),
      option('Clear Hash', { kind: 'button' }),
      option('MultiPV', { kind: 'spin', default: 1, min: 1, max: 20 }, { set_by_server: true }),
    ];
    const presets = [{ name: 'Bookish', values: { OwnBook: 'true' } }];
    fake.topics.set('engines', {
      kind: 'engines',
      state: {
        engines: [
          engine(1, 'Narikin', { options, presets, values: { Hash: '32' }, play_values: { Hash: '48' } }),
        ],
        processes: [],
        machine: { cores: 1, memory: null, system: 'linux', distributions: [] },
        search: null,
      },
    });
    const page = await fake.page(browser, '#/play/0/new');
    const errors = errorsOf(page);
    const choose = () => page.getByRole('button', { name: t('new.options') }).click();
    await page.locator('main').getByText(t('new.more'), { exact: true }).click();
    await choose();
    const dialog = page.getByRole('dialog', { name: t('new.options.of', { engine: 'Narikin' }) });
    // Options managed by the server are not listed.
    await expect.poll(() => dialog.locator('[data-option]').count()).toBe(2);
    const hash = dialog.getByLabel('Hash', { exact: true });
    await expect.poll(() => hash.inputValue()).toBe('48');
    await hash.fill('64');
    await hash.blur();
    await dialog.getByLabel(t('options.presets')).selectOption('Bookish');
    await expect.poll(() => dialog.getByLabel('OwnBook').isChecked()).toBe(true);
    expect(await violations(page)).toEqual([]);
    await dialog
      .getByRole('button', { name: t('app.close') })
      .last()
      .click();
    await dialog.waitFor({ state: 'detached' });
    const given = () =>
      fake.commands.flatMap((command) => {
        const other = command.kind === 'new_game' ? command.game.players?.second : undefined;
        return other?.kind === 'engine' ? [other.options] : [];
      });
    await page.getByRole('button', { name: t('new.begin'), exact: true }).click();
    await expect.poll(given).toEqual([{ Hash: '64', OwnBook: 'true' }]);
    // The stored options are unchanged.
    expect(fake.commands.some((command) => command.kind === 'set_options')).toBe(false);
    await page.reload();
    // Advanced settings in use are visible.
    await choose();
    await expect.poll(() => hash.inputValue()).toBe('64');
    await dialog.getByRole('button', { name: t('options.reset') }).click();
    await expect.poll(() => hash.inputValue()).toBe('48');
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test.each([
    ['chess', 'e2', 'e4'],
    ['shogi', '7g', '3c'],
  ] as const)(
    'draws arrows and circles with the right button on a board of %s',
    async (variant, one, other) => {
      const fake = defaultServer();
      open(fake, game(1, variant));
      const page = await opened(fake, '#/analyse/1');
      const draw = async (to: string) => {
        const [start, end] = [await middle(page, one), await middle(page, to)];
        await page.mouse.move(start.x, start.y);
        await page.mouse.down({ button: 'right' });
        await page.mouse.move(end.x, end.y, { steps: 3 });
        await page.mouse.up({ button: 'right' });
      };
      const arrow = { kind: 'marks', node: 0, marks: [{ from: one, to: other, color: 'green' }] };
      await draw(other);
      await expect.poll(() => edits(fake)).toEqual([arrow]);
      // Arrows stay on their squares on a flipped board.
      await page.getByRole('button', { name: t('board.flip') }).click();
      await draw(other);
      await page.keyboard.down('Shift');
      await draw(one);
      const circle = { kind: 'marks', node: 0, marks: [{ from: one, to: null, color: 'red' }] };
      await expect.poll(() => edits(fake)).toEqual([arrow, arrow, circle]);
      expect(moves(fake)).toEqual([]);
      await page.context().close();
    },
  );

  test('changes the number of lines and inserts a line', async () => {
    const fake = defaultServer();
    open(fake, game(1, 'chess'), [
      analysis(0, [
        line(1, 25, [
          ['d2d4', 'd4'],
          ['d7d5', 'd5'],
        ]),
      ]),
    ]);
    const page = await opened(fake, '#/analyse/1');
    await page.getByRole('button', { name: t('panel.more') }).click();
    await expect
      .poll(
        () =>
          fake.commands.findLast(
            (command): command is Command & { kind: 'analyse' } => command.kind === 'analyse',
          )?.settings.lines,
      )
      .toBe(4);
    await page.getByTestId('line').getByRole('button', { name: 'd5' }).click();
    await expect
      .poll(() => edits(fake))
      .toEqual([
        {
          kind: 'insert',
          node: 0,
          moves: ['d2d4', 'd7d5'],
          evaluation: { score: { kind: 'cp', value: 25 }, depth: 24 },
        },
      ]);
    await page.context().close();
  });

  test('sets each type of engine option', async () => {
    const fake = defaultServer();
    const option = (name: string, kind: object) =>
      ({ name, kind, labels: {}, help: {}, set_by_server: false }) as never;
    fake.topics.set('engines', {
      kind: 'engines',
      state: {
        engines: [
          engine(1, 'Narikin', {
            options: [
              option('Hash', { kind: 'spin', default: 16, min: 1, max: 1024 }),
              option('OwnBook', { kind: 'check', default: false }),
              option('Style', {
                kind: 'combo',
                default: 'Normal',
                choices: [
                  { value: 'Solid', labels: {} },
                  { value: 'Normal', labels: {} },
                ],
              }),
              option('Clear Hash', { kind: 'button' }),
              option('Book File', { kind: 'filename', default: '<empty>' }),
            ],
          }),
        ],
        processes: [],
        machine: { cores: 1, memory: null, system: 'linux', distributions: [] },
        search: null,
      },
    });
    const page = await fake.page(browser, '#/engines');
    await page.getByRole('button', { name: t('engine.options'), exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Hash', { exact: true }).fill('64');
    await dialog.getByLabel('Hash', { exact: true }).blur();
    await dialog.getByLabel('OwnBook').check();
    await dialog.getByLabel('Style').selectOption('Solid');
    await dialog.getByRole('button', { name: 'Clear Hash' }).click();
    await expect
      .poll(() =>
        fake.commands.map((command) => (command.kind === 'set_options' ? command.values : command.kind)),
      )
      .toEqual([{ Hash: '64' }, { OwnBook: 'true' }, { Style: 'Solid' }, 'press_button']);
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('searchbox').fill('book');
    await expect.poll(() => dialog.locator('[data-option]').count()).toBe(2);
    await page.context().close();
  });

  test('edits a position and shows its validation', async () => {
    const fake = defaultServer();
    open(fake, game(1, 'shogi'));
    const page = await opened(fake, '#/analyse/1');
    await page.getByRole('button', { name: t('editor.title') }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByTestId('verdict')
      .getByText(t('error.opponent_in_check.chess', { square: 'e8' }))
      .waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: t('editor.empty'), exact: true }).click();
    await dialog.getByRole('button', { name: pieceLabel('side.sente', 'shogi.tokin'), exact: true }).click();
    await dialog.getByRole('button', { name: squareLabel('5e') }).click();
    await dialog
      .getByRole('button', {
        name: t('board.hand', { piece: pieceLabel('side.sente', 'shogi.gold'), count: 0 }),
      })
      .click();
    await expect.poll(() => dialog.getByLabel('SFEN').inputValue()).toBe('4k4/9/9/9/4+P4/9/9/9/4K4 b G 1');
    await page.context().close();
  });

  test('shows all shortcuts on each page', async () => {
    const fake = defaultServer();
    open(fake, game(1, 'chess'));
    const page = await fake.page(browser, '#/settings');
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: t('keys.title') });
    for (const place of [t('keys.global'), t('keys.game'), t('keys.play')]) {
      await dialog.getByRole('heading', { name: place }).waitFor();
    }
    for (const one of [
      `2 ${t('nav.play')}`,
      `T ${t('play.takeback')}`,
      `↑ Home ${t('step.first')}`,
      `F ${t('board.flip')}`,
    ]) {
      await dialog.getByRole('row', { name: one }).waitFor();
    }
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.context().close();
  });

  test('ends the selection of search moves with a change of game or page', async () => {
    const fake = defaultServer();
    open(fake, game(1, 'chess'), [analysis(0, [])]);
    open(fake, game(2, 'chess'), [analysis(0, [])]);
    open(fake, game(3, 'chess'), [analysis(0, [])]);
    const page = await opened(fake, '#/analyse/1');
    const settings = page.getByRole('button', { name: t('panel.settings') });
    await settings.click();
    const only = page.getByRole('button', { name: t('panel.restrict') });
    await only.click();
    await expect.poll(() => only.getAttribute('aria-pressed')).toBe('true');
    // Closing the settings ends the selection.
    await settings.click();
    await settings.click();
    await expect.poll(() => only.getAttribute('aria-pressed')).toBe('false');
    await only.click();
    await page.goto('http://readyok.test/#/analyse/2');
    const chooses = async () => {
      if (!(await only.isVisible())) await settings.click();
      return only.getAttribute('aria-pressed', { timeout: 1000 }).catch(() => null);
    };
    await expect.poll(chooses).toBe('false');
    await click(page, 'e2');
    await click(page, 'e4');
    await expect.poll(() => moves(fake)).toEqual(['e2e4']);
    // Neither on the page Play.
    await page.goto('http://readyok.test/#/analyse/3');
    await expect.poll(chooses).toBe('false');
    await only.click();
    await page.goto('http://readyok.test/#/play/3');
    await page.getByRole('button', { name: t('new.from') }).waitFor();
    await click(page, 'd2');
    await click(page, 'd4');
    await expect.poll(() => moves(fake)).toEqual(['e2e4', 'd2d4']);
    await page.context().close();
  });
});
