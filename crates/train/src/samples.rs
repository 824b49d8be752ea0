//! Selects quiet positions of games, whose search score does not depend on pending captures.

use std::error::Error;
use std::fmt;

use readyok_rules::Side;

use crate::data::Record;
use crate::games::{GameKind, TrainGame};

/// Which positions of a game count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// Not those before so many plies, random ones included.
    pub from_ply: usize,
    /// Not those whose score is further from zero, in centipawns. Mates are further than anything.
    pub largest_score: i16,
}

impl Filter {
    /// What is usual for a game.
    pub fn usual(game: GameKind) -> Self {
        let largest_score = match game {
            GameKind::Chess => 2000,
            GameKind::Shogi => 3000,
        };
        Self { from_ply: 12, largest_score }
    }
}

/// A position that counts.
#[derive(Debug)]
pub struct Sample<'a, B> {
    /// The position.
    pub board: &'a B,
    /// Its score for the first side, in centipawns.
    pub score: i16,
}

/// A game that cannot be played as it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayError {
    /// There is no such start position.
    Start(u16),
    /// The move of this ply, counted from 0 on, is not legal.
    Move(usize),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(number) => write!(f, "there is no start position {number}"),
            Self::Move(ply) => write!(f, "the move of ply {ply} is not legal"),
        }
    }
}

impl Error for ReplayError {}

/// Calls with every position of a game that passes the filter, and in which the side to move is not
/// in check and neither captures nor promotes.
///
/// # Errors
/// The game cannot be played.
pub fn each<G: TrainGame>(
    game: &Record,
    filter: &Filter,
    mut with: impl FnMut(&Sample<'_, G::Board>),
) -> Result<(), ReplayError> {
    let mut board = G::start(game.start).ok_or(ReplayError::Start(game.start))?;
    for (ply, &mv) in game.opening.iter().enumerate() {
        if !G::play(&mut board, mv) {
            return Err(ReplayError::Move(ply));
        }
    }
    for (ply, played) in (game.opening.len()..).zip(&game.plies) {
        let is_plain = ply >= filter.from_ply
            && played.score.unsigned_abs() <= filter.largest_score.unsigned_abs()
            && !G::in_check(&board)
            && G::is_quiet(&board, played.mv);
        if is_plain {
            let score = match G::turn(&board) {
                Side::First => played.score,
                Side::Second => -played.score,
            };
            with(&Sample { board: &board, score });
        }
        if !G::play(&mut board, played.mv) {
            return Err(ReplayError::Move(ply));
        }
    }
    Ok(())
}
