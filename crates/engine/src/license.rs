//! License checks: `copyprotection` and `registration`.

use std::fmt;
use std::sync::mpsc::SyncSender;

use readyok_protocol::{Register, Status};

use crate::error::Failure;
use crate::event::{Event, try_catch};

/// The arguments of `register`, at least one of them (UCI 2006, register).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Registration {
    /// The user's name.
    pub name: Option<String>,
    /// The user's code.
    pub code: Option<String>,
}

#[derive(Default)]
pub(crate) struct License {
    pub(crate) copy_protection: Option<Box<CopyProtection>>,
    pub(crate) registration: Option<Box<CheckRegistration>>,
}

type CopyProtection = dyn FnMut() -> Result<(), Failure> + Send;
type CheckRegistration = dyn FnMut(Option<&Registration>) -> Result<(), Failure> + Send;

impl License {
    /// Runs both checks after the handshake and reports the results.
    pub(crate) fn check(&mut self, events: &SyncSender<Event>) {
        if let Some(check) = &mut self.copy_protection {
            run_check(events, Event::CopyProtection, || {
                try_catch(events, "the copy protection", check)
            });
        }
        self.check_registration(None, events);
    }

    /// Checks the answer of the user. `register later` needs no check and no answer.
    pub(crate) fn register(&mut self, with: Register<'static>, events: &SyncSender<Event>) {
        match with {
            Register::Later => (),
            Register::With { name, code } => {
                let [name, code] = [name, code].map(|text| text.map(String::from));
                self.check_registration(Some(&Registration { name, code }), events);
            }
        }
    }

    fn check_registration(&mut self, with: Option<&Registration>, events: &SyncSender<Event>) {
        if let Some(check) = &mut self.registration {
            run_check(events, Event::Registration, || {
                try_catch(events, "the registration", || check(with))
            });
        }
    }
}

/// Reports the start and the result of a check.
fn run_check(
    events: &SyncSender<Event>,
    event: fn(Status) -> Event,
    check: impl FnOnce() -> Option<()>,
) {
    // The receiver is missing if the engine is about to exit.
    let _ = events.send(event(Status::Checking));
    let status = check().map_or(Status::Error, |()| Status::Ok);
    let _ = events.send(event(status));
}

impl fmt::Debug for License {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("License")
            .field("copy_protection", &self.copy_protection.is_some())
            .field("registration", &self.registration.is_some())
            .finish()
    }
}
