//! A control that records reports, and stops at the configured poll.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use narikin::{Bounds, Control, Report, Score};
use readyok_engine::protocol::Bound;
use readyok_rules::Move;

/// An owned copy of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) depth: u32,
    pub(crate) seldepth: u32,
    pub(crate) multipv: usize,
    pub(crate) score: Score,
    pub(crate) nodes: u64,
    pub(crate) hashfull: u32,
    pub(crate) tbhits: u64,
    pub(crate) pv: Vec<Move>,
}

/// A simulated clock that advances one millisecond per poll of the stop flag.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    questions: Cell<u64>,
    /// The poll at which to stop. `None` for never.
    stop_at: Option<u64>,
    bounds: Bounds,
    /// A scheduling delay in milliseconds, at the tenth poll.
    delay: u64,
    pub(crate) lines: RefCell<Vec<Line>>,
    /// Reported bounds, if requested.
    pub(crate) window_bounds: Option<RefCell<Vec<(Bound, Line)>>>,
    pub(crate) currmoves: RefCell<Vec<(Move, usize)>>,
    pub(crate) refutations: RefCell<Vec<(Move, Vec<Move>)>>,
}

impl Probe {
    pub(crate) fn with_window_bounds() -> Self {
        Self { window_bounds: Some(RefCell::default()), ..Self::default() }
    }

    pub(crate) fn stop_at(question: u64) -> Self {
        Self { stop_at: Some(question), ..Self::default() }
    }

    pub(crate) fn with_bounds(soft: Option<Duration>, hard: Option<Duration>) -> Self {
        Self { bounds: Bounds { soft, hard, ..Bounds::default() }, ..Self::default() }
    }

    /// Simulates a scheduling delay of this number of milliseconds.
    pub(crate) fn delay(mut self, millis: u64) -> Self {
        self.delay = millis;
        self
    }

    /// Starts the clock at this time, as after a ponder hit.
    pub(crate) fn from(mut self, from: Duration) -> Self {
        self.bounds.from = from;
        self
    }

    /// The lines of the last report.
    pub(crate) fn last_lines(&self) -> Vec<Line> {
        let lines = self.lines.borrow();
        let start = lines.iter().rposition(|line| line.multipv == 1).unwrap_or(0);
        lines.iter().skip(start).cloned().collect()
    }

    pub(crate) fn questions(&self) -> u64 {
        self.questions.get()
    }
}

impl Control for Probe {
    fn stopped(&self) -> bool {
        self.questions.set(self.questions.get() + 1);
        self.stop_at.is_some_and(|question| self.questions.get() >= question)
    }

    fn elapsed(&self) -> Duration {
        let delay = if self.questions.get() >= 10 { self.delay } else { 0 };
        Duration::from_millis(self.questions.get() + delay)
    }

    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn report(&self, report: &Report<'_>) {
        let line = Line {
            depth: report.depth,
            seldepth: report.seldepth,
            multipv: report.multipv,
            score: report.score,
            nodes: report.nodes,
            hashfull: report.hashfull,
            tbhits: report.tbhits,
            pv: report.pv.to_vec(),
        };
        match (&self.window_bounds, report.bound) {
            (_, Bound::Exact) => self.lines.borrow_mut().push(line),
            (Some(bounds), bound) => bounds.borrow_mut().push((bound, line)),
            (None, _) => panic!("a bound was not requested: {line:?}"),
        }
    }

    fn reports_bounds(&self) -> bool {
        self.window_bounds.is_some()
    }

    fn currmove(&self, mv: Move, number: usize) {
        self.currmoves.borrow_mut().push((mv, number));
    }

    fn refutation(&self, mv: Move, answers: &[Move]) {
        self.refutations.borrow_mut().push((mv, answers.to_vec()));
    }
}
