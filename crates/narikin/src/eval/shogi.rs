//! The hand-crafted evaluation of shogi.
//!
//! `visit.rs` visits the features of a position. They have two consumers: `terms.rs` lists them as
//! terms for the tuner, and `lookup.rs` sums values from tables in which the terms of a square and
//! a king are summed in advance.
#![expect(clippy::inline_always, reason = "the terms are compiled once per level of CPU features")]

mod attack_map;
mod lookup;
mod terms;
#[cfg(test)]
mod tests;
mod view;
mod visit;
mod weights;

use std::sync::LazyLock;

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, HandPiece, PieceType},
};

pub use self::weights::{GROUPS, Group, initial_weights};
use self::{
    lookup::{Lookup, LookupTables},
    terms::Expand,
    view::Context,
};
use super::{Evaluation, MAX_PHASE, Model, Terms, Weight, read_weights};
#[cfg(target_arch = "x86_64")]
use crate::platform;
use crate::{
    board::{Board, Shogi as ShogiBoard},
    score::Value,
};

/// The terms of shogi.
#[derive(Debug, Clone, Copy)]
pub struct Shogi;

impl Model for Shogi {
    type Board = Position;

    const WEIGHTS: usize = weights::WEIGHTS;

    fn terms(position: &Position, terms: &mut impl Terms) {
        let context = Context::new(position);
        visit::visit(position, &context, &mut Expand::new(&context, terms));
    }

    /// The endgame approaches as pieces are captured or promoted.
    #[inline]
    fn phase(position: &Position) -> i32 {
        let in_hand = |color: Color| -> u32 {
            let hand = position.hand(color);
            HandPiece::iter().map(|piece| hand.count(piece) * progress(piece)).sum()
        };
        let promoted = position.golds() & !position.pieces_by_type(PieceType::GOLD);
        let promoted = promoted.count()
            + position.pieces_by_type(PieceType::HORSE).count()
            + position.pieces_by_type(PieceType::DRAGON).count();
        let progress = in_hand(Color::BLACK) + in_hand(Color::WHITE) + 6 * promoted;
        (MAX_PHASE - 4 * i32::try_from(progress).unwrap_or(MAX_PHASE)).max(0)
    }
}

/// Progress of the game per piece in hand.
fn progress(piece: HandPiece) -> u32 {
    match piece {
        HandPiece::PAWN => 1,
        HandPiece::LANCE | HandPiece::KNIGHT => 3,
        HandPiece::SILVER | HandPiece::GOLD => 5,
        _ => 6,
    }
}

/// The tuned weights of the engine.
pub fn weights() -> Vec<Weight> {
    let fitted = read_weights(include_bytes!("../../weights/shogi.bin"));
    // After a change of the terms, initial weights are used until the next tuning.
    if fitted.len() == Shogi::WEIGHTS { fitted } else { initial_weights() }
}

static TABLES: LazyLock<LookupTables> = LazyLock::new(|| LookupTables::new(weights()));

/// The hand-written evaluation with tuned weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HandWritten;

impl Evaluation<ShogiBoard> for HandWritten {
    fn play(&mut self, _board: &ShogiBoard, _mv: <ShogiBoard as Board>::Move) {}

    fn undo(&mut self) {}

    fn evaluate(&mut self, board: &ShogiBoard) -> Value {
        evaluate(board.position())
    }
}

/// Builds the lookup tables.
pub(crate) fn prepare() {
    LazyLock::force(&TABLES);
}

/// The evaluation of a position in centipawns, for the side to move.
pub fn evaluate(position: &Position) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if platform::has_sse42_popcnt() {
        // SAFETY: the CPU has the features that the function enables.
        #[expect(unsafe_code, reason = "detected right before")]
        return unsafe { evaluate_sse42(position) };
    }
    evaluate_inline(position)
}

/// [`evaluate`] for CPUs that count bits with one instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,sse4.2")]
fn evaluate_sse42(position: &Position) -> i32 {
    evaluate_inline(position)
}

/// Inlined with all its terms, so that each caller compiles them for its CPU.
#[inline(always)]
fn evaluate_inline(position: &Position) -> i32 {
    let context = Context::new(position);
    let mut lookup = Lookup::new(&TABLES, &context);
    visit::visit(position, &context, &mut lookup);
    let value = lookup.value(Shogi::phase(position));
    if position.turn() == Color::BLACK { value } else { -value }
}
