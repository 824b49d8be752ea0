// Reading the games of texts, bytes and streams.
import { Decoding } from './encoding.js';
import { Game } from './game.js';
import { Handle, RecordError, WRAP, checkOptions, handleOf, module, numberOf, shown } from './wasm.js';

/** The number of a format that is detected. */
const DETECTED = 0xffff_ffff;

/** A reader of the module. A game that cannot be read throws, and reading can continue with the next one. */
class Reader extends Handle {
  #decoding;
  #onError;
  done = false;

  constructor(options) {
    const { format, encoding, onError } = checkOptions(options);
    if (onError !== undefined && typeof onError !== 'function')
      throw new TypeError(`onError must be a function, not ${shown(onError)}`);
    if (encoding !== undefined && typeof encoding !== 'string')
      throw new TypeError(`an encoding must be a string, not ${shown(encoding)}`);
    const decoding = new Decoding(encoding, format !== 'pgn' && format !== 'uci');
    super(module.wasm.reader_new(format === undefined ? DETECTED : numberOf('format', format)), 'reader_free');
    this.#decoding = decoding;
    this.#onError = onError;
  }

  push(part, isLast) {
    if (typeof part !== 'string') part = this.#decoding.decode(bytesOf(part), isLast);
    module.give(part);
    module.number(module.wasm.reader_push(handleOf(this), isLast ? 1 : 0));
  }

  /** The next game. `undefined` at the end, or if more of a stream is required. */
  nextGame() {
    for (;;) {
      try {
        const handle = module.number(module.wasm.reader_next(handleOf(this)));
        return handle === 0 ? undefined : new Game(WRAP, handle);
      } catch (error) {
        if (!this.#onError || !(error instanceof RecordError)) throw error;
        this.#onError(error);
      }
    }
  }

  close() {
    this.done = true;
    this.free();
  }
}

function bytesOf(part) {
  if (part instanceof Uint8Array) return part;
  if (part instanceof ArrayBuffer) return new Uint8Array(part);
  if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  throw new TypeError(`a source must be a string or bytes, not ${shown(part)}`);
}

const END = { done: true, value: undefined };

/** Reads the games of a text or of bytes one by one. */
export function read(source, options = {}) {
  if (typeof source !== 'string') source = bytesOf(source);
  const reader = new Reader(options);
  try {
    reader.push(source, true);
  } catch (error) {
    reader.close();
    throw error;
  }
  return {
    [Symbol.iterator]() {
      return this;
    },
    next() {
      if (reader.done) return END;
      const value = reader.nextGame();
      if (value) return { done: false, value };
      reader.close();
      return END;
    },
    return(value) {
      reader.close();
      return { done: true, value };
    },
  };
}

/** Reads the games of a stream of texts or bytes of any size. A part of it is in memory. */
export function readStream(stream, options = {}) {
  const parts = partsOf(stream);
  const reader = new Reader(options);
  let isComplete = false;
  // Calls without waiting are in order.
  let last = Promise.resolve();
  async function next() {
    for (;;) {
      if (reader.done) return END;
      const value = reader.nextGame();
      if (value) return { done: false, value };
      if (isComplete) {
        reader.close();
        return END;
      }
      try {
        const { done, value: part } = await parts.next();
        if (reader.done) return END;
        isComplete = Boolean(done);
        reader.push(done ? new Uint8Array(0) : part, isComplete);
      } catch (error) {
        reader.close();
        throw error;
      }
    }
  }
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      const result = last.then(next);
      last = result.catch(() => undefined);
      return result;
    },
    async return(value) {
      reader.close();
      await parts.return?.();
      return { done: true, value };
    },
  };
}

function partsOf(stream) {
  const iterator = stream?.[Symbol.asyncIterator] ?? stream?.[Symbol.iterator];
  if (typeof stream === 'object' && typeof iterator === 'function') return iterator.call(stream);
  if (typeof stream?.getReader !== 'function')
    throw new TypeError(`a stream must be iterable, not ${shown(stream)}`);
  // Streams of some browsers are not iterable.
  const reader = stream.getReader();
  return { next: () => reader.read(), return: () => reader.cancel() };
}
