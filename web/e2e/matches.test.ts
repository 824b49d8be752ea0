// Engine matches: start, pause, resume, end; and tournaments.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { violations } from './browser';
import { ENGINES, LONG, WHOLE, addEngine, handshakeDone, moveElements, useServer, visit } from './fixture';
import { starts, t, inLanguage } from './labels';

const fixture = useServer();

/** Opens the form of a match and selects fast games. */
async function form(page: Page) {
  await page.getByRole('button', { name: t('match.new') }).click();
  await expect.poll(() => page.getByLabel(t('match.engine', { number: 2 })).count(), LONG).toBe(1);
  await page.getByLabel(starts('time.kind')).selectOption('none');
  await page.getByLabel(t('time.nodes')).fill('30');
}

const match = (page: Page) => page.getByTestId('match');

/** The number of finished games of the match. */
const played = (page: Page) =>
  match(page)
    .getByRole('progressbar')
    .evaluate((bar) => (bar as HTMLProgressElement).value);

/** Shows a section of the details. */
const section = (page: Page, name: 'match.table' | 'match.tab.games' | 'match.log' | 'queue.workers') =>
  match(page)
    .getByRole('radiogroup', { name: t('match.sections') })
    .getByText(t(name), { exact: true })
    .click();

/** The number of games in each cell of the crosstable, by row. */
async function crosstable(page: Page): Promise<number[][]> {
  // That of a tournament has a section of its own.
  const table = match(page).getByTestId('crosstable');
  if (!(await table.isVisible())) await section(page, 'match.table');
  const rows = await match(page).getByTestId('crosstable').locator('tbody tr').all();
  const cells = await Promise.all(rows.map((row) => row.locator('td.small').allTextContents()));
  const games = (text: string) => (text.match(/\d+/g) ?? []).reduce((sum, count) => sum + Number(count), 0);
  return cells.map((row) => row.map(games));
}

/** The nonzero numbers of games of all pairings. */
const encounters = async (page: Page) =>
  (await crosstable(page)).flatMap((row, at) => row.slice(at + 1)).filter((games) => games > 0);

test(
  'plays a match with environment variables and working directory of an engine',
  async () => {
    const script = join(fixture.server.data, 'engine.sh');
    writeFileSync(script, '#!/bin/sh\nexec "./$ENGINE"\n', { mode: 0o755 });
    const page = await fixture.page('#/engines');
    const env = `ENGINE=${basename(ENGINES.mime)}`;
    const wanted = { name: 'Mime', path: script, dir: dirname(ENGINES.mime), env };
    await handshakeDone(await addEngine(page, wanted));
    await visit(page, t('nav.matches'));
    await form(page);
    await page.getByLabel(t('match.pairs')).fill('1');
    await page.getByRole('button', { name: t('match.start'), exact: true }).click();
    await match(page).getByText(t('match.over'), { exact: true }).waitFor(WHOLE);
    await expect.poll(() => encounters(page)).toEqual([2]);
    await section(page, 'match.tab.games');
    const games = await match(page).getByTestId('game').allTextContents();
    expect(
      games.filter((game) =>
        [t('termination.crash'), t('termination.no-start'), t('termination.stall'), t('outcome.none')].some(
          (text) => game.includes(text),
        ),
      ),
    ).toEqual([]);
  },
  WHOLE.timeout,
);

test.each([
  // The winners of two encounters play each other until one wins.
  ['knockout', 1, (all: number[]) => all.length === 3 && all.every((games) => games >= 2)],
  // No pairing is repeated.
  ['swiss', 2, (all: number[]) => String(all) === '2,2,2,2'],
] as const)(
  'plays a tournament of four: %s',
  async (format, rounds, fits) => {
    const page = await fixture.page('#/matches');
    await form(page);
    for (const count of [3, 4]) {
      await page.getByRole('button', { name: t('match.add_engine') }).click();
      await page.getByLabel(t('match.engine', { number: count })).waitFor();
    }
    await page.getByLabel(t('match.format')).selectOption(format);
    await page.getByLabel(t('match.rounds')).fill(String(rounds));
    await page.getByLabel(t('match.pairs')).fill('1');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: t('match.start'), exact: true }).click();
    await match(page).getByText(t('match.over'), { exact: true }).waitFor(WHOLE);
    const first = new URL(page.url()).hash;
    const all = await encounters(page);
    expect(fits([...all]), String(all)).toBe(true);

    await match(page)
      .getByRole('button', { name: t('match.replay') })
      .click();
    await expect.poll(() => new URL(page.url()).hash).not.toBe(first);
    await match(page).getByText(t('match.over'), { exact: true }).waitFor(WHOLE);
    expect(fits([...(await encounters(page))])).toBe(true);
  },
  WHOLE.timeout,
);

test(
  'plays an engine against itself with a preset',
  async () => {
    const script = join(fixture.server.data, 'engine.sh');
    const record = join(fixture.server.data, 'record');
    // Each process records its input.
    writeFileSync(script, `#!/bin/sh\ntee "${record}.$$" | "${ENGINES.mime}"\n`, { mode: 0o755 });
    const page = await fixture.page('#/engines');
    const card = await addEngine(page, { name: 'Mime', path: script });
    await handshakeDone(card);
    await card.getByRole('button', { name: t('engine.options'), exact: true }).click();
    const dialog = page.getByRole('dialog');
    const hash = dialog.locator('[data-option="Hash"] input');
    await hash.fill('64');
    await hash.blur();
    await dialog.locator('[data-option="Hash"].changed').waitFor();
    await dialog.getByLabel(t('options.preset.name')).fill('Large');
    await dialog.getByRole('button', { name: t('options.preset.save') }).click();
    await dialog.getByLabel(t('options.presets')).waitFor();
    await dialog.getByRole('button', { name: t('options.reset') }).click();
    await expect.poll(() => hash.inputValue(), LONG).toBe('16');
    await dialog
      .getByRole('button', { name: t('app.close') })
      .last()
      .click();

    await visit(page, t('nav.matches'));
    await form(page);
    await page.getByLabel(t('match.engine', { number: 1 })).selectOption('Mime');
    await page.getByLabel(t('match.engine', { number: 2 })).selectOption('Mime');
    await page.getByLabel(t('match.preset', { number: 1 })).selectOption('Large');
    // The preset of another engine is not kept.
    await page.getByLabel(t('match.preset', { number: 2 })).selectOption('Large');
    await page.getByLabel(t('match.engine', { number: 2 })).selectOption('Narikin');
    await page.getByLabel(t('match.engine', { number: 2 })).selectOption('Mime');
    await page.getByLabel(t('match.pairs')).fill('1');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: t('match.start'), exact: true }).click();
    await match(page).getByText(t('match.over'), { exact: true }).waitFor(WHOLE);
    await section(page, 'match.table');
    const names = await match(page).getByTestId('crosstable').locator('tbody tr').allInnerTexts();
    expect(names.map((row) => row.split('\t')[1]).toSorted()).toEqual(['Mime', 'Mime Large']);
    const inputs = readdirSync(fixture.server.data)
      .filter((file) => file.startsWith(basename(record)))
      .map((file) => readFileSync(join(fixture.server.data, file), 'utf8'))
      .filter((text) => text.includes('go nodes'));
    expect(inputs.map((text) => text.includes('setoption name Hash value 64')).toSorted()).toEqual([
      false,
      true,
    ]);
  },
  WHOLE.timeout,
);

inLanguage('ja', () => {
  test(
    'starts, shows, pauses, resumes and ends a match',
    async () => {
      const page = await fixture.page('#/matches');
      await form(page);
      await page.getByLabel(t('match.name'), { exact: true }).fill('Journey');
      await page.getByLabel(t('match.pairs')).fill('10000');
      await page.getByRole('button', { name: t('match.start'), exact: true }).click();
      await match(page).getByRole('heading', { name: 'Journey' }).waitFor();
      const board = match(page).getByLabel(t('match.board', { number: 1 }));
      await board.waitFor(LONG);
      const pieces = () =>
        board.locator('[data-square]').evaluateAll((all) => all.map((it) => it.ariaLabel).join());
      const before = await pieces();
      await expect.poll(pieces, LONG).not.toBe(before);
      await expect.poll(() => played(page), LONG).toBeGreaterThan(1);
      expect(await violations(page)).toEqual([]);

      await match(page)
        .getByRole('button', { name: t('match.pause') })
        .click();
      await match(page).getByText(t('match.paused'), { exact: true }).waitFor(LONG);
      // The report is a page of its own, without access to the app.
      const tab = page.context().waitForEvent('page');
      await match(page)
        .getByRole('button', { name: t('match.report') })
        .click();
      const report = await tab;
      await report.getByRole('heading', { name: 'Conditions' }).waitFor(LONG);
      await report.getByRole('button', { name: 'end' }).click();
      await report.getByText(/^Score .*, depth/).waitFor(LONG);
      expect(await report.evaluate(() => origin)).toBe('null');
      await report.close();
      const then = await played(page);
      expect(then).toBeLessThan(20_000);
      const [[, one], [other]] = (await crosstable(page)) as [[number, number], [number, number]];
      expect([one, other]).toEqual([then, then]);

      // The match continues, also after a restart of the server.
      const hash = new URL(page.url()).hash;
      await fixture.server.restart();
      const again = await fixture.page(hash);
      await match(again).getByText(t('match.paused'), { exact: true }).waitFor(LONG);
      await expect.poll(() => played(again)).toBe(then);
      await match(again)
        .getByRole('button', { name: t('match.resume') })
        .click();
      await expect.poll(() => played(again), LONG).toBeGreaterThan(then);
      await match(again)
        .getByRole('button', { name: t('match.finish') })
        .click();
      await match(again).getByText(t('match.paused'), { exact: true }).waitFor(LONG);
      await match(again)
        .getByRole('button', { name: t('library.delete') })
        .click();
      await match(again)
        .getByRole('button', { name: t('library.delete.confirm') })
        .click();
      await again
        .getByText(t('match.deleted'))
        .or(again.getByText(t('match.none')))
        .first()
        .waitFor();
    },
    WHOLE.timeout,
  );

  test(
    'shows the LLR of an SPRT',
    async () => {
      const page = await fixture.page('#/matches');
      await form(page);
      await page.getByLabel('SPRT').check();
      await page.getByLabel('H1').fill('20');
      await page.getByLabel(t('match.pairs')).fill('3');
      await page.getByRole('button', { name: t('match.start'), exact: true }).click();
      await match(page).getByText(t('match.over'), { exact: true }).waitFor(WHOLE);
      await expect.poll(() => encounters(page)).toEqual([6]);
      const ratio = match(page).getByRole('img', { name: /^LLR -?\d+\.\d\d$/ });
      await ratio.waitFor();
      // The curve is between the bounds of the test.
      await expect.poll(() => ratio.locator('line').count()).toBe(2);
    },
    WHOLE.timeout,
  );

  test(
    'shows the crosstable of a tournament of three',
    async () => {
      const page = await fixture.page('#/engines');
      await handshakeDone(await addEngine(page, { name: 'Mime', path: ENGINES.mime }));
      await visit(page, t('nav.matches'));
      await form(page);
      await page.getByRole('button', { name: t('match.add_engine') }).click();
      await page.getByLabel(t('match.format')).selectOption('round_robin');
      await page.getByLabel(t('match.pairs')).fill('1');
      await page.getByRole('button', { name: t('match.start'), exact: true }).dblclick();
      await match(page).getByText(t('match.over'), { exact: true }).waitFor(WHOLE);
      await expect.poll(() => played(page)).toBe(6);
      // A double click starts only one match.
      await expect.poll(() => page.locator('main a.line').count()).toBe(1);
      expect(await crosstable(page)).toEqual([
        [0, 2, 2],
        [2, 0, 2],
        [2, 2, 0],
      ]);
      await section(page, 'match.tab.games');
      await expect.poll(() => match(page).getByTestId('game').count()).toBe(6);
      // The deletion requires a confirmation.
      await page.getByRole('button', { name: t('library.delete') }).click();
      await page.getByRole('button', { name: t('app.cancel') }).click();
      await expect.poll(() => played(page)).toBe(6);
      // The games are also in the library and are opened by mouse and keyboard.
      const rows = match(page).getByTestId('game');
      const games = new Set<string>();
      for (const [row, open] of [
        [0, (game: Locator) => game.click()],
        [5, (game: Locator) => game.press('Enter')],
      ] as const) {
        const plies = Number(await rows.nth(row).locator('td').last().textContent());
        await open(rows.nth(row).getByRole('button'));
        await page.waitForURL(/#\/analyse\/\d+$/);
        games.add(page.url());
        await expect.poll(() => moveElements(page).count(), LONG).toBe(plies);
        await page.goBack();
        await section(page, 'match.tab.games');
      }
      expect(games.size).toBe(2);
      await visit(page, t('nav.library'));
      // One row is the head.
      await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount'), LONG).toBe('7');
    },
    WHOLE.timeout,
  );
});
