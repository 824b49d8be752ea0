//! The atomics of what threads share. `models/` compiles the signals with those of a model checker.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
