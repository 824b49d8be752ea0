//! Import of record files and of other databases.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use readyok_library::{Duplicates, ImportOptions, Imported, Library, Merged, Source};
use serde::Serialize;

use super::database::Database;
use super::now_ms;
use crate::convert::{Files, Games, LossReport, Origin, Progress, ReadOptions, grouped};
use crate::exit::{Code, Failure, on_interrupt};
use crate::terminal::{print, print_error};

/// What is imported, and how.
pub(crate) struct Import {
    pub(crate) database: Database,
    pub(crate) files: Files,
    pub(crate) read: ReadOptions,
    pub(crate) duplicates: Duplicates,
    pub(crate) is_lenient: bool,
    pub(crate) is_json: bool,
}

/// The numbers that are printed.
#[derive(Debug, Default, Serialize)]
struct Report {
    files: usize,
    games: u64,
    added: u64,
    duplicates: u64,
    replaced: u64,
    undecided: u64,
    failed: u64,
    labels: u64,
    collections: usize,
    /// The numbers of the first and last added game.
    first: Option<u32>,
    last: Option<u32>,
    is_interrupted: bool,
}

impl Report {
    fn add(&mut self, imported: &Imported) {
        self.games += imported.games;
        self.added += imported.added_count();
        self.duplicates += imported.duplicates;
        self.replaced += imported.replaced;
        self.undecided += imported.undecided;
        self.first = self.first.or_else(|| imported.added.first().map(|ids| ids.start));
        self.last = imported.added.last().map(|ids| ids.end - 1).or(self.last);
        self.is_interrupted |= imported.cancelled;
    }

    fn text(&self) -> String {
        let mut parts = vec![format!("{} games added", grouped(self.added))];
        let counts = [
            (self.duplicates, "duplicates"),
            (self.replaced, "replaced"),
            (self.undecided, "duplicates to decide in the app"),
            (self.failed, "lost"),
            (self.labels, "labels set"),
            (self.collections as u64, "studies added"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        parts.extend(counts.map(|(count, what)| format!("{} {what}", grouped(count))));
        parts.join(", ")
    }
}

struct Run<'a> {
    database: &'a Database,
    library: &'a Library,
    read: ReadOptions,
    options: ImportOptions,
    losses: LossReport,
    progress: Progress,
    bytes: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    report: Report,
}

/// Adds the games of files and databases. Games that were added remain after an error and an interrupt.
pub(crate) fn import(import: Import) -> Result<Code, Failure> {
    let Import { database, files, read, mut duplicates, is_lenient, is_json } = import;
    let library = database.open_or_create()?;
    if duplicates == Duplicates::Replace && database.is_in_app() {
        // A game that is open there has its content in the app, which would overwrite the replaced one.
        print_error("the app is running: duplicates wait there for a decision");
        duplicates = Duplicates::Ask;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    on_interrupt(move || flag.store(true, Ordering::Release)).map_err(Failure::failed)?;
    let bytes = Arc::new(AtomicU64::new(0));
    let options = ImportOptions {
        duplicates,
        source: Source::Import,
        added_ms: now_ms(),
        ..ImportOptions::default()
    };
    let mut run = Run {
        database: &database,
        library: &library,
        read,
        options,
        losses: LossReport::new(is_lenient),
        progress: Progress::new("games", files.size(), Arc::clone(&bytes)),
        bytes,
        stop,
        report: Report::default(),
    };
    let own = std::fs::canonicalize(&database.path).ok();
    let mut result = Ok(());
    for number in 0..files.len() {
        let path = files.path(number).and_then(|path| std::fs::canonicalize(path).ok());
        if path.is_some() && path == own {
            return Err(Failure::usage("the database cannot be imported into itself"));
        }
        result = match files.path(number).filter(|path| is_database(path)) {
            Some(path) => run.import_database(path),
            None => run.import_records(&files, number),
        };
        run.report.files += 1;
        if result.is_err() || run.report.is_interrupted {
            break;
        }
    }
    run.progress.clear();
    for line in run.losses.summary() {
        print_error(&line);
    }
    if is_json {
        print(&serde_json::to_string(&run.report).map_err(Failure::failed)?);
    } else {
        print(&run.report.text());
    }
    result?;
    Ok(if run.report.is_interrupted {
        Code::Interrupted
    } else if run.losses.is_failure() || run.report.failed > 0 {
        Code::Failed
    } else {
        Code::Done
    })
}

/// Whether a file is a database: they begin with this text.
fn is_database(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = std::fs::File::open(path)
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head));
    read.is_ok() && head == *b"SQLite format 3\0"
}

impl Run<'_> {
    fn print_line(&mut self, line: Option<String>) {
        if let Some(line) = line {
            self.progress.clear();
            print_error(&line);
        }
    }

    fn import_records(&mut self, files: &Files, number: usize) -> Result<(), Failure> {
        let name = files.name(number);
        let Some(file) = files.get(number) else { return Ok(()) };
        let mut games = match Games::open(file, self.read, &self.bytes) {
            Ok(games) => games,
            Err(error) => {
                let line = self.losses.unreadable_file(&name, &error);
                self.report.failed += 1;
                self.print_line(Some(line));
                return Ok(());
            }
        };
        let mut importer = self.library.importer(self.options.clone());
        let before = self.report.games;
        let mut count = 0;
        while let Some(record) = games.next() {
            count += 1;
            let line = match record {
                Ok(record) => {
                    if let Err(error) = importer.add(&record) {
                        self.report.add(importer.state());
                        return Err(self.database.failed(error));
                    }
                    let origin = Origin { file: &name, game: count };
                    self.losses.read(origin, games.notices())
                }
                Err(error) => {
                    self.report.failed += 1;
                    self.losses.unreadable(&name, &error)
                }
            };
            self.print_line(line);
            self.progress.update(before + count);
            if self.stop.load(Ordering::Acquire) {
                let imported = importer.cancel().map_err(|error| self.database.failed(error))?;
                self.report.add(&imported);
                return Ok(());
            }
        }
        let flushed = importer.flush();
        self.report.add(importer.state());
        flushed.map_err(|error| self.database.failed(error))
    }

    fn import_database(&mut self, path: &Path) -> Result<(), Failure> {
        let other = Database::find(Some(path))?;
        let other_library = match Library::open(&other.path) {
            Ok(library) => library,
            Err(error) => {
                let line = self.losses.unreadable_file(&path.display().to_string(), &error);
                self.report.failed += 1;
                self.print_line(Some(line));
                return Ok(());
            }
        };
        let before = self.report.games;
        let (progress, stop) = (&mut self.progress, &self.stop);
        let merged = self.library.import_library(&other_library, self.options.clone(), |state| {
            progress.update(before + state.games);
            if stop.load(Ordering::Acquire) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let Merged { imported, unreadable, labels, collections, lost_collections } =
            merged.map_err(|error| self.database.failed(error))?;
        self.report.add(&imported);
        self.report.labels += labels;
        self.report.collections += collections.len();
        self.report.failed += (unreadable.len() + lost_collections.len()) as u64;
        for (game, error) in unreadable {
            self.print_line(Some(format!("`{}`: game {game}: {error}", path.display())));
        }
        for (name, error) in lost_collections {
            self.print_line(Some(format!("`{}`: study `{name}`: {error}", path.display())));
        }
        Ok(())
    }
}
