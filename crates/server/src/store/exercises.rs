//! Exercises and their reviews in `app.sqlite`.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, Transaction, params, params_from_iter};

use super::exercise_tables::{COUNT_SET, DELETED, SCHEMA, Times, signed};
use super::training_sets::{problem_row, read_themes, save_block, save_themes};
use super::{Store, StoreError};
use crate::training::{
    LEARNED, Memory, Problem, ProblemRow, Task, kind_name, kind_named, variant_name, variant_named,
};
use crate::wire::{
    ChapterStats, Exercise, ExerciseGrade, ExerciseId, GameId, OWN_MISTAKES, ThemeCount,
    TrainingQuery, TrainingSet, TrainingSetId, TrainingStats,
};

/// Number of days of the success rate.
const RECENT: i64 = 30 * DAY;
const DAY: i64 = 24 * 60 * 60 * 1000;
/// Number of days of the forecast.
const DAYS: usize = 15;
/// Maximum number of exercises of the queue.
const MAX_QUEUE: u32 = 200;
/// Number of listed exercises without another limit, and the maximum.
const LISTED: (u32, u32) = (50, 200);

/// Moves the exercises of an earlier version to sets: problems of files to one set, with their reviews.
pub(super) fn move_to_sets(change: &Transaction<'_>) -> Result<(), StoreError> {
    change.execute_batch(
        "DROP INDEX exercise_by_due; ALTER TABLE exercise RENAME TO earlier_exercise;
         ALTER TABLE review RENAME TO earlier_review;",
    )?;
    change.execute_batch(SCHEMA)?;
    let problems = "INSERT INTO training_set (kind, name, added)
         SELECT 'problems', '', min(added) FROM earlier_exercise
         WHERE json_extract(kept, '$.source.game') IS NULL HAVING count(*) > 0 RETURNING id";
    let problems: Option<TrainingSetId> =
        change.query_row(problems, [], |row| row.get(0)).optional()?;
    let mut query = change.prepare("SELECT id, kept FROM earlier_exercise ORDER BY id")?;
    let mut rows = query.query([])?;
    let mut copy = change.prepare(
        "INSERT OR IGNORE INTO exercise (id, set_id, key, variant, kind, kept, added, due, stability, difficulty,
         reviewed, reviews, lapses, deleted)
         SELECT id, ?2, ?3, variant, kind, kept, added, due, stability, difficulty, reviewed, reviews, lapses, deleted
         FROM earlier_exercise WHERE id = ?1",
    )?;
    let mut moved = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, kept): (ExerciseId, String) = (row.get(0)?, row.get(1)?);
        let task: Task = serde_json::from_str(&kept)?;
        let set = problems.filter(|_| task.source.game.is_none()).unwrap_or(OWN_MISTAKES);
        if copy.execute(params![id, set, task.key()])? == 0 {
            // Exercises of earlier versions that are alike, or have damaged positions, remain.
            copy.execute(params![id, set, -i64::from(id)])?;
        }
        if set != OWN_MISTAKES {
            moved.extend(Problem::new(&task, None, Vec::new()).map(|problem| (id, problem)));
        }
    }
    drop(rows);
    drop((query, copy));
    if let Some(set) = problems {
        let mut themes = read_themes(change, set)?;
        let rows: Vec<ProblemRow> =
            moved.iter().map(|(id, problem)| problem_row(*id, problem, &mut themes)).collect();
        save_block(change, set, &rows)?;
        save_themes(change, set, &themes)?;
    }
    change.execute_batch(
        "INSERT INTO review SELECT * FROM earlier_review WHERE exercise IN (SELECT id FROM exercise);
         DROP TABLE earlier_review; DROP TABLE earlier_exercise;
         UPDATE training_set SET total =
             (SELECT count(*) FROM exercise WHERE set_id = training_set.id AND deleted = 0);",
    )?;
    Ok(())
}

const COLUMNS: &str = "id, kept, added, due, stability, difficulty, reviewed, reviews, lapses, variant, kind, set_id, chapter";

/// A stored exercise.
#[derive(Clone, Debug)]
pub(crate) struct StoredExercise {
    pub(crate) id: ExerciseId,
    pub(crate) set: TrainingSetId,
    pub(crate) task: Task,
    /// None before the first review.
    pub(crate) memory: Option<Memory>,
    added: u64,
    reviews: u32,
    lapses: u32,
    chapter: Option<u32>,
    pub(super) rating: Option<u16>,
    pub(super) themes: Vec<String>,
}

impl StoredExercise {
    /// The exercise without its line.
    pub(crate) fn wire(self) -> Exercise {
        let Self { id, set: _, task, memory, added, reviews, lapses, chapter, rating, themes } =
            self;
        Exercise {
            id,
            variant: task.variant,
            kind: task.kind,
            side: task.side,
            mate: task.mate,
            rating,
            themes,
            line: None,
            chapter,
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
    pub(crate) sets: Vec<TrainingSet>,
    pub(crate) stats: TrainingStats,
    pub(crate) queue: Vec<StoredExercise>,
    pub(crate) days: Vec<u32>,
    pub(crate) chapters: Vec<ChapterStats>,
    pub(crate) themes: Vec<ThemeCount>,
    pub(crate) ratings: Option<[u16; 2]>,
    pub(crate) exercises: Vec<StoredExercise>,
    pub(crate) total: u32,
}

fn grade_number(grade: ExerciseGrade) -> u8 {
    match grade {
        ExerciseGrade::Again => 1,
        ExerciseGrade::Hard => 2,
        ExerciseGrade::Good => 3,
        ExerciseGrade::Easy => 4,
    }
}

fn values_of(row: &Row<'_>) -> Result<StoredExercise, StoreError> {
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
    let (variant, kind): (String, String) = (row.get(9)?, row.get(10)?);
    let kept: String = row.get(1)?;
    let task = match (variant_named(&variant), kind_named(&kind)) {
        (Some(variant), Some(kind)) => Task::restored(&kept, variant, kind)?,
        _ => serde_json::from_str(&kept)?,
    };
    Ok(StoredExercise {
        id: row.get(0)?,
        set: row.get(11)?,
        task,
        memory,
        added: time(2)?.unwrap_or_default(),
        reviews: row.get(7)?,
        lapses: row.get(8)?,
        chapter: row.get(12)?,
        rating: None,
        themes: Vec::new(),
    })
}

/// The exercises that a query is about.
struct Matching {
    /// A condition on rows with its values.
    condition: String,
    values: Vec<Value>,
    /// The order of the list.
    order: &'static str,
    /// The numbers of the matching problems in ascending order; none for all exercises of the condition.
    problems: Option<Vec<ExerciseId>>,
}

impl Matching {
    fn new(query: &TrainingQuery, is_repertoire: bool, problems: Option<Vec<ExerciseId>>) -> Self {
        let mut values = vec![Value::from(query.set)];
        let mut condition = "set_id = ?1 AND deleted = 0".to_owned();
        let mut add = |column: &str, value: Value| {
            values.push(value);
            // Writing into a `String` cannot fail.
            let _ = write!(condition, " AND {column} = ?{}", values.len());
        };
        if query.set == OWN_MISTAKES {
            if let Some(variant) = query.variant {
                add("variant", Value::from(variant_name(variant).to_owned()));
            }
            if let Some(kind) = query.kind {
                add("kind", Value::from(kind_name(kind).to_owned()));
            }
        }
        if let Some(chapter) = query.chapter {
            add("chapter", Value::from(chapter));
        }
        let order = if is_repertoire { "place" } else { "id DESC" };
        Self { condition, values, order, problems }
    }

    fn has(&self, id: ExerciseId) -> bool {
        self.problems.as_ref().is_none_or(|problems| problems.binary_search(&id).is_ok())
    }
}

/// A row of an exercise that was reviewed.
struct Reviewed {
    id: ExerciseId,
    due: i64,
    stability: f32,
}

impl Store {
    /// Games with reports.
    pub(crate) fn reported_games(&self) -> Result<Vec<GameId>, StoreError> {
        let mut query = self.db.prepare("SELECT game FROM report ORDER BY game")?;
        let games = query.query_map([], |row| row.get(0))?;
        Ok(games.collect::<Result<_, _>>()?)
    }

    /// Adds own mistakes. Returns how many were added and how many were known. Deleted ones are added again if
    /// `restores` is set.
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
                "INSERT OR IGNORE INTO exercise (set_id, key, variant, kind, kept, added)
                 VALUES (0, ?1, ?2, ?3, ?4, ?5)",
            )?;
            let values = params![task.key(), variant, kind, kept, signed(now)];
            let mut changed = insert.execute(values)?;
            if changed == 0 && restores {
                let restore = "UPDATE exercise SET deleted = 0 WHERE set_id = 0 AND key = ?1 AND deleted <> 0";
                changed = change.execute(restore, [task.key()])?;
            }
            if changed == 0 { known += 1 } else { added += 1 }
        }
        change.execute(COUNT_SET, [OWN_MISTAKES])?;
        change.commit()?;
        Ok((added, known))
    }

    pub(crate) fn exercise(&self, id: ExerciseId) -> Result<Option<StoredExercise>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM exercise WHERE id = ?1 AND deleted = 0");
        let mut query = self.db.prepare_cached(&query)?;
        let mut rows = query.query([id])?;
        rows.next()?.map(values_of).transpose()
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
        let mut sets = BTreeSet::new();
        for id in ids {
            let sql =
                "UPDATE exercise SET deleted = ?2 WHERE id = ?1 AND deleted = 0 RETURNING set_id";
            let set = change.query_row(sql, params![id, DELETED], |row| row.get(0)).optional()?;
            sets.extend(set.into_iter().collect::<Vec<TrainingSetId>>());
        }
        for set in sets {
            change.execute(COUNT_SET, [set])?;
        }
        change.commit()?;
        Ok(())
    }

    /// The queue of today, a part of all exercises, and statistics. None if there is no such set.
    pub(crate) fn training(
        &self,
        query: &TrainingQuery,
        new_per_day: u32,
        times: Times,
    ) -> Result<Option<FoundExercises>, StoreError> {
        let Some(set) = self.training_set(query.set)? else { return Ok(None) };
        let is_repertoire = set.side.is_some();
        let matching = Matching::new(query, is_repertoire, self.matching_problems(query)?);
        let deleted = self.deleted_exercises(query.set)?;
        let total = match &matching.problems {
            Some(problems) => count(problems.iter().filter(|id| !deleted.contains(id)).count()),
            None if matching.values.len() == 1 => set.total,
            None => {
                let sql = format!("SELECT count(*) FROM exercise WHERE {}", matching.condition);
                let values = params_from_iter(&matching.values);
                self.db.query_row(&sql, values, |row| row.get(0))?
            }
        };
        let reviewed = self.reviewed(&matching)?;
        let mut queue = self.due(&matching, times)?;
        let room = MAX_QUEUE - count(queue.len()).min(MAX_QUEUE);
        let new = new_per_day.saturating_sub(self.begun(query.set, times)?).min(room);
        let touched: HashSet<ExerciseId> =
            reviewed.iter().map(|it| it.id).chain(deleted.iter().copied()).collect();
        queue.extend(if let Some(problems) = &matching.problems {
            let new = problems.iter().filter(|id| !touched.contains(id)).take(new as usize);
            self.exercises_of(&new.copied().collect::<Vec<_>>())?
        } else {
            let order = if is_repertoire { "place" } else { "id" };
            self.listed(&matching, &format!("AND due IS NULL ORDER BY {order}"), (new, 0))?
        });
        if is_repertoire {
            let places = self.places(query.set)?;
            queue.sort_by_key(|it| places.get(&it.id).copied().unwrap_or(i64::MAX));
        }
        let limit = query.limit.unwrap_or(LISTED.0).clamp(1, LISTED.1);
        let mut exercises = if let Some(problems) = &matching.problems {
            let all = problems.iter().rev().filter(|id| !deleted.contains(id));
            let page = all.skip(query.offset as usize).take(limit as usize);
            self.exercises_of(&page.copied().collect::<Vec<_>>())?
        } else {
            let order = format!("ORDER BY {}", matching.order);
            self.listed(&matching, &order, (limit, query.offset))?
        };
        let themes = self.themes(query.set)?;
        if !themes.is_empty() {
            for exercise in queue.iter_mut().chain(&mut exercises) {
                let row = self.problem(exercise.set, exercise.id)?;
                exercise.rating = row.and_then(|row| row.rating);
                let has = |number: &usize| row.is_some_and(|row| row.themes >> number & 1 == 1);
                let named = (0..themes.len()).filter(has).filter_map(|number| themes.get(number));
                exercise.themes = named.map(|it| it.theme.clone()).collect();
            }
        }
        let mut stats = self.review_stats(&matching, times)?;
        let mut days = vec![0; DAYS];
        for Reviewed { due, stability, .. } in &reviewed {
            *(if *stability < LEARNED { &mut stats.learning } else { &mut stats.learned }) += 1;
            stats.due += u32::from(*due <= signed(times.now));
            let day = (due - signed(times.midnight)).div_euclid(DAY).max(0);
            if let Some(number) = usize::try_from(day).ok().and_then(|day| days.get_mut(day)) {
                *number += 1;
            }
        }
        stats.new = total.saturating_sub(count(reviewed.len()));
        let mut themes: Vec<ThemeCount> = themes;
        themes.sort_by(|a, b| a.theme.cmp(&b.theme));
        Ok(Some(FoundExercises {
            sets: self.training_sets(times)?,
            stats,
            queue,
            days,
            chapters: self.chapter_stats(&set, times)?,
            themes,
            ratings: set.ratings,
            exercises,
            total,
        }))
    }

    /// A part of the matching exercises: the maximum number, and how many come before.
    fn listed(
        &self,
        matching: &Matching,
        more: &str,
        (limit, offset): (u32, u32),
    ) -> Result<Vec<StoredExercise>, StoreError> {
        let condition = &matching.condition;
        let sql = format!(
            "SELECT {COLUMNS} FROM exercise WHERE {condition} {more} LIMIT {limit} OFFSET {offset}"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = query.query(params_from_iter(&matching.values))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(values_of(row)?);
        }
        Ok(found)
    }

    fn exercises_of(&self, ids: &[ExerciseId]) -> Result<Vec<StoredExercise>, StoreError> {
        ids.iter().filter_map(|id| self.exercise(*id).transpose()).collect()
    }

    /// The exercises that are due, the earliest first.
    fn due(&self, matching: &Matching, times: Times) -> Result<Vec<StoredExercise>, StoreError> {
        let now = signed(times.now);
        let sql = format!(
            "SELECT {COLUMNS} FROM exercise WHERE {} AND due <= {now} ORDER BY due, id",
            matching.condition
        );
        let mut query = self.db.prepare(&sql)?;
        let mut rows = query.query(params_from_iter(&matching.values))?;
        let mut found = Vec::new();
        while found.len() < MAX_QUEUE as usize
            && let Some(row) = rows.next()?
        {
            if matching.has(row.get(0)?) {
                found.push(values_of(row)?);
            }
        }
        Ok(found)
    }

    /// All matching exercises that were reviewed.
    fn reviewed(&self, matching: &Matching) -> Result<Vec<Reviewed>, StoreError> {
        // A comparison uses the index, unlike `IS NOT NULL`.
        let sql = format!(
            "SELECT id, due, stability FROM exercise WHERE {} AND due >= 0",
            matching.condition
        );
        let mut query = self.db.prepare(&sql)?;
        let rows = query.query_map(params_from_iter(&matching.values), |row| {
            Ok(Reviewed { id: row.get(0)?, due: row.get(1)?, stability: row.get(2)? })
        })?;
        let all = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(all.into_iter().filter(|it| matching.has(it.id)).collect())
    }

    /// The number of exercises of a set that were reviewed for the first time since midnight.
    fn begun(&self, set: TrainingSetId, times: Times) -> Result<u32, StoreError> {
        // `CROSS` keeps the order of the tables: a set can be large.
        let sql = "SELECT count(DISTINCT review.exercise) FROM review
             CROSS JOIN exercise ON exercise.id = review.exercise
             WHERE at >= ?1 AND set_id = ?2 AND NOT EXISTS (
                 SELECT 1 FROM review AS earlier
                 WHERE earlier.exercise = review.exercise AND earlier.at < ?1
             )";
        let values = params![signed(times.midnight), set];
        Ok(self.db.query_row(sql, values, |row| row.get(0))?)
    }

    /// The numbers of reviews.
    fn review_stats(&self, matching: &Matching, times: Times) -> Result<TrainingStats, StoreError> {
        let sql = format!(
            "SELECT review.exercise, at, grade FROM review
             CROSS JOIN exercise ON exercise.id = review.exercise WHERE at >= {} AND {}",
            signed(times.now) - RECENT,
            matching.condition
        );
        let mut query = self.db.prepare(&sql)?;
        let mut rows = query.query(params_from_iter(&matching.values))?;
        let mut stats = TrainingStats::default();
        while let Some(row) = rows.next()? {
            if matching.has(row.get(0)?) {
                stats.reviews += 1;
                stats.today += u32::from(signed(times.midnight) <= row.get(1)?);
                stats.solved += u32::from(grade_number(ExerciseGrade::Again) < row.get(2)?);
            }
        }
        Ok(stats)
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::read_problems;
    use crate::wire::{ExerciseKind, Variant};

    const DAY: u64 = 24 * 60 * 60 * 1000;
    const NOON: u64 = 1_700_049_600_000;

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("it opens");
        (directory, store)
    }

    fn tasks(text: &str) -> Vec<Task> {
        let mut tasks = Vec::new();
        read_problems("a.epd", text.as_bytes(), |it| {
            tasks.push(Task::restored(&it.stored, it.variant, it.kind).expect("it is readable"));
            true
        });
        tasks
    }

    fn add(store: &mut Store, text: &str) -> (u32, u32) {
        store.add_exercises(&tasks(text), true, NOON).expect("they are added")
    }

    fn training(store: &Store, days: u64) -> FoundExercises {
        let times = Times { now: NOON + days * DAY, midnight: NOON + days * DAY - DAY / 2 };
        store.training(&TrainingQuery::default(), 2, times).expect("it works").expect("a set")
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
        assert_eq!(store.add_exercises(&tasks(PROBLEMS), false, NOON).expect("it works"), (0, 3));
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
            store.training(&query, 9, times).expect("it works").expect("a set").total
        };
        assert_eq!(count(Some(Variant::Chess), Some(ExerciseKind::Mate)), 2);
        assert_eq!(count(None, Some(ExerciseKind::BestMove)), 1);
        assert_eq!(count(Some(Variant::Shogi), None), 0);
    }
}
