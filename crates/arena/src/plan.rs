//! What is to be played: everything that decides the results, and nothing about the machine.

mod adjudication;
mod check;
mod engine;
mod format;
mod limits;
mod manner;
mod openings;
mod sprt;

use std::num::NonZeroU64;

use readyok_rules::Game;
use serde::{Deserialize, Serialize};

pub use adjudication::{
    Adjudication, DrawAdjudication, Impasse, ResignAdjudication, TablebaseAdjudication,
    TablebaseScope,
};
pub use check::{HourglassProblem, PlanError};
pub use engine::{EngineId, EnginePlan, Protocol};
pub use format::{Colours, Format, GamesPerPairing, KnockoutTie, MeetingOrder};
pub use limits::{Limits, TimeControl, TimeControlError};
pub use manner::{EnginePatience, Variations};
pub use openings::{BookFormat, OpeningOrder, OpeningPolicy, OpeningSource, Openings};
pub use sprt::SprtPlan;

/// A match or a tournament. Two runs of the same plan play the same pairings in the same order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What is played.
    pub game: Game,
    /// The name of the event in records.
    #[serde(default)]
    pub event: String,
    /// The place in records.
    #[serde(default)]
    pub site: String,
    /// Who plays. An [`EngineId`] is an index into this list.
    pub engines: Vec<EnginePlan>,
    /// Who meets whom.
    #[serde(default)]
    pub format: Format,
    /// In which order they meet.
    #[serde(default, skip_serializing_if = "MeetingOrder::is_default")]
    pub meetings: MeetingOrder,
    /// How often everybody meets whom the format says; for Swiss, how many rounds there are.
    #[serde(default = "format::one")]
    pub rounds: u32,
    /// How many pairings two engines play each time they meet.
    #[serde(default = "format::one")]
    pub legs: u32,
    /// How many games a pairing has.
    #[serde(default)]
    pub games: GamesPerPairing,
    /// Who has the first move.
    #[serde(default)]
    pub colours: Colours,
    /// How many milliseconds a search may take on which no clock runs, whatever the engine says
    /// meanwhile. By default [`GameSettings::STALL`](crate::game::GameSettings::STALL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_ms: Option<NonZeroU64>,
    /// How many milliseconds a player waits between two games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<NonZeroU64>,
    /// How far the main variations of engines are looked at, which is told as warnings.
    #[serde(default, skip_serializing_if = "Variations::is_default")]
    pub variations: Variations,
    /// Where games start.
    #[serde(default)]
    pub openings: Openings,
    /// When a game ends before its end on the board.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// A test that can end the match early. It needs exactly two engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtPlan>,
    /// For everything that is drawn by lot.
    #[serde(default)]
    pub seed: u64,
}
