//! JKF, the JSON Kifu Format of Kifu for JS, version 1.
//!
//! A file contains one or more games. Errors in moves are reported at the beginning of their game.
//!
//! # Limitations
//! - Times have seconds. Remaining times, NAGs, marks and comments before a move are not written.
//! - Several comments on a move become one comment of several lines.
//! - Comment lines that look like an evaluation become one.
//! - A result without an end is not written, nor an end without a result that implies one. Ends have
//!   the keywords of CSA, and its summary as a comment.
//! - Of several headers with one name, only the first is written.
//! - Variations that are nested deeper than the JSON reader supports (about forty) cannot be read.

mod read;
mod write;

pub(super) use read::Reader;
pub(super) use write::write;
