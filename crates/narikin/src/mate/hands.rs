//! Hand dominance: the hands for which a result holds.
//!
//! A mate needs some of the attacker's pieces in hand and holds for all hands with at least those.
//! A position without a mate has no mate with fewer pieces either. The defender has the pieces that the attacker
//! does not have.

use readyok_rules::rsshogi::board::{Bitboard, Position};
use readyok_rules::rsshogi::types::{Color, Hand, HandPiece, Move32, PieceType, Rank, Square};

/// The maximum of each piece.
pub(super) fn union(a: Hand, b: Hand) -> Hand {
    merge(a, b, u32::max)
}

/// The minimum of each piece.
pub(super) fn intersection(a: Hand, b: Hand) -> Hand {
    merge(a, b, u32::min)
}

fn merge(a: Hand, b: Hand, choose: fn(u32, u32) -> u32) -> Hand {
    HandPiece::iter()
        .fold(Hand::ZERO, |hand, piece| with(hand, piece, choose(a.count(piece), b.count(piece))))
}

/// The hand with another number of a piece.
fn with(hand: Hand, piece: HandPiece, count: u32) -> Hand {
    let bare = hand.checked_sub(piece, hand.count(piece)).unwrap_or(hand);
    bare.checked_add(piece, count).unwrap_or(bare)
}

/// Whether `a` has at least the pieces of `b`.
pub(super) fn covers(a: Hand, b: Hand) -> bool {
    Hand::is_equal_or_superior(a, b)
}

/// The pieces of both hands.
pub(super) fn all(position: &Position) -> Hand {
    let (first, second) = (position.hand(Color::BLACK), position.hand(Color::WHITE));
    merge(first, second, |a, b| a + b)
}

/// The hand before the attacker's move that corresponds to a hand after it: with the dropped piece, and
/// without the captured one.
pub(super) fn before(hand: Hand, mv: Move32, position: &Position) -> Hand {
    let piece = |kind: PieceType| HandPiece::from_piece_type(kind.demote());
    if let Some(dropped) = mv.dropped_piece() {
        return piece(dropped).map_or(hand, |kind| with(hand, kind, hand.count(kind) + 1));
    }
    let victim = position.piece_on(mv.to_sq());
    let taken = if victim.is_empty() { None } else { piece(victim.piece_type()) };
    taken.map_or(hand, |kind| with(hand, kind, hand.count(kind).saturating_sub(1)))
}

/// The minimum hand of the attacker for which all evasions fail, given the one for the existing evasions.
/// The defender is to move, and cannot interpose pieces that the attacker holds completely.
pub(super) fn of_mate(position: &Position, needed: Hand) -> Hand {
    let defender = position.turn();
    let between = interposable(position);
    if between.is_empty() {
        return needed;
    }
    let (held, lacking) = (position.hand(defender.flip()), position.hand(defender));
    let withheld = |piece: &HandPiece| {
        lacking.count(*piece) == 0
            && held.count(*piece) > needed.count(*piece)
            && can_drop_on(position, defender, *piece, between)
    };
    HandPiece::iter()
        .filter(withheld)
        .fold(needed, |hand, piece| with(hand, piece, held.count(piece)))
}

/// The squares on which a check can be interposed.
fn interposable(position: &Position) -> Bitboard {
    let checkers = position.checkers();
    let king = position.king_square(position.turn());
    match checkers.lsb() {
        Some(checker) if checkers.count() == 1 => Bitboard::between(checker, king),
        _ => Bitboard::EMPTY,
    }
}

fn can_drop_on(position: &Position, side: Color, piece: HandPiece, squares: Bitboard) -> bool {
    let mut left = squares;
    while let Some(square) = left.pop_lsb() {
        let two_pawns = piece == HandPiece::PAWN && position.has_pawn_on_file(side, square.file());
        if !two_pawns && 0 < ranks_ahead(side, square) - dead_ranks(piece) {
            return true;
        }
    }
    false
}

fn ranks_ahead(side: Color, square: Square) -> i8 {
    let rank = square.rank().raw() - Rank::RANK_1.raw();
    if side == Color::BLACK { rank + 1 } else { 9 - rank }
}

/// The number of the furthest ranks from which a piece could never move.
const fn dead_ranks(piece: HandPiece) -> i8 {
    match piece {
        HandPiece::PAWN | HandPiece::LANCE => 1,
        HandPiece::KNIGHT => 2,
        _ => 0,
    }
}

/// The maximum hand of the attacker, up to `bound`, that allows no additional checks. The attacker is to
/// move.
pub(super) fn of_no_mate(position: &Position, bound: Hand) -> Hand {
    let held = position.hand(position.turn());
    let empty = position.empties();
    let opens_checks = |piece: &HandPiece| {
        held.count(*piece) == 0
            && !(position.check_square(piece.to_piece_type()) & empty).is_empty()
    };
    HandPiece::iter().filter(opens_checks).fold(bound, |hand, piece| with(hand, piece, 0))
}
