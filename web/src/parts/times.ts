// What moves took, and what the clocks showed after them.
import type { Side } from '../api/wire';
import type { Game } from '../store/apply';
import { mainLine, moverOf } from '../store/tree';

export interface Timed {
  /** In milliseconds; null where nobody knows. */
  elapsed: number | null;
  left: number | null;
}

/** One part of a time control, in milliseconds. */
interface Period {
  /** How many moves it has; null for the rest of the game. */
  moves: number | null;
  base: number;
  increment: number;
}

/** A time control as PGN writes it, such as `40/5400+30:900+30`; nothing if it is of another kind. */
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

/** The clock of one side, as a record tells of it. */
class Clock {
  private before: number | null = null;
  private count = 0;

  constructor(private readonly periods: Period[]) {}

  /** What a move took after which the clock showed this. */
  took(left: number | null): number | null {
    const before = this.before;
    this.before = left;
    this.count += 1;
    const period = this.periods[0];
    const ends = period?.moves === this.count;
    if (ends) {
      this.count = 0;
      // The last period begins again and again.
      if (this.periods.length > 1) this.periods.shift();
    }
    if (left === null || before === null) return null;
    const took = before + (period?.increment ?? 0) - left;
    // Some clocks add the time of the next period with the last move of this one.
    const added = ends && took < 0 ? (this.periods[0]?.base ?? 0) : 0;
    return Math.max(0, Math.round(took + added));
  }
}

/** The times of the main line, after the root. What a move took is told by the record, or by the clocks. */
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

/** What the clock of a side showed when the position on the board was reached, as the record tells. */
export function shownClock(game: Game, side: Side): number | null {
  let node = game.nodes.get(game.cursor);
  while (node && node.parent !== null) {
    if (node.clock !== null && moverOf(game, node) === side) return node.clock;
    node = game.nodes.get(node.parent);
  }
  // A time control alone is no clock.
  const timed = mainLine(game).some((one) => one.clock !== null);
  return timed ? (controlOf(game, side)[0]?.base ?? null) : null;
}
