//! Atomics of shared state. `models/` replaces them by those of a model checker.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
