//! The configuration of a bot, and its rules: which challenges it accepts, when it offers a draw and resigns.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use readyok_protocol::Score;
use serde::Deserialize;

use super::message::{Challenge, TimeControl};

/// The file `bot.toml`. Times are in seconds unless the name has another unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Number of simultaneous games, which divide threads and hash.
    pub(super) games: usize,
    /// Of all games. By default the number of CPUs.
    pub(super) threads: Option<u32>,
    /// Hash tables of all games, in mebibytes.
    pub(super) hash: u32,
    pub(super) ponder: bool,
    /// The least time of each move in reserve for the network, in milliseconds.
    pub(super) move_overhead_ms: u64,
    /// Time after which a game without a move of the opponent is aborted.
    pub(super) abort_after: u64,
    /// Opening books.
    pub(super) books: Vec<PathBuf>,
    /// Number of own moves from books.
    pub(super) book_moves: usize,
    /// Directories of Syzygy tables.
    pub(super) syzygy: Vec<PathBuf>,
    pub(super) accept: Accept,
    pub(super) draw: Draw,
    pub(super) resign: Resign,
    pub(super) chat: Chat,
    pub(super) challenge: Seek,
}

/// Which challenges are accepted.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent rules")]
pub(super) struct Accept {
    pub(super) variants: Vec<String>,
    pub(super) rated: bool,
    pub(super) casual: bool,
    pub(super) bots: bool,
    pub(super) humans: bool,
    pub(super) min_time: u64,
    pub(super) max_time: u64,
    pub(super) min_increment: u64,
    pub(super) max_increment: u64,
    pub(super) min_rating: i32,
    pub(super) max_rating: i32,
    /// Number of simultaneous games of one opponent.
    pub(super) per_opponent: usize,
    /// If not empty, only these users.
    pub(super) only: Vec<String>,
    pub(super) never: Vec<String>,
}

/// Draw offers, by the latest evaluations.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Draw {
    pub(super) offer: bool,
    pub(super) accept: bool,
    /// Largest distance to 0, in centipawns.
    pub(super) score: i32,
    /// Number of own moves in succession with such a score.
    pub(super) moves: usize,
    /// The first move number.
    pub(super) from_move: usize,
}

/// Resignation, by the latest evaluations.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Resign {
    /// The score in centipawns at or below which the bot resigns. Never without it.
    pub(super) score: Option<i32>,
    /// Number of own moves in succession with such a score.
    pub(super) moves: usize,
}

/// Messages to the opponent. None by default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Chat {
    pub(super) hello: String,
    pub(super) goodbye: String,
}

/// Challenges that the bot sends while it plays no game. None by default.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Seek {
    /// Users who are challenged in turn.
    pub(super) opponents: Vec<String>,
    pub(super) time: u64,
    pub(super) increment: u64,
    pub(super) rated: bool,
    pub(super) variant: String,
    /// Time without a game before a challenge.
    pub(super) pause: u64,
    /// Largest number of challenges in 24 hours.
    pub(super) per_day: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            games: 1,
            threads: None,
            hash: 256,
            ponder: true,
            move_overhead_ms: 300,
            abort_after: 60,
            books: Vec::new(),
            book_moves: 10,
            syzygy: Vec::new(),
            accept: Accept::default(),
            draw: Draw::default(),
            resign: Resign::default(),
            chat: Chat::default(),
            challenge: Seek::default(),
        }
    }
}

impl Default for Accept {
    fn default() -> Self {
        Self {
            variants: vec!["standard".to_owned(), "chess960".to_owned()],
            rated: true,
            casual: true,
            bots: true,
            humans: true,
            min_time: 60,
            max_time: 1800,
            min_increment: 0,
            max_increment: 60,
            min_rating: 0,
            max_rating: 10_000,
            per_opponent: 1,
            only: Vec::new(),
            never: Vec::new(),
        }
    }
}

impl Default for Draw {
    fn default() -> Self {
        Self { offer: false, accept: true, score: 10, moves: 5, from_move: 40 }
    }
}

impl Default for Resign {
    fn default() -> Self {
        Self { score: None, moves: 3 }
    }
}

impl Default for Seek {
    fn default() -> Self {
        Self {
            opponents: Vec::new(),
            time: 180,
            increment: 2,
            rated: false,
            variant: "standard".to_owned(),
            pause: 300,
            per_day: 20,
        }
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// The text of an error names the file and the line.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let wrong = |text: String| format!("`{}`: {text}", path.display());
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text).map_err(wrong)
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
        let mut variants = config.accept.variants.iter().chain([&config.challenge.variant]);
        if let Some(variant) = variants.find(|variant| !is_variant(variant)) {
            return Err(format!(
                "variant `{variant}`: expected `standard`, `chess960` or `fromPosition`"
            ));
        }
        drop(variants);
        Ok(config)
    }

    /// The reserve of each move for the network, with this measured overhead.
    pub(super) fn margin(&self, measured: Duration) -> Duration {
        Duration::from_millis(self.move_overhead_ms).max(measured.saturating_mul(3) / 2)
    }
}

/// Whether games of a variant are possible.
pub(super) fn is_variant(key: &str) -> bool {
    matches!(key, "standard" | "chess960" | "fromPosition")
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
            |users: &[String]| users.iter().any(|user| user.eq_ignore_ascii_case(&challenger.id));
        if is_among(&self.never) || !self.only.is_empty() && !is_among(&self.only) {
            return Some("generic");
        }
        if challenger.is_bot() && !self.bots {
            return Some("noBot");
        }
        if !challenger.is_bot() && !self.humans {
            return Some("onlyBot");
        }
        if !self.variants.contains(&challenge.variant.key) {
            return Some(if self.variants == ["standard"] { "standard" } else { "variant" });
        }
        // The key names what would be accepted.
        if challenge.rated && !self.rated {
            return Some("casual");
        }
        if !challenge.rated && !self.casual {
            return Some("rated");
        }
        let TimeControl::Clock { limit, increment } = challenge.time_control else {
            return Some("timeControl");
        };
        if limit < self.min_time || increment < self.min_increment {
            return Some("tooFast");
        }
        if self.max_time < limit || self.max_increment < increment {
            return Some("tooSlow");
        }
        let rating = challenger.rating.unwrap_or(0);
        if !(self.min_rating..=self.max_rating).contains(&rating) {
            return Some("generic");
        }
        (self.per_opponent <= running).then_some("later")
    }
}

/// A score in centipawns. Mates are beyond all others.
pub(super) fn centipawns(score: Score) -> i32 {
    match score {
        Score::Cp(score) => score,
        Score::MateIn { .. } | Score::MateInUnknown | Score::MateGiven => 100_000,
        Score::Mated | Score::MatedIn { .. } | Score::MatedInUnknown => -100_000,
    }
}

/// The last `moves` scores, if there are as many.
fn last(scores: &[i32], moves: usize) -> Option<&[i32]> {
    scores.get(scores.len().checked_sub(moves.max(1))?..)
}

impl Draw {
    /// Whether the scores of the own moves allow a draw at a move number.
    pub(super) fn allows(&self, scores: &[i32], number: usize) -> bool {
        self.from_move <= number
            && last(scores, self.moves).is_some_and(|scores| {
                scores.iter().all(|score| (-self.score..=self.score).contains(score))
            })
    }
}

impl Resign {
    pub(super) fn applies(&self, scores: &[i32]) -> bool {
        self.score.is_some_and(|limit| {
            last(scores, self.moves)
                .is_some_and(|scores| scores.iter().all(|score| *score <= limit))
        })
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

    #[test]
    fn draws_and_resigns_after_moves_in_succession() {
        let draw = Draw { score: 10, moves: 2, from_move: 30, ..Draw::default() };
        assert!(draw.allows(&[500, 10, -10], 30));
        assert!(!draw.allows(&[0, 0], 29) && !draw.allows(&[0], 40) && !draw.allows(&[0, 11], 40));
        let resign = Resign { score: Some(-900), moves: 2 };
        assert!(resign.applies(&[0, -900, centipawns(Score::Mated)]));
        assert!(!resign.applies(&[-900, 0]) && !resign.applies(&[-900]));
        assert!(!Resign::default().applies(&[-100_000; 9]));
    }
}
