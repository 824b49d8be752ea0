// Exercises with spaced repetition, with a fake server.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { Exercise, ExerciseAttempt, TrainingView } from '../src/api/wire';
import { errorsOf, sharedBrowser, middle, violations } from './browser';
import { LADDER, TSUME, defaultServer, positionView, legal, storePrefs, type FakeServer } from './fakeServer';
import { enter } from './fixture';
import { LANGUAGES, inLanguage, t } from './labels';

const browser = await sharedBrowser();

function exercise(id: number, more: Partial<Exercise> = {}): Exercise {
  return {
    id,
    variant: 'chess',
    kind: 'mate',
    side: 'first',
    mate: 2,
    source: { name: 'Ladder', game: null, node: null, played: null },
    stage: 'new',
    due: null,
    reviews: 0,
    lapses: 0,
    added: 0,
    ...more,
  };
}

function training(fake: FakeServer, exercises: Exercise[], queue = exercises) {
  const stats = { new: queue.length, learning: 0, learned: 0, due: 0, today: 0, reviews: 4, solved: 3 };
  const view: TrainingView = { stats, queue, exercises, total: exercises.length };
  fake.http.set('training', view);
}

function attempt(uci: string, text: string, more: Partial<ExerciseAttempt>): ExerciseAttempt {
  return {
    move: { uci, text: { western: text } },
    right: true,
    solved: false,
    reply: null,
    loss: null,
    longer: false,
    position: null,
    ...more,
  };
}

const DAY = 24 * 60 * 60 * 1000;
const INTERVALS: [number, number, number, number] = [600_000, 0.75 * DAY, 1.75 * DAY, 7.75 * DAY];

/** A mate in two: 1. Ra7 Kg8 2. Rb8. */
function ladder(fake: FakeServer) {
  training(fake, [exercise(1)]);
  const start = positionView(LADDER, [legal('a2a7', 'Ra7'), legal('h1g2', 'Kg2')]);
  const second = positionView('6k1/R7/8/8/8/8/8/1R5K w - - 2 2', [legal('b1b8', 'Rb8#')]);
  const mated = positionView('1R4k1/R7/8/8/8/8/8/7K b - - 3 2', [], { turn: 'second', check: 'g8' });
  fake.answer = (command) => {
    switch (command.kind) {
      case 'open_exercise':
        return { kind: 'exercise_position', position: start, intervals: INTERVALS };
      case 'solve_exercise':
        return { kind: 'exercise_solution', line: [{ uci: 'a2a7', text: { western: 'Ra7' } }] };
      case 'try_exercise': {
        if (command.text === 'h1g2')
          return { kind: 'exercise_tried', attempt: attempt('h1g2', 'Kg2', { right: false }) };
        const reply = { uci: 'h8g8', text: { western: 'Kg8' } };
        return command.moves.length
          ? { kind: 'exercise_tried', attempt: attempt('b1b8', 'Rb8#', { solved: true, position: mated }) }
          : { kind: 'exercise_tried', attempt: attempt('a2a7', 'Ra7', { reply, position: second }) };
      }
      case 'grade_exercise':
        training(fake, [exercise(1, { due: DAY, reviews: 1 })], []);
        return { kind: 'exercise_graded', due: DAY };
      default:
        return { kind: 'done' };
    }
  };
}

async function play(page: Page, ...list: string[]) {
  for (const square of list) {
    const { x, y } = await middle(page, square);
    await page.mouse.click(x, y);
  }
}

test.each(LANGUAGES)('solves an exercise on the board and grades it (%s)', async (language, text) => {
  const fake = defaultServer();
  storePrefs(fake, { language, animation: 'false' });
  ladder(fake);
  const page = await fake.page(browser, '#/training');
  const errors = errorsOf(page);
  const verdict = page.getByTestId('verdict');
  await expect
    .poll(() => page.getByTestId('task').textContent())
    .toBe(text('training.mate_in', { side: text('side.white'), count: 2 }));
  await page.locator('[data-square="a2"]').waitFor({ state: 'attached' });
  expect(await violations(page)).toEqual([]);

  await play(page, 'h1', 'g2');
  await expect.poll(() => verdict.textContent()).toContain(`Kg2: ${text('training.wrong')}`);
  await page.getByRole('button', { name: text('training.hint'), exact: true }).click();
  await expect.poll(() => verdict.textContent()).toContain('a2');
  await play(page, 'a2', 'a7');
  await expect
    .poll(() => verdict.textContent())
    .toContain(text('training.right', { move: 'Ra7', reply: 'Kg8' }));
  await enter(page, 'b1b8');
  await expect.poll(() => verdict.textContent()).toContain(text('training.solved', { move: 'Rb8#' }));
  const tries = fake.commands.flatMap((command) => (command.kind === 'try_exercise' ? [command.moves] : []));
  expect(tries).toEqual([[], [], ['a2a7', 'h8g8']]);

  // A wrong attempt suggests another repetition; the user decides.
  const grades = page.getByRole('group', { name: text('training.grade') });
  const suggested = grades.locator('button.primary');
  await expect.poll(() => suggested.textContent()).toContain(text('grade.again'));
  expect(await violations(page)).toEqual([]);
  await grades.getByRole('button', { name: new RegExp(`^${text('grade.good')}`) }).click();
  await page.getByText(text('training.nothing_due')).waitFor();
  expect(fake.commands.find((command) => command.kind === 'grade_exercise')).toEqual({
    kind: 'grade_exercise',
    id: 1,
    grade: 'good',
  });
  await expect.poll(() => page.getByTestId('stats').textContent()).toContain('75%');
  expect(errors).toEqual([]);
  await page.context().close();
});

inLanguage('en', () => {
  test('reveals the solution by keyboard alone', async () => {
    const fake = defaultServer();
    ladder(fake);
    const page = await fake.page(browser, '#/training');
    await page.locator('[data-square="a2"]').waitFor({ state: 'attached' });
    await page.locator('body').press('s');
    await expect
      .poll(() => page.getByTestId('verdict').textContent())
      .toContain(t('training.solution', { line: 'Ra7' }));
    // The suggested grade.
    await page.locator('body').press('j');
    await page.getByText(t('training.nothing_due')).waitFor();
    expect(fake.commands.find((command) => command.kind === 'grade_exercise')).toMatchObject({
      grade: 'again',
    });
    await page.context().close();
  });
});

test.each(LANGUAGES)('fits the window with a tsume problem (%s)', async (language, text) => {
  const fake = defaultServer();
  storePrefs(fake, { language });
  const tsume = exercise(2, {
    variant: 'shogi',
    mate: 1,
    source: { name: 'tsume.sfen', game: null, node: null, played: null },
  });
  const missed = exercise(3, {
    kind: 'mistake',
    source: {
      name: 'Ada – Narikin',
      game: 7,
      node: 12,
      played: { uci: 'g2g4', text: { western: 'g4' } },
    },
  });
  training(fake, [tsume, missed], [tsume]);
  fake.answer = (command) =>
    command.kind === 'open_exercise'
      ? {
          kind: 'exercise_position',
          position: positionView(TSUME, [legal('G*5b', 'G*5b', '▲５二金')]),
          intervals: INTERVALS,
        }
      : { kind: 'done' };
  const page = await fake.page(browser, '#/training');
  await expect
    .poll(() => page.getByTestId('task').textContent())
    .toBe(text('training.tsume', { side: text('side.sente'), count: 1 }));
  await page.locator('[data-square="5a"]').waitFor({ state: 'attached' });
  for (const [width, height] of [
    [390, 844],
    [1024, 768],
    [1440, 900],
    [1920, 1080],
  ] as const) {
    await page.setViewportSize({ width, height });
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await expect.poll(wide, { message: `${width}` }).toBeLessThanOrEqual(0);
    const overflow = () =>
      page.locator('main').evaluate((main) => [main.scrollWidth, main.clientWidth] as const);
    const [scrolled, visible] = await overflow();
    expect(scrolled, `${width}`).toBeLessThanOrEqual(visible);
    const nav = await page.locator('nav a').evaluateAll((links) =>
      links.flatMap((link) => {
        const span = link.querySelector('span');
        return span && span.scrollWidth > link.clientWidth ? [span.textContent] : [];
      }),
    );
    expect(nav, `${width}`).toEqual([]);
  }
  await page
    .getByText(text('report.better', { side: text('side.white'), move: 'g4' }))
    .first()
    .waitFor();
  await page.context().close();
});

inLanguage('en', () => {
  test('adds the mistakes of a report, of the names of the user and of files', async () => {
    const fake = defaultServer();
    fake.answer = (command) =>
      command.kind === 'collect_exercises'
        ? { kind: 'exercises_added', added: 3, known: 1 }
        : { kind: 'done' };
    fake.http.set('training/import', {
      added: 2,
      known: 0,
      skipped: 1,
      errors: [{ code: 'unclosed_quote', context: { line: 3 } }],
    });
    const page = await fake.page(browser, '#/training');
    await page.getByLabel(t('training.names')).fill('Ada, 羽生');
    await page.getByLabel(t('training.names')).blur();
    await page.getByRole('button', { name: t('training.collect') }).click();
    await page.getByText(t('training.added', { count: 3, known: 1 })).waitFor();
    expect(fake.commands).toContainEqual({ kind: 'collect_exercises', game: null, side: null });
    const saved = fake.commands.find((command) => command.kind === 'set_settings');
    expect(saved).toMatchObject({ settings: { training: { names: ['Ada', '羽生'], new_per_day: 20 } } });
    await page.getByLabel(t('training.paste')).fill('sfen 4k4/9/4P4/9/9/9/9/9/9 b G 1');
    await page.getByRole('button', { name: t('training.import'), exact: true }).click();
    await page.getByText(t('training.skipped', { count: 1 })).waitFor();
    await page.getByText(t('location.line', { line: 3 })).waitFor();
    await page.context().close();
  });
});
