// The library: import with progress and cancellation, duplicates, export, labels, deletion with undo, sorting.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { violations } from './browser';
import {
  LONG,
  WHOLE,
  analysisBoard,
  enter,
  moveElements,
  openChip,
  saveDraft,
  squares,
  startMatch,
  useServer,
  visit,
} from './fixture';
import type { Key } from '../src/i18n/en';
import { inLanguage, starts, t } from './labels';

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

const rows = (page: Page) => page.locator('[data-row]:has([type=checkbox])');
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const names = (page: Page) =>
  rows(page)
    .getByRole('link')
    .evaluateAll((links) => links.map((one) => one.getAttribute('aria-label')));
const cells = (page: Page, column: number) => rows(page).locator(`> :nth-child(${column})`).allTextContents();
const total = (page: Page, count: number) =>
  expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount'), LONG).toBe(String(count + 1));

const white = () => t('side.white');

/** Opens a menu of the head. */
const menu = (page: Page, name: Key) => page.getByRole('button', { name: t(name), exact: true }).click();

async function upload(page: Page, text: string) {
  await page
    .getByTestId('import-files')
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
  await menu(page, button === t('library.export_found') ? 'library.more' : 'record.export');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  return readFileSync(await (await download).path(), 'utf8');
}

inLanguage('en', () => {
  test('shows the progress of an upload after a reload, and it can be cancelled', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    await upload(page, many(60_000));
    const row = page.getByTestId('job');
    await row.getByRole('progressbar').waitFor(LONG);
    // The server reads what the tab sends: another tab shows it as well.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByTestId('job').getByRole('progressbar').waitFor(LONG);
    await row.getByRole('button', { name: t('report.cancel') }).click();
    await row.waitFor({ state: 'detached', ...LONG });
    await page.reload();
    await page.getByTestId('import').and(page.locator('[data-status=stopped]')).waitFor(LONG);
    // The library can be used afterwards.
    await upload(page, GAMES);
    await page
      .locator('.toasts')
      .getByText(t('record.done', { count: 3 }))
      .waitFor(LONG);
    await page.getByLabel(t('library.search')).fill('Eve');
    await expect.poll(() => names(page), LONG).toEqual(['Dan – Eve']);
  });

  test('lists the errors of an upload, also after a reload', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    const bad = '[White "Cid"]\n[FEN "nothing"]\n\n1. d4 *\n\n';
    await upload(page, `${game('Ann', 'Bob', '2026.01.01', '1. e4 e5 2. Ke3')}${bad}`);
    const entry = page.getByTestId('import');
    await entry.and(page.locator('[data-status=done]')).waitFor(LONG);
    await page.reload();
    await entry.getByRole('button', { name: t('job.errors', { count: 2 }) }).click(LONG);
    const list = page.getByTestId('faults');
    await list.getByText(new RegExp(`a\\.pgn: .*${t('location.line', { line: 6 })}.*Ke3`)).waitFor();
    expect(await violations(page)).toEqual([]);
    const dialog = page.getByRole('dialog');
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: t('record.save') }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toMatch(/a\.pgn: .*Ke3/);
    await page.keyboard.press('Escape');
    await entry.getByRole('button', { name: t('job.dismiss') }).click();
    await entry.waitFor({ state: 'detached' });
  });

  test('opens games by double click, middle click and keyboard, with a preview', async () => {
    const page = await library();
    await link(page, 'Cid – Ann').click();
    const preview = page.getByTestId('preview');
    await preview.getByRole('heading', { name: 'Cid – Ann' }).waitFor();
    expect(await preview.getByTestId('ply').textContent()).toBe('2 / 2');
    await preview.getByRole('button', { name: t('step.first'), exact: true }).click();
    await expect.poll(() => preview.getByTestId('ply').textContent()).toBe('0 / 2');
    // ↓, ↑ and X.
    await link(page, 'Cid – Ann').focus();
    const [first = '', second = '', third = ''] = (await names(page)).map(String);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await preview.getByRole('heading', { name: second }).waitFor();
    await page.keyboard.press('x');
    await page
      .getByTestId('selection')
      .getByText(t('library.selected', { count: 1 }))
      .waitFor();
    await page.keyboard.press('End');
    await preview.getByRole('heading', { name: third }).waitFor();
    await page.keyboard.press('ArrowUp');
    await preview.getByRole('heading', { name: second }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    // The preview has squares, too.
    await page.waitForURL(/#\/analyse\/\d+$/);
    await squares(page);
    await page.goBack();
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      link(page, first).click({ button: 'middle', ...LONG }),
    ]);
    await squares(opened);
    await opened.close();
    await link(page, third).dblclick();
    await page.waitForURL(/#\/analyse\/\d+$/);
    await squares(page);
  });

  test('has many rows at each size', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    await upload(page, many(120));
    await total(page, 120);
    await rows(page).first().getByRole('link').click();
    const visible = () =>
      page.getByRole('table').evaluate((table) => {
        const { top, bottom } = table.getBoundingClientRect();
        const head = table.querySelector('[role=row]')?.getBoundingClientRect().bottom ?? top;
        return [...table.querySelectorAll('[data-row]')].filter((row) => {
          const box = row.getBoundingClientRect();
          return box.top >= head - 1 && box.bottom <= bottom + 1;
        }).length;
      });
    // The row of an import in progress takes the height of one.
    for (const [width, height, least] of [
      [1440, 900, 23],
      [1280, 720, 17],
      [1920, 1080, 25],
      [390, 844, 10],
    ] as const) {
      await page.setViewportSize({ width, height });
      await expect.poll(visible, LONG).toBeGreaterThanOrEqual(least);
      // The layout follows the size of the window.
      const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      await expect.poll(overflow, LONG).toBeLessThanOrEqual(0);
    }
  });

  test('imports a file of the server, which is cancelled and resumed', async () => {
    writeFileSync(join(fixture.server.data, 'many.pgn'), many(5_000));
    const page = await fixture.page('#/library');
    await menu(page, 'library.import');
    await page.getByRole('button', { name: t('library.import_file') }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /readyok-e2e-/ }).click();
    await dialog.getByRole('button', { name: /^\s*many\.pgn/ }).click();
    const entry = page.getByTestId('import');
    await page
      .getByTestId('job')
      .getByRole('button', { name: t('report.cancel') })
      .click();
    await entry.and(page.locator('[data-status=stopped]')).waitFor(LONG);
    await entry.getByRole('button', { name: t('report.resume') }).click();
    await entry.and(page.locator('[data-status=done]')).waitFor(LONG);
    // Each game is imported once.
    await total(page, 5_000);
    expect(await violations(page)).toEqual([]);
  });

  test('lists own games and those of engines apart, and marks evaluations and comments', async () => {
    const page = await fixture.page('#/matches');
    await startMatch(page, 'first');
    await analysisBoard(page);
    await enter(page, 'e4');
    await moveElements(page).first().waitFor();
    await saveDraft(page);
    await visit(page, t('nav.library'));
    await upload(
      page,
      '[White "Eva"]\n[Black "B"]\n\n1. d4 {[%eval 0.3]} *\n\n[White "Com"]\n[Black "B"]\n\n1. c4 {a note} *\n\n',
    );
    await total(page, 5);
    const side = page.getByTestId('side');
    const entry = (name: Key, count: number) =>
      side.getByRole('link', { name: new RegExp(`^\\s*${t(name)}\\s*${count}\\s*$`) });
    const marks = (name: string) =>
      rows(page)
        .filter({ has: link(page, name) })
        .getByRole('img')
        .evaluateAll((all) => all.map((one) => one.ariaLabel));
    expect(await marks('Eva – B')).toEqual([t('library.evaluated')]);
    expect(await marks('Com – B')).toEqual([t('library.commented')]);
    expect(await violations(page)).toEqual([]);
    await entry('library.all', 5).waitFor(LONG);
    await entry('library.mine', 1).click();
    await total(page, 1);
    await expect.poll(() => marks('? – ?')).toEqual([]);
    await entry('library.matches', 2).click();
    await total(page, 2);
    // The conditions of the chips apply in addition.
    await page.getByLabel(t('library.search')).fill('Eva');
    await total(page, 0);
    await page.reload();
    await total(page, 2);
    await entry('library.all', 5).click();
    await total(page, 5);
  });

  test('exports the games of a search', async () => {
    const page = await library();
    await (
      await openChip(page, 'library.player')
    )
      .getByLabel(t('library.player'), { exact: true })
      .fill('Ann');
    await expect.poll(() => rows(page).count(), LONG).toBe(2);
    await page.keyboard.press('Escape');
    const text = await downloaded(page, t('library.export_found'));
    expect(text).toContain('[White "Ann"]');
    expect(text).toContain('[White "Cid"]');
    expect(text).not.toContain('Dan');
    await rows(page).first().getByRole('checkbox').check();
    expect((await downloaded(page, t('library.export_selected'))).split('[White ')).toHaveLength(2);
  });

  test('reports the games that a format cannot hold', async () => {
    const page = await library();
    await page.getByTestId('import-files').setInputFiles({
      name: 'a.kif',
      mimeType: 'text/plain',
      buffer: Buffer.from('手合割：平手\n1 ７六歩(77)\n2 ３四歩(33)\n'),
    });
    await total(page, 4);
    await menu(page, 'library.more');
    await page.getByLabel(t('record.format')).selectOption('kif');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: t('library.export_found') }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toContain('７六歩');
    await page
      .locator('.toasts')
      .getByText(t('record.omitted', { count: 3, format: t('format.kif') }))
      .waitFor(LONG);
  });

  test('a game that is opened and changed while its import runs keeps the changes', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    await upload(page, many(8_000));
    await page.getByTestId('job').getByRole('progressbar').waitFor(LONG);
    // Another order lists what is read so far.
    const date = page.getByRole('columnheader').getByRole('button', { name: starts('library.date') });
    const listed = async () => {
      if ((await rows(page).count()) === 0) await date.click();
      return rows(page).count();
    };
    // A list is empty until its rows arrive, so the next click must not follow immediately.
    await expect.poll(listed, { ...LONG, interval: 400 }).toBeGreaterThan(0);
    await rows(page).first().getByRole('link').dblclick(LONG);
    await page.waitForURL(/#\/analyse\/\d+$/);
    await squares(page);
    const address = page.url();
    await expect.poll(() => moveElements(page).count(), LONG).toBe(4);
    await page.keyboard.press('End');
    await enter(page, 'Bb5');
    await expect.poll(() => moveElements(page).count(), LONG).toBe(5);
    // The import continues, and does not leave the board.
    const other = await page.context().newPage();
    await other.goto(new URL('/#/library', address).href);
    await other.getByTestId('import').and(other.locator('[data-status=done]')).waitFor(WHOLE);
    await total(other, 8_000);
    expect(page.url()).toBe(address);
    await page.reload();
    await expect.poll(() => moveElements(page).count(), LONG).toBe(5);
  });

  test('filters by dates, which may be incomplete, in the format of the list', async () => {
    const page = await library();
    await expect.poll(() => cells(page, 11), LONG).toContain('2026-01-01');
    await openChip(page, 'library.date');
    const [from, until] = [page.getByLabel(t('library.from')), page.getByLabel(t('library.until'))];
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
    // The chip shows what is set, and clears it.
    await until.fill('2024');
    await expect.poll(() => names(page), LONG).toEqual(['Dan – Eve']);
    await page.getByRole('button', { name: t('library.filter.clear', { name: t('library.date') }) }).click();
    await expect.poll(() => names(page), LONG).toHaveLength(3);
  });

  test('skips duplicates, adds them on request, and finds them later', async () => {
    const page = await library();
    await upload(page, GAMES);
    await page
      .locator('.toasts')
      .getByText(t('record.duplicates', { count: 3 }))
      .waitFor(LONG);
    await expect.poll(() => rows(page).count()).toBe(3);
    await menu(page, 'library.import');
    await page.getByLabel(t('library.duplicates_of_import')).selectOption('keep');
    await page.keyboard.press('Escape');
    await upload(page, GAMES);
    await expect.poll(() => rows(page).count(), LONG).toBe(6);
    await menu(page, 'library.more');
    await page.getByRole('button', { name: t('library.duplicates') }).click();
    const found = page.getByTestId('duplicates');
    await expect.poll(() => found.locator('li').count(), LONG).toBe(3);
    expect(await violations(page)).toEqual([]);
    await page
      .getByTestId('selection')
      .getByText(t('library.selected', { count: 3 }))
      .waitFor();
    await page.getByRole('button', { name: t('library.delete'), exact: true }).click();
    await page.getByRole('button', { name: t('library.delete.confirm') }).click();
    await expect.poll(() => rows(page).count(), LONG).toBe(3);
  });

  test('shows which of several versions of a game is kept, before the others are deleted', async () => {
    const opening = '1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7';
    const begun = game('Ann', 'Bob', '2026.02.01', opening);
    const whole = game('Ann', 'Bob', '2026.02.01', `${opening} 6. Re1 b5`);
    const page = await library(begun + whole + game('Dan', 'Eve', '2024.01.01', '1. c4'));
    await menu(page, 'library.more');
    await page.getByRole('button', { name: t('library.duplicates') }).click();
    const versions = page.getByTestId('duplicates').locator('.game');
    await expect.poll(() => versions.count(), LONG).toBe(2);
    const [kept, other] = [versions.nth(0), versions.nth(1)];
    expect(await kept.getByText(t('library.duplicates.best')).count()).toBe(1);
    expect(await kept.getByRole('checkbox').isChecked()).toBe(false);
    expect(await other.getByText(t('library.duplicates.beginning')).count()).toBe(1);
    expect(await other.getByRole('checkbox').isChecked()).toBe(true);
    await page.getByRole('button', { name: t('library.delete'), exact: true }).click();
    await page.getByRole('button', { name: t('library.delete.confirm') }).click();
    await expect.poll(() => rows(page).count(), LONG).toBe(2);
    await page.getByRole('button', { name: t('library.restore') }).click();
    await expect.poll(() => rows(page).count(), LONG).toBe(3);
  });

  test('asks what to do with duplicates', async () => {
    const page = await fixture.page('#/library');
    const found = (count: number) => expect.poll(() => rows(page).count(), LONG).toBe(count);
    await upload(page, GAMES);
    await found(3);
    await menu(page, 'library.import');
    await page.getByLabel(t('library.duplicates_of_import')).selectOption('ask');
    await page.keyboard.press('Escape');
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
    await (await openChip(page, 'library.rating')).getByLabel(t('library.min_rating')).fill('2000');
    await expect.poll(async () => (await names(page)).toSorted(), LONG).toEqual(['Ann – B', 'Dan – B']);
    await openChip(page, 'library.filter.add');
    await page.getByLabel(t('library.speed')).selectOption('blitz');
    await expect.poll(() => names(page), LONG).toEqual(['Ann – B']);
  });

  test('deletes all found games and restores them with their labels', async () => {
    const page = await library();
    const before = await names(page);
    await page.getByLabel(t('library.select.page')).check();
    const bar = page.getByTestId('selection');
    const chips = rows(page).locator('.chip');
    const label = bar.getByRole('button', { name: t('library.label'), exact: true });
    await label.click();
    await bar.getByRole('textbox', { name: t('library.label') }).fill('study');
    await bar.getByRole('button', { name: t('library.label.set') }).click();
    await expect.poll(() => chips.count(), LONG).toBe(3);
    await page.keyboard.press('Escape');
    await bar.getByRole('button', { name: t('library.delete'), exact: true }).click();
    await bar.getByRole('button', { name: t('library.delete.confirm') }).click();
    await page.getByText(t('library.none')).waitFor();
    await page.getByRole('button', { name: t('library.restore') }).click();
    await expect.poll(() => chips.count(), LONG).toBe(3);
    await expect.poll(() => names(page)).toEqual(before);
    await rows(page).first().getByRole('checkbox').check();
    await label.click();
    await bar.getByRole('textbox', { name: t('library.label') }).fill('study');
    await bar.getByRole('button', { name: t('library.label.remove') }).click();
    await expect.poll(() => chips.count(), LONG).toBe(2);
  });

  test('sorts by columns and counts full moves', async () => {
    const page = await library();
    const header = (name: string) => page.getByRole('columnheader', { name }).getByRole('button');
    await header(white()).click();
    await expect.poll(() => names(page), LONG).toEqual(['Ann – Bob', 'Cid – Ann', 'Dan – Eve']);
    await header(white()).click();
    await expect.poll(() => names(page), LONG).toEqual(['Dan – Eve', 'Cid – Ann', 'Ann – Bob']);
    await header(t('library.date')).click();
    await expect.poll(() => names(page), LONG).toEqual(['Ann – Bob', 'Cid – Ann', 'Dan – Eve']);
    expect(await cells(page, 9)).toEqual(['2', '1', '1']);
    await expect.poll(() => rows(page).first().textContent()).toContain('2026-01-01');
  });
});
