//! The ways to reach an engine: a child process, a connection, two streams.
//!
//! What can be polled is read and written by a pump, in one thread or in that of the caller. Other
//! streams, and all streams where the system is no Unix, have a thread to read and one to write:
//! nobody can wait for them but who uses them.

#[cfg(not(unix))]
#[path = "link/other.rs"]
mod sys;
#[cfg(unix)]
#[path = "link/unix.rs"]
mod sys;

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use readyok_protocol::Dialect;

use crate::batch::Batch;
use crate::guard::Guard;
use crate::inbox::Inbox;
use crate::intake;
use crate::outbox::Outbox;
use crate::process::{Process, Signal, Streams};
#[cfg(unix)]
use crate::pump::{Ends, Pump};
use crate::stderr::ErrorLines;
use crate::threads;
use crate::time::now;

/// Both directions of a conversation, and what is behind them. Dropping it ends all of it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) errors: Arc<ErrorLines>,
    pub(crate) process: Option<Arc<Process>>,
    connection: Option<TcpStream>,
    /// What was taken from the inbox.
    pub(crate) batch: Batch,
    /// The owner knows that the engine has closed its output.
    pub(crate) end_is_known: bool,
    #[cfg(unix)]
    pump: Option<Arc<Pump>>,
    reader: Reader,
}

/// Who reads what an engine says, where there is a choice.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Reader {
    #[default]
    Thread,
    /// Whoever waits for it.
    Caller,
}

/// What an engine did next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// It said a line, which is in the batch.
    Line(Instant),
    /// It closed its output.
    Closed,
    Nothing,
}

impl Link {
    /// Starts a process.
    pub(crate) fn spawn(
        command: &mut Command,
        dialect: Dialect,
        reader: Reader,
        guard: Option<&Guard>,
    ) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let (None, Some(folder)) = (command.get_current_dir(), own_folder(command)) {
            command.current_dir(folder);
        }
        let (process, Streams { stdin, stdout, stderr }) = Process::start(command, guard)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            process.kill_and_reap();
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        #[cfg(unix)]
        {
            let ends =
                Ends { input: stdin.into(), output: stdout.into(), stderr: Some(stderr.into()) };
            let link = Self::pumped(ends, Some(Arc::clone(&process)), dialect, reader);
            link.inspect_err(|_| process.kill_and_reap())
        }
        #[cfg(not(unix))]
        {
            let link = Self::polled(stdout, stdin, dialect, reader);
            let watched =
                link.and_then(|mut link| link.watch(Arc::clone(&process), stderr).map(|()| link));
            watched.inspect_err(|_| process.kill_and_reap())
        }
    }

    /// Connects to `host:port`.
    pub(crate) fn connect(
        address: &str,
        within: Duration,
        dialect: Dialect,
        reader: Reader,
    ) -> io::Result<Self> {
        let mut result = Err(io::ErrorKind::AddrNotAvailable.into());
        for address in address.to_socket_addrs()? {
            result = TcpStream::connect_timeout(&address, within);
            if result.is_ok() {
                break;
            }
        }
        let stream = result?;
        stream.set_nodelay(true)?;
        let connection = stream.try_clone()?;
        let mut link = Self::polled(stream.try_clone()?, stream, dialect, reader)?;
        link.connection = Some(connection);
        Ok(link)
    }

    /// Talks over two pipes.
    pub(crate) fn pipes(
        output: PipeReader,
        input: PipeWriter,
        dialect: Dialect,
        reader: Reader,
    ) -> io::Result<Self> {
        Self::polled(output, input, dialect, reader)
    }

    /// Talks over two streams of any kind.
    pub(crate) fn streams(
        output: impl Read + Send + 'static,
        input: impl Write + Send + 'static,
        dialect: Dialect,
    ) -> io::Result<Self> {
        let inbox = Arc::new(Inbox::new(dialect));
        let outbox = Arc::new(Outbox::default());
        let link = Self::new(Arc::clone(&inbox), Arc::clone(&outbox), Arc::default());
        threads::spawn("engine-read", move || intake::read(output, &inbox))?;
        threads::spawn("engine-write", move || outbox.write(input))?;
        Ok(link)
    }

    fn new(inbox: Arc<Inbox>, outbox: Arc<Outbox>, errors: Arc<ErrorLines>) -> Self {
        Self {
            inbox,
            outbox,
            errors,
            process: None,
            connection: None,
            batch: Batch::default(),
            end_is_known: false,
            #[cfg(unix)]
            pump: None,
            reader: Reader::Thread,
        }
    }

    /// What came next.
    pub(crate) fn next(&mut self) -> Next {
        if self.batch.is_empty() {
            self.batch.reset();
            let is_last = self.inbox.take(&mut self.batch);
            if is_last && self.batch.is_empty() && !self.end_is_known {
                return Next::Closed;
            }
        }
        self.batch.first_at().map_or(Next::Nothing, Next::Line)
    }

    /// Drops whatever has come and nobody wants any more, so that the engine can go on to its end.
    pub(crate) fn discard(&mut self) {
        self.batch.clear();
        self.inbox.take(&mut self.batch);
        self.batch.clear();
    }

    /// Waits until something happens at one of these, or until the deadline. If that is timed, what
    /// this thread waits for a processor then is not counted.
    pub(crate) fn wait(links: &[&Self], until: Option<Instant>, timed: bool) {
        let happened = |waker: &_| {
            let has = |link: &Self| link.inbox.has_signalled(waker) || !link.batch.is_empty();
            // All of them are to know whom to wake.
            links.iter().map(|link| has(link)).filter(|has| *has).count() != 0
        };
        sys::wait(links, until, timed, happened);
        for link in links {
            link.inbox.forget_signal();
        }
    }

    /// Whether the process has ended, or the other side of the streams has closed them.
    pub(crate) fn has_ended(&self) -> bool {
        match &self.process {
            Some(process) => process.status().is_some(),
            None => self.inbox.is_closed(),
        }
    }

    /// How the process ended, if it is one and has.
    pub(crate) fn exit(&self) -> Option<ExitStatus> {
        self.process.as_ref().and_then(|process| process.status())
    }

    /// Waits for the end. Tells whether it came.
    pub(crate) fn wait_for_end(&mut self, time: Duration) -> bool {
        let until = now() + time;
        while self.reader == Reader::Caller && !self.has_ended() && now() < until {
            // Lines that wait for their reader would end each wait.
            self.discard();
            Self::wait(&[self], Some(until), false);
        }
        if let Some(process) = &self.process {
            return process.wait(until);
        }
        self.inbox.close_within(until.saturating_duration_since(now()));
        true
    }

    /// Tells the process to end. There is nobody to tell behind a stream: it is closed.
    pub(crate) fn signal(&self, signal: Signal) {
        match &self.process {
            Some(process) => process.signal(signal),
            None => self.inbox.close(),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.outbox.close();
        self.inbox.abandon();
        if let Some(process) = &self.process {
            process.signal(Signal::Kill);
        }
        if let Some(connection) = &self.connection {
            // It fails only if the other side was faster.
            let _ = connection.shutdown(Shutdown::Both);
        }
        sys::leave(self);
    }
}

/// The folder of the program. Engines look there for their books and networks.
fn own_folder(command: &Command) -> Option<PathBuf> {
    let program = Path::new(command.get_program());
    program.parent().filter(|_| program.is_absolute()).map(Path::to_owned)
}
