//! Rows on a terminal that are drawn over themselves.

use std::io::{self, Write};

use crate::text::fitting;

/// The rows at the end of a terminal's output.
#[derive(Debug)]
pub struct Canvas<W> {
    out: W,
    /// Columns and rows of the terminal, now.
    size: fn() -> (usize, usize),
    /// How many rows are on the terminal.
    drawn: usize,
}

impl<W: Write> Canvas<W> {
    /// An empty one. `size` gives the columns and rows of the terminal.
    pub fn new(out: W, size: fn() -> (usize, usize)) -> Self {
        Self { out, size, drawn: 0 }
    }

    /// How many columns the terminal has now.
    pub fn columns(&self) -> usize {
        (self.size)().0
    }

    /// Draws printable rows in the place of those before, as far as they fit.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn draw(&mut self, rows: impl IntoIterator<Item = String>) -> io::Result<()> {
        let (columns, height) = (self.size)();
        let mut frame = String::new();
        if 0 < self.drawn {
            // To the start of the first row that was drawn.
            frame.push_str("\x1b[");
            frame.push_str(&self.drawn.to_string());
            frame.push('A');
        }
        // Nothing of what was drawn is left.
        frame.push_str("\r\x1b[J");
        self.drawn = 0;
        // A row that has left the terminal cannot be drawn over.
        for row in rows.into_iter().take(height.saturating_sub(1).max(1)) {
            frame.push_str(&fitting(&row, columns));
            frame.push('\n');
            self.drawn += 1;
        }
        self.out.write_all(frame.as_bytes())?;
        self.out.flush()
    }

    /// Writes a printable row below, which stays.
    ///
    /// # Errors
    /// Nothing can be written.
    pub fn leave(&mut self, row: &str) -> io::Result<()> {
        self.drawn = 0;
        writeln!(self.out, "{row}")?;
        self.out.flush()
    }
}
