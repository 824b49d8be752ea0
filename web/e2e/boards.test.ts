// The analysis board: start, position, input, and tabs of open games.
import { expect, test } from 'vitest';
import { sharedBrowser, layoutFaults, toolbarCommand, violations } from './browser';
import { defaultServer, game, open, START, storePrefs, gameLine } from './fakeServer';
import { en, ja, inLanguage, t } from './labels';

const browser = await sharedBrowser();

inLanguage('ja', () => {
  test('starts the analysis with a board instead of a form', async () => {
    const fake = defaultServer();
    open(fake, game(5, 'chess'));
    fake.answer = (command) => (command.kind === 'new_game' ? { kind: 'game', game: 5 } : { kind: 'done' });
    const page = await fake.page(browser, '#/analyse');
    await page.locator('[data-square]').first().waitFor({ state: 'attached' });
    expect(page.url()).toContain('#/analyse/5');
    expect(fake.commands.filter(({ kind }) => kind === 'new_game')).toEqual([
      {
        kind: 'new_game',
        game: { variant: 'chess', start: { kind: 'usual' }, players: null, rules: 'federation', book: null },
      },
    ]);
    await page.context().close();
  });
});

test.each(['en', 'ja'] as const)('copies the position and opens pasted text (%s)', async (language) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  open(fake, game(5, 'chess'));
  open(fake, game(6, 'chess'));
  fake.http.set('import', { games: [], total: 1, opened: 6, errors: [], warnings: [] });
  const page = await fake.page(browser, '#/analyse/5');
  await page.getByRole('button', { name: text('position.copy', { notation: 'FEN' }) }).click();
  const input = page.locator('#entry');
  await input.press('Control+v');
  await expect.poll(() => input.inputValue()).toBe(START);
  await input.fill('e4 e5 Nf3');
  expect(await violations(page)).toEqual([]);
  await input.press('Enter');
  await expect.poll(() => page.url()).toContain('#/analyse/6');
  await page.context().close();
});

test.each(['en', 'ja'] as const)(
  'shows open games as tabs that can be renamed, closed and reopened (%s)',
  async (language) => {
    const text = language === 'en' ? en : ja;
    const fake = defaultServer();
    storePrefs(fake, { language });
    for (const id of [3, 4, 5]) open(fake, game(id, 'chess'));
    const names = { first: 'Morphy', second: 'Anderssen' };
    fake.topics.set('games', {
      kind: 'games',
      state: { games: [gameLine(5), gameLine(4, { names }), gameLine(3)] },
    });
    fake.answer = (command) =>
      command.kind === 'open_game' ? { kind: 'game', game: command.game } : { kind: 'done' };
    const page = await fake.page(browser, '#/analyse/5');
    const tabs = page.getByRole('navigation', { name: text('tabs.label') });
    const all = page.getByRole('group', { name: text('boards.open') });
    const titles = () => tabs.getByRole('link').allTextContents();
    const chess = text('variant.chess');
    await expect
      .poll(async () => (await titles()).map((title) => title.trim()))
      .toEqual([`${chess} #3`, 'Morphy – Anderssen', `${chess} #5`]);
    expect(await violations(page)).toEqual([]);
    await tabs.getByRole('link', { name: 'Morphy – Anderssen' }).click();
    await expect.poll(() => page.url()).toContain('#/analyse/4');
    await tabs.getByRole('link', { name: 'Morphy – Anderssen' }).press('F2');
    await tabs.getByRole('textbox').fill('Evergreen');
    await tabs.getByRole('textbox').press('Enter');
    await tabs.getByRole('link', { name: 'Evergreen' }).waitFor();
    await tabs.getByRole('button', { name: text('tabs.close', { game: 'Evergreen' }) }).click();
    // The next tab is shown.
    await expect.poll(() => page.url()).toContain('#/analyse/5');
    await expect
      .poll(() => fake.commands.filter(({ kind }) => kind === 'close_game'))
      .toEqual([{ kind: 'close_game', game: 4 }]);
    fake.delta('games', { kind: 'games', delta: { changed: [], removed: [4] } });
    await expect.poll(() => tabs.getByRole('link').count()).toBe(2);
    await page.getByRole('button', { name: `${text('boards.all')} 2`, exact: true }).click();
    expect(await violations(page)).toEqual([]);
    await all.getByRole('button', { name: text('tabs.reopen') }).click();
    await expect.poll(() => page.url()).toContain('#/analyse/4');
    await page.context().close();
  },
);

inLanguage('ja', () => {
  test('distinguishes tabs of games of the same players', async () => {
    const fake = defaultServer();
    for (const id of [3, 4, 5, 6]) open(fake, game(id, 'chess'));
    const names = { first: 'Morphy', second: 'Anderssen' };
    const games = [
      gameLine(3, { names, event: 'Paris', round: '3', date: '1858-12-22', result: '0-1' }),
      gameLine(4, { names, event: 'Paris', round: '4', date: '1858-12-22' }),
      gameLine(5, { names: { first: 'Morphy', second: 'Paulsen' } }),
    ];
    fake.topics.set('games', { kind: 'games', state: { games } });
    const page = await fake.page(browser, '#/analyse/3');
    const tabs = page.getByRole('navigation', { name: t('tabs.label') });
    const texts = (titles: string[]) => titles.map((title) => title.replace(/\s+/g, ' ').trim());
    const titles = async () => texts(await tabs.getByRole('link').allTextContents());
    const round = (number: number) => `Morphy – Anderssen ${t('tabs.round', { round: number })}`;
    await expect.poll(titles).toEqual([round(3), round(4), 'Morphy – Paulsen']);
    const first = tabs.getByRole('link', { name: round(3), exact: true });
    expect(await first.getAttribute('title')).toBe(
      `Morphy – Anderssen · Paris · ${t('tabs.round', { round: 3 })} · 1858-12-22 · 0-1 · #3`,
    );
    await tabs.getByRole('button', { name: t('tabs.close', { game: round(3) }) }).waitFor();
    expect(await violations(page)).toEqual([]);
    // A long name is cut, what distinguishes it is not.
    const long = {
      first: 'Paul Charles Morphy of New Orleans',
      second: 'Karl Ernst Adolf Anderssen of Breslau',
    };
    const changed = [3, 4].map((id) => gameLine(id, { names: long, round: String(id) }));
    fake.delta('games', { kind: 'games', delta: { changed, removed: [] } });
    const mark = tabs.getByText(t('tabs.round', { round: 3 }));
    await tabs
      .getByText(/^Paul Charles/)
      .first()
      .waitFor();
    expect(await mark.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
    // Without anything else, by number.
    const equal = [3, 4].map((id) => gameLine(id, { names }));
    fake.delta('games', { kind: 'games', delta: { changed: equal, removed: [] } });
    await expect.poll(titles).toEqual(['Morphy – Anderssen #3', 'Morphy – Anderssen #4', 'Morphy – Paulsen']);
    await page.context().close();
  });
});

inLanguage('ja', () => {
  test('closes the dialogs of a game when another one is shown', async () => {
    const fake = defaultServer();
    for (const id of [3, 4]) open(fake, game(id, 'chess'));
    const page = await fake.page(browser, '#/analyse/3');
    for (const name of ['tab.record', 'editor.title'] as const) {
      await toolbarCommand(page, t('menu.more'), t(name));
      await page.getByRole('dialog').waitFor();
      // For example the button of the browser, or another tab that closes the game.
      const next = page.url().endsWith('3') ? 4 : 3;
      await page.evaluate((id) => (location.hash = `#/analyse/${id}`), next);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(page.url()).toContain(`#/analyse/${next}`);
    }
    await page.context().close();
  });

  test('lists boards, collections and the latest games at the side of large windows', async () => {
    const fake = defaultServer();
    for (const id of [3, 4]) open(fake, game(id, 'chess'));
    const names = { first: 'Morphy', second: 'Anderssen' };
    fake.topics.set('games', { kind: 'games', state: { games: [gameLine(3), gameLine(4, { names })] } });
    const collection = { id: 7, name: 'Rook endings', chapters: 31, added: 0, changed: 0 };
    fake.http.set('library/collections', { collections: [collection] });
    const listed = (id: number, first: string) => ({
      id,
      variant: 'chess',
      names: { first, second: 'B' },
      ratings: { first: null, second: null },
      result: '1-0',
      termination: null,
      date: '1999-01-20',
      event: null,
      opening: null,
      plies: 2,
      added: 0,
      changed: 0,
      source: 'import',
      labels: [],
      evaluated: false,
      commented: false,
    });
    // The open game is among the boards.
    fake.http.set('library/search', {
      games: [listed(4, 'Morphy'), listed(9, 'Kasparov')],
      total: 2,
      labels: [],
      undecided: 0,
    });
    fake.answer = (command) =>
      command.kind === 'open_game' ? { kind: 'game', game: command.game } : { kind: 'done' };
    const page = await fake.page(browser, '#/analyse/3', { viewport: { width: 1920, height: 1080 } });
    const side = page.getByRole('navigation', { name: t('boards.side') });
    await side.getByRole('button', { name: 'Kasparov – B 1999' }).waitFor();
    expect(await side.getByRole('button', { name: /^Morphy – B/ }).count()).toBe(0);
    await side.getByRole('link', { name: 'Rook endings 31' }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await layoutFaults(page)).toEqual([]);
    await side.getByRole('link', { name: 'Morphy – Anderssen' }).click();
    await expect.poll(() => page.url()).toContain('#/analyse/4');
    await side.getByRole('button', { name: 'Kasparov – B 1999' }).click();
    await expect.poll(() => page.url()).toContain('#/analyse/9');
    await page.setViewportSize({ width: 1440, height: 900 });
    await side.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('lists all boards, opens them by key and closes the others', async () => {
    const fake = defaultServer();
    const count = 26;
    const games = Array.from({ length: count }, (_, index) =>
      gameLine(index + 1, {
        names: { first: `Player ${index + 1}`, second: 'Narikin' },
        playing: index === 1,
      }),
    );
    for (const { id } of games) open(fake, game(id, 'chess'));
    fake.topics.set('games', { kind: 'games', state: { games } });
    const page = await fake.page(browser, '#/analyse/5');
    const tabs = page.getByRole('navigation', { name: t('tabs.label') });
    // The tabs leave room for the other controls; the current board is one of them.
    await tabs.getByRole('link', { name: 'Player 5 – Narikin' }).waitFor();
    expect(await tabs.getByRole('link').count()).toBeLessThan(10);
    const fits = await tabs.evaluate((element) => element.scrollWidth <= element.clientWidth);
    expect(fits).toBe(true);
    await page.keyboard.press('Alt+3');
    await expect.poll(() => page.url()).toContain('#/analyse/3');
    await page.keyboard.press('Alt+0');
    const all = page.getByRole('group', { name: t('boards.open') });
    await expect.poll(() => all.getByRole('link').count()).toBe(count);
    // The arrow keys walk through the list, from the current board.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('#/analyse/4');
    await page.getByRole('button', { name: `${t('boards.all')} ${count}`, exact: true }).click();
    await all.getByRole('button', { name: t('boards.close_others') }).click();
    // The game that is played stays open.
    const closed = () =>
      fake.commands.flatMap((command) => (command.kind === 'close_game' ? command.game : []));
    const expected = games.map(({ id }) => id).filter((id) => id !== 4 && id !== 2);
    await expect.poll(closed).toEqual(expected);
    fake.answer = (command) =>
      command.kind === 'open_game' ? { kind: 'game', game: command.game } : { kind: 'done' };
    await page.getByRole('button', { name: t('boards.open_again'), exact: true }).click();
    await expect
      .poll(() => fake.commands.filter(({ kind }) => kind === 'open_game').length)
      .toBe(expected.length);
    await page.context().close();
  });
});
