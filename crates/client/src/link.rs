//! The ways to reach an engine: a child process, a connection, two streams.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use readyok_protocol::Dialect;

use crate::inbox::Inbox;
use crate::outbox::Outbox;
use crate::process::{Process, Signal};
use crate::stderr::ErrorLines;
use crate::threads;
use crate::time::now;

/// How long the last words of a process that has ended may take, if another one holds its pipes.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Both directions of a conversation, and what is behind them. Dropping it ends all of it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) errors: Arc<ErrorLines>,
    pub(crate) process: Option<Process>,
    connection: Option<TcpStream>,
}

impl Link {
    /// Starts a process.
    pub(crate) fn spawn(command: &mut Command, dialect: Dialect) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let (None, Some(folder)) = (command.get_current_dir(), own_folder(command)) {
            command.current_dir(folder);
        }
        let mut child = Process::in_own_group(command).spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut link = Self::new(dialect);
        let (inbox, errors) = (Arc::clone(&link.inbox), Arc::clone(&link.errors));
        let on_exit = move || {
            inbox.close_within(LAST_WORDS);
            errors.wait_for_end(LAST_WORDS);
        };
        let inbox = Arc::clone(&link.inbox);
        link.process = Some(Process::watch(child, on_exit, move |_| inbox.wake())?);
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let errors = Arc::clone(&link.errors);
        threads::spawn("engine-stderr", move || errors.read(stderr))?;
        link.with_streams(stdout, stdin)
    }

    /// Connects to `host:port`.
    pub(crate) fn connect(address: &str, within: Duration, dialect: Dialect) -> io::Result<Self> {
        let mut result = Err(io::ErrorKind::AddrNotAvailable.into());
        for address in address.to_socket_addrs()? {
            result = TcpStream::connect_timeout(&address, within);
            if result.is_ok() {
                break;
            }
        }
        let stream = result?;
        stream.set_nodelay(true)?;
        let mut link = Self::new(dialect);
        link.connection = Some(stream.try_clone()?);
        let reader = stream.try_clone()?;
        link.with_streams(reader, stream)
    }

    /// Talks over two streams.
    pub(crate) fn over(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        dialect: Dialect,
    ) -> io::Result<Self> {
        Self::new(dialect).with_streams(reader, writer)
    }

    fn new(dialect: Dialect) -> Self {
        Self {
            inbox: Arc::new(Inbox::new(dialect)),
            outbox: Arc::default(),
            errors: Arc::default(),
            process: None,
            connection: None,
        }
    }

    fn with_streams(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<Self> {
        let inbox = Arc::clone(&self.inbox);
        threads::spawn("engine-read", move || inbox.read(reader))?;
        let outbox = Arc::clone(&self.outbox);
        threads::spawn("engine-write", move || outbox.write(writer))?;
        Ok(self)
    }
}

impl Link {
    /// Whether the process has ended, or the other side of the streams has closed them.
    pub(crate) fn has_ended(&self) -> bool {
        match &self.process {
            Some(process) => process.status().is_some(),
            None => self.inbox.is_closed(),
        }
    }

    /// Waits for the end. Tells whether it came.
    pub(crate) fn wait_for_end(&self, time: Duration) -> bool {
        let Some(process) = &self.process else {
            self.inbox.close_within(time);
            return true;
        };
        process.wait(now() + time)
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
        if let Some(connection) = &self.connection {
            // It fails only if the other side was faster.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

/// The folder of the program. Engines look there for their books and networks.
fn own_folder(command: &Command) -> Option<PathBuf> {
    let program = Path::new(command.get_program());
    program.parent().filter(|_| program.is_absolute()).map(Path::to_owned)
}
