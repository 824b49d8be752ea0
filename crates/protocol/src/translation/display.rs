//! Texts from outside, made fit to be shown.

use alloc::borrow::Cow;
use alloc::string::String;

/// The text as it may be shown: in one line, and not able to reorder or hide what stands around it.
///
/// Line ends and tabs become spaces. Other control characters, byte order marks, and the marks,
/// embeddings, overrides and isolates of bidirectional text (UAX #9 §2) are left out, and so is
/// white space at both ends.
pub fn display_text(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.chars().all(|c| shown(c) == Some(c)) {
        return Cow::Borrowed(text);
    }
    let shown: String = text.chars().filter_map(shown).collect();
    // Something invisible may have stood outside of the white space.
    Cow::Owned(shown.trim().into())
}

fn shown(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => None,
        _ if c.is_control() => None,
        _ => Some(c),
    }
}
