//! What a tab can ask for, and the answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    AnalysisSettings, Edit, EngineEntry, EngineId, GameId, JobId, Limits, MatchId, MatchOpenings,
    MatchPlan, NewGame, NodeId, Player, Preset, ProcessId, ReportOn, ReportSettings, Settings,
    Side, Topic, ValuesFor,
};

/// What a tab asks for. Where nothing else is said, the answer is [`Answer::Done`].
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Command {
    /// Wants a topic. Its snapshot follows the answer.
    Subscribe {
        /// Which.
        topic: Topic,
    },
    /// Wants it no longer.
    Unsubscribe {
        /// Which.
        topic: Topic,
    },

    /// Sets up a game. Answers [`Answer::Game`].
    NewGame {
        /// How.
        game: Box<NewGame>,
    },
    /// Opens a game of the library. Answers [`Answer::Game`].
    OpenGame {
        /// Its number.
        game: GameId,
    },
    /// Closes a game: it stays in the library, its engines end. A game that is played is interrupted and can be
    /// resumed.
    CloseGame {
        /// Which.
        game: GameId,
    },
    /// Deletes a game from the library, open or not.
    DeleteGame {
        /// Which.
        game: GameId,
    },
    /// Plays a move: at the cursor, and for the player if that is where the game stands. Answers
    /// [`Answer::Node`].
    Move {
        /// In which game.
        game: GameId,
        /// After which node: that of the position which the user saw.
        node: NodeId,
        /// A word of UCI or USI, SAN, or Japanese notation.
        text: String,
    },
    /// Looks at a node.
    GoTo {
        /// In which game.
        game: GameId,
        /// Which.
        node: NodeId,
    },
    /// Changes the tree. Inserting answers [`Answer::Node`].
    Edit {
        /// Of which game.
        game: GameId,
        /// How.
        edit: Edit,
    },
    /// Takes the person's last move back, with the engine's answer to it.
    TakeBack {
        /// In which game.
        game: GameId,
    },
    /// Gives up, for the person (of two persons: the one to move).
    Resign {
        /// Which game.
        game: GameId,
    },
    /// Offers a draw to the engine, which takes it if its score says so; or to the other person.
    OfferDraw {
        /// In which game.
        game: GameId,
    },
    /// Takes the draw that was offered.
    AcceptDraw {
        /// In which game.
        game: GameId,
    },
    /// Claims a draw that the rules give (chess), or declares a win (shogi).
    Claim {
        /// In which game.
        game: GameId,
    },
    /// Asks for a hint.
    Hint {
        /// In which game.
        game: GameId,
        /// From which engine; none for the one that plays, or else the first that can.
        engine: Option<EngineId>,
    },
    /// Has the thinking engine play at once.
    MoveNow {
        /// In which game.
        game: GameId,
    },
    /// Stops the clocks and the engines of a game.
    Pause {
        /// Which.
        game: GameId,
    },
    /// Goes on after a pause or an interruption, or plays on from a node with new players.
    Resume {
        /// Which.
        game: GameId,
        /// From here: the line up to there becomes the game. None for where it stands.
        from: Option<NodeId>,
        /// Who plays from now on; none for as before.
        players: Option<Box<super::Sides<Player>>>,
    },
    /// Breaks a game off without a result.
    Abort {
        /// Which.
        game: GameId,
    },
    /// Has the players of a game that is over play again, as [`Rematch`](super::Rematch) tells. There is one rematch:
    /// whoever asks for it after it has begun is led to it. Answers [`Answer::Game`].
    Rematch {
        /// Of which game.
        game: GameId,
    },

    /// Has an engine analyse at the cursor, or changes what it does.
    Analyse {
        /// In which game.
        game: GameId,
        /// Which engine.
        engine: EngineId,
        /// How.
        settings: AnalysisSettings,
    },
    /// Stops an engine that analyses; its lane stays.
    StopAnalysis {
        /// In which game.
        game: GameId,
        /// Which engine; none for all.
        engine: Option<EngineId>,
    },
    /// Takes an engine away from a game, and ends its process.
    EndAnalysis {
        /// In which game.
        game: GameId,
        /// Which engine.
        engine: EngineId,
    },

    /// Registers an engine and asks it what it can do. Answers [`Answer::Engine`].
    AddEngine {
        /// The engine.
        entry: EngineEntry,
    },
    /// Registers an engine again under another name, with its values and presets, which are the copy's own from then
    /// on. Answers [`Answer::Engine`].
    CopyEngine {
        /// Which.
        engine: EngineId,
    },
    /// Tells what would be run, and registers nothing. Answers [`Answer::Preview`].
    PreviewEngine {
        /// A path, a command line, or `tcp://host:port`.
        text: String,
    },
    /// Changes how an engine is reached, and asks it again what it can do.
    ChangeEngine {
        /// Which.
        engine: EngineId,
        /// How it is from now on.
        entry: EngineEntry,
    },
    /// Removes an engine and ends its processes.
    RemoveEngine {
        /// Which.
        engine: EngineId,
    },
    /// Asks an engine again what it can do.
    InspectEngine {
        /// Which.
        engine: EngineId,
    },
    /// Sets values of options for good. Processes that run get them when they are idle.
    SetOptions {
        /// Of which engine.
        engine: EngineId,
        /// For what.
        of: ValuesFor,
        /// By name; null takes a value back to the default.
        values: BTreeMap<String, Option<String>>,
    },
    /// Presses a button of all processes of an engine that run; of a new one if there is none.
    PressButton {
        /// Of which engine.
        engine: EngineId,
        /// Its name.
        option: String,
    },
    /// Keeps a set of values under a name.
    SavePreset {
        /// Of which engine.
        engine: EngineId,
        /// The set.
        preset: Preset,
    },
    /// Forgets a set of values.
    DeletePreset {
        /// Of which engine.
        engine: EngineId,
        /// Its name.
        name: String,
    },
    /// Makes the values of an engine those of a set.
    ApplyPreset {
        /// Of which engine.
        engine: EngineId,
        /// Its name.
        name: String,
        /// For what.
        of: ValuesFor,
    },
    /// Says what to answer when an engine wants to be registered.
    RegisterEngine {
        /// Which.
        engine: EngineId,
        /// A name and a code; none for `later`.
        with: Option<Registration>,
    },
    /// Puts an engine through the conformance checker.
    CheckEngine {
        /// Which.
        engine: EngineId,
    },

    /// Starts a process for the user's own commands. Answers [`Answer::Process`].
    OpenConsole {
        /// Of which engine.
        engine: EngineId,
    },
    /// Says a line to a process, as it is.
    Say {
        /// Which.
        process: ProcessId,
        /// The line.
        line: String,
    },
    /// Asks a process to leave, and starts another in its place.
    RestartProcess {
        /// Which.
        process: ProcessId,
    },
    /// Asks a process to leave.
    QuitProcess {
        /// Which.
        process: ProcessId,
    },
    /// Kills a process with all that it has started.
    KillProcess {
        /// Which.
        process: ProcessId,
    },

    /// Plays a match. Answers [`Answer::Match`].
    StartMatch {
        /// What.
        plan: Box<MatchPlan>,
    },
    /// Stops a match: at once, and its games are played again when it goes on; or when they are over.
    StopMatch {
        /// Which.
        id: MatchId,
        /// Whether to play the games that are on to their ends.
        finish: bool,
    },
    /// Goes on with a match.
    ResumeMatch {
        /// Which.
        id: MatchId,
    },
    /// Opens a game of a match from the library, where it is put back if it is no longer there. Answers
    /// [`Answer::Game`].
    OpenMatchGame {
        /// Of which match.
        id: MatchId,
        /// Its number in the match.
        number: u32,
    },
    /// Deletes a match that does not run.
    DeleteMatch {
        /// Which.
        id: MatchId,
    },

    /// Makes the report of a game, or goes on with it. For several games, or a folder, answers [`Answer::Job`].
    StartReport {
        /// Of which.
        on: ReportOn,
        /// How.
        settings: ReportSettings,
    },
    /// Stops a report; what it has found stays.
    StopReport {
        /// Of which game; none for all.
        game: Option<GameId>,
    },
    /// Reads the games of a folder into the library. Answers [`Answer::Job`].
    ImportFolder {
        /// A path that the file picker can show.
        path: String,
    },
    /// Stops a job where it stands.
    StopJob {
        /// Which.
        id: JobId,
    },
    /// Goes on with a job.
    ResumeJob {
        /// Which.
        id: JobId,
    },
    /// Forgets a job; its games and their reports stay.
    DeleteJob {
        /// Which.
        id: JobId,
    },
    /// "Learn from mistakes": what an engine says of a try at a mistake. Answers [`Answer::Tried`].
    TryMove {
        /// In which game.
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
            Self::ImportFolder { path }
            | Self::StartReport { on: ReportOn::Folder { path }, .. } => Some(path),
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

/// What came of a request.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// It is done, or has begun; topics tell the rest.
    Done,
    /// A game is open.
    Game {
        /// Its number.
        game: GameId,
    },
    /// A move was played or a line inserted.
    Node {
        /// Its (last) node.
        node: NodeId,
    },
    /// An engine was registered.
    Engine {
        /// Its number.
        engine: EngineId,
    },
    /// What would be run.
    Preview {
        /// How it would be reached; exactly this is run, without a shell.
        entry: EngineEntry,
    },
    /// A process was started.
    Process {
        /// Its number.
        process: ProcessId,
    },
    /// A match was started.
    Match {
        /// Its number.
        id: MatchId,
    },
    /// A job has begun.
    Job {
        /// Its number.
        id: JobId,
    },
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
