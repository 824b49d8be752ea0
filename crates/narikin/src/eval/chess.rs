//! What a position of chess or Chess960 is worth.
//!
//! Every term is counted for both sides by the same code: each sees the board from its own end
//! (`view.rs`). What counts is taken in two ways: `expand.rs` makes terms of it, for the tuner, and
//! `lookup.rs` adds up weights. Which weight means what is in `layout.rs`.

mod endings;
mod king;
mod pawns;
mod pieces;
mod terms;
mod view;
mod weights;

use std::sync::LazyLock;

use cozy_chess::{Board, Color, Piece};

pub use self::weights::{GROUPS, Group, start};
use self::{
    pawns::Pawns,
    terms::{Count, Expand, Lookup, TbConfig},
    view::{Attacks, Map, View},
};
use super::{Model, OPENING, Terms, UNITS, WHOLE, Weight, read_weights};

/// The terms of chess.
#[derive(Debug, Clone, Copy)]
pub struct Chess;

impl Model for Chess {
    type Board = Board;

    const WEIGHTS: usize = weights::WEIGHTS;

    fn terms(board: &Board, terms: &mut impl Terms) {
        look(board, |white, black| {
            white.count(&mut Expand { terms, sign: 1 });
            black.count(&mut Expand { terms, sign: -1 });
        });
    }

    fn scale(board: &Board, value: i32) -> i32 {
        look(board, |white, black| scale(white, black, value))
    }

    fn phase(board: &Board) -> i32 {
        let count = |piece| board.pieces(piece).len();
        let minors = count(Piece::Knight) + count(Piece::Bishop);
        let left = minors + 2 * count(Piece::Rook) + 4 * count(Piece::Queen);
        // Promotions can make more than the 24 of the start position.
        i32::try_from(left.min(24)).map_or(OPENING, |left| left * OPENING / 24)
    }
}

/// The weights that the engine plays with: those that were fitted to its games.
pub fn weights() -> Vec<Weight> {
    let fitted = read_weights(include_bytes!("../../weights/chess.bin"));
    // When the terms have changed, none fit until they have been fitted anew.
    if fitted.len() == Chess::WEIGHTS { fitted } else { start() }
}

static TABLES: LazyLock<TbConfig> = LazyLock::new(|| TbConfig::new(&weights()));

/// Makes what [`evaluate`] would make at its first call.
pub(super) fn prepare() {
    LazyLock::force(&TABLES);
    endings::prepare();
}

/// The value of a position in centipawns, for the side to move.
pub fn evaluate(board: &Board) -> i32 {
    let tables = &*TABLES;
    let sum = |scene: &Scene<'_>| {
        let mut lookup = Lookup::new(tables);
        scene.count(&mut lookup);
        lookup.sum
    };
    let value = look(board, |white, black| {
        let (opening, ending) = sum(white).minus(sum(black)).halves();
        let phase = Chess::phase(board);
        let value = (opening * phase + ending * (OPENING - phase)) / (OPENING * UNITS);
        value * scale(white, black, value) / WHOLE
    });
    match board.side_to_move() {
        Color::White => value,
        Color::Black => -value,
    }
}

/// Looks at a position as White and as Black see it.
fn look<T>(board: &Board, with: impl FnOnce(&Scene<'_>, &Scene<'_>) -> T) -> T {
    let (white, black) = (View::new(board, Color::White), View::new(board, Color::Black));
    let (of_white, of_black) = (Attacks::new(&white), Attacks::new(&black));
    with(&Scene::new(&white, &of_white, &of_black), &Scene::new(&black, &of_black, &of_white))
}

/// How much of a value counts, by who is ahead.
fn scale(white: &Scene<'_>, black: &Scene<'_>, value: i32) -> i32 {
    endings::scale(if value > 0 { white } else { black })
}

/// A position as one side sees it, with what is worked out once for many terms.
struct Scene<'a> {
    view: &'a View,
    attacks: &'a Attacks,
    enemy: Map,
    pawns: Pawns,
}

impl<'a> Scene<'a> {
    fn new(view: &'a View, attacks: &'a Attacks, enemy: &Attacks) -> Self {
        Self { view, attacks, enemy: enemy.map().turned(), pawns: Pawns::new(view) }
    }

    /// Counts the terms of this side.
    fn count(&self, terms: &mut impl Count) {
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
