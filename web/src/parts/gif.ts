// An encoder of animated GIF files.

/** Maximum number of colors. */
const COLORS = 256;
const CLEAR = 256;
const END = 257;
/** Maximum number of entries of the code table. */
const MAX_CODES = 4096;

/** A color with five bits for each channel. */
const binOf = (red: number, green: number, blue: number) =>
  ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3);

/** The most frequent colors of images in RGBA. */
export function paletteOf(images: Uint8ClampedArray[]): number[] {
  const counts = new Map<number, number>();
  const sums = new Map<number, [number, number, number]>();
  for (const data of images) {
    for (let at = 0; at < data.length; at += 4) {
      const [red = 0, green = 0, blue = 0] = [data[at], data[at + 1], data[at + 2]];
      const bin = binOf(red, green, blue);
      const count = counts.get(bin) ?? 0;
      counts.set(bin, count + 1);
      const sum = sums.get(bin);
      if (sum) {
        sum[0] += red;
        sum[1] += green;
        sum[2] += blue;
      } else sums.set(bin, [red, green, blue]);
    }
  }
  const frequent = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, COLORS);
  return frequent.map(([bin, count]) => {
    const [red, green, blue] = (sums.get(bin) ?? [0, 0, 0]).map((sum) => Math.round(sum / count));
    return ((red ?? 0) << 16) | ((green ?? 0) << 8) | (blue ?? 0);
  });
}

/** Writes one frame after another. Unchanged borders of a frame are omitted. */
export class GifEncoder {
  #bytes: number[] = [];
  #palette: number[];
  #nearest = new Map<number, number>();
  #last: Uint8Array | null = null;

  constructor(
    readonly width: number,
    readonly height: number,
    palette: number[],
  ) {
    this.#palette = palette;
    this.#text('GIF89a');
    this.#short(width);
    this.#short(height);
    // A global table of 256 colors.
    this.#bytes.push(0xf7, 0, 0);
    for (let index = 0; index < COLORS; index++) {
      const color = palette[index] ?? 0;
      this.#bytes.push(color >> 16, (color >> 8) & 255, color & 255);
    }
    // Repeats forever.
    this.#bytes.push(0x21, 0xff, 11);
    this.#text('NETSCAPE2.0');
    this.#bytes.push(3, 1, 0, 0, 0);
  }

  /** Adds a frame in RGBA, which is shown for a time in hundredths of a second. */
  add(data: Uint8ClampedArray, delay: number) {
    const pixels = this.#indexed(data);
    const { x, y, width, height } = this.#changed(pixels);
    this.#last = pixels;
    this.#bytes.push(0x21, 0xf9, 4, 4);
    this.#short(delay);
    this.#bytes.push(0, 0, 0x2c);
    for (const value of [x, y, width, height]) this.#short(value);
    this.#bytes.push(0, 8);
    const part = new Uint8Array(width * height);
    for (let row = 0; row < height; row++) {
      const start = (y + row) * this.width + x;
      part.set(pixels.subarray(start, start + width), row * width);
    }
    this.#compress(part);
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.#bytes.push(0x3b);
    return Uint8Array.from(this.#bytes);
  }

  #text(text: string) {
    for (const letter of text) this.#bytes.push(letter.charCodeAt(0));
  }

  #short(value: number) {
    this.#bytes.push(value & 255, value >> 8);
  }

  #indexed(data: Uint8ClampedArray): Uint8Array {
    const pixels = new Uint8Array(data.length / 4);
    for (let at = 0; at < pixels.length; at++) {
      const [red = 0, green = 0, blue = 0] = [data[4 * at], data[4 * at + 1], data[4 * at + 2]];
      const bin = binOf(red, green, blue);
      let index = this.#nearest.get(bin);
      if (index === undefined) {
        index = this.#find(red, green, blue);
        this.#nearest.set(bin, index);
      }
      pixels[at] = index;
    }
    return pixels;
  }

  #find(red: number, green: number, blue: number): number {
    let [best, least] = [0, Infinity];
    this.#palette.forEach((color, index) => {
      const distance =
        ((color >> 16) - red) ** 2 + (((color >> 8) & 255) - green) ** 2 + ((color & 255) - blue) ** 2;
      if (distance < least) [best, least] = [index, distance];
    });
    return best;
  }

  /** The smallest rectangle that contains all changes. */
  #changed(pixels: Uint8Array) {
    const last = this.#last;
    if (!last) return { x: 0, y: 0, width: this.width, height: this.height };
    let [left, top, right, bottom] = [this.width, this.height, 0, 0];
    for (let at = 0; at < pixels.length; at++) {
      if (pixels[at] === last[at]) continue;
      const [x, y] = [at % this.width, Math.floor(at / this.width)];
      if (x < left) left = x;
      if (right <= x) right = x + 1;
      if (y < top) top = y;
      if (bottom <= y) bottom = y + 1;
    }
    if (right === 0) return { x: 0, y: 0, width: 1, height: 1 };
    return { x: left, y: top, width: right - left, height: bottom - top };
  }

  /** Compresses by LZW, in blocks of at most 255 bytes. */
  #compress(pixels: Uint8Array) {
    const bytes = this.#bytes;
    let block: number[] = [];
    let [buffer, bits, size, next] = [0, 0, 9, END + 1];
    let codes = new Map<number, number>();
    const flush = () => {
      if (block.length === 0) return;
      bytes.push(block.length, ...block);
      block = [];
    };
    const emit = (code: number) => {
      buffer |= code << bits;
      bits += size;
      while (bits >= 8) {
        block.push(buffer & 255);
        buffer >>>= 8;
        bits -= 8;
        if (block.length === 255) flush();
      }
    };
    emit(CLEAR);
    let prefix = pixels[0] ?? 0;
    for (let at = 1; at < pixels.length; at++) {
      const pixel = pixels[at] ?? 0;
      const key = (prefix << 8) | pixel;
      const known = codes.get(key);
      if (known !== undefined) {
        prefix = known;
        continue;
      }
      emit(prefix);
      if (next === MAX_CODES) {
        emit(CLEAR);
        [size, next, codes] = [9, END + 1, new Map()];
      } else {
        if (next >= 1 << size) size++;
        codes.set(key, next++);
      }
      prefix = pixel;
    }
    emit(prefix);
    emit(END);
    if (bits > 0) block.push(buffer & 255);
    flush();
    bytes.push(0);
  }
}
