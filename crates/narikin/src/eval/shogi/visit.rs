//! What there is to see in a position.

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, HandPiece, Piece, PieceType},
};

use super::{
    attack_map::{Case, Cases, Effects, Slider, ring},
    view::{COLORS, LEVELS, Scene, sign},
    weights::{self, ATTACKED, BREACH, ESCAPE, FILES, HITS, HOLD, PINNED, TEMPO},
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
    safety(position, scene, &effects, sink);
    sink.term(TEMPO.start, sign(scene.turn));
}

/// Squares in a set.
fn count(set: u128) -> usize {
    usize::try_from(set.count_ones()).unwrap_or(0)
}

/// Where a sliding piece can go, and what it attacks around the other king.
fn slides(position: &Position, scene: &Scene, slider: Slider, sink: &mut impl Sink) {
    let Slider { color, number, attacks } = slider;
    let moves = count(attacks & !position.pieces_by_color(color).packed_bits());
    sink.term(weights::mobility(number, moves), sign(color));
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
        if let Some(piece) = weights::piece(position.piece_on(square).piece_type()) {
            sink.term(PINNED.start + weights::kind(piece), sign(color));
        }
    }
}

/// Looks around both kings.
fn safety(position: &Position, scene: &Scene, effects: &Effects, sink: &mut impl Sink) {
    let Effects([black, white]) = effects;
    let sides = [(black, white), (white, black)];
    for (index, (color, (own, other))) in COLORS.into_iter().zip(sides).enumerate() {
        let (king, level) = (scene.kings[index], scene.levels[index]);
        if !king.is_on_board() {
            continue;
        }
        let around = ring(king);
        let attacked = around & other.any();
        let breach = count(attacked & !own.any()).min(5);
        let escapes = around & !attacked & !position.pieces_by_color(color).packed_bits();
        let sign = sign(color);
        sink.term(ATTACKED.start + count(attacked).min(6) * LEVELS + level, sign);
        sink.term(BREACH.start + breach * LEVELS + level, sign);
        sink.term(ESCAPE.start + count(escapes) * LEVELS + level, sign);
        hold(position, color, breach, sink);
    }
}

/// Pieces in the opponent's hand are the more dangerous the less is defended.
fn hold(position: &Position, color: Color, breach: usize, sink: &mut impl Sink) {
    let hand = position.hand(color.flip());
    for (index, piece) in HandPiece::iter().enumerate() {
        if hand.count(piece) > 0 {
            sink.term(HOLD.start + index * 6 + breach, sign(color));
        }
    }
}
