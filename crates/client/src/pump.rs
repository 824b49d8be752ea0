//! The streams of one engine and its process, waited for together (poll(2)): reads what comes,
//! writes what waits, and reaps the process. Whoever wants to wait runs it: a thread that does
//! nothing else, or the owner of the engine, who may run several.
//!
//! ```text
//!  Alive ── the process exits ──> Exited ── its pipes end, or take too long ──> Over
//! ```

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use smallvec::SmallVec;

use crate::arrival::Vigil;
use crate::bell::Bell;
use crate::inbox::Inbox;
use crate::intake::{CHUNK, Came, Intake};
use crate::outbox::{Direct, Outbox};
use crate::process::Process;
use crate::stderr::ErrorLines;
use crate::sync::lock;
use crate::time::now;

/// No pipe holds more than so many reads give: a megabyte.
const FULL_PIPE: usize = (1 << 20) / CHUNK;
/// How long the last words of a process that has ended may take, if another one holds its pipes.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Longer waits are made of several. Some systems refuse those of many days.
const LONG: Duration = Duration::from_hours(1);
/// How often to look after a process whose end cannot be polled, while it holds its output open.
const LOOK: Duration = Duration::from_millis(250);
/// How often to look when it has closed it.
const LOOK_CLOSELY: Duration = Duration::from_millis(5);

/// What follows so soon is said in one go.
const BURST: Duration = Duration::from_micros(100);
/// So many reads of its output at most before the rest of an engine is looked at as well.
const UNWATCHED: u32 = 64;

#[derive(Debug)]
pub(crate) struct Pump {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) errors: Arc<ErrorLines>,
    process: Option<Arc<Process>>,
    output: File,
    stderr: Option<File>,
    /// Can be read when the process has exited. Old kernels and other systems have none.
    exit: Option<OwnedFd>,
    bell: Arc<Bell>,
    waker: Waker,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    output: Intake,
    /// Lines wait for room, and nothing more is read.
    blocked: bool,
    stderr: Intake,
    /// How often the output was read since all was looked at.
    unwatched: u32,
    life: Life,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Life {
    Alive,
    Exited { until: Instant },
    Over,
}

/// The streams of an engine.
pub(crate) struct Ends {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) stderr: Option<OwnedFd>,
}

enum Source {
    Output,
    Stderr,
    Input,
    Exit,
    Bell,
}

impl Pump {
    pub(crate) fn new(ends: Ends, process: Option<Arc<Process>>, inbox: Inbox) -> io::Result<Self> {
        for end in [Some(&ends.input), Some(&ends.output), ends.stderr.as_ref()] {
            end.map_or(Ok(()), |end| ioctl_fionbio(end, true))?;
        }
        let bell = Arc::new(Bell::new()?);
        let waker = Waker::from(Arc::clone(&bell));
        let direct = Direct { file: Arc::new(ends.input.into()), rest: waker.clone() };
        let mut stderr = Intake::of_errors();
        stderr.open = ends.stderr.is_some();
        let life = if process.is_some() { Life::Alive } else { Life::Over };
        let output = Intake::of_output();
        Ok(Self {
            inbox: Arc::new(inbox),
            outbox: Arc::new(Outbox::over(direct)),
            errors: Arc::default(),
            exit: process.as_ref().and_then(|process| process.exit_fd()),
            process,
            output: ends.output.into(),
            stderr: ends.stderr.map(File::from),
            bell,
            waker,
            state: Mutex::new(State { output, blocked: false, stderr, unwatched: 0, life }),
        })
    }

    /// Ends a [`turn`](Self::turn) that waits.
    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Runs until the engine has ended.
    pub(crate) fn run(&self) {
        while !self.is_done() {
            Self::turn(&[self], None, true, || self.is_done());
        }
    }

    fn is_done(&self) -> bool {
        let state = lock(&self.state);
        let wanted = state.output.open && !self.inbox.is_abandoned();
        state.life == Life::Over && (self.process.is_some() || !wanted)
    }

    /// Waits until something comes, or until the deadline, and takes all of it. Does not wait if
    /// `is_due`, which may be told by a waker.
    pub(crate) fn turn(
        pumps: &[&Self],
        until: Option<Instant>,
        timed: bool,
        is_due: impl FnOnce() -> bool,
    ) {
        for pump in pumps {
            pump.bell.arm();
        }
        let is_due = is_due();
        if !is_due && !timed && Self::read_burst(pumps) {
            for pump in pumps {
                pump.bell.disarm();
            }
            return;
        }
        let inputs: SmallVec<[_; 2]> = pumps.iter().map(|pump| pump.outbox.blocked()).collect();
        // A match waits for two engines at most.
        let mut fds = SmallVec::<[PollFd<'_>; 8]>::new();
        let mut sources = SmallVec::<[_; 8]>::new();
        let mut deadline = until;
        for (pump, input) in pumps.iter().zip(&inputs) {
            let own = pump.watch(input.as_deref(), |source, fd, flags| {
                fds.push(PollFd::from_borrowed_fd(fd, flags));
                sources.push((*pump, source));
            });
            deadline = deadline.into_iter().chain(own).min();
        }
        let (polled, came) = if is_due {
            (Ok(0), now())
        } else if timed {
            let vigil = Vigil::begin();
            (wait(&mut fds, deadline), vigil.end())
        } else {
            (wait(&mut fds, deadline), now())
        };
        for pump in pumps {
            pump.bell.disarm();
        }
        if polled == Err(Errno::INTR) {
            return;
        }
        for (fd, (pump, source)) in fds.iter().zip(sources) {
            // What cannot be waited for is tried.
            if polled.is_err() || !fd.revents().is_empty() {
                pump.serve(&source, came);
            }
        }
        for pump in pumps {
            pump.look_after_process();
        }
    }

    /// Lets engines that have just said something have the processor, and reads what they have said by then: one
    /// that says its lines one by one would end a wait with each of them. Tells whether there was anything.
    ///
    /// Only where no time counts: others may have the processor for long.
    fn read_burst(pumps: &[&Self]) -> bool {
        let before = now();
        let is_talking = |pump: &&Self| is_burst(lock(&pump.state).output.at, before);
        if !pumps.iter().any(is_talking) {
            return false;
        }
        thread::yield_now();
        pumps.iter().filter(|pump| pump.read_unwatched(&mut lock(&pump.state))).count() != 0
    }

    fn read_unwatched(&self, state: &mut State) -> bool {
        if is_watched(state) || self.inbox.is_abandoned() || self.inbox.pause().is_some() {
            return false;
        }
        let came = matches!(self.read(state, None), Came::All | Came::Part);
        state.unwatched += u32::from(came);
        came
    }

    /// What to wait for, and until when at most.
    fn watch<'a>(
        &'a self,
        input: Option<&'a File>,
        mut on: impl FnMut(Source, std::os::fd::BorrowedFd<'a>, PollFlags),
    ) -> Option<Instant> {
        let abandoned = self.inbox.is_abandoned();
        let state = &mut *lock(&self.state);
        state.unwatched = 0;
        if state.blocked {
            self.hand_over(state);
        }
        let pause = self.inbox.pause();
        if state.life != Life::Over || self.process.is_none() {
            if state.output.open && !state.blocked && !abandoned && pause.is_none() {
                on(Source::Output, self.output.as_fd(), PollFlags::IN);
            }
            if let Some(stderr) = self.stderr.as_ref().filter(|_| state.stderr.open && !abandoned) {
                on(Source::Stderr, stderr.as_fd(), PollFlags::IN);
            }
            if let Some(input) = input.filter(|_| !abandoned) {
                on(Source::Input, input.as_fd(), PollFlags::OUT);
            }
        }
        on(Source::Bell, self.bell.reader.as_fd(), PollFlags::IN);
        let look = match (state.life, &self.exit) {
            (Life::Alive, Some(exit)) => {
                on(Source::Exit, exit.as_fd(), PollFlags::IN);
                None
            }
            (Life::Alive, None) if state.output.open && !abandoned => Some(now() + LOOK),
            (Life::Alive, None) => Some(now() + LOOK_CLOSELY),
            (Life::Exited { until }, _) => Some(until),
            (Life::Over, _) => None,
        };
        look.into_iter().chain(pause).min()
    }

    fn serve(&self, source: &Source, came: Instant) {
        match source {
            Source::Output => {
                self.read(&mut lock(&self.state), Some(came));
            }
            Source::Stderr => self.read_stderr(&mut lock(&self.state)),
            Source::Input => self.outbox.resume(),
            Source::Bell => self.bell.hush(),
            Source::Exit => self.take_exit(&mut lock(&self.state)),
        }
    }

    /// Reads whatever has come, without waiting.
    pub(crate) fn drain(&self) {
        self.drain_output(&mut lock(&self.state));
    }

    fn drain_output(&self, state: &mut State) {
        for _ in 0..FULL_PIPE {
            if self.read(state, None) != Came::Part {
                return;
            }
        }
    }

    /// Reads once, if there is room for it, what has come at this time, or just now.
    fn read(&self, state: &mut State, came: Option<Instant>) -> Came {
        if state.blocked || !state.output.open {
            return Came::End;
        }
        let before = state.output.at;
        let read = state.output.read(&self.output);
        self.inbox.spend(state.output.latest, state.output.at);
        if let Some(came) = came {
            // Another thread may have read meanwhile what came before.
            state.output.at = came.max(before);
        }
        self.hand_over(state);
        read
    }

    fn hand_over(&self, state: &mut State) {
        let Intake { lines, at, open, .. } = &mut state.output;
        state.blocked = !self.inbox.fill(lines, *at, &self.waker);
        if !*open && !state.blocked {
            self.inbox.end(lines, *at);
        }
    }

    fn read_stderr(&self, state: &mut State) {
        if let Some(stderr) = self.stderr.as_ref().filter(|_| state.stderr.open) {
            state.stderr.read(stderr);
            self.errors.take(&mut state.stderr.lines);
        }
    }

    fn take_exit(&self, state: &mut State) {
        if let (Life::Alive, Some(process)) = (state.life, &self.process)
            && process.has_exited()
        {
            process.reap();
            state.life = Life::Exited { until: now() + LAST_WORDS };
        }
    }

    fn look_after_process(&self) {
        let Some(process) = &self.process else { return };
        let state = &mut *lock(&self.state);
        if self.exit.is_none() {
            self.take_exit(state);
        }
        let Life::Exited { until } = state.life else { return };
        let has_more = state.output.open || state.stderr.open;
        if has_more && !self.inbox.is_abandoned() && now() < until {
            return;
        }
        self.drain_output(state);
        self.inbox.close();
        self.errors.end(&mut state.stderr.lines);
        process.publish();
        self.inbox.wake();
        state.life = Life::Over;
    }
}

/// Whether the output is not read without a look at the rest.
fn is_watched(state: &State) -> bool {
    UNWATCHED <= state.unwatched || state.life != Life::Alive
}

fn is_burst(latest: Instant, now: Instant) -> bool {
    now.saturating_duration_since(latest) <= BURST
}

/// Waits for files until the deadline, or for long if there is none.
fn wait(fds: &mut [PollFd<'_>], until: Option<Instant>) -> Result<usize, Errno> {
    let left = until.map(|until| until.saturating_duration_since(now()).min(LONG));
    let timeout = left.map(|left| Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    });
    poll(fds, timeout.as_ref())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use readyok_protocol::Dialect;

    use super::*;
    use crate::batch::Batch;

    /// As on systems where the end of a process cannot be polled.
    #[test]
    fn a_process_is_reaped_without_a_file_for_its_end() {
        // One leaves at once, and one after it has closed its output.
        for script in ["exit 3", "exec >&- 2>&-; read line; exit 3"] {
            let (mut pump, process) = started(script);
            pump.exit = None;
            pump.outbox.push(&mut "line\n".to_owned());
            pump.run();
            assert_eq!(process.status().and_then(|status| status.code()), Some(3));
            assert!(pump.inbox.is_closed());
        }
    }

    fn started(script: &str) -> (Pump, Arc<Process>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let (process, streams) = Process::start(&mut command, None).expect("a shell");
        let input = streams.stdin.expect("it is piped").into();
        let output = streams.stdout.expect("it is piped").into();
        let ends = Ends { input, output, stderr: None };
        let inbox = Inbox::new(Dialect::Uci);
        (Pump::new(ends, Some(Arc::clone(&process)), inbox).expect("a pump"), process)
    }

    #[test]
    fn who_never_stops_talking_is_looked_at_all_the_same() {
        let (pump, process) = started("exec yes info string word");
        let until = now() + Duration::from_secs(20);
        let reads = || {
            let mut count = 0;
            while count < 2 * UNWATCHED && !is_watched(&lock(&pump.state)) {
                assert!(now() < until, "it says nothing");
                count += u32::from(pump.read_unwatched(&mut lock(&pump.state)));
                pump.inbox.take(&mut Batch::default());
            }
            count
        };
        assert!((1..=UNWATCHED).contains(&reads()));
        assert!(!pump.read_unwatched(&mut lock(&pump.state)));
        Pump::turn(&[&pump], Some(until), true, || false);
        assert!((1..=UNWATCHED).contains(&reads()));
        process.kill_and_reap();
    }
}
