// Arrows for hints and engine lines.
import type { Line, PositionView } from '../api/wire';

export interface Arrow {
  from: string;
  /** Equals `from` for a drop. */
  to: string;
  /** `hint`, `engine`, or a color: `green`, `red`, `yellow`, `blue`. */
  color: string;
  /** 0 to 1. */
  weight: number;
}

/** The number of engine lines with an arrow. */
const MAX_LINES = 4;

/** The arrow of a legal move in UCI or USI notation; empty if there is no such move. */
export function moveArrow(view: PositionView, uci: string | undefined, color: string, weight = 1): Arrow[] {
  const move = view.legal.find((one) => one.uci === uci);
  const to = move?.to[0];
  return move && to ? [{ from: move.from ?? to, to, color, weight }] : [];
}

/** Arrows of the first moves of engine lines; the best line is the strongest. */
export function lineArrows(view: PositionView, lines: Line[]): Arrow[] {
  return lines
    .slice(0, MAX_LINES)
    .flatMap((line, index) => moveArrow(view, line.pv[0]?.uci, 'engine', index === 0 ? 1 : 0.35));
}
