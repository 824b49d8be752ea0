// Compares @readyok/rules with chessops, chess.js and tsshogi: node bench.mjs [ROUNDS]
//
// Each round runs both programs one after the other, so that the load of the machine is the same. The ratio is the median
// of the ratios of the rounds. Games are random with a fixed seed. What both programs count must be equal.
import { Chess as ChessJs } from 'chess.js';
import { Chess } from 'chessops/chess';
import { chessgroundDests } from 'chessops/compat';
import { makeFen } from 'chessops/fen';
import { parsePgn, startingPosition } from 'chessops/pgn';
import { makeSanVariation, parseSan } from 'chessops/san';
import { parseUci } from 'chessops/util';
import { Game, Position, load, read } from '@readyok/rules';
import { importKIF } from 'tsshogi';

await load();
const rounds = Number(process.argv[2] ?? 7);

let seed = 7;
const random = (below) => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff) % below;

function randomLine(game, plies) {
  const position = new Position(undefined, { game });
  const line = [];
  while (line.length < plies) {
    const moves = position.legalMoves;
    if (moves.length === 0 || position.outcome) break;
    line.push(position.push(moves[random(moves.length)]));
  }
  position.free();
  return line;
}

const lines = Array.from({ length: 60 }, () => randomLine('chess', 80));
const plies = lines.flat().length;
const pgn = (count, from) => {
  const games = Array.from({ length: count }, (_, index) => {
    const game = Game.from(from?.[index] ?? randomLine('chess', 200));
    game.setHeader('Event', `Game ${index}`);
    return game.write('pgn');
  });
  return new TextEncoder().encode(games.join('\n'));
};
const large = pgn(1000);
const largeText = new TextDecoder().decode(large);
const small = pgn(30, lines);
const smallTexts = new TextDecoder().decode(small).split(/\n\n(?=\[Event )/);
const shogiLines = Array.from({ length: 30 }, () => randomLine('shogi', 120));
const kifs = shogiLines.map((line) => Game.from(line, { game: 'shogi' }).write('kif'));

const rows = [];

/** Compares two functions that return the same number, which is the number of units. */
function compare(name, rival, ours, theirs, { units, times = rounds } = {}) {
  const time = (call) => {
    const start = performance.now();
    const count = call();
    return [performance.now() - start, count];
  };
  const all = [];
  time(ours);
  for (let round = 0; round < times; round++) {
    const [our, count] = time(ours);
    const [their, expected] = time(theirs);
    if (count !== expected) throw new Error(`${name}: ${count} instead of ${expected}`);
    all.push([their / our, our / (units ?? count), their / (units ?? count)]);
  }
  const median = (index) => all.map((row) => row[index]).sort((a, b) => a - b)[all.length >> 1];
  rows.push(`| ${name} | ${(median(1) * 1e3).toFixed(2)} | ${rival} ${(median(2) * 1e3).toFixed(2)} | **${median(0).toFixed(1)} ×** |`);
  console.error(rows.at(-1));
}

const readAll = (source, count, options = { format: 'pgn', encoding: 'utf-8' }) => {
  let sum = 0;
  for (const game of read(source, options)) {
    sum += count(game);
    game.free();
  }
  return sum;
};

function readChessops(text, visit) {
  let sum = 0;
  for (const game of parsePgn(text)) {
    const position = startingPosition(game.headers).unwrap();
    for (const node of game.moves.mainline()) {
      const move = parseSan(position, node.san);
      if (!move) throw new Error(node.san);
      position.play(move);
      sum += visit(position);
    }
  }
  return sum;
}

const nodes = (line) => line.length;
compare('PGN, legal moves, main line', 'chessops',
  () => readAll(large, (game) => game.moves.length), () => readChessops(largeText, () => 1));
compare('PGN to a tree of objects', 'chessops',
  () => readAll(large, (game) => nodes(game.tree)), () => readChessops(largeText, () => 1));
compare('PGN, the FEN of each position', 'chessops',
  () => readAll(large, (game) => game.texts().length - 1),
  () => readChessops(largeText, (position) => (makeFen(position.toSetup()) ? 1 : 0)));
compare('PGN, legal moves, 30 games', 'chess.js', () => readAll(small, (game) => game.moves.length), () => {
  let sum = 0;
  for (const text of smallTexts) {
    const chess = new ChessJs();
    chess.loadPgn(text);
    sum += chess.history().length;
  }
  return sum;
}, { times: 3 });

/** Plays all lines. */
const ours = (visit) => () => {
  let sum = 0;
  for (const line of lines) {
    const position = new Position();
    for (const move of line) sum += visit(position, move);
    position.free();
  }
  return sum;
};
const chessops = (visit) => () => {
  let sum = 0;
  for (const line of lines) {
    const position = Chess.default();
    for (const move of line) sum += visit(position, parseUci(move));
  }
  return sum;
};
const chessJs = (visit) => () => {
  let sum = 0;
  for (const line of lines) {
    const chess = new ChessJs();
    for (const move of line) sum += visit(chess, { from: move.slice(0, 2), to: move.slice(2, 4), promotion: move[4] });
  }
  return sum;
};
const length = (map) => [...map.values()].reduce((sum, squares) => sum + squares.length, 0);

compare('legal destinations and push', 'chessops',
  ours((position, move) => (position.destinations().size > 0 && position.push(move) ? 1 : 0)),
  chessops((position, move) => (chessgroundDests(position).size > 0 && (position.play(move), 1))), { units: plies });
compare('legal moves and push', 'chess.js',
  ours((position, move) => { const { length } = position.legalMoves; position.push(move); return length; }),
  chessJs((chess, move) => { const { length } = chess.moves(); chess.move(move); return length; }), { units: plies, times: 3 });
compare('push, with legality', 'chessops',
  ours((position, move) => (position.push(move) ? 1 : 0)),
  chessops((position, move) => { if (!position.isLegal(move)) throw new Error(); position.play(move); return 1; }));
compare('push of a whole line', 'chessops',
  () => { let sum = 0; for (const line of lines) { const position = new Position(); sum += position.push(...line).length; position.free(); } return sum; },
  chessops((position, move) => { if (!position.isLegal(move)) throw new Error(); position.play(move); return 1; }));
compare('push and FEN (chessops tests no legality here)', 'chessops',
  ours((position, move) => { position.push(move); return position.text().length; }),
  chessops((position, move) => { position.play(move); return makeFen(position.toSetup()).length; }), { units: plies });
compare('line to SAN', 'chessops',
  () => lines.reduce((sum, line) => { const position = new Position(); sum += position.line(line).length; position.free(); return sum; }, 0),
  () => lines.reduce((sum, line) => sum + (makeSanVariation(Chess.default(), line.map(parseUci)) ? line.length : 0), 0));
compare('pop and push at the end of a line', 'chess.js',
  () => lines.reduce((sum, line) => { const position = new Position(); position.push(...line); for (let n = 0; n < 20; n++) { position.pop(); position.push(line.at(-1)); sum++; } position.free(); return sum; }, 0),
  () => lines.reduce((sum, line) => { const chess = new ChessJs(); for (const move of line) chess.move(move); for (let n = 0; n < 20; n++) { chess.undo(); chess.move(line.at(-1)); sum++; } return sum; }, 0), { times: 3 });
compare('KIF', 'tsshogi', () => kifs.reduce((sum, kif) => sum + readAll(kif, (game) => game.moves.length, { format: 'kif' }), 0),
  () => kifs.reduce((sum, kif) => {
    const record = importKIF(kif);
    if (record instanceof Error) throw record;
    // Without the start.
    return sum + record.moves.length - 1;
  }, 0));

console.log(`| Node ${process.versions.node} | µs a ply | rival | ratio |\n|---|--:|--:|--:|\n${rows.join('\n')}`);
