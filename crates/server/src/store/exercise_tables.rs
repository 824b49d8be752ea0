//! The tables of sets, exercises and reviews in `app.sqlite`, and values of their columns.

/// What is deleted: an exercise by the user, or a position that is not in the repertoire any more.
pub(super) const DELETED: i64 = 1;
pub(super) const REMOVED: i64 = 2;

/// Counts the exercises of a set.
pub(super) const COUNT_SET: &str = "UPDATE training_set SET total =
    (SELECT count(*) FROM exercise WHERE set_id = ?1 AND deleted = 0) WHERE id = ?1";

/// `key` identifies the position in its set. `place` orders the positions of a repertoire. The set 0 is that of own
/// mistakes. Only numbers of added exercises grow: the indices are written at their ends by an import.
pub(super) const SCHEMA: &str = "
    CREATE TABLE training_set (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        variant TEXT,
        side TEXT,
        marks TEXT NOT NULL DEFAULT '[]',
        source TEXT,
        stamp TEXT,
        chapters TEXT NOT NULL DEFAULT '[]',
        added INTEGER NOT NULL,
        total INTEGER NOT NULL DEFAULT 0,
        min_rating INTEGER,
        max_rating INTEGER,
        deleted INTEGER NOT NULL DEFAULT 0
    );
    INSERT INTO training_set (id, kind, name, added) VALUES (0, 'mistakes', '', 0);
    CREATE TABLE training_theme (
        set_id INTEGER NOT NULL,
        number INTEGER NOT NULL,
        name TEXT NOT NULL,
        total INTEGER NOT NULL,
        PRIMARY KEY (set_id, number)
    ) WITHOUT ROWID;
    CREATE TABLE problem_block (
        first INTEGER PRIMARY KEY,
        set_id INTEGER NOT NULL,
        entries BLOB NOT NULL
    );
    CREATE INDEX problem_block_by_set ON problem_block (set_id);
    CREATE TABLE exercise (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        set_id INTEGER NOT NULL,
        key INTEGER NOT NULL,
        variant TEXT NOT NULL,
        kind TEXT NOT NULL,
        kept TEXT NOT NULL,
        added INTEGER NOT NULL,
        due INTEGER,
        stability REAL,
        difficulty REAL,
        reviewed INTEGER,
        reviews INTEGER NOT NULL DEFAULT 0,
        lapses INTEGER NOT NULL DEFAULT 0,
        deleted INTEGER NOT NULL DEFAULT 0,
        chapter INTEGER,
        place INTEGER
    );
    CREATE UNIQUE INDEX exercise_by_key ON exercise (set_id, key);
    CREATE INDEX exercise_by_due ON exercise (set_id, due) WHERE deleted = 0;
    CREATE INDEX exercise_by_set ON exercise (set_id) WHERE deleted = 0;
    CREATE INDEX exercise_deleted ON exercise (set_id) WHERE deleted <> 0;
    CREATE TABLE review (
        exercise INTEGER NOT NULL REFERENCES exercise (id),
        at INTEGER NOT NULL,
        grade INTEGER NOT NULL,
        PRIMARY KEY (exercise, at)
    ) WITHOUT ROWID;
    CREATE INDEX review_by_time ON review (at);
";

/// Times of a query, as Unix times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) now: u64,
    pub(crate) midnight: u64,
}

pub(super) fn signed(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
