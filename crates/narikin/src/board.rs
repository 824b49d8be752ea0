//! What the search needs to know of a game.

mod chess;
mod chess_eval;
mod shogi;
mod shogi_eval;

use readyok_rules::Move;

pub(crate) use self::{chess::Chess, shogi::Shogi};
use crate::score::Value;

/// A board that can be searched.
pub(crate) trait Board {
    /// A move of this game.
    type Move: Copy + PartialEq + Into<Move>;

    /// Whether a side that has no move loses although it is not in check.
    const STALEMATE_LOSES: bool;

    /// Calls with every legal move.
    fn for_each_move(&self, each: impl FnMut(Self::Move));

    /// Calls with the legal moves that change material at once.
    fn for_each_capture(&self, each: impl FnMut(Self::Move));

    /// Plays a legal move.
    fn play(&mut self, mv: Self::Move);

    /// Takes back the last move, which is this one.
    fn undo(&mut self, mv: Self::Move);

    /// A hash of the position without its history.
    fn key(&self) -> u64;

    /// Whether the side to move is in check.
    fn in_check(&self) -> bool;

    /// The value if the game is over here by rule, for all that moves are left. `ply` counts from
    /// the root.
    fn ended(&self, ply: usize) -> Option<Value>;

    /// The value as it stands.
    fn evaluate(&self) -> Value;

    /// The material that a move wins at once; none for a quiet one.
    fn gain(&self, mv: Self::Move) -> Option<Value>;

    /// What the moving piece is worth.
    fn mover(&self, mv: Self::Move) -> Value;

    /// The move as a number other than 0, unique among the moves of a position.
    fn pack(mv: Self::Move) -> u32;
}
