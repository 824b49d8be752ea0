//! Exit codes, failures of commands, and signals: the first Ctrl-C stops a search or a match, the second one
//! ends the process.

use std::error::Error;
use std::ffi::c_int;
use std::fmt;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::{io, process, thread};

use readyok_arena::runner::StopHandle;
use readyok_client::Stopper;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::terminal::print;

/// An exit code of `readyok`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Code {
    /// 0: success.
    Done,
    /// 1: failure, for example an engine crashed or a file could not be written.
    Failed,
    /// 2: invalid arguments; nothing was started.
    Usage,
    /// 3: `tap --strict` observed a violation of a must.
    MustViolated,
    /// 1: `check` found a violation of a must.
    Nonconforming,
    /// 2: `check` has no verdict about a must.
    Unjudged,
    /// 130: interrupted; during a search by the second Ctrl-C.
    Interrupted,
    /// The exit code of the engine of `tap`, or 128 plus the number of its fatal signal. On Windows it has 32 bits.
    Engine(i32),
}

impl Code {
    /// The exit code for the status of a child process.
    pub fn of(status: ExitStatus) -> Self {
        if status.success() {
            return Self::Done;
        }
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None::<i32>;
        let code = status.code().or_else(|| signal.map(|signal| 128 + signal));
        Self::Engine(code.unwrap_or(1))
    }

    /// The number that is returned to the system.
    pub fn number(self) -> i32 {
        match self {
            Self::Done => 0,
            Self::Failed | Self::Nonconforming => 1,
            Self::Usage | Self::Unjudged => 2,
            Self::MustViolated => 3,
            Self::Interrupted => 130,
            Self::Engine(code) => code,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        u8::try_from(code.number()).map_or(Self::FAILURE, Self::from)
    }
}

/// The error and exit code of a failed command.
#[derive(Debug)]
pub struct Failure {
    /// Exit code of the process.
    pub code: Code,
    error: Box<dyn Error>,
}

impl Failure {
    /// A failure with exit code 1.
    pub fn failed(error: impl Into<Box<dyn Error>>) -> Self {
        Self { code: Code::Failed, error: error.into() }
    }

    /// The failure with the file that it is about.
    #[must_use]
    pub fn at(self, path: &Path) -> Self {
        Self { error: format!("`{}`: {}", path.display(), self.error).into(), ..self }
    }

    /// Invalid arguments, with exit code 2.
    pub fn usage(error: impl Into<Box<dyn Error>>) -> Self {
        Self { code: Code::Usage, error: error.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Counts the interrupts of a command that runs at most one search.
#[derive(Clone, Debug, Default)]
pub struct Interrupts(Arc<State>);

#[derive(Debug, Default)]
struct State {
    count: AtomicU32,
    stopper: OnceLock<Stopper>,
}

impl Interrupts {
    /// Number of interrupts.
    pub fn count(&self) -> u32 {
        self.0.count.load(Ordering::Acquire)
    }

    /// Makes the next interrupt stop a search. Before this call, an interrupt ends the process.
    pub fn stop_with(&self, stopper: Stopper) {
        // A command runs one search.
        let _ = self.0.stopper.set(stopper);
    }

    /// Handles an interrupt. Without a search the process exits immediately, because the main thread may be
    /// blocked by an engine for minutes. The guard kills the engine.
    pub fn interrupt(&self) {
        self.0.count.fetch_add(1, Ordering::AcqRel);
        match self.0.stopper.get() {
            Some(stopper) => stopper.stop(),
            None => process::exit(Code::Interrupted.number()),
        }
    }
}

/// Calls a function on Ctrl-C, SIGTERM and SIGHUP.
pub(crate) fn on_interrupt(mut handle: impl FnMut() + Send + 'static) -> io::Result<()> {
    #[cfg(unix)]
    let signals = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
    #[cfg(not(unix))]
    let signals = [SIGINT, SIGTERM];
    on_signals(&signals, move |_| handle())
}

/// A flag that the first Ctrl-C sets, so that the command ends after `work`. The second one ends the process.
pub(crate) fn stop_after(work: &'static str) -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    #[expect(clippy::exit, reason = "the second interrupt does not wait")]
    let interrupt = move || {
        if flag.swap(true, Ordering::AcqRel) {
            process::exit(Code::Interrupted.number());
        }
        print(&format!("readyok: ends after {work}; press Ctrl-C again to exit now"));
    };
    on_interrupt(interrupt)?;
    Ok(stop)
}

/// Ends a match by signals. The first Ctrl-C ends it as its settings require, the second one immediately; so does the
/// first SIGTERM. SIGHUP is not handled: `nohup` ignores it.
pub(crate) fn stop_match(stop: StopHandle) -> io::Result<()> {
    on_signals(&[SIGINT, SIGTERM], move |signal| {
        stop.interrupt();
        if signal == SIGTERM {
            stop.interrupt();
        }
    })
}

/// A signal that ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSignal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

/// Calls a function on Ctrl-C and SIGTERM with the number of signals so far.
pub(crate) fn on_stop(mut handle: impl FnMut(StopSignal, u32) + Send + 'static) -> io::Result<()> {
    let mut count = 0;
    on_signals(&[SIGINT, SIGTERM], move |signal| {
        count += 1;
        let signal = if signal == SIGTERM { StopSignal::Terminate } else { StopSignal::Interrupt };
        handle(signal, count);
    })
}

#[cfg(unix)]
fn on_signals(signals: &[c_int], handle: impl FnMut(c_int) + Send + 'static) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new(signals)?;
    let run = move || signals.forever().for_each(handle);
    thread::Builder::new().name("signals".to_owned()).spawn(run).map(drop)
}

/// Signals are polled, as other systems have no pipe that a handler may write to.
#[cfg(not(unix))]
fn on_signals(signals: &[c_int], mut handle: impl FnMut(c_int) + Send + 'static) -> io::Result<()> {
    use std::time::Duration;

    let mut flags = Vec::new();
    for &signal in signals {
        let flag = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
        flags.push((signal, flag));
    }
    let run = move || {
        loop {
            for (signal, flag) in &flags {
                if flag.swap(false, Ordering::AcqRel) {
                    handle(*signal);
                }
            }
            thread::sleep(Duration::from_millis(50));
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(run).map(drop)
}
