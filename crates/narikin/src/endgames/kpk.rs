//! King and pawn against king.

use std::sync::LazyLock;

use cozy_chess::{BitBoard, File, Rank, Square, get_king_moves};

use super::{adjacent, distance, down, up};

/// Pawns on the left half; the others are mirrored.
const PAWNS: usize = 4 * 6;

/// By pawn and own king, the squares on which the enemy king loses.
type KpkTable = Vec<[BitBoard; Square::NUM]>;

/// The KPK bitbase: wins with the pawn's side to move and to wait.
struct KpkBitbase {
    to_move: KpkTable,
    to_wait: KpkTable,
}

static KPK: LazyLock<KpkBitbase> = LazyLock::new(KpkBitbase::new);

/// Builds the bitbase.
pub(super) fn prepare() {
    LazyLock::force(&KPK);
}

/// Whether the side with the pawn wins. It plays upwards.
pub(super) fn is_won(king: Square, pawn: Square, enemy_king: Square, to_move: bool) -> bool {
    let is_left = pawn.file() <= File::D;
    let turn = |square: Square| if is_left { square } else { square.flip_file() };
    let Some(index) = index_of(turn(pawn)) else { return true };
    let won = if to_move { &KPK.to_move } else { &KPK.to_wait };
    let squares = won.get(index).map(|of_pawn| of_pawn[turn(king) as usize]);
    squares.is_some_and(|squares| squares.has(turn(enemy_king)))
}

/// The index of a pawn on the left half; none on the first and last rank.
fn index_of(pawn: Square) -> Option<usize> {
    let rank = (pawn.rank() as usize).checked_sub(1).filter(|&rank| rank < 6)?;
    Some(rank * 4 + pawn.file() as usize)
}

fn pawn_at(index: usize) -> Square {
    Square::new(File::index(index % 4), Rank::index(index / 4 + 1))
}

/// Squares at a king's distance from these.
fn around(squares: BitBoard) -> BitBoard {
    let sides = adjacent(squares);
    let row = squares | sides;
    sides | up(row) | down(row)
}

impl KpkBitbase {
    fn new() -> Self {
        let zero = || vec![[BitBoard::EMPTY; Square::NUM]; PAWNS];
        let mut results = Self { to_move: zero(), to_wait: zero() };
        // Wins are only added, so this terminates.
        while results.deepen() {}
        results
    }

    /// One retrograde step. Returns whether wins were added.
    fn deepen(&mut self) -> bool {
        let mut grew = false;
        for index in (0..PAWNS).rev() {
            let pawn = pawn_at(index);
            for king in Square::ALL.into_iter().filter(|&king| king != pawn) {
                let won = self.won_to_wait(index, pawn, king);
                grew |= self.to_wait[index][king as usize] != won;
                self.to_wait[index][king as usize] = won;
            }
            for king in Square::ALL.into_iter().filter(|&king| king != pawn) {
                let won = self.won_to_move(index, pawn, king);
                grew |= self.to_move[index][king as usize] != won;
                self.to_move[index][king as usize] = won;
            }
        }
        grew
    }

    /// Squares on which the enemy king loses with the move: all its moves lose, and it has one.
    fn won_to_wait(&self, index: usize, pawn: Square, king: Square) -> BitBoard {
        let guarded = get_king_moves(king);
        let free = !(guarded | king.bitboard() | attacks(pawn));
        // Capturing the pawn does not lose.
        let saves = free - self.to_move[index][king as usize];
        let stands = !(guarded | king.bitboard() | pawn.bitboard());
        (stands & around(free)) - around(saves)
    }

    /// Squares on which the enemy king loses against the best move.
    fn won_to_move(&self, index: usize, pawn: Square, king: Square) -> BitBoard {
        let mut won = BitBoard::EMPTY;
        for to in get_king_moves(king) - pawn.bitboard() {
            won |= self.to_wait[index][to as usize];
        }
        let next = up(pawn.bitboard());
        if let Some(first) = next.next_square().filter(|&first| first != king) {
            won |= match index_of(first) {
                Some(first) => self.to_wait[first][king as usize],
                // A queen wins unless captured.
                None if distance(king, first) == 1 => !next,
                None => !(next | get_king_moves(first)),
            };
            let second = up(next);
            if pawn.rank() == Rank::Second
                && let Some(second) = second.next_square().filter(|&second| second != king)
                && let Some(second) = index_of(second)
            {
                won |= self.to_wait[second][king as usize] - next;
            }
        }
        // Illegal: the side not to move is in check.
        let near = get_king_moves(king) | king.bitboard() | pawn.bitboard() | attacks(pawn);
        won - near
    }
}

/// The squares attacked by a pawn.
fn attacks(pawn: Square) -> BitBoard {
    adjacent(up(pawn.bitboard()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tablebase::{Tablebases, Wdl};
    use cozy_chess::{BoardBuilder, Color, Piece};

    #[test]
    fn matches_tablebases_in_every_position() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/syzygy");
        let tables = Tablebases::open(directory).unwrap();
        let mut seen = 0;
        for pawn in Square::ALL
            .into_iter()
            .filter(|&square| 0 < square.rank() as u8 && square.rank() != Rank::Eighth)
        {
            for (king, enemy) in
                Square::ALL.into_iter().flat_map(|king| Square::ALL.map(|square| (king, square)))
            {
                for color in [Color::White, Color::Black] {
                    let mut board = BoardBuilder::empty();
                    *board.square_mut(king) = Some((Piece::King, Color::White));
                    *board.square_mut(enemy) = Some((Piece::King, Color::Black));
                    *board.square_mut(pawn) = Some((Piece::Pawn, Color::White));
                    board.side_to_move = color;
                    let is_whole = king != enemy && king != pawn && enemy != pawn;
                    let Some(board) = board.build().ok().filter(|_| is_whole) else { continue };
                    let to_move = color == Color::White;
                    let expected = if to_move { Wdl::Win } else { Wdl::Loss };
                    let expected_win = tables.wdl(&board) == Some(expected);
                    assert_eq!(is_won(king, pawn, enemy, to_move), expected_win, "{board}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 300_000, "{seen}");
    }
}
