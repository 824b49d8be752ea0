//! The unit of a match: two engines, one opening, one or two games.

use std::fmt;

use readyok_rules::{Game, Side, Termination};
use serde::{Deserialize, Serialize};

use crate::plan::EngineId;
use crate::result::MatchGame;
use crate::stats::Crosstable;

/// Two engines that meet, and where their games start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// The place in the order of the match, counted from 0. Results are merged by it. A knockout
    /// leaves out numbers: those of matches that need not be played again.
    pub index: u64,
    /// The round, counted from 1.
    pub round: u32,
    /// Who has the first move in the first game.
    pub first: EngineId,
    /// Who has it in the second, unless colors are fixed.
    pub second: EngineId,
    /// How many games: 1 or 2.
    pub games: u32,
    /// Who has the first move in the first game has it in the second one, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_colors: bool,
    /// Where all of them start.
    pub opening: Opening,
}

/// Where a game starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The position, as FEN or SFEN; none is the start position of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// Moves that are played before the engines are asked, as UCI or USI words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<String>,
    /// What its source calls it, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it stands in its source, counted from 0.
    #[serde(default)]
    pub index: u64,
}

impl Opening {
    /// Who makes the first move after it.
    pub fn turn(&self, game: Game) -> Side {
        let field = self.position.as_deref().and_then(|text| text.split_whitespace().nth(1));
        let start = match (game, field) {
            (Game::Chess | Game::Chess960, Some("b")) | (Game::Shogi, Some("w")) => Side::Second,
            (Game::Chess | Game::Chess960 | Game::Shogi, _) => Side::First,
        };
        if self.moves.len().is_multiple_of(2) { start } else { start.other() }
    }
}

/// What came of a pairing: all of its games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairResult {
    /// Which pairing.
    pub pairing: Pairing,
    /// Its games, in order.
    pub games: Vec<MatchGame>,
    /// Which worker played it, if it was one that plays for matches of other machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
}

impl PairResult {
    /// Counts the games that were played to their end. Those of engines that the table does not have
    /// are left out.
    pub(crate) fn count_in(&self, table: &mut Crosstable) {
        let index = |engine: EngineId| usize::try_from(engine.0).unwrap_or(usize::MAX);
        let whole = self.games.iter().filter(|game| game.end != Termination::Aborted);
        let whole: Vec<&MatchGame> = whole.collect();
        let _ = match whole.as_slice() {
            [one, other] if (one.first, one.second) == (other.second, other.first) => {
                let [first, second] = [one.score(), other.score().reversed()];
                table.add_pair(index(one.first), index(one.second), first, second)
            }
            games => games.iter().try_for_each(|game| {
                table.add_game(index(game.first), index(game.second), game.score())
            }),
        };
    }
}

/// The name of a worker: a thread that plays one pairing at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkerId(pub String);

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Pairing {
    /// Who has the first move and who the second in a game of the pairing, counted from 0.
    pub fn sides(&self, game: u32) -> (EngineId, EngineId) {
        if self.fixed_colors || game.is_multiple_of(2) {
            (self.first, self.second)
        } else {
            (self.second, self.first)
        }
    }
}
