//! What a tab can subscribe to.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use ts_rs::TS;

use super::{
    AnalysisDelta, AnalysisState, EnginesDelta, EnginesState, GameDelta, GameId, GameState,
    GamesDelta, GamesState, JobsDelta, JobsState, LogDelta, LogState, MatchDelta, MatchId,
    MatchState, MatchesDelta, MatchesState, ProcessId, ReportDelta, ReportState, Settings,
};

/// Something that a tab can be kept informed of. As text: `games`, `game/7`, `log/3`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, TS)]
#[ts(
    type = "\"games\" | \"engines\" | \"matches\" | \"jobs\" | \"settings\" | `game/${number}` | `analysis/${number}` | `log/${number}` | `match/${number}` | `report/${number}`"
)]
pub enum Topic {
    /// The open games, each with a line about it.
    Games,
    /// The engines with their options, and their processes.
    Engines,
    /// The matches, each with a line about it.
    Matches,
    /// Work on many games.
    Jobs,
    /// What the user has set for the app.
    Settings,
    /// A game: its tree, the position at its cursor, its players and clocks.
    Game(GameId),
    /// What engines think at the cursor of a game.
    Analysis(GameId),
    /// The log of a process.
    Log(ProcessId),
    /// A match: its table, curves and boards.
    Match(MatchId),
    /// The whole-game report of a game.
    Report(GameId),
}

/// The whole state of a topic.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(tag = "kind", content = "state", rename_all = "snake_case")]
pub enum State {
    /// Of `games`.
    Games(GamesState),
    /// Of `engines`.
    Engines(EnginesState),
    /// Of `matches`.
    Matches(MatchesState),
    /// Of `jobs`.
    Jobs(JobsState),
    /// Of `settings`.
    Settings(Settings),
    /// Of `game/…`.
    Game(Box<GameState>),
    /// Of `analysis/…`.
    Analysis(AnalysisState),
    /// Of `log/…`.
    Log(LogState),
    /// Of `match/…`.
    Match(Box<MatchState>),
    /// Of `report/…`.
    Report(Box<ReportState>),
}

/// What has changed in a topic.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(tag = "kind", content = "delta", rename_all = "snake_case")]
pub enum Delta {
    /// Of `games`.
    Games(GamesDelta),
    /// Of `engines`.
    Engines(EnginesDelta),
    /// Of `matches`.
    Matches(MatchesDelta),
    /// Of `jobs`.
    Jobs(JobsDelta),
    /// Of `settings`: all of them.
    Settings(Settings),
    /// Of `game/…`.
    Game(Box<GameDelta>),
    /// Of `analysis/…`.
    Analysis(AnalysisDelta),
    /// Of `log/…`.
    Log(LogDelta),
    /// Of `match/…`.
    Match(Box<MatchDelta>),
    /// Of `report/…`.
    Report(ReportDelta),
}

/// A text that names no topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoTopic;

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Games => f.write_str("games"),
            Self::Engines => f.write_str("engines"),
            Self::Matches => f.write_str("matches"),
            Self::Jobs => f.write_str("jobs"),
            Self::Settings => f.write_str("settings"),
            Self::Game(id) => write!(f, "game/{id}"),
            Self::Analysis(id) => write!(f, "analysis/{id}"),
            Self::Log(id) => write!(f, "log/{id}"),
            Self::Match(id) => write!(f, "match/{id}"),
            Self::Report(id) => write!(f, "report/{id}"),
        }
    }
}

impl FromStr for Topic {
    type Err = NoTopic;

    fn from_str(text: &str) -> Result<Self, NoTopic> {
        let Some((kind, id)) = text.split_once('/') else {
            return Ok(match text {
                "games" => Self::Games,
                "engines" => Self::Engines,
                "matches" => Self::Matches,
                "jobs" => Self::Jobs,
                "settings" => Self::Settings,
                _ => return Err(NoTopic),
            });
        };
        let id = id.parse().map_err(|_| NoTopic)?;
        Ok(match kind {
            "game" => Self::Game(id),
            "analysis" => Self::Analysis(id),
            "log" => Self::Log(id),
            "match" => Self::Match(id),
            "report" => Self::Report(id),
            _ => return Err(NoTopic),
        })
    }
}

impl fmt::Display for NoTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such topic")
    }
}

impl std::error::Error for NoTopic {}

impl Serialize for Topic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Topic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| de::Error::custom(format_args!("no topic `{text}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_reads_back() {
        let topics = [
            Topic::Games,
            Topic::Engines,
            Topic::Matches,
            Topic::Jobs,
            Topic::Settings,
            Topic::Game(7),
            Topic::Analysis(7),
            Topic::Log(3),
            Topic::Match(1),
            Topic::Report(9),
        ];
        for topic in topics {
            assert_eq!(topic.to_string().parse(), Ok(topic));
        }
        for text in ["", "game", "game/", "game/x", "game/-1", "games/1", "log/1/2"] {
            assert_eq!(text.parse::<Topic>(), Err(NoTopic), "{text}");
        }
    }
}
