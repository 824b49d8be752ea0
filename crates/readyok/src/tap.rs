//! `readyok tap`: sits between a client and an engine, passes every byte on unchanged, writes a
//! log, and reports which side breaks which rule.

mod log;
mod relay;
mod sink;
mod watch;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use readyok_client::{Guard, PipedProcess};
use readyok_protocol::Party;

pub use log::Log;
pub use watch::{Breach, Entry, Heard, Watch};

use crate::clock::now;

/// How long an engine has to leave by itself once one side has closed its end, by default.
const GRACE: Duration = Duration::from_secs(5);

/// How long a process has to end after it was told to, and its pipes have to run dry.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// So many chunks may wait to be judged. That waits for no disk.
const BACKLOG: usize = 512;

/// A tap that is ready to be started.
#[derive(Debug)]
pub struct Tap {
    events: SyncSender<Event>,
    inbox: Receiver<Event>,
    guard: Option<Guard>,
    grace: Duration,
}

/// Everything that can happen.
#[derive(Debug)]
enum Event {
    /// A side has sent bytes.
    Said { side: Party, at: Instant, bytes: Box<[u8]> },
    /// A side has closed its output.
    Closed(Party),
    /// The client takes no more of what the engine says.
    Deaf,
    /// The engine's process has ended.
    Exited(ExitStatus),
    /// The tap itself is asked to end.
    Interrupted,
}

/// Asks a tap to end, from any thread.
#[derive(Clone, Debug)]
pub struct Interrupt(SyncSender<Event>);

impl Interrupt {
    /// The first call asks the engine to end, the next one kills it.
    pub fn interrupt(&self) {
        // Without a receiver the tap is at its end already.
        let _ = self.0.send(Event::Interrupted);
    }
}

impl Default for Tap {
    fn default() -> Self {
        let (events, inbox) = sync_channel(BACKLOG);
        Self { events, inbox, guard: None, grace: GRACE }
    }
}

impl Tap {
    /// Sees to it that the engine does not outlive this program.
    #[must_use]
    pub fn guarded(self, guard: Guard) -> Self {
        Self { guard: Some(guard), ..self }
    }

    /// How long an engine has to answer what it owes and to exit, once one side has closed its end.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { grace: timeout, ..self }
    }

    /// What can end this tap early.
    pub fn interrupt(&self) -> Interrupt {
        Interrupt(self.events.clone())
    }

    /// Starts the engine and listens until it has ended. Returns how it did, if anybody knows.
    ///
    /// `from_client` and `to_client` are the client's ends. The engine's error output is that of
    /// this process.
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
        let Self { events, inbox, guard, grace } = self;
        let on_exit = events.clone();
        let mut session = Session { watch: Watch::default(), log, start: now(), grace };
        let start = || {
            let (process, to_engine, from_engine) =
                PipedProcess::spawn(&mut engine, guard.as_ref(), move |status| {
                    // Without a receiver the tap is at its end already.
                    let _ = on_exit.send(Event::Exited(status));
                })?;
            relay::start(Party::Client, from_client, to_engine, events.clone())?;
            relay::start(Party::Engine, from_engine, to_client, events)?;
            Ok(process)
        };
        let process = start()
            .map_err(|error| StartError { program: engine.get_program().to_owned(), error })?;
        let status = session.listen(&process, &inbox);
        session.log.finish();
        Ok(status)
    }
}

/// How far the end of a conversation has come, and when the next step is due.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Both sides talk.
    Talking,
    /// A side has closed its end, and the engine should leave.
    Leaving(Instant),
    /// The engine was told to end.
    Terminated(Instant),
    /// The engine was killed.
    Killed(Instant),
    /// The engine has ended; some of its output may still be on its way.
    Draining(Instant),
}

impl Stage {
    fn due(self) -> Option<Instant> {
        match self {
            Self::Talking => None,
            Self::Leaving(at) | Self::Terminated(at) | Self::Killed(at) | Self::Draining(at) => {
                Some(at)
            }
        }
    }

    /// Takes the next step. `None` if there is nothing left to wait for.
    fn next(self, process: &PipedProcess) -> Option<Self> {
        match self {
            Self::Talking | Self::Leaving(_) => {
                process.terminate();
                Some(Self::Terminated(now() + LAST_WAIT))
            }
            Self::Terminated(_) => {
                process.kill();
                Some(Self::Killed(now() + LAST_WAIT))
            }
            Self::Killed(_) | Self::Draining(_) => None,
        }
    }
}

struct Session<'a> {
    watch: Watch,
    log: &'a mut Log,
    start: Instant,
    grace: Duration,
}

impl Session<'_> {
    /// Takes note of everything until the engine has ended and its output is read.
    fn listen(&mut self, process: &PipedProcess, inbox: &Receiver<Event>) -> Option<ExitStatus> {
        let mut stage = Stage::Talking;
        let mut exited = None;
        let mut engine_closed = false;
        while exited.is_none() || !engine_closed {
            match next_event(inbox, stage.due()) {
                Some(Event::Said { side, at, bytes }) => self.hear(side, at, Some(&bytes)),
                Some(Event::Closed(side)) => {
                    self.hear(side, now(), None);
                    engine_closed |= side == Party::Engine;
                    if let Stage::Talking = stage {
                        stage = Stage::Leaving(now() + self.grace);
                    }
                }
                Some(Event::Deaf) => self.watch.interrupt(),
                Some(Event::Exited(status)) => {
                    exited = Some(status);
                    stage = Stage::Draining(now() + LAST_WAIT);
                }
                event @ (Some(Event::Interrupted) | None) => {
                    if event.is_some() {
                        self.watch.interrupt();
                    }
                    match stage.next(process) {
                        Some(next) => stage = next,
                        None => break,
                    }
                }
            }
        }
        if !engine_closed {
            // Somebody else holds its output open.
            self.hear(Party::Engine, now(), None);
        }
        exited
    }

    /// Takes bytes of a side, or its end.
    fn hear(&mut self, side: Party, at: Instant, bytes: Option<&[u8]>) {
        let at = at.saturating_duration_since(self.start);
        let mut tell = |entry: &Entry<'_>| self.log.add(entry);
        match bytes {
            Some(bytes) => self.watch.hear(side, at, bytes, &mut tell),
            None => self.watch.end(side, at, &mut tell),
        }
    }
}

/// What happens next, if anything does in time.
fn next_event(inbox: &Receiver<Event>, due: Option<Instant>) -> Option<Event> {
    match due {
        Some(due) => inbox.recv_timeout(due.saturating_duration_since(now())).ok(),
        None => inbox.recv().ok(),
    }
}

/// An engine that cannot be started.
#[derive(Debug)]
pub struct StartError {
    /// The program.
    pub program: OsString,
    /// Why not.
    pub error: io::Error,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot start `{}`: {}", self.program.display(), self.error)
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
