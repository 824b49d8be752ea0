//! Training of Narikin's evaluations on its own games.
//!
//! [`generate`] plays games and writes them in the format of [`data`], which `docs/training-data.md`
//! documents. [`samples`] selects positions, and [`nnue`] trains networks on them. [`cli`] is the
//! command line.
#![forbid(unsafe_code)]
#![expect(missing_docs, reason = "the library of a program")]

pub mod cli;
pub mod data;
pub mod games;
pub mod generate;
pub mod nnue;
mod rng;
pub mod samples;
pub mod stats;
