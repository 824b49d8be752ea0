//! The report for people: the summary, then what failed, with dialogues.

use std::fmt;

use readyok_protocol::Party;
use readyok_protocol::translation::display_text;

use crate::check::{Severity, Verdict};
use crate::excerpt::Input;
use crate::suite::{CheckResult, Report};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol =
            self.profile.map_or_else(|| self.dialect.handshake(), |profile| profile.name());
        writeln!(f, "{} ({protocol}) {}", display_text(&self.name), self.summary())?;
        for severity in [Severity::Must, Severity::Should, Severity::May] {
            let tally = self.tally(severity);
            write!(f, "  {:<7}{:>4} passed", severity.word(), tally.passed)?;
            for (count, what) in [
                (tally.failed, "failed"),
                (tally.inconclusive, "inconclusive"),
                (tally.skipped, "skipped"),
            ] {
                if 0 < count {
                    write!(f, ", {count} {what}")?;
                }
            }
            writeln!(f)?;
        }
        write!(f, "  in {:.1} s; ", self.took.as_secs_f64())?;
        match self.side {
            Party::Engine => writeln!(
                f,
                "limits: {:.1} s for an answer (stretched {:.1} times; `isready` took {:.1} ms); seed {}",
                self.pace.answer().as_secs_f64(),
                self.pace.scale(),
                self.pace.ping().as_secs_f64() * 1000.0,
                self.seed
            )?,
            Party::Client => {
                writeln!(f, "limits stretched {:.1} times; seed {}", self.pace.scale(), self.seed)?;
            }
        }
        for severity in [Severity::Must, Severity::Should, Severity::May] {
            for result in self.failures().filter(|it| it.severity == severity) {
                write_failure(f, result)?;
            }
        }
        for result in &self.results {
            if let Verdict::Inconclusive(why) = &result.verdict {
                writeln!(
                    f,
                    "\ninconclusive {}: {}",
                    result.check.id,
                    display_text(&why.to_string())
                )?;
            }
        }
        let remarks = || self.results.iter().filter(|it| it.remark.is_some());
        if remarks().next().is_some() {
            writeln!(f)?;
        }
        for result in remarks() {
            let remark = result.remark.as_deref().unwrap_or_default();
            writeln!(f, "{}: {}", result.check.id, display_text(remark))?;
        }
        Ok(())
    }
}

fn write_failure(f: &mut fmt::Formatter<'_>, result: &CheckResult) -> fmt::Result {
    let check = result.check;
    writeln!(f, "\nFAIL {} ({}): {}", check.id, result.severity, check.rule)?;
    writeln!(f, "  seen: {}", display_text(&result.verdict.text()))?;
    for clause in check.clauses {
        writeln!(f, "  rule: {}: {}", clause.place, clause.says)?;
    }
    writeln!(f, "  change: {}", check.advice)?;
    for line in result.dialogue.iter().flat_map(|it| it.lines()) {
        writeln!(f, "  {}", display_text(line))?;
    }
    match &result.input {
        // Not indented, as spaces would be pasted, too.
        Some(Input::Lines(lines)) => write!(f, "  paste into the engine's input:\n\n{lines}"),
        Some(Input::Command(command)) => {
            writeln!(f, "  write to the engine's input:\n\n{command} | ENGINE")
        }
        None => Ok(()),
    }
}
