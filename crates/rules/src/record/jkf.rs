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

pub(super) use read::JkfReader;
pub(super) use write::{HOLDS, write};

use super::format::Certainty;

/// Whether a file begins like a JSON object. A comment of PGN can begin with a brace and a quote.
pub(super) fn detect(_: &str, beginning: &str) -> Option<Certainty> {
    let rest = beginning.strip_prefix('{')?.trim_start();
    let name = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let is_json =
        rest.starts_with('}') || name.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'));
    is_json.then_some(Certainty::Certain)
}
