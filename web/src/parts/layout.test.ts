import { expect, test } from 'vitest';
import { layoutOf } from './layout';

const NAV = 76;
const TABS = 34;
const at = (width: number, height: number) => ({ width: width - NAV, height: height - TABS });

test('has three columns on wide screens, unless the board would be much smaller', () => {
  expect(layoutOf('chess', at(1024, 768), true, 1).columns).toBe(2);
  expect(layoutOf('chess', at(1440, 900), true, 1)).toEqual({ columns: 3, board: 671, sideHands: false });
  expect(layoutOf('chess', at(1440, 900), false, 1).columns).toBe(2);
  expect(layoutOf('shogi', at(1440, 900), true, 1).columns).toBe(2);
  expect(layoutOf('shogi', at(1920, 1080), true, 1).columns).toBe(3);
});

test('puts the hands of shogi next to the board where the board becomes larger', () => {
  const wide = layoutOf('shogi', at(1440, 900), true, 1);
  expect(wide.sideHands).toBe(true);
  // The board without the hands has the height of the window.
  expect((wide.board / 1.25) * (12 / 11)).toBeCloseTo(900 - TABS - 117 - 36 - 42, -1);
  expect(layoutOf('shogi', at(1000, 1400), true, 1).sideHands).toBe(false);
});

test('scales the board down to a minimum', () => {
  expect(layoutOf('chess', at(1440, 900), false, 0.5).board).toBe(357);
  expect(layoutOf('chess', at(1440, 900), false, 0.1).board).toBe(240);
});
