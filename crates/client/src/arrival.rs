//! When something came, told apart from when the system let this thread look at it.
//!
//! On a busy machine a thread whose engine has answered may wait for a processor for many milliseconds,
//! and they are not the engine's. Linux counts for each thread how long it could have run and did not: the
//! second number of `/proc/thread-self/schedstat`, in nanoseconds (its `Documentation/scheduler/sched-stats`).

use std::time::{Duration, Instant};

use crate::time::now;

/// A wait of this thread for something to come.
#[derive(Debug)]
pub(crate) struct Vigil {
    began: Instant,
    delay: Option<Duration>,
}

impl Vigil {
    pub(crate) fn begin() -> Self {
        Self { began: now(), delay: delay() }
    }

    /// When this thread was woken, as far as is known, or began to wait if that was later.
    pub(crate) fn end(self) -> Instant {
        let delay = delay().zip(self.delay).map(|(after, before)| after.saturating_sub(before));
        woken(self.began, now(), delay.unwrap_or_default())
    }
}

/// When a thread was woken that runs again now, after so long a delay.
fn woken(began: Instant, now: Instant, delay: Duration) -> Instant {
    now.checked_sub(delay).map_or(began, |at| at.max(began))
}

/// How long this thread has been kept from running, since it was started.
#[cfg(target_os = "linux")]
fn delay() -> Option<Duration> {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    thread_local! {
        static COUNTS: Option<File> = File::open("/proc/thread-self/schedstat").ok();
    }
    let mut text = [0; 80];
    let read = COUNTS.try_with(|file| file.as_ref()?.read_at(&mut text, 0).ok()).ok()??;
    let text = std::str::from_utf8(text.get(..read)?).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// No other system tells a thread.
#[cfg(not(target_os = "linux"))]
fn delay() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_was_woken_before_its_delay_and_not_before_it_began_to_wait() {
        let began = now();
        let later = began + Duration::from_millis(10);
        let woken = |millis| woken(began, later, Duration::from_millis(millis)) - began;
        assert_eq!(woken(0), Duration::from_millis(10));
        assert_eq!(woken(4), Duration::from_millis(6));
        assert_eq!(woken(11), Duration::ZERO);
        assert_eq!(woken(u64::MAX), Duration::ZERO);
    }

    /// Of those threads that share a processor all but one wait.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_came_while_others_ran_came_when_it_did() {
        use std::io::{PipeReader, Read, Write};
        use std::sync::mpsc::channel;
        use std::thread;

        use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

        const BUSY: Duration = Duration::from_millis(60);

        fn wait_for_byte(mut from: PipeReader) -> [Instant; 3] {
            // Whoever has the processor keeps it from this one.
            rustix::process::setpriority_process(Some(gettid()), 19).expect("less is allowed");
            let vigil = Vigil::begin();
            let began = vigil.began;
            from.read_exact(&mut [0]).expect("a byte");
            [began, vigil.end(), now()]
        }

        thread::spawn(|| {
            let all = sched_getaffinity(None).expect("a set");
            let first = (0..CpuSet::MAX_CPU).find(|it| all.is_set(*it)).expect("a processor");
            let mut one = CpuSet::new();
            one.set(first);
            sched_setaffinity(None, &one).expect("one of them");
            // The system may give the waiting thread its turn all the same, so it is tried often.
            for _ in 0..100 {
                let (from, mut to) = std::io::pipe().expect("a pipe");
                let (done, on_done) = channel();
                thread::spawn(move || done.send(wait_for_byte(from)));
                thread::sleep(Duration::from_millis(5));
                to.write_all(b"x").expect("a byte");
                let written = now();
                while written.elapsed() < BUSY {}
                let [began, came, read] = on_done.recv().expect("it comes");
                if began <= written && written + BUSY / 2 <= read {
                    assert!(came < written + BUSY / 4, "{came:?} {written:?} {read:?}");
                    return;
                }
            }
            panic!("nobody was ever kept waiting");
        })
        .join()
        .expect("a thread");
    }
}
