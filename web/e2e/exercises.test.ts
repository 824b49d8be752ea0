// Exercises of own games and of files, with a real server and its engine.
import { expect, test } from 'vitest';
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

    await page.getByLabel(t('training.paste')).fill(`sfen ${TSUME}\n`);
    await page.getByRole('button', { name: t('training.import'), exact: true }).click();
    await page.getByLabel(t('new.variant')).selectOption('shogi');
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
    const later = await fixture.page('#/training');
    await expect
      .poll(() => later.getByTestId('stats').textContent(), LONG)
      .toContain(`${t('training.reviews_today')} 1`);
    await later.getByRole('row').filter({ hasText: 'ladder' }).waitFor();
  });
});
