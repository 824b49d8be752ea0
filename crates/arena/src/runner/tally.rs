//! Counts of stored results, and the statistics based on them.

use std::collections::BTreeMap;

use readyok_rules::{Side, Termination};

use super::MatchError;
use crate::event::{JointRatings, Score, TestState};
use crate::pairing::PairResult;
use crate::plan::{EngineId, GamesPerPairing, Plan};
use crate::result::MatchGame;
use crate::stats::{Crosstable, Outcome, Sprt};

/// Counts of stored results.
#[derive(Debug)]
pub(super) struct Tally {
    scores: BTreeMap<(EngineId, EngineId), Score>,
    games: u64,
    failures: BTreeMap<EngineId, Failures>,
    test: Option<(Sprt, GamesPerPairing)>,
    /// With three or more engines.
    crosstable: Option<Crosstable>,
}

/// A game lost by a failure of an engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed {
    pub(super) engine: EngineId,
    /// The number of the game in its pair, counted from 0.
    pub(super) game: u32,
    /// The failures of the engine, including this game.
    pub(super) failures: Failures,
}

/// Failures of an engine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failures {
    /// All failures.
    pub(super) all: u64,
    /// Crashes, stalls and failed starts, without illegal moves and losses on time.
    pub(super) broken: u64,
    /// Consecutive failed starts.
    pub(super) no_starts: u64,
}

impl Tally {
    pub(super) fn new(plan: &Plan) -> Result<Self, MatchError> {
        let test = match plan.sprt {
            Some(_) if plan.engines.len() != 2 => {
                return Err(MatchError::TestOf(plan.engines.len()));
            }
            Some(sprt) => Some((sprt.test().map_err(MatchError::Test)?, plan.games)),
            None => None,
        };
        let engines = plan.engines.len();
        let crosstable = (engines > 2).then(|| Crosstable::new(engines).ok()).flatten();
        Ok(Self { scores: BTreeMap::new(), games: 0, failures: BTreeMap::new(), test, crosstable })
    }

    /// Counts a pair. Returns its games that were lost by failures.
    pub(super) fn add(&mut self, pair: &PairResult) -> Vec<Failed> {
        let (first, second) = (pair.pairing.first, pair.pairing.second);
        let (engine, opponent) = (first.min(second), first.max(second));
        let score = self.scores.entry((engine, opponent));
        let score = score.or_insert_with(|| Score::new(engine, opponent));
        let outcomes: Vec<Outcome> =
            pair.games.iter().map(|game| outcome_for(engine, game)).collect();
        score.add(&outcomes);
        self.games += pair.games.len() as u64;
        if let Some(crosstable) = &mut self.crosstable {
            pair.count_in(crosstable);
        }
        (0..).zip(&pair.games).filter_map(|(index, game)| self.add_failures(index, game)).collect()
    }

    fn add_failures(&mut self, index: u32, game: &MatchGame) -> Option<Failed> {
        let loser = loser(game);
        for engine in [game.first, game.second] {
            let failures = self.failures.entry(engine).or_default();
            let failed = game.end.termination.is_failure() && loser == Some(engine);
            let no_start = failed && game.end == Termination::EngineStartFailure;
            failures.all += u64::from(failed);
            failures.broken += u64::from(failed && game.end.termination.is_engine_failure());
            if no_start {
                failures.no_starts += 1;
            } else if game.end != Termination::EngineStartFailure {
                failures.no_starts = 0;
            }
        }
        let engine = loser.filter(|_| game.end.termination.is_failure())?;
        let failures = self.failures.get(&engine).copied()?;
        Some(Failed { engine, game: index, failures })
    }

    /// The score of two engines.
    pub(super) fn score(&self, one: EngineId, other: EngineId) -> Option<Score> {
        self.scores.get(&(one.min(other), one.max(other))).copied()
    }

    /// The scores of all encounters.
    pub(super) fn scores(&self) -> Vec<Score> {
        self.scores.values().copied().collect()
    }

    /// The number of games.
    pub(super) fn games(&self) -> u64 {
        self.games
    }

    /// The ratings; `None` for two engines or without games.
    pub(super) fn ratings(&self) -> Option<JointRatings> {
        self.crosstable.as_ref().filter(|_| self.games > 0).and_then(JointRatings::of)
    }

    /// The state of the test; `None` without a test or without results.
    pub(super) fn test(&self) -> Option<TestState> {
        let (sprt, games) = self.test.as_ref()?;
        let counts = self.score(EngineId(0), EngineId(1))?.counts(*games)?;
        sprt.status(&counts).ok().map(TestState::from)
    }
}

/// The loser of a game.
pub(super) fn loser(game: &MatchGame) -> Option<EngineId> {
    game.winner.map(|winner| match winner {
        Side::First => game.second,
        Side::Second => game.first,
    })
}

fn outcome_for(engine: EngineId, game: &MatchGame) -> Outcome {
    match loser(game) {
        None => Outcome::Draw,
        Some(loser) if loser == engine => Outcome::Loss,
        Some(_) => Outcome::Win,
    }
}

impl Score {
    fn new(engine: EngineId, opponent: EngineId) -> Self {
        Self { engine, opponent, wins: 0, draws: 0, losses: 0, pairs: [0; 6] }
    }

    fn add(&mut self, outcomes: &[Outcome]) {
        for outcome in outcomes {
            match outcome {
                Outcome::Win => self.wins += 1,
                Outcome::Draw => self.draws += 1,
                Outcome::Loss => self.losses += 1,
            }
        }
        let [one, other] = outcomes else { return };
        let [ll, ld, wl, dd, wd, ww] = &mut self.pairs;
        let pair = match (one, other) {
            (Outcome::Loss, Outcome::Loss) => ll,
            (Outcome::Loss, Outcome::Draw) | (Outcome::Draw, Outcome::Loss) => ld,
            (Outcome::Loss, Outcome::Win) | (Outcome::Win, Outcome::Loss) => wl,
            (Outcome::Draw, Outcome::Draw) => dd,
            (Outcome::Draw, Outcome::Win) | (Outcome::Win, Outcome::Draw) => wd,
            (Outcome::Win, Outcome::Win) => ww,
        };
        *pair += 1;
    }
}
