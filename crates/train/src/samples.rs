//! Selects quiet positions of games, whose search score does not depend on pending captures.

use std::error::Error;
use std::fmt;

use readyok_rules::Side;

use crate::data::Record;
use crate::games::{GameKind, TrainGame};

/// A filter of the positions of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// The first ply, including random ones.
    pub from_ply: usize,
    /// The maximum absolute score in centipawns. Mates exceed any maximum.
    pub max_score: i16,
}

impl Filter {
    /// The default filter of a game.
    pub fn usual(game: GameKind) -> Self {
        let max_score = match game {
            GameKind::Chess => 2000,
            GameKind::Shogi => 3000,
        };
        Self { from_ply: 12, max_score }
    }
}

/// A selected position.
#[derive(Debug)]
pub struct Sample<'a, B> {
    /// The position.
    pub board: &'a B,
    /// Its score for the first side, in centipawns.
    pub score: i16,
}

/// A recorded game that cannot be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayError {
    /// The start position does not exist.
    Start(u16),
    /// The move of this ply, from 0, is illegal.
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

/// Calls `with` for every position of a game that passes the filter, if the side to move is not in
/// check and its move is neither a capture nor a promotion.
///
/// # Errors
/// The game cannot be replayed.
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
            && played.score.unsigned_abs() <= filter.max_score.unsigned_abs()
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
