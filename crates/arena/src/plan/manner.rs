//! How engines are waited for and listened to, as far as a plan says it.

use std::num::NonZeroU64;
use std::time::Duration;

use readyok_client::{Timeouts, WaitLimit};
use serde::{Deserialize, Serialize};

/// How far main variations are looked at, and warned of.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Variations {
    /// Their first move only.
    #[default]
    Trusted,
    /// To their end.
    Followed,
    /// To their end, which has to be mate where the score says so.
    ToMate,
}

/// How long an engine may be silent where no clock runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnginePatience {
    /// Before `uciok` or `usiok`, in milliseconds. By default 10 seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello_ms: Option<NonZeroU64>,
    /// Before `readyok`, in milliseconds. By default a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_ms: Option<NonZeroU64>,
}

impl Variations {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl EnginePatience {
    /// Nobody waits for longer than a day.
    const MOST_MS: u64 = 24 * 3600 * 1000;

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The limits of an engine, where they would be others without the plan. An engine that says
    /// something has as long in all as it would have, or as long as it may be silent.
    pub fn limits(self, others: Timeouts) -> Timeouts {
        let limit = |ms: Option<NonZeroU64>, other: WaitLimit| match ms {
            Some(ms) => {
                let silence = Duration::from_millis(ms.get().min(Self::MOST_MS));
                WaitLimit { silence, total: other.total.max(silence) }
            }
            None => other,
        };
        Timeouts {
            handshake: limit(self.hello_ms, others.handshake),
            ready: limit(self.ready_ms, others.ready),
            ..others
        }
    }
}
