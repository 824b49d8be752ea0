//! Imports of files that a tab sends. Their entries, with counts and errors, remain after the tab is closed.

use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use readyok_library::{CollectionEdit, ImportOptions, Importer, MAX_CHAPTERS, Source};
use readyok_rules::record::GameRecord;

use super::{App, AppState, Job};
use crate::app::library::failed;
use crate::game::Tree;
use crate::import::{Counting, Faults, file_title, read_each};
use crate::store::{StoredJob, dated, listed_new, new_game};
use crate::time::{Moment, date, now};
use crate::wire::{
    ApiError, Delta, Duplicates, ErrorSubject, FaultsQuery, GameId, Imported, ImportedCollection,
    JobFaults, JobId, JobsDelta, LibraryGame, ReportStatus, Topic,
};

/// Maximum number of imported games in a response.
const MAX_REPORTED: usize = 1000;
/// Number of finished entries that are kept.
const MAX_ENTRIES: usize = 20;
/// Time between two updates of an entry, in milliseconds.
const UPDATE: Moment = 300;

/// A file that a tab sends.
pub(crate) struct Upload {
    pub(crate) name: String,
    /// Whether the games are opened.
    pub(crate) open: bool,
    pub(crate) duplicates: Duplicates,
    /// The board that an opened draft takes the place of.
    pub(crate) replaces: Option<GameId>,
    /// The size in bytes, if it is known.
    pub(crate) size: Option<u64>,
}

/// The games of a file that are added to the library.
struct Adding<'a> {
    app: &'a App,
    importer: Importer<'a>,
    job: Option<JobId>,
    reported: Vec<LibraryGame>,
    /// When the first game was added, and when the entry was updated.
    begun: Moment,
    updated: Moment,
    error: Option<ApiError>,
}

impl App {
    /// Imports the games of a file. A single one that is opened is a draft instead. It blocks, so it must not be
    /// called on threads of the runtime. After an error the remaining games are not added.
    pub(crate) fn import(&self, upload: &Upload, source: impl Read + Send) -> Imported {
        let library = match self.library() {
            Ok(library) => library,
            Err(error) => {
                let errors = vec![error.into()];
                return Imported { errors, total_errors: 1, ..Imported::default() };
            }
        };
        let Upload { name, duplicates, .. } = upload;
        let options = ImportOptions { duplicates: *duplicates, ..ImportOptions::default() };
        let mut adding = Adding {
            app: self,
            importer: library.importer(options),
            job: None,
            reported: Vec::new(),
            begun: now(),
            updated: now(),
            error: None,
        };
        // It is a draft unless another one follows.
        let mut first: Option<GameRecord> = None;
        let mut is_first = true;
        let mut study = None;
        let read = AtomicU64::new(0);
        let faults = read_each(name, Counting { source, read: &read }, |record| {
            if study.is_none() {
                study = record.headers.study().map(|(study, _)| study.to_owned());
            }
            if std::mem::take(&mut is_first) && upload.open {
                first = Some(record.clone());
                return !self.state().closing;
            }
            let bytes = read.load(Ordering::Relaxed);
            let earlier = first.take();
            let both = earlier.iter().chain([record]);
            both.into_iter().all(|record| adding.add(upload, record, bytes))
        });
        let mut imported = Imported::default();
        if let Some(record) = first {
            let opened = self.open_as_draft(Tree::from_record(&record), upload.replaces);
            match opened {
                Ok(id) => imported.opened = Some(id),
                Err(error) => adding.error = Some(error),
            }
        }
        let name = study.filter(|study| !study.is_empty()).unwrap_or_else(|| file_title(name));
        adding.finish(upload, name, faults, read.into_inner(), imported)
    }

    /// Creates the collection of several imported games, and opens the first.
    pub(crate) async fn open_imported(&self, imported: &mut Imported) -> Result<(), ApiError> {
        let Some(collection) = &mut imported.collection else { return Ok(()) };
        let library = self.library()?;
        let (name, of) = (collection.name.clone(), collection.games.clone());
        let create = move || {
            let edit = CollectionEdit::Create { name, of };
            library.edit_collection(edit, dated(now())).map_err(failed)
        };
        collection.id = Some(crate::app::saving::blocking(create).await?);
        if let Some(first) = collection.games.first().copied() {
            self.open_game(first).await?;
            imported.opened = Some(first);
        }
        Ok(())
    }

    /// What was wrong with the files of a job.
    pub(crate) fn faults(&self, query: FaultsQuery) -> Result<JobFaults, ApiError> {
        let state = self.state();
        let job = state.jobs.get(&query.job);
        let job = job.ok_or_else(|| ApiError::not_found(ErrorSubject::Job, query.job))?;
        let shown = job.state(query.job);
        Ok(JobFaults {
            errors: job.stored.faults.clone(),
            notices: job.stored.notices.clone(),
            total_errors: shown.total_errors,
            total_notices: shown.total_notices,
        })
    }

    /// Adds the entry of an import, which takes the place of the oldest ones.
    fn begin_upload(&self, upload: &Upload) -> Result<JobId, ApiError> {
        let stored = StoredJob {
            added: date(now()),
            upload: Some(upload.name.clone()),
            duplicate_choice: upload.duplicates,
            files: 1,
            total_bytes: upload.size.unwrap_or_default(),
            ..StoredJob::default()
        };
        let row = stored.clone();
        let id = self.writer.call_blocking(move |store| store.new_job(&row, &[]));
        let id = id.map_err(crate::store::storage)?;
        let mut job = Job::restored(stored, Vec::new());
        job.status = ReportStatus::Running;
        self.update(|state| {
            state.drop_old_uploads();
            state.jobs.insert(id, job);
            state.publish_job(id);
        });
        Ok(id)
    }
}

impl AppState {
    fn drop_old_uploads(&mut self) {
        let finished = |job: &Job| job.stored.upload.is_some() && !job.is_running();
        let entries = self.jobs.iter().filter(|(_, job)| finished(job)).map(|(id, _)| *id);
        let entries: Vec<JobId> = entries.collect();
        let surplus = entries.len().saturating_sub(MAX_ENTRIES - 1);
        for id in entries.into_iter().take(surplus) {
            self.jobs.remove(&id);
            drop(self.saves.run(move |store| store.delete_job(id)));
            let delta = JobsDelta { changed: Vec::new(), removed: vec![id] };
            self.hub.publish(Topic::Jobs, Delta::Jobs(delta));
        }
    }
}

impl Adding<'_> {
    /// Adds a game. Returns whether the import continues.
    fn add(&mut self, upload: &Upload, record: &GameRecord, bytes: u64) -> bool {
        if self.job.is_none() {
            match self.app.begin_upload(upload) {
                Ok(job) => self.job = Some(job),
                Err(error) => self.error = Some(error),
            }
        }
        let game = new_game(record, Source::Import, now());
        if self.reported.len() < MAX_REPORTED {
            self.reported.push(listed_new(0, &game));
        }
        if self.error.is_none() {
            self.error = self.importer.add_game(game).err().map(failed);
        }
        self.error.is_none() && (now() < self.updated + UPDATE || self.update(bytes))
    }

    /// Updates the entry. Returns whether the import continues.
    fn update(&mut self, bytes: u64) -> bool {
        self.updated = now();
        let elapsed = self.updated.saturating_sub(self.begun);
        let counts = self.importer.state();
        let (added, duplicates) = (counts.added_count(), counts.duplicates);
        let undecided = counts.undecided;
        let Some(id) = self.job else { return !self.app.state().closing };
        self.app.update(|state| {
            let is_closing = state.closing;
            let Some(job) = state.jobs.get_mut(&id) else { return false };
            let stored = &mut job.stored;
            stored.imported = usize::try_from(added).unwrap_or(usize::MAX);
            (stored.duplicates, stored.undecided) = (duplicates, undecided);
            (stored.bytes, stored.elapsed) = (bytes, elapsed);
            let continues = job.is_running() && !is_closing;
            state.save_and_publish_job(id);
            continues
        })
    }

    fn finish(
        mut self,
        upload: &Upload,
        name: String,
        faults: Faults,
        bytes: u64,
        mut imported: Imported,
    ) -> Imported {
        let stored = self.importer.flush();
        self.error = self.error.take().or_else(|| stored.err().map(failed));
        self.update(bytes);
        imported.job = self.job;
        let state = self.importer.state();
        imported.duplicates = u32::try_from(state.duplicates).unwrap_or(u32::MAX);
        imported.undecided = u32::try_from(state.undecided).unwrap_or(u32::MAX);
        imported.total = u32::try_from(state.added_count()).unwrap_or(u32::MAX);
        let known: std::collections::BTreeSet<u64> =
            state.known.iter().map(|(number, _)| *number).collect();
        let new = (1..).zip(self.reported).filter(|(number, _)| !known.contains(number));
        let numbered = new.zip(state.added.iter().cloned().flatten());
        imported.games = numbered.map(|((_, game), id)| LibraryGame { id, ..game }).collect();
        if 1 < state.order.len() && state.games <= u64::from(MAX_CHAPTERS) {
            let games = state.order.clone();
            imported.collection = Some(ImportedCollection { id: None, name, games });
        }
        imported.total_errors = faults.total_errors.saturating_add(self.error.is_some().into());
        imported.total_warnings = faults.total_cut.saturating_add(faults.total_notices);
        // The reason of the end is more important than defects of games.
        imported.errors.extend(self.error.clone().map(Into::into));
        imported.errors.extend(faults.errors.iter().cloned());
        imported.warnings.clone_from(&faults.warnings);
        if let Some(id) = self.job {
            let error = self.error;
            self.app.update(|state| state.finish_upload(id, &upload.name, faults, error));
        }
        imported
    }
}

impl AppState {
    fn finish_upload(
        &mut self,
        id: JobId,
        name: &str,
        mut faults: Faults,
        error: Option<ApiError>,
    ) {
        let is_closing = self.closing;
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let is_failed = error.is_some();
        if let Some(error) = error {
            faults.total_errors = faults.total_errors.saturating_add(1);
            faults.errors.insert(0, error.into());
        }
        job.add_faults(name, faults);
        if job.is_running() {
            job.status = match (is_failed, is_closing) {
                (true, _) => ReportStatus::Failed,
                (false, true) => ReportStatus::Stopped,
                (false, false) => ReportStatus::Done,
            };
        }
        let is_done = job.status == ReportStatus::Done;
        (job.stored.read, job.stored.over) = (true, is_done);
        job.stored.files_done = usize::from(is_done);
        self.save_and_publish_job(id);
    }
}
