//! Tests of the runtime through its public interface.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must fail the test")]

mod boards;
mod budget;
mod client;
mod corrections;
mod failures;
mod options;
mod runtime;
mod stdio;
