// Game records. `index.d.ts` documents the members.
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
const FACT = { notices: 0, game: 1, result: 2, outcome: 3, headers: 4, start: 5, keys: 6, last: 7 };
const HEADER = { get: 0, set: 1, append: 2, remove: 3 };

/** A game with headers, moves, variations and annotations. */
export class Game extends Handle {
  constructor(position, handle) {
    if (position === WRAP) super(handle, 'game_free');
    else if (position === undefined) super(...created(new Position()));
    else super(module.wasm.game_new(checkHandle(position, Position, 'the argument')), 'game_free');
  }

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

  header(name) {
    return this.#header(HEADER.get, name);
  }

  setHeader(name, value) {
    this.#header(HEADER.set, name, checkText(value, 'the value of a header'));
  }

  appendHeader(name, value) {
    this.#header(HEADER.append, name, checkText(value, 'the value of a header'));
  }

  removeHeader(name) {
    return this.#header(HEADER.remove, name);
  }

  get result() {
    return this.#fact(FACT.result);
  }

  set result(result) {
    this.#finish(checkText(result, 'a result') || '?', 0);
  }

  get outcome() {
    return outcomeOf(this.#fact(FACT.outcome));
  }

  finish(termination, result = '') {
    this.#finish(checkText(result, 'a result'), numberOf('termination', termination) + 1);
  }

  #finish(result, termination) {
    module.give(result);
    module.number(module.wasm.game_finish(handleOf(this), termination));
  }

  get start() {
    return this.positionAt(0);
  }

  get position() {
    return this.positionAt(this.last);
  }

  positionAt(id) {
    return new Position(WRAP, module.wasm.game_position(handleOf(this), checkId(id)));
  }

  get moves() {
    return split(module.text(module.wasm.game_line(handleOf(this), 0)), '\0');
  }

  line(notation = 'san') {
    return split(module.text(module.wasm.game_line(handleOf(this), numberOf('notation', notation))), '\0');
  }

  texts(form = 'x-fen') {
    return module.text(module.wasm.game_texts(handleOf(this), numberOf('form', form))).split('\n');
  }

  keys() {
    const bytes = module.bytes(module.wasm.game_fact(handleOf(this), FACT.keys));
    return new BigUint64Array(bytes.buffer);
  }

  get notices() {
    return split(this.#fact(FACT.notices), '\0');
  }

  get last() {
    return Number(this.#fact(FACT.last));
  }

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

  annotations(id = 0) {
    return JSON.parse(module.text(module.wasm.game_annotations(handleOf(this), checkId(id))));
  }

  annotate(id, annotations) {
    const text = JSON.stringify(checkOptions(annotations));
    if (text?.includes('\\u0000')) throw new TypeError('an annotation contains NUL');
    module.give(text ?? '');
    module.number(module.wasm.game_annotate(handleOf(this), checkId(id)));
  }

  add(moves, after = this.last) {
    const count = giveAll(typeof moves === 'string' ? [moves] : moves, 'a move');
    return module.number(module.wasm.game_add(handleOf(this), checkId(after), count));
  }

  delete(id) {
    return module.number(module.wasm.game_delete(handleOf(this), checkId(id)));
  }

  promote(id, { toMain = false } = {}) {
    return module.number(module.wasm.game_promote(handleOf(this), checkId(id), toMain ? 1 : 0)) === 1;
  }

  write(format) {
    return module.text(module.wasm.game_write(handleOf(this), numberOf('format', format), 0));
  }

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
