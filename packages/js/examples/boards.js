// Adapters: the configuration of chessground and shogiground for a position.

/** The squares of a move. Castling in Chess960 has the square of the rook. */
const squares = (move) => move.match(/[a-i1-9]{2}/g);

/** For chessground. `play` gets the move of the player in UCI notation. */
export function chessConfig(position, play) {
  const color = position.turn === 'first' ? 'white' : 'black';
  const last = position.moves.at(-1);
  return {
    fen: position.text(),
    turnColor: color,
    check: position.inCheck,
    lastMove: last ? squares(last) : undefined,
    movable: { free: false, color, dests: position.destinations(), events: { after: (from, to) => play(from + to) } },
  };
}

const ROLES = { R: 'rook', B: 'bishop', G: 'gold', S: 'silver', N: 'knight', L: 'lance', P: 'pawn' };
const LETTERS = Object.fromEntries(Object.entries(ROLES).map(([letter, role]) => [role, letter]));

/** For shogiground. `play` gets the move in USI notation without its promotion. */
export function shogiConfig(position, play) {
  const color = position.turn === 'first' ? 'sente' : 'gote';
  const [board, , hands] = position.text().split(' ');
  const last = position.moves.at(-1);
  const all = [...position.destinations()];
  const drops = all.filter(([from]) => from.endsWith('*'));
  return {
    sfen: { board, hands },
    turnColor: color,
    activeColor: color,
    checks: position.inCheck,
    lastDests: last ? squares(last) : undefined,
    movable: {
      free: false,
      dests: new Map(all.filter(([from]) => !from.endsWith('*'))),
      events: { after: (from, to) => play(from + to) },
    },
    droppable: {
      free: false,
      dests: new Map(drops.map(([from, to]) => [`${color} ${ROLES[from[0]]}`, to])),
      events: { after: (piece, to) => play(`${LETTERS[piece.role]}*${to}`) },
    },
  };
}
