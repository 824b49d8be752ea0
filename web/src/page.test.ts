// Invariants of all source files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { COMMANDS, keys, nameOf, onKey, shownKey } from './app/keys.svelte';
import { defaultForm, restoreForm, presets, timeOf } from './parts/play/newgame';

vi.stubGlobal('navigator', { language: 'en' });

function files(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(svelte|ts)$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => join(directory, name));
}

const sources = files('src').map((path) => ({ path, text: readFileSync(path, 'utf8') }));

test('never inserts text as markup', () => {
  const ways = /\{@html|innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc/;
  expect(sources.filter(({ text }) => ways.test(text)).map(({ path }) => path)).toEqual([]);
});

test('uses no inline styles or handlers, which the content security policy blocks', () => {
  const ways = /\sstyle="|setAttribute\(['"]style|\seval\(|new Function|javascript:/;
  expect(sources.filter(({ text }) => ways.test(text)).map(({ path }) => path)).toEqual([]);
});

test('draws no line thinner than a CSS pixel, which Firefox omits', () => {
  const styles = readdirSync('src/styles').map((name) => {
    const path = join('src/styles', name);
    return { path, text: readFileSync(path, 'utf8') };
  });
  const thin = /(?:border|outline|shadow)[\w-]*:[^;]*[\s(]0?\.\d+px/;
  const all = [...styles, ...sources.filter(({ path }) => path.endsWith('.svelte'))];
  expect(all.filter(({ text }) => thin.test(text)).map(({ path }) => path)).toEqual([]);
});

test('names key events', () => {
  const key = (key: string, more = {}) =>
    nameOf({ key, ctrlKey: false, metaKey: false, shiftKey: false, ...more });
  expect(key('?', { shiftKey: true })).toBe('?');
  expect(key('F')).toBe('f');
  expect(key('z', { ctrlKey: true })).toBe('Ctrl+z');
  expect(key('ArrowLeft', { shiftKey: true })).toBe('Shift+ArrowLeft');
  // Option and a digit enter a character on macOS.
  expect(key('¡', { altKey: true, code: 'Digit1' })).toBe('Alt+1');
  expect(['Ctrl+k', 'g h', ' ', 'Shift+y', 'ArrowLeft'].map(shownKey)).toEqual([
    'Ctrl K',
    'G H',
    'Space',
    'Shift Y',
    '←',
  ]);
});

test('runs sequences of keys, the command of a first key alone, and the last registered handler', () => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { querySelector: () => null });
  vi.stubGlobal('HTMLElement', Map);
  const ran: string[] = [];
  keys.runs = [
    { 'nav.home': () => ran.push('home'), 'report.run': () => ran.push('report') },
    { 'play.movenow': () => ran.push('now'), 'play.rematch': () => ran.push('rematch') },
  ];
  const press = (key: string) =>
    onKey({ key, preventDefault: () => {}, target: null } as unknown as KeyboardEvent);
  press('g');
  press('h');
  expect(ran).toEqual(['home']);
  vi.runAllTimers();
  expect(ran).toEqual(['home']);
  press('g');
  vi.runAllTimers();
  expect(ran).toEqual(['home', 'now']);
  // Both are commands of the key R.
  press('r');
  expect(ran).toEqual(['home', 'now', 'rematch']);
  keys.runs = keys.runs.slice(0, 1);
  press('r');
  expect(ran.at(-1)).toBe('report');
  keys.runs = [];
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('handles keys only by the shortcut table, without duplicates', () => {
  // Widgets that implement the keys of their role, and a confirmation canceled by Escape.
  const walks = [
    'app/BoardList',
    'app/BoardTabs',
    'app/Palette',
    'board/Cells',
    'board/Promotion',
    'parts/board/BoardSizer',
    'parts/board/BoardTabs',
    'parts/board/EditGrid',
    'parts/board/Toolbar',
    'parts/common/Chart',
    'parts/common/ConfirmButton',
    'parts/common/Menu',
    'parts/common/Popup',
    'parts/library/GameTable',
    'parts/study/ChapterList',
    'parts/study/ChapterName',
  ].map((name) => `src/${name}.svelte`);
  const ways = /keydown|keyup|keypress|accesskey/i;
  const listen = sources.filter(({ text }) => ways.test(text.replace('onkeydown={onKey}', '')));
  expect(listen.map(({ path }) => path).sort()).toEqual(walks);
  // Commands of different scopes, such as playing and analysis, may share a key.
  for (const section of COMMANDS) {
    const all = Object.values(section.keys).flat();
    expect(all.length).toBe(new Set(all).size);
  }
});

test('restores the valid fields of a stored form', () => {
  expect(restoreForm('')).toEqual(defaultForm());
  expect(restoreForm('nonsense')).toEqual(defaultForm());
  expect(restoreForm('{"variant":"shogi","opponent":"x","evil":1}')).toEqual({
    ...defaultForm(),
    variant: 'shogi',
  });
});

test('converts times to milliseconds', () => {
  expect(presets('chess').map(({ time }) => timeOf(time))).toContainEqual({
    kind: 'clock',
    base: 180_000,
    increment: 2_000,
    byoyomi: 0,
    moves: null,
  });
  expect(presets('shogi').map(({ time }) => timeOf(time))).toContainEqual({
    kind: 'clock',
    base: 600_000,
    increment: 0,
    byoyomi: 30_000,
    moves: null,
  });
});
