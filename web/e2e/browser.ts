// The browser of the tests: Debian's Chromium, headless.
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

/** The center of a square once the layout is stable. */
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

/** Drags a piece with the mouse. */
export async function drag(page: Page, from: string, to: string) {
  const [start, end] = [await middle(page, from), await middle(page, to)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 4 });
  await page.mouse.move(end.x, end.y, { steps: 4 });
  await page.mouse.up();
}

/** Taps a square. */
export async function tap(page: Page, square: string) {
  const { x, y } = await middle(page, square);
  await page.touchscreen.tap(x, y);
}

/** Drags a piece by touch. */
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

/** The accessibility violations found by axe. */
export async function violations(page: Page): Promise<string[]> {
  // Through the debugger: the content security policy blocks other scripts.
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

/** Script errors and violations of the content security policy. */
export function errorsOf(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return errors;
}
