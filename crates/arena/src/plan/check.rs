//! What is wrong with a plan, as far as nothing outside of it has to be asked.

use std::{error, fmt};

use readyok_rules::Game;

use super::{EnginePlan, Limits, Plan, Protocol};

/// Why a plan cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// Two engines have one name, so that records could not tell them apart.
    SameName {
        /// The name.
        name: String,
    },
    /// Nothing limits the searches of an engine.
    NoLimit {
        /// The engine.
        engine: String,
    },
    /// A limit leaves an engine nothing to search with.
    ZeroLimit {
        /// The engine.
        engine: String,
        /// The limit, as the plan calls it.
        field: &'static str,
    },
    /// One side of an hourglass would gain what the other does not lose.
    Hourglass {
        /// An engine with an hourglass.
        engine: String,
        /// What does not go with it.
        problem: HourglassProblem,
    },
    /// An engine speaks USI, which has no words for chess.
    UsiInChess {
        /// The engine.
        engine: String,
    },
}

/// What does not go with an hourglass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HourglassProblem {
    /// Another engine has none.
    Others,
    /// Byoyomi.
    Byoyomi,
    /// Thinking on the opponent's time: nobody knows yet how much of it there will be.
    Ponder,
}

impl Plan {
    /// Looks whether each engine has a name of its own, a limit, and words for the game.
    ///
    /// # Errors
    /// One has not, and would lose all of its games, or nobody would know whose they are.
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
    /// Whether nothing limits a search.
    pub fn is_empty(&self) -> bool {
        let Self { tc, byoyomi_ms, move_time_ms, nodes, depth, margin_ms: _ } = self;
        tc.is_none()
            && byoyomi_ms.is_none()
            && move_time_ms.is_none()
            && nodes.is_none()
            && depth.is_none()
    }

    /// A limit that leaves nothing.
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
            Self::SameName { name } => write!(f, "two engines are called `{name}`"),
            Self::NoLimit { engine } => write!(f, "engine `{engine}` has no limit"),
            Self::ZeroLimit { engine, field } => {
                write!(f, "`{field}` of engine `{engine}` must be at least 1")
            }
            Self::Hourglass { engine, problem } => {
                write!(f, "engine `{engine}` has an hourglass, and ")?;
                f.write_str(match problem {
                    HourglassProblem::Others => "others have none",
                    HourglassProblem::Byoyomi => "byoyomi does not go with it",
                    HourglassProblem::Ponder => "pondering does not go with it",
                })
            }
            Self::UsiInChess { engine } => {
                write!(f, "engine `{engine}` speaks USI, which is for shogi only")
            }
        }
    }
}

impl error::Error for PlanError {}
