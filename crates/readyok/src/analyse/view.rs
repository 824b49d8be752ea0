//! The ways to show a search: a table on a terminal, lines of text, lines of JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use readyok_client::{Best, Checkmate, Info, SearchResult};

use super::record::Record;
use super::setup::Scribe;
use super::table::{line, table};
use crate::canvas::Canvas;
use crate::text::printable;

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
    fn end(&mut self, played: &SearchResult) -> io::Result<()>;
}

/// A table on a terminal, which is drawn over itself.
#[derive(Debug)]
pub struct Screen<W> {
    canvas: Canvas<W>,
    title: String,
    scribe: Scribe,
    /// What the engine has said last.
    remark: Option<String>,
    /// Something has changed since.
    stale: bool,
}

impl<W: Write> Screen<W> {
    /// A table under a title. `size` gives the columns and rows of the terminal.
    pub fn new(out: W, size: fn() -> (usize, usize), title: &str, scribe: Scribe) -> Self {
        let (canvas, title) = (Canvas::new(out, size), printable(title));
        Self { canvas, title, scribe, remark: None, stale: true }
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
        let table = table(variations, &self.scribe, self.canvas.columns());
        let title = std::iter::once(self.title.clone());
        self.canvas.draw(title.chain(table).chain(self.remark.clone()))
    }

    fn end(&mut self, played: &SearchResult) -> io::Result<()> {
        self.canvas.leave(&answer(played, &self.scribe))
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

    fn end(&mut self, played: &SearchResult) -> io::Result<()> {
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

    fn end(&mut self, played: &SearchResult) -> io::Result<()> {
        self.write(&Record::best_move(played, &self.scribe))?;
        self.out.flush()
    }
}

/// The answer of the engine in words.
fn answer(played: &SearchResult, scribe: &Scribe) -> String {
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
        format!("mate: {}", printable(&scribe.line(moves.tokens()).join(" ")))
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
