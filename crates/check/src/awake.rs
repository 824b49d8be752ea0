//! Whether this program was stopped in the middle of a check, as by Ctrl-Z, or the whole machine was.
//!
//! Nobody read the engine's answers meanwhile: one that came in time cannot be told from one that did
//! not. What was on is done again.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::time::now;

/// How often this program says that it runs.
const BEAT: Duration = Duration::from_millis(100);

/// A program that is not heard of for longer was stopped. A busy machine takes less.
const STOPPED: Duration = Duration::from_secs(1);

/// So often something is done again. On a machine that stands still all the time, the last try counts.
const MOST_REPEATS: usize = 3;

/// Counts how often this program stood still.
#[derive(Debug)]
pub(crate) struct Awake(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// When it was last known to run; unknown if it does not say so.
    last: Option<Instant>,
    stops: u64,
}

impl Seen {
    fn look(&mut self, at: Instant) -> u64 {
        if let Some(last) = &mut self.last {
            if STOPPED < at.saturating_duration_since(*last) {
                self.stops += 1;
            }
            *last = at.max(*last);
        }
        self.stops
    }
}

/// Does some work and looks meanwhile whether the program stands still.
pub(crate) fn watched<R>(work: impl FnOnce(&Awake) -> R) -> R {
    let awake = Awake(Mutex::default());
    let (working, over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let awake = &awake;
        let beat = move || {
            awake.seen(|seen| seen.last = Some(now()));
            while over.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                awake.stops();
            }
        };
        // Without the thread nothing is noticed, and each check is done once.
        let _ = thread::Builder::new().name("awake".to_owned()).spawn_scoped(scope, beat);
        let result = work(awake);
        drop(working);
        result
    })
}

impl Awake {
    /// Does something, and again if the program was stopped meanwhile.
    pub(crate) fn undisturbed<R>(&self, mut run: impl FnMut() -> R) -> R {
        for _ in 0..MOST_REPEATS {
            let before = self.stops();
            let result = run();
            if self.stops() == before {
                return result;
            }
        }
        run()
    }

    /// How often so far. Whoever looks first after it went on finds it out.
    fn stops(&self) -> u64 {
        self.seen(|seen| seen.look(now()))
    }

    fn seen<R>(&self, look: impl FnOnce(&mut Seen) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_not_heard_of_was_stopped() {
        let begin = now();
        let at = |millis| begin + Duration::from_millis(millis);
        let mut seen = Seen::default();
        assert_eq!((seen.look(at(0)), seen.look(at(60_000))), (0, 0), "nobody says that it runs");
        seen.last = Some(at(60_000));
        for beat in 1..20 {
            assert_eq!(seen.look(at(60_000 + 100 * beat)), 0);
        }
        assert_eq!((seen.look(at(70_000)), seen.look(at(70_100))), (1, 1));
        // One that looks late has not seen more.
        assert_eq!((seen.look(at(65_000)), seen.look(at(70_200))), (1, 1));
    }

    #[test]
    fn what_was_on_is_done_again() {
        watched(|awake| {
            let stop = || awake.seen(|seen| seen.stops += 1);
            let mut tries = 0;
            let last = awake.undisturbed(|| {
                tries += 1;
                if tries < 3 {
                    stop();
                }
                tries
            });
            assert_eq!(last, 3);
            let mut tries = 0;
            let last = awake.undisturbed(|| {
                tries += 1;
                stop();
                tries
            });
            assert_eq!(last, MOST_REPEATS + 1, "at last it is enough");
        });
    }
}
