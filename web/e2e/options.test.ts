// Engine options with a real server: presets, values by purpose, buttons, clipboard and files; and the export of the
// engine list.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { command } from './browser';
import {
  ENGINES,
  LONG,
  addEngine,
  begin,
  enter,
  handshakeDone,
  moveElements,
  newGame,
  useServer,
  visit,
  analysisBoard,
} from './fixture';
import { t, inLanguage } from './labels';

const fixture = useServer();

/** Adds an engine and opens its options. */
async function options(): Promise<[Page, Locator]> {
  const page = await fixture.page('#/engines');
  const card = await addEngine(page, { name: 'Mime', path: ENGINES.mime });
  await handshakeDone(card);
  await card.getByRole('button', { name: t('engine.options'), exact: true }).click();
  return [page, page.getByRole('dialog', { name: t('options.title', { engine: 'Mime' }) })];
}

const processes = (page: Page, status: string) =>
  page.locator(`[data-testid=process][data-status=${status}]`);

/** The log of the only process with a status. */
async function log(page: Page, status: string): Promise<Locator> {
  await visit(page, t('nav.engines'));
  await processes(page, status)
    .getByRole('link', { name: t('engine.log') })
    .click();
  return page.getByRole('region', { name: t('log.region') });
}

inLanguage('en', () => {
  test('saves, applies and deletes presets', async () => {
    const [page, dialog] = await options();
    const hash = dialog.locator('[data-option="Hash"] input');
    const style = dialog.getByLabel('Style', { exact: true });
    const uses = dialog.getByLabel(t('options.for'));
    const is = (field: Locator, value: string) => expect.poll(() => field.inputValue(), LONG).toBe(value);
    await hash.fill('64');
    await hash.blur();
    await dialog.locator('[data-option="Hash"].changed').waitFor();
    await dialog.getByLabel(t('options.preset.name')).fill('Large');
    await dialog.getByRole('button', { name: t('options.preset.save') }).click();
    const presets = dialog.getByLabel(t('options.presets'));
    await presets.waitFor();
    await dialog.getByRole('button', { name: t('options.reset') }).click();
    await is(hash, '16');
    await presets.selectOption('Large');
    await is(hash, '64');
    await dialog.getByRole('button', { name: t('options.reset') }).click();
    await is(hash, '16');

    // Separate values for play and analysis.
    await uses.selectOption('play');
    await presets.selectOption('Large');
    await is(hash, '64');
    await uses.selectOption('analyse');
    await is(hash, '16');
    await style.selectOption('Wild');
    await dialog.locator('[data-option="Style"].changed').waitFor();
    await uses.selectOption('all');
    await is(style, 'Calm');
    await is(hash, '16');

    await dialog.getByLabel(t('options.preset.delete')).selectOption('Large');
    await presets.waitFor({ state: 'detached' });
    // The values remain.
    await uses.selectOption('play');
    await is(hash, '64');
    await dialog
      .getByRole('button', { name: t('app.close') })
      .last()
      .click();

    await visit(page, t('nav.play'));
    await newGame(page, 'chess', 'Mime');
    await begin(page);
    await enter(page, 'e4');
    await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
    const played = await log(page, 'idle');
    await expect.poll(() => played.textContent(), LONG).toContain('bestmove');
    await expect.poll(() => played.textContent()).toContain('setoption name Hash value 64');
    expect(await played.textContent()).not.toContain('setoption name Style');

    await page.goto(new URL('/#/play/0/new', page.url()).href);
    await analysisBoard(page);
    await page.getByLabel(t('panel.add')).selectOption({ label: 'Mime' });
    await page.getByTestId('line').first().waitFor(LONG);
    const analysed = await log(page, 'searching');
    await expect.poll(() => analysed.textContent(), LONG).toContain('setoption name Style value Wild');
    expect(await analysed.textContent()).not.toContain('setoption name Hash');
  });

  test('sets options of analyzing and playing engines from the board', async () => {
    const page = await fixture.page('#/engines');
    await handshakeDone(await addEngine(page, { name: 'Mime', path: ENGINES.mime }));
    await visit(page, t('nav.play'));
    await newGame(page, 'chess', 'Mime');
    await begin(page);
    await enter(page, 'e4');
    await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
    const dialog = page.getByRole('dialog', { name: t('options.title', { engine: 'Mime' }) });
    const set = async (value: string) => {
      await dialog.locator('[data-option="Hash"] input').fill(value);
      await dialog.locator('[data-option="Hash"] input').blur();
      await dialog.locator('[data-option="Hash"].changed').waitFor();
      await dialog
        .getByRole('button', { name: t('app.close') })
        .last()
        .click();
    };
    // The engine reports its name with a version.
    await page.getByRole('button', { name: new RegExp(t('options.title', { engine: 'Mime.*' })) }).click();
    await expect.poll(() => dialog.getByLabel(t('options.for')).inputValue()).toBe('play');
    await set('64');
    // The board is still shown.
    await enter(page, 'd4');
    await expect.poll(() => moveElements(page).count(), LONG).toBe(4);

    await command(page, t('menu.more'), t('nav.analyse'));
    await page.getByLabel(t('panel.add')).selectOption({ label: 'Mime' });
    const panel = page.getByTestId('engine-panel');
    await panel.getByTestId('line').first().waitFor(LONG);
    await panel.getByRole('button', { name: t('panel.settings') }).click();
    await panel.getByRole('button', { name: t('engine.options'), exact: true }).click();
    await expect.poll(() => dialog.getByLabel(t('options.for')).inputValue()).toBe('analyse');
    await set('128');
    await panel.getByRole('link', { name: t('engine.log') }).click();
    const lines = page.getByRole('region', { name: t('log.region') });
    await expect.poll(() => lines.textContent(), LONG).toContain('setoption name Hash value 128');
    const played = await log(page, 'idle');
    await expect.poll(() => played.textContent(), LONG).toContain('setoption name Hash value 64');
    expect(await played.textContent()).not.toContain('setoption name Hash value 128');
  });

  test('starts an engine to run a button option', async () => {
    const [page, dialog] = await options();
    const idle = processes(page, 'idle');
    await expect.poll(() => idle.count(), LONG).toBe(0);
    await dialog.locator('[data-option="Clear Hash"] button').click();
    await page
      .locator('.toasts')
      .getByText(t('options.started', { engine: 'Mime' }))
      .waitFor(LONG);
    await expect.poll(() => idle.count(), LONG).toBe(1);
    // The running process is used again.
    await dialog.locator('[data-option="Clear Hash"] button').click();
    await dialog
      .getByRole('button', { name: t('app.close') })
      .last()
      .click();
    const lines = await log(page, 'idle');
    const presses = async () =>
      ((await lines.textContent()) ?? '').split('setoption name Clear Hash').length - 1;
    await expect.poll(presses, LONG).toBe(2);
    await expect.poll(() => idle.count()).toBe(1);
  });

  test('copies options as setoption commands', async () => {
    const [page, dialog] = await options();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await dialog.locator('[data-option="Hash"] input').fill('64');
    await dialog.locator('[data-option="Hash"] input').blur();
    await dialog.locator('[data-option="Hash"].changed').waitFor();
    await dialog.getByRole('button', { name: t('options.copy') }).click();
    await page.locator('.toasts').getByText(t('record.copied')).waitFor(LONG);
    const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split('\n');
    expect(lines).toContain('setoption name Hash value 64');
    expect(lines).toContain('setoption name Style value Calm');
    expect(lines.join()).not.toContain('Clear Hash');
    // No text field is shown.
    expect(await dialog.getByRole('textbox', { name: t('options.copy') }).count()).toBe(0);
  });

  test('selects the file of an option on the server', async () => {
    const folder = join(fixture.server.data, 'books');
    mkdirSync(folder);
    writeFileSync(join(folder, 'own.pgn'), '1. a3 *\n');
    writeFileSync(join(folder, 'other.pgn'), '1. h3 *\n');
    const page = await fixture.page('#/engines');
    await handshakeDone(page.getByTestId('engine').first());
    await page
      .getByTestId('engine')
      .first()
      .getByRole('button', { name: t('engine.options'), exact: true })
      .click();
    const book = page.getByRole('dialog').locator('[data-option="Book File"]');
    await book.getByRole('button', { name: t('files.browse') }).click();
    const files = page.getByRole('dialog', { name: t('files.file') });
    await files.getByRole('button', { name: /readyok-e2e/ }).click();
    await files.getByRole('button', { name: 'books' }).click();
    await files.getByLabel(t('files.filter')).fill('own');
    await expect.poll(() => files.locator('.entry').count(), LONG).toBe(1);
    await files.getByRole('button', { name: /own\.pgn/ }).click();
    await files.waitFor({ state: 'detached' });
    await expect
      .poll(() => book.getByRole('textbox').inputValue(), LONG)
      .toMatch(/readyok-e2e-\w+\/books\/own\.pgn$/);
    // The engine receives it.
    await page
      .getByRole('dialog')
      .getByRole('button', { name: t('app.close') })
      .last()
      .click();
    await page
      .getByTestId('engine')
      .first()
      .getByRole('button', { name: t('engine.console') })
      .click();
    const lines = await log(page, 'idle');
    await expect.poll(() => lines.textContent(), LONG).toMatch(/setoption name Book File value \S*own\.pgn/);
  });

  test('exports the list of engines', async () => {
    const page = await fixture.page('#/engines');
    await handshakeDone(await addEngine(page, { name: 'Mime', path: ENGINES.mime, env: 'A=b' }));
    const given = page.waitForEvent('download');
    await page.getByRole('button', { name: t('engine.export') }).click();
    const file = await given;
    expect(file.suggestedFilename()).toBe('engines.toml');
    const text = readFileSync(await file.path(), 'utf8');
    for (const part of ['"Mime"', ENGINES.mime, 'A = "b"']) expect(text).toContain(part);
  });
});
