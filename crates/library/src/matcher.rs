//! Evaluation of conditions by summaries and indexes. Games about which these do not know enough are decoded.

use std::cell::RefCell;
use std::ops::ControlFlow;

use readyok_rules::Side;
use readyok_rules::record::{
    BoardPattern, Condition, EcoRange, Feature, GameRecord, NumberRange, Tag, TextPattern,
};
use rusqlite::Connection;

use crate::bitset::BitSet;
use crate::error::Error;
use crate::game::StoredGame;
use crate::patterns::PatternScan;
use crate::postings::Key;
use crate::snapshot::Snapshot;
use crate::summary::Raw;
use crate::text_cache::{Caches, Texts, contains, numbers};

/// Whether a game satisfies a condition, by its summary or an index. None if that depends on the record.
type Known<'a> = Box<dyn Fn(u32, Raw<'_>) -> Option<bool> + 'a>;

/// A condition whose texts and positions are resolved to sets.
enum Test<'a> {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Leaf(Known<'a>, &'a Condition),
    /// The index of a pattern in the scan.
    Pattern(usize, &'a BoardPattern),
}

impl Test<'_> {
    /// Whether a game satisfies the condition. None if that depends on patterns of which the scan does not know the
    /// answer, or on the record, which is not given.
    fn matches(
        &self,
        game: u32,
        it: Raw<'_>,
        scan: &PatternScan<'_>,
        record: Option<&GameRecord>,
    ) -> Option<bool> {
        let is_match = |test: &Self| test.matches(game, it, scan, record);
        match self {
            Self::All(tests) => {
                any(tests, |test| is_match(test).map(|is_true| !is_true)).map(|is_true| !is_true)
            }
            Self::Any(tests) => any(tests, is_match),
            Self::Not(test) => is_match(test).map(|is_true| !is_true),
            Self::Leaf(known, condition) => {
                known(game, it).or_else(|| record.map(|record| condition.matches(record)))
            }
            Self::Pattern(_, pattern) if !pattern.is_of(it.variant()) => Some(false),
            Self::Pattern(index, _) => scan.answer(*index, (game, it.is_edited())),
        }
    }
}

/// Whether one value is true. None if that depends on an unknown one.
fn any<T>(values: impl IntoIterator<Item = T>, value: impl Fn(T) -> Option<bool>) -> Option<bool> {
    let mut result = Some(false);
    for it in values {
        match value(it) {
            Some(true) => return Some(true),
            Some(false) => (),
            None => result = None,
        }
    }
    result
}

/// A condition of a query, and what observes the query.
#[derive(Clone, Copy)]
pub struct Filter<'a> {
    pub(crate) condition: &'a Condition,
    watch: Option<&'a Watch<'a>>,
}

/// Is called several times a second with the number of games that were searched, and the number of games to search.
/// [`ControlFlow::Break`] cancels the query, which fails with [`Error::Cancelled`].
pub type Watch<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + 'a;

impl<'a> Filter<'a> {
    /// A filter with an observer. Only queries that read many games call it.
    pub fn watched(condition: &'a Condition, watch: &'a Watch<'a>) -> Self {
        Self { condition, watch: Some(watch) }
    }

    /// Reports progress.
    pub(crate) fn report(&self, done: usize, all: usize) -> Result<(), Error> {
        match self.watch.map(|watch| watch(done, all)) {
            Some(ControlFlow::Break(())) => Err(Error::Cancelled),
            Some(ControlFlow::Continue(())) | None => Ok(()),
        }
    }
}

impl<'a> From<&'a Condition> for Filter<'a> {
    fn from(condition: &'a Condition) -> Self {
        Self { condition, watch: None }
    }
}

impl std::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.condition.fmt(f)
    }
}

/// Number of games up to which they are replayed without a scan of the index of material.
const FEW: usize = 1000;

/// Number of records between two reports.
const REPORT: usize = 256;

/// The games that satisfy a condition. None if all do.
///
/// Conditions are evaluated by summaries and indexes. Of the other games the moves are replayed for patterns; the record
/// is decoded only if these do not suffice either. A game that cannot be decoded does not match.
pub(crate) fn matching(
    connection: &Connection,
    caches: &Caches,
    snapshot: &Snapshot,
    filter: Filter<'_>,
) -> Result<Option<BitSet>, Error> {
    let condition = filter.condition;
    if matches!(condition, Condition::All(all) if all.is_empty()) {
        return Ok(None);
    }
    let patterns = RefCell::default();
    let test = Resolver { connection, caches, snapshot, patterns: &patterns }.test(condition)?;
    let mut scan = PatternScan::new(patterns.take(), &caches.patterns);
    let mut found = BitSet::default();
    let mut unknown = Vec::new();
    for (game, it) in snapshot.summaries.iter_rev() {
        match test.matches(game, it, &scan, None) {
            Some(true) => drop(found.insert(game)),
            Some(false) => (),
            None => unknown.push(game),
        }
    }
    let raw = |game| snapshot.summaries.raw(game);
    let mut decide = |unknown: &mut Vec<u32>, scan: &PatternScan<'_>| {
        unknown.retain(|game| {
            let it = raw(*game);
            let is_match = it.map_or(Some(false), |it| test.matches(*game, it, scan, None));
            if is_match == Some(true) {
                found.insert(*game);
            }
            is_match.is_none()
        });
    };
    if !scan.is_empty() && FEW < unknown.len() {
        scan.search_material(connection, snapshot)?;
        decide(&mut unknown, &scan);
    }
    if !scan.is_empty() && !unknown.is_empty() {
        let all = unknown.len();
        scan.run(connection, snapshot, &unknown, |done| filter.report(done, all))?;
        decide(&mut unknown, &scan);
    }
    let all = unknown.len();
    for (done, game) in unknown.into_iter().enumerate() {
        if done % REPORT == 0 {
            filter.report(done, all)?;
        }
        if let Some(it) = raw(game)
            && let Some(stored) = StoredGame::read(connection, game)?
            && let Ok(record) = stored.record()
            && test.matches(game, it, &scan, Some(&record)) == Some(true)
        {
            found.insert(game);
        }
    }
    scan.store(&caches.patterns, |game| raw(game).is_none_or(Raw::is_edited));
    Ok(Some(found))
}

struct Resolver<'a, 'p> {
    connection: &'a Connection,
    caches: &'a Caches,
    snapshot: &'a Snapshot,
    /// The patterns of the condition.
    patterns: &'a RefCell<Vec<&'p BoardPattern>>,
}

impl<'a> Resolver<'_, 'a> {
    fn pattern(&self, pattern: &'a BoardPattern) -> Test<'a> {
        let mut patterns = self.patterns.borrow_mut();
        patterns.push(pattern);
        Test::Pattern(patterns.len() - 1, pattern)
    }

    fn test(&self, condition: &'a Condition) -> Result<Test<'a>, Error> {
        if let Some(pattern) = condition.pattern() {
            return Ok(self.pattern(pattern));
        }
        let all = |conditions: &'a [Condition]| -> Result<Vec<Test<'a>>, Error> {
            conditions.iter().map(|condition| self.test(condition)).collect()
        };
        let known: Known<'a> = match condition {
            Condition::All(conditions) => return Ok(Test::All(all(conditions)?)),
            Condition::Any(conditions) => return Ok(Test::Any(all(conditions)?)),
            Condition::Not(condition) => return Ok(Test::Not(Box::new(self.test(condition)?))),
            Condition::Game(game) => Box::new(|_, summary| Some(summary.variant() == *game)),
            Condition::Result(result) => Box::new(|_, summary| Some(summary.result() == *result)),
            Condition::Date(range) => Box::new(|_, summary| Some(range.contains(summary.date()))),
            Condition::Rating { side, range } => {
                Box::new(|_, summary| is_rated(summary, *side, Some(*range)))
            }
            Condition::Speed(speed) => Box::new(|_, summary| Some(summary.speed() == Some(*speed))),
            Condition::Plies(range) => Box::new(|_, summary| match summary.plies() {
                u16::MAX => None,
                plies => Some(range.contains(plies.into())),
            }),
            Condition::Termination(end) => {
                Box::new(|_, summary| Some(summary.termination() == Some(*end)))
            }
            Condition::Has(Feature::Variations) => {
                Box::new(|_, summary| Some(summary.has_variations()))
            }
            Condition::Has(_) => {
                Box::new(|_, summary| if summary.is_annotated() { None } else { Some(false) })
            }
            Condition::Player(player) => {
                let [name, opponent] = [self.names(&player.name)?, self.names(&player.opponent)?];
                Box::new(move |_, summary| {
                    any(player.sides(summary.variant(), summary.result()), |side| {
                        let is_named = contains(&name, player_of(summary, side))
                            && contains(&opponent, player_of(summary, side.other()));
                        if is_named { is_rated(summary, side, player.rating) } else { Some(false) }
                    })
                })
            }
            Condition::Engine(name) => {
                let names = self.names(name)?;
                Box::new(move |_, summary| {
                    let mut players = summary.engines().into_iter().zip(summary.players());
                    Some(
                        players.any(|(is_engine, id)| {
                            is_engine != Some(false) && contains(&names, id)
                        }),
                    )
                })
            }
            Condition::Tag(Tag::Player(side), name) => {
                let names = self.names(name)?;
                Box::new(move |_, summary| Some(contains(&names, player_of(summary, *side))))
            }
            Condition::Tag(Tag::Event, name) => {
                let names = self.names(name)?;
                Box::new(move |_, summary| Some(contains(&names, summary.event())))
            }
            Condition::Opening(name) => {
                let names = self.caches.matching(self.connection, "opening", name)?;
                Box::new(move |_, summary| Some(contains(&names, summary.opening().into())))
            }
            Condition::Eco(range) => {
                let set = self.openings(range)?;
                Box::new(move |_, summary| Some(set.contains(summary.opening().into())))
            }
            Condition::Label(label) => {
                let set =
                    numbers(self.connection, "SELECT game FROM label WHERE text = ?1", label)?;
                Box::new(move |game, _| Some(set.contains(game)))
            }
            Condition::Source(source) => Box::new(|_, summary| Some(summary.source() == *source)),
            Condition::Position(pattern) => {
                let set = pattern.key().map(|key| self.reached(key)).transpose()?;
                Box::new(move |game, summary| match &set {
                    _ if !pattern.is_of(summary.variant()) => Some(false),
                    Some(set) if set.contains(game) => Some(true),
                    Some(_) if summary.is_indexed() => Some(false),
                    _ => None,
                })
            }
            Condition::Moves(line) if line.moves().is_empty() => Box::new(|_, _| Some(true)),
            Condition::Moves(line) => {
                let set = self.reached(line.end().key())?;
                let can_be =
                    move |game, summary: Raw<'_>| !summary.is_indexed() || set.contains(game);
                Box::new(
                    move |game, summary| if can_be(game, summary) { None } else { Some(false) },
                )
            }
            Condition::Header { .. }
            | Condition::Tag(..)
            | Condition::Material(_)
            | Condition::Pattern(_) => Box::new(|_, _| None),
        };
        Ok(Test::Leaf(known, condition))
    }

    fn names(&self, pattern: &TextPattern) -> Result<Texts, Error> {
        self.caches.matching(self.connection, "name", pattern)
    }

    /// The openings whose code is in a range.
    fn openings(&self, range: &EcoRange) -> Result<BitSet, Error> {
        let mut statement = self.connection.prepare_cached("SELECT id, eco FROM opening")?;
        let mut rows = statement.query([])?;
        let mut set = BitSet::default();
        while let Some(row) = rows.next()? {
            if range.contains(row.get_ref(1)?.as_str().unwrap_or_default()) {
                set.insert(row.get(0)?);
            }
        }
        Ok(set)
    }

    /// The indexed games that reached a position.
    fn reached(&self, key: u64) -> Result<BitSet, Error> {
        let mut set = BitSet::default();
        self.snapshot.find(self.connection, Key::of(key), |_, game| {
            set.insert(game);
        })?;
        Ok(set)
    }
}

fn player_of(it: Raw<'_>, side: Side) -> u32 {
    let [first, second] = it.players();
    if side == Side::First { first } else { second }
}

/// Whether the rating of a side is in a range.
fn is_rated(it: Raw<'_>, side: Side, range: Option<NumberRange>) -> Option<bool> {
    let Some(range) = range else { return Some(true) };
    let [first, second] = it.ratings();
    match if side == Side::First { first } else { second } {
        0 => Some(false),
        // Or a larger number.
        u16::MAX => None,
        rating => Some(range.contains(rating.into())),
    }
}
