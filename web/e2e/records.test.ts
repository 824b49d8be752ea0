// Game records: each format by each way of import, and its export imported again.
import { command } from './browser';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import {
  LONG,
  enter,
  moveElements,
  paste,
  squares,
  useServer,
  visit,
  moveTexts,
  analysisBoard,
} from './fixture';
import { inLanguage, language, t, starts } from './labels';

const fixture = useServer();

const PGN =
  '[Event "Naples"]\n[White "Greco"]\n[Black "NN"]\n\n1. e4 e5 2. Nf3 f6?? {weak} (2... Nc6 3. Bb5) 3. Nxe5 *\n';
const FEN = '8/8/8/4k3/8/8/4P3/4K3 w - - 0 1';
const SFEN = 'lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1';
const KIF =
  '手合割：平手\n先手：甲\n後手：乙\n手数----指手---------消費時間--\n   1 ７六歩(77)\n*角道\n   2 ３四歩(33)\n   3 ２二角成(88)\n';
const JKF = JSON.stringify({
  header: { 先手: '甲', 後手: '乙' },
  initial: { preset: 'HIRATE' },
  moves: [
    {},
    { move: { from: { x: 7, y: 7 }, to: { x: 7, y: 6 }, color: 0, piece: 'FU' } },
    { move: { from: { x: 3, y: 3 }, to: { x: 3, y: 4 }, color: 1, piece: 'FU' } },
  ],
});

interface Given {
  name: string;
  /** The file name; the format is also detected from the content. */
  file: string;
  text: string;
  /** The format of the export. */
  format: string;
  plies: number;
  /** Texts that the export must contain. */
  part: string;
}

const RECORDS: Given[] = [
  { name: 'PGN', file: 'a.pgn', text: PGN, format: 'pgn', plies: 5, part: '(2... Nc6 3. Bb5)' },
  { name: 'FEN', file: 'a.fen', text: FEN, format: 'position', plies: 0, part: FEN },
  {
    name: 'EPD',
    file: 'a.epd',
    text: '4k3/8/8/8/8/8/4P3/4K3 w - - bm e4;',
    format: 'epd',
    plies: 0,
    part: '4k3/8/8/8/8/8/4P3/4K3 w - -',
  },
  {
    name: 'a line of UCI',
    file: 'a.txt',
    text: 'position startpos moves e2e4 e7e5',
    format: 'line',
    plies: 2,
    part: 'position startpos moves e2e4 e7e5',
  },
  { name: 'SFEN', file: 'a.sfen', text: `sfen ${SFEN}`, format: 'position', plies: 0, part: SFEN },
  {
    name: 'a line of USI',
    file: 'b.txt',
    text: 'position startpos moves 7g7f 3c3d',
    format: 'line',
    plies: 2,
    part: 'position startpos moves 7g7f 3c3d',
  },
  { name: 'KIF', file: 'a.kif', text: KIF, format: 'kif', plies: 3, part: '*角道' },
  {
    name: 'KI2',
    file: 'a.ki2',
    text: '先手：甲\n後手：乙\n\n▲７六歩    △３四歩    ▲２二角成\n',
    format: 'ki2',
    plies: 3,
    part: '▲２二角成',
  },
  {
    name: 'CSA',
    file: 'a.csa',
    text: 'V2.2\nN+甲\nN-乙\nPI\n+\n+7776FU\n-3334FU\n',
    format: 'csa',
    plies: 2,
    part: '-3334FU',
  },
  { name: 'JKF', file: 'a.jkf', text: JKF, format: 'jkf', plies: 2, part: '"x":3,"y":4' },
];

/** Runs an action and waits until it opens another game. */
async function opens(page: Page, act: () => Promise<void>) {
  const before = page.url();
  await act();
  await expect.poll(() => page.url(), LONG).not.toBe(before);
  await page.locator('[data-page=analyse]').waitFor();
  await squares(page);
}

const record = (page: Page) => command(page, t('menu.more'), t('tab.record'));

async function chooseFile(page: Page, path: string) {
  const chooser = page.waitForEvent('filechooser');
  await command(page, t('menu.more'), t('record.file'));
  await (await chooser).setFiles(path);
}

/** The four ways of import. */
const WAYS: [string, (page: Page, text: string, path: string) => Promise<void>][] = [
  ['pasted', (page, text) => paste(page, text)],
  [
    'dropped',
    (page, text, path) =>
      page.evaluate(
        ([body, name]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([body], name));
          window.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
        },
        [text, path.split('/').at(-1) ?? ''] as const,
      ),
  ],
  ['opened', (page, _, path) => chooseFile(page, path)],
  [
    'written into the field',
    async (page, text) => {
      await page.locator('#entry').fill(text);
      await page.locator('#entry').press('Enter');
    },
  ],
];

/** The moves and player names of the game. */
async function seen(page: Page, plies: number) {
  await expect.poll(() => moveElements(page).count(), LONG).toBe(plies);
  return { moves: await moveTexts(page), heading: await page.locator('h1').textContent() };
}

/** Saves the game and returns the path of the file. */
async function saved(page: Page, format: string, encoding?: string): Promise<string> {
  await record(page);
  await page.getByLabel(t('record.format')).selectOption(format);
  if (encoding) await page.getByLabel(t('record.encoding')).selectOption(encoding);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: t('record.save'), exact: true }).click();
  const file = await download;
  const path = join(fixture.server.data, `saved-${file.suggestedFilename()}`);
  await file.saveAs(path);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return path;
}

inLanguage('en', () => {
  // One format of chess and one of shogi suffice for Japanese.
  test.each(RECORDS.filter(({ name }) => language() === 'en' || ['PGN', 'KIF'].includes(name)))(
    '$name comes in by every way and goes out again',
    async ({ file, text, format, plies, part }) => {
      const page = await fixture.page();
      await analysisBoard(page);
      const path = join(fixture.server.data, file);
      writeFileSync(path, text);
      const found = [];
      for (const [way, act] of WAYS) {
        await opens(page, () => act(page, text, path));
        found.push({ way, ...(await seen(page, plies)) });
      }
      const [first] = found;
      expect(found.map(({ moves, heading }) => ({ moves, heading }))).toEqual(
        found.map(() => ({ moves: first?.moves, heading: first?.heading })),
      );

      // Some formats contain the game up to the current move.
      await page.getByRole('button', { name: t('step.last') }).click();
      await page.waitForFunction((count) => {
        const all = document.querySelectorAll('.moves .move:not(.gap)');
        return count === 0 || all[all.length - 1]?.getAttribute('aria-current') === 'true';
      }, plies);
      const out = await saved(page, format);
      expect(readFileSync(out, 'utf8')).toContain(part);
      await opens(page, () => chooseFile(page, out));
      const { way: _, ...same } = first ?? { way: '' };
      expect(await seen(page, plies)).toEqual(same);
      // The clipboard requires a secure context; otherwise a text field is shown.
      await record(page);
      await page.getByLabel(t('record.format')).selectOption(format);
      await page.getByRole('button', { name: t('record.copy'), exact: true }).click();
      await expect.poll(() => page.getByLabel(t('record.text')).inputValue(), LONG).not.toBe('');
    },
  );
});

test.each(['kif', 'ki2', 'csa'])('imports and exports %s in Shift_JIS', async (format) => {
  const page = await fixture.page();
  await analysisBoard(page);
  await opens(page, () => paste(page, KIF));
  const before = await seen(page, 3);
  const out = await saved(page, format, 'shift_jis');
  const bytes = readFileSync(out);
  expect(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toThrow();
  expect(new TextDecoder('shift_jis', { fatal: true }).decode(bytes)).toContain('甲');
  await opens(page, () => chooseFile(page, out));
  expect(await seen(page, 3)).toEqual(before);
});

inLanguage('en', () => {
  test('imports several files and reports errors with their locations', async () => {
    const page = await fixture.page('#/library');
    const games = join(fixture.server.data, 'many.pgn');
    writeFileSync(
      games,
      Array.from({ length: 60 }, (_, at) => PGN.replace('Greco', `Player ${at}`)).join('\n'),
    );
    const kif = join(fixture.server.data, 'a.kif');
    writeFileSync(kif, KIF);
    await page.getByTestId('import-files').setInputFiles([games, kif]);
    const rows = () => page.getByRole('table').getAttribute('aria-rowcount');
    await expect.poll(rows, LONG).toBe('62');
    await page.getByLabel(t('library.search')).fill('Player 59');
    await expect.poll(rows, LONG).toBe('2');
    await page.getByRole('link', { name: /Player 59/ }).dblclick();
    await squares(page);
    await expect.poll(() => moveElements(page).count(), LONG).toBe(5);

    await page.locator('#entry').fill('[White "A"]\n\n1. e4 e5 2. Ke3 *\n');
    await page.locator('#entry').press('Enter');
    // The part before the defect is imported.
    await page
      .locator('.toasts > *')
      .filter({ hasText: new RegExp(`${t('location.line', { line: 3 })}, .*: Ke3: `) })
      .waitFor();
  });
});

test('exports changes of a game', async () => {
  const page = await fixture.page();
  await analysisBoard(page);
  await enter(page, 'd4');
  await expect.poll(() => moveTexts(page), LONG).toEqual(['d4']);
  await page.getByLabel(t('edit.comment')).fill('a quiet <b>start</b>');
  await page.getByLabel(t('edit.comment')).blur();
  await page.locator('.comment').filter({ hasText: 'a quiet' }).waitFor();
  const out = await saved(page, 'pgn');
  expect(readFileSync(out, 'utf8')).toMatch(/1\. d4 \{ ?a quiet <b>start<\/b> ?\}/);
  await visit(page, t('nav.library'));
});

test('remembers a pasted game whose page is left before the game is received', async () => {
  const page = await fixture.page('#/library');
  await page.getByText(t('library.none')).waitFor();
  await page.evaluate(() => {
    const leave = () => {
      location.hash = '#/library';
      document.body.classList.add('left');
    };
    addEventListener('hashchange', leave, { once: true });
  });
  await paste(page, PGN);
  // The list of drafts has the game before the import ends.
  await page.locator('body.left').waitFor();
  await expect
    .poll(
      () =>
        page
          .getByTestId('side')
          .getByRole('link', { name: starts('library.drafts') })
          .textContent(),
      LONG,
    )
    .toContain('1');
  await visit(page, t('nav.analyse'));
  await squares(page);
  await expect.poll(() => moveTexts(page)).toContain('e4');
});
