//! Notes about a match: why it ended, errors, warnings.

use readyok_arena::openings::Skipped;
use readyok_arena::result::WarningKind;
use readyok_arena::runner::MatchError;
use readyok_arena::schedule::ScheduleError;
use readyok_arena::stats::{SprtError, Verdict};
use readyok_arena::store::StoreError;
use readyok_protocol::{Language, Rule, Violation};
use readyok_rules::Game;

use crate::engine::{failure_problem, option_problem, printable};
use crate::game::{bad_openings, io_problem};
use crate::wire::{ApiErrorCode, Failure, Problem, ProblemKind as Kind, Thing};

/// What a test has decided.
pub(super) fn decided(verdict: Verdict) -> Option<Failure> {
    match verdict {
        Verdict::AcceptH0 => Some(Failure::new(Kind::AcceptsH0, "the test accepts H0")),
        Verdict::AcceptH1 => Some(Failure::new(Kind::AcceptsH1, "the test accepts H1")),
        Verdict::Continue => None,
    }
}

/// The number of failures of an engine.
pub(super) fn has_failed(name: &str, count: u64) -> Failure {
    let problem = Problem::new(Kind::HasFailed).with("count", &count);
    Failure::new(problem.with("engine", name), format!("{name} has failed {count} times"))
}

/// Openings that were left out.
pub(super) fn left_out(game: Game, skipped: &Skipped) -> Option<Failure> {
    let first = skipped.errors.first()?;
    let count = skipped.more.saturating_add(skipped.errors.len() as u64);
    let (kind, text) = match count {
        1 => (Kind::OpeningLeftOut, format!("an opening is left out: {first}")),
        _ => (Kind::OpeningsLeftOut, format!("{count} openings are left out; the first: {first}")),
    };
    let why = bad_openings(game, ApiErrorCode::Malformed, first);
    let problem = Problem::new(kind).with("count", &count).with("text", &why.text);
    Some(Failure::new(problem.because(Some(why.problem)), text))
}

/// A failure of an engine in a game; a text if its kind is unknown.
pub(super) fn warning(engine: Option<&str>, kind: Option<&WarningKind>, text: &str) -> Failure {
    let problem = kind.map_or_else(|| Problem::system(&printable(text)), warned);
    match engine {
        Some(name) => Failure::new(problem.with("engine", name), format!("{name}: {text}")),
        None => Failure::new(problem, text),
    }
}

/// A pair was broken off, as its program was stopped or its thread has failed, and is played again.
pub(super) fn played_again(text: &str) -> Failure {
    Failure::new(Kind::PlayedAgain, text)
}

fn warned(kind: &WarningKind) -> Problem {
    let with_move = |kind, mv: &str| Problem::new(kind).with("word", &printable(mv));
    let text = |kind, text: &str| Problem::new(kind).with("text", &printable(text));
    match kind {
        WarningKind::UnknownOption { name } => Problem::no_such(Thing::Option, &printable(name)),
        WarningKind::Unregistered { .. } => Problem::system(&printable(&kind.to_string())),
        WarningKind::Restarted { failure } => {
            text(Kind::Restarted, &failure.to_string()).because(Some(failure_problem(failure)))
        }
        WarningKind::OptionValue { error } => option_problem(error),
        WarningKind::NoScore => Problem::new(Kind::ToldNoScore),
        WarningKind::OtherPv { word: told } => with_move(Kind::OtherVariation, told),
        WarningKind::IllegalPv { word: told } => with_move(Kind::IllegalVariation, told),
        WarningKind::PvBeyondEnd { word: told, end: _ } => {
            with_move(Kind::VariationBeyondEnd, told)
        }
        WarningKind::MatePvLength { plies, found } => {
            Problem::new(Kind::MateLength).with("plies", plies).with("found", found)
        }
        WarningKind::MatePvWithoutMate => Problem::new(Kind::VariationWithoutMate),
        WarningKind::WrongMateSign => Problem::new(Kind::WrongMate),
        WarningKind::HostOverloaded { percent } => {
            Problem::new(Kind::HostOverloaded).with("percent", percent)
        }
        WarningKind::Protocol { what } => {
            let problem = text(Kind::BrokeProtocol, what);
            match broken_rule(what) {
                Some(rule) => problem.with("japanese", &in_japanese(rule)),
                None => problem,
            }
        }
    }
}

fn in_japanese(rule: Rule) -> String {
    let language = Language::Japanese;
    format!("{} ({})", rule.text_in(language), rule.clause_in(language))
}

/// The rule of a message. Results of matches contain only the message.
fn broken_rule(what: &str) -> Option<Rule> {
    let says = |&rule: &Rule| Violation { by: rule.binds(), rule }.to_string() == what;
    Rule::ALL.into_iter().find(says)
}

/// Why a match cannot be played, or not to its end.
pub(super) fn match_failure(game: Game, error: &MatchError) -> Failure {
    let problem = match error {
        MatchError::Schedule(error) => schedule_problem(game, error),
        MatchError::Test(error) => test_problem(error),
        MatchError::TestOf(_) => Problem::new(Kind::TestOfTwo),
        MatchError::Store(error) => store_problem(error),
        MatchError::Threads(error) => Problem::system(error),
        _ => Problem::new(Kind::MatchFailed),
    };
    Failure::new(problem, error.to_string())
}

/// Why results cannot be read or kept.
pub(super) fn store_problem(error: &StoreError) -> Problem {
    match error {
        StoreError::Io { path, what: _, error } => io_problem(error).with("path", &path.display()),
        StoreError::Damaged { path, line, why: _ } => {
            Problem::new(Kind::BadResults).with("path", &path.display()).with("line", line)
        }
        _ => Problem::new(Kind::BadResults),
    }
}

/// Why a plan has no schedule.
pub(super) fn schedule_problem(game: Game, error: &ScheduleError) -> Problem {
    match error {
        ScheduleError::TooFewEngines { .. } => Problem::new(Kind::TwoEngines),
        ScheduleError::TooManyEngines { .. } => Problem::too_many(Thing::Engine),
        ScheduleError::TooLarge => Problem::too_many(Thing::Game),
        ScheduleError::Opening(error) => bad_openings(game, ApiErrorCode::Malformed, error).problem,
        ScheduleError::NoSuchPairing { .. }
        | ScheduleError::Games { .. }
        | ScheduleError::OtherEngines { .. } => Problem::new(Kind::BadResults),
        other => Problem::system(other),
    }
}

/// Why the parameters of a test are invalid.
pub(super) fn test_problem(error: &SprtError) -> Problem {
    Problem::new(match error {
        SprtError::Hypotheses { .. } => Kind::Hypotheses,
        SprtError::Errors { .. } => Kind::ErrorRates,
    })
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use readyok_arena::openings::{OpeningError, OpeningFault};
    use readyok_client::{EngineFailure, EngineFailureKind};

    use super::*;

    #[test]
    fn a_warning_names_its_engine_and_its_kind() {
        let kind = WarningKind::OtherPv { word: "e2e4".to_owned() };
        let told = warning(Some("Rogue"), Some(&kind), "English");
        assert_eq!(told.text, "Rogue: English");
        let problem = Problem::new(Kind::OtherVariation);
        assert_eq!(told.problem, problem.with("word", "e2e4").with("engine", "Rogue"));
        let free = warning(None, None, "English");
        assert_eq!(free.problem, Problem::system("English"));
    }

    #[test]
    fn skipped_openings_are_reported_with_the_first_error() {
        let error = |line| OpeningError {
            path: Some("book.epd".to_owned()),
            line: Some(line),
            fault: OpeningFault::NotText,
        };
        let told = |errors: Vec<OpeningError>, more| {
            left_out(Game::Chess, &Skipped { errors, more }).map(|note| note.problem)
        };
        assert_eq!(told(Vec::new(), 0), None);
        let one = told(vec![error(3)], 0).unwrap();
        assert_eq!((one.kind, one.values["count"].as_str()), (Kind::OpeningLeftOut, "1"));
        let not_text = Problem::new(Kind::NotText).with("path", "book.epd").with("line", "3");
        assert_eq!(one.cause.as_deref(), Some(&not_text));
        let many = told(vec![error(3), error(4)], 5).unwrap();
        assert_eq!((many.kind, many.values["count"].as_str()), (Kind::OpeningsLeftOut, "7"));
        assert_eq!(many.cause.as_deref(), Some(&not_text));
    }

    #[test]
    fn storage_errors_name_the_file() {
        let told = |error| match_failure(Game::Chess, &MatchError::Store(error)).problem;
        let path = PathBuf::from("a.match");
        let why = "English".to_owned();
        let bad = Problem::new(Kind::BadResults).with("path", "a.match").with("line", "3");
        assert_eq!(told(StoreError::Damaged { path: path.clone(), line: 3, why }), bad);
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        let refused = Problem::new(Kind::NotPermitted).with("path", "a.match");
        assert_eq!(told(StoreError::Io { path, what: "cannot be opened", error }), refused);
    }

    #[test]
    fn a_restart_names_the_failure_as_its_cause() {
        let failure = Box::new(EngineFailure::new(EngineFailureKind::Closed));
        let kind = WarningKind::Restarted { failure };
        let problem = warning(Some("Rogue"), Some(&kind), "English").problem;
        assert_eq!(problem.values["text"], "closed its output");
        assert_eq!(problem.cause.as_deref(), Some(&Problem::new(Kind::Closed)));
    }

    #[test]
    fn a_violation_has_a_japanese_text() {
        for rule in Rule::ALL {
            let what = Violation { by: rule.binds(), rule }.to_string();
            let told = warning(None, Some(&WarningKind::Protocol { what: what.clone() }), &what);
            assert_eq!(told.problem.values["text"], what);
            let japanese = &told.problem.values["japanese"];
            assert!(japanese.starts_with(rule.text_in(Language::Japanese)), "{japanese}");
        }
        let other = WarningKind::Protocol { what: "of another version".to_owned() };
        assert!(!warning(None, Some(&other), "").problem.values.contains_key("japanese"));
    }

    #[test]
    fn only_a_decided_test_is_reported() {
        let kind = |verdict| decided(verdict).map(|note| note.problem.kind);
        assert_eq!(kind(Verdict::AcceptH0), Some(Kind::AcceptsH0));
        assert_eq!(kind(Verdict::AcceptH1), Some(Kind::AcceptsH1));
        assert_eq!(kind(Verdict::Continue), None);
    }
}
