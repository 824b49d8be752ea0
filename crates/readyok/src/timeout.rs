//! A timeout that the user sets, in seconds.

use std::str::FromStr;
use std::time::Duration;

use readyok_client::{Timeouts, WaitLimit};
use serde::Deserialize;

/// How long to wait for the answer to `uci` or `usi`, and for `readyok`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(try_from = "f64")]
pub struct Timeout(Duration);

/// The longest timeout, in seconds: a day.
const MAX_SECONDS: f64 = 86_400.0;

impl Timeout {
    /// The time.
    pub fn duration(self) -> Duration {
        self.0
    }

    /// The default timeouts of a client, with this one for the handshake and for `readyok`.
    pub fn timeouts(self) -> Timeouts {
        let limit = WaitLimit::fixed(self.0);
        Timeouts { handshake: limit, ready: limit, ..Timeouts::default() }
    }
}

impl TryFrom<f64> for Timeout {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let time = Duration::try_from_secs_f64(seconds).ok();
        let time = time.filter(|time| seconds <= MAX_SECONDS && 0 < time.as_millis());
        time.map(Self).ok_or("a timeout is a number of seconds from 0.001 to 86400")
    }
}

impl FromStr for Timeout {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(text.trim().parse().unwrap_or(f64::NAN))
    }
}
