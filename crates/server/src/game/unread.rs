//! Errors of files, records and openings as problems, for which the page has texts.

use std::io::{self, ErrorKind};

use readyok_arena::openings::{OpeningError, OpeningFault};
use readyok_rules::record::{
    Limit, RecordError, RecordErrorKind, RecordWarning, RecordWarningKind, WriteError,
};
use readyok_rules::{EpdError, Game};

use super::api_error::api_error;
use super::problem::{move_problem, position_problem};
use crate::wire::{ApiError, ApiErrorCode, Failure, Problem, ProblemKind as Kind, Thing};

/// An I/O error.
pub(crate) fn io_problem(error: &io::Error) -> Problem {
    match error.kind() {
        ErrorKind::NotFound => Problem::no_such(Thing::File, ""),
        ErrorKind::PermissionDenied => Problem::new(Kind::NotPermitted),
        _ => Problem::system(error),
    }
}

/// A game of a file that cannot be read.
pub(crate) fn record_failure(game: Option<Game>, error: &RecordError) -> Failure {
    let RecordError { game: number, line, column, kind } = error;
    let problem = record_problem(game, kind);
    let problem = problem.with("game", number).with("line", line).with("column", column);
    Failure::new(problem, error.to_string())
}

/// A line of a file, the `number`th game there, that is no EPD of chess.
pub(crate) fn epd_failure(number: u64, line: u64, column: u64, error: &EpdError) -> Failure {
    let problem = epd_problem(Some(Game::Chess), error);
    let problem = problem.with("game", &number).with("line", &line).with("column", &column);
    Failure::new(problem, format!("game {number}, line {line}, column {column}: {error}"))
}

/// A warning about a file that could be read.
pub(crate) fn warning_failure(warning: &RecordWarning) -> Failure {
    let problem = match &warning.kind {
        RecordWarningKind::Skipped(text) => Problem::new(Kind::Skipped).with("text", text),
        RecordWarningKind::CutVariation(text) => {
            Problem::new(Kind::CutVariation).with("text", text)
        }
        RecordWarningKind::Header(text) => Problem::new(Kind::BadHeader).with("text", text),
        RecordWarningKind::Contradiction(text) => {
            Problem::new(Kind::Contradiction).with("text", text)
        }
        RecordWarningKind::NoEnd => Problem::new(Kind::NoEnd),
    };
    let problem = problem.with("line", &warning.line).with("column", &warning.column);
    Failure::new(problem, warning.to_string())
}

/// A record that cannot be written.
pub(crate) fn unwritten(error: &WriteError) -> ApiError {
    let problem = match error {
        WriteError::Io(error) => io_problem(error),
        WriteError::WrongGame { .. } => Problem::new(Kind::FormatOfOtherGame),
    };
    api_error(ApiErrorCode::Record, problem, error.to_string())
}

/// Openings that cannot be used.
pub(crate) fn bad_openings(game: Game, code: ApiErrorCode, error: &OpeningError) -> ApiError {
    let mut problem = opening_problem(Some(game), &error.fault);
    if let Some(path) = &error.path {
        problem = problem.with("path", path);
    }
    if let Some(line) = error.line {
        problem = problem.with("line", &line);
    }
    api_error(code, problem, error.to_string())
}

fn record_problem(game: Option<Game>, kind: &RecordErrorKind) -> Problem {
    match kind {
        RecordErrorKind::Io(error) => io_problem(error),
        RecordErrorKind::Start(error) => position_problem(game, error),
        RecordErrorKind::UnknownGame(name) => Problem::new(Kind::UnknownGame).with("name", name),
        RecordErrorKind::WrongGame(_) => Problem::new(Kind::FormatOfOtherGame),
        RecordErrorKind::Move(error) => move_problem(error),
        RecordErrorKind::NoSuchMove(text) => Problem::new(Kind::NoMoveMeant).with("text", text),
        RecordErrorKind::AmbiguousMove(text) => Problem::new(Kind::Ambiguous).with("move", text),
        RecordErrorKind::OpenComment => Problem::new(Kind::OpenComment),
        RecordErrorKind::Unexpected(text) => Problem::new(Kind::Unexpected).with("text", text),
        RecordErrorKind::UnknownFormat => Problem::new(Kind::UnknownFormat),
        RecordErrorKind::LimitExceeded(limit) => match limit {
            Limit::GameBytes => Problem::new(Kind::GameTooLarge),
            Limit::CommentBytes => Problem::too_long(Thing::Comment),
            Limit::Headers => Problem::too_many(Thing::Header),
            Limit::HeaderBytes => Problem::too_long(Thing::Header),
            Limit::Moves => Problem::too_many(Thing::Move),
            Limit::Plies => Problem::new(Kind::GameTooLong),
            Limit::Depth => Problem::new(Kind::TooDeep),
        },
    }
}

fn opening_problem(game: Option<Game>, fault: &OpeningFault) -> Problem {
    match fault {
        OpeningFault::Io(error) => io_problem(error),
        OpeningFault::NoPlies => Problem::new(Kind::NoPlies),
        OpeningFault::NotPolyglot { .. } => Problem::new(Kind::NotPolyglot),
        OpeningFault::UnknownFormat => Problem::new(Kind::UnknownFormat),
        OpeningFault::OtherGame { .. } => Problem::new(Kind::OpeningsOfOtherGame),
        OpeningFault::Empty => Problem::new(Kind::NoOpenings),
        // The first error explains more than their number.
        OpeningFault::AllBad { last, .. } => opening_problem(game, last),
        OpeningFault::TooLarge { limit } => {
            Problem::new(Kind::FileTooLarge).with("limit", &(limit >> 20))
        }
        OpeningFault::TooLong { .. } => Problem::too_long(Thing::Opening),
        OpeningFault::NotText => Problem::new(Kind::NotText),
        OpeningFault::Position(error) => position_problem(game, error),
        OpeningFault::Epd(error) => epd_problem(game, error),
        OpeningFault::Moves(error) => move_problem(&error.error),
        OpeningFault::Record(kind) => record_problem(game, kind),
        OpeningFault::Unexpected(text) => Problem::new(Kind::Unexpected).with("text", text),
        OpeningFault::Over(_) => Problem::new(Kind::GameOver),
        OpeningFault::Chess960Number(number) => Problem::no_such(Thing::StartNumber, number),
        OpeningFault::Handicap(name) => Problem::no_such(Thing::Handicap, name),
        OpeningFault::Folder => Problem::new(Kind::IsAFolder),
        OpeningFault::NoMoves => Problem::new(Kind::NoMoves),
        other => Problem::system(other),
    }
}

fn epd_problem(game: Option<Game>, error: &EpdError) -> Problem {
    match error {
        EpdError::Position(error) => position_problem(game, error),
        EpdError::OpenQuote => Problem::new(Kind::OpenQuote),
        EpdError::TooManyOperations => Problem::too_many(Thing::Operation),
        EpdError::Opcode { text } => Problem::new(Kind::BadOperation).with("text", text),
        EpdError::Operand { opcode, text } => {
            Problem::new(Kind::BadOperation).with("text", &format!("{opcode} {text}"))
        }
        EpdError::Move { error, .. } => move_problem(error),
    }
}
