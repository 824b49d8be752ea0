//! Timeouts of a client session.

use core::fmt;
use core::time::Duration;

use crate::session::Moment;

/// Timeouts for an engine.
#[doc(alias = "timeout")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timeouts {
    /// For `uciok` or `usiok`.
    pub handshake: Limit,
    /// For `readyok`. Engines load networks and tablebases before it.
    pub ready: Limit,
    /// For `bestmove` after `stop`.
    pub stop: Limit,
    /// How far a search may overrun its clock before it is stopped.
    pub overrun: Duration,
    /// How long a search without a time limit may print nothing before it is stopped. An infinite search
    /// and a mate search may be silent forever.
    pub stall: Duration,
    /// Delay after an answer of a shogi engine before the next search. `readyok` cannot separate the two,
    /// and some engines answer twice.
    pub settle: Duration,
    /// For the exit of the process after `quit`.
    pub quit: Limit,
}

/// A timeout for one answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit {
    /// Maximum time without output. Any output resets it.
    pub silence: Duration,
    /// Maximum time in total.
    pub total: Duration,
}

impl Limit {
    /// A timeout that output does not extend.
    pub const fn fixed(total: Duration) -> Self {
        Self { silence: total, total }
    }

    pub(super) fn deadline(self, since: Moment, last_output: Moment) -> Moment {
        let silent = since.max(last_output).saturating_add(self.silence);
        silent.min(since.saturating_add(self.total))
    }
}

impl Default for Timeouts {
    /// A little more than the timeouts of deployed GUIs and match runners: 10 s of silence in the
    /// handshake, 60 s before `readyok`, 10 s after `stop`, 5 s after `quit`.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            handshake: Limit { silence: seconds(10), total: seconds(120) },
            ready: Limit { silence: seconds(60), total: seconds(30 * 60) },
            stop: Limit::fixed(seconds(10)),
            overrun: seconds(2),
            stall: seconds(10 * 60),
            settle: Duration::from_millis(5),
            quit: Limit::fixed(seconds(5)),
        }
    }
}

/// The missing answer of a timeout.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TimeoutKind {
    /// `uciok` or `usiok`.
    Handshake,
    /// `readyok`.
    Ready,
    /// `bestmove` after `stop`.
    Stop,
    /// The exit of the process after `quit`.
    Exit,
}

impl fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Handshake => "no answer to `uci` or `usi`",
            Self::Ready => "no `readyok`",
            Self::Stop => "no `bestmove` after `stop`",
            Self::Exit => "still running after `quit`",
        })
    }
}
