//! Streams that cannot be polled: one thread reads, one writes and enforces deadlines.

use std::io::{ErrorKind, Read, Write};
use std::sync::{Arc, Condvar, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Io, Transport};
use crate::shared::{self, By, Guard, Shared};
use crate::sync::{now, spawn};

const CHUNK: usize = 1 << 13;
/// Maximum pause of the reading thread between checks whether the engine has ended.
const MAX_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// Notifies the writing thread.
    work: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// When the writing thread wakes at the latest.
    wakes: Option<Instant>,
    output_closed: bool,
}

pub(super) fn transport(
    output: impl Read + Send + 'static,
    input: impl Write + Send + 'static,
) -> Transport {
    let start = |shared: &Arc<Shared>| {
        let (reader, writer) = (Arc::clone(shared), Arc::clone(shared));
        spawn("engine-read", move || read(&reader, output))?;
        spawn("engine-write", move || write(&writer, input))
    };
    Transport {
        io: Io::Threads(Threads::default()),
        state: super::State::default(),
        start: Box::new(start),
    }
}

/// A process whose pipes cannot be polled. Two more threads read its error output and wait for its exit.
#[cfg(not(unix))]
pub(super) fn of_process(
    process: &Arc<crate::process::Process>,
    output: impl Read + Send + 'static,
    input: impl Write + Send + 'static,
    errors: impl Read + Send + 'static,
    stderr: &Arc<crate::listener::ErrorLines>,
) -> Transport {
    let Transport { io, state, start } = transport(output, input);
    let (process, stderr) = (Arc::clone(process), Arc::clone(stderr));
    let start_all = move |shared: &Arc<Shared>| {
        let (closed, is_closed) = std::sync::mpsc::channel::<()>();
        spawn("engine-stderr", move || {
            read_errors(errors, &stderr);
            drop(closed);
        })?;
        start(shared)?;
        let (before, after) = (Arc::clone(shared), Arc::clone(shared));
        let last_output = move || {
            let _: Result<(), _> = is_closed.recv_timeout(LAST_OUTPUT);
            wait_for_output(&before);
        };
        process.watch(last_output, move |status| {
            let mut state = after.lock();
            let now = now();
            if !std::mem::replace(&mut state.io.threads.output_closed, true) {
                Shared::on_output_closed(&mut state, now);
            }
            state.driver.on_exit(status, now);
            after.release(state, By::Caller);
        })
    };
    Transport { io, state, start: Box::new(start_all) }
}

/// Maximum time for the last output after the exit, if another process holds the pipes.
#[cfg(not(unix))]
const LAST_OUTPUT: Duration = Duration::from_millis(200);

#[cfg(not(unix))]
fn wait_for_output(shared: &Shared) {
    let Io::Threads(threads) = &shared.io;
    let is_open = |state: &mut shared::State| !state.io.threads.output_closed;
    let wait = threads.work.wait_timeout_while(shared.lock(), LAST_OUTPUT, is_open);
    drop(wait.unwrap_or_else(PoisonError::into_inner));
}

#[cfg(not(unix))]
fn read_errors(mut from: impl Read, stderr: &crate::listener::ErrorLines) {
    let mut lines = readyok_protocol::LineBuffer::new(1000);
    let mut chunk = [0; CHUNK / 2];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        lines.push(chunk.get(..count).unwrap_or_default());
        stderr.take(&mut lines);
    }
    stderr.end(&mut lines);
}

fn read(shared: &Shared, mut from: impl Read) {
    let mut chunk = vec![0; CHUNK];
    while pause(shared) {
        let read = match from.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(count) => count,
            Err(_) => 0,
        };
        let at = now();
        let mut state = shared.lock();
        if read == 0 {
            if !std::mem::replace(&mut state.io.threads.output_closed, true) {
                Shared::on_output_closed(&mut state, at);
            }
            shared.release(state, By::Caller);
            return;
        }
        Shared::on_bytes(&mut state, chunk.get(..read).unwrap_or_default(), at);
        state.driver.on_time(now());
        // The other thread may have to write.
        shared.release(state, By::Caller);
        shared.yield_to_callers();
    }
}

/// Waits as long as the rate requires. Returns whether to continue.
fn pause(shared: &Shared) -> bool {
    loop {
        let state = shared.lock();
        let now = now();
        let pause = Shared::pause(&state, now);
        let has_ended = state.driver.has_ended();
        drop(state);
        match pause {
            _ if has_ended => return false,
            Some(until) => thread::sleep(until.saturating_duration_since(now).min(MAX_PAUSE)),
            None => return true,
        }
    }
}

fn write(shared: &Shared, to: impl Write) {
    #[cfg_attr(not(unix), expect(irrefutable_let_patterns, reason = "the only transport there"))]
    let Io::Threads(threads) = &shared.io else { return };
    let mut to = Some(to);
    let mut state = shared.lock();
    loop {
        state.driver.on_time(now());
        state = shared.publish(state, By::Io);
        let bytes = state.driver.take_unsent();
        if let Some(to) = to.as_mut().filter(|_| !bytes.is_empty()) {
            drop(state);
            let failed = to.write_all(&bytes).and_then(|()| to.flush()).is_err();
            state = shared.lock();
            if failed {
                // The reason is visible in the output of the engine.
                state.driver.on_input_closed();
            }
            continue;
        }
        if state.driver.closes_input() {
            to = None;
        }
        if state.driver.has_ended() {
            return;
        }
        state = threads.sleep(state);
    }
}

pub(super) fn flush(state: &mut shared::State) {
    // A thread has handled everything that has arrived.
    while state.driver.can_start_pending() {
        state.driver.start_pending(now());
    }
    if state.driver.has_output() {
        state.driver.send(|_| 0);
    }
}

impl Threads {
    fn sleep<'a>(&'a self, mut state: Guard<'a>) -> Guard<'a> {
        let until = state.driver.deadline();
        state.io.threads.wakes = until;
        match until {
            None => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(until) => {
                let left = until.saturating_duration_since(now());
                self.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    pub(super) fn wake(&self, state: &shared::State, by: By) {
        let earlier = match (state.driver.deadline(), state.io.threads.wakes) {
            (Some(due), Some(wakes)) => due < wakes,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let has_work = state.driver.is_blocked() || state.driver.is_ending() || earlier;
        if by == By::Caller && has_work {
            self.work.notify_all();
        }
    }
}
