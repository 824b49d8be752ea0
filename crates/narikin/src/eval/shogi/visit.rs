//! Visits the features of a position.

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, HandPiece, Piece, PieceType},
};

use super::{
    attack_map::{AttackMap, Case, Cases, Slider, ring},
    view::{COLORS, Context, LEVELS, sign},
    weights::{self, ATTACKED, ESCAPE, FILES, HITS, HOLD, PINNED, TEMPO, UNDEFENDED},
};

/// Receives features.
pub(super) trait Sink {
    /// A piece other than a king, on a square with these attackers.
    fn piece(&mut self, piece: Piece, square: usize, case: Case);

    /// The attackers of all squares, without kings.
    fn attacks_map(&mut self, cases: &Cases);

    /// Pieces in hand.
    fn hand(&mut self, color: Color, piece: HandPiece, count: usize);

    /// Adds a weight `count` times for Black.
    fn term(&mut self, weight: usize, count: i32);
}

#[inline(always)]
pub(super) fn visit(position: &Position, context: &Context, sink: &mut impl Sink) {
    let attacks_map = AttackMap::new(position, |slider| slides(position, context, slider, sink));
    let cases = attacks_map.cases();
    sink.attacks_map(&cases);
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
    safety(position, context, &attacks_map, sink);
    sink.term(TEMPO.start, sign(context.turn));
}

#[inline(always)]
fn count(set: u128) -> usize {
    usize::try_from(set.count_ones()).unwrap_or(0)
}

/// Mobility of a sliding piece, and its attacks around the enemy king.
#[inline(always)]
fn slides(position: &Position, context: &Context, slider: Slider, sink: &mut impl Sink) {
    let Slider { color, number, attacks } = slider;
    let moves = count(attacks & !position.pieces_by_color(color).packed_bits());
    sink.term(weights::mobility(number, moves), sign(color));
    let king = if color == Color::BLACK { context.kings[1] } else { context.kings[0] };
    if let Some(hits) = count(attacks & ring(king)).checked_sub(1) {
        sink.term(HITS.start + number * 3 + hits.min(2), sign(color));
    }
}

/// Files without pawns, for pawn drops.
#[inline(always)]
fn files(position: &Position, color: Color, sink: &mut impl Sink) {
    let pawns = count(position.pieces_for(PieceType::PAWN, color).packed_bits());
    let in_hand = usize::try_from(position.hand(color).count(HandPiece::PAWN)).unwrap_or(0);
    sink.term(FILES.start + in_hand.min(2) * 10 + 9_usize.saturating_sub(pawns), sign(color));
}

/// Pinned pieces.
#[inline(always)]
fn pins(position: &Position, color: Color, sink: &mut impl Sink) {
    for square in &(position.blockers_for_king(color) & position.pieces_by_color(color)) {
        if let Some(piece) = weights::piece(position.piece_on(square).piece_type()) {
            sink.term(PINNED.start + weights::kind(piece), sign(color));
        }
    }
}

/// King safety.
#[inline(always)]
fn safety(position: &Position, context: &Context, attacks_map: &AttackMap, sink: &mut impl Sink) {
    let AttackMap([black, white]) = attacks_map;
    let sides = [(black, white), (white, black)];
    for (index, (color, (own, other))) in COLORS.into_iter().zip(sides).enumerate() {
        let (king, level) = (context.kings[index], context.levels[index]);
        if !king.is_on_board() {
            continue;
        }
        let around = ring(king);
        let attacked = around & other.any();
        let undefended = count(attacked & !own.any()).min(5);
        let escapes = around & !attacked & !position.pieces_by_color(color).packed_bits();
        let sign = sign(color);
        sink.term(ATTACKED.start + count(attacked).min(6) * LEVELS + level, sign);
        sink.term(UNDEFENDED.start + undefended * LEVELS + level, sign);
        sink.term(ESCAPE.start + count(escapes) * LEVELS + level, sign);
        hold(position, color, undefended, sink);
    }
}

/// Pieces in the opponent's hand by undefended squares.
#[inline(always)]
fn hold(position: &Position, color: Color, undefended: usize, sink: &mut impl Sink) {
    let hand = position.hand(color.flip());
    for (index, piece) in HandPiece::iter().enumerate() {
        if hand.count(piece) > 0 {
            sink.term(HOLD.start + index * 6 + undefended, sign(color));
        }
    }
}
