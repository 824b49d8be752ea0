// Trees of 10,000 nodes: variations are folded, and the moves around the cursor are shown.
import { expect, test } from 'vitest';
import type { Delta } from '../src/api/wire';
import { errorsOf, sharedBrowser } from './browser';
import { defaultServer, game, positionView, legal, node, open, START, type FakeServer } from './fakeServer';
import { inLanguage, t } from './labels';

const browser = await sharedBrowser();

const MAIN = 400;
const LENGTH = 24;
/** The node of a move of the variation that replaces the move at a ply. */
const inVariation = (ply: number, index: number) => 1000 + ply * LENGTH + index;

/** A main line of 400 moves, and a variation of 24 moves for each. */
function largeTree(fake: FakeServer, cursor: number) {
  const nodes = [];
  for (let ply = 0; ply <= MAIN; ply++) {
    const children = ply === MAIN ? [] : [ply + 1, inVariation(ply + 1, 0)];
    const text = { western: ply ? 'Nf3' : '' };
    nodes.push(node(ply, ply ? ply - 1 : null, ply, ply ? 'g1f3' : '', text, { children }));
  }
  for (let ply = 1; ply <= MAIN; ply++) {
    for (let index = 0; index < LENGTH; index++) {
      const parent = index ? inVariation(ply, index - 1) : ply - 1;
      const children = index === LENGTH - 1 ? [] : [inVariation(ply, index + 1)];
      nodes.push(
        node(inVariation(ply, index), parent, ply + index, 'b1c3', { western: 'Nc3' }, { children }),
      );
    }
  }
  open(fake, game(1, 'chess', { nodes, cursor }));
  fake.answer = (command) => {
    if (command.kind === 'go_to') {
      const position = positionView(START, [legal('e2e4', 'e4')]);
      const delta = { kind: 'game', delta: { at: { cursor: command.node, position, opening: null } } };
      fake.delta('game/1', delta as Delta);
    }
    return { kind: 'done' };
  };
  return nodes.length;
}

inLanguage('ja', () => {
  test('shows the main line of a large tree, and variations when they are entered', async () => {
    const fake = defaultServer();
    expect(largeTree(fake, 0)).toBeGreaterThan(10_000);
    const page = await fake.page(browser, '#/analyse/1');
    const errors = errorsOf(page);
    const moves = page.locator('.moves [data-node]');
    await moves.first().waitFor();
    // The main line and the first moves of the variations.
    await expect.poll(() => moves.count()).toBe(2 * MAIN);
    const last = page.locator(`[data-node="${inVariation(300, LENGTH - 1)}"]`);
    expect(await last.count()).toBe(0);

    // By its button.
    const variation = page
      .getByTestId('variation')
      .filter({ has: page.locator(`[data-node="${inVariation(300, 0)}"]`) });
    await variation.getByRole('button', { name: t('moves.unfold') }).click();
    await last.waitFor();
    await variation.getByRole('button', { name: t('moves.fold') }).click();
    await last.waitFor({ state: 'detached' });

    // By stepping into it: the first move of the variation, and the next one.
    await page.locator(`[data-node="${inVariation(200, 0)}"]`).click();
    await page.locator('body').press('ArrowRight');
    const entered = page.locator(`[data-node="${inVariation(200, 1)}"]`);
    await expect.poll(() => entered.getAttribute('aria-current')).toBe('true');
    await expect
      .poll(() => entered.evaluate((element) => element.getBoundingClientRect().top < innerHeight))
      .toBe(true);
    expect(
      fake.commands.filter((command) => command.kind === 'go_to').map((command) => command.node),
    ).toEqual([inVariation(200, 0), inVariation(200, 1)]);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('opens a large tree at a move of a variation', async () => {
    const fake = defaultServer();
    largeTree(fake, inVariation(100, 10));
    const page = await fake.page(browser, '#/analyse/1');
    const current = page.locator(`[data-node="${inVariation(100, 10)}"]`);
    await expect.poll(() => current.getAttribute('aria-current')).toBe('true');
    await expect.poll(() => page.locator('.moves [data-node]').count()).toBe(2 * MAIN + LENGTH - 1);
    await page.context().close();
  });
});
