//! How long a client waits for what, and what it says when that is over.

use core::fmt;
use core::time::Duration;

use crate::session::Moment;

/// How long to wait for an engine. Each wait has a name, a default, and is settable.
#[doc(alias = "timeout")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timeouts {
    /// For `uciok` or `usiok`.
    pub handshake: Limit,
    /// For `readyok`. Engines load networks and tables before it.
    pub ready: Limit,
    /// For `bestmove` after `stop`.
    pub stop: Limit,
    /// How far a search may overrun its clock before it is stopped.
    pub overrun: Duration,
    /// How long a search without a limit in time may be silent before it is stopped. One that
    /// runs until `stop`, or until a mate is found, may be silent for ever.
    pub stall: Duration,
    /// How long a shogi engine has to keep quiet after an answer before the next search. No
    /// `readyok` can separate the two, and engines were seen to answer twice.
    pub settle: Duration,
    /// For the end of the process after `quit`.
    pub quit: Limit,
}

/// How long to wait for one thing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit {
    /// How long the engine may be silent. Anything that it says starts this anew.
    pub silence: Duration,
    /// How long it may take in all.
    pub total: Duration,
}

impl Limit {
    /// A limit that output does not extend.
    pub const fn fixed(total: Duration) -> Self {
        Self { silence: total, total }
    }

    pub(super) fn deadline(self, since: Moment, heard: Moment) -> Moment {
        let silent = since.max(heard).saturating_add(self.silence);
        silent.min(since.saturating_add(self.total))
    }
}

impl Default for Timeouts {
    /// What deployed GUIs and match runners grant, and a little more: 10 s of silence in the
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

/// What an engine is late with.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TimeoutKind {
    /// With `uciok` or `usiok`.
    Handshake,
    /// With `readyok`.
    Ready,
    /// With `bestmove` after `stop`.
    Stop,
    /// With leaving after `quit`.
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
