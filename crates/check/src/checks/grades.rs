//! Grades: lists of rules by what an engine is used for.

use crate::checks::all;
use crate::spec::{Check, Report, Severity, Verdict};
use readyok_protocol::Party;

/// What an engine is fit for. Each grade includes the rules of those before it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Grade {
    /// The engine plays in any GUI: it can be loaded, set up, and asked for a move or an analysis.
    AnyGui,
    /// The engine plays in matches: it moves in time, ponders, and starts the next game.
    Matches,
    /// The engine follows each must.
    Complete,
}

/// The rules of `plays in any GUI`.
const ANY_GUI: &[&str] = &[
    "handshake.name",
    "handshake.late-declaration",
    "handshake.ok-once",
    "handshake.ready",
    "handshake.ready-each",
    "handshake.ready-once",
    "lexical.unknown-command",
    "lexical.idle-stop",
    "lexical.fragments",
    "options.readable",
    "options.check-default",
    "options.spin-range",
    "options.combo-default",
    "options.no-spaces",
    "options.settable",
    "options.before-ready",
    "positions.startpos",
    "positions.fen-sfen",
    "positions.special-moves",
    "positions.shogi-moves",
    "positions.move-form",
    "positions.castling",
    "positions.no-legal-move",
    "positions.en-passant",
    "positions.promotions",
    "positions.shogi-promotions",
    "positions.pawn-drop-mate",
    "positions.two-pawns",
    "search.completes",
    "search.legal-move",
    "search.one-bestmove",
    "search.no-early-bestmove",
    "search.movetime.ends",
    "search.infinite",
    "search.stop",
    "search.ready",
    "search.new-game",
    "info.numbers",
    "info.complete",
    "info.legal-pv",
    "info.score-side",
    "exit.quit.idle",
    "exit.quit.searching",
    "usi.undeclared-options",
];

/// The further rules of `plays in matches`.
const MATCHES: &[&str] = &[
    "lexical.long-line",
    "positions.random-game",
    "search.depth",
    "search.nodes",
    "search.clock",
    "search.immediate-stop",
    "search.limits-reset",
    "search.ponder.holds-bestmove",
    "search.ponder.hit",
    "search.ponder.stop",
    "limits.low-time",
    "limits.game",
    "limits.ponder",
    "state.position-kept",
    "state.hit-and-stop",
    "info.mate-score",
    "resources.no-own-ponder",
    "exit.quit.after-handshake",
    "exit.quit.pondering",
    "usi.byoyomi",
    "usi.byoyomi-time",
    "usi.clocks",
    "usi.ponder-byoyomi",
    "usi.game-over",
    "usi.idle-game-over",
    "usi.new-game-order",
    "usi.false-declaration",
];

impl Grade {
    /// All grades, the easiest one first.
    pub const ALL: [Self; 3] = [Self::AnyGui, Self::Matches, Self::Complete];

    /// The name in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::AnyGui => "any-gui",
            Self::Matches => "matches",
            Self::Complete => "complete",
        }
    }

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AnyGui => "plays in any GUI",
            Self::Matches => "plays in matches",
            Self::Complete => "complete",
        }
    }

    /// The easiest grade with this rule.
    pub fn of(check: &Check) -> Option<Self> {
        if ANY_GUI.contains(&check.id) {
            Some(Self::AnyGui)
        } else if MATCHES.contains(&check.id) {
            Some(Self::Matches)
        } else {
            (check.severity == Severity::Must).then_some(Self::Complete)
        }
    }

    /// The rules.
    pub fn rules(self) -> impl Iterator<Item = &'static Check> {
        all().filter(move |check| Self::of(check).is_some_and(|grade| grade <= self))
    }
}

/// The result of an engine for a grade.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GradeResult {
    /// The grade.
    pub grade: Grade,
    /// The violated rules.
    pub violated: Vec<&'static str>,
    /// The rules that have no verdict or were not selected.
    pub open: Vec<&'static str>,
}

impl GradeResult {
    /// Whether the engine has the grade: each rule that applies to it was checked and is followed.
    pub fn is_reached(&self) -> bool {
        self.violated.is_empty() && self.open.is_empty()
    }

    /// `yes`, `no` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        match (self.violated.is_empty(), self.open.is_empty()) {
            (false, _) => "no",
            (true, false) => "unknown",
            (true, true) => "yes",
        }
    }
}

impl Report {
    /// The results for all grades, the easiest one first. Clients have no grades.
    pub fn grades(&self) -> Vec<GradeResult> {
        match self.side {
            Party::Engine => Grade::ALL.into_iter().map(|grade| self.graded(grade)).collect(),
            Party::Client => Vec::new(),
        }
    }

    /// The highest grade that the engine has.
    pub fn grade(&self) -> Option<Grade> {
        let grades = self.grades().into_iter().filter(GradeResult::is_reached);
        grades.map(|result| result.grade).max()
    }

    fn graded(&self, grade: Grade) -> GradeResult {
        let mut graded = GradeResult { grade, violated: Vec::new(), open: Vec::new() };
        for rule in grade.rules() {
            // A rule of another edition does not count.
            let Some(severity) = rule.severity_in(self.dialect, self.profile) else { continue };
            if Grade::of(rule) == Some(Grade::Complete) && severity != Severity::Must {
                continue;
            }
            let result = self.results.iter().find(|result| result.check.id == rule.id);
            match result.map(|result| &result.verdict) {
                Some(Verdict::Pass | Verdict::Skip(_)) => (),
                Some(Verdict::Fail(_)) => graded.violated.push(rule.id),
                // Soak checks are optional.
                None if rule.id.starts_with("soak.") => (),
                Some(Verdict::Inconclusive(_)) | None => graded.open.push(rule.id),
            }
        }
        graded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_consist_of_musts() {
        for id in ANY_GUI.iter().chain(MATCHES) {
            let check = all().find(|check| check.id == *id);
            assert!(check.is_some_and(|check| check.severity == Severity::Must), "{id}");
            assert!(!(ANY_GUI.contains(id) && MATCHES.contains(id)), "{id}");
        }
    }

    #[test]
    fn each_grade_includes_the_one_before_it() {
        let sizes: Vec<usize> = Grade::ALL.iter().map(|grade| grade.rules().count()).collect();
        assert!(sizes.is_sorted() && sizes[0] < sizes[1] && sizes[1] < sizes[2], "{sizes:?}");
        assert!(Grade::AnyGui.rules().all(|rule| rule.severity == Severity::Must));
    }
}
