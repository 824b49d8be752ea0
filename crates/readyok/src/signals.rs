//! Signals: the first Ctrl-C stops what is running, the second one ends the program.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::{io, process, thread};

use readyok_arena::runner::StopHandle;
use readyok_client::Stopper;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::exit::Code;

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

    /// Makes the next interrupt stop a search. Before this call, an interrupt ends the program.
    pub fn stop_with(&self, stopper: Stopper) {
        // There is one search.
        let _ = self.0.stopper.set(stopper);
    }

    /// Handles an interrupt. Without a search the program ends here: the main thread may be waiting for an engine for
    /// minutes. The engine's guard ends the engine.
    pub fn interrupt(&self) {
        self.0.count.fetch_add(1, Ordering::AcqRel);
        match self.0.stopper.get() {
            Some(stopper) => stopper.stop(),
            None => process::exit(Code::Interrupted.number().into()),
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

#[cfg(unix)]
fn on_signals(signals: &[c_int], handle: impl FnMut(c_int) + Send + 'static) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new(signals)?;
    let run = move || signals.forever().for_each(handle);
    thread::Builder::new().name("signals".to_owned()).spawn(run).map(drop)
}

/// Signals are polled, as other systems have no pipe that a handler may write to.
#[cfg(not(unix))]
fn on_signals(signals: &[c_int], mut handle: impl FnMut(c_int) + Send + 'static) -> io::Result<()> {
    use std::sync::atomic::AtomicBool;
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
