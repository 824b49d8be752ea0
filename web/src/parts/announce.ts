// What a screen reader hears of an analysis that goes on: a change that matters, and not too often.
import type { SearchInfo } from '../api/wire';

/** Between two announcements, in milliseconds: long enough to be listened to. */
export const PAUSE = 8000;
/** The first thoughts of a search are not worth a word. */
const FIRST_DEPTH = 8;
/** Chances have to change by so many percent for the same move. */
const CHANGE = 5;

/** What was said last, and where. */
export interface Said {
  node: number;
  at: number;
  move: string;
  chances: number;
}

/** What is to be said of a search now, `chances` being what its best line is worth; none if it is nothing new, or too soon. */
export function nextAnnouncement(
  told: SearchInfo,
  node: number,
  chances: number,
  before: Said | null,
  now: number,
): Said | null {
  const best = told.lines[0];
  const move = best?.pv[0]?.word;
  if (!best?.score || !move) return null;
  const next: Said = { node, at: now, move, chances };
  // A mate is said at any depth.
  if ((told.depth ?? 0) < FIRST_DEPTH && best.score.kind !== 'mate') return null;
  if (!before) return next;
  if (now - before.at < PAUSE) return null;
  const same = before.node === node && before.move === move && Math.abs(before.chances - chances) < CHANGE;
  return same ? null : next;
}
