// Errors have the texts of the terminal. The server generates the samples from all variants.
import { expect, test, vi } from 'vitest';
import type { ErrorInfo } from '../api/wire';

vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {} }));
});

import samples from '../api/error-samples.json';
import { prefs } from '../app/prefs.svelte';
import { errorInfoText } from './format';

test('terminal and page have the same texts', () => {
  prefs.language = 'en';
  expect(samples.length).toBeGreaterThan(80);
  expect(samples.map(({ error }) => errorInfoText(error as ErrorInfo))).toEqual(
    samples.map(({ text }) => text),
  );
});
