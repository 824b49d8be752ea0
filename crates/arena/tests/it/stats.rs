//! Tests of the statistics.
#![expect(clippy::unwrap_used, reason = "a failed step must fail the test")]

mod fastchess;
mod figures;
mod simulation;
mod sprt;
