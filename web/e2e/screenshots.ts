// Takes the pictures of docs/screenshots with a real server and engine: `npm run screenshots`.
import { mkdirSync } from 'node:fs';
import { test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launch } from './browser';
import { RealServer } from './server';

const OUT = '../docs/screenshots';

const CHESS =
  '[White "Adolf Anderssen"]\n[Black "Lionel Kieseritzky"]\n[Event "London"]\n[Date "1851.06.21"]\n\n' +
  '1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 5. Bxb5 Nf6 6. Nf3 Qh6 7. d3 Nh5 8. Nh4 Qg5 9. Nf5 c6 10. g4 Nf6 ' +
  '11. Rg1 cxb5 12. h4 Qg6 13. h5 Qg5 14. Qf3 Ng8 15. Bxf4 Qf6 16. Nc3 Bc5 17. Nd5 Qxb2 18. Bd6 Bxg1 19. e5 Qxa1+ ' +
  '20. Ke2 Na6 21. Nxg7+ Kd8 22. Qf6+ Nxf6 23. Be7# 1-0\n';
const SHOGI = [
  '手合割：平手',
  '先手：Black',
  '後手：White',
  ...[
    '７六歩(77)',
    '３四歩(33)',
    '２六歩(27)',
    '８四歩(83)',
    '２五歩(26)',
    '８五歩(84)',
    '７八金(69)',
    '３二金(41)',
  ].map((move, index) => `${index + 1} ${move}`),
  ...['２四歩(25)', '同　歩(23)', '同　飛(28)'].map((move, index) => `${index + 9} ${move}`),
].join('\n');

async function paste(page: Page, text: string) {
  await page.evaluate((record) => {
    const data = new DataTransfer();
    data.setData('text/plain', record);
    window.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }));
  }, text);
  await page.locator('[data-square]').first().waitFor({ state: 'attached' });
}

async function analyse(page: Page) {
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('button', { name: /Analyse with|で検討/ }).click();
  await page.getByTestId('line').nth(2).waitFor();
  // Some depth is nicer to look at; it comes by itself.
  await page.waitForFunction(
    () => Number(/\d+/.exec(document.querySelector('.facts b')?.textContent ?? '')?.[0]) >= 12,
  );
}

async function shoot(browser: Browser, server: RealServer, name: string, hash: string, options: object) {
  const page = await server.page(browser, hash, options);
  await page.locator('main h1, main h2').first().waitFor({ state: 'attached' });
  if (hash.startsWith('#/analyse')) await page.getByTestId('line').first().waitFor();
  await page.evaluate(() => Promise.all([...document.images].map((image) => image.decode())));
  await page.screenshot({ path: `${OUT}/${name}.png` });
  await page.context().close();
}

test('the pictures', async () => {
  mkdirSync(OUT, { recursive: true });
  const browser = await launch();
  const server = new RealServer();
  await server.start();
  try {
    const page = await server.page(browser);
    await paste(page, CHESS);
    await analyse(page);
    const chess = new URL(page.url()).hash;
    await shoot(browser, server, 'analyse-chess', chess, {});
    await shoot(browser, server, 'analyse-chess-dark', chess, { colorScheme: 'dark' });
    await shoot(browser, server, 'analyse-chess-narrow', chess, { viewport: { width: 360, height: 740 } });
    await paste(page, SHOGI);
    await analyse(page);
    const shogi = new URL(page.url()).hash;
    await shoot(browser, server, 'analyse-shogi', shogi, {});
    await shoot(browser, server, 'analyse-shogi-dark', shogi, { colorScheme: 'dark', locale: 'ja-JP' });
    await shoot(browser, server, 'analyse-shogi-narrow', shogi, {
      viewport: { width: 360, height: 740 },
      locale: 'ja-JP',
    });
    await shoot(browser, server, 'new-game', '#/play/0/new', {});
    await shoot(browser, server, 'engines', '#/engines', {});
  } finally {
    await browser.close();
    await server.stop();
  }
});
