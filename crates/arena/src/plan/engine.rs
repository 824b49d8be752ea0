//! One engine of a match: how it is started, and how it plays.

use std::collections::BTreeMap;

use readyok_protocol::Register;
use serde::{Deserialize, Serialize};

use super::{EnginePatience, Limits};

/// Which engine of the plan, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EngineId(pub u32);

/// One engine of a match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings of an engine")]
pub struct EnginePlan {
    /// Its name in records and tables; different for each engine of a plan.
    pub name: String,
    /// The program, or `tcp://host:port`.
    pub command: String,
    /// Arguments of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Its working directory. By default the folder of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Variables of its environment, beside those of the program that starts it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What it speaks. By default UCI for chess and USI for shogi.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Options that are set before the first game; a button has an empty value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// How long it may think.
    #[serde(default)]
    pub limits: Limits,
    /// Whether it thinks on its opponent's time.
    #[serde(default)]
    pub ponder: bool,
    /// Whether a fresh process plays each game.
    #[serde(default)]
    pub restart: bool,
    /// Whether a game is over, and won by it, when it says that it mates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trust_mates: bool,
    /// Whether it tells scores from the side of who moves first, as some engines do, instead of its
    /// own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whitepov: bool,
    /// The answer to `registration error`. It is a secret: never stored with the results, nor sent to workers.
    #[serde(skip)]
    pub registration: Option<Register<'static>>,
    /// How long it may be silent where no clock runs.
    #[serde(default, skip_serializing_if = "EnginePatience::is_default")]
    pub patience: EnginePatience,
}

/// What an engine speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Universal Chess Interface; shogi is played by it under `UCI_Variant`.
    Uci,
    /// The Universal Shogi Interface.
    Usi,
}
