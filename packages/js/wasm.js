// The WebAssembly module: its loading, the passing of texts, handles and errors.

/** An error of this package. */
export class ReadyokError extends Error {
  name = 'ReadyokError';
}

/** A text is not a position, or the position cannot be played. */
export class PositionError extends ReadyokError {
  name = 'PositionError';
}

/** A move is illegal, or fits several moves. */
export class IllegalMoveError extends ReadyokError {
  name = 'IllegalMoveError';
  /** The moves that an ambiguous text fits. */
  candidates = [];
  /** The index of the move in a line. */
  index = undefined;
}

/** A game of a source cannot be read. */
export class RecordError extends ReadyokError {
  name = 'RecordError';
  /** From 1. */
  game = 1;
  line = 1;
  /** In characters. */
  column = 1;
}

/** The functions of a module, and the buffers of their texts. */
export class Module {
  #source;
  #loading;
  #bytes = new Uint8Array(0);
  #encoder = new TextEncoder();
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  exports;

  /** @param {URL} source the file of the module */
  constructor(source) {
    this.#source = source;
  }

  /** Loads the module once: from its file, or from the given bytes, response or module. */
  load(source) {
    this.#loading ??= instantiate(source ?? this.#source).then(
      (instance) => void (this.exports = instance.exports),
      (error) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  /** The exports; fails if the module is not loaded. */
  get wasm() {
    if (!this.exports) throw new ReadyokError('the module is not loaded: call `await load()` first');
    return this.exports;
  }

  /** The bytes of the memory. They are replaced when it grows. */
  get #memory() {
    const { buffer } = this.exports.memory;
    if (this.#bytes.buffer !== buffer) this.#bytes = new Uint8Array(buffer);
    return this.#bytes;
  }

  /** Writes bytes or a text to the input. Returns their number. */
  give(value) {
    const { wasm } = this;
    const { length } = value;
    if (length > MAX_INPUT) throw new RangeError(`the input has more than ${MAX_INPUT >> 20} MiB`);
    if (typeof value === 'string' && length < 64) {
      const start = this.#room(wasm, length);
      const bytes = this.#memory;
      let index = 0;
      for (; index < length; index++) {
        const code = value.charCodeAt(index);
        if (code > 127) break;
        bytes[start + index] = code;
      }
      if (index === length) return length;
    }
    const bytes = typeof value === 'string' ? this.encode(value) : value;
    // First the room, which can replace the memory.
    const start = this.#room(wasm, bytes.length);
    this.#memory.set(bytes, start);
    return bytes.length;
  }

  #room(wasm, length) {
    const start = wasm.input(length);
    if (start === 0 && length > 0) throw new RangeError('out of memory');
    return start;
  }

  /** The UTF-8 of a text. */
  encode(text) {
    const bytes = this.#encoder.encode(text);
    if (bytes.length !== text.length && /\p{Surrogate}/u.test(text))
      throw new TypeError('a text contains a lone surrogate');
    return bytes;
  }

  /** The text of an answer with a length; throws the error if it is negative. */
  text(length) {
    if (length < 0) this.fail(length);
    const start = this.exports.output();
    const bytes = this.#memory;
    if (length > 12) return this.#decoder.decode(bytes.subarray(start, start + length));
    let text = '';
    for (let index = start; index < start + length; index++) {
      if (bytes[index] > 127) return this.#decoder.decode(bytes.subarray(start, start + length));
      text += String.fromCharCode(bytes[index]);
    }
    return text;
  }

  /** A copy of the bytes of an answer. */
  bytes(length) {
    if (length < 0) this.fail(length);
    const start = this.exports.output();
    return this.#memory.slice(start, start + length);
  }

  /** A handle or a number; throws the error if it is negative. */
  number(value) {
    if (value < 0) this.fail(value);
    return value;
  }

  /** Throws the error of a negated length. */
  fail(length) {
    const [kind, details, ...lines] = this.text(-length).split('\n');
    const text = lines.join('\n');
    if (kind === 'usage') throw new TypeError(text);
    if (kind === 'position') throw new PositionError(text);
    if (kind === 'move') {
      const [index, ...candidates] = details.split(' ');
      throw Object.assign(new IllegalMoveError(text), {
        candidates,
        index: index === '-1' ? undefined : Number(index),
      });
    }
    if (kind === 'record') {
      const [game, line, column] = details.split(' ').map(Number);
      throw Object.assign(new RecordError(text), { game, line, column });
    }
    throw new ReadyokError(text);
  }
}

/** WebAssembly has 4 GiB. Larger sources are read as streams. */
const MAX_INPUT = 512 << 20;

async function instantiate(source) {
  if (source instanceof URL) {
    if (source.protocol !== 'file:') source = fetch(source);
    else source = await (await import('node:fs/promises')).readFile(source);
  }
  source = await source;
  if (source instanceof WebAssembly.Module) return new WebAssembly.Instance(source);
  // Some servers do not send the media type that streaming requires.
  if (typeof Response === 'function' && source instanceof Response) {
    if (!source.ok) throw new ReadyokError(`the module cannot be loaded: ${source.status} ${source.url}`);
    source = await source.arrayBuffer();
  }
  return (await WebAssembly.instantiate(source)).instance;
}

export const module = new Module(new URL('./readyok.wasm', import.meta.url));

/**
 * Loads the module. Everything else needs it. Without an argument, that is the file `readyok.wasm` next to the script.
 */
export const load = (source) => module.load(source);

/** The lines of `names` in `crates/wasm/src/lib.rs`. */
const KINDS = ['game', 'notation', 'form', 'format', 'termination'];
let numbers;

/** The number of a name. */
export function numberOf(kind, name) {
  numbers ??= Object.fromEntries(
    module
      .text(module.wasm.names())
      .split('\n')
      .map((line, kind) => [KINDS[kind], new Map(line.split(' ').map((name, index) => [name, index]))]),
  );
  const number = numbers[kind].get(name);
  if (number === undefined) throw new TypeError(`no such ${kind}: ${shown(name)}`);
  return number;
}

/** A value in the text of an error. */
export function shown(value) {
  const text = typeof value === 'string' ? JSON.stringify(value) : typeof value;
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

export function checkText(value, what) {
  if (typeof value !== 'string') throw new TypeError(`${what} must be a string, not ${shown(value)}`);
  return value;
}

/** An options object. */
export function checkOptions(options) {
  if (options === null || typeof options !== 'object')
    throw new TypeError(`options must be an object, not ${shown(options)}`);
  return options;
}

/** Writes a list of texts to the input. Returns their number. */
export function giveAll(texts, what) {
  if (!Array.isArray(texts)) throw new TypeError(`${what}s must be an array of strings, not ${shown(texts)}`);
  // Not `for`: holes of arrays count.
  for (let index = 0; index < texts.length; index++) checkText(texts[index], what);
  module.give(texts.length === 1 ? texts[0] : texts.join('\0'));
  return texts.length;
}

/** The texts that a separator joins. */
export const split = (text, separator = ' ') => (text === '' ? [] : text.split(separator));

/** The argument of constructors that wraps a handle. */
export const WRAP = Symbol('handle');

/** The handle of an object; 0 if it was freed. */
export let handleOf;

/** Owns a value of the module. `free()`, `using` or a finalizer frees it. */
export class Handle {
  #handle;
  #free;
  static #registry = new FinalizationRegistry(([free, handle]) => free(handle));

  static {
    handleOf = (object) => object.#handle;
  }

  /** @param {string} free the name of the function that frees a handle */
  constructor(handle, free, of = module) {
    this.#handle = of.number(handle);
    this.#free = of.wasm[free];
    Handle.#registry.register(this, [this.#free, handle], this);
  }

  /** Frees the memory. Other uses of the object fail afterwards. */
  free() {
    if (this.#handle === 0) return;
    Handle.#registry.unregister(this);
    this.#free(this.#handle);
    this.#handle = 0;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free();
  }
}

/** The handle of an object of a class. */
export function checkHandle(value, type, what) {
  if (!(value instanceof type)) throw new TypeError(`${what} must be a ${type.name}, not ${shown(value)}`);
  return handleOf(value);
}
