//! The tuner recovers known weights and leaves unknown ones unchanged.

use std::ops::Range;

use cozy_chess::{Board, Color, Piece};
use narikin::eval::{MAX_PHASE, Model, Terms, Weight, evaluate, shogi};
use narikin_train::data::Winner;
use narikin_train::games::{Chess, GameKind, Shogi};
use narikin_train::samples::Filter;
use narikin_train::tune::{Dataset, Epoch, LoadError, Settings, fit, load};

use crate::play;

/// A model of material, with one term that never occurs.
struct Material;

const PIECES: [Piece; 5] = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];
const NEVER: usize = 5;

impl Model for Material {
    type Board = Board;
    const WEIGHTS: usize = 6;

    fn terms(board: &Board, terms: &mut impl Terms) {
        for (weight, piece) in PIECES.into_iter().enumerate() {
            for (color, sign) in [(Color::White, 1), (Color::Black, -1)] {
                for _ in board.colored_pieces(color, piece) {
                    terms.add(weight, sign);
                }
            }
        }
    }

    fn phase(board: &Board) -> i32 {
        i32::try_from(board.occupied().len()).map_or(MAX_PHASE, |pieces| pieces * MAX_PHASE / 32)
    }
}

const TRUTH: [Weight; 6] = [
    Weight { mg: 640, eg: 960 },
    Weight { mg: 2600, eg: 2400 },
    Weight { mg: 2700, eg: 2600 },
    Weight { mg: 4000, eg: 4400 },
    Weight { mg: 7600, eg: 8000 },
    Weight { mg: 0, eg: 0 },
];

/// Positions of random games, scored with the true weights.
fn truth(seed: u64, games: u32) -> Dataset {
    let mut data = Dataset::default();
    let mut rng = fastrand::Rng::with_seed(seed);
    for _ in 0..games {
        let mut board = Board::default();
        for _ in 0..160 {
            let mut moves = Vec::new();
            board.generate_moves(|some| {
                moves.extend(some);
                false
            });
            let Some(&mv) = rng.choice(&moves) else { break };
            board.play(mv);
            let score = i16::try_from(evaluate::<Material>(&board, &TRUTH)).expect("a small value");
            data.push::<Material>(&board, score, Winner::None).expect("free disk space");
        }
    }
    data
}

const SETTINGS: Settings = Settings {
    epochs: 60,
    lambda: 1.0,
    scale: 400.0,
    spread: 1000.0,
    rate: 10.0,
    batch: 256,
    seed: 1,
    threads: 2,
};

fn fitted(
    start: &[Weight],
    frozen: &[Range<usize>],
    settings: &Settings,
) -> (Vec<Weight>, Vec<Epoch>) {
    let mut epochs = Vec::new();
    let weights = fit(&truth(1, 60), &truth(2, 6), start, frozen, settings, |epoch| {
        epochs.push(*epoch);
    });
    (weights, epochs)
}

fn near(weight: Weight, expected: Weight) -> bool {
    let near =
        |found: i16, expected: i16| found.abs_diff(expected) <= 16 + expected.unsigned_abs() / 50;
    near(weight.mg, expected.mg) && near(weight.eg, expected.eg)
}

#[test]
fn recovers_known_weights() {
    let (weights, epochs) = fitted(&[Weight::default(); 6], &[], &SETTINGS);
    for (weight, expected) in weights.iter().zip(TRUTH) {
        assert!(near(*weight, expected), "{weights:?}");
    }
    let (first, last) = (epochs.first().expect("a start"), epochs.last().expect("an end"));
    assert_eq!((first.number, last.number), (0, SETTINGS.epochs));
    assert!(last.training < first.training / 1000.0, "{first:?} {last:?}");
    assert!(last.validation < first.validation / 1000.0, "{first:?} {last:?}");
}

#[test]
fn the_number_of_threads_does_not_affect_the_result() {
    let short = Settings { epochs: 2, ..SETTINGS };
    let once = fitted(&[Weight::default(); 6], &[], &Settings { threads: 1, ..short });
    for threads in [2, 3, 8, 100] {
        let again = fitted(&[Weight::default(); 6], &[], &Settings { threads, ..short });
        assert_eq!(again, once, "{threads} threads");
    }
}

#[test]
fn weights_without_positions_stay_unchanged() {
    let mut start = [Weight::default(); 6];
    start[NEVER] = Weight { mg: 77, eg: -77 };
    let (weights, _) = fitted(&start, &[], &Settings { epochs: 3, ..SETTINGS });
    assert_eq!(weights[NEVER], start[NEVER]);
    assert_ne!(weights[0], start[0]);
}

#[test]
fn frozen_weights_stay_unchanged() {
    let (weights, _) =
        fitted(&[Weight::default(); 6], &[1..3, 5..6], &Settings { epochs: 3, ..SETTINGS });
    for (number, weight) in weights.into_iter().enumerate() {
        let frozen = matches!(number, 1 | 2 | 5);
        assert_eq!(weight == Weight::default(), frozen, "{number}");
    }
}

#[test]
fn a_small_spread_keeps_weights_near_the_start() {
    let moved = |spread| {
        let settings = Settings { epochs: 5, spread, ..SETTINGS };
        let (weights, _) = fitted(&[Weight::default(); 6], &[], &settings);
        weights[4].mg
    };
    assert!(moved(0.1) < moved(1000.0) / 10, "{} {}", moved(0.1), moved(1000.0));
}

#[test]
fn fits_to_results_without_scores() {
    let mut data = Dataset::default();
    let board: Board = "4k3/8/8/8/8/8/P7/4K3 w - - 0 1".parse().expect("a position");
    for game in 0..1000 {
        let winner = if game % 4 == 0 { Winner::Second } else { Winner::First };
        data.push::<Material>(&board, -500, winner).expect("free disk space");
    }
    let settings = Settings { lambda: 0.0, ..SETTINGS };
    let weights = fit(&data, &Dataset::default(), &[Weight::default(); 6], &[], &settings, |_| ());
    let value = f64::from(evaluate::<Material>(&board, &weights));
    let expected = 3_f64.ln() * f64::from(settings.scale);
    assert!((value - expected).abs() < 10.0, "{value} where {expected} wins three games of four");
}

#[test]
fn an_empty_data_set_leaves_the_start_unchanged() {
    let empty = Dataset::default();
    let weights = fit(&empty, &empty, &TRUTH, &[], &SETTINGS, |_| ());
    assert_eq!(weights, TRUTH);
}

#[test]
fn fits_narikins_model_to_its_games() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    play(&path, GameKind::Shogi, 96, 2);
    let split =
        load::<Shogi, shogi::Shogi>(&[&path], &Filter::usual(GameKind::Shogi)).expect("positions");
    assert!(split.training.len() > split.validation.len() && !split.validation.is_empty());
    let start = vec![Weight::default(); shogi::Shogi::WEIGHTS];
    let mut losses = Vec::new();
    let settings = Settings { epochs: 5, lambda: 0.7, ..SETTINGS };
    fit(&split.training, &split.validation, &start, &[], &settings, |epoch| {
        losses.push((epoch.training, epoch.validation));
    });
    let (first, last) = (losses[0], losses[5]);
    assert!(last.0 < first.0 / 2.0 && last.1 < first.1, "{losses:?}");
}

#[test]
fn rejects_files_of_another_game() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    play(&path, GameKind::Shogi, 1, 1);
    let error = load::<Chess, Material>(&[&path], &Filter::usual(GameKind::Chess));
    assert!(matches!(error, Err(LoadError::OtherGame(_))), "{error:?}");
}
