//! The phases of a client session and what the next search waits for.

use super::{Moment, PingId, SearchId, SearchRequest};
use crate::{Move, Register, Status};

/// The phase of a session.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one state exists per session")]
pub(super) enum State {
    /// `uci` or `usi` was sent at this time and is not answered.
    Handshake { since: Moment },
    /// No search is running.
    Idle,
    /// `go` was sent and is not answered.
    Searching(ActiveSearch),
    /// `quit` was sent at this time.
    Quitting { since: Moment },
    /// The engine closed its output.
    Disconnected,
}

impl State {
    pub(super) fn search(&self) -> Option<&ActiveSearch> {
        if let Self::Searching(search) = self { Some(search) } else { None }
    }

    pub(super) fn search_mut(&mut self) -> Option<&mut ActiveSearch> {
        if let Self::Searching(search) = self { Some(search) } else { None }
    }

    /// Ends the running search.
    pub(super) fn take_search(&mut self) -> Option<ActiveSearch> {
        self.search()?;
        match core::mem::replace(self, Self::Idle) {
            Self::Searching(search) => Some(search),
            _ => None,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self, Self::Idle | Self::Searching(_))
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Quitting { .. } | Self::Disconnected)
    }
}

/// The search that the engine has to answer.
#[derive(Debug)]
pub(super) struct ActiveSearch {
    pub(super) id: SearchId,
    pub(super) request: SearchRequest,
    /// When its time began: at `go` or at `ponderhit`.
    pub(super) since: Moment,
    /// When `stop` was sent.
    pub(super) stopped: Option<Moment>,
    /// The game ended, so the answer is discarded.
    pub(super) discarded: bool,
    /// The answer to the previous search, which is illegal here. `None` once the engine has sent
    /// `info` about this search or has repeated that answer.
    pub(super) stale_answer: Option<Move>,
}

/// What the next search waits for, in addition to the open pings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sync {
    /// Nothing.
    Done,
    /// A `readyok` to an `isready` that is not sent yet.
    NeedsReady,
    /// This moment: until then, a second answer to the previous search may arrive.
    Settling(Moment),
}

impl Sync {
    pub(super) fn require_ready_if(&mut self, required: bool) {
        if required {
            *self = Self::NeedsReady;
        }
    }

    /// When the next search may start, if that depends on time.
    pub(super) fn settled_at(self) -> Option<Moment> {
        if let Self::Settling(at) = self { Some(at) } else { None }
    }

    pub(super) fn expire(&mut self, now: Moment) {
        if self.settled_at().is_some_and(|at| at <= now) {
            *self = Self::Done;
        }
    }
}

/// How a search is separated from the answer to the previous one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Separation {
    /// Only after `stop`.
    AfterStop,
    /// By `readyok`, or by time if `isready` starts a game.
    Always,
    /// Always by `readyok`: the engine has answered a search twice.
    AlwaysByReady,
}

/// An `isready` without `readyok`.
#[derive(Debug)]
pub(super) struct Ping {
    /// `None` if the session itself needs the answer.
    pub(super) owner: Option<PingId>,
    pub(super) since: Moment,
}

/// The registration of the user and the state of it.
#[derive(Debug)]
pub(super) struct Registration {
    /// The answer to `registration error`.
    pub(super) with: Register<'static>,
    state: RegistrationState,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RegistrationState {
    /// The engine has reported no error.
    Accepted,
    /// The engine has reported `registration error`.
    Rejected,
    /// The engine has reported an error, and a newer answer is not sent yet.
    RetryDue,
}

impl Registration {
    pub(super) fn new() -> Self {
        Self { with: Register::Later, state: RegistrationState::Accepted }
    }

    pub(super) fn is_rejected(&self) -> bool {
        self.state != RegistrationState::Accepted
    }

    pub(super) fn set(&mut self, with: Register<'static>) {
        self.with = with;
        if self.is_rejected() {
            self.state = RegistrationState::RetryDue;
        }
    }

    pub(super) fn update(&mut self, status: Status) {
        self.state = match (status, self.state) {
            (Status::Error, RegistrationState::RetryDue) => RegistrationState::RetryDue,
            (Status::Error, _) => RegistrationState::Rejected,
            (Status::Ok | Status::Checking, _) => RegistrationState::Accepted,
        };
    }

    /// Whether a newer answer has to be sent. It counts as sent then.
    pub(super) fn take_retry(&mut self) -> bool {
        let due = self.state == RegistrationState::RetryDue;
        if due {
            self.state = RegistrationState::Rejected;
        }
        due
    }
}
