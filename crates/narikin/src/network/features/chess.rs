//! Features of chess: own pieces, then the opponent's; of each P N B R Q K; of each 64 squares,
//! a1 b1 … h8.

use cozy_chess::{Board, Color, File, Piece, Square};
use readyok_rules::{Game, Side};

use super::{Features, OUTPUT_BUCKETS};

/// Features per owner.
const OWNER: usize = Piece::NUM * Square::NUM;

/// The feature of a piece from the view of White, without mirroring.
pub(crate) fn piece_feature(piece: Piece, color: Color, square: Square) -> usize {
    color as usize * OWNER + piece as usize * Square::NUM + square as usize
}

/// Whether the view of a side with this king is mirrored.
pub(crate) fn is_mirrored_by(king: Square) -> bool {
    king.file() >= File::E
}

fn color(side: Side) -> Color {
    match side {
        Side::First => Color::White,
        Side::Second => Color::Black,
    }
}

impl Features for Board {
    const GAME: Game = Game::Chess;
    const INPUTS: usize = 2 * OWNER;
    const MAX_ACTIVE: usize = 32;

    fn turn(&self) -> Side {
        match self.side_to_move() {
            Color::White => Side::First,
            Color::Black => Side::Second,
        }
    }

    fn absolute(&self, mut each: impl FnMut(usize)) {
        for color in Color::ALL {
            for piece in Piece::ALL {
                for square in self.colored_pieces(color, piece) {
                    each(piece_feature(piece, color, square));
                }
            }
        }
    }

    fn is_mirrored(&self, side: Side) -> bool {
        is_mirrored_by(self.king(color(side)))
    }

    fn relative(feature: usize, side: Side, mirrored: bool) -> usize {
        let feature = match side {
            Side::First => feature,
            // Flips the rank, in bits 3 to 5.
            Side::Second => {
                (if feature < OWNER { feature + OWNER } else { feature - OWNER }) ^ 0b11_1000
            }
        };
        // Flips the file, in bits 0 to 2.
        if mirrored { feature ^ 7 } else { feature }
    }

    fn output_bucket(&self) -> usize {
        let pieces = usize::try_from(self.occupied().len()).unwrap_or(0);
        (pieces.saturating_sub(2) / 4).min(OUTPUT_BUCKETS - 1)
    }
}
