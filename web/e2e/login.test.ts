// Login by password.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { violations } from './browser';
import { squares, useServer, analysisBoard } from './fixture';
import { en } from './labels';

const fixture = useServer();

// Another process may bind the port in between.
test('logs in all tabs of a browser', { retry: 3 }, async () => {
  const page = await fixture.page();
  await analysisBoard(page);
  // Sessions of another server are invalid.
  await fixture.server.restart();
  await page.getByText(en('login.link')).waitFor();
  const other = await page.context().newPage();
  await other.goto(await fixture.server.nextLink());
  // The tabs of open games are another one.
  await other.getByRole('navigation', { name: en('nav.label') }).waitFor();
  await squares(page);
});

test('rejects a wrong password and accepts the right one', async () => {
  const file = join(fixture.server.data, 'password');
  writeFileSync(file, 'open sesame\n', { mode: 0o600 });
  await fixture.server.restart(['--listen', '127.0.0.1', '--password-file', file]);
  const known = await fixture.page();
  const page = await fixture.newBrowser({ viewport: { width: 360, height: 740 } });
  await page.goto(new URL('/', known.url()).href);

  const field = page.getByLabel(en('login.password'));
  const logIn = async (password: string) => {
    await field.fill(password);
    await field.press('Enter');
  };
  await logIn('open barley');
  await page.getByRole('alert').getByText(en('login.wrong')).waitFor();
  expect(await page.getByRole('navigation').count()).toBe(0);
  expect(await field.inputValue()).toBe('');
  expect(await violations(page)).toEqual([]);
  // The form fits a narrow screen.
  const wide = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('main, form, input, button')]
      .filter(
        (element) =>
          element.scrollWidth > element.clientWidth || element.getBoundingClientRect().right > innerWidth,
      )
      .map((element) => element.tagName),
  );
  expect(wide).toEqual([]);

  await page.route('**/api/login', (route) => route.abort());
  await logIn('open sesame');
  await page.getByRole('alert').getByText(en('login.offline')).waitFor();
  await page.unroute('**/api/login');

  await logIn('open sesame');
  await page.getByRole('navigation').waitFor();
  // The session persists.
  await page.reload();
  await page.getByRole('navigation').waitFor();
});

test('locks out after too many wrong passwords, but accepts a link', async () => {
  const file = join(fixture.server.data, 'password');
  writeFileSync(file, 'open sesame\n', { mode: 0o600 });
  await fixture.server.restart(['--listen', '127.0.0.1', '--password-file', file]);
  const page = await fixture.newBrowser();
  const link = await fixture.server.nextLink();
  await page.goto(new URL('/', link).href);
  const field = page.getByLabel(en('login.password'));
  const closed = page.getByRole('alert').getByText(en('login.locked'));
  for (let attempts = 0; attempts < 50 && !(await closed.isVisible()); attempts++) {
    await field.fill('open barley');
    const answered = page.waitForResponse('**/api/login');
    await field.press('Enter');
    await answered;
    await page.getByRole('alert').waitFor();
  }
  await closed.waitFor();
  await page.goto(link);
  await page.getByRole('navigation').waitFor();
});

test('uses a link again if the connection was lost', async () => {
  const page = await fixture.newBrowser();
  let attempts = 0;
  await page.route('**/api/login', async (route) => {
    attempts += 1;
    // As if the server had closed the connection, and as if it had waited for the request.
    if (attempts === 1) await route.abort('connectionreset');
    else if (attempts === 2) await route.fulfill({ status: 408 });
    else await route.continue();
  });
  await page.goto(await fixture.server.nextLink());
  await page.getByRole('navigation').waitFor();
  expect(attempts).toBe(3);
  // The session persists.
  await page.reload();
  await page.getByRole('navigation').waitFor();
});
