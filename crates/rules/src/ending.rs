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
/// Articles are those of the FIDE Laws of Chess (2023), of the rules for games of the Japan Shogi
/// Association (JSA: 対局規則, 2024; what stands in 対局規定（抄録） of 2013 alone is cited as such), and of
/// the rules of the 36th World Computer Shogi Championship (CSA). `docs/match.md` has their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The side to move is in check and has no move (FIDE 5.1.1; JSA 2.4).
    Checkmate,
    /// The side to move has no move without being in check: a draw in chess (FIDE 5.2.1), a loss in
    /// shogi (CSA 27.1.1: the side that has no move by the rules of shogi has lost).
    Stalemate,
    /// Fifty moves by each side without a capture or a pawn move (FIDE 9.3, where it has to be
    /// claimed).
    FiftyMoves,
    /// Seventy-five such moves (FIDE 9.6.2, where it ends the game).
    SeventyFiveMoves,
    /// The same position as often as the rules ask for: the third time in chess (FIDE 9.2, where it
    /// has to be claimed), the fourth in shogi (JSA 8.1).
    Repetition,
    /// The same position for the fifth time (FIDE 9.6.1, where it ends the game).
    FivefoldRepetition,
    /// The same position as often as the rules ask for, with nothing but checks by one side, which
    /// loses (shogi; JSA 8, and JSA 2013, chapter 3, article 8.7: in all moves between the four
    /// positions, whether the last of them is a check or the answer to one).
    PerpetualCheck,
    /// Neither side has the pieces to give mate (FIDE 5.2.2).
    InsufficientMaterial,
    /// No line of moves leads to mate, for another reason than the pieces (FIDE 5.2.2).
    DeadPosition,
    /// The game is as long as the rules let it be (CSA 27.3), or as can be counted.
    MoveLimit,
    /// A king has reached the square where the opponent's stood at the start (shogi, under
    /// [`Impasse::Try`](crate::Impasse::Try), which is no federation's rule).
    Try,
    /// A declaration with the points that win (shogi; JSA 9.5 for 31 points).
    Declaration,
    /// A declaration with the points that draw (shogi; JSA 9.5 for 24 to 30).
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
