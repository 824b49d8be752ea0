//! Lists of games.

use std::io::{self, BufWriter, IsTerminal, Write};

use clap::ValueEnum;
use readyok_library::{Column, GameEntry, Library};
use readyok_rules::GameResult;
use readyok_rules::record::Condition;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::{failure, watched};
use crate::convert::{game_name, grouped};
use crate::exit::{Code, Failure};
use crate::terminal::{fitting, print_error, printable, terminal_size};

/// The width of tables in files.
const FILE_WIDTH: usize = 160;

/// Games of one query: bounds the memory.
const PAGE: usize = 1000;

/// What games are sorted by.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum SearchKey {
    /// The order of addition
    #[default]
    Number,
    /// The order of the last change or addition
    Changed,
    Date,
    /// The player who moves first: White in chess, black (sente) in shogi
    First,
    /// The player who moves second
    Second,
    Event,
    Opening,
    /// The average rating of the players
    Rating,
    Plies,
    Result,
}

impl SearchKey {
    fn column(self) -> Column {
        match self {
            Self::Number => Column::Added,
            Self::Changed => Column::Changed,
            Self::Date => Column::Date,
            Self::First => Column::First,
            Self::Second => Column::Second,
            Self::Event => Column::Event,
            Self::Opening => Column::Opening,
            Self::Rating => Column::Rating,
            Self::Plies => Column::Plies,
            Self::Result => Column::Result,
        }
    }
}

/// The form of a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    Table,
    /// A line of JSON for each game.
    Json,
    /// The numbers of the games.
    Numbers,
}

/// Which games are listed, and how.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub(crate) condition: Condition,
    pub(crate) sort: SearchKey,
    pub(crate) is_descending: bool,
    pub(crate) skip: usize,
    pub(crate) limit: usize,
    pub(crate) form: Form,
}

/// A game of a list.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) game: u32,
    pub(super) variant: &'static str,
    pub(super) first: String,
    pub(super) second: String,
    pub(super) ratings: [Option<u16>; 2],
    pub(super) event: String,
    pub(super) date: Option<String>,
    pub(super) result: &'static str,
    pub(super) plies: u16,
    pub(super) eco: Option<String>,
    pub(super) opening: Option<String>,
    pub(super) labels: Vec<String>,
    pub(super) added_ms: i64,
    pub(super) changed_ms: i64,
}

impl Row {
    pub(super) fn new(entry: GameEntry) -> Self {
        let summary = entry.summary;
        let [first, second] = entry.players;
        let (eco, opening) = entry.opening.unzip();
        let filled = |text: &String| !text.is_empty();
        Self {
            game: entry.id,
            variant: game_name(summary.variant),
            first,
            second,
            ratings: summary.ratings.map(|rating| (rating > 0).then_some(rating)),
            event: entry.event,
            date: Some(summary.date.to_string()).filter(|_| summary.date.year().is_some()),
            result: result_text(summary.result),
            plies: summary.plies,
            eco: eco.filter(filled),
            opening: opening.filter(filled),
            labels: entry.labels,
            added_ms: entry.added_ms,
            changed_ms: entry.changed_ms,
        }
    }

    /// The columns of a table of this width. The names share what the others leave.
    pub(super) fn line(&self, width: usize) -> String {
        let name = width.saturating_sub(8 + 8 + 11 + 5 + 5 + 2).clamp(24, 120) / 3;
        let date = self.date.as_deref().unwrap_or_default();
        let line = format!(
            "{:>7} {} {} {:<7} {:<10} {:>4} {:<4} {}",
            self.game,
            cell(&self.first, name),
            cell(&self.second, name),
            self.result,
            date,
            self.plies,
            self.eco.as_deref().unwrap_or_default(),
            fitting(&printable(&self.event), name),
        );
        line.trim_end().to_owned()
    }
}

/// The result as in PGN.
pub(super) fn result_text(result: GameResult) -> &'static str {
    result.as_str()
}

/// The width of tables.
pub(super) fn width() -> usize {
    if io::stdout().is_terminal() { terminal_size().0 } else { FILE_WIDTH }
}

/// Printable text of exactly this width.
pub(super) fn cell(text: &str, columns: usize) -> String {
    let text = fitting(&printable(text), columns);
    let blanks = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(blanks))
}

/// Prints the games that match. None is no failure.
pub(crate) fn search(library: &Library, listing: &Listing) -> Result<Code, Failure> {
    // Later pages find the answers in the cache.
    watched(&listing.condition, |filter| library.search(filter, (Column::Added, false), 0, 0))?;
    match print(library, listing) {
        // The reader has closed the pipe.
        Err(Failed::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Code::Done),
        Err(Failed::Io(error)) => Err(Failure::failed(error)),
        Err(Failed::Library(error)) => Err(failure(error)),
        Ok(()) => Ok(Code::Done),
    }
}

enum Failed {
    Io(io::Error),
    Library(readyok_library::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<readyok_library::Error> for Failed {
    fn from(error: readyok_library::Error) -> Self {
        Self::Library(error)
    }
}

fn print(library: &Library, listing: &Listing) -> Result<(), Failed> {
    let Listing { condition, sort, is_descending, skip, limit, form } = listing;
    let mut out = BufWriter::new(io::stdout().lock());
    let width = width();
    let order = (sort.column(), *is_descending);
    let (mut shown, mut total) = (0, 0);
    if order == (Column::Added, false) && *form == Form::Numbers {
        // Nothing of the games is read.
        for id in library.find_all(condition)?.into_iter().skip(*skip).take(*limit) {
            writeln!(out, "{id}")?;
        }
        return Ok(out.flush()?);
    }
    while shown < *limit {
        let page = library.search(condition, order, skip + shown, PAGE.min(limit - shown))?;
        total = page.total;
        if page.games.is_empty() {
            break;
        }
        shown += page.games.len();
        for entry in page.games {
            match form {
                Form::Numbers => writeln!(out, "{}", entry.id)?,
                Form::Json => {
                    serde_json::to_writer(&mut out, &Row::new(entry)).map_err(io::Error::from)?;
                    writeln!(out)?;
                }
                Form::Table => writeln!(out, "{}", Row::new(entry).line(width))?,
            }
        }
    }
    out.flush()?;
    let rest = total.saturating_sub(skip + shown);
    if *form == Form::Table && rest > 0 {
        print_error(&format!("{} more games; --limit 0 lists all", grouped(rest as u64)));
    }
    Ok(())
}
