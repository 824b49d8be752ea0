//! The evaluation of shogi is symmetric in colors and left and right.

use readyok_rules::rsshogi::{
    board::{
        BoardArray, Move32List, Position, generate_position_state, hirate_position,
        position_from_position_state, position_from_sfen,
    },
    movegen::generate_legal_all_move32,
    types::{Color, HandPiece, Piece, PieceType, SQ_NONE, Square},
};

use super::{
    GROUPS, Group, Shogi,
    attack_map::{AttackMap, Cases},
    evaluate, initial_weights,
    terms::Expand,
    view::{COLORS, Context, LEVELS, OFFSETS, SQUARES},
    visit::Sink,
    weights,
};
use crate::eval::{MAX_PHASE, Model, Terms, WEIGHT_UNITS, Weight, read_weights};

/// Positions that are no games yet: without kings, with everything in hand, promoted or crowded.
const UNUSUAL: &[&str] = &[
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
    let mut random = move |below: usize| {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        usize::try_from(number >> 33).unwrap() % below.max(1)
    };
    for _ in 0..8 {
        let mut position = hirate_position();
        for _ in 0..250 {
            check(&position);
            let mut moves = Move32List::new();
            generate_legal_all_move32(&position, &mut moves);
            let chosen = random(moves.iter().count());
            let Some(&mv) = moves.iter().nth(chosen) else { break };
            position.apply_move32(mv);
        }
    }
    for sfen in UNUSUAL {
        check(&position_from_sfen(sfen).unwrap());
    }
    for _ in 0..4000 {
        check(&random_placement(&mut random));
    }
}

/// Pieces as they fell on the board.
fn random_placement(random: &mut impl FnMut(usize) -> usize) -> Position {
    let mut state = generate_position_state(&Position::empty());
    let pieces = PieceType::iter().skip(1).filter(|&piece| piece != PieceType::KING);
    let pieces: Vec<_> = pieces.collect();
    let sparse = 2 + random(12);
    for square in Square::iter() {
        if random(sparse) == 0 {
            let color = COLORS[random(2)];
            state.board.set(square, Piece::from_parts(color, pieces[random(pieces.len())]));
        }
    }
    for color in COLORS {
        state.board.set(Square::from_index(random(81)), Piece::from_parts(color, PieceType::KING));
        let hand = &mut state.hands[color.to_index()];
        let max = random(3);
        for piece in HandPiece::iter() {
            hand.add(piece, u32::try_from(random(1 + max)).unwrap());
        }
    }
    state.side_to_move = COLORS[random(2)];
    position_from_position_state(&state)
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
    for side in COLORS {
        state.hands[color(side).to_index()] = position.hand(side);
    }
    state.side_to_move = color(position.turn());
    position_from_position_state(&state)
}

#[test]
fn evaluation_is_symmetric_in_colors() {
    each_position(|position| {
        let turned = renamed(position, Square::flip, Color::flip);
        assert_eq!(evaluate(&turned), evaluate(position), "{}", position.to_sfen(None));
    });
}

#[test]
fn evaluation_is_symmetric_in_files() {
    each_position(|position| {
        let mirrored = renamed(position, Square::mirror_file, |color| color);
        assert_eq!(evaluate(&mirrored), evaluate(position), "{}", position.to_sfen(None));
    });
}

/// Sums up terms.
struct Sum {
    mg: i64,
    eg: i64,
    weights: Vec<Weight>,
}

impl Terms for Sum {
    fn add(&mut self, weight: usize, count: i32) {
        self.mg += i64::from(self.weights[weight].mg) * i64::from(count);
        self.eg += i64::from(self.weights[weight].eg) * i64::from(count);
    }
}

#[test]
fn evaluation_is_the_sum_of_terms() {
    let mut sum = Sum { mg: 0, eg: 0, weights: weights() };
    each_position(|position| {
        (sum.mg, sum.eg) = (0, 0);
        Shogi::terms(position, &mut sum);
        let phase = i64::from(Shogi::phase(position));
        let whole = i64::from(MAX_PHASE);
        let value = (sum.mg * phase + sum.eg * (whole - phase)) / (whole * i64::from(WEIGHT_UNITS));
        let value = if position.turn() == Color::BLACK { value } else { -value };
        assert_eq!(i64::from(evaluate(position)), value, "{}", position.to_sfen(None));
    });
}

#[test]
fn groups_cover_all_weights_in_order() {
    let mut next = 0;
    for Group { name, range } in GROUPS {
        assert_eq!(range.start, next, "{name}");
        assert!(!range.is_empty(), "{name}");
        next = range.end;
    }
    assert_eq!(next, Shogi::WEIGHTS);
    assert_eq!(initial_weights().len(), Shogi::WEIGHTS);
    let fitted = read_weights(include_bytes!("../../../weights/shogi.bin"));
    assert_eq!(fitted.len(), Shogi::WEIGHTS, "the weights must be tuned again");
}

/// Remembers which terms there are.
struct Seen(Vec<bool>);

impl Terms for Seen {
    fn add(&mut self, weight: usize, _: i32) {
        self.0[weight] = true;
    }
}

/// No bishop or horse attacks three squares around a king.
const UNSEEN: &[(&str, usize)] = &[("hits", 5), ("hits", 11)];

#[test]
fn every_weight_is_used() {
    let mut seen = Seen(vec![false; Shogi::WEIGHTS]);
    each_position(|position| Shogi::terms(position, &mut seen));
    for king in Square::iter() {
        let context =
            |level| Context { kings: [king, SQ_NONE], levels: [level; 2], turn: Color::BLACK };
        for level in 0..LEVELS {
            let mut expand = Expand::new(&context(level), &mut seen);
            (0..16).for_each(|case| expand.attacks_map(&Cases::all(case)));
        }
        let mut expand = Expand::new(&context(0), &mut seen);
        for case in 0..16 {
            for raw in 0..32 {
                for square in (0..SQUARES).filter(|&square| square != king.to_index()) {
                    expand.piece(Piece::new(raw), square, case);
                }
            }
        }
        for piece in HandPiece::iter() {
            expand.hand(Color::WHITE, piece, 18);
        }
    }
    // The king's own square is in the tables of pieces, too.
    let centre = 4 * 17 + 8;
    for Group { name, range } in GROUPS {
        for (index, &seen) in seen.0[range.clone()].iter().enumerate() {
            let own = matches!(*name, "defender" | "attacker") && index % OFFSETS == centre;
            assert_eq!(seen, !own && !UNSEEN.contains(&(name, index)), "{name} {index}");
        }
    }
}

#[test]
fn counts_attackers_of_every_square() {
    each_position(|position| {
        let attacks_map = AttackMap::new(position, |_| ());
        let cases = attacks_map.cases();
        let kings = position.pieces_by_type(PieceType::KING);
        for square in Square::iter() {
            let count = |color| {
                let attackers = position.attackers_to_color_current(color, square);
                (attackers & !kings).count().min(3)
            };
            let case = count(Color::BLACK) + 4 * count(Color::WHITE);
            let text = format!("{} {}", position.to_sfen(None), square.to_usi());
            assert_eq!(u32::from(cases.at(square.to_index())), case, "{text}");
        }
    });
}
