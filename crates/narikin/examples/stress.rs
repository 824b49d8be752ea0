//! Runs a random GUI against the engine: `stress SECONDS [SEED [MILLISECONDS]]`.
//!
//! Exits with an error after a crash, an illegal move, or a reply that is missing or later than
//! MILLISECONDS (500 by default). Scheduling delays of the host, which a second thread measures, are not
//! counted. `tests/it/stress/gui.rs` implements the GUI.

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
    let timeout = Timeouts { hung: Duration::from_mins(1), late, delays };
    thread::spawn(measure_delays);
    let (start, mut tally) = (now(), Tally::default());
    for seed in first.. {
        tally.add(&session(seed, 40, timeout).map_err(io::Error::other)?);
        if start.elapsed() >= Duration::from_secs(seconds) {
            return writeln!(io::stdout(), "seeds {first} to {seed}: {tally:?}");
        }
    }
    Ok(())
}

/// The total scheduling delays in milliseconds.
static DELAYS: AtomicU64 = AtomicU64::new(0);

fn delays() -> Duration {
    Duration::from_millis(DELAYS.load(Ordering::Relaxed))
}

/// Measures how much longer than requested short sleeps take.
fn measure_delays() {
    const SLEEP: Duration = Duration::from_millis(5);
    loop {
        let start = now();
        thread::sleep(SLEEP);
        let late = start.elapsed().saturating_sub(SLEEP);
        DELAYS.fetch_add(u64::try_from(late.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
