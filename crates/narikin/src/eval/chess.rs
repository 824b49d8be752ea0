//! What a position of chess or Chess960 is worth.
//!
//! Every term is counted for both sides by the same code: each sees the board from its own end
//! (`view.rs`). What counts is taken in two ways: `expand.rs` makes terms of it, for the tuner, and
//! `lookup.rs` adds up weights. Which weight means what is in `layout.rs`.

mod attacks;
mod count;
mod endings;
mod expand;
mod king;
mod layout;
mod lookup;
mod mobility;
mod passed;
mod pawns;
mod pieces;
mod places;
mod start;
mod threats;
mod view;

use std::sync::LazyLock;

use cozy_chess::{Board, Color, Piece};

use self::{
    attacks::{Attacks, Map},
    count::Count,
    expand::Expand,
    lookup::{Lookup, Tables},
    pawns::Pawns,
    view::View,
};
pub use self::{
    layout::{GROUPS, Group},
    start::start,
};
use super::{Model, OPENING, Terms, UNITS, WHOLE, Weight, read_weights};

/// The terms of chess.
#[derive(Debug, Clone, Copy)]
pub struct Chess;

impl Model for Chess {
    type Board = Board;

    const WEIGHTS: usize = layout::WEIGHTS;

    fn terms(board: &Board, terms: &mut impl Terms) {
        let [white, black] = Scene::both(board);
        white.count(&mut Expand { terms, sign: 1 });
        black.count(&mut Expand { terms, sign: -1 });
    }

    fn scale(board: &Board, value: i32) -> i32 {
        scale(&Scene::both(board), value)
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

/// The value of a position in centipawns, for the side to move.
pub fn evaluate(board: &Board) -> i32 {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::new(&weights()));
    let tables = &*TABLES;
    let scenes = Scene::both(board);
    let [white, black] = scenes.each_ref().map(|scene| {
        let mut lookup = Lookup::new(tables);
        scene.count(&mut lookup);
        lookup.sum
    });
    let (opening, ending) = white.minus(black).halves();
    let phase = Chess::phase(board);
    let value = (opening * phase + ending * (OPENING - phase)) / (OPENING * UNITS);
    let value = value * scale(&scenes, value) / WHOLE;
    match board.side_to_move() {
        Color::White => value,
        Color::Black => -value,
    }
}

/// How much of a value counts, by who is ahead.
fn scale([white, black]: &[Scene; 2], value: i32) -> i32 {
    endings::scale(if value > 0 { white } else { black })
}

/// A position as one side sees it, with what is worked out once for many terms.
struct Scene {
    view: View,
    attacks: Attacks,
    enemy: Map,
    pawns: Pawns,
}

impl Scene {
    /// The position as White and as Black see it.
    fn both(board: &Board) -> [Self; 2] {
        let [white, black] = [Color::White, Color::Black].map(|color| View::new(board, color));
        let (white_attacks, black_attacks) = (Attacks::new(&white), Attacks::new(&black));
        let (white_map, black_map) = (white_attacks.map().turned(), black_attacks.map().turned());
        let new = |view, attacks, enemy| {
            let pawns = Pawns::new(&view);
            Self { view, attacks, enemy, pawns }
        };
        [new(white, white_attacks, black_map), new(black, black_attacks, white_map)]
    }

    /// Counts the terms of this side.
    fn count(&self, terms: &mut impl Count) {
        if self.view.to_move {
            terms.add(layout::TEMPO.at(0));
        }
        places::count(&self.view, terms);
        pawns::count(&self.view, &self.pawns, terms);
        mobility::count(self, terms);
        passed::count(self, terms);
        pieces::count(self, terms);
        king::count(self, terms);
        threats::count(self, terms);
        endings::count(&self.view, terms);
    }
}
