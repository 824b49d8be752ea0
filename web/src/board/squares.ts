// Squares and pieces of FEN and SFEN, for labels and the editor. No rules.
import type { Side, Variant } from '../api/wire';

export interface Piece {
  side: Side;
  /** The letter in upper case, with `+` before it when promoted. */
  letter: string;
}

export interface Setup {
  pieces: Map<string, Piece>;
  /** Pieces in hand by letter (shogi). */
  hands: Record<Side, Map<string, number>>;
  turn: Side;
  /** The remaining fields, such as castling rights, unchanged. */
  rest: string[];
}

/** In the order of menus. */
export const VARIANTS: readonly Variant[] = ['chess', 'chess960', 'shogi'];

export const HAND = ['R', 'B', 'G', 'S', 'N', 'L', 'P'];
const FILES = 'abcdefgh';
const RANKS = 'abcdefghi';

/** The rows of squares in display order, from the top left. */
export function rows(shogi: boolean, orientation: Side): string[][] {
  const size = shogi ? 9 : 8;
  const all = Array.from({ length: size }, (_, row) =>
    Array.from({ length: size }, (_, column) =>
      shogi ? `${9 - column}${RANKS[row]}` : `${FILES[column]}${8 - row}`,
    ),
  );
  return orientation === 'first' ? all : all.toReversed().map((row) => row.toReversed());
}

/** Reads a FEN or SFEN and skips invalid parts: the server validates positions. */
export function readSetup(text: string, shogi: boolean): Setup {
  const [board = '', turn = '', third = '-', ...rest] = text.trim().split(/\s+/);
  const pieces = new Map<string, Piece>();
  board.split('/').forEach((row, y) => {
    let x = 0;
    let plus = '';
    for (const c of row) {
      if (/[1-9]/.test(c)) x += Number(c);
      else if (c === '+') plus = '+';
      else if (/[a-zA-Z]/.test(c)) {
        const square = shogi ? `${9 - x}${RANKS[y]}` : `${FILES[x]}${8 - y}`;
        const upper = c.toUpperCase();
        const first = c === upper;
        pieces.set(square, { side: first ? 'first' : 'second', letter: plus + upper });
        plus = '';
        x += 1;
      }
    }
  });
  const hands: Setup['hands'] = { first: new Map(), second: new Map() };
  if (shogi) {
    for (const [, count, letter = ''] of third.matchAll(/(\d*)([a-zA-Z])/g)) {
      const upper = letter.toUpperCase();
      hands[letter === upper ? 'first' : 'second'].set(upper, count ? Number(count) : 1);
    }
  }
  const second = shogi ? turn === 'w' : turn === 'b';
  return { pieces, hands, turn: second ? 'second' : 'first', rest: shogi ? rest : [third, ...rest] };
}

/** Writes a setup as FEN or SFEN. */
export function writeSetup(setup: Setup, shogi: boolean): string {
  const board = rows(shogi, 'first')
    .map((row) => {
      let text = '';
      let empty = 0;
      for (const square of row) {
        const piece = setup.pieces.get(square);
        if (!piece) {
          empty += 1;
          continue;
        }
        text += (empty || '') + (piece.side === 'first' ? piece.letter : piece.letter.toLowerCase());
        empty = 0;
      }
      return text + (empty || '');
    })
    .join('/');
  if (!shogi) return [board, setup.turn === 'first' ? 'w' : 'b', ...setup.rest].join(' ');
  const hand = (side: Side) =>
    HAND.map((letter) => {
      const count = setup.hands[side].get(letter) ?? 0;
      const shown = side === 'first' ? letter : letter.toLowerCase();
      return count === 0 ? '' : (count > 1 ? String(count) : '') + shown;
    }).join('');
  const hands = hand('first') + hand('second') || '-';
  return [board, setup.turn === 'first' ? 'b' : 'w', hands, setup.rest[0] ?? '1'].join(' ');
}

/** The center of a square, in squares from the top left of the display. */
export function centre(square: string, shogi: boolean, orientation: Side): [number, number] | null {
  const size = shogi ? 9 : 8;
  const x = shogi ? 9 - Number(square[0]) : FILES.indexOf(square[0] ?? '');
  const y = shogi ? RANKS.indexOf(square[1] ?? '') : 8 - Number(square[1]);
  if (!(x >= 0 && x < size && y >= 0 && y < size)) return null;
  return orientation === 'first' ? [x + 0.5, y + 0.5] : [size - x - 0.5, size - y - 0.5];
}

/** The square at a point, in squares from the top left of the display. */
export function squareAt(x: number, y: number, shogi: boolean, orientation: Side): string | null {
  const size = shogi ? 9 : 8;
  if (x < 0 || y < 0 || x >= size || y >= size) return null;
  return rows(shogi, orientation)[Math.floor(y)]?.[Math.floor(x)] ?? null;
}

/** Role names of shogiground and of the piece images. */
export const SHOGI_ROLES: Record<string, string> = {
  K: 'king',
  R: 'rook',
  B: 'bishop',
  G: 'gold',
  S: 'silver',
  N: 'knight',
  L: 'lance',
  P: 'pawn',
  '+R': 'dragon',
  '+B': 'horse',
  '+S': 'promotedsilver',
  '+N': 'promotedknight',
  '+L': 'promotedlance',
  '+P': 'tokin',
};

export const CHESS_ROLES: Record<string, string> = {
  K: 'king',
  Q: 'queen',
  R: 'rook',
  B: 'bishop',
  N: 'knight',
  P: 'pawn',
};

/** The CSS classes of a piece. */
export function pieceClass(piece: Piece, shogi: boolean): string {
  if (shogi) return `${piece.side === 'first' ? 'sente' : 'gote'} ${SHOGI_ROLES[piece.letter] ?? 'pawn'}`;
  return `${piece.side === 'first' ? 'white' : 'black'} ${CHESS_ROLES[piece.letter] ?? 'pawn'}`;
}
