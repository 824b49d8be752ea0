// Diagrams of positions as SVG and PNG, and of games as animated GIF.
import type { Side } from '../../api/wire';
import { CHESS_ROLES, HAND, readSetup, rows, SHOGI_ROLES } from '../../board/squares';

/** A part of a diagram, in pixels. */
type Shape =
  | { kind: 'rect'; x: number; y: number; width: number; height: number; fill: string; stroke?: string }
  | { kind: 'image'; x: number; y: number; width: number; height: number; href: string }
  | { kind: 'text'; x: number; y: number; size: number; text: string };

export interface Diagram {
  width: number;
  height: number;
  shapes: Shape[];
}

export interface Style {
  light: string;
  dark: string;
  shogi: string;
  line: string;
  highlight: string;
  /** The folders of the pieces. */
  chessPieces: string;
  shogiPieces: string;
}

const SQUARE = 60;
const EDGE = 22;

/** The diagram of a position. */
export function diagramOf(
  text: string,
  { shogi, orientation, last, style }: { shogi: boolean; orientation: Side; last: string[]; style: Style },
): Diagram {
  const setup = readSetup(text, shogi);
  const grid = rows(shogi, orientation);
  const [width, height] = shogi ? [SQUARE, Math.round((SQUARE * 12) / 11)] : [SQUARE, SQUARE];
  const hand = shogi ? width * 1.3 : 0;
  const [left, top] = [hand + EDGE, shogi ? EDGE : EDGE / 2];
  const size = grid.length;
  const shapes: Shape[] = [];
  const href = (side: Side, letter: string) => {
    if (shogi)
      return `./pieces/${style.shogiPieces}/${side === orientation ? 's' : 'g'}_${SHOGI_ROLES[letter]}.svg`;
    const code = CHESS_ROLES[letter] ? letter : 'P';
    return `./pieces/${style.chessPieces}/${side === 'first' ? 'w' : 'b'}${code}.svg`;
  };
  grid.forEach((row, y) =>
    row.forEach((square, x) => {
      const at = { x: left + x * width, y: top + y * height, width, height };
      const dark = (x + y) % 2 === 1;
      if (shogi) shapes.push({ kind: 'rect', ...at, fill: style.shogi, stroke: style.line });
      else shapes.push({ kind: 'rect', ...at, fill: dark ? style.dark : style.light });
      if (last.includes(square)) shapes.push({ kind: 'rect', ...at, fill: style.highlight });
      const piece = setup.pieces.get(square);
      if (piece) shapes.push({ kind: 'image', ...at, href: href(piece.side, piece.letter) });
    }),
  );
  const bottom = top + size * height;
  grid[0]?.forEach((square, x) => {
    const y = shogi ? top - 6 : bottom + 15;
    shapes.push({ kind: 'text', x: left + (x + 0.5) * width, y, size: 13, text: square[0] ?? '' });
  });
  grid.forEach((row, y) => {
    const x = shogi ? left + size * width + 10 : left - 10;
    shapes.push({ kind: 'text', x, y: top + (y + 0.5) * height + 4, size: 13, text: row[0]?.[1] ?? '' });
  });
  if (shogi) {
    for (const side of ['first', 'second'] as const) {
      const lower = side === orientation;
      const x = lower ? left + size * width + EDGE : 0;
      HAND.filter((letter) => (setup.hands[side].get(letter) ?? 0) > 0).forEach((letter, index) => {
        const y = lower ? bottom - (index + 1) * height : top + index * height;
        shapes.push({ kind: 'image', x, y, width, height, href: href(side, letter) });
        const count = setup.hands[side].get(letter) ?? 0;
        if (count > 1)
          shapes.push({ kind: 'text', x: x + width + 5, y: y + height - 8, size: 16, text: String(count) });
      });
    }
  }
  return {
    width: Math.round(left + size * width + (shogi ? EDGE + hand : EDGE / 2)),
    height: Math.round(bottom + (shogi ? EDGE / 2 : EDGE)),
    shapes,
  };
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);

/** A diagram as a self-contained SVG file. `load` returns the SVG of a piece. */
export async function svgOf(
  { width, height, shapes }: Diagram,
  load: (href: string) => Promise<string>,
): Promise<string> {
  const hrefs = [...new Set(shapes.flatMap((shape) => (shape.kind === 'image' ? [shape.href] : [])))];
  const pieces = new Map<string, string>();
  for (const href of hrefs) pieces.set(href, await load(href));
  const parts = shapes.map((shape) => {
    if (shape.kind === 'text')
      return `<text x="${shape.x}" y="${shape.y}" font-size="${shape.size}">${escaped(shape.text)}</text>`;
    const box = `x="${shape.x}" y="${shape.y}" width="${shape.width}" height="${shape.height}"`;
    if (shape.kind === 'rect')
      return `<rect ${box} fill="${shape.fill}"${shape.stroke ? ` stroke="${shape.stroke}"` : ''}/>`;
    const piece = pieces.get(shape.href) ?? '';
    const viewBox = /viewBox="([^"]*)"/.exec(piece)?.[1];
    const size = /width="([\d.]+)"[^>]*height="([\d.]+)"/.exec(piece);
    const inner = piece.slice(piece.indexOf('>', piece.indexOf('<svg')) + 1, piece.lastIndexOf('</svg>'));
    const attributes =
      /<svg([^>]*)>/
        .exec(piece)?.[1]
        ?.match(/(?:fill|stroke|style)[\w-]*="[^"]*"/g)
        ?.join(' ') ?? '';
    return `<svg ${box} viewBox="${viewBox ?? `0 0 ${size?.[1] ?? 45} ${size?.[2] ?? 45}`}" ${attributes}>${inner}</svg>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    '<g font-family="sans-serif" text-anchor="middle" fill="#333">',
    ...parts,
    '</g></svg>',
  ].join('\n');
}

const images = new Map<string, Promise<HTMLImageElement>>();

function imageOf(href: string): Promise<HTMLImageElement> {
  let image = images.get(href);
  if (!image) {
    image = new Promise((found, failed) => {
      const element = new Image();
      element.addEventListener('load', () => found(element));
      element.addEventListener('error', () => failed(new Error(href)));
      element.src = href;
    });
    images.set(href, image);
  }
  return image;
}

function canvasOf(width: number, height: number) {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('canvas');
  return { canvas, context };
}

/** A diagram as an element, which the content security policy allows, unlike images of data. */
export async function drawn(diagram: Diagram, scale = 2): Promise<HTMLCanvasElement> {
  const { canvas, context } = canvasOf(diagram.width * scale, diagram.height * scale);
  context.scale(scale, scale);
  await draw(context, diagram);
  return canvas;
}

/** A diagram as a PNG file. */
export async function pngOf(diagram: Diagram): Promise<Blob> {
  const canvas = await drawn(diagram);
  return new Promise((found, failed) =>
    canvas.toBlob((blob) => (blob ? found(blob) : failed(new Error('canvas'))), 'image/png'),
  );
}

/** Of a position, and of the last one, in hundredths of a second. */
const [DELAY, LAST_DELAY] = [100, 300];

/** Diagrams of the same size as an animated GIF file. */
export async function gifOf(diagrams: Diagram[]): Promise<Blob> {
  const [first] = diagrams;
  if (!first) throw new Error('no diagram');
  // Loaded for the first animation.
  const { GifEncoder, paletteOf } = await import('./gif');
  const { width, height } = first;
  const { context } = canvasOf(width, height);
  const pixels = async (diagram: Diagram) => {
    await draw(context, diagram);
    return context.getImageData(0, 0, width, height).data;
  };
  // Later positions have no other colors: the highlight of a move is on squares of both colors.
  const samples = [0, 1, 2, Math.floor(diagrams.length / 2), diagrams.length - 1];
  const sampled: Uint8ClampedArray[] = [];
  for (const index of new Set(samples)) {
    const diagram = diagrams[index];
    if (diagram) sampled.push(await pixels(diagram));
  }
  const encoder = new GifEncoder(width, height, paletteOf(sampled));
  for (const [index, diagram] of diagrams.entries()) {
    encoder.add(await pixels(diagram), index === diagrams.length - 1 ? LAST_DELAY : DELAY);
    // The page stays responsive.
    await new Promise((done) => setTimeout(done, 0));
  }
  return new Blob([encoder.finish()], { type: 'image/gif' });
}

async function draw(context: CanvasRenderingContext2D, { width, height, shapes }: Diagram) {
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  for (const shape of shapes) {
    if (shape.kind === 'rect') {
      context.fillStyle = shape.fill;
      context.fillRect(shape.x, shape.y, shape.width, shape.height);
      if (shape.stroke) {
        context.strokeStyle = shape.stroke;
        context.strokeRect(shape.x, shape.y, shape.width, shape.height);
      }
    } else if (shape.kind === 'image') {
      const image = await imageOf(shape.href);
      const size = Math.min(shape.width, shape.height);
      context.drawImage(
        image,
        shape.x + (shape.width - size) / 2,
        shape.y + (shape.height - size) / 2,
        size,
        size,
      );
    } else {
      context.fillStyle = '#333';
      context.font = `${shape.size}px sans-serif`;
      context.textAlign = 'center';
      context.fillText(shape.text, shape.x, shape.y);
    }
  }
}
