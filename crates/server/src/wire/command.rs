//! Commands of a tab, their answers, the topics that it subscribes to, and the settings.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
#[cfg(test)]
use ts_rs::TS;

use super::{
    AccountName, AnalysisDelta, AnalysisSettings, AnalysisState, ApiError, BuiltTree,
    CollectionEdit, CollectionId, Decision, Duplicates, Edit, EngineEntry, EngineId, EnginesDelta,
    EnginesState, ExerciseAttempt, ExerciseGrade, ExerciseId, FoundEngines, GameDelta, GameId,
    GameState, GamesDelta, GamesState, JobId, JobsDelta, JobsState, LineMove, LogDelta, LogState,
    MatchDelta, MatchId, MatchOpenings, MatchPlan, MatchState, MatchesDelta, MatchesState,
    MergedGames, NewGame, NodeId, NumberedLine, OnlineSettings, Player, PositionView, Preset,
    ProcessId, References, ReportDelta, ReportOn, ReportSettings, ReportState, SearchLimits,
    Selection, Side, TrainingSetId, TrainingSettings, ValuesFor,
};

/// One message from a tab over its WebSocket.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Request {
    /// Chosen by the tab; the answer has the same. Unique among the tab's open requests.
    pub id: u32,
    pub command: Command,
}

/// One message to a tab over its WebSocket.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToTab {
    /// The first message on every connection.
    Handshake {
        /// The version of the server. A page of another version reloads itself.
        version: String,
        /// Identifies one run of the server.
        run: String,
        /// Files that the user has to repair or to delete.
        damaged: Vec<DamagedFile>,
    },
    /// The result of a request.
    Answer { id: u32, answer: Answer },
    /// The error of a request, which has changed nothing.
    Error { id: u32, error: ApiError },
    /// The complete state of a topic. It replaces all earlier states and deltas.
    Snapshot {
        topic: Topic,
        /// The number of this state. Deltas continue from it.
        number: u64,
        state: Box<TopicState>,
    },
    /// A change of a topic.
    Delta {
        topic: Topic,
        /// One more than the number before it. After any other number, the tab must subscribe again.
        number: u64,
        delta: Box<Delta>,
    },
    /// A topic was removed with its game, process or match.
    Closed { topic: Topic },
}

/// A command of a tab. The answer is [`Answer::Done`] unless stated otherwise.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Command {
    /// Subscribes to a topic. Its snapshot follows the answer.
    Subscribe {
        topic: Topic,
    },
    Unsubscribe {
        topic: Topic,
    },

    /// Sets up a game; without players, a draft. Answers [`Answer::Game`].
    NewGame {
        game: Box<NewGame>,
        /// The board that the new one takes the place of, if that is an untouched draft.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        replaces: Option<GameId>,
    },
    /// Opens a game of the library. Answers [`Answer::Game`].
    OpenGame {
        game: GameId,
    },
    /// Closes a game: it stays in the library, its engines end. A game that is played is interrupted and can be
    /// resumed. A draft is dropped; [`Command::OpenGame`] brings it back until the server ends.
    CloseGame {
        game: GameId,
    },
    /// Adds a draft to the library.
    SaveDraft {
        game: GameId,
    },
    /// Deletes a game from the library, open or not. Answers [`Answer::Deleted`].
    DeleteGame {
        game: GameId,
    },
    /// Deletes games from the library, open or not. Answers [`Answer::Deleted`].
    DeleteGames {
        of: Selection,
    },
    /// Restores the games of the last [`Command::DeleteGames`].
    RestoreGames,
    /// Adds, drops or merges imported duplicates that wait for a decision.
    DecideDuplicates {
        /// None for all.
        games: Option<Vec<GameId>>,
        decision: Decision,
    },
    /// Sets or removes a label of games.
    SetLabel {
        of: Selection,
        label: String,
        /// False removes the label.
        set: bool,
    },
    /// Changes a collection. Answers [`Answer::Collection`].
    EditCollection {
        edit: CollectionEdit,
    },
    /// Adds the moves of games to a game, which need not be open. Answers [`Answer::Merged`].
    MergeGames {
        /// None for a new game of the library, which begins as a copy of the first one.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        game: Option<GameId>,
        of: Selection,
        /// Adds only the line to this node with everything after it.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        part: Option<NodeId>,
    },
    /// Adds a game with the main lines of games as one tree, with numbers of games and results. Answers
    /// [`Answer::OpeningTree`].
    BuildOpeningTree {
        of: Selection,
        /// The number of plies, at most 100.
        plies: u32,
        /// The smallest number of games of a move.
        min_games: u32,
    },
    /// Adds a game for each continuation after a node, as chapters after the game in its collection. A game without a
    /// collection gets a new one. Answers [`Answer::Collection`].
    SplitGame {
        game: GameId,
        node: NodeId,
    },
    /// Copies a chapter with its game. Answers [`Answer::Game`] with the copy.
    CopyChapter {
        game: GameId,
        /// The collection with the chapter. The copy follows it there.
        collection: CollectionId,
        /// The collection that gets the copy as its last chapter.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        to: Option<CollectionId>,
    },
    /// Plays a move after a node, in the game if the node is its last one. Answers
    /// [`Answer::Node`].
    Move {
        game: GameId,
        /// The node of the position that the user saw.
        node: NodeId,
        /// In UCI, USI, SAN, or Japanese notation.
        text: String,
    },
    /// Moves the cursor of the tab to a node, which engines analyze from then on.
    GoTo {
        game: GameId,
        node: NodeId,
    },
    /// Changes the tree. Inserting answers [`Answer::Node`].
    Edit {
        game: GameId,
        edit: Edit,
    },
    /// Takes back the human's last move, with the engine's reply.
    TakeBack {
        game: GameId,
    },
    /// Resigns for the human (of two: the one to move).
    Resign {
        game: GameId,
    },
    /// Offers a draw to the engine, which answers by its score; or to the other human.
    OfferDraw {
        game: GameId,
    },
    /// Accepts the draw offer.
    AcceptDraw {
        game: GameId,
    },
    /// Claims a draw by the rules (chess), or declares a win (shogi).
    Claim {
        game: GameId,
    },
    /// Requests a hint.
    Hint {
        game: GameId,
        /// None for the engine that plays, or else the built-in one.
        engine: Option<EngineId>,
    },
    /// Makes the engine that searches play immediately.
    MoveNow {
        game: GameId,
    },
    /// Stops the clocks and the engines of a game.
    Pause {
        game: GameId,
    },
    /// Resumes a game after a pause or an interruption, or from a node with new players.
    Resume {
        game: GameId,
        /// The line to this node becomes the game. None for the last move.
        from: Option<NodeId>,
        /// New players; none for the same ones.
        players: Option<Box<super::Sides<Player>>>,
    },
    /// Aborts a game without a result.
    Abort {
        game: GameId,
    },
    /// Starts the [`Rematch`](super::Rematch) of a finished game, or returns the existing one. Answers
    /// [`Answer::Game`].
    Rematch {
        game: GameId,
    },

    /// Starts the analysis by an engine, or changes its settings.
    Analyse {
        game: GameId,
        engine: EngineId,
        settings: AnalysisSettings,
    },
    /// Stops an engine that analyzes; its output stays.
    StopAnalysis {
        game: GameId,
        /// None for all engines.
        engine: Option<EngineId>,
    },
    /// Removes an engine from the analysis of a game, and ends its process.
    EndAnalysis {
        game: GameId,
        engine: EngineId,
    },

    /// Registers an engine and probes its options. Answers [`Answer::Engine`].
    AddEngine {
        entry: EngineEntry,
        /// Option values. Those that the engine rejects are reported by its processes.
        #[serde(default)]
        #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
        values: BTreeMap<String, String>,
    },
    /// Searches PATH and the usual directories for engines, unless a search runs. The topic of engines reports what is
    /// found.
    FindEngines,
    /// Ends a search for engines.
    CancelFindEngines,
    /// Reads an engine list of Cute Chess, En Croissant, Arena or ShogiHome. Answers [`Answer::FoundEngines`].
    ReadEngineList {
        text: String,
    },
    /// Registers an engine again under another name, with its values and presets, which are the copy's own from then
    /// on. Answers [`Answer::Engine`].
    CopyEngine {
        engine: EngineId,
    },
    /// Previews how a text is run, without registering it. Answers [`Answer::Preview`].
    PreviewEngine {
        /// A path, a command line, or `tcp://host:port`.
        text: String,
    },
    /// Changes the source of an engine, and probes its options.
    ChangeEngine {
        engine: EngineId,
        entry: EngineEntry,
    },
    /// Removes an engine and ends its processes.
    RemoveEngine {
        engine: EngineId,
    },
    /// Probes the options of an engine.
    InspectEngine {
        engine: EngineId,
    },
    /// Sets option values permanently. Running processes receive them when they are idle.
    SetOptions {
        engine: EngineId,
        of: ValuesFor,
        /// By name; null resets a value to the default.
        values: BTreeMap<String, Option<String>>,
    },
    /// Presses a button of all running processes of an engine, or of a new one.
    PressButton {
        engine: EngineId,
        option: String,
    },
    /// Saves a set of values under a name.
    SavePreset {
        engine: EngineId,
        preset: Preset,
    },
    /// Deletes a set of values.
    DeletePreset {
        engine: EngineId,
        name: String,
    },
    /// Replaces the values of an engine by a set.
    ApplyPreset {
        engine: EngineId,
        name: String,
        of: ValuesFor,
    },
    /// Sets the response to an engine that requires a registration.
    RegisterEngine {
        engine: EngineId,
        /// None for `register later`.
        with: Option<Registration>,
    },
    /// Starts the conformance checker.
    CheckEngine {
        engine: EngineId,
    },
    /// Ends the conformance checker and its processes. No error if it has already ended.
    CancelCheck {
        engine: EngineId,
    },

    /// Starts a process that receives commands of the user. Answers [`Answer::Process`].
    OpenConsole {
        engine: EngineId,
    },
    /// Sends a line to a process unchanged.
    SendLine {
        process: ProcessId,
        line: String,
    },
    /// Sends `quit` to a process, and starts another one after its exit.
    RestartProcess {
        process: ProcessId,
    },
    /// Sends `quit` to a process.
    QuitProcess {
        process: ProcessId,
    },
    /// Kills a process with its descendants.
    KillProcess {
        process: ProcessId,
    },

    /// Plays a match. Answers [`Answer::Match`].
    StartMatch {
        plan: Box<MatchPlan>,
    },
    /// Stops a match: immediately, and its games are replayed when it is resumed; or when they are over.
    StopMatch {
        id: MatchId,
        /// Whether to play the games that are on to their ends.
        finish: bool,
    },
    /// Resumes a match.
    ResumeMatch {
        id: MatchId,
    },
    /// Opens a game of a match from the library, where it is put back if it is no longer there. Answers
    /// [`Answer::Game`].
    OpenMatchGame {
        id: MatchId,
        /// Its number in the match.
        number: u32,
    },
    /// Deletes a match that does not run.
    DeleteMatch {
        id: MatchId,
    },

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
    /// Imports the games of a directory or a file of any size. Answers [`Answer::Job`], whose state has the progress.
    ImportDirectory {
        /// A path that the file picker can show.
        path: String,
        /// They are skipped by default.
        #[serde(default)]
        #[cfg_attr(test, ts(optional))]
        duplicates: Option<Duplicates>,
    },
    /// Stops a job where it stands.
    StopJob {
        id: JobId,
    },
    /// Resumes a job.
    ResumeJob {
        id: JobId,
    },
    /// Forgets a job; its games and their reports stay.
    DeleteJob {
        id: JobId,
    },
    /// "Learn from mistakes": evaluates an attempt at a mistake. Answers [`Answer::Tried`].
    TryMove {
        game: GameId,
        /// Before the mistake.
        node: NodeId,
        /// The move, in any notation.
        text: String,
        /// How long to think about it.
        limits: SearchLimits,
    },

    /// Adds a directory with Syzygy tablebases.
    AddSyzygy {
        path: String,
    },
    /// Removes a directory with Syzygy tablebases.
    RemoveSyzygy {
        path: String,
    },
    /// Adds an opening book.
    AddBook {
        path: String,
    },
    /// Removes an opening book.
    RemoveBook {
        path: String,
    },

    /// Imports the games of an account, or those since its last import. Answers [`Answer::Job`]. An import that was
    /// interrupted is resumed.
    ImportAccount {
        account: AccountName,
        /// The first day of the games of a new account, `2026-11-21`; all by default.
        since: Option<String>,
    },
    /// Forgets an account. Its games stay.
    RemoveAccount {
        account: AccountName,
    },
    /// Stores an API token of Lichess, or deletes it.
    SetLichessToken {
        token: Option<String>,
    },

    /// Makes exercises of the mistakes in a game with a report, or in all games of the user with reports.
    /// Answers [`Answer::ExercisesAdded`].
    CollectExercises {
        game: Option<GameId>,
        /// The side of the game; both by default.
        side: Option<Side>,
    },
    /// Requests the position of an exercise. Answers [`Answer::ExercisePosition`].
    OpenExercise {
        id: ExerciseId,
    },
    /// Tries a move in an exercise. Answers [`Answer::ExerciseTried`].
    TryExercise {
        id: ExerciseId,
        /// The moves of both sides so far.
        moves: Vec<String>,
        /// The move in any notation.
        text: String,
    },
    /// Requests the rest of the solution. Answers [`Answer::ExerciseSolution`].
    SolveExercise {
        id: ExerciseId,
        /// The moves of both sides so far.
        moves: Vec<String>,
    },
    /// Schedules the next review. Answers [`Answer::ExerciseGraded`].
    GradeExercise {
        id: ExerciseId,
        grade: ExerciseGrade,
    },
    /// Deletes exercises. They are not made again of the same games.
    DeleteExercises {
        ids: Vec<ExerciseId>,
    },
    /// Makes a repertoire of games or of the chapters of a collection, which it follows from then on. Answers
    /// [`Answer::TrainingSet`].
    MakeRepertoire {
        of: Selection,
        name: String,
        /// The side of the user.
        side: Side,
        /// Only moves with one of these NAGs are trained; all moves if it is empty.
        #[serde(default)]
        marks: Vec<u8>,
    },
    /// Renames a set of exercises.
    RenameTrainingSet {
        set: TrainingSetId,
        name: String,
    },
    /// Deletes a set of exercises with its reviews. That of own mistakes remains.
    DeleteTrainingSet {
        set: TrainingSetId,
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
            Self::ImportDirectory { path, .. }
            | Self::AddSyzygy { path }
            | Self::AddBook { path }
            | Self::StartReport { on: ReportOn::Directory { path }, .. } => Some(path),
            Self::NewGame { game, .. } => game.book.as_ref().map(|book| book.path.as_str()),
            _ => None,
        }
    }
}

/// A name and a code for `register`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Registration {
    /// The name.
    pub name: String,
    /// The code.
    pub code: String,
}

/// The result of a request.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// It is done, or has started; topics report the rest.
    Done,
    /// A game is open.
    Game {
        game: GameId,
    },
    /// A move was played or a line inserted.
    Node {
        /// Its (last) node.
        node: NodeId,
    },
    /// An engine was registered.
    Engine {
        engine: EngineId,
    },
    /// Engines for selection.
    FoundEngines {
        found: FoundEngines,
    },
    /// What would be run.
    Preview {
        /// How it would be reached; exactly this is run, without a shell.
        entry: EngineEntry,
    },
    Process {
        process: ProcessId,
    },
    Match {
        id: MatchId,
    },
    Job {
        id: JobId,
    },
    /// Games were deleted or restored.
    Deleted {
        count: u32,
        /// Whether they can be restored.
        restorable: bool,
        /// The number of collections that had some of the deleted games.
        collections: u32,
    },
    /// The collection that was changed.
    Collection {
        id: CollectionId,
    },
    Tried {
        /// The loss in percent of winning chances.
        loss: f64,
        /// Whether the loss is at most 2 percent.
        good: bool,
        /// The side of the move.
        side: Side,
    },
    Merged {
        game: GameId,
        merged: MergedGames,
    },
    OpeningTree {
        game: GameId,
        tree: BuiltTree,
    },
    ExercisesAdded {
        added: u32,
        /// The number of exercises that were known.
        known: u32,
    },
    ExercisePosition {
        position: Box<PositionView>,
        /// The position before the first move of the line, as FEN or SFEN.
        start: String,
        /// The moves that lead to the position.
        line: NumberedLine,
        /// The position before the last of these moves.
        before: Option<Box<PositionView>>,
        /// Milliseconds to the next review, for each grade from “again” to “easy”.
        intervals: [u64; 4],
    },
    ExerciseTried {
        attempt: Box<ExerciseAttempt>,
    },
    ExerciseSolution {
        line: Vec<LineMove>,
    },
    TrainingSet {
        set: TrainingSetId,
        /// The number of its positions that are new.
        added: u32,
    },
    ExerciseGraded {
        /// Unix time of the next review in milliseconds.
        due: u64,
    },
}

/// A topic that a tab can subscribe to. Its text is `games`, `game/7`, `log/3`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[cfg_attr(test, derive(TS))]
#[cfg_attr(
    test,
    ts(
        type = "\"games\" | \"engines\" | \"matches\" | \"jobs\" | \"settings\" | `game/${number}` | `analysis/${number}` | `log/${number}` | `match/${number}` | `report/${number}`"
    )
)]
pub enum Topic {
    /// The summaries of the open games.
    Games,
    /// The engines with their options, and their processes.
    Engines,
    /// The summaries of the matches.
    Matches,
    Jobs,
    Settings,
    /// A game: its tree, the position at the cursor of the tab, its players and clocks.
    Game(GameId),
    /// Analysis of a game, at the cursor of the tab that navigated last.
    Analysis(GameId),
    /// The log of a process.
    Log(ProcessId),
    /// A match: its table, curves and boards.
    Match(MatchId),
    /// The report of a game.
    Report(GameId),
}

/// The complete state of a topic.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", content = "state", rename_all = "snake_case")]
pub enum TopicState {
    Games(GamesState),
    Engines(EnginesState),
    Matches(MatchesState),
    Jobs(JobsState),
    Settings(Settings),
    Game(Box<GameState>),
    Analysis(AnalysisState),
    Log(LogState),
    Match(Box<MatchState>),
    Report(Box<ReportState>),
}

/// A change of a topic.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", content = "delta", rename_all = "snake_case")]
pub enum Delta {
    Games(GamesDelta),
    Engines(EnginesDelta),
    Matches(MatchesDelta),
    Jobs(JobsDelta),
    /// All settings.
    Settings(Settings),
    Game(Box<GameDelta>),
    Analysis(AnalysisDelta),
    Log(LogDelta),
    Match(Box<MatchDelta>),
    Report(ReportDelta),
}

/// The text is not a topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no such topic")]
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
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct Settings {
    /// The page's own values (theme, language, piece style, …), which the server does not interpret. At most
    /// 64 KiB.
    pub page: BTreeMap<String, String>,
    /// What stops when the last tab is closed.
    pub on_close: OnClose,
    /// Changed by commands of their own: [`Command::SetSettings`] does not change them.
    pub references: References,
    /// [`Command::SetSettings`] changes only the services.
    pub online: OnlineSettings,
    pub training: TrainingSettings,
    /// The game to show when the app is opened.
    pub current_game: Option<GameId>,
}

/// What stops when the last tab is closed.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OnClose {
    /// Whether games against engines are paused.
    pub pause_games: bool,
    /// Whether analysis stops.
    pub stop_analysis: bool,
    /// Whether the server exits when it has nothing to do.
    pub quit: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_parsed_from_their_texts() {
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

/// A damaged file of the data directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct DamagedFile {
    pub path: String,
    /// Its path since it was found damaged; a new file has its place. None if it is damaged in part and still used.
    pub moved_to: Option<String>,
    /// The open game whose last changes are damaged. The rest of the file is used.
    pub game: Option<GameId>,
}
