//! Training of Narikin's evaluations on its own games.
//!
//! [`generate`] plays games and writes them in the format of [`data`], which `docs/training-data.md`
//! documents. [`samples`] selects positions, [`nnue`] trains networks on them, and [`tune`] fits the
//! weights of a [`Model`](narikin::eval::Model). [`cli`] is the command line.
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
