//! A random walk between two barriers: where it leaves, and when.
//!
//! The log-likelihood ratio of a test is close to Brownian motion with drift, as the step of one
//! game is small beside the bounds (D. Siegmund, *Sequential Analysis*, 1985, chapter III).

use libm::erfc;

/// Brownian motion that starts at 0 and ends where it meets a bound. Time is counted in items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// What an item adds on average.
    pub(super) drift: f64,
    /// The variance of what an item adds; above 0.
    pub(super) variance: f64,
    /// Below 0.
    pub(super) lower: f64,
    /// Above 0.
    pub(super) upper: f64,
}

impl Walk {
    /// The probability to leave at the upper bound.
    pub(super) fn leaves_above(&self) -> f64 {
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

    /// How many items it takes on average, by Wald's identity.
    pub(super) fn expected_time(&self) -> f64 {
        let width = self.upper - self.lower;
        if (self.drift * width).abs() < 1e-6 * self.variance {
            return -self.lower * self.upper / self.variance;
        }
        let above = self.leaves_above();
        (above * self.upper + (1.0 - above) * self.lower) / self.drift
    }

    /// The probability to have left at the upper bound after so many items: the sum over all
    /// reflections of the barriers, each the first passage of one barrier.
    pub(super) fn left_above_by(&self, time: f64) -> f64 {
        const MOST_REFLECTIONS: f64 = 1000.0;
        if time <= 0.0 {
            return 0.0;
        }
        let width = self.upper - self.lower;
        let spread = (self.variance * time).sqrt();
        let reflections = (3.0 + 5.0 * spread / width).ceil();
        if reflections > MOST_REFLECTIONS {
            return self.leaves_above();
        }
        let speed = self.drift.abs();
        let passage = |start: f64| {
            let distance = start.abs();
            let tilt = self.drift * self.upper / self.variance;
            let toll = speed * distance / self.variance;
            scaled_tail(tilt - toll, (distance - speed * time) / spread)
                + scaled_tail(tilt + toll, (distance + speed * time) / spread)
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

    /// The same at the lower bound.
    pub(super) fn left_below_by(&self, time: f64) -> f64 {
        let mirrored = Self { drift: -self.drift, lower: -self.upper, upper: -self.lower, ..*self };
        mirrored.left_above_by(time)
    }
}

/// `exp(exponent)` times the probability of a normal deviate above `x`, where the one may be too
/// large and the other too small for a number of their own.
fn scaled_tail(exponent: f64, x: f64) -> f64 {
    if x < 25.0 {
        exponent.exp() * erfc(x / std::f64::consts::SQRT_2) / 2.0
    } else {
        (exponent - x * x / 2.0).exp() / (x * std::f64::consts::TAU.sqrt())
    }
}
