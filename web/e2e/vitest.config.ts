import { defineConfig } from 'vitest/config';
import { TIMEOUT } from './timeout.ts';

export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    // Pictures depend on the version of the browser.
    exclude: process.env.PICTURES ? [] : ['e2e/pictures.test.ts'],
    setupFiles: ['e2e/setup.ts'],
    // Generous timeouts for a busy machine.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: TIMEOUT } },
    // Two processes, each with one browser for all its files.
    fileParallelism: true,
    maxWorkers: 2,
    isolate: false,
    // A browser may fail for reasons outside the test. The report lists retried tests.
    retry: process.env.CI ? 1 : 0,
  },
});
