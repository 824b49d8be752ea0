//! The sequential probability ratio test (A. Wald, *Sequential tests of statistical hypotheses*,
//! 1945).

use std::fmt;

use super::brownian::Walk;
use super::counts::Counts;
use super::figure::Figure;
use super::model::{Evidence, LlrError, Model, Truth, weigh};

/// A test of the strength `elo0` (H0) against `elo1` (H1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    model: Model,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

/// Why there is no such test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SprtError {
    /// The hypotheses are not two numbers between -4000 and 4000, the first below the second.
    Hypotheses {
        /// H0.
        elo0: f64,
        /// H1.
        elo1: f64,
    },
    /// The error probabilities are not both above 0 and together below 1.
    Errors {
        /// To accept H1 wrongly.
        alpha: f64,
        /// To accept H0 wrongly.
        beta: f64,
    },
}

impl fmt::Display for SprtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hypotheses { elo0, elo1 } => {
                write!(f, "elo0 `{elo0}` must be below elo1 `{elo1}`, both between -4000 and 4000")
            }
            Self::Errors { alpha, beta } => {
                write!(f, "alpha `{alpha}` and beta `{beta}` must be above 0 and together below 1")
            }
        }
    }
}

impl std::error::Error for SprtError {}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Neither bound is reached.
    Continue,
    /// The lower bound is reached.
    AcceptH0,
    /// The upper bound is reached.
    AcceptH1,
}

/// Where a test stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SprtStatus {
    /// The log-likelihood ratio of H1 to H0.
    pub llr: f64,
    /// At or below it H0 is accepted.
    pub lower: f64,
    /// At or above it H1 is accepted.
    pub upper: f64,
    /// What follows.
    pub verdict: Verdict,
}

impl SprtStatus {
    /// How much of the way to a bound is done: -1 at the lower, 1 at the upper.
    pub fn progress(&self) -> f64 {
        if self.llr < 0.0 { -(self.llr / self.lower) } else { self.llr / self.upper }
    }
}

/// How a test will probably end. By the approximation of the log-likelihood ratio as Brownian
/// motion, which forgets that the last game oversteps the bound: the truth is slightly longer and
/// slightly more often right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The probability that H1 will be accepted.
    pub accept_h1: f64,
    /// How many more games it takes on average.
    pub games: f64,
}

/// The strength that a finished test speaks for.
///
/// A test stops when luck and strength together are convincing, so that the plain estimate is too
/// extreme. Here a strength is judged by how likely it makes an end no less extreme than the one
/// that was seen, where to accept H1 early is the most extreme in the one direction and to accept
/// H0 early in the other (stage-wise ordering: D. Siegmund, *Estimation following sequential
/// tests*, Biometrika 65, 1978). By the Brownian approximation; in the unit of the test's model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnbiasedEstimate {
    /// The strength that is too low as often as too high.
    pub median: Figure,
    /// The lower end of the interval that holds the true strength with 95 % confidence.
    pub low: Figure,
    /// Its upper end.
    pub high: Figure,
}

impl Sprt {
    /// A test with the hypotheses in Elo of the model, the probability `alpha` to accept H1 when H0
    /// is true, and `beta` to accept H0 when H1 is true.
    pub fn new(
        model: Model,
        elo0: f64,
        elo1: f64,
        alpha: f64,
        beta: f64,
    ) -> Result<Self, SprtError> {
        const MOST: f64 = 4000.0;
        // Written so that NaN is refused.
        if !(elo0 < elo1 && elo0 >= -MOST && elo1 <= MOST) {
            return Err(SprtError::Hypotheses { elo0, elo1 });
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            return Err(SprtError::Errors { alpha, beta });
        }
        Ok(Self { model, elo0, elo1, alpha, beta })
    }

    /// What the hypotheses are measured in.
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

    /// The log-likelihood ratio at or below which H0 is accepted.
    pub fn lower(&self) -> f64 {
        (self.beta / (1.0 - self.alpha)).ln()
    }

    /// The log-likelihood ratio at or above which H1 is accepted.
    pub fn upper(&self) -> f64 {
        ((1.0 - self.beta) / self.alpha).ln()
    }

    /// The log-likelihood ratio of H1 to H0. Each counts with the likeliest law that agrees with it,
    /// found exactly: approximations in closed form fail at lopsided results.
    pub fn llr(&self, counts: &Counts) -> Result<f64, LlrError> {
        self.weigh(counts, Truth::Seen).map(|evidence| evidence.llr)
    }

    /// What follows from a log-likelihood ratio.
    pub fn judge(&self, llr: f64) -> Verdict {
        if llr >= self.upper() {
            Verdict::AcceptH1
        } else if llr <= self.lower() {
            Verdict::AcceptH0
        } else {
            Verdict::Continue
        }
    }

    /// Where the test stands.
    pub fn status(&self, counts: &Counts) -> Result<SprtStatus, LlrError> {
        let llr = self.llr(counts)?;
        Ok(SprtStatus { llr, lower: self.lower(), upper: self.upper(), verdict: self.judge(llr) })
    }

    /// How a test that starts now will probably end if the true strength is `elo`, in the unit of
    /// the model, and results are otherwise like `base`; of it only the shares matter.
    pub fn forecast(&self, base: &Counts, elo: f64) -> Result<Forecast, LlrError> {
        self.walk_on(0.0, &self.weigh(base, Truth::Strength(elo))?)
    }

    /// How the test will probably go on from here if the true strength is `elo`.
    pub fn remaining(&self, counts: &Counts, elo: f64) -> Result<Forecast, LlrError> {
        let llr = self.llr(counts)?;
        self.walk_on(llr, &self.weigh(counts, Truth::Strength(elo))?)
    }

    /// How the test will probably go on from here if results stay as they were. With few games
    /// that is a guess.
    pub fn remaining_as_seen(&self, counts: &Counts) -> Result<Forecast, LlrError> {
        let evidence = self.weigh(counts, Truth::Seen)?;
        self.walk_on(evidence.llr, &evidence)
    }

    /// The strength that a finished test speaks for; none while the test goes on.
    pub fn estimate(&self, counts: &Counts) -> Result<Option<UnbiasedEstimate>, LlrError> {
        let evidence = self.weigh(counts, Truth::Seen)?;
        let accepted_h1 = match self.judge(evidence.llr) {
            Verdict::Continue => return Ok(None),
            Verdict::AcceptH0 => false,
            Verdict::AcceptH1 => true,
        };
        // The last game may have gone beyond the bound: the barrier stood where it was stopped.
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
        const FARTHEST: f64 = 1e4;
        const HALVINGS: u32 = 60;
        let exceeds = |elo: f64| {
            let evidence = self.weigh(counts, Truth::Strength(elo)).ok()?;
            Some(end.at_least_as_good(&evidence) > probability)
        };
        let mut reach = self.elo1 - self.elo0;
        let (mut low, mut high) = (self.elo0 - reach, self.elo1 + reach);
        loop {
            // A strength that no results like these can have is beyond the answer.
            let (below, above) = (exceeds(low) != Some(true), exceeds(high) != Some(false));
            if below && above {
                break;
            }
            reach *= 2.0;
            if reach > FARTHEST {
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
                // Both hypotheses can be reached.
                None if middle > self.elo1 => high = middle,
                None if middle < self.elo0 => low = middle,
                None => return Figure::Unknown,
            }
        }
        Figure::of(f64::midpoint(low, high))
    }

    fn walk_on(&self, llr: f64, evidence: &Evidence) -> Result<Forecast, LlrError> {
        let verdict = self.judge(llr);
        if verdict != Verdict::Continue {
            let accept_h1 = f64::from(u8::from(verdict == Verdict::AcceptH1));
            return Ok(Forecast { accept_h1, games: 0.0 });
        }
        let walk = evidence.walk(self.lower() - llr, self.upper() - llr)?;
        Ok(Forecast {
            accept_h1: walk.leaves_above(),
            games: walk.expected_time() * evidence.games_per_item,
        })
    }

    fn weigh(&self, counts: &Counts, truth: Truth) -> Result<Evidence, LlrError> {
        weigh(self.model, counts, [self.elo0, self.elo1], truth)
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

/// How a test ended.
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
            walk.left_above_by(self.items)
        } else {
            1.0 - walk.left_below_by(self.items)
        }
    }
}
