// Game records.
import { Position, outcomeOf } from './position.js';
import {
  Handle,
  WRAP,
  checkHandle,
  checkOptions,
  checkText,
  giveAll,
  handleOf,
  module,
  numberOf,
  shown,
  split,
} from './wasm.js';

// The numbers of `game_fact` and of `game_header` in `crates/wasm/src/game.rs`.
const FACT = { notices: 0, game: 1, result: 2, outcome: 3, headers: 4, start: 5, texts: 6, keys: 7, last: 8 };
const HEADER = { get: 0, set: 1, append: 2, remove: 3 };

/** A game with headers, moves, variations and annotations. */
export class Game extends Handle {
  /** A game with the moves of a position, by default without moves from the start position of chess. */
  constructor(position, handle) {
    if (position === WRAP) super(handle, 'game_free');
    else if (position === undefined) super(...created(new Position()));
    else super(module.wasm.game_new(checkHandle(position, Position, 'the argument')), 'game_free');
  }

  /** A game with moves of any notation, from the start position or from a FEN or an SFEN. */
  static from(moves, options = {}) {
    const { game, start } = checkOptions(options);
    const position = new Position(start, game === undefined ? {} : { game });
    try {
      if (!Array.isArray(moves)) throw new TypeError(`moves must be an array of strings, not ${shown(moves)}`);
      pushAll(position, moves);
      return new Game(position);
    } finally {
      position.free();
    }
  }

  #fact(number) {
    return module.text(module.wasm.game_fact(handleOf(this), number));
  }

  get game() {
    return this.#fact(FACT.game);
  }

  copy() {
    return new Game(WRAP, module.wasm.game_copy(handleOf(this)));
  }

  /** The headers in order. Game, start position and result are not among them. */
  get headers() {
    return JSON.parse(this.#fact(FACT.headers));
  }

  #header(what, name, value = '') {
    checkText(name, 'the name of a header');
    checkText(value, 'the value of a header');
    if (`${name}${value}`.includes('\0')) throw new TypeError('a header contains NUL');
    const bytes = module.encode(name);
    module.give(name + value);
    const old = module.text(module.wasm.game_header(handleOf(this), what, bytes.length));
    return old === '' ? undefined : old.slice(1);
  }

  /** The first value of a header. */
  header(name) {
    return this.#header(HEADER.get, name);
  }

  setHeader(name, value) {
    this.#header(HEADER.set, name, checkText(value, 'the value of a header'));
  }

  /** Adds a header even if there is one of this name. */
  appendHeader(name, value) {
    this.#header(HEADER.append, name, checkText(value, 'the value of a header'));
  }

  /** Removes all headers of a name and returns the first value. */
  removeHeader(name) {
    return this.#header(HEADER.remove, name);
  }

  get result() {
    return this.#fact(FACT.result);
  }

  set result(result) {
    this.#finish(checkText(result, 'a result') || '?', 0);
  }

  /** The result and what ended the game, if that is known. */
  get outcome() {
    return outcomeOf(this.#fact(FACT.outcome));
  }

  /** Ends the game. Without a result, it is that which follows for the side to move. */
  finish(termination, result = '') {
    this.#finish(checkText(result, 'a result'), numberOf('termination', termination) + 1);
  }

  #finish(result, termination) {
    module.give(result);
    module.number(module.wasm.game_finish(handleOf(this), termination));
  }

  /** The position before the first move. */
  get start() {
    return this.positionAt(0);
  }

  /** The position at the end of the main line, with its moves. */
  get position() {
    return this.positionAt(this.last);
  }

  /** The position after a move of the tree. */
  positionAt(id) {
    return new Position(WRAP, module.wasm.game_position(handleOf(this), checkId(id)));
  }

  /** The main line in UCI or USI notation, without an illegal move at its end. */
  get moves() {
    return split(module.text(module.wasm.game_line(handleOf(this), 0)), '\0');
  }

  /** The main line in a notation. */
  line(notation = 'san') {
    return split(module.text(module.wasm.game_line(handleOf(this), numberOf('notation', notation))), '\0');
  }

  /** The FEN or SFEN of each position of the main line. */
  texts() {
    return this.#fact(FACT.texts).split('\n');
  }

  /** The key of each position of the main line. */
  keys() {
    const bytes = module.bytes(module.wasm.game_fact(handleOf(this), FACT.keys));
    return new BigUint64Array(bytes.buffer);
  }

  /** What is wrong with the text that the game was read from. */
  get notices() {
    return split(this.#fact(FACT.notices), '\0');
  }

  /** The id of the last move of the main line; 0 without moves. */
  get last() {
    return Number(this.#fact(FACT.last));
  }

  /** The main line as objects, whose `variations` are the lines instead of a move. */
  get tree() {
    const [ids, parents, moves, json] = module.text(module.wasm.game_tree(handleOf(this))).split('\n');
    const main = [];
    if (ids === '') return main;
    const notes = json === '{}' ? undefined : JSON.parse(json);
    const [above, texts] = [parents.split(' '), moves.split(' ')];
    // By id: the line of a move, and the first move after it.
    const lines = new Map([['0', main]]);
    const firsts = new Map();
    for (const [index, id] of ids.split(' ').entries()) {
      const parent = above[index];
      const text = texts[index];
      const node = { id: Number(id), move: text, ...notes?.[id] };
      if (text.endsWith('!')) Object.assign(node, { move: text.slice(0, -1), illegal: true });
      const first = firsts.get(parent);
      let line = lines.get(parent);
      if (first) (first.variations ??= []).push((line = []));
      else firsts.set(parent, node);
      line.push(node);
      lines.set(id, line);
    }
    return main;
  }

  /** The annotations of a move, or of the start position (0). */
  annotations(id = 0) {
    return JSON.parse(module.text(module.wasm.game_annotations(handleOf(this), checkId(id))));
  }

  /** Replaces the annotations that an object has; `null` removes one. */
  annotate(id, annotations) {
    const text = JSON.stringify(checkOptions(annotations));
    if (text?.includes('\\u0000')) throw new TypeError('an annotation contains NUL');
    module.give(text ?? '');
    module.number(module.wasm.game_annotate(handleOf(this), checkId(id)));
  }

  /** Adds a move, or several, after a move; by default to the main line. Returns the id of the last one. */
  add(moves, after = this.last) {
    const count = giveAll(typeof moves === 'string' ? [moves] : moves, 'a move');
    return module.number(module.wasm.game_add(handleOf(this), checkId(after), count));
  }

  /** Deletes a move with everything after it. Returns the number of deleted moves. */
  delete(id) {
    return module.number(module.wasm.game_delete(handleOf(this), checkId(id)));
  }

  /** Moves a line one place towards the main line, or makes it the main line. Returns whether the order changed. */
  promote(id, { toMain = false } = {}) {
    return module.number(module.wasm.game_promote(handleOf(this), checkId(id), toMain ? 1 : 0)) === 1;
  }

  /** The game in a format. */
  write(format) {
    return module.text(module.wasm.game_write(handleOf(this), numberOf('format', format), 0));
  }

  /** What a format cannot hold of the game. */
  losses(format) {
    return split(module.text(module.wasm.game_write(handleOf(this), numberOf('format', format), 1)), '\0');
  }
}

/** The arguments of a handle for a game from a position that is not needed any longer. */
function created(position) {
  try {
    return [module.wasm.game_new(handleOf(position)), 'game_free'];
  } finally {
    position.free();
  }
}

/** Not by arguments, whose number is limited. */
function pushAll(position, moves) {
  const count = giveAll(moves, 'a move');
  module.text(module.wasm.position_push(handleOf(position), count));
}

function checkId(id) {
  if (!Number.isInteger(id) || id < 0 || id > 0xffff_ffff)
    throw new TypeError(`an id must be an integer from 0, not ${typeof id === 'number' ? id : shown(id)}`);
  return id;
}
