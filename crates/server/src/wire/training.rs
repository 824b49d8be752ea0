//! Exercises with spaced repetition.

use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::{ErrorInfo, GameId, LineMove, NodeId, PositionView, Side, Variant};

/// The number of an exercise. It is never used again.
pub type ExerciseId = u32;

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

/// The query of `POST /api/training`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct TrainingQuery {
    pub variant: Option<Variant>,
    pub kind: Option<ExerciseKind>,
    /// Number of exercises of the list to skip.
    pub offset: u32,
    /// Maximum number of exercises of the list, 1 to 200; 50 by default.
    pub limit: Option<u32>,
}

/// Exercises and their statistics.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct TrainingView {
    pub stats: TrainingStats,
    /// The exercises of today, at most 200: those that are due, then new ones.
    pub queue: Vec<Exercise>,
    /// A part of all exercises, the latest first.
    pub exercises: Vec<Exercise>,
    /// The number of exercises that match the query.
    pub total: u32,
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

/// The result of an import of problems.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ImportedExercises {
    pub added: u32,
    /// The number of problems that were known.
    pub known: u32,
    /// The number of entries that are no problems, such as complete games.
    pub skipped: u32,
    pub errors: Vec<ErrorInfo>,
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
