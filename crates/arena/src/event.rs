//! Events of a match.
//!
//! [`JsonLines`](crate::listener::JsonLines) writes each [`Event`] as one line of JSON:
//!
//! ```text
//! {"at_ms":1700000000000,"event":"game-end","pair":7,"game":1,"first":1,"second":0,"winner":"first",…}
//! ```

use readyok_rules::{Game, Side};
use serde::{Deserialize, Serialize};

use crate::pairing::{Opening, WorkerId};
use crate::plan::{EngineId, GamesPerPairing};
use crate::result::{EngineInfo, GameEnd, MatchGame, MoveRecord, Warning, WarningKind};
pub use crate::stats::SprtStatus as TestState;
use crate::stats::{
    Counts, Crosstable, Estimate, Figure, Pentanomial, Ratings, Trinomial, Verdict,
};
use crate::store::ContentHash;
use crate::takes::TakesStatus;

/// An event of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The match starts or resumes.
    MatchStart {
        /// The hash of the plan, which identifies the match.
        plan_hash: ContentHash,
        /// The game.
        game: Game,
        /// The names of the engines. An [`EngineId`] is an index into this list.
        engines: Vec<String>,
        /// The number of pairs played before.
        resumed: u64,
    },
    /// A game starts.
    GameStart {
        /// The index of the pairing.
        pair: u64,
        /// The number of the game in its pairing, counted from 0.
        game: u32,
        /// The round, counted from 1.
        round: u32,
        /// The engine with the first move.
        first: EngineId,
        /// Its opponent.
        second: EngineId,
        /// The worker.
        worker: WorkerId,
        /// The opening.
        opening: Opening,
    },
    /// A move was played. Reported only on request.
    Move {
        /// The index of the pairing.
        pair: u64,
        /// The number of the game.
        game: u32,
        /// Plies since the opening before the move.
        ply: u32,
        /// The move.
        #[serde(flatten)]
        played: Box<MoveRecord>,
    },
    /// A game is over. It counts when its pair is complete.
    GameEnd {
        /// The index of the pairing.
        pair: u64,
        /// The number of the game.
        game: u32,
        /// The engine with the first move.
        first: EngineId,
        /// Its opponent.
        second: EngineId,
        /// The winner; `None` for a draw.
        winner: Option<Side>,
        /// The reason.
        #[serde(rename = "termination")]
        end: GameEnd,
        /// The number of plies since the opening.
        plies: u32,
        /// The duration in milliseconds.
        duration_ms: u64,
        /// Names and settings of the engines, that with the first move first.
        #[serde(default)]
        engines: Box<[EngineInfo; 2]>,
    },
    /// A pair is complete and stored.
    PairEnd {
        /// The index of the pairing.
        pair: u64,
        /// The round, counted from 1.
        round: u32,
        /// The number of complete pairs.
        complete: u64,
    },
    /// The score of two engines, after each of their pairs, unless the match is a tuning.
    Score(Score),
    /// The state of the test.
    Test(TestState),
    /// The state of a test of several takes.
    Takes(TakesStatus),
    /// The ratings: once, before the end of a match of three or more engines.
    Ratings(JointRatings),
    /// The winner of a knockout: once, before its end. It does not follow from points, because of byes and ties.
    Champion {
        /// The winner.
        engine: EngineId,
    },
    /// A warning.
    Warning {
        /// The description.
        text: String,
        /// The index of the pairing, if it concerns one.
        pair: Option<u64>,
        /// The engine, if it concerns one.
        engine: Option<EngineId>,
        /// Details of a warning about an engine in a game.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Box<WarningContext>>,
    },
    /// The values of a tuning, after each of its pairs.
    Parameters {
        /// In the order of the parameters, not rounded.
        values: Vec<f64>,
        /// The averages of the latest values: the result of the tuning so far.
        #[serde(default)]
        averages: Vec<f64>,
    },
    /// A stored game repeats an earlier one move by move, with the same engines and colors.
    RepeatedGame {
        /// The index of the pairing.
        pair: u64,
        /// The number of the game.
        game: u32,
        /// The index of the pairing of the earlier game.
        earlier: u64,
        /// The number of repeated games so far.
        count: u64,
    },
    /// An engine has lost a game by a failure.
    EngineFailure {
        /// The engine.
        engine: EngineId,
        /// The index of the pairing.
        pair: u64,
        /// The number of the game.
        game: u32,
        /// The failure.
        #[serde(rename = "termination")]
        end: GameEnd,
        /// The number of its failures so far.
        count: u64,
    },
    /// The match is being stopped.
    Stopping {
        /// The kind of stop.
        how: Stop,
        /// The reason.
        why: End,
    },
    /// The match is over, or can be resumed later.
    MatchEnd {
        /// The reason.
        why: End,
        /// The number of complete pairs.
        complete: u64,
        /// The number of games of these pairs.
        games: u64,
    },
}

/// The reason of the end of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "MatchEnd"))]
pub enum End {
    /// All pairings were played.
    Complete,
    /// The test has decided.
    Test {
        /// The decision.
        verdict: Verdict,
    },
    /// The test of several takes has decided.
    Takes {
        /// The accepted take, or none if all are dropped.
        accepted: Option<EngineId>,
    },
    /// The match was interrupted, and can be resumed.
    Interrupted,
    /// A user of the queue has ended the match.
    Stopped,
    /// An engine has failed too often.
    Failures {
        /// The engine.
        engine: EngineId,
        /// The number of failures.
        count: u64,
    },
    /// An error.
    Error {
        /// The description.
        text: String,
    },
}

/// How a match is stopped. `Abort` overrides `Finish`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// Finish running pairings.
    Finish,
    /// Abort running pairings, and replay them when the match is resumed.
    Abort,
}

/// The context of a warning about an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningContext {
    /// The kind of warning.
    pub kind: WarningKind,
    /// The output line of the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The position of the opening, as FEN or SFEN; `None` is the start position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// All moves before the warning.
    pub moves: Vec<String>,
    /// The move played, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<String>,
}

impl WarningContext {
    /// The context of a warning of a game.
    pub fn of(opening: &Opening, game: &MatchGame, warning: &Warning) -> Self {
        let ply = usize::try_from(warning.ply).unwrap_or(usize::MAX);
        let made = game.moves.iter().take(ply).map(|made| made.mv.to_string());
        Self {
            kind: warning.kind.clone(),
            line: warning.line.clone(),
            position: opening.position.clone(),
            moves: opening.moves.iter().cloned().chain(made).collect(),
            played: game.moves.get(ply).map(|made| made.mv.to_string()),
        }
    }
}

/// The score of two engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "EncounterScore"))]
pub struct Score {
    /// The engine with the lower ID, whose wins are counted.
    pub engine: EngineId,
    /// Its opponent.
    pub opponent: EngineId,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Pentanomial counts, with separate counts of win and loss and of two draws: LL, LD, WL, DD, WD, WW. All 0 if
    /// pairings have one game.
    pub pairs: [u64; 6],
}

impl Score {
    /// The counts of games; zero on overflow.
    pub fn games(&self) -> Trinomial {
        Trinomial::new(self.losses, self.draws, self.wins).unwrap_or_default()
    }

    /// The counts for statistics: pairs, or games if pairings have one game. `None` on overflow.
    pub fn counts(&self, games: GamesPerPairing) -> Option<Counts> {
        let [ll, ld, wl, dd, wd, ww] = self.pairs;
        match games {
            GamesPerPairing::One => Some(Counts::Games(self.games())),
            GamesPerPairing::Two => {
                Pentanomial::new(ll, ld, wl, dd, wd, ww).ok().map(Counts::Pairs)
            }
        }
    }
}

/// Maximum number of engines for ratings in events: the size of the covariance matrix is quadratic.
const MAX_RATED: usize = 100;

/// Maximum-likelihood ratings of all engines of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointRatings {
    /// The ratings in the order of the plan. Each group of engines linked by games has the mean 0.
    pub ratings: Vec<Rating>,
    /// The advantage of the first move.
    pub first_move: Rating,
    /// The covariance matrix of the ratings, in Elo², by rows. The variance of a difference is the sum of both variances
    /// minus twice the covariance. `None` if games do not link two engines.
    pub covariance: Vec<Vec<Option<f64>>>,
}

/// Elo with a 95 % error. Both are `None` for an engine without games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Rating {
    /// The maximum-likelihood estimate.
    pub elo: Option<f64>,
    /// Half the width of the 95 % confidence interval.
    pub error: Option<f64>,
}

impl JointRatings {
    /// `None` for two engines, which are compared by their score.
    pub(crate) fn of(table: &Crosstable) -> Option<Self> {
        let players = table.players();
        if !(3..=MAX_RATED).contains(&players) {
            return None;
        }
        let ratings = Ratings::unanchored(table).ok()?;
        let entry = |one, other| ratings.covariance(one, other).number();
        let row = |one| (0..players).map(|other| entry(one, other)).collect();
        Some(Self {
            ratings: (0..players).map(|player| ratings.rating(player).into()).collect(),
            first_move: ratings.first_move().into(),
            covariance: (0..players).map(row).collect(),
        })
    }

    /// The rating of an engine.
    pub fn rating(&self, engine: EngineId) -> Rating {
        self.ratings.get(engine.index()).copied().unwrap_or_default()
    }

    /// The Elo difference of two engines, if games link them.
    pub fn difference(&self, one: EngineId, other: EngineId) -> Option<Estimate> {
        let elo = self.rating(one).elo? - self.rating(other).elo?;
        let covariance =
            |a: EngineId, b: EngineId| *self.covariance.get(a.index())?.get(b.index())?;
        let variance =
            covariance(one, one)? + covariance(other, other)? - 2.0 * covariance(one, other)?;
        Some(Estimate::normal(elo, variance))
    }
}

impl Rating {
    /// The rating as an estimate, for display.
    pub fn estimate(self) -> Estimate {
        let figure = |value: Option<f64>| value.map_or(Figure::Unknown, Figure::of);
        Estimate { value: figure(self.elo), error: figure(self.error) }
    }
}

impl From<Estimate> for Rating {
    fn from(Estimate { value, error }: Estimate) -> Self {
        Self { elo: value.number(), error: error.number() }
    }
}
