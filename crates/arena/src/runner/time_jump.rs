//! Detection of time jumps: the process did not run for a while, as after Ctrl-Z and `fg`. Answers that arrived in
//! time are then read too late, and engines seem to have lost on time.

use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::time::now;

const INTERVAL: Duration = Duration::from_millis(200);

/// A longer gap between two heartbeats is a time jump. A busy host causes shorter ones.
const MAX_GAP: Duration = Duration::from_secs(1);

struct Heartbeat {
    /// The latest heartbeat; none if nothing is detected.
    latest: Option<Instant>,
    jumps: u64,
}

impl Heartbeat {
    fn count(&mut self, at: Instant) -> u64 {
        if let Some(latest) = &mut self.latest {
            if MAX_GAP < at.saturating_duration_since(*latest) {
                self.jumps += 1;
            }
            *latest = at.max(*latest);
        }
        self.jumps
    }
}

static HEARTBEAT: Mutex<Heartbeat> = Mutex::new(Heartbeat { latest: None, jumps: 0 });

/// Number of time jumps of this process. The first call starts the heartbeat.
pub(super) fn count() -> u64 {
    static START: Once = Once::new();
    START.call_once(|| {
        // Not in the thread: it may start late, and a jump before its first heartbeat would be missed.
        with(|clock| clock.latest = Some(now()));
        let beat = || {
            loop {
                thread::sleep(INTERVAL);
                with(|clock| clock.count(now()));
            }
        };
        if thread::Builder::new().name("heartbeat".to_owned()).spawn(beat).is_err() {
            // Without heartbeats, each gap between two calls would be a time jump.
            with(|clock| clock.latest = None);
        }
    });
    with(|clock| clock.count(now()))
}

fn with<R>(f: impl FnOnce(&mut Heartbeat) -> R) -> R {
    f(&mut HEARTBEAT.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_long_gaps_between_heartbeats() {
        let start = now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut heartbeat = Heartbeat { latest: None, jumps: 0 };
        assert_eq!(heartbeat.count(at(60_000)), 0, "no heartbeat yet");
        heartbeat.latest = Some(at(0));
        for millis in [200, 1200, 1300] {
            assert_eq!(heartbeat.count(at(millis)), 0);
        }
        assert_eq!(heartbeat.count(at(2301)), 1);
        assert_eq!(heartbeat.count(at(2500)), 1);
        assert_eq!(heartbeat.count(at(100)), 1, "a time read earlier");
        assert_eq!(heartbeat.count(at(9000)), 2);
    }
}
