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
//! - An illegal move that ended a line is written as a comment, `{ illegal move: e1e3 }`. Readers of this
//!   crate read it as a move.
//! - Blanks around comments are lost, and comments and headers that are empty or unknown (`?`).
//! - A comment with a `}` is written with `;`, and each of its lines becomes a comment.
//! - Names of headers have letters, digits and underscores. Line ends in values become blanks.
//! - The seven headers of the roster are always first.
//! - Marked squares are always before arrows.

mod command;
mod moves;
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

/// Begins the comment for an illegal move that ended a line. In the movetext, other programs would
/// reject the game because of it.
const ILLEGAL_MOVE: &str = "illegal move: ";

/// Symbols for NAGs: after a move of White, and after one of Black.
const NAG_SYMBOLS: [(&str, u8, u8); 43] = [
    ("!", 1, 1),
    ("?", 2, 2),
    ("!!", 3, 3),
    ("‼", 3, 3),
    ("??", 4, 4),
    ("⁇", 4, 4),
    ("!?", 5, 5),
    ("⁉", 5, 5),
    ("?!", 6, 6),
    ("⁈", 6, 6),
    ("□", 7, 7),
    ("=", 10, 10),
    ("∞", 13, 13),
    ("+=", 14, 14),
    ("+/=", 14, 14),
    ("⩲", 14, 14),
    ("=+", 15, 15),
    ("=/+", 15, 15),
    ("⩱", 15, 15),
    ("+/-", 16, 16),
    ("±", 16, 16),
    ("-/+", 17, 17),
    ("∓", 17, 17),
    ("+-", 18, 18),
    ("+−", 18, 18),
    ("+–", 18, 18),
    ("-+", 19, 19),
    ("−+", 19, 19),
    ("–+", 19, 19),
    ("⨀", 22, 23),
    ("⊙", 22, 23),
    ("○", 26, 27),
    ("⟳", 32, 33),
    ("↑", 36, 37),
    ("→", 40, 41),
    ("=/∞", 44, 45),
    ("=∞", 44, 45),
    ("⇄", 132, 133),
    ("⇆", 132, 133),
    ("⊕", 138, 139),
    ("∆", 140, 140),
    ("⌓", 142, 142),
    ("≤", 143, 143),
];
