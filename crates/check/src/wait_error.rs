//! Waits without the expected reply, and what they mean for a check.

use std::process::ExitStatus;
use std::time::Duration;

use crate::message::{Message, Value, message};
use crate::spec::Stop;

/// A wait without the expected reply.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitError {
    /// The timeout has expired.
    Late(Duration),
    /// The engine has exited or closed its output.
    Ended(Option<ExitStatus>),
    /// The search needs a missing feature, with the check of this feature.
    Depends(&'static str),
    /// The search takes too long.
    Slow,
    /// The time limit of the run has expired.
    OutOfTime,
}

impl WaitError {
    /// A failure of the engine.
    pub(crate) fn into_failure(self, what: Message) -> Stop {
        match self {
            Self::Depends(check) => Stop::Depends(check),
            Self::Slow => Stop::Slow,
            Self::OutOfTime => Stop::out_of_time(),
            Self::Late(_) | Self::Ended(_) => {
                Stop::NoReply(message!("engine.failure", what, cause = self))
            }
        }
    }
}

/// Conversion of a missing reply to a verdict.
pub(crate) trait OrFail<T> {
    /// A missing reply violates the rule.
    fn or_fail(self, what: Message) -> Result<T, Stop>;
}

impl<T> OrFail<T> for Result<T, WaitError> {
    fn or_fail(self, what: Message) -> Result<T, Stop> {
        self.map_err(|failure| failure.into_failure(what))
    }
}

impl From<WaitError> for Stop {
    /// The reply is only a precondition, which another check covers.
    fn from(failure: WaitError) -> Self {
        match failure {
            WaitError::Depends(check) => Self::Depends(check),
            WaitError::Slow => Self::Slow,
            WaitError::OutOfTime => Self::out_of_time(),
            WaitError::Late(_) | WaitError::Ended(_) => {
                Self::Incomplete(message!("engine.incomplete", cause = failure))
            }
        }
    }
}

impl From<WaitError> for Value {
    fn from(failure: WaitError) -> Self {
        Self::from(match failure {
            WaitError::Late(time) => {
                message!("engine.timeout", seconds = format!("{:.1}", time.as_secs_f64()))
            }
            WaitError::Ended(Some(status)) => message!("engine.exited", status),
            WaitError::Ended(None) => message!("engine.closed-output"),
            WaitError::Depends(check) => message!("check.depends", check),
            WaitError::Slow => message!("search.slow"),
            WaitError::OutOfTime => message!("run.out-of-time"),
        })
    }
}
