// Animated GIF files. The library encodes; unchanged pixels of a frame are transparent, which makes files small.
import { GIFEncoder, applyPalette, quantize, type Palette } from 'gifenc';

/** Maximum number of colors, besides the transparent one. */
const COLORS = 255;

/** The colors of images in RGBA, and the transparent one at the end. */
export function paletteOf(images: Uint8ClampedArray[]): Palette {
  const all = new Uint8Array(images.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const image of images) {
    all.set(image, at);
    at += image.length;
  }
  return [...quantize(all, COLORS), [0, 0, 0]];
}

export class GifEncoder {
  #gif = GIFEncoder();
  #last: Uint8Array | null = null;

  constructor(
    readonly width: number,
    readonly height: number,
    readonly palette: Palette,
  ) {}

  /** Adds a frame in RGBA, which is shown for a time in hundredths of a second. */
  add(data: Uint8ClampedArray, delay: number) {
    const clear = this.palette.length - 1;
    const pixels = applyPalette(data, this.palette.slice(0, clear));
    const last = this.#last;
    const shown = last ? pixels.map((pixel, index) => (pixel === last[index] ? clear : pixel)) : pixels;
    this.#gif.writeFrame(shown, this.width, this.height, {
      delay: delay * 10,
      // Only the first frame has the palette, for all frames.
      ...(last ? {} : { palette: this.palette }),
      transparent: last !== null,
      transparentIndex: clear,
      // Keeps the frame below the next one.
      dispose: 1,
    });
    this.#last = pixels;
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.#gif.finish();
    return this.#gif.bytes();
  }
}
