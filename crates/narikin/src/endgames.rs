//! Endgames of chess. Networks do not learn them, because games of training are adjudicated earlier.
//!
//! Against a bare king, simple terms replace the value of the network: they reward progress to mate.
//! In other endgames with few pieces, the value of drawish material is scaled down.

mod kpk;

use cozy_chess::{BitBoard, Board, Color, File, Piece, Rank, Square};

use crate::score::Value;

/// The maximum number of pieces of an endgame whose value is corrected.
const MAX_PIECES: u32 = 7;

/// The scale factor of normal endgames.
const SCALE_NORMAL: Value = 64;

/// The value of a win against a bare king, besides material and progress.
const WIN: Value = 400;

/// Builds the tables.
pub(crate) fn prepare() {
    kpk::prepare();
}

/// A network's value for the side to move, corrected in endgames.
pub(crate) fn corrected_value(board: &Board, value: Value) -> Value {
    if board.occupied().len() > MAX_PIECES {
        return value;
    }
    let us = board.side_to_move();
    if let Some(bare) = Color::ALL.into_iter().find(|&color| board.colors(color).len() == 1) {
        let view = View { board, color: !bare };
        let value = progress(view) * scale(view) / SCALE_NORMAL;
        return if bare == us { -value } else { value };
    }
    let ahead = if value > 0 { us } else { !us };
    value * scale(View { board, color: ahead }) / SCALE_NORMAL
}

/// A position from the perspective of a side, which plays upwards.
#[derive(Clone, Copy)]
struct View<'a> {
    board: &'a Board,
    color: Color,
}

impl View<'_> {
    /// Flips ranks for Black.
    fn turned(self, squares: BitBoard) -> BitBoard {
        match self.color {
            Color::White => squares,
            Color::Black => squares.flip_ranks(),
        }
    }

    fn own(self, piece: Piece) -> BitBoard {
        self.turned(self.board.colored_pieces(self.color, piece))
    }

    fn enemy(self, piece: Piece) -> BitBoard {
        self.turned(self.board.colored_pieces(!self.color, piece))
    }

    fn all_own(self) -> BitBoard {
        self.turned(self.board.colors(self.color))
    }

    fn king(self) -> Square {
        self.board.king(self.color).relative_to(self.color)
    }

    fn enemy_king(self) -> Square {
        self.board.king(!self.color).relative_to(self.color)
    }

    /// Pieces in pawns, without pawns.
    fn points(self) -> u32 {
        points(|piece| self.own(piece))
    }

    fn enemy_points(self) -> u32 {
        points(|piece| self.enemy(piece))
    }

    /// Pawns that no pawn can stop.
    fn passed_pawns(self) -> BitBoard {
        let (own, enemy) = (self.own(Piece::Pawn), self.enemy(Piece::Pawn));
        let ahead = fill_down(down(enemy));
        own - ahead - adjacent(down(enemy | ahead)) - fill_down(down(own))
    }
}

fn points(of: impl Fn(Piece) -> BitBoard) -> u32 {
    3 * (of(Piece::Knight) | of(Piece::Bishop)).len()
        + 5 * of(Piece::Rook).len()
        + 9 * of(Piece::Queen).len()
}

/// The value of a win against a bare king: material, promotion of pawns, or mate at the edge.
fn progress(view: View<'_>) -> Value {
    let pawns = view.own(Piece::Pawn);
    let (king, enemy_king) = (view.king(), view.enemy_king());
    let material = 100 * (view.points() + pawns.len()).cast_signed();
    // Flipped, so that the most advanced pawn is the first one.
    let place = if let Some(pawn) = pawns.flip_ranks().next_square().map(Square::flip_rank) {
        let stop = Square::new(pawn.file(), Rank::index((pawn.rank() as usize + 1).min(7)));
        let ranks: Value = pawns.into_iter().map(|pawn| pawn.rank() as Value).sum();
        20 * ranks + 10 * (7 - distance(king, stop))
    } else {
        let knights = view.own(Piece::Knight);
        let bishops = view.own(Piece::Bishop);
        let corner = match bishops.next_square() {
            Some(bishop) if knights.len() == 1 && view.all_own().len() == 3 => {
                100 * (7 - from_corner(enemy_king, same_color(bishop)))
            }
            _ => 30 * from_center(enemy_king),
        };
        corner + 20 * (7 - distance(king, enemy_king))
    };
    WIN + material + place
}

/// The scale factor of this side's advantage, in 64ths.
fn scale(view: View<'_>) -> Value {
    let pawns = view.own(Piece::Pawn);
    match pawns.len() {
        0 => return scale_without_pawns(view),
        1 if view.board.occupied().len() == 3 => {
            let to_move = view.board.side_to_move() == view.color;
            let pawn = pawns.next_square();
            let wins = |pawn| kpk::is_won(view.king(), pawn, view.enemy_king(), to_move);
            return if pawn.is_some_and(wins) { SCALE_NORMAL } else { 0 };
        }
        // The enemy can sacrifice a piece for the pawn.
        1 if view.points() <= view.enemy_points() + 2 && view.enemy_points() >= 3 => return 40,
        _ if is_wrong_corner(view) => return 2,
        _ => {}
    }
    let bishops = [view.own(Piece::Bishop), view.enemy(Piece::Bishop)];
    let [Some(bishop), Some(other)] = bishops.map(BitBoard::next_square) else {
        return SCALE_NORMAL;
    };
    let are_opposite =
        bishops.iter().all(|bishops| bishops.len() == 1) && !same_color(bishop).has(other);
    match (view.points(), view.enemy_points()) {
        _ if !are_opposite => SCALE_NORMAL,
        (3, 3) => (20 + 6 * view.passed_pawns().len().cast_signed()).min(SCALE_NORMAL),
        (own, enemy) if own == enemy => 54,
        _ => SCALE_NORMAL,
    }
}

fn scale_without_pawns(view: View<'_>) -> Value {
    let bishops = view.own(Piece::Bishop);
    let are_alone = bishops == view.all_own() - view.own(Piece::King);
    // Bishops on squares of one color cannot mate, except a king blocked by its own pieces.
    let cannot_mate = |bishop| bishops.is_subset(same_color(bishop));
    if are_alone && bishops.next_square().is_some_and(cannot_mate) {
        return 0;
    }
    let (own, enemy) = (view.points(), view.enemy_points());
    let has_two_knights = own == 6 && view.own(Piece::Knight).len() == 2;
    if own < 5 || has_two_knights && view.enemy(Piece::Pawn).is_empty() {
        0
    } else if own <= enemy + 3 {
        if enemy <= 3 { 6 } else { 16 }
    } else if has_two_knights {
        6
    } else {
        SCALE_NORMAL
    }
}

/// Wrong rook pawn: whether all pawns are on one edge file and the enemy king holds the corner.
fn is_wrong_corner(view: View<'_>) -> bool {
    let pawns = view.own(Piece::Pawn);
    let Some(file) = [File::A, File::H].into_iter().find(|file| pawns.is_subset(file.bitboard()))
    else {
        return false;
    };
    let corner = Square::new(file, Rank::Eighth);
    let pieces = view.all_own() - pawns - view.own(Piece::King);
    pieces.is_subset(view.own(Piece::Bishop) - same_color(corner))
        && distance(view.enemy_king(), corner) <= 1
}

fn up(squares: BitBoard) -> BitBoard {
    BitBoard(squares.0 << 8)
}

fn down(squares: BitBoard) -> BitBoard {
    BitBoard(squares.0 >> 8)
}

/// Horizontally adjacent squares.
fn adjacent(squares: BitBoard) -> BitBoard {
    let left = (squares - File::A.bitboard()).0 >> 1;
    let right = (squares - File::H.bitboard()).0 << 1;
    BitBoard(left | right)
}

fn fill_down(BitBoard(mut squares): BitBoard) -> BitBoard {
    squares |= squares >> 8;
    squares |= squares >> 16;
    squares |= squares >> 32;
    BitBoard(squares)
}

/// King distance.
fn distance(from: Square, to: Square) -> Value {
    let files = (from.file() as Value).abs_diff(to.file() as Value);
    let ranks = (from.rank() as Value).abs_diff(to.rank() as Value);
    files.max(ranks).cast_signed()
}

/// The distance from the center: 0 to 6.
fn from_center(square: Square) -> Value {
    let away = |index: Value| (3 - index).max(index - 4);
    away(square.file() as Value) + away(square.rank() as Value)
}

/// The distance from the two corners of a color: 0 in them, 7 on the long diagonal between the
/// others. Each step along an edge towards such a corner reduces it.
fn from_corner(square: Square, color: BitBoard) -> Value {
    let (file, rank) = (square.file() as Value, square.rank() as Value);
    let is_dark = color.has(Square::A1);
    let off = if is_dark { (file + rank - 7).abs() } else { (file - rank).abs() };
    7 - off
}

/// All squares of the color of this one.
fn same_color(square: Square) -> BitBoard {
    let dark = BitBoard::DARK_SQUARES;
    if dark.has(square) { dark } else { BitBoard::LIGHT_SQUARES }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(fen: &str, value: Value) -> Value {
        let board: Board = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
        corrected_value(&board, value)
    }

    #[test]
    fn values_of_drawish_material_are_scaled_down() {
        for (fen, expected) in [
            // Bishops of one color cannot win against a pawn, and can be given for it.
            ("8/4p3/3k4/8/8/7K/8/2B1B3 w - - 0 1", 0),
            ("8/4p3/3k4/8/8/7K/8/2B1B3 b - - 0 1", 300 * 40 / 64),
            ("4k3/4n3/8/8/8/8/8/R3K3 w - - 0 1", 300 * 6 / 64),
            // Bishops of opposite colors, with a passed pawn and without one.
            ("4k3/2b5/8/8/8/4P3/4P3/2B1K3 w - - 0 1", 300),
            ("4k3/1b6/8/8/8/4P3/4P3/2B1K3 w - - 0 1", 300 * 26 / 64),
            ("4k3/1b2p3/8/8/8/4P3/4P3/2B1K3 w - - 0 1", 300 * 20 / 64),
            ("4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1", 300),
        ] {
            assert_eq!(corrected(fen, 300), expected, "{fen}");
        }
    }

    #[test]
    fn bare_kings_lose_only_against_mating_material() {
        // (position with White ahead, the bounds of its value)
        for (fen, bounds) in [
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", 0..1),
            ("4k3/8/8/8/8/8/8/2B1K3 w - - 0 1", 0..1),
            ("4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1", 0..1),
            ("k7/8/8/P7/8/8/8/2B1K3 w - - 0 1", 0..60),
            ("k7/8/8/P7/8/8/8/3BK3 w - - 0 1", 200..1200),
            ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 300..1500),
            ("4k3/8/8/8/8/8/8/1NB1K3 w - - 0 1", 300..1500),
            ("4k3/8/8/8/8/8/8/1BB1K3 w - - 0 1", 300..1500),
            ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", 300..1500),
            ("4k3/8/8/4P3/8/8/8/4K3 w - - 0 1", 0..1),
        ] {
            let value = corrected(fen, -300);
            assert!(bounds.contains(&value), "{fen}: {value}");
            let turned = fen.replace(" w ", " b ");
            assert!(corrected(&turned, 300) <= 0, "{turned}");
        }
    }

    #[test]
    fn values_do_not_depend_on_the_color() {
        for (white, black) in [
            ("k7/8/8/P7/8/8/8/3BK3 w - - 0 1", "3bk3/8/8/8/p7/8/8/K7 b - - 0 1"),
            ("8/8/8/3k4/8/8/8/1NB1K3 w - - 0 1", "1nb1k3/8/8/8/3K4/8/8/8 b - - 0 1"),
            ("4k3/1b6/8/8/8/4P3/4P3/2B1K3 b - - 0 1", "2b1k3/4p3/4p3/8/8/8/1B6/4K3 w - - 0 1"),
        ] {
            for value in [300, -300] {
                assert_eq!(corrected(white, value), corrected(black, value), "{white}");
            }
        }
    }

    /// Mate is possible in a corner of the bishop's color, to which the king is driven along an edge.
    #[test]
    fn bishop_and_knight_drive_a_king_to_the_right_corner() {
        let edge = [
            "k5N1/8/8/4K3/8/8/7B/8",
            "6N1/k7/8/4K3/8/8/7B/8",
            "6N1/8/k7/4K3/8/8/7B/8",
            "6N1/8/8/k3K3/8/8/7B/8",
            "6N1/8/8/4K3/k7/8/7B/8",
            "6N1/8/8/4K3/8/k7/7B/8",
            "6N1/8/8/4K3/8/8/k6B/8",
        ];
        let values = edge.map(|king| corrected(&format!("{king} w - - 0 1"), 0));
        assert!(values.is_sorted_by(|wrong, right| wrong < right), "{values:?}");
    }
}
