//! The sequential probability ratio test (A. Wald, *Sequential tests of statistical hypotheses*,
//! 1945).

use libm::erfc;
use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::estimate::Figure;
use super::model::{Evidence, LlrError, Model, ScoreModel, weigh};

/// A test of the strength `elo0` (H0) against `elo1` (H1), with valid parameters: those of
/// [`SprtPlan`](crate::plan::SprtPlan) are as the user wrote them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    model: Model,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

readyok_protocol::errors! {
    /// Invalid parameters of a test.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    #[serde(tag = "code", rename_all = "snake_case")]
    pub enum SprtError {
        SprtRequiresTwoEngines {
            /// The number of engines of the plan.
            engines: usize,
        } => "a test needs two engines, but the plan has {engines}",
        TakesRequireSprt => "a match of several takes needs a test",
        /// Numbers are texts, because JSON has no infinite ones.
        InvalidHypotheses { elo0: String, elo1: String } =>
            "elo0 `{elo0}` must be below elo1 `{elo1}`, both between -4000 and 4000",
        InvalidErrorRates { alpha: String, beta: String } =>
            "alpha `{alpha}` and beta `{beta}` must be above 0 and together below 1",
    }
}

/// The state of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Verdict {
    /// Neither bound is reached.
    Continue,
    /// The lower bound is reached.
    #[serde(rename = "h0")]
    AcceptH0,
    /// The upper bound is reached.
    #[serde(rename = "h1")]
    AcceptH1,
}

/// The status of a test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SprtStatus {
    /// The log-likelihood ratio of H1 to H0.
    pub llr: f64,
    /// At or below it H0 is accepted.
    pub lower: f64,
    /// At or above it H1 is accepted.
    pub upper: f64,
    /// The state.
    pub verdict: Verdict,
}

impl SprtStatus {
    /// The progress towards a bound: -1 at the lower, 1 at the upper.
    pub fn progress(&self) -> f64 {
        if self.llr < 0.0 { -(self.llr / self.lower) } else { self.llr / self.upper }
    }
}

/// The expected end of a test, by a Brownian approximation of the log-likelihood ratio. It ignores that
/// the last game oversteps the bound, so real tests are slightly longer and more often correct.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The probability that H1 will be accepted.
    pub accept_h1: f64,
    /// Expected number of further games.
    pub games: f64,
}

/// The median-unbiased strength estimate of a finished test.
///
/// The plain estimate is biased because the test stops at an extreme result. This estimate uses the
/// probability of a result at least as extreme as the observed one. Early acceptance of H1 or H0 is
/// the most extreme (stage-wise ordering: D. Siegmund, *Estimation following sequential tests*,
/// Biometrika 65, 1978). It uses the Brownian approximation, in Elo of the test's model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnbiasedEstimate {
    /// The median estimate.
    pub median: Figure,
    /// The lower end of the 95 % confidence interval.
    pub low: Figure,
    /// The upper end of the 95 % confidence interval.
    pub high: Figure,
}

impl Sprt {
    /// A test of hypotheses in Elo of the model. `alpha` is the probability of accepting H1 when H0 is
    /// true, `beta` that of accepting H0 when H1 is true.
    pub fn new(
        model: Model,
        elo0: f64,
        elo1: f64,
        alpha: f64,
        beta: f64,
    ) -> Result<Self, SprtError> {
        const MAX: f64 = 4000.0;
        // This form rejects NaN.
        if !(elo0 < elo1 && elo0 >= -MAX && elo1 <= MAX) {
            let (elo0, elo1) = (elo0.to_string(), elo1.to_string());
            return Err(SprtError::InvalidHypotheses { elo0, elo1 });
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            let (alpha, beta) = (alpha.to_string(), beta.to_string());
            return Err(SprtError::InvalidErrorRates { alpha, beta });
        }
        Ok(Self { model, elo0, elo1, alpha, beta })
    }

    /// The Elo model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// H0, in Elo of the model.
    pub fn elo0(&self) -> f64 {
        self.elo0
    }

    /// H1, in Elo of the model.
    pub fn elo1(&self) -> f64 {
        self.elo1
    }

    /// The probability of accepting H1 when H0 is true.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The probability of accepting H0 when H1 is true.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The log-likelihood ratio at or below which H0 is accepted.
    pub fn lower(&self) -> f64 {
        (self.beta / (1.0 - self.alpha)).ln()
    }

    /// The log-likelihood ratio at or above which H1 is accepted.
    pub fn upper(&self) -> f64 {
        ((1.0 - self.beta) / self.alpha).ln()
    }

    /// The log-likelihood ratio of H1 to H0, with exact maximum-likelihood distributions: closed-form
    /// approximations fail at extreme results.
    pub fn llr(&self, counts: &Counts) -> Result<f64, LlrError> {
        self.weigh(counts, ScoreModel::Seen).map(|evidence| evidence.llr)
    }

    /// The state at a log-likelihood ratio.
    pub fn judge(&self, llr: f64) -> Verdict {
        if llr >= self.upper() {
            Verdict::AcceptH1
        } else if llr <= self.lower() {
            Verdict::AcceptH0
        } else {
            Verdict::Continue
        }
    }

    /// The status at these counts.
    pub fn status(&self, counts: &Counts) -> Result<SprtStatus, LlrError> {
        let llr = self.llr(counts)?;
        Ok(SprtStatus { llr, lower: self.lower(), upper: self.upper(), verdict: self.judge(llr) })
    }

    /// The forecast of a new test if the true strength is `elo`, in Elo of the model. The distribution
    /// of results is otherwise that of `base`.
    pub fn forecast(&self, base: &Counts, elo: f64) -> Result<Forecast, LlrError> {
        self.forecast_from(0.0, &self.weigh(base, ScoreModel::Strength(elo))?)
    }

    /// The forecast of the rest of a test if the true strength is `elo`.
    pub fn remaining(&self, counts: &Counts, elo: f64) -> Result<Forecast, LlrError> {
        let llr = self.llr(counts)?;
        self.forecast_from(llr, &self.weigh(counts, ScoreModel::Strength(elo))?)
    }

    /// The forecast of the rest of a test if the distribution of results stays the same. Unreliable with
    /// few games.
    pub fn remaining_as_seen(&self, counts: &Counts) -> Result<Forecast, LlrError> {
        let evidence = self.weigh(counts, ScoreModel::Seen)?;
        self.forecast_from(evidence.llr, &evidence)
    }

    /// The strength estimate of a finished test; none before.
    pub fn estimate(&self, counts: &Counts) -> Result<Option<UnbiasedEstimate>, LlrError> {
        let evidence = self.weigh(counts, ScoreModel::Seen)?;
        let accepted_h1 = match self.judge(evidence.llr) {
            Verdict::Continue => return Ok(None),
            Verdict::AcceptH0 => false,
            Verdict::AcceptH1 => true,
        };
        // The last game may overstep the bound, so the actual end is the barrier.
        let lower = self.lower().min(evidence.llr);
        let upper = self.upper().max(evidence.llr);
        let end = End { accepted_h1, items: evidence.items, lower, upper };
        Ok(Some(UnbiasedEstimate {
            median: self.strength_with(counts, end, 0.5),
            low: self.strength_with(counts, end, 0.025),
            high: self.strength_with(counts, end, 0.975),
        }))
    }

    /// The strength at which an end as good as this, or better, has the given probability.
    fn strength_with(&self, counts: &Counts, end: End, probability: f64) -> Figure {
        const MAX_DISTANCE: f64 = 1e4;
        const HALVINGS: u32 = 60;
        let exceeds = |elo: f64| {
            let evidence = self.weigh(counts, ScoreModel::Strength(elo)).ok()?;
            Some(end.at_least_as_good(&evidence) > probability)
        };
        let mut reach = self.elo1 - self.elo0;
        let (mut low, mut high) = (self.elo0 - reach, self.elo1 + reach);
        loop {
            // A strength that the results cannot have is outside the interval.
            let (below, above) = (exceeds(low) != Some(true), exceeds(high) != Some(false));
            if below && above {
                break;
            }
            reach *= 2.0;
            if reach > MAX_DISTANCE {
                return if below { Figure::PlusInfinity } else { Figure::MinusInfinity };
            }
            if !below {
                low -= reach;
            }
            if !above {
                high += reach;
            }
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            match exceeds(middle) {
                Some(true) => high = middle,
                Some(false) => low = middle,
                // The results can satisfy both hypotheses.
                None if middle > self.elo1 => high = middle,
                None if middle < self.elo0 => low = middle,
                None => return Figure::Unknown,
            }
        }
        Figure::of(f64::midpoint(low, high))
    }

    fn forecast_from(&self, llr: f64, evidence: &Evidence) -> Result<Forecast, LlrError> {
        let verdict = self.judge(llr);
        if verdict != Verdict::Continue {
            let accept_h1 = f64::from(u8::from(verdict == Verdict::AcceptH1));
            return Ok(Forecast { accept_h1, games: 0.0 });
        }
        let walk = evidence.walk(self.lower() - llr, self.upper() - llr)?;
        Ok(Forecast {
            accept_h1: walk.exit_above(),
            games: walk.expected_time() * evidence.games_per_item,
        })
    }

    fn weigh(&self, counts: &Counts, score_model: ScoreModel) -> Result<Evidence, LlrError> {
        weigh(self.model, counts, [self.elo0, self.elo1], score_model)
    }
}

impl Evidence {
    fn walk(&self, lower: f64, upper: f64) -> Result<Walk, LlrError> {
        if self.variance > 0.0 {
            Ok(Walk { drift: self.drift, variance: self.variance, lower, upper })
        } else {
            Err(LlrError::OutOfReach)
        }
    }
}

/// The end of a test.
#[derive(Clone, Copy, Debug)]
struct End {
    accepted_h1: bool,
    items: f64,
    lower: f64,
    upper: f64,
}

impl End {
    /// The probability of an end as good as this, or better.
    fn at_least_as_good(&self, evidence: &Evidence) -> f64 {
        let Ok(walk) = evidence.walk(self.lower, self.upper) else { return 0.5 };
        if self.accepted_h1 {
            walk.exit_above_within(self.items)
        } else {
            1.0 - walk.exit_below_within(self.items)
        }
    }
}

/// Brownian motion with drift between two bounds, starting at 0. The log-likelihood ratio of a test is
/// close to it, because the step of one game is small compared with the bounds (D. Siegmund,
/// *Sequential Analysis*, 1985, chapter III). The unit of time is an item.
#[derive(Clone, Copy, Debug)]
struct Walk {
    /// Mean change per item.
    drift: f64,
    /// Variance of the change per item; above 0.
    variance: f64,
    /// Below 0.
    lower: f64,
    /// Above 0.
    upper: f64,
}

impl Walk {
    /// The probability of reaching the upper bound first.
    fn exit_above(&self) -> f64 {
        let (a, width) = (-self.lower, self.upper - self.lower);
        let h = 2.0 * self.drift / self.variance;
        let share = if h.abs() * width < 1e-9 {
            a / width
        } else if h > 0.0 {
            (-h * a).exp_m1() / (-h * width).exp_m1()
        } else {
            (h * self.upper).exp() * (h * a).exp_m1() / (h * width).exp_m1()
        };
        share.clamp(0.0, 1.0)
    }

    /// The expected number of items until a bound is reached, by Wald's identity.
    fn expected_time(&self) -> f64 {
        let width = self.upper - self.lower;
        if (self.drift * width).abs() < 1e-6 * self.variance {
            return -self.lower * self.upper / self.variance;
        }
        let above = self.exit_above();
        (above * self.upper + (1.0 - above) * self.lower) / self.drift
    }

    /// The probability that the upper bound was reached first within `time` items: a sum over the
    /// reflections at both bounds.
    fn exit_above_within(&self, time: f64) -> f64 {
        const MAX_REFLECTIONS: f64 = 1000.0;
        if time <= 0.0 {
            return 0.0;
        }
        let width = self.upper - self.lower;
        let spread = (self.variance * time).sqrt();
        let reflections = (3.0 + 5.0 * spread / width).ceil();
        if reflections > MAX_REFLECTIONS {
            return self.exit_above();
        }
        let speed = self.drift.abs();
        let passage = |start: f64| {
            let distance = start.abs();
            let exponent = self.drift * self.upper / self.variance;
            let offset = speed * distance / self.variance;
            scaled_tail(exponent - offset, (distance - speed * time) / spread)
                + scaled_tail(exponent + offset, (distance + speed * time) / spread)
        };
        let mut sum = passage(self.upper);
        let mut reflection = 1.0;
        while reflection <= reflections {
            let shift = 2.0 * reflection * width;
            sum += passage(self.upper + shift) - passage(self.upper - shift);
            reflection += 1.0;
        }
        sum.clamp(0.0, 1.0)
    }

    /// The probability that the lower bound was reached first within `time` items.
    fn exit_below_within(&self, time: f64) -> f64 {
        let mirrored = Self { drift: -self.drift, lower: -self.upper, upper: -self.lower, ..*self };
        mirrored.exit_above_within(time)
    }
}

/// `exp(exponent)` times the probability of a normal deviate above `x`, without overflow or underflow
/// of the factors.
fn scaled_tail(exponent: f64, x: f64) -> f64 {
    if x < 25.0 {
        exponent.exp() * erfc(x / std::f64::consts::SQRT_2) / 2.0
    } else {
        (exponent - x * x / 2.0).exp() / (x * std::f64::consts::TAU.sqrt())
    }
}
