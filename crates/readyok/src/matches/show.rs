//! Who shows a match: a table on a terminal, or lines of text.

use std::io::Write;
use std::time::{Duration, Instant};

use readyok_arena::event::{Event, Listener};
use readyok_arena::plan::Plan;

use super::standing::Standing;
use crate::clock::now;
use crate::terminal::Canvas;

/// A terminal is drawn at most so often.
const FRAME: Duration = Duration::from_millis(100);

/// A table on a terminal, which is drawn over itself.
#[derive(Debug)]
pub struct Live<W> {
    canvas: Canvas<W>,
    standing: Standing,
    drawn: Option<Instant>,
    closed: bool,
}

impl<W: Write> Live<W> {
    /// A table of a match with so many pairings. `size` gives the columns and rows of the terminal.
    pub fn new(out: W, size: fn() -> (usize, usize), plan: &Plan, total: u64) -> Self {
        let standing = Standing::new(plan, total);
        Self { canvas: Canvas::new(out, size), standing, drawn: None, closed: false }
    }
}

impl<W: Write + Send> Listener for Live<W> {
    fn on_event(&mut self, event: &Event) {
        let line = self.standing.on_event(event);
        if self.closed {
            return;
        }
        let last = matches!(event, Event::MatchEnd { .. });
        let now = now();
        if !last && self.drawn.is_some_and(|drawn| now < drawn + FRAME) {
            return;
        }
        self.drawn = Some(now);
        let mut done = self.canvas.draw(self.standing.rows());
        if let (true, Some(line)) = (last, line) {
            done = done.and_then(|()| self.canvas.finish(&line));
        }
        self.closed = done.is_err();
    }
}

/// One line for each game, and the strength of the engines from time to time.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
    standing: Standing,
    /// After so many pairings the strength is shown.
    every: u64,
    closed: bool,
}

impl<W: Write> Lines<W> {
    /// Lines about a match with so many pairings, with the strength after every so many of them.
    pub fn new(out: W, plan: &Plan, total: u64, every: u64) -> Self {
        let standing = Standing::new(plan, total);
        Self { out, standing, every: every.max(1), closed: false }
    }

    fn say(&mut self, line: &str) {
        self.closed |= writeln!(self.out, "{line}").and_then(|()| self.out.flush()).is_err();
    }
}

impl<W: Write + Send> Listener for Lines<W> {
    fn on_event(&mut self, event: &Event) {
        let line = self.standing.on_event(event);
        if self.closed {
            return;
        }
        let due = match event {
            Event::Score(score) => {
                let games = score.wins + score.draws + score.losses;
                let pairs: u64 = score.pairs.iter().sum();
                let played = if pairs > 0 { pairs } else { games };
                played.is_multiple_of(self.every)
            }
            Event::MatchEnd { .. } => true,
            _ => false,
        };
        if due {
            for row in self.standing.strength() {
                self.say(&row);
            }
        }
        if let Some(line) = line {
            self.say(&line);
        }
    }
}
