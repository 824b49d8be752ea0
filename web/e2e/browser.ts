// The browser of the tests: Debian's Chromium, or Firefox with `BROWSER=firefox`, headless.
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import axe from 'axe-core';
import { hideReferences, launchFirefox, touch } from './firefox';

export const BROWSER = process.env.BROWSER === 'firefox' ? 'firefox' : 'chromium';

const PROGRAMS = {
  // The shell, which has no window, needs half the time.
  chromium: [
    process.env.CHROMIUM,
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
  ],
  firefox: [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'],
};

let shared: Promise<Browser> | undefined;

/** The browser of all test files of a process. A crash ends it for one file only. */
export async function sharedBrowser(): Promise<Browser> {
  if (!(await shared)?.isConnected()) shared = launch();
  return (await shared) as Browser;
}

function launch(): Promise<Browser> {
  const program = PROGRAMS[BROWSER].find((path) => path && existsSync(path));
  if (!program)
    throw new Error(`no ${BROWSER}: run scripts/install-browser.sh, or set ${BROWSER.toUpperCase()}`);
  if (BROWSER === 'firefox') return launchFirefox(program);
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
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
  const path = [start, { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 }, end];
  if (BROWSER === 'firefox') return touch(page, path);
  const session = await page.context().newCDPSession(page);
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: typeof path) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints });
  for (const [at, point] of path.entries()) await send(at === 0 ? 'touchStart' : 'touchMove', [point]);
  await send('touchEnd', []);
  await session.detach();
}

/** Chooses the picture with a name in a group. */
export const pick = (page: Page, group: string, name: string) =>
  page.getByRole('group', { name: group, exact: true }).getByText(name, { exact: true }).click();

/** Sizes of windows: a phone, a tablet, notebooks, a desktop. */
export const SIZES = [
  [390, 844],
  [1000, 800],
  [1280, 720],
  [1440, 900],
  [1920, 1080],
] as const;

/**
 * Targets of the pointer below 24 × 24 pixels (WCAG 2.2, 2.5.8), except in texts, and inputs and links of lists with a
 * label, a cell or room around them.
 */
export const smallTargets = (page: Page) =>
  page.evaluate(() => {
    const least = 24;
    const fits = (box: DOMRect) => box.width >= least - 0.5 && box.height >= least - 0.5;
    const layers = [...document.querySelectorAll<HTMLElement>('dialog[open], :popover-open')];
    const top = layers.at(-1) ?? document.body;
    return [...top.querySelectorAll<HTMLElement>('button, a[href], select, summary, input')]
      .filter((element) => {
        const box = element.getBoundingClientRect();
        // Hidden inputs of choices have a visible text; the fields of sliders have a thumb.
        if (!element.checkVisibility() || element.matches('.sr, .skip, [type=range]') || box.width === 0)
          return false;
        if (fits(box) || getComputedStyle(element).display === 'inline') return false;
        if (!element.matches('input, td a, li a')) return true;
        const around = element.closest<HTMLElement>('label, td, th');
        if (around && fits(around.getBoundingClientRect())) return false;
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        const near = [
          [x - least / 2, y],
          [x + least / 2, y],
          [x, y - least / 2],
          [x, y + least / 2],
        ] as const;
        return near.some(([left, above]) => {
          const other = document.elementFromPoint(left, above)?.closest('button, a, select, summary, input');
          return other && other !== element;
        });
      })
      .map((element) => {
        const { width, height } = element.getBoundingClientRect();
        const name = (element.ariaLabel ?? element.textContent).trim().slice(0, 40);
        return `${element.tagName} ${name} ${Math.round(width)} × ${Math.round(height)}`;
      });
  });

/** Elements that overflow the window, whose text is cut, or that others cover. */
export const layoutFaults = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = [];
    const name = (element: HTMLElement) =>
      `${element.tagName} ${(element.ariaLabel ?? element.textContent).trim().slice(0, 60)}`;
    const dialogs = [...document.querySelectorAll<HTMLDialogElement>('dialog[open]')];
    // The last dialog is above the page and the others.
    const top = dialogs.at(-1) ?? document.querySelector<HTMLElement>(':popover-open') ?? document.body;
    for (const element of [document.documentElement, ...document.querySelectorAll('main'), ...dialogs]) {
      if (element.scrollWidth > Math.min(element.clientWidth, innerWidth))
        found.push(`overflow: ${element.tagName} ${element.scrollWidth} px`);
    }
    // Pages scroll in the window; the document itself does not.
    if (document.documentElement.scrollHeight > innerHeight)
      found.push(`overflow: document ${document.documentElement.scrollHeight} px high`);
    const scrollsAside = (element: Element | null): boolean =>
      element !== null &&
      element !== top &&
      (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrollsAside(element.parentElement));
    const texts = 'button, h1, h2, h3, legend, summary, th, .chip, .bar .name, .steps, label, nav a';
    for (const element of top.querySelectorAll<HTMLElement>(texts)) {
      if (!element.checkVisibility() || element.matches('.sr, .sr *') || element.clientWidth === 0) continue;
      // Names and titles are shortened on phones.
      const cut =
        element.scrollWidth > element.clientWidth + 1 && !(innerWidth < 900 && element.matches('.cut'));
      if (cut && getComputedStyle(element).display !== 'inline') found.push(`cut: ${name(element)}`);
      const { left, right } = element.getBoundingClientRect();
      if ((left < -1 || right > innerWidth + 1) && !scrollsAside(element) && !element.matches('.skip'))
        found.push(`outside: ${name(element)}`);
    }
    // The center of a control belongs to the control.
    for (const element of top.querySelectorAll<HTMLElement>('button, select, input, textarea')) {
      const box = element.getBoundingClientRect();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      if (!element.checkVisibility() || box.width < 2 || y < 0 || y > innerHeight || x > innerWidth) continue;
      const at = document.elementFromPoint(x, y);
      let clipped = false;
      for (let around = element.parentElement; around; around = around.parentElement) {
        if (getComputedStyle(around).overflow === 'visible') continue;
        const clip = around.getBoundingClientRect();
        clipped ||= y > clip.bottom || y < clip.top || x > clip.right || x < clip.left;
      }
      if (clipped) continue;
      // The navigation covers the lower edge of small screens, and buttons stay visible above what scrolls.
      if (!at || at.closest('nav')?.matches('.shell > nav')) continue;
      let sticks = false;
      for (let around: Element | null = at; around; around = around.parentElement)
        sticks ||= getComputedStyle(around).position === 'sticky';
      if (sticks) continue;
      if (!element.contains(at) && !at.contains(element) && !(element as HTMLInputElement).labels?.length)
        found.push(`covered: ${name(element)}`);
    }
    return found;
  });

/** The accessibility violations found by axe. */
export async function violations(page: Page): Promise<string[]> {
  // Through the debugger: the content security policy blocks other scripts.
  await page.evaluate(axe.source);
  if (BROWSER === 'firefox') await hideReferences(page);
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

/** The bodies that the page sends to a path from now on: the protocol of Firefox does not have them. */
export async function sentBodies(page: Page, path: string): Promise<() => Promise<string[]>> {
  const bodies = await page.evaluateHandle((wanted) => {
    const { fetch } = window;
    const sent: string[] = [];
    window.fetch = async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input, location.href);
      if (pathname === wanted) sent.push(await new Response(init?.body ?? null).text());
      return fetch(input, init);
    };
    return sent;
  }, path);
  return () => bodies.jsonValue();
}

/** Chooses a command or setting in a menu. */
export async function command(page: Page, menu: string, name: string) {
  await page.getByRole('button', { name: menu, exact: true }).click();
  const items = page.getByRole('menu', { name: menu, exact: true });
  await items
    .getByRole('menuitem', { name, exact: true })
    .or(items.getByRole('menuitemcheckbox', { name }))
    .click();
}

/** Chooses a command of the toolbar, which is in its menu on phones. */
export async function toolbarCommand(page: Page, menu: string, name: string) {
  const button = page.getByRole('button', { name, exact: true });
  await page.getByRole('toolbar').waitFor();
  if (await button.isVisible()) await button.click();
  else await command(page, menu, name);
}

/** Shows a pane next to the board where windows have room for one. */
export async function showPane(page: Page, name: string) {
  await page.getByRole('toolbar').waitFor();
  const tab = page.getByRole('tab', { name, exact: true });
  if (await tab.isVisible()) await tab.click();
}

/** Opens the details of the report: a sheet over the tools, or a tab in narrow windows. */
export async function showReport(page: Page, name: string): Promise<Locator> {
  const sheet = page.getByTestId('report');
  if ((await sheet.count()) === 0)
    await page
      .getByRole('tab', { name })
      .or(page.getByRole('button', { name, exact: true }))
      .click();
  await sheet.waitFor();
  return sheet;
}
