//! The checks, on an engine that obeys, and on one with one fault.

mod clients;
mod engines;
mod mutants;

use std::sync::{Mutex, MutexGuard, PoisonError};

static MACHINE: Mutex<()> = Mutex::new(());

/// The machine for one test alone: hundreds of conversations at once would find each other slow.
fn alone() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}
