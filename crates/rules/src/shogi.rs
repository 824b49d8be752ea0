//! Shogi: `rsshogi`'s position, which has the history that repetition needs.

mod ending;
mod explain;
mod japanese;
mod query;
mod setup;
mod western;

pub(crate) use western::Squares;

use std::fmt;

use rsshogi::{
    board::{
        Move32List, Position, hirate_position,
        position::{MoveError, Ply},
    },
    movegen::generate_legal_all_move32,
    types::{Color, Move, Move32},
};

use crate::{IllegalReason, PositionError, Setup, Side};

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
        Self { position: hirate_position(), earlier: Vec::new() }
    }

    pub(crate) fn from_setup(setup: &Setup) -> Result<Self, PositionError> {
        Ok(Self { position: setup::to_position(setup)?, earlier: Vec::new() })
    }

    pub(crate) fn setup(&self) -> Setup {
        setup::from_board(self)
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
            Move::from_usi(text).filter(|mv| mv.is_normal()).ok_or(IllegalReason::Unreadable)?;
        if self.position.is_legal_move(mv) {
            Ok(self.position.move32_from_move(mv))
        } else {
            Err(explain::why(&self.position, mv))
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
            | MoveError::MoveMismatch { .. } => explain::why(&self.position, mv.to_move()),
        })?;
        self.earlier.push(earlier);
        Ok(())
    }

    /// Whether the game has the maximum length.
    fn is_full(&self) -> bool {
        self.position.game_ply() >= MAX_GAME_LENGTH
    }

    pub(crate) fn sfen(&self) -> String {
        self.position.to_sfen(None)
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
