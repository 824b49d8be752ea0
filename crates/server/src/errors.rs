//! Errors of the rules, of records, engines and matches as error codes.

use std::io::{self, ErrorKind};

use readyok_arena::openings::{OpeningError, OpeningFault, Skipped};
use readyok_arena::result::WarningKind;
use readyok_arena::runner::MatchError;
use readyok_arena::schedule::ScheduleError;
use readyok_arena::stats::Verdict;
use readyok_arena::store::StoreError;
use readyok_client::{EngineError, EngineFailure, EngineFailureDetail};
use readyok_protocol::translation::display_text;
use readyok_rules::record::{
    Notice, NoticeReason, ReadExtent, RecordError, RecordErrorKind, WriteError,
};
use readyok_rules::{EpdError, Game, IllegalReason, MoveError, PositionError};

use crate::engine::printable;
use crate::wire::{ApiError, ErrorCategory, ErrorCode, ErrorInfo, ErrorSubject, KeptMoves};
use readyok_rules::record::compression::DecompressionError;

pub(crate) fn position_error(game: Option<Game>, error: &PositionError) -> ErrorInfo {
    let code = ErrorCode::from(error.clone());
    match game {
        Some(game) => code.with(|context| context.variant = Some(game)),
        None => code.into(),
    }
}

/// An illegal move with its reason.
pub(crate) fn move_error(error: &MoveError) -> ErrorInfo {
    let mut text = error.text.clone();
    if !error.candidates.is_empty() {
        text = format!("{text} ({})", error.candidates.join(", "));
    }
    ErrorCode::from(error.reason).with(|context| context.mv = Some(text))
}

pub(crate) fn illegal(error: &MoveError) -> ApiError {
    let ambiguous = error.reason == IllegalReason::AmbiguousMove;
    let category =
        if ambiguous { ErrorCategory::AmbiguousMove } else { ErrorCategory::IllegalMove };
    ApiError::new(category, move_error(error))
}

pub(crate) fn invalid_position(game: Game, error: &PositionError) -> ApiError {
    ApiError::new(ErrorCategory::InvalidPosition, position_error(Some(game), error))
}

pub(crate) fn io_error(error: &io::Error) -> ErrorCode {
    if let Some(error) = DecompressionError::of(error) {
        return error.into();
    }
    match error.kind() {
        ErrorKind::NotFound => ErrorCode::NotFound { subject: ErrorSubject::File },
        ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::system(error),
    }
}

/// An unreadable game of a file.
pub(crate) fn record_error(game: Option<Game>, error: &RecordError) -> ErrorInfo {
    let RecordError { game: number, line, column, kind } = error;
    record_error_kind(game, kind).with(|context| {
        (context.game, context.line, context.column) = (Some(*number), Some(*line), Some(*column));
    })
}

/// A notice about a game that was read.
pub(crate) fn notice(game: Option<Game>, notice: &Notice) -> ErrorInfo {
    let Notice { line, column, reason, kept } = notice;
    let info = match reason.clone() {
        NoticeReason::Defect(defect) => ErrorCode::from(defect).into(),
        NoticeReason::Move(error) => move_error(&error),
        NoticeReason::CastlingRight { square } => {
            position_error(game, &PositionError::InvalidCastlingRight { square })
        }
        NoticeReason::Board(error) | NoticeReason::Start(error) => position_error(game, &error),
        NoticeReason::LimitExceeded(limit) => ErrorCode::from(limit).into(),
    };
    info.with(|context| {
        (context.line, context.column) = (Some(*line), Some(*column));
        context.kept = match kept {
            ReadExtent::All => None,
            ReadExtent::MainLine(ply) => Some(KeptMoves::Main { plies: *ply }),
            ReadExtent::Variation(ply) => Some(KeptMoves::Variation { plies: *ply }),
        };
    })
}

pub(crate) fn write_error(error: &WriteError) -> ApiError {
    let code = match error {
        WriteError::Io(error) => io_error(error),
        WriteError::WrongGame { .. } => ErrorCode::UnsupportedFormat,
    };
    ApiError::new(ErrorCategory::InvalidRecord, code)
}

pub(crate) fn opening_error(game: Game, error: &OpeningError) -> ErrorInfo {
    let info = opening_fault(Some(game), &error.fault);
    if error.path.is_none() && error.line.is_none() {
        return info;
    }
    info.with(|context| {
        context.path.clone_from(&error.path);
        context.line = error.line;
    })
}

fn record_error_kind(game: Option<Game>, kind: &RecordErrorKind) -> ErrorInfo {
    let code = match kind {
        RecordErrorKind::Io(error) => io_error(error),
        RecordErrorKind::Start(error) => return position_error(game, error),
        RecordErrorKind::WrongGame(_) => ErrorCode::UnsupportedFormat,
        RecordErrorKind::Move(error) => return move_error(error),
        RecordErrorKind::AmbiguousMove(text) => {
            return ErrorCode::from(IllegalReason::AmbiguousMove)
                .with(|context| context.mv = Some(text.clone()));
        }
        RecordErrorKind::Defect(defect) => defect.clone().into(),
        RecordErrorKind::LimitExceeded(limit) => ErrorCode::from(*limit),
    };
    code.into()
}

fn opening_fault(game: Option<Game>, fault: &OpeningFault) -> ErrorInfo {
    let code = match fault {
        OpeningFault::Io(error) => io_error(error),
        OpeningFault::Defect(defect) => defect.clone().into(),
        // The last error explains more than their number.
        OpeningFault::AllBad { last, .. } => return opening_fault(game, last),
        OpeningFault::Position(error) => return position_error(game, error),
        OpeningFault::Epd(error) => return epd_error(game, error),
        OpeningFault::Moves(error) => return move_error(&error.error),
        OpeningFault::Record(kind) => return record_error_kind(game, kind),
        other => ErrorCode::system(other),
    };
    code.into()
}

pub(crate) fn epd_error(game: Option<Game>, error: &EpdError) -> ErrorInfo {
    match error {
        EpdError::Position(error) => position_error(game, error),
        EpdError::Defect(defect) => ErrorCode::from(defect.clone()).into(),
        EpdError::Move { error, .. } => move_error(error),
    }
}

pub(crate) fn engine_error(error: &EngineError) -> ErrorInfo {
    engine_failure(&EngineFailure::from(error))
}

/// The failure with the text that the terminal prints.
pub(crate) fn engine_failure(failure: &EngineFailure) -> ErrorInfo {
    let code = match failure.causal_exit() {
        Some(exit) => exit.into(),
        None => ErrorCode::from(failure.kind.clone()),
    };
    let mut details: Vec<_> = failure.details().collect();
    for detail in &mut details {
        if let EngineFailureDetail::Message { text } | EngineFailureDetail::Stderr { line: text } =
            detail
        {
            *text = display_text(text).into_owned();
        }
    }
    if details.is_empty() { code.into() } else { code.with(|context| context.details = details) }
}

/// The decision of an SPRT.
pub(crate) fn decision(verdict: Verdict) -> Option<ErrorInfo> {
    match verdict {
        Verdict::AcceptH0 => Some(ErrorCode::AcceptedH0.into()),
        Verdict::AcceptH1 => Some(ErrorCode::AcceptedH1.into()),
        Verdict::Continue => None,
    }
}

/// The decision of a test of several takes; `accepted` is the name of the accepted one.
pub(crate) fn takes_decision(accepted: Option<String>) -> ErrorInfo {
    match accepted {
        Some(name) => ErrorCode::TakeAccepted.with(|context| context.engine = Some(name)),
        None => ErrorCode::TakesDropped.into(),
    }
}

/// The number of failures of an engine, and the reason of the last one.
pub(crate) fn engine_failures(name: &str, count: u64, cause: Option<ErrorInfo>) -> ErrorInfo {
    let code = match cause.map(Box::new) {
        Some(cause) => ErrorCode::EngineFailuresBy { count, cause },
        None => ErrorCode::EngineFailures { count },
    };
    code.with(|context| context.engine = Some(name.to_owned()))
}

pub(crate) fn openings_skipped(game: Game, skipped: &Skipped) -> Option<ErrorInfo> {
    let first = skipped.errors.first()?;
    let count = skipped.more.saturating_add(skipped.errors.len() as u64);
    let cause = Box::new(opening_error(game, first));
    Some(match count {
        1 => ErrorCode::OpeningSkipped { cause }.into(),
        _ => ErrorCode::OpeningsSkipped { count, cause }.into(),
    })
}

/// A warning about an engine. The text is used if its kind is unknown.
pub(crate) fn warning(engine: Option<&str>, kind: Option<&WarningKind>, text: &str) -> ErrorInfo {
    let code = kind.map_or_else(|| ErrorCode::System { text: printable(text) }, ErrorCode::from);
    match engine {
        Some(name) => code.with(|context| context.engine = Some(name.to_owned())),
        None => code.into(),
    }
}

/// The error of a match.
pub(crate) fn match_error(game: Game, error: &MatchError) -> ErrorInfo {
    match error {
        MatchError::Schedule(error) => schedule_error(game, error),
        MatchError::Test(error) => ErrorCode::from(error.clone()).into(),
        MatchError::Store(error) => store_error(error),
        MatchError::Threads(error) => ErrorCode::system(error).into(),
        _ => ErrorCode::MatchFailed.into(),
    }
}

/// The error of stored results.
pub(crate) fn store_error(error: &StoreError) -> ErrorInfo {
    let StoreError { path, line, defect } = error;
    ErrorCode::from(defect.clone()).with(|context| {
        (context.path, context.line) = (Some(path.display().to_string()), *line);
    })
}

/// The error of a schedule.
pub(crate) fn schedule_error(game: Game, error: &ScheduleError) -> ErrorInfo {
    match error {
        ScheduleError::Opening(error) => opening_error(game, error),
        ScheduleError::Pairing(error) => ErrorCode::from(error.clone()).into(),
    }
}

#[cfg(test)]
mod tests {
    use readyok_arena::openings::{OpeningDefect, OpeningError};
    use readyok_arena::store::StoreDefect;

    use super::*;

    #[test]
    fn a_warning_names_its_engine() {
        let kind = WarningKind::OtherPv { text: "e2e4".to_owned() };
        let found = warning(Some("Rogue"), Some(&kind), "English");
        let code = ErrorCode::from(&kind);
        assert_eq!(found, code.with(|context| context.engine = Some("Rogue".to_owned())));
        let unknown = warning(None, None, "English");
        assert_eq!(unknown, ErrorCode::System { text: "English".to_owned() }.into());
    }

    #[test]
    fn skipped_openings_are_counted_with_the_first_error() {
        let error = |line| OpeningError {
            path: Some("book.epd".to_owned()),
            line: Some(line),
            fault: OpeningDefect::NotUtf8.into(),
        };
        let info = |errors: Vec<OpeningError>, more| {
            openings_skipped(Game::Chess, &Skipped { errors, more })
        };
        assert_eq!(info(Vec::new(), 0), None);
        let cause = || {
            Box::new(ErrorCode::from(OpeningDefect::NotUtf8).with(|context| {
                (context.path, context.line) = (Some("book.epd".to_owned()), Some(3));
            }))
        };
        let one = ErrorCode::OpeningSkipped { cause: cause() };
        assert_eq!(info(vec![error(3)], 0), Some(one.into()));
        let many = ErrorCode::OpeningsSkipped { count: 7, cause: cause() };
        assert_eq!(info(vec![error(3), error(4)], 5), Some(many.into()));
    }

    #[test]
    fn errors_of_results_have_the_text_of_the_terminal() {
        let defect = StoreDefect::ResultsDamaged { why: "English".to_owned() };
        let error = StoreError { path: "a.match".into(), line: Some(3), defect };
        let info = match_error(Game::Chess, &MatchError::Store(error.clone()));
        assert_eq!(info.to_string(), error.to_string());
        assert_eq!(info.to_string(), "a.match, line 3: is damaged: English");
    }

    #[test]
    fn only_a_decided_test_is_reported() {
        let code = |verdict| decision(verdict).map(|info| info.code);
        assert_eq!(code(Verdict::AcceptH0), Some(ErrorCode::AcceptedH0));
        assert_eq!(code(Verdict::AcceptH1), Some(ErrorCode::AcceptedH1));
        assert_eq!(code(Verdict::Continue), None);
    }
}
