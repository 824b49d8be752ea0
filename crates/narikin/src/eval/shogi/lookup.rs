//! What is seen in a position, as a sum of values from tables.

use readyok_rules::rsshogi::types::{Color, HandPiece, Piece};

use super::{
    effects::{Case, Cases},
    scene::{LEVELS, Scene},
    tables::{Pieces, Row, Tables, Values},
    walk::Sink,
};
use crate::eval::{OPENING, UNITS, Weight};

/// Adds up values.
pub(super) struct Lookup<'a> {
    tables: &'a Tables,
    rows: [&'a Row; 2],
    levels: [usize; 2],
    threats: &'a Pieces<Values>,
    sum: Sum,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(tables: &'a Tables, scene: &Scene) -> Self {
        let [black, white] = &tables.threats;
        let threats = if scene.turn == Color::BLACK { black } else { white };
        let rows = tables.rows(scene.kings);
        let mut sum = Sum::default();
        for row in rows {
            sum.add(row.king, 1);
        }
        Self { tables, rows, levels: scene.levels, threats, sum }
    }

    /// In centipawns for Black.
    pub(super) fn value(&self, phase: i32) -> i32 {
        let Sum { opening, ending } = self.sum;
        (opening * phase + ending * (OPENING - phase)) / (OPENING * UNITS)
    }
}

impl Sink for Lookup<'_> {
    // Indices are cut to the powers of two that tables have as lengths, so none can be too large.

    fn piece(&mut self, piece: Piece, square: usize, case: Case) {
        let (piece, square) = (piece.to_index() % Piece::COUNT, square % 128);
        let case = usize::from(case % 16);
        for (row, guards) in self.rows.iter().zip(&self.tables.guards) {
            let distance = usize::from(row.distances[square] % 8);
            self.sum.add(row.pieces[piece][square], 1);
            self.sum.add(guards[distance][piece][case], 1);
        }
        self.sum.add(self.threats[piece][case], 1);
    }

    fn effects(&mut self, cases: &Cases) {
        for (row, level) in self.rows.iter().zip(self.levels) {
            for (values, case) in row.effects[level % LEVELS].iter().zip(cases.iter()) {
                self.sum.add(values[usize::from(case % 16)], 1);
            }
        }
    }

    fn hand(&mut self, color: Color, piece: HandPiece, count: usize) {
        let hands = &self.tables.hands[color.to_index()];
        if let Some(values) = hands.get(piece.to_index()) {
            self.sum.add(values[count % 32], 1);
        }
    }

    fn term(&mut self, weight: usize, count: i32) {
        if let Some(&weight) = self.tables.weights.get(weight) {
            self.sum.add(weight, count);
        }
    }
}

#[derive(Default)]
struct Sum {
    opening: i32,
    ending: i32,
}

impl Sum {
    fn add(&mut self, weight: Weight, count: i32) {
        self.opening += i32::from(weight.opening) * count;
        self.ending += i32::from(weight.ending) * count;
    }
}
