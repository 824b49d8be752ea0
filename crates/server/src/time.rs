//! The time: monotonic moments and the calendar.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Monotonic time in milliseconds. It starts as the Unix time at which the program started, and does not advance while
/// the host is suspended. For the calendar see [`date`].
pub(crate) type Moment = u64;

struct Origin {
    instant: Instant,
    unix: Duration,
}

#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

fn calendar() -> Duration {
    // A clock before 1970 is as wrong as one at 1970.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The moment now.
pub(crate) fn now() -> Moment {
    static ORIGIN: OnceLock<Origin> = OnceLock::new();
    let origin = ORIGIN.get_or_init(|| Origin { instant: instant(), unix: calendar() });
    millis(origin.unix + instant().saturating_duration_since(origin.instant))
}

/// The milliseconds by which the calendar is ahead of moments, after a suspension or a change of the system clock.
pub(crate) fn drift() -> i64 {
    millis(calendar()).cast_signed().saturating_sub(now().cast_signed())
}

/// The Unix time of a moment in milliseconds.
pub(crate) fn date(at: Moment) -> u64 {
    at.saturating_add_signed(drift())
}

/// The Unix time in milliseconds of the start of the day in the local time zone. Without a calendar it is a day before.
pub(crate) fn midnight(at: Moment) -> u64 {
    let now = date(at);
    let start = i64::try_from(now).ok().and_then(|now| {
        let now = jiff::Timestamp::from_millisecond(now).ok()?;
        let start = now.to_zoned_datetime(jiff::tz::TimeZone::system()).start_of_day().ok()?;
        u64::try_from(start.timestamp().as_millisecond()).ok()
    });
    start.unwrap_or_else(|| now.saturating_sub(24 * 60 * 60 * 1000))
}

/// A date as `2026-11-21`, `2026-11` or `2026`. None if it is unknown.
pub(crate) fn date_text(date: readyok_library::Date) -> Option<String> {
    let known = date.year().is_some();
    known.then(|| date.to_string().replace('.', "-").replace("-??", ""))
}

/// A moment in the local time zone in a format of `strftime`. None for a moment out of the range of the calendar.
pub(crate) fn local(at: Moment, form: &str) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(i64::try_from(date(at)).ok()?).ok()?;
    Some(at.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime(form).to_string())
}
