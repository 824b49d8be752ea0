// Diagrams, links, and the appearance of boards and pieces.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command, errorsOf, pick, sentBodies, sharedBrowser, violations } from './browser';
import { defaultServer, game, node, open, START, storePrefs } from './fakeServer';
import { paste } from './fixture';
import { en, ja, inLanguage, t } from './labels';

const browser = await sharedBrowser();

test.each([
  ['chess', 'en'],
  ['shogi', 'ja'],
] as const)('saves diagrams of %s (%s)', async (variant, language) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  open(fake, game(5, variant));
  const page = await fake.page(browser, '#/analyse/5');
  await command(page, text('menu.more'), text('tab.record'));
  expect(await violations(page)).toEqual([]);
  const saved = async (format: string) => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: text('share.image', { format }) }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`position-5.${format.toLowerCase()}`);
    return readFileSync(await file.path());
  };
  const svg = (await saved('SVG')).toString('utf8');
  // One image for each piece, without references to other files.
  expect(svg.match(/<svg /g)?.length).toBe(1 + (variant === 'shogi' ? 40 : 32));
  expect(svg).not.toContain('./pieces');
  const png = await saved('PNG');
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect(png.readUInt32BE(16)).toBeGreaterThan(900);
  await page.context().close();
});

/** The delays of the frames of a GIF file, in hundredths of a second. */
function delaysOf(bytes: Buffer): number[] {
  const delays: number[] = [];
  // After the header and a table of 256 colors.
  let at = 13 + 3 * 256;
  const skip = () => {
    while (bytes[at]) at += (bytes[at] ?? 0) + 1;
    at++;
  };
  while (bytes[at] !== 0x3b) {
    if (bytes[at] === 0x21) {
      if (bytes[at + 1] === 0xf9) delays.push(bytes.readUInt16LE(at + 4));
      at += 2;
    } else at += 11;
    skip();
  }
  return delays;
}

test.each([
  ['chess', 'en', ['e2e4', 'e7e5']],
  ['shogi', 'ja', ['7g7f']],
] as const)('saves an animated GIF of a game of %s (%s)', async (variant, language, moves) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  const start = game(5, variant);
  const nodes = [...start.nodes];
  moves.forEach((uci, index) => {
    const [root] = start.nodes;
    if (!root) return;
    nodes.push({ ...root, id: index + 1, parent: index, ply: index + 1, uci, children: [] });
    nodes[index] = { ...(nodes[index] ?? root), children: [index + 1] };
  });
  open(fake, { ...start, nodes });
  const { text: position } = start.position;
  const last = position.replace('PPPPPPPP', 'PPPP1PPP');
  fake.http.set('export/5', [position, ...moves.map(() => last)].join('\n'));
  const page = await fake.page(browser, '#/analyse/5');
  await command(page, text('menu.more'), text('tab.record'));
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: text('share.animation') }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe('game-5.gif');
  const bytes = readFileSync(await file.path());
  expect(delaysOf(bytes)).toEqual([...moves.map(() => 100), 300]);
  const [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  expect(width).toBeGreaterThan(450);
  // The browser decodes it.
  const decoded = await page.evaluate(
    async (bytes) => {
      const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/gif' }));
      return [image.width, image.height];
    },
    [...bytes],
  );
  expect(decoded).toEqual([width, height]);
  await page.context().close();
});

inLanguage('ja', () => {
  test('prints the moves with variations and diagrams', async () => {
    const fake = defaultServer();
    const nodes = [
      node(0, null, 0, '', { western: '' }, { children: [1, 2] }),
      node(1, 0, 1, 'e2e4', { western: 'e4' }, { comments: ['Best by test.'], nags: [1] }),
      node(2, 0, 1, 'd2d4', { western: 'd4' }),
    ];
    const headers = [{ name: 'White', value: 'Ada' }];
    open(fake, game(5, 'chess', { nodes, headers }));
    fake.http.set('export/5', [START, START.replace('PPPPPPPP', 'PPPP1PPP')].join('\n'));
    const page = await fake.page(browser, '#/analyse/5');
    const errors = errorsOf(page);
    await page.evaluate(() => {
      window.print = () => document.body.classList.add('printed');
    });
    await command(page, t('menu.more'), t('tab.record'));
    await page.getByRole('button', { name: t('share.print') }).click();
    await page.locator('body.printed').waitFor({ state: 'attached' });
    const sheet = page.locator('.sheet');
    expect(await sheet.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    expect(await sheet.innerText()).toContain(`Ada – ${t('side.black')}`);
    expect(await sheet.innerText()).toContain('1. e4! Best by test. (1. d4)');
    expect(await sheet.locator('canvas').count()).toBe(1);
    expect(await page.getByRole('navigation').first().isVisible()).toBe(false);
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    expect(await sheet.count()).toBe(0);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('opens the game of a link', async () => {
    const fake = defaultServer();
    open(fake, game(6, 'chess'));
    fake.http.set('import', { games: [], total: 1, opened: 6, errors: [], warnings: [] });
    // "1. e4 *", deflated.
    const link = '#/open/M9RTSDVR0AIA';
    const page = await fake.page(browser, link);
    await expect.poll(() => page.url()).toContain('#/analyse/6');
    // Also on an open page.
    await page.goto(`${page.url().split('#')[0]}#/settings`);
    const imported = await sentBodies(page, '/api/import');
    await page.goto(`${page.url().split('#')[0]}${link}`);
    await expect.poll(imported).toEqual(['1. e4 *']);
    await expect.poll(() => page.url()).toContain('#/analyse/6');
    await page.context().close();
  });

  test('explains a pasted link to a game, and an opened position that violates the rules', async () => {
    const fake = defaultServer();
    open(fake, game(6, 'chess'));
    open(fake, game(7, 'chess'));
    const page = await fake.page(browser, '#/analyse/6');
    await page.locator('[data-square]').first().waitFor({ state: 'attached' });
    const toasts = page.locator('.toasts');
    const context = { game: 1, line: 1, column: 1 };
    const link = 'https://lichess.org/abcd1234';
    const errors = [{ code: 'unexpected_text', text: link, context }];
    fake.http.set('import', { games: [], total: 0, opened: null, errors, warnings: [] });
    await paste(page, link);
    await toasts.getByText(t('record.link')).waitFor();
    expect(await toasts.textContent()).not.toContain(link);
    const warnings = [{ code: 'king_count', side: 'second', count: 0, context }];
    fake.http.set('import', { games: [], total: 0, opened: 7, errors: [], warnings });
    await paste(page, '8/8/8/8/8/8/8/K7 w - - 0 1');
    await expect.poll(() => page.url()).toContain('#/analyse/7');
    const start = t('record.opened').split('{')[0] ?? '';
    await toasts.getByText(start).waitFor();
    expect(await toasts.textContent()).not.toContain(t('record.done', { count: 1 }));
    await page.context().close();
  });
});

test.each(['en', 'ja'] as const)('changes the boards and pieces (%s)', async (language) => {
  const text = language === 'en' ? en : ja;
  const fake = defaultServer();
  storePrefs(fake, { language });
  open(fake, game(5, 'chess'));
  const page = await fake.page(browser, '#/settings');
  await pick(page, text('settings.chess_board'), text('settings.board.brown'));
  await pick(page, text('settings.chess_pieces'), text('settings.chess_pieces.simple'));
  await pick(page, text('settings.shogi_board'), text('settings.board.dark'));
  expect(await violations(page)).toEqual([]);
  await page.goto(`${page.url().split('#')[0]}#/analyse/5`);
  const image = () =>
    page
      .locator('piece.white.king')
      .first()
      .evaluate((piece) => getComputedStyle(piece).backgroundImage);
  await expect.poll(image).toContain('/simple/wK.svg');
  const color = (name: string) =>
    page.evaluate((it) => getComputedStyle(document.documentElement).getPropertyValue(it).trim(), name);
  expect(await color('--sq-d')).toBe('#b58863');
  expect(await color('--shogi')).toBe('#b98648');
  await page.context().close();
});
