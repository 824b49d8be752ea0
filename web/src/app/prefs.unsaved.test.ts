import { expect, test, vi } from 'vitest';

const storage = vi.hoisted(() => {
  const items = new Map([['readyok.unsaved', '{"theme":"contrast","language":7,"other":"x"}']]);
  Object.assign(globalThis, {
    matchMedia: () => ({ matches: false, addEventListener: () => {} }),
    localStorage: {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => items.set(key, value),
    },
  });
  return items;
});

import { applyPrefs, persistWith, prefs, setPref } from './prefs.svelte';

const unsaved = () => JSON.parse(storage.get('readyok.unsaved') ?? '');

test('sends changes again that the server has not confirmed before a reload', async () => {
  const sent: Record<string, string>[] = [];
  let confirm: (() => void)[] = [];
  persistWith((page) => {
    sent.push(page);
    return new Promise((done) => confirm.push(done));
  });
  applyPrefs({ theme: 'light', arrows: 'false' });
  expect([prefs.theme, prefs.arrows]).toEqual(['contrast', 'false']);
  expect(sent.map(({ theme, arrows, language }) => [theme, arrows, language])).toEqual([
    ['contrast', 'false', ''],
  ]);
  setPref('theme', 'dark');
  setPref('arrows', 'true');
  applyPrefs({ theme: 'contrast', arrows: 'false' });
  expect([prefs.theme, prefs.arrows, sent.length]).toEqual(['dark', 'true', 3]);
  for (const done of confirm.splice(0, 1)) done();
  await vi.waitFor(() => expect(unsaved()).toEqual({ theme: 'dark', arrows: 'true' }));
  for (const done of confirm) done();
  await vi.waitFor(() => expect(unsaved()).toEqual({}));
  // Confirmed changes follow the server.
  applyPrefs({ theme: 'light' });
  expect([prefs.theme, sent.length]).toEqual(['light', 3]);
});

test('keeps changes that could not be sent', async () => {
  persistWith(() => Promise.reject());
  setPref('evalbar', 'false');
  await Promise.resolve();
  expect(unsaved()).toEqual({ evalbar: 'false' });
  const sent: string[] = [];
  persistWith((page) => Promise.resolve(void sent.push(page.evalbar ?? '')));
  applyPrefs({ evalbar: 'true' });
  expect(prefs.evalbar).toBe('false');
  await vi.waitFor(() => expect(unsaved()).toEqual({}));
  expect(sent).toEqual(['false']);
});
