//! Commands of a tab, their answers, the topics that it subscribes to, and the settings.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use ts_rs::TS;

use super::{
    AnalysisDelta, AnalysisSettings, AnalysisState, Edit, EngineEntry, EngineId, EnginesDelta,
    EnginesState, GameDelta, GameId, GameState, GamesDelta, GamesState, JobId, JobsDelta,
    JobsState, Limits, LogDelta, LogState, MatchDelta, MatchId, MatchOpenings, MatchPlan,
    MatchState, MatchesDelta, MatchesState, NewGame, NodeId, Player, Preset, ProcessId,
    ReportDelta, ReportOn, ReportSettings, ReportState, Side, ValuesFor,
};

/// A command of a tab. The answer is [`Answer::Done`] unless stated otherwise.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Command {
    /// Wants a topic. Its snapshot follows the answer.
    Subscribe { topic: Topic },
    /// Wants it no longer.
    Unsubscribe { topic: Topic },

    /// Sets up a game. Answers [`Answer::Game`].
    NewGame { game: Box<NewGame> },
    /// Opens a game of the library. Answers [`Answer::Game`].
    OpenGame { game: GameId },
    /// Closes a game: it stays in the library, its engines end. A game that is played is interrupted and can be
    /// resumed.
    CloseGame { game: GameId },
    /// Deletes a game from the library, open or not.
    DeleteGame { game: GameId },
    /// Plays a move: at the cursor, and for the player if that is where the game stands. Answers
    /// [`Answer::Node`].
    Move {
        game: GameId,
        /// After which node: that of the position which the user saw.
        node: NodeId,
        /// In UCI, USI, SAN, or Japanese notation.
        text: String,
    },
    /// Moves the cursor to a node.
    GoTo { game: GameId, node: NodeId },
    /// Changes the tree. Inserting answers [`Answer::Node`].
    Edit { game: GameId, edit: Edit },
    /// Takes back the human's last move, with the engine's reply.
    TakeBack { game: GameId },
    /// Resigns for the human (of two: the one to move).
    Resign { game: GameId },
    /// Offers a draw to the engine, which answers by its score; or to the other human.
    OfferDraw { game: GameId },
    /// Takes the draw that was offered.
    AcceptDraw { game: GameId },
    /// Claims a draw that the rules give (chess), or declares a win (shogi).
    Claim { game: GameId },
    /// Asks for a hint.
    Hint {
        game: GameId,
        /// From which engine; none for the one that plays, or else the first that can.
        engine: Option<EngineId>,
    },
    /// Has the engine that searches play immediately.
    MoveNow { game: GameId },
    /// Stops the clocks and the engines of a game.
    Pause { game: GameId },
    /// Resumes a game after a pause or an interruption, or from a node with new players.
    Resume {
        game: GameId,
        /// From here: the line up to there becomes the game. None for where it stands.
        from: Option<NodeId>,
        /// Who plays from now on; none for as before.
        players: Option<Box<super::Sides<Player>>>,
    },
    /// Breaks a game off without a result.
    Abort { game: GameId },
    /// Starts the [`Rematch`](super::Rematch) of a finished game, or returns the existing one. Answers
    /// [`Answer::Game`].
    Rematch { game: GameId },

    /// Has an engine analyse at the cursor, or changes what it does.
    Analyse { game: GameId, engine: EngineId, settings: AnalysisSettings },
    /// Stops an engine that analyses; its output stays.
    StopAnalysis {
        game: GameId,
        /// Which engine; none for all.
        engine: Option<EngineId>,
    },
    /// Takes an engine away from a game, and ends its process.
    EndAnalysis { game: GameId, engine: EngineId },

    /// Registers an engine and asks it what it can do. Answers [`Answer::Engine`].
    AddEngine {
        /// The engine.
        entry: EngineEntry,
    },
    /// Registers an engine again under another name, with its values and presets, which are the copy's own from then
    /// on. Answers [`Answer::Engine`].
    CopyEngine { engine: EngineId },
    /// Previews how a text is run, without registering it. Answers [`Answer::Preview`].
    PreviewEngine {
        /// A path, a command line, or `tcp://host:port`.
        text: String,
    },
    /// Changes how an engine is reached, and asks it again what it can do.
    ChangeEngine {
        engine: EngineId,
        /// How it is from now on.
        entry: EngineEntry,
    },
    /// Removes an engine and ends its processes.
    RemoveEngine { engine: EngineId },
    /// Asks an engine again what it can do.
    InspectEngine { engine: EngineId },
    /// Sets values of options for good. Processes that run get them when they are idle.
    SetOptions {
        engine: EngineId,
        /// For what.
        of: ValuesFor,
        /// By name; null takes a value back to the default.
        values: BTreeMap<String, Option<String>>,
    },
    /// Presses a button of all running processes of an engine, or of a new one.
    PressButton { engine: EngineId, option: String },
    /// Keeps a set of values under a name.
    SavePreset {
        engine: EngineId,
        /// The set.
        preset: Preset,
    },
    /// Forgets a set of values.
    DeletePreset { engine: EngineId, name: String },
    /// Makes the values of an engine those of a set.
    ApplyPreset {
        engine: EngineId,
        name: String,
        /// For what.
        of: ValuesFor,
    },
    /// Sets the response to an engine that requires a registration.
    RegisterEngine {
        engine: EngineId,
        /// A name and a code; none for `later`.
        with: Option<Registration>,
    },
    /// Puts an engine through the conformance checker.
    CheckEngine { engine: EngineId },

    /// Starts a process for the user's own commands. Answers [`Answer::Process`].
    OpenConsole { engine: EngineId },
    /// Sends a line to a process, as it is.
    SendLine {
        process: ProcessId,
        /// The line.
        line: String,
    },
    /// Asks a process to leave, and starts another in its place.
    RestartProcess { process: ProcessId },
    /// Asks a process to leave.
    QuitProcess { process: ProcessId },
    /// Kills a process with all that it has started.
    KillProcess { process: ProcessId },

    /// Plays a match. Answers [`Answer::Match`].
    StartMatch { plan: Box<MatchPlan> },
    /// Stops a match: immediately, and its games are replayed when it is resumed; or when they are over.
    StopMatch {
        id: MatchId,
        /// Whether to play the games that are on to their ends.
        finish: bool,
    },
    /// Resumes a match.
    ResumeMatch { id: MatchId },
    /// Opens a game of a match from the library, where it is put back if it is no longer there. Answers
    /// [`Answer::Game`].
    OpenMatchGame {
        id: MatchId,
        /// Its number in the match.
        number: u32,
    },
    /// Deletes a match that does not run.
    DeleteMatch { id: MatchId },

    /// Starts or resumes the report of a game. For several games, or a directory, answers [`Answer::Job`].
    StartReport {
        /// Of which.
        on: ReportOn,
        settings: ReportSettings,
    },
    /// Stops a report; what it has found stays.
    StopReport {
        /// Of which game; none for all.
        game: Option<GameId>,
    },
    /// Reads the games of a directory into the library. Answers [`Answer::Job`].
    ImportDirectory {
        /// A path that the file picker can show.
        path: String,
    },
    /// Stops a job where it stands.
    StopJob { id: JobId },
    /// Resumes a job.
    ResumeJob { id: JobId },
    /// Forgets a job; its games and their reports stay.
    DeleteJob { id: JobId },
    /// "Learn from mistakes": evaluates an attempt at a mistake. Answers [`Answer::Tried`].
    TryMove {
        game: GameId,
        /// Before the mistake.
        node: NodeId,
        /// The move, in any notation.
        text: String,
        /// How long to think about it.
        limits: Limits,
    },

    /// Changes the settings.
    SetSettings {
        /// All of them.
        settings: Settings,
    },
}
impl Command {
    /// The file or directory that the command reads.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Self::StartMatch { plan } => match &plan.openings {
                MatchOpenings::File { path, .. } => Some(path),
                _ => None,
            },
            Self::ImportDirectory { path }
            | Self::StartReport { on: ReportOn::Directory { path }, .. } => Some(path),
            Self::NewGame { game } => game.book.as_ref().map(|book| book.path.as_str()),
            _ => None,
        }
    }
}

/// A name and a code for `register`.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct Registration {
    /// The name.
    pub name: String,
    /// The code.
    pub code: String,
}

/// The result of a request.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// It is done, or has started; topics report the rest.
    Done,
    /// A game is open.
    Game { game: GameId },
    /// A move was played or a line inserted.
    Node {
        /// Its (last) node.
        node: NodeId,
    },
    /// An engine was registered.
    Engine { engine: EngineId },
    /// What would be run.
    Preview {
        /// How it would be reached; exactly this is run, without a shell.
        entry: EngineEntry,
    },
    /// A process was started.
    Process { process: ProcessId },
    /// A match was started.
    Match { id: MatchId },
    /// A job has begun.
    Job { id: JobId },
    /// A move was tried.
    Tried {
        /// What it costs, in percent of winning chances.
        loss: f64,
        /// Whether it is as good as the best, within 2 percent.
        good: bool,
        /// Whose turn it was.
        side: Side,
    },
}

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

/// The user's settings.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, TS)]
#[serde(default)]
pub struct Settings {
    /// What the page keeps: theme, language, piece style, keys, the last game's settings, … The server does not
    /// look into it. At most 64 KiB.
    pub page: BTreeMap<String, String>,
    /// What stops when the last tab is closed.
    pub on_close: OnClose,
    /// The game to show when the app is opened without another choice.
    pub current_game: Option<GameId>,
}

/// What stops when the last tab is closed.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct OnClose {
    /// Whether games against engines are paused.
    pub pause_games: bool,
    /// Whether analysis stops.
    pub stop_analysis: bool,
    /// The server ends when nothing is left to do.
    pub quit: bool,
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
