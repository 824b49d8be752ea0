//! The end of a session: `quit`, signals to the process, and the error that explains the end.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use readyok_protocol::session::client::TimeoutKind;

use super::{Change, Driver, Input};
use crate::error::{EngineError, Problem, Termination};
use crate::process::Signal;

/// How long a process that has closed its output may take to exit by itself.
pub(super) const CLOSING: Duration = Duration::from_millis(500);
/// How long it may take after SIGTERM.
pub(super) const TERMINATING: Duration = Duration::from_millis(500);
/// How long the system may take after SIGKILL.
const KILLING: Duration = Duration::from_secs(5);
/// How long a dropped handle waits for the engine to exit by itself.
const DROPPING: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug)]
pub(super) enum Liveness {
    Process { exit: Option<ExitStatus> },
    Stream { closed: bool },
}

#[derive(Debug)]
pub(super) struct Ending {
    /// The cause. `None` if the caller requested the end.
    pub(super) problem: Option<Problem>,
    /// Why the process is terminated if it does not exit.
    pub(super) reason: Termination,
    pub(super) stage: Stage,
    pub(super) until: Instant,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    Closing,
    Terminating,
    Killing,
    Over,
}

impl Driver {
    /// Sends `quit` and closes the input.
    pub(crate) fn quit(&mut self, now: Instant) {
        self.quit_within(self.timeouts.quit.total, Termination::Timeout(TimeoutKind::Exit), now);
    }

    /// Like [`quit`](Self::quit), with the timeouts of a destructor.
    pub(crate) fn quit_soon(&mut self, now: Instant) {
        self.quit_within(self.timeouts.quit.total.min(DROPPING), Termination::Dropped, now);
    }

    fn quit_within(&mut self, time: Duration, reason: Termination, now: Instant) {
        if self.ending.is_none() {
            let moment = self.advance_clock(now);
            self.session.quit(moment, &mut self.out);
            self.begin_ending(None, reason, Stage::Closing, now + time);
        }
        if self.input == Input::Open {
            self.input = Input::Closing;
        }
    }

    /// Kills the engine.
    pub(crate) fn kill(&mut self, reason: Termination, now: Instant) {
        // The input stays open: at its end an engine could exit by itself before the signal arrives.
        self.out.clear();
        self.unsent = Vec::new();
        self.signal = Some(Signal::Kill);
        let (stage, until) = (Stage::Killing, now + KILLING);
        match &mut self.ending {
            Some(ending) if ending.stage != Stage::Over => {
                (ending.reason, ending.stage, ending.until) = (reason, stage, until);
            }
            Some(_) => (),
            None => self.begin_ending(None, reason, stage, until),
        }
        self.advance_ending(now);
    }

    pub(super) fn begin_ending(
        &mut self,
        problem: Option<Problem>,
        reason: Termination,
        stage: Stage,
        until: Instant,
    ) {
        if self.ending.is_none() {
            self.ending = Some(Ending { problem, reason, stage, until });
            self.change = Change::State;
        }
    }

    pub(super) fn advance_ending(&mut self, now: Instant) {
        let exited = match self.engine {
            Liveness::Process { exit } => exit.is_some(),
            Liveness::Stream { closed } => closed,
        };
        let Some(ending) = &mut self.ending else { return };
        if ending.stage == Stage::Over {
            return;
        }
        let (signal, stage, time) = match ending.stage {
            _ if exited => (None, Stage::Over, Duration::ZERO),
            _ if now < ending.until => return,
            Stage::Closing => (Some(Signal::Terminate), Stage::Terminating, TERMINATING),
            Stage::Terminating => (Some(Signal::Kill), Stage::Killing, KILLING),
            Stage::Killing | Stage::Over => (None, Stage::Over, Duration::ZERO),
        };
        if let (Some(_), Termination::Timeout(wait)) = (signal, ending.reason) {
            // The process did not exit on request.
            ending.problem.get_or_insert(Problem::Timeout(wait));
        }
        (ending.stage, ending.until) = (stage, now + time);
        self.signal = signal.or(self.signal);
        self.change = Change::State;
    }

    /// The signal to send to the process now. A stream without a process is closed instead.
    pub(crate) fn take_signal(&mut self, now: Instant) -> Option<Signal> {
        let signal = self.signal.take()?;
        if let Liveness::Stream { closed } = &mut self.engine {
            *closed = true;
            self.input = Input::Closed;
            self.advance_ending(now);
        }
        Some(signal)
    }

    /// A signal of [`take_signal`](Self::take_signal) was sent to a running process.
    pub(crate) fn on_signaled(&mut self) {
        if let Some(ending) = &self.ending {
            // A later signal has the reason of the first.
            self.termination.get_or_insert(ending.reason);
        }
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// Whether the engine has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| ending.stage == Stage::Over)
    }

    /// Whether [`quit`](Self::quit) has finished.
    pub(crate) fn quit_result(&self) -> Option<Result<Option<ExitStatus>, EngineError>> {
        let ending = self.ending.as_ref().filter(|ending| ending.stage == Stage::Over)?;
        Some(match &ending.problem {
            Some(problem) => Err(self.last_error(problem.clone())),
            None => Ok(self.exit()),
        })
    }

    /// The exit status of the process.
    pub(crate) fn exit(&self) -> Option<ExitStatus> {
        match self.engine {
            Liveness::Process { exit } => exit,
            Liveness::Stream { .. } => None,
        }
    }

    /// The reason why the session ended.
    pub(crate) fn final_error(&self) -> Option<EngineError> {
        let ending = self.ending.as_ref().filter(|ending| ending.stage == Stage::Over)?;
        Some(self.last_error(ending.problem.clone().unwrap_or(Problem::Disconnected)))
    }

    /// An error of a call after the end of the session.
    pub(super) fn check_open(&self) -> Result<(), EngineError> {
        let Some(ending) = &self.ending else { return Ok(()) };
        Err(self.last_error(ending.problem.clone().unwrap_or(Problem::Disconnected)))
    }

    fn last_error(&self, problem: Problem) -> EngineError {
        self.error(problem).with_end(self.exit(), self.termination, self.stderr.lines())
    }

    pub(super) fn error(&self, problem: Problem) -> EngineError {
        let timeout = match &problem {
            Problem::Timeout(TimeoutKind::Exit) => Some(self.timeouts.quit.total),
            Problem::Timeout(wait) => self.session.timeout_of(*wait),
            _ => None,
        };
        let message = match &problem {
            Problem::Timeout(_) | Problem::Disconnected => self.session.last_text(),
            it if it.is_copy_protection() => self.session.status_message(),
            _ => None,
        };
        let message = message.map(str::to_owned);
        EngineError::new(&self.name, problem)
            .with_timeout(self.session.protocol_state().dialect(), timeout)
            .with_message(message)
    }
}
