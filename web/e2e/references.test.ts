// The tablebase panel and the opening explorer next to the analysis board.
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { violations } from './browser';
import { LONG, moveTexts, paste, squares, useServer, visit, analysisBoard } from './fixture';
import { inLanguage, t } from './labels';

const fixture = useServer();

const TABLES = resolve('../testdata/syzygy');

/** Copies the tables into the data directory, which the file picker shows. */
function tables(): string {
  const directory = join(fixture.server.data, 'syzygy');
  mkdirSync(directory);
  for (const name of readdirSync(TABLES)) copyFileSync(join(TABLES, name), join(directory, name));
  return 'syzygy';
}

/** A Polyglot book: 1. e4 with weight 3, 1. d4 with weight 1. */
function polyglot(): string {
  const entries: [bigint, number, number][] = [
    [0x463b96181691fc9cn, 0x02db, 1],
    [0x463b96181691fc9cn, 0x031c, 3],
  ];
  const bytes = Buffer.alloc(32);
  entries.forEach(([key, move, weight], index) => {
    bytes.writeBigUInt64BE(key, 16 * index);
    bytes.writeUInt16BE(move, 16 * index + 8);
    bytes.writeUInt16BE(weight, 16 * index + 10);
  });
  writeFileSync(join(fixture.server.data, 'book.bin'), bytes);
  return 'book.bin';
}

function yaneuraou(): string {
  const sfen = 'lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1';
  const text = `#YANEURAOU-DB2016 1.00\nsfen ${sfen}\n2g2f 8c8d 30 12 2\n7g7f 3c3d 45 20 6\n`;
  writeFileSync(join(fixture.server.data, 'book.db'), text);
  return 'book.db';
}

/** Opens an analysis board. */
async function board(variant: 'chess' | 'chess960' | 'shogi' = 'chess', fen?: string): Promise<Page> {
  const page = await fixture.page();
  await analysisBoard(page, variant, fen);
  return page;
}

/** Shows a panel. */
async function show(page: Page, name: 'tablebase' | 'explorer'): Promise<Locator> {
  const panel = page.getByTestId(name);
  const head = panel.getByRole('button', { name: t(`${name}.title`) });
  await expect.poll(() => head.getAttribute('aria-expanded')).toBe('false');
  await head.click();
  return panel;
}

/** Selects a file or a directory of the data directory. */
async function pick(page: Page, name: string, directory = false) {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /readyok-e2e-/ }).click();
  await dialog.getByRole('button', { name: new RegExp(`^\\s*${name}`) }).click();
  if (directory) await dialog.getByRole('button', { name: t('files.this') }).click();
  await dialog.waitFor({ state: 'detached' });
}

const rows = async (panel: Locator) =>
  (await panel.locator('tbody tr').allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim());

inLanguage('ja', () => {
  test('rates moves by tablebases, plays them, and remembers the panel', async () => {
    const directory = tables();
    const page = await board('chess', '7k/5Q2/6K1/8/8/8/8/8 w - - 0 1');
    const panel = await show(page, 'tablebase');
    await panel.getByText(t('tablebase.none')).waitFor();
    await panel.getByRole('button', { name: t('references.syzygy.add') }).click();
    await pick(page, directory, true);
    await expect
      .poll(() => rows(panel), LONG)
      .toContain(`Qg7# ${t('tablebase.win')} ${t('tablebase.checkmate')}`);
    const all = await rows(panel);
    expect(all[0]).toContain(t('tablebase.checkmate'));
    expect(all).toContain(`Kh6 ${t('tablebase.draw')} ${t('tablebase.stalemate')}`);
    expect(await violations(page)).toEqual([]);
    // By keyboard.
    await panel.getByRole('button', { name: 'Qe7', exact: true }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => moveTexts(page), LONG).toEqual(['Qe7']);
    await expect.poll(() => panel.getByRole('status').textContent(), LONG).toContain(t('tablebase.loss'));
    await page.reload();
    await expect.poll(() => rows(page.getByTestId('tablebase')), LONG).not.toEqual([]);
    // The settings list the directory.
    await visit(page, t('nav.settings'));
    const list = page.getByRole('list', { name: t('references.syzygy') });
    await list.getByRole('button').click();
    await list.waitFor({ state: 'detached' });
  });

  test('explains why a position is in no table', async () => {
    const directory = tables();
    const page = await board();
    const panel = await show(page, 'tablebase');
    await panel.getByRole('button', { name: t('references.syzygy.add') }).click();
    await pick(page, directory, true);
    await expect
      .poll(() => panel.getByRole('status').textContent(), LONG)
      .toContain(t('error.tablebase_castling'));
  });

  test('lists and plays the moves of a Polyglot book', async () => {
    const book = polyglot();
    const page = await board();
    const panel = await show(page, 'explorer');
    await panel.getByText(t('explorer.no_games')).waitFor();
    await panel.getByRole('button', { name: t('references.books.add') }).click();
    await pick(page, book);
    await expect.poll(() => rows(panel), LONG).toEqual(['e4 75% 3', 'd4 25% 1']);
    expect(await violations(page)).toEqual([]);
    await panel.getByRole('button', { name: 'e4', exact: true }).click();
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4']);
    await panel.getByText(t('explorer.no_moves')).waitFor();
    await page.reload();
    await page.getByTestId('explorer').getByText(t('explorer.no_moves')).waitFor();
  });

  test('lists evaluations and replies of a YaneuraOu book', async () => {
    const book = yaneuraou();
    const page = await board('shogi');
    const panel = await show(page, 'explorer');
    await panel.getByRole('button', { name: t('references.books.add') }).click();
    await pick(page, book);
    await expect
      .poll(async () => (await rows(panel))[0], LONG)
      .toMatch(/^(P-7f|▲７六歩) 75% 6 .*45.* .*20.* (P-3d|△３四歩)$/);
    expect(await page.getByTestId('tablebase').count()).toBe(0);
  });

  test('explores the games of the library with a filter', async () => {
    const game = (white: string, black: string, date: string, result: string, moves: string) =>
      `[White "${white}"]\n[Black "${black}"]\n[Date "${date}"]\n[Result "${result}"]\n\n${moves} ${result}\n\n`;
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    await paste(
      page,
      '[WhiteElo "2100"]\n[BlackElo "2200"]\n[TimeControl "900+10"]\n' +
        game('Ann', 'Bob', '2026.01.01', '1-0', '1. Nf3 d5 2. d4') +
        game('Bob', 'Ann', '2026.03.01', '0-1', '1. d4 d5 2. Nf3 Nf6') +
        game('Cid', 'Ann', '2025.01.01', '1/2-1/2', '1. d4 d5 2. c4'),
    );
    // The first game is opened after the import.
    await squares(page);
    await visit(page, t('nav.library'));
    await expect.poll(() => page.locator('[data-row] a').count(), LONG).toBe(3);
    await visit(page, t('nav.analyse'));
    await squares(page);
    await page.getByRole('button', { name: t('step.first') }).click();
    const panel = await show(page, 'explorer');
    // The last row is the total.
    const listed = (...moves: string[]) =>
      expect
        .poll(async () => (await rows(panel)).map((row) => row.split(' ')[0]), LONG)
        .toEqual([...moves, t('explorer.total')]);
    await listed('d4', 'Nf3');
    const bar = panel.locator('tbody').getByRole('img').first();
    expect(await bar.getAttribute('aria-label')).toBe(
      t('explorer.bar', { first: t('side.white'), wins: 0, draws: 50, second: t('side.black'), losses: 50 }),
    );
    expect(await violations(page)).toEqual([]);
    await panel.getByRole('button', { name: t('explorer.filter') }).click();
    await panel.getByLabel(t('library.player'), { exact: true }).fill('Bob');
    await panel.getByLabel(t('library.side')).selectOption('second');
    await listed('Nf3');
    // Ratings and time controls.
    await panel.getByLabel(t('library.side')).selectOption('');
    await panel.getByLabel(t('library.player'), { exact: true }).fill('');
    await panel.getByLabel(t('library.min_rating')).fill('2000');
    await listed('Nf3');
    await panel.getByLabel(t('library.speed')).selectOption('bullet');
    await panel.getByText(t('explorer.no_games')).waitFor();
    await panel.getByLabel(t('library.speed')).selectOption('rapid');
    await listed('Nf3');
    // The games of the position are listed and opened.
    await panel.getByRole('button', { name: 'Ann – Bob' }).click();
    await expect.poll(() => moveTexts(page), LONG).toEqual(['Nf3', 'd5', 'd4']);
  });
});
