//! Sets of exercises: repertoires of studies, which follow their changes, and problems of files.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read;

use readyok_rules::record::{GameRecord, Tag, is_known_name};

use super::App;
use super::library::failed;
use super::saving::blocking;
use crate::import::{file_title, read_each};
use crate::store::{Changed, NewSet, Store, StoreError, StoredSet, storage};
use crate::time::{date, now};
use crate::training::{Omitted, Problem, Repertoire, RepertoireRules, read_problems};
use crate::wire::{
    Answer, ApiError, ErrorCategory, ErrorCode, ErrorSubject, GameId, ImportedExercises, Selection,
    Side, TrainingQuery, TrainingSetId, TrainingView,
};

/// Maximum number of games of a repertoire.
const MAX_CHAPTERS: usize = 5000;
/// Number of problems in one transaction. Other writes are done between two of them.
const BATCH: usize = 5000;
/// Maximum number of problems of a set.
const MAX_PROBLEMS: usize = 10_000_000;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 120;

/// A file of exercises that a tab sends.
#[derive(Debug)]
pub(crate) struct ExerciseFile {
    /// The name of the file; empty for a pasted text.
    pub(crate) name: String,
    /// The side and the marks of a repertoire; none for problems.
    pub(crate) repertoire: Option<RepertoireRules>,
}

/// A chapter of a repertoire.
struct Chapter {
    name: String,
    game: GameId,
}

impl App {
    /// The exercises of today of a set, a part of all exercises, and statistics. A repertoire has the present lines of
    /// its games.
    pub(crate) async fn training_view(
        &self,
        query: TrainingQuery,
    ) -> Result<TrainingView, ApiError> {
        let id = query.set;
        let set = self.writer.call(move |store| store.training_set(id)).await.map_err(storage)?;
        if let Some(set) = set.filter(|set| set.source.is_some()) {
            // A study that was deleted leaves its repertoire as it is.
            match self.follow_source(set).await {
                Err(error) if error.category != ErrorCategory::Storage => (),
                followed => drop(followed?),
            }
        }
        self.training(query).await
    }

    /// Makes a repertoire of games.
    pub(super) async fn make_repertoire(
        &self,
        (of, name): (Selection, String),
        rules: RepertoireRules,
    ) -> Result<Answer, ApiError> {
        let name = checked(&name)?;
        let (repertoire, stamp) = self.read_repertoire(&of, rules.clone()).await?;
        if repertoire.tasks.is_empty() {
            return Err(ApiError::invalid_request(ErrorCode::NoRepertoireMoves));
        }
        let RepertoireRules { side, marks } = rules;
        let new = NewSet::Repertoire { name, side, marks, source: Some(of) };
        let (set, changed) = self.save_repertoire(new, repertoire, Some(stamp)).await?;
        Ok(Answer::TrainingSet { set, added: changed.added })
    }

    async fn save_repertoire(
        &self,
        new: NewSet,
        repertoire: Repertoire,
        stamp: Option<String>,
    ) -> Result<(TrainingSetId, Changed), ApiError> {
        let saved = self.writer.call(move |store| {
            let at = date(now());
            let set = store.open_set(&new, at)?;
            let changed = store.save_repertoire(set, &repertoire, (stamp.as_deref(), at))?;
            Ok((set, changed.unwrap_or_default()))
        });
        saved.await.map_err(storage)
    }

    /// Updates a repertoire whose games have changed.
    async fn follow_source(&self, set: StoredSet) -> Result<(), ApiError> {
        let (Some(of), Some(side)) = (set.source, set.side) else { return Ok(()) };
        let chapters = self.chapters_of(&of).await?;
        let stamp = self.stamp(&chapters).await?;
        if set.stamp.as_deref() == Some(&stamp) {
            return Ok(());
        }
        let rules = RepertoireRules { side, marks: set.marks };
        let (repertoire, stamp) = self.read_repertoire(&of, rules).await?;
        let saved = self.writer.call(move |store| {
            store.save_repertoire(set.id, &repertoire, (Some(&stamp), date(now())))
        });
        saved.await.map_err(storage)?;
        Ok(())
    }

    /// The repertoire of games, with their versions.
    async fn read_repertoire(
        &self,
        of: &Selection,
        rules: RepertoireRules,
    ) -> Result<(Repertoire, String), ApiError> {
        let chapters = self.chapters_of(of).await?;
        let stamp = self.stamp(&chapters).await?;
        let mut repertoire = Repertoire::new(rules);
        for Chapter { name, game } in chapters {
            // A game that was deleted in the meantime, or is damaged, has no lines.
            let Ok(document) = self.document(game).await else { continue };
            repertoire = blocking(move || {
                let name = if name.is_empty() { title(&document.record) } else { name };
                repertoire.add(&name, Some(game), &document.record)?;
                Ok(repertoire)
            })
            .await?;
        }
        Ok((repertoire, stamp))
    }

    async fn chapters_of(&self, of: &Selection) -> Result<Vec<Chapter>, ApiError> {
        self.write_open_games().await;
        let named = self.select_named(of.clone()).await?;
        if MAX_CHAPTERS < named.len() {
            return Err(ApiError::too_many(ErrorSubject::Chapter));
        }
        let chapter = |(game, names): (GameId, Option<(_, String)>)| Chapter {
            name: names.map(|(_, name)| name).unwrap_or_default(),
            game,
        };
        Ok(named.into_iter().map(chapter).collect())
    }

    /// The versions of games: their numbers, names, and when they were changed. An open draft is always new.
    async fn stamp(&self, chapters: &[Chapter]) -> Result<String, ApiError> {
        let games: Vec<GameId> = chapters.iter().map(|chapter| chapter.game).collect();
        let library = self.library()?;
        let entries = blocking(move || library.entries(&games).map_err(failed)).await?;
        let changed = entries.iter().map(|entry| entry.changed_ms).max();
        // A compiler with another hash algorithm only causes a second parse of unchanged games.
        let mut hasher = DefaultHasher::new();
        for Chapter { name, game } in chapters {
            (name, game).hash(&mut hasher);
        }
        let hash = hasher.finish();
        let drafts = if entries.len() < chapters.len() { date(now()) } else { 0 };
        Ok(format!("{hash:x} {} {drafts}", changed.unwrap_or_default()))
    }

    /// Imports the exercises of a file. It blocks, so it must not be called on threads of the runtime. What was read
    /// before an error is kept.
    pub(crate) fn import_exercises(
        &self,
        file: &ExerciseFile,
        source: impl Read + Send,
    ) -> Result<ImportedExercises, ApiError> {
        let name: String = file_title(&file.name)
            .chars()
            .filter(|letter| !letter.is_control())
            .take(MAX_NAME)
            .collect();
        match &file.repertoire {
            Some(rules) => self.import_repertoire(&file.name, (name, rules), source),
            None => Ok(self.import_problems(&file.name, name, source)),
        }
    }

    fn import_repertoire(
        &self,
        file: &str,
        (name, rules): (String, &RepertoireRules),
        source: impl Read + Send,
    ) -> Result<ImportedExercises, ApiError> {
        let mut repertoire = Repertoire::new(rules.clone());
        let mut study = None;
        let mut added = Ok(());
        let faults = read_each(file, source, |record| {
            let names = record.headers.study();
            let chapter = names.map(|(_, chapter)| chapter).filter(|it| !it.is_empty());
            let chapter = chapter.map_or_else(|| title(record), str::to_owned);
            study = study.take().or_else(|| names.map(|(study, _)| study.to_owned()));
            added = repertoire.add(&chapter, None, record);
            added.is_ok() && repertoire.chapters.len() < MAX_CHAPTERS
        });
        added?;
        let mut imported = ImportedExercises {
            errors: faults.errors,
            total_errors: faults.total_errors,
            ..ImportedExercises::default()
        };
        if repertoire.tasks.is_empty() {
            imported.errors.push(ErrorCode::NoRepertoireMoves.into());
            imported.total_errors += 1;
            return Ok(imported);
        }
        let name = Some(name).filter(|name| !name.is_empty()).or(study).unwrap_or_default();
        let RepertoireRules { side, marks } = rules.clone();
        let new = NewSet::Repertoire { name, side, marks, source: None };
        let saved = self.writer.call_blocking(move |store| {
            let at = date(now());
            let set = store.open_set(&new, at)?;
            Ok((set, store.save_repertoire(set, &repertoire, (None, at))?.unwrap_or_default()))
        });
        let (set, changed) = saved.map_err(storage)?;
        imported.set = Some(set);
        (imported.added, imported.known) = (changed.added, changed.known);
        imported.removed = changed.removed;
        Ok(imported)
    }

    fn import_problems(
        &self,
        file: &str,
        name: String,
        source: impl Read + Send,
    ) -> ImportedExercises {
        let mut adding = Adding::new(self, name);
        let omitted = read_problems(file, source, |problem| adding.add(problem));
        adding.finish(omitted)
    }

    pub(super) async fn rename_set(
        &self,
        set: TrainingSetId,
        name: String,
    ) -> Result<Answer, ApiError> {
        let name = checked(&name)?;
        let renamed = self.writer.call(move |store| store.rename_set(set, &name)).await;
        if !renamed.map_err(storage)? {
            return Err(ApiError::not_found(ErrorSubject::TrainingSet, set));
        }
        Ok(Answer::Done)
    }

    /// Deletes a set. Its rows are deleted step by step, so that other writes do not wait.
    pub(super) async fn delete_set(&self, set: TrainingSetId) -> Result<Answer, ApiError> {
        let deleted = self.writer.call(move |store| store.delete_set(set)).await;
        if !deleted.map_err(storage)? {
            return Err(ApiError::not_found(ErrorSubject::TrainingSet, set));
        }
        let writer = self.writer.clone();
        tokio::spawn(async move {
            // After an error, or if the server ends, the next deletion continues.
            while writer.call(Store::purge_sets).await.unwrap_or(false) {}
        });
        Ok(Answer::Done)
    }
}

/// The name without spaces around it.
fn checked(name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    let length = name.chars().count();
    if length == 0 || MAX_NAME < length || name.chars().any(char::is_control) {
        return Err(ApiError::invalid_text(ErrorSubject::TrainingSetName));
    }
    Ok(name.to_owned())
}

/// The known ones of the players, or the event.
fn title(record: &GameRecord) -> String {
    let players = Side::BOTH.map(|side| record.player(side).filter(|name| is_known_name(name)));
    if players.iter().any(Option::is_some) {
        return players.map(|name| name.unwrap_or("?")).join(" – ");
    }
    let event = record.header(Tag::Event);
    event.filter(|event| is_known_name(event)).unwrap_or_default().to_owned()
}

/// The problems of a file that are added to a set.
struct Adding<'a> {
    app: &'a App,
    /// The name of the set.
    name: String,
    set: Option<TrainingSetId>,
    batch: Vec<Problem>,
    /// The batch that is being written while the next one is read.
    writing: Option<tokio::sync::oneshot::Receiver<Result<Option<Changed>, StoreError>>>,
    count: usize,
    changed: Changed,
    error: Option<ApiError>,
}

impl<'a> Adding<'a> {
    fn new(app: &'a App, name: String) -> Self {
        Self {
            app,
            name,
            set: None,
            batch: Vec::with_capacity(BATCH),
            writing: None,
            count: 0,
            changed: Changed::default(),
            error: None,
        }
    }

    /// Adds a problem. Returns whether the import continues.
    fn add(&mut self, problem: Problem) -> bool {
        if MAX_PROBLEMS <= self.count {
            self.error = Some(ApiError::too_many(ErrorSubject::Exercise));
            return false;
        }
        self.count += 1;
        self.batch.push(problem);
        if BATCH <= self.batch.len() {
            self.write();
        }
        self.error.is_none() && !self.app.state().closing
    }

    fn write(&mut self) {
        self.wait();
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if batch.is_empty() || self.error.is_some() {
            return;
        }
        let at = date(now());
        if self.set.is_none() {
            let new = NewSet::Problems { name: self.name.clone() };
            match self.app.writer.call_blocking(move |store| store.open_set(&new, at)) {
                Ok(set) => self.set = Some(set),
                Err(error) => self.error = Some(storage(error)),
            }
        }
        let Some(set) = self.set else { return };
        self.writing = Some(self.app.writer.run(move |store| store.add_problems(set, &batch, at)));
    }

    fn wait(&mut self) {
        let Some(writing) = self.writing.take() else { return };
        match writing.blocking_recv().unwrap_or(Err(StoreError::Closed)) {
            Ok(Some(Changed { added, known, removed: _, too_many_themes })) => {
                self.changed.added += added;
                self.changed.known += known;
                self.changed.too_many_themes |= too_many_themes;
            }
            // The set was deleted in the meantime.
            Ok(None) => {
                let set = self.set.unwrap_or_default();
                self.error = Some(ApiError::not_found(ErrorSubject::TrainingSet, set));
            }
            Err(error) => self.error = Some(storage(error)),
        }
    }

    fn finish(mut self, omitted: Omitted) -> ImportedExercises {
        self.write();
        self.wait();
        let Omitted { skipped, mut errors, mut total_errors } = omitted;
        let themes = self.changed.too_many_themes;
        let themes = themes.then(|| ApiError::too_many(ErrorSubject::Theme));
        for error in self.error.into_iter().chain(themes) {
            errors.insert(0, error.into());
            total_errors = total_errors.saturating_add(1);
        }
        ImportedExercises {
            set: self.set,
            added: self.changed.added,
            known: self.changed.known,
            removed: 0,
            skipped,
            errors,
            total_errors,
        }
    }
}
