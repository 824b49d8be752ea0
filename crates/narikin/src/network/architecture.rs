//! Architectures of networks.

use readyok_rules::Game;

use super::{NetworkError, features::OUTPUT_BUCKETS};

/// The maximum number of hidden units. Sums of activations fit into 32 bits.
pub const MAX_HIDDEN: usize = 1024;

/// Numbers per block of registers: the widest registers have 512 bits.
pub(super) const LANES: usize = 32;

/// The number of king buckets: sets of hidden weights, selected by the square of the king.
const KING_BUCKETS: usize = 1;

/// The activation function of the hidden layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// The sum, clipped to 0 and 1 (`CReLU`).
    ClippedRelu,
    /// The square of the sum, clipped to 0 and 1 (`SCReLU`).
    SquaredClippedRelu,
}

/// An architecture: inputs, hidden units, activation and buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    game: Game,
    hidden: usize,
    activation: Activation,
}

impl Architecture {
    /// An architecture for a game. Chess960 counts as chess.
    ///
    /// # Errors
    ///
    /// The number of hidden units is not a multiple of 32, or not in 32 to [`MAX_HIDDEN`].
    pub fn new(game: Game, hidden: usize, activation: Activation) -> Result<Self, NetworkError> {
        let game = match game {
            Game::Chess | Game::Chess960 => Game::Chess,
            Game::Shogi => Game::Shogi,
        };
        if hidden == 0 || hidden > MAX_HIDDEN || !hidden.is_multiple_of(LANES) {
            return Err(NetworkError::Hidden(hidden));
        }
        Ok(Self { game, hidden, activation })
    }

    /// [`Game::Chess`] or [`Game::Shogi`].
    pub fn game(self) -> Game {
        self.game
    }

    /// The number of input features: [`Features::INPUTS`](super::Features::INPUTS) of the game.
    pub fn inputs(self) -> usize {
        super::features::inputs(self.game)
    }

    /// The number of hidden units per perspective.
    pub fn hidden(self) -> usize {
        self.hidden
    }

    /// The activation function of the hidden layer.
    pub fn activation(self) -> Activation {
        self.activation
    }

    /// The number of king buckets.
    pub fn king_buckets(self) -> usize {
        KING_BUCKETS
    }

    /// The number of output buckets.
    pub fn output_buckets(self) -> usize {
        OUTPUT_BUCKETS
    }
}

/// The integers that represent real numbers.
///
/// The value of a position in centipawns is the output of the network multiplied by `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantization {
    /// Represents 1 in weights and biases of the hidden layer, 1 to 255.
    pub(super) hidden_one: i16,
    /// Represents 1 in output weights, 1 to 255. Output biases represent 1 by the product of both.
    pub(super) output_one: i16,
    /// Centipawns per output of 1, 1 to 4000.
    pub(super) scale: i16,
}

impl Quantization {
    /// The usual constants: 255 in the hidden layer, 64 in the output layer, 400 centipawns.
    pub const DEFAULT: Self = Self { hidden_one: 255, output_one: 64, scale: 400 };

    /// Checks the ranges.
    ///
    /// # Errors
    ///
    /// A constant is out of range: `hidden_one` and `output_one` are 1 to 255, `scale` is 1 to 4000.
    pub fn new(hidden_one: i16, output_one: i16, scale: i16) -> Result<Self, NetworkError> {
        let in_range = (1..=255).contains(&hidden_one)
            && (1..=255).contains(&output_one)
            && (1..=4000).contains(&scale);
        let it = Self { hidden_one, output_one, scale };
        if in_range { Ok(it) } else { Err(NetworkError::Quantization(it)) }
    }

    /// Represents 1 in weights and biases of the hidden layer.
    pub fn hidden_one(self) -> i16 {
        self.hidden_one
    }

    /// Represents 1 in output weights.
    pub fn output_one(self) -> i16 {
        self.output_one
    }

    /// Represents 1 in output biases.
    pub fn output_bias_one(self) -> i32 {
        i32::from(self.hidden_one) * i32::from(self.output_one)
    }

    /// Centipawns per output of 1.
    pub fn scale(self) -> i16 {
        self.scale
    }

    /// The maximum absolute value of an output weight: the product with an activation fits into 16
    /// bits if activations are squares.
    pub fn max_output_weight(self, activation: Activation) -> u16 {
        match activation {
            Activation::ClippedRelu => i16::MAX.unsigned_abs(),
            Activation::SquaredClippedRelu => {
                i16::MAX.unsigned_abs() / self.hidden_one.unsigned_abs()
            }
        }
    }
}
