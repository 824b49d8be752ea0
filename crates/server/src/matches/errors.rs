//! Errors and warnings of matches as error codes.

use readyok_arena::openings::Skipped;
use readyok_arena::result::WarningKind;
use readyok_arena::runner::MatchError;
use readyok_arena::schedule::ScheduleError;
use readyok_arena::stats::{SprtError, Verdict};
use readyok_arena::store::StoreError;
use readyok_protocol::{Language, Rule};
use readyok_rules::Game;

use crate::engine::{engine_failure, option_error, printable};
use crate::game::{io_error, opening_error};
use crate::wire::{ErrorCode, ErrorInfo, ErrorSubject, LocalizedText};

/// The decision of a test.
pub(super) fn decision(verdict: Verdict) -> Option<ErrorInfo> {
    match verdict {
        Verdict::AcceptH0 => Some(ErrorCode::AcceptedH0.into()),
        Verdict::AcceptH1 => Some(ErrorCode::AcceptedH1.into()),
        Verdict::Continue => None,
    }
}

/// The number of failures of an engine.
pub(super) fn engine_failures(name: &str, count: u64) -> ErrorInfo {
    ErrorCode::EngineFailures { count }.with(|it| it.engine = Some(name.to_owned()))
}

pub(super) fn openings_skipped(game: Game, skipped: &Skipped) -> Option<ErrorInfo> {
    let first = skipped.errors.first()?;
    let count = skipped.more.saturating_add(skipped.errors.len() as u64);
    let cause = Box::new(opening_error(game, first));
    Some(match count {
        1 => ErrorCode::OpeningSkipped { cause }.into(),
        _ => ErrorCode::OpeningsSkipped { count, cause }.into(),
    })
}

/// A warning about an engine. The text is used if its kind is unknown.
pub(super) fn warning(engine: Option<&str>, kind: Option<&WarningKind>, text: &str) -> ErrorInfo {
    let code = kind.map_or_else(|| ErrorCode::System { text: printable(text) }, warning_code);
    match engine {
        Some(name) => code.with(|it| it.engine = Some(name.to_owned())),
        None => code.into(),
    }
}

fn warning_code(kind: &WarningKind) -> ErrorCode {
    match kind {
        WarningKind::UnknownOption { name } => {
            ErrorCode::unknown(ErrorSubject::Option, printable(name))
        }
        WarningKind::Unregistered { .. } => {
            ErrorCode::System { text: printable(&kind.to_string()) }
        }
        WarningKind::Restarted { failure } => {
            ErrorCode::Restarted { cause: Box::new(engine_failure(failure)) }
        }
        WarningKind::OptionValue { error } => option_error(error),
        WarningKind::NoScore => ErrorCode::MoveWithoutScore,
        WarningKind::OtherPv { text } => ErrorCode::PvMoveMismatch { token: printable(text) },
        WarningKind::IllegalPv { text } => ErrorCode::IllegalPvMove { token: printable(text) },
        WarningKind::PvBeyondEnd { text, end: _ } => {
            ErrorCode::PvAfterGameEnd { token: printable(text) }
        }
        WarningKind::MatePvLength { plies, found } => {
            ErrorCode::MatePvLength { plies: *plies, found: *found }
        }
        WarningKind::MatePvWithoutMate => ErrorCode::MatePvWithoutMate,
        WarningKind::WrongMateSign => ErrorCode::WrongMateSign,
        WarningKind::HostOverloaded { percent } => ErrorCode::HostOverloaded { percent: *percent },
        WarningKind::Protocol { rule } => {
            let (english, japanese) = (kind.to_string(), japanese(*rule));
            ErrorCode::ProtocolViolation { text: LocalizedText { english, japanese } }
        }
    }
}

fn japanese(rule: Rule) -> String {
    let language = Language::Japanese;
    format!("{} ({})", rule.text_in(language), rule.clause_in(language))
}

/// Why a match cannot be played or finished.
pub(super) fn match_error(game: Game, error: &MatchError) -> ErrorInfo {
    match error {
        MatchError::Schedule(error) => schedule_error(game, error),
        MatchError::Test(error) => test_error(error).into(),
        MatchError::TestOf(_) => ErrorCode::SprtRequiresTwoEngines.into(),
        MatchError::Store(error) => store_error(error),
        MatchError::Threads(error) => ErrorCode::system(error).into(),
        _ => ErrorCode::MatchFailed.into(),
    }
}

/// Why results cannot be read or written.
pub(super) fn store_error(error: &StoreError) -> ErrorInfo {
    match error {
        StoreError::Io { path, what: _, error } => {
            io_error(error).with(|it| it.path = Some(path.display().to_string()))
        }
        StoreError::Damaged { path, line, why: _ } => ErrorCode::InvalidResults.with(|it| {
            (it.path, it.line) = (Some(path.display().to_string()), Some(*line));
        }),
        _ => ErrorCode::InvalidResults.into(),
    }
}

/// Why a plan has no schedule.
pub(super) fn schedule_error(game: Game, error: &ScheduleError) -> ErrorInfo {
    let code = match error {
        ScheduleError::TooFewEngines { .. } => ErrorCode::TooFewEngines,
        ScheduleError::TooManyEngines { .. } => {
            ErrorCode::TooMany { subject: ErrorSubject::Engine }
        }
        ScheduleError::TooLarge => ErrorCode::TooMany { subject: ErrorSubject::Game },
        ScheduleError::Opening(error) => return opening_error(game, error),
        ScheduleError::NoSuchPairing { .. }
        | ScheduleError::Games { .. }
        | ScheduleError::OtherEngines { .. } => ErrorCode::InvalidResults,
        other => ErrorCode::system(other),
    };
    code.into()
}

/// Why the parameters of a test are invalid.
pub(super) fn test_error(error: &SprtError) -> ErrorCode {
    match error {
        SprtError::Hypotheses { .. } => ErrorCode::InvalidHypotheses,
        SprtError::Errors { .. } => ErrorCode::InvalidErrorRates,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use readyok_arena::openings::{OpeningError, OpeningFault};
    use readyok_client::{EngineFailure, EngineFailureKind};

    use super::*;

    #[test]
    fn a_warning_names_its_engine() {
        let kind = WarningKind::OtherPv { text: "e2e4".to_owned() };
        let found = warning(Some("Rogue"), Some(&kind), "English");
        let code = ErrorCode::PvMoveMismatch { token: "e2e4".to_owned() };
        assert_eq!(found, code.with(|it| it.engine = Some("Rogue".to_owned())));
        let unknown = warning(None, None, "English");
        assert_eq!(unknown, ErrorCode::System { text: "English".to_owned() }.into());
    }

    #[test]
    fn skipped_openings_are_counted_with_the_first_error() {
        let error = |line| OpeningError {
            path: Some("book.epd".to_owned()),
            line: Some(line),
            fault: OpeningFault::NotText,
        };
        let info = |errors: Vec<OpeningError>, more| {
            openings_skipped(Game::Chess, &Skipped { errors, more })
        };
        assert_eq!(info(Vec::new(), 0), None);
        let cause = || {
            Box::new(ErrorCode::NotUtf8.with(|it| {
                (it.path, it.line) = (Some("book.epd".to_owned()), Some(3));
            }))
        };
        let one = ErrorCode::OpeningSkipped { cause: cause() };
        assert_eq!(info(vec![error(3)], 0), Some(one.into()));
        let many = ErrorCode::OpeningsSkipped { count: 7, cause: cause() };
        assert_eq!(info(vec![error(3), error(4)], 5), Some(many.into()));
    }

    #[test]
    fn storage_errors_name_the_file() {
        let info = |error| match_error(Game::Chess, &MatchError::Store(error));
        let path = PathBuf::from("a.match");
        let why = "English".to_owned();
        let damaged = ErrorCode::InvalidResults.with(|it| {
            (it.path, it.line) = (Some("a.match".to_owned()), Some(3));
        });
        assert_eq!(info(StoreError::Damaged { path: path.clone(), line: 3, why }), damaged);
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        let denied = ErrorCode::PermissionDenied.with(|it| it.path = Some("a.match".to_owned()));
        assert_eq!(info(StoreError::Io { path, what: "cannot be opened", error }), denied);
    }

    #[test]
    fn a_restart_names_the_failure_as_its_cause() {
        let failure = Box::new(EngineFailure::new(EngineFailureKind::Closed));
        let kind = WarningKind::Restarted { failure };
        let cause = Box::new(ErrorCode::OutputClosed.into());
        let expected = ErrorCode::Restarted { cause };
        assert_eq!(warning(Some("Rogue"), Some(&kind), "English").code, expected);
    }

    #[test]
    fn a_violation_has_a_japanese_text() {
        for rule in Rule::ALL {
            let kind = WarningKind::Protocol { rule };
            let ErrorCode::ProtocolViolation { text } = warning(None, Some(&kind), "").code else {
                panic!("{rule:?}");
            };
            assert_eq!(text.english, kind.to_string());
            let expected = rule.text_in(Language::Japanese);
            assert!(text.japanese.starts_with(expected), "{}", text.japanese);
        }
    }

    #[test]
    fn only_a_decided_test_is_reported() {
        let code = |verdict| decision(verdict).map(|info| info.code);
        assert_eq!(code(Verdict::AcceptH0), Some(ErrorCode::AcceptedH0));
        assert_eq!(code(Verdict::AcceptH1), Some(ErrorCode::AcceptedH1));
        assert_eq!(code(Verdict::Continue), None);
    }
}
