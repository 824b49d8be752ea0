import type { FenForm, Format, GameName, Handicap, Notation, Result, Side, Termination } from './names.js';

export type * from './names.js';

/** A move in UCI or USI notation: `e2e4`, `7g7f`, `P*5e`. A null move is `0000`. */
export type Move = string;

/** An error of this package. Wrong arguments are a `TypeError`. */
export class ReadyokError extends Error {}
/** A text is not a position, or the position cannot be played. */
export class PositionError extends ReadyokError {}
/** A move is illegal, or fits several moves. */
export class IllegalMoveError extends ReadyokError {
  /** The moves that an ambiguous text fits. */
  readonly candidates: Move[];
  /** The index of the move in a line. */
  readonly index: number | undefined;
}
/** A game of a source cannot be read. */
export class RecordError extends ReadyokError {
  /** The number of the game, from 1. */
  readonly game: number;
  /** From 1. */
  readonly line: number;
  /** In characters, from 1. */
  readonly column: number;
}

/**
 * Loads the module, which everything else needs. Without an argument, that is the file `readyok.wasm` next to the
 * script: read in Node, Deno and Bun, fetched elsewhere. A second call waits for the first.
 */
export function load(source?: URL | BufferSource | Response | WebAssembly.Module | Promise<Response>): Promise<void>;

/** Frees memory of the module before a finalizer does. Other uses of the object fail afterwards. */
interface Freed {
  free(): void;
  [Symbol.dispose](): void;
}

/** The end of a game. */
export interface Outcome {
  result: Result;
  /** `undefined` for a draw. */
  winner: Side | undefined;
  termination: Termination;
}

/** A position with the moves that led to it. Moves can be given in any notation, and are returned in UCI or USI notation. */
export class Position implements Freed {
  /** The start position of a game (chess by default), or that of a FEN or an SFEN. */
  constructor(text?: string, options?: { game?: GameName });
  /** A start position of Chess960 by its number, 0 to 959. Black can have another one. */
  static chess960(white: number, black?: number): Position;
  /** The start position of a handicap of shogi, also by its Japanese name. */
  static handicap(name: Handicap | (string & {})): Position;

  /** The FEN, or the SFEN. `fen` has an en passant square after each double step, `shredder` the files of rooks. */
  text(form?: FenForm): string;
  /** The same as `text()`. */
  toString(): string;
  readonly game: GameName;
  /** The side to move. The first is White in chess and Black (sente) in shogi. */
  readonly turn: Side;
  /** Whether the side to move is in check. */
  readonly inCheck: boolean;
  /** A hash of pieces, hands, side to move, castling rights and a possible en passant capture. */
  readonly key: bigint;
  /** In no particular order. */
  readonly legalMoves: Move[];
  /** The targets by origin square, or by `P*` for drops. Castling in Chess960 has the square of the rook as its target. */
  destinations(): Map<string, string[]>;
  /** The moves that led here. */
  readonly moves: Move[];
  /** The text of the position before them. */
  readonly startText: string;
  /** The outcome, if the game is over. Draws that a player of chess would have to claim count. */
  readonly outcome: Outcome | undefined;
  /** The draws that the side to move can claim (chess). */
  readonly claims: Termination[];
  /** Whether the side to move can declare a win by the 27-point rule (shogi). */
  readonly canDeclare: boolean;
  /** The pieces of FEN or SFEN by square: `P`, `+r`. */
  readonly pieces: Map<string, string>;
  /** The numbers of pieces in hand by letter (shogi). */
  readonly hands: { first: Map<string, number>; second: Map<string, number> };
  /** The numbers of White and Black, if this is a start position of Chess960. */
  readonly chess960Numbers: [white: number, black: number] | undefined;
  /** The handicap of which this is the start position. */
  readonly handicap: Handicap | undefined;
  /** Why the position, which is that of a record, cannot be played. */
  readonly defect: string | undefined;

  /** Plays moves: all of them, or none after an `IllegalMoveError`. */
  push(move: string): Move;
  push(...moves: string[]): Move[];
  /** Takes back the last move. */
  pop(): Move | undefined;
  copy(): Position;
  /** A new position after moves. */
  after(...moves: string[]): Position;
  /** Reads a move in a notation; in any without one. */
  parse(text: string, notation?: Notation): Move;
  isLegal(move: string): boolean;
  /** A move in a notation, by default SAN, or Hodges' notation for shogi. */
  notation(move: string, notation?: Notation): string;
  /** A line of moves in UCI or USI notation in another one. From the first illegal move on, texts are unchanged. */
  line(moves: Move[], notation?: Notation): string[];

  free(): void;
  [Symbol.dispose](): void;
}

/** The score from the view of the first side: centipawns, or mate in moves (chess) or plies (shogi), or `+`, `-`. */
export type Evaluation = ({ cp: number } | { mate: number | '+' | '-' | '+0' | '-0' }) & { depth?: number };

/** A marked square, or an arrow. */
export interface Mark {
  color: 'green' | 'red' | 'yellow' | 'blue';
  from: string;
  to?: string;
}

/** The annotations of a move, or of the start position. */
export interface Annotations {
  /** Comments before a move that begins a variation. */
  before?: string[];
  /** Comments after the move. */
  comments?: string[];
  /** Numeric annotation glyphs: 1 is `!`, 2 `?`, 5 `!?`. */
  nags?: number[];
  /** The remaining time of the player, in seconds. */
  clock?: number;
  /** The time spent on the move, in seconds. */
  elapsed?: number;
  evaluation?: Evaluation;
  marks?: Mark[];
  /** How the line ended after this move. */
  end?: { result: Result; termination: Termination; text?: string; elapsed?: number; comments?: string[] };
}

/** A move of a tree. */
export interface TreeNode extends Annotations {
  /** For edits of the game. It never changes. */
  id: number;
  move: Move;
  /** The move is against the rules, and ended the line. */
  illegal?: true;
  /** The lines instead of this move. */
  variations?: TreeNode[][];
}

/** A game with headers, moves, variations and annotations. */
export class Game implements Freed {
  /** A game with the moves of a position. */
  constructor(position?: Position);
  /** A game with moves from the start position, or from that of a FEN or an SFEN. */
  static from(moves: string[], options?: { game?: GameName; start?: string }): Game;

  readonly game: GameName;
  /** Names and values in order: `White`, `先手`. Game, start position and result are not among them. */
  readonly headers: [name: string, value: string][];
  /** The first value of a name. */
  header(name: string): string | undefined;
  setHeader(name: string, value: string): void;
  appendHeader(name: string, value: string): void;
  /** Removes all values of a name and returns the first. */
  removeHeader(name: string): string | undefined;
  result: Result;
  /** The result and what ended the game, if the record has both. */
  readonly outcome: Outcome | undefined;
  /** Ends the game. Without a result, it is that which follows for the side to move. */
  finish(termination: Termination, result?: Result): void;

  /** The position before the first move. */
  readonly start: Position;
  /** The position at the end of the main line, with its moves. */
  readonly position: Position;
  /** The position after a move of the tree. */
  positionAt(id: number): Position;
  /** The main line, without an illegal move at its end. */
  readonly moves: Move[];
  /** The main line in a notation. */
  line(notation?: Notation): string[];
  /** The FEN or SFEN of each position of the main line. */
  texts(form?: FenForm): string[];
  /** The keys of these positions. */
  keys(): BigUint64Array;
  /** The id of the last move of the main line; 0 without moves. */
  readonly last: number;
  /** The main line with variations and annotations, as plain objects. */
  readonly tree: TreeNode[];

  /** The annotations of a move, by default of the start position. */
  annotations(id?: number): Annotations;
  /** Replaces the annotations that are given; `null` removes one. */
  annotate(id: number, annotations: { [Name in keyof Annotations]: Annotations[Name] | null }): void;
  /** Adds moves after a move, by default to the main line. Returns the id of the last one. */
  add(moves: string | string[], after?: number): number;
  /** Deletes a move with everything after it. Returns the number of deleted moves. */
  delete(id: number): number;
  /** Moves a line one place towards the main line, or makes it the main line. Returns whether the order changed. */
  promote(id: number, options?: { toMain?: boolean }): boolean;

  /** Defects of the text that the game was read from. */
  readonly notices: string[];
  /** The game in a format, which must support its rules. */
  write(format: Format): string;
  /** What a format cannot hold of the game: `variations`, `times`. */
  losses(format: Format): string[];
  copy(): Game;
  free(): void;
  [Symbol.dispose](): void;
}

export interface ReadOptions {
  /** By default it is detected. */
  format?: Format;
  /** The encoding of bytes, a label of the Encoding Standard. By default it is detected. */
  encoding?: string;
  /** Receives the games that cannot be read. Without it they are thrown, and iteration can continue. */
  onError?: (error: RecordError) => void;
}

/** Reads the games of a text or of bytes one by one. */
export function read(source: string | BufferSource, options?: ReadOptions): IterableIterator<Game>;

/** Reads the games of a stream of any size. */
export function readStream(
  stream:
    | ReadableStream<string | BufferSource>
    | AsyncIterable<string | BufferSource>
    | Iterable<string | BufferSource>,
  options?: ReadOptions,
): AsyncIterableIterator<Game>;
