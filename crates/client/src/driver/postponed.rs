//! The latest report of a search, stored as a line until it is needed. Engines send many reports that are never read.

use std::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Postponed {
    report: Option<(VariationReport, Instant)>,
    line: Vec<u8>,
}

/// The parts of an `info` line that decide whether it replaces an earlier one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct VariationReport {
    number: u32,
    /// The number of tokens before the moves, without the kind of a bound.
    tokens: usize,
}

impl VariationReport {
    /// The report of a line with a score, counters and moves. `None` for others, which contain events or add to an earlier
    /// report.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        if !line.is_ascii() {
            return None;
        }
        let mut report = Self { number: 1, tokens: 0 };
        let (mut has_score, mut has_nodes) = (false, false);
        let mut tokens = line.split(|byte| *byte == b' ');
        while let Some(token) = tokens.next() {
            match token {
                b"pv" => return (has_score && has_nodes).then_some(report),
                b"score" => has_score = true,
                b"nodes" => has_nodes = true,
                b"lowerbound" | b"upperbound" => continue,
                // A text can contain any token.
                b"string" => return None,
                b"multipv" => {
                    report.tokens += 1;
                    report.number = std::str::from_utf8(tokens.next()?).ok()?.parse().ok()?;
                }
                _ => {}
            }
            report.tokens += 1;
        }
        None
    }
}

impl Postponed {
    /// Whether this report contains everything that the stored one does.
    pub(super) fn replaces(&self, report: VariationReport) -> bool {
        self.report.is_none_or(|(stored, _)| {
            stored.number == report.number && stored.tokens <= report.tokens
        })
    }

    pub(super) fn set(&mut self, report: VariationReport, line: &[u8], at: Instant) {
        self.report = Some((report, at));
        self.line.clear();
        self.line.extend_from_slice(line);
    }

    /// Removes the line.
    pub(super) fn take(&mut self) -> Option<(Vec<u8>, Instant)> {
        let (_, at) = self.report.take()?;
        Some((std::mem::take(&mut self.line), at))
    }

    /// Returns the memory of a line for the next one.
    pub(super) fn reuse(&mut self, line: Vec<u8>) {
        if self.report.is_none() {
            self.line = line;
        }
    }

    pub(super) fn clear(&mut self) {
        self.report = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(line: &str) -> Option<(u32, usize)> {
        VariationReport::of(line.as_bytes()).map(|report| (report.number, report.tokens))
    }

    #[test]
    fn reads_reports_of_variations_only() {
        let line =
            "info depth 9 seldepth 12 multipv 2 score cp 31 nodes 9 nps 1 time 2 pv e2e4 e7e5";
        assert_eq!(report(line), Some((2, 16)));
        assert_eq!(report(&line.replace("cp 31", "cp 31 lowerbound")), Some((2, 16)));
        assert_eq!(report("info depth 1 score mate 3 nodes 5 pv e2e4"), Some((1, 8)));
        for other in [
            "info depth 9 currmove e2e4 currmovenumber 1",
            "info string score cp 1 nodes 5 pv e2e4",
            "info score cp 1 nodes 5 string \u{e4} pv e2e4",
            "info nodes 5 nps 9",
            "info depth 9 score cp 1 nodes 5",
            "info depth 9 score cp 1 pv e2e4",
            "info multipv x score cp 1 nodes 5 pv e2e4",
        ] {
            assert_eq!(report(other), None, "{other}");
        }
    }

    #[test]
    fn a_report_is_replaced_by_one_with_the_same_fields() {
        let report = |line: &str| VariationReport::of(line.as_bytes()).expect("a report");
        let mut postponed = Postponed::default();
        let first = report("info depth 1 score cp 1 nodes 5 hashfull 3 pv e2e4");
        assert!(postponed.replaces(first));
        postponed.set(first, b"first", crate::sync::now());
        let bound = report("info depth 2 score cp 1 upperbound nodes 9 hashfull 3 pv e2e4");
        assert!(postponed.replaces(bound));
        let incomplete = report("info depth 2 score cp 1 nodes 9 pv e2e4");
        assert!(!postponed.replaces(incomplete));
        let second = report("info depth 1 multipv 2 score cp 1 nodes 5 hashfull 3 pv e2e4");
        assert!(!postponed.replaces(second));
        assert_eq!(postponed.take().map(|(line, _)| line), Some(b"first".to_vec()));
        assert!(postponed.take().is_none());
    }
}
