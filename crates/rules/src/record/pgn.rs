//! Portable Game Notation, after Steven Edwards' standard of 1994 and what programs make of it.
//!
//! Read here rather than by `pgn-reader`, which drops `;` comments and moves that it cannot read
//! without a word, and knows no lines and columns.
//!
//! # What PGN does not hold
//! - Times finer than a millisecond, and evaluations of start positions' sides other than the first.
//! - [`End`](super::End): it is written as the header `Termination`, in the standard's eight words,
//!   unless the record has that header.
//! - Comments *before* a move that begins no variation: they are written after the move before.
//! - Blanks around comments, and comments and headers that are empty or (`?`) unknown.
//! - A `}` in a comment: the comment is written with `;`, where each line becomes a comment.
//! - Names of headers other than letters, digits and underscores; line ends in their values.
//! - Headers in another order than the seven of the roster before all others.
//! - Arrows before marked squares.

mod command;
mod movetext;
mod san;
mod tokens;
mod write;

pub(super) use movetext::Reader;
pub use write::{PgnOptions, write_pgn};

/// The tags that stand first in every game, in this order.
const ROSTER: [&str; 7] = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

/// What a tag of the roster has for a value where nobody knows one.
fn unknown(name: &str) -> &'static str {
    if name == "Date" { "????.??.??" } else { "?" }
}

/// Signs that can stand for a NAG.
const SIGNS: [(&str, u8); 20] = [
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
