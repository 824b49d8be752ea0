// Other libraries as judges, over random games with a fixed seed and over the records of the repository. The packages of
// chessops, chess.js and tsshogi contain no test files.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Chess as ChessJs } from 'chess.js';
import { Chess, castlingSide } from 'chessops/chess';
import { chessgroundDests } from 'chessops/compat';
import { makeFen, parseFen } from 'chessops/fen';
import { parsePgn, startingPosition } from 'chessops/pgn';
import { makeSan, parseSan } from 'chessops/san';
import { makeUci, parseUci } from 'chessops/util';
import * as tsshogi from 'tsshogi';
import { Game, Position, load, read } from '@readyok/rules';

await load();

let seed = 11;
const random = (below) => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff) % below;
const sorted = (texts) => [...texts].sort();

/** The legal moves of chessops. In standard chess the king moves two squares. */
function movesOf(chess, is960) {
  const all = [];
  for (const [from, squares] of chess.allDests()) {
    for (const to of squares) {
      const isPromotion = chess.board.getRole(from) === 'pawn' && (to < 8 || to >= 56);
      const side = castlingSide(chess, { from, to });
      if (side && !is960) all.push(makeUci({ from, to: side === 'h' ? from + 2 : from - 2 }));
      else if (isPromotion) for (const promotion of ['queen', 'rook', 'bishop', 'knight']) all.push(makeUci({ from, to, promotion }));
      else all.push(makeUci({ from, to }));
    }
  }
  return all;
}

describe('chessops', () => {
  for (const game of ['chess', 'chess960']) {
    it(`agrees on random games of ${game}`, () => {
      let plies = 0;
      for (let count = 0; count < 120; count++) {
        const number = game === 'chess' ? 518 : random(960);
        const position = game === 'chess' ? new Position() : Position.chess960(number, count % 2 ? random(960) : number);
        const chess = Chess.fromSetup(parseFen(position.text()).unwrap()).unwrap();
        for (let ply = 0; ply < 120; ply++) {
          const at = `${position.text()} ${position.moves}`;
          const moves = position.legalMoves;
          assert.deepEqual(sorted(moves), sorted(movesOf(chess, game === 'chess960')), at);
          assert.equal(position.text(), makeFen(chess.toSetup()), at);
          assert.equal(position.inCheck, chess.isCheck(), at);
          const end = position.outcome?.termination;
          assert.equal(end === 'checkmate', chess.isCheckmate(), at);
          assert.equal(end === 'stalemate', chess.isStalemate(), at);
          if (!['repetition', 'fifty-moves'].includes(end)) assert.equal(end === 'insufficient-material', chess.isInsufficientMaterial(), at);
          if (game === 'chess960') {
            const theirs = [...chessgroundDests(chess, { chess960: true })].map(([from, to]) => [from, sorted(to)]);
            assert.deepEqual(sorted([...position.destinations()].map(([from, to]) => [from, sorted(to)])), sorted(theirs), at);
          }
          if (moves.length === 0 || chess.isEnd()) break;
          const move = moves[random(moves.length)];
          const san = makeSan(chess, parseUci(move));
          assert.equal(position.notation(move), san, at);
          assert.equal(position.parse(san, 'san'), move, at);
          position.push(move);
          chess.play(parseUci(move));
          plies++;
        }
        position.free();
      }
      assert.ok(plies > 8_000);
    });
  }

  it('agrees on the games of PGN files, except for listed ones', () => {
    const different = [];
    let equal = 0;
    for (const [file, text] of records('pgn')) {
      const ours = [];
      const source = read(text, { onError: () => ours.push(undefined) });
      for (const game of source) ours.push(game);
      const theirs = parsePgn(text);
      for (let index = 0; index < Math.max(ours.length, theirs.length); index++) {
        if (ours[index] && theirs[index] && isSame(ours[index], theirs[index])) equal++;
        else different.push(`${file} ${index + 1}`);
      }
    }
    assert.deepEqual(different, Object.keys(DIFFERENT_PGN));
    assert.equal(equal, 38);
  });
});

/** Whether the positions of the main lines are equal, up to a null move, which chessops does not have. */
function isSame(game, { headers, moves }) {
  // chessops knows fewer names of variants.
  if (game.game === 'chess960') headers.set('Variant', 'Chess960');
  else headers.delete('Variant');
  const started = startingPosition(headers);
  if (started.isErr) return false;
  const chess = started.value;
  const texts = [makeFen(chess.toSetup())];
  for (const node of moves.mainline()) {
    const move = parseSan(chess, node.san);
    if (!move) break;
    chess.play(move);
    texts.push(makeFen(chess.toSetup()));
  }
  const length = (game.moves.indexOf('0000') + 1 || Infinity);
  return String(game.texts().slice(0, length)) === String(texts);
}

const UNCLOSED = 'to chessops, a comment that is not closed ends with the file, and not before the next game';
/** The games that differ, with the reasons. */
const DIFFERENT_PGN = {
  'broken.pgn 4': UNCLOSED,
  'broken.pgn 5': UNCLOSED,
  'broken.pgn 6': UNCLOSED,
  'fastchess-1.8.2.pgn 5': 'moves in UCI notation, which chessops does not read in PGN',
};

describe('chess.js', () => {
  it('agrees on moves, SAN and FEN', () => {
    for (let count = 0; count < 8; count++) {
      const [position, chess] = [new Position(), new ChessJs()];
      for (let ply = 0; ply < 60 && !position.outcome; ply++) {
        const theirs = chess.moves({ verbose: true });
        assert.deepEqual(sorted(position.legalMoves), sorted(theirs.map((move) => move.lan)));
        const { lan, san } = theirs[random(theirs.length)];
        assert.equal(position.notation(lan), san);
        position.push(san);
        chess.move(san);
        assert.equal(position.text(), chess.fen());
        assert.equal(position.inCheck, chess.inCheck());
      }
      const [game] = read(chess.pgn());
      assert.deepEqual(game.moves, position.moves);
    }
  });
});

const usi = (record) => record.moves.map(({ move }) => move.usi).filter(Boolean);
const IMPORTS = { kif: tsshogi.importKIF, ki2: tsshogi.importKI2, csa: tsshogi.importCSA, jkf: tsshogi.importJKFString };
const EXPORTS = { kif: tsshogi.exportKIF, ki2: tsshogi.exportKI2, csa: tsshogi.exportCSA, jkf: tsshogi.exportJKFString };

describe('tsshogi', () => {
  it('agrees on random games of shogi', () => {
    let plies = 0;
    for (let count = 0; count < 60; count++) {
      const position = count % 3 ? new Position(undefined, { game: 'shogi' }) : Position.handicap('two pieces');
      const { startText } = position;
      const theirs = tsshogi.Position.newBySFEN(startText);
      let last;
      for (let ply = 0; ply < 150; ply++) {
        const moves = position.legalMoves;
        // Their generator is a test of one move.
        for (const move of moves) assert.ok(theirs.isValidMove(theirs.createMoveByUSI(move)), `${position.text()} ${move}`);
        const others = legalOf(theirs);
        assert.deepEqual(sorted(moves), sorted(others), position.text());
        assert.equal(position.inCheck, theirs.checked);
        if (moves.length === 0) break;
        const text = moves[random(moves.length)];
        const move = theirs.createMoveByUSI(text);
        const japanese = tsshogi.formatMove(theirs, move, { lastMove: last }).replace('☗', '▲').replace('☖', '△');
        assert.equal(position.notation(text, 'japanese').replace('　', ''), japanese.replace('　', ''), position.text());
        position.push(japanese);
        theirs.doMove(move);
        last = move;
        // Their SFEN has the number of the move only on request.
        assert.equal(position.text(), theirs.getSFEN(position.moves.length + 1), startText);
        plies++;
      }
      const game = new Game(position);
      game.finish('resignation');
      for (const [format, importer] of Object.entries(IMPORTS)) {
        const record = importer(game.write(format));
        assert.ok(!(record instanceof Error), `${format} ${record}`);
        assert.deepEqual(usi(record), game.moves, format);
        const special = record.moves.at(-1).move;
        assert.equal(special.type, 'resign');
        const [back] = read(EXPORTS[format](record, {}), { format });
        assert.deepEqual(back.moves, game.moves, format);
        assert.deepEqual(back.outcome, game.outcome, format);
        assert.equal(back.texts()[0], startText);
      }
    }
    assert.ok(plies > 5_000);
  });

  it('agrees on the games of files', () => {
    let games = 0;
    for (const [extensions, importer] of [['kif kifu', IMPORTS.kif], ['ki2 ki2u', IMPORTS.ki2], ['csa', IMPORTS.csa], ['jkf', IMPORTS.jkf]]) {
      for (const [file, text] of records(extensions)) {
        const ours = [...read(text)];
        // It reads one game of a file.
        const record = importer(ours.length > 1 && extensions === 'csa' ? text.split(/^\/$/m)[0] : text);
        assert.ok(!(record instanceof Error), `${file}: ${record}`);
        assert.deepEqual(ours[0].moves, usi(record), file);
        assert.equal(ours[0].texts()[0], record.initialPosition.getSFEN(1), file);
        games++;
      }
    }
    assert.ok(games > 15, `${games}`);
  });
});

/** The legal moves by testing all pairs of squares. */
function legalOf(position) {
  const all = [];
  const squares = tsshogi.Square.all;
  const own = position.board.listNonEmptySquares().filter((square) => position.board.at(square).color === position.color);
  const sources = [...own, ...position.hand(position.color).counts.filter(({ count }) => count).map(({ type }) => type)];
  for (const from of sources) {
    for (const to of squares) {
      const move = position.createMove(from, to);
      if (!move) continue;
      for (const one of [move, move.withPromote()]) if (position.isValidMove(one)) all.push(one.usi);
    }
  }
  return new Set(all);
}

/** The files of the repository with one of some extensions, decoded. */
function records(extensions) {
  const directory = new URL('../../../testdata/records/', import.meta.url);
  const isWanted = (name) => extensions.split(' ').includes(name.split('.').at(-1));
  return readdirSync(directory).filter(isWanted).map((name) => {
    const bytes = readFileSync(new URL(name, directory));
    for (const label of ['utf-8', 'shift_jis', 'euc-jp']) {
      try {
        return [name, new TextDecoder(label, { fatal: true }).decode(bytes)];
      } catch { /* The next one. */ }
    }
    return [name, new TextDecoder('latin1').decode(bytes)];
  });
}
