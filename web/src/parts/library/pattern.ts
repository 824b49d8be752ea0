// Patterns of positions as a form, and as the text of terms that the server and `readyok convert --pattern` read.
import type { Side } from '../../api/wire';
import { CHESS_ROLES, HAND, rows, SHOGI_ROLES } from '../../board/squares';

/** Limits of a number; null for none. */
export interface NumberRange {
  min: number | null;
  max: number | null;
}

export interface PatternForm {
  /**
   * What is on squares: a piece as in FEN or SFEN, `-` nothing, `!` any piece, `A` and `a` any piece of the first and
   * the second side, `[RQ]` one of these.
   */
  squares: Map<string, string>;
  /** Whether the pawns on the board are all pawns. */
  pawns: boolean;
  /** Numbers of pieces: `R` on the board, `R*` in hand, in lower case of the second side. */
  counts: Map<string, NumberRange>;
  balance: NumberRange;
  bishops: '' | 'opposite' | 'same';
  turn: '' | Side;
  plies: NumberRange;
  /** The number of successive positions. */
  length: number | null;
  flips: { sides: boolean; files: boolean };
  /** Terms that the form does not show. */
  rest: string[];
}

/** Any piece, and any of a side. */
export const WILDCARDS = ['-', '!', 'A', 'a'] as const;

/** A placement is shorter than the squares one by one if more squares have conditions. */
const MAX_LISTED = 16;

const open = (): NumberRange => ({ min: null, max: null });
export const isOpen = ({ min, max }: NumberRange) => min === null && max === null;

export const blankPattern = (): PatternForm => ({
  squares: new Map(),
  pawns: false,
  counts: new Map(),
  balance: open(),
  bishops: '',
  turn: '',
  plies: open(),
  length: null,
  flips: { sides: false, files: false },
  rest: [],
});

/** A piece as in FEN or SFEN. */
export const pieceText = (side: Side, letter: string) => (side === 'first' ? letter : letter.toLowerCase());

/** The pieces or wildcards that can be on a square. */
export const alternativesOf = (content: string): string[] =>
  content.startsWith('[') ? (content.match(/[!-]|\+?[A-Za-z]/g) ?? []) : [content];

/** Adds an alternative to what can be on a square, or removes it. Null if nothing remains. */
export function withAlternative(content: string | null, piece: string): string | null {
  const known = content === null ? [] : alternativesOf(content);
  const next = known.includes(piece) ? known.filter((one) => one !== piece) : [...known, piece];
  return next.length > 1 ? `[${next.join('')}]` : (next[0] ?? null);
}

/** The kinds of pieces with a number on the board, promoted or not, and in hand. */
export function countedKinds(shogi: boolean): Record<'board' | 'promoted' | 'hand', string[]> {
  const letters = Object.keys(shogi ? SHOGI_ROLES : CHESS_ROLES).filter((letter) => letter !== 'K');
  return {
    board: letters.filter((letter) => !letter.startsWith('+')),
    promoted: letters.filter((letter) => letter.startsWith('+')),
    hand: shogi ? HAND.map((letter) => `${letter}*`) : [],
  };
}

/** All kinds of pieces with a number, of both sides. */
const countedPieces = (shogi: boolean) =>
  Object.values(countedKinds(shogi))
    .flat()
    .flatMap((kind) => [kind, kind.toLowerCase()]);

/** The largest number of a kind that a slider shows. More pieces of chess are rare. */
export function countLimit(kind: string, shogi: boolean): number {
  const letter = kind.replace(/[+*]/, '');
  if (letter === 'P') return !shogi ? 8 : kind === 'P*' ? 18 : 9;
  if (!shogi) return 3;
  return 'RB'.includes(letter) ? 2 : 4;
}

/** The game that the squares of a text show; null if it has none. */
export function isOfShogi(text: string): boolean | null {
  if (/(?:^|\s)game=shogi(?:\s|$)/.test(text) || /(?:^|\s)(?:\+?[a-zA-Z]\*|\+[a-zA-Z]|[GSLgsl])=/.test(text))
    return true;
  const [, placement] = /(?:^|\s)(?:board|pawns)=(\S+)/.exec(text) ?? [];
  if (placement) return placement.split('/').length === 9;
  const [, square] = /(?:^|\s)on=[^\s,]*([a-i1-9]{2})(?=[\s,]|$)/.exec(text) ?? [];
  return square === undefined ? null : /^[1-9]/.test(square);
}

/** Reads a text of terms. Those that the form cannot show are kept as they are. */
export function readPattern(text: string, shogi: boolean): PatternForm {
  const form = blankPattern();
  const names = new Set<string>();
  for (const term of text.split(/\s+/).filter(Boolean)) {
    const [name = '', ...values] = term.split('=');
    // The server reports repeated terms.
    if (names.has(name) || !readTerm(form, name, values.join('='), shogi)) form.rest.push(term);
    names.add(name);
  }
  return form;
}

/** Adds a term to a form. Returns false if the form cannot show it. */
function readTerm(form: PatternForm, name: string, value: string, shogi: boolean): boolean {
  switch (name) {
    case 'on':
      return addSquares(form, readSquares(value, shogi));
    case 'board':
      return addSquares(form, readPlacement(value, shogi));
    case 'pawns': {
      const squares = readPlacement(value, shogi);
      if (squares === null || [...squares.values()].some((content) => !/^[Pp-]$/.test(content))) return false;
      // Other pieces may be on squares without pawns.
      const pawns = new Map([...squares].filter(([, content]) => content !== '-'));
      const known = [...form.squares].some(
        ([square, content]) => /^[Pp]$/.test(content) && !pawns.has(square),
      );
      if (squares.size !== rows(shogi, 'first').flat().length || known || !addSquares(form, pawns))
        return false;
      form.pawns = true;
      return true;
    }
    case 'balance':
    case 'ply': {
      const range = readRange(value);
      if (range) form[name === 'ply' ? 'plies' : name] = range;
      return range !== null;
    }
    case 'bishops':
      if (shogi || (value !== 'opposite' && value !== 'same')) return false;
      form.bishops = value;
      return true;
    case 'turn':
      if (value !== 'w' && value !== 'b') return false;
      form.turn = (value === 'b') === shogi ? 'first' : 'second';
      return true;
    case 'for':
      if (!/^\d{1,5}$/.test(value)) return false;
      form.length = Number(value);
      return true;
    case 'flip': {
      const flips = value.split(',');
      if (flips.some((flip) => flip !== 'sides' && flip !== 'files')) return false;
      form.flips = { sides: flips.includes('sides'), files: flips.includes('files') };
      return true;
    }
    case 'game':
      return value === (shogi ? 'shogi' : 'chess');
    default: {
      const range = countedPieces(shogi).includes(name) ? readRange(value) : null;
      if (range && !isOpen(range)) form.counts.set(name, range);
      return range !== null;
    }
  }
}

/** Adds conditions on squares, unless one has another condition. */
function addSquares(form: PatternForm, squares: Map<string, string> | null): boolean {
  if (squares === null) return false;
  const conflicts = [...squares].some(
    ([square, content]) => (form.squares.get(square) ?? content) !== content,
  );
  // `board` and `pawns` also exclude pawns elsewhere.
  const excluded =
    form.pawns &&
    [...squares].some(([square, content]) => /^[Pp]$/.test(content) && !form.squares.has(square));
  if (conflicts || excluded) return false;
  for (const [square, content] of squares) form.squares.set(square, content);
  return true;
}

const CONTENT = String.raw`\[[^\[\]\s]+\]|[?!\-]|\+?[A-Za-z]`;

/** Whether a text means a piece or several. */
function isContent(content: string, shogi: boolean): boolean {
  if (content.startsWith('[')) {
    const parts = alternativesOf(content);
    return `[${parts.join('')}]` === content && parts.every((part) => isContent(part, shogi));
  }
  if (/^[?!\-Aa]$/.test(content)) return true;
  return content.toUpperCase() in (shogi ? SHOGI_ROLES : CHESS_ROLES);
}

function readSquares(value: string, shogi: boolean): Map<string, string> | null {
  const squares = new Map<string, string>();
  const form = new RegExp(`^(${CONTENT})(${shogi ? '[1-9][a-i]' : '[a-h][1-8]'})$`);
  for (const part of value.split(',')) {
    const [, content, square] = form.exec(part) ?? [];
    if (content === undefined || square === undefined || squares.has(square) || !isContent(content, shogi)) {
      return null;
    }
    if (content !== '?') squares.set(square, content);
  }
  return squares;
}

/** The conditions of a placement on its squares, without those that can have anything. */
function readPlacement(value: string, shogi: boolean): Map<string, string> | null {
  const grid = rows(shogi, 'first');
  const parts = value.split('/');
  if (parts.length !== grid.length) return null;
  const squares = new Map<string, string>();
  for (const [y, part] of parts.entries()) {
    const row = grid[y] ?? [];
    const tokens = part.match(new RegExp(String.raw`${CONTENT}|[1-9]|\*$`, 'g')) ?? [];
    if (tokens.join('') !== part) return null;
    const contents = tokens.flatMap((token) => {
      if (/^[1-9]$/.test(token)) return Array.from({ length: Number(token) }, () => '-');
      return token === '*' ? [] : [token];
    });
    if (part.endsWith('*')) while (contents.length < row.length) contents.push('?');
    if (contents.length !== row.length || !contents.every((content) => isContent(content, shogi)))
      return null;
    contents.forEach((content, x) => {
      if (content !== '?') squares.set(row[x] ?? '', content);
    });
  }
  return squares;
}

function readRange(value: string): NumberRange | null {
  const [, from, dots, to] = /^(-?\d{1,6})?(\.\.)?(-?\d{1,6})?$/.exec(value) ?? [];
  if (from === undefined && dots === undefined) return null;
  if (dots === undefined) return to === undefined ? { min: Number(from), max: Number(from) } : null;
  const limit = (text: string | undefined) => (text === undefined ? null : Number(text));
  return { min: limit(from), max: limit(to) };
}

/** Writes a form as a text of terms. Empty without conditions. */
export function writePattern(form: PatternForm, shogi: boolean): string {
  const terms: string[] = [];
  const isPawn = (content: string) => /^[Pp]$/.test(content);
  const grid = rows(shogi, 'first');
  const pieces = new Map([...form.squares].filter(([, content]) => !form.pawns || !isPawn(content)));
  if (pieces.size > MAX_LISTED) {
    terms.push(`board=${writePlacement(grid, (square) => pieces.get(square) ?? '?')}`);
  } else if (pieces.size) {
    const squares = grid.flat().filter((square) => pieces.has(square));
    terms.push(`on=${squares.map((square) => `${pieces.get(square)}${square}`).join(',')}`);
  }
  if (form.pawns) {
    const pawn = (content = '') => (isPawn(content) ? content : '-');
    terms.push(`pawns=${writePlacement(grid, (square) => pawn(form.squares.get(square)))}`);
  }
  for (const piece of countedPieces(shogi)) {
    const range = form.counts.get(piece);
    if (range && !isOpen(range)) terms.push(`${piece}=${writeRange(range)}`);
  }
  if (!isOpen(form.balance)) terms.push(`balance=${writeRange(form.balance)}`);
  if (form.bishops) terms.push(`bishops=${form.bishops}`);
  if (form.turn) terms.push(`turn=${(form.turn === 'first') === shogi ? 'b' : 'w'}`);
  if (!isOpen(form.plies)) terms.push(`ply=${writeRange(form.plies)}`);
  if (form.length !== null) terms.push(`for=${form.length}`);
  const flips = (['sides', 'files'] as const).filter((flip) => form.flips[flip]);
  if (flips.length) terms.push(`flip=${flips.join(',')}`);
  const all = [...terms, ...form.rest];
  // The squares of shogi show the game.
  const shown = !shogi || form.pawns || pieces.size > 0 || all.length === 0;
  return [...(shown ? [] : ['game=shogi']), ...all].join(' ');
}

function writeRange({ min, max }: NumberRange): string {
  return min === max ? String(min) : `${min ?? ''}..${max ?? ''}`;
}

/** Writes what is on all squares, `?` for anything, as in FEN. */
function writePlacement(grid: string[][], contentOf: (square: string) => string): string {
  const row = (squares: string[]) =>
    squares
      .map(contentOf)
      .join(' ')
      .replaceAll(/(?:\? )*\?$/g, (any) => (any.length > 1 ? '*' : any))
      .replaceAll(/-(?: -)*/g, (empty) => String((empty.length + 1) / 2))
      .replaceAll(' ', '');
  return grid.map(row).join('/');
}
