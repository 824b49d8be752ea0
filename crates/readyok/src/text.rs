//! Text from outside made fit to be shown: nothing in it can steer a terminal or break a line.

use std::fmt::{self, Write as _};

use readyok_protocol::translation::display_text;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Bytes as printable text from which they can be told again: what is no UTF-8, control and
/// direction characters become `\xNN` byte by byte, and a backslash becomes `\\`.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\\' => f.write_str(r"\\")?,
                    c if steers(c) => write_bytes(f, c.encode_utf8(&mut [0; 4]).as_bytes())?,
                    c => f.write_char(c)?,
                }
            }
            write_bytes(f, chunk.invalid())?;
        }
        Ok(())
    }
}

fn write_bytes(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, r"\x{byte:02x}"))
}

/// The text as it may be shown: see [`display_text`].
pub fn printable(text: &str) -> String {
    display_text(text).into_owned()
}

/// As much of a printable text as fits into so many columns of a terminal, up to the end
/// of a word if there is one, with `…` at the end if something is missing.
pub fn fitting(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let mut shown: String = text
        .chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used < columns
        })
        .collect();
    // Half a move could be taken for another one.
    if let Some(space) = shown.rfind(' ') {
        shown.truncate(space + 1);
    }
    if 0 < columns {
        shown.push('…');
    }
    shown
}

/// Whether a terminal takes the character for an order instead of showing it.
fn steers(c: char) -> bool {
    let directs = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}');
    c.is_control() || directs
}
