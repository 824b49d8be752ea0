// Known games and common steps of the pictures of the documentation.
import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { showReport } from './browser';
import { LONG, WHOLE, listedGames, moveElements, paste, saveDraft } from './fixture';
import { pattern, t } from './labels';

/** A game with the moves of a record. */
export const pgn = (
  white: string,
  black: string,
  event: string,
  date: string,
  result: string,
  moves: string,
) =>
  `[Event "${event}"]\n[Date "${date}"]\n[White "${white}"]\n[Black "${black}"]\n[Result "${result}"]\n\n${moves} ${result}\n\n`;

export const CHESS = pgn(
  'Adolf Anderssen',
  'Lionel Kieseritzky',
  'London',
  '1851.06.21',
  '1-0',
  '1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 5. Bxb5 Nf6 6. Nf3 Qh6 7. d3 Nh5 8. Nh4 Qg5 9. Nf5 c6 10. g4 Nf6 ' +
    '11. Rg1 cxb5 12. h4 Qg6 13. h5 Qg5 14. Qf3 Ng8 15. Bxf4 Qf6 16. Nc3 Bc5 17. Nd5 Qxb2 18. Bd6 Bxg1 19. e5 ' +
    'Qxa1+ 20. Ke2 Na6 21. Nxg7+ Kd8 22. Qf6+ Nxf6 23. Be7#',
);

/** Known games of the 19th and 20th century, for the library and the explorer. */
export const GAMES = [
  CHESS,
  pgn(
    'Adolf Anderssen',
    'Jean Dufresne',
    'Berlin',
    '1852',
    '1-0',
    '1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. b4 Bxb4 5. c3 Ba5 6. d4 exd4 7. O-O d3 8. Qb3 Qf6 9. e5 Qg6 10. Re1 Nge7 ' +
      '11. Ba3 b5 12. Qxb5 Rb8 13. Qa4 Bb6 14. Nbd2 Bb7 15. Ne4 Qf5 16. Bxd3 Qh5 17. Nf6+ gxf6 18. exf6 Rg8 ' +
      '19. Rad1 Qxf3 20. Rxe7+ Nxe7 21. Qxd7+ Kxd7 22. Bf5+ Ke8 23. Bd7+ Kf8 24. Bxe7#',
  ),
  pgn(
    'Paul Morphy',
    'Duke of Brunswick and Count Isouard',
    'Paris Opera',
    '1858.11.02',
    '1-0',
    '1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 ' +
      '10. Nxb5 cxb5 11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8#',
  ),
  pgn(
    'Donald Byrne',
    'Robert James Fischer',
    'Third Rosenwald Trophy',
    '1956.10.17',
    '0-1',
    '1. Nf3 Nf6 2. c4 g6 3. Nc3 Bg7 4. d4 O-O 5. Bf4 d5 6. Qb3 dxc4 7. Qxc4 c6 8. e4 Nbd7 9. Rd1 Nb6 10. Qc5 Bg4 ' +
      '11. Bg5 Na4 12. Qa3 Nxc3 13. bxc3 Nxe4 14. Bxe7 Qb6 15. Bc4 Nxc3 16. Bc5 Rfe8+ 17. Kf1 Be6 18. Bxb6 Bxc4+ ' +
      '19. Kg1 Ne2+ 20. Kf1 Nxd4+ 21. Kg1 Ne2+ 22. Kf1 Nc3+ 23. Kg1 axb6 24. Qb4 Ra4 25. Qxb6 Nxd1 26. h3 Rxa2 ' +
      '27. Kh2 Nxf2 28. Re1 Rxe1 29. Qd8+ Bf8 30. Nxe1 Bd5 31. Nf3 Ne4 32. Qb8 b5 33. h4 h5 34. Ne5 Kg7 35. Kg1 Bc5+ ' +
      '36. Kf1 Ng3+ 37. Ke1 Bb4+ 38. Kd1 Bb3+ 39. Kc1 Ne2+ 40. Kb1 Nc3+ 41. Kc1 Rc2#',
  ),
  pgn(
    'Garry Kasparov',
    'Veselin Topalov',
    'Hoogovens, Wijk aan Zee',
    '1999.01.20',
    '1-0',
    '1. e4 d6 2. d4 Nf6 3. Nc3 g6 4. Be3 Bg7 5. Qd2 c6 6. f3 b5 7. Nge2 Nbd7 8. Bh6 Bxh6 9. Qxh6 Bb7 10. a3 e5 ' +
      '11. O-O-O Qe7 12. Kb1 a6 13. Nc1 O-O-O 14. Nb3 exd4 15. Rxd4 c5 16. Rd1 Nb6 17. g3 Kb8 18. Na5 Ba8 19. Bh3 d5 ' +
      '20. Qf4+ Ka7 21. Rhe1 d4 22. Nd5 Nbxd5 23. exd5 Qd6 24. Rxd4 cxd4 25. Re7+ Kb6 26. Qxd4+ Kxa5 27. b4+ Ka4 ' +
      '28. Qc3 Qxd5 29. Ra7 Bb7 30. Rxb7 Qc4 31. Qxf6 Kxa3 32. Qxa6+ Kxb4 33. c3+ Kxc3 34. Qa1+ Kd2 35. Qb2+ Kd1 ' +
      '36. Bf1 Rd2 37. Rd7 Rxd7 38. Bxc4 bxc4 39. Qxh8 Rd3 40. Qa8 c3 41. Qa4+ Ke1 42. f4 f5 43. Kc1 Rd2 44. Qa7',
  ),
  pgn(
    'Johannes Zukertort',
    'Joseph Henry Blackburne',
    'London',
    '1883.05.05',
    '1-0',
    '1. c4 e6 2. e3 Nf6 3. Nf3 b6 4. Be2 Bb7 5. O-O d5 6. d4 Bd6 7. Nc3 O-O 8. b3 Nbd7 9. Bb2 Qe7 10. Nb5 Ne4 ' +
      '11. Nxd6 cxd6 12. Nd2 Ndf6 13. f3 Nxd2 14. Qxd2 dxc4 15. Bxc4 d5 16. Bd3 Rfc8 17. Rae1 Rc7 18. e4 Rac8 19. e5 ' +
      'Ne8 20. f4 g6 21. Re3 f5 22. exf6 Nxf6 23. f5 Ne4 24. Bxe4 dxe4 25. fxg6 Rc2 26. gxh7+ Kh8 27. d5+ e5 ' +
      '28. Qb4 R8c5 29. Rf8+ Kxh7 30. Qxe4+ Kg7 31. Bxe5+ Kxf8 32. Bg7+ Kg8 33. Qxe7',
  ),
  pgn(
    'Emanuel Lasker',
    'Johann Hermann Bauer',
    'Amsterdam',
    '1889.08.26',
    '1-0',
    '1. f4 d5 2. e3 Nf6 3. b3 e6 4. Bb2 Be7 5. Bd3 b6 6. Nc3 Bb7 7. Nf3 Nbd7 8. O-O O-O 9. Ne2 c5 10. Ng3 Qc7 ' +
      '11. Ne5 Nxe5 12. Bxe5 Qc6 13. Qe2 a6 14. Nh5 Nxh5 15. Bxh7+ Kxh7 16. Qxh5+ Kg8 17. Bxg7 Kxg7 18. Qg4+ Kh7 ' +
      '19. Rf3 e5 20. Rh3+ Qh6 21. Rxh6+ Kxh6 22. Qd7 Bf6 23. Qxb7',
  ),
  pgn(
    'Georg Rotlewi',
    'Akiba Rubinstein',
    'Lodz',
    '1907.12.26',
    '0-1',
    '1. d4 d5 2. Nf3 e6 3. e3 c5 4. c4 Nc6 5. Nc3 Nf6 6. dxc5 Bxc5 7. a3 a6 8. b4 Bd6 9. Bb2 O-O 10. Qd2 Qe7 ' +
      '11. Bd3 dxc4 12. Bxc4 b5 13. Bd3 Rd8 14. Qe2 Bb7 15. O-O Ne5 16. Nxe5 Bxe5 17. f4 Bc7 18. e4 Rac8 19. e5 Bb6+ ' +
      '20. Kh1 Ng4 21. Be4 Qh4 22. g3 Rxc3 23. gxh4 Rd2 24. Qxd2 Bxe4+ 25. Qg2 Rh3',
  ),
].join('');
export const SHOGI = [
  '手合割：平手',
  ...[
    '７六歩(77)',
    '３四歩(33)',
    '２六歩(27)',
    '８四歩(83)',
    '２五歩(26)',
    '８五歩(84)',
    '７八金(69)',
    '３二金(41)',
    '２四歩(25)',
    '同　歩(23)',
    '同　飛(28)',
    '８六歩(85)',
    '同　歩(87)',
    '同　飛(82)',
  ].map((move, index) => `${index + 1} ${move}`),
].join('\n');

/** Adds the known games to the library. */
export async function fillLibrary(page: Page) {
  await page.goto(new URL('/#/library', page.url()).href);
  await page
    .getByTestId('import-files')
    .setInputFiles({ name: 'famous.pgn', mimeType: 'text/plain', buffer: Buffer.from(GAMES) });
  await expect.poll(() => listedGames(page).count(), LONG).toBeGreaterThan(7);
}

/** Runs the report of the shown game. */
export async function run(page: Page, seconds: string) {
  const sheet = await showReport(page, t('tab.report'));
  await sheet.getByLabel(t('report.seconds')).fill(seconds);
  await sheet.getByRole('button', { name: t('report.run') }).click();
  await sheet.getByText(t('report.done'), { exact: true }).waitFor(WHOLE);
  await sheet
    .getByRole('button', { name: t('app.close') })
    .first()
    .click();
}

/** Steps to a ply of the game on the board. Returns its address. */
export async function stepTo(page: Page, plies: number): Promise<string> {
  await moveElements(page)
    .nth(plies - 1)
    .click(LONG);
  await page.locator('.moves [aria-current]').waitFor();
  return new URL(page.url()).hash;
}

/** Opens a record, and saves it. */
export async function open(page: Page, text: string, plies: number): Promise<string> {
  const before = page.url();
  await paste(page, text);
  await page.waitForURL((url) => url.href !== before);
  await saveDraft(page);
  return stepTo(page, plies);
}

/** Opens a game of the library. */
export async function openListed(page: Page, player: string, plies: number): Promise<string> {
  await listedGames(page).filter({ hasText: player }).first().dblclick();
  await page.waitForURL(/#\/analyse\/\d+$/);
  return stepTo(page, plies);
}

/** Analyzes until several lines are shown. */
export async function analyse(page: Page) {
  await page.getByRole('button', { name: pattern('panel.start') }).click();
  await page.getByTestId('line').nth(2).waitFor();
  await page.waitForFunction(
    () => Number(/\d+/.exec(document.querySelector('.facts b')?.textContent ?? '')?.[0]) >= 12,
    null,
    LONG,
  );
}
