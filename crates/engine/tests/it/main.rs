//! Tests of the runtime as its authors and clients see it.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must fail the test")]

mod boards;
mod budget;
mod client;
mod runtime;
mod stdio;
