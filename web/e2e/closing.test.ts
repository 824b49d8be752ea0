// The settings for the last closed tab.
import { expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import {
  LONG,
  begin,
  enter,
  squares,
  status,
  useServer,
  untimed,
  visit,
  addRecordedEngine,
  moveTexts,
  analysisBoard,
} from './fixture';
import { en } from './labels';

const fixture = useServer();

const PAUSE = en('settings.close.pause');
const END = en('settings.close.analysis');
const QUIT = en('settings.close.quit');

/** Changes the settings and waits until the server has stored them. */
async function choose(page: Page, choices: Record<string, boolean>) {
  await visit(page, en('nav.settings'));
  for (const [name, wanted] of Object.entries(choices)) await page.getByLabel(name).setChecked(wanted);
  await page.reload();
  for (const [name, wanted] of Object.entries(choices)) {
    await expect.poll(() => page.getByLabel(name).isChecked(), LONG).toBe(wanted);
  }
}

test.each([
  ['pauses games, continues analysis', true, false],
  ['continues games, stops analysis', false, true],
])('%s', async (_, pauses, ends) => {
  const page = await fixture.page('#/engines');
  const player = await addRecordedEngine(page, fixture.server, 'Player');
  const analyst = await addRecordedEngine(page, fixture.server, 'Analyst');
  await choose(page, { [PAUSE]: pauses, [END]: ends });

  await visit(page, en('nav.play'));
  await untimed(page, 'chess', 'Player');
  await begin(page);
  await enter(page, 'e4');
  await expect.poll(() => status(page), LONG).toContain(en('status.searching'));
  const game = new URL(page.url()).hash;
  await page.goto(new URL('/#/play/0/new', page.url()).href);
  await analysisBoard(page);
  await page.getByLabel(en('panel.add')).selectOption({ label: 'Analyst' });
  await page.getByTestId('line').first().waitFor(LONG);
  const board = new URL(page.url()).hash;

  const [stopped, working] = pauses ? [player, analyst] : [analyst, player];
  expect([stopped(), working()].join()).not.toMatch(/^stop$/m);
  await page.close();
  await expect.poll(stopped, LONG).toMatch(/^stop$/m);
  expect(working()).not.toMatch(/^stop$/m);

  const again = await fixture.page(game);
  await expect.poll(() => moveTexts(again), LONG).toEqual(['e4']);
  if (pauses) {
    await expect.poll(() => status(again), LONG).toBe(en('status.paused'));
    await again.getByRole('button', { name: en('play.resume'), exact: true }).click();
  }
  await expect.poll(() => status(again), LONG).toContain(en('status.searching'));
  await again.getByRole('button', { name: en('play.movenow'), exact: true }).click();
  await expect.poll(() => moveTexts(again), LONG).toEqual(['e4', 'a5']);
  await again.goto(new URL(`/${board}`, again.url()).href);
  await squares(again);
  const panel = again.getByTestId('engine-panel');
  if (ends) expect(await panel.count()).toBe(0);
  else await expect.poll(() => panel.getAttribute('data-status'), LONG).toBe('searching');
});

test('quits when the last page is closed, if enabled', async () => {
  const page = await fixture.page('#/settings');
  await choose(page, { [QUIT]: true });
  expect(fixture.server.processes()).not.toEqual([]);
  await page.close();
  await expect.poll(() => fixture.server.processes(), LONG).toEqual([]);
});
