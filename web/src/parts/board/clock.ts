// Running clocks, and the move times and clocks of a record.
import type { ClockState, Side } from '../../api/wire';
import { clockText } from '../../i18n/format';
import type { Game } from '../../store/apply';
import { mainLine, moverOf } from '../../store/tree';

/** Remaining time; `byoyomi` once the main time is used up. */
export interface Left {
  text: string;
  low: boolean;
  byoyomi: boolean;
  /** Until the flag falls. */
  seconds: number;
}

/** Below this many milliseconds the clock warns. */
const LOW = 20_000;
const LOW_BYOYOMI = 10_000;

/** The remaining time of a side; null without a clock. */
export function leftOf(clocks: ClockState | null | undefined, side: Side, now: number): Left | null {
  const remaining = clocks?.remaining[side];
  if (!clocks || remaining === null || remaining === undefined) return null;
  const elapsed = clocks.running === side ? Math.max(0, now - clocks.sent_at) : 0;
  const rest = remaining - elapsed;
  const byoyomi = clocks.byoyomi[side];
  if (rest > 0 || byoyomi === 0)
    return { text: clockText(rest), low: rest < LOW, byoyomi: false, seconds: Math.max(0, rest) / 1000 };
  const last = byoyomi + Math.min(0, rest);
  return { text: clockText(last), low: last < LOW_BYOYOMI, byoyomi: true, seconds: Math.max(0, last) / 1000 };
}

export interface Timed {
  /** In milliseconds; null if unknown. */
  elapsed: number | null;
  left: number | null;
}

/** One period of a time control, in milliseconds. */
interface Period {
  /** Number of moves; null for the rest of the game. */
  moves: number | null;
  base: number;
  increment: number;
}

/** Parses a PGN time control such as `40/5400+30:900+30`; empty if unsupported. */
export function periodsOf(text: string): Period[] {
  const parts = text.split(':').map((part) => {
    const found = /^(?:(\d{1,4})\/)?(\d{1,9}(?:\.\d+)?)(?:\+(\d{1,9}(?:\.\d+)?))?$/.exec(part.trim());
    if (!found) return null;
    const [, moves, base, increment] = found;
    return {
      moves: moves ? Number(moves) : null,
      base: Number(base) * 1000,
      increment: Number(increment ?? 0) * 1000,
    };
  });
  return parts.every((part) => part !== null) ? parts : [];
}

function controlOf(game: Game, side: Side): Period[] {
  const value = (name: string) => game.headers.find((header) => header.name === name)?.value;
  const own = value(side === 'first' ? 'WhiteTimeControl' : 'BlackTimeControl');
  return periodsOf(own ?? value('TimeControl') ?? '');
}

/** The recorded clock of one side. */
class Clock {
  private before: number | null = null;
  private count = 0;

  constructor(private readonly periods: Period[]) {}

  /** The time of a move with this clock after it. */
  took(left: number | null): number | null {
    const before = this.before;
    this.before = left;
    this.count += 1;
    const period = this.periods[0];
    const ends = period?.moves === this.count;
    if (ends) {
      this.count = 0;
      // The last period repeats.
      if (this.periods.length > 1) this.periods.shift();
    }
    if (left === null || before === null) return null;
    const took = before + (period?.increment ?? 0) - left;
    // Some clocks add the time of the next period with the last move of this one.
    const added = ends && took < 0 ? (this.periods[0]?.base ?? 0) : 0;
    return Math.max(0, Math.round(took + added));
  }
}

/** The times of the main line, recorded or computed from the clocks. */
export function timesOf(game: Game): Timed[] {
  const clocks = {
    first: new Clock(controlOf(game, 'first')),
    second: new Clock(controlOf(game, 'second')),
  };
  return mainLine(game).map((node) => {
    const derived = clocks[moverOf(game, node)].took(node.clock);
    return { elapsed: node.elapsed ?? derived, left: node.clock };
  });
}

/** The recorded clock of a side at the current position. */
export function shownClock(game: Game, side: Side): number | null {
  let node = game.nodes.get(game.cursor);
  while (node && node.parent !== null) {
    if (node.clock !== null && moverOf(game, node) === side) return node.clock;
    node = game.nodes.get(node.parent);
  }
  // A time control without recorded clocks shows none.
  const timed = mainLine(game).some((one) => one.clock !== null);
  return timed ? (controlOf(game, side)[0]?.base ?? null) : null;
}
