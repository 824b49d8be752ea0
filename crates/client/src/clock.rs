//! Time: the clock, deadlines of searches, steal time, and scheduling delays.
//!
//! On a busy machine a thread whose engine has answered may wait for a processor for many milliseconds, which are not
//! the engine's. Linux counts them for each thread: the second number of `/proc/thread-self/schedstat`, in nanoseconds
//! (its `Documentation/scheduler/sched-stats`).
//!
//! A virtual machine may lose its processors to others of its host while its clocks continue, so that an engine loses time
//! that it never had. Linux counts this for each processor as "steal": the eighth number of its line in `/proc/stat`
//! (`proc_stat(5)`).

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::Problem;
use crate::search::{Deadline, Search};

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

/// No other system reports it for a thread.
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

#[derive(Debug)]
pub(crate) struct MoveTimer {
    deadline: Option<Deadline>,
    pondering: bool,
    /// When `go` was written.
    go: Option<Instant>,
    /// When the opponent played the expected move; that may be before `go`.
    hit: Option<Instant>,
    /// When the engine last sent an `info`.
    latest_info: Option<Instant>,
    /// Steal time of the machine when the search began.
    before: Option<Counts>,
    /// Steal time since then, as far as it was asked for.
    stolen: Duration,
}

impl MoveTimer {
    pub(crate) fn new(search: &Search) -> Self {
        Self {
            deadline: search.deadline(),
            pondering: search.is_ponder(),
            go: None,
            hit: None,
            latest_info: None,
            before: None,
            stolen: Duration::ZERO,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    /// `go` was written.
    pub(crate) fn start(&mut self, at: Instant) {
        self.go = Some(at);
        self.count_from(at);
    }

    /// The opponent played the expected move; the search has this deadline from now on.
    pub(crate) fn hit(&mut self, at: Instant, deadline: Option<Deadline>) {
        self.deadline = deadline;
        self.pondering = false;
        self.hit = Some(at);
        self.count_from(at);
    }

    pub(crate) fn was_hit(&self) -> bool {
        self.hit.is_some()
    }

    /// The engine sent an `info`.
    pub(crate) fn on_info(&mut self, at: Instant) {
        self.latest_info = Some(at);
    }

    fn count_from(&mut self, now: Instant) {
        let is_clock = matches!(self.deadline, Some(Deadline::At(_) | Deadline::After(_)));
        if is_clock && !self.pondering {
            self.before = Counts::about(now);
        }
    }

    /// When its time began: at `go`, or at `ponderhit`.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.go.map(|go| self.hit.map_or(go, |hit| hit.max(go)))
    }

    /// Steal time during the search. Read only when the deadline would have passed otherwise.
    pub(crate) fn stolen(&self) -> Duration {
        self.stolen
    }

    /// The deadline, if it is known.
    pub(crate) fn end(&self) -> Option<Instant> {
        let deadline = self.deadline?;
        if let Deadline::At(moment) = deadline {
            return moment.checked_add(self.stolen);
        }
        if self.pondering {
            return None;
        }
        let since = self.since()?;
        match deadline {
            Deadline::At(_) => None,
            Deadline::After(time) => since.checked_add(time)?.checked_add(self.stolen),
            Deadline::Stall(limit) => {
                let latest = self.latest_info.map_or(since, |at| at.max(since));
                let silent = latest.checked_add(limit.silence);
                silent.into_iter().chain(since.checked_add(limit.total)).min()
            }
        }
    }

    /// The problem of a search whose deadline has passed.
    pub(crate) fn expired(&mut self, at: Instant) -> Option<Problem> {
        if let Some(Deadline::Stall(_)) = self.deadline {
            return (self.end()? <= at).then_some(Problem::Stalled);
        }
        self.lateness_by(at, Counts::read).map(Problem::OutOfTime)
    }

    fn lateness_by(
        &mut self,
        at: Instant,
        read: impl FnOnce() -> Option<Counts>,
    ) -> Option<Duration> {
        let late = at.checked_duration_since(self.end()?)?;
        let Some((after, before)) = read().zip(self.before.as_ref()) else { return Some(late) };
        self.stolen = self.stolen.max(after.since(before)).min(Search::MAX_STEAL);
        at.checked_duration_since(self.end()?)
    }
}

/// A machine that has never lost anything is asked no more often.
const TRUST: Duration = Duration::from_secs(1);

/// What has been stolen of each processor since the machine was started, in ticks. Empty while nothing has.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Counts(Vec<u64>);

impl Counts {
    /// The current counts, or slightly older ones, where the system reports them.
    pub(crate) fn about(now: Instant) -> Option<Self> {
        if CLEAN.get().is_some_and(|at| now.saturating_duration_since(at) <= TRUST) {
            return Some(Self::default());
        }
        let counts = Self::read()?;
        CLEAN.set(counts.0.is_empty().then_some(now));
        Some(counts)
    }

    /// As they are.
    pub(crate) fn read() -> Option<Self> {
        #[cfg(test)]
        if let Some((since, stolen)) = THIEF.get() {
            let stolen = stolen(now().saturating_duration_since(since));
            return Some(Self(vec![1 + u64::try_from(stolen.as_millis() / 10).unwrap_or(0)]));
        }
        with_statistics(Self::parse)?
    }

    /// Reads `/proc/stat`, of which the end may be missing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (lines, _) = text.rsplit_once('\n')?;
        let counts = lines.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let number = words.next()?.strip_prefix("cpu")?;
            (!number.is_empty()).then(|| words.nth(7)?.parse().ok())
        });
        let counts: Vec<u64> = counts.collect::<Option<_>>()?;
        Some(Self(if counts.iter().all(|&count| count == 0) { Vec::new() } else { counts }))
    }

    /// The most that one of the processors has lost since `before`.
    pub(crate) fn since(&self, before: &Self) -> Duration {
        let was = match before.0.len() {
            0 => &vec![0; self.0.len()],
            length if length == self.0.len() => &before.0,
            // Processors have come or gone.
            _ => return Duration::ZERO,
        };
        let ticks = self.0.iter().zip(was).map(|(now, was)| now.saturating_sub(*was)).max();
        // Where there is any, a part of a tick may not have been counted yet.
        let ticks = ticks.filter(|&ticks| ticks > 0).map_or(0, |ticks| ticks.saturating_add(1));
        tick().saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX))
    }
}

thread_local! {
    /// When nothing had been stolen yet.
    static CLEAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// How much of a time is stolen, in a test.
#[cfg(test)]
pub(crate) type Thief = fn(Duration) -> Duration;

#[cfg(test)]
thread_local! {
    /// Who steals of this thread, in a test, and since when.
    pub(crate) static THIEF: Cell<Option<(Instant, Thief)>> =
        const { Cell::new(None) };
}

#[cfg(target_os = "linux")]
fn tick() -> Duration {
    let in_a_second = u32::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100);
    Duration::from_secs(1) / in_a_second.max(1)
}

#[cfg(target_os = "linux")]
fn with_statistics<T>(read: impl FnOnce(&str) -> T) -> Option<T> {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    /// The lines of some three hundred processors, which come first.
    const ENOUGH: usize = 32 << 10;

    thread_local! {
        static STATISTICS: Option<File> = File::open("/proc/stat").ok();
    }
    let mut text = vec![0; ENOUGH];
    let length =
        STATISTICS.try_with(|file| file.as_ref()?.read_at(&mut text, 0).ok()).ok().flatten()?;
    Some(read(std::str::from_utf8(text.get(..length)?).ok()?))
}

#[cfg(not(target_os = "linux"))]
fn tick() -> Duration {
    Duration::ZERO
}

/// No other system reports it.
#[cfg(not(target_os = "linux"))]
fn with_statistics<T>(_: impl FnOnce(&str) -> T) -> Option<T> {
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

#[cfg(all(test, target_os = "linux"))]
mod timer_tests {
    use std::process::Command;

    use super::*;
    use crate::search::Limit;
    use crate::{Engine, EngineError, Game, SearchResult};

    const MS: Duration = Duration::from_millis(1);

    fn counts(ticks: u64) -> Option<Counts> {
        Counts::parse(&format!("cpu0 0 0 0 0 0 0 0 {ticks} 0 0\n"))
    }

    fn of(search: Search) -> MoveTimer {
        MoveTimer::new(&search.deadline_after(50 * MS))
    }

    #[test]
    fn what_was_stolen_is_given_back() {
        let mut time = of(Search::new(Limit::Depth(1)));
        assert_eq!(time.end(), None);
        let start = now();
        time.start(start);
        time.before = counts(7);
        assert_eq!(time.end(), Some(start + 50 * MS));
        let late = |time: &mut MoveTimer, ms: u32, ticks| {
            time.lateness_by(start + ms * MS, || counts(ticks))
        };
        // Who is in time is not asked for.
        assert_eq!(time.lateness_by(start + 49 * MS, || unreachable!()), None);
        assert_eq!(late(&mut time, 53, 7), Some(3 * MS));
        assert_eq!(time.stolen(), Duration::ZERO);
        // Two ticks of a hundredth of a second are up to three.
        assert_eq!(late(&mut time, 53, 9), None);
        assert_eq!(time.end(), Some(start + 80 * MS));
        assert_eq!(late(&mut time, 81, 9), Some(MS));
        assert_eq!(late(&mut time, 81, 10), None);
        assert_eq!(time.stolen(), 40 * MS);
        assert_eq!(late(&mut time, 500, 10), Some(410 * MS));
        assert_eq!(late(&mut time, 10_049, u64::MAX), None);
        assert_eq!(late(&mut time, 10_051, u64::MAX), Some(MS));
    }

    #[test]
    fn nothing_is_given_back_where_the_system_tells_nothing() {
        let mut time = of(Search::new(Limit::Depth(1)));
        let start = now();
        time.start(start);
        assert_eq!(time.lateness_by(start + 53 * MS, || None), Some(3 * MS));
        time.before = None;
        assert_eq!(time.lateness_by(start + 53 * MS, || counts(9)), Some(3 * MS));
    }

    #[test]
    fn what_was_stolen_while_it_pondered_does_not_count() {
        let mut time = of(Search::new(Limit::Depth(1)).ponder());
        let start = now();
        time.start(start);
        assert_eq!((time.end(), time.before.is_some()), (None, false));
        time.hit(start + 500 * MS, time.deadline());
        assert_eq!((time.end(), time.before.is_some()), (Some(start + 550 * MS), true));
        time.before = counts(9);
        assert_eq!(time.lateness_by(start + 551 * MS, || counts(9)), Some(MS));
    }

    #[test]
    fn no_time_passes_before_go_though_the_hit_was_before() {
        let mut time = of(Search::new(Limit::Depth(1)).ponder());
        let start = now();
        time.hit(start, time.deadline());
        assert_eq!((time.since(), time.end()), (None, None));
        time.start(start + 200 * MS);
        assert_eq!(time.end(), Some(start + 250 * MS));
    }

    /// How an engine fares that needs 120 milliseconds and has 50, where the host steals as much as is told
    /// of the time.
    fn play(stolen: Thief) -> Result<SearchResult, EngineError> {
        let script = "while read -r line; do case $line in \
                      uci) echo uciok;; isready) echo readyok;; quit) exit;; \
                      go*) sleep 0.12; echo info depth 1; echo bestmove e2e4;; esac; done";
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut engine = Engine::spawn(command)?;
        let start = now();
        THIEF.set(Some((start, stolen)));
        let played =
            engine.play(&Game::startpos(), Search::new(Limit::Depth(1)).deadline_after(50 * MS));
        THIEF.set(None);
        played
    }

    #[test]
    fn an_answer_is_in_time_by_what_was_stolen() {
        let played = play(|time| time).expect("it is in time");
        assert!(played.answered - played.started >= 120 * MS, "{played:?}");
        assert!(played.stolen >= 70 * MS && played.time() <= 50 * MS, "{played:?}");

        let late = play(|_| Duration::ZERO).expect_err("it is late");
        assert!(matches!(late.problem(), Problem::OutOfTime(_)), "{late:?}");
        // A part of it does not save it.
        let late = play(|time| time / 4).expect_err("it is late");
        assert!(matches!(late.problem(), Problem::OutOfTime(_)), "{late:?}");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod steal_tests {
    use super::*;

    const STATISTICS: &str = "cpu  9 9 9 9 9 9 9 21 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n\
                              cpu1 1 2 3 4 5 6 7 13 0 0\nintr 99 1 2\nctxt 5\n";

    #[test]
    fn the_eighth_number_of_each_processor_counts() {
        assert_eq!(Counts::parse(STATISTICS), Some(Counts(vec![8, 13])));
        // The last line may have been cut.
        assert_eq!(Counts::parse(&STATISTICS[..58]), Some(Counts(vec![8])));
        assert_eq!(Counts::parse("cpu0 0 0 0 0 0 0 0 0 0 0\n"), Some(Counts::default()));
        for text in
            ["", "cpu0 1", "cpu0 1 2 3\n", "cpu0 1 2 3 4 5 6 7 x\n", "cpu0 1 2 3 4 5 6 7 -1\n"]
        {
            assert_eq!(Counts::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_unluckiest_processor_lost_counts() {
        let counts = |ticks: &[u64]| Counts(ticks.to_vec());
        let lost = |ticks: u32| tick() * ticks;
        assert_eq!(counts(&[8, 13]).since(&counts(&[8, 13])), Duration::ZERO);
        assert_eq!(counts(&[9, 16]).since(&counts(&[8, 13])), lost(4));
        assert_eq!(counts(&[0, 2]).since(&Counts::default()), lost(3));
        assert_eq!(counts(&[9, 16]).since(&counts(&[8])), Duration::ZERO);
        assert_eq!(counts(&[1]).since(&counts(&[2])), Duration::ZERO);
        assert_eq!(counts(&[u64::MAX]).since(&counts(&[1])), lost(u32::MAX));
    }

    #[test]
    fn this_machine_tells() {
        let counts = Counts::read().expect("it has processors");
        let before = Counts::about(now()).expect("they are the same");
        assert!(counts.since(&before) < Duration::from_hours(1));
        CLEAN.set(Some(now()));
        assert_eq!(Counts::about(now()), Some(Counts::default()));
    }
}
