//! Neural networks (NNUE) that evaluate positions.
//!
//! A network has one hidden layer, computed from both perspectives. Every piece on its square and
//! every piece in hand is a feature ([`Features`]) that adds its column of weights to the
//! accumulator of a side. The output layer has one set of weights per output bucket, and the
//! accumulator of the side to move comes first. (Y. Nasu, "Efficiently updatable
//! neural-network-based evaluation functions for computer shogi", 2018.)
//!
//! All numbers are integers, so that all computers compute the same values. `docs/network.md`
//! describes the file.

mod accumulators;
mod architecture;
mod embedded;
pub(crate) mod features;
mod file;
mod simd;

use std::fmt;

pub(crate) use self::accumulators::{Accumulators, Changes};
use self::simd::{Lanes, Output, Simd};
pub use self::{
    architecture::{Activation, Architecture, MAX_HIDDEN, Quantization},
    embedded::embedded,
    features::{Features, OUTPUT_BUCKETS},
    file::{MAX_BYTES, MAX_DATA_FILES, MAX_TEXT, NetworkInfo, Sha256Hash},
};
use crate::score::{DECIDED, Value};

/// Why a network is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The magic number is missing.
    #[error("it does not begin with `NARIKIN2`")]
    Magic,
    /// The file has the previous format.
    #[error("its format `NARIKIN1` is no longer supported; the current one is `NARIKIN2`")]
    OldFormat,
    /// The file is longer than [`MAX_BYTES`].
    #[error("it has {0} bytes, more than {MAX_BYTES}")]
    Size(usize),
    /// The hash does not match the content.
    #[error("its hash does not match its content")]
    Hash,
    /// The file ends early.
    #[error("it ends early")]
    Truncated,
    /// Bytes follow the network.
    #[error("{0} bytes follow the network")]
    TrailingBytes(usize),
    /// A field has an unknown value.
    #[error("its {name} {value} is not supported")]
    Field {
        /// The name of the field.
        name: &'static str,
        /// Its value.
        value: u16,
    },
    /// The number of hidden units is not supported.
    #[error("its hidden layer has {0} units, not a multiple of 32 up to {MAX_HIDDEN}")]
    Hidden(usize),
    /// A constant of the quantization is out of range.
    #[error("its quantization {}, {}, {} is out of range", .0.hidden_one, .0.output_one, .0.scale)]
    Quantization(Quantization),
    /// A text is empty, too long, or not printable.
    #[error("its {name} is not 1 to {MAX_TEXT} printable ASCII characters")]
    Text {
        /// The name of the field.
        name: &'static str,
    },
    /// There are too many data files.
    #[error("it has {0} data files, more than {MAX_DATA_FILES}")]
    Data(usize),
    /// The number of parameters does not match the architecture.
    #[error("it has {found} {name} instead of {wanted}")]
    Count {
        /// The kind of the parameters.
        name: &'static str,
        /// The number by the architecture.
        wanted: usize,
        /// The actual number.
        found: usize,
    },
    /// An output weight is too large for its activation.
    #[error("its output weight {weight} is not in -{most} to {most}")]
    OutputWeight {
        /// The weight.
        weight: i16,
        /// The maximum absolute value.
        most: u16,
    },
}

/// The parameters of a network, quantized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// Weights of the hidden layer: all units of the first feature, then of the second one.
    pub hidden: Vec<i16>,
    /// Biases of the hidden layer.
    pub hidden_biases: Vec<i16>,
    /// Weights of the output layer. Each output bucket has the units of the side to move, then those
    /// of the opponent.
    pub output: Vec<i16>,
    /// One bias per output bucket.
    pub output_biases: Vec<i32>,
}

/// A network for one game. Chess and Chess960 share one.
#[derive(Clone, PartialEq, Eq)]
pub struct Network {
    architecture: Architecture,
    quantization: Quantization,
    info: NetworkInfo,
    hidden: Vec<Lanes>,
    hidden_biases: Vec<Lanes>,
    output: Vec<Lanes>,
    output_biases: Vec<i32>,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("info", &self.info)
            .field("architecture", &self.architecture)
            .finish_non_exhaustive()
    }
}

impl Network {
    /// Creates a network from quantized parameters.
    ///
    /// # Errors
    ///
    /// A number of parameters does not match the architecture, a parameter is out of range, or a text
    /// of `info` is invalid.
    pub fn new(
        architecture: Architecture,
        quantization: Quantization,
        info: NetworkInfo,
        weights: &Weights,
    ) -> Result<Self, NetworkError> {
        info.check()?;
        let hidden = architecture.hidden();
        let buckets = architecture.output_buckets();
        for (name, found, wanted) in [
            ("hidden weights", weights.hidden.len(), architecture.inputs() * hidden),
            ("hidden biases", weights.hidden_biases.len(), hidden),
            ("output weights", weights.output.len(), buckets * 2 * hidden),
            ("output biases", weights.output_biases.len(), buckets),
        ] {
            if wanted != found {
                return Err(NetworkError::Count { name, wanted, found });
            }
        }
        // The product with an activation must fit into 16 bits.
        let most = quantization.max_output_weight(architecture.activation());
        if let Some(&weight) = weights.output.iter().find(|weight| weight.unsigned_abs() > most) {
            return Err(NetworkError::OutputWeight { weight, most });
        }
        Ok(Self {
            architecture,
            quantization,
            info,
            hidden: simd::to_blocks(&weights.hidden),
            hidden_biases: simd::to_blocks(&weights.hidden_biases),
            output: simd::to_blocks(&weights.output),
            output_biases: weights.output_biases.clone(),
        })
    }

    /// The architecture.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The quantization.
    pub fn quantization(&self) -> Quantization {
        self.quantization
    }

    /// Name and origin.
    pub fn info(&self) -> &NetworkInfo {
        &self.info
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// The quantized parameters.
    pub fn weights(&self) -> Weights {
        Weights {
            hidden: simd::to_numbers(&self.hidden),
            hidden_biases: simd::to_numbers(&self.hidden_biases),
            output: simd::to_numbers(&self.output),
            output_biases: self.output_biases.clone(),
        }
    }

    /// Evaluates a position from scratch, in centipawns for the side to move; none for a position of
    /// another game.
    pub fn evaluate<P: Features>(&self, position: &P) -> Option<i32> {
        if P::GAME != self.architecture.game() {
            return None;
        }
        let simd = Simd::detect();
        let us = position.turn();
        let [ours, theirs] = [us, us.other()].map(|side| {
            let mut sums = self.hidden_biases.clone();
            position.features(side, |feature| {
                simd.update_in_place(&mut sums, [self.column(feature)], []);
            });
            sums
        });
        Some(self.output(simd, &ours, &theirs, position.output_bucket()))
    }

    fn column(&self, feature: usize) -> &[Lanes] {
        let blocks = self.hidden_biases.len();
        &self.hidden[feature * blocks..][..blocks]
    }

    /// The output in centipawns, for the side of the first accumulator.
    fn output(&self, simd: Simd, ours: &[Lanes], theirs: &[Lanes], bucket: usize) -> Value {
        let blocks = 2 * self.hidden_biases.len();
        let weights = &self.output[blocks * bucket..][..blocks];
        let Quantization { hidden_one: most, output_one, scale } = self.quantization;
        let activation = self.architecture.activation();
        let [hidden_one, output_one, scale] = [most, output_one, scale].map(i64::from);
        let mut sum = simd.output(activation, Output { ours, theirs, weights, most });
        if activation == Activation::SquaredClippedRelu {
            sum /= hidden_one;
        }
        sum += i64::from(self.output_biases[bucket]);
        let value = sum * scale / (hidden_one * output_one);
        let most = i64::from(DECIDED - 1);
        Value::try_from(value.clamp(-most, most)).unwrap_or(0)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use readyok_rules::{BoardRef, Game, Position};

    use super::*;
    use crate::{
        board::{Board, Chess, Shogi},
        control::Limits,
    };

    /// A pseudo-random generator with a fixed seed.
    #[derive(Debug, Clone)]
    pub(crate) struct RandomNumbers(pub(crate) u64);

    impl RandomNumbers {
        pub(crate) fn below(&mut self, end: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % end
        }

        /// A number from `-most` to `most`.
        pub(crate) fn weight(&mut self, most: i16) -> i16 {
            let range = 2 * u64::from(most.unsigned_abs()) + 1;
            let number = i64::try_from(self.below(range)).expect("small");
            i16::try_from(number - i64::from(most)).expect("small")
        }
    }

    pub(crate) fn random(game: Game, hidden: usize, activation: Activation) -> Network {
        let mut numbers = RandomNumbers(99);
        let architecture = Architecture::new(game, hidden, activation).expect("valid");
        let mut weights = |count, most| (0..count).map(|_| numbers.weight(most)).collect();
        let weights = Weights {
            hidden: weights(architecture.inputs() * hidden, 60),
            hidden_biases: weights(hidden, 60),
            output: weights(OUTPUT_BUCKETS * 2 * hidden, 100),
            output_biases: (0..8).map(|bucket| 1000 * bucket - 4000).collect(),
        };
        let info = NetworkInfo {
            name: "random-1".into(),
            commit: "unknown".into(),
            data: vec![[1; 32], [2; 32]],
        };
        Network::new(architecture, Quantization::DEFAULT, info, &weights).expect("valid")
    }

    /// The value computed in floating point from the definition.
    fn value_in_floats<P: Features>(network: &Network, position: &P) -> f64 {
        let architecture = network.architecture();
        let Weights { hidden, hidden_biases, output, output_biases } = network.weights();
        let units = architecture.hidden();
        let Quantization { hidden_one, output_one, scale } = network.quantization();
        let [hidden_one, output_one] = [hidden_one, output_one].map(f64::from);
        let bucket = position.output_bucket();
        let mut sum = f64::from(output_biases[bucket]) / hidden_one / output_one;
        for (index, side) in [position.turn(), position.turn().other()].into_iter().enumerate() {
            for unit in 0..units {
                let mut active = f64::from(hidden_biases[unit]);
                position.features(side, |feature| {
                    active += f64::from(hidden[feature * units + unit]);
                });
                active = (active / hidden_one).clamp(0.0, 1.0);
                if architecture.activation() == Activation::SquaredClippedRelu {
                    active *= active;
                }
                let weight = output[(bucket * 2 + index) * units + unit];
                sum += active * f64::from(weight) / output_one;
            }
        }
        sum * f64::from(scale)
    }

    const CHESS: &str = "rnbq1k1r/pP1Pbppp/2p5/8/2B5/8/P1P1NnPP/RNBQK2R w KQ - 1 8";
    const SHOGI: &str = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1";

    #[test]
    fn values_match_floating_point() {
        for activation in [Activation::ClippedRelu, Activation::SquaredClippedRelu] {
            for (game, text) in [(Game::Chess, CHESS), (Game::Shogi, SHOGI)] {
                let network = random(game, 64, activation);
                let position = Position::from_text(game, text).expect("a position");
                let (value, expected) = if let BoardRef::Shogi(_) = position.board() {
                    let board = Shogi::new(&position, &Limits::default()).expect("a board");
                    let board = board.position();
                    (network.evaluate(board), value_in_floats(&network, board))
                } else {
                    let board = Chess::new(&position, &Limits::default()).expect("a board");
                    let board = board.position();
                    (network.evaluate(board), value_in_floats(&network, board))
                };
                let value = f64::from(value.expect("of this game"));
                assert!((value - expected).abs() < 1.1, "{value} {expected}");
                assert!(10.0 < expected.abs(), "{expected}");
            }
        }
    }
}
