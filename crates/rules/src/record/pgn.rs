//! Portable Game Notation: Steven Edwards' standard of 1994 and the forms that programs write.
//!
//! `pgn-reader` is not used because it silently drops `;` comments and unreadable moves, and has no
//! line and column numbers.
//!
//! # Limitations
//! - Times have milliseconds.
//! - [`End`](super::End) is written as the header `Termination` with one of the eight values of the
//!   standard, unless the record has that header.
//! - Comments *before* a move that begins no variation are written after the previous move.
//! - Blanks around comments are lost, and comments and headers that are empty or unknown (`?`).
//! - A comment with a `}` is written with `;`, and each of its lines becomes a comment.
//! - Names of headers have letters, digits and underscores. Line ends in values become blanks.
//! - The seven headers of the roster are always first.
//! - Marked squares are always before arrows.

mod command;
mod movetext;
mod tokens;
mod write;

pub(super) use movetext::Reader;
pub use write::{PgnOptions, write_pgn};

/// The tags that are first in every game, in this order.
const ROSTER: [&str; 7] = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

/// The value of a tag of the roster if it is unknown.
fn unknown_value(name: &str) -> &'static str {
    if name == "Date" { "????.??.??" } else { "?" }
}

/// Symbols for NAGs.
const NAG_SYMBOLS: [(&str, u8); 20] = [
    ("!", 1),
    ("?", 2),
    ("!!", 3),
    ("??", 4),
    ("!?", 5),
    ("?!", 6),
    ("□", 7),
    ("=", 10),
    ("∞", 13),
    ("+=", 14),
    ("+/=", 14),
    ("⩲", 14),
    ("=+", 15),
    ("=/+", 15),
    ("⩱", 15),
    ("+/-", 16),
    ("±", 16),
    ("-/+", 17),
    ("+-", 18),
    ("-+", 19),
];
