// Imports from accounts, and the explorer and tablebases of Lichess, with a server that replays their formats.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { violations } from './browser';
import { accountDialog, analysisBoard, LONG, moveTexts, switchOn, useServer } from './fixture';
import { inLanguage, t } from './labels';
import { lichessGame, startServices, type OnlineServices } from './online';

const fixture = useServer();

let services: OnlineServices;

const GAMES = ['1. e4 e5 2. Nf3 1-0', '1. d4 d5 0-1', '1. e4 c5 1/2-1/2'];

const EXPLORER = {
  white: 60,
  draws: 20,
  black: 20,
  moves: [
    {
      uci: 'e2e4',
      san: 'e4',
      averageRating: 2400,
      white: 45,
      draws: 15,
      black: 15,
      game: null,
      opening: null,
    },
    { uci: 'd2d4', san: 'd4', averageRating: 2410, white: 15, draws: 5, black: 5, game: null, opening: null },
  ],
  topGames: [
    {
      uci: 'e2e4',
      id: 'kN6d9l2i',
      winner: 'white',
      white: { name: 'Carlsen, M.', rating: 2881 },
      black: { name: 'Anand, V.', rating: 2785 },
      year: 2014,
      month: '2014-06',
    },
  ],
  opening: null,
};

const TABLEBASE = {
  category: 'win',
  dtz: 1,
  checkmate: false,
  stalemate: false,
  insufficient_material: false,
  moves: [
    {
      uci: 'f7g7',
      san: 'Qg7#',
      category: 'loss',
      dtz: -1,
      zeroing: false,
      checkmate: true,
      stalemate: false,
    },
  ],
};

function answer(request: IncomingMessage, response: ServerResponse) {
  const { host } = request.headers;
  if (host === 'lichess.org') {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.end(`${GAMES.map(lichessGame).join('\n')}\n{"id": \n`);
  } else if (host === 'explorer.lichess.org' && request.headers.authorization === 'Bearer lip_secret') {
    response.end(JSON.stringify(EXPLORER));
  } else if (host === 'tablebase.lichess.org') {
    response.end(JSON.stringify(TABLEBASE));
  } else {
    response.writeHead(404).end();
  }
}

beforeEach(async () => {
  services = await startServices(answer);
  await fixture.server.restart(services.args);
});

afterEach(() => services.stop());

inLanguage('ja', () => {
  test('imports the games of an account after the service is switched on', async () => {
    const page = await fixture.page('#/library');
    let dialog = await accountDialog(page);
    await dialog.getByLabel(t('account.name')).fill('Anna');
    // Nothing is requested before.
    const start = dialog.getByRole('button', { name: t('library.import'), exact: true });
    expect(await start.isDisabled()).toBe(true);
    await dialog.getByRole('link', { name: t('settings.title') }).click();
    await page.getByRole('heading', { name: t('online.title') }).waitFor();
    expect(services.requests).toEqual([]);
    const boxes = page.getByRole('checkbox', { name: /Lichess|chess\.com/ });
    expect(await boxes.count()).toBe(4);
    for (const one of await boxes.all()) expect(await one.isChecked()).toBe(false);
    // Each names its host.
    for (const host of ['lichess.org', 'api.chess.com', 'explorer.lichess.org', 'tablebase.lichess.org']) {
      await page.getByText(host, { exact: true }).waitFor();
    }
    expect(await violations(page)).toEqual([]);
    await switchOn(page, 'online.lichess_games');

    dialog = await accountDialog(page);
    await dialog.getByLabel(t('account.name')).fill('Anna');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: t('library.import'), exact: true }).click();
    await expect.poll(() => page.locator('[data-row] a').count(), LONG).toBe(3);
    const entry = page.getByTestId('import');
    await expect.poll(() => entry.getAttribute('data-status'), LONG).toBe('done');
    expect(await entry.textContent()).toContain('Anna · Lichess');
    // The malformed line is listed with its number.
    await entry.getByRole('button', { name: t('job.errors', { count: 1 }) }).click();
    const faults = page.getByRole('dialog');
    await faults.getByText(`lichess.org: ${t('location.line', { line: 4 })}`).waitFor();
    await page.keyboard.press('Escape');
    // A position of the games is found.
    await page.getByLabel(t('library.search')).fill('e4 c5');
    await expect.poll(() => page.locator('[data-row] a').count(), LONG).toBe(1);

    dialog = await accountDialog(page);
    const known = dialog.getByRole('list', { name: t('account.known') });
    await known.getByRole('button', { name: t('account.update') }).click();
    await expect.poll(() => services.requests.length, LONG).toBe(2);
    expect(services.requests.every((request) => request.startsWith('lichess.org/api/games/user/Anna?'))).toBe(
      true,
    );
    expect(services.requests[1]).toContain('since=1783000120000');
    dialog = await accountDialog(page);
    await dialog.getByRole('button', { name: t('account.remove', { name: 'Anna' }) }).click();
    await known.waitFor({ state: 'detached' });
  });

  test('shows the explorer and the tablebases of Lichess', async () => {
    const page = await fixture.page('#/settings');
    await switchOn(page, 'online.lichess_explorer', 'online.lichess_tablebase');
    await page.getByLabel(t('online.token'), { exact: true }).fill('lip_secret');
    await page.getByRole('button', { name: t('online.token.save'), exact: true }).click();
    await page.getByText(t('online.token.stored')).waitFor();
    await analysisBoard(page, 'chess');
    const explorer = page.getByTestId('explorer');
    await explorer.getByRole('button', { name: t('explorer.title') }).click();
    await explorer.getByText(t('explorer.no_games')).waitFor();
    expect(services.requests).toEqual([]);
    await explorer.getByLabel(t('explorer.source')).selectOption({ label: t('explorer.lichess.masters') });
    await explorer.getByRole('link', { name: 'Carlsen, M. – Anand, V.' }).waitFor(LONG);
    expect(await violations(page)).toEqual([]);
    await explorer.getByRole('button', { name: 'e4', exact: true }).click();
    await expect.poll(() => moveTexts(page), LONG).toEqual(['e4']);
    await expect.poll(() => services.requests.length, LONG).toBe(2);

    await analysisBoard(page, 'chess', '7k/5Q2/6K1/8/8/8/8/8 w - - 0 1');
    const tablebase = page.getByTestId('tablebase');
    await tablebase.getByRole('button', { name: t('tablebase.title') }).click();
    await tablebase.getByText('tablebase.lichess.org').waitFor(LONG);
    await tablebase.getByRole('button', { name: 'Qg7#' }).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});
