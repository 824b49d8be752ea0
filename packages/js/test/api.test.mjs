// Positions and games. Expectations are those of the crate `readyok-rules`.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Game, IllegalMoveError, Position, PositionError, load, read } from '@readyok/rules';
import { Syzygy, loadExtras, opening } from '@readyok/rules/extras';

await load();
await loadExtras();

describe('Position', () => {
  it('plays moves of any notation', () => {
    const chess = new Position();
    assert.equal(chess.push('e4'), 'e2e4');
    assert.deepEqual(chess.push('e7e5', 'Ng1-f3'), ['e7e5', 'g1f3']);
    assert.deepEqual(chess.push(), []);
    assert.equal(chess.text(), 'rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2');
    assert.deepEqual(chess.moves, ['e2e4', 'e7e5', 'g1f3']);
    const shogi = new Position(undefined, { game: 'shogi' });
    assert.deepEqual(shogi.push('▲７六歩', 'P-34', '+8822UM', '同　銀'), ['7g7f', '3c3d', '8h2b+', '3a2b']);
    assert.deepEqual(shogi.hands.first, new Map([['B', 1]]));
  });

  it('undoes moves', () => {
    const position = new Position(undefined, { game: 'shogi' });
    const texts = [];
    // Longer than the positions that are kept.
    for (let ply = 0; ply < 300; ply++) {
      texts.push(position.text());
      position.push(['2h3h', '8b7b', '3h2h', '7b8b'][ply % 4]);
    }
    assert.equal(position.outcome.termination, 'repetition');
    while (texts.length > 0) {
      assert.ok(position.pop());
      assert.equal(position.text(), texts.pop());
    }
    assert.equal(position.pop(), undefined);
  });

  it('changes nothing after an error', () => {
    const position = new Position();
    assert.throws(() => position.push('e4', 'e5', 'Ke3'), { index: 2, message: /^move 3: illegal move `Ke3`/ });
    assert.deepEqual(position.moves, []);
    assert.throws(() => position.after('e5'), IllegalMoveError);
    assert.equal(position.after('e4').pop(), 'e2e4');
  });

  it('names the moves of an ambiguous text', () => {
    const position = new Position('4k3/8/8/8/8/8/8/R3K2R w - - 0 1');
    const text = { name: 'IllegalMoveError', candidates: ['a1d1', 'h1h8'] };
    assert.throws(() => new Position('4k3/8/8/8/8/8/4K3/R6R w - - 0 1').push('Rd1'), (error) => {
      assert.equal(error.name, text.name);
      assert.deepEqual(error.candidates.toSorted(), ['a1d1', 'h1d1']);
      assert.match(error.message, /several moves match: /);
      return true;
    });
    assert.equal(position.isLegal('Rd1'), true);
    assert.equal(position.isLegal('Rd9'), false);
  });

  it('reads and writes notations', () => {
    const position = new Position(undefined, { game: 'shogi' }).after('7g7f', '3c3d');
    for (const [notation, text] of Object.entries({
      usi: '8h2b+', san: 'Bx2b+', 'western-digits': 'Bx22+', long: 'B8hx2b+', japanese: '▲２二角成', csa: '+8822UM',
    })) {
      assert.equal(position.notation('8h2b+', notation), text);
      assert.equal(position.parse(text, notation), '8h2b+');
      assert.equal(position.parse(text), '8h2b+');
    }
    assert.deepEqual(new Position().line(['e2e4', 'e7e5', 'g1f3', 'e1e3', 'x']), ['e4', 'e5', 'Nf3', 'e1e3', 'x']);
    assert.deepEqual(new Position().line([]), []);
  });

  it('has the facts of the position', () => {
    const position = new Position('rnb1kbnr/pppp1ppp/8/4p3/5PPq/8/PPPPP2P/RNBQKBNR w KQkq - 1 3');
    assert.deepEqual(position.outcome, { result: '0-1', winner: 'second', termination: 'checkmate' });
    assert.equal(position.inCheck, true);
    assert.equal(position.turn, 'first');
    assert.equal(position.pieces.get('h4'), 'q');
    assert.deepEqual(position.legalMoves, []);
    const repeated = new Position().after(...Array(2).fill(['Nf3', 'Nf6', 'Ng1', 'Ng8']).flat());
    assert.deepEqual(repeated.claims, ['repetition']);
    assert.equal(new Position().key, repeated.key);
    assert.equal(typeof repeated.key, 'bigint');
    assert.equal(new Position(undefined, { game: 'shogi' }).canDeclare, false);
    const double = new Position().after('e4');
    assert.match(double.text('fen'), / e3 0 1$/);
    assert.match(double.text(), / - 0 1$/);
    assert.match(double.text('shredder'), / HAha - 0 1$/);
    assert.equal(`${double}`, double.text());
  });

  it('has start positions of Chess960 and handicaps', () => {
    const position = Position.chess960(0);
    assert.equal(position.text(), 'bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1');
    assert.deepEqual(Position.chess960(518, 959).chess960Numbers, [518, 959]);
    assert.equal(new Position().after('e4').chess960Numbers, undefined);
    const handicap = Position.handicap('二枚落ち');
    assert.equal(handicap.handicap, 'two pieces');
    assert.equal(handicap.turn, 'second');
    assert.throws(() => Position.chess960(960), TypeError);
    assert.throws(() => Position.handicap('five kings'), TypeError);
  });

  it('has destinations for boards', () => {
    const chess = new Position('4k3/P7/8/8/8/8/8/4K2R w K - 0 1').destinations();
    assert.deepEqual(chess.get('a7'), ['a8']);
    assert.ok(chess.get('e1').includes('g1'));
    const shogi = new Position('4k4/9/9/9/9/9/9/9/4K4 b P 1', { game: 'shogi' }).destinations();
    assert.equal(shogi.get('P*').length, 71);
  });

  it('rejects positions with the text of Rust', () => {
    for (const [text, options, message] of [
      ['', {}, 'missing field: the board'],
      ['8/8/8/8/8/8/8/8 w - - 0 1', {}, 'White has 0 kings; 1 is required'],
      ['4k4/9/9/9/9/9/P8/P8/4K4 b - 1', { game: 'shogi' }, 'Black (sente) has two pawns on file 9'],
    ]) {
      assert.throws(() => new Position(text, options), (error) => {
        assert.ok(error instanceof PositionError);
        assert.equal(error.message, message);
        return true;
      });
    }
  });

  it('limits the length of a game', () => {
    const position = new Position();
    const cycle = ['g1f3', 'g8f6', 'f3g1', 'f6g8'];
    for (let count = 0; count < 7500; count += 75) position.push(...Array(75).fill(cycle).flat());
    assert.throws(() => position.push('e4'), /the game is too long/);
  });
});

describe('Game', () => {
  const TEXT = '[White "A"]\n\n{start} 1. e4 $1 {hi [%clk 0:01:00] [%eval 0.3,12] [%csl Ga1][%cal Rb2c3]} e5 ({why} 1... c5 2. Nf3 (2. f4)) 2. Nf3 *\n';

  it('has a tree of plain objects', () => {
    const [game] = read(TEXT);
    assert.deepEqual(game.annotations(), { comments: ['start'] });
    assert.deepEqual(game.tree, [
      {
        id: 1, move: 'e2e4', nags: [1], comments: ['hi'], clock: 60, evaluation: { cp: 30, depth: 12 },
        marks: [{ color: 'green', from: 'a1' }, { color: 'red', from: 'b2', to: 'c3' }],
      },
      {
        id: 2, move: 'e7e5',
        variations: [[{ id: 3, move: 'c7c5', before: ['why'] }, { id: 4, move: 'g1f3', variations: [[{ id: 5, move: 'f2f4' }]] }]],
      },
      { id: 6, move: 'g1f3' },
    ]);
    assert.deepEqual(game.line('long'), ['e2-e4', 'e7-e5', 'Ng1-f3']);
    assert.equal(game.texts().at(-1), game.position.text());
    assert.equal(game.texts('fen')[1], new Position().after('e4').text('fen'));
    assert.deepEqual([...game.keys()], game.texts().map((text) => new Position(text).key));
    assert.deepEqual(game.positionAt(5).moves, ['e2e4', 'c7c5', 'f2f4']);
  });

  it('is edited', () => {
    const game = Game.from(['e4', 'e5']);
    const last = game.add('Nf3');
    assert.equal(last, game.last);
    const variation = game.add(['c5', 'Nf3'], 1);
    game.annotate(variation, {
      before: ['b'], comments: ['c'], nags: [5], clock: 1.5, elapsed: 2, evaluation: { mate: -3, depth: 9 },
      marks: [{ color: 'blue', from: 'a1', to: 'h8' }],
    });
    const [copy] = read(game.write('pgn'));
    assert.deepEqual(copy.tree[1].variations[0][1].evaluation, { mate: -3, depth: 9 });
    assert.equal(game.promote(variation, { toMain: true }), true);
    assert.deepEqual(game.moves, ['e2e4', 'c7c5', 'g1f3']);
    game.annotate(variation, { comments: null, evaluation: null, nags: [1] });
    assert.deepEqual(Object.keys(game.annotations(variation)).sort(), ['before', 'clock', 'elapsed', 'marks', 'nags']);
    assert.equal(game.delete(2), 2);
    assert.throws(() => game.delete(2), /no such node/);
    assert.throws(() => game.add(['d5', 'Qh9']), { name: 'IllegalMoveError' });
    assert.equal(game.tree.length, 3);
    for (const wrong of [{ clock: -1 }, { nags: [256] }, { nags: 1 }, { marks: [{ color: 'pink', from: 'a1' }] }, { what: 1 }, { end: {} }, { evaluation: { cp: 1, mate: 1 } }])
      assert.throws(() => game.annotate(1, wrong), TypeError);
    assert.throws(() => game.annotate(1, { comments: ['x'.repeat(70_000)] }), /comment too long/);
  });

  it('has headers and a result', () => {
    const game = new Game(new Position(undefined, { game: 'shogi' }).after('7g7f'));
    game.setHeader('先手', 'A');
    game.setHeader('先手', 'B\nC');
    game.appendHeader('備考', '');
    assert.deepEqual(game.headers, [['先手', 'B\nC'], ['備考', '']]);
    assert.equal(game.header('備考'), '');
    assert.equal(game.removeHeader('備考'), '');
    assert.equal(game.removeHeader('備考'), undefined);
    game.finish('resignation');
    assert.deepEqual(game.outcome, { result: '1-0', winner: 'first', termination: 'resignation' });
    game.result = '1/2-1/2';
    assert.equal(game.result, '1/2-1/2');
    assert.throws(() => (game.result = 'won'), TypeError);
    assert.throws(() => (game.result = ''), TypeError);
    assert.throws(() => game.finish('boredom'), TypeError);
    assert.throws(() => game.setHeader('x', 'y'.repeat(20_000)), /header too long/);
  });

  it('is written in all formats', () => {
    const games = { chess: ['e2e4', 'e7e5'], shogi: ['7g7f', '3c3d'] };
    for (const [format, rules] of Object.entries({ pgn: 'chess', uci: 'chess', kif: 'shogi', ki2: 'shogi', csa: 'shogi', jkf: 'shogi', usi: 'shogi' })) {
      const text = Game.from(games[rules], { game: rules }).write(format);
      const [game] = read(text, { format });
      assert.deepEqual(game.moves, games[rules]);
      assert.deepEqual([...read(text)][0].game, rules);
    }
    assert.throws(() => Game.from(['e4']).write('kif'), /KIF does not support chess/);
    assert.deepEqual(Game.from(['7g7f'], { game: 'shogi' }).losses('usi'), []);
  });

  it('keeps deep variations', () => {
    const game = new Game();
    const [main, nested] = [['g1f3', 'g8f6'], ['b1c3', 'b8c6', 'c3b1', 'c6b8']];
    let at = 0;
    for (let ply = 0; ply < 5000; ply++) {
      game.add(main[ply % 2], at);
      at = game.add(nested[ply % 4], at);
    }
    let depth = 0;
    for (let line = game.tree; line; line = line.at(-1).variations?.[0]) depth++;
    assert.equal(depth, 5001);
    // A reader would not accept more than a hundred levels.
    assert.equal(game.write('pgn').split('(').length, 5001);
    assert.equal(game.copy().delete(1), 1);
  });
});

describe('extras', () => {
  it('names openings', () => {
    const position = new Position().after('e4', 'c5', 'Nf3', 'd6', 'd4', 'cxd4', 'Nxd4', 'Nf6', 'Nc3', 'a6');
    assert.deepEqual(opening(position), { eco: 'B90', name: 'Sicilian Defense: Najdorf Variation' });
    assert.equal(opening(new Position()), undefined);
    assert.throws(() => opening('x'), PositionError);
  });

  it('probes Syzygy tables', () => {
    const directory = new URL('../../../testdata/syzygy/', import.meta.url);
    const names = readdirSync(directory).filter((name) => /\.rtb[wz]$/.test(name));
    const tables = new Syzygy(names.map((name) => [name, readFileSync(new URL(name, directory))]));
    const { category, moves } = tables.probe('8/8/8/8/8/5k2/7q/4K3 b - - 0 1');
    assert.equal(category, 'win');
    assert.equal(moves[0].move, 'h2e2');
    assert.throws(() => tables.probe('rnbqkbnr/8/8/8/8/8/8/RNBQKBNR w - - 0 1'), /pieces/);
    assert.throws(() => new Syzygy({ 'notes.txt': new Uint8Array(3) }), /notes.txt/);
    tables.free();
    assert.throws(() => tables.probe('8/8/8/8/8/5k2/7q/4K3 b - - 0 1'), /freed/);
  });
});
