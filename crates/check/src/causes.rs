//! Root causes: which failures may have a common cause.

use crate::spec::{Check, CheckResult, Report, Severity, Verdict};

/// Checks that may fail because of another violation: the prefix of their ids, and the possible causes.
const RELATED: &[(&str, &[&str])] = &[
    ("handshake.ok-once", &["handshake.waits"]),
    ("handshake.late-declaration", &["handshake.waits"]),
    ("handshake.early-status", &["handshake.waits"]),
    ("handshake.name", &["handshake.waits"]),
    ("handshake.ready-", &["handshake.ready"]),
    ("lexical.spaces", &["state.position-kept"]),
    ("lexical.tabs", &["lexical.spaces", "state.position-kept"]),
    ("lexical.", &["state.position-kept"]),
    ("lexical.before-handshake", &["lexical.unknown-command"]),
    ("lexical.leading-token", &["lexical.unknown-command"]),
    ("lexical.undecodable", &["lexical.unknown-command"]),
    ("lexical.batch", &["lexical.fragments"]),
    ("options.invalid-values", &["lexical.unknown-command", "options.settable"]),
    ("options.", &["options.settable"]),
    ("positions.malformed", &["lexical.unknown-command"]),
    ("positions.illegal-move", &["lexical.unknown-command"]),
    ("positions.castling", &["positions.move-form"]),
    ("positions.chess960", &["positions.move-form"]),
    ("positions.double-frc", &["positions.chess960", "positions.move-form"]),
    ("positions.random-lines", &["positions.random-game"]),
    (
        "search.no-early-bestmove",
        &["search.ponder.holds-bestmove", "search.infinite", "search.ready"],
    ),
    ("search.debug", &["search.ready"]),
    ("search.searchmoves-", &["search.searchmoves"]),
    ("search.ponder.holds-bestmove", &["search.infinite"]),
    ("search.ponder.", &["search.ponder.holds-bestmove"]),
    // Swapped clocks violate both.
    ("search.ponder.hit", &["search.clock"]),
    ("search.limits-reset", &["search.infinite"]),
    ("handshake.id-first", &["handshake.waits"]),
    ("limits.ponder", &["search.ponder.holds-bestmove"]),
    ("limits.game", &["limits.low-time", "search.clock", "usi.byoyomi-time", "usi.byoyomi"]),
    ("limits.low-time", &["search.clock"]),
    ("search.moves-to-go", &["search.clock"]),
    ("search.any-order", &["search.movetime.ends"]),
    ("state.hit-and-stop", &["search.ponder.hit"]),
    ("state.ready-while-pondering", &["search.ready"]),
    ("info.pv-bestmove", &["positions.castling", "positions.move-form", "positions.chess960"]),
    // An engine that writes moves in another form reads them in this form.
    ("info.moves", &["positions.move-form"]),
    ("positions.shogi-moves", &["positions.move-form"]),
    ("positions.shogi-promotions", &["positions.move-form"]),
    ("positions.short-sfen", &["positions.move-form"]),
    ("info.legal-pv", &["info.moves"]),
    ("info.time", &["search.movetime.uses"]),
    ("info.monotonic-counts", &["info.time"]),
    ("info.mate-pv", &["info.mate-score"]),
    ("info.bound-with-score", &["info.complete"]),
    (
        "info.late-details",
        &["info.current-move", "info.currline-requested", "info.refutation-requested"],
    ),
    ("options.own-book-off", &["info.before-bestmove"]),
    ("info.multipv", &["info.before-bestmove"]),
    ("scores.", &["info.before-bestmove"]),
    ("usi.byoyomi-time", &["usi.byoyomi"]),
    // Swapped clocks violate both.
    ("usi.byoyomi", &["search.clock"]),
    ("usi.clocks", &["usi.byoyomi-time"]),
    ("usi.ponder-byoyomi", &["usi.byoyomi-time", "search.ponder.hit"]),
    ("usi.mate-moves", &["usi.mate"]),
    ("search.immediate-stop", &["search.stop"]),
    ("search.interleavings", &["search.immediate-stop", "search.stop"]),
    ("search.clock-over", &["search.clock"]),
    (
        "search.legal-move",
        &[
            "positions.random-game",
            "positions.special-moves",
            "positions.shogi-moves",
            "positions.promotions",
            "positions.shogi-promotions",
        ],
    ),
    ("positions.special-moves", &["positions.fen-sfen", "positions.startpos"]),
    ("positions.fen-sfen", &["positions.startpos"]),
    ("lexical.long-line", &["positions.random-game", "positions.shogi-promotions"]),
    ("info.pv-bestmove", &["search.legal-move"]),
    ("info.multipv-order", &["info.multipv"]),
    ("options.choice-ignores-case", &["options.every-value"]),
    ("usi.game-over", &["usi.idle-game-over"]),
    ("search.every-thread-count", &["options.every-value"]),
    ("state.go-stop-go", &["search.immediate-stop", "search.stop"]),
    ("positions.random-game", &["positions.special-moves", "positions.shogi-moves"]),
    ("info.legal-pv", &["search.legal-move"]),
    ("info.ponder-pv", &["info.legal-pv"]),
    ("scores.mated", &["info.mate-score"]),
    ("scores.mate-distance", &["info.mate-score"]),
    ("resources.hash-resize", &["options.every-value"]),
    ("exit.eof.searching", &["exit.eof.idle"]),
    ("exit.quit.", &["exit.quit.idle"]),
    ("gui.start.banner", &["gui.lines.unknown"]),
    ("gui.start.early-info", &["gui.lines.unknown"]),
    ("gui.lines.unsolicited", &["gui.lines.unknown"]),
    ("gui.lines.not-utf8", &["gui.lines.unknown"]),
    ("gui.start.no-uciok", &["gui.start.silent"]),
    ("gui.ready.never", &["gui.start.silent"]),
    ("gui.search.no-reply", &["gui.ready.never", "gui.start.silent"]),
    ("gui.start.exits-in-handshake", &["gui.start.exits"]),
    ("gui.ready.exits", &["gui.start.exits"]),
    ("gui.search.exits", &["gui.ready.exits", "gui.start.exits"]),
    ("gui.search.aborts", &["gui.search.exits"]),
    ("gui.search.half-line", &["gui.search.exits"]),
    ("gui.search.closes-output", &["gui.search.exits"]),
    ("gui.search.illegal-ponder", &["gui.search.illegal-move"]),
    ("gui.search.none", &["gui.search.null-move"]),
    ("gui.search.empty-move", &["gui.search.invalid-move"]),
    ("gui.conduct.legal-searchmoves", &["gui.conduct.sends-position"]),
    ("gui.conduct.known-commands", &["gui.conduct.setoption-form"]),
    ("gui.conduct.declared-options", &["gui.conduct.setoption-form"]),
    ("gui.conduct.waits-for-ready", &["gui.conduct.handshake-first", "gui.lines.fragments"]),
    ("gui.conduct.registers", &["gui.conduct.handshake-once", "gui.conduct.waits-for-ready"]),
];

/// Checks whose sessions have no search.
const WITHOUT_SEARCH: [&str; 3] = ["handshake.", "options.", "exit."];

/// Sets the causes of failures that may follow from other failures. `everywhere` is the check of a missing feature that
/// nearly every session needs.
pub(crate) fn assign(results: &mut [CheckResult], everywhere: Option<&'static str>) {
    let failed: Vec<&'static str> = results
        .iter()
        .filter(|result| matches!(result.verdict, Verdict::Fail(_)))
        .map(|result| result.check.id)
        .collect();
    // A failure refers to another check only if its result is in the report.
    let is_selected =
        everywhere.is_some_and(|id| results.iter().any(|result| result.check.id == id));
    for result in results.iter_mut() {
        let id = result.check.id;
        let searches = !WITHOUT_SEARCH.iter().any(|prefix| id.starts_with(prefix));
        let found = match &result.verdict {
            Verdict::Fail(_) if searches && is_selected => everywhere,
            Verdict::Inconclusive(_) if searches && result.cause.is_none() => everywhere,
            Verdict::Fail(_) => root(id, &failed),
            _ => None,
        };
        result.cause = found.filter(|root| *root != id).or(result.cause);
    }
    // A cause may have a cause itself.
    let causes: Vec<(&str, &'static str)> =
        results.iter().filter_map(|result| Some((result.check.id, result.cause?))).collect();
    let next = |id| causes.iter().find(|(dependent, _)| *dependent == id).map(|(_, cause)| *cause);
    for result in results {
        let mut seen = Vec::new();
        while let Some(deeper) = result.cause.and_then(next)
            && deeper != result.check.id
            && !seen.contains(&deeper)
        {
            seen.push(deeper);
            result.cause = Some(deeper);
        }
    }
}

/// The first cause in the chain of related failures.
fn root(id: &'static str, failed: &[&'static str]) -> Option<&'static str> {
    let mut root = id;
    // The relations have no cycles, see the test.
    while let Some(cause) = RELATED
        .iter()
        .filter(|(dependent, _)| root.starts_with(dependent))
        .flat_map(|(_, causes)| causes.iter())
        .find(|cause| **cause != root && failed.contains(*cause))
    {
        root = cause;
    }
    (root != id).then_some(root)
}

/// Findings with a common cause.
#[derive(Clone, Debug)]
pub struct Cause<'a> {
    /// The id of the check that shows the cause.
    pub id: &'static str,
    /// Its result, unless it was not selected.
    pub root: Option<&'a CheckResult>,
    /// The other failures, and checks without a verdict because of the cause.
    pub dependents: Vec<&'a CheckResult>,
}

impl Cause<'_> {
    /// The check that shows the cause.
    pub fn check(&self) -> Option<&'static Check> {
        let all = || crate::all().chain(crate::all_of_clients());
        self.root.map(|result| result.check).or_else(|| all().find(|check| check.id == self.id))
    }

    /// The severity of the cause; without its result that of the first finding.
    pub fn severity(&self) -> Option<Severity> {
        self.root.or_else(|| self.dependents.first().copied()).map(|result| result.severity)
    }

    /// Number of findings.
    pub fn findings(&self) -> usize {
        usize::from(self.root.is_some()) + self.dependents.len()
    }

    /// The failure with the shortest transcript.
    pub fn shortest(&self) -> Option<&CheckResult> {
        let all = self.root.into_iter().chain(self.dependents.iter().copied());
        let lines = |result: &CheckResult| {
            result.transcript.as_ref().map(|transcript| transcript.lines().count())
        };
        all.filter(|result| lines(result).is_some()).min_by_key(|result| lines(result))
    }
}

impl Report {
    /// The root causes of all failures, by severity.
    pub fn causes(&self) -> Vec<Cause<'_>> {
        let mut causes: Vec<Cause<'_>> = Vec::new();
        let mut of = |id: &'static str| {
            if let Some(at) = causes.iter().position(|cause| cause.id == id) {
                return at;
            }
            let root = self.results.iter().find(|result| result.check.id == id);
            causes.push(Cause { id, root, dependents: Vec::new() });
            causes.len() - 1
        };
        let mut members = Vec::new();
        for result in &self.results {
            match (&result.verdict, result.cause) {
                (_, Some(cause)) => members.push((of(cause), result)),
                (Verdict::Fail(_), None) => {
                    of(result.check.id);
                }
                _ => (),
            }
        }
        for (at, result) in members {
            if let Some(cause) = causes.get_mut(at) {
                cause.dependents.push(result);
            }
        }
        causes.sort_by_key(Cause::severity);
        causes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<&'static str> {
        crate::all().chain(crate::all_of_clients()).map(|check| check.id).collect()
    }

    #[test]
    fn relations_name_checks() {
        for (dependent, causes) in RELATED {
            assert!(known().iter().any(|id| id.starts_with(dependent)), "{dependent}");
            for cause in *causes {
                assert!(known().contains(cause), "{cause}");
            }
        }
    }

    #[test]
    fn relations_have_no_cycles() {
        let all = known();
        for id in &all {
            let mut seen = vec![*id];
            let mut at = 0;
            while let Some(current) = seen.get(at).copied() {
                at += 1;
                let causes = RELATED
                    .iter()
                    .filter(|(dependent, _)| current.starts_with(dependent))
                    .flat_map(|(_, causes)| causes.iter().copied())
                    .filter(|cause| *cause != current);
                for cause in causes {
                    assert_ne!(cause, *id, "{id} is its own cause");
                    if !seen.contains(&cause) {
                        seen.push(cause);
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_cause_is_the_root() {
        let failed = ["handshake.waits", "handshake.ok-once", "search.depth"];
        assert_eq!(root("handshake.ok-once", &failed), Some("handshake.waits"));
        assert_eq!(root("handshake.waits", &failed), None);
        assert_eq!(root("handshake.ok-once", &failed[1..]), None);
    }
}
