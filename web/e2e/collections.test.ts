// Collections: a file of several games, the order and the names of its chapters, the open game, deletion.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './browser';
import { LONG, squares, useServer } from './fixture';
import { inBothLanguages, t } from './labels';

const fixture = useServer();

const chapter = (name: string, moves: string) =>
  `[Event "Rooks: ${name}"]\n[Site "https://lichess.org/study/a/${name}"]\n[StudyName "Rooks"]\n` +
  `[ChapterName "${name}"]\n\n${moves} *\n\n`;
const STUDY = chapter('Lucena', '1. e4') + chapter('Philidor', '1. d4') + chapter('Vancura', '1. c4');

const panel = (page: Page) => page.getByTestId('collections');
const names = async (page: Page) =>
  (await panel(page).locator('ol button.name').allTextContents()).map((text) => text.trim());
const listed = (page: Page, expected: string[]) => expect.poll(() => names(page), LONG).toEqual(expected);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));

inBothLanguages(() => {
  test('a file of several games is opened as a collection, ordered, renamed and exported', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.pgn', mimeType: 'text/plain', buffer: Buffer.from(STUDY) });
    // The offer remains, and the keyboard reaches it.
    await button(page, t('collection.open', { count: 3 })).press('Enter', LONG);
    await listed(page, ['Lucena', 'Philidor', 'Vancura']);
    expect(new URL(page.url()).hash).toBe('#/library/1');
    expect(await violations(page)).toEqual([]);

    const up = button(page, t('chapter.up', { name: 'Vancura' }));
    await up.press('Enter');
    await listed(page, ['Lucena', 'Vancura', 'Philidor']);
    // The focus moves with the chapter; at the top it is on the other button.
    await page.keyboard.press('Enter');
    await listed(page, ['Vancura', 'Lucena', 'Philidor']);
    await expect.poll(() => focused(page)).toBe(t('chapter.down', { name: 'Vancura' }));
    await button(page, t('chapter.rename', { name: 'Lucena' })).press('Enter');
    await page.getByRole('textbox', { name: t('chapter.rename', { name: 'Lucena' }) }).fill('Bridge');
    await page.keyboard.press('Enter');
    await listed(page, ['Vancura', 'Bridge', 'Philidor']);
    await expect.poll(() => focused(page)).toBe(t('chapter.rename', { name: 'Bridge' }));
    await panel(page).getByLabel(t('collection.name'), { exact: true }).fill('Endings');
    await page.keyboard.press('Enter');
    await panel(page).getByRole('link', { name: 'Endings' }).waitFor();
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

  test('the open game is added to a collection, whose deletion keeps the games', async () => {
    const page = await fixture.page('#/library');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.pgn', mimeType: 'text/plain', buffer: Buffer.from(STUDY) });
    await page.locator('tbody button.name').first().click(LONG);
    await squares(page);
    await page.getByRole('tab', { name: t('tab.record') }).click();
    await page.getByLabel(t('collection.name')).fill('Mine');
    await page.keyboard.press('Enter');
    await page
      .locator('.toasts')
      .getByText(t('collection.added', { name: 'Mine' }))
      .waitFor(LONG);
    await page.goto(new URL('/#/library/1', page.url()).href);
    await expect.poll(async () => (await names(page)).length, LONG).toBe(1);
    const [name = ''] = await names(page);
    // The selected games are added to the same collection.
    await page.getByLabel(t('library.select.page')).check();
    await page.getByLabel(t('collection.name')).last().fill('Mine');
    await button(page, t('collection.add')).click();
    await expect.poll(async () => (await names(page)).length, LONG).toBe(4);
    await button(page, t('chapter.remove', { name })).first().click();
    await expect.poll(async () => (await names(page)).length, LONG).toBe(3);
    await button(page, t('collection.delete')).click();
    await button(page, t('collection.delete.confirm')).click();
    await panel(page).waitFor({ state: 'detached' });
    expect(await page.locator('tbody button.name').count()).toBe(3);
  });
});
