//! Pairings: two engines, one opening, one or two games.

use std::collections::BTreeMap;
use std::fmt;

use readyok_rules::{Game, Side, Termination};
use serde::{Deserialize, Serialize};

use crate::plan::EngineId;
use crate::result::MatchGame;
use crate::stats::Crosstable;

/// Two engines that play one or two games from the same opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// The position in the match, counted from 0, by which results are merged. A knockout skips the indices of
    /// replays that are not needed.
    pub index: u64,
    /// The round, counted from 1.
    pub round: u32,
    /// The engine with the first move in the first game.
    pub first: EngineId,
    /// Its opponent, which has the first move in the second game unless colors are fixed.
    pub second: EngineId,
    /// The number of games: 1 or 2.
    pub games: u32,
    /// Whether colors are not reversed in the second game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_colors: bool,
    /// The opening of all games.
    pub opening: Opening,
    /// Options of the first and the second engine for these games, in addition to those of the plan.
    #[serde(default, skip_serializing_if = "are_empty")]
    pub options: [BTreeMap<String, String>; 2],
}

fn are_empty(options: &[BTreeMap<String, String>; 2]) -> bool {
    options.iter().all(BTreeMap::is_empty)
}

/// The opening of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The position, as FEN or SFEN. `None` is the start position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The moves of the opening, in UCI or USI notation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<String>,
    /// Its name in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its index in the source, counted from 0.
    #[serde(default)]
    pub index: u64,
}

impl Opening {
    /// The side to move after the opening.
    pub fn turn(&self, game: Game) -> Side {
        let field = self.position.as_deref().and_then(|text| text.split_whitespace().nth(1));
        let start = match (game, field) {
            (Game::Chess | Game::Chess960, Some("b")) | (Game::Shogi, Some("w")) => Side::Second,
            (Game::Chess | Game::Chess960 | Game::Shogi, _) => Side::First,
        };
        if self.moves.len().is_multiple_of(2) { start } else { start.other() }
    }
}

/// A worker: one thread that plays one pairing at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(type = "string"))]
pub struct WorkerId(pub String);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The games of a pairing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairResult {
    /// The pairing.
    pub pairing: Pairing,
    /// The games, in order.
    pub games: Vec<MatchGame>,
    /// The remote worker that played it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
}

impl PairResult {
    /// The games that were not aborted.
    pub(crate) fn finished(&self) -> impl Iterator<Item = &MatchGame> {
        self.games.iter().filter(|game| game.end != Termination::Aborted)
    }

    /// Adds the finished games to a crosstable. Games of engines that are not in the table are ignored.
    pub(crate) fn count_in(&self, table: &mut Crosstable) {
        let finished: Vec<&MatchGame> = self.finished().collect();
        let _ = match finished.as_slice() {
            [one, other] if (one.first, one.second) == (other.second, other.first) => {
                let [first, second] = [one.score(), other.score().reversed()];
                table.add_pair(one.first.index(), one.second.index(), first, second)
            }
            games => games.iter().try_for_each(|game| {
                table.add_game(game.first.index(), game.second.index(), game.score())
            }),
        };
    }
}

impl Pairing {
    /// Whether both have the same games, possibly with other options: a resumed tuning may offer a pair again after a
    /// worker has played it.
    pub(crate) fn has_same_games(&self, other: &Self) -> bool {
        *self == Self { options: self.options.clone(), ..other.clone() }
    }

    /// The first and the second side of a game, counted from 0.
    pub fn sides(&self, game: u32) -> (EngineId, EngineId) {
        if self.fixed_colors || game.is_multiple_of(2) {
            (self.first, self.second)
        } else {
            (self.second, self.first)
        }
    }
}

/// The result of a pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairingScore {
    /// The index of the pairing.
    pub index: u64,
    /// The engine with the first move in the first game.
    pub first: EngineId,
    /// Its opponent.
    pub second: EngineId,
    /// The score of `first`.
    pub score: Score,
}

/// Wins, draws and losses of the first engine of a pairing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

impl Score {
    /// The number of games.
    pub fn games(self) -> u32 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    /// The score of the opponent.
    pub(crate) fn reversed(self) -> Self {
        Self { wins: self.losses, draws: self.draws, losses: self.wins }
    }

    /// The half points of both engines.
    pub(crate) fn half_points(self) -> (u64, u64) {
        let points = |wins: u32| u64::from(wins) * 2 + u64::from(self.draws);
        (points(self.wins), points(self.losses))
    }
}

impl From<&PairResult> for PairingScore {
    fn from(result: &PairResult) -> Self {
        let pairing = &result.pairing;
        let mut score = Score::default();
        for game in &result.games {
            let count = match game.winner.map(|side| game.engine(side)) {
                None => &mut score.draws,
                Some(winner) if winner == pairing.first => &mut score.wins,
                Some(_) => &mut score.losses,
            };
            *count = count.saturating_add(1);
        }
        Self { index: pairing.index, first: pairing.first, second: pairing.second, score }
    }
}
