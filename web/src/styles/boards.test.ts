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

const CHESS = CHESS_BOARDS.slice(1).map(
  (name) => [name, values(boards, `.swatch[data-chess-board='${name}']`)] as const,
);
const SHOGI = [
  ...(['light', 'dark'] as const).map(
    (theme) => [`kaya, ${theme}`, values(tokens, `[data-theme='${theme}']`)] as const,
  ),
  ...SHOGI_BOARDS.slice(1).map(
    (name) => [name, values(boards, `.swatch[data-shogi-board='${name}']`)] as const,
  ),
];

describe.each(CHESS)('the chess board %s', (_, colors) => {
  test.each(['l', 'd'])('has readable coordinates, also on the last move (%s)', (shade) => {
    const [square, coordinate] = [colors.get(`sq-${shade}`) ?? '', colors.get(`co-${shade}`) ?? ''];
    expect(contrast(coordinate, square)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(coordinate, blend(colors.get('last-chess') ?? '', square))).toBeGreaterThanOrEqual(4.5);
  });
});

test.each(SHOGI)('the shogi board %s has readable coordinates', (_, colors) => {
  expect(contrast(colors.get('shogi-line') ?? '', colors.get('shogi') ?? '')).toBeGreaterThanOrEqual(4.5);
});
