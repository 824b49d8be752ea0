// Formats the clocks.
import type { Clocks, Side } from '../api/wire';
import { clockText } from '../i18n/format';

/** Remaining time; `byoyomi` once the main time is used up. */
export interface Left {
  text: string;
  low: boolean;
  byoyomi: boolean;
}

/** The remaining time of a side; null without a clock. */
export function leftOf(clocks: Clocks | null | undefined, side: Side, now: number): Left | null {
  const remaining = clocks?.remaining[side];
  if (!clocks || remaining === null || remaining === undefined) return null;
  const elapsed = clocks.running === side ? Math.max(0, now - clocks.sent_at) : 0;
  const rest = remaining - elapsed;
  const byoyomi = clocks.byoyomi[side];
  if (rest > 0 || byoyomi === 0) return { text: clockText(rest), low: rest < 20_000, byoyomi: false };
  const last = byoyomi + Math.min(0, rest);
  return { text: clockText(last), low: last < 10_000, byoyomi: true };
}
