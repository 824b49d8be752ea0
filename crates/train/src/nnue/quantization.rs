//! Networks of integers from trained parameters.

use narikin::network::{
    Activation, Architecture, Network, NetworkError, NetworkInfo, Quantization, Weights,
};
use readyok_rules::Game;

use crate::nnue::parameters::Shape;
use crate::nnue::training::Settings;

/// The number that represents 1 in the output weights. The product of a weight and a squared
/// activation must fit into 16 bits.
fn output_one(activation: Activation) -> i16 {
    match activation {
        Activation::ClippedRelu => 255,
        Activation::SquaredClippedRelu => 64,
    }
}

/// Rounds the parameters of a network.
///
/// # Errors
/// The shape is not supported by the engine, or a text of `info` is invalid.
#[expect(clippy::cast_possible_truncation, reason = "conversions saturate")]
pub fn quantize(
    game: Game,
    settings: &Settings,
    info: NetworkInfo,
    parameters: &[f32],
) -> Result<Network, NetworkError> {
    let default = Quantization::DEFAULT;
    let activation = settings.activation;
    let scale = settings.centipawns.round() as i16;
    let quantization = Quantization::new(default.hidden_one(), output_one(activation), scale)?;
    let architecture = Architecture::new(game, settings.hidden, activation)?;
    let shape = Shape { features: architecture.inputs(), hidden: settings.hidden };
    let round = |range: std::ops::Range<usize>, one: i16| -> Vec<i16> {
        let parameters = parameters.get(range).unwrap_or(&[]);
        parameters.iter().map(|&weight| (weight * f32::from(one)).round() as i16).collect()
    };
    let biases = parameters.get(shape.output_biases()).unwrap_or(&[]);
    let bias_one = f64::from(quantization.output_bias_one());
    let weights = Weights {
        hidden: round(shape.hidden_weights(), quantization.hidden_one()),
        hidden_biases: round(shape.hidden_biases(), quantization.hidden_one()),
        output: round(shape.output_weights(), quantization.output_one()),
        output_biases: biases
            .iter()
            .map(|&bias| (f64::from(bias) * bias_one).round() as i32)
            .collect(),
    };
    Network::new(architecture, quantization, info, &weights)
}

/// The parameters of a network. Quantized again, they are the same network.
#[expect(clippy::cast_possible_truncation, reason = "biases need less precision")]
pub fn dequantize(network: &Network) -> Vec<f32> {
    let Weights { hidden, hidden_biases, output, output_biases } = network.weights();
    let quantization = network.quantization();
    let [hidden_one, output_one] =
        [quantization.hidden_one(), quantization.output_one()].map(f32::from);
    let bias_one = f64::from(quantization.output_bias_one());
    let hidden = hidden.iter().chain(&hidden_biases).map(|&weight| f32::from(weight) / hidden_one);
    let output = output.iter().map(|&weight| f32::from(weight) / output_one);
    let biases = output_biases.iter().map(|&bias| (f64::from(bias) / bias_one) as f32);
    hidden.chain(output).chain(biases).collect()
}
