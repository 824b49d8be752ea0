//! What a notation of shogi says of a move, and the legal moves that it can mean.

use rsshogi::types::{Color, HandPiece, Move, Move32, Piece, PieceType, Square};

use super::{ShogiBoard, explain};
use crate::{IllegalReason, error::most_telling};

pub(super) struct Wanted {
    /// The piece before it moves.
    pub(super) piece: PieceType,
    pub(super) to: Square,
    pub(super) from: Option<Square>,
    /// Whether it is dropped, if that was said.
    pub(super) drop: Option<bool>,
    pub(super) promotes: bool,
    /// Where it comes from, seen from its player.
    pub(super) directions: Vec<Direction>,
}

/// Where a piece comes from, or how it goes.
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
    /// How a move of this side goes.
    pub(super) fn motion(from: Square, to: Square, side: Color) -> Self {
        let ways = [Self::Forward, Self::Sideways];
        ways.into_iter().find(|way| way.holds(from, to, side)).unwrap_or(Self::Back)
    }

    /// The word of the Japanese notation.
    pub(super) fn word(self) -> char {
        match self {
            Self::Left => '左',
            Self::Right => '右',
            Self::Straight => '直',
            Self::Forward => '上',
            Self::Sideways => '寄',
            Self::Back => '引',
        }
    }

    /// Whether a move of this side goes so.
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
    /// All legal moves that fit, or why there is none.
    pub(super) fn resolve(&self, wanted: &Wanted) -> Result<Vec<Move32>, IllegalReason> {
        let mut moves: Vec<Move32> = self.legal_moves().iter().copied().collect();
        moves.retain(|&mv| self.fits(mv, wanted));
        // A piece that is not said to be dropped comes from the board if one can.
        if wanted.drop.is_none() && moves.iter().any(|mv| !mv.is_drop()) {
            moves.retain(|mv| !mv.is_drop());
        }
        if moves.is_empty() { Err(self.why_not(wanted)) } else { Ok(moves) }
    }

    fn fits(&self, mv: Move32, wanted: &Wanted) -> bool {
        if mv.to_sq() != wanted.to || mv.is_promotion() != wanted.promotes {
            return false;
        }
        if let Some(piece) = mv.dropped_piece() {
            return wanted.drop != Some(false)
                && wanted.from.is_none()
                && wanted.directions.is_empty()
                && piece == wanted.piece;
        }
        let from = mv.from_sq();
        wanted.drop != Some(true)
            && self.position().piece_on(from).piece_type() == wanted.piece
            && wanted.from.is_none_or(|wanted| wanted == from)
    }

    fn why_not(&self, wanted: &Wanted) -> IllegalReason {
        let position = self.position();
        let us = position.turn();
        let to_drop = HandPiece::from_piece_type(wanted.piece)
            .is_some_and(|held| position.hand(us).count(held) > 0);
        let ours = Piece::from_parts(us, wanted.piece);
        let mut origins = Square::iter()
            .filter(|&square| position.piece_on(square) == ours)
            .filter(|&square| wanted.from.is_none_or(|from| from == square))
            .peekable();
        let on_board = origins.peek().is_some();
        let drop_only = wanted.drop == Some(true);
        if drop_only || (wanted.drop.is_none() && to_drop && !on_board) {
            return explain::why(position, Move::drop(wanted.piece, wanted.to));
        }
        if !on_board {
            return if wanted.from.is_some() {
                IllegalReason::NoPiece
            } else {
                IllegalReason::NoSuchPiece
            };
        }
        let to = wanted.to;
        let reasons = origins.filter(|&from| from != to).map(|from| {
            let mv =
                if wanted.promotes { Move::promotion(from, to) } else { Move::normal(from, to) };
            explain::why(position, mv)
        });
        most_telling(reasons)
    }
}
