//! Sends reports of the search to the client.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use readyok_engine::protocol::{Bound, CurrentLine};
use readyok_engine::{Control, Info, MoveList};
use readyok_rules::{Game, MoveCodec};

use crate::platform::Load;
use crate::{Bounds, Report, Score, score};

/// `currmove`, `currline`, `refutation` and bounds are sent after this time only.
const QUIET: Duration = Duration::from_secs(1);

/// The output of one search.
#[derive(Debug)]
pub(super) struct Output<'a> {
    pub(super) control: &'a Control,
    pub(super) codec: MoveCodec,
    pub(super) game: Game,
    /// Requested information.
    pub(super) shown: ShownInfo,
    pub(super) load: Load,
    /// The lines of the last report, best first.
    pub(super) lines: Mutex<Vec<Line>>,
}

/// Information that is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShownInfo {
    /// Number of lines.
    pub(super) lines: usize,
    /// Win, draw and loss estimates.
    pub(super) wdl: bool,
    /// Current lines.
    pub(super) currline: bool,
    /// Refutations of root moves.
    pub(super) refutations: bool,
}

/// A line of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) depth: u32,
    pub(super) seldepth: u32,
    pub(super) score: Score,
    /// The score without tablebases at the root.
    pub(super) seen: Score,
    /// Whether the score is a tablebase draw.
    pub(super) drawn: bool,
    pub(super) pv: Vec<readyok_rules::Move>,
}

impl Output<'_> {
    /// The lines of the last report, best first.
    pub(super) fn lines(&self) -> MutexGuard<'_, Vec<Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the line chosen by skill.
    pub(super) fn played(&self, line: &Line) {
        self.control.info(Info {
            depth: Some(line.depth),
            seldepth: Some(line.seldepth),
            multipv: Some(1),
            pv: Some(self.move_list(&line.pv)),
            ..self.value(line.score, line.drawn)
        });
    }

    fn value(&self, score: Score, drawn: bool) -> Info<'static> {
        let chances =
            || if drawn { score::CERTAIN_DRAW } else { score::estimate_wdl(self.game, score) };
        Info {
            score: Some(wire_score(score)),
            wdl: self.shown.wdl.then(chances),
            ..Info::default()
        }
    }

    fn move_list(&self, moves: &[readyok_rules::Move]) -> MoveList<'static> {
        moves.iter().filter_map(|&mv| self.codec.encode(mv).ok()).collect()
    }
}

impl crate::Control for Output<'_> {
    fn stopped(&self) -> bool {
        self.control.stopped()
    }

    fn elapsed(&self) -> Duration {
        self.control.elapsed()
    }

    fn bounds(&self) -> Bounds {
        let budget = self.control.budget();
        Bounds {
            from: budget.from,
            soft: budget.soft,
            hard: budget.hard,
            overhead: budget.overhead,
        }
    }

    fn report(&self, report: &Report<'_>) {
        if report.bound == Bound::Exact {
            let mut lines = self.lines();
            if report.multipv == 1 {
                lines.clear();
            }
            lines.push(Line {
                depth: report.depth,
                seldepth: report.seldepth,
                score: report.score,
                seen: report.seen,
                drawn: report.drawn,
                pv: report.pv.to_vec(),
            });
        }
        if self.shown.lines.max(1) < report.multipv {
            return;
        }
        let micros = report.time.as_micros().max(1);
        let nps = u128::from(report.nodes) * 1_000_000 / micros;
        self.control.info(Info {
            depth: Some(report.depth),
            seldepth: Some(report.seldepth),
            // Also of a single line, as programs for Stockfish expect.
            multipv: u32::try_from(report.multipv).ok(),
            bound: report.bound,
            nodes: Some(report.nodes),
            nps: u64::try_from(nps).ok(),
            hashfull: Some(report.hashfull),
            tbhits: (report.tbhits > 0).then_some(report.tbhits),
            cpuload: self.load.permille(report.time),
            time: Some(report.time),
            pv: Some(self.move_list(report.pv)),
            ..self.value(report.score, report.drawn)
        });
    }

    fn reports_bounds(&self) -> bool {
        QUIET <= self.elapsed()
    }

    fn currmove(&self, mv: readyok_rules::Move, number: usize) {
        if QUIET <= self.elapsed() {
            self.control.info(Info {
                currmove: self.codec.encode(mv).ok(),
                currmovenumber: u32::try_from(number).ok(),
                ..Info::default()
            });
        }
    }

    fn currline(&self, line: &[readyok_rules::Move], thread: usize) {
        if self.shown.currline && QUIET <= self.elapsed() {
            let cpu = u32::try_from(thread).ok().filter(|&thread| 0 < thread);
            let currline = Some(CurrentLine { cpu, moves: self.move_list(line) });
            self.control.info(Info { currline, ..Info::default() });
        }
    }

    fn refutation(&self, mv: readyok_rules::Move, answers: &[readyok_rules::Move]) {
        if self.shown.refutations && QUIET <= self.elapsed() {
            let moves = [&[mv], answers].concat();
            let refutation = Some(self.move_list(&moves));
            self.control.info(Info { refutation, ..Info::default() });
        }
    }
}

pub(super) fn wire_score(score: Score) -> readyok_engine::Score {
    match score {
        Score::Centipawns(value) => readyok_engine::Score::Cp(value),
        Score::Wins { plies } => readyok_engine::Score::MateIn { plies },
        Score::Loses { plies: 0 } => readyok_engine::Score::Mated,
        Score::Loses { plies } => readyok_engine::Score::MatedIn { plies },
    }
}
