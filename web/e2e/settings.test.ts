// Appearance settings after a reload and in another browser.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { pick } from './browser';
import { LONG, enter, clickAll, squares, useServer, visit, analysisBoard } from './fixture';
import { starts, inLanguage, language, t } from './labels';

const fixture = useServer();

const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset.theme);

inLanguage('en', () => {
  test.each([
    ['light', 'dark'],
    ['dark', 'light'],
    ['contrast', 'light'],
  ] as const)('stores the theme %s with the system scheme %s', async (wanted, colorScheme) => {
    const page = await fixture.page('#/settings', { colorScheme });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await ground();
    await expect.poll(() => theme(page)).toBe(colorScheme);
    await page.getByLabel(starts('settings.theme')).selectOption(wanted);
    await expect.poll(() => theme(page)).toBe(wanted);
    const after = await ground();
    expect(after).not.toBe(before);
    await page.reload();
    await page.getByLabel(starts('settings.theme')).waitFor();
    expect([await theme(page), await ground()]).toEqual([wanted, after]);
    // Stored by the server.
    const other = await fixture.page('#/settings', { colorScheme });
    await expect.poll(() => theme(other), LONG).toBe(wanted);
  });

  test('stores changes faster than the server responds', async () => {
    const page = await fixture.page('#/settings');
    const names = [
      t('settings.close.pause'),
      t('settings.arrows'),
      t('settings.close.analysis'),
      t('settings.announce'),
      t('settings.close.quit'),
    ];
    const chosen = () => Promise.all(names.map((name) => page.getByLabel(name, { exact: true }).isChecked()));
    await page.getByLabel(t('settings.close.analysis')).waitFor();
    const before = await chosen();
    await clickAll(page.locator('main'), names);
    const after = before.map((one) => !one);
    await expect.poll(chosen, LONG).toEqual(after);
    const other = await fixture.page('#/settings');
    await other.getByLabel(t('settings.close.analysis')).waitFor();
    const there = () => Promise.all(names.map((name) => other.getByLabel(name, { exact: true }).isChecked()));
    await expect.poll(there, LONG).toEqual(after);
  });

  test('stores the style of shogi pieces', async () => {
    const page = await fixture.page();
    const picture = () =>
      page
        .locator('sg-pieces piece.pawn')
        .first()
        .evaluate((piece) => getComputedStyle(piece).backgroundImage);
    await analysisBoard(page, 'shogi');
    await squares(page);
    await expect.poll(picture).toContain(language() === 'ja' ? '/kanji/' : '/international/');
    for (const style of ['kanji', 'brush', 'international'] as const) {
      await visit(page, t('nav.settings'));
      await pick(page, t('settings.pieces'), t(`settings.pieces.${style}`));
      await visit(page, t('nav.analyse'));
      await expect.poll(picture).toContain(`/${style}/`);
      await page.reload();
      await squares(page);
      await expect.poll(picture).toContain(`/${style}/`);
    }
  });

  test.each([
    ['reduce', 0],
    ['no-preference', 1],
  ] as const)(
    'animates pieces by the motion preference of the system (%s: %d)',
    async (reducedMotion, glides) => {
      const page = await fixture.page('', { reducedMotion });
      await analysisBoard(page);
      // Installed before the move: an animation lasts a fraction of a second.
      await page.evaluate(() => {
        const board = document.querySelector('cg-board');
        const state = Object.assign(globalThis, { animated: 0 });
        if (!board) throw new Error('no board');
        new MutationObserver(() => {
          if (board.querySelector('piece.anim')) state.animated = 1;
        }).observe(board, { subtree: true, childList: true, attributes: true });
      });
      await enter(page, 'e4');
      await page.locator('cg-board square.last-move').first().waitFor();
      await expect.poll(() => page.locator('cg-board piece.anim').count()).toBe(0);
      expect(await page.evaluate(() => Object(globalThis).animated)).toBe(glides);
    },
  );
});
