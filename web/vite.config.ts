import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// Names without hashes: the build is committed, and ETags of the server invalidate caches.
export default defineConfig({
  base: './',
  plugins: [svelte()],
  build: {
    target: 'es2022',
    // In the package of the crate that embeds it.
    outDir: '../crates/server/dist',
    emptyOutDir: true,
    // The content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: 'app[extname]',
      },
    },
  },
  server: {
    proxy: {
      '/api': { target: process.env.READYOK_URL ?? 'http://127.0.0.1:7878', ws: true },
    },
  },
  test: {
    include: ['src/**/*.test.ts'],
  },
});
