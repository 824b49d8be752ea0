// How many clicks and pastes the most common journeys take, from what the user sees to what the user wants.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import {
  LONG,
  countActions,
  enter,
  listedGames,
  moveElements,
  moveTexts,
  paste,
  squares,
  startMatch,
  useServer,
  visit,
} from './fixture';
import { inLanguage, t } from './labels';

const fixture = useServer();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** The element is within the window, and nothing covers its center. */
const isSeen = (page: Page, selector: string) =>
  page.evaluate((wanted) => {
    const element = document.querySelector(wanted);
    const box = element?.getBoundingClientRect();
    if (!element || !box || box.width === 0 || box.top < 0 || box.bottom > innerHeight + 1) return false;
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return at !== null && element.contains(at);
  }, selector);

const chapter = (name: string, moves: string) =>
  `[Event "Rooks: ${name}"]\n[StudyName "Rooks"]\n[ChapterName "${name}"]\n\n${moves} *\n\n`;
const STUDY = chapter('Lucena', '1. e4') + chapter('Philidor', '1. d4') + chapter('Vancura', '1. c4');

/** A game with evaluations after each move. */
const EVALUATED =
  '[White "Morphy"]\n[Black "Anderssen"]\n\n1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} ' +
  '2. Nf3 {[%eval 0.4]} Nc6 {[%eval 0.1]} 3. Bc4 {[%eval 0.2]} h6 {[%eval 0.9]} *\n';

const AFTER_E4 = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq';

inLanguage('en', () => {
  test('the first game: 1', async () => {
    const page = await fixture.page('#/home');
    const actions = await countActions(page);
    await button(page, t('home.play.now', { time: '10 + 5' })).click();
    await squares(page);
    expect(await actions()).toBe(1);
    expect(new URL(page.url()).hash).toMatch(/^#\/play\/\d+$/);
    await enter(page, 'e4');
    await moveElements(page).first().waitFor();
  });

  test('a record on a board: 1, from each page', async () => {
    const page = await fixture.page('#/home');
    const actions = await countActions(page);
    for (const [at, to] of ['home', 'library', 'engines', 'settings', 'analyse'].entries()) {
      await page.goto(new URL(`/#/${to}`, page.url()).href);
      await page.getByRole('navigation', { name: t('nav.label') }).waitFor();
      if (to === 'analyse') await squares(page);
      const before = page.url();
      await paste(
        page,
        `[White "W${at}"]\n[Black "B"]\n\n1. e4 e5 2. ${['Nf3', 'Nc3', 'd4', 'f4', 'Bc4'][at]} *\n`,
      );
      await page.waitForURL((url) => url.href !== before && /#\/analyse\/\d+$/.test(url.hash));
      await expect.poll(() => moveElements(page).count(), LONG).toBe(3);
      expect(await actions(), to).toBe(1);
    }
  });

  test('the second game of a file: 1', async () => {
    const page = await fixture.page('#/home');
    await paste(page, STUDY);
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4']);
    const actions = await countActions(page);
    await button(page, t('order.next')).click();
    await expect.poll(() => moveTexts(page), LONG).toEqual(['d4']);
    expect(await actions()).toBe(1);
    // The games are in the order of the file.
    await page.keyboard.press('PageDown');
    await expect.poll(() => moveTexts(page), LONG).toEqual(['c4']);
    expect(await actions()).toBe(0);
  });

  test('an installed engine: 1', async () => {
    const page = await fixture.page('#/home');
    const actions = await countActions(page);
    const list = page.getByTestId('home-engines');
    // The search starts by itself.
    await list
      .getByRole('button', { name: new RegExp(`^${t('home.add')}: Stockfish`) })
      .first()
      .click(LONG);
    await list.getByText(t('home.ready'), { exact: true }).nth(1).waitFor(LONG);
    expect(await actions()).toBe(1);
    await visit(page, t('nav.engines'));
    await page.getByTestId('engine').filter({ hasText: 'Stockfish' }).first().waitFor();
  });

  test('the report of a game: 1', async () => {
    const page = await fixture.page('#/home');
    await paste(page, '[White "Fool"]\n[Black "Mate"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n');
    await expect.poll(() => moveElements(page).count(), LONG).toBe(4);
    const actions = await countActions(page);
    await button(page, t('report.run')).click();
    // Graph and accuracy are shown without a further click.
    const strip = page.locator('.strip');
    await strip.getByRole('row', { name: new RegExp(`^${t('report.accuracy')}.*\\d`) }).waitFor(LONG);
    await strip.getByRole('slider', { name: t('report.graph') }).waitFor();
    expect(await actions()).toBe(1);
  });

  test('the graph while moves are read: 0', async () => {
    const page = await fixture.page('#/home', { viewport: { width: 1280, height: 720 } });
    await paste(page, EVALUATED);
    await expect.poll(() => moveElements(page).count(), LONG).toBe(6);
    const actions = await countActions(page);
    const graph = page.locator('.strip').getByRole('slider', { name: t('report.graph') });
    await graph.waitFor();
    for (let ply = 1; ply <= 6; ply++) {
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => graph.getAttribute('aria-valuenow')).toBe(String(ply));
      expect([await isSeen(page, '.strip .chart'), await isSeen(page, '.moves [aria-current]')]).toEqual([
        true,
        true,
      ]);
    }
    expect(await actions()).toBe(0);
  });

  test('a copy of the position: 1, or 0 with the key Y', async () => {
    const page = await fixture.page('#/analyse');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await squares(page);
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await enter(page, 'e4');
    await moveElements(page).first().waitFor();
    const actions = await countActions(page);
    await button(page, t('position.copy', { notation: 'FEN' })).click();
    await expect.poll(copied).toContain(AFTER_E4);
    expect(await actions()).toBe(1);
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await page.keyboard.press('y');
    await expect.poll(copied).toContain(AFTER_E4);
    expect(await actions()).toBe(0);
  });

  test('a game of the library and back: 1, the next one by a key', async () => {
    const page = await fixture.page('#/library');
    await page.getByText(t('library.none')).waitFor();
    const games = ['1. e4 e5', '1. d4 d5', '1. c4 c5'].map(
      (moves, at) => `[White "W${at}"]\n[Black "B${at}"]\n\n${moves} *\n\n`,
    );
    await page
      .getByTestId('import-files')
      .setInputFiles({ name: 'a.pgn', mimeType: 'text/plain', buffer: Buffer.from(games.join('')) });
    await expect.poll(() => listedGames(page).count(), LONG).toBe(3);
    const actions = await countActions(page);
    const name = (row: number) => listedGames(page).nth(row).getAttribute('aria-label');
    const preview = page.getByTestId('preview');
    await listedGames(page).first().click();
    await preview.getByRole('heading', { name: String(await name(0)) }).waitFor();
    await preview.locator('cg-board piece').first().waitFor({ state: 'attached' });
    // The list stays: there is nothing to return from.
    expect(new URL(page.url()).hash).toBe('#/library');
    expect(await listedGames(page).count()).toBe(3);
    expect(await actions()).toBe(1);
    for (const row of [1, 2]) {
      await page.keyboard.press('ArrowDown');
      await preview.getByRole('heading', { name: String(await name(row)) }).waitFor();
    }
    expect(await actions()).toBe(0);
  });

  test('the state of all local matches: 1', async () => {
    const page = await fixture.page('#/matches');
    for (const name of ['first', 'second']) await startMatch(page, name);
    await visit(page, t('nav.home'));
    const actions = await countActions(page);
    await visit(page, t('nav.matches'));
    for (const name of ['first', 'second'])
      await page.getByRole('link', { name: new RegExp(`^${name} .*\\d / 2`) }).waitFor(LONG);
    expect(await actions()).toBe(1);
  });
});
