//! When the bot challenges others. The times are in a file next to the configuration, so that a restart does not exceed
//! the limit.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use readyok_arena::durable::{self, FileAccess};

use crate::clock::{now, unix_seconds};
use crate::terminal::print_error;

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// The challenges of the last 24 hours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seeks {
    file: PathBuf,
    /// In seconds since 1970.
    sent: Vec<u64>,
    /// When the next challenge can be sent. `None` without a configuration.
    next: Option<Instant>,
    /// The number of the next opponent.
    turn: usize,
    pause: Duration,
    per_day: usize,
}

impl Seeks {
    /// Reads the file next to a configuration, if there is one.
    pub(super) fn read(config: &Path, pause: Duration, per_day: usize) -> Result<Self, String> {
        let file = config.with_extension("challenges");
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(format!("`{}`: {error}", file.display()));
            }
            text => text.unwrap_or_default(),
        };
        // A damaged line counts as a challenge.
        let sent = text.lines().map(|line| line.parse().unwrap_or_else(|_| unix_seconds()));
        let sent: Vec<u64> = sent.collect();
        let next = now().checked_add(pause);
        Ok(Self { file, next, turn: sent.len(), sent, pause, per_day })
    }

    /// The opponent of a challenge that is due, after it is recorded.
    pub(super) fn next<'a>(&mut self, opponents: &'a [String], is_busy: bool) -> Option<&'a str> {
        if !is_busy && self.next.is_none_or(|next| now() < next) {
            return None;
        }
        self.next = now().checked_add(self.pause);
        self.sent.retain(|sent| unix_seconds().saturating_sub(*sent) < DAY_SECONDS);
        if is_busy || self.per_day <= self.sent.len() {
            return None;
        }
        let opponent = opponents.get(self.turn.checked_rem(opponents.len())?)?;
        self.turn = self.turn.wrapping_add(1);
        self.sent.push(unix_seconds());
        let lines: Vec<String> = self.sent.iter().map(u64::to_string).collect();
        let text = lines.join("\n");
        if let Err(error) = durable::replace(&self.file, text.as_bytes(), FileAccess::Default) {
            // The next attempt is not one too many.
            self.sent.pop();
            print_error(&format!("no challenge is sent: `{}`: {error}", self.file.display()));
            return None;
        }
        Some(opponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_that_cannot_be_recorded_is_not_sent_and_not_counted() {
        let directory = tempfile::tempdir().expect("a directory");
        let config = directory.path().join("bot.toml");
        let read = || Seeks::read(&config, Duration::ZERO, 2).expect("it is read");
        let opponents = ["a".to_owned(), "b".to_owned()];
        let mut seeks = read();
        // A directory cannot be replaced by a file.
        let file = directory.path().join("bot.challenges");
        fs::create_dir(&file).expect("space");
        for _ in 0..3 {
            assert_eq!(seeks.next(&opponents, false), None);
        }
        fs::remove_dir(&file).expect("it is empty");
        assert!(seeks.next(&opponents, false).is_some());
        assert!(seeks.next(&opponents, false).is_some());
        assert_eq!(seeks.next(&opponents, false), None, "the limit of a day");
        assert_eq!(read().next(&opponents, false), None, "also after a restart");
    }
}
