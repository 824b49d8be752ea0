//! Validation of a plan without access to the host.

use std::{error, fmt};

use readyok_rules::Game;

use super::{EnginePlan, Limits, Plan, Protocol};

/// An invalid plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// Two engines have the same name.
    SameName {
        /// The name.
        name: String,
    },
    /// An engine has no search limit.
    NoLimit {
        /// The engine.
        engine: String,
    },
    /// A limit of an engine is 0.
    ZeroLimit {
        /// The engine.
        engine: String,
        /// The key of the limit.
        field: &'static str,
    },
    /// An hourglass clock is combined with incompatible settings.
    Hourglass {
        /// An engine with an hourglass clock.
        engine: String,
        /// The incompatible setting.
        problem: HourglassProblem,
    },
    /// An engine has the protocol USI, which does not support chess.
    UsiInChess {
        /// The engine.
        engine: String,
    },
}

/// A setting that is incompatible with an hourglass clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HourglassProblem {
    /// Another engine has no hourglass clock.
    Others,
    /// Byoyomi.
    Byoyomi,
    /// Pondering: the time of the ponder search is not known in advance.
    Ponder,
}

impl Plan {
    /// Checks that each engine has a unique name, valid limits, and a protocol for the game.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), PlanError> {
        for (index, engine) in self.engines.iter().enumerate() {
            let EnginePlan { name, limits, protocol, .. } = engine;
            if self.engines.iter().take(index).any(|earlier| earlier.name == *name) {
                return Err(PlanError::SameName { name: name.clone() });
            }
            if limits.is_empty() {
                return Err(PlanError::NoLimit { engine: name.clone() });
            }
            if let Some(field) = limits.zero() {
                return Err(PlanError::ZeroLimit { engine: name.clone(), field });
            }
            let has_hourglass = |limits: &Limits| limits.tc.is_some_and(|tc| tc.hourglass);
            if has_hourglass(limits) {
                let problem = if !self.engines.iter().all(|other| has_hourglass(&other.limits)) {
                    Some(HourglassProblem::Others)
                } else if limits.byoyomi_ms.is_some() {
                    Some(HourglassProblem::Byoyomi)
                } else if engine.ponder {
                    Some(HourglassProblem::Ponder)
                } else {
                    None
                };
                if let Some(problem) = problem {
                    return Err(PlanError::Hourglass { engine: name.clone(), problem });
                }
            }
            if *protocol == Some(Protocol::Usi) && self.game != Game::Shogi {
                return Err(PlanError::UsiInChess { engine: name.clone() });
            }
        }
        Ok(())
    }
}

impl Limits {
    /// Whether no limit is set.
    pub fn is_empty(&self) -> bool {
        let Self { tc, byoyomi_ms, move_time_ms, nodes, depth, margin_ms: _ } = self;
        tc.is_none()
            && byoyomi_ms.is_none()
            && move_time_ms.is_none()
            && nodes.is_none()
            && depth.is_none()
    }

    /// The key of a limit that is 0.
    fn zero(&self) -> Option<&'static str> {
        let byoyomi = self.byoyomi_ms.filter(|_| self.tc.is_none());
        let limits = [
            ("byoyomi_ms", byoyomi),
            ("move_time_ms", self.move_time_ms),
            ("nodes", self.nodes),
            ("depth", self.depth.map(u64::from)),
        ];
        limits.into_iter().find(|(_, limit)| *limit == Some(0)).map(|(field, _)| field)
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameName { name } => write!(f, "two engines have the name `{name}`"),
            Self::NoLimit { engine } => write!(f, "engine `{engine}` has no limit"),
            Self::ZeroLimit { engine, field } => {
                write!(f, "`{field}` of engine `{engine}` must be at least 1")
            }
            Self::Hourglass { engine, problem } => {
                write!(f, "engine `{engine}` has an hourglass clock, which ")?;
                f.write_str(match problem {
                    HourglassProblem::Others => "all engines must have",
                    HourglassProblem::Byoyomi => "excludes byoyomi",
                    HourglassProblem::Ponder => "excludes pondering",
                })
            }
            Self::UsiInChess { engine } => {
                write!(f, "engine `{engine}` has the protocol USI, which supports only shogi")
            }
        }
    }
}

impl error::Error for PlanError {}
