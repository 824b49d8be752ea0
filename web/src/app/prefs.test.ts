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

import { animated, prefs } from './prefs.svelte';

test('disables animation by preference and by reduced motion', () => {
  expect(animated()).toBe(true);
  stubs.matches = true;
  stubs.changed();
  expect(animated()).toBe(false);
  stubs.matches = false;
  stubs.changed();
  expect(animated()).toBe(true);
  prefs.animation = 'false';
  expect(animated()).toBe(false);
});
