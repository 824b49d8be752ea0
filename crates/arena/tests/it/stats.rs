//! Tests of the statistics.
#![expect(clippy::unwrap_used, reason = "a failed step must fail the test")]

mod crosstable;
mod estimates;
mod fastchess;
mod ratings;
mod simulation;
mod sprt;
mod takes;
