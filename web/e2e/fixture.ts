// Fixtures and helpers of tests with a real server.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Browser, Locator, Page } from 'playwright-core';
import type { ToTab } from '../src/api/wire';
import type { Key } from '../src/i18n/en';
import { middle, sharedBrowser, toolbarCommand } from './browser';
import { TIMEOUT } from './timeout';
import { PROGRAM, RealServer } from './server';
import { starts, t } from './labels';

/** For the start and the response of an engine on a busy machine. */
export const LONG = { timeout: TIMEOUT };
/** For a complete game. */
export const WHOLE = { timeout: 240_000 };

/** Test engines of the workspace, built next to the server. */
export const ENGINES = {
  /** Scripted by its arguments. */
  misbehave: join(dirname(PROGRAM), 'examples/misbehave'),
  /** Plays the first legal move in lexicographic order. */
  mime: join(dirname(PROGRAM), 'examples/mime'),
};

export interface Fixture {
  readonly server: RealServer;
  /** Opens a page in a browser that is logged in: by default the game on the board, or else the form of a new game. */
  page: (hash?: string, options?: Parameters<Browser['newContext']>[0]) => Promise<Page>;
  /** Opens an empty page in a browser that is not logged in. */
  newBrowser: (options?: Parameters<Browser['newContext']>[0]) => Promise<Page>;
}

/** One server per test; checks that no process remains. */
export function useServer(): Fixture {
  let browser: Browser | undefined;
  let server: RealServer | undefined;
  const there = <T>(it: T | undefined): T => {
    if (!it) throw new Error('no journey has begun');
    return it;
  };
  beforeEach(async () => {
    browser = await sharedBrowser();
    server = new RealServer();
    await server.start();
  });
  afterEach(async () => {
    for (const context of there(browser).contexts()) await context.close();
    await there(server).stop();
    await expect.poll(() => there(server).processes(), LONG).toEqual([]);
  });
  return {
    get server() {
      return there(server);
    },
    page: (hash = '#/play', options) => there(server).page(there(browser), hash, options),
    newBrowser: (options) => there(server).newBrowser(there(browser), options),
  };
}

export const squares = (page: Page) => page.locator('[data-square]').first().waitFor({ state: 'attached' });

export type Variant = 'chess' | 'chess960' | 'shogi';

/** Selects a variant in the form of a new game and waits for the engines. */
export async function choose(page: Page, variant: Variant) {
  await page.getByRole('radio', { name: t(`variant.${variant}`), exact: true }).check({ force: true });
  await opponentsListed(page);
}

/** The opponents in the form of a new game. */
export const opponents = (page: Page) => page.getByRole('combobox', { name: t('new.opponent') });

/** Waits until the form of a new game lists the engines. */
export async function opponentsListed(page: Page) {
  await opponents(page).waitFor();
  await expect.poll(() => opponents(page).locator('option').count(), LONG).toBeGreaterThan(1);
}

/** Fills in a new game without a clock: the engine thinks until “Move now”. */
export async function untimed(page: Page, variant: Variant, opponent?: string) {
  await choose(page, variant);
  if (opponent) await opponents(page).selectOption({ label: opponent });
  await page.getByLabel(starts('time.kind')).first().selectOption('none');
}

/** Fills in a new game without a clock against an engine that moves immediately. */
export async function newGame(page: Page, variant: Variant, opponent?: string) {
  await untimed(page, variant, opponent);
  const nodes = page.getByLabel(t('time.nodes'));
  // The section is open if it contains changed settings.
  if (!(await nodes.isVisible()))
    await page.locator('main').getByText(t('new.more'), { exact: true }).click();
  await nodes.fill('200');
}

/** Sets the start position; the label of the field is the notation. */
export async function from(page: Page, notation: 'FEN' | 'SFEN', text: string) {
  const more = page.locator('main').getByText(t('new.more'), { exact: true });
  const start = page.getByLabel(starts('new.start'));
  if (!(await start.isVisible())) await more.click();
  await start.selectOption('text');
  await page.getByLabel(notation, { exact: true }).fill(text);
}

/** Opens a new analysis board, with a position if it is given. */
export async function analysisBoard(page: Page, variant: Variant = 'chess', text = '') {
  const opened = async (act: () => Promise<unknown>) => {
    const before = page.url();
    await act();
    await page.waitForURL((url) => /#\/analyse\/\d+$/.test(url.hash) && url.href !== before);
    await squares(page);
  };
  await opened(() => page.goto(new URL('/#/analyse/new', page.url()).href));
  if (text) {
    await toolbarCommand(page, t('menu.more'), t('editor.title'));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(t('new.variant')).selectOption(variant);
    await dialog.getByLabel(variant === 'shogi' ? 'SFEN' : 'FEN', { exact: true }).fill(text);
    await opened(() => dialog.getByRole('button', { name: t('editor.use') }).click());
  } else if (variant !== 'chess') {
    await opened(() => page.getByLabel(t('tabs.new')).selectOption(variant));
  }
}

export async function begin(page: Page) {
  await page.getByRole('button', { name: t('new.begin'), exact: true }).click();
  await squares(page);
}

export async function enter(page: Page, text: string) {
  const field = page.locator('#entry');
  await field.fill(text);
  await field.press('Enter');
}

export const moveElements = (page: Page) => page.locator('.moves .move:not(.gap)');

/** The moves without evaluations. */
export const moveTexts = async (page: Page) =>
  (await moveElements(page).locator('> span').allTextContents()).map((text) => text.trim());

export const status = async (page: Page) => ((await page.getByTestId('status').textContent()) ?? '').trim();

export async function click(page: Page, square: string) {
  const { x, y } = await middle(page, square);
  await page.mouse.click(x, y);
}

/** Pastes a text, into an element if it is given. */
export async function paste(page: Page, text: string, into?: Locator) {
  const target = into ? await into.evaluateHandle((element): EventTarget => element) : undefined;
  const handle = target ?? (await page.evaluateHandle((): EventTarget => window));
  await handle.evaluate((to, record) => {
    const data = new DataTransfer();
    data.setData('text/plain', record);
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
    // The constructor of Firefox ignores the data.
    if (!event.clipboardData?.types.length) Object.defineProperty(event, 'clipboardData', { value: data });
    to.dispatchEvent(event);
  }, text);
}

/** Counts the clicks and pastes of the user from now on. Returns the number since the last call. */
export async function countActions(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const state = Object.assign(window, { actions: 0 });
    for (const kind of ['click', 'dblclick', 'auxclick', 'paste'])
      addEventListener(kind, () => (state.actions += 1), true);
  });
  return () =>
    page.evaluate(() => {
      const state = window as unknown as { actions: number };
      const { actions } = state;
      state.actions = 0;
      return actions;
    });
}

/** Clicks buttons and labels by name in a single task, before the server can respond. */
export const clickAll = (where: Locator, names: readonly string[]) =>
  where.evaluate((element, all) => {
    const found = [...element.querySelectorAll<HTMLElement>('button, label')];
    for (const name of all) {
      found.find((one) => (one.ariaLabel ?? one.textContent.trim()) === name)?.click();
    }
  }, names);

/** Opens the fields of a chip of the library's filter, and closes those of other chips. */
export async function openChip(page: Page, chip: Key): Promise<Locator> {
  await page.keyboard.press('Escape');
  const bar = page.getByRole('search');
  await bar
    .getByRole('button', { name: starts(chip) })
    .first()
    .click();
  return bar.getByRole('group', { name: t(chip) });
}

/** The games of the list of the library. */
export const listedGames = (page: Page) => page.locator('[data-row] a');

/** Presses an action of a menu of the library's head. */
export async function libraryMenu(page: Page, menu: 'library.import' | 'library.more', action: Key) {
  await page.getByRole('button', { name: t(menu), exact: true }).click();
  await page.getByRole('button', { name: t(action), exact: true }).click();
}

/** Switches online services on. */
export async function switchOn(page: Page, ...names: Key[]) {
  await visit(page, t('nav.settings'));
  for (const name of names) await page.getByRole('checkbox', { name: t(name) }).check();
}

/** Opens the dialog for games of accounts. */
export async function accountDialog(page: Page) {
  await visit(page, t('nav.library'));
  await page.getByRole('button', { name: t('library.import'), exact: true }).click();
  await page.getByRole('button', { name: t('library.import_account') }).click();
  return page.getByRole('dialog');
}

/** Saves the draft that is shown to the library. */
export async function saveDraft(page: Page) {
  const draft = page.getByTestId('draft');
  await draft.getByRole('button', { name: t('draft.save') }).click(LONG);
  await draft.waitFor({ state: 'detached', ...LONG });
}

/** Starts a short match on the page of matches, and waits for its two games. */
export async function startMatch(page: Page, name: string) {
  await page.getByRole('button', { name: t('match.new'), exact: true }).click();
  await page.getByLabel(t('match.name'), { exact: true }).fill(name);
  await page.getByLabel(t('time.kind')).first().selectOption('none');
  await page.getByLabel(t('time.nodes')).fill('100');
  await page.getByLabel(t('match.pairs')).fill('1');
  await page.getByRole('button', { name: t('match.start'), exact: true }).click();
  await page.getByRole('link', { name: new RegExp(`^${name} .*2 / 2`) }).waitFor(WHOLE);
}

/** Opens a page by its link in the navigation. */
export const visit = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click();

export interface EngineSpec {
  name?: string;
  path: string;
  args?: string[];
  dir?: string;
  env?: string;
  protocol?: 'uci' | 'usi';
}

/** Adds an engine and returns its card. */
export async function addEngine(
  page: Page,
  { name, path, args = [], dir, env, protocol }: EngineSpec,
): Promise<Locator> {
  const cards = page.getByTestId('engine');
  await cards.first().waitFor();
  const count = await cards.count();
  await page.getByRole('button', { name: t('engine.add') }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(t('add.path'), { exact: true }).fill(path);
  await dialog.getByLabel(t('add.args')).fill(args.join('\n'));
  if (name) await dialog.getByLabel(t('add.name'), { exact: true }).fill(name);
  if (dir) await dialog.getByLabel(t('add.dir')).fill(dir);
  if (env) await dialog.getByLabel(t('add.env')).fill(env);
  if (protocol) await dialog.getByLabel(t('add.protocol')).selectOption(protocol);
  await dialog.getByRole('button', { name: t('add.submit') }).click();
  await expect.poll(() => cards.count(), LONG).toBe(count + 1);
  return cards.nth(count);
}

/** Waits until the options of an engine are known. */
export async function handshakeDone(card: Locator) {
  await expect
    .poll(() => card.getByRole('button', { name: t('engine.options'), exact: true }).isEnabled(), LONG)
    .toBe(true);
}

/** Adds Mime with a recorder; returns a function that reads the received input, even without a page. */
export async function addRecordedEngine(
  page: Page,
  { data }: RealServer,
  name: string,
  protocol: 'uci' | 'usi' = 'uci',
): Promise<() => string> {
  const received = join(data, `${name}.received`);
  const script = join(data, `${name}.sh`);
  writeFileSync(script, `#!/bin/sh\ntee -a "$RECORD" | ./mime ${protocol === 'usi' ? 'usi' : ''}\n`, {
    mode: 0o755,
  });
  const wanted = { name, path: script, dir: dirname(ENGINES.mime), env: `RECORD=${received}`, protocol };
  await handshakeDone(await addEngine(page, wanted));
  return () => readFileSync(received, 'utf8');
}

/** Presses Tab until an element has the focus. */
export async function tabTo(page: Page, wanted: Locator) {
  await wanted.waitFor({ state: 'attached' });
  for (let presses = 0; presses < 150; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${String(wanted)}`);
}

/** Moves the focus to a square with the arrow keys. */
export async function walkTo(page: Page, square: string) {
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-square') ?? '');
  await expect.poll(focused).not.toBe('');
  const place = (name: string) => {
    const [a, b] = [name.charCodeAt(0), name.charCodeAt(1)];
    // Chess ranks count upward; shogi ranks downward, and files from right to left.
    return a < 58 ? { column: -a, row: b } : { column: a, row: -b };
  };
  const to = place(square);
  for (let steps = 0; steps < 20; steps++) {
    const now = await focused();
    if (now === square) return;
    const { column, row } = place(now);
    await page.keyboard.press(
      column < to.column
        ? 'ArrowRight'
        : column > to.column
          ? 'ArrowLeft'
          : row < to.row
            ? 'ArrowDown'
            : 'ArrowUp',
    );
    await page.waitForFunction((old) => document.activeElement?.getAttribute('data-square') !== old, now);
  }
  throw new Error(`no way to ${square}`);
}

/** Reloads the page; returns a function for the legal moves of the current position. */
export async function legalMoves(page: Page): Promise<() => Promise<string[]>> {
  interface Received {
    received?: { cursor: number; moves: string[] };
  }
  // In the page: the protocol of Firefox does not have the frames of web sockets.
  await page.addInitScript(() => {
    window.WebSocket = class extends WebSocket {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        this.addEventListener('message', ({ data }: MessageEvent<string>) => {
          const message = JSON.parse(data) as ToTab;
          const at =
            message.kind === 'snapshot' && message.state.kind === 'game'
              ? message.state.state
              : message.kind === 'delta' && message.delta.kind === 'game'
                ? message.delta.delta.at
                : undefined;
          if (!at) return;
          const moves = at.position.legal.map((move) => move.uci).toSorted();
          Object.assign(window, { received: { cursor: at.cursor, moves } } satisfies Received);
        });
      }
    };
  });
  await page.reload();
  return async () => {
    // The socket and the page are updated independently.
    const shown = await page.waitForFunction(
      () => {
        const { received } = window as Received;
        const cursor = document.querySelector('[data-cursor]')?.getAttribute('data-cursor');
        return received && String(received.cursor) === cursor ? received.moves : undefined;
      },
      undefined,
      LONG,
    );
    return (await shown.jsonValue()) ?? [];
  };
}
