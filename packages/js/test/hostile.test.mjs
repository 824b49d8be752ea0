// Wrong arguments, freed objects and hostile texts: exceptions, and never a trap, which is a `WebAssembly.RuntimeError`.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Game, Position, ReadyokError, load, read, readStream } from '@readyok/rules';

// Before `load`.
assert.throws(() => new Position(), /load\(\)/);
await load();

const VALUES = [
  undefined, null, true, -1, 0.5, NaN, Infinity, 2 ** 32, 10n, Symbol('s'), '', '\0', '\ud800', 'x'.repeat(100_000), '同'.repeat(50_000),
  'e4\0e5', 'toString', '__proto__', [], ['e4', 1], [,], [''], {}, { game: 'go' }, { format: 'x' }, () => 'e4', new Uint8Array(3), new Position(), new Game(),
];

/** Calls with all values, which must succeed or throw an error of this package or of a wrong argument. */
function attempt(name, call) {
  for (const first of VALUES) {
    for (const second of VALUES) {
      try {
        call(first, second);
      } catch (error) {
        const isExpected = error instanceof ReadyokError || error instanceof TypeError || error instanceof RangeError;
        assert.ok(isExpected, `${name}: ${error?.stack}`);
        assert.ok(typeof error.message === 'string' && error.message.length < 2_000, name);
      }
    }
  }
  // The module still works.
  assert.equal(new Position().push('e4'), 'e2e4');
}

const methods = (type) =>
  Object.entries(Object.getOwnPropertyDescriptors(type.prototype)).filter(([name]) => name !== 'constructor');

describe('wrong arguments', () => {
  it('of constructors and functions', () => {
    attempt('Position', (first, second) => new Position(first, second));
    attempt('Position', (first, second) => new Position(undefined, { game: first, source: second }));
    attempt('chess960', (first, second) => Position.chess960(first, second));
    attempt('handicap', (first) => Position.handicap(first));
    attempt('Game', (first, second) => new Game(first, second));
    attempt('from', (first, second) => Game.from(first, second));
    attempt('from', (first, second) => Game.from(['e4'], { game: first, start: second }));
    attempt('read', (first, second) => [...read(first, second)]);
    attempt('read', (first, second) => [...read('1. e4 *', { format: first, encoding: second })]);
    attempt('readStream', (first, second) => readStream(first, second));
  });

  for (const [type, create] of [[Position, () => new Position()], [Game, () => Game.from(['e4', 'e5'])]]) {
    for (const [name, { value, get, set }] of methods(type)) {
      it(`of ${type.name}.${name}`, () => {
        if (value) attempt(name, (first, second) => create()[name](first, second));
        if (set) attempt(name, (first) => (create()[name] = first));
        // Another object, and a freed one.
        for (const call of [value, get].filter(Boolean)) {
          assert.throws(() => call.call({}), TypeError);
          const freed = create();
          freed.free();
          freed.free();
          assert.throws(() => call.call(freed, name === 'losses' || name === 'write' ? 'pgn' : 'e4', 'san'), (error) => error instanceof ReadyokError || error instanceof TypeError);
        }
      });
    }
  }
});

describe('freed objects', () => {
  it('fail, and their places are used again', () => {
    const position = new Position();
    position[Symbol.dispose]();
    assert.throws(() => position.text(), /the object was freed/);
    assert.throws(() => new Game(position), /the object was freed/);
    const other = new Position(undefined, { game: 'shogi' });
    assert.throws(() => position.push('e4'), /the object was freed/);
    assert.equal(other.game, 'shogi');
  });

  it('have a limit', () => {
    const all = [];
    assert.throws(() => {
      for (;;) all.push(Game.from(['e4'])), all.length > 1_000_000 && assert.fail('no limit');
    }, /too many open objects/);
    for (const game of all.splice(0)) game.free();
    // Comments count.
    const text = `1. e4 ${`{${'x'.repeat(60_000)}}`.repeat(100)} *`;
    assert.throws(() => {
      for (;;) all.push(...read(text, { format: 'pgn' })), all.length > 1_000 && assert.fail('no limit');
    }, /too many open objects/);
    for (const game of all) game.free();
    assert.equal(Game.from(['e4']).moves.length, 1);
  });
});

describe('texts', () => {
  it('with lone surrogates or NUL are no moves', () => {
    const position = new Position();
    assert.throws(() => position.push('\ud800'), TypeError);
    assert.throws(() => position.push('e4\0e5', 'e5'), TypeError);
    assert.throws(() => position.push('e4\0'), { name: 'IllegalMoveError' });
    assert.throws(() => new Game().setHeader('a\0', 'b'), TypeError);
    assert.throws(() => new Game().annotate(0, { comments: ['\0'] }), TypeError);
    assert.throws(() => new Game().annotate(0, { comments: ['\ud800'] }), TypeError);
    assert.deepEqual(position.moves, []);
  });

  it('of any size are read', () => {
    const long = `1. e4 {${'x'.repeat(5_000_000)}} *\n\n[Event "a"]\n\n1. d4 *`;
    assert.equal([...read(long, { onError() {} })].length, 2);
    assert.throws(() => new Position('8/'.repeat(10_000_000)), { name: 'PositionError' });
    // Nesting is limited.
    for (const text of ['('.repeat(1_000_000), `1. e4 ${'(1. d4 '.repeat(100_000)}`, '['.repeat(100_000), '{"moves":'.repeat(100_000)])
      for (const format of ['pgn', 'jkf', 'kif', 'csa', 'usi']) assert.ok([...read(text, { format, onError() {} })].length < 3);
  });

  it('that are random are read', () => {
    let seed = 5;
    const random = (below) => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff) % below;
    const parts = ['[Event "a"]\n', '\n\n', '1. e4 ', 'e5 ', '{', '}', '(', ')', '*', '1-0', '手合割：', '   1 ７六歩(77)', 'まで', '+7776FU\n', 'PI\n', '/\n', '{"moves":[{}]}', 'position startpos moves ', '\0', '\ufeff', '$300', '変化：1手'];
    for (let count = 0; count < 400; count++) {
      const text = Array.from({ length: random(30) }, () => parts[random(parts.length)]).join('');
      const bytes = new TextEncoder().encode(text).map((byte) => (random(50) ? byte : random(256)));
      for (const source of [text, bytes])
        for (const game of read(source, { onError: (error) => assert.ok(error.line >= 1) })) {
          assert.equal(game.texts().length, game.moves.length + 1);
          game.write(game.game === 'shogi' ? 'kif' : 'pgn');
          game.free();
        }
    }
  });
});
