//! Features of shogi: own pieces, then the opponent's; of each P L N S B R G K and promoted P L N S
//! B R; of each 81 squares, 1a 1b … 9i; then pieces in own hand, then in the opponent's: first to
//! 18th P, 4 L, 4 N, 4 S, 2 B, 2 R, 4 G.

use readyok_rules::{
    Game, Side,
    rsshogi::{
        board::Position,
        types::{Color, HandPiece, Piece, PieceType, Square},
    },
};

use super::{Features, OUTPUT_BUCKETS};

const SQUARES: usize = 81;

/// Features per owner of pieces on the board.
const ON_BOARD: usize = 14 * SQUARES;

/// The first feature of each piece in a hand, and the end of the last one.
const HAND_STARTS: [usize; 8] = [0, 18, 22, 26, 30, 32, 34, 38];

/// Features per owner of pieces in hand.
const IN_HAND: usize = 38;

/// The feature of a piece on the board from the view of Black, without mirroring.
pub(crate) fn piece_feature(piece: Piece, square: Square) -> usize {
    let kind = piece.piece_type().to_index() - 1;
    piece.color().to_index() * ON_BOARD + kind * SQUARES + square.to_index()
}

/// The feature of the `count`th piece of a kind in hand, from 1.
pub(crate) fn hand_feature(piece: HandPiece, count: u32, owner: Color) -> usize {
    let range = HAND_STARTS.get(piece.to_index()..piece.to_index() + 2);
    let &[start, end] = range.unwrap_or(&[0, 1]) else { return 2 * ON_BOARD };
    let index = usize::try_from(count).map_or(start, |count| start + count.saturating_sub(1));
    2 * ON_BOARD + owner.to_index() * IN_HAND + index.min(end - 1)
}

/// Whether the view of a side with this king is mirrored.
pub(crate) fn is_mirrored_by(king: Square, color: Color) -> bool {
    let king = if color == Color::BLACK { king } else { king.flip() };
    king.to_index() >= 5 * 9
}

fn color(side: Side) -> Color {
    match side {
        Side::First => Color::BLACK,
        Side::Second => Color::WHITE,
    }
}

/// The progress of the game per piece in hand.
const PROGRESS: [u32; HandPiece::COUNT] = [1, 3, 3, 5, 6, 6, 5];

/// The progress of the game per promoted piece.
const PROMOTED: u32 = 6;

impl Features for Position {
    const GAME: Game = Game::Shogi;
    const INPUTS: usize = 2 * (ON_BOARD + IN_HAND);
    const MAX_ACTIVE: usize = 40;

    fn turn(&self) -> Side {
        if self.turn() == Color::BLACK { Side::First } else { Side::Second }
    }

    fn absolute(&self, mut each: impl FnMut(usize)) {
        for square in &self.pieces() {
            each(piece_feature(self.piece_on(square), square));
        }
        for owner in [Color::BLACK, Color::WHITE] {
            let hand = self.hand(owner);
            for piece in HandPiece::iter() {
                for count in 1..=hand.count(piece) {
                    each(hand_feature(piece, count, owner));
                }
            }
        }
    }

    fn is_mirrored(&self, side: Side) -> bool {
        let king = self.king_square(color(side));
        // A position without this king is not mirrored.
        !king.is_none() && is_mirrored_by(king, color(side))
    }

    fn relative(feature: usize, side: Side, mirrored: bool) -> usize {
        if feature >= 2 * ON_BOARD {
            return match side {
                Side::First => feature,
                Side::Second if feature < 2 * ON_BOARD + IN_HAND => feature + IN_HAND,
                Side::Second => feature - IN_HAND,
            };
        }
        let square = feature % SQUARES;
        let planes = feature - square;
        let (planes, square) = match side {
            Side::First => (planes, square),
            Side::Second if planes < ON_BOARD => (planes + ON_BOARD, SQUARES - 1 - square),
            Side::Second => (planes - ON_BOARD, SQUARES - 1 - square),
        };
        planes + if mirrored { (8 - square / 9) * 9 + square % 9 } else { square }
    }

    fn output_bucket(&self) -> usize {
        let mut progress = 0;
        for owner in [Color::BLACK, Color::WHITE] {
            let hand = self.hand(owner);
            for (piece, weight) in HandPiece::iter().zip(PROGRESS) {
                progress += hand.count(piece) * weight;
            }
        }
        let golds = self.golds() & !self.pieces_by_type(PieceType::GOLD);
        let promoted = golds.count()
            + self.pieces_by_type(PieceType::HORSE).count()
            + self.pieces_by_type(PieceType::DRAGON).count();
        progress += PROMOTED * promoted;
        usize::try_from(progress / 8).map_or(0, |bucket| bucket.min(OUTPUT_BUCKETS - 1))
    }
}
