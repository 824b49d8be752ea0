//! Progress with the rate, on a terminal.

use std::io::{self, IsTerminal, Stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::clock::now;
use crate::terminal::{Canvas, terminal_size};

const FRAME_INTERVAL: Duration = Duration::from_millis(100);

/// Progress of a command, on standard error if that is a terminal.
pub(crate) struct Progress {
    canvas: Option<Canvas<Stderr>>,
    /// What is counted, in the plural.
    unit: &'static str,
    start: Instant,
    next: Instant,
    total: Option<u64>,
    done: Arc<AtomicU64>,
}

impl Progress {
    /// `done` of `total` parts are processed.
    pub(crate) fn new(unit: &'static str, total: Option<u64>, done: Arc<AtomicU64>) -> Self {
        let start = now();
        let canvas = io::stderr().is_terminal().then(|| Canvas::new(io::stderr(), terminal_size));
        Self { canvas, unit, start, next: start + FRAME_INTERVAL * 3, total, done }
    }

    /// Shows the number of games so far.
    pub(crate) fn update(&mut self, games: u64) {
        let Some(canvas) = &mut self.canvas else { return };
        let at = now();
        if at < self.next {
            return;
        }
        self.next = at + FRAME_INTERVAL;
        let rate = rate(games, at - self.start);
        let part = self.total.filter(|total| 0 < *total).map(|total| {
            let done = self.done.load(Ordering::Relaxed).min(total);
            let percent = done * 100 / total;
            let filled = usize::try_from(percent / 5).unwrap_or_default();
            format!("[{}{}] {percent:3} %  ", "█".repeat(filled), "░".repeat(20 - filled))
        });
        let bar = part.unwrap_or_default();
        let unit = self.unit;
        // A closed terminal is not a failure of the command.
        let _ = canvas.draw([format!("{bar}{} {unit}  {rate}", grouped(games))]);
    }

    /// Removes the progress.
    pub(crate) fn clear(&mut self) {
        if let Some(canvas) = &mut self.canvas {
            let _ = canvas.draw([]);
        }
    }
}

fn rate(games: u64, elapsed: Duration) -> String {
    let millis = elapsed.as_millis().max(1);
    let rate = u128::from(games) * 1000 / millis;
    if rate < 10 && 0 < games {
        let minute = u128::from(games) * 60_000 / millis;
        return format!("{minute}/min");
    }
    format!("{}/s", grouped(u64::try_from(rate).unwrap_or(u64::MAX)))
}

/// A number with commas: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_rates_rounded() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(rate(40_000, Duration::from_secs(2)), "20,000/s");
        assert_eq!(rate(3, Duration::from_mins(1)), "3/min");
    }
}
