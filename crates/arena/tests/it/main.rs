//! Tests of the arena.

mod plan;
