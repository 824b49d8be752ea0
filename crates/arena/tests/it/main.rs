//! Tests of the arena.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod fastchess;
mod fastchess_printer;
mod fastchess_text;
mod plan;
mod queue;
mod report;
mod sample;
mod stats;
mod store;
