//! The atomics of what threads share. `models/` compiles the table with those of a model checker.

pub(crate) use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
