//! Exercises and their reviews in `app.sqlite`.

use std::fmt::Write as _;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};

use super::{Store, StoreError};
use crate::training::{LEARNED, Memory, Task, kind_name, variant_name};
use crate::wire::{Exercise, ExerciseGrade, ExerciseId, GameId, TrainingQuery, TrainingStats};

/// Number of days of the success rate.
const RECENT: i64 = 30 * 24 * 60 * 60 * 1000;
/// Maximum number of exercises of the queue.
const MAX_QUEUE: u32 = 200;
/// Number of listed exercises without another limit, and the maximum.
const LISTED: (u32, u32) = (50, 200);

const COLUMNS: &str = "id, kept, added, due, stability, difficulty, reviewed, reviews, lapses";

/// A stored exercise.
#[derive(Clone, Debug)]
pub(crate) struct StoredExercise {
    pub(crate) id: ExerciseId,
    pub(crate) task: Task,
    /// None before the first review.
    pub(crate) memory: Option<Memory>,
    added: u64,
    reviews: u32,
    lapses: u32,
}

impl StoredExercise {
    pub(crate) fn wire(self) -> Exercise {
        let Self { id, task, memory, added, reviews, lapses } = self;
        Exercise {
            id,
            variant: task.variant,
            kind: task.kind,
            side: task.side,
            mate: task.mate,
            source: task.source,
            stage: Memory::stage(memory.as_ref()),
            due: memory.map(|memory| memory.due),
            reviews,
            lapses,
            added,
        }
    }
}

/// What a query of exercises returns.
#[derive(Debug)]
pub(crate) struct FoundExercises {
    pub(crate) stats: TrainingStats,
    pub(crate) queue: Vec<StoredExercise>,
    pub(crate) exercises: Vec<StoredExercise>,
    pub(crate) total: u32,
}

/// Times of a query, as Unix times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) now: u64,
    pub(crate) midnight: u64,
}

fn signed(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

fn grade_number(grade: ExerciseGrade) -> u8 {
    match grade {
        ExerciseGrade::Again => 1,
        ExerciseGrade::Hard => 2,
        ExerciseGrade::Good => 3,
        ExerciseGrade::Easy => 4,
    }
}

/// A row before its JSON is read.
type RowValues = (ExerciseId, String, u64, Option<Memory>, u32, u32);

fn values_of(row: &Row<'_>) -> Result<RowValues, rusqlite::Error> {
    let time = |index| {
        let time: Option<i64> = row.get(index)?;
        Ok::<_, rusqlite::Error>(time.and_then(|time| u64::try_from(time).ok()))
    };
    let memory = match (time(3)?, row.get(4)?, row.get(5)?, time(6)?) {
        (Some(due), Some(stability), Some(difficulty), Some(reviewed)) => {
            Some(Memory { stability, difficulty, reviewed, due })
        }
        _ => None,
    };
    Ok((row.get(0)?, row.get(1)?, time(2)?.unwrap_or_default(), memory, row.get(7)?, row.get(8)?))
}

fn stored(values: RowValues) -> Result<StoredExercise, StoreError> {
    let (id, task, added, memory, reviews, lapses) = values;
    Ok(StoredExercise { id, task: serde_json::from_str(&task)?, memory, added, reviews, lapses })
}

impl Store {
    /// Games with reports.
    pub(crate) fn reported_games(&self) -> Result<Vec<GameId>, StoreError> {
        let mut query = self.db.prepare("SELECT game FROM report ORDER BY game")?;
        let games = query.query_map([], |row| row.get(0))?;
        Ok(games.collect::<Result<_, _>>()?)
    }

    /// Adds exercises. Returns how many were added and how many were known. Deleted ones are added again if `restores`
    /// is set.
    pub(crate) fn add_exercises(
        &mut self,
        tasks: &[Task],
        restores: bool,
        now: u64,
    ) -> Result<(u32, u32), StoreError> {
        let change = self.db.transaction()?;
        let (mut added, mut known) = (0, 0);
        for task in tasks {
            let kept = serde_json::to_string(task)?;
            let (variant, kind) = (variant_name(task.variant), kind_name(task.kind));
            let mut insert = change.prepare_cached(
                "INSERT OR IGNORE INTO exercise (position, variant, kind, kept, added)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let values = params![task.key(), variant, kind, kept, signed(now)];
            let mut changed = insert.execute(values)?;
            if changed == 0 && restores {
                let restore = "UPDATE exercise SET deleted = 0 WHERE position = ?1 AND deleted";
                changed = change.execute(restore, [task.key()])?;
            }
            if changed == 0 { known += 1 } else { added += 1 }
        }
        change.commit()?;
        Ok((added, known))
    }

    pub(crate) fn exercise(&self, id: ExerciseId) -> Result<Option<StoredExercise>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM exercise WHERE id = ?1 AND NOT deleted");
        let found = self.db.prepare_cached(&query)?.query_row([id], values_of).optional()?;
        found.map(stored).transpose()
    }

    /// Replaces the task of an exercise, such as after it was solved.
    pub(crate) fn save_task(&self, id: ExerciseId, task: &Task) -> Result<(), StoreError> {
        let kept = serde_json::to_string(task)?;
        self.db.execute("UPDATE exercise SET kept = ?2 WHERE id = ?1", params![id, kept])?;
        Ok(())
    }

    /// Stores a review. Returns the new memory, or none if there is no such exercise.
    pub(crate) fn review(
        &mut self,
        id: ExerciseId,
        grade: ExerciseGrade,
        now: u64,
    ) -> Result<Option<Memory>, StoreError> {
        let Some(found) = self.exercise(id)? else { return Ok(None) };
        let memory = Memory::after(found.memory.as_ref(), grade, now);
        let lapses = u32::from(grade == ExerciseGrade::Again);
        let change = self.db.transaction()?;
        change.execute(
            "UPDATE exercise SET due = ?2, stability = ?3, difficulty = ?4, reviewed = ?5,
             reviews = reviews + 1, lapses = lapses + ?6 WHERE id = ?1",
            params![
                id,
                signed(memory.due),
                f64::from(memory.stability),
                f64::from(memory.difficulty),
                signed(now),
                lapses
            ],
        )?;
        change.execute(
            "REPLACE INTO review (exercise, at, grade) VALUES (?1, ?2, ?3)",
            params![id, signed(now), grade_number(grade)],
        )?;
        change.commit()?;
        Ok(Some(memory))
    }

    pub(crate) fn delete_exercises(&mut self, ids: &[ExerciseId]) -> Result<(), StoreError> {
        let change = self.db.transaction()?;
        for id in ids {
            change.execute("UPDATE exercise SET deleted = 1 WHERE id = ?1", [id])?;
        }
        change.commit()?;
        Ok(())
    }

    /// The queue of today, a part of all exercises, and statistics.
    pub(crate) fn training(
        &self,
        query: &TrainingQuery,
        new_per_day: u32,
        times: Times,
    ) -> Result<FoundExercises, StoreError> {
        let (condition, values) = condition(query);
        let list = |more: &str, limit: u32, offset: u32| -> Result<_, StoreError> {
            let sql = format!(
                "SELECT {COLUMNS} FROM exercise WHERE {condition} {more} LIMIT {limit} OFFSET {offset}"
            );
            let mut query = self.db.prepare(&sql)?;
            let rows = query.query_map(params_from_iter(values.clone()), values_of)?;
            rows.map(|row| stored(row?)).collect::<Result<Vec<_>, StoreError>>()
        };
        let now = signed(times.now);
        let mut queue = list(&format!("AND due <= {now} ORDER BY due, id"), MAX_QUEUE, 0)?;
        let room = MAX_QUEUE - u32::try_from(queue.len()).unwrap_or(MAX_QUEUE);
        let begun = self.count(
            "SELECT count(*) FROM (SELECT min(at) AS first FROM review GROUP BY exercise)
             WHERE first >= ?1",
            signed(times.midnight),
        )?;
        let new = new_per_day.saturating_sub(begun).min(room);
        queue.extend(list("AND due IS NULL ORDER BY id", new, 0)?);
        let limit = query.limit.unwrap_or(LISTED.0).clamp(1, LISTED.1);
        let exercises = list("ORDER BY id DESC", limit, query.offset)?;
        let total = self.db.query_row(
            &format!("SELECT count(*) FROM exercise WHERE {condition}"),
            params_from_iter(values.clone()),
            |row| row.get(0),
        )?;
        Ok(FoundExercises { stats: self.training_stats(query, times)?, queue, exercises, total })
    }

    fn training_stats(
        &self,
        query: &TrainingQuery,
        times: Times,
    ) -> Result<TrainingStats, StoreError> {
        let (condition, values) = condition(query);
        let (now, midnight) = (signed(times.now), signed(times.midnight));
        let sql = format!(
            "SELECT count(*) FILTER (WHERE due IS NULL),
                    count(*) FILTER (WHERE stability < {LEARNED}),
                    count(*) FILTER (WHERE stability >= {LEARNED}),
                    count(*) FILTER (WHERE due <= {now})
             FROM exercise WHERE {condition}"
        );
        let mut stats = self.db.query_row(&sql, params_from_iter(values.clone()), |row| {
            Ok(TrainingStats {
                new: row.get(0)?,
                learning: row.get(1)?,
                learned: row.get(2)?,
                due: row.get(3)?,
                ..TrainingStats::default()
            })
        })?;
        let sql = format!(
            "SELECT count(*) FILTER (WHERE at >= {midnight}), count(*), count(*) FILTER (WHERE grade > 1)
             FROM review JOIN exercise ON exercise.id = review.exercise
             WHERE at >= {} AND {condition}",
            now - RECENT
        );
        (stats.today, stats.reviews, stats.solved) =
            self.db.query_row(&sql, params_from_iter(values), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        Ok(stats)
    }

    fn count(&self, sql: &str, value: i64) -> Result<u32, StoreError> {
        Ok(self.db.query_row(sql, [value], |row| row.get(0))?)
    }
}

/// The condition of a query with its values.
fn condition(query: &TrainingQuery) -> (String, Vec<Value>) {
    let mut condition = "NOT deleted".to_owned();
    let mut values = Vec::new();
    let mut add = |column: &str, value: &'static str| {
        values.push(Value::from(value.to_owned()));
        // Writing into a `String` cannot fail.
        let _ = write!(condition, " AND {column} = ?{}", values.len());
    };
    if let Some(variant) = query.variant {
        add("variant", variant_name(variant));
    }
    if let Some(kind) = query.kind {
        add("kind", kind_name(kind));
    }
    (condition, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::read_exercises;
    use crate::wire::{ExerciseKind, Variant};

    const DAY: u64 = 24 * 60 * 60 * 1000;
    const NOON: u64 = 1_700_049_600_000;

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("it opens");
        (directory, store)
    }

    fn add(store: &mut Store, text: &str) -> (u32, u32) {
        let tasks = read_exercises("a.epd", text.as_bytes(), 100).tasks;
        store.add_exercises(&tasks, true, NOON).expect("they are added")
    }

    fn training(store: &Store, days: u64) -> FoundExercises {
        let times = Times { now: NOON + days * DAY, midnight: NOON + days * DAY - DAY / 2 };
        store.training(&TrainingQuery::default(), 2, times).expect("it works")
    }

    fn queue(found: &FoundExercises) -> Vec<ExerciseId> {
        found.queue.iter().map(|queue| queue.id).collect()
    }

    const PROBLEMS: &str = "7k/8/8/8/8/8/R7/1R5K w - - dm 2;\n\
        7k/8/8/8/8/8/1R6/R6K w - - bm Kg2;\n\
        7k/8/8/8/8/8/RR6/7K w - - dm 2;\n";

    #[test]
    fn exercises_are_queued_when_they_are_due() {
        let (directory, mut store) = store();
        assert_eq!(add(&mut store, PROBLEMS), (3, 0));
        assert_eq!(add(&mut store, PROBLEMS), (0, 3));
        // Two new ones a day.
        let found = training(&store, 0);
        assert_eq!((queue(&found), found.total), (vec![1, 2], 3));
        store.review(1, ExerciseGrade::Good, NOON).expect("it works").expect("it exists");
        store.review(2, ExerciseGrade::Again, NOON).expect("it works").expect("it exists");
        let found = training(&store, 0);
        assert_eq!(queue(&found), Vec::<ExerciseId>::new());
        let TrainingStats { new, learning, today, reviews, solved, .. } = found.stats;
        assert_eq!((new, learning, today, reviews, solved), (1, 2, 2, 2, 1));
        // The schedule is stored.
        drop(store);
        let store = Store::open(directory.path()).expect("it opens");
        let found = training(&store, 3);
        assert_eq!((queue(&found), found.stats.due, found.stats.today), (vec![2, 1, 3], 2, 0));
    }

    #[test]
    fn deleted_exercises_are_not_made_again() {
        let (_directory, mut store) = store();
        add(&mut store, PROBLEMS);
        store.delete_exercises(&[1]).expect("it works");
        assert_eq!(training(&store, 0).total, 2);
        assert!(store.exercise(1).expect("it works").is_none());
        assert!(store.review(1, ExerciseGrade::Good, NOON).expect("it works").is_none());
        let tasks = read_exercises("a.epd", PROBLEMS.as_bytes(), 100).tasks;
        assert_eq!(store.add_exercises(&tasks, false, NOON).expect("it works"), (0, 3));
        // A file that is imported again restores them.
        assert_eq!(add(&mut store, PROBLEMS), (1, 2));
    }

    #[test]
    fn exercises_are_filtered_by_variant_and_kind() {
        let (_directory, mut store) = store();
        add(&mut store, PROBLEMS);
        let times = Times { now: NOON, midnight: NOON };
        let count = |variant, kind| {
            let query = TrainingQuery { variant, kind, ..TrainingQuery::default() };
            store.training(&query, 9, times).expect("it works").total
        };
        assert_eq!(count(Some(Variant::Chess), Some(ExerciseKind::Mate)), 2);
        assert_eq!(count(None, Some(ExerciseKind::BestMove)), 1);
        assert_eq!(count(Some(Variant::Shogi), None), 0);
    }
}
