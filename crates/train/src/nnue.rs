//! Trains the networks of Narikin's evaluation (NNUE) on games.
//!
//! [`Source`](source::Source) selects positions of games, [`Trainer`](training::Trainer) fits a
//! network to them, and [`Curve`](curve::Curve) has the losses over time. Results do not depend on the
//! number of threads.

pub mod average;
pub mod checkpoint;
pub mod curve;
pub mod gradient;
pub mod optimizer;
pub mod parameters;
pub mod positions;
pub mod quantization;
pub mod source;
pub mod training;
