//! What there is to see in a position.

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, HandPiece, Piece, PieceType},
};

use super::{
    effects::{Case, Cases, Effects, Slider, ring},
    layout::{self, FILES, HITS, PINNED, TEMPO},
    safety,
    scene::{COLORS, Scene, sign},
};

/// Takes what is seen.
pub(super) trait Sink {
    /// A piece other than a king stands on a square that is attacked so often, kings left out.
    fn piece(&mut self, piece: Piece, square: usize, case: Case);

    /// How often each square is attacked, kings left out.
    fn effects(&mut self, cases: &Cases);

    /// A side has so many pieces of a kind in hand.
    fn hand(&mut self, color: Color, piece: HandPiece, count: usize);

    /// The weight of this number counts so many times for Black.
    fn term(&mut self, weight: usize, count: i32);
}

pub(super) fn walk(position: &Position, scene: &Scene, sink: &mut impl Sink) {
    let effects = Effects::new(position, |slider| slides(position, scene, slider, sink));
    let cases = effects.cases();
    sink.effects(&cases);
    let kings = position.pieces_by_type(PieceType::KING);
    for square in &(position.pieces() & !kings) {
        let index = square.to_index();
        sink.piece(position.piece_on(square), index, cases.at(index));
    }
    for color in COLORS {
        let hand = position.hand(color);
        for piece in HandPiece::iter() {
            sink.hand(color, piece, usize::try_from(hand.count(piece)).unwrap_or(0));
        }
        files(position, color, sink);
        pins(position, color, sink);
    }
    safety::walk(position, scene, &effects, sink);
    sink.term(TEMPO.start, sign(scene.turn));
}

/// Squares in a set.
pub(super) fn count(set: u128) -> usize {
    usize::try_from(set.count_ones()).unwrap_or(0)
}

/// Where a sliding piece can go, and what it attacks around the other king.
fn slides(position: &Position, scene: &Scene, slider: Slider, sink: &mut impl Sink) {
    let Slider { color, number, attacks } = slider;
    let moves = count(attacks & !position.pieces_by_color(color).packed_bits());
    sink.term(layout::mobility(number, moves), sign(color));
    let king = if color == Color::BLACK { scene.kings[1] } else { scene.kings[0] };
    if let Some(hits) = count(attacks & ring(king)).checked_sub(1) {
        sink.term(HITS.start + number * 3 + hits.min(2), sign(color));
    }
}

/// Files on which a side can drop pawns.
fn files(position: &Position, color: Color, sink: &mut impl Sink) {
    let pawns = count(position.pieces_for(PieceType::PAWN, color).packed_bits());
    let in_hand = usize::try_from(position.hand(color).count(HandPiece::PAWN)).unwrap_or(0);
    sink.term(FILES.start + in_hand.min(2) * 10 + 9_usize.saturating_sub(pawns), sign(color));
}

/// Pieces that would expose their king.
fn pins(position: &Position, color: Color, sink: &mut impl Sink) {
    for square in &(position.blockers_for_king(color) & position.pieces_by_color(color)) {
        if let Some(piece) = layout::piece(position.piece_on(square).piece_type()) {
            sink.term(PINNED.start + layout::kind(piece), sign(color));
        }
    }
}
