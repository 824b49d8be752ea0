// Positions with the moves that led to them.
import {
  Handle,
  WRAP,
  checkOptions,
  checkText,
  giveAll,
  handleOf,
  module,
  numberOf,
  shown,
  split,
} from './wasm.js';

// The numbers of `position_fact` in `crates/wasm/src/position.rs`.
const [LEGAL, MOVES, OUTCOME, PIECES, HANDS, START, DEFECT, CLAIMS, GAME, NUMBERS, HANDICAP, KEY] = Array(12).keys();

/** The order of SFEN. */
const HAND = ['R', 'B', 'G', 'S', 'N', 'L', 'P'];
/** The numbers of `position_new`. */
const SOURCE = { start: 0, text: 1, chess960: 2, handicap: 3 };

/** A position of chess, Chess960 or shogi with the moves that led to it. */
export class Position extends Handle {
  /** The start position, or that of a FEN or an SFEN. */
  constructor(text, options = {}) {
    if (text === WRAP) {
      super(options, 'position_free');
      return;
    }
    const { game = 'chess', source = text === undefined ? 'start' : 'text' } = checkOptions(options);
    if (text !== undefined) module.give(checkText(text, 'a position'));
    const number = numberOf('game', game);
    super(module.wasm.position_new(number, SOURCE[source] ?? SOURCE.text), 'position_free');
  }

  /** A start position of Chess960 by its number, 0 to 959; Black can have another one. */
  static chess960(white, black = white) {
    for (const number of [white, black])
      if (!Number.isInteger(number)) throw new TypeError(`a number must be an integer, not ${shown(number)}`);
    return new Position(`${white} ${black}`, { game: 'chess960', source: 'chess960' });
  }

  /** The start position of a handicap of shogi, by its English or Japanese name. */
  static handicap(name) {
    return new Position(checkText(name, 'a handicap'), { game: 'shogi', source: 'handicap' });
  }

  #fact(number) {
    return module.text(module.wasm.position_fact(handleOf(this), number));
  }

  #flags(withDeclaration = 0) {
    return module.number(module.wasm.position_flags(handleOf(this), withDeclaration));
  }

  /** The FEN, in one of its forms, or the SFEN. */
  text(form = 'x-fen') {
    return module.text(module.wasm.position_text(handleOf(this), numberOf('form', form)));
  }

  toString() {
    return this.text();
  }

  get game() {
    return this.#fact(GAME);
  }

  /** The side to move. */
  get turn() {
    return this.#flags() & 1 ? 'second' : 'first';
  }

  /** Whether the side to move is in check. */
  get inCheck() {
    return (this.#flags() & 2) !== 0;
  }

  /** Whether the side to move can declare a win by the 27-point rule of shogi. */
  get canDeclare() {
    return (this.#flags(1) & 4) !== 0;
  }

  /** A hash of what makes two positions the same. */
  get key() {
    return BigInt(this.#fact(KEY));
  }

  /** The legal moves in UCI or USI notation, in no particular order. */
  get legalMoves() {
    return split(this.#fact(LEGAL));
  }

  /** The legal targets by origin square, or by `P*` for drops of shogi. */
  destinations() {
    const all = new Map();
    for (const move of this.legalMoves) {
      const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
      const known = all.get(from);
      if (!known) all.set(from, [to]);
      // Promotions have the same target.
      else if (known.at(-1) !== to && !known.includes(to)) known.push(to);
    }
    return all;
  }

  /** The moves that led here. */
  get moves() {
    return split(this.#fact(MOVES));
  }

  /** The text of the position before the first move. */
  get startText() {
    return this.#fact(START);
  }

  /** The result, if the game is over. Draws that a player of chess would have to claim count. */
  get outcome() {
    return outcomeOf(this.#fact(OUTCOME));
  }

  /** The draws that the side to move can claim (chess). */
  get claims() {
    return split(this.#fact(CLAIMS));
  }

  /** The pieces by square, as in FEN or SFEN. */
  get pieces() {
    const words = split(this.#fact(PIECES));
    return new Map(words.flatMap((word, index) => (index % 2 ? [] : [[word, words[index + 1]]])));
  }

  /** The pieces in hand of both sides, by letter (shogi). */
  get hands() {
    const counts = split(this.#fact(HANDS)).map(Number);
    const of = (offset) => new Map(HAND.map((piece, index) => [piece, counts[offset + index]]).filter(([, n]) => n));
    return { first: of(0), second: of(HAND.length) };
  }

  /** The numbers of White and Black, if this is a start position of Chess960. */
  get chess960Numbers() {
    const text = this.#fact(NUMBERS);
    return text === '' ? undefined : split(text).map(Number);
  }

  /** The name of the handicap, if this is its start position. */
  get handicap() {
    return this.#fact(HANDICAP) || undefined;
  }

  /** Why the position, which is that of a record, cannot be played. */
  get defect() {
    return this.#fact(DEFECT) || undefined;
  }

  /** Plays moves in any notation: all, or none after an error. Returns them in UCI or USI notation. */
  push(...moves) {
    const count = giveAll(moves, 'a move');
    const played = module.text(module.wasm.position_push(handleOf(this), count));
    return count === 1 ? played : split(played);
  }

  /** Takes back the last move and returns it; `undefined` if there is none. */
  pop() {
    return module.text(module.wasm.position_pop(handleOf(this))) || undefined;
  }

  copy() {
    return new Position(WRAP, module.wasm.position_copy(handleOf(this)));
  }

  /** The position after moves; this one is unchanged. */
  after(...moves) {
    const copy = this.copy();
    try {
      copy.push(...moves);
    } catch (error) {
      copy.free();
      throw error;
    }
    return copy;
  }

  /** Reads a move in a notation, or in any, and returns it in UCI or USI notation. */
  parse(text, notation) {
    module.give(checkText(text, 'a move'));
    const from = notation === undefined ? 0 : numberOf('notation', notation) + 1;
    return module.text(module.wasm.position_notation(handleOf(this), from, 0));
  }

  /** Whether a text of any notation is a legal move. */
  isLegal(text) {
    try {
      this.parse(text);
      return true;
    } catch (error) {
      if (error.name === 'IllegalMoveError') return false;
      throw error;
    }
  }

  /** A move of any notation in a notation. */
  notation(move, notation = 'san') {
    const to = numberOf('notation', notation);
    module.give(checkText(move, 'a move'));
    return module.text(module.wasm.position_notation(handleOf(this), 0, to));
  }

  /** A line of moves in a notation. From the first illegal move on, texts are unchanged. */
  line(moves, notation = 'san') {
    const to = numberOf('notation', notation);
    const count = giveAll(moves, 'a move');
    return split(module.text(module.wasm.position_line(handleOf(this), count, to)), '\0');
  }
}

/** The outcome of its text: result and termination. */
export function outcomeOf(text) {
  if (text === '') return undefined;
  const [result, termination] = text.split(' ');
  const winner = { '1-0': 'first', '0-1': 'second' }[result];
  return { result, winner, termination };
}
