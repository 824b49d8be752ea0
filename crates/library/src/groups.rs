//! Groups of duplicates in the database: games that are one game by
//! [`GameIdentity`], with equal moves, or with the first moves of another.
//!
//! Summaries choose the candidates, whose rows are then read in the order of the file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use readyok_rules::record::{AnnotationCount, Date, GameIdentity, Tag};
use readyok_rules::{Game, GameResult};
use rusqlite::{Connection, Row};

use crate::codec::{annotations, main_line, tags};
use crate::duplicates::{MAX_CANDIDATES, surname_hash};
use crate::error::Error;
use crate::game::NewGame;
use crate::snapshot::Snapshot;
use crate::summary::{SIZE, Summary};

/// Shorter games are not taken for the beginning of another: many games share these moves.
const MIN_PREFIX: usize = 10;

/// Rows that are skipped rather than searched for again.
const MAX_SKIPPED: u32 = 32;

/// Games that are one game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// The game to keep: that with most comments, glyphs and variations; of several, the longest, then that with most
    /// other annotations, then the earliest.
    pub kept: u32,
    /// The other games, ascending.
    pub others: Vec<u32>,
    /// Those of both whose moves are only the first ones of another game of the group, ascending.
    pub prefixes: Vec<u32>,
}

/// What is known of a candidate.
#[derive(Debug)]
struct Candidate {
    id: u32,
    variant: Game,
    start: Option<String>,
    /// The number of plies, with those after an illegal move.
    plies: u16,
    /// The main line up to an illegal move.
    line: Box<[u16]>,
    identity: GameIdentity,
    date: Date,
    result: GameResult,
    round: Option<String>,
    annotations: AnnotationCount,
    /// A hash of everything.
    content: u128,
}

impl Candidate {
    fn is_duplicate(&self, other: &Self) -> bool {
        (self.variant, self.plies, &self.start) == (other.variant, other.plies, &other.start)
            && self.line == other.line
            && self.identity.is_same(&other.identity, || self.content == other.content)
    }

    /// Whether this is the beginning of another game, whose line begins with that of this one.
    fn is_beginning_of(&self, other: &Self) -> bool {
        let rounds = (&self.round, &other.round);
        let agree = !matches!(rounds, (Some(a), Some(b)) if a != b);
        // The same players begin several games alike.
        let shows =
            has_day(self.date) && has_day(other.date) || matches!(rounds, (Some(_), Some(_)));
        agree
            && shows
            && (self.result == GameResult::Unknown || self.result == other.result)
            && self.identity.is_same(&other.identity, || false)
    }

    /// Games are kept in this order, the first one best.
    fn rank(&self) -> impl Ord + use<> {
        let AnnotationCount { texts, values } = self.annotations;
        (texts, self.line.len(), values, std::cmp::Reverse(self.id))
    }
}

/// The texts of the tables.
struct Texts {
    names: HashMap<u32, Box<str>>,
    openings: HashMap<u16, (String, String)>,
}

impl Texts {
    fn read(connection: &Connection) -> Result<Self, Error> {
        let mut names = HashMap::new();
        let mut statement = connection.prepare("SELECT id, text FROM name")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            names.insert(row.get(0)?, row.get_ref(1)?.as_str().unwrap_or_default().into());
        }
        let mut openings = HashMap::new();
        let mut statement = connection.prepare("SELECT id, eco, text FROM opening")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            openings.insert(row.get(0)?, (row.get(1)?, row.get(2)?));
        }
        Ok(Self { names, openings })
    }

    fn name(&self, id: u32) -> String {
        self.names.get(&id).map(ToString::to_string).unwrap_or_default()
    }

    fn candidate(&self, row: &Row<'_>) -> Result<Candidate, Error> {
        let bytes =
            |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<Vec<u8>>>(at)?.unwrap_or_default());
        let id = row.get(0)?;
        let summary = Summary::from_bytes(&row.get::<_, [u8; SIZE]>(1)?);
        let game = NewGame {
            summary,
            players: summary.players.map(|id| self.name(id)),
            event: self.name(summary.event),
            site: self.name(row.get(2)?),
            opening: self.openings.get(&summary.opening).cloned(),
            start: row.get(3)?,
            moves: row.get(4)?,
            tags: bytes(5)?,
            annotations: bytes(6)?,
            layer: Vec::new(),
            play: None,
            postings: Vec::new(),
            added_ms: 0,
        };
        let headers = tags::decode(&game.tags, game.known()).unwrap_or_default();
        let round = headers.get(Tag::Round.name(summary.variant));
        let round = round.filter(|round| !matches!(*round, "" | "?" | "-")).map(str::to_owned);
        let line: Box<[u16]> = main_line(&game.moves).collect();
        let mut count = annotations::count(summary.variant, &game.moves, &game.annotations);
        // The moves of the main line are no annotations.
        count.texts = count.texts.saturating_sub(2 * line.len() as u64);
        Ok(Candidate {
            id,
            variant: summary.variant,
            plies: summary.plies,
            identity: game.identity_with(&headers),
            date: summary.date,
            result: summary.result,
            round,
            annotations: count,
            content: content(&game),
            start: game.start,
            line,
        })
    }
}

/// A hash of everything that identical games have in common, so large that others do not have it.
fn content(game: &NewGame) -> u128 {
    let half = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        (&game.players, &game.event, &game.site).hash(&mut hasher);
        (&game.moves, &game.annotations, &game.tags).hash(&mut hasher);
        (game.summary.date.to_bits(), game.summary.result).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// Whether the day of a date is known.
fn has_day(date: Date) -> bool {
    date.to_bits() & 31 > 0
}

/// The candidates of one kind: games that are compared with each other.
type Sets = Vec<Vec<u32>>;

/// Games with equal hashes of their moves.
fn equal_lines(snapshot: &Snapshot) -> Sets {
    let games = snapshot.summaries.iter_rev();
    let mut by_hash: Vec<_> =
        games.map(|(game, it)| (it.moves_hash(), it.players(), game)).collect();
    by_hash.sort_unstable();
    let mut sets = Sets::new();
    for equal in by_hash.chunk_by(|a, b| a.0 == b.0).filter(|games| games.len() > 1) {
        let many = equal.len() > MAX_CANDIDATES;
        let sets_of_hash = equal.chunk_by(|a, b| !many || a.1 == b.1);
        sets.extend(
            sets_of_hash
                .filter(|games| games.len() > 1)
                .map(|games| games.iter().map(|(.., game)| *game).collect()),
        );
    }
    sets
}

/// Games of the same players, or of unknown ones at the same event, on dates that can be the same.
fn same_occasions(snapshot: &Snapshot, surnames: &HashMap<u32, u32>) -> Sets {
    let surname = |id: u32| surnames.get(&id).copied().unwrap_or(0);
    let games = snapshot.summaries.iter_rev().filter_map(|(game, it)| {
        let [first, second] = it.players().map(surname);
        let key = match (first, second) {
            (0, _) | (_, 0) if it.event() == 0 => return None,
            (0, _) | (_, 0) => (u64::from(it.event()), false),
            (first, second) => (u64::from(first) << 32 | u64::from(second), true),
        };
        let is_long = usize::from(it.plies()) >= MIN_PREFIX;
        is_long.then(|| (key, it.date().to_bits(), it.plies(), game))
    });
    let mut games: Vec<_> = games.collect();
    games.sort_unstable();
    let mut sets = Sets::new();
    for same in games.chunk_by(|a, b| a.0 == b.0).filter(|games| games.len() > 1) {
        // A date without a day can be that of another.
        let is_vague = same.iter().any(|(_, date, ..)| !has_day(Date::from_bits(*date)));
        for same in same.chunk_by(|a, b| is_vague || a.1 == b.1) {
            let (mut least, mut most) = (u16::MAX, 0);
            for (_, _, plies, _) in same {
                (least, most) = (least.min(*plies), most.max(*plies));
            }
            if least < most {
                sets.push(same.iter().map(|(.., game)| *game).collect());
            }
        }
    }
    sets
}

/// Reads candidates in the order of their numbers.
fn read(
    connection: &Connection,
    texts: &Texts,
    games: &BTreeSet<u32>,
) -> Result<HashMap<u32, Candidate>, Error> {
    let mut statement = connection.prepare(
        "SELECT id, summary, site, start, moves, tags, annotations FROM game
         WHERE id >= ?1 ORDER BY id",
    )?;
    let mut found = HashMap::with_capacity(games.len());
    let mut wanted = games.iter().copied().peekable();
    while let Some(first) = wanted.peek().copied() {
        let mut rows = statement.query([first])?;
        while wanted.peek().is_some() {
            let Some(row) = rows.next()? else {
                wanted.by_ref().for_each(drop);
                break;
            };
            let id: u32 = row.get(0)?;
            while wanted.next_if(|wanted| *wanted < id).is_some() {}
            if wanted.next_if_eq(&id).is_some() {
                found.insert(id, texts.candidate(row)?);
            }
            let is_far = wanted.peek().is_some_and(|next| next.saturating_sub(id) > MAX_SKIPPED);
            if is_far {
                break;
            }
        }
    }
    Ok(found)
}

/// Sets of games that are joined pair by pair.
#[derive(Default)]
struct Joined(HashMap<u32, u32>);

impl Joined {
    fn root(&self, mut game: u32) -> u32 {
        while let Some(parent) = self.0.get(&game) {
            game = *parent;
        }
        game
    }

    /// The smaller root remains one.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.0.insert(a.max(b), a.min(b));
        }
    }
}

pub(crate) fn groups(
    connection: &Connection,
    snapshot: &Snapshot,
) -> Result<Vec<DuplicateGroup>, Error> {
    let texts = Texts::read(connection)?;
    let surnames: HashMap<u32, u32> =
        texts.names.iter().map(|(id, name)| (*id, surname_hash(name))).collect();
    let equal = equal_lines(snapshot);
    let occasions = same_occasions(snapshot, &surnames);
    let wanted: BTreeSet<u32> = equal.iter().chain(&occasions).flatten().copied().collect();
    let candidates = read(connection, &texts, &wanted)?;
    let of = |games: &[u32]| -> Vec<&Candidate> {
        games.iter().filter_map(|game| candidates.get(game)).collect()
    };
    let mut joined = Joined::default();
    let mut members: BTreeSet<u32> = BTreeSet::new();
    for games in &equal {
        let mut rest = of(games);
        rest.sort_by_key(|candidate| candidate.id);
        while rest.len() > 1 {
            let first = rest.remove(0);
            rest.retain(|game| {
                let is_duplicate = game.is_duplicate(first);
                if is_duplicate {
                    joined.join(first.id, game.id);
                    members.extend([first.id, game.id]);
                }
                !is_duplicate
            });
        }
    }
    for games in &occasions {
        let mut games = of(games);
        games.sort_by(|a, b| {
            let start = (a.variant as u8, &a.start).cmp(&(b.variant as u8, &b.start));
            start.then_with(|| a.line.cmp(&b.line))
        });
        // The games whose lines are beginnings of that of the current one.
        let mut beginnings: Vec<&Candidate> = Vec::new();
        for game in games {
            beginnings.retain(|begin| {
                (begin.variant, &begin.start) == (game.variant, &game.start)
                    && game.line.starts_with(&begin.line)
            });
            for begin in &beginnings {
                if begin.line.len() < game.line.len() && begin.is_beginning_of(game) {
                    joined.join(begin.id, game.id);
                    members.extend([begin.id, game.id]);
                }
            }
            if beginnings.len() < MAX_CANDIDATES {
                beginnings.push(game);
            }
        }
    }
    let mut by_root: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for game in members {
        by_root.entry(joined.root(game)).or_default().push(game);
    }
    let groups = by_root.into_values().filter_map(|games| {
        let best = games.iter().filter_map(|game| candidates.get(game));
        let kept = best.max_by_key(|candidate| candidate.rank())?.id;
        let longest = games.iter().filter_map(|game| candidates.get(game));
        let longest = longest.map(|candidate| candidate.line.len()).max()?;
        let is_prefix = |game: &u32| {
            let length = candidates.get(game).map_or(0, |candidate| candidate.line.len());
            length < longest
        };
        let prefixes = games.iter().copied().filter(is_prefix).collect();
        let others = games.into_iter().filter(|game| *game != kept).collect();
        Some(DuplicateGroup { kept, others, prefixes })
    });
    Ok(groups.collect())
}
