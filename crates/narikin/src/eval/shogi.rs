//! What a position of shogi is worth as it stands.
//!
//! `walk.rs` looks at a position and says what is there. What it says is taken in two ways:
//! `expand.rs` makes terms of it, for the tuner, and `lookup.rs` adds up values from tables in
//! which the terms of a square and a king are summed beforehand (`tables.rs`).

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

pub use self::weights::{GROUPS, Group, start};
use self::{
    lookup::{Lookup, TbConfig},
    terms::Expand,
    view::Scene,
};
use super::{Model, OPENING, Terms, Weight, read_weights};

/// The terms of shogi.
#[derive(Debug, Clone, Copy)]
pub struct Shogi;

impl Model for Shogi {
    type Board = Position;

    const WEIGHTS: usize = weights::WEIGHTS;

    fn terms(position: &Position, terms: &mut impl Terms) {
        let scene = Scene::new(position);
        visit::walk(position, &scene, &mut Expand::new(&scene, terms));
    }

    /// A game of shogi is near its end when much has been captured or promoted.
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
        (OPENING - 4 * i32::try_from(progress).unwrap_or(OPENING)).max(0)
    }
}

/// How far a game has come when such a piece is in a hand.
fn progress(piece: HandPiece) -> u32 {
    match piece {
        HandPiece::PAWN => 1,
        HandPiece::LANCE | HandPiece::KNIGHT => 3,
        HandPiece::SILVER | HandPiece::GOLD => 5,
        _ => 6,
    }
}

/// The weights that the engine plays with: those that were fitted to its games.
pub fn weights() -> Vec<Weight> {
    let fitted = read_weights(include_bytes!("../../weights/shogi.bin"));
    // When the terms have changed, none fit until they have been fitted anew.
    if fitted.len() == Shogi::WEIGHTS { fitted } else { start() }
}

static TABLES: LazyLock<TbConfig> = LazyLock::new(|| TbConfig::new(weights()));

/// Makes what [`evaluate`] would make at its first call.
pub(super) fn prepare() {
    LazyLock::force(&TABLES);
}

/// The value of a position in centipawns, for the side to move.
pub fn evaluate(position: &Position) -> i32 {
    let scene = Scene::new(position);
    let mut lookup = Lookup::new(&TABLES, &scene);
    visit::walk(position, &scene, &mut lookup);
    let value = lookup.value(Shogi::phase(position));
    if position.turn() == Color::BLACK { value } else { -value }
}
