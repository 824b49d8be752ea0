//! What a position of chess or Chess960 is worth.
//!
//! Every term is counted for both sides by the same code: each sees the board from its own end
//! (`view.rs`). Which weight means what is in `layout.rs`.

mod attacks;
mod king;
mod layout;
mod mobility;
mod passed;
mod pawns;
mod pieces;
mod places;
mod start;
mod threats;
mod view;

use std::sync::LazyLock;

use cozy_chess::{BitBoard, Board, Color, Piece};

use self::{
    attacks::{Attacker, Attacks, Map},
    pawns::Pawns,
    view::View,
};
pub use self::{
    layout::{GROUPS, Group},
    start::start,
};
use super::{Model, OPENING, Terms, Weight};

/// The terms of chess.
#[derive(Debug, Clone, Copy)]
pub struct Chess;

impl Model for Chess {
    type Board = Board;

    const WEIGHTS: usize = layout::WEIGHTS;

    fn terms(board: &Board, terms: &mut impl Terms) {
        let white = View::new(board, Color::White);
        let black = View::new(board, Color::Black);
        let white_attacks = Attacks::new(&white);
        let black_attacks = Attacks::new(&black);
        let white = Scene::new(&white, &white_attacks, &black_attacks);
        let black = Scene::new(&black, &black_attacks, &white_attacks);
        white.count(&mut Counted { terms, sign: 1 });
        black.count(&mut Counted { terms, sign: -1 });
        let sign = if board.side_to_move() == Color::White { 1 } else { -1 };
        terms.add(layout::TEMPO.at(0), sign);
    }

    fn phase(board: &Board) -> i32 {
        let count = |piece| board.pieces(piece).len();
        let minors = count(Piece::Knight) + count(Piece::Bishop);
        let left = minors + 2 * count(Piece::Rook) + 4 * count(Piece::Queen);
        // Promotions can make more than the 24 of the start position.
        i32::try_from(left.min(24)).map_or(OPENING, |left| left * OPENING / 24)
    }
}

/// A position as one side sees it, with what is worked out once for many terms.
struct Scene<'a> {
    view: &'a View,
    attackers: &'a [Attacker],
    own: &'a Map,
    enemy: Map,
    pawns: Pawns,
}

impl<'a> Scene<'a> {
    fn new(view: &'a View, own: &'a Attacks, enemy: &Attacks) -> Self {
        Self {
            view,
            attackers: own.list(),
            own: own.map(),
            enemy: enemy.map().turned(),
            pawns: Pawns::new(view),
        }
    }

    /// Counts the terms of this side.
    fn count(&self, terms: &mut Counted<'_, impl Terms>) {
        places::count(self.view, terms);
        pawns::count(self.view, &self.pawns, terms);
        mobility::count(self, terms);
        passed::count(self, terms);
        pieces::count(self, terms);
        king::count(self, terms);
        threats::count(self, terms);
    }
}

/// The value of a position in centipawns, for the side to move.
pub fn evaluate(board: &Board) -> i32 {
    static WEIGHTS: LazyLock<Vec<Weight>> = LazyLock::new(start);
    let value = super::evaluate::<Chess>(board, &WEIGHTS);
    match board.side_to_move() {
        Color::White => value,
        Color::Black => -value,
    }
}

/// Passes on what counts for one side.
struct Counted<'a, T> {
    terms: &'a mut T,
    sign: i32,
}

impl<T: Terms> Counted<'_, T> {
    /// The weight counts once for this side.
    fn add(&mut self, weight: usize) {
        self.terms.add(weight, self.sign);
    }

    /// The weight counts so many times.
    fn add_n(&mut self, weight: usize, count: u32) {
        if count > 0 {
            self.terms.add(weight, self.sign * count.cast_signed());
        }
    }

    /// The weight counts as often as there are squares.
    fn add_each(&mut self, weight: usize, squares: BitBoard) {
        self.add_n(weight, squares.len());
    }
}
