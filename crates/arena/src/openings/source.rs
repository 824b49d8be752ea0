//! Sources of openings, and parsing and validation of single openings.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;

use readyok_client::Dialect;
use readyok_protocol::{Command, DiagnosticKind, Root};
use readyok_rules::record::{Defect, Format, GameRecord};
use readyok_rules::{EndRules, Epd, Game, Handicap, Position, Setup, record};

use crate::openings::entries::{Entries, EntryKind, open_seekable};
use crate::openings::records::{Found, Records, holds_records, truncation};
use crate::openings::{OpeningDefect, OpeningError, OpeningFault};
use crate::pairing::Opening;
use crate::plan::{BookFormat, OpeningSource, Openings};
use crate::rng;

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

/// Named openings of chess after eight plies, derived from those of `readyok_rules`, and usual openings of shogi
/// after ten plies. Engines evaluate them as balanced. One opening a line, in UCI or USI moves.
const CHESS: &str = include_str!("built_in/chess.txt");
const SHOGI: &str = include_str!("built_in/shogi.txt");

impl Source {
    pub(super) fn open(game: Game, openings: &Openings, seed: u64) -> Result<Self, OpeningError> {
        let other_game =
            || OpeningError::in_plan(OpeningDefect::OpeningsOfOtherVariant { variant: game });
        let kind = match &openings.source {
            OpeningSource::Start => Openable::Start,
            OpeningSource::BuiltIn => {
                let lines = match game {
                    Game::Chess => CHESS,
                    Game::Shogi => SHOGI,
                    Game::Chess960 => return Err(other_game()),
                };
                let list = lines.lines().map(|moves| format!("startpos moves {moves}"));
                Openable::Positions(list.collect())
            }
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
                    .ok_or_else(|| OpeningError::in_plan(OpeningDefect::handicap(name)))?,
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
            let in_file = |fault: OpeningFault| OpeningError::in_file(path, fault);
            let count = entries.count().map_err(|error: io::Error| in_file(error.into()))?;
            return NonZeroU64::new(count).ok_or_else(|| in_file(OpeningDefect::NoOpenings.into()));
        }
        if let Openable::Records(path, records) = &mut self.kind {
            let empty = || OpeningError::in_file(path, OpeningDefect::NoOpenings);
            return NonZeroU64::new(records.count()?).ok_or_else(empty);
        }
        self.known_count().ok_or_else(|| OpeningError::in_plan(OpeningDefect::NoOpenings))
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
                Err(OpeningDefect::NoOpenings.into())
            }
            Openable::Start => Ok(Line::from(Position::start(self.game), None)),
            Openable::Positions(list) => list
                .get(at)
                .ok_or_else(|| OpeningDefect::NoOpenings.into())
                .and_then(|text| position(self.game, text.as_bytes())),
            Openable::Chess960(numbers) => {
                let all = u16::try_from(entry).unwrap_or(u16::MAX);
                let number = if numbers.is_empty() { Some(all) } else { numbers.get(at).copied() };
                number.ok_or_else(|| OpeningDefect::NoOpenings.into()).and_then(chess960)
            }
            Openable::DoubleChess960(numbers) => {
                let of = |number: u64| u16::try_from(number).unwrap_or(u16::MAX);
                let all = (of(entry / CHESS960), of(entry % CHESS960));
                let pair = if numbers.is_empty() { Some(all) } else { numbers.get(at).copied() };
                pair.ok_or_else(|| OpeningDefect::NoOpenings.into()).and_then(double_chess960)
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
    let format = format.or(by_extension).ok_or(OpeningDefect::UnknownExtension)?;
    let is_shogi = game == Game::Shogi;
    if is_directory && !is_shogi {
        return Err(OpeningDefect::IsADirectory.into());
    }
    match format {
        BookFormat::Epd | BookFormat::Pgn | BookFormat::Polyglot if is_shogi => {
            Err(OpeningDefect::OpeningsOfOtherVariant { variant: game }.into())
        }
        BookFormat::Sfen | BookFormat::Kif if !is_shogi => {
            Err(OpeningDefect::OpeningsOfOtherVariant { variant: game }.into())
        }
        BookFormat::Epd | BookFormat::Sfen => {
            let entries = Entries::open(path, EntryKind::Line)?;
            Ok(Openable::File(path.to_owned(), Box::new(entries)))
        }
        BookFormat::Pgn => {
            let entries = Entries::open(path, EntryKind::Game)?;
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
        "bin" => BookFormat::Polyglot,
        extension => {
            Format::from_extension(extension).filter(|format| holds_records(*format))?;
            BookFormat::Kif
        }
    })
}

/// Invalid numbers in a plan are an error, not skipped.
fn check_numbers(mut numbers: impl Iterator<Item = u16>) -> Result<(), OpeningError> {
    match numbers.find(|number| u64::from(*number) >= CHESS960) {
        Some(number) => Err(OpeningError::in_plan(OpeningDefect::InvalidStartNumber { number })),
        None => Ok(()),
    }
}

fn chess960(number: u16) -> Result<Line, OpeningFault> {
    let setup = Setup::chess960(number).ok_or(OpeningDefect::InvalidStartNumber { number })?;
    Ok(Line::from(setup.position()?, Some(format!("Chess960 {number}"))))
}

fn double_chess960((white, black): (u16, u16)) -> Result<Line, OpeningFault> {
    let wrong = if white < 960 { black } else { white };
    let setup = Setup::double_chess960(white, black)
        .ok_or(OpeningDefect::InvalidStartNumber { number: wrong })?;
    Ok(Line::from(setup.position()?, Some(format!("double Chess960 {white}/{black}"))))
}

fn from_file(
    game: Game,
    path: &str,
    entries: &mut Entries,
    number: u64,
    bounds: &Bounds,
) -> Result<Option<Opening>, OpeningError> {
    let in_file = |fault: OpeningFault| OpeningError::in_file(path, fault);
    let Some(entry) = entries.get(number).map_err(|error: io::Error| in_file(error.into()))? else {
        return Ok(None);
    };
    let bytes =
        entry.bytes.ok_or_else(|| OpeningDefect::OpeningTooLong { limit: Entries::MAX_LEN }.into());
    let line = bytes.map_err(|fault| (1, fault)).and_then(|bytes| match entries.kind() {
        EntryKind::Line => position(game, &bytes).map_err(|fault| (1, fault)),
        EntryKind::Game => pgn(game, &bytes),
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
    let line = main_line(game, &record).map_err(|fault| in_file(None, fault))?;
    line.opening(number, bounds).map(Some).map_err(|fault| in_file(None, fault))
}

/// Limits of all openings of a source.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Maximum number of moves.
    pub(super) plies: Option<u32>,
    /// The rules that end a game.
    pub(super) rules: EndRules,
}

/// A start position and moves.
pub(super) struct Line {
    start: Position,
    moves: Vec<String>,
    name: Option<String>,
}

impl Line {
    pub(super) fn from(start: Position, name: Option<String>) -> Self {
        Self { start, moves: Vec::new(), name }
    }

    fn with_moves(start: Position, moves: Vec<String>) -> Self {
        Self { start, moves, name: None }
    }

    /// Validates the opening, which has this index in its source.
    fn opening(self, index: u64, bounds: &Bounds) -> Result<Opening, OpeningFault> {
        let Self { start, mut moves, name } = self;
        if let Some(plies) = bounds.plies {
            moves.truncate(usize::try_from(plies).unwrap_or(usize::MAX));
        }
        let default = Position::start(start.game()).to_string();
        let position = Some(start.to_string()).filter(|position| *position != default);
        let end = start.after(&moves)?;
        if let Some(ending) = end.outcome_under(&bounds.rules) {
            return Err(OpeningDefect::OpeningOver { termination: ending.termination }.into());
        }
        Ok(Opening { position, moves, name, index })
    }
}

/// Parses EPD, FEN, SFEN, or the arguments of the UCI and USI command `position`, with or without the command name.
pub(super) fn position(game: Game, bytes: &[u8]) -> Result<Line, OpeningFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| OpeningDefect::NotUtf8)?.trim();
    match text.split_ascii_whitespace().next() {
        Some("position") => position_command(game, text),
        Some("startpos" | "fen" | "sfen") => position_command(game, &format!("position {text}")),
        _ if game == Game::Shogi => Ok(Line::from(Position::from_text(game, text)?, None)),
        _ => {
            let epd = Epd::read(game, text)?;
            let name = epd.id().map(str::to_owned);
            Ok(Line::from(epd.position, name))
        }
    }
}

fn position_command(game: Game, line: &str) -> Result<Line, OpeningFault> {
    let dialect = match game {
        Game::Chess | Game::Chess960 => Dialect::Uci,
        Game::Shogi => Dialect::Usi,
    };
    let reading = Command::read(line, dialect);
    let rejected = reading.diagnostics.iter().find(|note| match note.kind {
        DiagnosticKind::MissingKeyword
        | DiagnosticKind::WrongCase
        | DiagnosticKind::UnusualPosition
        | DiagnosticKind::MoveRepaired
        // The error of the move itself is more specific.
        | DiagnosticKind::NotAMove => false,
        _ => true,
    });
    if let Some(note) = rejected {
        let text = line.get(note.span.clone()).unwrap_or(line);
        return Err(unexpected(text));
    }
    let Command::Position(position) = reading.value else {
        return Err(unexpected(line));
    };
    let start = match &position.root {
        Root::StartPos => Position::start(game),
        Root::Fen(fen) => Position::from_text(game, fen.as_str())?,
        Root::Sfen(sfen) => Position::from_text(game, sfen.as_str())?,
    };
    let moves = position.moves.tokens().map(str::to_owned).collect();
    Ok(Line::with_moves(start, moves))
}

/// The main line of a PGN game. An error has its line number, counted from 1.
pub(super) fn pgn(game: Game, bytes: &[u8]) -> Result<Line, (u64, OpeningFault)> {
    let mut games = record::read(bytes, Format::PGN);
    match games.next() {
        Some(Ok(record)) => match truncation(games.notices()) {
            Some((notice, kind)) => Err((notice.line, OpeningFault::Record(kind))),
            None => main_line(game, &record).map_err(|fault| (1, fault)),
        },
        Some(Err(error)) => Err((error.line, OpeningFault::Record(error.kind))),
        None => Err((1, OpeningDefect::NoOpenings.into())),
    }
}

/// The main line of a record.
fn main_line(game: Game, record: &GameRecord) -> Result<Line, OpeningFault> {
    if record.game() != game {
        return Err(OpeningDefect::OpeningsOfOtherVariant { variant: game }.into());
    }
    if let Some(defect) = record.start().defect() {
        return Err(defect.clone().into());
    }
    let form = game.castling_form();
    // After a null move or an illegal one there is no game to play.
    let moves = record.mainline().map_while(|node| node.mv()?.legal());
    let moves: Vec<String> = moves.map(|mv| mv.to_uci(form)).collect();
    // The parsers of shogi records ignore unknown lines: other files are records without moves.
    let is_empty =
        moves.is_empty() && record.start().to_string() == Position::start(game).to_string();
    if is_empty && game == Game::Shogi {
        return Err(OpeningDefect::NoMoves.into());
    }
    Ok(Line::with_moves(record.start().clone(), moves))
}

fn unexpected(text: &str) -> OpeningFault {
    OpeningFault::Record(Defect::UnexpectedText { text: shortened(text) }.into())
}

pub(super) fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(MAX_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// A Polyglot book, which is not loaded into memory.
#[derive(Debug)]
pub(super) struct Polyglot {
    book: readyok_rules::PolyglotBook<File>,
    seed: u64,
    plies: u32,
}

/// Lines of books are far shorter, but a book may contain cycles.
const MAX_PLIES: u32 = 400;

impl Polyglot {
    pub(super) fn open(file: File, plies: Option<u32>, seed: u64) -> Result<Self, OpeningFault> {
        let plies = plies.ok_or(OpeningDefect::BookRequiresPlies)?.min(MAX_PLIES);
        let bytes = file.metadata()?.len();
        let mut book =
            readyok_rules::PolyglotBook::new(file).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidData => {
                    OpeningFault::Defect(OpeningDefect::NotPolyglot { bytes })
                }
                _ => error.into(),
            })?;
        if book.moves(&Position::start(Game::Chess))?.is_empty() {
            return Err(OpeningDefect::NoOpenings.into());
        }
        Ok(Self { book, seed, plies })
    }

    /// A random line of the book. Moves are chosen in proportion to their weights.
    pub(super) fn line(&mut self, game: Game, index: u64) -> Result<Line, OpeningFault> {
        let seed = rng::number(self.seed, index);
        let start = Position::start(game);
        let (mut position, mut line) = (start.clone(), Vec::new());
        for ply in 0..self.plies {
            let moves = self.book.moves(&position)?;
            let total: u64 = moves.iter().map(|&(_, weight)| u64::from(weight)).sum();
            if total == 0 {
                break;
            }
            let mut rest = rng::number(seed, ply.into()) % total;
            let chosen = moves.into_iter().find(|&(_, weight)| {
                let is_chosen = rest < weight.into();
                rest = rest.saturating_sub(weight.into());
                is_chosen
            });
            let Some((mv, _)) = chosen else { break };
            line.push(mv.to_uci(game.castling_form()));
            if position.play(mv).is_err() || position.outcome().is_some() {
                break;
            }
        }
        Ok(Line::with_moves(start, line))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn built_in_openings_are_legal_and_different() {
        let openings = Openings { source: OpeningSource::BuiltIn, ..Openings::default() };
        for game in [Game::Chess, Game::Shogi] {
            let mut source = Source::open(game, &openings, 0).expect("they are there");
            let count = source.count().expect("a list").get();
            assert!(count > 100, "{game:?}");
            let mut positions = HashSet::new();
            for entry in 0..count {
                let opening = source.opening(entry).expect("legal moves").expect("an opening");
                let moves = opening.moves.iter().map(String::as_str);
                let position = Position::start(game).after(moves).expect("legal moves");
                assert!(positions.insert(position.to_string()), "{entry}");
            }
        }
        assert!(Source::open(Game::Chess960, &openings, 0).is_err());
    }
}
