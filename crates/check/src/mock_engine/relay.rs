//! The relay process that a client starts as its engine: it forwards bytes from and to the checker.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

use crate::clock::now;

/// Environment variable of a relay: address, slash, and a secret token.
const MOCK_ENGINE: &str = "READYOK_MOCK_ENGINE";

/// Length of the token.
const TOKEN_LEN: usize = 32;

/// Timeout of the authentication and of writes.
const AUTH_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval and maximum number of polls until the client has read the output.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
const MAX_POLLS: usize = 500;

/// Maximum number of bytes per frame.
const CHUNK: usize = 1 << 16;

/// Kind of a frame. A frame is the kind in one byte, the length in four bytes, and the payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FrameKind {
    /// Bytes of the client.
    Input,
    /// The client closed the input.
    InputEnd,
    /// Bytes for the output.
    Write,
    /// Bytes for the output, and a wait until the client has read them.
    WriteAndWait,
    /// Bytes for stderr.
    WriteStderr,
    /// Close the output.
    CloseOutput,
    /// Exit with the code in the payload.
    Exit,
    /// Abort by a signal.
    Abort,
}

impl FrameKind {
    const ALL: [Self; 8] = [
        Self::Input,
        Self::InputEnd,
        Self::Write,
        Self::WriteAndWait,
        Self::WriteStderr,
        Self::CloseOutput,
        Self::Exit,
        Self::Abort,
    ];

    const fn tag(self) -> u8 {
        match self {
            Self::Input => b'I',
            Self::InputEnd => b'E',
            Self::Write => b'S',
            Self::WriteAndWait => b'P',
            Self::WriteStderr => b'W',
            Self::CloseOutput => b'C',
            Self::Exit => b'X',
            Self::Abort => b'A',
        }
    }

    /// Encodes the frame.
    pub(crate) fn frame(self, bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mut frame = vec![self.tag()];
        frame.extend(length.to_be_bytes());
        frame.extend(bytes);
        frame
    }

    fn read(from: &mut impl Read) -> io::Result<(Self, Vec<u8>)> {
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let [tag, length @ ..] = head;
        let kind = Self::ALL.into_iter().find(|it| it.tag() == tag);
        let kind = kind.ok_or(io::ErrorKind::InvalidData)?;
        let mut bytes = Vec::new();
        from.take(u32::from_be_bytes(length).into()).read_to_end(&mut bytes)?;
        Ok((kind, bytes))
    }
}

/// Runs as a mock engine if a [`ClientSuite`](crate::ClientSuite) has started this executable as one, without
/// arguments. An executable that calls it first can be the mock engine of a `ClientSuite`.
///
/// `None` means that it was started normally.
pub fn serve_as_mock_engine() -> Option<ExitCode> {
    let address = std::env::var(MOCK_ENGINE).ok()?;
    // The client inherits the variable, and may be this executable.
    if 1 < std::env::args_os().len() {
        return None;
    }
    // On an error the client and the checker see an engine that has exited.
    Some(serve(&address).unwrap_or(ExitCode::FAILURE))
}

fn serve(address: &str) -> io::Result<ExitCode> {
    leave_group();
    let (address, token) = address.split_once('/').ok_or(io::ErrorKind::InvalidInput)?;
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(token.as_bytes())?;
    let up = stream.try_clone()?;
    // The thread is not joined, because the client may never close its end.
    thread::Builder::new().name("input".into()).spawn(move || forward_input(up))?;
    let mut output = io::stdout();
    loop {
        let Ok((kind, bytes)) = FrameKind::read(&mut stream) else { return Ok(ExitCode::SUCCESS) };
        match kind {
            // A write to a client that has exited may fail.
            FrameKind::Write => drop(output.write_all(&bytes).and_then(|()| output.flush())),
            FrameKind::WriteAndWait => {
                drop(output.write_all(&bytes).and_then(|()| output.flush()));
                wait_for_reader();
            }
            FrameKind::WriteStderr => drop(io::stderr().write_all(&bytes)),
            FrameKind::CloseOutput => close_output()?,
            FrameKind::Exit => {
                return Ok(ExitCode::from(bytes.first().copied().unwrap_or_default()));
            }
            FrameKind::Abort => std::process::abort(),
            FrameKind::Input | FrameKind::InputEnd => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Waits until the client has read all output, with a timeout, since a busy machine may delay the client.
fn wait_for_reader() {
    for _ in 0..MAX_POLLS {
        thread::sleep(POLL_INTERVAL);
        if !output_pending() {
            return;
        }
    }
}

/// Whether the output pipe contains bytes that the client has not read, if the output is a pipe.
#[cfg(unix)]
fn output_pending() -> bool {
    rustix::io::ioctl_fionread(io::stdout()).is_ok_and(|bytes| 0 < bytes)
}

#[cfg(not(unix))]
fn output_pending() -> bool {
    false
}

fn forward_input(mut up: TcpStream) {
    let mut input = io::stdin().lock();
    let mut chunk = vec![0; CHUNK];
    loop {
        match input.read(&mut chunk) {
            Ok(count) if 0 < count => {
                let frame = FrameKind::Input.frame(chunk.get(..count).unwrap_or_default());
                if up.write_all(&frame).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Ok(_) | Err(_) => break,
        }
    }
    // The connection stays open for further output and the exit of the engine.
    let _ = up.write_all(&FrameKind::InputEnd.frame(&[]));
}

/// Leaves the process group of the client. The group is killed with the client, and an orphaned engine must be
/// detected.
#[cfg(unix)]
fn leave_group() {
    // Fails if this process already leads a group.
    let _ = rustix::process::setpgid(None, None);
}

#[cfg(not(unix))]
fn leave_group() {}

#[cfg(unix)]
fn close_output() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdout(std::fs::File::create("/dev/null")?)?)
}

/// Elsewhere the output closes with the process.
#[cfg(not(unix))]
fn close_output() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// An event of the relays of a run.
pub(crate) enum RelayEvent {
    /// The client has started an engine.
    Started(TcpStream),
    /// The client sent bytes to the engine with this index.
    Input(usize, Box<[u8]>, Instant),
    /// The client closed the input of the engine.
    InputClosed(usize),
    /// The relay has disconnected.
    Disconnected(usize),
}

/// The server for relays.
pub(crate) struct RelayServer {
    address: String,
    closing: Arc<AtomicBool>,
}

impl RelayServer {
    /// Starts a server that sends its events to `events`.
    pub(crate) fn open<T: From<RelayEvent> + Send + 'static>(
        events: SyncSender<T>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?.to_string();
        let token = format!("{:032x}", fastrand::u128(..));
        let closing = Arc::new(AtomicBool::new(false));
        let (expected, stopped) = (token.clone(), Arc::clone(&closing));
        thread::Builder::new().name("exchange".into()).spawn(move || {
            let mut count = 0;
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                let Some(stream) = stream.ok().and_then(|it| authenticated(it, &expected)) else {
                    continue;
                };
                if !accept(stream, count, &events) {
                    return;
                }
                count += 1;
            }
        })?;
        Ok(Self { address: format!("{address}/{token}"), closing })
    }

    /// Sets the environment variable of the relays of a command.
    pub(crate) fn set_environment(&self, command: &mut Command) {
        command.env(MOCK_ENGINE, &self.address);
    }
}

impl Drop for RelayServer {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        let address = self.address.split('/').next().unwrap_or_default();
        // Wakes the thread, which then ends.
        drop(TcpStream::connect(address));
    }
}

/// Authenticates a connection by its token.
fn authenticated(mut stream: TcpStream, token: &str) -> Option<TcpStream> {
    let mut received = [0; TOKEN_LEN];
    stream.set_read_timeout(Some(AUTH_TIMEOUT)).ok()?;
    stream.read_exact(&mut received).ok()?;
    stream.set_read_timeout(None).ok()?;
    stream.set_write_timeout(Some(AUTH_TIMEOUT)).ok()?;
    stream.set_nodelay(true).ok()?;
    (received == token.as_bytes()).then_some(stream)
}

/// Reports an engine and its input from now on. Returns whether the receiver exists.
fn accept<T: From<RelayEvent> + Send + 'static>(
    stream: TcpStream,
    number: usize,
    events: &SyncSender<T>,
) -> bool {
    let Ok(mut from) = stream.try_clone() else { return true };
    if events.send(RelayEvent::Started(stream).into()).is_err() {
        return false;
    }
    let events = events.clone();
    let read = move || {
        // Fails if the run has ended.
        while let Ok((kind, bytes)) = FrameKind::read(&mut from) {
            let received = match kind {
                FrameKind::Input => RelayEvent::Input(number, bytes.into(), now()),
                FrameKind::InputEnd => RelayEvent::InputClosed(number),
                FrameKind::Write
                | FrameKind::WriteAndWait
                | FrameKind::WriteStderr
                | FrameKind::CloseOutput
                | FrameKind::Exit
                | FrameKind::Abort => break,
            };
            if events.send(received.into()).is_err() {
                return;
            }
        }
        let _ = events.send(RelayEvent::Disconnected(number).into());
    };
    // Without the thread, the run ends at its time limit.
    let _ = thread::Builder::new().name("wire".into()).spawn(read);
    true
}
