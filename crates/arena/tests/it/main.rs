//! Tests of the arena.

mod fastchess;
mod fastchess_text;
mod plan;
mod stats;
