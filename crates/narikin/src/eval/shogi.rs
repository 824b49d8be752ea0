//! What a position of shogi is worth as it stands.

mod effects;
mod expand;
mod layout;
mod start;
#[cfg(test)]
mod tests;
mod view;
mod walk;

use std::{ops::Range, sync::LazyLock};

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, HandPiece, PieceType},
};

use self::expand::Expand;
use super::{Model, OPENING, Terms, Weight};

/// Names for ranges of weights, for tools.
pub const GROUPS: &[(&str, Range<usize>)] = layout::GROUPS;

/// What counts in positions of shogi.
#[derive(Debug, Clone, Copy)]
pub struct Shogi;

impl Model for Shogi {
    type Board = Position;

    const WEIGHTS: usize = layout::WEIGHTS;

    fn terms(position: &Position, terms: &mut impl Terms) {
        let kings = [Color::BLACK, Color::WHITE].map(|color| position.king_square(color));
        walk::walk(position, &mut Expand::new(kings, terms));
    }

    /// A game of shogi is near its end when much has been captured or promoted.
    fn phase(position: &Position) -> i32 {
        let in_hand = |color: Color| -> u32 {
            let hand = position.hand(color);
            HandPiece::iter().map(|piece| hand.count(piece) * progress(piece)).sum()
        };
        let promoted = position.golds().count() - position.pieces_by_type(PieceType::GOLD).count()
            + position.pieces_by_type(PieceType::HORSE).count()
            + position.pieces_by_type(PieceType::DRAGON).count();
        let progress = in_hand(Color::BLACK) + in_hand(Color::WHITE) + 6 * promoted;
        (OPENING - 4 * i32::try_from(progress).unwrap_or(OPENING)).max(0)
    }
}

/// How far a game has come when such a piece is in a hand.
fn progress(piece: HandPiece) -> u32 {
    match piece {
        HandPiece::PAWN => 1,
        HandPiece::LANCE | HandPiece::KNIGHT => 3,
        HandPiece::SILVER | HandPiece::GOLD => 5,
        _ => 6,
    }
}

/// The weights that Narikin plays with.
pub fn weights() -> &'static [Weight] {
    static WEIGHTS: LazyLock<Vec<Weight>> = LazyLock::new(start::weights);
    &WEIGHTS
}

/// The value of a position in centipawns, for the side to move.
pub fn evaluate(position: &Position) -> i32 {
    let value = super::evaluate::<Shogi>(position, weights());
    if position.turn() == Color::BLACK { value } else { -value }
}
