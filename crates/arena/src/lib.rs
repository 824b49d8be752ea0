//! Matches between engines of chess, Chess960 and shogi, with results to build on.
//!
//! A [`Plan`](plan::Plan) says what is to be played. From it come
//! [`Pairing`](pairing::Pairing)s: two engines, an opening, one or two games. A pairing is the unit
//! of everything: it is played as a whole on one machine, stored as a whole and counted as a whole,
//! so that openings which favour a side do no harm and statistics never see half a pair.
#![forbid(unsafe_code)]

pub mod event;
pub mod export;
pub mod fastchess;
pub mod game;
pub mod openings;
pub mod pairing;
pub mod plan;
pub mod queue;
pub mod report;
pub mod result;
mod rng;
pub mod runner;
pub mod schedule;
pub mod stats;
pub mod store;
mod time;
