//! The evaluation of chess over positions of random games.

use std::ops::Range;

use cozy_chess::{Board, BoardBuilder, Color, GameStatus, Square};
use narikin::eval::{
    self, MAX_PHASE, Model, Terms, Weight,
    chess::{Chess, GROUPS, evaluate, initial_weights, weights},
};

/// The positions of random games of Chess960.
fn for_each_position(games: u64, mut each: impl FnMut(&Board)) {
    for seed in 0..games {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut board = Board::double_chess960_startpos(random.u32(..960), random.u32(..960));
        while board.status() == GameStatus::Ongoing {
            each(&board);
            let mut moves = Vec::new();
            board.generate_moves(|of_piece| {
                moves.extend(of_piece);
                false
            });
            let mv = random.choice(moves).expect("an ongoing game has moves");
            board.play_unchecked(mv);
        }
    }
}

/// The board with squares and colors mapped.
fn changed(board: &Board, square: fn(Square) -> Square, color: fn(Color) -> Color) -> Board {
    let before = BoardBuilder::from_board(board);
    let mut after = BoardBuilder::empty();
    for from in Square::ALL {
        *after.square_mut(square(from)) =
            before.square(from).map(|(piece, owner)| (piece, color(owner)));
    }
    for owner in Color::ALL {
        *after.castle_rights_mut(color(owner)) = *before.castle_rights(owner);
    }
    after.side_to_move = color(before.side_to_move);
    after.build().expect("a mirrored position is as good")
}

#[test]
fn is_symmetric_in_colors() {
    for_each_position(40, |board| {
        let turned = changed(board, Square::flip_rank, |color| !color);
        assert_eq!(evaluate(board), evaluate(&turned), "{board}");
    });
}

#[test]
fn is_symmetric_in_wings_without_castling() {
    for_each_position(40, |board| {
        let rights = Color::ALL.map(|color| *board.castle_rights(color));
        if rights.iter().all(|rights| rights.short.is_none() && rights.long.is_none()) {
            let turned = changed(board, Square::flip_file, |color| color);
            assert_eq!(evaluate(board), evaluate(&turned), "{board}");
        }
    });
}

/// The number of uses of each weight.
struct Tally {
    counts: Vec<i32>,
    reached: Vec<bool>,
}

impl Terms for Tally {
    fn add(&mut self, weight: usize, count: i32) {
        let entry = self.counts.get_mut(weight).expect("weights are numbered below `WEIGHTS`");
        *entry += count;
        self.reached[weight] = true;
    }
}

#[test]
fn every_weight_is_used() {
    let mut tally = Tally { counts: vec![0; Chess::WEIGHTS], reached: vec![false; Chess::WEIGHTS] };
    for_each_position(700, |board| Chess::terms(board, &mut tally));
    let missing = |range: Range<usize>| -> Vec<usize> {
        (0..range.len()).filter(|index| !tally.reached[range.start + index]).collect()
    };
    let found: Vec<_> =
        GROUPS.iter().map(|group| (group.name, missing(group.range.clone()))).collect();
    let expected: Vec<_> =
        GROUPS.iter().map(|group| (group.name, unreachable(group.name))).collect();
    assert_eq!(found, expected);
}

/// The weights of a group that no position uses.
fn unreachable(group: &str) -> Vec<usize> {
    // The first zones of a king are its squares E1 to H1, where no other piece can be.
    let last_rank = match group {
        "place by own king" => 0,
        "place by enemy king" => 56,
        // A queen next to the king gives check, so the king's side is to move.
        "threat by a king" => return vec![4],
        _ => return Vec::new(),
    };
    let (pieces, pawns) = (0..4, 48);
    let of_zone = |zone: usize| {
        let square = last_rank + 4 + zone;
        pieces.clone().map(move |piece| zone * 304 + pawns + piece * 64 + square)
    };
    (0..4).flat_map(of_zone).collect()
}

#[test]
fn evaluation_is_the_sum_of_its_terms() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut any = || random.i16(-200..200);
    let weights: Vec<_> = (0..Chess::WEIGHTS).map(|_| Weight { mg: any(), eg: any() }).collect();
    for_each_position(20, |board| {
        let mut tally =
            Tally { counts: vec![0; Chess::WEIGHTS], reached: vec![false; Chess::WEIGHTS] };
        Chess::terms(board, &mut tally);
        let phase = Chess::phase(board);
        assert!((0..=MAX_PHASE).contains(&phase), "{board}");
        let sum: i32 = weights
            .iter()
            .zip(&tally.counts)
            .map(|(weight, count)| {
                let (mg, eg) = (i32::from(weight.mg), i32::from(weight.eg));
                count * (mg * phase + eg * (MAX_PHASE - phase))
            })
            .sum();
        let value = sum / (MAX_PHASE * eval::WEIGHT_UNITS);
        let scaled = value * Chess::scale(board, value) / eval::SCALE_NORMAL;
        assert_eq!(eval::evaluate::<Chess>(board, &weights), scaled);
    });
}

#[test]
fn engine_and_tuner_evaluate_equally() {
    let weights = weights();
    for_each_position(40, |board| {
        let value = eval::evaluate::<Chess>(board, &weights);
        let for_mover = if board.side_to_move() == Color::White { value } else { -value };
        assert_eq!(evaluate(board), for_mover, "{board}");
    });
}

#[test]
fn groups_hold_every_weight_once() {
    let mut next = 0;
    for group in GROUPS {
        assert_eq!(group.range.start, next, "{}", group.name);
        next = group.range.end;
    }
    assert_eq!(next, Chess::WEIGHTS);
    assert_eq!(initial_weights().len(), Chess::WEIGHTS);
}

#[test]
fn weights_are_fitted_to_these_terms() {
    let fitted = weights();
    assert_ne!(fitted, initial_weights(), "the terms have changed: fit the weights again");
    let material = GROUPS.iter().find(|group| group.name == "material").expect("a group");
    let eg: Vec<_> = fitted[material.range.clone()].iter().map(|each| each.eg).collect();
    assert!(eg.is_sorted(), "pawn, knight, bishop, rook, queen: {eg:?}");
}

#[test]
fn evaluates_unusual_positions() {
    // (position, whether the side to move is clearly ahead)
    let cases = [
        ("QQQQQQQQ/QQQQQQQ1/8/8/8/8/k7/7K b - - 0 1", false),
        ("4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1", true),
        ("nnnnknnn/nnnnnnnn/8/8/8/8/8/4K3 w - - 0 1", false),
        ("bbbbkbbb/rrrrrrrr/8/8/8/8/QQQQQQQQ/NNNNKNNN w - - 0 1", true),
    ];
    for (text, ahead) in cases {
        let board: Board = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let value = evaluate(&board);
        assert_eq!(value > 500, ahead, "{text}: {value}");
        assert_eq!(value < -500, !ahead, "{text}: {value}");
    }
    let bare: Board = "4k3/8/8/8/8/8/8/4K3 w - - 0 1".parse().expect("two kings");
    assert!(evaluate(&bare).abs() < 50);
}

/// Mate is possible in a corner of the bishop's color, to which the king is driven along an edge.
#[test]
fn bishop_and_knight_drive_a_king_to_the_right_corner() {
    let value = |king: &str| -> i32 {
        let text = format!("{king} w - - 0 1");
        evaluate(&text.parse().unwrap_or_else(|error| panic!("{text}: {error}")))
    };
    let edge = [
        "k5N1/8/8/4K3/8/8/7B/8",
        "6N1/k7/8/4K3/8/8/7B/8",
        "6N1/8/k7/4K3/8/8/7B/8",
        "6N1/8/8/k3K3/8/8/7B/8",
        "6N1/8/8/4K3/k7/8/7B/8",
        "6N1/8/8/4K3/8/k7/7B/8",
        "6N1/8/8/4K3/8/8/k6B/8",
    ];
    let values = edge.map(value);
    assert!(values.is_sorted_by(|wrong, right| wrong < right), "{values:?}");
}

#[test]
fn a_lead_is_scaled_down_in_drawn_endings() {
    // (position with White ahead, the bounds of its score)
    let cases = [
        ("4k3/8/8/8/8/8/8/2B1K3 w - - 0 1", 0..1),
        ("4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1", 0..1),
        ("4k3/4n3/8/8/8/8/8/R3K3 w - - 0 1", 0..60),
        ("k7/8/8/P7/8/8/8/2B1K3 w - - 0 1", 0..60),
        ("k7/8/8/P7/8/8/8/3BK3 w - - 0 1", 200..1200),
        ("4k3/2b5/8/8/8/4P3/4P3/2B1K3 w - - 0 1", 20..250),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 300..1500),
        ("4k3/8/8/8/8/8/8/1NB1K3 w - - 0 1", 300..1500),
        ("4k3/8/8/8/8/8/8/1BB1K3 w - - 0 1", 300..1500),
    ];
    for (text, bounds) in cases {
        let board: Board = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let value = evaluate(&board);
        assert!(bounds.contains(&value), "{text}: {value}");
    }
}
