//! What there is to say of a match: why it ended, what went wrong, what is odd.

use readyok_arena::result::WarningKind;
use readyok_arena::runner::MatchError;
use readyok_arena::schedule::ScheduleError;
use readyok_arena::stats::{SprtError, Verdict};
use readyok_protocol::{Language, Rule, Violation};
use readyok_rules::Game;

use crate::engine::{printable, read_back};
use crate::game::bad_openings;
use crate::wire::{Failure, Problem, ProblemKind as Kind, RefusalCode, Thing};

/// What a test has decided.
pub(super) fn decided(verdict: Verdict) -> Option<Failure> {
    match verdict {
        Verdict::AcceptH0 => Some(Failure::new(Kind::AcceptsH0, "the test accepts H0")),
        Verdict::AcceptH1 => Some(Failure::new(Kind::AcceptsH1, "the test accepts H1")),
        Verdict::Continue => None,
    }
}

/// An engine has failed so often.
pub(super) fn has_failed(name: &str, count: u64) -> Failure {
    let problem = Problem::new(Kind::HasFailed).with("count", &count);
    Failure::new(problem.with("engine", name), format!("{name} has failed {count} times"))
}

/// What an engine did in a game; a text where nobody knows its kind.
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
    let word = |kind, word: &str| Problem::new(kind).with("word", &printable(word));
    let text = |kind, text: &str| Problem::new(kind).with("text", &printable(text));
    match kind {
        WarningKind::UnknownOption { name } => Problem::no_such(Thing::Option, &printable(name)),
        WarningKind::Restarted { why } => text(Kind::Restarted, why).because(read_back(why)),
        WarningKind::NoScore => Problem::new(Kind::ToldNoScore),
        WarningKind::OtherPv { word: told } => word(Kind::OtherVariation, told),
        WarningKind::IllegalPv { word: told } => word(Kind::IllegalVariation, told),
        WarningKind::PvBeyondEnd { word: told, end: _ } => word(Kind::VariationBeyondEnd, told),
        WarningKind::MatePvLength { plies, found } => {
            Problem::new(Kind::MateLength).with("plies", plies).with("found", found)
        }
        WarningKind::MatePvWithoutMate => Problem::new(Kind::VariationWithoutMate),
        WarningKind::WrongMateSign => Problem::new(Kind::WrongMate),
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

/// The rule that a sentence tells of. Results of matches keep the sentence alone.
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
        other => Problem::system(other),
    };
    Failure::new(problem, error.to_string())
}

/// Why a plan has no schedule.
pub(super) fn schedule_problem(game: Game, error: &ScheduleError) -> Problem {
    match error {
        ScheduleError::TooFewEngines { .. } => Problem::new(Kind::TwoEngines),
        ScheduleError::TooManyEngines { .. } => Problem::too_many(Thing::Engine),
        ScheduleError::TooLarge => Problem::too_many(Thing::Game),
        ScheduleError::Opening(error) => bad_openings(game, RefusalCode::Malformed, error).problem,
        other => Problem::system(other),
    }
}

/// Why a test is none.
pub(super) fn test_problem(error: &SprtError) -> Problem {
    Problem::new(match error {
        SprtError::Hypotheses { .. } => Kind::Hypotheses,
        SprtError::Errors { .. } => Kind::ErrorRates,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_names_its_engine_and_its_kind() {
        let kind = WarningKind::OtherPv { word: "e2e4".to_owned() };
        let told = warning(Some("Rogue"), Some(&kind), "English");
        assert_eq!(told.text, "Rogue: English");
        let problem = Problem::new(Kind::OtherVariation);
        assert_eq!(told.problem, problem.with("word", "e2e4").with("engine", "Rogue"));
        let free = warning(None, None, "an opening is left out");
        assert_eq!(free.problem, Problem::system("an opening is left out"));
    }

    #[test]
    fn why_an_engine_was_started_again_is_a_problem_of_its_own() {
        let told = |why: &str| {
            let kind = WarningKind::Restarted { why: why.to_owned() };
            warning(Some("Rogue"), Some(&kind), "English").problem
        };
        let cause = told("engine `Rogue`: closed its output").cause;
        assert_eq!(cause.as_deref(), Some(&Problem::new(Kind::Closed)));
        let other = told("it was tired");
        assert_eq!((other.values["text"].as_str(), other.cause), ("it was tired", None));
    }

    #[test]
    fn a_broken_rule_is_told_in_japanese_too() {
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
    fn only_a_test_that_has_decided_is_told_of() {
        let kind = |verdict| decided(verdict).map(|note| note.problem.kind);
        assert_eq!(kind(Verdict::AcceptH0), Some(Kind::AcceptsH0));
        assert_eq!(kind(Verdict::AcceptH1), Some(Kind::AcceptsH1));
        assert_eq!(kind(Verdict::Continue), None);
    }
}
