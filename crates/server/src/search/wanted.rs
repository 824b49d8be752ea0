//! What a search is for, and what it searches, in a form that does not depend on the protocol.

use std::time::Duration;

use readyok_client::{EngineFailureKind, Limit, Search};
use readyok_protocol::{Dialect, Go, MoveList};
use readyok_rules::MoveCodec;

use crate::engine::SearchKind;
use crate::game::{EngineLine, TimeBudget};
use crate::wire::{
    AnalysisGoal, EngineId, ErrorInfo, ExerciseId, GameId, Purpose, SearchLimits, Side, ValuesFor,
};

/// Time of a search with [`Goal::Limits`] that has no other limit.
const DEFAULT_TIME: Duration = Duration::from_millis(500);

/// What a process works for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Owner {
    Player(GameId, Side),
    Analysis(GameId, EngineId),
    Report(GameId),
    Hint(GameId),
    /// A move in place of a mistake of a game.
    Attempt(GameId),
    Exercise(ExerciseId),
    /// Reports options. There can be several.
    Probe,
    /// Carries out commands of the user. There can be several.
    Console,
}

impl Owner {
    pub(crate) fn purpose(self) -> Purpose {
        match self {
            Self::Player(game, _) => Purpose::Play { game },
            Self::Analysis(game, _) => Purpose::Analyse { game },
            Self::Report(game) => Purpose::Report { game },
            Self::Hint(game) => Purpose::Hint { game },
            Self::Attempt(game) => Purpose::Learn { game },
            Self::Exercise(exercise) => Purpose::Exercise { exercise },
            Self::Probe => Purpose::Inspect,
            Self::Console => Purpose::Console,
        }
    }

    pub(crate) fn game(self) -> Option<GameId> {
        match self {
            Self::Player(game, _)
            | Self::Analysis(game, _)
            | Self::Report(game)
            | Self::Hint(game)
            | Self::Attempt(game) => Some(game),
            Self::Exercise(_) | Self::Probe | Self::Console => None,
        }
    }

    /// The option values of the engine that its process gets.
    pub(crate) fn values(self) -> ValuesFor {
        match self {
            Self::Player(..) => ValuesFor::Play,
            Self::Analysis(..)
            | Self::Report(_)
            | Self::Hint(_)
            | Self::Attempt(_)
            | Self::Exercise(_) => ValuesFor::Analyse,
            Self::Probe | Self::Console => ValuesFor::All,
        }
    }

    pub(super) fn searches(self) -> bool {
        !matches!(self, Self::Probe | Self::Console)
    }
}

/// A search to carry out.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) kind: SearchKind,
    pub(crate) line: EngineLine,
    pub(crate) goal: Goal,
    /// Number of variations; without one, that of the engine's own options.
    pub(crate) lines: Option<u32>,
    /// The first moves to search, in any notation; all if it is empty.
    pub(crate) only: Vec<String>,
}

/// The end of a search.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// The clocks and limits of a player.
    Budget(TimeBudget),
    /// The first limit that is reached. Without a limit, a short time.
    Limits(SearchLimits),
    Analysis(AnalysisGoal),
}

impl Wanted {
    /// The evaluation of the position after a line.
    pub(crate) fn evaluation(line: EngineLine, limits: SearchLimits) -> Self {
        let (kind, goal) = (SearchKind::Analyse, Goal::Limits(limits));
        Self { kind, line, goal, lines: Some(1), only: Vec::new() }
    }

    /// The search as that of a protocol.
    pub(super) fn search(&self, codec: MoveCodec) -> Result<Search, ErrorInfo> {
        let search = self.goal.search(codec.dialect());
        let search = self.lines.iter().fold(search, |search, lines| search.lines((*lines).max(1)));
        if self.only.is_empty() {
            return Ok(search);
        }
        let mut only = MoveList::EMPTY;
        for mv in &self.only {
            only.push(codec.encode_text(mv).ok_or(EngineFailureKind::UnsupportedPosition)?);
        }
        Ok(search.only(only))
    }

    /// Number of variations to show.
    pub(super) fn shown(&self) -> usize {
        self.lines.map_or(1, |lines| usize::try_from(lines).unwrap_or(usize::MAX))
    }
}

impl Goal {
    fn search(&self, dialect: Dialect) -> Search {
        match self {
            Self::Budget(budget) => Search::from(budget.go(dialect)),
            Self::Limits(limits) => {
                // Without a limit, the search would not end.
                let mate = limits.mate.filter(|mate| *mate != 0);
                let go = SearchLimits { mate, ..*limits }.go(dialect);
                let move_time = Some(DEFAULT_TIME);
                Search::from(if go.is_bare() { Go { move_time, ..Go::default() } } else { go })
            }
            Self::Analysis(goal) => Search::new(match *goal {
                AnalysisGoal::Infinite => Limit::Infinite,
                AnalysisGoal::Depth { depth } => Limit::Depth(depth),
                AnalysisGoal::Nodes { nodes } => Limit::Nodes(nodes),
                AnalysisGoal::Time { time } => Limit::millis(time),
                AnalysisGoal::Mate { limit } => {
                    let mate = Some(limit);
                    Limit::Go(Box::new(
                        SearchLimits { mate, ..SearchLimits::default() }.go(dialect),
                    ))
                }
            }),
        }
    }
}
