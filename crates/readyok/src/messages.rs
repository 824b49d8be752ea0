//! What an engine reports outside of searches: whether it may be used, and lines that are no messages.

use std::time::Duration;

use readyok_client::{Engine, Event, Notice};
use readyok_protocol::Status;

use crate::clock::now;

/// How long an engine may take to report its status after the handshake. No message asks for it.
const STATUS_WAIT: Duration = Duration::from_millis(200);

/// How often it is looked for.
const STATUS_INTERVAL: Duration = Duration::from_millis(10);

/// Reports of one engine, each printed once.
#[derive(Debug, Default)]
pub struct Messages {
    /// The handshake is over, after which a bare line is no banner.
    is_greeted: bool,
    is_copy_protected: bool,
    is_unregistered: bool,
    lines: Vec<String>,
}

impl Messages {
    /// Collects what the engine has reported so far.
    pub fn collect(&mut self, engine: &mut Engine) {
        for notice in engine.drain_notices() {
            self.add(notice);
        }
        self.is_greeted = true;
    }

    /// Collects as well what the engine reports in the moment after the handshake.
    pub fn collect_status(&mut self, engine: &mut Engine) {
        self.collect(engine);
        let mut until = now() + STATUS_WAIT;
        while now() < until {
            std::thread::park_timeout(STATUS_INTERVAL);
            for notice in engine.drain_notices() {
                if is_status(&notice) {
                    until = now() + STATUS_WAIT;
                }
                self.add(notice);
            }
        }
    }

    /// Whether the engine has reported `copyprotection error`, after which it may not be used.
    pub fn is_copy_protected(&self) -> bool {
        self.is_copy_protected
    }

    /// Leaves the report of the copy protection to an error.
    pub fn forget_copy_protection(&mut self) {
        self.is_copy_protected = false;
    }

    /// Takes the lines that were collected, except for one that is reported elsewhere.
    pub fn take_lines(&mut self, elsewhere: Option<&str>) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines);
        lines.retain(|line| Some(line.as_str()) != elsewhere);
        lines.dedup();
        lines
    }

    /// The status of the engine as sentences for the user, with the engine's own text.
    pub fn status(&self, engine: &Engine) -> Vec<String> {
        let name = engine.name();
        let message = engine.status_message().map(|text| format!(": `{text}`"));
        let message = message.unwrap_or_default();
        let mut status = Vec::new();
        if self.is_copy_protected {
            status.push(format!("engine `{name}` reported a copy protection error{message}"));
        }
        if self.is_unregistered {
            let remedy = "register it with --register, or with `register` in engines.toml";
            let text = format!("engine `{name}` is not registered (`registration error`){message}");
            status.push(format!("{text}; {remedy}"));
        }
        status
    }

    fn add(&mut self, notice: Notice) {
        match notice {
            Notice::Event(Event::CopyProtection(status)) => {
                self.is_copy_protected |= status == Status::Error;
            }
            Notice::Event(Event::Registration(Status::Error)) => self.is_unregistered = true,
            Notice::Event(Event::Registration(Status::Ok)) => self.is_unregistered = false,
            Notice::Event(Event::UnknownLine(line)) if self.is_greeted || is_error(&line) => {
                self.lines.push(line);
            }
            Notice::Event(_) | Notice::LineTooLong(_) => (),
        }
    }
}

fn is_status(notice: &Notice) -> bool {
    matches!(notice, Notice::Event(Event::CopyProtection(_) | Event::Registration(_)))
}

/// Whether a line that may be a banner reads like an error.
fn is_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["error", "fail", "not found", "cannot", "can't", "unable", "missing", "invalid"]
        .iter()
        .any(|word| line.contains(word))
}
