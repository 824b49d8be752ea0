//! The library of games, and jobs on many games.

pub use readyok_library::{Column, Decision, Duplicates, Source};
use readyok_rules::Termination;
use readyok_rules::record::Speed;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::{
    AccountName, EngineId, ErrorInfo, GameId, MatchId, MoveText, NodeId, PositionView,
    ReportSettings, ReportStatus, ResultCounts, Side, Sides, Variant,
};

/// Conditions on games of the library, as the page enters them. A game must match all fields.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct LibraryFilter {
    pub variant: Option<Variant>,
    /// A position, moves from the start position, or parts of the name of a player, an opening or an event.
    pub text: Option<String>,
    /// Parts of the name of a player.
    pub player: Option<String>,
    /// The side of the player; any by default.
    pub side: Option<Side>,
    /// Parts of the name of an engine that played. Players that are not known to be human match.
    pub engine: Option<String>,
    /// Parts of the name of the event.
    pub event: Option<String>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: Option<String>,
    /// Moves from the start position, in any notation: `e2e4`, `e4 c5`, `▲７六歩`. Games that reach the position by
    /// other moves match too.
    pub opening: Option<String>,
    /// Parts of the name of the opening, or its ECO code.
    pub named: Option<String>,
    /// A position of the game, in FEN or SFEN; move numbers are ignored.
    pub position: Option<String>,
    /// A pattern of positions of the game: `on=Nd5,pe6 balance=2..`.
    pub pattern: Option<String>,
    /// The first day, `2026-11-21`.
    pub from: Option<String>,
    /// The last day.
    pub until: Option<String>,
    /// Minimum rating of both players.
    pub min_rating: Option<u16>,
    /// The class of the time control.
    pub speed: Option<Speed>,
    /// A label.
    pub label: Option<String>,
    /// The origin.
    pub source: Option<Source>,
}

/// The query of `POST /api/library/search`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct LibraryQuery {
    #[serde(flatten)]
    pub filter: LibraryFilter,
    /// The column to sort by.
    pub sort: Column,
    /// Ascending order; descending by default.
    pub ascending: bool,
    /// Number of games to skip.
    pub offset: u32,
    /// Maximum number of games, 1 to 200; 50 by default.
    pub limit: Option<u32>,
    /// A random number, with which `POST /api/library/progress` asks how far the search is.
    pub ticket: Option<u32>,
}

/// The query of `POST /api/library/progress`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct ProgressQuery {
    /// That of the search.
    pub ticket: u32,
}

/// The result of `POST /api/library/progress`: how far a search is. Null if it does not run, or reads no games.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SearchProgress {
    /// The number of games that were searched.
    pub done: u32,
    /// The number of games to search.
    pub all: u32,
}

/// A page of the found games.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LibraryPage {
    pub games: Vec<LibraryGame>,
    /// The number of all found games.
    pub total: u32,
    /// All labels.
    pub labels: Vec<LabelCount>,
    /// The number of imported duplicates that wait for a decision.
    pub undecided: u32,
}

/// A game of the library.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LibraryGame {
    pub id: GameId,
    pub variant: Variant,
    pub names: Sides<String>,
    pub ratings: Sides<Option<u16>>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    pub termination: Option<Termination>,
    /// `2026-11-21`, `2026-11` or `2026`.
    pub date: Option<String>,
    pub event: Option<String>,
    /// ECO code and name.
    pub opening: Option<String>,
    /// The number of plies of the main line.
    pub plies: u32,
    pub added: u64,
    pub changed: u64,
    pub source: Source,
    /// Labels set by the user.
    pub labels: Vec<String>,
    /// Whether a position has an evaluation, of the record or of an engine.
    pub evaluated: bool,
    /// Whether there are comments.
    pub commented: bool,
}

/// The result of `POST /api/library/undecided`: imported duplicates that wait for a decision.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct UndecidedDuplicates {
    /// The first 200.
    pub games: Vec<UndecidedDuplicate>,
    /// The number of all.
    pub total: u32,
}

/// A duplicate that waits for a decision.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct UndecidedDuplicate {
    pub imported: LibraryGame,
    /// None if it was deleted.
    pub known: Option<LibraryGame>,
}

/// Games of the library.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a message has one value")]
pub enum Selection {
    Games {
        games: Vec<GameId>,
    },
    /// All games that match a filter.
    Filter {
        filter: LibraryFilter,
    },
    /// The games of a match.
    Match {
        id: MatchId,
    },
    /// The games of a collection in its order. An export has the names of the collection and its chapters.
    Collection {
        id: CollectionId,
    },
}

/// The number of a collection.
pub type CollectionId = u32;

/// The number of a chapter, unique among all collections.
pub type ChapterId = u32;

/// A named, ordered list of games.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Collection {
    pub id: CollectionId,
    pub name: String,
    /// The number of chapters.
    pub chapters: u32,
    pub added: u64,
    pub changed: u64,
}

/// The result of `POST /api/library/collections`: all collections, the last changed one first.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Collections {
    pub collections: Vec<Collection>,
}

/// The query of `POST /api/library/chapters`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ChaptersQuery {
    pub collection: CollectionId,
    /// A text to find in the chapters: in their names, players, events, openings and comments.
    pub text: Option<String>,
}

/// The result of `POST /api/library/chapters`: a collection with its chapters in their order.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Chapters {
    pub collection: Collection,
    pub chapters: Vec<Chapter>,
    /// The chapters that contain the text of the query; null without one.
    pub found: Option<Vec<ChapterId>>,
}

/// The query of `POST /api/library/preview`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PreviewQuery {
    /// A game, open or not.
    pub game: GameId,
    /// The number of moves of the main line before the position.
    pub ply: Option<u32>,
    /// Without a number, the first position that a condition of this filter requires is shown, or else the last one.
    pub filter: Option<LibraryFilter>,
}

/// The query of `POST /api/library/repertoire`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RepertoireQuery {
    /// The game with the tree, open or not.
    pub tree: GameId,
    /// The games to search.
    #[serde(default)]
    pub filter: LibraryFilter,
}

/// The result of `POST /api/library/repertoire`: the games that reach a position of a tree after its start.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Repertoire {
    /// The number of games, and their results.
    pub counts: ResultCounts,
    /// Where games leave the tree, in descending order of games; at most 500.
    pub places: Vec<RepertoirePlace>,
    /// The number of all places.
    pub total: u32,
}

/// A move with which games leave a tree, or their end in it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RepertoirePlace {
    /// The last node of the tree.
    pub node: NodeId,
    /// The moves to this node.
    pub line: Vec<MoveText>,
    /// The side to move.
    pub turn: Side,
    /// The move; null if the games end there.
    pub text: Option<MoveText>,
    pub counts: ResultCounts,
    /// The latest games, at most 20.
    pub games: Vec<LibraryGame>,
}

/// A tree that [`Command::BuildOpeningTree`](super::Command::BuildOpeningTree) has made.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct BuiltTree {
    /// The number of games in the tree.
    pub games: u32,
    /// The number of moves.
    pub moves: u32,
    /// The number of moves that were left out, of too few games.
    pub omitted: u32,
    /// The number of games with another start position.
    pub unconnected: u32,
    /// The number of games whose last moves were left out because there were too many positions.
    pub cut: u32,
}

/// The result of `POST /api/library/preview`: a position of a game, and its main line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GamePreview {
    pub variant: Variant,
    /// The side to move and the number of the first move.
    pub first_turn: Side,
    pub first_number: u32,
    pub ply: u32,
    pub position: PositionView,
    /// The first 1000 moves.
    pub moves: Vec<PreviewMove>,
    /// The number of all moves of the main line.
    pub plies: u32,
}

/// A move of a preview.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PreviewMove {
    pub text: MoveText,
    pub nags: Vec<u8>,
}

/// The query of `POST /api/library/order`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct OrderQuery {
    pub game: GameId,
    /// The collection that is preferred if the game is in several.
    pub collection: Option<CollectionId>,
}

/// The result of `POST /api/library/order`: the place of a game in a collection.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GameOrder {
    pub collection: Collection,
    /// The name of the chapter.
    pub chapter: String,
    /// From 0.
    pub place: u32,
    pub previous: Option<GameId>,
    pub next: Option<GameId>,
}

/// A game of a collection.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Chapter {
    pub id: ChapterId,
    pub name: String,
    pub game: LibraryGame,
}

/// A change of a collection.
pub type CollectionEdit = readyok_library::CollectionEdit<Selection>;

/// What a collection of imported games contains.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ImportedCollection {
    /// The number of the collection that was created (`&open=true`).
    pub id: Option<CollectionId>,
    /// The name of the study or of the file.
    pub name: String,
    /// The games in the order of the file, known ones included.
    pub games: Vec<GameId>,
}

/// A label with its number of games.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LabelCount {
    pub label: String,
    pub games: u32,
}

/// The result of `POST /api/library/duplicates`: games with the same moves, or the first ones of another, of the same
/// players, or of unknown ones at the same event and site.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct DuplicateGroups {
    /// The first 200 groups.
    pub groups: Vec<DuplicateGroup>,
    /// The number of all groups.
    pub total: u32,
    /// The number of all games that a group has besides the one to keep.
    pub surplus: u32,
}

/// Games that are one game.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct DuplicateGroup {
    /// First the game to keep: that with most comments, glyphs and variations; of several, the longest, then that with
    /// most other annotations, then the oldest.
    pub games: Vec<LibraryGame>,
    /// Those that have only the first moves of another one.
    pub beginnings: Vec<GameId>,
}

/// The result of an import. `POST /api/import?name=…` with the file or text as the body. With `&open=true` a single game
/// is opened as a draft, which is not in the library, and several as a collection.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Imported {
    /// The first 1000 of the imported games.
    pub games: Vec<LibraryGame>,
    /// The number of imported games.
    pub total: u32,
    /// The number of games that the library had already, which were not added (`&duplicates=keep` adds them).
    pub duplicates: u32,
    /// The number of duplicates that wait for a decision (`&duplicates=ask`).
    pub undecided: u32,
    /// What [`CollectionEdit::Create`] needs to open the file as a collection, if it has 2 to 5000 games.
    pub collection: Option<ImportedCollection>,
    /// The number of the opened board (`&open=true`): a draft, or the first game of a collection.
    pub opened: Option<GameId>,
    /// The entry of the import among the jobs; none if nothing was added to the library.
    pub job: Option<JobId>,
    /// Errors with line and column, at most 100.
    pub errors: Vec<ErrorInfo>,
    /// Warnings with line and column, at most 100 about games that were read in part and 100 others.
    pub warnings: Vec<ErrorInfo>,
    /// The number of all errors.
    pub total_errors: u32,
    /// The number of all warnings.
    pub total_warnings: u32,
}

/// The number of a job.
pub type JobId = u32;

/// All jobs, the latest first.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct JobsState {
    pub jobs: Vec<Job>,
}

/// Changes of the jobs.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct JobsDelta {
    /// New or changed jobs, with their complete states.
    pub changed: Vec<Job>,
    /// Deleted jobs.
    pub removed: Vec<JobId>,
}

/// A job on many games. It can be resumed after a restart of the server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Job {
    pub id: JobId,
    pub added: u64,
    /// The directory or file that is imported first.
    pub directory: Option<String>,
    /// The name of a file that a tab has sent. Such a job cannot be resumed; the last 20 are kept.
    pub upload: Option<String>,
    /// The account whose games are imported.
    pub account: Option<AccountName>,
    /// The number of games of variants that are not supported.
    pub skipped: u32,
    /// Unix time in milliseconds until which the job waits, because the service has requested it or has failed.
    pub waiting: Option<u64>,
    /// How long the games were read, in milliseconds.
    pub elapsed: u64,
    /// None if the games are only imported.
    pub settings: Option<ReportSettings>,
    pub status: ReportStatus,
    /// The number of imported files.
    pub files_done: u32,
    /// The number of files; 0 until they are counted.
    pub files: u32,
    /// The number of games: of imported ones, or of those to report on.
    pub games: u32,
    /// The number of games that the library had already, which were not added.
    pub duplicates: u64,
    /// The number of duplicates that wait for a decision.
    pub undecided: u64,
    /// The number of bytes that were read.
    pub bytes: u64,
    /// The size of all files in bytes; 0 until it is known.
    pub total_bytes: u64,
    /// The number of finished reports.
    pub done: u32,
    /// The number of failed reports.
    pub failed: u32,
    /// The game of the running report.
    pub current: Option<GameId>,
    /// Unreadable files and failed games, at most 20.
    pub errors: Vec<JobError>,
    /// Defects of imported records that were read in part, at most 20.
    pub notices: Vec<JobError>,
    /// The number of all errors.
    pub total_errors: u32,
    /// The number of all defects.
    pub total_notices: u32,
}

/// The query of `POST /api/library/faults`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct FaultsQuery {
    pub job: JobId,
}

/// The result of `POST /api/library/faults`: what was wrong with the files of a job.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct JobFaults {
    /// Unreadable files and failed games, at most 200.
    pub errors: Vec<JobError>,
    /// Defects of imported records that were read in part, at most 200.
    pub notices: Vec<JobError>,
    /// The number of all errors.
    pub total_errors: u32,
    /// The number of all defects.
    pub total_notices: u32,
}

/// An error of a job.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct JobError {
    pub of: JobErrorOf,
    pub why: ErrorInfo,
}

/// The object of an error of a job.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobErrorOf {
    /// A file, or the directory.
    File {
        name: String,
    },
    Game {
        game: GameId,
    },
    Engine {
        engine: EngineId,
    },
}
