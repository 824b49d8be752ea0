//! The process between a program and one engine, and the protocol for starting the engine through it. The socket is
//! the standard input of the supervisor, and is closed when the program ends, for any reason.
//!
//! ```text
//!  program ── order: command, three streams ──> supervisor
//!          <── started: number, pidfd ───────── (or the number of an error, or the end: it has become
//!                                                the engine in its control group)
//!          ── terminate ──────────────────────>
//!          ── end: kill ──────────────────────>
//!          <── exited: status ───────────────── before the supervisor exits itself
//! ```
//! The engine gets its streams directly, without copying.
//!
//! The supervisor either moves into the control group of the engine and executes the engine, or stays as its parent
//! and as a subreaper (`PR_SET_CHILD_SUBREAPER`): every orphaned descendant becomes a child of the supervisor,
//! independent of its session, process group and environment. After the exit of the engine or the end of the
//! socket, all children are killed until none is left.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group,
    pidfd_open, pidfd_send_signal, set_child_subreaper, wait,
};

use super::{ANSWER_TIMEOUT, MARK, ROLE};
use crate::process::{ErrorOutput, Streams};

/// Maximum size of an order, as the system limits arguments and environments too.
const MAX_ORDER_BYTES: u32 = 64 << 20;
/// The placeholder that a `Command` returns for text with a NUL byte.
const REPLACED: &[u8] = b"<string-with-nul>";
/// A request to send SIGTERM to the group of the engine.
const TERMINATE: u8 = b't';

/// The command of an engine.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Order {
    program: OsString,
    arguments: Vec<OsString>,
    directory: Option<PathBuf>,
    clears_environment: bool,
    variables: Vec<(OsString, Option<OsString>)>,
    /// The file for entering a control group.
    pub(super) members: Option<PathBuf>,
}

/// An answer of a supervisor: a letter and a number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Reply {
    /// The engine was started with this process ID.
    Started(i32),
    /// The engine cannot be started, with this error number.
    Failed(i32),
    /// The engine has exited with this status.
    Exited(i32),
}

/// The supervisor of an engine.
#[derive(Debug)]
pub(crate) struct Supervisor {
    socket: UnixStream,
    engine: Pid,
    handle: OwnedFd,
}

/// The result of starting an engine.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) child: Child,
    /// `None` if the child has become the engine.
    pub(super) supervisor: Option<Supervisor>,
    pub(super) streams: Streams,
}

/// Starts a command through a process that `spawn` starts with this standard input.
pub(super) fn launch(
    order: &Order,
    errors: Option<ErrorOutput>,
    spawn: impl FnOnce(Stdio) -> io::Result<Child>,
) -> io::Result<Answered> {
    let body = order.encode()?;
    let (socket, theirs) = UnixStream::pair()?;
    socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    socket.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    let (their_input, input) = io::pipe()?;
    let (output, their_output) = io::pipe()?;
    let (stderr, their_errors) = match errors {
        None => {
            let (ours, theirs) = io::pipe()?;
            (Some(ours), OwnedFd::from(theirs))
        }
        Some(ErrorOutput::Inherited) => (None, io::stderr().as_fd().try_clone_to_owned()?),
        Some(ErrorOutput::Discarded) => {
            (None, File::options().write(true).open("/dev/null")?.into())
        }
        Some(ErrorOutput::Pipe(writer)) => (None, writer.into()),
    };
    let mut child = spawn(OwnedFd::from(theirs).into())?;
    let streams = [their_input.as_fd(), their_output.as_fd(), their_errors.as_fd()];
    let reply = send_order(&socket, &body, &streams).and_then(|()| receive_reply(&socket));
    let supervisor = match reply {
        Ok(None) => None,
        Ok(Some((Reply::Started(id), Some(handle)))) if let Some(engine) = Pid::from_raw(id) => {
            // Further answers are read when they arrive.
            Some(Supervisor { socket, engine, handle })
        }
        reply => {
            // At the end of the socket it terminates what it has started, and exits. The engine may have
            // suspended it.
            drop(socket);
            let _ = kill_process(Pid::from_child(&child), Signal::CONT);
            crate::sync::spawn("engine-reap", move || drop(child.wait()))?;
            return Err(match reply {
                Ok(Some((Reply::Failed(number), _))) => io::Error::from_raw_os_error(number),
                Ok(_) => io::Error::new(io::ErrorKind::InvalidData, "the command is no supervisor"),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    io::Error::new(io::ErrorKind::TimedOut, "the supervisor does not answer")
                }
                Err(error) => error,
            });
        }
    };
    let streams = Streams {
        stdin: Some(OwnedFd::from(input).into()),
        stdout: Some(OwnedFd::from(output).into()),
        stderr: stderr.map(|it| OwnedFd::from(it).into()),
    };
    Ok(Answered { child, supervisor, streams })
}

/// Rejects a child that answers as if it had entered a control group, though it was given none.
pub(super) fn reject(mut child: Child) -> io::Error {
    let _ = child.kill().and_then(|()| child.wait());
    io::Error::new(io::ErrorKind::InvalidData, "the command is no supervisor")
}

fn send_order(socket: &UnixStream, body: &[u8], streams: &[BorrowedFd<'_>]) -> io::Result<()> {
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    send(socket, &length.to_le_bytes(), streams)?;
    let mut socket = socket;
    socket.write_all(body)
}

/// Sends bytes with file descriptors.
fn send(socket: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    let bytes = [IoSlice::new(bytes)];
    retry_on_intr(|| sendmsg(socket, &bytes, &mut control, SendFlags::NOSIGNAL))?;
    Ok(())
}

/// Receives bytes of one message with file descriptors.
fn receive<const BYTES: usize>(
    socket: &UnixStream,
) -> io::Result<Option<([u8; BYTES], Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; BYTES];
    let received = retry_on_intr(|| {
        let mut slices = [IoSliceMut::new(&mut bytes)];
        recvmsg(socket, &mut slices, &mut control, RecvFlags::CMSG_CLOEXEC)
    });
    let count = match received {
        Ok(message) => message.bytes,
        // It exited before it had read everything.
        Err(Errno::CONNRESET) => 0,
        Err(error) => return Err(error.into()),
    };
    let files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let files = files.flatten().collect();
    match count {
        0 => Ok(None),
        count if count == BYTES => Ok(Some((bytes, files))),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The answer of a supervisor, or `None` at the end of the socket.
fn receive_reply(socket: &UnixStream) -> io::Result<Option<(Reply, Option<OwnedFd>)>> {
    let Some(([kind, number @ ..], files)) = receive::<5>(socket)? else { return Ok(None) };
    let number = i32::from_le_bytes(number);
    let reply = match kind {
        b's' => Reply::Started(number),
        b'f' => Reply::Failed(number),
        b'x' => Reply::Exited(number),
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    Ok(Some((reply, files.into_iter().next())))
}

impl Reply {
    fn send(self, socket: &UnixStream, file: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let (kind, number) = match self {
            Self::Started(id) => (b's', id),
            Self::Failed(error) => (b'f', error),
            Self::Exited(status) => (b'x', status),
        };
        let [a, b, c, d] = number.to_le_bytes();
        send(socket, &[kind, a, b, c, d], file.as_slice())
    }
}

impl Supervisor {
    /// The process ID of the engine.
    pub(super) fn engine(&self) -> u32 {
        self.engine.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn has_engine_exited(&self) -> bool {
        has_ended(&self.handle)
    }

    /// Requests SIGTERM for the group of the engine, unless the engine has exited.
    pub(crate) fn terminate(&self) {
        // Fails only if the supervisor has exited.
        let _ = send(&self.socket, &[TERMINATE], &[]);
    }

    /// Requests SIGKILL for the engine and all its descendants.
    pub(crate) fn kill(&self) {
        // Fails only if the supervisor has exited.
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// The exit status of the engine, after the supervisor has exited with its own. If the supervisor was killed, the
    /// engine's group is killed here.
    pub(crate) fn finish(&self, own: ExitStatus) -> ExitStatus {
        // Everything sent has arrived.
        let reply = self.socket.set_nonblocking(true).and_then(|()| receive_reply(&self.socket));
        if let Ok(Some((Reply::Exited(status), _))) = reply {
            return ExitStatus::from_raw(status);
        }
        if !self.has_engine_exited() {
            // While the engine runs, its process ID is that of its group.
            let _ = kill_process_group(self.engine, Signal::KILL);
            let _ = pidfd_send_signal(&self.handle, Signal::KILL);
        }
        own
    }
}

impl Order {
    /// The settings that a command exposes: not user, group, hooks and `arg0`.
    pub(super) fn of(command: &mut Command) -> Self {
        // After `env_clear` there is nothing to remove.
        command.env_remove(ROLE);
        let is_kept = command.get_envs().any(|(name, value)| name == ROLE && value.is_none());
        let variables = command.get_envs().filter(|(name, _)| *name != ROLE);
        Self {
            program: command.get_program().to_owned(),
            arguments: command.get_args().map(OsStr::to_owned).collect(),
            directory: command.get_current_dir().map(Path::to_owned),
            clears_environment: !is_kept,
            variables: variables
                .map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)))
                .collect(),
            members: None,
        }
    }

    /// Adds the mark to the environment.
    pub(super) fn mark(&mut self, mark: &str) {
        self.variables.push((MARK.into(), Some(mark.into())));
    }

    /// The command with these streams.
    fn into_command(self, [stdin, stdout, stderr]: [OwnedFd; 3]) -> Command {
        let mut command = Command::new(self.program);
        command.args(self.arguments).stdin(stdin).stdout(stdout).stderr(stderr);
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        command.env_remove(ROLE);
        if self.clears_environment {
            command.env_clear();
        }
        for (name, value) in self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Fields of a letter and bytes, terminated by zeros: the system allows none within.
    fn encode(&self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        let mut push = |kind: u8, value: &OsStr| {
            let value = value.as_bytes();
            if value.contains(&0) || value == REPLACED {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "a zero byte in a command",
                ));
            }
            body.push(kind);
            body.extend_from_slice(value);
            body.push(0);
            Ok(())
        };
        push(b'p', &self.program)?;
        for argument in &self.arguments {
            push(b'a', argument)?;
        }
        if let Some(directory) = &self.directory {
            push(b'd', directory.as_os_str())?;
        }
        if self.clears_environment {
            push(b'c', OsStr::new(""))?;
        }
        for (name, value) in &self.variables {
            push(b'n', name)?;
            if let Some(value) = value {
                push(b'v', value)?;
            }
        }
        if let Some(members) = &self.members {
            push(b'g', members.as_os_str())?;
        }
        Ok(body)
    }

    fn decode(body: &[u8]) -> io::Result<Self> {
        let mut order = Self::default();
        let body = body.strip_suffix(b"\0").unwrap_or_default();
        for field in body.split(|&byte| byte == 0) {
            let (kind, value) = field.split_first().ok_or(io::ErrorKind::InvalidData)?;
            let value = OsString::from_vec(value.to_vec());
            match kind {
                b'p' => order.program = value,
                b'a' => order.arguments.push(value),
                b'd' => order.directory = Some(value.into()),
                b'c' => order.clears_environment = true,
                b'n' => order.variables.push((value, None)),
                b'v' => {
                    order.variables.last_mut().ok_or(io::ErrorKind::InvalidData)?.1 = Some(value);
                }
                b'g' => order.members = Some(value.into()),
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        Ok(order)
    }

    /// Receives the first message to a supervisor.
    fn receive(socket: &UnixStream) -> io::Result<(Self, [OwnedFd; 3])> {
        let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (length, streams) = receive::<4>(socket)?.ok_or_else(gone)?;
        let streams = streams.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
        let length = u32::from_le_bytes(length);
        if length > MAX_ORDER_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = Vec::new();
        let count = socket.take(length.into()).read_to_end(&mut body)?;
        if u32::try_from(count) != Ok(length) {
            return Err(gone());
        }
        Ok((Self::decode(&body)?, streams))
    }
}

/// Whether this system supports a supervisor: pidfds (Linux 5.3), and lists of children.
pub(super) fn is_possible() -> bool {
    let children = || fs::read(format!("/proc/self/task/{}/children", getpid().as_raw_nonzero()));
    pidfd_open(getpid(), PidfdFlags::empty()).is_ok() && children().is_ok()
}

/// Starts one engine, and terminates its remaining descendants. The socket is the standard input.
pub(super) fn serve() -> io::Result<()> {
    let socket = UnixStream::from(fcntl_dupfd_cloexec(io::stdin(), 3)?);
    let (order, streams) = Order::receive(&socket)?;
    let members = order.members.clone();
    let mut command = order.into_command(streams);
    command.process_group(0);
    // Zero means the writing process.
    if members.is_some_and(|file| fs::write(file, "0").is_ok()) {
        // On success, this process becomes the engine and closes the socket.
        let error = command.exec();
        return failed(&error).send(&socket, None);
    }
    // A termination signal would leave the engine without a supervisor.
    super::ignore_signals()?;
    set_child_subreaper(Some(getpid()))?;
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return failed(&error).send(&socket, None),
    };
    // Closes the streams here, so that they end with the engine.
    drop(command);
    let id = i32::try_from(child.id()).map_err(io::Error::other)?;
    let engine = Pid::from_raw(id).ok_or(io::ErrorKind::InvalidData)?;
    let result = supervise(&socket, engine);
    kill_children();
    result
}

fn failed(error: &io::Error) -> Reply {
    Reply::Failed(error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error()))
}

/// Waits for the exit of the engine, and reports it.
fn supervise(socket: &UnixStream, engine: Pid) -> io::Result<()> {
    let handle = pidfd_open(engine, PidfdFlags::empty())?;
    Reply::Started(engine.as_raw_nonzero().get()).send(socket, Some(handle.as_fd()))?;
    // Blocks no unmount.
    let _ = env::set_current_dir("/");
    let requests = socket.try_clone()?;
    thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(move || handle_requests(requests, engine, &handle))?;
    let status = wait_for(engine)?;
    Reply::Exited(status.as_raw()).send(socket, None)
}

/// Sends signals to the engine on request, and kills it at the end of the program.
fn handle_requests(mut socket: UnixStream, engine: Pid, handle: &OwnedFd) {
    loop {
        let mut request = [0];
        match socket.read(&mut request) {
            Ok(1..) if request == [TERMINATE] && !has_ended(handle) => {
                // While the engine runs, its process ID is that of its group.
                let _ = kill_process_group(engine, Signal::TERM);
            }
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Its descendants are killed after its exit.
            Ok(0) | Err(_) => {
                let _ = pidfd_send_signal(handle, Signal::KILL);
                return;
            }
        }
    }
}

fn has_ended(process: &OwnedFd) -> bool {
    let no_wait = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&no_wait)) != Ok(0)
}

/// Reaps children, including adopted ones, until this one has exited.
fn wait_for(engine: Pid) -> io::Result<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((child, status))) if child == engine => return Ok(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Kills and reaps children until none is left. The children of an exiting child move to this process.
fn kill_children() {
    while reap_ended() {
        let children = children();
        for child in &children {
            // Not reaped yet, so the process ID is valid.
            let _ = kill_process(*child, Signal::KILL);
        }
        if children.is_empty() {
            // The list may miss changes during the read.
            thread::yield_now();
        } else {
            // At least one is about to exit.
            let _ = wait(WaitOptions::empty());
        }
    }
}

/// Reaps exited children. Returns whether any is left.
fn reap_ended() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// The children of all threads.
fn children() -> Vec<Pid> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let numbers = |list: String| -> Vec<Pid> {
        let numbers = list.split_ascii_whitespace().filter_map(|it| it.parse().ok());
        numbers.filter_map(Pid::from_raw).collect()
    };
    lists.flat_map(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_survives_serialization() {
        let mut command = Command::new("engine");
        command.arg("").arg("a b").arg(OsStr::from_bytes(b"\xff\n"));
        command.env("EMPTY", "").env("NAME", "a=b").env_remove("OTHER").current_dir("/tmp");
        for clears in [false, true] {
            if clears {
                command.env_clear().env("NAME", "value");
            }
            let order = Order { members: Some("/group".into()), ..Order::of(&mut command) };
            assert_eq!(order.clears_environment, clears);
            assert_eq!(order.variables.len(), if clears { 1 } else { 3 });
            assert_eq!(Order::decode(&order.encode().expect("no zero")).expect("an order"), order);
        }
        for broken in [
            &mut Command::new("a\0b"),
            Command::new("a").arg("b\0"),
            Command::new("a").env("b", "\0"),
        ] {
            assert!(Order::of(broken).encode().is_err(), "{broken:?}");
        }
        for body in [&b""[..], b"p", b"\0", b"zx\0", b"vx\0"] {
            assert!(Order::decode(body).is_err(), "{body:?}");
        }
    }
}
