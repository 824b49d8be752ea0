// Studies: a file of several games, the order and the names of its chapters, merged and split trees, drafts.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { command, violations } from './browser';
import { LONG, listedGames, moveTexts, paste, squares, useServer } from './fixture';
import { inLanguage, starts, t } from './labels';

const fixture = useServer();

const chapter = (name: string, moves: string) =>
  `[Event "Rooks: ${name}"]\n[Site "https://lichess.org/study/a/${name}"]\n[StudyName "Rooks"]\n` +
  `[ChapterName "${name}"]\n\n${moves} *\n\n`;
const STUDY = chapter('Lucena', '1. e4') + chapter('Philidor', '1. d4') + chapter('Vancura', '1. c4');

const panel = (page: Page) => page.getByTestId('collection');
const names = async (page: Page) =>
  (await panel(page).locator('ol a.name').allTextContents()).map((text) => text.trim());
const listed = (page: Page, expected: string[]) => expect.poll(() => names(page), LONG).toEqual(expected);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim());

inLanguage('ja', () => {
  test('a file of several games is opened as a study, ordered, renamed and exported', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    await page
      .getByTestId('import-files')
      .setInputFiles({ name: 'a.pgn', mimeType: 'text/plain', buffer: Buffer.from(STUDY) });
    // The offer remains, and the keyboard reaches it.
    await button(page, t('collection.open', { count: 3 })).press('Enter', LONG);
    await listed(page, ['Lucena', 'Philidor', 'Vancura']);
    expect(new URL(page.url()).hash).toBe('#/library/1');
    expect(await violations(page)).toEqual([]);

    // By the menu, and by the keyboard: the focus moves with the chapter.
    await command(page, t('chapter.menu', { name: 'Vancura' }), t('chapter.up'));
    await listed(page, ['Lucena', 'Vancura', 'Philidor']);
    await expect.poll(() => focused(page)).toBe('Vancura');
    await page.keyboard.press('Alt+ArrowUp');
    await listed(page, ['Vancura', 'Lucena', 'Philidor']);
    await expect.poll(() => focused(page)).toBe('Vancura');
    await command(page, t('chapter.menu', { name: 'Lucena' }), t('chapter.rename'));
    await page.getByRole('textbox', { name: t('chapter.rename') }).fill('Bridge');
    await page.keyboard.press('Enter');
    await listed(page, ['Vancura', 'Bridge', 'Philidor']);
    await expect.poll(() => focused(page)).toBe('Bridge');
    await panel(page).getByLabel(t('study.search')).fill('bri');
    await listed(page, ['Bridge']);
    await panel(page).getByLabel(t('study.search')).fill('');
    await listed(page, ['Vancura', 'Bridge', 'Philidor']);
    await panel(page).getByLabel(t('collection.name'), { exact: true }).fill('Endings');
    await page.keyboard.press('Enter');
    await page
      .getByTestId('side')
      .getByRole('link', { name: /^Endings/ })
      .waitFor();
    await page.reload();
    await listed(page, ['Vancura', 'Bridge', 'Philidor']);

    const download = page.waitForEvent('download');
    await button(page, t('record.save')).click();
    const text = readFileSync(await (await download).path(), 'utf8');
    expect([...text.matchAll(/\[ChapterName "(.*)"\]/g)].map(([, name]) => name)).toEqual([
      'Vancura',
      'Bridge',
      'Philidor',
    ]);
    expect(text.split('[StudyName "Endings"]')).toHaveLength(4);
  });

  test('the open game is added to a study, whose deletion keeps the games', async () => {
    const page = await fixture.page('#/library');
    await page
      .getByTestId('import-files')
      .setInputFiles({ name: 'a.pgn', mimeType: 'text/plain', buffer: Buffer.from(STUDY) });
    await page.locator('[data-row] a').first().dblclick(LONG);
    await squares(page);
    await command(page, t('menu.more'), t('tab.record'));
    await page.getByLabel(t('collection.name')).fill('Mine');
    await page.keyboard.press('Enter');
    await page
      .locator('.toasts')
      .getByText(t('collection.added', { name: 'Mine' }))
      .waitFor(LONG);
    await page.goto(new URL('/#/library/1', page.url()).href);
    await expect.poll(async () => (await names(page)).length, LONG).toBe(1);
    const [name = ''] = await names(page);
    // The selected games are added to the same study.
    await page.goto(new URL('/#/library', page.url()).href);
    await listedGames(page).first().waitFor(LONG);
    await page.getByLabel(t('library.select.page')).check(LONG);
    const selection = page.getByTestId('selection');
    await selection.getByRole('button', { name: t('collection.add') }).click();
    await selection.getByLabel(t('collection.name')).fill('Mine');
    await page.keyboard.press('Enter');
    await page.goto(new URL('/#/library/1', page.url()).href);
    await expect.poll(async () => (await names(page)).length, LONG).toBe(4);
    await page
      .getByRole('button', { name: t('chapter.menu', { name }) })
      .first()
      .click();
    await page.getByRole('menuitem', { name: t('chapter.remove') }).click();
    await expect.poll(async () => (await names(page)).length, LONG).toBe(3);
    await button(page, t('collection.delete')).click();
    await button(page, t('collection.delete.confirm')).click();
    await panel(page).waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('[data-row] a').count(), LONG).toBe(3);
  });

  test('several pasted games open as a study, and its chapters are walked in their order', async () => {
    const page = await fixture.page('#/analyse');
    await squares(page);
    await paste(page, STUDY);
    await page.waitForURL(/#\/analyse\/\d+$/);
    const order = page.getByTestId('order');
    await order.getByText(t('order.place', { place: 1, count: 3 })).waitFor(LONG);
    expect(await order.getByRole('link').textContent()).toBe('Rooks');
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4']);
    await page.keyboard.press('PageDown');
    await order.getByText(t('order.place', { place: 2, count: 3 })).waitFor(LONG);
    await expect.poll(() => moveTexts(page), LONG).toEqual(['d4']);
    await order.getByRole('button', { name: t('order.next') }).click();
    await order.getByText(t('order.place', { place: 3, count: 3 })).waitFor(LONG);
    await expect.poll(() => moveTexts(page), LONG).toEqual(['c4']);
    expect(await order.getByRole('button', { name: t('order.next') }).isDisabled()).toBe(true);
    await page.keyboard.press('PageUp');
    await order.getByText(t('order.place', { place: 2, count: 3 })).waitFor(LONG);
    expect(await violations(page)).toEqual([]);
  });

  test('chapters next to the board are added, merged and copied; trees are split and outlined', async () => {
    const page = await fixture.page('#/analyse', { viewport: { width: 1440, height: 900 } });
    await squares(page);
    await paste(
      page,
      chapter('Open', '1. e4 e5 (1... c5 2. Nf3 (2. c3)) 2. Nf3') + chapter('Gambit', '1. e4 e5 2. f4'),
    );
    const side = page.getByTestId('board-side');
    const chapters = side.locator('ol a');
    const are = (expected: string[]) =>
      expect
        .poll(async () => (await chapters.allTextContents()).map((name) => name.trim()), LONG)
        .toEqual(expected);
    await are(['Open', 'Gambit']);
    expect(await violations(page)).toEqual([]);

    // The outline counts what was not seen, also after a reload.
    await button(page, t('study.outline')).click();
    const unseen = page.getByTestId('unseen');
    await expect.poll(() => unseen.textContent()).toBe(t('study.unseen', { count: 3 }));
    const lines = page.getByTestId('outline').getByRole('button');
    await lines.nth(1).click();
    await expect.poll(() => unseen.textContent()).toBe(t('study.unseen', { count: 2 }));
    await page.reload();
    await button(page, t('study.outline')).click();
    await expect.poll(() => unseen.textContent()).toBe(t('study.unseen', { count: 2 }));
    await button(page, t('study.outline')).click();

    // The moves of another chapter.
    await command(page, t('chapter.menu', { name: 'Gambit' }), t('chapter.merge', { name: 'Open' }));
    await page
      .locator('.toasts')
      .getByText(t('study.merged', { count: 1 }))
      .waitFor(LONG);
    await page.locator('.moves').getByText('f4').waitFor(LONG);

    // A chapter for each continuation of 1. e4.
    await page.locator('.moves .move').first().click();
    await command(page, t('moves.menu'), t('study.split'));
    await expect.poll(() => chapters.count(), LONG).toBe(4);

    // One line to another chapter.
    await page.locator('.moves').getByText('c3').click();
    await command(page, t('moves.menu'), t('study.copy_line'));
    await page.getByRole('dialog').getByRole('button', { name: 'Gambit' }).click();
    await chapters.getByText('Gambit').click();
    await side.locator('[aria-current]', { hasText: 'Gambit' }).waitFor(LONG);
    await page.locator('.moves').getByText('c3').waitFor(LONG);

    // The side at the bottom is kept in the record.
    await page.keyboard.press('f');
    await command(page, t('menu.more'), t('board.keep_side'));
    await command(page, t('menu.more'), t('tab.record'));
    await page.getByRole('button', { name: t('record.copy'), exact: true }).click();
    await expect
      .poll(() => page.getByLabel(t('record.text')).inputValue(), LONG)
      .toContain('[Orientation "black"]');
    await page.keyboard.press('Escape');
    await page.reload();
    await squares(page);
    await expect.poll(() => page.locator('.cg-wrap').getAttribute('class')).toContain('orientation-black');

    // A new chapter, a copy, and another study.
    await side.getByLabel(t('study.add_chapter')).selectOption('chess');
    await expect.poll(() => chapters.count(), LONG).toBe(5);
    await command(page, t('chapter.menu', { name: 'Gambit' }), t('chapter.duplicate'));
    await expect.poll(() => chapters.count(), LONG).toBe(6);
  });

  test('pastes leave no game in the library; a draft is saved, closed and opened again', async () => {
    const page = await fixture.page('#/analyse');
    await squares(page);
    for (const move of ['e4', 'd4', 'c4']) {
      const before = page.url();
      await paste(page, `[White "${move}"]\n\n1. ${move} *`);
      await page.waitForURL((url) => url.href !== before);
      await expect.poll(() => moveTexts(page), LONG).toEqual([move]);
    }
    await page.getByTestId('draft').getByText(t('draft.name'), { exact: true }).waitFor();
    const board = page.url();
    await page.goto(new URL('/#/library', page.url()).href);
    await page.getByText(t('library.none')).waitFor(LONG);
    await page
      .getByTestId('side')
      .getByRole('link', { name: starts('library.drafts') })
      .click();
    const drafts = page.getByTestId('drafts').getByRole('listitem');
    await expect.poll(() => drafts.count(), LONG).toBe(1);
    expect(await violations(page)).toEqual([]);
    await drafts.getByRole('button', { name: t('app.close'), exact: true }).click();
    await page.getByText(t('drafts.none')).waitFor();
    await page
      .locator('.toasts')
      .getByRole('button', { name: t('edit.undo') })
      .click();
    await drafts.getByRole('link', { name: 'c4 – ?' }).waitFor(LONG);
    await page.goto(board);
    await squares(page);
    await page.keyboard.press('Control+s');
    await page.getByTestId('draft').waitFor({ state: 'detached', ...LONG });
    await page.goto(new URL('/#/library', page.url()).href);
    await page.getByRole('link', { name: 'c4 – ?', exact: true }).waitFor(LONG);
  });
});
