//! Exercises with spaced repetition.

use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::{ErrorInfo, GameId, LineMove, NodeId, PositionView, Side, Variant};

/// The number of an exercise. It is never used again.
pub type ExerciseId = u32;

/// The number of a set of exercises. It is never used again.
pub type TrainingSetId = u32;

/// The set of the user's own mistakes, which always exists.
pub const OWN_MISTAKES: TrainingSetId = 0;

/// What a set of exercises consists of.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum TrainingSetKind {
    /// Mistakes of the user's own games.
    Mistakes,
    /// The positions of a repertoire in which the user is to move.
    Repertoire,
    /// Problems of files.
    Problems,
}

/// A set of exercises. Each position is in a set once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct TrainingSet {
    pub id: TrainingSetId,
    pub kind: TrainingSetKind,
    /// Empty for own mistakes, and for problems that were imported without the name of a file.
    pub name: String,
    /// None if the set is empty or has several variants.
    pub variant: Option<Variant>,
    /// The side of the user in a repertoire.
    pub side: Option<Side>,
    /// The NAGs that mark the moves of a repertoire; empty if all its moves are trained.
    pub marks: Vec<u8>,
    /// Whether a repertoire follows games of the library.
    pub linked: bool,
    /// Unix time of its creation in milliseconds.
    pub added: u64,
    /// The number of exercises.
    pub total: u32,
    pub learning: u32,
    pub learned: u32,
    /// Reviewed before and due now.
    pub due: u32,
}

/// The task of an exercise.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum ExerciseKind {
    /// A better move than the mistake that was played.
    Mistake,
    /// A mate: a mate problem, a tsume problem, or a mate that was missed.
    Mate,
    /// The best move of a position from a file.
    BestMove,
    /// A move of a repertoire.
    Repertoire,
}

/// How well an exercise is known.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum ExerciseStage {
    New,
    Learning,
    /// The memory lasts three weeks or more.
    Learned,
}

/// The user's grade of a solution.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum ExerciseGrade {
    /// Not solved.
    Again,
    Hard,
    Good,
    Easy,
}

/// The origin of an exercise.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ExerciseSource {
    /// The players of the game, or the name of the problem or its file.
    pub name: String,
    /// The game in the library; none for a problem from a file.
    pub game: Option<GameId>,
    pub node: Option<NodeId>,
    /// The move that was played in the game.
    pub played: Option<LineMove>,
}

/// An exercise with its schedule.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Exercise {
    pub id: ExerciseId,
    pub variant: Variant,
    pub kind: ExerciseKind,
    /// The side to move.
    pub side: Side,
    /// The length of the mate if it is known: in moves in chess, in plies in shogi.
    pub mate: Option<u32>,
    /// None if it is unknown.
    pub rating: Option<u16>,
    pub themes: Vec<String>,
    /// The last moves before the position of a repertoire; none in the queue.
    pub line: Option<NumberedLine>,
    /// The index of the chapter in a repertoire.
    pub chapter: Option<u32>,
    pub source: ExerciseSource,
    pub stage: ExerciseStage,
    /// Unix time in milliseconds; none before the first review.
    pub due: Option<u64>,
    pub reviews: u32,
    /// The number of reviews with the grade “again”.
    pub lapses: u32,
    /// Unix time in milliseconds.
    pub added: u64,
}

/// Moves with the number and the side of the first one.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct NumberedLine {
    pub first_number: u32,
    pub first_turn: Side,
    pub moves: Vec<LineMove>,
}

/// The query of `POST /api/training`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct TrainingQuery {
    /// The set, [`OWN_MISTAKES`] by default.
    pub set: TrainingSetId,
    pub variant: Option<Variant>,
    pub kind: Option<ExerciseKind>,
    /// The index of a chapter of a repertoire.
    pub chapter: Option<u32>,
    /// Themes of problems, each of which a problem must have.
    pub themes: Vec<String>,
    /// The lowest and the highest rating. Problems without a rating are not in a range.
    pub min_rating: Option<u16>,
    pub max_rating: Option<u16>,
    /// Number of exercises of the list to skip.
    pub offset: u32,
    /// Maximum number of exercises of the list, 1 to 200; 50 by default.
    pub limit: Option<u32>,
}

/// Exercises and their statistics.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct TrainingView {
    /// All sets: own mistakes, then the others by name.
    pub sets: Vec<TrainingSet>,
    pub stats: TrainingStats,
    /// The exercises of today, at most 200: those that are due, then new ones. Those of a repertoire have the order of
    /// its lines.
    pub queue: Vec<Exercise>,
    /// The numbers of reviews that are due today, overdue ones included, and on each of the next 14 days.
    pub days: Vec<u32>,
    /// The chapters of a repertoire.
    pub chapters: Vec<ChapterStats>,
    /// The themes of a set of problems with their numbers in the imported files, by name.
    pub themes: Vec<ThemeCount>,
    /// The lowest and the highest rating of a set of problems.
    pub ratings: Option<[u16; 2]>,
    /// A part of all exercises, the latest first.
    pub exercises: Vec<Exercise>,
    /// The number of exercises that match the query.
    pub total: u32,
}

/// What is known of a chapter of a repertoire. A position that several chapters reach is in the first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ChapterStats {
    pub name: String,
    pub total: u32,
    pub learned: u32,
    pub learning: u32,
    pub due: u32,
    /// The number of reviews, and of those with the grade “again”.
    pub reviews: u32,
    pub lapses: u32,
}

/// A theme with its number of problems.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ThemeCount {
    pub theme: String,
    pub count: u32,
}

/// Numbers of exercises and reviews.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct TrainingStats {
    pub new: u32,
    pub learning: u32,
    pub learned: u32,
    /// Reviewed before and due now.
    pub due: u32,
    /// Reviews since midnight.
    pub today: u32,
    /// Reviews of the last 30 days.
    pub reviews: u32,
    /// Those that were not graded “again”.
    pub solved: u32,
}

/// The result of an import of problems, or of a repertoire (`&side=first`). `POST /api/training/import?name=…` with the
/// file or text as the body. It is added to the set of the same kind and name, which is created if it is missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ImportedExercises {
    /// None if nothing was found.
    pub set: Option<TrainingSetId>,
    pub added: u32,
    /// The number of exercises that were known.
    pub known: u32,
    /// The number of exercises of a repertoire that are not in its lines any more.
    pub removed: u32,
    /// The number of entries that are no problems, such as complete games.
    pub skipped: u32,
    /// Errors with their lines, at most 100. The other entries are imported.
    pub errors: Vec<ErrorInfo>,
    /// The number of all errors.
    pub total_errors: u32,
}

/// The result of a move in an exercise.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ExerciseAttempt {
    #[serde(rename = "move")]
    pub mv: LineMove,
    pub right: bool,
    /// Whether the exercise is solved.
    pub solved: bool,
    /// The answer of the opponent.
    pub reply: Option<LineMove>,
    /// The loss of a move that replaces a mistake, in percent of winning chances.
    pub loss: Option<f64>,
    /// Whether the move leads to a mate that is too long.
    pub longer: bool,
    /// The position after the move and the answer; none after a wrong move.
    pub position: Option<PositionView>,
}

/// Settings of training.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct TrainingSettings {
    /// The names of the user in game records.
    pub names: Vec<String>,
    /// Maximum number of new exercises a day.
    pub new_per_day: u32,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self { names: Vec::new(), new_per_day: 20 }
    }
}
