//! The hand-crafted evaluation of chess and Chess960.
//!
//! Every term is computed for both sides by the same code, from the perspective of each side
//! (`view.rs`). Terms have two consumers (`terms.rs`): one lists them for the tuner, one sums their
//! weights (`weights.rs`).
#![expect(clippy::inline_always, reason = "the terms are compiled once per level of CPU features")]

mod endings;
mod king;
mod pawns;
mod pieces;
mod terms;
mod view;
mod weights;

use std::sync::LazyLock;

use cozy_chess::{Board, Color, Piece};

pub use self::weights::{GROUPS, Group, initial_weights};
use self::{
    pawns::Pawns,
    terms::{Expand, Lookup, LookupTables, PackedScore, TermSink},
    view::{AttackMap, Attacks, View},
};
use super::{MAX_PHASE, Model, SCALE_NORMAL, Terms, WEIGHT_UNITS, Weight, read_weights};
#[cfg(target_arch = "x86_64")]
use crate::platform;

/// The terms of chess.
#[derive(Debug, Clone, Copy)]
pub struct Chess;

impl Model for Chess {
    type Board = Board;

    const WEIGHTS: usize = weights::WEIGHTS;

    fn terms(board: &Board, terms: &mut impl Terms) {
        with_contexts(board, |white, black| {
            white.count(&mut Expand { terms, sign: 1 });
            black.count(&mut Expand { terms, sign: -1 });
        });
    }

    fn scale(board: &Board, value: i32) -> i32 {
        with_contexts(board, |white, black| scale(white, black, value))
    }

    #[inline]
    fn phase(board: &Board) -> i32 {
        let count = |piece| board.pieces(piece).len();
        let minors = count(Piece::Knight) + count(Piece::Bishop);
        let left = minors + 2 * count(Piece::Rook) + 4 * count(Piece::Queen);
        // Promotions can make more than the 24 of the start position.
        i32::try_from(left.min(24)).map_or(MAX_PHASE, |left| left * MAX_PHASE / 24)
    }
}

/// The tuned weights of the engine.
pub fn weights() -> Vec<Weight> {
    let fitted = read_weights(include_bytes!("../../weights/chess.bin"));
    // After a change of the terms, initial weights are used until the next tuning.
    if fitted.len() == Chess::WEIGHTS { fitted } else { initial_weights() }
}

static TABLES: LazyLock<LookupTables> = LazyLock::new(|| LookupTables::new(&weights()));

/// Builds the lookup tables.
pub(super) fn prepare() {
    LazyLock::force(&TABLES);
    endings::prepare();
}

/// The evaluation of a position in centipawns, for the side to move.
pub fn evaluate(board: &Board) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if platform::has_sse42_popcnt() {
        // SAFETY: the CPU has the features that the function enables.
        #[expect(unsafe_code, reason = "detected right before")]
        return unsafe { evaluate_sse42(board) };
    }
    evaluate_with(board, sum_terms)
}

/// [`evaluate`] for CPUs that count bits with one instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,sse4.2")]
fn evaluate_sse42(board: &Board) -> i32 {
    #[target_feature(enable = "popcnt,sse4.2")]
    fn sum(context: &Context<'_>) -> PackedScore {
        sum_terms(context)
    }
    evaluate_with(board, |context| sum(context))
}

#[inline(always)]
fn evaluate_with(board: &Board, sum: impl Fn(&Context<'_>) -> PackedScore) -> i32 {
    let value = with_contexts(board, |white, black| {
        let (mg, eg) = sum(white).minus(sum(black)).unpack();
        let phase = Chess::phase(board);
        let value = (mg * phase + eg * (MAX_PHASE - phase)) / (MAX_PHASE * WEIGHT_UNITS);
        value * scale(white, black, value) / SCALE_NORMAL
    });
    match board.side_to_move() {
        Color::White => value,
        Color::Black => -value,
    }
}

/// The weighted terms of one side. Inlined with all its terms, so that each caller compiles them for its CPU.
#[inline(always)]
fn sum_terms(context: &Context<'_>) -> PackedScore {
    let mut lookup = Lookup::new(&TABLES);
    context.count(&mut lookup);
    lookup.sum
}

/// Calls `with` with the contexts of White and Black.
#[inline(always)]
fn with_contexts<T>(board: &Board, with: impl FnOnce(&Context<'_>, &Context<'_>) -> T) -> T {
    let (white, black) = (View::new(board, Color::White), View::new(board, Color::Black));
    let (of_white, of_black) = (Attacks::new(&white), Attacks::new(&black));
    with(&Context::new(&white, &of_white, &of_black), &Context::new(&black, &of_black, &of_white))
}

/// The scale factor of a value, by the side that is ahead.
#[inline(always)]
fn scale(white: &Context<'_>, black: &Context<'_>, value: i32) -> i32 {
    endings::scale(if value > 0 { white } else { black })
}

/// A position from one side's perspective, with data shared by many terms.
struct Context<'a> {
    view: &'a View,
    attacks: &'a Attacks,
    enemy: AttackMap,
    pawns: Pawns,
}

impl<'a> Context<'a> {
    fn new(view: &'a View, attacks: &'a Attacks, enemy: &Attacks) -> Self {
        Self { view, attacks, enemy: enemy.map().flipped(), pawns: Pawns::new(view) }
    }

    /// Adds the terms of this side.
    #[inline(always)]
    fn count(&self, terms: &mut impl TermSink) {
        if self.view.to_move {
            terms.add(weights::TEMPO.at(0));
        }
        pieces::places(self.view, terms);
        pawns::pawns(self.view, &self.pawns, terms);
        pieces::mobility(self, terms);
        pawns::passed(self, terms);
        pieces::pieces(self, terms);
        king::king(self, terms);
        pieces::threats(self, terms);
        endings::bare_king(self.view, terms);
    }
}
