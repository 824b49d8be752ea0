//! Starts engines and connects to them, and collects their messages outside of searches.

use std::process::Command;
use std::time::Duration;
use std::{env, io};

use readyok_client::unstable::Containment;
use readyok_client::{Builder, Engine, EngineError, EngineSource, Event, Guard, Notice};
use readyok_protocol::{Dialect, Register, Status};

use crate::address::{Address, Registration, Timeout, default_timeouts};
use crate::clock::now;
use crate::exit::{Code, Failure};
use crate::secrets;

impl Address {
    /// Starts the engine or connects to it, performs the handshake and sets the options of the address.
    /// Without a dialect, UCI is tried before USI.
    ///
    /// # Errors
    /// The engine cannot be started, does not answer, or rejects an option.
    pub fn open(&self, dialect: Option<Dialect>, guard: &Guard) -> Result<Engine, EngineError> {
        let timeouts = self.timeout.map_or_else(default_timeouts, Timeout::timeouts);
        let mut builder = Engine::builder().guard(guard).timeouts(timeouts);
        if let Some(registration) = &self.registration {
            builder = builder.register(registration.register());
        }
        let start = |dialect| self.start(builder.clone().dialect(dialect));
        let mut engine = match dialect {
            Some(dialect) => start(dialect)?,
            None => start(Dialect::Uci).or_else(|first| {
                // If both attempts fail in the same way, the first failure is reported.
                start(Dialect::Usi).map_err(|second| {
                    if first.problem() == second.problem() { first } else { second }
                })
            })?,
        };
        engine.set_options(self.options.iter().map(|(name, value)| (name, value)))?;
        Ok(engine)
    }

    fn start(&self, builder: Builder) -> Result<Engine, EngineError> {
        match &self.source {
            EngineSource::BuiltIn => builder.in_process(|input, output| {
                // On a failure the client sees the end of the output.
                if let Ok(narikin) = narikin::runner() {
                    let _ = narikin.run(input, output);
                }
            }),
            EngineSource::Program(program) => builder.spawn(program.command()),
            EngineSource::Tcp { address } => builder.connect(address),
        }
    }
}

/// Time that an engine has after the handshake to report its status. No message requests it.
const STATUS_WAIT: Duration = Duration::from_millis(200);

/// Polling interval of the status.
const STATUS_INTERVAL: Duration = Duration::from_millis(10);

/// Messages of an engine outside of searches: its status, and lines that are no protocol messages.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of a status")]
pub(crate) struct Messages {
    /// The handshake is complete: a bare line is no longer a banner.
    is_handshake_complete: bool,
    is_copy_protected: bool,
    is_unregistered: bool,
    /// The engine gets a name or a code.
    registers: bool,
    lines: Vec<String>,
}

impl Messages {
    /// Of an engine at an address.
    pub(crate) fn of(address: &Address) -> Self {
        let registration = address.registration.as_ref().map(Registration::register);
        let registers = matches!(registration, Some(Register::With { .. }));
        Self { registers, ..Self::default() }
    }

    /// Collects the messages received so far.
    pub(crate) fn collect(&mut self, engine: &mut Engine) {
        for notice in engine.drain_notices() {
            self.add(notice);
        }
        self.is_handshake_complete = true;
    }

    /// Like [`Self::collect`], and waits a moment for the status after the handshake.
    pub(crate) fn collect_status(&mut self, engine: &mut Engine) {
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

    /// Whether the engine reported `copyprotection error`.
    pub(crate) fn is_copy_protected(&self) -> bool {
        self.is_copy_protected
    }

    /// Omits the copy protection error, which another error reports.
    pub(crate) fn forget_copy_protection(&mut self) {
        self.is_copy_protected = false;
    }

    /// Drains the collected lines, except a line that another error reports.
    pub(crate) fn drain_lines(&mut self, reported: Option<&str>) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines);
        lines.retain(|line| Some(line.as_str()) != reported);
        lines.dedup();
        lines
    }

    /// Error messages about the status of the engine, with the text of the engine.
    pub(crate) fn status(&self, engine: &Engine) -> Vec<String> {
        let name = engine.name();
        let message = engine.status_message().map(|text| format!(": `{text}`"));
        let message = message.unwrap_or_default();
        let mut status = Vec::new();
        if self.is_copy_protected {
            status.push(format!("engine `{name}` reported a copy protection error{message}"));
        }
        if self.is_unregistered {
            status.push(if self.registers {
                format!(
                    "engine `{name}` rejected its registration (`registration error`){message}; \
                     check the name and the code in --register, or in engines.toml"
                )
            } else {
                format!(
                    "engine `{name}` is not registered (`registration error`){message}; \
                     register it with --register, or with `register` in engines.toml"
                )
            });
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
            Notice::Event(Event::UnknownLine(line))
                if self.is_handshake_complete || is_error(&line) =>
            {
                self.lines.push(line);
            }
            _ => (),
        }
    }
}

fn is_status(notice: &Notice) -> bool {
    matches!(notice, Notice::Event(Event::CopyProtection(_) | Event::Registration(_)))
}

/// Whether a line that may be a banner looks like an error.
fn is_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["error", "fail", "not found", "cannot", "can't", "unable", "missing", "invalid"]
        .iter()
        .any(|text| line.contains(text))
}

/// The hidden command of the guard, by which engines are started.
pub(crate) const GUARD_COMMAND: &str = "guard";
/// Environment variable that overrides the containment method, for systems where the best one fails.
const CONTAINMENT: &str = "READYOK_CONTAINMENT";

/// Starts the guard, which kills the engines if this process is killed. All engines are started with this guard, so that
/// none of them inherits passwords.
pub(crate) fn start_guard() -> io::Result<Guard> {
    let mut command = own_executable()?;
    command.arg(GUARD_COMMAND);
    let guard = start_guard_by(command)?;
    guard.hide_variables(secrets::variables());
    Ok(guard)
}

fn start_guard_by(command: Command) -> io::Result<Guard> {
    let Some(method) = env::var_os(CONTAINMENT) else { return Guard::start(command) };
    let containment = match method.to_str() {
        Some("supervisor") => Containment::Supervisor,
        Some("group") => Containment::Group,
        Some("job") => Containment::Job,
        _ => {
            let text = format!(
                "{CONTAINMENT} is `{}`; expected `supervisor` or `group`, on Windows `job`",
                method.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    };
    let failed = |error: io::Error| {
        let text =
            format!("{CONTAINMENT} is `{}`, which is not possible: {error}", method.display());
        io::Error::new(error.kind(), text)
    };
    Guard::start_with(command, containment).map_err(failed)
}

#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "other systems must search for the file")]
fn own_executable() -> io::Result<Command> {
    // A build may have replaced the file since the start of this process.
    Ok(Command::new("/proc/self/exe"))
}

#[cfg(not(target_os = "linux"))]
fn own_executable() -> io::Result<Command> {
    env::current_exe().map(Command::new)
}

/// Runs the supervisor or the watcher of an engine.
pub(crate) fn run_guard() -> Result<Code, Failure> {
    Guard::serve().map(|()| Code::Done).map_err(Failure::failed)
}
