//! What there is to see in a position.

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, HandPiece, Piece, PieceType},
};

use super::{effects::Effects, layout, view::SQUARES};

/// Takes what is seen.
pub(super) trait Sink {
    /// A piece other than a king stands on a square.
    fn piece(&mut self, piece: Piece, square: usize);

    /// How often each square is attacked, in the numbers of [`Effects::cases`].
    fn effects(&mut self, cases: &[u8; SQUARES]);

    /// A side has so many pieces of a kind in hand.
    fn hand(&mut self, color: Color, piece: HandPiece, count: usize);

    /// The weight of this number counts so many times for Black.
    fn term(&mut self, weight: usize, count: i32);
}

/// 1 for Black, whose value it is, and -1 for White.
pub(super) fn sign(color: Color) -> i32 {
    if color == Color::BLACK { 1 } else { -1 }
}

pub(super) fn walk(position: &Position, sink: &mut impl Sink) {
    let kings = position.pieces_by_type(PieceType::KING);
    for square in &(position.pieces() & !kings) {
        sink.piece(position.piece_on(square), square.to_index());
    }
    sink.effects(&Effects::new(position).cases());
    for color in [Color::BLACK, Color::WHITE] {
        let hand = position.hand(color);
        for piece in HandPiece::iter() {
            sink.hand(color, piece, usize::try_from(hand.count(piece)).unwrap_or(0));
        }
    }
    sink.term(layout::TEMPO.start, sign(position.turn()));
}
