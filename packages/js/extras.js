// Names of openings and Syzygy tables: a module of their own, loaded on demand.
import { Position } from './position.js';
import { Handle, Module, checkText, handleOf, shown } from './wasm.js';

const module = new Module(new URL('./extras.wasm', import.meta.url));

/** Loads the module of this part. */
export const loadExtras = (source) => module.load(source);

/** Writes a position to the input of this module. */
function give(position) {
  module.give(position instanceof Position ? position.text() : checkText(position, 'a position'));
}

/** The opening of a position of chess. */
export function opening(position) {
  if (position instanceof Position && position.game !== 'chess') return undefined;
  const { wasm } = module;
  give(position);
  const text = module.text(wasm.opening());
  return text === '' ? undefined : { eco: text.slice(0, 3), name: text.slice(4) };
}

/** Syzygy endgame tables in memory. */
export class Syzygy extends Handle {
  constructor(files) {
    if (files === null || typeof files !== 'object')
      throw new TypeError(`files must be an object, not ${shown(files)}`);
    super(module.wasm.syzygy_new(), 'syzygy_free', module);
    try {
      for (const [name, source] of files[Symbol.iterator] ? files : Object.entries(files)) {
        const start = module.encode(checkText(name, 'the name of a file'));
        const bytes = ArrayBuffer.isView(source)
          ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
          : new Uint8Array(source);
        const all = new Uint8Array(start.length + bytes.length);
        all.set(start);
        all.set(bytes, start.length);
        module.give(all);
        module.number(module.wasm.syzygy_add(handleOf(this), start.length));
      }
      module.number(module.wasm.syzygy_open(handleOf(this)));
    } catch (error) {
      this.free();
      throw error;
    }
  }

  probe(position) {
    give(position);
    return JSON.parse(module.text(module.wasm.syzygy_probe(handleOf(this))));
  }
}
