//! What a tab can ask for, and the answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    AnalysisSettings, Edit, EngineEntry, EngineId, GameId, JobId, Limits, MatchId, MatchOpenings,
    MatchPlan, NewGame, NodeId, Player, Preset, ProcessId, ReportOn, ReportSettings, Settings,
    Side, Topic, ValuesFor,
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
