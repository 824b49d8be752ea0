// Positions with the moves that led to them. `index.d.ts` documents the members.
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

  static chess960(white, black = white) {
    for (const number of [white, black])
      if (!Number.isInteger(number)) throw new TypeError(`a number must be an integer, not ${shown(number)}`);
    return new Position(`${white} ${black}`, { game: 'chess960', source: 'chess960' });
  }

  static handicap(name) {
    return new Position(checkText(name, 'a handicap'), { game: 'shogi', source: 'handicap' });
  }

  #fact(number) {
    return module.text(module.wasm.position_fact(handleOf(this), number));
  }

  #flags(withDeclaration = 0) {
    return module.number(module.wasm.position_flags(handleOf(this), withDeclaration));
  }

  text(form = 'x-fen') {
    return module.text(module.wasm.position_text(handleOf(this), numberOf('form', form)));
  }

  toString() {
    return this.text();
  }

  get game() {
    return this.#fact(GAME);
  }

  get turn() {
    return this.#flags() & 1 ? 'second' : 'first';
  }

  get inCheck() {
    return (this.#flags() & 2) !== 0;
  }

  get canDeclare() {
    return (this.#flags(1) & 4) !== 0;
  }

  get key() {
    return BigInt(this.#fact(KEY));
  }

  get legalMoves() {
    return split(this.#fact(LEGAL));
  }

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

  get moves() {
    return split(this.#fact(MOVES));
  }

  get startText() {
    return this.#fact(START);
  }

  get outcome() {
    return outcomeOf(this.#fact(OUTCOME));
  }

  get claims() {
    return split(this.#fact(CLAIMS));
  }

  get pieces() {
    const texts = split(this.#fact(PIECES));
    return new Map(texts.flatMap((text, index) => (index % 2 ? [] : [[text, texts[index + 1]]])));
  }

  get hands() {
    const counts = split(this.#fact(HANDS)).map(Number);
    const of = (offset) => new Map(HAND.map((piece, index) => [piece, counts[offset + index]]).filter(([, n]) => n));
    return { first: of(0), second: of(HAND.length) };
  }

  get chess960Numbers() {
    const text = this.#fact(NUMBERS);
    return text === '' ? undefined : split(text).map(Number);
  }

  get handicap() {
    return this.#fact(HANDICAP) || undefined;
  }

  get defect() {
    return this.#fact(DEFECT) || undefined;
  }

  push(...moves) {
    const count = giveAll(moves, 'a move');
    const played = module.text(module.wasm.position_push(handleOf(this), count));
    return count === 1 ? played : split(played);
  }

  pop() {
    return module.text(module.wasm.position_pop(handleOf(this))) || undefined;
  }

  copy() {
    return new Position(WRAP, module.wasm.position_copy(handleOf(this)));
  }

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

  parse(text, notation) {
    module.give(checkText(text, 'a move'));
    const from = notation === undefined ? 0 : numberOf('notation', notation) + 1;
    return module.text(module.wasm.position_notation(handleOf(this), from, 0));
  }

  isLegal(text) {
    try {
      this.parse(text);
      return true;
    } catch (error) {
      if (error.name === 'IllegalMoveError') return false;
      throw error;
    }
  }

  notation(move, notation = 'san') {
    const to = numberOf('notation', notation);
    module.give(checkText(move, 'a move'));
    return module.text(module.wasm.position_notation(handleOf(this), 0, to));
  }

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
