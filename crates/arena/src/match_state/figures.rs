//! What a page shows of the strength and the throughput of a match.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::event::Rating;
use crate::match_state::MatchState;
use crate::plan::{Format, GamesPerPairing};
use crate::stats::{Counts, Estimates, Verdict};

/// The strength of the first of two engines, with 95 % errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MatchStrength {
    /// Elo.
    pub elo: Rating,
    /// Normalized Elo.
    pub normalized_elo: Rating,
    /// The likelihood of superiority, from 0 to 1.
    pub los: Option<f64>,
}

impl MatchStrength {
    fn of(counts: &Counts) -> Self {
        let Estimates { elo, normalized_elo, los, .. } = Estimates::of(counts);
        Self { elo: elo.into(), normalized_elo: normalized_elo.into(), los: los.number() }
    }
}

/// The number of pairs before which the end of a test is not forecast.
const MIN_FORECAST: u64 = 20;

impl MatchState {
    /// The strength of the first of two engines. `None` as [`MatchState::head_to_head`].
    pub fn strength(&self) -> Option<MatchStrength> {
        self.head_to_head().map(|counts| MatchStrength::of(&counts))
    }

    /// The expected number of further games: those of the plan, or until the test ends if that is earlier. `None` if it
    /// is not known.
    pub fn remaining_games(&self) -> Option<u64> {
        let plan = self.plan();
        let per_pair = match plan.games {
            GamesPerPairing::One => 1,
            GamesPerPairing::Two => 2,
        };
        let is_limited = !plan.is_unlimited() && self.total() > 0;
        let is_known = is_limited && !matches!(plan.format, Format::Knockout { .. });
        let of_plan =
            is_known.then(|| self.total().saturating_sub(self.pairs()).saturating_mul(per_pair));
        let of_test = self.sprt().filter(|_| MIN_FORECAST <= self.pairs()).and_then(|sprt| {
            let counts = self.head_to_head()?;
            if sprt.status(&counts).ok()?.verdict != Verdict::Continue {
                return Some(0);
            }
            let games = sprt.remaining_as_seen(&counts).ok()?.games;
            rounded(games)
        });
        match (of_plan, of_test) {
            (Some(plan), Some(test)) => Some(plan.min(test)),
            (known, None) | (None, known) => known,
        }
    }
}

/// A number of games. `None` if it is not finite.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is finite, not negative and limited"
)]
fn rounded(games: f64) -> Option<u64> {
    games.is_finite().then(|| games.clamp(0.0, 1e15).ceil() as u64)
}

/// Games per minute of the last minutes.
#[derive(Clone, Debug, Default)]
pub struct Throughput {
    /// Times in milliseconds, with the number of games until then.
    samples: VecDeque<(u64, u64)>,
    last: Option<(u64, u64)>,
}

impl Throughput {
    /// The time over which games are counted, in milliseconds.
    const WINDOW_MS: u64 = 5 * 60_000;
    /// The time between two samples.
    const STEP_MS: u64 = 5_000;
    /// The shortest time from which a throughput is known.
    const MIN_MS: u64 = 2_000;

    /// Records the number of games at a time in milliseconds since any start.
    pub fn add(&mut self, now_ms: u64, games: u64) {
        if self.last.is_some_and(|(at, before)| games < before || now_ms < at) {
            // Games were discarded, or the clock was set back.
            self.samples.clear();
        }
        self.last = Some((now_ms, games));
        if self.samples.back().is_none_or(|(at, _)| at + Self::STEP_MS <= now_ms) {
            self.samples.push_back((now_ms, games));
        }
        while self.samples.front().is_some_and(|(at, _)| at + Self::WINDOW_MS < now_ms) {
            self.samples.pop_front();
        }
    }

    /// Games per minute; `None` before it is known.
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more precision")]
    pub fn per_minute(&self) -> Option<f64> {
        let ((from, before), (to, games)) = (*self.samples.front()?, self.last?);
        let time = to.checked_sub(from).filter(|time| Self::MIN_MS <= *time)?;
        Some(games.saturating_sub(before) as f64 * 60_000.0 / time as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::match_state::tests::{pair, plan};
    use crate::plan::SprtPlan;
    use crate::stats::Model;
    use readyok_rules::Side;

    #[test]
    fn the_throughput_is_that_of_the_last_minutes() {
        let mut throughput = Throughput::default();
        assert_eq!(throughput.per_minute(), None);
        // Ten games a minute for an hour, then sixty.
        for second in 0..=3600 {
            throughput.add(second * 1000, second / 6);
        }
        assert!((throughput.per_minute().expect("a throughput") - 10.0).abs() < 0.5);
        for second in 3601..=4200 {
            throughput.add(second * 1000, 600 + second - 3600);
        }
        assert!((throughput.per_minute().expect("a throughput") - 60.0).abs() < 0.5);
        assert!(throughput.samples.len() <= 62, "{}", throughput.samples.len());
        // The results of a worker are discarded.
        throughput.add(4_201_000, 5);
        assert_eq!(throughput.per_minute(), None);
    }

    #[test]
    fn the_rest_of_a_match_is_that_of_its_plan_or_of_its_test() {
        let mut state = MatchState::new(&plan(2, GamesPerPairing::Two), 1000);
        assert_eq!(state.remaining_games(), Some(2000));
        let played = |index| pair(index, &(0, 1, vec![Some(Side::First), None], false));
        state.add(&played(0));
        assert_eq!(state.remaining_games(), Some(1998));
        let (model, alpha, beta) = (Model::default(), 0.05, 0.05);
        let sprt = Some(SprtPlan { model, elo0: 0.0, elo1: 5.0, alpha, beta });
        let mut test =
            MatchState::new(&crate::plan::Plan { sprt, ..plan(2, GamesPerPairing::Two) }, 0);
        assert_eq!(test.remaining_games(), None);
        for index in 0..40 {
            let winner = if index % 3 == 0 { Side::Second } else { Side::First };
            test.add(&pair(index, &(0, 1, vec![Some(winner), None], false)));
        }
        let games = test.remaining_games().expect("a forecast");
        assert!((1..100_000).contains(&games), "{games}");
    }
}
