//! Plays random GUI against the engine for some seconds: `stress SECONDS [SEED [MILLISECONDS]]`.
//!
//! It ends with an error as soon as something is wrong: a crash, an illegal move, an answer that never
//! comes or is late by more than MILLISECONDS, 500 by default. Time in which the host does not run a second
//! thread is not counted. `tests/it/stress/gui.rs` implements the GUI.

#[path = "../tests/it/stress/gui.rs"]
mod gui;

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use gui::{Tally, Timeouts, now, session};

fn main() -> io::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|token| token.parse::<u64>());
    let mut next = || numbers.next().transpose().map_err(io::Error::other);
    let Some(seconds) = next()? else {
        return Err(io::Error::other("usage: stress SECONDS [SEED [MILLISECONDS]]"));
    };
    let (first, late) = (next()?.unwrap_or(0), next()?.unwrap_or(500));
    let late = Some(Duration::from_millis(late));
    let timeout = Timeouts { hung: Duration::from_mins(1), late, stood_still };
    thread::spawn(watch_machine);
    let (start, mut tally) = (now(), Tally::default());
    for seed in first.. {
        tally.add(&session(seed, 40, timeout).map_err(io::Error::other)?);
        if start.elapsed() >= Duration::from_secs(seconds) {
            return writeln!(io::stdout(), "seeds {first} to {seed}: {tally:?}");
        }
    }
    Ok(())
}

/// Milliseconds, as [`stood_still`] reports them.
static STOOD_STILL: AtomicU64 = AtomicU64::new(0);

fn stood_still() -> Duration {
    Duration::from_millis(STOOD_STILL.load(Ordering::Relaxed))
}

/// Sees how much longer than wanted each short sleep takes.
fn watch_machine() {
    const SLEEP: Duration = Duration::from_millis(5);
    loop {
        let asleep = now();
        thread::sleep(SLEEP);
        let late = asleep.elapsed().saturating_sub(SLEEP);
        STOOD_STILL
            .fetch_add(u64::try_from(late.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
