//! The output of a search: a table on a terminal, lines of text, or JSON lines.

use std::fmt::Write as _;
use std::io::{self, Write};

use readyok_client::{Best, Checkmate, Info, SearchResult};
use readyok_protocol::{Bound, MoveList, Score, Wdl};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::MoveFormatter;
use crate::terminal::{Canvas, fitting, printable};

/// The output of a running search.
pub trait View {
    /// Handles an `info` of the engine.
    ///
    /// # Errors
    /// Writing fails.
    fn update(&mut self, info: &Info<'static>) -> io::Result<()>;

    /// Updates the output with the current variations, best first.
    ///
    /// # Errors
    /// Writing fails.
    fn frame(&mut self, variations: &[&Info<'static>]) -> io::Result<()>;

    /// Prints the result of the search.
    ///
    /// # Errors
    /// Writing fails.
    fn end(&mut self, result: &SearchResult) -> io::Result<()>;
}

/// A live table on a terminal.
#[derive(Debug)]
pub struct Screen<W> {
    canvas: Canvas<W>,
    title: String,
    formatter: MoveFormatter,
    /// The last `info string`.
    message: Option<String>,
    is_stale: bool,
}

impl<W: Write> Screen<W> {
    /// A table with a title. `size` returns the current columns and rows of the terminal.
    pub fn new(
        out: W,
        size: fn() -> (usize, usize),
        title: &str,
        formatter: MoveFormatter,
    ) -> Self {
        let (canvas, title) = (Canvas::new(out, size), printable(title));
        Self { canvas, title, formatter, message: None, is_stale: true }
    }
}

impl<W: Write> View for Screen<W> {
    fn update(&mut self, info: &Info<'static>) -> io::Result<()> {
        self.is_stale = true;
        if let Some(text) = &info.string {
            self.message = Some(printable(text));
        }
        Ok(())
    }

    fn frame(&mut self, variations: &[&Info<'static>]) -> io::Result<()> {
        if !std::mem::take(&mut self.is_stale) {
            return Ok(());
        }
        let table = table(variations, &self.formatter, self.canvas.columns());
        let title = std::iter::once(self.title.clone());
        self.canvas.draw(title.chain(table).chain(self.message.clone()))
    }

    fn end(&mut self, result: &SearchResult) -> io::Result<()> {
        self.canvas.finish(&result_text(result, &self.formatter))
    }
}

/// One line of text for each variation.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
    formatter: MoveFormatter,
}

impl<W: Write> Lines<W> {
    /// Creates a writer of text.
    pub fn new(out: W, formatter: MoveFormatter) -> Self {
        Self { out, formatter }
    }
}

impl<W: Write> View for Lines<W> {
    fn update(&mut self, info: &Info<'static>) -> io::Result<()> {
        if info.pv.is_some() || info.score.is_some() {
            writeln!(self.out, "{}", line(info, &self.formatter))?;
        }
        if let Some(text) = &info.string {
            writeln!(self.out, "{}", printable(text))?;
        }
        Ok(())
    }

    fn frame(&mut self, _: &[&Info<'static>]) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, result: &SearchResult) -> io::Result<()> {
        writeln!(self.out, "{}", result_text(result, &self.formatter))?;
        self.out.flush()
    }
}

/// One JSON object for each `info`, and one for the result.
#[derive(Debug)]
pub struct Json<W> {
    out: W,
    formatter: MoveFormatter,
}

impl<W: Write> Json<W> {
    /// Creates a writer of JSON lines.
    pub fn new(out: W, formatter: MoveFormatter) -> Self {
        Self { out, formatter }
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, record)?;
        self.out.write_all(b"\n")
    }
}

impl<W: Write> View for Json<W> {
    fn update(&mut self, info: &Info<'static>) -> io::Result<()> {
        self.write(&Record::Info(Box::new(InfoRecord::new(info, &self.formatter))))
    }

    fn frame(&mut self, _: &[&Info<'static>]) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, result: &SearchResult) -> io::Result<()> {
        self.write(&Record::BestMove(BestMoveRecord::new(result, &self.formatter)))?;
        self.out.flush()
    }
}

/// The result of a search as text.
fn result_text(result: &SearchResult, formatter: &MoveFormatter) -> String {
    let Some(best) = result.best_move() else {
        return match (&result.checkmate, &result.best) {
            (Some(Checkmate::NoMate), _) => "there is no mate".to_owned(),
            (Some(Checkmate::Timeout), _) => "no mate was found in time".to_owned(),
            (Some(Checkmate::NotImplemented), _) => {
                "the engine does not support mate search".to_owned()
            }
            (Some(Checkmate::Unknown | Checkmate::Moves(_)), _) => "no mate was found".to_owned(),
            (None, Best::Resign) => "the engine resigns".to_owned(),
            (None, Best::Win) => "the engine declares a win".to_owned(),
            (None, Best::Other(text)) => format!("the engine replied `{}`", printable(text)),
            (None, Best::None | Best::Move(_)) => "there is no move".to_owned(),
        };
    };
    let mut text = if let Some(Checkmate::Moves(moves)) = &result.checkmate {
        format!("mate: {}", printable(&formatter.line(moves.tokens()).join(" ")))
    } else {
        let legal = formatter.one(best.as_str());
        format!("best move: {}", legal.unwrap_or_else(|| format!("{best} (illegal)")))
    };
    if let Some(ponder) = result.ponder {
        let legal = formatter.reply(best.as_str(), ponder.as_str());
        let ponder = legal.unwrap_or_else(|| format!("{ponder} (illegal)"));
        // Writing to a string never fails.
        let _ = write!(text, ", expected reply: {ponder}");
    }
    text
}

const COLUMNS: usize = 8;

/// The columns before the moves.
const HEADINGS: [&str; COLUMNS] =
    ["#", "depth", "score", "w/d/l ‰", "nodes", "nps", "hash", "time"];

/// Formats the variations as a table of at most `width` columns, with a heading. Empty columns are omitted.
pub fn table(
    variations: &[&Info<'static>],
    formatter: &MoveFormatter,
    width: usize,
) -> Vec<String> {
    let rows: Vec<_> =
        variations.iter().map(|info| (cells(info), moves(info, formatter))).collect();
    let widths: Vec<usize> = (0..COLUMNS)
        .map(|column| {
            let widest = rows.iter().filter_map(|(cells, _)| cells.get(column));
            match widest.map(|cell| cell.width()).max().unwrap_or(0) {
                0 => 0,
                widest => widest.max(HEADINGS.get(column).map_or(0, |heading| heading.width())),
            }
        })
        .collect();
    let headings = HEADINGS.map(str::to_owned);
    let lay = |cells: &[String; COLUMNS], rest: &str| {
        let mut line = String::new();
        for (cell, &column) in cells.iter().zip(&widths).filter(|(_, column)| **column > 0) {
            // The width of a character on a terminal may differ from 1.
            line.extend(std::iter::repeat_n(' ', column.saturating_sub(cell.width())));
            line.push_str(cell);
            line.push_str("  ");
        }
        line.push_str(rest);
        fitting(line.trim_end(), width)
    };
    let heading = (!rows.is_empty()).then(|| lay(&headings, "line"));
    heading.into_iter().chain(rows.iter().map(|(cells, moves)| lay(cells, moves))).collect()
}

/// Formats a variation as one labelled line of any length.
pub fn line(info: &Info<'static>, formatter: &MoveFormatter) -> String {
    let mut line = String::new();
    for (heading, cell) in HEADINGS.iter().zip(cells(info)).filter(|(_, cell)| !cell.is_empty()) {
        line.push_str(heading);
        line.push(' ');
        line.push_str(&cell);
        line.push_str("  ");
    }
    line.push_str(&moves(info, formatter));
    line
}

fn moves(info: &Info<'static>, formatter: &MoveFormatter) -> String {
    let moves = info.pv.iter().flat_map(MoveList::tokens);
    printable(&formatter.line(moves).join(" "))
}

fn cells(info: &Info<'static>) -> [String; COLUMNS] {
    let depth = match (info.depth, info.seldepth) {
        (Some(depth), Some(seldepth)) => format!("{depth}/{seldepth}"),
        (Some(depth), None) => depth.to_string(),
        (None, _) => String::new(),
    };
    let bound = match info.bound {
        Bound::Exact => "",
        Bound::Lower => "≥",
        Bound::Upper => "≤",
    };
    let wdl = |Wdl { win, draw, loss }| format!("{win}/{draw}/{loss}");
    [
        info.multipv.map(|number| number.to_string()).unwrap_or_default(),
        depth,
        info.score.map(|score| format!("{bound}{score}")).unwrap_or_default(),
        info.wdl.map(wdl).unwrap_or_default(),
        info.nodes.map(count).unwrap_or_default(),
        info.nps.map(count).unwrap_or_default(),
        info.hashfull.map(|full| format!("{}.{}%", full / 10, full % 10)).unwrap_or_default(),
        info.time_ms().map(time).unwrap_or_default(),
    ]
}

/// A count with at most three digits and a suffix, rounded down: `999`, `1.23k`, `45.6M`.
fn count(number: u64) -> String {
    const SUFFIXES: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    let mut thousandths = u128::from(number) * 1000;
    let mut suffixes = SUFFIXES.iter();
    let mut suffix = suffixes.next();
    while 1_000_000 <= thousandths {
        thousandths /= 1000;
        suffix = suffixes.next();
    }
    let suffix = suffix.unwrap_or(&"");
    let (whole, rest) = (thousandths / 1000, thousandths % 1000);
    match (suffix.is_empty(), whole) {
        (true, _) => whole.to_string(),
        (_, 0..10) => format!("{whole}.{:02}{suffix}", rest / 10),
        (_, 10..100) => format!("{whole}.{}{suffix}", rest / 100),
        _ => format!("{whole}{suffix}"),
    }
}

/// Hours, minutes and seconds: `0:01.2`, `1:02:03`.
fn time(milliseconds: u64) -> String {
    let (seconds, minutes) = (milliseconds / 1000 % 60, milliseconds / 60_000 % 60);
    match milliseconds / 3_600_000 {
        0 => format!("{minutes}:{seconds:02}.{}", milliseconds / 100 % 10),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// One line of `analyse --json`, see `docs/readyok.md`. Missing values are omitted.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Record {
    /// An `info` of the engine.
    Info(Box<InfoRecord>),
    /// The result of the search.
    BestMove(BestMoveRecord),
}

/// The fields of an `info`.
#[derive(Debug, Default, Serialize)]
pub(super) struct InfoRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seldepth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    multipv: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<Score>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<Bound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wdl: Option<Wdl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hashfull: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tbhits: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currmove: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currmovenumber: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pv: Vec<String>,
    /// `pv` in the selected notation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pv_text: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    string: Option<String>,
}

/// The fields of the result of a search.
#[derive(Debug, Default, Serialize)]
pub(super) struct BestMoveRecord {
    /// `move`, `none`, `resign`, `win`, or `other` for an unknown token.
    answer: &'static str,
    /// The move as sent by the engine.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    mv: Option<String>,
    /// `move` in the selected notation, if it is legal.
    #[serde(skip_serializing_if = "Option::is_none")]
    move_text: Option<String>,
    /// The expected reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    ponder: Option<String>,
    /// `ponder` in the selected notation, if it is legal.
    #[serde(skip_serializing_if = "Option::is_none")]
    ponder_text: Option<String>,
    /// Result of a mate search in shogi: `found`, `nomate`, `timeout`, `notimplemented` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkmate: Option<&'static str>,
    /// The moves of the mate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mate: Vec<String>,
    /// Time from `go` to `bestmove`.
    time_ms: u64,
}

impl InfoRecord {
    pub(super) fn new(info: &Info<'_>, formatter: &MoveFormatter) -> Self {
        let moves = || info.pv.iter().flat_map(MoveList::tokens);
        Self {
            depth: info.depth,
            seldepth: info.seldepth,
            multipv: info.multipv,
            score: info.score,
            bound: Some(info.bound).filter(|&bound| bound != Bound::Exact),
            wdl: info.wdl,
            nodes: info.nodes,
            nps: info.nps,
            hashfull: info.hashfull,
            tbhits: info.tbhits,
            time_ms: info.time_ms(),
            currmove: info.currmove.map(String::from),
            currmovenumber: info.currmovenumber,
            pv: moves().map(printable).collect(),
            pv_text: formatter.line(moves()).iter().map(|text| printable(text)).collect(),
            string: info.string.as_deref().map(printable),
        }
    }

    /// The score of a position that is not searched.
    pub(super) fn of_score(score: Score) -> Self {
        Self { score: Some(score), ..Self::default() }
    }

    /// Omits the time, the number of the variation and the text, which belong to the line.
    pub(super) fn of_result(info: &Info<'_>, formatter: &MoveFormatter) -> Self {
        Self { time_ms: None, multipv: None, string: None, ..Self::new(info, formatter) }
    }
}

impl BestMoveRecord {
    pub(super) fn new(result: &SearchResult, formatter: &MoveFormatter) -> Self {
        let best = result.best_move();
        let (answer, other) = match &result.best {
            Best::Move(_) if best.is_some() => ("move", None),
            Best::Move(null_move) => ("none", Some(null_move.to_string())),
            Best::None => ("none", None),
            Best::Resign => ("resign", None),
            Best::Win => ("win", None),
            Best::Other(text) => ("other", Some(printable(text))),
        };
        let ponder = result.ponder;
        let (checkmate, mate) = match &result.checkmate {
            None => (None, Vec::new()),
            Some(Checkmate::Moves(moves)) => {
                (Some("found"), moves.tokens().map(printable).collect())
            }
            Some(Checkmate::NoMate) => (Some("nomate"), Vec::new()),
            Some(Checkmate::Timeout) => (Some("timeout"), Vec::new()),
            Some(Checkmate::NotImplemented) => (Some("notimplemented"), Vec::new()),
            Some(Checkmate::Unknown) => (Some("unknown"), Vec::new()),
        };
        Self {
            answer,
            mv: best.map(String::from).or(other),
            move_text: best.and_then(|best| formatter.one(best.as_str())),
            ponder: ponder.map(String::from),
            ponder_text: best
                .zip(ponder)
                .and_then(|(best, ponder)| formatter.reply(best.as_str(), ponder.as_str())),
            checkmate,
            mate,
            time_ms: u64::try_from(result.time().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The answer for a position without legal moves, which is not searched.
    pub(super) fn none() -> Self {
        Self { answer: "none", ..Self::default() }
    }
}
