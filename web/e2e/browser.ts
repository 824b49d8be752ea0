// The browser that the journeys use: Debian's chromium, without a window.
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import axe from 'axe-core';

export function launch(): Promise<Browser> {
  const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
    (path) => path && existsSync(path),
  );
  if (!executablePath) throw new Error('no chromium: run scripts/install-browser.sh, or set CHROMIUM');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** The middle of a square on the screen, once the page stands still: what comes to a page moves what is there. */
export async function middle(page: Page, square: string): Promise<{ x: number; y: number }> {
  return page
    .locator(`[data-square="${square}"]`)
    .first()
    .evaluate(
      (element) =>
        new Promise((done) => {
          let before = '';
          const look = () => {
            const { x, y, width, height } = element.getBoundingClientRect();
            const now = [x, y, width, height].join();
            if (now === before && width > 0) done({ x: x + width / 2, y: y + height / 2 });
            else {
              before = now;
              requestAnimationFrame(look);
            }
          };
          look();
        }),
    );
}

/** Drags what stands on a square to another with the mouse. */
export async function drag(page: Page, from: string, to: string) {
  const [start, end] = [await middle(page, from), await middle(page, to)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 4 });
  await page.mouse.move(end.x, end.y, { steps: 4 });
  await page.mouse.up();
}

/** Touches a square. */
export async function tap(page: Page, square: string) {
  const { x, y } = await middle(page, square);
  await page.touchscreen.tap(x, y);
}

/** Drags what stands on a square to another with a finger. */
export async function touchDrag(page: Page, from: string, to: string) {
  const [start, end] = [await middle(page, from), await middle(page, to)];
  const between = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
  const session = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: (typeof start)[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: points });
  await touch('touchStart', [start]);
  await touch('touchMove', [between]);
  await touch('touchMove', [end]);
  await touch('touchEnd', []);
  await session.detach();
}

/** What axe finds wrong with the page, in words. */
export async function violations(page: Page): Promise<string[]> {
  // Through the debugger, as the policy of the page lets no other script in.
  await page.evaluate(axe.source);
  const found = await page.evaluate(() =>
    (window as unknown as { axe: { run: (options: object) => Promise<{ violations: object[] }> } }).axe.run({
      resultTypes: ['violations'],
    }),
  );
  type Violation = { id: string; help: string; nodes: { html: string; failureSummary?: string }[] };
  return (found.violations as Violation[]).map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes
        .slice(0, 3)
        .map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.slice(0, 200) ?? ''}`)
        .join(' | ')}`,
  );
}

/** Faults of the page: errors of scripts and of the content security policy. */
export function errorsOf(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return errors;
}
