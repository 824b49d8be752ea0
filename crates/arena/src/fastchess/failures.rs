//! How often engines have failed, as it is told at the end.

use std::fmt::Write;

use readyok_rules::Termination;

/// Lost games by engine, in the order of the first ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Failures(Vec<Failed>);

#[derive(Clone, Debug)]
struct Failed {
    name: String,
    timeouts: u64,
    crashes: u64,
}

impl Failures {
    pub(super) fn count(&mut self, loser: &str, termination: Termination) {
        let is_late = termination == Termination::TimeForfeit;
        if !is_late && !termination.is_engine_failure() {
            return;
        }
        let at = self.0.iter().position(|failed| failed.name == loser).unwrap_or_else(|| {
            self.0.push(Failed { name: loser.to_owned(), timeouts: 0, crashes: 0 });
            self.0.len() - 1
        });
        if let Some(failed) = self.0.get_mut(at) {
            failed.timeouts += u64::from(is_late);
            failed.crashes += u64::from(!is_late);
        }
    }

    /// The lines about them; none if nobody has failed. Who failed last stands first, as the hash
    /// table of fastchess mostly has it.
    pub(super) fn text(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut text = String::new();
        for Failed { name, timeouts, crashes } in self.0.iter().rev() {
            // Writing into a string cannot fail.
            let _ = write!(text, "\nPlayer: {name}\n  Timeouts: {timeouts}\n  Crashed: {crashes}");
        }
        text.push('\n');
        Some(text)
    }
}
