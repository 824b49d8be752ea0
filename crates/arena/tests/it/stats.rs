//! Tests of the statistics.
#![expect(clippy::unwrap_used, reason = "a failed step must fail the test")]

mod figures;
mod sprt;
