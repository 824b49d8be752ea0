//! Tests of the arena.
#![expect(clippy::expect_used, reason = "a panic fails the test")]

mod adjudication;
#[cfg(feature = "nats")]
mod cable;
mod clock;
mod concurrency;
mod end_sentence;
mod engines;
mod export;
mod export_fastchess;
mod fastchess;
mod fastchess_order;
mod fastchess_printer;
mod fastchess_text;
#[cfg(target_os = "linux")]
mod faults;
#[cfg_attr(windows, expect(unused_imports, reason = "engines of some tests are shell scripts"))]
mod game;
mod game_real;
#[cfg_attr(windows, expect(unused_imports, reason = "engines of some tests are shell scripts"))]
mod hostile;
mod instant;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "nats")]
mod nats_server;
mod openings;
mod plan;
mod plan_reference;
#[cfg(feature = "nats")]
mod port;
mod queue;
mod referee;
mod report;
mod resume;
mod rivals;
mod runner;
mod sample;
mod schedule;
mod scripted;
mod stats;
mod store;
mod syzygy;
mod texts;
mod tune;
mod tune_estimates;
mod verify;
