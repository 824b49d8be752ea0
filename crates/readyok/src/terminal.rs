//! Terminal output: escaping of untrusted text, and a live table.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use readyok_protocol::translation::display_text;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns and rows of the terminal.
pub(crate) fn terminal_size() -> (usize, usize) {
    let size = terminal_size::terminal_size();
    size.map_or((80, 24), |(columns, rows)| (columns.0.into(), rows.0.into()))
}

/// Prints a line on standard output.
pub(crate) fn print(line: &str) {
    // Fails if standard output is closed.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints an error or a warning on standard error.
pub(crate) fn print_error(text: &str) {
    // Fails if standard error is closed.
    let _ = writeln!(io::stderr(), "readyok: {}", printable(text));
}

/// Bytes as printable text, without loss. Invalid UTF-8, control characters and direction marks are written
/// as `\xNN` for each byte, and a backslash as `\\`.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\\' => f.write_str(r"\\")?,
                    c if is_control(c) => write_bytes(f, c.encode_utf8(&mut [0; 4]).as_bytes())?,
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

/// Makes text safe for display: see [`display_text`].
pub fn printable(text: &str) -> String {
    display_text(text).into_owned()
}

/// Truncates printable text to a width in columns, at a space if there is one. `…` marks the truncation.
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
    // A truncated move could look like a different move.
    if let Some(space) = shown.rfind(' ') {
        shown.truncate(space + 1);
    }
    if 0 < columns {
        shown.push('…');
    }
    shown
}

/// Whether the character controls a terminal or the direction of text.
fn is_control(c: char) -> bool {
    let directs = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}');
    c.is_control() || directs
}

/// Rows at the end of the terminal output that are redrawn in place.
#[derive(Debug)]
pub struct Canvas<W> {
    out: W,
    /// Current columns and rows of the terminal.
    size: fn() -> (usize, usize),
    /// Number of rows on the terminal.
    drawn: usize,
}

impl<W: Write> Canvas<W> {
    /// An empty canvas. `size` returns the current columns and rows of the terminal.
    pub fn new(out: W, size: fn() -> (usize, usize)) -> Self {
        Self { out, size, drawn: 0 }
    }

    /// Current width of the terminal in columns.
    pub fn columns(&self) -> usize {
        (self.size)().0
    }

    /// Replaces the rows by printable rows. Rows that do not fit are omitted.
    ///
    /// # Errors
    /// Writing fails.
    pub fn draw(&mut self, rows: impl IntoIterator<Item = String>) -> io::Result<()> {
        let (columns, height) = (self.size)();
        let mut frame = String::new();
        if 0 < self.drawn {
            // Moves the cursor to the first drawn row.
            frame.push_str("\x1b[");
            frame.push_str(&self.drawn.to_string());
            frame.push('A');
        }
        // Clears to the end of the screen.
        frame.push_str("\r\x1b[J");
        self.drawn = 0;
        // A row that has scrolled away cannot be redrawn.
        for row in rows.into_iter().take(height.saturating_sub(1).max(1)) {
            frame.push_str(&fitting(&row, columns));
            frame.push('\n');
            self.drawn += 1;
        }
        self.out.write_all(frame.as_bytes())?;
        self.out.flush()
    }

    /// Writes a permanent row below the drawn rows.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(&mut self, row: &str) -> io::Result<()> {
        self.drawn = 0;
        writeln!(self.out, "{row}")?;
        self.out.flush()
    }
}
