// Settings of the system: contrast, color scheme and motion.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { errorsOf, sharedBrowser, violations } from './browser';
import { analysis, defaultServer, game, line, open, storePrefs, type FakeServer } from './fakeServer';
import { inLanguage, t } from './labels';

const browser = await sharedBrowser();

const PLACES = [
  'home',
  'play/new',
  'analyse/1',
  'engines',
  'engines/7/log',
  'matches',
  'training',
  'library',
  'settings',
];

function withGame(): FakeServer {
  const fake = defaultServer();
  open(fake, game(1, 'chess'), [analysis(0, [line(1, 25, [['d2d4', 'd4']])])]);
  return fake;
}

const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset.theme);

/** The computed colors of the analysis page, and the contrast ratio of its text as WCAG defines it. */
async function colors(page: Page) {
  const found = await page.evaluate(() => {
    const body = getComputedStyle(document.body);
    const strip = document.querySelector('.strip');
    const square = getComputedStyle(document.documentElement).getPropertyValue('--sq-d').trim();
    return {
      ground: body.backgroundColor,
      text: body.color,
      border: strip ? getComputedStyle(strip).borderTopColor : '',
      square,
    };
  });
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark = 0, light = 0] = [luminance(found.ground), luminance(found.text)].toSorted((a, b) => a - b);
  return { ...found, ratio: (light + 0.05) / (dark + 0.05) };
}

inLanguage('ja', () => {
  test('raises the contrast when the system prefers it', async () => {
    const fake = withGame();
    // Animated colors would disturb the comparison.
    const page = await fake.page(browser, '#/analyse/1', { contrast: 'more', reducedMotion: 'reduce' });
    const errors = errorsOf(page);
    await page.locator('.strip').first().waitFor();
    await expect.poll(() => theme(page)).toBe('contrast');
    const more = await colors(page);
    expect(more.ratio).toBeGreaterThan(20);
    for (const place of PLACES) {
      await page.goto(`http://readyok.test/#/${place}`);
      await page.locator('h1').first().waitFor({ state: 'attached' });
      expect(await violations(page), place).toEqual([]);
    }
    // A change of the setting has an immediate effect.
    await page.goto('http://readyok.test/#/analyse/1');
    await page.locator('.strip').first().waitFor();
    await page.emulateMedia({ contrast: 'no-preference', colorScheme: 'light' });
    await expect.poll(() => theme(page)).toBe('light');
    const usual = await colors(page);
    for (const name of ['ground', 'text', 'border', 'square'] as const)
      expect(usual[name], name).not.toBe(more[name]);
    expect(usual.ratio).toBeLessThan(more.ratio);
    await page.emulateMedia({ contrast: 'more' });
    await expect.poll(() => theme(page)).toBe('contrast');
    expect(await colors(page)).toEqual(more);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('prefers the theme of the user to that of the system', async () => {
    const fake = withGame();
    storePrefs(fake, { theme: 'light' });
    const page = await fake.page(browser, '#/settings', { contrast: 'more', colorScheme: 'dark' });
    const choice = page.getByLabel(t('settings.theme'));
    await expect.poll(() => choice.inputValue()).toBe('light');
    expect(await theme(page)).toBe('light');
    await choice.selectOption({ label: t('settings.theme.auto') });
    await expect.poll(() => theme(page)).toBe('contrast');
    await page.context().close();
  });

  test('follows the color scheme of the system', async () => {
    const page = await withGame().page(browser, '#/analyse/1', {
      colorScheme: 'dark',
      reducedMotion: 'reduce',
    });
    await page.locator('.strip').first().waitFor();
    await expect.poll(() => theme(page)).toBe('dark');
    const dark = await colors(page);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(() => theme(page)).toBe('light');
    expect((await colors(page)).ground).not.toBe(dark.ground);
    await page.context().close();
  });

  test('has no transitions when the system prefers reduced motion', async () => {
    const page = await withGame().page(browser, '#/analyse/1');
    const button = page.getByRole('button', { name: t('board.flip') });
    const duration = () => button.evaluate((element) => getComputedStyle(element).transitionDuration);
    expect(await duration()).toContain('0.09s');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await expect.poll(duration).toBe('0s');
    await page.context().close();
  });
});
