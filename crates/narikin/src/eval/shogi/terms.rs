//! The terms of a position.

use readyok_rules::rsshogi::types::{Color, HandPiece, Piece};

use super::{
    attack_map::{Case, Cases},
    view::{COLORS, Context, DISTANCES, NEAR, OFFSETS, PLACES, RelativeSquare, View, sign},
    visit::Sink,
    weights::{
        self, ATTACKER, CASES, CONTROL, DEFENDER, EFFECT, GUARD, KINDS, KING_PLACE, MATERIAL,
        PLACE, PRESSURE, THREAT,
    },
};
use crate::eval::Terms;

/// Emits every term separately.
pub(super) struct Expand<'a, T> {
    sides: [Side; 2],
    turn: Color,
    terms: &'a mut T,
}

impl<'a, T: Terms> Expand<'a, T> {
    pub(super) fn new(context: &Context, terms: &'a mut T) -> Self {
        let side = |index: usize| Side {
            color: COLORS[index],
            view: View::new(COLORS[index], context.kings[index]),
            level: context.levels[index],
        };
        let sides = [side(0), side(1)];
        for side in sides {
            side.king(terms);
        }
        Self { sides, turn: context.turn, terms }
    }
}

impl<T: Terms> Sink for Expand<'_, T> {
    fn piece(&mut self, piece: Piece, square: usize, case: Case) {
        threat(self.turn, piece, case, self.terms);
        for side in self.sides {
            side.piece(piece, square, self.terms);
            if let Some(view) = side.view {
                guard(side.color, view.offset(square).distance(), piece, case, self.terms);
            }
        }
    }

    fn attacks_map(&mut self, cases: &Cases) {
        for side in self.sides {
            for (square, case) in cases.iter().enumerate() {
                side.effect(square, case, self.terms);
            }
        }
    }

    fn hand(&mut self, color: Color, piece: HandPiece, count: usize) {
        hand(color, piece, count, self.terms);
    }

    fn term(&mut self, weight: usize, count: i32) {
        self.terms.add(weight, count);
    }
}

/// A side with the view of its king.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub(super) color: Color,
    /// None without a king.
    pub(super) view: Option<View>,
    /// The drop level of the opponent.
    pub(super) level: usize,
}

impl Side {
    /// Emits the term of the king's square.
    pub(super) fn king(self, terms: &mut impl Terms) {
        if let Some(view) = self.view {
            terms.add(KING_PLACE.start + view.place(), sign(self.color));
        }
    }

    /// Emits the terms of a piece for this side: material and square, if own, and the relation to
    /// the king.
    pub(super) fn piece(self, piece: Piece, square: usize, terms: &mut impl Terms) {
        let Some(number) = weights::piece(piece.piece_type()) else { return };
        let (kind, sign) = (weights::kind(number), sign(self.color));
        let own = piece.color() == self.color;
        if own {
            let place = RelativeSquare::new(self.color, square).place();
            terms.add(MATERIAL.start + number, sign);
            terms.add(PLACE.start + kind * PLACES + place, sign);
        }
        if let Some(view) = self.view {
            let group = if own { DEFENDER } else { ATTACKER };
            terms.add(group.start + kind * OFFSETS + view.offset(square).number(), sign);
        }
    }

    /// Emits the terms of a square by its attackers.
    pub(super) fn effect(self, square: usize, case: Case, terms: &mut impl Terms) {
        let Some(case) = seen(self.color, case) else { return };
        let (place, sign) = (RelativeSquare::new(self.color, square).place(), sign(self.color));
        terms.add(CONTROL.start + place * CASES + case, sign);
        let Some(offset) = self.view.map(|view| view.offset(square)) else { return };
        terms.add(EFFECT.start + offset.number() * CASES + case, sign);
        if let (Some(near), Some(level)) = (offset.near(), self.level.checked_sub(1)) {
            terms.add(PRESSURE.start + (level * NEAR + near) * CASES + case, sign);
        }
    }
}

/// Emits the term of a piece by its attackers.
pub(super) fn threat(turn: Color, piece: Piece, case: Case, terms: &mut impl Terms) {
    let (color, number) = (piece.color(), weights::piece(piece.piece_type()));
    let (Some(number), Some(case)) = (number, seen(color, case)) else { return };
    let waits = usize::from(turn != color);
    terms.add(THREAT.start + (number * 2 + waits) * CASES + case, sign(color));
}

/// Emits the term of a piece by its attackers and its distance from a king.
pub(super) fn guard(
    color: Color,
    distance: usize,
    piece: Piece,
    case: Case,
    terms: &mut impl Terms,
) {
    let (number, case) = (weights::piece(piece.piece_type()), seen(color, case));
    let (Some(number), Some(case)) = (number, case) else { return };
    let other = usize::from(piece.color() != color);
    let row = (other * KINDS + weights::kind(number)) * DISTANCES + distance;
    terms.add(GUARD.start + row * CASES + case, sign(color));
}

/// Emits the terms of a hand.
pub(super) fn hand(color: Color, piece: HandPiece, count: usize, terms: &mut impl Terms) {
    for weight in weights::hand(piece).take(count) {
        terms.add(weight, sign(color));
    }
}

/// The index of a case for a side; none without attackers.
fn seen(color: Color, case: Case) -> Option<usize> {
    let case = if color == Color::BLACK { case } else { case >> 2 | (case & 3) << 2 };
    usize::from(case).checked_sub(1)
}
