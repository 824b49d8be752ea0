// The contrast of the boards: WCAG 2.2, success criterion 1.4.3.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CHESS_BOARDS, SHOGI_BOARDS } from '../app/sets';
import { CHESS_LOOKS, SHOGI_LOOKS } from '../board/looks';
import { blend, contrast } from './contrast';

const tokens = readFileSync('src/styles/tokens.css', 'utf8');

/** A value of a theme. */
function valueOf(theme: string, name: string): string {
  const block = tokens.split(`[data-theme='${theme}'] {`)[1]?.split('}')[0] ?? '';
  return new RegExp(`--${name}: ([^;]+);`).exec(block)?.[1] ?? '';
}

// The first boards belong to the themes; high contrast has no others.
const THEMES = ['light', 'dark', 'contrast'];
const themed = (theme: string, names: string[]) => names.map((name) => valueOf(theme, name));

const CHESS: [string, string[]][] = [
  ...THEMES.map((theme): [string, string[]] => [
    `${CHESS_BOARDS[0]}, ${theme}`,
    themed(theme, ['sq-l', 'sq-d', 'co-l', 'co-d', 'last']),
  ]),
  ...Object.entries(CHESS_LOOKS),
];
const SHOGI: [string, string[]][] = [
  ...THEMES.map((theme): [string, string[]] => [
    `${SHOGI_BOARDS[0]}, ${theme}`,
    themed(theme, ['shogi', 'shogi-line', 'last']),
  ]),
  ...Object.entries(SHOGI_LOOKS).flatMap(([name, [board = '', line = '']]) =>
    ['light', 'dark'].map((theme): [string, string[]] => [
      `${name}, ${theme}`,
      [board, line, valueOf(theme, 'last')],
    ]),
  ),
];

describe.each(CHESS)('the chess board %s', (_, colors) => {
  test.each([0, 1])('has readable coordinates, also on the last move (%s)', (shade) => {
    const [square, coordinate, last] = [colors[shade] ?? '', colors[shade + 2] ?? '', colors[4] ?? ''];
    expect(contrast(coordinate, square)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(coordinate, blend(last, square))).toBeGreaterThanOrEqual(4.5);
  });
});

test.each(SHOGI)(
  'the shogi board %s has readable coordinates, also on the last move',
  (_, [board = '', line = '', last = '']) => {
    expect(contrast(line, board)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(line, blend(last, board))).toBeGreaterThanOrEqual(4.5);
  },
);
