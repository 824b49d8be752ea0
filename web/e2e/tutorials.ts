// Creates docs/screenshots/tutorials with a real server and engine, by the steps of the tutorials: `npm run screenshots`.
import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { command, showReport } from './browser';
import {
  LONG,
  WHOLE,
  analysisBoard,
  begin,
  choose,
  enter,
  listedGames,
  moveElements,
  openChip,
  paste,
  saveDraft,
  squares,
  useServer,
  visit,
} from './fixture';
import { inLanguage, language, pattern, t } from './labels';
import { storePicture } from './picture';
import { fillLibrary, openListed, stepTo } from './scenes';

const fixture = useServer();

const WINDOW = { viewport: { width: 1200, height: 660 }, reducedMotion: 'reduce' } as const;
/** Maximum size of a picture in bytes. */
const MAX_SIZE = 76_000;

/** Stores a picture of a tutorial. */
async function shoot(page: Page, name: string, state: 'at rest' | 'live' = 'at rest') {
  const path = `../docs/screenshots/tutorials/${name}${language() === 'ja' ? '-ja' : ''}.png`;
  for (const toast of await page
    .locator('.toasts')
    .getByRole('button', { name: t('app.close') })
    .all())
    await toast.click();
  await page.mouse.move(0, 0);
  await storePicture(page, path, state);
  expect(statSync(path).size).toBeLessThan(MAX_SIZE);
}

/** The first block of a tutorial that begins with a text. */
function block(page: string, beginning: string): string {
  const text = readFileSync(`../docs/tutorials/${page}.md`, 'utf8');
  const found = text.split('```text\n').find((one) => one.startsWith(beginning));
  return found?.split('```')[0] ?? '';
}

/** The records that the tutorials paste. */
const RECORDS = {
  en: block('first-analysis', '[Event'),
  ja: readFileSync('../docs/ja/example.kif', 'utf8'),
};

/** Pastes a record, which opens as a draft. */
async function pasteGame(page: Page, text: string) {
  const before = page.url();
  await paste(page, text);
  await page.waitForURL((url) => url.href !== before);
  await squares(page);
  await page.getByTestId('draft').waitFor(LONG);
}

/** Waits until a search has reached a depth. */
const depth = (page: Page, least: number) =>
  page.waitForFunction(
    (wanted) =>
      [...document.querySelectorAll('.facts b')].some(
        (one) => Number(/\d+/.exec(one.textContent ?? '')?.[0]) >= wanted,
      ),
    least,
    LONG,
  );

for (const one of ['en', 'ja'] as const)
  inLanguage(one, () => {
    test('first analysis', async () => {
      const page = await fixture.page('#/home', WINDOW);
      await page.getByText(t('home.title')).waitFor();
      await page.getByTestId('home-engines').getByText(t('home.included')).waitFor(LONG);
      await shoot(page, 'first-analysis-start');

      await pasteGame(page, RECORDS[one]);
      await stepTo(page, one === 'en' ? 18 : 60);
      await shoot(page, 'first-analysis-board');

      await page.getByRole('button', { name: pattern('panel.start') }).click();
      await page.getByTestId('line').nth(2).waitFor(LONG);
      await depth(page, 12);
      await shoot(page, 'first-analysis-engine', 'live');

      // The moves of the second line become a variation.
      const nodes = page.locator('.moves [data-node]');
      const count = await nodes.count();
      await page.getByRole('button', { name: t('panel.stop'), exact: true }).click();
      await page.getByTestId('line').nth(1).locator('.pv button').nth(2).click();
      await expect.poll(() => nodes.count(), LONG).toBe(count + 3);
      await saveDraft(page);
      await shoot(page, 'first-analysis-variation');
    });

    test('game report', async () => {
      const page = await fixture.page('#/home', WINDOW);
      await pasteGame(page, RECORDS[one]);
      await saveDraft(page);
      const sheet = await showReport(page, t('tab.report'));
      await sheet.getByLabel(t('report.seconds')).fill('0.5');
      await sheet.getByRole('button', { name: t('report.run') }).click();
      await sheet.getByText(t('report.done'), { exact: true }).waitFor(WHOLE);
      await shoot(page, 'game-report-sheet');

      await sheet
        .getByRole('button', { name: t('app.close') })
        .first()
        .click();
      await stepTo(page, one === 'en' ? 18 : 60);
      await shoot(page, 'game-report-moves');

      await showReport(page, t('tab.report'));
      await page.getByRole('button', { name: t('report.learn') }).click();
      await page.getByText(t('report.hint')).waitFor(LONG);
      await page.getByRole('button', { name: t('report.show') }).click();
      await shoot(page, 'game-report-solution');
    });
  });

test('study and repertoire', async () => {
  const page = await fixture.page('#/home', { ...WINDOW, viewport: { width: 1440, height: 780 } });
  await paste(page, block('study-and-repertoire', '[StudyName'));
  await page.waitForURL(/#\/analyse\/\d+$/);
  const side = page.getByTestId('board-side');
  await expect.poll(() => side.locator('ol a').count(), LONG).toBe(3);
  await shoot(page, 'study-chapters');

  // A variation with a symbol and a comment.
  await stepTo(page, 7);
  await enter(page, 'Qe7');
  await page.locator('.moves').getByText('Qe7').waitFor(LONG);
  await page.getByRole('button', { name: '!?', exact: true }).click();
  await page.getByLabel(t('edit.comment')).fill('Holds e5, but White castles.');
  await page.getByLabel(t('edit.comment')).blur();
  await enter(page, 'O-O');
  await page.getByText('Holds e5').first().waitFor(LONG);
  await shoot(page, 'study-variation');

  await command(page, t('study.menu'), t('study.train'));
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: t('training.make') }).waitFor();
  await shoot(page, 'study-train');
  await dialog.getByRole('button', { name: t('training.make') }).click();
  await dialog.waitFor({ state: 'detached' });

  await visit(page, t('nav.training'));
  const task = page.getByTestId('task');
  await expect.poll(() => task.textContent(), LONG).toBe(t('training.first_move'));
  await page.locator('[data-square="e2"]').waitFor({ state: 'attached' });
  await enter(page, 'e4');
  await expect.poll(() => task.textContent(), LONG).toBe(t('training.your_move', { move: '1…e5' }));
  await shoot(page, 'study-exercise');
  await enter(page, 'd4');
  await expect
    .poll(() => page.getByTestId('verdict').textContent(), LONG)
    .toContain(t('training.not_in_repertoire'));
});

test('database', async () => {
  const page = await fixture.page('#/library', WINDOW);
  await fillLibrary(page);
  await listedGames(page).filter({ hasText: 'Garry Kasparov' }).click();
  await page.getByTestId('preview').locator('cg-board piece').first().waitFor({ state: 'attached' });
  await shoot(page, 'database-library');

  const chip = await openChip(page, 'library.player');
  await chip.getByLabel(t('library.player'), { exact: true }).fill('anderssen');
  await expect.poll(() => listedGames(page).count(), LONG).toBe(2);
  await shoot(page, 'database-filter');
  await page.keyboard.press('Escape');
  await page.mouse.click(600, 500);

  await openListed(page, 'Adolf Anderssen', 2);
  await page
    .getByTestId('explorer')
    .getByRole('button', { name: t('explorer.title') })
    .click();
  await page.getByTestId('explorer').locator('tbody tr').first().waitFor(LONG);
  await shoot(page, 'database-explorer');

  await page
    .getByRole('button', { name: t('library.find_position'), exact: true })
    .first()
    .click();
  await page.waitForURL(/#\/library/);
  await listedGames(page).first().waitFor(LONG);
  await shoot(page, 'database-position');
});

test('shogi with handicap', async () => {
  const page = await fixture.page('#/play/0/new', WINDOW);
  await choose(page, 'shogi');
  const handicap = page.getByLabel(t('new.handicap'));
  await handicap.selectOption({ label: '2-piece' });
  await page.getByRole('radio', { name: t('side.shitate') }).check({ force: true });
  await page.getByLabel(t('new.limit_strength')).check();
  await page.getByLabel(t('new.strength'), { exact: true }).selectOption('casual');
  await shoot(page, 'shogi-form');

  await page.locator('main').getByText(t('new.more'), { exact: true }).click();
  await page.getByLabel(t('time.nodes')).fill('500');
  await begin(page);
  await expect.poll(() => moveElements(page).count(), LONG).toBe(1);
  for (const [move, plies] of [
    ['P-7f', 3],
    ['P-4f', 5],
    ['P-4e', 7],
  ] as const) {
    await enter(page, move);
    await expect.poll(() => moveElements(page).count(), LONG).toBe(plies);
  }
  await page.getByRole('button', { name: t('play.hint'), exact: true }).click();
  await page.getByTestId('hint').waitFor(LONG);
  await shoot(page, 'shogi-hint');
  await visit(page, t('nav.settings'));
  await page.getByText(t('settings.pieces.kanji'), { exact: true }).click();
  await shoot(page, 'shogi-settings');
});

test('engines and strength', async () => {
  const page = await fixture.page('#/engines', WINDOW);
  await page.getByTestId('engine').first().waitFor();
  await page.getByRole('button', { name: t('find.title') }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('progressbar').waitFor({ state: 'detached', ...WHOLE });
  const found = dialog.getByTestId('found').locator('li');
  for (const box of await found.getByRole('checkbox').all()) await box.uncheck();
  await found
    .filter({ hasText: /^\s*Stockfish/ })
    .first()
    .getByRole('checkbox')
    .check();
  await shoot(page, 'engines-find');
  await dialog.getByRole('button', { name: t('find.add', { count: 1 }) }).click();
  await dialog.waitFor({ state: 'detached', ...LONG });
  const card = page.getByTestId('engine').filter({ hasText: 'Stockfish' });
  await expect
    .poll(() => card.getByRole('button', { name: t('engine.options'), exact: true }).isEnabled(), LONG)
    .toBe(true);
  await card.getByRole('button', { name: t('engine.options'), exact: true }).click();
  await page.getByRole('dialog').getByText('Threads').first().waitFor();
  await shoot(page, 'engines-options');
  await page.keyboard.press('Escape');

  await visit(page, t('nav.play'));
  await choose(page, 'chess');
  await page.getByLabel(t('new.limit_strength')).check();
  await page.getByLabel(t('new.strength'), { exact: true }).selectOption('intermediate');
  await shoot(page, 'engines-strength');

  await analysisBoard(page);
  for (const [index, move] of ['e4', 'c5', 'Nf3', 'd6'].entries()) {
    await enter(page, move);
    await expect.poll(() => moveElements(page).count(), LONG).toBe(index + 1);
  }
  await page.getByRole('button', { name: pattern('panel.start') }).click();
  await page.getByTestId('line').nth(2).waitFor(LONG);
  await page.getByLabel(t('panel.add')).selectOption({ label: 'Stockfish 15.1' });
  await page.getByTestId('line').nth(5).waitFor(LONG);
  await depth(page, 14);
  await shoot(page, 'engines-two', 'live');
});
