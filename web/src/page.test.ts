// Invariants of all source files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { SHORTCUTS, nameOf } from './app/keys.svelte';
import { defaultForm, restoreForm, presets, timeOf } from './parts/newgame';

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
});

test('handles keys only by the shortcut table, without duplicates', () => {
  // Widgets that implement the keys of their role, and a confirmation canceled by Escape.
  const walks = [
    'board/Board',
    'board/Promotion',
    'parts/BoardSizer',
    'parts/ConfirmButton',
    'parts/Editor',
    'parts/GameBar',
    'parts/GameTabs',
    'parts/Graph',
    'parts/PositionPanel',
    'parts/Splitter',
  ].map((name) => `src/${name}.svelte`);
  const ways = /keydown|keyup|keypress|accesskey/i;
  const listen = sources.filter(({ text }) => ways.test(text.replace('onkeydown={onKey}', '')));
  expect(listen.map(({ path }) => path).sort()).toEqual(walks);
  const all = SHORTCUTS.flatMap((section) => Object.values(section.keys).flat());
  expect(all.length).toBe(new Set(all).size);
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
