//! What distinguishes games with equal moves: names, dates, events, chapters of studies, the amount of annotations.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::Side;

use super::{Date, GameRecord, Headers, Tag, fold};

/// Values that programs write for an unknown player, event or site, without case and punctuation. The sides of
/// shogi are among them: programs write them where the names of the players belong.
const UNKNOWN: [&str; 10] =
    ["", "nn", "unknown", "anonymous", "white", "black", "先手", "後手", "下手", "上手"];

/// Whether a header names a player, an event or a site. `?`, `? 3`, `-`, `N.N.` and `Anonymous` do not.
pub fn is_known_name(name: &str) -> bool {
    let name = name.trim();
    let letters = || name.chars().filter(|letter| letter.is_alphanumeric());
    // Longer names cannot be among the unknown ones.
    let short: String = letters().flat_map(char::to_lowercase).take(16).collect();
    !name.starts_with('?') && !UNKNOWN.contains(&short.as_str())
}

/// A name of a player without case, and without punctuation where it separates nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PlayerName {
    /// The part up to the first comma or space.
    surname: Box<str>,
    rest: Box<str>,
}

impl PlayerName {
    /// None for an unknown player.
    fn new(name: &str) -> Option<Self> {
        let folded = fold(name.trim());
        let (surname, rest) = folded.split_once([',', ' ']).unwrap_or((&folded, ""));
        let letters: String = surname.chars().filter(|letter| letter.is_alphanumeric()).collect();
        let surname = if letters.is_empty() { surname } else { &letters };
        let rest = rest.trim_matches([' ', '.']);
        is_known_name(name).then(|| Self { surname: surname.into(), rest: rest.into() })
    }

    /// Whether both can be the same player: the surnames are equal, and one of the rests abbreviates the other.
    fn is_compatible(&self, other: &Self) -> bool {
        let abbreviates = |short: &str, long: &str| {
            long.starts_with(short) && short.chars().all(char::is_alphabetic)
        };
        let (a, b) = (&*self.rest, &*other.rest);
        self.surname == other.surname && (a == b || abbreviates(a, b) || abbreviates(b, a))
    }
}

/// What shows whether two games with equal start positions and moves are one game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameIdentity {
    players: [Option<PlayerName>; 2],
    /// Hashes of the event, known or not, and of the known event and site.
    event: u64,
    occasion: Option<u64>,
    chapter: Option<u64>,
    /// A hash of the online game.
    online: Option<u64>,
    date: Date,
    is_short: bool,
}

impl GameIdentity {
    /// Shorter games must also agree in event: the same short draw is played more than once.
    pub const SHORT: usize = 20;

    /// The identity of a game of two players at an event and site, empty texts of which are unknown, with the headers
    /// of its record.
    pub fn new(
        players: [&str; 2],
        [event, site]: [&str; 2],
        headers: &Headers,
        date: Date,
        plies: usize,
    ) -> Self {
        let is_known = is_known_name(event) && is_known_name(site);
        let [event, site] = [event, site].map(|text| fold(text.trim()));
        Self {
            players: players.map(PlayerName::new),
            occasion: is_known.then(|| hash((&event, site))),
            event: hash(event),
            chapter: headers.study_chapter().map(hash),
            online: headers.online_game().map(hash),
            date,
            is_short: plies < Self::SHORT,
        }
    }

    /// The identity of a record.
    pub fn of(record: &GameRecord) -> Self {
        let players = Side::BOTH.map(|side| record.player(side).unwrap_or_default());
        let names = [Tag::Event, Tag::Site].map(|tag| record.header(tag).unwrap_or_default());
        Self::new(players, names, &record.headers, record.date(), record.plies())
    }

    /// A hash of the surname that equal players have; none for an unknown player, who can be any.
    pub fn surname(name: &str) -> Option<u64> {
        PlayerName::new(name).map(|name| hash(name.surname))
    }

    /// Keys that find all games that can be the same one: such a game has one of them. Games that are equal in
    /// everything can have none.
    pub fn keys(&self) -> impl Iterator<Item = u64> {
        let players = match &self.players {
            [Some(first), Some(second)] => Some(hash((&first.surname, &second.surname))),
            _ => None,
        };
        players.into_iter().chain(self.occasion).chain(self.online)
    }

    /// Whether games with equal start positions and moves are one game. Headers must show it, and not only fail to
    /// contradict it: unknown players also play. `is_identical`: all headers, moves and annotations are equal.
    pub fn is_same(&self, other: &Self, is_identical: impl FnOnce() -> bool) -> bool {
        if let (Some(online), Some(other)) = (self.online, other.online) {
            return online == other;
        }
        let mut players = self.players.iter().zip(&other.players);
        let agree = players.clone().all(|pair| match pair {
            (Some(a), Some(b)) => a.is_compatible(b),
            _ => true,
        });
        agree
            && self.date.is_compatible(other.date)
            // Chapters of a study are different games.
            && self.chapter == other.chapter
            && (!self.is_short || self.event == other.event)
            && (players.all(|(a, b)| a.is_some() && b.is_some())
                || (self.occasion.is_some() && self.occasion == other.occasion)
                || is_identical())
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Headers {
    /// The names of a study and of its chapter. The event of a chapter on Lichess is `study: chapter`.
    pub fn study(&self) -> Option<(&str, &str)> {
        if let Some(chapter) = self.get("ChapterName") {
            return Some((self.get("StudyName").unwrap_or_default(), chapter));
        }
        self.study_chapter()?;
        self.get("Event")?.split_once(": ")
    }

    /// What identifies a chapter of a study, whose moves can be those of another chapter.
    pub fn study_chapter(&self) -> Option<String> {
        if let Some(url) = self.get("ChapterURL") {
            return Some(url.to_owned());
        }
        if let Some(chapter) = self.get("ChapterName") {
            return Some(format!("{}\n{chapter}", self.get("StudyName").unwrap_or_default()));
        }
        self.get("Site").filter(|site| site.contains("/study/")).map(str::to_owned)
    }
}

/// Longest address of an online game, in bytes.
const MAX_ADDRESS: usize = 100;

/// Pages of Lichess with names as long as those of games.
const PAGES: [&str; 4] = ["analysis", "practice", "schedule", "training"];

/// The canonical name of the game at an address of Lichess or chess.com, which has several addresses:
/// `lichess.org/abcdefgh`, `chess.com/live/123`. None for another page.
pub fn online_game(address: &str) -> Option<String> {
    let address = address.trim();
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    if MAX_ADDRESS < rest.len() {
        return None;
    }
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let host = parts.next()?.to_ascii_lowercase();
    let parts: Vec<&str> = parts.collect();
    match (host.strip_prefix("www.").unwrap_or(&host), parts.as_slice()) {
        // The address of a player has four more letters.
        ("lichess.org", [id] | [id, "white" | "black"]) => {
            let is_id =
                [8, 12].contains(&id.len()) && id.bytes().all(|it| it.is_ascii_alphanumeric());
            let id = id.get(..8).filter(|id| is_id && !PAGES.contains(id))?;
            Some(format!("lichess.org/{id}"))
        }
        (
            "chess.com",
            ["game", kind @ ("live" | "daily"), id] | [kind @ ("live" | "daily"), "game", id],
        ) => {
            let is_number = id.bytes().all(|digit| digit.is_ascii_digit());
            is_number.then(|| format!("chess.com/{kind}/{id}"))
        }
        _ => None,
    }
}

impl Headers {
    /// The online game that the headers name, as [`online_game`] names it. Equal names are of one game.
    pub fn online_game(&self) -> Option<String> {
        ["Site", "Link"].into_iter().find_map(|name| online_game(self.get(name)?))
    }
}

/// The amount of annotations of a record. Variations, comments and glyphs count more than times, evaluations
/// and marks, which programs add.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnnotationCount {
    /// Moves of variations, comments and glyphs.
    pub texts: u64,
    /// Times, evaluations and marks.
    pub values: u64,
}

impl GameRecord {
    /// The amount of annotations.
    pub fn annotation_count(&self) -> AnnotationCount {
        let variations = self.len().saturating_sub(self.plies());
        let mut count = AnnotationCount { texts: variations as u64, values: 0 };
        self.any_node(|node| {
            count.add(self.annotations(node.id()));
            false
        });
        count
    }
}

impl AnnotationCount {
    /// Counts the annotations of a move.
    pub fn add(&mut self, notes: &super::Annotations) {
        if notes.is_empty() {
            return;
        }
        let of_end = notes.end.as_ref().map_or(0, |end| end.comments.len());
        let texts = notes.before.len() + notes.comments.len() + notes.nags.len() + of_end;
        let times = [notes.clock, notes.elapsed].into_iter().flatten().count();
        let values = times + usize::from(notes.evaluation.is_some()) + notes.marks.len();
        self.texts += texts as u64;
        self.values += values as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::{Headers, PlayerName, is_known_name, online_game};

    #[test]
    fn online_games_have_one_name() {
        for (address, name) in [
            ("https://lichess.org/AbCdEfGh", Some("lichess.org/AbCdEfGh")),
            ("https://lichess.org/AbCdEfGhIjKl", Some("lichess.org/AbCdEfGh")),
            ("https://lichess.org/AbCdEfGh/black#17", Some("lichess.org/AbCdEfGh")),
            ("https://www.chess.com/game/live/123", Some("chess.com/live/123")),
            ("http://www.chess.com/live/game/123?move=0", Some("chess.com/live/123")),
            ("https://www.chess.com/game/daily/123", Some("chess.com/daily/123")),
            ("https://lichess.org/study/AbCdEfGh/IjKlMnOp", None),
            ("https://lichess.org/broadcast/a/b/AbCdEfGh", None),
            ("https://lichess.org/", None),
            ("https://lichess.org/analysis", None),
            ("https://example.org/AbCdEfGh", None),
            ("https://www.chess.com/game/live/12a", None),
            ("Chess.com", None),
        ] {
            assert_eq!(online_game(address).as_deref(), name, "{address}");
        }
    }

    /// The headers are those of `https://lichess.org/api/study/ID.pgn`: all of them now, event and site until 2024.
    #[test]
    fn studies_and_chapters_are_named_by_headers() {
        let study = |headers: &[(&str, &str)]| {
            let mut all = Headers::default();
            for (name, value) in headers {
                all.push(name, value);
            }
            all.study().map(|(study, chapter)| (study.to_owned(), chapter.to_owned()))
        };
        let names = |study: &str, chapter: &str| Some((study.to_owned(), chapter.to_owned()));
        let event = ("Event", "Endings: Rook: Lucena");
        let site = ("Site", "https://lichess.org/study/abcdefgh/ijklmnop");
        let named = [event, site, ("StudyName", "Endings: Rook"), ("ChapterName", "Lucena")];
        assert_eq!(study(&named), names("Endings: Rook", "Lucena"));
        assert_eq!(study(&[event, site]), names("Endings", "Rook: Lucena"));
        let address = ("ChapterURL", "https://lichess.org/study/abcdefgh/ijklmnop");
        assert_eq!(study(&[event, address]), names("Endings", "Rook: Lucena"));
        assert_eq!(study(&[("ChapterName", "Lucena")]), names("", "Lucena"));
        assert_eq!(study(&[("Event", "World Cup: Final"), ("Site", "Oslo")]), None);
        assert_eq!(study(&[("Event", "Endings"), site]), None);
    }

    #[test]
    fn placeholders_are_no_names() {
        for name in ["", " ", "?", "??", "? 3", "-", "N.N.", "NN", "n. n.", "Unknown", "先手"] {
            assert!(!is_known_name(name), "{name}");
        }
        for name in ["Carlsen, Magnus", "Nn Li", "Player 3", "12345", "羽生善治", "White, A"] {
            assert!(is_known_name(name), "{name}");
        }
    }
    #[test]
    fn players_are_compared_by_surname_and_initial() {
        let same_player = |a, b| match (PlayerName::new(a), PlayerName::new(b)) {
            (Some(a), Some(b)) => a.is_compatible(&b),
            _ => true,
        };
        assert!(same_player("Carlsen, Magnus", "CARLSEN,M"));
        assert!(same_player("Carlsen", "?"));
        assert!(same_player("", "Anand"));
        assert!(!same_player("Carlsen", "Caruana"));
        assert!(!same_player("Carlsen, Magnus", "Carlsen, Henrik"));
        assert!(same_player("Carlsen, Magnus", "Carlsen, M."));
        assert!(same_player("O'Kelly, A", "OKelly, Alberic"));
        assert!(!same_player("Stockfish 16", "Stockfish 17"));
        assert!(!same_player("Stockfish 1", "Stockfish 17"));
        assert!(same_player("羽生善治", "羽生善治 九段"));
    }
}
