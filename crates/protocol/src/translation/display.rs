//! Sanitizes texts for display.

use alloc::borrow::Cow;
use alloc::string::String;

/// Sanitizes a text for display: one line, without characters that reorder or hide the text around it.
///
/// Line ends and tabs become spaces. Removed are other control characters, byte order marks, the marks,
/// embeddings, overrides and isolates of bidirectional text (UAX #9 §2), and white space at both ends.
pub fn display_text(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.chars().all(|c| shown(c) == Some(c)) {
        return Cow::Borrowed(text);
    }
    let shown: String = text.chars().filter_map(shown).collect();
    // Removed characters may have been outside of the white space.
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
