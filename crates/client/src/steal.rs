//! For how long the host of a virtual machine has kept its processors from running. The clocks of the
//! machine go on meanwhile, so that an engine loses time that it never had. Linux counts it for each
//! processor as "steal": the eighth number of its line in `/proc/stat` (`proc_stat(5)`).

use std::time::{Duration, Instant};

/// A machine that has never lost anything is asked no more often.
const TRUST: Duration = Duration::from_secs(1);

/// What has been stolen of each processor since the machine was started, in ticks. Empty while nothing has.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Counts(Vec<u64>);

impl Counts {
    /// As they are, or were a little earlier, where the system tells.
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
            let stolen = stolen(crate::clock::now().saturating_duration_since(since));
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
    static CLEAN: std::cell::Cell<Option<Instant>> = const { std::cell::Cell::new(None) };
}

/// How much of a time is stolen, in a test.
#[cfg(test)]
pub(crate) type Thief = fn(Duration) -> Duration;

#[cfg(test)]
thread_local! {
    /// Who steals of this thread, in a test, and since when.
    pub(crate) static THIEF: std::cell::Cell<Option<(Instant, Thief)>> =
        const { std::cell::Cell::new(None) };
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

/// No other system tells.
#[cfg(not(target_os = "linux"))]
fn with_statistics<T>(_: impl FnOnce(&str) -> T) -> Option<T> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::clock::now;

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
