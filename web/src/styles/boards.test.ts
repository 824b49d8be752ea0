// The contrast of the boards: WCAG 2.2, success criterion 1.4.3.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CHESS_BOARDS, SHOGI_BOARDS } from '../app/sets';
import { blend, contrast } from './contrast';

const boards = readFileSync('src/styles/boards.css', 'utf8');
const tokens = readFileSync('src/styles/tokens.css', 'utf8');

/** The values of the rule of a board, or of a theme. */
function values(sheet: string, selector: string): Map<string, string> {
  const block = sheet.split(`${selector} {`)[1]?.split('}')[0] ?? '';
  return new Map(
    [...block.matchAll(/--([\w-]+): ([^;]+);/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** The values of a theme, of which a board replaces some. */
const themed = (theme: string, board = '') =>
  new Map([
    ...values(tokens, `[data-theme='${theme}']`),
    ...(board ? values(boards, `.swatch[data-${board}']`) : []),
  ]);

// The first boards belong to the themes; high contrast has no others.
const THEMES = ['light', 'dark', 'contrast'];
const CHESS = [
  ...THEMES.map((theme) => [`${CHESS_BOARDS[0]}, ${theme}`, themed(theme)] as const),
  ...CHESS_BOARDS.slice(1).map((name) => [name, themed('light', `chess-board='${name}`)] as const),
];
const SHOGI = [
  ...THEMES.map((theme) => [`${SHOGI_BOARDS[0]}, ${theme}`, themed(theme)] as const),
  ...SHOGI_BOARDS.slice(1).flatMap((name) =>
    ['light', 'dark'].map((theme) => [`${name}, ${theme}`, themed(theme, `shogi-board='${name}`)] as const),
  ),
];

describe.each(CHESS)('the chess board %s', (_, colors) => {
  test.each(['l', 'd'])('has readable coordinates, also on the last move (%s)', (shade) => {
    const [square, coordinate] = [colors.get(`sq-${shade}`) ?? '', colors.get(`co-${shade}`) ?? ''];
    expect(contrast(coordinate, square)).toBeGreaterThanOrEqual(4.5);
    const last = colors.get('last-chess') ?? colors.get('last') ?? '';
    expect(contrast(coordinate, blend(last, square))).toBeGreaterThanOrEqual(4.5);
  });
});

test.each(SHOGI)('the shogi board %s has readable coordinates, also on the last move', (_, colors) => {
  const [board, coordinate] = [colors.get('shogi') ?? '', colors.get('shogi-line') ?? ''];
  expect(contrast(coordinate, board)).toBeGreaterThanOrEqual(4.5);
  expect(contrast(coordinate, blend(colors.get('last') ?? '', board))).toBeGreaterThanOrEqual(4.5);
});
