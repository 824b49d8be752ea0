// Contrast of colours by WCAG 2.2, for tests.

function parts(color: string): number[] {
  const hex = /^#([0-9a-f]{6})$/.exec(color)?.[1];
  if (!hex) throw new Error(`not a colour of six digits: ${color}`);
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = parts(color).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The ratio of two colours. */
export function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}

/** A translucent colour, `rgb(1 2 3 / 50%)`, over another one. */
export function blend(front: string, back: string): string {
  const [r = 0, g = 0, b = 0, alpha = 0] = (front.match(/\d+/g) ?? []).map(Number);
  const over = parts(back).map((part, at) =>
    Math.round(part + (([r, g, b][at] ?? 0) - part) * (alpha / 100)),
  );
  return `#${over.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
