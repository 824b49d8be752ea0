//! Sources of openings.

use std::num::NonZeroU64;
use std::path::Path;

use readyok_rules::{EndRules, Game, Handicap, Position, Setup};

use super::entries::{Entries, Kind, open_seekable};
use super::line::{self, Bounds, Line, Polyglot};
use super::records::{Found, Records};
use super::{OpeningError, OpeningFault};
use crate::pairing::Opening;
use crate::plan::{BookFormat, OpeningSource, Openings};

/// A source of openings, which are numbered from 0.
#[derive(Debug)]
pub(super) struct Source {
    game: Game,
    bounds: Bounds,
    kind: Openable,
}

#[derive(Debug)]
enum Openable {
    Start,
    Positions(Vec<String>),
    Chess960(Vec<u16>),
    DoubleChess960(Vec<(u16, u16)>),
    Handicap(Handicap),
    File(String, Box<Entries>),
    Records(String, Box<Records>),
    Polyglot(String, Box<Polyglot>),
}

const CHESS960: u64 = 960;

impl Source {
    pub(super) fn open(game: Game, openings: &Openings, seed: u64) -> Result<Self, OpeningError> {
        let other_game = || OpeningError::in_plan(OpeningFault::OtherGame { game });
        let kind = match &openings.source {
            OpeningSource::Start => Openable::Start,
            OpeningSource::Positions { list } => Openable::Positions(list.clone()),
            OpeningSource::Chess960 { .. } | OpeningSource::DoubleChess960 { .. }
                if game != Game::Chess960 =>
            {
                return Err(other_game());
            }
            OpeningSource::Chess960 { numbers } => {
                check_numbers(numbers.iter().copied())?;
                Openable::Chess960(numbers.clone())
            }
            OpeningSource::DoubleChess960 { numbers } => {
                check_numbers(numbers.iter().flat_map(|&(white, black)| [white, black]))?;
                Openable::DoubleChess960(numbers.clone())
            }
            OpeningSource::Handicap { .. } if game != Game::Shogi => return Err(other_game()),
            OpeningSource::Handicap { name } => Openable::Handicap(
                Handicap::from_name(name)
                    .ok_or_else(|| OpeningError::in_plan(OpeningFault::Handicap(name.clone())))?,
            ),
            OpeningSource::File { path, format } => file(game, path, *format, openings.plies, seed)
                .map_err(|fault| OpeningError::in_file(path, fault))?,
        };
        let bounds = Bounds { plies: openings.plies, rules: EndRules::BOARD };
        Ok(Self { game, bounds, kind })
    }

    pub(super) fn with_end_rules(mut self, rules: EndRules) -> Self {
        self.bounds.rules = rules;
        self
    }

    /// Whether the source has an opening for every number.
    pub(super) fn is_infinite(&self) -> bool {
        matches!(self.kind, Openable::Polyglot(..))
    }

    /// The number of openings, if it is known without reading.
    pub(super) fn known_count(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(match &self.kind {
            Openable::Start | Openable::Handicap(_) => 1,
            Openable::Positions(list) => list.len() as u64,
            Openable::Chess960(numbers) if numbers.is_empty() => CHESS960,
            Openable::Chess960(numbers) => numbers.len() as u64,
            Openable::DoubleChess960(numbers) if numbers.is_empty() => CHESS960 * CHESS960,
            Openable::DoubleChess960(numbers) => numbers.len() as u64,
            Openable::File(_, entries) => entries.known_count()?,
            Openable::Records(_, records) => records.known_count()?,
            Openable::Polyglot(..) => return None,
        })
    }

    /// The number of openings. Reads to the end of a file.
    pub(super) fn count(&mut self) -> Result<NonZeroU64, OpeningError> {
        if let Openable::File(path, entries) = &mut self.kind {
            let in_file = |fault| OpeningError::in_file(path, fault);
            let count = entries.count().map_err(|error| in_file(error.into()))?;
            return NonZeroU64::new(count).ok_or_else(|| in_file(OpeningFault::Empty));
        }
        if let Openable::Records(path, records) = &mut self.kind {
            let empty = || OpeningError::in_file(path, OpeningFault::Empty);
            return NonZeroU64::new(records.count()?).ok_or_else(empty);
        }
        self.known_count().ok_or_else(|| OpeningError::in_plan(OpeningFault::Empty))
    }

    /// The opening of an entry; `None` after the last one.
    pub(super) fn opening(&mut self, entry: u64) -> Result<Option<Opening>, OpeningError> {
        if let Openable::File(path, entries) = &mut self.kind {
            return from_file(self.game, path, entries, entry, &self.bounds);
        }
        if let Openable::Records(_, records) = &mut self.kind {
            return from_records(self.game, records, entry, &self.bounds);
        }
        if let Openable::Polyglot(path, book) = &mut self.kind {
            let line = book.line(self.game, entry);
            let opening = line.and_then(|line| line.opening(entry, &self.bounds));
            return opening.map(Some).map_err(|fault| OpeningError::in_file(path, fault));
        }
        if self.known_count().is_none_or(|count| entry >= count.get()) {
            return Ok(None);
        }
        let opening = self.line(entry).and_then(|line| line.opening(entry, &self.bounds));
        opening.map(Some).map_err(OpeningError::in_plan)
    }

    /// An opening that is not read from a file.
    fn line(&self, entry: u64) -> Result<Line, OpeningFault> {
        let at = usize::try_from(entry).unwrap_or(usize::MAX);
        match &self.kind {
            Openable::File(..) | Openable::Records(..) | Openable::Polyglot(..) => {
                Err(OpeningFault::Empty)
            }
            Openable::Start => Ok(Line::from(Position::start(self.game), None)),
            Openable::Positions(list) => list
                .get(at)
                .ok_or(OpeningFault::Empty)
                .and_then(|text| line::position(self.game, text.as_bytes())),
            Openable::Chess960(numbers) => {
                let all = u16::try_from(entry).unwrap_or(u16::MAX);
                let number = if numbers.is_empty() { Some(all) } else { numbers.get(at).copied() };
                number.ok_or(OpeningFault::Empty).and_then(chess960)
            }
            Openable::DoubleChess960(numbers) => {
                let of = |number: u64| u16::try_from(number).unwrap_or(u16::MAX);
                let all = (of(entry / CHESS960), of(entry % CHESS960));
                let pair = if numbers.is_empty() { Some(all) } else { numbers.get(at).copied() };
                pair.ok_or(OpeningFault::Empty).and_then(double_chess960)
            }
            Openable::Handicap(handicap) => Setup::handicap(*handicap)
                .position()
                .map(|start| Line::from(start, Some(handicap.name().to_owned())))
                .map_err(OpeningFault::from),
        }
    }
}

fn file(
    game: Game,
    path: &str,
    format: Option<BookFormat>,
    plies: Option<u32>,
    seed: u64,
) -> Result<Openable, OpeningFault> {
    let is_directory = Path::new(path).is_dir();
    let by_extension = if is_directory { Some(BookFormat::Kif) } else { format_of(path) };
    let format = format.or(by_extension).ok_or(OpeningFault::UnknownFormat)?;
    let is_shogi = game == Game::Shogi;
    if is_directory && !is_shogi {
        return Err(OpeningFault::Directory);
    }
    match format {
        BookFormat::Epd | BookFormat::Pgn | BookFormat::Polyglot if is_shogi => {
            Err(OpeningFault::OtherGame { game })
        }
        BookFormat::Sfen | BookFormat::Kif if !is_shogi => Err(OpeningFault::OtherGame { game }),
        BookFormat::Epd | BookFormat::Sfen => {
            let entries = Entries::open(path, Kind::Line)?;
            Ok(Openable::File(path.to_owned(), Box::new(entries)))
        }
        BookFormat::Pgn => {
            let entries = Entries::open(path, Kind::Game)?;
            Ok(Openable::File(path.to_owned(), Box::new(entries)))
        }
        BookFormat::Kif => {
            let records = Records::open(path)?;
            Ok(Openable::Records(path.to_owned(), Box::new(records)))
        }
        BookFormat::Polyglot => {
            let book = Polyglot::open(open_seekable(path)?, plies, seed)?;
            Ok(Openable::Polyglot(path.to_owned(), Box::new(book)))
        }
    }
}

/// The format by file extension, ignoring `.gz`.
fn format_of(path: &str) -> Option<BookFormat> {
    let path = path.to_ascii_lowercase();
    let name = path.strip_suffix(".gz").unwrap_or(&path);
    Some(match name.rsplit_once('.')?.1 {
        "epd" | "fen" => BookFormat::Epd,
        "pgn" => BookFormat::Pgn,
        "sfen" => BookFormat::Sfen,
        "kif" | "kifu" | "ki2" | "ki2u" | "csa" | "jkf" => BookFormat::Kif,
        "bin" => BookFormat::Polyglot,
        _ => return None,
    })
}

/// Invalid numbers in a plan are an error, not skipped.
fn check_numbers(mut numbers: impl Iterator<Item = u16>) -> Result<(), OpeningError> {
    match numbers.find(|number| u64::from(*number) >= CHESS960) {
        Some(number) => Err(OpeningError::in_plan(OpeningFault::Chess960Number(number))),
        None => Ok(()),
    }
}

fn chess960(number: u16) -> Result<Line, OpeningFault> {
    let setup = Setup::chess960(number).ok_or(OpeningFault::Chess960Number(number))?;
    Ok(Line::from(setup.position()?, Some(format!("Chess960 {number}"))))
}

fn double_chess960((white, black): (u16, u16)) -> Result<Line, OpeningFault> {
    let wrong = if white < 960 { black } else { white };
    let setup = Setup::double_chess960(white, black).ok_or(OpeningFault::Chess960Number(wrong))?;
    Ok(Line::from(setup.position()?, Some(format!("double Chess960 {white}/{black}"))))
}

fn from_file(
    game: Game,
    path: &str,
    entries: &mut Entries,
    number: u64,
    bounds: &Bounds,
) -> Result<Option<Opening>, OpeningError> {
    let in_file = |fault| OpeningError::in_file(path, fault);
    let Some(entry) = entries.get(number).map_err(|error| in_file(error.into()))? else {
        return Ok(None);
    };
    let bytes = entry.bytes.ok_or(OpeningFault::TooLong { limit: Entries::MAX_LEN });
    let line = bytes.map_err(|fault| (1, fault)).and_then(|bytes| match entries.kind() {
        Kind::Line => line::position(game, &bytes).map_err(|fault| (1, fault)),
        Kind::Game => line::pgn(game, &bytes),
    });
    line.and_then(|line| line.opening(number, bounds).map_err(|fault| (1, fault)))
        .map(Some)
        .map_err(|(line, fault)| {
            // Lines are counted from 1 in the file and in the entry.
            let line = Some(entry.line + line - 1);
            OpeningError { line, ..in_file(fault) }
        })
}

fn from_records(
    game: Game,
    records: &mut Records,
    number: u64,
    bounds: &Bounds,
) -> Result<Option<Opening>, OpeningError> {
    let Some(Found { path, game: read }) = records.get(number)? else { return Ok(None) };
    let in_file = |line, fault| {
        let error = OpeningError::in_file(&path.to_string_lossy(), fault);
        OpeningError { line, ..error }
    };
    let record =
        read.map_err(|error| in_file(Some(error.line), OpeningFault::Record(error.kind)))?;
    let line = line::main_line(game, &record).map_err(|fault| in_file(None, fault))?;
    line.opening(number, bounds).map(Some).map_err(|fault| in_file(None, fault))
}
