// The size of the script that the first paint needs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = '../crates/server/dist';
const BUDGET = 170_000;

/** The names of a script and of its static imports. */
function initial(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(join(DIST, name), 'utf8');
  for (const [, other] of text.matchAll(/(?:^|[;}])import(?:[^"'();]*from)?["']\.\/([^"']+)["']/g)) {
    if (other) initial(other, found);
  }
  return found;
}

test('the compressed script of the first paint is within its budget', () => {
  const index = readFileSync(join(DIST, 'index.html'), 'utf8');
  const scripts = [...index.matchAll(/<script[^>]+src="\.\/([^"]+)"/g)].map(([, name]) => name ?? '');
  expect(scripts).toEqual(['app.js']);
  const sizes = [...initial('app.js')].map((name) => gzipSync(readFileSync(join(DIST, name))).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(BUDGET);
});

test('pages other than the boards are loaded when they are opened', () => {
  const names = initial('app.js');
  for (const page of ['Home', 'Palette', 'Training', 'Engines', 'Matches', 'Library', 'Settings', 'ja']) {
    expect(readFileSync(join(DIST, `${page}.js`), 'utf8')).not.toBe('');
    expect([...names]).not.toContain(`${page}.js`);
  }
});
