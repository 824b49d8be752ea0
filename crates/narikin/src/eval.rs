//! Static evaluation.
//!
//! A [`Model`] lists the terms of a position; [`Weight`]s give their values. Nonlinear features are
//! indexed by cases, with one weight per number of attackers, for example, so that all weights can be
//! tuned. Only shogi has a hand-written evaluation.

pub mod shogi;

use crate::{board::Board, score::Value};

/// Evaluates positions of a search in centipawns for the side to move.
pub(crate) trait Evaluation<B: Board> {
    /// Called before a move is made on the board.
    fn play(&mut self, board: &B, mv: B::Move);

    /// Called when the last move is unmade.
    fn undo(&mut self);

    fn evaluate(&mut self, board: &B) -> Value;
}

/// The terms of an evaluation.
pub trait Model {
    /// The board.
    type Board;

    /// The number of weights.
    const WEIGHTS: usize;

    /// Adds every term of a position, from the perspective of the side that moves first in the
    /// start position.
    fn terms(board: &Self::Board, terms: &mut impl Terms);

    /// The game phase, from [`MAX_PHASE`] in the opening down to 0.
    fn phase(board: &Self::Board) -> i32;
}

/// The game phase of the opening.
pub const MAX_PHASE: i32 = 256;

/// Units of a weight per centipawn.
pub const WEIGHT_UNITS: i32 = 8;

/// Receives the terms of a position.
pub trait Terms {
    /// Adds a weight `count` times: for the side that moves first in the start position, or, if
    /// negative, for the other.
    fn add(&mut self, weight: usize, count: i32);
}

/// The value of a term, in units of [`WEIGHT_UNITS`] per centipawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// Value in the middlegame.
    pub mg: i16,
    /// Value in the endgame.
    pub eg: i16,
}

/// Evaluates a position in centipawns, for the side that moves first in the start position.
pub fn evaluate<M: Model>(board: &M::Board, weights: &[Weight]) -> i32 {
    let mut sum = Sum { weights, mg: 0, eg: 0 };
    M::terms(board, &mut sum);
    let phase = M::phase(board);
    (sum.mg * phase + sum.eg * (MAX_PHASE - phase)) / (MAX_PHASE * WEIGHT_UNITS)
}

/// Sums the weights of terms.
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

/// Parses weights: the middlegame and endgame value of each as little-endian 16-bit numbers.
pub fn read_weights(bytes: &[u8]) -> Vec<Weight> {
    let (entries, _) = bytes.as_chunks::<4>();
    let entry = |&[a, b, c, d]: &[u8; 4]| Weight {
        mg: i16::from_le_bytes([a, b]),
        eg: i16::from_le_bytes([c, d]),
    };
    entries.iter().map(entry).collect()
}
