// Exercises with spaced repetition, with a fake server.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import type { Answer, Exercise, ExerciseAttempt } from '../src/api/wire';
import { errorsOf, middle, sentBodies, sharedBrowser, violations } from './browser';
import {
  LADDER,
  TSUME,
  defaultServer,
  positionView,
  legal,
  storePrefs,
  trainingSet,
  trainingView,
  type FakeServer,
} from './fakeServer';
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
    rating: null,
    themes: [],
    line: null,
    chapter: null,
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
  const total = exercises.length;
  fake.http.set('training', trainingView({ sets: [trainingSet({ total })], stats, queue, exercises, total }));
}

/** The answer to opening an exercise whose position has no earlier moves. */
const opened = (position: ReturnType<typeof positionView>): Answer => ({
  kind: 'exercise_position',
  position,
  start: position.text,
  line: { first_number: 1, first_turn: 'first', moves: [] },
  before: null,
  intervals: INTERVALS,
});

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
        return opened(start);
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
      ? opened(positionView(TSUME, [legal('G*5b', 'G*5b', '▲５二金')]))
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
  test('adds the mistakes of a report, of the names of the user', async () => {
    const fake = defaultServer();
    fake.answer = (command) =>
      command.kind === 'collect_exercises'
        ? { kind: 'exercises_added', added: 3, known: 1 }
        : { kind: 'done' };
    const page = await fake.page(browser, '#/training/mistakes');
    await page.getByLabel(t('training.names')).fill('Ada, 羽生');
    await page.getByLabel(t('training.names')).blur();
    await page.getByRole('button', { name: t('training.collect') }).click();
    await page.getByText(t('training.added', { count: 3, known: 1 })).waitFor();
    expect(fake.commands).toContainEqual({ kind: 'collect_exercises', game: null, side: null });
    const saved = fake.commands.find((command) => command.kind === 'set_settings');
    expect(saved).toMatchObject({ settings: { training: { names: ['Ada', '羽生'], new_per_day: 20 } } });
    await page.context().close();
  });

  test('imports problems, lists bad rows and filters by theme and rating', async () => {
    const fake = defaultServer();
    const set = trainingSet({ id: 4, kind: 'problems', name: 'lichess', total: 2 });
    const problem = exercise(9, { kind: 'best_move', mate: null, rating: 1480, themes: ['mateIn2'] });
    fake.answer = () => opened(positionView(LADDER, [legal('a2a7', 'Ra7')]));
    fake.http.set('training/import', {
      set: 4,
      added: 2,
      known: 0,
      removed: 0,
      skipped: 1,
      errors: [{ code: 'missing_column', name: 'FEN', context: { line: 3 } }],
      total_errors: 1,
    });
    const page = await fake.page(browser, '#/training/problems');
    const asked = await sentBodies(page, '/api/training');
    await page.getByText(t('training.no_problems')).waitFor();
    await page
      .getByRole('button', { name: t('training.add_problems') })
      .last()
      .click();
    const dialog = page.getByRole('dialog', { name: t('training.add_problems') });
    await dialog.getByLabel(t('training.paste')).fill('sfen 4k4/9/4P4/9/9/9/9/9/9 b G 1');
    const themes = [
      { theme: 'fork', count: 1 },
      { theme: 'mateIn2', count: 2 },
    ];
    const sets = [trainingSet(), set];
    const found = { sets, queue: [problem], exercises: [problem], total: 2, themes };
    fake.http.set('training', trainingView({ ...found, ratings: [1480, 1900] }));
    await dialog.getByRole('button', { name: t('training.import'), exact: true }).click();
    await dialog.getByText(t('training.skipped', { count: 1 })).waitFor();
    await dialog.getByText(t('location.line', { line: 3 })).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => url.hash === '#/training/4');
    await page.getByText(t('training.rating', { rating: 1480 })).waitFor();
    await page.getByLabel(t('training.theme')).selectOption('mateIn2');
    await page.getByLabel(t('training.rating.min')).fill('1500');
    await page.getByLabel(t('training.rating.min')).blur();
    await expect
      .poll(async () => JSON.parse((await asked()).at(-1) ?? 'null'))
      .toMatchObject({ set: 4, themes: ['mateIn2'], min_rating: 1500, max_rating: null });
    await page.context().close();
  });
});

const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';
const PIRC = 'rnbqk2r/pp2ppbp/2pp1np1/8/3PP3/2N1B3/PPPQ1PPP/R3KBNR w KQkq - 0 6';
const PLAYED = 'e4 d6 d4 Nf6 Nc3 g6 Be3 Bg7 Qd2 c6'.split(' ');

/** A repertoire with two positions after 5… c6. */
function pirc(fake: FakeServer) {
  const set = trainingSet({
    id: 7,
    kind: 'repertoire',
    name: 'Pirc for White',
    variant: 'chess',
    side: 'first',
    linked: true,
    total: 31,
    learned: 14,
    due: 2,
  });
  const queue = [1, 2].map((id) => exercise(id, { kind: 'repertoire', mate: null, chapter: 1 }));
  const chapters = ['Austrian Attack', '150 Attack'].map((name, index) => ({
    name,
    total: 24,
    learned: 22 - index,
    learning: 1,
    due: index,
    reviews: 10,
    lapses: 2,
  }));
  const days = [2, 5, 1, 0, 3, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4];
  const shown = { sets: [trainingSet(), set], chapters, days, total: 31 };
  fake.http.set('training', trainingView({ ...shown, queue }));
  fake.answer = (command) => {
    switch (command.kind) {
      case 'open_exercise':
        return {
          kind: 'exercise_position',
          position: positionView(PIRC, [legal('f1d3', 'Bd3'), legal('a2a3', 'a3')]),
          start: START,
          line: {
            first_number: 1,
            first_turn: 'first',
            moves: PLAYED.map((text) => ({ uci: text, text: { western: text } })),
          },
          before: null,
          intervals: INTERVALS,
        };
      case 'solve_exercise':
        return { kind: 'exercise_solution', line: [{ uci: 'f1d3', text: { western: 'Bd3' } }] };
      case 'try_exercise': {
        const right = command.text === 'f1d3';
        const position = right ? positionView(PIRC, []) : null;
        const more = { right, solved: right, position };
        return { kind: 'exercise_tried', attempt: attempt(command.text, right ? 'Bd3' : 'a3', more) };
      }
      case 'grade_exercise':
        fake.http.set('training', trainingView({ ...shown, queue: queue.slice(command.id) }));
        return { kind: 'exercise_graded', due: Date.now() + DAY };
      case 'new_game':
        return { kind: 'game', game: 99 };
      default:
        return { kind: 'done' };
    }
  };
}

test.each(LANGUAGES)('trains a repertoire (%s)', async (language, text) => {
  const fake = defaultServer();
  storePrefs(fake, { language, animation: 'false' });
  pirc(fake);
  const page = await fake.page(browser, '#/training');
  const errors = errorsOf(page);
  const task = page.getByTestId('task');
  await expect.poll(() => task.textContent()).toBe(text('training.your_move', { move: '5…c6' }));
  await expect.poll(() => page.getByTestId('line').innerText()).toContain('1. e4 d6 2. d4');
  const sets = page.getByTestId('sets');
  await sets.getByText('Pirc for White').waitFor();
  await sets.getByText(text('training.due_count', { count: 2 }), { exact: true }).waitFor();
  await sets.getByRole('button', { name: /^150 Attack/ }).waitFor();
  expect(await violations(page)).toEqual([]);

  // A hint, then a wrong move: it is graded, and the right one is shown.
  await page.locator('[data-square="f1"]').waitFor({ state: 'attached' });
  const verdict = page.getByTestId('verdict');
  await page.locator('body').press('h');
  await expect.poll(() => verdict.textContent()).toContain('f1');
  await play(page, 'a2', 'a3');
  await expect.poll(() => verdict.textContent()).toContain(text('training.not_in_repertoire'));
  await expect.poll(() => verdict.textContent()).toContain(text('training.solution', { line: 'Bd3' }));
  const grades = () =>
    fake.commands.flatMap((one) => (one.kind === 'grade_exercise' ? [[one.id, one.grade]] : []));
  await expect.poll(grades).toEqual([[1, 'again']]);
  // The move leads to the next position, without another grade.
  await play(page, 'f1', 'd3');
  const openings = () => fake.commands.filter((one) => one.kind === 'open_exercise').length;
  await expect.poll(openings).toBe(2);
  await expect.poll(() => page.getByTestId('progress').textContent()).toBe('1 / 2');
  await expect.poll(() => verdict.textContent().then((found) => found?.trim())).toBe('');
  await enter(page, 'f1d3');
  await expect.poll(() => grades().length).toBe(2);
  expect(grades()[1]?.[1]).toMatch(/easy|good/);
  await page.getByText(text('training.nothing_due')).waitFor();
  const session = page.getByTestId('session');
  await expect.poll(() => session.getByRole('row').filter({ hasText: 'Bd3' }).count()).toBe(2);
  await session.getByText('4.Be3 Bg7 5.Qd2 c6').first().waitFor();
  await expect.poll(() => session.locator('dd').allTextContents()).toEqual(['1', '1', '0']);
  expect(errors).toEqual([]);
  await page.context().close();
});

inLanguage('en', () => {
  test('shows the move of a repertoire, plays on against an engine, and trains a chapter', async () => {
    const fake = defaultServer();
    pirc(fake);
    const page = await fake.page(browser, '#/training/7');
    const asked = await sentBodies(page, '/api/training');
    await page.locator('[data-square="f1"]').waitFor({ state: 'attached' });
    await page
      .getByTestId('sets')
      .getByRole('button', { name: /^150 Attack/ })
      .click();
    await expect
      .poll(async () => JSON.parse((await asked()).at(-1) ?? 'null'))
      .toMatchObject({ set: 7, chapter: 1 });
    const openings = () => fake.commands.filter((one) => one.kind === 'open_exercise').length;
    await expect.poll(openings).toBe(2);
    await page.locator('[data-square="f1"]').waitFor({ state: 'attached' });
    await page.locator('body').press('s');
    await expect
      .poll(() => page.getByTestId('verdict').textContent())
      .toContain(t('training.solution', { line: 'Bd3' }));
    await page.getByRole('button', { name: t('training.play_on') }).click();
    await page.waitForURL((url) => url.hash === '#/play/99');
    const begun = fake.commands.find((command) => command.kind === 'new_game');
    expect(begun).toMatchObject({
      game: {
        variant: 'chess',
        start: { kind: 'text', text: `${START} moves ${PLAYED.join(' ')}` },
        players: { first: { kind: 'human' } },
      },
    });
    await page.context().close();
  });
});
