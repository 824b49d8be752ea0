// The grid of a board page: sizes, one geometry of squares, toolbar, strip, and layers of annotation.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { ReportState } from '../src/api/wire';
import { command, sharedBrowser, showReport } from './browser';
import {
  analysis,
  defaultServer,
  engine,
  game,
  line,
  node,
  open,
  positionView,
  storePrefs,
} from './fakeServer';
import { inLanguage, language, t } from './labels';

const browser = await sharedBrowser();

const SHOGI_HANDS = 'ln1g3nl/1ks1g2r1/1pppp1bpp/p4pp2/9/P1P1P1P2/1PBPSP1PP/2G2S1R1/LN1K1G1NL b Pp 31';

/** The largest offset in pixels of an accessible cell from the square or piece below it. */
const offset = (page: Page) =>
  page.evaluate(() => {
    const boxes = (selector: string) =>
      [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
    const far = (a: DOMRect, b: DOMRect) =>
      Math.max(...(['x', 'y', 'right', 'bottom'] as const).map((edge) => Math.abs(a[edge] - b[edge])));
    const nearest = (one: DOMRect, all: DOMRect[]) => Math.min(...all.map((other) => far(one, other)));
    const cells = boxes('.inner [data-square]');
    // The squares of chess are not elements: a ninth of the board's pieces are at its edges.
    const drawn = [...boxes('cg-board piece'), ...boxes('sg-squares sq'), ...boxes('sg-pieces piece')];
    const board = boxes('cg-board, sg-squares')[0];
    const corner = (name: string) =>
      document.querySelector(`[data-square="${name}"]`)?.getBoundingClientRect();
    const first = corner('a8') ?? corner('9a');
    const last = corner('h1') ?? corner('1i');
    const edges =
      board && first && last
        ? [first.x - board.x, first.y - board.y, last.right - board.right, last.bottom - board.bottom]
        : [99];
    const hands = boxes('sg-hp-wrap:not([data-nb="0"])').map((one) =>
      nearest(one, boxes('.handcells [data-square]')),
    );
    return Math.max(...drawn.map((one) => nearest(one, cells)), ...edges.map(Math.abs), ...hands);
  });

test.each([1, 1.25, 2])('accessible cells are on their squares at scale %d', async (deviceScaleFactor) => {
  const fake = defaultServer();
  open(fake, game(1, 'chess'));
  open(fake, game(2, 'shogi', { position: positionView(SHOGI_HANDS, []) }));
  const page = await fake.page(browser, '', { deviceScaleFactor, reducedMotion: 'reduce' });
  for (const place of ['#/analyse/1', '#/play/1', '#/analyse/2', '#/play/2']) {
    await page.goto(`http://readyok.test/${place}`);
    await page.locator('cg-board piece, sg-pieces piece').first().waitFor({ state: 'attached' });
    for (const [width, height] of [
      [390, 844],
      [1000, 800],
      [1101, 899],
      [1280, 720],
      [1440, 900],
      [1920, 1080],
    ] as const) {
      await page.setViewportSize({ width, height });
      // Chromium rounds layout to a 64th of a pixel.
      await expect.poll(() => offset(page), { message: `${place} at ${width}` }).toBeLessThan(0.5);
    }
  }
  await page.context().close();
});

/** A game of 80 moves with evaluations, an analysis and a report. */
function full() {
  const fake = defaultServer();
  storePrefs(fake, { explorer: 'true', language: language() });
  const nodes = [node(0, null, 0, '', { western: '' }, { children: [1] })];
  for (let id = 1; id <= 80; id++) {
    const judged = { score: { kind: 'cp', value: 20 } as const, depth: 20 };
    const nag = id === 5 ? 6 : id === 7 ? 4 : null;
    nodes.push(
      node(
        id,
        id - 1,
        id,
        'e2e4',
        { western: 'e4' },
        {
          children: id < 80 ? [id + 1] : [],
          nags: id === 5 ? [1] : [],
          engine: { evaluation: judged, nag, better: [] } as never,
        },
      ),
    );
  }
  const state = game(1, 'chess', { nodes, cursor: 6, opening: { eco: 'B07', name: 'Pirc Defence' } });
  open(fake, state, [
    analysis(
      6,
      [1, 2, 3].map((number) => line(number, 30, [['e2e4', 'e4']])),
    ),
  ]);
  fake.http.set('explorer', {
    kind: 'library',
    counts: { first: 3, draws: 1, second: 1, unknown: 0 },
    moves: [],
    games: [],
  });
  return fake;
}

function setReport(fake: ReturnType<typeof full>, more: Partial<ReportState>) {
  const topic = fake.topics.get('report/1');
  if (topic?.kind === 'report')
    fake.topics.set('report/1', { kind: 'report', state: { ...topic.state, ...more } });
}

inLanguage('en', () => {
  test('shows board, moves, evaluation and graph together in windows of all sizes', async () => {
    const page = await full().page(browser, '#/analyse/1', { reducedMotion: 'reduce' });
    for (const [width, height, board, rows] of [
      [390, 844, 384, 5],
      [1000, 800, 560, 12],
      [1280, 720, 552, 14],
      [1440, 900, 728, 20],
      [1920, 1080, 912, 24],
    ] as const) {
      await page.setViewportSize({ width, height });
      const seen = () =>
        page.evaluate(() => {
          const inside = (selector: string) =>
            [...document.querySelectorAll(selector)].filter((one) => {
              const { x, width, top, bottom, height } = one.getBoundingClientRect();
              const at = document.elementFromPoint(x + Math.min(60, width / 2), bottom - 3);
              return (
                height > 0 &&
                top >= 0 &&
                bottom <= innerHeight + 1 &&
                at !== null &&
                (one.contains(at) || at.contains(one))
              );
            }).length;
          return {
            board: document.querySelector('.square')?.getBoundingClientRect().width ?? 0,
            rows: inside('.moves .row'),
            graph: inside('.strip .chart'),
            evaluation: inside('[data-testid=line], .evl') > 0 || innerWidth < 1200,
          };
        });
      const place = `at ${width} × ${height}`;
      await expect.poll(async () => (await seen()).board, { message: place }).toBeGreaterThanOrEqual(board);
      const now = await seen();
      expect(now.rows, place).toBeGreaterThanOrEqual(rows);
      expect([now.graph, now.evaluation], place).toEqual([1, true]);
    }
    await page.context().close();
  });

  test('shows judgments of engines next to the symbols of the author, hides both, and removes the former', async () => {
    const fake = full();
    const page = await fake.page(browser, '#/analyse/1');
    const move = (id: number) => page.locator(`.moves [data-node="${id}"] > span`);
    const text = async (id: number) => ((await move(id).textContent()) ?? '').replace(/\s/g, '');
    await expect.poll(() => text(5)).toBe('e4!?!');
    await expect.poll(() => text(7)).toBe('e4??');
    // The author's symbol is bold, the engine's has a colour.
    const style = (part: string) =>
      move(5)
        .locator(part)
        .evaluate((one) => [getComputedStyle(one).fontWeight, getComputedStyle(one).color] as const);
    const [[weight, color], [other, hue]] = [await style('.own'), await style('.judged')];
    expect(Number(weight)).toBeGreaterThan(Number(other));
    expect(color).not.toBe(hue);
    // On the background of the current move it has the color of the text.
    const [text5, sign5] = await page.locator('.moves [data-node="5"]').evaluate((element) => {
      element.setAttribute('aria-current', 'true');
      const parts = [element, element.querySelector('.judged') ?? document.body];
      const colors = parts.map((one) => getComputedStyle(one).color);
      element.removeAttribute('aria-current');
      return colors;
    });
    expect(sign5).toBe(text5);
    await command(page, t('moves.menu'), t('moves.judgements'));
    await expect.poll(() => text(5)).toBe('e4!');
    await command(page, t('moves.menu'), t('moves.symbols'));
    await expect.poll(() => text(5)).toBe('e4');
    await command(page, t('moves.menu'), t('moves.judgements'));
    await expect.poll(() => text(5)).toBe('e4?!');
    await command(page, t('moves.menu'), t('moves.remove_judgements'));
    await expect
      .poll(() => fake.commands.find(({ kind }) => kind === 'edit'))
      .toEqual({ kind: 'edit', game: 1, edit: { kind: 'remove_judgements' } });
    await page.context().close();
  });

  test('runs a report with the last settings from the strip and cancels it there', async () => {
    const fake = full();
    const other = engine(2, 'Stockfish');
    fake.topics.set('engines', {
      kind: 'engines',
      state: {
        engines: [engine(1, 'Narikin'), other],
        processes: [],
        machine: { cores: 4, memory: 8000, system: 'linux', distributions: [] },
        search: null,
      },
    });
    const page = await fake.page(browser, '#/analyse/1');
    const sheet = await showReport(page, t('tab.report'));
    await sheet.getByLabel(t('report.engine')).selectOption({ label: 'Stockfish' });
    await sheet.getByLabel(t('report.seconds')).fill('0.2');
    await sheet.getByRole('button', { name: t('report.run') }).click();
    await sheet.getByRole('button', { name: t('app.close') }).click();
    await page.reload();
    const strip = page.locator('.strip');
    await strip.getByRole('button', { name: t('report.run') }).click();
    const started = () => fake.commands.filter((one) => one.kind === 'start_report');
    await expect.poll(() => started().length).toBe(2);
    expect(started()[1]).toEqual(started()[0]);
    expect(started()[0]).toMatchObject({ settings: { engine: 2, limits: { time: 200 } } });
    setReport(fake, { status: 'running', done: 3, total: 81 });
    await page.reload();
    await strip.getByText('3 / 81', { exact: true }).waitFor();
    await strip.getByRole('button', { name: t('report.cancel') }).click();
    await expect.poll(() => fake.commands.some(({ kind }) => kind === 'stop_report')).toBe(true);
    await page.context().close();
  });

  test('shows why an entry is rejected without moving anything', async () => {
    const fake = full();
    fake.answer = ({ kind }) =>
      kind === 'move'
        ? { category: 'illegal_move', error: { code: 'king_in_check', context: { move: 'e2e4' } } }
        : { kind: 'done' };
    const page = await fake.page(browser, '#/analyse/1');
    const entry = page.locator('#entry');
    await entry.fill('Ke9');
    const places = () =>
      page
        .locator('.square, .tool button, .moves, .strip')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON() as object));
    const before = await places();
    await entry.press('Enter');
    await page.locator('.problem.shown').waitFor();
    expect(await places()).toEqual(before);
    expect([await entry.getAttribute('aria-invalid'), await entry.inputValue()]).toEqual(['true', 'Ke9']);
    await entry.fill('Ke');
    await expect.poll(() => page.locator('.problem.shown').count()).toBe(0);
    await page.context().close();
  });
});
