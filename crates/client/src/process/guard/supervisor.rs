//! The process between a program and one engine: the parent of the engine, with the command line, environment and working
//! directory of the engine.
//!
//! ```text
//!  program ── standard input, a socket ───────────> supervisor
//!          ── standard and error output ──────────> the engine inherits them
//!          <── started: number; pidfd, input ────── (or the number of an error)
//!          ── terminate ──────────────────────────>
//!          ── end: kill ──────────────────────────>
//!          <── exited: status ───────────────────── before the supervisor exits itself
//! ```
//! The streams of the engine are not copied.
//!
//! The supervisor is a subreaper (`PR_SET_CHILD_SUBREAPER`): every orphaned descendant becomes its child, independent of
//! its session, process group and environment. After the exit of the engine or the end of the socket, all children are
//! killed until none is left.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group,
    pidfd_open, pidfd_send_signal, set_child_subreaper, wait,
};
use rustix::stdio::{dup2_stderr, dup2_stdout};

use super::ANSWER_TIMEOUT;
use crate::process::{ErrorOutput, Launched, Scope, Streams};

/// The placeholder that a `Command` returns for text with a NUL byte.
const REPLACED: &str = "<string-with-nul>";
/// A variable that no command sets. It is not removed from an environment that was cleared.
const UNSET: &str = "READYOK_UNSET";
/// A request to send SIGTERM to the group of the engine.
const TERMINATE: u8 = b't';
/// The engine was started with this process ID.
const STARTED: u8 = b's';
/// The engine cannot be started, with this error number.
const FAILED: u8 = b'f';
/// The engine has exited with this status.
const EXITED: u8 = b'x';

/// A message of a supervisor.
#[derive(Debug)]
struct Reply {
    kind: u8,
    number: i32,
    files: Vec<OwnedFd>,
}

/// The supervisor of an engine.
#[derive(Debug)]
pub(crate) struct Supervisor {
    socket: UnixStream,
    engine: Pid,
    handle: OwnedFd,
}

/// Starts an engine through the command of a supervisor.
pub(super) fn launch(
    engine: &mut Command,
    mut command: Command,
    errors: Option<ErrorOutput>,
) -> io::Result<Launched> {
    let (socket, theirs) = UnixStream::pair()?;
    socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    pass_settings(engine, &mut command)?;
    command.stdin(OwnedFd::from(theirs));
    command.stdout(Stdio::piped()).stderr(ErrorOutput::stdio(errors));
    let mut child = command.spawn()?;
    // Closes their end of the socket.
    drop(command);
    let problem = match receive(&socket) {
        Ok(Some(Reply { kind: STARTED, number, mut files }))
            if let (Some(engine), [_, _]) = (Pid::from_raw(number), files.as_slice()) =>
        {
            let (input, handle) = (files.remove(1), files.remove(0));
            let streams = Streams {
                stdin: Some(input.into()),
                stdout: child.stdout.take(),
                stderr: child.stderr.take(),
            };
            let scope = Scope::Supervisor(Supervisor { socket, engine, handle });
            return Ok(Launched { child, id: number.cast_unsigned(), scope, streams });
        }
        Ok(Some(Reply { kind: FAILED, number, .. })) => io::Error::from_raw_os_error(number),
        Ok(_) => io::Error::new(io::ErrorKind::InvalidData, "the command of the guard fails"),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            io::Error::new(io::ErrorKind::TimedOut, "the supervisor does not answer")
        }
        Err(error) => error,
    };
    // At the end of the socket it terminates what it has started, and exits. The engine may have suspended it.
    drop(socket);
    let _ = kill_process(Pid::from_child(&child), Signal::CONT);
    crate::sync::spawn("engine-reap", move || drop(child.wait()))?;
    Err(problem)
}

/// Passes what a command exposes: not user, group, hooks and `arg0`.
fn pass_settings(engine: &mut Command, to: &mut Command) -> io::Result<()> {
    engine.env_remove(UNSET);
    if !engine.get_envs().any(|(name, _)| name == UNSET) {
        to.env_clear();
    }
    for (name, value) in engine.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
    let directory = engine.get_current_dir();
    if let Some(directory) = directory {
        to.current_dir(directory);
    }
    to.arg(engine.get_program()).args(engine.get_args());
    if to.get_args().chain(directory.map(Path::as_os_str)).any(|text| text == REPLACED) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a zero byte in a command"));
    }
    Ok(())
}

/// Sends bytes with file descriptors.
fn send(socket: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    let bytes = [IoSlice::new(bytes)];
    retry_on_intr(|| sendmsg(socket, &bytes, &mut control, SendFlags::NOSIGNAL))?;
    Ok(())
}

fn reply(socket: &UnixStream, kind: u8, number: i32, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let [a, b, c, d] = number.to_le_bytes();
    send(socket, &[kind, a, b, c, d], files)
}

/// Receives a reply, or `None` at the end of the socket.
fn receive(socket: &UnixStream) -> io::Result<Option<Reply>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; 5];
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
    let [kind, number @ ..] = bytes;
    let number = i32::from_le_bytes(number);
    Ok((count == bytes.len()).then_some(Reply { kind, number, files }))
}

impl Supervisor {
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
        let reply = self.socket.set_nonblocking(true).and_then(|()| receive(&self.socket));
        if let Ok(Some(Reply { kind: EXITED, number, .. })) = reply {
            return ExitStatus::from_raw(number);
        }
        if !self.has_engine_exited() {
            // While the engine runs, its process ID is that of its group.
            let _ = kill_process_group(self.engine, Signal::KILL);
            let _ = pidfd_send_signal(&self.handle, Signal::KILL);
        }
        own
    }
}

/// Whether this system supports a supervisor: pidfds (Linux 5.3), and lists of children.
pub(super) fn is_possible() -> bool {
    let children = || fs::read(format!("/proc/self/task/{}/children", getpid().as_raw_nonzero()));
    pidfd_open(getpid(), PidfdFlags::empty()).is_ok() && children().is_ok()
}

/// Starts an engine, which inherits the output streams, and terminates its remaining descendants.
pub(super) fn serve(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let null = File::options().write(true).open("/dev/null")?;
    let program = arguments.next().ok_or(io::ErrorKind::InvalidInput)?;
    // A termination signal would leave the engine without a supervisor.
    super::ignore_signals()?;
    set_child_subreaper(Some(getpid()))?;
    let mut engine = Command::new(program);
    let child = match engine.args(arguments).stdin(Stdio::piped()).process_group(0).spawn() {
        Ok(child) => child,
        Err(error) => {
            let number = error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error());
            return reply(&socket, FAILED, number, &[]);
        }
    };
    let result = supervise(&socket, child, &null);
    kill_children();
    result
}

/// Waits for the exit of the engine, and reports it.
fn supervise(socket: &UnixStream, child: Child, null: &File) -> io::Result<()> {
    let engine = Pid::from_child(&child);
    // The streams end with the engine.
    dup2_stdout(null)?;
    dup2_stderr(null)?;
    let handle = pidfd_open(engine, PidfdFlags::empty())?;
    let input = child.stdin.ok_or(io::ErrorKind::BrokenPipe)?;
    let files = [handle.as_fd(), input.as_fd()];
    reply(socket, STARTED, engine.as_raw_nonzero().get(), &files)?;
    drop(input);
    // Blocks no unmount.
    let _ = env::set_current_dir("/");
    let requests = socket.try_clone()?;
    thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(move || handle_requests(requests, engine, &handle))?;
    let status = wait_for(engine)?;
    reply(socket, EXITED, status.as_raw(), &[])
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
        let numbers = list.split_ascii_whitespace().filter_map(|number| number.parse().ok());
        numbers.filter_map(Pid::from_raw).collect()
    };
    lists.flat_map(numbers).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn the_settings_of_a_command_are_passed() {
        let mut engine = Command::new("engine");
        engine.arg("").arg("a b").arg(OsStr::from_bytes(b"\xff\n"));
        engine.env("EMPTY", "").env("NAME", "a=b").env_remove("OTHER").current_dir("/tmp");
        let mut to = Command::new("guard");
        pass_settings(&mut engine, to.arg("role")).expect("no zero");
        let expected: [&[u8]; 5] = [b"role", b"engine", b"", b"a b", b"\xff\n"];
        assert!(to.get_args().eq(expected.map(OsStr::from_bytes)));
        assert_eq!(to.get_current_dir(), Some(Path::new("/tmp")));
        let names: Vec<_> = to.get_envs().filter(|(name, _)| *name != UNSET).collect();
        let expected = [("EMPTY", Some("")), ("NAME", Some("a=b")), ("OTHER", None)];
        assert_eq!(names, expected.map(|(name, value)| (OsStr::new(name), value.map(OsStr::new))));

        let mut cleared = Command::new("sh");
        cleared.args(["-c", "echo \"$NAME|$CARGO_PKG_NAME\""]);
        pass_settings(Command::new("").env_clear().env("NAME", "value"), &mut cleared)
            .expect("no zero");
        let output = cleared.output().expect("there is a shell");
        assert_eq!(output.stdout, b"value|\n", "nothing is inherited");
    }

    #[test]
    fn a_zero_byte_is_an_error() {
        for broken in [
            &mut Command::new("a\0b"),
            Command::new("a").arg("b\0"),
            Command::new("a").current_dir("b\0"),
        ] {
            let mut to = Command::new("guard");
            assert!(pass_settings(broken, &mut to).is_err(), "{broken:?}");
        }
    }
}
