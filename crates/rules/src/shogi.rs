//! Shogi: `rsshogi`'s position, which keeps the history that repetition needs.

mod explain;
mod notation;
mod sfen;

use std::fmt;

use rsshogi::{
    board::{
        Move32List, Position, hirate_position,
        position::{MoveError, Ply},
    },
    movegen::generate_legal_all_move32,
    types::{Color, EnteringKingRule, Move, Move32, RepetitionState},
};

use crate::{Ending, Illegal, PositionError, Reason, Side};

/// Games end here, so that those who look ahead do not overrun `rsshogi`'s counters of moves and of
/// successive checks, which end at 65,535.
const LONGEST_GAME: Ply = 30_000;

/// A position of shogi and the positions before it.
#[derive(Clone)]
pub struct ShogiBoard(Position);

impl ShogiBoard {
    pub(crate) fn start() -> Self {
        Self::with_rules(hirate_position())
    }

    pub(crate) fn from_sfen(text: &str) -> Result<Self, PositionError> {
        sfen::read(text).map(Self::with_rules)
    }

    fn with_rules(mut position: Position) -> Self {
        position.set_entering_king_rule(EnteringKingRule::Point27);
        Self(position)
    }

    /// The position with its history.
    pub fn position(&self) -> &Position {
        &self.0
    }

    pub(crate) fn can_declare(&self) -> bool {
        self.0.declaration_win_move() == Move32::MOVE_WIN
    }

    pub(crate) fn turn(&self) -> Side {
        side(self.0.turn())
    }

    pub(crate) fn legal_moves(&self) -> Move32List {
        let mut moves = Move32List::new();
        generate_legal_all_move32(&self.0, &mut moves);
        moves
    }

    pub(crate) fn parse_move(&self, word: &str) -> Result<Move32, Illegal> {
        let mv = Move::from_usi(word).filter(|mv| mv.is_normal()).ok_or(Illegal::Unreadable)?;
        if self.0.is_legal_move(mv) {
            Ok(self.0.move32_from_move(mv))
        } else {
            Err(explain::why(&self.0, mv))
        }
    }

    pub(crate) fn play(&mut self, mv: Move32) -> Result<(), Illegal> {
        if self.0.game_ply() >= LONGEST_GAME {
            return Err(Illegal::GameTooLong);
        }
        self.0.try_apply_move32(mv).map_err(|error| match error {
            MoveError::CounterOverflow | MoveError::StateCapacityExceeded => Illegal::GameTooLong,
            MoveError::InvalidMove
            | MoveError::NoStateInfo
            | MoveError::StackUnderflow
            | MoveError::MoveMismatch { .. } => explain::why(&self.0, mv.to_move()),
        })
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        let won = |winner, reason| Some(Ending { winner: Some(winner), reason });
        let (us, them) = (self.turn(), self.turn().other());
        if self.0.is_mated() {
            let in_check = self.0.is_in_check();
            return won(them, if in_check { Reason::Checkmate } else { Reason::Stalemate });
        }
        match self.0.repetition_state() {
            RepetitionState::Draw => Some(Ending { winner: None, reason: Reason::Repetition }),
            RepetitionState::Win => won(us, Reason::PerpetualCheck),
            RepetitionState::Lose => won(them, Reason::PerpetualCheck),
            RepetitionState::None | RepetitionState::Superior | RepetitionState::Inferior => None,
        }
    }

    pub(crate) fn japanese(&self, mv: Move32) -> String {
        // Rsshogi has no text for moves that are none, which no legal move is.
        mv.to_ki2(&self.0).unwrap_or_else(|| mv.to_usi())
    }

    pub(crate) fn western(&self, mv: Move32) -> String {
        notation::western(self, mv)
    }

    pub(crate) fn sfen(&self) -> String {
        self.0.to_sfen(None)
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
