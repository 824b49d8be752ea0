//! The one place that reads the clocks.
//!
//! A program can be stopped and go on, as by Ctrl-Z and `fg`, or with the whole machine. Nobody can move
//! meanwhile, so that no time passes in games: a program that runs says so many times a second ([`beat`]), and
//! the time in which it has not said so is left out of every [`Moment`].

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds of this program's life, counted from when it began as milliseconds since 1970-01-01 UTC; they
/// never run backwards. For the calendar see [`date`].
pub(crate) type Moment = u64;

/// A program that is not heard of for longer was stopped. A busy machine takes less.
const STOPPED: Duration = Duration::from_secs(1);

struct Origin {
    instant: Instant,
    unix: Duration,
    awake: Mutex<Awake>,
}

/// For how long this program was awake. Times are those since its origin.
#[derive(Debug, Default)]
struct Awake {
    /// Whether it says that it runs.
    beats: bool,
    /// When it was last known to run.
    last: Duration,
    /// So long it was stopped.
    stopped: Duration,
    /// So far the calendar is ahead of the moments.
    behind: Duration,
}

impl Awake {
    /// How long it was awake until now.
    fn read(&mut self, at: Duration) -> Duration {
        let silence = at.saturating_sub(self.last);
        if self.beats && STOPPED < silence {
            self.stopped += silence;
        }
        self.last = self.last.max(at);
        self.last.saturating_sub(self.stopped)
    }

    /// It runs, and the calendar is so far from its origin. Tells whether moments have fallen behind the calendar.
    fn beat(&mut self, at: Duration, calendar: Duration) -> bool {
        let moment = self.read(at);
        self.beats = true;
        let behind = calendar.saturating_sub(moment);
        let has_fallen = self.behind + STOPPED < behind;
        if has_fallen {
            self.behind = behind;
        }
        has_fallen
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

fn calendar() -> Duration {
    // A clock before 1970 is as wrong as one at 1970.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn origin() -> &'static Origin {
    static ORIGIN: OnceLock<Origin> = OnceLock::new();
    ORIGIN.get_or_init(|| Origin { instant: instant(), unix: calendar(), awake: Mutex::default() })
}

impl Origin {
    /// What is known of the program, and the time now.
    fn awake(&self) -> (MutexGuard<'_, Awake>, Duration) {
        let awake = self.awake.lock().unwrap_or_else(PoisonError::into_inner);
        (awake, instant().saturating_duration_since(self.instant))
    }
}

fn millis(time: Duration) -> Moment {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The moment now.
pub(crate) fn now() -> Moment {
    let origin = origin();
    let (mut awake, at) = origin.awake();
    millis(origin.unix + awake.read(at))
}

/// This program runs; it has to say so several times in a second. Tells whether it did not run for a while, or the
/// machine did not.
pub(crate) fn beat() -> bool {
    let origin = origin();
    let since = calendar().saturating_sub(origin.unix);
    let (mut awake, at) = origin.awake();
    awake.beat(at, since)
}

/// A moment as the calendar has it, in milliseconds since 1970-01-01 UTC.
pub(crate) fn date(at: Moment) -> u64 {
    let (awake, _) = origin().awake();
    at.saturating_add(millis(awake.behind))
}

/// A moment as a clock on the wall beside this machine has it, written as `strftime` is told to. Nothing for a moment
/// that no calendar has.
pub(crate) fn local(at: Moment, form: &str) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(i64::try_from(date(at)).ok()?).ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::system()).strftime(form).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn no_time_passes_while_the_program_is_stopped() {
        let mut awake = Awake::default();
        // Nobody has said yet that it runs.
        assert_eq!(awake.read(at(5000)), at(5000));
        assert!(!awake.beat(at(5100), at(5100)));
        assert_eq!(awake.read(at(5900)), at(5900));
        // Whoever looks first finds it out.
        assert_eq!(awake.read(at(65_900)), at(5900));
        assert_eq!(awake.read(at(65_950)), at(5950));
        assert!(awake.beat(at(66_000), at(66_000)));
        assert!(!awake.beat(at(66_100), at(66_100)));
        assert_eq!(awake.behind, at(60_000));
        assert_eq!(awake.read(at(67_000)), at(7000));
    }

    #[test]
    fn the_calendar_goes_on_while_the_machine_sleeps() {
        let mut awake = Awake::default();
        assert!(!awake.beat(at(100), at(120)));
        assert!(awake.beat(at(200), at(3_600_200)));
        assert_eq!((awake.behind, awake.read(at(300))), (at(3_600_000), at(300)));
        // A clock that is set back changes nothing.
        assert!(!awake.beat(at(400), at(10)));
        assert_eq!(awake.behind, at(3_600_000));
    }
}
