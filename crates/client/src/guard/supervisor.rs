//! The process between a program and one engine.
//!
//! It either moves into the control group of the engine and executes the engine, or stays as its parent and as a
//! subreaper (`PR_SET_CHILD_SUBREAPER`): every orphaned descendant becomes a child of the supervisor,
//! independent of its session, process group and environment. After the exit of the engine or the end of the
//! socket, all children are killed until none is left.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group,
    pidfd_open, pidfd_send_signal, set_child_subreaper, wait,
};

use super::launch::{Order, Reply, TERMINATE};

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
