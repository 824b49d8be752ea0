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
import { en, starts } from './labels';

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
  await page.getByRole('radio', { name: en(`variant.${variant}`), exact: true }).check({ force: true });
  const each = page.getByLabel(en('new.per_side'));
  if (!(await each.isVisible())) await page.getByText(en('new.more'), { exact: true }).click();
  await each.check();
  const [one, other] =
    variant === 'shogi' ? [en('side.sente'), en('side.gote')] : [en('side.white'), en('side.black')];
  await page
    .getByRole('group', { name: one })
    .getByLabel(en('new.player'))
    .selectOption({ label: en('new.human') });
  await page.getByRole('group', { name: other }).getByLabel(en('new.player')).selectOption({ label: engine });
  await fill(page.getByRole('group', { name: one }), mine);
  await fill(page.getByRole('group', { name: other }), its);
  await begin(page);
  await expect.poll(() => status(page), LONG).toContain(en('status.your_turn'));
  await enter(page, variant === 'shogi' ? '７六歩' : 'e4');
  await expect.poll(() => moveTexts(page), LONG).not.toEqual([]);
}

const NO_CLOCK: Fields = ['none', [en('time.depth'), '0'], [en('time.nodes'), '0']];
const OWN: Fields = ['clock', [en('time.base'), '60'], [en('time.increment'), '0'], [en('time.moves'), '0']];
const OWN_SHOGI: Fields = [...OWN, [en('time.byoyomi'), '0']];

// The remaining time of the human depends on the machine.
const CHESS: [string, Fields, Fields, RegExp][] = [
  [
    'a clock with an increment, and another one',
    ['clock', [en('time.base'), '60'], [en('time.increment'), '2'], [en('time.moves'), '0']],
    ['clock', [en('time.base'), '5'], [en('time.increment'), '3'], [en('time.moves'), '0']],
    /^go wtime 3[56]\d{5} btime 300000 winc 2000 binc 3000$/m,
  ],
  [
    'sudden death',
    OWN,
    ['clock', [en('time.base'), '4'], [en('time.increment'), '0'], [en('time.moves'), '0']],
    /^go wtime 3[56]\d{5} btime 240000$/m,
  ],
  [
    'a clock with periods',
    OWN,
    ['clock', [en('time.base'), '5'], [en('time.increment'), '0'], [en('time.moves'), '40']],
    /^go wtime 3[56]\d{5} btime 300000 movestogo 40$/m,
  ],
  ['a time for each move', OWN, ['per_move', [en('time.seconds'), '0.7']], /^go movetime 700$/m],
  ['a maximum depth', ['none'], ['none', [en('time.depth'), '5'], [en('time.nodes'), '0']], /^go depth 5$/m],
  ['nodes', ['none'], ['none', [en('time.depth'), '0'], [en('time.nodes'), '900']], /^go nodes 900$/m],
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
  expect(await moveTexts(page)).toEqual(['e4']);
  await page.getByRole('button', { name: en('play.movenow'), exact: true }).click();
  await expect.poll(() => moveTexts(page), LONG).toEqual(['e4', 'a5']);
});

test('sends byoyomi to a shogi engine', async () => {
  const page = await fixture.page('#/engines');
  const received = await addRecordedEngine(page, fixture.server, 'Player', 'usi');
  const its: Fields = [
    'clock',
    [en('time.base'), '5'],
    [en('time.increment'), '0'],
    [en('time.byoyomi'), '10'],
  ];
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

test.each([
  ['chess', 'Narikin', 'e4', ['UCI_LimitStrength value true', 'UCI_Elo value']],
  ['shogi', 'Narikin', '７六歩', ['USI_LimitStrength value true', 'USI_Strength value']],
  ['shogi', 'Switched', '７六歩', ['USI_LimitStrength value true', 'USI_Strength value']],
] as const)('limits the strength of the opponent in %s: %s', async (variant, engine, move, options) => {
  const page = await fixture.page('#/engines');
  if (engine === 'Switched') {
    await handshakeDone(await addEngine(page, { path: ENGINES.misbehave, args: SWITCHED, protocol: 'usi' }));
  }
  await visit(page, en('nav.play'));
  await newGame(page, variant, engine);
  await page.getByLabel(en('new.limit_strength')).check();
  const slider = page.getByRole('slider');
  const value = String(Number(await slider.getAttribute('min')) + 1);
  await slider.fill(value);
  await page
    .getByText(`${en(variant === 'shogi' ? 'new.level' : 'new.elo')} ${value}`, { exact: true })
    .waitFor();
  await begin(page);
  await enter(page, move);
  await expect.poll(() => moveElements(page).count(), LONG).toBe(2);
  await visit(page, en('nav.engines'));
  const process = page.locator('[data-testid=process][data-status=idle]');
  await process.waitFor();
  expect(await process.locator('.error').allTextContents()).toEqual([]);
  await process.getByRole('link', { name: en('engine.log') }).click();
  const log = page.getByRole('region', { name: en('log.region') });
  await expect.poll(() => log.textContent(), LONG).toContain('bestmove');
  const sent = ((await log.textContent()) ?? '').match(
    /(?<=setoption name )\w+(Strength|Elo) value (true|-?\d+)/g,
  );
  const values = options.map((option) => (option.endsWith('true') ? option : `${option} ${value}`));
  expect(sent?.toSorted()).toEqual(values.toSorted());
});

test('sets strength and time of each engine separately', async () => {
  const page = await fixture.page('#/engines');
  const one = await addRecordedEngine(page, fixture.server, 'One');
  const other = await addRecordedEngine(page, fixture.server, 'Other');
  await visit(page, en('nav.play'));
  await choose(page, 'chess');
  await page.getByText(en('new.more'), { exact: true }).click();
  await page.getByLabel(en('new.per_side')).check();
  for (const [side, name, level, time] of [
    [en('side.white'), 'One', '3', '0.5'],
    [en('side.black'), 'Other', '7', '0.6'],
  ] as const) {
    const group = page.getByRole('group', { name: side });
    await group.getByLabel(en('new.player')).selectOption({ label: name });
    await group.getByLabel(en('new.limit_strength')).check();
    await group.getByRole('slider').fill(level);
    await fill(group, ['per_move', [en('time.seconds'), time]]);
  }
  await begin(page);
  await expect.poll(one, LONG).toMatch(/^go movetime 500$/m);
  await expect.poll(other, LONG).toMatch(/^go movetime 600$/m);
  expect(one()).toContain('setoption name Skill Level value 3');
  expect(other()).toContain('setoption name Skill Level value 7');
});
