// All pages, panels and dialogs, in both languages and windows of all sizes.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import {
  SIZES,
  command,
  errorsOf,
  sharedBrowser,
  layoutFaults,
  showPane,
  showReport,
  smallTargets,
  toolbarCommand,
  violations,
} from './browser';
import { NAMES, fullServer } from './everything';
import { storePrefs } from './fakeServer';
import { en, ja } from './labels';

const browser = await sharedBrowser();

type Text = typeof en;
type Opens = (page: Page, text: Text) => Promise<unknown>;

const press =
  (key: Parameters<Text>[0], index = 0): Opens =>
  (page, text) =>
    page
      .getByRole('button', { name: text(key), exact: true })
      .nth(index)
      .click();
const report: Opens = (page, text) => showReport(page, text('tab.report'));
const share: Opens = (page, text) => command(page, text('menu.more'), text('tab.record'));
const nothing: Opens = () => Promise.resolve();

const STUDY = { id: 1, name: 'Endings of rooks and pawns, with examples', chapters: 2, added: 0, changed: 0 };

/** Pages, panels and dialogs: a name, the route, and how they are opened. */
const VIEWS: [name: string, route: string, opens: Opens][] = [
  ['home', '#/home', nothing],
  ['command palette', '#/home', (page) => page.keyboard.press('Control+k')],
  ['all boards', '#/analyse/1', (page) => page.keyboard.press('Alt+0')],
  ['new game', '#/play/new', nothing],
  ['new game, more', '#/play/new', (page, text) => page.getByText(text('new.more'), { exact: true }).click()],
  ['game', '#/play/2', nothing],
  ['game of shogi', '#/play/3', nothing],
  ['analysis', '#/analyse/1', nothing],
  ['report', '#/analyse/1', report],
  [
    'learn from mistakes',
    '#/analyse/1',
    async (page, text) => {
      await report(page, text);
      await press('report.learn')(page, text);
    },
  ],
  ['share', '#/analyse/1', share],
  [
    'settings of an analysis',
    '#/analyse/1',
    async (page, text) => {
      await showPane(page, text('tab.engine'));
      await press('panel.settings')(page, text);
    },
  ],
  [
    'position editor',
    '#/analyse/1',
    (page, text) => toolbarCommand(page, text('menu.more'), text('editor.title')),
  ],
  [
    'promotion',
    '#/analyse/4',
    async (page) => {
      await page.getByRole('toolbar').waitFor();
      for (const square of ['b7', 'b8']) {
        // The size of the board is stable when its squares are.
        await page.locator(`[data-square="${square}"]`).click({ force: true });
      }
    },
  ],
  ['options of an engine', '#/play/2', (page) => page.locator('.bar button.icon').first().click()],
  ['engines', '#/engines', nothing],
  ['new engine', '#/engines', press('engine.add')],
  [
    'files',
    '#/engines',
    async (page, text) => {
      await press('engine.add')(page, text);
      await press('files.browse')(page, text);
    },
  ],
  ['search for engines', '#/engines', press('find.title')],
  ['options', '#/engines', press('engine.options')],
  ['log', '#/engines/7/log', nothing],
  ['matches', '#/matches', nothing],
  ['new match', '#/matches', press('match.new')],
  ['match', '#/matches/3', nothing],
  ['workers', '#/matches/workers', nothing],
  ['match of the farm', '#/matches/abcdef0123456789', nothing],
  ['tuning', '#/matches/5eed', (page) => page.getByTestId('parameter').first().waitFor()],
  ['copy of a match of the farm', '#/queue/abcdef0123456789', press('queue.clone')],
  ['library', '#/library', (page) => page.locator('[data-row] input').first().check()],
  ['collection', '#/library/1', (page) => page.getByTestId('collection').waitFor()],
  ['drafts', '#/library/drafts', (page) => page.getByTestId('drafts').waitFor()],
  [
    'report on games',
    '#/library',
    async (page, text) => {
      await page.locator('[data-row] input').first().check();
      await press('report.run')(page, text);
    },
  ],
  [
    'study',
    '#/analyse/1',
    async (page) => {
      const place = { collection: STUDY, chapter: 'Philidor', place: 0, previous: null, next: 2 };
      await page.route('**/api/library/order', (route) => route.fulfill({ json: place }));
      await page.reload();
      await page.getByTestId('order').waitFor();
    },
  ],
  ['training', '#/training', nothing],
  ['about', '#/about', nothing],
  ['settings', '#/settings', nothing],
  ['shortcuts', '#/settings', (page) => page.keyboard.press('?')],
];

test.each(
  VIEWS.flatMap((view) => (['en', 'ja'] as const).map((language) => [view[0], language, view] as const)),
)('fits into windows of all sizes, and axe finds no violation: %s (%s)', async (_, language, view) => {
  const [, route, opens] = view;
  const fake = fullServer(language);
  const [width, height] = SIZES[3];
  const page = await fake.page(browser, route, { viewport: { width, height }, reducedMotion: 'reduce' });
  const errors = errorsOf(page);
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await opens(page, language === 'en' ? en : ja);
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    // The layout follows after a frame.
    const faults = async () => [...(await layoutFaults(page)), ...(await smallTargets(page))];
    await expect.poll(async () => (await faults()).join('; '), { message: `${width} px` }).toBe('');
  }
  // The structure is that of the other language.
  if (language === 'en') expect(await violations(page)).toEqual([]);
  expect(errors).toEqual([]);
  await page.context().close();
});

test.each(['en', 'ja'] as const)('fits the login into windows of all sizes (%s)', async (language) => {
  const fake = fullServer(language);
  fake.http.delete('choices');
  const page = await fake.page(browser, '#/library', { reducedMotion: 'reduce' });
  await page.route('**/api/choices', (route) => route.fulfill({ status: 401 }));
  await page.routeWebSocket(/\/api\/ws$/, (socket) => socket.close());
  fake.drop();
  const text = language === 'en' ? en : ja;
  await page.getByLabel(text('login.password')).waitFor();
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    await expect.poll(async () => (await layoutFaults(page)).join('; '), { message: `${width} px` }).toBe('');
  }
  expect(await violations(page)).toEqual([]);
  // Without a password there is no field for it.
  fake.http.set('login', { password: false });
  await page.reload();
  await page.getByText(text('login.link')).waitFor();
  await expect.poll(() => page.getByLabel(text('login.password')).count()).toBe(0);
  await page.context().close();
});

test('shows the stored language and theme from the first paint', async () => {
  const fake = fullServer('ja');
  storePrefs(fake, { language: 'ja', theme: 'dark' });
  const page = await fake.page(browser, '#/engines');
  await page.getByRole('heading', { name: ja('nav.engines'), exact: true }).waitFor();
  // A browser without storage, and a server that does not answer.
  await page.evaluate(() => localStorage.clear());
  await page.routeWebSocket(/\/api\/ws$/, () => {});
  await page.reload();
  await page.getByRole('heading', { name: ja('nav.engines') }).waitFor();
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  await page.context().close();
});

test.each(['en', 'ja'] as const)(
  'shows the clocks of a match and why an engine failed (%s)',
  async (language) => {
    const text = language === 'en' ? en : ja;
    const page = await fullServer(language).page(browser, '#/matches/3');
    const clock = (name: string) =>
      page.getByRole('timer', { name: text('play.clock', { side: name }) }).first();
    await expect.poll(() => clock(NAMES[0] ?? '').textContent()).toMatch(/^1:0[12]:\d\d$/);
    // The clock of the other side is stopped.
    await expect.poll(() => clock(NAMES[2] ?? '').textContent()).toBe('1:01');
    const cause = text('error.exited', { status: 3 });
    await expect
      .poll(() => page.getByTestId('note').textContent())
      .toBe(text('error.engine_failures_by', { count: 2, cause }));
    await page.context().close();
  },
);

test.each(['en', 'ja'] as const)('starts a match with the built-in openings (%s)', async (language) => {
  const text = language === 'en' ? en : ja;
  const fake = fullServer(language);
  const page = await fake.page(browser, '#/matches');
  await page.getByRole('button', { name: text('match.new') }).click();
  const openings = page.getByLabel(text('match.openings'));
  const selected = () =>
    openings.evaluate((select) => (select as HTMLSelectElement).selectedOptions[0]?.textContent?.trim());
  await expect.poll(selected).toBe(text('match.openings.built_in'));
  await page.getByLabel(text('new.variant')).selectOption('chess960');
  await expect.poll(selected).toBe(text('match.openings.960'));
  await page.getByLabel(text('new.variant')).selectOption('shogi');
  await expect.poll(selected).toBe(text('match.openings.built_in'));
  await page.getByRole('button', { name: text('match.start'), exact: true }).click();
  await expect
    .poll(() => fake.commands.flatMap((it) => (it.kind === 'start_match' ? [it.plan.openings] : [])))
    .toEqual([{ kind: 'built_in' }]);
  await page.context().close();
});

test.each(['en', 'ja'] as const)('explains the graph of times (%s)', async (language) => {
  const text = language === 'en' ? en : ja;
  const page = await fullServer(language).page(browser, '#/analyse/1');
  await showReport(page, text('tab.report'));
  const sides = `${text('side.white')}${text('side.black')}`;
  const legend = async () => (await page.getByTestId('legend').textContent())?.replace(/\s/g, '');
  await expect
    .poll(legend)
    .toBe(`${text('report.elapsed')}:${sides}${text('report.remaining')}:${sides}`.replace(/\s/g, ''));
  await page.context().close();
});
