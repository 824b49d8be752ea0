//! What came of a run, for people and for programs.

mod json;
mod junit;
mod markdown;
mod text;

use crate::check::{Severity, Verdict};
use crate::suite::Report;

/// How many checks of a severity came to what.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) inconclusive: usize,
}

impl Report {
    /// Counts the results of a severity.
    pub(crate) fn tally(&self, severity: Severity) -> Tally {
        let mut tally = Tally::default();
        for result in self.results.iter().filter(|it| it.severity == severity) {
            *match result.verdict {
                Verdict::Pass => &mut tally.passed,
                Verdict::Fail(_) => &mut tally.failed,
                Verdict::Skip(_) => &mut tally.skipped,
                Verdict::Inconclusive(_) => &mut tally.inconclusive,
            } += 1;
        }
        tally
    }

    /// What it comes to in a few words.
    pub(crate) fn summary(&self) -> &'static str {
        match self.exit_status() {
            0 => "conforms",
            1 => "breaks a must",
            _ => "could not be judged in full",
        }
    }
}
