// Commands sent to engines for the time controls and strengths of a game.
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import {
  ENGINES,
  LONG,
  addEngine,
  begin,
  choose,
  enter,
  handshakeDone,
  moveElements,
  newGame,
  status,
  useServer,
  visit,
  addRecordedEngine,
  moveTexts,
  type Variant,
} from './fixture';
import { starts, inLanguage, t } from './labels';

const fixture = useServer();

/** The kind of time control of a side, and values by the labels of their fields. */
type Fields = [kind: 'clock' | 'per_move' | 'none', ...fields: [string, string][]];

async function fill(side: Locator, [kind, ...fields]: Fields) {
  await side.getByLabel(starts('time.kind')).selectOption(kind);
  for (const [label, value] of fields) await side.getByLabel(label).fill(value);
}

/** Starts a game of a human against an engine with separate time controls, and plays the first move. */
async function against(page: Page, variant: Variant, engine: string, mine: Fields, its: Fields) {
  await page.goto(new URL('/#/play/0/new', page.url()).href);
  await page.getByRole('radio', { name: t(`variant.${variant}`), exact: true }).check({ force: true });
  const each = page.getByLabel(t('new.per_side'));
  if (!(await each.isVisible())) await page.locator('main').getByText(t('new.more'), { exact: true }).click();
  await each.check();
  const [one, other] =
    variant === 'shogi' ? [t('side.sente'), t('side.gote')] : [t('side.white'), t('side.black')];
  await page
    .getByRole('group', { name: one })
    .getByLabel(t('new.player'))
    .selectOption({ label: t('new.human') });
  await page.getByRole('group', { name: other }).getByLabel(t('new.player')).selectOption({ label: engine });
  await fill(page.getByRole('group', { name: one }), mine);
  await fill(page.getByRole('group', { name: other }), its);
  await begin(page);
  await expect.poll(() => status(page), LONG).toContain(t('status.your_turn'));
  await enter(page, variant === 'shogi' ? '７六歩' : 'e4');
  await expect.poll(() => moveTexts(page), LONG).not.toEqual([]);
}

const NO_CLOCK: Fields = ['none', [t('time.depth'), '0'], [t('time.nodes'), '0']];
const OWN: Fields = ['clock', [t('time.base'), '60'], [t('time.increment'), '0'], [t('time.moves'), '0']];
const OWN_SHOGI: Fields = [...OWN, [t('time.byoyomi'), '0']];

// The remaining time of the human depends on the machine.
const CHESS: [string, Fields, Fields, RegExp][] = [
  [
    'a clock with an increment, and another one',
    ['clock', [t('time.base'), '60'], [t('time.increment'), '2'], [t('time.moves'), '0']],
    ['clock', [t('time.base'), '5'], [t('time.increment'), '3'], [t('time.moves'), '0']],
    /^go wtime 3[56]\d{5} btime 300000 winc 2000 binc 3000$/m,
  ],
  [
    'sudden death',
    OWN,
    ['clock', [t('time.base'), '4'], [t('time.increment'), '0'], [t('time.moves'), '0']],
    /^go wtime 3[56]\d{5} btime 240000$/m,
  ],
  [
    'a clock with periods',
    OWN,
    ['clock', [t('time.base'), '5'], [t('time.increment'), '0'], [t('time.moves'), '40']],
    /^go wtime 3[56]\d{5} btime 300000 movestogo 40$/m,
  ],
  ['a time for each move', OWN, ['per_move', [t('time.seconds'), '0.7']], /^go movetime 700$/m],
  ['a maximum depth', ['none'], ['none', [t('time.depth'), '5'], [t('time.nodes'), '0']], /^go depth 5$/m],
  ['nodes', ['none'], ['none', [t('time.depth'), '0'], [t('time.nodes'), '900']], /^go nodes 900$/m],
];

test('sends the time controls of both sides to a chess engine', async () => {
  const page = await fixture.page('#/engines');
  const received = await addRecordedEngine(page, fixture.server, 'Player');
  for (const [what, mine, its, go] of CHESS) {
    const before = received().length;
    await against(page, 'chess', 'Player', mine, its);
    await expect.poll(() => received().slice(before), { ...LONG, message: what }).toMatch(go);
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'a5']);
  }
});

test('stops an unlimited search by “Move now”', async () => {
  const page = await fixture.page('#/engines');
  const received = await addRecordedEngine(page, fixture.server, 'Player');
  await against(page, 'chess', 'Player', OWN, NO_CLOCK);
  await expect.poll(received, LONG).toMatch(/^go infinite$/m);
  await expect.poll(() => moveTexts(page)).toEqual(['e4']);
  await page.getByRole('button', { name: t('play.movenow'), exact: true }).click();
  await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'a5']);
});

test('sends byoyomi to a shogi engine', async () => {
  const page = await fixture.page('#/engines');
  const received = await addRecordedEngine(page, fixture.server, 'Player', 'usi');
  const its: Fields = ['clock', [t('time.base'), '5'], [t('time.increment'), '0'], [t('time.byoyomi'), '10']];
  await against(page, 'shogi', 'Player', OWN_SHOGI, its);
  await expect.poll(received, LONG).toMatch(/^go btime 3[56]\d{5} wtime 300000 byoyomi 10000$/m);
  await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
});

/** A shogi engine with a separate option that limits its strength. */
const SWITCHED = [
  'usi: id name Switched | option name USI_LimitStrength type check default false ' +
    '| option name USI_Strength type spin default 9 min -15 max 9 | usiok',
  'go: bestmove 3c3d',
];

inLanguage('en', () => {
  test.each([
    ['chess', 'Narikin', 'e4', ['UCI_LimitStrength value true', 'UCI_Elo value']],
    ['shogi', 'Narikin', '７六歩', ['USI_LimitStrength value true', 'USI_Strength value']],
    ['shogi', 'Switched', '７六歩', ['USI_LimitStrength value true', 'USI_Strength value']],
  ] as const)('limits the strength of the opponent in %s: %s', async (variant, engine, move, options) => {
    const page = await fixture.page('#/engines');
    if (engine === 'Switched') {
      await handshakeDone(
        await addEngine(page, { path: ENGINES.misbehave, args: SWITCHED, protocol: 'usi' }),
      );
    }
    await visit(page, t('nav.play'));
    await newGame(page, variant, engine);
    await page.getByLabel(t('new.limit_strength')).check();
    const slider = page.getByRole('slider');
    const value = String(Number(await slider.getAttribute('min')) + 1);
    await slider.fill(value);
    // Levels that begin below zero are displayed from 1.
    const shown = variant === 'shogi' ? `${t('new.level')} 2` : `${t('new.elo')} ${value}`;
    await page.getByText(shown, { exact: true }).waitFor();
    await begin(page);
    await enter(page, move);
    await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
    await visit(page, t('nav.engines'));
    const process = page.locator('[data-testid=process][data-status=idle]');
    await process.waitFor();
    expect(await process.locator('.error').allTextContents()).toEqual([]);
    await process.getByRole('link', { name: t('engine.log') }).click();
    const log = page.getByRole('region', { name: t('log.region') });
    await expect.poll(() => log.textContent(), LONG).toContain('bestmove');
    const sent = ((await log.textContent()) ?? '').match(
      /(?<=setoption name )\w+(Strength|Elo) value (true|-?\d+)/g,
    );
    const values = options.map((option) => (option.endsWith('true') ? option : `${option} ${value}`));
    expect(sent?.toSorted()).toEqual(values.toSorted());
  });
});

test('sets strength and time of each engine separately', async () => {
  const page = await fixture.page('#/engines');
  const one = await addRecordedEngine(page, fixture.server, 'One');
  const other = await addRecordedEngine(page, fixture.server, 'Other');
  await visit(page, t('nav.play'));
  await choose(page, 'chess');
  await page.locator('main').getByText(t('new.more'), { exact: true }).click();
  await page.getByLabel(t('new.per_side')).check();
  for (const [side, name, level, time] of [
    [t('side.white'), 'One', '3', '0.5'],
    [t('side.black'), 'Other', '7', '0.6'],
  ] as const) {
    const group = page.getByRole('group', { name: side });
    await group.getByLabel(t('new.player')).selectOption({ label: name });
    await group.getByLabel(t('new.limit_strength')).check();
    await group.getByRole('slider').fill(level);
    await fill(group, ['per_move', [t('time.seconds'), time]]);
  }
  await begin(page);
  await expect.poll(one, LONG).toMatch(/^go movetime 500$/m);
  await expect.poll(other, LONG).toMatch(/^go movetime 600$/m);
  expect(one()).toContain('setoption name Skill Level value 3');
  expect(other()).toContain('setoption name Skill Level value 7');
});
