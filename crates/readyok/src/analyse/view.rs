//! The ways to show a search: a table on a terminal, lines of text, lines of JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use readyok_client::{Best, Checkmate, Info, Played};

use super::record::Record;
use super::setup::Scribe;
use super::table::{line, table};
use crate::text::{fitting, printable};

/// Shows a search while it runs.
pub trait View {
    /// The engine has told something.
    ///
    /// # Errors
    /// Nothing can be written.
    fn update(&mut self, info: &Info<'static>) -> io::Result<()>;

    /// It is time to look at the variations that are known so far, the best first.
    ///
    /// # Errors
    /// Nothing can be written.
    fn frame(&mut self, variations: &[&Info<'static>]) -> io::Result<()>;

    /// The search has ended.
    ///
    /// # Errors
    /// Nothing can be written.
    fn end(&mut self, played: &Played) -> io::Result<()>;
}

/// A table on a terminal, which is drawn over itself.
#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    /// Columns and rows of the terminal, now.
    size: fn() -> (usize, usize),
    title: String,
    scribe: Scribe,
    /// What the engine has said last.
    remark: Option<String>,
    /// How many rows are on the terminal.
    drawn: usize,
    /// Something has changed since.
    stale: bool,
}

impl<W: Write> Screen<W> {
    /// A table under a title. `size` gives the columns and rows of the terminal.
    pub fn new(out: W, size: fn() -> (usize, usize), title: &str, scribe: Scribe) -> Self {
        let title = printable(title);
        Self { out, size, title, scribe, remark: None, drawn: 0, stale: true }
    }
}

impl<W: Write> View for Screen<W> {
    fn update(&mut self, info: &Info<'static>) -> io::Result<()> {
        self.stale = true;
        if let Some(text) = &info.string {
            self.remark = Some(printable(text));
        }
        Ok(())
    }

    fn frame(&mut self, variations: &[&Info<'static>]) -> io::Result<()> {
        if !std::mem::take(&mut self.stale) {
            return Ok(());
        }
        let (columns, rows) = (self.size)();
        let mut frame = String::new();
        if 0 < self.drawn {
            // To the start of the first row that was drawn.
            frame.push_str("\x1b[");
            frame.push_str(&self.drawn.to_string());
            frame.push('A');
        }
        // Nothing of what was drawn is left.
        frame.push_str("\r\x1b[J");
        let title = std::iter::once(fitting(&self.title, columns));
        let table = table(variations, &self.scribe, columns);
        let remark = self.remark.iter().map(|remark| fitting(remark, columns));
        self.drawn = 0;
        // A row that has left the terminal cannot be drawn over.
        for row in title.chain(table).chain(remark).take(rows.saturating_sub(1).max(1)) {
            frame.push_str(&row);
            frame.push('\n');
            self.drawn += 1;
        }
        self.out.write_all(frame.as_bytes())?;
        self.out.flush()
    }

    fn end(&mut self, played: &Played) -> io::Result<()> {
        writeln!(self.out, "{}", answer(played, &self.scribe))?;
        self.out.flush()
    }
}

/// One line of text for each variation that the engine tells.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
    scribe: Scribe,
}

impl<W: Write> Lines<W> {
    /// Lines of text.
    pub fn new(out: W, scribe: Scribe) -> Self {
        Self { out, scribe }
    }
}

impl<W: Write> View for Lines<W> {
    fn update(&mut self, info: &Info<'static>) -> io::Result<()> {
        if info.pv.is_some() || info.score.is_some() {
            writeln!(self.out, "{}", line(info, &self.scribe))?;
        }
        if let Some(text) = &info.string {
            writeln!(self.out, "{}", printable(text))?;
        }
        Ok(())
    }

    fn frame(&mut self, _: &[&Info<'static>]) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, played: &Played) -> io::Result<()> {
        writeln!(self.out, "{}", answer(played, &self.scribe))?;
        self.out.flush()
    }
}

/// One JSON object for each `info`, and one for the answer.
#[derive(Debug)]
pub struct Json<W> {
    out: W,
    scribe: Scribe,
}

impl<W: Write> Json<W> {
    /// Lines of JSON.
    pub fn new(out: W, scribe: Scribe) -> Self {
        Self { out, scribe }
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, record)?;
        self.out.write_all(b"\n")
    }
}

impl<W: Write> View for Json<W> {
    fn update(&mut self, info: &Info<'static>) -> io::Result<()> {
        self.write(&Record::info(info, &self.scribe))
    }

    fn frame(&mut self, _: &[&Info<'static>]) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, played: &Played) -> io::Result<()> {
        self.write(&Record::best_move(played, &self.scribe))?;
        self.out.flush()
    }
}

/// The answer of the engine in words.
fn answer(played: &Played, scribe: &Scribe) -> String {
    let Some(best) = played.best_move() else {
        return match (&played.checkmate, &played.best) {
            (Some(Checkmate::NoMate), _) => "there is no mate".to_owned(),
            (Some(Checkmate::Timeout), _) => "no mate was found in time".to_owned(),
            (Some(Checkmate::NotImplemented), _) => "the engine cannot look for mates".to_owned(),
            (Some(Checkmate::Unknown | Checkmate::Moves(_)), _) => "no mate was found".to_owned(),
            (None, Best::Resign) => "the engine resigns".to_owned(),
            (None, Best::Win) => "the engine declares that it has won".to_owned(),
            (None, Best::Other(word)) => format!("the engine answers `{}`", printable(word)),
            (None, Best::None | Best::Move(_)) => "there is no move".to_owned(),
        };
    };
    let mut text = if let Some(Checkmate::Moves(moves)) = &played.checkmate {
        format!("mate: {}", printable(&scribe.line(moves.words()).join(" ")))
    } else {
        let legal = scribe.one(best.as_str());
        format!("best move: {}", legal.unwrap_or_else(|| format!("{best} (illegal)")))
    };
    if let Some(ponder) = played.ponder {
        let legal = scribe.answer(best.as_str(), ponder.as_str());
        let ponder = legal.unwrap_or_else(|| format!("{ponder} (illegal)"));
        // Writing to a string does not fail.
        let _ = write!(text, ", expected answer: {ponder}");
    }
    text
}
