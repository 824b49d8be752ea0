//! Sets of exercises: repertoires, and problems with themes and ratings.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::exercise_tables::{COUNT_SET, DELETED, REMOVED, Times, signed};
use super::{Store, StoreError};
use crate::training::{
    LEARNED, MAX_THEMES, Problem, ProblemFilter, ProblemRow, Repertoire, Task, decode_block,
    encode_block, find_in_block, kind_name, variant_name, variant_named,
};
use crate::wire::{
    ChapterStats, ExerciseId, OWN_MISTAKES, Selection, Side, ThemeCount, TrainingQuery,
    TrainingSet, TrainingSetId, TrainingSetKind, Variant,
};

/// Number of rows that one step of a deletion removes.
const DELETED_ROWS: u32 = 5000;

/// A set as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredSet {
    pub(crate) id: TrainingSetId,
    pub(crate) kind: TrainingSetKind,
    pub(crate) name: String,
    pub(crate) variant: Option<Variant>,
    pub(crate) side: Option<Side>,
    pub(crate) marks: Vec<u8>,
    /// The games that a repertoire follows.
    pub(crate) source: Option<Selection>,
    /// The version of these games that the set has.
    pub(crate) stamp: Option<String>,
    pub(crate) chapters: Vec<String>,
    pub(crate) added: u64,
    pub(crate) total: u32,
    /// The lowest and the highest rating.
    pub(crate) ratings: Option<[u16; 2]>,
}

/// A set that is created unless it exists.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a value exists for a moment")]
pub(crate) enum NewSet {
    Problems { name: String },
    Repertoire { name: String, side: Side, marks: Vec<u8>, source: Option<Selection> },
}

impl NewSet {
    fn kind(&self) -> TrainingSetKind {
        match self {
            Self::Problems { .. } => TrainingSetKind::Problems,
            Self::Repertoire { .. } => TrainingSetKind::Repertoire,
        }
    }
}

/// What an import has changed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Changed {
    pub(crate) added: u32,
    pub(crate) known: u32,
    pub(crate) removed: u32,
    /// Whether the set has no room for a theme.
    pub(crate) too_many_themes: bool,
}

fn set_kind_name(kind: TrainingSetKind) -> &'static str {
    match kind {
        TrainingSetKind::Mistakes => "mistakes",
        TrainingSetKind::Repertoire => "repertoire",
        TrainingSetKind::Problems => "problems",
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

const COLUMNS: &str = "id, kind, name, variant, side, marks, source, stamp, chapters, added, total, min_rating, max_rating";

fn set_of(row: &Row<'_>) -> Result<StoredSet, StoreError> {
    use TrainingSetKind::{Mistakes, Problems, Repertoire};
    let kind: String = row.get(1)?;
    let kind = [Mistakes, Repertoire, Problems].into_iter().find(|it| set_kind_name(*it) == kind);
    let side: Option<String> = row.get(4)?;
    let variant: Option<String> = row.get(3)?;
    let source: Option<String> = row.get(6)?;
    let ratings: (Option<u16>, Option<u16>) = (row.get(11)?, row.get(12)?);
    Ok(StoredSet {
        id: row.get(0)?,
        kind: kind.unwrap_or(Problems),
        name: row.get(2)?,
        variant: variant.as_deref().and_then(variant_named),
        side: Side::BOTH.into_iter().find(|it| side.as_deref() == Some(side_name(*it))),
        marks: serde_json::from_str(&row.get::<_, String>(5)?)?,
        source: source.as_deref().map(serde_json::from_str).transpose()?,
        stamp: row.get(7)?,
        chapters: serde_json::from_str(&row.get::<_, String>(8)?)?,
        added: u64::try_from(row.get::<_, i64>(9)?).unwrap_or_default(),
        total: row.get(10)?,
        ratings: ratings.0.zip(ratings.1).map(|(min, max)| [min, max]),
    })
}

/// The themes of a set by their bits.
pub(super) fn read_themes(
    db: &Connection,
    set: TrainingSetId,
) -> Result<Vec<ThemeCount>, StoreError> {
    let sql = "SELECT name, total FROM training_theme WHERE set_id = ?1 ORDER BY number";
    let mut query = db.prepare_cached(sql)?;
    let rows =
        query.query_map([set], |row| Ok(ThemeCount { theme: row.get(0)?, count: row.get(1)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn save_themes(
    db: &Connection,
    set: TrainingSetId,
    themes: &[ThemeCount],
) -> Result<(), StoreError> {
    let sql = "REPLACE INTO training_theme (set_id, number, name, total) VALUES (?1, ?2, ?3, ?4)";
    let mut save = db.prepare_cached(sql)?;
    for (number, ThemeCount { theme, count }) in (0..).zip(themes) {
        let number: i64 = number;
        save.execute(params![set, number, theme, count])?;
    }
    Ok(())
}

/// The entry of a problem. Its themes are counted; new ones are added while there is room.
pub(super) fn problem_row(
    exercise: ExerciseId,
    problem: &Problem,
    themes: &mut Vec<ThemeCount>,
) -> ProblemRow {
    let mut bits = 0;
    for name in &problem.themes {
        let known = themes.iter().position(|it| it.theme == *name);
        let number = known.unwrap_or(themes.len());
        if known.is_none() && number < MAX_THEMES {
            themes.push(ThemeCount { theme: name.clone(), count: 0 });
        }
        if let Some(theme) = themes.get_mut(number).filter(|_| bits >> number & 1 == 0) {
            theme.count += 1;
            bits |= 1_u128 << number;
        }
    }
    ProblemRow { exercise, rating: problem.rating, themes: bits }
}

/// Saves the entries of exercises whose numbers grow.
pub(super) fn save_block(
    db: &Connection,
    set: TrainingSetId,
    rows: &[ProblemRow],
) -> Result<(), StoreError> {
    let Some(first) = rows.first() else { return Ok(()) };
    let sql = "INSERT INTO problem_block (first, set_id, entries) VALUES (?1, ?2, ?3)";
    db.execute(sql, params![first.exercise, set, encode_block(rows)])?;
    Ok(())
}

impl Store {
    pub(crate) fn training_set(&self, id: TrainingSetId) -> Result<Option<StoredSet>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM training_set WHERE id = ?1 AND deleted = 0");
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = query.query([id])?;
        rows.next()?.map(set_of).transpose()
    }

    /// All sets with their numbers.
    pub(super) fn training_sets(&self, times: Times) -> Result<Vec<TrainingSet>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM training_set WHERE deleted = 0 ORDER BY id <> 0, name, id"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = query.query([])?;
        let sql = "SELECT count(*) FILTER (WHERE stability < ?2), count(*) FILTER (WHERE stability >= ?2),
             count(*) FILTER (WHERE due <= ?3)
             FROM exercise WHERE set_id = ?1 AND deleted = 0 AND due >= 0";
        let mut counts = self.db.prepare_cached(sql)?;
        let mut sets = Vec::new();
        while let Some(row) = rows.next()? {
            let set = set_of(row)?;
            let values = params![set.id, LEARNED, signed(times.now)];
            let (learning, learned, due) =
                counts.query_row(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            sets.push(TrainingSet {
                id: set.id,
                kind: set.kind,
                name: set.name,
                variant: set.variant,
                side: set.side,
                marks: set.marks,
                linked: set.source.is_some(),
                added: set.added,
                total: set.total,
                learning,
                learned,
                due,
            });
        }
        Ok(sets)
    }

    /// The set of this kind, name and side, which is created if it is missing.
    pub(crate) fn open_set(&mut self, new: &NewSet, now: u64) -> Result<TrainingSetId, StoreError> {
        let (name, side, marks, source) = match new {
            NewSet::Problems { name } => (name, None, &[][..], None),
            NewSet::Repertoire { name, side, marks, source } => {
                (name, Some(side_name(*side)), &marks[..], source.as_ref())
            }
        };
        let marks = serde_json::to_string(marks)?;
        let source = source.map(serde_json::to_string).transpose()?;
        let kind = set_kind_name(new.kind());
        let change = self.db.transaction()?;
        let sql = "SELECT id FROM training_set
             WHERE kind = ?1 AND name = ?2 AND side IS ?3 AND deleted = 0 ORDER BY id LIMIT 1";
        let known =
            change.query_row(sql, params![kind, name, side], |row| row.get(0)).optional()?;
        let id = if let Some(id) = known {
            let sql = "UPDATE training_set SET marks = ?2, source = ?3, stamp = NULL WHERE id = ?1";
            change.execute(sql, params![id, marks, source])?;
            id
        } else {
            let sql = "INSERT INTO training_set (kind, name, side, marks, source, added)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id";
            let values = params![kind, name, side, marks, source, signed(now)];
            change.query_row(sql, values, |row| row.get(0))?
        };
        change.commit()?;
        Ok(id)
    }

    /// Renames a set. Returns whether there is one; that of own mistakes has no name.
    pub(crate) fn rename_set(&mut self, id: TrainingSetId, name: &str) -> Result<bool, StoreError> {
        let sql = "UPDATE training_set SET name = ?2 WHERE id = ?1 AND id <> ?3 AND deleted = 0";
        Ok(0 < self.db.execute(sql, params![id, name, OWN_MISTAKES])?)
    }

    /// Hides a set, which [`Store::purge_sets`] deletes. Returns whether there is one; that of own mistakes remains.
    pub(crate) fn delete_set(&mut self, id: TrainingSetId) -> Result<bool, StoreError> {
        let sql = "UPDATE training_set SET deleted = 1 WHERE id = ?1 AND id <> ?2 AND deleted = 0";
        Ok(0 < self.db.execute(sql, params![id, OWN_MISTAKES])?)
    }

    /// Deletes some rows of hidden sets. Returns whether there are more.
    pub(crate) fn purge_sets(&mut self) -> Result<bool, StoreError> {
        let change = self.db.transaction()?;
        let sql = "SELECT id FROM training_set WHERE deleted <> 0 LIMIT 1";
        let set = change.query_row(sql, [], |row| row.get::<_, TrainingSetId>(0)).optional()?;
        let Some(set) = set else { return Ok(false) };
        let rows = "SELECT id FROM exercise WHERE set_id = ?1 LIMIT ?2";
        let values = params![set, DELETED_ROWS];
        change.execute(&format!("DELETE FROM review WHERE exercise IN ({rows})"), values)?;
        if change.execute(&format!("DELETE FROM exercise WHERE id IN ({rows})"), values)? == 0 {
            for table in ["problem_block", "training_theme"] {
                change.execute(&format!("DELETE FROM {table} WHERE set_id = ?1"), [set])?;
            }
            change.execute("DELETE FROM training_set WHERE id = ?1", [set])?;
        }
        change.commit()?;
        Ok(true)
    }

    /// Adds a batch of problems to a set. Deleted ones are restored. None if the set was deleted.
    pub(crate) fn add_problems(
        &mut self,
        set: TrainingSetId,
        problems: &[Problem],
        now: u64,
    ) -> Result<Option<Changed>, StoreError> {
        let Some(known_set) = self.training_set(set)? else { return Ok(None) };
        let change = self.db.transaction()?;
        let mut themes = read_themes(&change, set)?;
        let mut changed = Changed::default();
        let mut rows = Vec::with_capacity(problems.len());
        let mut insert = change.prepare_cached(
            "INSERT OR IGNORE INTO exercise (set_id, key, variant, kind, kept, added)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let mut restore = change.prepare_cached(
            "UPDATE exercise SET deleted = 0 WHERE set_id = ?1 AND key = ?2 AND deleted <> 0",
        )?;
        for problem in problems {
            let Problem { key, variant, kind, stored, .. } = problem;
            let names = (variant_name(*variant), kind_name(*kind));
            let values = params![set, key, names.0, names.1, stored, signed(now)];
            if 0 < insert.execute(values)? {
                let id =
                    ExerciseId::try_from(change.last_insert_rowid()).unwrap_or(ExerciseId::MAX);
                let row = problem_row(id, problem, &mut themes);
                let distinct: HashSet<&String> = problem.themes.iter().collect();
                changed.too_many_themes |= (row.themes.count_ones() as usize) < distinct.len();
                rows.push(row);
                changed.added += 1;
            } else if 0 < restore.execute(params![set, key])? {
                changed.added += 1;
            } else {
                changed.known += 1;
            }
        }
        drop((insert, restore));
        save_block(&change, set, &rows)?;
        save_themes(&change, set, &themes)?;
        let first = problems.first().map(|it| it.variant);
        let variant = first.filter(|first| {
            problems.iter().all(|it| it.variant == *first)
                && (known_set.total == 0 || known_set.variant == Some(*first))
        });
        let ratings = rows.iter().filter_map(|row| row.rating);
        change.execute(
            "UPDATE training_set SET total = total + ?2, variant = ?3,
             min_rating = coalesce(min(min_rating, ?4), min_rating, ?4),
             max_rating = coalesce(max(max_rating, ?5), max_rating, ?5) WHERE id = ?1",
            params![
                set,
                changed.added,
                variant.map(variant_name),
                ratings.clone().min(),
                ratings.max()
            ],
        )?;
        change.commit()?;
        Ok(Some(changed))
    }

    /// Replaces the positions of a repertoire. Those that remain keep their reviews; those with other moves are due
    /// now. Positions that return have their reviews again. None if the set was deleted.
    pub(crate) fn save_repertoire(
        &mut self,
        set: TrainingSetId,
        repertoire: &Repertoire,
        (stamp, now): (Option<&str>, u64),
    ) -> Result<Option<Changed>, StoreError> {
        if self.training_set(set)?.is_none() {
            return Ok(None);
        }
        let change = self.db.transaction()?;
        let mut known: HashMap<i64, (ExerciseId, String, i64)> = HashMap::new();
        {
            let sql = "SELECT key, id, kept, deleted FROM exercise WHERE set_id = ?1";
            let mut query = change.prepare_cached(sql)?;
            let mut rows = query.query([set])?;
            while let Some(row) = rows.next()? {
                known.insert(row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?));
            }
        }
        let mut changed = Changed::default();
        let mut insert = change.prepare_cached(
            "INSERT INTO exercise (set_id, key, variant, kind, kept, added, chapter, place)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        let mut update = change.prepare_cached(
            "UPDATE exercise SET kept = ?2, chapter = ?3, place = ?4, deleted = ?5,
             due = CASE WHEN ?6 AND due > ?7 THEN ?7 ELSE due END WHERE id = ?1",
        )?;
        for (place, it) in (0_i64..).zip(&repertoire.tasks) {
            let kept = serde_json::to_string(&it.task)?;
            if let Some((id, before, deleted)) = known.remove(&it.key) {
                let before: Task = serde_json::from_str(&before)?;
                let has_other_moves = !before.best.iter().any(|mv| it.task.best.contains(mv));
                let hidden = if deleted == DELETED { DELETED } else { 0 };
                let values =
                    params![id, kept, it.chapter, place, hidden, has_other_moves, signed(now)];
                update.execute(values)?;
                *(if deleted == REMOVED { &mut changed.added } else { &mut changed.known }) += 1;
            } else {
                let (variant, kind) = (variant_name(it.task.variant), kind_name(it.task.kind));
                let values =
                    params![set, it.key, variant, kind, kept, signed(now), it.chapter, place];
                insert.execute(values)?;
                changed.added += 1;
            }
        }
        for (id, _, deleted) in known.into_values() {
            if deleted == 0 {
                let sql = "UPDATE exercise SET deleted = ?2 WHERE id = ?1";
                change.prepare_cached(sql)?.execute(params![id, REMOVED])?;
                changed.removed += 1;
            }
        }
        drop((insert, update));
        let sql = "UPDATE training_set SET stamp = ?2, chapters = ?3, variant = ?4 WHERE id = ?1";
        let chapters = serde_json::to_string(&repertoire.chapters)?;
        let variant = repertoire.variant().map(variant_name);
        change.execute(sql, params![set, stamp, chapters, variant])?;
        change.execute(COUNT_SET, [set])?;
        change.commit()?;
        Ok(Some(changed))
    }

    /// The problems that match the themes and ratings of a query, in ascending order. None for all.
    pub(super) fn matching_problems(
        &self,
        query: &TrainingQuery,
    ) -> Result<Option<Vec<ExerciseId>>, StoreError> {
        let mut filter =
            ProblemFilter { themes: 0, min_rating: query.min_rating, max_rating: query.max_rating };
        let themes = self.themes(query.set)?;
        for name in &query.themes {
            match themes.iter().position(|it| it.theme == *name) {
                Some(number) => filter.themes |= 1_u128 << number,
                None => return Ok(Some(Vec::new())),
            }
        }
        if filter.is_all() {
            return Ok(None);
        }
        let sql = "SELECT entries FROM problem_block WHERE set_id = ?1 ORDER BY first";
        let mut query_blocks = self.db.prepare_cached(sql)?;
        let mut blocks = query_blocks.query([query.set])?;
        let mut found = Vec::new();
        while let Some(block) = blocks.next()? {
            let entries = block.get_ref(0)?.as_blob().unwrap_or_default();
            let rows = decode_block(entries).filter(|row| filter.matches(row));
            found.extend(rows.map(|row| row.exercise));
        }
        Ok(Some(found))
    }

    /// The entry of a problem.
    pub(super) fn problem(
        &self,
        set: TrainingSetId,
        id: ExerciseId,
    ) -> Result<Option<ProblemRow>, StoreError> {
        let sql = "SELECT entries FROM problem_block WHERE first <= ?2 AND set_id = ?1
             ORDER BY first DESC LIMIT 1";
        let mut query = self.db.prepare_cached(sql)?;
        let mut blocks = query.query([set, id])?;
        let Some(block) = blocks.next()? else { return Ok(None) };
        let entries = block.get_ref(0)?.as_blob().unwrap_or_default();
        Ok(find_in_block(entries, id))
    }

    /// The themes of a set by their bits.
    pub(super) fn themes(&self, set: TrainingSetId) -> Result<Vec<ThemeCount>, StoreError> {
        read_themes(&self.db, set)
    }

    pub(super) fn deleted_exercises(
        &self,
        set: TrainingSetId,
    ) -> Result<HashSet<ExerciseId>, StoreError> {
        let sql = "SELECT id FROM exercise WHERE set_id = ?1 AND deleted <> 0";
        let mut query = self.db.prepare_cached(sql)?;
        let rows = query.query_map([set], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The places of the positions of a repertoire.
    pub(super) fn places(
        &self,
        set: TrainingSetId,
    ) -> Result<HashMap<ExerciseId, i64>, StoreError> {
        let sql = "SELECT id, place FROM exercise WHERE set_id = ?1 AND deleted = 0";
        let mut query = self.db.prepare_cached(sql)?;
        let rows =
            query.query_map([set], |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?)))?;
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(rows.into_iter().filter_map(|(id, place)| Some((id, place?))).collect())
    }

    pub(super) fn chapter_stats(
        &self,
        set: &StoredSet,
        times: Times,
    ) -> Result<Vec<ChapterStats>, StoreError> {
        if set.chapters.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT chapter, count(*), count(*) FILTER (WHERE stability >= ?2),
             count(*) FILTER (WHERE stability < ?2), count(*) FILTER (WHERE due <= ?3),
             sum(reviews), sum(lapses)
             FROM exercise WHERE set_id = ?1 AND deleted = 0 AND chapter >= 0 GROUP BY chapter";
        let mut query = self.db.prepare_cached(sql)?;
        let values = params![set.id, LEARNED, signed(times.now)];
        let rows = query.query_map(values, |row| {
            let stats = ChapterStats {
                name: String::new(),
                total: row.get(1)?,
                learned: row.get(2)?,
                learning: row.get(3)?,
                due: row.get(4)?,
                reviews: row.get(5)?,
                lapses: row.get(6)?,
            };
            Ok((row.get::<_, u32>(0)?, stats))
        })?;
        let mut known: BTreeMap<u32, ChapterStats> = rows.collect::<Result<_, _>>()?;
        let chapter = |(number, name): (u32, &String)| {
            let stats = known.remove(&number).unwrap_or_default();
            ChapterStats { name: name.clone(), ..stats }
        };
        Ok((0..).zip(&set.chapters).map(chapter).collect())
    }
}

#[cfg(test)]
mod tests {
    use readyok_rules::record::read;

    use super::super::exercises::FoundExercises;
    use super::*;
    use crate::training::{RepertoireRules, read_problems};
    use crate::wire::{ExerciseGrade, TrainingStats};

    const DAY: u64 = 24 * 60 * 60 * 1000;
    const HOUR: u64 = DAY / 24;
    /// Midnight of the first day.
    const START: u64 = 1_700_006_400_000;

    /// Transposes from the second chapter to the first one.
    const STUDY: &str = "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3 *\n\n1. c4 e6 2. d4 Nf6 3. Nc3 *\n";

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("it opens");
        (directory, store)
    }

    fn repertoire(store: &mut Store, text: &str, at: u64) -> (TrainingSetId, Changed) {
        let rules = RepertoireRules { side: Side::First, marks: Vec::new() };
        let mut repertoire = Repertoire::new(rules);
        for record in read(text.as_bytes(), None).flatten() {
            repertoire.add("chapter", None, &record).expect("it is small");
        }
        let (name, side, marks) = ("study".to_owned(), Side::First, Vec::new());
        let new = NewSet::Repertoire { name, side, marks, source: None };
        let set = store.open_set(&new, at).expect("it works");
        let saved = store.save_repertoire(set, &repertoire, (None, at)).expect("it works");
        (set, saved.expect("it exists"))
    }

    fn training(store: &Store, query: &TrainingQuery, now: u64) -> FoundExercises {
        let times = Times { now, midnight: now - now % DAY };
        store.training(query, 3, times).expect("it works").expect("it exists")
    }

    fn of(set: TrainingSetId) -> TrainingQuery {
        TrainingQuery { set, ..TrainingQuery::default() }
    }

    fn lines(found: &FoundExercises) -> Vec<String> {
        found.queue.iter().map(|it| it.task.line.join(" ")).collect()
    }

    /// Each position is answered once; `again` are answered wrongly first.
    #[test]
    fn a_repertoire_is_trained_for_three_days() {
        let (directory, mut store) = store();
        let (set, changed) = repertoire(&mut store, STUDY, START);
        assert_eq!((changed.added, changed.known, changed.removed), (5, 0, 0));

        // Day 1: the first three positions in the order of their lines. One answer is wrong.
        let morning = START + 9 * HOUR;
        let found = training(&store, &of(set), morning);
        assert_eq!(lines(&found), ["", "d2d4 g8f6", "d2d4 g8f6 c2c4 e7e6"]);
        let ids: Vec<ExerciseId> = found.queue.iter().map(|it| it.id).collect();
        for (id, grade) in
            ids.iter().zip([ExerciseGrade::Good, ExerciseGrade::Again, ExerciseGrade::Easy])
        {
            store.review(*id, grade, morning).expect("it works").expect("it exists");
        }
        assert_eq!(lines(&training(&store, &of(set), morning)), [""; 0]);
        let later = training(&store, &of(set), morning + HOUR);
        assert_eq!(lines(&later), ["d2d4 g8f6"], "the wrong answer is repeated");
        store.review(ids[1], ExerciseGrade::Good, morning + HOUR).expect("it works");
        let TrainingStats { new, learning, today, reviews, solved, .. } =
            training(&store, &of(set), morning + HOUR).stats;
        assert_eq!((new, learning, today, reviews, solved), (2, 3, 4, 4, 3));

        // Day 2: the program was restarted. New positions, and what is due.
        drop(store);
        let mut store = Store::open(directory.path()).expect("it opens");
        let second = morning + DAY;
        let found = training(&store, &of(set), second);
        let due = found.stats.due;
        assert!(0 < due && due < 3, "{due} are due");
        assert_eq!(found.queue.len(), due as usize + 2);
        assert_eq!(found.stats.today, 0);
        for exercise in &found.queue {
            store.review(exercise.id, ExerciseGrade::Good, second).expect("it works");
        }
        let found = training(&store, &of(set), second);
        assert_eq!((found.queue.len(), found.stats.new, found.stats.learning), (0, 0, 5));
        assert_eq!(found.days.len(), 15);
        assert_eq!(found.days[0], 0, "nothing more is due today");
        assert!(0 < found.days.iter().sum::<u32>(), "{:?}", found.days);

        // Day 3: intervals grow, and the forecast was right.
        let third = second + DAY;
        let found = training(&store, &of(set), third);
        assert_eq!(found.days[0], found.stats.due);
        for exercise in &found.queue {
            let before = exercise.memory.expect("it was reviewed");
            let memory = store.review(exercise.id, ExerciseGrade::Good, third).expect("it works");
            let memory = memory.expect("it exists");
            assert!(before.due - before.reviewed < memory.due - memory.reviewed);
        }
        let [summary] = &found.sets[1..] else { panic!("one set") };
        assert_eq!((summary.total, summary.learning, summary.due), (5, 5, found.stats.due));
        let [first, second] = &found.chapters[..] else { panic!("two chapters") };
        assert_eq!((first.total, second.total), (4, 1));
        assert_eq!(first.lapses, 1);
    }

    #[test]
    fn a_changed_study_keeps_reviews() {
        let (_directory, mut store) = store();
        let (set, _) = repertoire(&mut store, STUDY, START);
        let found = training(&store, &of(set), START);
        let [root, second, third] = &found.queue[..] else { panic!("three new ones a day") };
        for it in [root, second, third] {
            store.review(it.id, ExerciseGrade::Easy, START).expect("it works").expect("it exists");
        }
        // 2. Nf3 replaces 2. c4 and what follows, and 3. Nf3 is another move next to 3. Nc3 in the second chapter.
        let changed = "1. d4 Nf6 2. Nf3 *\n\n1. c4 e6 2. d4 Nf6 3. Nc3 (3. Nf3) *\n";
        let (again, changed) = repertoire(&mut store, changed, START + 1);
        assert_eq!((again, changed.added, changed.known, changed.removed), (set, 0, 4, 1));
        let found = training(&store, &of(set), START + 2);
        assert_eq!(found.total, 4);
        assert_eq!(lines(&found), ["d2d4 g8f6"], "its only move is another one");
        let reviews = |found: &FoundExercises| {
            found.exercises.iter().filter(|it| it.memory.is_some()).count()
        };
        assert_eq!(reviews(&found), 3);
        // A position that returns has its reviews.
        let (_, changed) = repertoire(&mut store, STUDY, START + 3);
        assert_eq!((changed.added, changed.known, changed.removed), (1, 4, 0));
        assert_eq!(reviews(&training(&store, &of(set), START + 3)), 3);
        // A position that the user has deleted does not return.
        store.delete_exercises(&[root.id]).expect("it works");
        repertoire(&mut store, STUDY, START + 4);
        assert_eq!(training(&store, &of(set), START + 4).total, 4);
    }

    /// Rows with a pawn on different squares.
    fn rows(count: usize) -> String {
        let row = |number: usize| {
            let theme = if number.is_multiple_of(3) { "pin" } else { "fork short" };
            let (file, pawn) = (number % 5, 2 + number / 5 % 5);
            let pawn_rank = format!("{}P{}", "1".repeat(file), 7 - file);
            let middle: Vec<&str> =
                (2..8).rev().map(|rank| if rank == pawn { &*pawn_rank } else { "8" }).collect();
            let fen = format!("7k/{}/7K b - - 0 1", middle.join("/"));
            format!("{number},{fen},h8h7 h1h2,{},,,,{theme}\n", 1000 + number)
        };
        (0..count).map(row).collect()
    }

    fn problems(store: &mut Store, text: &str) -> (TrainingSetId, Changed) {
        let set =
            store.open_set(&NewSet::Problems { name: "a".to_owned() }, START).expect("it works");
        let mut all = Vec::new();
        let omitted = read_problems("a.csv", text.as_bytes(), |problem| {
            all.push(problem);
            true
        });
        assert_eq!(omitted.errors, []);
        let mut total = Changed::default();
        for batch in all.chunks(7) {
            let Changed { added, known, .. } =
                store.add_problems(set, batch, START).expect("it works").expect("it exists");
            (total.added, total.known) = (total.added + added, total.known + known);
        }
        (set, total)
    }

    #[test]
    fn problems_are_filtered_by_themes_and_ratings() {
        let (_directory, mut store) = store();
        let (set, changed) = problems(&mut store, &rows(25));
        assert_eq!((changed.added, changed.known), (25, 0));
        let found = training(&store, &of(set), START);
        let themes: Vec<_> = found.themes.iter().map(|it| (&*it.theme, it.count)).collect();
        assert_eq!(themes, [("fork", 16), ("pin", 9), ("short", 16)]);
        assert_eq!((found.total, found.ratings), (25, Some([1000, 1024])));
        assert_eq!(found.queue[0].rating, Some(1000));
        let query = TrainingQuery {
            themes: vec!["fork".to_owned(), "short".to_owned()],
            min_rating: Some(1010),
            max_rating: Some(1019),
            ..of(set)
        };
        let found = training(&store, &query, START);
        let ratings = |all: &[super::super::StoredExercise]| {
            all.iter().filter_map(|it| it.rating).collect::<Vec<_>>()
        };
        assert_eq!(ratings(&found.queue), [1010, 1011, 1013]);
        assert_eq!(found.queue[0].themes, ["fork", "short"]);
        assert_eq!(ratings(&found.exercises), [1019, 1017, 1016, 1014, 1013, 1011, 1010]);
        assert_eq!((found.total, found.stats.new), (7, 7));
        // Reviewed and deleted ones are not new.
        store.review(found.queue[0].id, ExerciseGrade::Easy, START).expect("it works");
        store.delete_exercises(&[found.queue[1].id]).expect("it works");
        let found = training(&store, &query, START + 1);
        assert_eq!(ratings(&found.queue), [1013, 1014]);
        assert_eq!((found.total, found.stats.new, found.stats.learning), (6, 5, 1));
        assert_eq!(training(&store, &of(set), START).total, 24);
        let none = TrainingQuery { themes: vec!["endgame".to_owned()], ..of(set) };
        assert_eq!(training(&store, &none, START).total, 0);
        // The same file again: a deleted problem is restored.
        let (again, changed) = problems(&mut store, &rows(26));
        assert_eq!((again, changed.added, changed.known), (set, 1, 25));
    }

    #[test]
    fn a_deleted_set_is_gone_with_its_reviews() {
        let (_directory, mut store) = store();
        let (set, _) = problems(&mut store, &rows(25));
        let (other, _) = repertoire(&mut store, STUDY, START);
        let id = training(&store, &of(set), START).queue[0].id;
        store.review(id, ExerciseGrade::Good, START).expect("it works");
        assert!(store.delete_set(set).expect("it works"));
        assert!(!store.delete_set(OWN_MISTAKES).expect("it works"));
        assert!(store.training_set(set).expect("it works").is_none());
        assert!(store.add_problems(set, &[], START).expect("it works").is_none());
        while store.purge_sets().expect("it works") {}
        assert!(store.exercise(id).expect("it works").is_none());
        assert_eq!(training(&store, &of(other), START).total, 5);
        let rows = |table: &str| -> u32 {
            let sql = format!("SELECT count(*) FROM {table}");
            store.db.query_row(&sql, [], |row| row.get(0)).expect("it works")
        };
        assert_eq!(
            ["review", "problem_block", "training_theme", "exercise"].map(rows),
            [0, 0, 0, 5]
        );
    }

    #[test]
    fn more_themes_than_fit_are_noticed() {
        let (_directory, mut store) = store();
        let set =
            store.open_set(&NewSet::Problems { name: String::new() }, START).expect("it works");
        let mut all = Vec::new();
        read_problems("a.csv", rows(25).as_bytes(), |mut problem| {
            problem.themes = (0..10).map(|number| format!("{}-{number}", all.len())).collect();
            all.push(problem);
            true
        });
        let changed = store.add_problems(set, &all, START).expect("it works").expect("it exists");
        assert!(changed.too_many_themes);
        assert_eq!(training(&store, &of(set), START).themes.len(), MAX_THEMES);
    }
}
