//! Reports and jobs in `app.sqlite`.

use std::path::PathBuf;

use readyok_library::{NewGame, Outcome};
use readyok_rules::record::{EngineNote, EngineNotes};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::{Store, StoreError};
use crate::time::Moment;
use crate::wire::{
    AccountCursor, AccountName, Duplicates, GameId, JobError, JobId, NodeId, ReportSettings,
};

/// A report as it is stored. Its notes are stored separately, by the plies of the nodes.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StoredReport {
    pub(crate) settings: ReportSettings,
    /// The root and the main line at the start of the report.
    pub(crate) nodes: Vec<NodeId>,
    #[serde(skip)]
    pub(crate) notes: EngineNotes,
}

impl StoredReport {
    pub(crate) fn new(settings: ReportSettings, nodes: Vec<NodeId>) -> Self {
        Self { settings, nodes, notes: EngineNotes::default() }
    }
}

/// A job as stored in the library. Its games are stored separately.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct StoredJob {
    pub(crate) added: Moment,
    pub(crate) directory: Option<PathBuf>,
    /// The name of a file that a tab has sent.
    pub(crate) upload: Option<String>,
    /// The account whose games are imported.
    pub(crate) account: Option<AccountJob>,
    /// How long the games were read, in milliseconds.
    pub(crate) elapsed: u64,
    pub(crate) settings: Option<ReportSettings>,
    pub(crate) duplicate_choice: Duplicates,
    pub(crate) files_done: usize,
    pub(crate) files: usize,
    /// Number of games that were imported from the file after `files_done`.
    pub(crate) in_file: usize,
    /// Number of batches that were added.
    pub(crate) batches: u64,
    /// Number of imported games.
    pub(crate) imported: usize,
    /// Number of games that the library had already.
    pub(crate) duplicates: u64,
    /// Number of duplicates that wait for a decision.
    pub(crate) undecided: u64,
    /// Number of bytes that were read, and of all files.
    pub(crate) bytes: u64,
    pub(crate) total_bytes: u64,
    /// Whether all files are read.
    pub(crate) read: bool,
    pub(crate) done: usize,
    pub(crate) failed: u32,
    pub(crate) faults: Vec<JobError>,
    pub(crate) notices: Vec<JobError>,
    /// Number of all faults and of all notices; 0 in jobs of earlier versions.
    pub(crate) total_faults: u32,
    pub(crate) total_notices: u32,
    pub(crate) over: bool,
}

/// The import of an account.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct AccountJob {
    pub(crate) account: AccountName,
    /// The end of the games that are stored.
    pub(crate) cursor: AccountCursor,
    /// The start of the first game that is in progress, as Unix time in milliseconds.
    pub(crate) in_progress: Option<u64>,
    /// Number of games of other variants.
    pub(crate) skipped: u32,
}

impl Store {
    /// Starts a report again: earlier judgements are deleted.
    pub(crate) fn begin_report(
        &mut self,
        id: GameId,
        kept: &StoredReport,
    ) -> Result<(), StoreError> {
        let kept = serde_json::to_string(kept)?;
        let change = self.db.transaction()?;
        change.execute("DELETE FROM judgement WHERE game = ?1", [id])?;
        change.execute("REPLACE INTO report (game, kept) VALUES (?1, ?2)", params![id, kept])?;
        change.commit()?;
        Ok(())
    }

    /// Stores a report with its judgements.
    pub(super) fn restore_report(
        &mut self,
        id: GameId,
        report: &StoredReport,
    ) -> Result<(), StoreError> {
        self.begin_report(id, report)?;
        for (ply, node) in report.nodes.iter().enumerate() {
            if let Some(note) = report.notes.get((*node).into()) {
                self.save_judgement(id, ply, note)?;
            }
        }
        Ok(())
    }

    /// Stores what the engine found in a position.
    pub(crate) fn save_judgement(
        &self,
        id: GameId,
        ply: usize,
        note: &EngineNote,
    ) -> Result<(), StoreError> {
        let (ply, kept) = (i64::try_from(ply).unwrap_or(i64::MAX), serde_json::to_string(note)?);
        self.db.execute(
            "REPLACE INTO judgement (game, ply, kept) VALUES (?1, ?2, ?3)",
            params![id, ply, kept],
        )?;
        Ok(())
    }

    /// The report of a game with its notes.
    pub(crate) fn report(&self, id: GameId) -> Result<Option<StoredReport>, StoreError> {
        let mut query = self.db.prepare_cached("SELECT kept FROM report WHERE game = ?1")?;
        let kept: Option<String> = query.query_row([id], |row| row.get(0)).optional()?;
        let Some(kept) = kept else { return Ok(None) };
        let mut report: StoredReport = serde_json::from_str(&kept)?;
        let mut query =
            self.db.prepare_cached("SELECT ply, kept FROM judgement WHERE game = ?1")?;
        let notes = query.query_map([id], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        for note in notes {
            let (ply, note): (u32, String) = note?;
            if let Some(node) = report.nodes.get(ply as usize) {
                report.notes.set((*node).into(), serde_json::from_str(&note)?);
            }
        }
        Ok(Some(report))
    }

    /// Adds a job with its games. Its number is never used again.
    pub(crate) fn new_job(
        &mut self,
        kept: &StoredJob,
        games: &[GameId],
    ) -> Result<JobId, StoreError> {
        let kept = serde_json::to_string(kept)?;
        let change = self.db.transaction()?;
        change.execute("INSERT INTO job (kept) VALUES (?1)", [kept])?;
        let id = JobId::try_from(change.last_insert_rowid()).unwrap_or(JobId::MAX);
        add_to_job(&change, id, games)?;
        change.commit()?;
        Ok(id)
    }

    /// Adds games to the library, and saves the state of a job. A repetition of the last batch after a crash between
    /// the two files adds nothing. A job with reports lists the games, also those that the library had already.
    pub(crate) fn add_games_of_job(
        &mut self,
        id: JobId,
        kept: &mut StoredJob,
        games: Vec<NewGame>,
    ) -> Result<Vec<GameId>, StoreError> {
        let batch = (&receipt_of(id, kept)[..], kept.batches);
        let duplicates = match kept.account {
            Some(_) => Duplicates::SkipOnline,
            None => kept.duplicate_choice,
        };
        let outcomes = self.library.add_once(batch, games, duplicates)?;
        kept.batches += 1;
        for outcome in &outcomes {
            match outcome {
                Outcome::Added(_) => kept.imported += 1,
                Outcome::Duplicate(_) => kept.duplicates += 1,
                Outcome::Replaced(_) => (),
                Outcome::Undecided(_) => kept.undecided += 1,
            }
        }
        let reported = outcomes.into_iter().filter(|_| kept.settings.is_some());
        let games: Vec<GameId> = reported.map(Outcome::game).collect();
        let text = serde_json::to_string(kept)?;
        let change = self.db.transaction()?;
        add_to_job(&change, id, &games)?;
        change.execute("UPDATE job SET kept = ?2 WHERE id = ?1", params![id, text])?;
        change.commit()?;
        Ok(games)
    }

    /// Stores the state of a job.
    pub(crate) fn save_job(&self, id: JobId, kept: &StoredJob) -> Result<(), StoreError> {
        let kept = serde_json::to_string(kept)?;
        self.db.execute("UPDATE job SET kept = ?2 WHERE id = ?1", params![id, kept])?;
        Ok(())
    }

    /// All jobs with their games.
    pub(crate) fn jobs(&self) -> Result<Vec<(JobId, StoredJob, Vec<GameId>)>, StoreError> {
        jobs_in(&self.db)
    }

    /// Deletes a job. Its games remain.
    pub(crate) fn delete_job(&self, id: JobId) -> Result<(), StoreError> {
        let query = "SELECT kept FROM job WHERE id = ?1";
        let kept: Option<String> = self.db.query_row(query, [id], |row| row.get(0)).optional()?;
        if let Some(kept) = kept.and_then(|kept| serde_json::from_str(&kept).ok()) {
            self.library.forget_receipt(&receipt_of(id, &kept))?;
        }
        self.db.execute("DELETE FROM job WHERE id = ?1", [id])?;
        Ok(())
    }
}

pub(super) fn jobs_in(db: &Connection) -> Result<Vec<(JobId, StoredJob, Vec<GameId>)>, StoreError> {
    let mut query = db.prepare("SELECT id, kept FROM job WHERE kept <> '' ORDER BY id")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let mut games = db.prepare("SELECT game FROM job_game WHERE job = ?1 ORDER BY number")?;
    let mut jobs = Vec::new();
    for row in rows {
        let (id, kept) = row?;
        let of_job = games.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?;
        jobs.push((id, serde_json::from_str(&kept)?, of_job));
    }
    Ok(jobs)
}

/// The source of the batches of a job. The time distinguishes it from a job of another `app.sqlite`.
fn receipt_of(id: JobId, job: &StoredJob) -> String {
    format!("job {id} {}", job.added)
}

/// Appends games to a job.
fn add_to_job(db: &Connection, id: JobId, games: &[GameId]) -> Result<(), StoreError> {
    let query = "SELECT coalesce(max(number) + 1, 0) FROM job_game WHERE job = ?1";
    let first: i64 = db.query_row(query, [id], |row| row.get(0))?;
    let mut insert =
        db.prepare_cached("INSERT INTO job_game (job, number, game) VALUES (?1, ?2, ?3)")?;
    for (number, game) in (first..).zip(games) {
        insert.execute(params![id, number, game])?;
    }
    Ok(())
}
