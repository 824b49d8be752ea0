//! Training of networks: gradients, reproducibility, quantization.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use narikin::network::{Activation, Features, NetworkInfo};
use narikin_train::games::{Chess, GameKind, Shogi, TrainGame, evaluate};
use narikin_train::nnue::average::{AverageError, average};
use narikin_train::nnue::checkpoint::Checkpoint;
use narikin_train::nnue::curve::{Curve, Point};
use narikin_train::nnue::gradient::{Objective, Pass};
use narikin_train::nnue::parameters::Shape;
use narikin_train::nnue::positions::Positions;
use narikin_train::nnue::quantization::{dequantize, quantize};
use narikin_train::nnue::source::{Source, Targets};
use narikin_train::nnue::training::{Settings, Trainer, TrainingState};
use narikin_train::samples::Filter;
use rayon::ThreadPoolBuilder;
use readyok_rules::Game;
use tempfile::TempDir;

use crate::{bytes, play};

const HIDDEN: usize = 32;

const SETTINGS: Settings = Settings {
    hidden: HIDDEN,
    activation: Activation::ClippedRelu,
    epochs: 4,
    batch: 64,
    buffer: 700,
    rate: [0.01, 0.001],
    decay: 0.01,
    wdl: [0.3, 0.4],
    scale: 300.0,
    centipawns: 400.0,
    seed: 5,
    reports: 6,
};

/// Two files of games, which are played once for all tests.
fn games(kind: GameKind) -> (TempDir, [PathBuf; 2]) {
    static CHESS: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    static SHOGI: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    let directory = tempfile::tempdir().expect("a directory");
    let paths = ["first", "second"].map(|name| directory.path().join(name));
    let files = match kind {
        GameKind::Chess => &CHESS,
        GameKind::Shogi => &SHOGI,
    };
    let files = files.get_or_init(|| {
        play(&paths[0], kind, 24, 2);
        play(&paths[1], kind, 17, 2);
        [bytes(&paths[0]), bytes(&paths[1])]
    });
    for (path, file) in paths.iter().zip(files) {
        fs::write(path, file).expect("free disk space");
    }
    (directory, paths)
}

fn source<G: TrainGame + Sync>(paths: &[PathBuf], targets: Targets) -> Source<G> {
    Source::load(paths, Filter::usual(G::KIND), targets).expect("games")
}

fn shape<G: TrainGame>() -> Shape {
    Shape { features: G::Board::INPUTS, hidden: HIDDEN }
}

fn loss(shape: Shape, parameters: &[f32], objective: &Objective, positions: &Positions) -> f64 {
    let mut pass = Pass::new(shape);
    let mut loss = |index| {
        let position = positions.get(index);
        let output = pass.output(parameters, objective.activation, &position);
        objective.loss(&position, output * objective.centipawns)
    };
    (0..positions.len()).map(&mut loss).sum()
}

fn check_gradient<G: TrainGame + Sync>(activation: Activation) {
    let (_directory, paths) = games(G::KIND);
    let source = source::<G>(&paths, Targets::Searches { td_lambda: 0.0 });
    let all = source.validation(100, |_| ());
    assert!(all.len() >= 10, "{}", all.len());
    let shape = shape::<G>();
    let mut parameters = shape.initial(&mut fastrand::Rng::with_seed(3));
    let mut rng = fastrand::Rng::with_seed(4);
    // The buckets and the biases differ.
    for parameter in &mut parameters[..] {
        *parameter += 0.2 * (rng.f32() - 0.5);
    }
    let objective = Objective { activation, ..SETTINGS.objective(0.5) };
    let mut gradient = vec![0.0; shape.parameters()];
    let positions = (0..all.len()).map(|index| all.get(index));
    let found = Pass::new(shape).add_gradient(&parameters, &objective, positions, &mut gradient);
    let expected = loss(shape, &parameters, &objective, &all);
    assert!((found - expected).abs() < 1e-6 * expected, "{found} {expected}");
    let largest = gradient.iter().fold(0.0_f32, |largest, slope| largest.max(slope.abs()));
    let mut checked = 0;
    for layer in [
        shape.hidden_weights(),
        shape.hidden_biases(),
        shape.output_weights(),
        shape.output_biases(),
    ] {
        let used: Vec<usize> = layer.filter(|&index| gradient[index] != 0.0).collect();
        assert!(!used.is_empty());
        for _ in 0..60 {
            let index = used[rng.usize(..used.len())];
            let at = |change: f32| {
                let mut changed = parameters.clone();
                changed[index] += change;
                loss(shape, &changed, &objective, &all)
            };
            let width = 1e-3;
            let slope = (at(width) - at(-width)) / (2.0 * f64::from(width));
            let error = (slope - f64::from(gradient[index])).abs();
            // A few hidden units pass a bound of their activation function.
            checked += usize::from(error <= 2e-3 * f64::from(largest) + 0.02 * slope.abs());
        }
    }
    assert!(checked >= 4 * 60 - 16, "{checked}");
}

#[test]
fn gradients_match_finite_differences() {
    check_gradient::<Chess>(Activation::ClippedRelu);
    check_gradient::<Chess>(Activation::SquaredClippedRelu);
    check_gradient::<Shogi>(Activation::ClippedRelu);
}

fn train<G: TrainGame + Sync>(
    source: &Source<G>,
    settings: Settings,
) -> (TrainingState, Vec<Point>) {
    let mut trainer = Trainer::new(source, source.validation(1000, |_| ()), settings, None);
    let points = std::iter::from_fn(|| trainer.advance()).collect();
    (trainer.state().clone(), points)
}

#[test]
fn training_lowers_the_loss() {
    for targets in [Targets::Searches { td_lambda: 0.0 }, Targets::Static { siblings: 2 }] {
        let (_directory, paths) = games(GameKind::Chess);
        let source = source::<Chess>(&paths, targets);
        let (_, points) = train(&source, Settings { epochs: 40, ..SETTINGS });
        let (first, last) = (points[0], points[points.len() - 1]);
        assert!((last.progress - 1.0).abs() < 1e-6, "{last:?}");
        assert!(last.training < 0.5 * first.training, "{points:?}");
        assert!(points.windows(2).all(|pair| pair[0].rate > pair[1].rate), "{points:?}");
    }
}

#[test]
fn training_does_not_depend_on_the_number_of_threads() {
    let (_directory, paths) = games(GameKind::Shogi);
    let source = source::<Shogi>(&paths, Targets::Static { siblings: 1 });
    let with = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| train(&source, SETTINGS))
    };
    let (state, points) = with(1);
    assert!(points.len() >= 4, "{points:?}");
    for threads in [2, 5] {
        assert!(with(threads) == (state.clone(), points.clone()), "{threads} threads");
    }
    let other = train(&source, Settings { seed: 6, ..SETTINGS });
    assert_ne!(other.1, points);
}

#[test]
fn an_interrupted_run_continues_from_a_checkpoint() {
    let (directory, paths) = games(GameKind::Chess);
    let source = source::<Chess>(&paths, Targets::Searches { td_lambda: 0.0 });
    let (state, points) = train(&source, SETTINGS);
    let validation = || source.validation(1000, |_| ());
    let mut trainer = Trainer::new(&source, validation(), SETTINGS, None);
    let mut curve = Curve { points: Vec::new(), reference: 0.25 };
    curve.points.extend((0..3).filter_map(|_| trainer.advance()));
    let checkpoint = Checkpoint {
        settings: "those of the test".to_owned(),
        state: trainer.state().clone(),
        curve: curve.clone(),
    };
    let path = directory.path().join("checkpoint");
    checkpoint.write(&path).expect("free disk space");
    let read = Checkpoint::read(&path).expect("a checkpoint");
    assert!(read == checkpoint);
    let mut trainer = Trainer::resume(&source, validation(), SETTINGS, read.state);
    curve.points.extend(std::iter::from_fn(|| trainer.advance()));
    assert_eq!(curve.points, points);
    assert!(*trainer.state() == state);
    let mut changed = bytes(&path);
    let middle = changed.len() / 2;
    changed[middle] ^= 4;
    fs::write(&path, changed).expect("free disk space");
    assert!(Checkpoint::read(&path).is_err());
}

#[test]
fn quantized_networks_compute_about_the_same_values() {
    fn check<G: TrainGame + Sync>(activation: Activation) {
        let (_directory, paths) = games(G::KIND);
        let source = source::<G>(&paths, Targets::Searches { td_lambda: 0.0 });
        let settings = Settings { activation, ..SETTINGS };
        let (state, _) = train(&source, settings);
        let info = NetworkInfo {
            name: "test".to_owned(),
            commit: "unknown".to_owned(),
            data: source.hashes().to_vec(),
        };
        let shape = shape::<G>();
        let network = quantize(G::Board::GAME, &settings, info.clone(), &state.parameters);
        let network = network.expect("a network");
        let again = quantize(G::Board::GAME, &settings, info, &dequantize(&network));
        assert_eq!(again, Ok(network.clone()));
        let mut values = Vec::new();
        let positions = source.validation(300, |board| values.push(network.evaluate(board)));
        let mut pass = Pass::new(shape);
        let rounded = dequantize(&network);
        let (mut squares, mut count) = (0.0, 0.0);
        for (index, value) in values.into_iter().enumerate() {
            let position = positions.get(index);
            let mut output = |parameters: &[f32]| {
                pass.output(parameters, activation, &position) * settings.centipawns
            };
            #[expect(clippy::cast_precision_loss, reason = "small values")]
            let value = value.expect("a value") as f32;
            let expected = output(&rounded);
            assert!((value - expected).abs() < 2.0, "{value} {expected}");
            squares += (value - output(&state.parameters)).powi(2);
            count += 1.0;
        }
        // The error of rounded parameters.
        let deviation = f32::sqrt(squares / count);
        assert!(deviation < 8.0, "{deviation}");
    }
    check::<Chess>(Activation::ClippedRelu);
    check::<Chess>(Activation::SquaredClippedRelu);
    check::<Shogi>(Activation::ClippedRelu);
}

#[test]
fn an_average_has_the_means_of_all_parameters_and_all_data() {
    let network = |name: &str, value: f32, data: &[u8], activation| {
        let parameters = vec![value; shape::<Chess>().parameters()];
        let info = NetworkInfo {
            name: name.to_owned(),
            commit: "unknown".to_owned(),
            data: data.iter().map(|&byte| [byte; 32]).collect(),
        };
        let settings = Settings { activation, ..SETTINGS };
        quantize(Game::Chess, &settings, info, &parameters).expect("a network")
    };
    let relu = Activation::ClippedRelu;
    let networks = [network("a", 0.2, &[1, 2], relu), network("b", 0.6, &[2, 3], relu)];
    assert_eq!(average(&networks, "mean"), Ok(network("mean", 0.4, &[1, 2, 3], relu)));
    let [first, _] = networks;
    let other = network("c", 0.2, &[4], Activation::SquaredClippedRelu);
    assert_eq!(average(&[first, other], "mean"), Err(AverageError::Mixed));
    assert_eq!(average(&[], "mean"), Err(AverageError::Empty));
}

#[test]
fn static_targets_are_values_of_the_network_in_the_executable() {
    let (_directory, paths) = games(GameKind::Chess);
    let source = source::<Chess>(&paths, Targets::Static { siblings: 3 });
    let mut values = Vec::new();
    let positions = source.validation(10_000, |board| {
        assert!(!Chess::in_check(board));
        values.push(evaluate(board));
    });
    assert!(positions.len() > 100, "{}", positions.len());
    for (index, value) in values.into_iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "small values")]
        let value = value as f32;
        assert!((positions.get(index).score - value).abs() < 0.5);
    }
}

#[test]
fn curves_are_tables_and_charts() {
    let point = Point {
        positions: 2_000_000,
        progress: 0.5,
        rate: 0.001,
        training: 0.03,
        validation: 0.025,
    };
    let curve = Curve { points: vec![point], reference: 0.02 };
    assert_eq!(
        curve.csv(),
        "positions,rate,training,validation,reference\n2000000,0.001,0.03,0.025,0.02\n"
    );
    let svg = curve.svg();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert_eq!(svg.matches("<polyline").count(), 3);
}
