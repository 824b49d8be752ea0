// Exercises of own games and of files, with a real server and its engine.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { Key } from '../src/i18n/en';
import { errorsOf, showReport } from './browser';
import { LADDER, TSUME } from './fakeServer';
import {
  LONG,
  WHOLE,
  enter,
  moveElements,
  paste,
  squares,
  useServer,
  visit,
  analysisBoard,
  saveDraft,
} from './fixture';
import { inLanguage, t } from './labels';

const fixture = useServer();

inLanguage('ja', () => {
  test('trains mistakes of own games and problems of files with an engine', async () => {
    const page = await fixture.page();
    const errors = errorsOf(page);
    await analysisBoard(page);
    const before = page.url();
    await paste(page, '[White "Foolish"]\n[Black "Lucky"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n');
    await page.waitForURL((url) => url.href !== before);
    await squares(page);
    await expect.poll(() => moveElements(page).count(), LONG).toBe(4);
    await saveDraft(page);
    await showReport(page, t('tab.report'));
    await page.getByLabel(t('report.seconds')).fill('0.2');
    await page.getByRole('button', { name: t('report.run') }).click();
    await page.getByTestId('report').getByText(t('report.done'), { exact: true }).waitFor(WHOLE);

    // Only the mistakes of the user.
    await visit(page, t('nav.training'));
    await tab(page, 'training.tab.mistakes');
    await page.getByText(t('training.none')).waitFor(LONG);
    await page.getByLabel(t('training.names')).fill('foolish');
    await page.getByLabel(t('training.names')).blur();
    await page.getByRole('button', { name: t('training.collect') }).click();
    const task = page.getByTestId('task');
    await task.waitFor(LONG);
    const g4 = page.getByRole('row').filter({ hasText: 'g4' });
    await g4.getByText('Foolish – Lucky').waitFor();
    await g4.getByRole('button', { name: t('training.practice') }).click();
    await expect
      .poll(() => task.textContent())
      .toBe(t('report.better', { side: t('side.white'), move: 'g4' }));
    await page.locator('[data-square="g2"]').waitFor({ state: 'attached' });
    const verdict = page.getByTestId('verdict');
    await enter(page, 'g4');
    await expect.poll(() => verdict.textContent(), LONG).toContain('g4:');
    // The best move of the report is right.
    await page.getByRole('button', { name: t('training.show') }).click();
    const [prefix = ''] = t('training.solution', { line: '|' }).split('|');
    await expect.poll(() => verdict.textContent(), LONG).toContain(prefix);
    const best = ((await verdict.textContent()) ?? '').split(prefix)[1]?.trim().split(' ')[0] ?? '';
    await enter(page, best);
    await expect.poll(() => verdict.textContent(), LONG).toContain(t('training.solved', { move: best }));
    const grades = page.getByRole('group', { name: t('training.grade') });
    await grades.getByRole('button', { name: new RegExp(`^${t('grade.good')}`) }).click();
    await expect
      .poll(() => page.getByTestId('stats').textContent(), LONG)
      .toContain(`${t('training.reviews_today')} 1`);

    // Problems: a mate in two by another way than the stored one, and a tsume problem without a solution.
    await tab(page, 'training.tab.problems');
    await page
      .getByRole('button', { name: t('training.add_problems') })
      .first()
      .click();
    await page.getByLabel(t('training.paste')).fill(`${LADDER.replace('0 1', 'dm 2; id "ladder";')}\n`);
    await page.getByRole('button', { name: t('training.import'), exact: true }).click();
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('ladder')
      .getByRole('button', { name: t('training.practice') })
      .click();
    await expect
      .poll(() => task.textContent())
      .toBe(t('training.mate_in', { side: t('side.white'), count: 2 }));
    await page.locator('[data-square="a2"]').waitFor({ state: 'attached' });
    await enter(page, 'Ra7');
    await expect
      .poll(() => verdict.textContent(), LONG)
      .toContain(t('training.right', { move: 'Ra7', reply: 'Kg8' }));
    await enter(page, 'Rb8');
    await expect.poll(() => verdict.textContent(), LONG).toContain(t('training.solved', { move: 'Rb8#' }));

    await page
      .getByRole('button', { name: t('training.add_problems') })
      .first()
      .click();
    await page.getByLabel(t('training.paste')).fill(`sfen ${TSUME}\n`);
    await page.getByRole('button', { name: t('training.import'), exact: true }).click();
    const tsume = page
      .getByRole('row')
      .filter({ hasText: t('training.find_mate', { side: t('side.sente') }) });
    await tsume.getByRole('button', { name: t('training.practice') }).click();
    await page.locator('[data-square="5a"]').waitFor({ state: 'attached' });
    await expect.poll(() => task.textContent()).toBe(t('training.find_mate', { side: t('side.sente') }));
    await enter(page, 'G*1i');
    await expect.poll(() => verdict.textContent(), LONG).toContain(t('training.wrong'));
    await enter(page, 'G*5b');
    await expect
      .poll(() => verdict.textContent(), LONG)
      .toContain(t('training.solved', { move: '' }).replace(/^[:：]/, ''));
    expect(errors).toEqual([]);

    // Exercises and reviews are stored.
    await fixture.server.restart();
    const later = await fixture.page('#/training/mistakes');
    await expect
      .poll(() => later.getByTestId('stats').textContent(), LONG)
      .toContain(`${t('training.reviews_today')} 1`);
    await tab(later, 'training.tab.problems');
    await later.getByRole('row').filter({ hasText: 'ladder' }).waitFor();
  });

  test('trains a repertoire of a pasted study with hints and keys', async () => {
    const page = await fixture.page('#/training');
    const errors = errorsOf(page);
    await page.getByText(t('training.no_repertoires')).waitFor(LONG);
    const study =
      '[Event "Gambit"]\n\n1. d4 d5 2. c4 e6 (2... dxc4 3. e4) 3. Nc3 Nf6 *\n\n[Event "By c4"]\n\n1. c4 e6 2. d4 d5 3. Nf3 *\n';
    await makeRepertoire(page, 'Queen', study);
    await page
      .getByTestId('sets')
      .getByRole('button', { name: /^Gambit/ })
      .waitFor(LONG);
    const task = page.getByTestId('task');
    const verdict = page.getByTestId('verdict');
    await expect.poll(() => task.textContent(), LONG).toBe(t('training.first_move'));

    // 1. d4 by a click on the board, then the answer of the repertoire.
    await page.locator('[data-square="d2"]').waitFor({ state: 'attached' });
    await page.locator('body').press('h');
    await expect.poll(() => verdict.textContent(), LONG).toContain('d2');
    await enter(page, 'd4');
    await expect.poll(() => task.textContent(), LONG).toBe(t('training.your_move', { move: '1…d5' }));
    // A wrong move shows the right one, which continues.
    await enter(page, 'a3');
    await expect.poll(() => verdict.textContent(), LONG).toContain(t('training.not_in_repertoire'));
    await expect.poll(() => verdict.textContent(), LONG).toContain('c4');
    await enter(page, 'c4');
    // The transposition: the move of the second chapter is right, too.
    await expect.poll(() => task.textContent(), LONG).toBe(t('training.your_move', { move: '2…e6' }));
    await expect.poll(() => page.getByTestId('line').innerText()).toContain('1. d4 d5 2. c4 e6 3.');
    await enter(page, 'Nf3');
    await expect.poll(() => task.textContent(), LONG).toBe(t('training.your_move', { move: '2…dxc4' }));
    await page.locator('[data-square="e2"]').waitFor({ state: 'attached' });
    await page.locator('body').press('s');
    await expect.poll(() => verdict.textContent(), LONG).toContain('e4');
    await page.locator('body').press('j');
    const right = page.getByTestId('session').locator('dd');
    await expect.poll(() => right.allTextContents(), LONG).toEqual(['2', '2', expect.any(String)]);
    expect(errors).toEqual([]);

    // What was learned is stored.
    await fixture.server.restart();
    const later = await fixture.page('#/training');
    await expect
      .poll(() => later.getByTestId('stats').textContent(), LONG)
      .toContain(`${t('training.reviews_today')} 4`);
  });

  test('trains joseki, and plays on against the engine', async () => {
    const page = await fixture.page('#/training/repertoire');
    await page.getByText(t('training.no_repertoires')).waitFor(LONG);
    await makeRepertoire(page, '四間飛車', 'position startpos moves 7g7f 3c3d 6g6f 8c8d 2h6h\n');
    const task = page.getByTestId('task');
    await expect.poll(() => task.textContent(), LONG).toBe(t('training.first_move'));
    await page.locator('[data-square="7g"]').waitFor({ state: 'attached' });
    await enter(page, '7g7f');
    await expect.poll(() => page.getByTestId('progress').textContent(), LONG).toBe('1 / 3');
    await expect.poll(() => task.textContent(), LONG).not.toBe(t('training.first_move'));
    await page.locator('[data-square="6g"]').waitFor({ state: 'attached' });
    await enter(page, '6g6f');
    await expect.poll(() => page.getByTestId('progress').textContent(), LONG).toBe('2 / 3');
    await page.getByRole('button', { name: t('training.play_on') }).click();
    await page.waitForURL((url) => /#\/play\/\d+$/.test(url.hash));
    await squares(page);
  });
});

/** Selects a tab of the page. */
const tab = (page: Page, key: Key) =>
  page.getByRole('radio', { name: new RegExp(`^${t(key)}`) }).check({ force: true });

async function makeRepertoire(page: Page, name: string, record: string) {
  await page
    .getByRole('button', { name: t('training.new_repertoire') })
    .last()
    .click();
  const dialog = page.getByRole('dialog', { name: t('training.new_repertoire') });
  await dialog.getByLabel(t('training.from.paste')).fill(record);
  await dialog.getByLabel(t('training.set_name'), { exact: true }).fill(name);
  await dialog.getByRole('button', { name: t('training.make'), exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}
