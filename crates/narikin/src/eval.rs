//! Static evaluation.

use crate::{board::Board, score::Value};

/// Evaluates positions of a search in centipawns for the side to move.
pub(crate) trait Evaluation<B: Board> {
    /// Called before a move is made on the board.
    fn play(&mut self, board: &B, mv: B::Move);

    /// Called when the last move is unmade.
    fn undo(&mut self);

    fn evaluate(&mut self, board: &B) -> Value;
}
