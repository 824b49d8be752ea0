//! `readyok tap`: relays all bytes between a client and an engine, writes a log, and reports violations of the
//! protocol.

mod log;
mod monitor;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use readyok_client::Guard;
use readyok_client::unstable::{ErrorOutput, PipedProcess};
use readyok_protocol::Party;

pub use log::{Log, LogFormat};
pub use monitor::{Content, Entry, Finding, Monitor};

use crate::clock::now;

/// Default time of the engine to exit after one side has closed its output.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time of the process to exit after a signal, and of its output to end after the exit.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of chunks that wait for the monitor, which does not block on the log.
const MAX_QUEUED_CHUNKS: usize = 512;

/// A relay between a client and an engine.
#[derive(Debug)]
pub struct Tap {
    events: SyncSender<Event>,
    inbox: Receiver<Event>,
    guard: Option<Guard>,
    exit_timeout: Duration,
}

/// An event of the relay threads, the process or the user.
#[derive(Debug)]
enum Event {
    /// A side has sent bytes.
    Received { side: Party, at: Instant, bytes: Box<[u8]> },
    /// A side has closed its output.
    Closed(Party),
    /// The client no longer reads the output of the engine.
    ClientGone,
    /// The engine process has exited.
    Exited(ExitStatus),
    /// The user has interrupted the tap.
    Interrupted,
}

/// Interrupts a tap from any thread.
#[derive(Clone, Debug)]
pub struct Interrupt(SyncSender<Event>);

impl Interrupt {
    /// The first call terminates the engine, the next one kills it.
    pub fn interrupt(&self) {
        // Fails if the tap has ended.
        let _ = self.0.send(Event::Interrupted);
    }
}

impl Default for Tap {
    fn default() -> Self {
        let (events, inbox) = sync_channel(MAX_QUEUED_CHUNKS);
        Self { events, inbox, guard: None, exit_timeout: EXIT_TIMEOUT }
    }
}

impl Tap {
    /// Kills the engine if this process is killed.
    #[must_use]
    pub fn guarded(self, guard: Guard) -> Self {
        Self { guard: Some(guard), ..self }
    }

    /// Sets the time of the engine to send pending answers and exit after one side has closed its output.
    #[must_use]
    pub fn exit_timeout(self, exit_timeout: Duration) -> Self {
        Self { exit_timeout, ..self }
    }

    /// A handle that interrupts the tap.
    pub fn interrupt(&self) -> Interrupt {
        Interrupt(self.events.clone())
    }

    /// Starts the engine and relays all bytes until it has exited. Returns its exit status, if known.
    ///
    /// `from_client` and `to_client` are connected to the client. The engine inherits standard error.
    ///
    /// # Errors
    /// The engine cannot be started.
    pub fn run(
        self,
        mut engine: Command,
        from_client: impl Read + Send + 'static,
        to_client: impl Write + Send + 'static,
        log: &mut Log,
    ) -> Result<Option<ExitStatus>, StartError> {
        let Self { events, inbox, guard, exit_timeout } = self;
        let on_exit = events.clone();
        let mut session = Session { monitor: Monitor::default(), log, start: now(), exit_timeout };
        let start = || {
            let (process, to_engine, from_engine) = PipedProcess::spawn(
                &mut engine,
                guard.as_ref(),
                ErrorOutput::Inherited,
                move |status| {
                    // Fails if the tap has ended.
                    let _ = on_exit.send(Event::Exited(status));
                },
            )?;
            start_relay(Party::Client, from_client, to_engine, events.clone())?;
            start_relay(Party::Engine, from_engine, to_client, events)?;
            Ok(process)
        };
        let process = start()
            .map_err(|error| StartError { program: engine.get_program().to_owned(), error })?;
        let status = session.run(&process, &inbox);
        session.log.finish();
        Ok(status)
    }
}

/// The stage of the shutdown of the engine, with its deadline.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Both sides are connected.
    Running,
    /// A side has closed its output, and the engine should exit.
    Exiting(Instant),
    /// The engine was terminated.
    Terminated(Instant),
    /// The engine was killed.
    Killed(Instant),
    /// The engine has exited; its output may not have been read completely.
    Draining(Instant),
}

impl Stage {
    fn deadline(self) -> Option<Instant> {
        match self {
            Self::Running => None,
            Self::Exiting(at) | Self::Terminated(at) | Self::Killed(at) | Self::Draining(at) => {
                Some(at)
            }
        }
    }

    /// Enters the next stage after the deadline. `None` after the last stage.
    fn next(self, process: &PipedProcess) -> Option<Self> {
        match self {
            Self::Running | Self::Exiting(_) => {
                process.terminate();
                Some(Self::Terminated(now() + TERMINATION_TIMEOUT))
            }
            Self::Terminated(_) => {
                process.kill();
                Some(Self::Killed(now() + TERMINATION_TIMEOUT))
            }
            Self::Killed(_) | Self::Draining(_) => None,
        }
    }
}

struct Session<'a> {
    monitor: Monitor,
    log: &'a mut Log,
    start: Instant,
    exit_timeout: Duration,
}

impl Session<'_> {
    /// Handles events until the engine has exited and its output is read.
    fn run(&mut self, process: &PipedProcess, inbox: &Receiver<Event>) -> Option<ExitStatus> {
        let mut stage = Stage::Running;
        let mut exited = None;
        let mut engine_closed = false;
        while exited.is_none() || !engine_closed {
            match next_event(inbox, stage.deadline()) {
                Some(Event::Received { side, at, bytes }) => self.observe(side, at, Some(&bytes)),
                Some(Event::Closed(side)) => {
                    self.observe(side, now(), None);
                    engine_closed |= side == Party::Engine;
                    if let Stage::Running = stage {
                        stage = Stage::Exiting(now() + self.exit_timeout);
                    }
                }
                Some(Event::ClientGone) => self.monitor.interrupt(),
                Some(Event::Exited(status)) => {
                    exited = Some(status);
                    stage = Stage::Draining(now() + TERMINATION_TIMEOUT);
                }
                event @ (Some(Event::Interrupted) | None) => {
                    if event.is_some() {
                        self.monitor.interrupt();
                    }
                    match stage.next(process) {
                        Some(next) => stage = next,
                        None => break,
                    }
                }
            }
        }
        if !engine_closed {
            // Another process holds the output of the engine open.
            self.observe(Party::Engine, now(), None);
        }
        exited
    }

    /// Handles bytes of a side, or its end.
    fn observe(&mut self, side: Party, at: Instant, bytes: Option<&[u8]>) {
        let at = at.saturating_duration_since(self.start);
        let mut report = |entry: &Entry<'_>| self.log.add(entry);
        match bytes {
            Some(bytes) => self.monitor.observe(side, at, bytes, &mut report),
            None => self.monitor.close(side, at, &mut report),
        }
    }
}

/// Waits for an event. `None` after the deadline.
fn next_event(inbox: &Receiver<Event>, deadline: Option<Instant>) -> Option<Event> {
    match deadline {
        Some(deadline) => inbox.recv_timeout(deadline.saturating_duration_since(now())).ok(),
        None => inbox.recv().ok(),
    }
}

/// The engine cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start `{}`: {error}", program.display())]
pub struct StartError {
    /// The executable.
    pub program: OsString,
    /// The error of the system.
    #[source]
    pub error: io::Error,
}

/// Maximum size of a relayed chunk in bytes.
const CHUNK_SIZE: usize = 64 * 1024;

/// Starts a thread that relays the output of one side immediately, until its end.
///
/// Bytes are reported before they are written, so that they precede the answer in the log. At the end of
/// `from`, the end is reported and `to` is closed. If the client no longer reads, the output of the engine is
/// closed, so that the engine gets the same error as without the tap. If the engine no longer reads, the
/// client's output is still read, since the client would block otherwise.
fn start_relay(
    side: Party,
    from: impl Read + Send + 'static,
    to: impl Write + Send + 'static,
    events: SyncSender<Event>,
) -> io::Result<()> {
    let name = format!("{side} relay");
    // The thread is not joined, because the client may never close its output.
    thread::Builder::new().name(name).spawn(move || relay(side, from, to, &events)).map(drop)
}

fn relay(side: Party, mut from: impl Read, to: impl Write, events: &SyncSender<Event>) {
    let mut to = Some(to);
    let mut chunk = vec![0; CHUNK_SIZE];
    loop {
        let bytes = match from.read(&mut chunk) {
            Ok(count) if 0 < count => chunk.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(_) | Err(_) => break,
        };
        if events.send(Event::Received { side, at: now(), bytes: bytes.into() }).is_err() {
            return;
        }
        to = to.and_then(|mut to| to.write_all(bytes).and_then(|()| to.flush()).ok().map(|()| to));
        if to.is_none() && side == Party::Engine {
            let _ = events.send(Event::ClientGone);
            break;
        }
    }
    // Fails if the tap has ended. The end is reported before `to` is closed, so before its consequences.
    let _ = events.send(Event::Closed(side));
    drop(to);
    drop(from);
}
