import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['e2e/screenshots.ts'], testTimeout: 300_000, hookTimeout: 60_000 },
});
