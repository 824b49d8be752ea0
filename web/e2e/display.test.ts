// Logs, boards, dialogs and matches with a fake server.
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import type {
  CurvePoint,
  Directory,
  EngineOption,
  MatchGame,
  MatchPlan,
  MatchState,
  ProcessState,
  QueueMatch,
  QueueOverview,
  SprtStatus,
} from '../src/api/wire';
import { sharedBrowser, middle, violations, showReport, command, showPane, toolbarCommand } from './browser';
import {
  engine,
  defaultServer,
  game,
  positionView,
  storePrefs,
  analysis,
  legal,
  line,
  open,
  type FakeServer,
} from './fakeServer';
import { conditions, fullServer, progress } from './everything';
import { en, starts } from './labels';

const browser = await sharedBrowser();

test('searches the log and filters it by source and violations', async () => {
  const fake = defaultServer();
  const page = await fake.page(browser, '#/engines/7/log');
  const region = page.getByRole('region', { name: en('log.region') });
  const lines = () => region.locator('.line .text').allTextContents();
  const all = ['uci', 'uciok', 'isready', 'out of thoughts', 'bestmove e7e5', 'info depth x'];
  await expect.poll(lines).toEqual(all);
  const search = page.getByLabel(en('log.search'));
  await search.fill('UCI');
  await expect.poll(lines).toEqual(['uci', 'uciok']);
  const by = page.getByLabel(en('log.source'), { exact: true });
  await by.selectOption('engine');
  await expect.poll(lines).toEqual(['uciok']);
  await search.fill('');
  await expect.poll(lines).toEqual(['uciok', 'bestmove e7e5', 'info depth x']);
  await page.getByLabel('info', { exact: true }).uncheck();
  await expect.poll(lines).toEqual(['uciok', 'bestmove e7e5']);
  await page.getByLabel('info', { exact: true }).check();
  await by.selectOption('client');
  await expect.poll(lines).toEqual(['uci', 'isready']);
  await by.selectOption('stderr');
  await expect.poll(lines).toEqual(['out of thoughts']);
  await by.selectOption('breaches');
  await expect.poll(lines).toEqual(['bestmove e7e5', 'info depth x']);
  // With the clause and the marked span.
  await expect.poll(() => region.locator('code').first().textContent()).toBe('uci: bestmove');
  await expect.poll(() => region.locator('.text .bad').allTextContents()).toEqual(['x']);
  // Repeated violations of successive lines are explained once.
  const reasons = () =>
    region.locator('.line').evaluateAll((all) => all.map((it) => it.querySelectorAll('.why').length));
  await expect.poll(() => reasons()).toEqual([1, 0]);
  // New lines are filtered too.
  fake.delta('log/7', {
    kind: 'log',
    delta: {
      lines: [
        { number: 7, at: 0, by: 'engine', text: 'readyok', breaches: [] },
        {
          number: 8,
          at: 0,
          by: 'engine',
          text: 'bestmove a7a6',
          breaches: [
            {
              serious: true,
              english: { text: 'unsolicited bestmove', clause: 'uci: bestmove' },
              japanese: { text: '求められていないbestmove', clause: 'uci: bestmove' },
              span: null,
            },
          ],
        },
      ],
      skipped: 0,
      total: 8,
    },
  });
  await expect.poll(lines).toEqual(['bestmove e7e5', 'info depth x', 'bestmove a7a6']);
  await by.selectOption('all');
  await expect.poll(reasons).toEqual([0, 0, 0, 0, 1, 0, 0, 1]);
  await page.context().close();
});

test('enters the time of a match in minutes and seconds, and no limit as an empty field', async () => {
  const fake = defaultServer();
  const page = await fake.page(browser, '#/matches');
  await page.getByRole('button', { name: en('match.new') }).click();
  await expect.poll(() => page.getByLabel(en('match.engine', { number: 2 })).count()).toBe(1);
  await page.getByLabel(en('time.base'), { exact: true }).fill('1');
  await page.getByLabel(en('time.base_seconds')).fill('10.5');
  const depth = page.getByLabel(en('time.depth'));
  expect([await depth.inputValue(), await depth.getAttribute('placeholder')]).toEqual([
    '',
    en('time.no_limit'),
  ]);
  await depth.fill('9');
  await depth.fill('');
  await page.getByRole('button', { name: en('match.start'), exact: true }).click();
  const plan = () => JSON.stringify(fake.commands.find(({ kind }) => kind === 'start_match') ?? null);
  await expect.poll(plan).toContain('"base":70500');
  expect(plan()).toContain('"depth":null');
  await page.context().close();
});

/** The highlighted squares with their colors. */
const marked = (page: Page, mark: string) =>
  page.evaluate(
    (selector) =>
      [...document.querySelectorAll(selector)]
        .filter((element) => element.checkVisibility())
        .map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          const { backgroundColor, backgroundImage } = getComputedStyle(element);
          if (backgroundImage === 'none' && backgroundColor === 'rgba(0, 0, 0, 0)') return 'nothing';
          const under = [...document.querySelectorAll<HTMLElement>('[data-square]')].find((square) => {
            const box = square.getBoundingClientRect();
            const [across, down] = [x + width / 2 - box.x, y + height / 2 - box.y];
            return 0 < across && across < box.width && 0 < down && down < box.height;
          });
          return under?.dataset.square ?? 'nowhere';
        })
        .toSorted(),
    mark,
  );

test.each([
  [
    'chess',
    'rnbqkbnr/ppppp1pp/8/5p1Q/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 1 2',
    ['d1', 'h5', 'e8'],
    'square.last-move',
    'square.check',
  ],
  ['shogi', '4k4/9/9/9/9/9/9/4R4/4K4 w - 2', ['2h', '5h', '5a'], 'sq.last-dest', 'sq.check'],
] as const)(
  'highlights and announces last move and check on a board of %s',
  async (variant, text, squares, last, check) => {
    const fake = defaultServer();
    const [from, to, king] = squares;
    const at = positionView(text, [], { turn: 'second', last: { from, to }, check: king });
    open(fake, game(1, variant, { position: at }));
    const page = await fake.page(browser, '#/analyse/1');
    await expect.poll(() => marked(page, last)).toEqual([from, to].toSorted());
    await expect.poll(() => marked(page, check)).toEqual([king]);
    const label = (square: string) => page.locator(`[data-square="${square}"]`).getAttribute('aria-label');
    await expect.poll(() => label(to)).toContain(en('board.last'));
    await expect.poll(() => label(king)).toContain(en('board.check'));
    // The highlights follow a flipped board.
    await page.getByRole('button', { name: en('board.flip') }).click();
    await expect.poll(() => marked(page, last)).toEqual([from, to].toSorted());
    fake.delta('game/1', {
      kind: 'game',
      delta: { at: { cursor: 0, position: positionView(text, [], { turn: 'second' }) } },
    } as never);
    await expect.poll(() => marked(page, last)).toEqual([]);
    await expect.poll(() => marked(page, check)).toEqual([]);
    await page.context().close();
  },
);

/** The coordinate labels next to the squares. */
const coordinates = (page: Page) =>
  page.evaluate(() => {
    const squares = [...document.querySelectorAll<HTMLElement>('.inner [data-square]')].map((square) => ({
      name: square.dataset.square ?? '',
      box: square.getBoundingClientRect(),
    }));
    const labels = (list: string, at: number, start: 'x' | 'y', size: 'width' | 'height') =>
      [...document.querySelectorAll(`.frame .${list} span`)].map((span) => {
        const box = span.getBoundingClientRect();
        const middle = box[start] + box[size] / 2;
        const square = squares.find(
          (one) => one.box[start] < middle && middle < one.box[start] + one.box[size],
        );
        return `${span.textContent}${square?.name[at]}`;
      });
    return [labels('files', 0, 'x', 'width'), labels('ranks', 1, 'y', 'height')];
  });

test.each([
  ['chess', 'abcdefgh', '87654321'],
  ['shogi', '987654321', 'abcdefghi'],
] as const)(
  'shows coordinates in the squares of %s, also on a flipped board',
  async (variant, files, ranks) => {
    const fake = defaultServer();
    open(fake, game(1, variant));
    const page = await fake.page(browser, '#/analyse/1');
    const twice = (names: string) => [...names].map((name) => `${name}${name}`);
    await expect.poll(() => coordinates(page)).toEqual([twice(files), twice(ranks)]);
    await page.getByRole('button', { name: en('board.flip') }).click();
    await expect
      .poll(() => coordinates(page))
      .toEqual([twice(files).toReversed(), twice(ranks).toReversed()]);
    await page.goto('http://readyok.test/#/settings');
    await page.getByLabel(en('settings.coordinates')).selectOption('off');
    await page.goto('http://readyok.test/#/analyse/1');
    await page.locator('[data-square]').first().waitFor({ state: 'attached' });
    expect(await coordinates(page)).toEqual([[], []]);
    await page.context().close();
  },
);

const DIRECTORY: Directory = {
  path: '/books',
  parent: null,
  entries: [
    { name: 'deep', path: '/books/deep', directory: true, program: false, size: 0 },
    { name: 'engine', path: '/books/engine', directory: false, program: true, size: 2000 },
    { name: 'varied.bin', path: '/books/varied.bin', directory: false, program: false, size: 300 },
  ],
  truncated: true,
};

/** A server with a folder and an engine with options. */
function withOptions(): FakeServer {
  const fake = defaultServer();
  const option = (name: string, kind: EngineOption['kind']): EngineOption => ({
    name,
    kind,
    labels: {},
    help: {},
    set_by_server: false,
  });
  const options = [
    option('Hash', { kind: 'spin', default: 16, min: 1, max: 1024 }),
    option('Clear Hash', { kind: 'button' }),
    option('Book File', { kind: 'filename', default: '<empty>' }),
    option('SyzygyPath', { kind: 'string', default: '<empty>', directories: true }),
  ];
  fake.topics.set('engines', {
    kind: 'engines',
    state: {
      engines: [engine(1, 'Narikin', { options, values: { Hash: '64', SyzygyPath: '/tables' } })],
      processes: [],
      machine: { cores: 1, memory: null, system: 'linux', distributions: [] },
      search: null,
    },
  });
  fake.http.set('files', DIRECTORY);
  return fake;
}

test('copies options as text and selects files and folders on the server', async () => {
  const fake = withOptions();
  const page = await fake.page(browser, '#/engines');
  await page.getByRole('button', { name: en('engine.options'), exact: true }).click();
  const dialog = page.getByRole('dialog', { name: en('options.title', { engine: 'Narikin' }) });
  // Without clipboard access a text field is shown.
  await dialog.getByRole('button', { name: en('options.copy') }).click();
  await expect
    .poll(() => dialog.getByRole('textbox', { name: en('options.copy') }).inputValue())
    .toContain('setoption name Hash value 64');
  const pick = (name: string) =>
    dialog
      .locator(`[data-option="${name}"]`)
      .getByRole('button', { name: en('files.browse') })
      .click();
  await pick('Book File');
  const files = page.getByRole('dialog', { name: en('files.file') });
  await files.getByText(en('files.truncated')).waitFor();
  await files.getByLabel(en('files.filter')).fill('VARIED');
  await expect.poll(() => files.locator('.entry').count()).toBe(1);
  await files.getByRole('button', { name: /varied\.bin/ }).click();
  await pick('SyzygyPath');
  const folders = page.getByRole('dialog', { name: en('files.folder') });
  await expect.poll(() => folders.getByRole('button', { name: /varied\.bin/ }).isDisabled()).toBe(true);
  await folders.getByRole('button', { name: en('files.this') }).click();
  // A folder is appended to the list.
  await expect
    .poll(() => fake.commands.flatMap((command) => (command.kind === 'set_options' ? [command.values] : [])))
    .toEqual([{ 'Book File': '/books/varied.bin' }, { SyzygyPath: '/tables:/books' }]);
  await page.context().close();
});

test.each(['light', 'dark', 'contrast'] as const)(
  'axe finds no violation in dialogs, in %s',
  async (theme) => {
    const fake = withOptions();
    storePrefs(fake, { theme });
    const page = await fake.page(browser, '#/engines', { reducedMotion: 'reduce' });
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme);
    await page.getByRole('button', { name: en('engine.add') }).click();
    const add = page.getByRole('dialog', { name: en('engine.add') });
    await add.getByLabel(en('add.path'), { exact: true }).fill('/books/engine');
    expect(await violations(page)).toEqual([]);
    await add
      .getByRole('button', { name: en('files.browse') })
      .first()
      .click();
    const files = page.getByRole('dialog', { name: en('files.program') });
    await files.getByRole('button', { name: /^engine/ }).waitFor();
    expect(await violations(page)).toEqual([]);
    await files.getByRole('button', { name: /^engine/ }).click();
    await add.getByRole('combobox').last().selectOption('tcp');
    await add.getByLabel(en('add.address')).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  },
);

type Opens = (page: Page) => Promise<unknown>;

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

/** Opens automatically. */
const registration = (page: Page) => page.getByRole('dialog', { name: starts('registration.title') });

/** Dialogs and panels: route, action to open, and an indicator. */
const OPENED: [name: string, place: string, opens: Opens][] = [
  [
    'options',
    '#/engines',
    async (page) => {
      await registration(page)
        .getByRole('button', { name: en('registration.later') })
        .click();
      await press(page, en('engine.options'));
      await page.getByRole('dialog').locator('[data-option]').first().waitFor();
    },
  ],
  ['registration', '#/engines', (page) => registration(page).waitFor()],
  [
    'the position editor',
    '#/analyse/1',
    async (page) => {
      await toolbarCommand(page, en('menu.more'), en('editor.title'));
      await page.getByRole('dialog').getByTestId('verdict').waitFor();
    },
  ],
  [
    'settings of an analysis',
    '#/analyse/1',
    async (page) => {
      await showPane(page, en('tab.engine'));
      await press(page, en('panel.settings'));
      await page.getByRole('button', { name: en('panel.threat') }).waitFor();
    },
  ],
  ['the report', '#/analyse/1', (page) => showReport(page, en('tab.report'))],
  ['the record', '#/analyse/1', (page) => command(page, en('menu.more'), en('tab.record'))],
  [
    'a promotion',
    '#/analyse/2',
    async (page) => {
      await page.getByRole('toolbar').waitFor();
      for (const square of ['b7', 'b8']) {
        const { x, y } = await middle(page, square);
        await page.mouse.click(x, y);
      }
      await page.getByRole('button', { name: 'White knight' }).waitFor();
    },
  ],
  [
    'a game of two engines',
    '#/play/0/new',
    async (page) => {
      await page.locator('main').getByText(en('new.more'), { exact: true }).click();
      await page.getByLabel(en('new.per_side')).check();
      await page.getByRole('group', { name: en('side.black') }).waitFor();
    },
  ],
  ['a new match', '#/matches', (page) => press(page, en('match.new'))],
  ['a match', '#/matches/3', (page) => page.getByTestId('match').waitFor()],
  [
    'folders',
    '#/library',
    async (page) => {
      // Not that of the navigation.
      await page
        .locator('.head-tools')
        .getByRole('button', { name: en('library.more') })
        .click();
      await press(page, en('library.analyze_folder'));
    },
  ],
  ['shortcuts', '#/settings', (page) => page.keyboard.press('?')],
];

/** Opens each of them. */
async function openAll(page: Page, look: (name: string) => Promise<void>) {
  for (const [name, place, opens] of OPENED) {
    await page.goto(`http://readyok.test/${place}`);
    await page.reload();
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await opens(page);
    await look(name);
  }
}

/** A server on which each of them can be opened. */
function withAll(): FakeServer {
  const fake = withOptions();
  const engines = fake.topics.get('engines');
  if (engines?.kind === 'engines') {
    const [first] = engines.state.engines;
    if (first) Object.assign(first, { registration: 'error', registered_as: null });
  }
  open(fake, game(1, 'chess'), [analysis(0, [line(1, 25, [['d2d4', 'd4']])])]);
  const all = ['q', 'n'].map((letter) => legal(`b7b8${letter}`, `b8=${letter.toUpperCase()}`));
  open(fake, game(2, 'chess', { position: positionView('4k3/1P6/8/8/8/8/8/4K3 w - - 0 1', all) }));
  play(fake, {});
  return fake;
}

test.each(['light', 'dark', 'contrast'] as const)(
  'axe finds nothing in what opens over a page, in %s',
  async (theme) => {
    const fake = withAll();
    storePrefs(fake, { theme });
    const page = await fake.page(browser, '', { reducedMotion: 'reduce' });
    await openAll(page, async (name) => {
      await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme);
      expect(await violations(page), name).toEqual([]);
    });
    await page.context().close();
  },
);

test.each([1366, 360])('shows an error once inside a dialog and announces it: %i px wide', async (width) => {
  const fake = defaultServer();
  fake.answer = ({ kind }) =>
    kind === 'preview_engine'
      ? {
          category: 'invalid_path',
          error: { code: 'not_executable', name: '/no/x' },
        }
      : { kind: 'done' };
  const page = await fake.page(browser, '#/engines', { viewport: { width, height: 740 } });
  await page.getByRole('button', { name: en('engine.add') }).click();
  const dialog = page.getByRole('dialog');
  // The first field has the focus.
  await page.keyboard.type('/no/x');
  await dialog.getByRole('button', { name: en('add.submit') }).click();
  // The field is validated on blur and on submit.
  await expect
    .poll(() => fake.commands.filter((command) => command.kind === 'preview_engine').length)
    .toBe(2);
  const toast = page.getByText(
    `${en('category.invalid_path')} ${en('error.not_executable', { name: '/no/x' })}`,
  );
  await toast.waitFor();
  await expect.poll(() => toast.count()).toBe(1);
  expect(
    await toast.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2) === element;
    }),
  ).toBe(true);
  // Elements below a dialog are hidden from screen readers.
  await expect.poll(() => dialog.getByRole('status').getByText('/no/x').count()).toBe(1);
  await dialog.getByRole('button', { name: en('app.cancel') }).click();
  await expect.poll(() => page.getByRole('status').getByText('/no/x').count()).toBe(1);
  await page.context().close();
});

test('fits dialogs and panels to a narrow screen with readable fields', async () => {
  const page = await withAll().page(browser, '', {
    viewport: { width: 360, height: 740 },
    reducedMotion: 'reduce',
  });
  await openAll(page, async (name) => {
    const wide = await page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll('main, dialog[open]')]
        .filter((element) => element.scrollWidth > Math.min(element.clientWidth, innerWidth))
        .map((element) => `${element.tagName} ${element.scrollWidth}`),
    );
    expect(wide, name).toEqual([]);
    const thin = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('select, input')]
        .filter((field) => !field.matches('[type=checkbox], [type=radio], [type=range]'))
        // The list of new boards in the head is below an icon.
        .filter((field) => !field.closest('header') && field.offsetWidth > 0 && field.offsetWidth < 70)
        .map((field) => `${field.ariaLabel ?? field.id} ${field.offsetWidth}`),
    );
    expect(thin, name).toEqual([]);
  });
  await page.context().close();
});

/** The points of a drawn curve, and whether it is visible. */
const drawn = (curve: Locator) =>
  curve.locator('path.curve').evaluate((path) => ({
    points: (path.getAttribute('d')?.match(/[-\d.]+,[-\d.]+/g) ?? []).map((point) =>
      point.split(',').map(Number),
    ),
    height: path.getBoundingClientRect().height,
  }));

/** Sets the state of the match. */
function play(fake: FakeServer, stand: Partial<MatchState>) {
  const state: MatchState = {
    id: 3,
    plan: { name: 'Test', variant: 'chess', openings: { kind: 'start' } } as MatchPlan,
    status: 'running',
    names: ['New', 'Old'],
    played: 4,
    total: 100,
    ...progress(),
    conditions: conditions(['New', 'Old']),
    standings: [],
    scores: [],
    test: null,
    curve: [],
    takes: null,
    takes_curve: [],
    boards: [],
    games: [],
    note: null,
    ...stand,
  };
  const { id, status, played, total, plan } = state;
  const summary = { engines: 2, bounds: null, elo: null, verdict: null };
  const matches = [{ id, name: plan.name, variant: plan.variant, status, played, total, ...summary }];
  fake.topics.set('matches', { kind: 'matches', state: { matches } });
  fake.topics.set('match/3', { kind: 'match', state });
}

/** Opens the page of a match with this state. */
async function onMatch(stand: Partial<MatchState>) {
  const fake = defaultServer();
  play(fake, stand);
  return { fake, page: await fake.page(browser, '#/matches/3') };
}

test('adds an engine that is not in the match yet', async () => {
  const fake = defaultServer();
  const state = fake.topics.get('engines');
  if (state?.kind !== 'engines') throw new Error('there are no engines');
  state.state.engines.push(engine(3, 'Third'));
  const page = await fake.page(browser, '#/matches');
  await page.getByRole('button', { name: en('match.new') }).click();
  const another = page.getByRole('button', { name: en('match.add_engine') });
  await another.click();
  await another.click();
  const chosen = page.getByLabel(starts('match.engine')).locator('option:checked');
  await expect.poll(() => chosen.allTextContents()).toEqual(['Narikin', 'Stockfish', 'Third', 'Narikin']);
  await page.context().close();
});

test('draws and extends the curves of a match', async () => {
  const point = (games: number, elo: number, llr: number): CurvePoint => ({
    pairs: games / 2,
    games,
    elo,
    error: 200 / games,
    score: 0.5,
    llr,
  });
  const sprt: SprtStatus = { llr: 0.5, lower: -2.94, upper: 2.94, verdict: 'continue' };
  const { fake, page } = await onMatch({ test: sprt, curve: [point(2, -40, -0.5), point(4, 25, 0.5)] });
  const elo = page.getByRole('img', { name: 'Elo 25.00 ± 50.00' });
  const llr = page.getByRole('img', { name: 'LLR 0.50', exact: true });
  const curves = page.getByRole('radiogroup', { name: en('match.curves') });
  for (const [name, curve] of [
    ['Elo', elo],
    ['LLR', llr],
  ] as const) {
    await curves.getByText(name, { exact: true }).click();
    const { points, height } = await drawn(curve);
    expect(points.length).toBe(2);
    // The second value is better, and therefore higher.
    expect(points[1]?.[0]).toBeGreaterThan(points[0]?.[0] ?? 0);
    expect(points[1]?.[1]).toBeLessThan(points[0]?.[1] ?? 0);
    expect(height).toBeGreaterThan(5);
  }
  await expect.poll(() => llr.locator('line').count()).toBe(2);
  await expect.poll(() => llr.locator('circle.latest').count()).toBe(1);
  await curves.getByText('Elo', { exact: true }).click();
  await expect.poll(() => elo.locator('path.band').getAttribute('d')).toMatch(/\d/);
  await curves.getByText('LLR', { exact: true }).click();
  expect(await violations(page)).toEqual([]);
  fake.delta('match/3', {
    kind: 'match',
    delta: { curve: [point(6, 30, 3)], takes_curve: [], boards: [], ended: [], games: [], log: [] },
  });
  const grown = page.getByRole('img', { name: 'LLR 3.00', exact: true });
  await expect.poll(async () => (await drawn(grown)).points.length).toBe(3);
  await page.context().close();
});

test('shows a farm of 200 workers, suspicious ones first, and its log', async () => {
  const fake = fullServer('en');
  const details = fake.http.get('queue/abcdef0123456789') as QueueMatch;
  const [row] = details.status.workers;
  if (!row) throw new Error('there is a worker');
  const workers = Array.from({ length: 200 }, (_, number) => ({
    ...row,
    worker: `w${String(number).padStart(3, '0')}`,
    flags: number === 150 ? [{ kind: 'crashes' as const, p: 0.0001 }] : [],
  }));
  fake.http.set('queue/abcdef0123456789', { ...details, status: { ...details.status, workers } });
  const page = await fake.page(browser, '#/matches/abcdef0123456789');
  const rows = page.getByTestId('worker');
  // One more takes part without results.
  await expect.poll(() => rows.count()).toBe(201);
  expect(await rows.first().textContent()).toContain('w150');
  expect(await rows.first().textContent()).toContain(en('queue.flag.crashes', { p: '1.0e-4' }));
  const list = page.getByRole('group', { name: en('queue.workers') });
  const box = await list.evaluate(({ clientHeight, scrollHeight }) => ({ clientHeight, scrollHeight }));
  expect(box.scrollHeight).toBeGreaterThan(5 * box.clientHeight);
  expect(box.clientHeight).toBeLessThan(500);
  await rows.last().scrollIntoViewIfNeeded();
  expect(await violations(page)).toEqual([]);
  await page
    .getByRole('radiogroup', { name: en('match.sections') })
    .getByText(en('match.log'))
    .click();
  const failure = page.getByTestId('event').filter({ hasText: en('termination.time-forfeit') });
  await failure.getByRole('button', { name: en('match.game_number', { number: 15 }) }).waitFor();
  await page.context().close();
});

test('a reader sees matches without actions', async () => {
  const fake = fullServer('en');
  for (const name of ['matches', 'match/3'] as const) {
    const topic = fake.topics.get(name);
    fake.http.set(name.replace('match/', 'matches/'), topic?.state);
  }
  const overview = fake.http.get('queue') as QueueOverview;
  const user = { ...overview.user, role: 'reader' };
  fake.http.set('queue', { ...overview, user, writable: false });
  const details = fake.http.get('queue/abcdef0123456789') as QueueMatch;
  fake.http.set('queue/abcdef0123456789', { ...details, writable: false });
  const page = await fake.page(browser, '#/matches');
  await page.evaluate(() => localStorage.setItem('readyok.reader', '1'));
  await page.reload();
  const allowed = ['match.report', 'match.downloads', 'match.show_all'] as const;
  const names = new Set<string>([...allowed.map((key) => en(key)), en('palette.open')]);
  for (const match of ['Nightly match of three engines', 'nightly-search-refactoring']) {
    await page
      .getByRole('link', { name: new RegExp(`^${match}`) })
      .first()
      .click();
    await page
      .getByRole('region', { name: match })
      .getByRole('button', { name: en('match.report') })
      .waitFor();
    const buttons = await page.getByRole('button').allTextContents();
    expect(buttons.map((text) => text.trim()).filter((text) => !names.has(text))).toEqual([]);
    expect(await page.getByRole('spinbutton').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  }
  await page.context().close();
});

test('shows an error for a page that fails to render, and still renders others', async () => {
  const game = {
    number: 1,
    round: 1,
    engines: { first: 0, second: 1 },
    outcome: { result: '1-0', termination: 'resignation' },
    plies: 9,
  } as unknown as MatchGame;
  // Duplicate keys make the list fail.
  const { fake, page } = await onMatch({ games: [game] });
  await page
    .getByRole('radiogroup', { name: en('match.sections') })
    .getByText(en('match.tab.games'))
    .click();
  await page.getByTestId('game').waitFor();
  const again = { curve: [], takes_curve: [], boards: [], ended: [], games: [game], log: [] };
  fake.delta('match/3', { kind: 'match', delta: again });
  const failed = page.getByRole('alert');
  await failed.getByRole('heading', { name: en('app.failed') }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('link', { name: en('nav.library') }).click();
  await page
    .getByRole('heading', { name: en('nav.library') })
    .first()
    .waitFor();
  expect(await failed.count()).toBe(0);
  await page.context().close();
});

test('updates the status of a process', async () => {
  const fake = defaultServer();
  const page = await fake.page(browser, '#/engines');
  const process = page.getByTestId('process');
  await process.getByText(en('process.idle'), { exact: true }).waitFor();
  const state: ProcessState = {
    id: 7,
    engine: 2,
    purpose: { kind: 'play', game: 5 },
    status: 'pondering',
    pid: 4711,
    started: 0,
    identity: null,
    error: null,
    stderr: [],
    breaches: 0,
  };
  for (const status of ['starting', 'searching', 'pondering', 'leaving', 'ended'] as const) {
    const processes = [{ ...state, status }];
    fake.delta('engines', {
      kind: 'engines',
      delta: { engines: [], removed: [], processes, forgotten: [], search: null },
    });
    if (status === 'ended') await page.getByText(en('engine.exited', { count: 1 })).click();
    await process.getByText(en(`process.${status}`), { exact: true }).waitFor();
    await expect.poll(() => process.getAttribute('data-status')).toBe(status);
  }
  await page.context().close();
});
