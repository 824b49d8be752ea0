//! The configuration of a bot, and its rules for challenges.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::message::{Challenge, TimeControl};
use super::seeks::Seeks;
use crate::play::{Draw, Resign};
use crate::settings::settings;

settings! {
    /// The file `bot.toml`. Times are in seconds unless the name has another unit.
    Config {
        /// Number of simultaneous games, which divide threads and hash.
        games: usize = 1,
        /// Of all games. By default the number of CPUs.
        threads: Option<u32> = None,
        /// Hash tables of all games, in mebibytes.
        hash: u32 = 256,
        ponder: bool = true,
        /// The least time of each move in reserve for the network, in milliseconds.
        move_overhead_ms: u64 = 300,
        /// Time after which a game without a move of the opponent is aborted.
        abort_after: u64 = 60,
        /// Opening books. This path and those of tables are relative to the file.
        books: Vec<PathBuf> = Vec::new(),
        /// The last move number with moves from books.
        book_moves: usize = 10,
        /// Directories of Syzygy tables.
        syzygy: Vec<PathBuf> = Vec::new(),
        accept: Accept = Accept::default(),
        draw: Draw = Draw::default(),
        resign: Resign = Resign::default(),
        chat: Chat = Chat::default(),
        challenge: Seek = Seek::default(),
        /// The challenges that were sent before.
        #[serde(skip)]
        seeks: Seeks = Seeks::default(),
    }

    /// Which challenges are accepted.
    Accept {
        variants: Vec<String> = vec!["standard".to_owned(), "chess960".to_owned()],
        rated: bool = true,
        casual: bool = true,
        bots: bool = true,
        humans: bool = true,
        min_time: u64 = 60,
        max_time: u64 = 1800,
        min_increment: u64 = 0,
        max_increment: u64 = 60,
        min_rating: i32 = 0,
        max_rating: i32 = 10_000,
        /// Number of simultaneous games of one opponent.
        per_opponent: usize = 1,
        /// If not empty, only these users.
        only: Vec<String> = Vec::new(),
        never: Vec<String> = Vec::new(),
    }

    /// Messages to the opponent. None by default.
    Chat {
        hello: String = String::new(),
        goodbye: String = String::new(),
    }

    /// Challenges that the bot sends while it plays no game. None by default.
    Seek {
        /// Users who are challenged in turn.
        opponents: Vec<String> = Vec::new(),
        time: u64 = 180,
        increment: u64 = 2,
        rated: bool = false,
        variant: String = "standard".to_owned(),
        /// Time without a game before a challenge.
        pause: u64 = 300,
        /// Largest number of challenges in 24 hours.
        per_day: usize = 20,
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// The text of an error names the file and the line.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let wrong = |error: String| format!("`{}`: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let mut config = Self::parse(&text).map_err(wrong)?;
        for file in config.books.iter_mut().chain(&mut config.syzygy) {
            *file = path.with_file_name(&file);
        }
        let Seek { pause, per_day, .. } = config.challenge;
        config.seeks = Seeks::read(path, Duration::from_secs(pause), per_day)?;
        Ok(config)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.matches('\n').count();
            format!("line {line}: {}", error.message().lines().collect::<Vec<_>>().join(", "))
        })?;
        if config.games == 0 || config.hash == 0 || config.threads == Some(0) {
            return Err("`games`, `hash` and `threads` are at least 1".to_owned());
        }
        for variant in config.accept.variants.iter().chain([&config.challenge.variant]) {
            if !matches!(variant.as_str(), "standard" | "chess960" | "fromPosition") {
                let expected = "expected `standard`, `chess960` or `fromPosition`";
                return Err(format!("variant `{variant}`: {expected}"));
            }
        }
        Ok(config)
    }

    /// The options of the engine of one game: games divide threads and hash.
    pub(crate) fn shares(&self) -> Vec<(&'static str, u32)> {
        let games = u32::try_from(self.games).unwrap_or(u32::MAX).max(1);
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or_else(|| u32::try_from(cpus).unwrap_or(1));
        let shares = [("Threads", threads), ("Hash", self.hash)];
        shares.map(|(name, all)| (name, (all / games).max(1))).to_vec()
    }

    /// The reserve of each move for the network, with this measured overhead.
    pub(super) fn margin(&self, measured: Duration) -> Duration {
        Duration::from_millis(self.move_overhead_ms).max(measured.saturating_mul(3) / 2)
    }
}

impl Accept {
    /// Why a challenge is declined, as a key of the API. `running` is the number of games of the challenger.
    pub(super) fn decline_reason(
        &self,
        challenge: &Challenge,
        running: usize,
    ) -> Option<&'static str> {
        let Some(challenger) = &challenge.challenger else { return Some("generic") };
        let is_among =
            |users: &[String]| users.iter().any(|user| user.eq_ignore_ascii_case(challenger.id()));
        let is_listed = self.only.is_empty() || is_among(&self.only);
        let TimeControl { limit: Some(limit), increment: Some(increment) } = challenge.time_control
        else {
            return Some("timeControl");
        };
        let variant = if self.variants == ["standard"] { "standard" } else { "variant" };
        let rating = challenger.rating.unwrap_or(0);
        // The keys of the API name what would be accepted.
        let rules = [
            (!is_listed || is_among(&self.never), "generic"),
            (challenger.is_bot() && !self.bots, "noBot"),
            (!challenger.is_bot() && !self.humans, "onlyBot"),
            (!self.variants.contains(&challenge.variant.key), variant),
            (challenge.rated && !self.rated, "casual"),
            (!challenge.rated && !self.casual, "rated"),
            (limit < self.min_time || increment < self.min_increment, "tooFast"),
            (self.max_time < limit || self.max_increment < increment, "tooSlow"),
            (!(self.min_rating..=self.max_rating).contains(&rating), "generic"),
            (self.per_opponent <= running, "later"),
        ];
        rules.into_iter().find(|(declines, _)| *declines).map(|(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_line() {
        let error = |text| Config::parse(text).expect_err("invalid");
        assert!(error("games = 2\n[accept]\nrating = 3\n").starts_with("line 3: unknown field"));
        assert!(error("games = 0").contains("at least 1"));
        assert!(error("[accept]\nvariants = ['atomic']").contains("`atomic`"));
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("bot.toml");
        fs::write(&file, "books = ['a.bin', '/b.bin']\nsyzygy = ['t']").expect("a file");
        let config = Config::read(&file).expect("valid");
        assert_eq!(config.books, [dir.path().join("a.bin"), "/b.bin".into()]);
        assert_eq!(config.syzygy, [dir.path().join("t")]);
    }

    #[test]
    fn the_page_has_all_keys_with_their_defaults() {
        let page = include_str!("../../../../docs/how-to/put-your-engine-on-lichess.md");
        let rows: Vec<Vec<&str>> =
            page.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
        let tables = [
            ("", Config::fields()),
            ("accept.", Accept::fields()),
            ("draw.", Draw::fields()),
            ("resign.", Resign::fields()),
            ("chat.", Chat::fields()),
            ("challenge.", Seek::fields()),
        ];
        let all =
            tables.iter().flat_map(|(table, fields)| fields.iter().map(move |it| (table, it)));
        for (table, (name, default)) in all {
            // The tables themselves.
            if default.contains('{') {
                continue;
            }
            let default = match default.as_str() {
                "None" | "[]" | "\"\"" => "none",
                other => other,
            };
            let key = format!("`{table}{name}`");
            let has = |row: &Vec<&str>| {
                row.get(1) == Some(&key.as_str()) && row[2].trim_matches('`') == default
            };
            assert!(rows.iter().any(has), "{key} {default}");
        }
        let example = page.split("```toml").nth(1).and_then(|text| text.split("```").next());
        assert_eq!(Config::parse(example.expect("an example")).expect("valid").games, 2);
    }

    #[test]
    fn declines_by_rules_with_the_keys_of_the_api() {
        let challenge = |changes: &str| -> Challenge {
            let mut value = serde_json::json!({
                "id": "a", "rated": false, "variant": { "key": "standard" },
                "challenger": { "id": "anna", "rating": 1500, "title": null },
                "timeControl": { "type": "clock", "limit": 180, "increment": 2 },
            });
            let changes: serde_json::Value = serde_json::from_str(changes).expect("JSON");
            for (name, change) in changes.as_object().expect("an object") {
                value[name] = change.clone();
            }
            serde_json::from_value(value).expect("a challenge")
        };
        let bot = r#"{"challenger":{"id":"b","title":"BOT","rating":3000}}"#;
        let fast = r#"{"timeControl":{"type":"clock","limit":15,"increment":0}}"#;
        let slow = r#"{"timeControl":{"type":"clock","limit":180,"increment":90}}"#;
        for (config, changes, expected) in [
            ("", "{}", None),
            ("", r#"{"variant":{"key":"chess960"}}"#, None),
            ("", r#"{"variant":{"key":"atomic"}}"#, Some("variant")),
            ("variants=['standard']", r#"{"variant":{"key":"chess960"}}"#, Some("standard")),
            ("", fast, Some("tooFast")),
            ("", slow, Some("tooSlow")),
            ("", r#"{"timeControl":{"type":"unlimited"}}"#, Some("timeControl")),
            ("rated=false", r#"{"rated":true}"#, Some("casual")),
            ("casual=false", "{}", Some("rated")),
            ("bots=false", bot, Some("noBot")),
            ("humans=false", "{}", Some("onlyBot")),
            ("max_rating=1400", "{}", Some("generic")),
            ("never=['Anna']", "{}", Some("generic")),
            ("only=['bert']", "{}", Some("generic")),
        ] {
            let config = Config::parse(&format!("[accept]\n{config}")).expect("valid");
            let reason = config.accept.decline_reason(&challenge(changes), 0);
            assert_eq!(reason, expected, "{config:?} {changes}");
        }
        assert_eq!(Accept::default().decline_reason(&challenge("{}"), 1), Some("later"));
    }
}
