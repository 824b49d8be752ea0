import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['e2e/screenshots.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
