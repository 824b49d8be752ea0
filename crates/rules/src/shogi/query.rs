//! The contents of a move's notation, and the legal moves that match them.

use rsshogi::types::{Color, HandPiece, Move, Move32, Piece, PieceType, Square};

use super::{ShogiBoard, explain};
use crate::{IllegalReason, error::most_specific};

pub(super) struct MoveQuery {
    /// The kind before the move.
    pub(super) piece: PieceType,
    pub(super) to: Square,
    pub(super) from: Option<Square>,
    /// Whether it is dropped, if the notation states it.
    pub(super) drop: Option<bool>,
    pub(super) promotes: bool,
    /// The modifiers, from the player's point of view.
    pub(super) directions: Vec<Direction>,
}

/// A modifier: where a piece comes from, or how it moves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    /// From the left (左).
    Left,
    /// From the right (右).
    Right,
    /// Straight ahead (直).
    Straight,
    /// Forward (上).
    Forward,
    /// Sideways (寄).
    Sideways,
    /// Back (引).
    Back,
}

impl Direction {
    /// The motion of a move of this side.
    pub(super) fn motion(from: Square, to: Square, side: Color) -> Self {
        let motions = [Self::Forward, Self::Sideways];
        motions.into_iter().find(|it| it.holds(from, to, side)).unwrap_or(Self::Back)
    }

    /// The modifier in Japanese notation.
    pub(super) fn kanji(self) -> char {
        match self {
            Self::Left => '左',
            Self::Right => '右',
            Self::Straight => '直',
            Self::Forward => '上',
            Self::Sideways => '寄',
            Self::Back => '引',
        }
    }

    /// Whether a move of this side has this direction.
    pub(super) fn holds(self, from: Square, to: Square, side: Color) -> bool {
        // Files are counted from the first player's right, ranks from the top.
        let (files, ranks) = (
            i16::from(from.file().raw()) - i16::from(to.file().raw()),
            i16::from(from.rank().raw()) - i16::from(to.rank().raw()),
        );
        let (left, ahead) = if side == Color::BLACK { (files, ranks) } else { (-files, -ranks) };
        match self {
            Self::Left => left > 0,
            Self::Right => left < 0,
            Self::Straight => left == 0 && ahead == 1,
            Self::Forward => ahead > 0,
            Self::Sideways => ahead == 0,
            Self::Back => ahead < 0,
        }
    }
}

impl ShogiBoard {
    /// All legal moves that match, or the reason for the rejection.
    pub(super) fn resolve(&self, query: &MoveQuery) -> Result<Vec<Move32>, IllegalReason> {
        let mut moves: Vec<Move32> = self.legal_moves().iter().copied().collect();
        moves.retain(|&mv| self.fits(mv, query));
        // A piece without a sign for a drop comes from the board if one can.
        if query.drop.is_none() && moves.iter().any(|mv| !mv.is_drop()) {
            moves.retain(|mv| !mv.is_drop());
        }
        if moves.is_empty() { Err(self.why_not(query)) } else { Ok(moves) }
    }

    fn fits(&self, mv: Move32, query: &MoveQuery) -> bool {
        if mv.to_sq() != query.to || mv.is_promotion() != query.promotes {
            return false;
        }
        if let Some(piece) = mv.dropped_piece() {
            return query.drop != Some(false)
                && query.from.is_none()
                && query.directions.is_empty()
                && piece == query.piece;
        }
        let from = mv.from_sq();
        query.drop != Some(true)
            && self.position().piece_on(from).piece_type() == query.piece
            && query.from.is_none_or(|origin| origin == from)
    }

    fn why_not(&self, query: &MoveQuery) -> IllegalReason {
        let position = self.position();
        let us = position.turn();
        let to_drop = HandPiece::from_piece_type(query.piece)
            .is_some_and(|held| position.hand(us).count(held) > 0);
        let ours = Piece::from_parts(us, query.piece);
        let mut origins = Square::iter()
            .filter(|&square| position.piece_on(square) == ours)
            .filter(|&square| query.from.is_none_or(|from| from == square))
            .peekable();
        let on_board = origins.peek().is_some();
        let drop_only = query.drop == Some(true);
        if drop_only || (query.drop.is_none() && to_drop && !on_board) {
            return explain::why(position, Move::drop(query.piece, query.to));
        }
        if !on_board {
            return if query.from.is_some() {
                IllegalReason::NoPiece
            } else {
                IllegalReason::NoSuchPiece
            };
        }
        let to = query.to;
        let reasons = origins.filter(|&from| from != to).map(|from| {
            let mv =
                if query.promotes { Move::promotion(from, to) } else { Move::normal(from, to) };
            explain::why(position, mv)
        });
        most_specific(reasons)
    }
}
