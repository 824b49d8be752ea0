// The sizes of the board and the columns of a game.
import type { Variant } from '../api/wire';

export interface Layout {
  /** Whether moves and engines have columns of their own. */
  columns: 2 | 3;
  /** The width of the board in pixels, hands next to it included. */
  board: number;
  /** Whether the hands of shogi are next to the board. */
  sideHands: boolean;
}

/** Below this width the page has a single column, laid out by the style sheet. */
export const NARROW = 900;
const THREE_COLUMNS = 1440;
/** Minimum widths of the columns next to the board. */
const SIDE = 330;
const MOVES = 244;
const ENGINES = 300;
/** Height of everything above and below the board. */
const OUTSIDE = 117;
/** Height of the buttons below the board. */
const ACTIONS = 36;
/** Height of the position below the analysis board. */
const POSITION = 42;
/** In lower windows the buttons and the position are below the visible part. */
const LOW = 620;
const GAP = 18;
const SMALLEST = 240;
/** Hands next to a board, as a share of its width. */
export const HANDS = 0.25;
/** Height of a shogi board with hands above and below, as a multiple of its width. */
const TALL = 1.37;
const WIDE = 12 / 11;

/** The layout for a window, given the part of it that is not navigation. `scale` is at most 1. */
export function layoutOf(
  variant: Variant,
  { width, height }: { width: number; height: number },
  analyzes: boolean,
  scale: number,
): Layout {
  const fit = (columns: 2 | 3): Layout => {
    const others = columns === 3 ? MOVES + ENGINES + GAP : SIDE;
    // The evaluation bar needs room, too.
    const room = width - others - 2 * GAP - (analyzes ? 30 : 0) - 20;
    const below = height > LOW ? ACTIONS + (analyzes ? POSITION : 0) : 0;
    const tall = height - OUTSIDE - below;
    if (variant !== 'shogi') return { columns, board: Math.min(room, tall), sideHands: false };
    const sideHands = Math.min(room / (1 + HANDS), tall / WIDE);
    const above = Math.min(room, tall / TALL);
    return sideHands > above
      ? { columns, board: sideHands * (1 + HANDS), sideHands: true }
      : { columns, board: above, sideHands: false };
  };
  const two = fit(2);
  const three = fit(3);
  const best = analyzes && width >= THREE_COLUMNS - 80 && three.board >= 0.95 * two.board ? three : two;
  return { ...best, board: Math.max(SMALLEST, Math.round(best.board * scale)) };
}
