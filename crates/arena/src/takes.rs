//! Tests of several takes of one idea against one base.
//!
//! Each take has the log-likelihood ratio (LLR) of the [`SprtPlan`](crate::plan::SprtPlan) of the plan, of its game
//! pairs against the base. The next batch of pairs is played by the take with the highest LLR.
//!
//! ```text
//! a take is accepted, and ends the match:   LLR ≥ ln(K / α)
//! a take is dropped:                        LLR ≤ ln β
//! ```
//!
//! `K` is the number of takes at the start. While a take is not better than H0, exp(LLR) is a nonnegative
//! supermartingale whose first value is 1, regardless of which take plays next and of when the match ends. So it ever
//! reaches `K / α` with a probability of at most `α / K` (J. Ville, *Étude critique de la notion de collectif*, 1939),
//! and the probability that any worthless take is accepted is at most α. As in every SPRT of engines, the distribution
//! of the results is estimated from them, so this holds approximately.
//!
//! No take is dropped for its rank: the leader after few games is often the lucky one, and a good take would be lost.

use serde::{Deserialize, Serialize};

use crate::pairing::PairingScore;
use crate::plan::{EngineId, Format, GamesPerPairing, Plan};
use crate::stats::{Counts, Outcome, Pentanomial, Sprt, Trinomial, Verdict};

/// The base of all takes: the first engine of the plan.
pub const BASE: EngineId = EngineId(0);

/// The state of a test of several takes. It depends on the results and their order only.
#[derive(Clone, Debug)]
pub struct Takes {
    test: Sprt,
    /// In the order of the plan.
    each: Vec<Take>,
    accepted: Option<EngineId>,
}

#[derive(Clone, Copy, Debug)]
struct Take {
    counts: Counts,
    pairs: u64,
    llr: f64,
    verdict: Verdict,
}

/// The status of a test of several takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TakesStatus {
    /// At or below it a take is dropped.
    pub lower: f64,
    /// At or above it a take is accepted.
    pub upper: f64,
    /// In the order of the plan.
    pub takes: Vec<TakeStatus>,
    /// The first take that was accepted.
    pub accepted: Option<EngineId>,
}

/// The status of a take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TakeStatus {
    /// The take.
    pub engine: EngineId,
    /// The number of its pairs.
    pub pairs: u64,
    /// Its log-likelihood ratio. Pairs that were in progress at its verdict still change it.
    pub llr: f64,
    /// H1 is accepted, or H0 and it plays no more. Final.
    pub verdict: Verdict,
}

/// The LLR of all takes after a number of pairs: a point of their curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TakesPoint {
    /// The number of pairs of all takes.
    pub pairs: u64,
    /// In the order of the takes.
    pub llr: Vec<f64>,
}

impl Takes {
    /// The test before the first pair; `None` if the plan is no valid test of several takes.
    ///
    /// ```
    /// # use readyok_arena::pairing::{PairingScore, Score};
    /// # use readyok_arena::plan::{EngineId, Plan};
    /// # use readyok_arena::takes::Takes;
    /// let plan: Plan = toml::from_str(r#"
    ///     game = "chess"
    ///     format = { kind = "takes" }
    ///     sprt = { elo0 = 0.0, elo1 = 20.0 }
    ///     engines = [
    ///         { name = "base", command = "base" },
    ///         { name = "one", command = "one" },
    ///         { name = "two", command = "two" },
    ///     ]
    /// "#)?;
    /// let mut takes = Takes::new(&plan).ok_or("no takes")?;
    /// assert_eq!(takes.next(), Some(EngineId(1)));
    /// let score = Score { wins: 2, draws: 0, losses: 0 };
    /// takes.record(PairingScore { index: 0, first: EngineId(0), second: EngineId(1), score });
    /// assert_eq!(takes.next(), Some(EngineId(2)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(plan: &Plan) -> Option<Self> {
        if plan.format != Format::Takes {
            return None;
        }
        let test = plan.sprt?.test().ok()?;
        let counts = match plan.games {
            GamesPerPairing::One => Counts::Games(Trinomial::default()),
            GamesPerPairing::Two => Counts::Pairs(Pentanomial::default()),
        };
        let take = Take { counts, pairs: 0, llr: 0.0, verdict: Verdict::Continue };
        let takes = vec![take; plan.engines.len().checked_sub(1)?];
        Some(Self { test, each: takes, accepted: None })
    }

    /// Adds the result of a pairing of the base and a take.
    pub fn record(&mut self, outcome: PairingScore) {
        let (engine, score) = if outcome.first == BASE {
            (outcome.second, outcome.score.reversed())
        } else {
            (outcome.first, outcome.score)
        };
        let upper = self.upper();
        let lower = self.lower();
        let Some(take) = engine.index().checked_sub(1).and_then(|at| self.each.get_mut(at)) else {
            return;
        };
        let outcomes = [
            (score.wins, Outcome::Win),
            (score.draws, Outcome::Draw),
            (score.losses, Outcome::Loss),
        ];
        let mut games = outcomes.iter().flat_map(|&(count, outcome)| {
            std::iter::repeat_n(outcome, usize::try_from(count).unwrap_or(0))
        });
        match (&mut take.counts, games.next(), games.next()) {
            (Counts::Games(games), Some(one), None) => _ = games.add(one),
            (Counts::Pairs(pairs), Some(one), Some(other)) => _ = pairs.add(one, other),
            _ => return,
        }
        take.pairs += 1;
        // It is not defined before the first different results.
        take.llr = self.test.llr(&take.counts).unwrap_or(take.llr);
        if take.verdict != Verdict::Continue {
            return;
        }
        if take.llr >= upper && self.accepted.is_none() {
            take.verdict = Verdict::AcceptH1;
            self.accepted = Some(engine);
        } else if take.llr <= lower {
            take.verdict = Verdict::AcceptH0;
        }
    }

    /// The take that plays the next batch: the one with the highest LLR, of equal ones that with the fewest pairs.
    /// `None` when the test is over.
    pub fn next(&self) -> Option<EngineId> {
        if self.accepted.is_some() {
            return None;
        }
        let live = (1..).map(EngineId).zip(&self.each).filter(|(_, take)| take.is_live());
        let best =
            live.min_by(|(_, a), (_, b)| b.llr.total_cmp(&a.llr).then(a.pairs.cmp(&b.pairs)));
        best.map(|(engine, _)| engine)
    }

    /// Whether a take may play more pairs.
    pub(crate) fn is_live(&self, engine: EngineId) -> bool {
        let take = engine.index().checked_sub(1).and_then(|at| self.each.get(at));
        self.accepted.is_none() && take.is_some_and(Take::is_live)
    }

    /// The test of each take; its own bounds do not apply.
    pub fn test(&self) -> &Sprt {
        &self.test
    }

    /// The LLR at or above which a take is accepted.
    pub fn upper(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "few engines")]
        let takes = self.each.len() as f64;
        (takes / self.test.alpha()).ln()
    }

    /// The LLR at or below which a take is dropped.
    pub fn lower(&self) -> f64 {
        self.test.beta().ln()
    }

    /// The result, when the test is over: the accepted take, or none if all are dropped.
    pub fn end(&self) -> Option<Option<EngineId>> {
        self.next().is_none().then_some(self.accepted)
    }

    /// The status.
    pub fn status(&self) -> TakesStatus {
        let take = |(engine, take): (u32, &Take)| TakeStatus {
            engine: EngineId(engine),
            pairs: take.pairs,
            llr: take.llr,
            verdict: take.verdict,
        };
        TakesStatus {
            lower: self.lower(),
            upper: self.upper(),
            takes: (1..).zip(&self.each).map(take).collect(),
            accepted: self.accepted,
        }
    }

    /// The LLR of all takes after this number of pairs.
    pub fn point(&self) -> TakesPoint {
        TakesPoint {
            pairs: self.each.iter().map(|take| take.pairs).sum(),
            llr: self.each.iter().map(|take| take.llr).collect(),
        }
    }
}

impl Take {
    fn is_live(&self) -> bool {
        self.verdict == Verdict::Continue
    }
}
