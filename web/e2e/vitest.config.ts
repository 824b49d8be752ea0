import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    // A browser on a busy machine: a limit only for what never ends.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    fileParallelism: false,
  },
});
