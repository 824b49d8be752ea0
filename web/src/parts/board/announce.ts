// Rate-limited announcements of a running analysis for screen readers.
import type { SearchInfo } from '../../api/wire';

/** Minimum time between two announcements, in milliseconds. */
export const PAUSE = 8000;
/** Lower depths are not announced. */
const FIRST_DEPTH = 8;
/** Minimum change of the winning chances for the same move, in percent. */
const CHANGE = 5;

/** An announcement of the best move at a node. */
export interface Announcement {
  node: number;
  at: number;
  move: string;
  chances: number;
}

/** The next announcement; null if nothing has changed or the pause has not passed. */
export function nextAnnouncement(
  info: SearchInfo,
  node: number,
  chances: number,
  before: Announcement | null,
  now: number,
): Announcement | null {
  const best = info.lines[0];
  const move = best?.pv[0]?.uci;
  if (!best?.score || !move) return null;
  const next: Announcement = { node, at: now, move, chances };
  // A mate is announced at any depth.
  if ((info.depth ?? 0) < FIRST_DEPTH && best.score.kind === 'cp') return null;
  if (!before) return next;
  if (now - before.at < PAUSE) return null;
  const same = before.node === node && before.move === move && Math.abs(before.chances - chances) < CHANGE;
  return same ? null : next;
}
