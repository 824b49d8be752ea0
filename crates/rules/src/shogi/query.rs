//! The legal moves that match a notation, and the reasons why moves are illegal.

use rsshogi::{
    board::Position,
    types::{
        Color, HandPiece, Move, Move32, Piece, PieceType, Rank, Square, square::is_promotable_move,
    },
};

use super::ShogiBoard;
use crate::{IllegalReason, error::most_specific};

/// The contents of a move's notation.
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
        motions.into_iter().find(|motion| motion.holds(from, to, side)).unwrap_or(Self::Back)
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
            return illegal_reason(position, Move::drop(query.piece, query.to));
        }
        if !on_board {
            return if query.from.is_some() {
                IllegalReason::EmptyOriginSquare
            } else {
                IllegalReason::MissingPiece
            };
        }
        let to = query.to;
        let reasons = origins.filter(|&from| from != to).map(|from| {
            let mv =
                if query.promotes { Move::promotion(from, to) } else { Move::normal(from, to) };
            illegal_reason(position, mv)
        });
        most_specific(reasons)
    }
}

/// The reason why an illegal move is illegal.
pub(super) fn illegal_reason(position: &Position, mv: Move) -> IllegalReason {
    match mv.dropped_piece() {
        Some(piece) => why_drop(position, mv, piece, mv.to_sq()),
        None => why_board_move(position, mv, mv.from_sq(), mv.to_sq()),
    }
}

fn why_drop(position: &Position, mv: Move, piece: PieceType, to: Square) -> IllegalReason {
    let us = position.turn();
    let in_hand = HandPiece::from_piece_type(piece).map_or(0, |kind| position.hand(us).count(kind));
    if in_hand == 0 {
        IllegalReason::NotInHand
    } else if position.piece_on(to) != Piece::NONE {
        IllegalReason::SquareOccupied
    } else if piece == PieceType::PAWN && position.has_pawn_on_file(us, to.file()) {
        IllegalReason::SecondPawnOnFile
    } else if can_never_move(piece, to.rank(), us) {
        IllegalReason::NoFurtherMove
    } else if piece == PieceType::PAWN && position.gives_check_move(mv) && blocks(position, to) {
        IllegalReason::PawnDropMate
    } else {
        IllegalReason::KingInCheck
    }
}

/// Whether a piece dropped on a square leaves no check on the mover's king.
fn blocks(position: &Position, to: Square) -> bool {
    let us = position.turn();
    let king = position.king_square(us);
    if king.is_none() {
        return true;
    }
    let mut occupied = position.pieces();
    occupied.set(to);
    position.attackers_to_color(us.flip(), king, occupied).is_empty()
}

fn why_board_move(position: &Position, mv: Move, from: Square, to: Square) -> IllegalReason {
    let us = position.turn();
    let piece = position.piece_on(from);
    if piece == Piece::NONE {
        return IllegalReason::EmptyOriginSquare;
    }
    if piece.color() != us {
        return IllegalReason::OpponentPiece;
    }
    let can_promote = piece.piece_type().is_promotable() && is_promotable_move(us, from, to);
    if mv.is_promotion() && !can_promote {
        return IllegalReason::InvalidPromotion;
    }
    if position.pieces_by_color(us).test(to) {
        return IllegalReason::OccupiedByOwnPiece;
    }
    if !position.attackers_to_color_current(us, to).test(from) {
        return IllegalReason::Unreachable;
    }
    if !mv.is_promotion() && can_never_move(piece.piece_type(), to.rank(), us) {
        return IllegalReason::PromotionRequired;
    }
    IllegalReason::KingInCheck
}

/// Whether a piece on this rank could never move.
fn can_never_move(piece: PieceType, rank: Rank, color: Color) -> bool {
    let ranks_ahead = if color == Color::BLACK { rank.raw() } else { 8 - rank.raw() };
    match piece {
        PieceType::PAWN | PieceType::LANCE => ranks_ahead < 1,
        PieceType::KNIGHT => ranks_ahead < 2,
        _ => false,
    }
}
