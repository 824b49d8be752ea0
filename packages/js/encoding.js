// The encoding of record files, as `crates/rules/src/record/encoding.rs` detects it. The tables are those of the host.

import { shown } from './wasm.js';

/** Bytes that are required for the detection. */
const BEGINNING = 1 << 16;

/** The UTF-8 bytes or the text of bytes that arrive in parts. */
export class Decoding {
  #decoder;
  #isUtf8 = false;
  #isJapanese;
  /** Parts without a known encoding. */
  #parts = [];
  #length = 0;

  /** @param {string | undefined} encoding a label of the Encoding Standard; without one it is detected */
  constructor(encoding, isJapanese) {
    this.#isJapanese = isJapanese;
    if (encoding !== undefined) this.#decoder = decoderOf(encoding);
  }

  decode(bytes, isLast) {
    if (!this.#decoder && !this.#isUtf8) {
      this.#parts.push(bytes);
      this.#length += bytes.length;
      if (this.#length < BEGINNING && !isLast) return new Uint8Array(0);
      bytes = joined(this.#parts, this.#length);
      [this.#parts, this.#length] = [[], 0];
      // The encoding of a text in ASCII is open.
      if (!isAscii(bytes)) {
        const label = detect(bytes, this.#isJapanese);
        if (label === 'utf-8') this.#isUtf8 = true;
        else this.#decoder = new TextDecoder(label);
      }
    }
    return this.#decoder ? this.#decoder.decode(bytes, { stream: !isLast }) : bytes;
  }
}

function joined(parts, length) {
  if (parts.length === 1) return parts[0];
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function decoderOf(encoding) {
  try {
    return new TextDecoder(encoding);
  } catch {
    throw new TypeError(`no such encoding: ${shown(encoding)}`);
  }
}

function isAscii(bytes) {
  for (let index = 0; index < bytes.length; index++) {
    // UTF-16 has zeros.
    if (bytes[index] > 127 || bytes[index] === 0) return false;
  }
  return true;
}

/** The encoding of the beginning of a file. */
function detect(bytes, isJapanese) {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const isLetter = (index) => bytes[index] > 0 && bytes[index] < 128;
  if (isLetter(0) && second === 0 && isLetter(2) && bytes[3] === 0) return 'utf-16le';
  if (first === 0 && isLetter(1) && bytes[2] === 0 && isLetter(3)) return 'utf-16be';
  if (strict('utf-8', bytes) !== undefined) return 'utf-8';
  const damaged = new TextDecoder('utf-8').decode(bytes);
  // A text that was cut between two bytes.
  if (count(damaged, (code) => code > 0x7ff && code !== 0xfffd) > count(damaged, (code) => code === 0xfffd)) return 'utf-8';
  const declared = /^['#][^\n]*encoding=([\w-]+)/m.exec(String.fromCharCode(...bytes.subarray(0, 200)))?.[1].toLowerCase();
  const isDeclared = (label) => declared === label || (label === 'shift_jis' && /^(sjis|cp932|shift-jis)$/.test(declared ?? ''));
  for (const label of ['euc-jp', 'shift_jis']) {
    const text = strict(label, bytes);
    if (text === undefined || /[\ue000-\uf8ff]/.test(text)) continue;
    // A Latin text has single letters outside of ASCII.
    if (/[ぁ-ヶ]/.test(text) || (isJapanese && (isDeclared(label) || /[^\0-\x7f]{2}/.test(text)))) return label;
  }
  if (isJapanese) {
    for (const label of ['euc-jp', 'shift_jis']) if (isDeclared(label)) return label;
    const text = new TextDecoder('shift_jis').decode(bytes);
    const errors = count(text, (code) => code === 0xfffd);
    if (count(text, (code) => code > 127 && code !== 0xfffd) > errors * 8) return 'shift_jis';
  }
  return 'windows-1252';
}

/** The text of bytes without errors. The last character can be truncated. */
function strict(label, bytes) {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

function count(text, test) {
  let found = 0;
  for (let index = 0; index < text.length; index++) if (test(text.charCodeAt(index))) found++;
  return found;
}
