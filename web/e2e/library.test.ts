// The library: import with progress and cancellation, duplicates, export, labels, deletion with undo, sorting.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './browser';
import { LONG, useServer } from './fixture';
import { inBothLanguages, t } from './labels';

const fixture = useServer();

const game = (white: string, black: string, date: string, moves: string) =>
  `[White "${white}"]\n[Black "${black}"]\n[Date "${date}"]\n[Result "1-0"]\n\n${moves} 1-0\n\n`;
const GAMES =
  game('Ann', 'Bob', '2026.01.01', '1. e4 e5 2. Nf3') +
  game('Cid', 'Ann', '2025.01.01', '1. d4 d5') +
  game('Dan', 'Eve', '2024.01.01', '1. c4');

/** Many different games. */
const many = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    game(`P${index}`, 'Q', '2026.01.01', '1. e4 e5 2. Nf3 Nc6'),
  ).join('');

const rows = (page: Page) => page.locator('tbody tr:has([type=checkbox])');
const names = async (page: Page) =>
  (await rows(page).locator('button.name').allTextContents()).map((text) => text.trim());
const total = (page: Page, count: number) =>
  expect.poll(() => page.getByText(`/ ${count}`, { exact: false }).count(), LONG).toBeGreaterThan(0);

async function upload(page: Page, text: string) {
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'a.pgn', mimeType: 'text/plain', buffer: Buffer.from(text) });
}

async function library(text = GAMES) {
  const page = await fixture.page('#/library');
  await page.getByText(t('library.none')).waitFor();
  await upload(page, text);
  await page
    .locator('.toasts')
    .getByText(t('record.done', { count: 3 }))
    .waitFor(LONG);
  await expect.poll(() => rows(page).count(), LONG).toBe(3);
  return page;
}

async function downloaded(page: Page, button: string) {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  return readFileSync(await (await download).path(), 'utf8');
}

inBothLanguages(() => {
  test('shows the progress of an upload, which can be cancelled', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    await upload(page, many(60_000));
    const sending = page.getByTestId('upload');
    await sending.getByRole('progressbar').waitFor();
    await expect
      .poll(() => sending.getByRole('progressbar').evaluate((bar: HTMLProgressElement) => bar.value), LONG)
      .toBeGreaterThan(0);
    await sending.getByRole('button', { name: t('app.cancel') }).click();
    await sending.waitFor({ state: 'detached' });
    // The library can be used afterwards.
    await upload(page, GAMES);
    await page
      .locator('.toasts')
      .getByText(t('record.done', { count: 3 }))
      .waitFor(LONG);
    await page.getByLabel(t('library.player'), { exact: true }).fill('Eve');
    await expect.poll(() => names(page), LONG).toEqual(['Dan – Eve']);
  });

  test('lists the defects of an upload', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    await upload(
      page,
      `${game('Ann', 'Bob', '2026.01.01', '1. e4 e5 2. Ke3')}[White "Cid"]\n\n1. d4 zzz *\n`,
    );
    const list = page.getByTestId('defects');
    await list.getByText(t('job.notices', { count: 2 })).click();
    await list.getByText(new RegExp(`${t('location.line', { line: 6 })}, .*: Ke3`)).waitFor();
    await list.getByText(/zzz/).waitFor();
    expect(await violations(page)).toEqual([]);
    await list.getByRole('button', { name: t('job.dismiss') }).click();
    await list.waitFor({ state: 'detached' });
    await expect.poll(() => rows(page).count(), LONG).toBe(2);
  });

  test('imports a file of the server, which is cancelled and resumed', async () => {
    writeFileSync(join(fixture.server.data, 'many.pgn'), many(5_000));
    const page = await fixture.page('#/library');
    await page.getByRole('button', { name: t('library.import_file') }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /readyok-e2e-/ }).click();
    await dialog.getByRole('button', { name: /^\s*many\.pgn/ }).click();
    const job = page.getByTestId('job');
    await job.getByRole('button', { name: t('report.cancel') }).click();
    await job.and(page.locator('[data-status=stopped]')).waitFor(LONG);
    await job.getByRole('button', { name: t('report.resume') }).click();
    await job.and(page.locator('[data-status=done]')).waitFor(LONG);
    // Each game is imported once.
    await job.getByText(t('record.done', { count: 5_000 })).waitFor();
    await total(page, 5_000);
    expect(await violations(page)).toEqual([]);
  });

  test('exports the games of a search', async () => {
    const page = await library();
    await page.getByLabel(t('library.player'), { exact: true }).fill('Ann');
    await expect.poll(() => rows(page).count(), LONG).toBe(2);
    const text = await downloaded(page, t('library.export_found'));
    expect(text).toContain('[White "Ann"]');
    expect(text).toContain('[White "Cid"]');
    expect(text).not.toContain('Dan');
    await rows(page).first().getByRole('checkbox').check();
    expect((await downloaded(page, t('library.export_selected'))).split('[White ')).toHaveLength(2);
  });

  test('filters by dates, which may be incomplete, in the format of the list', async () => {
    const page = await library();
    const [from, until] = [page.getByLabel(t('library.from')), page.getByLabel(t('library.until'))];
    const shown = () => rows(page).locator('td.nowrap').allTextContents();
    await expect.poll(shown, LONG).toContain('2026-01-01');
    await from.fill('2025');
    await expect.poll(() => names(page), LONG).toEqual(['Cid – Ann', 'Ann – Bob']);
    await until.fill('2025-06');
    await expect.poll(() => names(page), LONG).toEqual(['Cid – Ann']);
    await from.fill('');
    await until.fill('2024.01.01');
    await expect.poll(() => names(page), LONG).toEqual(['Dan – Eve']);
    // An invalid date is explained and ignored.
    await until.fill('2024-13');
    await until.blur();
    await page.getByText(t('library.date.invalid')).waitFor();
    expect(await until.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => names(page), LONG).toHaveLength(3);
    expect(await violations(page)).toEqual([]);
  });

  test('skips duplicates, adds them on request, and finds them later', async () => {
    const page = await library();
    await upload(page, GAMES);
    await page
      .locator('.toasts')
      .getByText(t('record.duplicates', { count: 3 }))
      .waitFor(LONG);
    await expect.poll(() => rows(page).count()).toBe(3);
    await page.getByLabel(t('library.duplicates_of_import')).selectOption('keep');
    await upload(page, GAMES);
    await expect.poll(() => rows(page).count(), LONG).toBe(6);
    await page.getByRole('button', { name: t('library.duplicates') }).click();
    const found = page.getByTestId('duplicates');
    await expect.poll(() => found.locator('li').count(), LONG).toBe(3);
    expect(await violations(page)).toEqual([]);
    await page.getByText(t('library.selected', { count: 3 })).waitFor();
    await page.getByRole('button', { name: t('library.delete'), exact: true }).click();
    await page.getByRole('button', { name: t('library.delete.confirm') }).click();
    await expect.poll(() => rows(page).count(), LONG).toBe(3);
  });

  test('asks what to do with duplicates', async () => {
    const page = await fixture.page('#/library');
    const found = (count: number) => expect.poll(() => rows(page).count(), LONG).toBe(count);
    await upload(page, GAMES);
    await found(3);
    await page.getByLabel(t('library.duplicates_of_import')).selectOption('ask');
    await upload(page, GAMES + game('New', 'Player', '2026.02.02', '1. b3 b6'));
    const panel = page.getByTestId('undecided');
    await panel.getByRole('heading', { name: t('record.undecided', { count: 3 }) }).waitFor(LONG);
    // The new game is added; the duplicates wait, also after the page is loaded again.
    await found(4);
    await page.reload();
    await panel.getByRole('heading', { name: t('record.undecided', { count: 3 }) }).waitFor(LONG);
    await expect.poll(() => panel.locator('li').first().textContent()).toContain('Ann – Bob');
    expect(await violations(page)).toEqual([]);
    await panel.locator('li', { hasText: 'Dan – Eve' }).getByRole('checkbox').uncheck();
    await panel.getByRole('button', { name: t('library.undecided.keep') }).click();
    await found(6);
    await panel.getByRole('heading', { name: t('record.undecided', { count: 1 }) }).waitFor(LONG);
    await panel.getByRole('button', { name: t('library.undecided.replace') }).click();
    await panel.waitFor({ state: 'detached' });
    await found(6);
  });

  test('finds games by minimum rating and time control', async () => {
    const rated = (white: string, rating: number, control: string) =>
      `[White "${white}"]\n[Black "B"]\n[WhiteElo "${rating}"]\n[BlackElo "${rating}"]\n` +
      `[TimeControl "${control}"]\n\n1. e4 e5 *\n\n`;
    const page = await library(
      rated('Ann', 2400, '180+2') + rated('Cid', 1500, '180+2') + rated('Dan', 2500, '5400+30'),
    );
    await page.getByLabel(t('library.min_rating')).fill('2000');
    await expect.poll(async () => (await names(page)).toSorted(), LONG).toEqual(['Ann – B', 'Dan – B']);
    await page.getByLabel(t('library.speed')).selectOption('blitz');
    await expect.poll(() => names(page), LONG).toEqual(['Ann – B']);
  });

  test('deletes all found games and restores them with their labels', async () => {
    const page = await library();
    const before = await names(page);
    await page.getByLabel(t('library.select.page')).check();
    const bar = page.getByText(t('library.selected', { count: 3 })).locator('..');
    await bar.getByLabel(t('library.label')).fill('study');
    await bar.getByRole('button', { name: t('library.label.set') }).click();
    await expect.poll(() => page.locator('tbody .chip').count(), LONG).toBe(3);
    await bar.getByRole('button', { name: t('library.delete'), exact: true }).click();
    await bar.getByRole('button', { name: t('library.delete.confirm') }).click();
    await page.getByText(t('library.none')).waitFor();
    await page.getByRole('button', { name: t('library.restore') }).click();
    await expect.poll(() => page.locator('tbody .chip').count(), LONG).toBe(3);
    await expect.poll(() => names(page)).toEqual(before);
    await rows(page).first().getByRole('checkbox').check();
    await bar
      .page()
      .getByText(t('library.selected', { count: 1 }))
      .locator('..')
      .getByLabel(t('library.label'))
      .fill('study');
    await page.getByRole('button', { name: t('library.label.remove') }).click();
    await expect.poll(() => page.locator('tbody .chip').count(), LONG).toBe(2);
  });

  test('sorts by columns and counts full moves', async () => {
    const page = await library();
    const header = (name: string) => page.getByRole('columnheader', { name }).getByRole('button');
    await header(t('library.players')).click();
    await expect.poll(() => names(page), LONG).toEqual(['Ann – Bob', 'Cid – Ann', 'Dan – Eve']);
    await header(t('library.players')).click();
    await expect.poll(() => names(page), LONG).toEqual(['Dan – Eve', 'Cid – Ann', 'Ann – Bob']);
    await header(t('library.date')).click();
    await expect.poll(() => names(page), LONG).toEqual(['Ann – Bob', 'Cid – Ann', 'Dan – Eve']);
    const moves = await rows(page).locator('td:nth-child(7)').allTextContents();
    expect(moves).toEqual(['2', '1', '1']);
    await expect.poll(() => rows(page).first().textContent()).toContain('2026-01-01');
  });
});
