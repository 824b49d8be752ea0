//! The state of a match: the only place where its results are summed.
//!
//! ```text
//!  stored pair ── add ──┐
//!                       ├──> MatchState ──> Listener: displays, published states, reports
//!  event ─────── apply ─┘
//! ```
//!
//! The coordinator owns the state. Views borrow it and count nothing: what follows from the stored pairs is never taken
//! from events, so nothing remains of a pair that is discarded.

mod figures;
mod thinned;

use std::collections::{BTreeMap, VecDeque};

use readyok_rules::{Side, Termination};
use serde::{Deserialize, Serialize};

pub use crate::match_state::figures::{MatchStrength, Throughput};
#[cfg(test)]
pub(crate) use crate::match_state::thinned::MAX_POINTS;
pub(crate) use crate::match_state::thinned::Thinned;

use crate::event::{Event, JointRatings, Rating, Score, TestState};
use crate::pairing::{PairResult, PairingScore, WorkerId};
use crate::plan::{EngineId, Format, Plan};
use crate::repeats::{Repeated, Repeats};
use crate::result::{GameEnd, MatchGame, WarningKind};
use crate::stats::{
    Counts, Crosstable, Estimates, MAX_PLAYERS, Outcome, Pentanomial, Sprt, Trinomial,
};
use crate::takes::{BASE, Takes, TakesPoint};
use crate::tune::TuneState;

/// Number of the latest games.
const LATEST: usize = 5;

/// The results and the progress of a match.
#[derive(Clone, Debug)]
pub struct MatchState {
    plan: Plan,
    total: u64,
    pairs: u64,
    games: u64,
    crosstable: Crosstable,
    /// Pairs of two games by encounter, from the point of view of the engine with the lower ID. In contrast to the
    /// crosstable, pairs with fixed colors are pairs.
    pentanomials: BTreeMap<(EngineId, EngineId), Pentanomial>,
    failures: BTreeMap<EngineId, Failures>,
    sprt: Option<Sprt>,
    takes: Option<Takes>,
    takes_curve: Thinned<TakesPoint>,
    curve: Thinned<Point>,
    tune: Option<TuneState>,
    /// None in a tuning, whose pairs are played with different options.
    repeats: Option<Repeats>,
    running: BTreeMap<WorkerId, RunningGame>,
    latest: VecDeque<FinishedGame>,
    warnings: Vec<WarningCount>,
    ratings: Option<JointRatings>,
    champion: Option<EngineId>,
}

/// The result of a match of two engines after a number of pairs: a point of its curves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "CurvePoint"))]
pub struct Point {
    /// The number of pairs.
    pub pairs: u64,
    /// The number of games.
    #[serde(default)]
    pub games: u64,
    /// Elo of the first engine.
    #[serde(flatten)]
    pub elo: Rating,
    /// Its score as a fraction.
    #[serde(default)]
    pub score: Option<f64>,
    /// The log-likelihood ratio, in a test.
    pub llr: Option<f64>,
}

impl Point {
    /// Elo and its error, if both are defined.
    pub fn elo_and_error(&self) -> Option<(f64, f64)> {
        self.elo.elo.zip(self.elo.error)
    }
}

/// A row of the standings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Standing {
    /// The engine.
    pub engine: EngineId,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// A win is 1 point, a draw half a point.
    pub points: f64,
    /// Elo against all opponents.
    pub elo: Rating,
}

/// A game in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningGame {
    /// The index of the pairing.
    pub pair: u64,
    /// The number of the game in its pairing, counted from 0.
    pub game: u32,
    /// The engine with the first move.
    pub first: EngineId,
    /// Its opponent.
    pub second: EngineId,
}

/// A finished game, which counts when its pair is complete.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedGame {
    /// The index of the pairing.
    pub pair: u64,
    /// The number of the game in its pairing, counted from 0.
    pub game: u32,
    /// The engine with the first move.
    pub first: EngineId,
    /// Its opponent.
    pub second: EngineId,
    /// The winner; `None` for a draw.
    pub winner: Option<Side>,
    /// The reason.
    pub end: GameEnd,
    /// The number of plies since the opening.
    pub plies: u32,
}

/// The games that an engine has lost by failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// All failures.
    pub all: u64,
    /// Crashes, stalls and failed starts, without illegal moves and losses on time.
    pub broken: u64,
    /// Consecutive failed starts.
    pub no_starts: u64,
}

/// The number of warnings of a kind about an engine.
#[derive(Clone, Debug)]
pub struct WarningCount {
    /// The engine.
    pub engine: Option<EngineId>,
    /// The first one.
    pub kind: WarningKind,
    /// Their number.
    pub count: u64,
}

/// What a pair adds, apart from its score.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    /// Its games that were lost by failures.
    pub(crate) failed: Vec<Failed>,
    /// Its games that repeat earlier ones.
    pub(crate) repeated: Vec<Repeated>,
}

/// A game that an engine has lost by a failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    pub(crate) engine: EngineId,
    /// The number of the game in its pair, counted from 0.
    pub(crate) game: u32,
    /// The failures of the engine, including this game.
    pub(crate) failures: Failures,
}

impl MatchState {
    /// The state before the first pair. `total` is the number of pairings, or 0 if no view shows it.
    pub fn new(plan: &Plan, total: u64) -> Self {
        let engines = plan.engines.len();
        Self {
            plan: plan.clone(),
            total,
            pairs: 0,
            games: 0,
            // A plan with more engines has no schedule and no results.
            crosstable: Crosstable::new(engines.min(MAX_PLAYERS)).unwrap_or_default(),
            pentanomials: BTreeMap::new(),
            failures: BTreeMap::new(),
            sprt: plan
                .sprt
                .filter(|_| engines == 2 && plan.format != Format::Takes)
                .and_then(|sprt| sprt.test().ok()),
            takes: Takes::new(plan),
            takes_curve: Thinned::default(),
            curve: Thinned::default(),
            tune: TuneState::new(plan),
            repeats: plan.tune.is_none().then(Repeats::default),
            running: BTreeMap::new(),
            latest: VecDeque::new(),
            warnings: Vec::new(),
            ratings: None,
            champion: None,
        }
    }

    /// Counts a stored pair, except its aborted games.
    pub fn add(&mut self, pair: &PairResult) {
        self.count(pair);
    }

    /// As [`MatchState::add`]. Returns what is reported in addition to the score.
    pub(crate) fn count(&mut self, pair: &PairResult) -> Added {
        let (first, second) = (pair.pairing.first, pair.pairing.second);
        let (engine, opponent) = (first.min(second), first.max(second));
        pair.count_in(&mut self.crosstable);
        let outcomes: Vec<Outcome> = pair.finished().map(|game| game.outcome_for(engine)).collect();
        let pairs = self.pentanomials.entry((engine, opponent)).or_default();
        if let [one, other] = outcomes.as_slice() {
            // More pairs than can be counted are not reachable in practice.
            let _ = pairs.add(*one, *other);
        }
        self.pairs += 1;
        self.games += outcomes.len() as u64;
        if let Some(tune) = &mut self.tune {
            tune.add(pair);
        }
        let point = self.curve.is_due().then(|| self.point()).flatten();
        self.curve.add(point);
        if let Some(takes) = &mut self.takes {
            takes.record(PairingScore::from(pair));
            let point = self.takes_curve.is_due().then(|| takes.point());
            self.takes_curve.add(point);
        }
        let games = (0..).zip(&pair.games);
        let failed = games.filter_map(|(index, game)| self.add_failures(index, game)).collect();
        let repeated = self.repeats.as_mut().map(|repeats| repeats.add(pair)).unwrap_or_default();
        Added { failed, repeated }
    }

    fn add_failures(&mut self, index: u32, game: &MatchGame) -> Option<Failed> {
        let loser = game.loser();
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

    /// Forgets all pairs, of which these indices are discarded. The others are added again. Games in progress continue.
    pub fn discard(&mut self, indices: &[u64]) {
        let mut before = std::mem::replace(self, Self::new(&self.plan, self.total));
        before.latest.retain(|game| !indices.contains(&game.pair));
        (self.running, self.latest) = (before.running, before.latest);
        self.warnings = before.warnings;
    }

    /// Applies an event. Nothing is taken from it that follows from the pairs.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::GameStart { pair, game, first, second, worker, .. } => {
                let (pair, game, first, second) = (*pair, *game, *first, *second);
                // A lost worker has not ended its game.
                self.running.retain(|_, running| running.pair != pair);
                self.running.insert(worker.clone(), RunningGame { pair, game, first, second });
            }
            Event::GameEnd { pair, game, first, second, winner, end, plies, .. } => {
                let (pair, game, first, second) = (*pair, *game, *first, *second);
                self.running.retain(|_, running| (running.pair, running.game) != (pair, game));
                if self.latest.len() == LATEST {
                    self.latest.pop_front();
                }
                let (winner, end, plies) = (*winner, end.clone(), *plies);
                let finished = FinishedGame { pair, game, first, second, winner, end, plies };
                self.latest.push_back(finished);
            }
            Event::Warning { engine, context: Some(context), .. } => {
                let (engine, kind) = (*engine, &context.kind);
                let known = self.warnings.iter_mut().find(|known| known.is_of(engine, kind));
                if let Some(known) = known {
                    known.count += 1;
                } else {
                    self.warnings.push(WarningCount { engine, kind: kind.clone(), count: 1 });
                }
            }
            // Its last game may not have been reported.
            Event::PairEnd { pair, .. } => self.running.retain(|_, running| running.pair != *pair),
            Event::Ratings(ratings) => self.ratings = Some(ratings.clone()),
            Event::Champion { engine } => self.champion = Some(*engine),
            Event::MatchEnd { .. } => self.running.clear(),
            Event::MatchStart { .. }
            | Event::Move { .. }
            | Event::Score(_)
            | Event::Test(_)
            | Event::Takes(_)
            | Event::Warning { context: None, .. }
            | Event::Parameters { .. }
            | Event::RepeatedGame { .. }
            | Event::EngineFailure { .. }
            | Event::Stopping { .. } => {}
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The name of an engine.
    pub fn name(&self, engine: EngineId) -> &str {
        self.plan.engine_name(engine)
    }

    /// The engines, in the order of the plan.
    pub fn engines(&self) -> impl Iterator<Item = EngineId> + use<> {
        (0_u32..).take(self.plan.engines.len()).map(EngineId)
    }

    /// The number of pairings; in a knockout, the maximum.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of counted pairs.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// The number of their games.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// The score of two engines; `None` before their first pair, and in a tuning: plus and minus have other options in
    /// each pair.
    pub fn score(&self, one: EngineId, other: EngineId) -> Option<Score> {
        let key = (one.min(other), one.max(other));
        self.compared().find(|(pair, _)| **pair == key).map(|(_, pairs)| self.score_of(key, pairs))
    }

    /// The scores of all encounters; none in a tuning.
    pub fn scores(&self) -> Vec<Score> {
        self.compared().map(|(key, pairs)| self.score_of(*key, pairs)).collect()
    }

    /// The pairs of all encounters whose scores compare engines.
    fn compared(&self) -> impl Iterator<Item = (&(EngineId, EngineId), &Pentanomial)> {
        self.pentanomials.iter().filter(|_| self.tune.is_none())
    }

    fn score_of(&self, (engine, opponent): (EngineId, EngineId), pairs: &Pentanomial) -> Score {
        let games = self.against(engine, opponent);
        let (wins, draws, losses) = (games.wins(), games.draws(), games.losses());
        Score { engine, opponent, wins, draws, losses, pairs: pairs.six().unwrap_or_default() }
    }

    /// The games of an engine against another one.
    pub fn against(&self, engine: EngineId, opponent: EngineId) -> Trinomial {
        self.crosstable.against(engine.index(), opponent.index())
    }

    /// The games of an engine against all others.
    pub fn games_of(&self, engine: EngineId) -> Trinomial {
        let sum = |sum: Trinomial, games| sum.plus(games).unwrap_or(sum);
        self.engines().map(|other| self.against(engine, other)).fold(Trinomial::default(), sum)
    }

    /// The standings, best first; none in a tuning.
    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 games")]
    pub fn standings(&self) -> Vec<Standing> {
        let both = self.head_to_head();
        let mut rows: Vec<Standing> = self
            .engines()
            .filter(|_| self.tune.is_none())
            .map(|engine| {
                let games = self.games_of(engine);
                // Of two engines by their pairs, which is more precise; of more engines by their games.
                let counts = match both {
                    Some(Counts::Pairs(pairs)) if engine != EngineId(0) => {
                        Counts::Pairs(pairs.reversed())
                    }
                    Some(counts @ Counts::Pairs(_)) => counts,
                    Some(Counts::Games(_)) | None => Counts::Games(games),
                };
                let (wins, draws, losses) = (games.wins(), games.draws(), games.losses());
                let points = wins as f64 + draws as f64 / 2.0;
                let elo = Estimates::of(&counts).elo.into();
                Standing { engine, wins, draws, losses, points, elo }
            })
            .collect();
        rows.sort_by(|a, b| b.points.total_cmp(&a.points).then(a.engine.cmp(&b.engine)));
        rows
    }

    /// The pairs of an engine against all others.
    pub fn pairs_of(&self, engine: EngineId) -> Pentanomial {
        let pairs = self.pentanomials.iter().filter_map(|((one, other), pairs)| match engine {
            engine if engine == *one => Some(*pairs),
            engine if engine == *other => Some(pairs.reversed()),
            _ => None,
        });
        pairs.fold(Pentanomial::default(), |sum, pairs| sum.plus(pairs).unwrap_or(sum))
    }

    /// The result of the first of two engines for statistics: pairs, or games if pairings have one game. `None` with
    /// more engines, before the first pair, and in a tuning, whose options differ from pair to pair.
    pub fn head_to_head(&self) -> Option<Counts> {
        let is_match_of_two = self.plan.engines.len() == 2;
        let score = self.score(EngineId(0), EngineId(1)).filter(|_| is_match_of_two)?;
        Some(score.counts(self.plan.games).unwrap_or_else(|| Counts::Games(score.games())))
    }

    /// The crosstable.
    pub(crate) fn crosstable(&self) -> &Crosstable {
        &self.crosstable
    }

    /// The test of two engines, if the plan has one.
    pub fn sprt(&self) -> Option<&Sprt> {
        self.sprt.as_ref()
    }

    /// The state of the test; `None` without a test or without results.
    pub fn test(&self) -> Option<TestState> {
        self.sprt.as_ref()?.status(&self.head_to_head()?).ok()
    }

    /// The test of several takes, if the match is one.
    pub fn takes(&self) -> Option<&Takes> {
        self.takes.as_ref()
    }

    /// The results of a take against the base for statistics: pairs, or games if pairings have one game.
    pub fn take_counts(&self, take: EngineId) -> Counts {
        let score = self.score(BASE, take);
        let counts = score.and_then(|score| score.counts(self.plan.games));
        counts.map_or_else(|| Counts::Games(Trinomial::default()), Counts::reversed)
    }

    /// The LLR of several takes after the pairs, the last one included. Many points are thinned out.
    pub fn takes_curve(&self) -> Vec<TakesPoint> {
        self.takes_curve.with_last(self.takes.as_ref().filter(|_| self.pairs > 0).map(Takes::point))
    }

    /// The current result of a match of two engines.
    pub fn point(&self) -> Option<Point> {
        let counts = self.head_to_head()?;
        let figures = Estimates::of(&counts);
        Some(Point {
            pairs: self.pairs,
            games: self.games,
            elo: figures.elo.into(),
            score: figures.score.number(),
            llr: self.sprt.as_ref().and_then(|sprt| sprt.llr(&counts).ok()),
        })
    }

    /// The results of a match of two engines after its pairs, the last one included. Many points are thinned out.
    pub fn curve(&self) -> Vec<Point> {
        self.curve.with_last(self.point())
    }

    /// The values of a tuning; `None` in other matches.
    pub fn tune(&self) -> Option<&TuneState> {
        self.tune.as_ref()
    }

    /// The failures of each engine that has played.
    pub fn failures(&self) -> &BTreeMap<EngineId, Failures> {
        &self.failures
    }

    /// The number of games that repeat earlier ones.
    pub fn repeated(&self) -> u64 {
        self.repeats.as_ref().map_or(0, Repeats::count)
    }

    /// The games in progress.
    pub fn running(&self) -> &BTreeMap<WorkerId, RunningGame> {
        &self.running
    }

    /// The latest finished games, whether their pairs are complete or not.
    pub fn latest(&self) -> &VecDeque<FinishedGame> {
        &self.latest
    }

    /// The warnings about engines, by engine and kind.
    pub fn warnings(&self) -> &[WarningCount] {
        &self.warnings
    }

    /// The number of warnings of a kind about an engine.
    pub fn warnings_of(&self, engine: Option<EngineId>, kind: &WarningKind) -> u64 {
        let known = self.warnings.iter().find(|known| known.is_of(engine, kind));
        known.map_or(0, |known| known.count)
    }

    /// Estimates the ratings of three or more engines, if they have played.
    pub(crate) fn estimate_ratings(&self) -> Option<JointRatings> {
        JointRatings::of(&self.crosstable).filter(|_| self.games > 0)
    }

    /// The ratings of three or more engines, known at the end of the match.
    pub fn ratings(&self) -> Option<&JointRatings> {
        self.ratings.as_ref()
    }

    /// The winner of a knockout, known at the end of the match.
    pub fn champion(&self) -> Option<EngineId> {
        self.champion
    }
}

impl WarningCount {
    fn is_of(&self, engine: Option<EngineId>, kind: &WarningKind) -> bool {
        self.engine == engine && self.kind.is_same_kind(kind)
    }
}

#[cfg(test)]
pub(crate) mod tests;
