//! An optional neural network (NNUE) in place of the hand-crafted evaluation.
//!
//! It has one hidden layer, computed from both perspectives. Every piece on its square and every
//! piece in hand is a feature that adds its column of weights to the accumulator of a side. The
//! accumulator of the side to move comes first in the output layer. A move changes few features, so
//! accumulators are updated incrementally. (Y. Nasu, "Efficiently updatable neural-network-based
//! evaluation functions for computer shogi", 2018.)
//!
//! All numbers are 16-bit integers, so that loops are vectorized. `docs/network.md` describes the
//! file.

use std::fmt;

use crate::{
    board::{Board, Change},
    eval::Evaluation,
    score::{DECIDED, MAX_PLY, Value},
};

/// The magic number of a file.
const MAGIC: &[u8; 8] = b"NARIKIN1";

/// The clipping limit of activations, which represents 1.
const ONE: i16 = 255;

/// The representation of 1 in the output weights.
const OUTPUT_ONE: i64 = 64;

/// Centipawns per output of 1.
const SCALE: i64 = 400;

/// The maximum width of the hidden layer.
const MAX_WIDTH: usize = 4096;

/// A network for one game.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Network {
    width: usize,
    /// Feature weights, one column per feature.
    features: Vec<i16>,
    biases: Vec<i16>,
    /// Output weights of the side to move, then of the opponent.
    output: Vec<i16>,
    output_bias: i16,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("width", &self.width).finish_non_exhaustive()
    }
}

/// Why a file is not a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkError {
    /// The magic number is missing.
    Magic,
    /// The number of features is that of another game.
    Features {
        /// Features of the game.
        wanted: usize,
        /// Features of the file.
        found: usize,
    },
    /// The width of the hidden layer is not supported.
    Width(usize),
    /// The length does not match the header, in bytes.
    Length {
        /// The expected length.
        wanted: usize,
        /// The actual length.
        found: usize,
    },
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => write!(f, "it does not begin with `NARIKIN1`"),
            Self::Features { wanted, found } => {
                write!(f, "it is for another game: {found} features instead of {wanted}")
            }
            Self::Width(width) => {
                write!(f, "its hidden layer has {width} units, not 1 to {MAX_WIDTH}")
            }
            Self::Length { wanted, found } => {
                write!(f, "it is {found} bytes long instead of {wanted}")
            }
        }
    }
}

impl std::error::Error for NetworkError {}

impl Network {
    /// Parses a file for a game with this number of features.
    ///
    /// # Errors
    ///
    /// The file is invalid.
    pub(crate) fn read(bytes: &[u8], features: usize) -> Result<Self, NetworkError> {
        let (head, body) = bytes.split_first_chunk::<16>().ok_or(NetworkError::Magic)?;
        let [magic @ .., f0, f1, f2, f3, w0, w1, w2, w3] = *head;
        if magic != *MAGIC {
            return Err(NetworkError::Magic);
        }
        let number = |bytes| usize::try_from(u32::from_le_bytes(bytes)).unwrap_or(usize::MAX);
        let (found, width) = (number([f0, f1, f2, f3]), number([w0, w1, w2, w3]));
        if found != features {
            return Err(NetworkError::Features { wanted: features, found });
        }
        if !(1..=MAX_WIDTH).contains(&width) {
            return Err(NetworkError::Width(width));
        }
        let wanted = 16 + 2 * ((features + 3) * width + 1);
        if bytes.len() != wanted {
            return Err(NetworkError::Length { wanted, found: bytes.len() });
        }
        let (pairs, _) = body.as_chunks::<2>();
        let mut numbers = pairs.iter().map(|&pair| i16::from_le_bytes(pair));
        let mut take = |count: usize| numbers.by_ref().take(count).collect::<Vec<_>>();
        let (features, biases, output) = (take(features * width), take(width), take(2 * width));
        let output_bias = take(1).first().copied().unwrap_or(0);
        Ok(Self { width, features, biases, output, output_bias })
    }

    fn column(&self, feature: usize) -> &[i16] {
        let start = feature * self.width;
        self.features.get(start..start + self.width).unwrap_or(&[])
    }

    /// Computes the accumulator of a side from scratch.
    fn accumulator<B: Board>(&self, board: &B, side: usize) -> Vec<i16> {
        let mut accumulator = self.biases.clone();
        board.features(side, &mut |feature| add(&mut accumulator, self.column(feature)));
        accumulator
    }

    /// The output in centipawns, for the side of the first accumulator.
    fn output(&self, ours: &[i16], theirs: &[i16]) -> Value {
        let (first, second) = self.output.split_at(self.width);
        let sum = i64::from(dot(ours, first)) + i64::from(dot(theirs, second));
        let one = i64::from(ONE);
        let value = (sum + i64::from(self.output_bias) * one) * SCALE / (one * OUTPUT_ONE);
        let most = i64::from(DECIDED - 1);
        Value::try_from(value.clamp(-most, most)).unwrap_or(0)
    }
}

fn add(accumulator: &mut [i16], column: &[i16]) {
    for (sum, weight) in accumulator.iter_mut().zip(column) {
        *sum = sum.wrapping_add(*weight);
    }
}

fn subtract(accumulator: &mut [i16], column: &[i16]) {
    for (sum, weight) in accumulator.iter_mut().zip(column) {
        *sum = sum.wrapping_sub(*weight);
    }
}

fn dot(accumulator: &[i16], weights: &[i16]) -> i32 {
    let terms = accumulator.iter().zip(weights);
    terms.map(|(&sum, &weight)| i32::from(sum.clamp(0, ONE)) * i32::from(weight)).sum()
}

/// The accumulators of each ply, for both sides.
#[derive(Debug, Clone)]
pub(crate) struct Accumulators<'a> {
    network: &'a Network,
    plies: Vec<[Vec<i16>; 2]>,
    ply: usize,
}

impl<'a> Accumulators<'a> {
    pub(crate) fn new<B: Board>(network: &'a Network, board: &B) -> Self {
        let empty = [vec![0; network.width], vec![0; network.width]];
        let mut plies = vec![empty; MAX_PLY + 8];
        if let Some(first) = plies.first_mut() {
            *first = [network.accumulator(board, 0), network.accumulator(board, 1)];
        }
        Self { network, plies, ply: 0 }
    }
}

impl<B: Board> Evaluation<B> for Accumulators<'_> {
    fn play(&mut self, board: &B, mv: B::Move) {
        let (before, after) = self.plies.split_at_mut(self.ply + 1);
        let (Some(before), Some(after)) = (before.last(), after.first_mut()) else { return };
        for (side, (old, new)) in before.iter().zip(after).enumerate() {
            new.copy_from_slice(old);
            board.changes(mv, side, &mut |change| match change {
                Change::Added(feature) => add(new, self.network.column(feature)),
                Change::Removed(feature) => subtract(new, self.network.column(feature)),
            });
        }
        self.ply += 1;
    }

    fn undo(&mut self) {
        self.ply = self.ply.saturating_sub(1);
    }

    fn evaluate(&self, board: &B) -> Value {
        let Some([first, second]) = self.plies.get(self.ply) else { return 0 };
        if board.side() == 0 {
            self.network.output(first, second)
        } else {
            self.network.output(second, first)
        }
    }
}

#[cfg(test)]
mod tests {
    use readyok_rules::{Game, Position};

    use super::{Accumulators, MAGIC, Network, NetworkError, ONE, OUTPUT_ONE, SCALE};
    use crate::{
        board::{Board, Chess, MoveList, SearchMove, Shogi},
        control::Limits,
        eval::Evaluation,
        score::Value,
    };

    const WIDTH: usize = 24;

    /// A pseudo-random generator with a fixed seed.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % end
        }
    }

    fn file(features: usize) -> Vec<u8> {
        let mut numbers = Numbers(99);
        let mut bytes = MAGIC.to_vec();
        for number in [features, WIDTH] {
            bytes.extend(u32::try_from(number).expect("small").to_le_bytes());
        }
        for _ in 0..=(features + 3) * WIDTH {
            let weight = i16::try_from(numbers.below(41)).expect("small") - 20;
            bytes.extend(weight.to_le_bytes());
        }
        bytes
    }

    fn check_game<B: Board>(game: Game, text: &str) {
        let network = Network::read(&file(B::FEATURES), B::FEATURES).expect("a network");
        let position = Position::from_text(game, text).expect("a position");
        let mut board = B::new(&position, &Limits::default()).expect("a board");
        let mut accumulator = Accumulators::new(&network, &board);
        let mut numbers = Numbers(7);
        let mut played = Vec::new();
        for _ in 0..80 {
            let mut list = MoveList::new();
            board.generate_all(&mut list);
            let count = u64::try_from(list.len()).expect("few");
            if count == 0 {
                break;
            }
            let index = usize::try_from(numbers.below(count)).expect("few");
            let (_, mv) = *list.get(index).expect("a move");
            accumulator.play(&board, mv);
            board.play(mv);
            played.push(mv);
            let fresh = Accumulators::new(&network, &board);
            assert_eq!(
                accumulator.plies.get(accumulator.ply),
                fresh.plies.first(),
                "{}",
                B::notation(mv)
            );
            assert_eq!(
                accumulator.evaluate(&board),
                output_in_floats(&network, &board),
                "{}",
                B::notation(mv)
            );
        }
        assert!(played.iter().any(|mv| mv.packed() != 0), "something was played");
        for mv in played.into_iter().rev() {
            board.undo(mv);
            Evaluation::<B>::undo(&mut accumulator);
            assert_eq!(
                accumulator.evaluate(&board),
                Accumulators::new(&network, &board).evaluate(&board)
            );
        }
    }

    /// The value computed in floating point from the definition.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small")]
    fn output_in_floats<B: Board>(network: &Network, board: &B) -> Value {
        let mut output = f64::from(network.output_bias) / OUTPUT_ONE as f64;
        for (index, side) in [board.side(), 1 - board.side()].into_iter().enumerate() {
            let mut hidden: Vec<f64> = network.biases.iter().map(|&bias| bias.into()).collect();
            board.features(side, &mut |feature| {
                for (sum, &weight) in hidden.iter_mut().zip(network.column(feature)) {
                    *sum += f64::from(weight);
                }
            });
            let weights = network.output.iter().skip(index * network.width);
            for (sum, &weight) in hidden.iter().zip(weights) {
                let active = (sum / f64::from(ONE)).clamp(0.0, 1.0);
                output += active * f64::from(weight) / OUTPUT_ONE as f64;
            }
        }
        (output * SCALE as f64 + output.signum() * 1e-6) as Value
    }

    #[test]
    fn incremental_accumulators_match_recomputed_ones() {
        check_game::<Chess>(
            Game::Chess,
            "rnbq1k1r/pP1Pbppp/2p5/8/2B5/8/P1P1NnPP/RNBQK2R w KQ - 1 8",
        );
        check_game::<Chess>(
            Game::Chess960,
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        );
        check_game::<Shogi>(
            Game::Shogi,
            "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        );
    }

    #[test]
    fn rejects_invalid_files() {
        let good = file(Chess::FEATURES);
        let read = |bytes: &[u8]| Network::read(bytes, Chess::FEATURES).map(drop);
        assert_eq!(read(&good), Ok(()));
        assert_eq!(read(b"NARIKIN1"), Err(NetworkError::Magic));
        assert_eq!(read(&[0; 64]), Err(NetworkError::Magic));
        let (wanted, found) = (Shogi::FEATURES, Chess::FEATURES);
        let foreign = Network::read(&good, wanted).map(drop);
        assert_eq!(foreign, Err(NetworkError::Features { wanted, found }));
        let short = good.get(..good.len() - 1).expect("bytes");
        let (wanted, found) = (good.len(), short.len());
        assert_eq!(read(short), Err(NetworkError::Length { wanted, found }));
        let mut wide = good;
        wide.splice(12..16, u32::MAX.to_le_bytes());
        assert!(matches!(read(&wide), Err(NetworkError::Width(_))));
    }
}
