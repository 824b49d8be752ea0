//! The evaluation of shogi knows no colours and no left and right.

use readyok_rules::rsshogi::{
    board::{
        BoardArray, Move32List, Position, generate_position_state, hirate_position,
        position_from_position_state, position_from_sfen,
    },
    movegen::generate_legal_all_move32,
    types::{Color, Piece, PieceType, Square},
};

use super::{Shogi, effects::Effects, evaluate, layout, weights};
use crate::eval::{Model, OPENING, Terms, UNITS};

/// Positions that are no games yet: without kings, with everything in hand, promoted or crowded.
const ODD: &[&str] = &[
    "9/9/9/9/9/9/9/9/9 b - 1",
    "4k4/9/9/9/9/9/9/9/9 b 2R2B4G4S4N4L18P 1",
    "9/9/9/9/9/9/9/9/4K4 w 2r2b4g4s4n4l18p 1",
    "k8/9/9/9/9/9/9/9/8K b RB2G2S2N2L9Prb2g2s2n2l9p 1",
    "8k/+P+P+P+P+P+P+P+P+P/+R+B+L+L+N+N+S+S+S/9/4K4/9/9/9/9 w - 1",
    "K8/+p+p+p+p+p+p+p+p+p/+r+b+l+l+n+n+s+s+s/9/4k4/9/9/9/9 b - 1",
    "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
    "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124",
];

/// Calls with every position of some random games.
fn each_position(mut check: impl FnMut(&Position)) {
    let mut number = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..8 {
        let mut position = hirate_position();
        for _ in 0..250 {
            check(&position);
            let mut moves = Move32List::new();
            generate_legal_all_move32(&position, &mut moves);
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            let count = moves.iter().count();
            let chosen = usize::try_from(number >> 33).unwrap().checked_rem(count);
            let Some(&mv) = chosen.and_then(|index| moves.iter().nth(index)) else { break };
            position.apply_move32(mv);
        }
    }
    for sfen in ODD {
        check(&position_from_sfen(sfen).unwrap());
    }
}

/// The same position with squares and colours renamed.
fn renamed(
    position: &Position,
    square: impl Fn(Square) -> Square,
    color: impl Fn(Color) -> Color,
) -> Position {
    let mut state = generate_position_state(position);
    state.board = BoardArray::empty();
    for from in &position.pieces() {
        let piece = position.piece_on(from);
        state.board.set(square(from), Piece::from_parts(color(piece.color()), piece.piece_type()));
    }
    for side in [Color::BLACK, Color::WHITE] {
        state.hands[color(side).to_index()] = position.hand(side);
    }
    state.side_to_move = color(position.turn());
    position_from_position_state(&state)
}

#[test]
fn colours_are_alike() {
    each_position(|position| {
        let turned = renamed(position, Square::flip, Color::flip);
        assert_eq!(evaluate(&turned), evaluate(position), "{}", position.to_sfen(None));
    });
}

#[test]
fn left_and_right_are_alike() {
    each_position(|position| {
        let mirrored = renamed(position, Square::mirror_file, |color| color);
        assert_eq!(evaluate(&mirrored), evaluate(position), "{}", position.to_sfen(None));
    });
}

/// Sums up terms, and remembers which were there.
struct Sum {
    opening: i64,
    ending: i64,
    seen: Vec<bool>,
}

impl Sum {
    fn new() -> Self {
        Self { opening: 0, ending: 0, seen: vec![false; Shogi::WEIGHTS] }
    }
}

impl Terms for Sum {
    fn add(&mut self, weight: usize, count: i32) {
        self.seen[weight] = true;
        self.opening += i64::from(weights()[weight].opening) * i64::from(count);
        self.ending += i64::from(weights()[weight].ending) * i64::from(count);
    }
}

#[test]
fn value_is_the_sum_of_terms() {
    each_position(|position| {
        let mut sum = Sum::new();
        Shogi::terms(position, &mut sum);
        let phase = i64::from(Shogi::phase(position));
        let whole = i64::from(OPENING);
        let value =
            (sum.opening * phase + sum.ending * (whole - phase)) / (whole * i64::from(UNITS));
        let value = if position.turn() == Color::BLACK { value } else { -value };
        assert_eq!(i64::from(evaluate(position)), value, "{}", position.to_sfen(None));
    });
}

#[test]
fn groups_cover_all_weights_in_order() {
    let mut next = 0;
    for (name, range) in layout::GROUPS {
        assert_eq!(range.start, next, "{name}");
        assert!(!range.is_empty(), "{name}");
        next = range.end;
    }
    assert_eq!(next, Shogi::WEIGHTS);
    assert_eq!(weights().len(), Shogi::WEIGHTS);
}

#[test]
fn counts_attackers_of_every_square() {
    each_position(|position| {
        let cases = Effects::new(position).cases();
        for square in Square::iter() {
            let count = |color| {
                let attackers = position.attackers_to_color_current(color, square);
                let kings = position.pieces_by_type(PieceType::KING);
                (attackers & !kings).count().min(3)
            };
            let case = count(Color::BLACK) + 4 * count(Color::WHITE);
            let sfen = position.to_sfen(None);
            assert_eq!(u32::from(cases[square.to_index()]), case, "{sfen} {}", square.to_usi());
        }
    });
}
