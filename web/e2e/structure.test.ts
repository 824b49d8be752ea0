// What fits into a window: the size of the board, rows of moves and of the library, in each window and language.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { LibraryGame } from '../src/api/wire';
import { SIZES, sharedBrowser, layoutFaults, smallTargets } from './browser';
import { defaultServer, storePrefs, type FakeServer } from './fakeServer';
import { analyzed } from './samples';

const browser = await sharedBrowser();

interface Least {
  /** The width of the board in pixels. */
  board?: number;
  /** Rows of moves. */
  moves?: number;
  /** Games of the library. */
  games?: number;
}

interface View {
  name: string;
  route: string;
  server: (language: string) => FakeServer;
  /** An element of the complete page. */
  ready: string;
  /** By the width of the window. */
  least: Partial<Record<number, Least>>;
}

/** With an engine, the explorer, moves and the report. */
const analysis = (variant: 'chess' | 'shogi') => (language: string) => {
  const fake = analyzed(variant, language, 120);
  storePrefs(fake, { language, explorer: 'true' });
  return fake;
};

function library(language: string): FakeServer {
  const fake = defaultServer();
  storePrefs(fake, { language });
  const games = Array.from({ length: 60 }, (_, index): LibraryGame => ({
    id: index + 1,
    variant: 'chess',
    names: { first: 'Kasparov, Garry Kimovich', second: 'Topalov, Veselin Aleksandrov' },
    ratings: { first: 2812, second: 2700 },
    result: '1-0',
    termination: 'resignation',
    date: '1999-01-20',
    event: 'Hoogovens Tournament, Wijk aan Zee',
    opening: 'B07 Pirc Defense: Classical Variation',
    plies: 87,
    added: 0,
    changed: 1_764_000_000_000 + index,
    source: 'import',
    labels: [],
    evaluated: true,
    commented: true,
  }));
  fake.http.set('library/search', { games, total: 84_787, labels: [], undecided: 0 });
  return fake;
}

const VIEWS: View[] = [
  {
    name: 'analysis of chess',
    route: '#/analyse/5',
    server: analysis('chess'),
    ready: '.moves .move',
    least: {
      390: { board: 384, moves: 5 },
      1000: { board: 552, moves: 10 },
      1280: { board: 552, moves: 14 },
      1440: { board: 728, moves: 20 },
      1920: { board: 912, moves: 24 },
    },
  },
  {
    name: 'analysis of shogi',
    route: '#/analyse/5',
    server: analysis('shogi'),
    ready: '.moves .move',
    least: {
      390: { board: 324, moves: 3 },
      1000: { board: 400, moves: 10 },
      1280: { board: 450, moves: 14 },
      1440: { board: 550, moves: 20 },
      1920: { board: 700, moves: 24 },
    },
  },
  {
    name: 'library',
    route: '#/library',
    server: library,
    ready: 'main',
    least: { 390: { games: 9 }, 1280: { games: 16 }, 1440: { games: 22 }, 1920: { games: 24 } },
  },
];

/** The sizes of a page: the board, and the rows that are completely visible. */
const measure = (page: Page) =>
  page.evaluate(() => {
    const seen = (element: Element) => {
      const box = element.getBoundingClientRect();
      if (box.height === 0 || box.top < -1 || box.bottom > innerHeight + 1) return false;
      // Nothing covers its start and its lower edge.
      const at = document.elementFromPoint(box.left + Math.min(8, box.width / 2), box.bottom - 3);
      return at !== null && (element.contains(at) || at.contains(element));
    };
    const tops = (selector: string) =>
      new Set(
        [...document.querySelectorAll(selector)]
          .filter(seen)
          .map((one) => Math.round(one.getBoundingClientRect().top)),
      ).size;
    const board = document.querySelector('cg-board, sg-board')?.getBoundingClientRect().width ?? 0;
    return {
      board: Math.round(board),
      moves: tops('.moves .move:not(.gap)'),
      games: tops('main tbody tr, main [role=rowgroup] [role=row]'),
    };
  });

test.each(
  VIEWS.flatMap((view) => (['en', 'ja'] as const).map((language) => [view.name, language, view] as const)),
)('has room for %s (%s)', async (_name, language, { route, server, ready, least }) => {
  const [first] = SIZES;
  const page = await server(language).page(browser, route, {
    viewport: { width: first[0], height: first[1] },
    reducedMotion: 'reduce',
  });
  await page.locator(ready).first().waitFor();
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    const wanted: Least = least[width] ?? {};
    const below = async () => {
      const found = await measure(page);
      const missing = (['board', 'moves', 'games'] as const)
        .filter((name) => found[name] < (wanted[name] ?? 0))
        .map((name) => `${name}: ${found[name]} of ${wanted[name]}`);
      return [...missing, ...(await layoutFaults(page)), ...(await smallTargets(page))];
    };
    await expect.poll(below, { message: `${width} × ${height}` }).toEqual([]);
  }
  await page.context().close();
});
