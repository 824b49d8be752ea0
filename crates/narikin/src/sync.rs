//! Atomics of shared state. `models/` compiles the transposition table with those of a model
//! checker.

pub(crate) use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
