//! Evaluation: what a position is worth as it stands.
//!
//! A game's [`Model`] names what counts in a position, as terms; [`Weight`]s say how much. What is
//! not linear is made so by counting cases (a weight for each number of attackers, say), so that
//! all weights can be fitted to games.

pub mod chess;
pub(crate) mod network;
pub mod shogi;

use readyok_rules::Game;

use crate::{board::Board, score::Value};

/// Says what positions of a search are worth, in centipawns for the side to move.
pub(crate) trait Evaluation<B: Board> {
    /// A move is about to be played on this board.
    fn play(&mut self, board: &B, mv: B::Move);

    /// The last move is taken back.
    fn undo(&mut self);

    fn evaluate(&self, board: &B) -> Value;
}

/// Makes what evaluations of a game need, which takes a while the first time.
pub(crate) fn prepare(game: Game) {
    match game {
        Game::Chess | Game::Chess960 => chess::prepare(),
        Game::Shogi => shogi::prepare(),
    }
}

/// What people have thought of, with weights that were fitted to games: see [`Model`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct HandWritten;

impl<B: Board> Evaluation<B> for HandWritten {
    fn play(&mut self, _board: &B, _mv: B::Move) {}

    fn undo(&mut self) {}

    fn evaluate(&self, board: &B) -> Value {
        board.evaluate()
    }
}

/// What counts in the positions of one game.
pub trait Model {
    /// The board that is looked at.
    type Board;

    /// How many weights there are.
    const WEIGHTS: usize;

    /// Calls with every term of a position. Terms are seen from the side that moves first in the
    /// start position.
    fn terms(board: &Self::Board, terms: &mut impl Terms);

    /// How much of the opening is left, from [`MAX_PHASE`] down to 0.
    fn phase(board: &Self::Board) -> i32;

    /// How much of a value for the first side counts, from [`SCALE_NORMAL`] down to 0: less where a lead
    /// does not win.
    fn scale(board: &Self::Board, value: i32) -> i32 {
        let _ = (board, value);
        SCALE_NORMAL
    }
}

/// All of a value counts.
pub const SCALE_NORMAL: i32 = 64;

/// The phase of a position in which everything is as in the opening.
pub const MAX_PHASE: i32 = 256;

/// How many units of a weight make a centipawn.
pub const WEIGHT_UNITS: i32 = 8;

/// Takes the terms of a position.
pub trait Terms {
    /// The weight of this number counts so many times: for the side that moves first in the start
    /// position, or, if negative, for the other.
    fn add(&mut self, weight: usize, count: i32);
}

/// What a term is worth, in units of [`WEIGHT_UNITS`] to the centipawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// In the opening.
    pub mg: i16,
    /// When nothing of the opening is left.
    pub eg: i16,
}

/// The value of a position in centipawns, for the side that moves first in the start position.
pub fn evaluate<M: Model>(board: &M::Board, weights: &[Weight]) -> i32 {
    let mut sum = Sum { weights, mg: 0, eg: 0 };
    M::terms(board, &mut sum);
    let phase = M::phase(board);
    let value = (sum.mg * phase + sum.eg * (MAX_PHASE - phase)) / (MAX_PHASE * WEIGHT_UNITS);
    value * M::scale(board, value) / SCALE_NORMAL
}

/// Adds up what the terms of a position are worth.
struct Sum<'a> {
    weights: &'a [Weight],
    mg: i32,
    eg: i32,
}

impl Terms for Sum<'_> {
    fn add(&mut self, weight: usize, count: i32) {
        if let Some(weight) = self.weights.get(weight) {
            self.mg += i32::from(weight.mg) * count;
            self.eg += i32::from(weight.eg) * count;
        }
    }
}

/// Reads weights as a file keeps them: for each its value in the opening and in the ending, as
/// 16-bit numbers, the lower byte first.
pub fn read_weights(bytes: &[u8]) -> Vec<Weight> {
    let (entries, _) = bytes.as_chunks::<4>();
    let entry = |&[a, b, c, d]: &[u8; 4]| Weight {
        mg: i16::from_le_bytes([a, b]),
        eg: i16::from_le_bytes([c, d]),
    };
    entries.iter().map(entry).collect()
}
