// The contrast of the colors: WCAG 2.2, success criteria 1.4.3 (text) and 1.4.11 (other graphics).
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { contrast } from './contrast';

type Pair = [front: string, back: string];

const pairs = (fronts: string[], backs: string[]): Pair[] =>
  fronts.flatMap((front) => backs.map((back): Pair => [front, back]));

const TEXT: Pair[] = [
  ...pairs(['text', 'text-2'], ['bg', 'surface', 'sunken', 'hover', 'accent-soft']),
  ...pairs(['accent'], ['bg', 'surface', 'sunken', 'hover', 'accent-soft']),
  ...['danger', 'warn', 'good', 'info'].flatMap((role) => pairs([role], ['surface', 'bg', `${role}-soft`])),
  ...pairs(['danger', 'good'], ['accent-soft']),
  ...['accent', 'first', 'second', 'draw'].map((role): Pair => [`on-${role}`, role]),
  ['co-l', 'sq-l'],
  ['co-d', 'sq-d'],
];
const GRAPHICS = pairs(['line-strong', 'focus', 'c1', 'c2', 'c3', 'danger', 'good'], ['surface', 'bg']);

const sheet = readFileSync('src/styles/tokens.css', 'utf8');

/** The colours of a theme by role. */
function roles(theme: string): Map<string, string> {
  const block = sheet.split(`[data-theme='${theme}'] {`)[1]?.split('}')[0] ?? '';
  return new Map(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, role = '', color = '']) => [role, color]),
  );
}

test('computes the ratio of WCAG', () => {
  expect(contrast('#ffffff', '#000000')).toBeCloseTo(21, 5);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

describe.each(['light', 'dark', 'contrast'])('theme %s', (theme) => {
  const colors = roles(theme);
  const below = (all: Pair[], least: number) =>
    all
      .map(([front, back]) => ({
        front,
        back,
        ratio: contrast(colors.get(front) ?? '', colors.get(back) ?? ''),
      }))
      .filter(({ ratio }) => ratio < least);

  test('texts are readable', () => {
    expect(below(TEXT, 4.5)).toEqual([]);
  });
  test('graphics are visible', () => {
    expect(below(GRAPHICS, 3)).toEqual([]);
  });
});
