//! An engine of a match and its settings.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use readyok_client::{Timeouts, WaitLimit};
use readyok_protocol::Register;
use serde::{Deserialize, Serialize};

use super::Limits;

/// The index of an engine in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EngineId(pub u32);

/// An engine of a match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings of an engine")]
pub struct EnginePlan {
    /// The name in game records and tables, unique in the plan.
    pub name: String,
    /// The executable, or `tcp://host:port`.
    pub command: String,
    /// Command line arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The working directory. The default is the directory of the executable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Environment variables in addition to the inherited ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The protocol. The default is UCI for chess and USI for shogi.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Options that are set before the first game; the value of a button is empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// The limits of each search.
    #[serde(default)]
    pub limits: Limits,
    /// Search on the opponent's time.
    #[serde(default)]
    pub ponder: bool,
    /// Start a new process for each game.
    #[serde(default)]
    pub restart: bool,
    /// A reported forced mate wins the game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trust_mates: bool,
    /// The engine reports scores from the first player's point of view instead of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whitepov: bool,
    /// The reply to `registration error`. It is a secret: neither stored nor sent to workers.
    #[serde(skip)]
    pub registration: Option<Register<'static>>,
    /// Timeouts of the handshake and of `isready`.
    #[serde(default, skip_serializing_if = "EngineTimeouts::is_default")]
    pub timeouts: EngineTimeouts,
}

/// The protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Universal Chess Interface. Shogi uses `UCI_Variant`.
    Uci,
    /// Universal Shogi Interface.
    Usi,
}

/// How far PVs are validated.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum PvCheck {
    /// Only the first move.
    #[default]
    FirstMove,
    /// All moves.
    Moves,
    /// All moves, and PVs of mate scores must end with mate.
    Mate,
}

/// Timeouts of an engine while no clock runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineTimeouts {
    /// Maximum silence before `uciok` or `usiok`, in milliseconds. The default is 10 seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_ms: Option<NonZeroU64>,
    /// Maximum silence before `readyok`, in milliseconds. The default is one minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_ms: Option<NonZeroU64>,
}

impl PvCheck {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl EngineTimeouts {
    /// The maximum timeout: one day.
    const MAX_MS: u64 = 24 * 3600 * 1000;

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Replaces the handshake and `readyok` timeouts of `default` with those of the plan. Engine
    /// output extends a timeout to the total of `default`, or to the configured silence if that is
    /// longer.
    pub fn apply(self, default: Timeouts) -> Timeouts {
        let limit = |ms: Option<NonZeroU64>, default: WaitLimit| match ms {
            Some(ms) => {
                let silence = Duration::from_millis(ms.get().min(Self::MAX_MS));
                WaitLimit { silence, total: default.total.max(silence) }
            }
            None => default,
        };
        Timeouts {
            handshake: limit(self.handshake_ms, default.handshake),
            ready: limit(self.ready_ms, default.ready),
            ..default
        }
    }
}
