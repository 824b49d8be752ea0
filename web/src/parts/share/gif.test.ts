import { expect, test } from 'vitest';
import { GifEncoder, paletteOf } from './gif';

/** The pixels of the data of an image, by the algorithm of a decoder. */
function decoded(blocks: number[]): number[] {
  let [bits, buffer, at, size] = [0, 0, 0, 9];
  const read = () => {
    while (bits < size) {
      buffer += (blocks[at++] ?? 0) * 2 ** bits;
      bits += 8;
    }
    const code = buffer % 2 ** size;
    buffer = Math.floor(buffer / 2 ** size);
    bits -= size;
    return code;
  };
  const out: number[] = [];
  let table: number[][] = [];
  let last: number[] | null = null;
  for (let code = read(); code !== 257; code = read()) {
    if (code === 256) {
      table = Array.from({ length: 258 }, (_, index) => [index]);
      [size, last] = [9, null];
      continue;
    }
    const entry: number[] = table[code] ?? [...(last ?? []), last?.[0] ?? 0];
    out.push(...entry);
    if (last && table.length < 4096) table.push([...last, entry[0] ?? 0]);
    if (table.length === 1 << size && size < 12) size++;
    last = entry;
  }
  return out;
}

/** The frames of a file: their rectangles and pixels. */
function framesOf(bytes: Uint8Array) {
  const frames: { box: number[]; pixels: number[] }[] = [];
  let at = 13 + 3 * 2 ** (((bytes[10] ?? 0) & 7) + 1);
  const data = () => {
    const found: number[] = [];
    for (let length = bytes[at++] ?? 0; length > 0; length = bytes[at++] ?? 0) {
      found.push(...bytes.subarray(at, at + length));
      at += length;
    }
    return found;
  };
  while (bytes[at] !== 0x3b) {
    if (bytes[at] === 0x21) {
      at += 2;
      data();
      continue;
    }
    const short = (offset: number) => (bytes[at + offset] ?? 0) + 256 * (bytes[at + offset + 1] ?? 0);
    const box = [short(1), short(3), short(5), short(7)];
    at += 11;
    frames.push({ box, pixels: decoded(data()) });
  }
  return frames;
}

const rgba = (colors: number[]) =>
  Uint8ClampedArray.from(colors.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255, 255]));

test('writes frames that a decoder reproduces', () => {
  const [width, height] = [120, 90];
  // Enough different runs to fill the table of codes several times.
  const first = Array.from({ length: width * height }, (_, at) => ((at * at * 7919) % 97) * 0x020408);
  const second = first.map((color, at) => (at % width === 5 && at > width * 10 ? 0xffffff : color));
  const images = [rgba(first), rgba(second), rgba(second)];
  const palette = paletteOf(images);
  const encoder = new GifEncoder(width, height, palette);
  for (const image of images) encoder.add(image, 100);
  const [whole, part, none] = framesOf(encoder.finish());
  const near = (index: number) => {
    const [red = 0, green = 0, blue = 0] = palette[index] ?? [];
    return ((red << 16) | (green << 8) | blue) & 0xf8f8f8;
  };
  const clear = palette.length - 1;
  expect([whole?.box, part?.box, none?.box]).toEqual(Array.from({ length: 3 }, () => [0, 0, width, height]));
  expect(whole?.pixels.map(near)).toEqual(first.map((color) => color & 0xf8f8f8));
  // Only changed pixels are drawn over the frame before.
  const drawn = part?.pixels.map((pixel, at) => (pixel === clear ? whole?.pixels[at] : pixel) ?? 0);
  expect(drawn?.map(near)).toEqual(second.map((color) => color & 0xf8f8f8));
  expect(part?.pixels.filter((pixel) => pixel !== clear).length).toBe(80);
  expect(new Set(none?.pixels)).toEqual(new Set([clear]));
});
