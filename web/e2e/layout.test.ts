// The layout of games: nothing overflows or is covered, and the board uses the window.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { SIZES, sharedBrowser, layoutFaults, showPane, violations } from './browser';
import { defaultServer, open, storePrefs } from './fakeServer';
import { en, ja, inLanguage, language, t } from './labels';
import { analyzed, longGame } from './samples';

const browser = await sharedBrowser();

const boxOf = async (page: Page, selector: string) => {
  const box = await page.locator(selector).first().boundingBox();
  if (!box) throw new Error(`${selector} is not visible`);
  return box;
};

test.each(['en', 'ja'] as const)(
  'fits the form of a new game into windows of all sizes (%s)',
  async (language) => {
    for (const [width, height] of SIZES) {
      const fake = defaultServer();
      storePrefs(fake, { language });
      const page = await fake.page(browser, '#/play/new', { viewport: { width, height } });
      await page.locator('form.new').waitFor();
      expect([width, ...(await layoutFaults(page))]).toEqual([width]);
      const text = language === 'en' ? en : ja;
      const button = await page.getByRole('button', { name: text('new.begin'), exact: true }).boundingBox();
      if (width > 900) expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(height);
      await page.context().close();
    }
  },
);

inLanguage('ja', () => {
  test('puts the hands of shogi next to the board and selects pieces there', async () => {
    const fake = analyzed('shogi', language());
    const sfen = 'lnsgkgsnl/1r5b1/pppppp1pp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b Pp 1';
    const state = longGame('shogi', 4, 0);
    const drop = {
      uci: 'P*5e',
      from: null,
      drop: 'P',
      to: ['5e'],
      promotion: null,
      text: { western: "P'5e" },
    };
    open(fake, { ...state, position: { ...state.position, text: sfen, legal: [drop] } });
    const page = await fake.page(browser, '#/analyse/5', { viewport: { width: 1440, height: 900 } });
    const hand = page.locator('[data-square="first:P"]');
    await hand.waitFor({ state: 'attached' });
    const [cell, board] = [await hand.boundingBox(), await boxOf(page, '.square')];
    expect(cell?.x).toBeGreaterThan(board.x + board.width);
    const upper = await page.locator('[data-square="second:P"]').boundingBox();
    expect((upper?.x ?? 0) + (upper?.width ?? 0)).toBeLessThan(board.x);
    // The overlay for screen readers matches the pieces below it.
    const middle = (box: typeof cell) => [
      (box?.x ?? 0) + (box?.width ?? 0) / 2,
      (box?.y ?? 0) + (box?.height ?? 0) / 2,
    ];
    const pieces = page.locator('sg-hp-wrap[data-nb="1"] piece');
    for (const [index, box] of [upper, cell].entries()) {
      const piece = await pieces.nth(index).boundingBox();
      const [x = 0, y = 0] = middle(box);
      const [px = 0, py = 0] = middle(piece);
      expect(Math.hypot(x - px, y - py)).toBeLessThan(6);
    }
    const [x = 0, y = 0] = middle(cell);
    await page.mouse.click(x, y);
    const target = await page.locator('[data-square="5e"]').boundingBox();
    const [tx = 0, ty = 0] = middle(target);
    await page.mouse.click(tx, ty);
    await expect
      .poll(() => fake.commands.find(({ kind }) => kind === 'move'))
      .toEqual({ kind: 'move', game: 5, node: 0, text: 'P*5e' });
    await page.context().close();
  });
});

test.each(['en', 'ja'] as const)(
  'resizes the board by keyboard and mouse, and remembers its size (%s)',
  async (language) => {
    const text = language === 'en' ? en : ja;
    const fake = analyzed('shogi', language);
    const page = await fake.page(browser, '#/analyse/5', { viewport: { width: 1440, height: 900 } });
    const before = await boxOf(page, '.square');
    const sizer = page.getByRole('slider', { name: text('board.size') });
    await sizer.press('Home');
    await expect.poll(async () => (await boxOf(page, '.square')).width).toBeLessThan(before.width * 0.5);
    await page.reload();
    await expect.poll(() => sizer.getAttribute('aria-valuenow')).toBe('40');
    await sizer.press('End');
    await expect.poll(async () => (await boxOf(page, '.square')).width).toBe(before.width);
    // By the mouse, too.
    const handle = await sizer.boundingBox();
    await page.mouse.move((handle?.x ?? 0) + 8, (handle?.y ?? 0) + 8);
    await page.mouse.down();
    await page.mouse.move((handle?.x ?? 0) - 92, (handle?.y ?? 0) - 92, { steps: 4 });
    await page.mouse.up();
    expect((await boxOf(page, '.square')).width).toBeLessThan(before.width - 50);
    await page.context().close();
  },
);

test.each(['en', 'ja'] as const)(
  'folds variations, numbers their moves, and steps by the wheel (%s)',
  async (language) => {
    const text = language === 'en' ? en : ja;
    const fake = analyzed('chess', language);
    fake.answer = (command) => {
      if (command.kind === 'go_to')
        fake.delta('game/5', {
          kind: 'game',
          delta: { at: { cursor: command.node, position: longGame('chess', 4, 0).position, opening: null } },
        });
      return { kind: 'done' };
    };
    const page = await fake.page(browser, '#/analyse/5', { viewport: { width: 1440, height: 900 } });
    const variations = page.getByTestId('variation');
    await expect.poll(() => variations.count()).toBe(2);
    const trimmed = (value: string | null) => (value ?? '').replace(/\s+/g, ' ').trim();
    // Lines of engines have move numbers.
    expect(trimmed(await page.locator('.pv').first().textContent())).toMatch(
      /^3\. ?e4 e5 ?4\. ?Nf3 Nc6 ?5\./,
    );
    const first = async () => trimmed(await variations.first().textContent());
    expect((await first()).replaceAll(' ', '')).toBe('2.Nc6e43.e53.e5Nf33…Nf3');
    const inner = await variations.nth(1).boundingBox();
    const outer = await variations.first().boundingBox();
    expect(inner?.x).toBeGreaterThan(outer?.x ?? 0);
    await variations
      .first()
      .getByRole('button', { name: new RegExp(text('moves.fold')) })
      .first()
      .click();
    await expect.poll(() => variations.count()).toBe(1);
    // A step into a folded variation unfolds it.
    fake.delta('game/5', {
      kind: 'game',
      delta: { at: { cursor: 20_011, position: longGame('chess', 4, 0).position, opening: null } },
    });
    await expect.poll(() => variations.count()).toBe(2);
    await expect.poll(() => page.locator('.moves [aria-current]').getAttribute('data-node')).toBe('20011');
    const board = await boxOf(page, '.square');
    await page.mouse.move(board.x + 200, board.y + 200);
    await page.mouse.wheel(0, -100);
    await expect.poll(() => page.locator('[data-cursor]').getAttribute('data-cursor')).toBe('20010');
    await page.mouse.wheel(0, 100);
    await expect.poll(() => page.locator('[data-cursor]').getAttribute('data-cursor')).toBe('20011');
    await page.context().close();
  },
);

inLanguage('ja', () => {
  test('shows figurines when they are enabled', async () => {
    const fake = analyzed('chess', language());
    storePrefs(fake, { figurines: 'true', language: language() });
    const page = await fake.page(browser, '#/analyse/5');
    await expect.poll(() => page.locator('.moves').textContent()).toContain('♘f3');
    await page.context().close();
  });

  test('stays responsive with 10,000 moves', async () => {
    const fake = analyzed('chess', language(), 10_000);
    const page = await fake.page(browser, '#/analyse/5', { viewport: { width: 1440, height: 900 } });
    await page.locator('.moves [aria-current]').waitFor();
    // CPU time does not depend on other programs.
    const debug = await page.context().newCDPSession(page);
    await debug.send('Performance.enable', { timeDomain: 'threadTicks' });
    const cpu = async () => {
      const { metrics } = await debug.send('Performance.getMetrics');
      return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
    };
    const steps: number[] = [];
    for (let cursor = 5; cursor < 15; cursor++) {
      const started = await cpu();
      fake.delta('game/5', {
        kind: 'game',
        delta: { at: { cursor, position: longGame('chess', 4, 0).position, opening: null } },
      });
      await page.locator(`.moves [data-node="${cursor}"][aria-current]`).waitFor();
      steps.push((await cpu()) - started);
    }
    steps.sort((a, b) => a - b);
    expect(steps[5]).toBeGreaterThan(0);
    expect(steps[5]).toBeLessThan(150);
    await page.context().close();
  });
});

inLanguage('ja', () => {
  test('shows messages on phones next to the page, not over it', async () => {
    const fake = analyzed('chess', language());
    // Each click on a line fails for another reason.
    const codes = ['no_response', 'output_closed', 'missing_limit'] as const;
    let clicks = 0;
    fake.answer = ({ kind }) =>
      kind === 'edit'
        ? { category: 'conflict', error: { code: codes[clicks++ % codes.length] ?? 'output_closed' } }
        : { kind: 'done' };
    const [width, height] = SIZES[0];
    const page = await fake.page(browser, '#/analyse/5', { viewport: { width, height } });
    // Messages stay, however slow the test is.
    await page.addInitScript(() => {
      const original = window.setTimeout;
      const short = (act: () => void, time = 0) => (time < 5000 ? original(act, time) : 0);
      Object.assign(window, { setTimeout: short });
    });
    await page.reload();
    await showPane(page, t('tab.engine'));
    const move = page.getByTestId('line').locator('.pv button').last();
    await move.waitFor();
    const before = await boxOf(page, 'main');
    const toasts = page.locator('.toast');
    for (const count of [1, 2, 3]) {
      await move.click();
      await expect.poll(() => toasts.count()).toBe(count);
    }
    // A board hides the navigation of phones.
    const [main, messages] = [await boxOf(page, 'main'), await boxOf(page, '.toasts')];
    expect(messages.height).toBeGreaterThan(100);
    expect(main.y + main.height).toBeLessThanOrEqual(messages.y + 1);
    expect(messages.y + messages.height).toBeLessThanOrEqual(height + 1);
    expect(await layoutFaults(page)).toEqual([]);
    expect(await violations(page)).toEqual([]);
    // All engines can be read and operated by scrolling.
    const covered = await page.locator('[data-testid=engine-panel] button').evaluateAll((buttons) =>
      buttons
        .filter((button) => {
          button.scrollIntoView({ block: 'nearest' });
          const { x, y, width: wide, height: high } = button.getBoundingClientRect();
          return document.elementFromPoint(x + wide / 2, y + high / 2)?.closest('.toasts, nav');
        })
        .map((button) => button.ariaLabel ?? button.textContent),
    );
    expect(covered).toEqual([]);
    // Dismissed messages leave no room.
    for (const left of [2, 1, 0]) {
      await toasts.first().getByRole('button').click();
      await expect.poll(() => toasts.count()).toBe(left);
    }
    expect((await boxOf(page, 'main')).height).toBe(before.height);
    await page.context().close();
  });
});
