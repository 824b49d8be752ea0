//! How the engines of a match stand, as it is printed.

use std::collections::BTreeMap;

use crate::event::Score;
use crate::plan::{EngineId, EnginePlan, GamesPerPairing, OpeningSource, Plan};
use crate::result::Introduction;
use crate::stats::cutechess;
use crate::stats::fastchess::{Block, RULE, Setup, ranking};
use crate::stats::{Counts, Pentanomial, Sprt, Trinomial};

use super::limit;
use super::options::{Options, OutputFormat};

#[derive(Debug)]
pub(super) struct Standing {
    plan: Plan,
    output: OutputFormat,
    penta: bool,
    sprt: Option<Sprt>,
    scores: BTreeMap<(EngineId, EngineId), Score>,
    introductions: BTreeMap<EngineId, Introduction>,
}

impl Standing {
    pub(super) fn new(plan: &Plan, options: &Options) -> Self {
        Self {
            plan: plan.clone(),
            output: options.output,
            penta: options.penta,
            sprt: plan.sprt.and_then(|sprt| sprt.test().ok()),
            scores: BTreeMap::new(),
            introductions: BTreeMap::new(),
        }
    }

    pub(super) fn sprt(&self) -> Option<&Sprt> {
        self.sprt.as_ref()
    }

    pub(super) fn introduce(&mut self, engine: EngineId, introduction: &Introduction) {
        if *introduction != Introduction::default() {
            self.introductions.insert(engine, introduction.clone());
        }
    }

    pub(super) fn take(&mut self, score: Score) {
        self.scores.insert((score.engine, score.opponent), score);
    }

    /// The line about a score, in the form that has one.
    pub(super) fn score_line(&self, score: &Score) -> Option<String> {
        let name = |engine: EngineId| {
            let index = usize::try_from(engine.0).ok();
            index.and_then(|index| self.plan.engines.get(index)).map_or("?", |it| &it.name)
        };
        let (first, second) = (name(score.engine), name(score.opponent));
        (self.output == OutputFormat::Cutechess)
            .then(|| cutechess::score_line(first, second, score.games()))
    }

    /// What is printed from time to time.
    pub(super) fn report(&self) -> String {
        match (self.output, self.plan.engines.as_slice()) {
            (OutputFormat::Fastchess, [one, other]) => {
                format!("{RULE}\n{}{RULE}", self.block(one, other))
            }
            (OutputFormat::Fastchess, _) => format!("{RULE}\n{}{RULE}", self.ranking()),
            (OutputFormat::Cutechess, [_, _]) => {
                let games = self.first_score().map(Score::games).unwrap_or_default();
                cutechess::report(games, self.sprt())
            }
            (OutputFormat::Cutechess, _) => without_pairs(&self.ranking()),
        }
    }

    /// That of the first two engines.
    pub(super) fn first_score(&self) -> Option<&Score> {
        self.scores.get(&(EngineId(0), EngineId(1)))
    }

    fn block(&self, one: &EnginePlan, other: &EnginePlan) -> String {
        let (one_time, other_time) = (limit::text(&one.limits), limit::text(&other.limits));
        let [first, second] = [0, 1].map(|id| self.introductions.get(&EngineId(id)));
        let book = match &self.plan.openings.source {
            OpeningSource::File { path, .. } => Some(path.as_str()),
            _ => None,
        };
        let counts = match self.first_score() {
            Some(score) => self.counts(score),
            None => Counts::Games(Trinomial::default()),
        };
        let block = Block {
            first: setup(one, first, &one_time),
            second: setup(other, second, &other_time),
            book,
            counts,
            sprt: self.sprt,
        };
        block.to_string()
    }

    fn counts(&self, score: &Score) -> Counts {
        let pairs = self.penta.then_some(GamesPerPairing::Two);
        let pairs = pairs.and_then(|pairs| score.counts(pairs));
        pairs.unwrap_or_else(|| Counts::Games(score.games()))
    }

    fn ranking(&self) -> String {
        let ids = (0_u32..).zip(&self.plan.engines);
        let rows: Vec<(&str, Counts)> =
            ids.map(|(id, engine)| (engine.name.as_str(), self.total_of(EngineId(id)))).collect();
        ranking(&rows)
    }

    /// What an engine scored against all others.
    fn total_of(&self, engine: EngineId) -> Counts {
        let mut games = Trinomial::default();
        let mut pairs = Pentanomial::default();
        for score in self.scores.values() {
            let (own, reversed) = (score.engine == engine, score.opponent == engine);
            if !own && !reversed {
                continue;
            }
            let these = score.games();
            let these = if own { these } else { these.reversed() };
            games = games.plus(these).unwrap_or(games);
            if let Counts::Pairs(these) = self.counts(score) {
                let these = if own { these } else { these.reversed() };
                pairs = pairs.plus(these).unwrap_or(pairs);
            }
        }
        if self.penta { Counts::Pairs(pairs) } else { Counts::Games(games) }
    }
}

/// How an engine was set up: as it says, or, as long as it has said nothing, as the plan wants it.
fn setup<'a>(
    engine: &'a EnginePlan,
    introduction: Option<&'a Introduction>,
    time: &'a str,
) -> Setup<'a> {
    if let Some(Introduction { threads, hash, .. }) = introduction {
        let (threads, hash) = (threads.as_deref(), hash.as_deref());
        return Setup { name: &engine.name, time, threads, hash };
    }
    let option = |names: [&str; 2]| {
        let is_one = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let mut options = engine.options.iter();
        options.find(|(name, _)| is_one(name)).map(|(_, value)| value.as_str())
    };
    let (threads, hash) = (option(["Threads", "USI_Threads"]), option(["Hash", "USI_Hash"]));
    Setup { name: &engine.name, time, threads, hash }
}

/// The table as it is in the form of cutechess, which knows no pairs.
fn without_pairs(table: &str) -> String {
    let lines = table.lines().map(|line| line.trim_end().trim_end_matches("Ptnml(0-2)").trim_end());
    lines.collect::<Vec<_>>().join("\n")
}
