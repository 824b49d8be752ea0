// The command palette and the keys of pages.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { layoutFaults, sentBodies, sharedBrowser, violations } from './browser';
import { defaultServer, game, gameLine, open } from './fakeServer';
import { paste } from './fixture';
import { inLanguage, t } from './labels';

const browser = await sharedBrowser();

const field = (page: Page) => page.getByRole('combobox', { name: t('palette.open') });
const options = (page: Page) => page.getByRole('dialog').getByRole('option');
const titles = async (page: Page) =>
  (await options(page).locator('span:first-of-type').allTextContents()).map((title) => title.trim());

function server() {
  const fake = defaultServer();
  const names = { first: 'Morphy', second: 'Anderssen' };
  for (const id of [3, 4, 6]) open(fake, game(id, 'chess'));
  fake.topics.set('games', { kind: 'games', state: { games: [gameLine(3, { names }), gameLine(4)] } });
  fake.http.set('library/search', {
    games: [
      {
        id: 6,
        variant: 'chess',
        names: { first: 'Morphy', second: 'Paulsen' },
        ratings: { first: null, second: null },
        result: '0-1',
        termination: null,
        date: '1857',
        event: 'New York',
        opening: null,
        plies: 40,
        added: 0,
        changed: 0,
        source: 'import',
        labels: [],
        evaluated: true,
        commented: true,
      },
    ],
    total: 1,
    labels: [],
    undecided: 0,
  });
  fake.http.set('import', { games: [], total: 1, opened: 6, errors: [], warnings: [] });
  fake.answer = (command) =>
    command.kind === 'open_game' ? { kind: 'game', game: command.game } : { kind: 'done' };
  return fake;
}

inLanguage('ja', () => {
  test('finds boards, commands, settings and games of the library', async () => {
    const fake = server();
    const page = await fake.page(browser, '#/analyse/3');
    await page.locator('[data-square]').first().waitFor({ state: 'attached' });
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    // Without a text: the boards, then the commands that are possible on this page.
    await expect.poll(() => titles(page)).toContain('Morphy – Anderssen');
    expect(await titles(page)).toContain(t('board.flip'));
    expect(await titles(page)).not.toContain(t('play.takeback'));
    expect(await violations(page)).toEqual([]);
    expect(await layoutFaults(page)).toEqual([]);
    await field(page).fill('morphy');
    await expect
      .poll(async () => (await titles(page)).map((title) => title.split(' –')[1]))
      .toEqual([' Anderssen', ' Paulsen 0-1']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/analyse/6');
    expect(await page.getByRole('dialog').count()).toBe(0);
    // A setting; it also works in a text field.
    await page.locator('#entry').focus();
    await page.keyboard.press('Control+k');
    await field(page).fill(t('settings.theme.dark'));
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
    // Sets of pieces and boards.
    await page.keyboard.press('Control+k');
    await field(page).fill(`${t('settings.chess_board')} ${t('settings.board.sea')}`);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset['chessBoard'])).toBe('sea');
    await page.keyboard.press('Control+k');
    await field(page).fill(t('settings.pieces.brush'));
    await page.keyboard.press('Enter');
    await expect
      .poll(() => fake.commands.findLast(({ kind }) => kind === 'set_settings'))
      .toMatchObject({ settings: { page: { shogiPieces: 'brush' } } });
    // The English name of a page in each language.
    await page.keyboard.press('Control+k');
    await field(page).fill('training');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/training');
    await page.context().close();
  });

  test('opens positions and offers to import records', async () => {
    const fake = server();
    const page = await fake.page(browser, '#/home');
    const imported = await sentBodies(page, '/api/import');
    await page.getByRole('button', { name: t('palette.open') }).click();
    await field(page).fill('xyzzy');
    await page.getByText(t('palette.none')).waitFor();
    await field(page).fill('8/8/8/4k3/8/8/4P3/4K3 w - - 0 1');
    await expect.poll(() => titles(page)).toContain(t('palette.position'));
    await field(page).fill('lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1');
    await expect.poll(() => titles(page)).toContain(t('palette.position'));
    const record = '[White "A"]\n\n1. e4 e5 *\n';
    await paste(page, record, field(page));
    await expect.poll(() => titles(page)).toEqual([t('palette.import')]);
    await page.keyboard.press('Enter');
    // With its line breaks.
    await expect.poll(imported).toEqual([record]);
    await expect.poll(() => page.url()).toContain('#/analyse/6');
    await page.context().close();
  });

  test('opens pages by keys', async () => {
    const page = await server().page(browser, '#/home');
    await page.getByRole('heading', { level: 1, name: t('nav.home') }).waitFor();
    const pages = { l: 'library', t: 'training', m: 'matches', e: 'engines', s: 'settings', h: 'home' };
    for (const [key, name] of Object.entries(pages)) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await expect.poll(() => page.url()).toContain(`#/${name}`);
    }
    await page.keyboard.press('4');
    await expect.poll(() => page.url()).toContain('#/library');
    await page.context().close();
  });
});
