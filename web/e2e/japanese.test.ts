// Error messages in Japanese.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { ENGINES, LONG, WHOLE, enter, squares, useServer, analysisBoard } from './fixture';
import { ja } from './labels';

const fixture = useServer();
const there = (hash: string) => fixture.page(hash, { locale: 'ja-JP' });

/** Waits for a text, and checks that it contains no English except names. */
async function containsText(where: Locator, text: string, ...names: string[]) {
  const found = where.filter({ hasText: text }).first();
  await found.waitFor(LONG);
  let rest = (await found.textContent()) ?? '';
  for (const name of names) rest = rest.replaceAll(name, '');
  expect(rest).not.toMatch(/[a-z]{3}/i);
}

const toasts = (page: Page) => page.locator('.toasts > *');

async function read(page: Page, name: string, text: string) {
  await page
    .getByTestId('import-files')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
}

/** Adds the scripted engine. */
async function addRogue(page: Page, ...args: string[]) {
  await page.getByRole('button', { name: ja('engine.add') }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(ja('add.path'), { exact: true }).fill(ENGINES.misbehave);
  await dialog.getByLabel(ja('add.args')).fill(args.join('\n'));
  await dialog.getByLabel(ja('add.name'), { exact: true }).fill('Rogue');
  await dialog.getByRole('button', { name: ja('add.submit') }).click();
  await expect.poll(() => page.getByTestId('engine').count(), LONG).toBe(2);
}

test('reports location and reason of unreadable records', async () => {
  const page = await there('#/library');
  await read(page, 'a.pgn', '[White "A"]\n\n1. e4 e5 2. Ke3 *\n\n[White "B"]\n\n1. d4 *\n');
  await containsText(toasts(page), '3行目, 13文字目: Ke3: ', 'Ke3');
  // Readable games are imported.
  await containsText(toasts(page), '1');
  await read(page, 'b.kif', '手合割：平手\n   1 ７六歩(77)\n   2 ７六歩(77)\n');
  await containsText(toasts(page), '本譜は1手目まで読み込みました', '７六歩');
  await read(page, 'c.pgn', '[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n1. e4 *\n');
  await containsText(toasts(page), 'キング');
  await page
    .getByRole('search')
    .getByRole('button', { name: ja('library.filter.add') })
    .click();
  await page.getByLabel(ja('library.position'), { exact: true }).fill('8/8/8/8/8/8/8/8 w - - 0 1');
  await containsText(page.getByRole('main').getByRole('status'), '対局できない局面です');
});

test('reports unreadable records of an imported folder', async () => {
  const folder = join(fixture.server.data, 'records');
  mkdirSync(folder);
  writeFileSync(join(folder, 'c.pgn'), '1. e4 e4 *\n');
  const page = await there('#/library');
  await page.getByRole('button', { name: ja('library.import'), exact: true }).click();
  await page.getByRole('button', { name: ja('library.import_folder') }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /readyok-e2e/ }).click();
  await dialog.getByRole('button', { name: /^records/ }).click();
  await dialog.getByRole('button', { name: ja('files.this') }).click();
  await page
    .getByTestId('import')
    .getByText(ja('job.errors', { count: 1 }))
    .click();
  await containsText(
    page.getByTestId('faults').locator('li'),
    '本譜は1手目まで読み込みました',
    'c.pgn',
    'e4',
  );
});

test('reports why a move or a position is rejected', async () => {
  const page = await there('#/play/0/new');
  await analysisBoard(page);
  await enter(page, 'e2e5');
  await containsText(page.getByText(ja('error.unreachable')), '指せない手です', 'e2e5');
  await page.getByRole('button', { name: ja('editor.title') }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('FEN').fill('8/8/8/8/8/8/4P3/4K3 w - - 0 1');
  await containsText(dialog.getByTestId('verdict'), 'キングが0個');
});

test('labels the sides of a handicap game', async () => {
  const page = await there('#/play/0/new');
  await page.getByRole('radio', { name: ja('variant.shogi'), exact: true }).check({ force: true });
  await page.getByRole('combobox', { name: ja('new.opponent') }).selectOption({ label: ja('new.local') });
  await page.locator('main').getByText(ja('new.more'), { exact: true }).click();
  await page.getByLabel(ja('new.handicap')).selectOption('lance');
  await page.getByRole('button', { name: ja('new.begin'), exact: true }).click();
  await squares(page);
  const sides = async () => (await page.locator('.bar .sr').allTextContents()).join();
  await expect.poll(sides, LONG).toBe('上手,下手');
  await page.getByRole('button', { name: ja('play.resign'), exact: true }).click();
  await page.getByRole('button', { name: ja('play.resign.confirm'), exact: true }).click();
  await page.getByText('下手の勝ち').first().waitFor();
});

test(
  'reports errors of matches and of their engines',
  async () => {
    const page = await there('#/engines');
    await page.getByTestId('engine').first().waitFor();
    await addRogue(page, 'go: !exit 3');
    await page
      .getByRole('navigation')
      .getByRole('link', { name: ja('nav.matches') })
      .click();
    const start = page.getByRole('button', { name: ja('match.start'), exact: true });
    await page.getByRole('button', { name: ja('match.new') }).click();
    await expect
      .poll(
        () =>
          page
            .getByLabel(ja('match.engine', { number: 2 }))
            .locator('option')
            .count(),
        LONG,
      )
      .toBe(3);
    await page.getByLabel(ja('time.kind')).last().selectOption('none');
    await start.click();
    await containsText(toasts(page), ja('error.missing_limit'));
    await page.getByLabel(ja('time.nodes')).fill('30');
    await page.getByLabel(ja('match.pairs')).fill('1');
    await page.getByLabel(ja('match.engine', { number: 2 })).selectOption({ label: 'Rogue' });
    await page.getByLabel(ja('match.openings')).selectOption('positions');
    await page.getByLabel(ja('match.openings.list')).last().fill('8/8/8/8/8/8/8/8 w - - 0 1');
    await start.click();
    await containsText(toasts(page), '1番目: ');
    await page.getByLabel(ja('match.openings')).selectOption('file');
    await page
      .getByLabel(ja('match.openings.file'), { exact: true })
      .fill(join(fixture.server.data, 'none.pgn'));
    await start.click();
    await containsText(toasts(page), '指定されたファイルが見つかりません', fixture.server.data, 'none.pgn');
    await page.getByLabel(ja('match.openings')).selectOption('start');
    await start.click();
    const match = page.getByTestId('match');
    await containsText(match.getByTestId('note'), '失敗しました', 'Rogue');
    await match.getByText(ja('match.over'), { exact: true }).waitFor(WHOLE);
    await match.getByText(ja('match.tab.games'), { exact: true }).click();
    await containsText(match.getByTestId('game'), 'コード3で終了しました', 'Rogue', 'Narikin');
  },
  WHOLE.timeout,
);

test(
  'reports skipped openings and restarted engines of a match',
  async () => {
    const page = await there('#/engines');
    await page.getByTestId('engine').first().waitFor();
    // The engine exits after the move that ends the game.
    await addRogue(page, 'go: info depth 1 score mate 1 pv h1h8 | bestmove h1h8 | !exit 3');
    const file = join(fixture.server.data, 'book.epd');
    writeFileSync(file, 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n8/8/8/8/8/8/8/8 w - -\n');
    await page
      .getByRole('navigation')
      .getByRole('link', { name: ja('nav.matches') })
      .click();
    await page.getByRole('button', { name: ja('match.new') }).click();
    await expect
      .poll(
        () =>
          page
            .getByLabel(ja('match.engine', { number: 2 }))
            .locator('option')
            .count(),
        LONG,
      )
      .toBe(3);
    await page.getByLabel(ja('time.kind')).last().selectOption('none');
    await page.getByLabel(ja('time.nodes')).fill('30');
    await page.getByLabel(ja('match.pairs')).fill('2');
    await page.getByLabel(ja('match.engine', { number: 2 })).selectOption({ label: 'Narikin' });
    await page.getByLabel(ja('match.openings')).selectOption('file');
    await page.getByLabel(ja('match.openings.file'), { exact: true }).fill(file);
    const start = page.getByRole('button', { name: ja('match.start'), exact: true });
    await start.click();
    const note = page.getByTestId('match').getByTestId('note');
    await containsText(note, '開始局面を1つ除外しました', file);
    await containsText(note, 'キング', file);

    await page
      .getByRole('navigation')
      .getByRole('link', { name: ja('nav.matches') })
      .click();
    await page.getByRole('button', { name: ja('match.new') }).click();
    await expect
      .poll(
        () =>
          page
            .getByLabel(ja('match.engine', { number: 2 }))
            .locator('option')
            .count(),
        LONG,
      )
      .toBe(3);
    await page.getByLabel(ja('time.kind')).last().selectOption('none');
    await page.getByLabel(ja('time.nodes')).fill('30');
    await page.getByLabel(ja('match.pairs')).fill('2');
    await page.getByLabel(ja('match.engine', { number: 2 })).selectOption({ label: 'Rogue' });
    await page.getByLabel(ja('match.openings')).selectOption('positions');
    await page.getByLabel(ja('match.openings.list')).last().fill('k7/8/1K6/8/8/8/8/7R w - - 0 1');
    await start.click();
    await containsText(note, '再起動しました', 'Rogue');
  },
  WHOLE.timeout,
);

test(
  'reports violations of a conformance check',
  async () => {
    const page = await there('#/engines');
    await page.getByTestId('engine').first().waitFor();
    await addRogue(page, 'uci: id name Rogue | uciok', 'isready: !exit 3');
    const card = page.getByTestId('engine').nth(1);
    await card.getByRole('button', { name: ja('engine.check') }).click();
    const check = card.getByTestId('check');
    await check.and(page.locator('[data-kind=done]')).waitFor(WHOLE);
    await check.locator('summary').first().click();
    const found = check.locator('li');
    const author = found.filter({ hasText: 'handshake.author' });
    await author.getByText('エンジンは作者を伝える').waitFor();
    await author.getByText('`id author` の行がなかった').waitFor();
    await author.getByText(ja('check.must')).waitFor();
    const ready = found.filter({ hasText: /^必須\s*handshake\.ready / });
    await ready.getByText('`isready` には `readyok` を 1 回返す').waitFor();
    const why = '最初の `isready` に応答しなかった: エンジンが終了した (終了コード 3)';
    await ready.getByText(why).waitFor();
    // All other checks are listed with their results.
    await check.getByText(/^その他の検査：\d+件$/).click();
    await found.filter({ hasText: /^合格\s*handshake\.name / }).waitFor();
    await found.filter({ hasText: /^判定不能\s*exit\.eof\.idle / }).waitFor();
    await expect.poll(() => found.count()).toBeGreaterThan(150);
    // Names of checks and documents are not translated; protocol keywords are between backticks.
    const texts = await found.evaluateAll((all) =>
      all.map((one) => {
        const text = one.cloneNode(true) as Element;
        for (const name of text.querySelectorAll('.mono, [data-testid=clauses]')) name.remove();
        return text.textContent.replace(/`[^`]*`/g, '');
      }),
    );
    expect(texts.length).toBeGreaterThan(10);
    const names = /UTF-8|Chess960|MultiPV|SFEN/g;
    expect(texts.filter((text) => /[a-z]{4}/i.test(text.replace(names, '')))).toEqual([]);
  },
  WHOLE.timeout,
);

/** Opens the options of the built-in engine. */
async function optionsOfNarikin() {
  const page = await there('#/engines');
  const card = page.getByTestId('engine').first();
  const open = card.getByRole('button', { name: ja('engine.options'), exact: true });
  await expect.poll(() => open.isEnabled(), LONG).toBe(true);
  await open.click();
  return page;
}

test('translates the options of an engine', async () => {
  const page = await optionsOfNarikin();
  const options = page.getByRole('dialog').locator('[data-option]');
  await options.first().waitFor();
  const texts = await options.allTextContents();
  expect(texts.length).toBeGreaterThan(10);
  expect(texts.filter((text) => !/[ぁ-んァ-ヶ一-龠]/.test(text))).toEqual([]);
});

test('rejects an invalid option value', async () => {
  const page = await optionsOfNarikin();
  const hash = page.getByRole('dialog').locator('[data-option="Hash"] input').first();
  await hash.fill('999999999');
  await hash.blur();
  await containsText(toasts(page), 'までの数です', 'Hash');
});

test('shows violations in the log in Japanese', async () => {
  const page = await there('#/engines');
  await page
    .getByRole('button', { name: ja('engine.console') })
    .first()
    .click();
  const field = page.getByLabel(ja('log.command'));
  await expect.poll(() => field.isEnabled(), LONG).toBe(true);
  for (const line of ['ponderhit', 'isready now']) {
    await field.fill(line);
    await field.press('Enter');
  }
  const breaches = page.getByRole('region', { name: ja('log.region') }).locator('.why');
  // Document titles are not translated.
  const clause = 'UCI 2006, ponderhit; USI draft 1 §5.3; The UCI Protocol, ponderhit';
  const text = '`ponderhit` は `go ponder` の探索中にだけ送る';
  await containsText(breaches, text, clause, '`ponderhit`', '`go ponder`');
  const rule = 'UCI 2006, general rules と USI draft 1';
  await containsText(breaches, 'メッセージの後の余分な文字列', rule);
  const given = page.waitForEvent('download');
  await page.getByRole('button', { name: ja('log.export'), exact: true }).click();
  expect(readFileSync(await (await given).path(), 'utf8')).toContain(`# 必須: ${text} [${clause}]`);
});
