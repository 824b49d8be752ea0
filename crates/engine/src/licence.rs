//! Whether the engine may be used: `copyprotection` and `registration`.

use std::fmt;
use std::sync::mpsc::SyncSender;

use readyok_protocol::{Register, Status};

use crate::Failure;
use crate::server::Event;
use crate::worker::passed;

/// What a user registers an engine with, at least one of the two (UCI 2006, register).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Registration {
    /// The user's name.
    pub name: Option<String>,
    /// The code that the user was given.
    pub code: Option<String>,
}

/// The author's checks, if there are any.
#[derive(Default)]
pub(crate) struct Licence {
    pub(crate) copy_protection: Option<Box<CopyProtection>>,
    pub(crate) registration: Option<Box<CheckRegistration>>,
}

type CopyProtection = dyn FnMut() -> Result<(), Failure> + Send;
type CheckRegistration = dyn FnMut(Option<&Registration>) -> Result<(), Failure> + Send;

impl Licence {
    /// Runs both checks and reports them, as after the handshake.
    pub(crate) fn check(&mut self, events: &SyncSender<Event>) {
        if let Some(check) = &mut self.copy_protection {
            tell(events, Event::CopyProtection, || passed(events, "the copy protection", check));
        }
        self.check_registration(None, events);
    }

    /// Checks what the user has answered. That he registers later is no attempt, and not answered.
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
            tell(events, Event::Registration, || {
                passed(events, "the registration", || check(with))
            });
        }
    }
}

/// Tells that something is checked, and how it went.
fn tell(
    events: &SyncSender<Event>,
    event: fn(Status) -> Event,
    check: impl FnOnce() -> Option<()>,
) {
    // Without a receiver the engine is about to end.
    let _ = events.send(event(Status::Checking));
    let status = check().map_or(Status::Error, |()| Status::Ok);
    let _ = events.send(event(status));
}

impl fmt::Debug for Licence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Licence")
            .field("copy_protection", &self.copy_protection.is_some())
            .field("registration", &self.registration.is_some())
            .finish()
    }
}
