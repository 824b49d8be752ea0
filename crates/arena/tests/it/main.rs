//! Tests of the arena.

mod fastchess;
mod plan;
