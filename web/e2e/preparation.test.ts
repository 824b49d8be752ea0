// The preparation of a player, from one end to the other: a pasted study is annotated, evaluated, exported and trained for three
// days; then the games of an account are imported, and a position of the study is found in them.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { command, errorsOf, showReport } from './browser';
import {
  LONG,
  WHOLE,
  accountDialog,
  enter,
  listedGames,
  paste,
  moveElements,
  squares,
  switchOn,
  useServer,
  visit,
  type Variant,
} from './fixture';
import { inLanguage, t } from './labels';
import { lichessGame, startServices, type OnlineServices } from './online';

const fixture = useServer();

interface Study {
  variant: Variant;
  name: string;
  text: string;
  /** Moves to the move that is annotated. */
  path: string[];
  /** The annotated text. */
  annotated: (text: string) => string;
  /** The moves of the side that is trained, by the moves before them. */
  answers: Record<string, string>;
  /** A move that is not in the study. */
  wrong: string;
}

const NOTE = 'Main line.';

const pgn = (chapter: string, moves: string) =>
  `[Event "Openings: ${chapter}"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "?"]\n[White "?"]\n[Black "?"]\n` +
  `[Result "*"]\n[StudyName "Openings"]\n[ChapterName "${chapter}"]\n\n${moves} *\n\n`;

const CHESS: Study = {
  variant: 'chess',
  name: 'Openings',
  text:
    pgn(
      'Italian',
      '{ Two main lines. } 1. e4 e5 2. Nf3 $1 Nc6 3. Bc4 { [%cal Gc4f7] } 3... Bc5 (\n3... Nf6 $6 4. Ng5 $1) 4. c3',
    ) +
    pgn('Sicilian', '1. e4 c5 2. Nf3 d6 3. d4 { [%csl Gd4] Open. } 3... cxd4 4. Nxd4 $14') +
    pgn('French', '1. e4 e6 2. d4 d5 3. Nc3 (3. e5 c5) 3... Bb4'),
  path: ['e4', 'e5'],
  annotated: (text) =>
    text.replace(
      /1\. e4 e5 2\. .*\n.*\n/,
      `1. e4 e5 $5 { ${NOTE} } 2. Nf3 $1 Nc6 3. Bc4\n{ [%cal Gc4f7] } 3... Bc5 (3... Nf6 $6 4. Ng5 $1) 4. c3 *\n`,
    ),
  answers: {
    '': 'e2e4',
    'e4 e5': 'g1f3',
    'e4 e5 Nf3 Nc6': 'f1c4',
    'e4 e5 Nf3 Nc6 Bc4 Bc5': 'c2c3',
    'e4 e5 Nf3 Nc6 Bc4 Nf6': 'f3g5',
    'e4 c5': 'g1f3',
    'e4 c5 Nf3 d6': 'd2d4',
    'e4 c5 Nf3 d6 d4 cxd4': 'f3d4',
    'e4 e6': 'd2d4',
    'e4 e6 d4 d5': 'e4e5',
  },
  wrong: 'a2a3',
};

const kif = (chapter: string, moves: string) =>
  `#KIF version=2.0 encoding=UTF-8\nStudyName：棒銀\nChapterName：${chapter}\n手合割：平手\n` +
  `手数----指手---------消費時間--\n${moves}`;

const SHOGI: Study = {
  variant: 'shogi',
  name: '棒銀',
  text: [
    kif(
      '原始棒銀',
      '*はじめ\n   1 ２六歩(27)\n*飛車先\n   2 ８四歩(83)+\n   3 ２五歩(26)\n\n' +
        '変化：2手\n   2 ３四歩(33)\n   3 ２五歩(26)\n   4 ３三角(22)\n',
    ),
    kif('角換わり', '   1 ７六歩(77)\n   2 ８四歩(83)\n   3 ２六歩(27)\n'),
    kif('中飛車', '   1 ５六歩(57)\n   2 ３四歩(33)\n   3 ５八飛(28)\n'),
  ].join('\n'),
  path: ['2g2f', '8c8d'],
  annotated: (text) => text.replace('   2 ８四歩(83)+\n', `   2 ８四歩(83)+\n*${NOTE}\n`),
  answers: {
    '': '2g2f',
    'P-2f P-8d': '2f2e',
    'P-2f P-3d': '2f2e',
    'P-7f P-8d': '2g2f',
    'P-5f P-3d': '2h5h',
  },
  wrong: '9g9f',
};

/** Saves a study from the list of its chapters. */
async function exported(page: Page, study: string): Promise<string> {
  await visit(page, t('nav.library'));
  await page
    .getByTestId('side')
    .getByRole('link', { name: new RegExp(`^${study}`) })
    .click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: t('record.save'), exact: true }).click();
  return readFileSync(await (await download).path(), 'utf8');
}

let services: OnlineServices;

const DAY = 24 * 60 * 60 * 1000;

/** Restarts the server a day later: the dates of all exercises and reviews are a day earlier. */
async function nextDay() {
  await fixture.server.restart(services.args, () => {
    const statements = [
      `UPDATE exercise SET added = added - ${DAY}, due = due - ${DAY}, reviewed = reviewed - ${DAY}`,
      `UPDATE review SET at = at - ${DAY}`,
    ];
    const script = 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])';
    execFileSync('python3', ['-c', script, join(fixture.server.data, 'app.sqlite'), statements.join(';')]);
  });
}

/** Of 5,000 games, every fifth has the position after 2… Nc6. */
const OPENINGS = ['1. e4 e5 2. Nf3 Nc6 3. Bb5', '1. d4 d5', '1. c4 e5', '1. e4 c5', '1. Nf3 d5'];
const ENDS = ['1-0', '0-1', '1/2-1/2'];
const GAMES = Array.from({ length: 5000 }, (_, number) =>
  lichessGame(`${OPENINGS[number % OPENINGS.length]} ${ENDS[number % ENDS.length]}`, number),
).join('\n');
const FOUND = 1000;

beforeEach(async () => {
  services = await startServices((_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.end(GAMES);
  });
  await fixture.server.restart(services.args);
});

afterEach(() => services.stop());

/** Creates a repertoire of the study that the board shows. */
async function train(page: Page, count: number) {
  await command(page, t('study.menu'), t('study.train'));
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('training.make') })
    .click();
  await page
    .locator('.toasts')
    .getByText(t('training.added', { count, known: 0 }))
    .waitFor(LONG);
}

/** Answers the exercises of a day; returns how many there were. The first answer can be wrong; the others can have hints. */
async function session(
  page: Page,
  { answers, wrong }: Study,
  { fails, hints }: { fails: boolean; hints: boolean },
): Promise<number> {
  const session = page.getByTestId('session');
  const line = page.getByTestId('line');
  const verdict = page.getByTestId('verdict');
  const graded = () => session.locator('tbody tr').count();
  const rest = async () => Number(await session.locator('dd').last().textContent());
  await squares(page);
  let count = 0;
  for (let left = await rest(); left > 0; left = await rest()) {
    // The moves of the next exercise.
    await line.waitFor();
    const moves = (await line.innerText())
      .replace(/\d+\.+|…|\?/g, ' ')
      .trim()
      .replace(/\s+/g, ' ');
    const answer = answers[moves];
    if (answer === undefined) throw new Error(`no answer after “${moves}”`);
    if (fails && count === 0) {
      await enter(page, wrong);
      await expect.poll(() => verdict.textContent(), LONG).toContain(t('training.not_in_repertoire'));
    } else if (hints) {
      await page.keyboard.press('h');
      await expect.poll(async () => (await verdict.textContent())?.trim(), LONG).not.toBe('');
    }
    await enter(page, answer);
    count += 1;
    await expect.poll(graded, LONG).toBe(count);
    await expect.poll(rest, LONG).toBe(left - 1);
  }
  await page.getByText(t('training.nothing_due')).waitFor(LONG);
  return count;
}

inLanguage('en', () => {
  test.each([CHESS, SHOGI])('a study of $variant', async (study) => {
    const { variant, name, text, path, annotated, answers } = study;
    let page = await fixture.page('#/analyse');
    let errors = errorsOf(page);
    await squares(page);
    await paste(page, text);
    await page.waitForURL(/#\/analyse\/\d+$/);
    const order = page.getByTestId('order');
    await order.getByText(t('order.place', { place: 1, count: 3 })).waitFor(LONG);
    const { hash } = new URL(page.url());
    expect(await exported(page, name)).toBe(text);

    await page.goto(new URL(`/${hash}`, page.url()).href);
    await squares(page);
    for (const [index, move] of path.entries()) {
      await enter(page, move);
      await page.locator('.moves [aria-current]').and(moveElements(page).nth(index)).waitFor(LONG);
    }
    await page.getByRole('button', { name: '!?', exact: true }).click();
    await page.getByLabel(t('edit.comment')).fill(NOTE);
    await page.getByLabel(t('edit.comment')).blur();
    await page.locator('.moves').getByText(NOTE).waitFor(LONG);
    const sheet = await showReport(page, t('tab.report'));
    await sheet.getByLabel(t('report.seconds')).fill('0.1');
    await sheet.getByRole('button', { name: t('report.run') }).click();
    await sheet.getByText(t('report.done'), { exact: true }).waitFor(WHOLE);
    await sheet.getByRole('button', { name: t('app.close') }).click();
    await page.locator('.moves').getByText('!?').waitFor();
    expect(await exported(page, name)).toBe(annotated(text));

    // Hints let all positions return after a day; a wrong answer alone returns a day later.
    const all = Object.keys(answers).length;
    await train(page, all);
    const { hash: set } = new URL(page.url());
    expect(await session(page, study, { fails: false, hints: true })).toBe(all);
    for (const [count, fails] of [
      [all, true],
      [1, false],
    ] as const) {
      expect(errors).toEqual([]);
      await page.context().close();
      await nextDay();
      page = await fixture.page(set);
      errors = errorsOf(page);
      expect(await session(page, study, { fails, hints: false })).toBe(count);
    }
    await page.context().close();
    await nextDay();
    page = await fixture.page(set);
    await page.getByText(t('training.nothing_due')).waitFor(LONG);

    if (variant !== 'chess') return;
    await switchOn(page, 'online.lichess_games');
    const dialog = await accountDialog(page);
    await dialog.getByLabel(t('account.name')).fill('Anna');
    await dialog.getByRole('button', { name: t('library.import'), exact: true }).click();
    const imported = page.getByTestId('import').filter({ hasText: 'Anna' });
    await expect.poll(() => imported.getAttribute('data-status'), WHOLE).toBe('done');
    await page.goto(new URL(`/${hash}`, page.url()).href);
    await squares(page);
    for (const move of ['e4', 'e5', 'Nf3', 'Nc6']) await enter(page, move);
    await page.getByRole('button', { name: t('library.find_position') }).click();
    // Those of the account, and the chapter.
    await expect
      .poll(() => page.getByRole('search').locator('.count b').textContent(), LONG)
      .toBe((FOUND + 1).toLocaleString('en'));
    await listedGames(page).and(page.getByLabel('anna – bela')).first().waitFor();
    expect(errors).toEqual([]);
  });
});
