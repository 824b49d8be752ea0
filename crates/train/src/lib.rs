//! Training data from Narikin's own games, and the tuner that fits its evaluation to them.
//!
//! [`generate`] plays games and writes them in the format of [`data`], which `docs/training-data.md`
//! documents. [`samples`] selects positions, and [`tune`] fits the weights of a
//! [`Model`](narikin::eval::Model) to them. [`cli`] is the command line.
#![forbid(unsafe_code)]

pub mod cli;
pub mod data;
pub mod games;
pub mod generate;
pub mod nnue;
mod rng;
pub mod samples;
pub mod stats;
pub mod tune;
pub mod weights;
