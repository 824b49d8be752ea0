//! Shogi: `rsshogi`'s position, which has the history that repetition needs.

mod csa;
mod japanese;
mod query;
mod setup;
mod western;

pub(crate) use csa::{csa_name, piece_by_csa, read_csa, square, square_of, write_csa};
pub(crate) use japanese::{kanji_name, piece_by_kanji};
pub(crate) use setup::{our_kind, their_kind};
pub(crate) use western::Squares;

use std::fmt;

use rsshogi::{
    board::{
        Move32List, Position,
        position::{MoveError, Ply},
    },
    movegen::generate_legal_all_move32,
    types::{Color, HandPiece, Move, Move32, PieceType, Square},
};

use crate::{
    Declaration, FenForm, GameOutcome, IllegalReason, Impasse, MoveLimit, PieceKind, PositionError,
    Setup, ShogiRules, Side, Termination,
};

/// Games of this length are drawn. Searches that look ahead must not overflow `rsshogi`'s counters of
/// moves and of successive checks, which end at 65,535.
const MAX_GAME_LENGTH: Ply = 30_000;

/// A position of shogi and the positions before it.
#[derive(Clone)]
pub struct ShogiBoard {
    position: Position,
    /// The earlier positions, oldest first.
    earlier: Vec<Earlier>,
}

/// The data of an earlier position that repetition needs.
#[derive(Clone, Copy)]
struct Earlier {
    key: u64,
    in_check: bool,
}

impl ShogiBoard {
    pub(crate) fn start() -> Self {
        Self { position: setup::start(), earlier: Vec::new() }
    }

    pub(crate) fn from_setup(setup: &Setup) -> Result<Self, PositionError> {
        Ok(Self { position: setup::to_position(setup)?, earlier: Vec::new() })
    }

    /// The board of a setup with two pawns on a file. `None` if it has another defect.
    pub(crate) fn from_setup_with_two_pawns(setup: &Setup) -> Option<Self> {
        Some(Self { position: setup::to_position_with_two_pawns(setup)?, earlier: Vec::new() })
    }

    pub(crate) fn setup(&self) -> Setup {
        Setup::of(self)
    }

    /// The position with its history.
    pub fn position(&self) -> &Position {
        &self.position
    }

    pub(crate) fn key(&self) -> u64 {
        self.position.key().low_u64()
    }

    pub(crate) fn turn(&self) -> Side {
        side(self.position.turn())
    }

    pub(crate) fn legal_moves(&self) -> Move32List {
        let mut moves = Move32List::new();
        generate_legal_all_move32(&self.position, &mut moves);
        moves
    }

    pub(crate) fn parse_move(&self, text: &str) -> Result<Move32, IllegalReason> {
        let mv =
            Move::from_usi(text).filter(|mv| mv.is_normal()).ok_or(IllegalReason::InvalidMove)?;
        if self.position.is_legal_move(mv) {
            Ok(self.position.move32_from_move(mv))
        } else {
            Err(query::illegal_reason(&self.position, mv))
        }
    }

    pub(crate) fn play(&mut self, mv: Move32) -> Result<(), IllegalReason> {
        if self.is_full() {
            return Err(IllegalReason::GameTooLong);
        }
        let earlier = Earlier { key: self.key(), in_check: self.position.is_in_check() };
        self.position.try_apply_move32(mv).map_err(|error| match error {
            MoveError::CounterOverflow | MoveError::StateCapacityExceeded => {
                IllegalReason::GameTooLong
            }
            MoveError::InvalidMove
            | MoveError::NoStateInfo
            | MoveError::StackUnderflow
            | MoveError::MoveMismatch { .. } => query::illegal_reason(&self.position, mv.to_move()),
        })?;
        self.earlier.push(earlier);
        Ok(())
    }

    /// Takes back the last move.
    pub(crate) fn undo(&mut self, mv: Move32) {
        // The move was played here, so this cannot fail.
        if self.position.undo_move32(mv).is_ok() {
            self.earlier.pop();
        }
    }

    pub(crate) fn is_legal(&self, mv: Move32) -> bool {
        self.position.is_legal_move(mv.to_move())
            && self.position.move32_from_move(mv.to_move()) == mv
    }

    /// The position after a null move.
    pub(crate) fn passed(&self) -> Result<Self, IllegalReason> {
        if self.position.is_in_check() {
            return Err(IllegalReason::KingInCheck);
        }
        if self.is_full() {
            return Err(IllegalReason::GameTooLong);
        }
        let mut setup = self.setup();
        setup.set_turn(self.turn().other());
        setup.set_move_number(setup.move_number().saturating_add(1));
        // Only a check can make the position unplayable for the other side.
        Self::from_setup(&setup).map_err(|_| IllegalReason::KingInCheck)
    }

    pub(crate) fn parse_unchecked(&self, text: &str) -> Option<Move32> {
        let mv = Move::from_usi(text).filter(|mv| mv.is_normal())?;
        Some(self.position.move32_from_move(mv)).filter(|mv| mv.is_normal())
    }

    /// Writes a move as `+7776FU`.
    pub(crate) fn csa(&self, mv: Move32) -> String {
        format!("{}{}", self.csa_sign(), write_csa(&self.position, mv))
    }

    /// The legal move of `+7776FU`, or `7776FU`.
    pub(crate) fn parse_csa(&self, text: &str) -> Result<Move32, IllegalReason> {
        let unsigned = text.strip_prefix(self.csa_sign()).unwrap_or(text);
        let mv = read_csa(&self.position, unsigned).ok_or(IllegalReason::InvalidMove)?;
        if !self.position.is_legal_move(mv) {
            return Err(query::illegal_reason(&self.position, mv));
        }
        let mv = self.position.move32_from_move(mv);
        let names_piece = write_csa(&self.position, mv) == unsigned;
        names_piece.then_some(mv).ok_or(IllegalReason::InvalidMove)
    }

    fn csa_sign(&self) -> char {
        match self.turn() {
            Side::First => '+',
            Side::Second => '-',
        }
    }

    /// Whether the game has the maximum length.
    fn is_full(&self) -> bool {
        self.position.game_ply() >= MAX_GAME_LENGTH
    }

    pub(crate) fn sfen(&self) -> String {
        crate::setup::text(self, FenForm::XFen)
    }
}

impl fmt::Debug for ShogiBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ShogiBoard").field(&self.sfen()).finish()
    }
}

fn side(color: Color) -> Side {
    if color == Color::BLACK { Side::First } else { Side::Second }
}

impl ShogiBoard {
    pub(crate) fn outcome(&self, rules: &ShogiRules) -> Option<GameOutcome> {
        let them = self.turn().other();
        if self.position().is_mated() {
            let mate = self.position().is_in_check();
            return Some(GameOutcome::won(
                them,
                if mate { Termination::Checkmate } else { Termination::Stalemate },
            ));
        }
        let tried = rules.impasse == Impasse::Try && self.has_tried(them);
        let tried = tried.then(|| GameOutcome::won(them, Termination::TryRule));
        let repeated = || rules.repetition.and_then(|times| self.repeated(times, rules));
        let is_at_limit =
            || self.is_full() || rules.move_limit.is_some_and(|limit| self.is_at(limit));
        let limit = || is_at_limit().then(|| GameOutcome::drawn(Termination::MoveLimit));
        tried.or_else(repeated).or_else(limit)
    }

    /// Whether repetition or the number of moves may end the game.
    pub(crate) fn may_be_drawn(&self) -> bool {
        self.is_full() || self.repeated(4, &ShogiRules::BOARD).is_some()
    }

    /// The outcome by repetition, if the position has occurred at least this number of times.
    ///
    /// `rsshogi` follows a chain of the nearest equal boards, which another hand in between breaks. The
    /// rule counts all equal positions.
    fn repeated(&self, times: u32, rules: &ShogiRules) -> Option<GameOutcome> {
        let key = self.key();
        let needed = usize::try_from(times).ok()?.checked_sub(1)?;
        let equal = self.earlier.iter().enumerate().rev().filter(|(_, earlier)| earlier.key == key);
        let mut equal = equal.map(|(index, _)| index);
        // The first of the positions that the rule counts.
        let first = match needed.checked_sub(1) {
            Some(skipped) => equal.nth(skipped)?,
            None => self.earlier.len(),
        };
        let checker = rules.perpetual_check_loses.then(|| self.perpetual_checker(first)).flatten();
        Some(match checker {
            Some(checker) => GameOutcome::won(checker.other(), Termination::PerpetualCheck),
            None => GameOutcome::drawn(Termination::Repetition),
        })
    }

    /// The side, if it is only one, that has given check with each of its moves since a position.
    fn perpetual_checker(&self, first: usize) -> Option<Side> {
        let since = self.earlier.get(first..)?;
        let mut checked: Vec<bool> = since.iter().skip(1).map(|earlier| earlier.in_check).collect();
        checked.push(self.position().is_in_check());
        let all =
            |skipped: usize| checked.iter().rev().skip(skipped).step_by(2).all(|&check| check);
        // The last of them is the side to move.
        match (all(0), checked.len() > 1 && all(1)) {
            (true, false) => Some(self.turn().other()),
            (false, true) => Some(self.turn()),
            (true, true) | (false, false) => None,
        }
    }

    fn is_at(&self, limit: MoveLimit) -> bool {
        let played = u32::from(self.position().game_ply()).saturating_sub(1);
        let entered = || Side::BOTH.into_iter().any(|side| self.king_has_entered(side));
        played >= limit.plies
            && !(limit.check_extends && self.position().is_in_check())
            && (!limit.needs_entered_king || entered())
    }

    fn has_tried(&self, side: Side) -> bool {
        let king = self.position().king_square(color(side));
        !king.is_none()
            && king.to_usi()
                == match side {
                    Side::First => "5a",
                    Side::Second => "5i",
                }
    }

    fn king_has_entered(&self, side: Side) -> bool {
        let king = self.position().king_square(color(side));
        !king.is_none() && is_in_camp(king, side)
    }

    pub(crate) fn declaration(&self) -> Declaration {
        let side = self.turn();
        let position = self.position();
        let ours = position.pieces_by_color(color(side));
        let in_camp = Square::iter()
            .filter(|&square| ours.test(square) && is_in_camp(square, side))
            .map(|square| position.piece_on(square).piece_type())
            .filter(|&piece| piece != PieceType::KING);
        let in_camp: Vec<PieceType> = in_camp.collect();
        let on_board: u32 = in_camp.iter().copied().map(points).sum();
        Declaration {
            side,
            king_has_entered: self.king_has_entered(side),
            in_check: position.is_in_check(),
            pieces: u32::try_from(in_camp.len()).unwrap_or(u32::MAX),
            points: on_board.saturating_add(self.points_in_hand(side)),
            missing: ALL_POINTS.saturating_sub(self.points_of_all()),
        }
    }

    fn points_in_hand(&self, side: Side) -> u32 {
        let hand = self.position().hand(color(side));
        let of_kind = |kind: PieceKind| {
            let piece = their_kind(kind);
            let held = HandPiece::from_piece_type(piece).map_or(0, |held| hand.count(held));
            held.saturating_mul(points(piece))
        };
        PieceKind::IN_HAND.into_iter().map(of_kind).sum()
    }

    fn points_of_all(&self) -> u32 {
        let pieces = Square::iter().map(|square| self.position().piece_on(square).piece_type());
        let on_board: u32 = pieces.map(points).sum();
        Side::BOTH
            .into_iter()
            .map(|side| self.points_in_hand(side))
            .fold(on_board, u32::saturating_add)
    }
}

/// The points of all pieces of the game.
const ALL_POINTS: u32 = 54;

/// Five for a rook or a bishop, promoted or not; zero for the king; one for any other piece.
fn points(piece: PieceType) -> u32 {
    match piece.demote() {
        PieceType::ROOK | PieceType::BISHOP => 5,
        PieceType::NONE | PieceType::KING => 0,
        _ => 1,
    }
}

/// Whether a square is on the three ranks furthest from a side.
fn is_in_camp(square: Square, side: Side) -> bool {
    match side {
        Side::First => square.rank().raw() <= 2,
        Side::Second => square.rank().raw() >= 6,
    }
}

fn color(side: Side) -> Color {
    match side {
        Side::First => Color::BLACK,
        Side::Second => Color::WHITE,
    }
}
