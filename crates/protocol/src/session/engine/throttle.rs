//! Limits the rate of `info` lines.
//!
//! Some GUIs hang on bursts of thousands of lines, as from an engine that finds a mate while pondering.

use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

use crate::Info;
use crate::session::SessionTime;

/// Average interval between two lines.
const PERIOD: Duration = Duration::from_millis(20);

/// Maximum number of lines in a burst.
const BURST: u32 = 100;

/// Additional lines that complete an iteration. Stockfish has at most 256 variations.
const BLOCK: u32 = 256;

/// Maximum number of lines in a burst if the line is only a detail.
const BURST_OF_DETAILS: u32 = BURST / 2;

/// Maximum number of delayed variations, and of delayed texts.
const MAX_LINES: usize = 512;
const MAX_TEXTS: usize = 1000;

/// Decides whether an `info` is sent now, delayed or dropped.
#[derive(Debug)]
pub(super) struct Throttle {
    /// When the next line would be sent at a constant rate.
    next: SessionTime,
    /// Delayed lines in their order.
    held: Vec<Info<'static>>,
    /// Number of texts beyond the maximum.
    lost_texts: u32,
    /// Rank of the last variation. Initially, any variation starts an iteration.
    last_rank: u32,
    /// The variations of this iteration are being sent.
    block_passes: bool,
}

/// Whether a line has a score or a PV.
pub(super) fn has_score_or_pv(info: &Info<'_>) -> bool {
    info.score.is_some() || info.pv.is_some()
}

/// Whether a line is an `info string`.
pub(super) fn is_text(info: &Info<'_>) -> bool {
    info.string.is_some() && !has_score_or_pv(info)
}

fn rank(info: &Info<'_>) -> u32 {
    info.multipv.unwrap_or(1)
}

impl Throttle {
    pub(super) fn new() -> Self {
        Self {
            next: SessionTime::ZERO,
            held: Vec::new(),
            lost_texts: 0,
            last_rank: u32::MAX,
            block_passes: false,
        }
    }

    /// Resets the state of the last iteration.
    pub(super) fn start_search(&mut self) {
        self.last_rank = u32::MAX;
        self.block_passes = false;
    }

    /// Whether a line may be sent now. If not, it is delayed or dropped.
    pub(super) fn passes(&mut self, info: &Info<'_>, now: SessionTime) -> bool {
        let room = |lines: u32| self.next <= now.saturating_add(PERIOD * lines);
        let passes = if has_score_or_pv(info) {
            let completes = core::mem::replace(&mut self.last_rank, rank(info)) < rank(info);
            self.block_passes = if completes {
                self.block_passes && room(BURST + BLOCK)
            } else {
                self.held.is_empty() && room(BURST)
            };
            self.block_passes
        } else if is_text(info) {
            self.held.is_empty() && room(BURST)
        } else {
            let is_empty = *info == Info { depth: info.depth, ..Info::default() };
            !is_empty && room(BURST_OF_DETAILS)
        };
        if passes {
            self.spend(now);
        } else {
            self.hold(info);
        }
        passes
    }

    fn hold(&mut self, info: &Info<'_>) {
        // A line without a PV contains less information than its predecessor.
        let replaces = |held: &&mut Info<'_>| {
            has_score_or_pv(info)
                && has_score_or_pv(held)
                && rank(held) == rank(info)
                && (info.pv.is_some() || held.pv.is_none())
        };
        if let Some(held) = self.held.iter_mut().find(replaces) {
            *held = info.clone().into_owned();
            return;
        }
        let held = |text| self.held.iter().filter(|reply| is_text(reply) == text).count();
        if is_text(info) && MAX_TEXTS <= held(true) {
            self.lost_texts = self.lost_texts.saturating_add(1);
        } else if is_text(info) || (has_score_or_pv(info) && held(false) < MAX_LINES) {
            self.held.push(info.clone().into_owned());
        }
    }

    /// When delayed lines may be sent.
    pub(super) fn due(&self) -> Option<SessionTime> {
        (!self.held.is_empty()).then(|| self.next.saturating_sub(PERIOD * BURST))
    }

    /// Removes the delayed lines that may be sent now.
    pub(super) fn release(&mut self, now: SessionTime) -> Vec<Info<'static>> {
        if self.due().is_none_or(|due| now < due) {
            return Vec::new();
        }
        // The rest of the iteration belongs to them.
        self.block_passes = true;
        let count = self.held.len().min(BLOCK as usize);
        let lines: Vec<_> = self.held.drain(..count).collect();
        for _ in &lines {
            self.spend(now);
        }
        lines
    }

    /// Removes all delayed lines.
    pub(super) fn flush(&mut self) -> Vec<Info<'static>> {
        let mut lines = core::mem::take(&mut self.held);
        if let lost @ 1.. = core::mem::take(&mut self.lost_texts) {
            lines.push(Info::text(format!("{lost} more lines of text are left out")));
        }
        lines
    }

    fn spend(&mut self, now: SessionTime) {
        self.next = self.next.max(now).saturating_add(PERIOD);
    }
}
