//! How a game has ended.

use crate::{Illegal, Side};

/// A game that is over: who has won, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ending {
    /// The winner; none if the game is drawn.
    pub winner: Option<Side>,
    /// What ended it.
    pub reason: Reason,
}

impl Ending {
    pub(crate) fn drawn(reason: Reason) -> Self {
        Self { winner: None, reason }
    }

    pub(crate) fn won(winner: Side, reason: Reason) -> Self {
        Self { winner: Some(winner), reason }
    }
}

/// What ends a game by its rules, without anyone resigning or agreeing.
///
/// Articles are those of the FIDE Laws of Chess (2023) and of the rules for games of the Japan Shogi
/// Association (JSA).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The side to move is in check and has no move (FIDE 5.1.1).
    Checkmate,
    /// The side to move has no move without being in check: a draw in chess (FIDE 5.2.1), a loss in
    /// shogi.
    Stalemate,
    /// Fifty moves by each side without a capture or a pawn move (FIDE 9.3, where it has to be
    /// claimed).
    FiftyMoves,
    /// Seventy-five such moves (FIDE 9.6.2, where it ends the game).
    SeventyFiveMoves,
    /// The same position as often as the rules ask for: the third time in chess (FIDE 9.2, where it
    /// has to be claimed), the fourth in shogi.
    Repetition,
    /// The same position for the fifth time (FIDE 9.6.1, where it ends the game).
    FivefoldRepetition,
    /// The same position as often as the rules ask for, with nothing but checks by one side, which
    /// loses (shogi).
    PerpetualCheck,
    /// Neither side has the pieces to give mate (FIDE 5.2.2).
    InsufficientMaterial,
    /// No line of moves leads to mate, for another reason than the pieces (FIDE 5.2.2).
    DeadPosition,
    /// The game is as long as the rules let it be.
    MoveLimit,
    /// A king has reached the square where the opponent's stood at the start (shogi, under
    /// [`Impasse::Try`](crate::Impasse::Try), which is no federation's rule).
    Try,
    /// A declaration with the points that win (shogi).
    Declaration,
    /// A declaration with the points that draw (shogi).
    Impasse,
    /// A declaration that does not meet its conditions, which loses (shogi).
    FailedDeclaration,
    /// A move against the rules (FIDE 7.5.5 for the second one; any foul in shogi).
    IllegalMove(Illegal),
    /// The time is over (FIDE 6.9).
    Time,
    /// The time is over, but the opponent cannot give mate by any line of moves (FIDE 6.9).
    TimeWithoutMaterial,
}
