//! The checks, by area.

/// Declares a check, with its clauses as pairs or as a list.
macro_rules! check {
    ($id:expr, $rule:expr, [$($source:expr => $text:expr),+ $(,)?], $severity:ident, $profiles:expr, $needs:expr, $advice:literal, $test:expr $(,)?) => {
        check!(
            $id, $rule, (&[$(clause($source, $text)),+]), $severity, $profiles, $needs, $advice, $test
        )
    };
    ($id:expr, $rule:expr, ($clauses:expr), $severity:ident, $profiles:expr, $needs:expr, $advice:literal, $test:expr $(,)?) => {
        TestCase {
            check: $crate::spec::Check {
                id: $id,
                rule: $rule,
                clauses: $clauses,
                severity: Severity::$severity,
                profiles: $profiles,
                needs: $needs,
                advice: $advice,
                passive: $test.is_passive(),
                order: $test.order(),
            },
            test: $test,
        }
    };
}

/// Declares a check of `info`.
macro_rules! info {
    ($id:literal, $rule:literal, $text:literal, $usi:literal, $severity:ident, $advice:literal, $test:expr) => {
        info!($id, $rule, $text, $usi, $severity, &[], $advice, $test)
    };
    ($id:literal, $rule:literal, $text:literal, $usi:literal, $severity:ident, $needs:expr, $advice:literal, $test:expr) => {
        check!(
            concat!("info.", $id),
            $rule,
            ["UCI 2006, info" => $text, "USI draft 1 §5.3, info" => $usi],
            $severity,
            Profile::ALL,
            $needs,
            $advice,
            $test
        )
    };
}

pub(crate) mod assertions;
mod clocks;
mod effects;
mod grades;
mod handshake;
mod info;
mod info_values;
mod lexical;
mod limits;
mod options;
mod ponder;
mod positions;
mod resources;
mod search;
mod searchmoves;
mod soak;
mod state;
mod stop;
mod usi;

pub use grades::{Grade, GradeResult};

use crate::context::TestCase;
use crate::spec::Check;
use crate::spec::Clause;

const AREAS: [&[TestCase]; 19] = [
    handshake::CHECKS,
    lexical::CHECKS,
    options::CHECKS,
    effects::CHECKS,
    positions::CHECKS,
    positions::MOVE_CHECKS,
    search::CHECKS,
    clocks::CHECKS,
    limits::CHECKS,
    state::CHECKS,
    info::CHECKS,
    info_values::CHECKS,
    info::MULTIPV_CHECKS,
    info_values::SCORES_CHECKS,
    resources::CHECKS,
    handshake::EXIT_CHECKS,
    usi::CHECKS,
    usi::GAME_CHECKS,
    soak::CHECKS,
];

/// All checks, by area.
pub fn all() -> impl Iterator<Item = &'static Check> {
    test_cases().map(|case| &case.check)
}

/// All checks with their tests, by area.
pub(crate) fn test_cases() -> impl Iterator<Item = &'static TestCase> {
    AREAS.into_iter().flatten()
}

/// The checks whose sessions a passive check observes, also if they are not selected.
pub(crate) fn providers(passive: &str) -> impl Iterator<Item = &'static TestCase> {
    let ids: &[&str] = match passive {
        "positions.move-form" => &[
            "search.completes",
            "positions.castling",
            "positions.promotions",
            "positions.chess960",
            "positions.shogi-promotions",
        ],
        "info.ponder-pv" => &["search.ponder.stop"],
        "search.no-early-bestmove" => &["search.completes", "search.nodes", "info.regular"],
        "info.late-details" | "info.current-move" => {
            &["search.completes", "search.nodes", "info.regular"]
        }
        _ => &["search.completes", "search.nodes"],
    };
    test_cases().filter(|case| ids.contains(&case.check.id))
}

/// The checks that take longest in most engines.
pub(crate) const LONGEST: [&str; 3] = ["limits.game", "lexical.long-line", "positions.promotions"];

/// Whether `--level quick` includes a must. Left out is what takes long and what clients in use rarely do.
pub(crate) fn is_quick(id: &str) -> bool {
    const LEFT_OUT: [&str; 10] = [
        "resources.",
        "soak.",
        "exit.quit.loading",
        "positions.random-lines",
        "options.settable",
        "search.interleavings",
        "search.limits-reset",
        "lexical.long-line",
        "lexical.idle-ponderhit",
        "options.choice-ignores-case",
    ];
    !LEFT_OUT.iter().any(|prefix| id.starts_with(prefix))
}

const fn clause(source: &'static str, text: &'static str) -> Clause {
    Clause { source, text }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use readyok_protocol::Dialect;

    #[test]
    fn clauses_cite_the_document_of_the_protocol() {
        for check in super::all().chain(crate::all_of_clients()) {
            for (dialect, other) in [(Dialect::Uci, "USI draft"), (Dialect::Usi, "UCI 2006")] {
                let clauses = check.clauses_for(dialect);
                let is_other = |(source, _): &(String, &str)| source.contains(other);
                let is_wrong = check.is_for(dialect) && clauses.iter().any(is_other);
                assert!(!is_wrong, "{}: {clauses:?}", check.id);
            }
        }
    }

    #[test]
    fn names_are_unique_and_of_one_form() {
        let mut seen = BTreeSet::new();
        let mut areas = Vec::new();
        for check in super::all() {
            assert!(seen.insert(check.id), "{} is there twice", check.id);
            let area = check.id.split('.').next();
            if areas.last() != Some(&area) {
                assert!(!areas.contains(&area), "{} is outside its area", check.id);
                areas.push(area);
            }
            let form =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
            assert!(check.id.chars().all(form) && check.id.contains('.'), "{}", check.id);
            assert!(!check.clauses.is_empty(), "{} has no clause", check.id);
            for clause in check.clauses {
                assert!(clause.text != "the same", "{} lacks a clause", check.id);
            }
            assert!(!check.profiles.is_empty(), "{} has no profile", check.id);
        }
    }
}
