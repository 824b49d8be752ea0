//! JKF, the JSON Kifu Format of Kifu for JS, version 1.
//!
//! A file holds one game, or several that follow each other. Errors in moves are reported at the
//! beginning of their game.
//!
//! # What JKF does not hold
//! - Times finer than a second, the time left, signs (NAGs), marks, comments before a move.
//! - Several comments on a move: they become one of several lines.
//! - Lines of a comment that look like an evaluation, which become one.
//! - A result without an end, and an end without a result that has one. Ends have the words of CSA,
//!   and its summary as a comment.
//! - Several headers of one name: the first is written.
//! - Variations deeper in each other than the reader of JSON goes, which is about forty.

mod read;
mod write;

pub(super) use read::Reader;
pub(super) use write::write;
