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
//! - Line breaks in comments have no meaning in PGN, and become blanks.
//! - A comment with a `}` is written with `;`.
//! - The NAGs before the first move of a variation are written after it.
//! - Names of headers have letters, digits and underscores. Line ends in values become blanks.
//! - The seven headers of the roster are always first.
//! - Marked squares are always before arrows.

use std::borrow::Cow;

use memchr::memchr2;

use super::format::Certainty;

mod command;
mod moves;
mod movetext;
mod tokens;
mod write;

pub(super) use movetext::PgnReader;
pub(super) use write::write;
pub use write::{PgnOptions, write_pgn};

/// Whether a line begins a file of PGN.
pub(super) fn detect(line: &str, _: &str) -> Option<Certainty> {
    if line.starts_with(['[', ';', '%']) {
        return Some(Certainty::Certain);
    }
    // A JSON object begins with a brace as well.
    if line.starts_with('{') {
        return Some(Certainty::Likely);
    }
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    // Moves of KIF have numbers as well.
    let is_numbered = number.len() < line.len()
        && (number.starts_with('.') || number.starts_with(' ') && number.is_ascii());
    (is_numbered || line.split_whitespace().next().is_some_and(is_san))
        .then_some(Certainty::Possible)
}

/// Whether a token is a move of chess in SAN.
fn is_san(token: &str) -> bool {
    let token = token.trim_end_matches(['!', '?', '+', '#']);
    !token.bytes().all(|byte| byte.is_ascii_digit())
        && (token.parse::<shakmaty::san::San>().is_ok() || matches!(token, "0-0" | "0-0-0"))
}

/// The tags that are first in every game, in this order.
const ROSTER: [&str; 7] = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

/// The value of a tag of the roster if it is unknown.
fn unknown_value(name: &str) -> &'static str {
    if name == "Date" { "????.??.??" } else { "?" }
}

/// Bytes that can begin a symbol for a NAG.
static BEGINS_SYMBOL: [bool; 256] = {
    let mut table = [false; 256];
    let mut index = 0;
    while index < NAG_SYMBOLS.len() {
        table[NAG_SYMBOLS[index].0.as_bytes()[0] as usize] = true;
        index += 1;
    }
    table
};

/// A comment in one line.
fn without_line_breaks(text: &str) -> Cow<'_, str> {
    if memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let lines = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    Cow::Owned(lines.collect::<Vec<_>>().join(" "))
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
