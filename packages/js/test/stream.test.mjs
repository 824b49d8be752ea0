// Sources in any encoding and in parts of any size have the same games, errors and notices as in one part.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Game, load, read, readStream } from '@readyok/rules';

await load();
const directory = new URL('../../../testdata/records/', import.meta.url);
const files = readdirSync(directory).filter((name) => !/\.(txt|md)$/.test(name));
const bytesOf = (name) => new Uint8Array(readFileSync(new URL(name, directory)));

const shown = (game) => {
  const { headers, moves, result, notices } = game;
  const text = JSON.stringify([headers, moves, result, notices, game.game]);
  game.free();
  return text;
};

function all(source, options = {}) {
  const found = [];
  for (const game of read(source, { ...options, onError: (error) => found.push(error.message) })) found.push(shown(game));
  return found;
}

async function streamed(parts, options = {}) {
  const found = [];
  for await (const game of readStream(parts, { ...options, onError: (error) => found.push(error.message) })) found.push(shown(game));
  return found;
}

function* cut(bytes, size) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

describe('encodings', () => {
  it('of files are detected', () => {
    const seen = new Set();
    for (const name of files) {
      const bytes = bytesOf(name);
      const label = ['utf-8', 'shift_jis', 'euc-jp', 'windows-1252'].find((label) => {
        try {
          return new TextDecoder(label, { fatal: true }).decode(bytes);
        } catch {
          return false;
        }
      });
      seen.add(label);
      assert.deepEqual(all(bytes), all(new TextDecoder(label).decode(bytes)), `${name} ${label}`);
    }
    assert.ok(seen.has('shift_jis') && seen.has('utf-8'));
  });

  it('are named, and those of editors', () => {
    const text = '[White "Müller"]\n\n1. e4 *\n';
    const latin = Uint8Array.from(text, (letter) => letter.codePointAt(0));
    const units = Uint8Array.from([0xff, 0xfe, ...Buffer.from(text, 'utf16le')]);
    for (const [bytes, encoding] of [[latin], [units], [new TextEncoder().encode(`\ufeff${text}`)], [latin, 'iso-8859-1']])
      assert.deepEqual(all(bytes, { encoding }), all(text));
    assert.throws(() => read(latin, { encoding: 'x' }), TypeError);
    // かな in EUC-JP.
    const euc = Uint8Array.from([...new TextEncoder().encode('[White "'), 0xa4, 0xab, 0xa4, 0xca, ...new TextEncoder().encode('"]\n\n1. e4 *')]);
    assert.match(all(euc)[0], /かな/);
  });
});

describe('streams', () => {
  it('of all files in small parts', async () => {
    for (const name of files) for (const size of [1, 7, 1000]) assert.deepEqual(await streamed(cut(bytesOf(name), size)), all(bytesOf(name)), `${name} ${size}`);
  });

  it('of many games', async () => {
    const hostile = '1. e4 { not closed\n[Event "inside"]\n\n1. d4 {1-0\n\n[White "comment"]\n\n} 1-0\n\n; 1-0\n[Event "b"]\n\n1. c4 ; 1-0\n\n[Event "c"]\n1. b4 (1. a4 1-0\n\n[Event "d"]\n[White "{"]\n\n*\n\n';
    const pgn = ['readyok.pgn', 'broken.pgn', 'lichess.pgn', 'twic.pgn'].map((name) => new TextDecoder().decode(bytesOf(name))).join('\n\n');
    const csa = new TextDecoder().decode(bytesOf('tsshogi.csa'));
    const jkf = new TextDecoder().decode(bytesOf('tsshogi.jkf'));
    const pretty = JSON.stringify(JSON.parse(jkf), null, 1);
    const lines = 'position startpos moves 7g7f 3c3d\n';
    for (const [text, size] of [
      [Array(60).fill(pgn).join('\n\n')], [Array(300).fill(hostile + pgn.slice(0, 900)).join('\n\n')], [Array(60).fill(pgn.replaceAll('\n', '\r\n')).join('\r\n\r\n')],
      [Array(400).fill(csa).join('/\n')], [Array(60).fill(`${jkf.trim()}\n${pretty}\n`).join('')], [lines.repeat(10_000)],
    ]) {
      const bytes = new TextEncoder().encode(text);
      assert.ok(bytes.length > 200_000, `${bytes.length} ${text.slice(0, 20)}`);
      const expected = all(bytes);
      for (const size of [1_000, 65_536]) {
        const found = await streamed(cut(bytes, size));
        assert.equal(found.length, expected.length);
        for (const [index, game] of found.entries()) assert.equal(game, expected[index]);
      }
    }
  });

  it('keep a part in memory', async () => {
    const text = new TextEncoder().encode(`${Game.from(['e4', 'e5']).write('pgn')}\n`.replace('[Event "?"]', `[Event "${'x'.repeat(500)}"]`));
    let games = 0;
    async function* many() {
      for (let count = 0; count < 60_000; count++) yield text;
    }
    // 40 MB; each game is freed.
    for await (const game of readStream(many(), { format: 'pgn' })) {
      games++;
      game.free();
    }
    assert.equal(games, 60_000);
  });

  it('are compressed, web streams, and texts', async () => {
    const text = '[Event "a"]\n\n1. e4 *\n\n[Event "b"]\n\n1. d4 *\n';
    const zipped = new Response(gzipSync(text)).body.pipeThrough(new DecompressionStream('gzip'));
    assert.deepEqual(await streamed(zipped), all(text));
    const { getReader } = new Response(text).body;
    assert.deepEqual(await streamed({ getReader: getReader.bind(new Response(text).body) }), all(text));
    assert.deepEqual(await streamed([text.slice(0, 9), text.slice(9)]), all(text));
  });
});

describe('iteration', () => {
  const text = '1. e4 *\n\n[Event "b"]\n[Variant "Atomic"]\n\n1. d4 *\n\n[Event "c"]\n\n1. c4 *\n';

  it('continues after an error', async () => {
    const games = read(text);
    assert.deepEqual(games.next().value.moves, ['e2e4']);
    assert.throws(() => games.next(), { name: 'RecordError', game: 2, line: 6, message: /^game 2, line 6, column 1: the game `Atomic` is not supported$/ });
    assert.deepEqual([...games].map((game) => game.moves), [['c2c4']]);
    assert.deepEqual(games.next(), { done: true, value: undefined });
    const stream = readStream([text]);
    const results = await Promise.allSettled([stream.next(), stream.next(), stream.next(), stream.next()]);
    assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    assert.equal(results[3].value.done, true);
  });

  it('ends when it is closed', async () => {
    const games = read(text);
    for (const _ of games) break;
    assert.equal(games.next().done, true);
    let isClosed = false;
    async function* parts() {
      try {
        for (;;) yield `[Event "x"]\n\n1. e4 *\n\n`.repeat(5_000);
      } finally {
        isClosed = true;
      }
    }
    const stream = readStream(parts());
    for await (const _ of stream) break;
    assert.equal(isClosed, true);
    assert.equal((await stream.next()).done, true);
  });

  it('passes on the error of a stream', async () => {
    const stream = readStream((async function* () {
      yield '1. e4 *\n';
      throw new Error('offline');
    })());
    await assert.rejects(stream.next(), /offline/);
    assert.equal((await stream.next()).done, true);
    await assert.rejects(readStream([3]).next(), TypeError);
  });
});
