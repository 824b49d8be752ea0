// Round values along the axes of charts.

/** The limit of an interval that is drawn: the first points of a match have huge errors. */
const LIMIT = 800;

/** The range of points with errors and of guide lines, with some air. */
export function extent(
  points: { y: number; error?: number }[],
  guides: number[],
): [low: number, high: number] {
  const values = [...guides];
  for (const { y, error = 0 } of points.slice(Math.floor(points.length / 10)))
    values.push(Math.min(LIMIT, y + error), Math.max(-LIMIT, y - error));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const air = (high - low) * 0.08 || 1;
  return [low - air, high + air];
}

/** About four round values of a range. */
export function ticks(low: number, high: number): { at: number; text: string }[] {
  const rough = (high - low) / 4;
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  const found = [];
  for (let index = Math.ceil(low / step); index * step <= high; index += 1) {
    const at = index * step;
    found.push({ at, text: at.toFixed(digits).replace('-', '−') });
  }
  return found;
}
