// Debian's Firefox through WebDriver BiDi, and the tests that it cannot run.
import { firefox, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const DEBUGGER = 'a session of the debugger of Chromium';

/** Tests that need what Firefox or WebDriver BiDi do not have: a file, a part of the name, and the reason. */
export const UNSUPPORTED: readonly [file: string, name: string, reason: string][] = [
  ['layout', 'stays responsive with 10,000 moves', DEBUGGER],
];

type Media = Pick<BrowserContextOptions, 'colorScheme' | 'contrast' | 'reducedMotion'> & {
  media?: 'print' | 'screen' | null;
};

interface Session {
  send: (method: string, parameters: object) => Promise<unknown>;
}

interface Mouse {
  _performActions: (progress: unknown, actions: readonly object[]) => Promise<void>;
}

interface Input {
  _session: Session & { sessionId: string };
  rawKeyboard: { sendText: (progress: unknown, text: string) => Promise<void> };
  rawMouse: Mouse;
  rawTouchscreen: { tap: (progress: unknown, x: number, y: number) => Promise<void> };
}

interface Point {
  x: number;
  y: number;
}

interface Transport {
  onmessage?: (message: { method?: string; params?: { navigation?: unknown; url?: unknown } }) => void;
}

/** The media features as preferences of Firefox, which has no command of WebDriver BiDi for them yet. */
const preferences = ({ colorScheme, contrast, reducedMotion }: Media) => ({
  'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1,
  'ui.prefersReducedMotion': reducedMotion === 'reduce' ? 1 : 0,
  // With the colors of pages, the theme for accessibility only has the media feature.
  'browser.display.document_color_use': 1,
  'ui.useAccessibilityTheme': contrast === 'more' ? 1 : 0,
});

/** A script of the browser that sets media and features. */
const emulation = ({ media, ...features }: Media) => `
  for (const [name, value] of ${JSON.stringify(Object.entries(preferences(features)))})
    Services.prefs.setIntPref(name, value);
  for (const { gBrowser } of Services.wm.getEnumerator('navigator:browser'))
    for (const tab of gBrowser.tabs)
      tab.linkedBrowser.browsingContext.mediumOverride = ${JSON.stringify(media ?? '')};
`;

/** The media features apply to all pages of the browser: tests open pages with the same features at a time. */
export async function launchFirefox(executablePath: string): Promise<Browser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath,
    args: ['--remote-allow-system-access'],
    firefoxUserPrefs: {
      // Computers without a touch screen have no events for it.
      'dom.w3c_touch_events.enabled': 1,
      // The clipboard has no permissions: a menu asks the user at each reading.
      'dom.events.testing.asyncClipboard': true,
      // The list of downloads takes the focus from the page.
      'browser.download.alwaysOpenPanel': false,
    },
  });
  const { session, transport } = protocolOf(browser);
  nameDownloads(transport);
  const { send } = Object.getPrototypeOf(session) as Session;
  Object.assign(Object.getPrototypeOf(session) as Session, {
    send(this: Session, method: string, parameters: object) {
      const unknown = method === 'emulation.setMediaFeaturesOverride';
      return unknown ? Promise.resolve({}) : send.call(this, method, parameters);
    },
  });
  const tree = (await session.send('browsingContext.getTree', { 'moz:scope': 'chrome' })) as {
    contexts: { context: string }[];
  };
  const emulate = async (media: Media) => {
    await session.send('script.evaluate', {
      expression: emulation(media),
      target: { context: tree.contexts[0]?.context },
      awaitPromise: false,
    });
  };
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options = {}) => {
    let media: Media = options;
    await emulate(media);
    const context = await newContext(options);
    const grantPermissions = context.grantPermissions.bind(context);
    context.grantPermissions = (permissions, scope) =>
      grantPermissions(
        permissions.filter((name) => !name.startsWith('clipboard-')),
        scope,
      );
    context.on('page', (page: Page) => {
      const { rawKeyboard, rawMouse, rawTouchscreen } = inputOf(page);
      rawKeyboard.sendText = (_progress, text) => insertText(page, text);
      rawTouchscreen.tap = (_progress, x, y) => touch(page, [{ x, y }]);
      joinActions(rawMouse);
      page.emulateMedia = async (changed = {}) => {
        media = { ...media, ...(changed as Media) };
        await emulate(media);
      };
    });
    return context;
  };
  return browser;
}

/**
 * Inserts a text as input of the user. Playwright sets the value of the field instead: such fields send no `change`
 * event, and numbers are appended to the previous ones.
 */
async function insertText(page: Page, text: string) {
  await page.evaluate((entered) => document.execCommand('insertText', false, entered), text);
}

/** Touches the first place and moves the finger to the others, at most one per frame, as touch screens do. */
export async function touch(page: Page, points: readonly Point[]) {
  const { ['_session']: session } = inputOf(page);
  const perform = (...actions: object[]) => {
    const finger = { type: 'pointer', id: 'finger', parameters: { pointerType: 'touch' }, actions };
    return session.send('input.performActions', { context: session.sessionId, actions: [finger] });
  };
  for (const [at, { x, y }] of points.entries()) {
    const move = { type: 'pointerMove', x: Math.round(x), y: Math.round(y) };
    await perform(move, ...(at === 0 ? [{ type: 'pointerDown', button: 0 }] : []));
    if (points.length > 1) await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await perform({ type: 'pointerUp', button: 0 });
}

/** Hides the elements of ARIA references from axe: Firefox can crash on them. The attributes stay. */
export async function hideReferences(page: Page) {
  await page.evaluate(() => {
    for (const name of Object.getOwnPropertyNames(Element.prototype))
      if (/^aria.*Elements?$/.test(name)) Object.defineProperty(Element.prototype, name, { value: null });
  });
}

/** Sends the actions of a click in one command: Firefox counts the clicks of a double click by command. */
function joinActions(mouse: Mouse) {
  const { ['_performActions']: perform } = mouse;
  let next: { actions: object[]; done: Promise<void> } | undefined;
  const join: Mouse['_performActions'] = (progress, actions) => {
    if (!next) {
      const all: object[] = [];
      const send = () => {
        next = undefined;
        return perform.call(mouse, progress, all);
      };
      next = { actions: all, done: Promise.resolve().then(send) };
    }
    next.actions.push(...actions);
    return next.done;
  };
  Object.assign(mouse, { _performActions: join });
}

/** The protocol of Playwright, which has no public interface for the commands and events of Firefox. */
function protocolOf(browser: Browser): { session: Session; transport: Transport } {
  type Internal = Record<'_browserSession', Session> & Record<'_connection', { _transport: Transport }>;
  const { ['_browserSession']: session, ['_connection']: connection } = internal<Internal>(browser);
  return { session, transport: connection['_transport'] };
}

const inputOf = (page: Page) => internal<{ delegate: Input }>(page).delegate;

/** The object of Playwright's server behind one of its client. */
function internal<T>(object: Browser | Page): T {
  type Connection = { toImpl: (it: unknown) => T };
  const { ['_connection']: client } = object as unknown as Record<'_connection', Connection>;
  return client.toImpl(object);
}

/** Downloads from links have no navigation, by which Playwright knows them: their address serves, too. */
function nameDownloads(transport: Transport) {
  const { onmessage } = transport;
  const named: Transport['onmessage'] = (message) => {
    if (message.method?.startsWith('browsingContext.download') && message.params)
      message.params.navigation ??= message.params.url;
    onmessage?.(message);
  };
  Object.assign(transport, { onmessage: named });
}
