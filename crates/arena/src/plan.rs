//! The configuration of a match: everything that determines its games, independent of the host.

mod adjudication;
mod engine;
mod limits;
mod tournament;
mod validate;

use std::num::NonZeroU64;

use readyok_rules::Game;
use serde::{Deserialize, Serialize};

pub use adjudication::{
    Adjudication, DrawAdjudication, Impasse, ResignAdjudication, TablebaseAdjudication,
    TablebaseScope,
};
pub use engine::{EngineId, EnginePlan, EngineTimeouts, Protocol, PvCheck};
pub use limits::{Limits, TimeControl, TimeControlError};
pub use tournament::{
    BookFormat, Colors, Format, GamesPerPairing, KnockoutTie, OpeningOrder, OpeningPolicy,
    OpeningSource, Openings, PairingOrder, SprtPlan,
};
pub use validate::{HourglassProblem, PlanError};

/// A match or a tournament. Two runs of the same plan have the same pairings in the same order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The game.
    pub game: Game,
    /// The event in game records.
    #[serde(default)]
    pub event: String,
    /// The site in game records.
    #[serde(default)]
    pub site: String,
    /// The engines. An [`EngineId`] is an index into this list.
    pub engines: Vec<EnginePlan>,
    /// The tournament format.
    #[serde(default)]
    pub format: Format,
    /// The order of the encounters of a round robin or gauntlet.
    #[serde(default, skip_serializing_if = "PairingOrder::is_default")]
    pub pairing_order: PairingOrder,
    /// How many times the format is repeated; in a Swiss tournament the number of rounds.
    #[serde(default = "tournament::one")]
    pub rounds: u32,
    /// Number of game pairs in each encounter of two engines.
    #[serde(default = "tournament::one")]
    pub pairs_per_encounter: u32,
    /// Number of games in a pair.
    #[serde(default)]
    pub games: GamesPerPairing,
    /// The assignment of colors.
    #[serde(default)]
    pub colors: Colors,
    /// Maximum duration of a search without a clock, in milliseconds, regardless of engine output.
    /// The default is [`GameSettings::STALL`](crate::game::GameSettings::STALL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_timeout_ms: Option<NonZeroU64>,
    /// Pause between two games of a worker, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<NonZeroU64>,
    /// The validation of PVs. Invalid ones are reported as warnings.
    #[serde(default, skip_serializing_if = "PvCheck::is_default")]
    pub pv_check: PvCheck,
    /// The openings.
    #[serde(default)]
    pub openings: Openings,
    /// Adjudication of games.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// A sequential test that can end the match early. It requires exactly two engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtPlan>,
    /// The seed of all random choices.
    #[serde(default)]
    pub seed: u64,
}
