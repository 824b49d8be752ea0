import { defineConfig } from 'vitest/config';
import { TIMEOUT } from './timeout.ts';

export default defineConfig({
  test: {
    include: ['e2e/screenshots.ts', 'e2e/tutorials.ts'],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: TIMEOUT } },
  },
});
