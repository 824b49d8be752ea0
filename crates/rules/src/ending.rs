//! How a game has ended on the board.

use crate::Side;

/// A game that is over: who has won, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ending {
    /// The winner; none if the game is drawn.
    pub winner: Option<Side>,
    /// What ended it.
    pub reason: Reason,
}

/// What ends a game without anyone resigning, losing on time or claiming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The side to move is in check and has no move.
    Checkmate,
    /// The side to move has no move without being in check: a draw in chess, a loss in shogi.
    Stalemate,
    /// Fifty moves by each side without a capture or a pawn move (chess).
    FiftyMoves,
    /// The same position for the third time (chess) or the fourth (shogi).
    Repetition,
    /// The same position for the fourth time with nothing but checks: the checking side loses
    /// (shogi).
    PerpetualCheck,
    /// Neither side has the pieces to give mate (chess).
    InsufficientMaterial,
}
