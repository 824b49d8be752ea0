// What engines hear of what a person has chosen for a game: the time of each side, and how strong they are to be.
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import {
  ENGINES,
  LONG,
  addEngine,
  begin,
  choose,
  enter,
  greeted,
  made,
  newGame,
  status,
  travel,
  visit,
  witness,
  words,
  type Variant,
} from './journey';

const here = travel();

/** What is written into the fields of a side, by their labels; the first is the kind of time. */
type Fields = [kind: 'clock' | 'per_move' | 'none', ...fields: [string, string][]];

async function fill(side: Locator, [kind, ...fields]: Fields) {
  await side.getByLabel(/^\s*Kind/).selectOption(kind);
  for (const [label, value] of fields) await side.getByLabel(label).fill(value);
}

/** Begins a game of a person against an engine, each with a time of their own, and makes the first move. */
async function against(page: Page, variant: Variant, engine: string, mine: Fields, its: Fields) {
  await page.goto(new URL('/#/play/0/new', page.url()).href);
  await page.getByRole('radio', { name: variant, exact: true }).check({ force: true });
  const each = page.getByLabel('Set each side by itself');
  if (!(await each.isVisible())) await page.getByText('More', { exact: true }).click();
  await each.check();
  const [one, other] = variant === 'Shogi' ? ['Black (sente)', 'White (gote)'] : ['White', 'Black'];
  await page.getByRole('group', { name: one }).getByLabel('Player').selectOption({ label: 'A person' });
  await page.getByRole('group', { name: other }).getByLabel('Player').selectOption({ label: engine });
  await fill(page.getByRole('group', { name: one }), mine);
  await fill(page.getByRole('group', { name: other }), its);
  await begin(page);
  await expect.poll(() => status(page), LONG).toContain('To move');
  await enter(page, variant === 'Shogi' ? '７六歩' : 'e4');
  await expect.poll(() => words(page), LONG).not.toEqual([]);
}

const NO_CLOCK: Fields = ['none', ['Depth at most', '0'], ['Nodes at most', '0']];
const OWN: Fields = ['clock', ['Minutes', '60'], ['+ seconds a move', '0'], ['For so many moves', '0']];
const OWN_SHOGI: Fields = [...OWN, ['Byoyomi (s)', '0']];

// What is left of the person's own time depends on the machine.
const CHESS: [string, Fields, Fields, RegExp][] = [
  [
    'a clock with an increment, and another one',
    ['clock', ['Minutes', '60'], ['+ seconds a move', '2'], ['For so many moves', '0']],
    ['clock', ['Minutes', '5'], ['+ seconds a move', '3'], ['For so many moves', '0']],
    /^go wtime 3[56]\d{5} btime 300000 winc 2000 binc 3000$/m,
  ],
  [
    'sudden death',
    OWN,
    ['clock', ['Minutes', '4'], ['+ seconds a move', '0'], ['For so many moves', '0']],
    /^go wtime 3[56]\d{5} btime 240000$/m,
  ],
  [
    'a clock for so many moves',
    OWN,
    ['clock', ['Minutes', '5'], ['+ seconds a move', '0'], ['For so many moves', '40']],
    /^go wtime 3[56]\d{5} btime 300000 movestogo 40$/m,
  ],
  ['a time for each move', OWN, ['per_move', ['Seconds', '0.7']], /^go movetime 700$/m],
  ['a depth', ['none'], ['none', ['Depth at most', '5'], ['Nodes at most', '0']], /^go depth 5$/m],
  ['nodes', ['none'], ['none', ['Depth at most', '0'], ['Nodes at most', '900']], /^go nodes 900$/m],
];

test('an engine of chess hears of the time of each side', async () => {
  const page = await here.page('#/engines');
  const heard = await witness(page, here.server, 'Player');
  for (const [what, mine, its, go] of CHESS) {
    const before = heard().length;
    await against(page, 'Chess', 'Player', mine, its);
    await expect.poll(() => heard().slice(before), { ...LONG, message: what }).toMatch(go);
    await expect.poll(() => words(page), LONG).toEqual(['e4', 'a5']);
  }
});

test('an engine without an end to its thoughts moves when it is told to', async () => {
  const page = await here.page('#/engines');
  const heard = await witness(page, here.server, 'Player');
  await against(page, 'Chess', 'Player', OWN, NO_CLOCK);
  await expect.poll(heard, LONG).toMatch(/^go infinite$/m);
  expect(await words(page)).toEqual(['e4']);
  await page.getByRole('button', { name: 'Move now', exact: true }).click();
  await expect.poll(() => words(page), LONG).toEqual(['e4', 'a5']);
});

test('an engine of shogi hears of byoyomi', async () => {
  const page = await here.page('#/engines');
  const heard = await witness(page, here.server, 'Player', 'usi');
  const its: Fields = ['clock', ['Minutes', '5'], ['+ seconds a move', '0'], ['Byoyomi (s)', '10']];
  await against(page, 'Shogi', 'Player', OWN_SHOGI, its);
  await expect.poll(heard, LONG).toMatch(/^go btime 3[56]\d{5} wtime 300000 byoyomi 10000$/m);
  await expect.poll(() => made(page).count(), LONG).toBe(2);
});

/** An engine of shogi with a switch for its strength. */
const SWITCHED = [
  'usi: id name Switched | option name USI_LimitStrength type check default false ' +
    '| option name USI_Strength type spin default 9 min -15 max 9 | usiok',
  'go: bestmove 3c3d',
];

test.each([
  ['Chess', 'Narikin', 'e4', ['UCI_LimitStrength value true', 'UCI_Elo value']],
  ['Shogi', 'Narikin', '７六歩', ['USI_LimitStrength value true', 'USI_Strength value']],
  ['Shogi', 'Switched', '７六歩', ['USI_LimitStrength value true', 'USI_Strength value']],
] as const)('a weaker opponent in %s: %s', async (variant, engine, move, options) => {
  const page = await here.page('#/engines');
  if (engine === 'Switched') {
    await greeted(await addEngine(page, { path: ENGINES.misbehave, args: SWITCHED, protocol: 'usi' }));
  }
  await visit(page, 'Play');
  await newGame(page, variant, engine);
  await page.getByLabel('Weaker').check();
  const slider = page.getByRole('slider');
  const value = String(Number(await slider.getAttribute('min')) + 1);
  await slider.fill(value);
  await page.getByText(new RegExp(`(Elo|Level) ${value}$`)).waitFor();
  await begin(page);
  await enter(page, move);
  await expect.poll(() => made(page).count(), LONG).toBe(2);
  await visit(page, 'Engines');
  const process = page.locator('[data-testid=process][data-status=idle]');
  await process.waitFor();
  expect(await process.locator('.error').allTextContents()).toEqual([]);
  await process.getByRole('link', { name: 'Protocol log' }).click();
  const log = page.getByRole('region', { name: 'Lines of the log' });
  await expect.poll(() => log.textContent(), LONG).toContain('bestmove');
  const said = ((await log.textContent()) ?? '').match(
    /(?<=setoption name )\w+(Strength|Elo) value (true|-?\d+)/g,
  );
  const values = options.map((option) => (option.endsWith('true') ? option : `${option} ${value}`));
  expect(said?.toSorted()).toEqual(values.toSorted());
});

test('each side of a game of engines has a strength and a time of its own', async () => {
  const page = await here.page('#/engines');
  const one = await witness(page, here.server, 'One');
  const other = await witness(page, here.server, 'Other');
  await visit(page, 'Play');
  await choose(page, 'Chess');
  await page.getByText('More', { exact: true }).click();
  await page.getByLabel('Set each side by itself').check();
  for (const [side, name, level, time] of [
    ['White', 'One', '3', '0.5'],
    ['Black', 'Other', '7', '0.6'],
  ] as const) {
    const group = page.getByRole('group', { name: side });
    await group.getByLabel('Player').selectOption({ label: name });
    await group.getByLabel('Weaker').check();
    await group.getByRole('slider').fill(level);
    await fill(group, ['per_move', ['Seconds', time]]);
  }
  await begin(page);
  await expect.poll(one, LONG).toMatch(/^go movetime 500$/m);
  await expect.poll(other, LONG).toMatch(/^go movetime 600$/m);
  expect(one()).toContain('setoption name Skill Level value 3');
  expect(other()).toContain('setoption name Skill Level value 7');
});
