//! Endgames: drawish material, mating a bare king, and king and pawn against king.

use std::sync::LazyLock;

use cozy_chess::{BitBoard, File, Piece, Rank, Square, get_king_moves};

use super::{
    Context,
    terms::TermSink,
    view::{View, adjacent, count, distance, down, from_corner, same_color, up},
    weights::{BARE_CORNER, BARE_KING},
};
use crate::eval::SCALE_NORMAL;

/// The scale factor of this side's advantage, in 64ths.
#[inline(always)]
pub(super) fn scale(context: &Context<'_>) -> i32 {
    let view = context.view;
    match count(view.own(Piece::Pawn)) {
        0 => return without_pawns(view),
        1 if view.all_own.len() == 2 && view.all_enemy.len() == 1 => return one_pawn(view),
        // The enemy can sacrifice a piece for the pawn.
        1 if own_points(view) <= enemy_points(view) + 2 && enemy_points(view) >= 3 => return 40,
        _ if is_wrong_corner(view) => return 2,
        _ => {}
    }
    let bishops = [view.own(Piece::Bishop), view.enemy(Piece::Bishop)];
    let [Some(bishop), Some(other)] = bishops.map(BitBoard::next_square) else {
        return SCALE_NORMAL;
    };
    let opposite =
        bishops.into_iter().all(|bishops| count(bishops) == 1) && !same_color(bishop).has(other);
    if !opposite {
        return SCALE_NORMAL;
    }
    match (own_points(view), enemy_points(view)) {
        (3, 3) => (20 + 6 * count(context.pawns.passed).cast_signed()).min(SCALE_NORMAL),
        (own, enemy) if own == enemy => 54,
        _ => SCALE_NORMAL,
    }
}

#[inline(always)]
fn own_points(view: &View) -> u32 {
    piece_points(|piece| view.own(piece))
}

#[inline(always)]
fn enemy_points(view: &View) -> u32 {
    piece_points(|piece| view.enemy(piece))
}

/// Material in pawns.
#[inline(always)]
fn piece_points(of: impl Fn(Piece) -> BitBoard) -> u32 {
    3 * count(of(Piece::Knight) | of(Piece::Bishop))
        + 5 * count(of(Piece::Rook))
        + 9 * count(of(Piece::Queen))
}

#[inline(always)]
fn without_pawns(view: &View) -> i32 {
    if has_bishops_of_one_color_only(view) {
        return 0;
    }
    let (own, enemy) = (own_points(view), enemy_points(view));
    let only_knights = 3 * count(view.own(Piece::Knight)) == own;
    if own < 5 || own == 6 && only_knights && view.enemy(Piece::Pawn).is_empty() {
        0
    } else if own <= enemy + 3 {
        if enemy <= 3 { 6 } else { 16 }
    } else if own == 6 && only_knights {
        6
    } else {
        SCALE_NORMAL
    }
}

/// Whether this side has only bishops on squares of one color, which cannot mate, except a king
/// blocked by its own pieces.
fn has_bishops_of_one_color_only(view: &View) -> bool {
    let bishops = view.own(Piece::Bishop);
    bishops == view.all_own - view.own(Piece::King)
        && bishops.next_square().is_some_and(|bishop| bishops.is_subset(same_color(bishop)))
}

/// King and pawn against king.
fn one_pawn(view: &View) -> i32 {
    let won = view
        .own(Piece::Pawn)
        .next_square()
        .is_some_and(|pawn| is_won(view.king, pawn, view.enemy_king, view.to_move));
    if won { SCALE_NORMAL } else { 0 }
}

/// Wrong rook pawn: whether all pawns are on one edge file and the enemy king holds the corner.
fn is_wrong_corner(view: &View) -> bool {
    let pawns = view.own(Piece::Pawn);
    let Some(file) = [File::A, File::H].into_iter().find(|file| pawns.is_subset(file.bitboard()))
    else {
        return false;
    };
    let corner = Square::new(file, Rank::Eighth);
    let pieces = view.all_own - pawns - view.own(Piece::King);
    pieces.is_subset(view.own(Piece::Bishop) - same_color(corner))
        && distance(view.enemy_king, corner) <= 1
}

/// Terms against a bare king: distance of the kings, and the corner with bishop and knight.
#[inline(always)]
pub(super) fn bare_king(view: &View, terms: &mut impl TermSink) {
    if view.all_enemy.len() > 1 {
        return;
    }
    terms.add(BARE_KING.at(distance(view.king, view.enemy_king).saturating_sub(2)));
    let (bishops, knights) = (view.own(Piece::Bishop), view.own(Piece::Knight));
    if view.all_own.len() == 3
        && knights.len() == 1
        && let (Some(bishop), 1) = (bishops.next_square(), bishops.len())
    {
        terms.add(BARE_CORNER.at(from_corner(view.enemy_king, same_color(bishop))));
    }
}

/// Pawns on the left half; the others are mirrored.
const PAWNS: usize = 4 * 6;

/// By pawn and own king, the squares on which the enemy king loses.
type Won = Vec<[BitBoard; Square::NUM]>;

/// The KPK bitbase: wins with the pawn's side to move and to wait.
struct KpkBitbase {
    to_move: Won,
    to_wait: Won,
}

static KPK: LazyLock<KpkBitbase> = LazyLock::new(KpkBitbase::new);

/// Builds the bitbase.
pub(super) fn prepare() {
    LazyLock::force(&KPK);
}

/// Whether the side with the pawn wins.
fn is_won(king: Square, pawn: Square, enemy_king: Square, to_move: bool) -> bool {
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
        for pawn in
            Square::ALL.into_iter().filter(|&it| 0 < it.rank() as u8 && it.rank() != Rank::Eighth)
        {
            for (king, enemy) in
                Square::ALL.into_iter().flat_map(|king| Square::ALL.map(|it| (king, it)))
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
