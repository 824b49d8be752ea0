import { expect, test, vi } from 'vitest';

const stubs = vi.hoisted(() => {
  const media = { matches: false, changed: () => {} };
  const listen = (_: string, changed: () => void) => (media.changed = changed);
  const still = {
    get matches() {
      return media.matches;
    },
    addEventListener: listen,
  };
  const none = { matches: false, addEventListener: () => {} };
  Object.assign(globalThis, {
    matchMedia: (query: string) => (query.includes('motion') ? still : none),
  });
  return media;
});

import { moving, prefs } from './prefs.svelte';

test('nothing glides for whom it should not', () => {
  expect(moving()).toBe(true);
  stubs.matches = true;
  stubs.changed();
  expect(moving()).toBe(false);
  stubs.matches = false;
  stubs.changed();
  expect(moving()).toBe(true);
  prefs.animation = 'false';
  expect(moving()).toBe(false);
});
