// Numbers of the opening explorer.
import type { ResultCounts } from '../../api/wire';

export const total = ({ first, draws, second, unknown }: ResultCounts) => first + draws + second + unknown;

/** Percentages of first, draws and second over the games with a result. They add up to 100. */
export function percentages({ first, draws, second }: ResultCounts): [number, number, number] | null {
  const known = first + draws + second;
  if (known === 0) return null;
  const exact = [first, draws, second].map((count) => (100 * count) / known);
  const whole = exact.map(Math.floor);
  // The largest remainders are rounded up.
  const order = [0, 1, 2].toSorted(
    (a, b) => (exact[b] ?? 0) - (whole[b] ?? 0) - ((exact[a] ?? 0) - (whole[a] ?? 0)),
  );
  const missing = 100 - whole.reduce((sum, part) => sum + part, 0);
  for (const index of order.slice(0, missing)) whole[index] = (whole[index] ?? 0) + 1;
  return [whole[0] ?? 0, whole[1] ?? 0, whole[2] ?? 0];
}

/** A share from 0 to 1 in percent; small shares have a decimal. */
export function shareText(share: number): string {
  const percent = 100 * share;
  return `${percent < 10 && percent > 0 ? percent.toFixed(1) : Math.round(percent)}%`;
}
