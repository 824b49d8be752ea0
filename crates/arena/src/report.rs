//! The report of a match as one self-contained HTML file.
//!
//! [`Report`] receives results in the order of their pairings and stores sums only: its size does not
//! depend on the length of the match, except for a limited number of games that can be replayed.
//! [`Report::html`] writes the page. Charts are SVG elements; the page loads no other files.
//!
//! The page is not the app's match view with embedded data:
//! - It opens from a file, prints, and needs scripts only to replay games. Browsers load no script modules from files.
//! - Without its games it has about 45 KB. Script and style of the app's view have 530 KB, before any data.
//! - The app's view has conditions, standings, crosstable, workers and curves of Elo and LLR. Terminations, time use, scores
//!   and outcomes, lengths, slowest moves, openings and tunings are only here, and would be as long there.
//! - Programs without the app write reports: `readyok match`, `tune` and `report`, and users of this crate.

mod charts;
mod games;
mod openings;
mod page;

use std::collections::BTreeMap;

use readyok_protocol::Score;
use readyok_rules::{Side, Termination};

use crate::match_state::MatchState;
use crate::pairing::PairResult;
use crate::plan::{EngineId, Plan};
use crate::report::games::{Games, notate};
use crate::report::openings::OpeningSums;
use crate::result::{EngineInfo, GameEnd, MatchGame, MoveRecord};
use crate::stats::Ratings;
use crate::store::Origin;
use crate::worker_stats::WorkerTable;

/// The statistics of a match.
#[derive(Clone, Debug)]
pub struct Report {
    state: MatchState,
    engines: Vec<EngineSums>,
    lengths: Lengths,
    failures: Failures,
    workers: WorkerTable,
    openings: OpeningSums,
    replay: Games,
    /// Start of the first game and end of the last one, in milliseconds since 1970.
    period: Option<(u64, u64)>,
    /// Sum of the durations of all games.
    duration_ms: u64,
    origin: Option<Origin>,
}

impl Report {
    /// An empty report of a match.
    pub fn new(plan: &Plan) -> Self {
        let engines = vec![EngineSums::default(); plan.engines.len()];
        Self {
            // The number of pairings is not reported.
            state: MatchState::new(plan, 0),
            engines,
            lengths: Lengths::default(),
            failures: Failures::default(),
            workers: WorkerTable::default(),
            openings: OpeningSums::default(),
            replay: Games::default(),
            period: None,
            duration_ms: 0,
            origin: None,
        }
    }

    /// Adds the conditions that a results file has in addition to its plan.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// Adds the games of a pairing, except aborted games.
    pub fn add(&mut self, result: &PairResult) {
        self.state.add(result);
        self.workers.add(result);
        self.openings.add(result);
        self.replay.add(self.state.plan(), result);
        for (number, game) in (1..).zip(&result.games) {
            if game.end == Termination::Aborted {
                continue;
            }
            self.lengths.add(game);
            let end = game.started_ms.saturating_add(game.duration_ms);
            let (first, last) = self.period.unwrap_or((game.started_ms, end));
            self.period = Some((first.min(game.started_ms), last.max(end)));
            self.duration_ms = self.duration_ms.saturating_add(game.duration_ms);
            self.failures.add(result.pairing.index, number, game);
            let kind = self.plan().game;
            let opening = &result.pairing.opening;
            let mut turn = opening.turn(kind);
            for (ply, played) in game.moves.iter().enumerate() {
                let points = match game.winner {
                    None => 0.5,
                    Some(winner) if winner == turn => 1.0,
                    Some(_) => 0.0,
                };
                if let Some(sums) = self.sums(game.engine(turn)) {
                    sums.add_move(ply, played, points);
                    let place = (result.pairing.index, number);
                    sums.slowest.add(place, ply + 1, played.time_us, || {
                        let made = game.moves.get(..=ply).unwrap_or_default();
                        notate(kind, opening, made).pop().unwrap_or_default()
                    });
                }
                turn = turn.other();
            }
            for side in Side::BOTH {
                if let Some(sums) = self.sums(game.engine(side)) {
                    sums.add_game(game, side);
                }
            }
        }
    }

    fn plan(&self) -> &Plan {
        self.state.plan()
    }

    /// The ratings of all engines together.
    fn ratings(&self) -> Option<Ratings> {
        Ratings::unanchored(self.state.crosstable()).ok()
    }

    /// The page.
    pub fn html(&self) -> String {
        page::page(self).into_string()
    }

    fn sums(&mut self, engine: EngineId) -> Option<&mut EngineSums> {
        self.engines.get_mut(engine.index())
    }

    fn name(&self, engine: EngineId) -> &str {
        self.state.name(engine)
    }
}

/// Later moves are added to this one.
const LAST_MOVE: usize = 150;

/// The sums of one engine.
#[derive(Clone, Debug, Default)]
struct EngineSums {
    /// Number of games by termination and score: won (1), drawn (0) or lost (-1).
    ends: BTreeMap<(String, i8), u64>,
    /// The name and the author that it reported.
    info: EngineInfo,
    /// Time in milliseconds, depth and nodes by move number, from 0.
    time: Vec<Mean>,
    depths: Vec<Mean>,
    node_counts: Vec<Mean>,
    /// The points of the games by the score of a move.
    by_score: ScoreBins,
    slowest: Slowest,
    /// Time of all moves.
    all_time: Mean,
    /// The longest search, in microseconds.
    longest_us: u64,
    /// Latency of responses: measured minus reported time, in milliseconds.
    latency: Mean,
    /// Depth in plies.
    depth: Mean,
    /// Nodes of a search.
    nodes: Mean,
    /// Nodes per second, as reported.
    nps: Mean,
}

/// A sum with the number of its values.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// The mean. `None` without values.
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 moves")]
    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl EngineSums {
    /// Adds a move; `ply` counts the moves of both sides from 0.
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53, and shown rounded")]
    fn add_move(&mut self, ply: usize, played: &MoveRecord, points: f64) {
        let millis = played.time_us as f64 / 1000.0;
        let number = (ply / 2).min(LAST_MOVE);
        let values = [
            (&mut self.time, Some(millis)),
            (&mut self.depths, played.depth.map(f64::from)),
            (&mut self.node_counts, played.nodes.map(|nodes| nodes as f64)),
        ];
        for (means, value) in values {
            if means.len() <= number {
                means.resize(number + 1, Mean::default());
            }
            if let (Some(mean), Some(value)) = (means.get_mut(number), value) {
                mean.add(value);
            }
        }
        if let Some(score) = played.score {
            self.by_score.add(score, points);
        }
        self.all_time.add(millis);
        self.longest_us = self.longest_us.max(played.time_us);
        if let Some(reported) = played.reported_time_ms {
            self.latency.add(millis - reported as f64);
        }
        if let Some(depth) = played.depth {
            self.depth.add(f64::from(depth));
        }
        if let Some(nodes) = played.nodes {
            self.nodes.add(nodes as f64);
        }
        if let Some(nps) = played.nps {
            self.nps.add(nps as f64);
        }
    }

    /// Adds a game that the engine played as this side.
    fn add_game(&mut self, game: &MatchGame, side: Side) {
        let outcome = match game.winner {
            None => 0,
            Some(winner) if winner == side => 1,
            Some(_) => -1,
        };
        *self.ends.entry((end(game.end.termination), outcome)).or_default() += 1;
        let [first, second] = &game.engines;
        let info = if side == Side::First { first } else { second };
        if *info != EngineInfo::default() {
            self.info.clone_from(info);
        }
    }
}

/// The mean points of games by the score of a move.
#[derive(Clone, Copy, Debug, Default)]
struct ScoreBins([Mean; 2 * Self::SIDE + 1]);

impl ScoreBins {
    /// Bins on each side of zero. The last one includes larger scores and mates.
    const SIDE: usize = 12;
    /// Centipawns per bin.
    const STEP: i32 = 50;

    fn add(&mut self, score: Score, points: f64) {
        let side = i32::try_from(Self::SIDE).unwrap_or(i32::MAX);
        let bin = match score {
            Score::Cp(cp) => {
                let rounded = cp.saturating_add(cp.signum() * Self::STEP / 2) / Self::STEP;
                rounded.clamp(-side, side)
            }
            score if Score::Cp(0) < score => side,
            _ => -side,
        };
        let index = usize::try_from(bin + side).unwrap_or(0);
        if let Some(mean) = self.0.get_mut(index) {
            mean.add(points);
        }
    }

    /// Centipawns and mean points of each bin with enough moves.
    fn points(&self) -> Vec<(f64, f64)> {
        const MIN_MOVES: u64 = 5;
        let side = i32::try_from(Self::SIDE).unwrap_or(i32::MAX);
        let bins = (-side..).zip(&self.0).filter(|(_, mean)| mean.count >= MIN_MOVES);
        bins.filter_map(|(bin, mean)| Some((f64::from(bin * Self::STEP), mean.value()?))).collect()
    }
}

/// A termination as text.
fn end(termination: Termination) -> String {
    match termination {
        Termination::TryRule => "try rule".to_owned(),
        Termination::DrawAdjudication => "adjudicated draw".to_owned(),
        Termination::ResignAdjudication => "adjudicated win".to_owned(),
        Termination::MateAdjudication => "claimed mate".to_owned(),
        other => other.name().replace('-', " "),
    }
}

/// Maximum number of stored failures.
const MAX_FAILURES: usize = 100;

/// The first games that engines lost by a failure.
#[derive(Clone, Debug, Default)]
struct Failures {
    kept: Vec<Failure>,
    more: u64,
}

/// A game that an engine lost by a failure.
#[derive(Clone, Debug)]
struct Failure {
    /// The index of the pairing, and the number of the game in it, from 1.
    pairing: u64,
    game: u32,
    engine: EngineId,
    what: GameEnd,
}

impl Failures {
    fn add(&mut self, pairing: u64, number: u32, game: &MatchGame) {
        let Some(engine) = game.loser() else { return };
        if !game.end.termination.is_failure() {
            return;
        }
        if self.kept.len() == MAX_FAILURES {
            self.more += 1;
            return;
        }
        let what = game.end.clone();
        self.kept.push(Failure { pairing, game: number, engine, what });
    }

    fn kept(&self) -> &[Failure] {
        &self.kept
    }

    /// The number of failures that are not stored.
    fn more(&self) -> u64 {
        self.more
    }
}

/// The number of slowest moves of each engine that are stored.
const SLOWEST: usize = 10;

/// A histogram of game lengths.
#[derive(Clone, Debug, Default)]
struct Lengths {
    steps: Vec<u64>,
}

impl Lengths {
    /// Plies per bin.
    const STEP: usize = 20;
    /// The last bin includes longer games.
    const STEPS: usize = 40;

    fn add(&mut self, game: &MatchGame) {
        let step = (game.moves.len() / Self::STEP).min(Self::STEPS - 1);
        if self.steps.len() <= step {
            self.steps.resize(step + 1, 0);
        }
        if let Some(count) = self.steps.get_mut(step) {
            *count += 1;
        }
    }

    /// The number of games per bin.
    fn steps(&self) -> &[u64] {
        &self.steps
    }
}

/// The slowest moves, in descending order of time.
#[derive(Clone, Debug, Default)]
struct Slowest {
    moves: Vec<SlowMove>,
}

/// A slow move.
#[derive(Clone, Debug)]
struct SlowMove {
    time_us: u64,
    /// The index of the pairing, and the number of the game in it, from 1.
    pairing: u64,
    game: u32,
    /// From 1, after the opening.
    ply: usize,
    mv: String,
}

impl Slowest {
    fn add(
        &mut self,
        (pairing, game): (u64, u32),
        ply: usize,
        time_us: u64,
        mv: impl FnOnce() -> String,
    ) {
        let is_full = self.moves.len() == SLOWEST;
        if is_full && self.moves.last().is_some_and(|last| time_us <= last.time_us) {
            return;
        }
        let at = self.moves.partition_point(|slow| slow.time_us >= time_us);
        self.moves.insert(at, SlowMove { time_us, pairing, game, ply, mv: mv() });
        self.moves.truncate(SLOWEST);
    }

    fn moves(&self) -> &[SlowMove] {
        &self.moves
    }
}
