//! Whether an engine that is late had a processor to think on. A match with more games at once than the
//! machine has room for makes engines lose that would not, and so would a virtual machine whose host lets it
//! stand still; whoever reads the results is to know.

use std::time::Duration;

use readyok_client::{EngineError, Problem, SearchResult};

use crate::result::WarningKind;

/// With more time than this an engine has made room for a busy machine, or has itself to blame.
pub(super) const CLOSE: Duration = Duration::from_secs(1);

/// Shorter waits for a processor come with every move.
const NOTABLE: Duration = Duration::from_millis(1);

/// Whether a search has lost on time.
pub(super) fn is_late(end: &Result<SearchResult, EngineError>, deadline: Duration) -> bool {
    match end {
        // Clocks count whole microseconds.
        Ok(played) => deadline.as_micros() < played.time().as_micros(),
        Err(error) => matches!(error.problem(), Problem::OutOfTime(_)),
    }
}

/// What is told of an engine that was late, by what it had waited for processors before its move and after.
pub(super) fn warning(before: Option<Duration>, after: Option<Duration>) -> Option<WarningKind> {
    let waited = after?.saturating_sub(before?);
    let waited_us = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
    (NOTABLE <= waited).then_some(WarningKind::Starved { waited_us })
}

/// What is told of an engine that is not late only because the host of the machine was.
pub(super) fn excuse(stolen: Duration) -> Option<WarningKind> {
    let stolen_us = u64::try_from(stolen.as_micros()).unwrap_or(u64::MAX);
    (stolen > Duration::ZERO).then_some(WarningKind::Stolen { stolen_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_waits_and_unknown_ones_are_not_told() {
        let waited = |before: u64, after: u64| {
            warning(Some(Duration::from_micros(before)), Some(Duration::from_micros(after)))
        };
        assert_eq!(waited(500, 1499), None);
        assert_eq!(waited(500, 1500), Some(WarningKind::Starved { waited_us: 1000 }));
        // A thread that has ended takes its time along.
        assert_eq!(waited(9000, 500), None);
        assert_eq!(warning(None, Some(Duration::from_secs(1))), None);
        assert_eq!(warning(Some(Duration::ZERO), None), None);
    }

    #[test]
    fn an_engine_that_needs_an_excuse_has_one() {
        assert_eq!(excuse(Duration::ZERO), None);
        let stolen = WarningKind::Stolen { stolen_us: 30_000 };
        assert_eq!(excuse(Duration::from_millis(30)), Some(stolen));
    }
}
