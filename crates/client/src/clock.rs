//! The clock, and scheduling delays: how long a thread could have run and did not.
//!
//! On a busy machine a thread whose engine has answered may wait for a processor for many milliseconds, which are not
//! the engine's. Linux counts them for each thread: the second number of `/proc/thread-self/schedstat`, in nanoseconds
//! (its `Documentation/scheduler/sched-stats`).

use std::cell::Cell;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "the client is where time comes from")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// What no clock minds. The counts are not read more often: an engine says most of its lines in bursts, and
/// each reading takes as long as reading the line.
const TRIFLE: Duration = Duration::from_micros(50);

/// A wait of this thread for something to come.
#[derive(Debug)]
pub(crate) struct Vigil {
    began: Instant,
    delay: Option<Duration>,
}

impl Vigil {
    pub(crate) fn begin() -> Self {
        Self::at(now())
    }

    fn at(began: Instant) -> Self {
        let latest = LATEST.get().filter(|(at, _)| is_trifle(*at, began));
        Self { began, delay: latest.map(|(_, delay)| delay).or_else(|| read(began)) }
    }

    /// When this thread was woken, as far as is known, or began to wait if that was later.
    pub(crate) fn end(self) -> Instant {
        self.end_at(now())
    }

    fn end_at(self, now: Instant) -> Instant {
        if is_trifle(self.began, now) {
            return now;
        }
        self.woken(now, read(now))
    }

    fn woken(&self, now: Instant, delay: Option<Duration>) -> Instant {
        let delay = delay.zip(self.delay).map(|(after, before)| after.saturating_sub(before));
        woken(self.began, now, delay.unwrap_or_default())
    }
}

thread_local! {
    /// What this thread last read of its delay, and when.
    static LATEST: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

fn is_trifle(before: Instant, after: Instant) -> bool {
    after.saturating_duration_since(before) <= TRIFLE
}

fn read(now: Instant) -> Option<Duration> {
    let delay = delay();
    LATEST.set(delay.map(|delay| (now, delay)));
    delay
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
    waited(std::str::from_utf8(text.get(..read)?).ok()?)
}

/// What the counts of a thread say that it waited, in text as the kernel writes it: nanoseconds of running
/// and of waiting, and how often it was given a processor.
pub(crate) fn waited(counts: &str) -> Option<Duration> {
    let mut counts = counts.split_ascii_whitespace().skip(1).map(str::parse);
    let (waited, turns): (u64, u64) = (counts.next()?.ok()?, counts.next()?.ok()?);
    (turns > 0).then(|| Duration::from_nanos(waited))
}

/// No other system tells a thread.
#[cfg(not(target_os = "linux"))]
fn delay() -> Option<Duration> {
    None
}

/// Maximum number of threads that are asked: one that searches is among the first.
#[cfg(target_os = "linux")]
const MAX_THREADS: usize = 256;

/// Scheduling delays of the threads that a process has now, added up.
#[cfg(target_os = "linux")]
pub(crate) fn delay_of_process(id: u32) -> Option<Duration> {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).ok()?;
    let counts = tasks.flatten().take(MAX_THREADS).filter_map(|task| {
        // Threads come and go meanwhile.
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        waited(&text)
    });
    counts.reduce(Duration::saturating_add)
}

/// No other system reports it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn delay_of_process(_: u32) -> Option<Duration> {
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

    #[test]
    fn the_second_count_is_what_the_thread_waited() {
        assert_eq!(waited("0 71087 1\n"), Some(Duration::from_nanos(71_087)));
        // A kernel that counts nothing writes the file all the same.
        assert_eq!(waited("0 0 0\n"), None);
        for text in ["", "1", "1 2", "1 -2 3", "1 99999999999999999999 3", "a b c"] {
            assert_eq!(waited(text), None, "{text}");
        }
    }

    #[test]
    fn what_a_thread_waited_during_its_vigil_is_taken_off() {
        let vigil = Vigil { began: now(), delay: Some(Duration::from_millis(7)) };
        let began = vigil.began;
        let ended = began + Duration::from_millis(10);
        assert_eq!(
            vigil.woken(ended, Some(Duration::from_millis(9))) - began,
            Duration::from_millis(8)
        );
        assert_eq!(vigil.woken(ended, None), ended);
        let uncounted = Vigil { began, delay: None };
        assert_eq!(uncounted.woken(ended, Some(Duration::from_millis(9))), ended);
    }

    #[test]
    fn what_is_known_well_enough_is_not_read_again() {
        let (known, long) = (now(), Duration::from_secs(1_000));
        LATEST.set(Some((known, long)));
        let vigil = Vigil::at(known + TRIFLE);
        assert_eq!(vigil.delay, Some(long));
        let ended = vigil.began + TRIFLE;
        assert_eq!(vigil.end_at(ended), ended);
        assert_eq!(LATEST.get(), Some((known, long)));

        let later = known + TRIFLE + Duration::from_nanos(1);
        let vigil = Vigil::at(later);
        assert_ne!(vigil.delay, Some(long));
        assert_eq!(LATEST.get(), vigil.delay.map(|delay| (later, delay)));
        // What others have taken can have been no longer than it was waited for.
        let ended = vigil.end_at(later + long);
        assert!(later <= ended && ended <= later + long);
        assert_ne!(LATEST.get().map(|(at, _)| at), Some(later));
    }

    /// Whether a woken thread has to wait for those that share its processor is the scheduler's choice, so
    /// those times are judged in which it had to.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_came_while_others_ran_came_when_it_did() {
        use std::io::{PipeReader, Read, Write};
        use std::sync::mpsc::channel;
        use std::thread;

        use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

        const BUSY: Duration = Duration::from_millis(30);
        const LONG: Duration = Duration::from_millis(1);

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
            let (mut kept, mut dated) = (0, 0);
            for _ in 0..40 {
                let (from, mut to) = std::io::pipe().expect("a pipe");
                let (done, on_done) = channel();
                thread::spawn(move || done.send(wait_for_byte(from)));
                thread::sleep(Duration::from_millis(5));
                let before = now();
                to.write_all(b"x").expect("a byte");
                let written = now();
                while written.elapsed() < BUSY {}
                let [began, came, read] = on_done.recv().expect("it comes");
                assert!(began <= came && came <= read, "{began:?} {came:?} {read:?}");
                if began <= before && written + LONG <= read {
                    kept += 1;
                    dated += u32::from(came < written + (read - written) / 2);
                }
            }
            // Few may all have been disturbed by something else.
            if kept >= 5 && delay().is_some() {
                assert!(dated * 2 >= kept, "{dated} of {kept}");
            }
        })
        .join()
        .expect("a thread");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod process_tests {
    use std::fs;
    use std::process::{Child, Command};
    use std::thread;

    use super::*;

    /// Two that never rest share a processor.
    #[test]
    fn who_shares_a_processor_waits_for_it() {
        let status = fs::read_to_string("/proc/self/status").expect("there is one");
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let first = allowed.expect("it is told").trim().split([',', '-']).next().expect("one");
        let busy = || {
            let mut command = Command::new("taskset");
            command.args(["-c", first, "sh", "-c", "while :; do :; done"]);
            command.spawn().expect("util-linux is there")
        };
        let mut both = [busy(), busy()];
        let until = now() + Duration::from_secs(20);
        let waits =
            |child: &Child| delay_of_process(child.id()).is_some_and(|it| it.as_millis() > 20);
        while !both.iter().all(waits) && now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        let waited = both.each_ref().map(waits);
        for child in &mut both {
            child.kill().and_then(|()| child.wait()).expect("it can be killed");
        }
        assert_eq!(waited, [true, true]);
        assert_eq!(delay_of_process(both[0].id()), None);
    }
}
