//! Elo and log-likelihood ratio during a match, as a bounded number of points.

use crate::stats::{Counts, Figures, Sprt};

/// About the width of a chart in pixels.
const MAX_POINTS: usize = 1024;

/// A curve that keeps every n-th point, with n doubling as it grows.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    points: Vec<Point>,
    last: Option<Point>,
    stride: u64,
    seen: u64,
}

/// State of the match after a number of games.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) games: u64,
    /// Elo and its error, if defined.
    pub(super) elo: Option<(f64, f64)>,
    /// The log-likelihood ratio, in a test.
    pub(super) llr: Option<f64>,
}

impl Default for Curve {
    fn default() -> Self {
        Self { points: Vec::new(), last: None, stride: 1, seen: 0 }
    }
}

impl Curve {
    pub(super) fn add(&mut self, counts: &Counts, sprt: Option<&Sprt>) {
        let figures = Figures::of(counts);
        let point = Point {
            games: counts.games(),
            elo: figures.elo.value.number().zip(figures.elo.error.number()),
            llr: sprt.and_then(|sprt| sprt.llr(counts).ok()),
        };
        self.last = Some(point);
        if self.seen.is_multiple_of(self.stride) {
            self.points.push(point);
            if self.points.len() == MAX_POINTS {
                let mut index = 0_usize;
                self.points.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.stride *= 2;
            }
        }
        self.seen += 1;
    }

    /// The points, the last one always among them.
    pub(super) fn points(&self) -> Vec<Point> {
        let mut points = self.points.clone();
        if let Some(last) = self.last
            && points.last().is_none_or(|point| point.games < last.games)
        {
            points.push(last);
        }
        points
    }
}
