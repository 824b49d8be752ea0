//! Matches between chess, Chess960 and shogi engines, with reliable results.
//!
//! A [`Plan`](plan::Plan) configures a match. Its schedule consists of [`Pairing`](pairing::Pairing)s: two engines, one
//! opening, one or two games. A pairing is played on one host, stored and counted as a unit: openings that favor a
//! side do not distort results, and statistics never include half a pair.
// Windows has no safe interface to CPU masks and to locks of a part of a file.
#![cfg_attr(not(windows), forbid(unsafe_code))]

pub mod build;
pub mod conditions;
mod contents;
pub mod durable;
pub mod event;
pub mod export;
pub mod fastchess;
pub mod game;
pub mod listener;
pub mod match_state;
pub mod openings;
pub mod pairing;
pub mod plan;
pub mod queue;
mod repeats;
pub mod report;
pub mod result;
mod rng;
pub mod runner;
pub mod schedule;
mod spec;
pub mod stats;
pub mod store;
pub mod takes;
mod time;
pub mod tune;
pub mod worker_stats;
