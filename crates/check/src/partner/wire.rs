//! The program that a client starts for an engine: it passes bytes on, from and to the one that
//! judges, and ends as it is told to.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

use crate::time::now;

/// Tells a program that it is a wire, and where to: address, slash, and a word that nobody else knows.
const PARTNER: &str = "READYOK_PARTNER";

/// The length of the word.
const WORD: usize = 32;

/// How long a connection has to say the word, and to take what it is sent.
const INTRODUCTION: Duration = Duration::from_secs(5);

/// How often to look whether the client has read what was said, and for how long.
const LOOK: Duration = Duration::from_millis(1);
const LOOKS: usize = 500;

/// At most so many bytes are passed on at once.
const CHUNK: usize = 1 << 16;

/// What is said over a wire: one byte, four bytes of length, and so many bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Order {
    /// The client has written this.
    Input,
    /// The client has closed the input.
    InputEnd,
    /// Write this to the output.
    Say,
    /// The same, and nothing more until the client has read it.
    SayApart,
    /// Write this to the error output.
    Complain,
    /// Close the output.
    Close,
    /// End with the code that follows.
    Exit,
    /// End by a signal.
    Abort,
}

impl Order {
    const ALL: [Self; 8] = [
        Self::Input,
        Self::InputEnd,
        Self::Say,
        Self::SayApart,
        Self::Complain,
        Self::Close,
        Self::Exit,
        Self::Abort,
    ];

    const fn tag(self) -> u8 {
        match self {
            Self::Input => b'I',
            Self::InputEnd => b'E',
            Self::Say => b'S',
            Self::SayApart => b'P',
            Self::Complain => b'W',
            Self::Close => b'C',
            Self::Exit => b'X',
            Self::Abort => b'A',
        }
    }

    /// The order as it is sent.
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
        let order = Self::ALL.into_iter().find(|it| it.tag() == tag);
        let order = order.ok_or(io::ErrorKind::InvalidData)?;
        let mut bytes = Vec::new();
        from.take(u32::from_be_bytes(length).into()).read_to_end(&mut bytes)?;
        Ok((order, bytes))
    }
}

/// Plays the part of an engine if a [`ClientSuite`](crate::ClientSuite) has had this program started
/// as one, which is without arguments. A program that calls it first of all can be its partner.
///
/// `None` means that it was not, and the program goes on as usual.
pub fn serve_if_asked() -> Option<ExitCode> {
    let there = std::env::var(PARTNER).ok()?;
    // The client hears of the partner, too, and may be this very program.
    if 1 < std::env::args_os().len() {
        return None;
    }
    // The one that judges sees that nobody speaks; the client sees an engine that has ended.
    Some(serve(&there).unwrap_or(ExitCode::FAILURE))
}

fn serve(there: &str) -> io::Result<ExitCode> {
    leave_group();
    let (address, word) = there.split_once('/').ok_or(io::ErrorKind::InvalidInput)?;
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(word.as_bytes())?;
    let up = stream.try_clone()?;
    // Nobody joins it: the client may keep its end open for ever.
    thread::Builder::new().name("input".into()).spawn(move || pass_on(up))?;
    let mut output = io::stdout();
    loop {
        let Ok((order, bytes)) = Order::read(&mut stream) else { return Ok(ExitCode::SUCCESS) };
        match order {
            // A client that is gone hears nothing, which is its own affair.
            Order::Say => drop(output.write_all(&bytes).and_then(|()| output.flush())),
            Order::SayApart => {
                drop(output.write_all(&bytes).and_then(|()| output.flush()));
                wait_for_reader();
            }
            Order::Complain => drop(io::stderr().write_all(&bytes)),
            Order::Close => close_output()?,
            Order::Exit => return Ok(ExitCode::from(bytes.first().copied().unwrap_or_default())),
            Order::Abort => std::process::abort(),
            Order::Input | Order::InputEnd => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Waits, but not for ever, until the client has read all that was written. A busy machine may keep it
/// from reading for as long as it likes.
fn wait_for_reader() {
    for _ in 0..LOOKS {
        thread::sleep(LOOK);
        if !is_unread() {
            return;
        }
    }
}

/// Whether a pipe for the output holds anything. Of other outputs nobody knows.
#[cfg(unix)]
fn is_unread() -> bool {
    rustix::io::ioctl_fionread(io::stdout()).is_ok_and(|bytes| 0 < bytes)
}

#[cfg(not(unix))]
fn is_unread() -> bool {
    false
}

fn pass_on(mut up: TcpStream) {
    let mut input = io::stdin().lock();
    let mut chunk = vec![0; CHUNK];
    loop {
        match input.read(&mut chunk) {
            Ok(count) if 0 < count => {
                let frame = Order::Input.frame(chunk.get(..count).unwrap_or_default());
                if up.write_all(&frame).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Ok(_) | Err(_) => break,
        }
    }
    // The connection stays open: the engine may have last words, and its end shall be seen.
    let _ = up.write_all(&Order::InputEnd.frame(&[]));
}

/// The client's process group is ended with it; an engine that was left behind has to be seen.
#[cfg(unix)]
fn leave_group() {
    // It fails where this is a group of its own already.
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

/// What comes over the wires of a run.
pub(crate) enum Heard {
    /// The client has started an engine.
    Started(TcpStream),
    /// It said this to the engine of this number.
    Said(usize, Box<[u8]>, Instant),
    /// It closed the input of the engine.
    Closed(usize),
    /// The process of the engine is gone.
    Gone(usize),
}

/// Where wires arrive.
pub(crate) struct Exchange {
    address: String,
    closing: Arc<AtomicBool>,
}

impl Exchange {
    /// Opens one. `tell` brings what is heard to the run.
    pub(crate) fn open<T: From<Heard> + Send + 'static>(tell: SyncSender<T>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?.to_string();
        let word = format!("{:032x}", fastrand::u128(..));
        let closing = Arc::new(AtomicBool::new(false));
        let (expected, over) = (word.clone(), Arc::clone(&closing));
        thread::Builder::new().name("exchange".into()).spawn(move || {
            let mut count = 0;
            for stream in listener.incoming() {
                if over.load(Ordering::Acquire) {
                    return;
                }
                let Some(stream) = stream.ok().and_then(|it| introduced(it, &expected)) else {
                    continue;
                };
                if !accept(stream, count, &tell) {
                    return;
                }
                count += 1;
            }
        })?;
        Ok(Self { address: format!("{address}/{word}"), closing })
    }

    /// Has the engines of a command come here.
    pub(crate) fn invite(&self, command: &mut Command) {
        command.env(PARTNER, &self.address);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        let address = self.address.split('/').next().unwrap_or_default();
        // It wakes the thread, which then sees that it is over.
        drop(TcpStream::connect(address));
    }
}

/// The connection, if it says the word.
fn introduced(mut stream: TcpStream, word: &str) -> Option<TcpStream> {
    let mut said = [0; WORD];
    stream.set_read_timeout(Some(INTRODUCTION)).ok()?;
    stream.read_exact(&mut said).ok()?;
    stream.set_read_timeout(None).ok()?;
    stream.set_write_timeout(Some(INTRODUCTION)).ok()?;
    stream.set_nodelay(true).ok()?;
    (said == word.as_bytes()).then_some(stream)
}

/// Tells of an engine, and of all that is said to it from now on. Returns whether anybody listens.
fn accept<T: From<Heard> + Send + 'static>(
    stream: TcpStream,
    number: usize,
    tell: &SyncSender<T>,
) -> bool {
    let Ok(mut from) = stream.try_clone() else { return true };
    if tell.send(Heard::Started(stream).into()).is_err() {
        return false;
    }
    let tell = tell.clone();
    let read = move || {
        // Without a receiver the run is over.
        while let Ok((order, bytes)) = Order::read(&mut from) {
            let heard = match order {
                Order::Input => Heard::Said(number, bytes.into(), now()),
                Order::InputEnd => Heard::Closed(number),
                Order::Say
                | Order::SayApart
                | Order::Complain
                | Order::Close
                | Order::Exit
                | Order::Abort => break,
            };
            if tell.send(heard.into()).is_err() {
                return;
            }
        }
        let _ = tell.send(Heard::Gone(number).into());
    };
    // Without the thread nothing is heard, and the run ends by its limit.
    let _ = thread::Builder::new().name("wire".into()).spawn(read);
    true
}
