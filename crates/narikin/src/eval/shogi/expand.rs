//! What is seen in a position, as terms.

use readyok_rules::rsshogi::types::{Color, HandPiece, Piece, Square};

use super::{
    layout,
    view::{OFFSETS, PLACES, SQUARES, Spot, View},
    walk::{Sink, sign},
};
use crate::eval::Terms;

/// Says every term by itself.
pub(super) struct Expand<'a, T> {
    views: [(Color, Option<View>); 2],
    terms: &'a mut T,
}

impl<'a, T: Terms> Expand<'a, T> {
    /// For kings on these squares, Black's first.
    pub(super) fn new([black, white]: [Square; 2], terms: &'a mut T) -> Self {
        let view = |color, king| (color, View::new(color, king));
        let views = [view(Color::BLACK, black), view(Color::WHITE, white)];
        for (color, view) in views {
            if let Some(view) = view {
                terms.add(layout::KING_PLACE.start + view.king().place(), sign(color));
            }
        }
        Self { views, terms }
    }
}

impl<T: Terms> Sink for Expand<'_, T> {
    fn piece(&mut self, piece: Piece, square: usize) {
        let owner = piece.color();
        let Some(number) = layout::piece(piece.piece_type()) else { return };
        let kind = layout::kind(number);
        let place = Spot::new(owner, square).place();
        self.terms.add(layout::MATERIAL.start + number, sign(owner));
        self.terms.add(layout::PLACE.start + kind * PLACES + place, sign(owner));
        for (color, view) in self.views {
            let Some(view) = view else { continue };
            let group = if color == owner { layout::DEFENDER } else { layout::ATTACKER };
            let weight = group.start + kind * OFFSETS + view.offset(square);
            self.terms.add(weight, sign(color));
        }
    }

    fn effects(&mut self, cases: &[u8; SQUARES]) {
        for (color, view) in self.views {
            let Some(view) = view else { continue };
            for (square, &case) in cases.iter().enumerate() {
                let (black, white) = (usize::from(case & 3), usize::from(case >> 2));
                let (own, other) =
                    if color == Color::BLACK { (black, white) } else { (white, black) };
                if let Some(weight) = layout::effect(view.offset(square), own, other) {
                    self.terms.add(weight, sign(color));
                }
            }
        }
    }

    fn hand(&mut self, color: Color, piece: HandPiece, count: usize) {
        for weight in layout::hand(piece).take(count) {
            self.terms.add(weight, sign(color));
        }
    }

    fn term(&mut self, weight: usize, count: i32) {
        self.terms.add(weight, count);
    }
}
