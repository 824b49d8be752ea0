//! Import of many games: records are encoded on the thread of the caller and stored by the writer in batches.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use readyok_rules::record::{Format, GameRecord, Limits, Notice, RecordError, Records, Source};

use crate::collection::MAX_CHAPTERS;
use crate::error::{Error, LibraryDefect};
use crate::game::NewGame;
use crate::library::Library;
use crate::outcome::{Duplicates, Outcome, Outcomes};

/// A batch ends with this number of games, bytes or time: bounds the duration and size of a transaction.
const MAX_GAMES: usize = 500;
const MAX_BYTES: usize = 1 << 20;
const MAX_AGE: Duration = Duration::from_millis(100);

/// Number of batches that wait for the writer.
const MAX_WAITING: usize = 3;

/// Number of duplicates, errors and notices that are reported with their details.
const MAX_REPORTED: usize = 1000;

/// Shortest time between two calls of the progress callback.
const PROGRESS: Duration = Duration::from_millis(200);

/// Options of an import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The format. It is detected by default.
    pub format: Option<Format>,
    /// Limits of one game.
    pub limits: Limits,
    /// Duplicates.
    pub duplicates: Duplicates,
    /// Origin of the games.
    pub source: Source,
    /// Time of the addition in ms since 1970.
    pub added_ms: i64,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            format: None,
            limits: Limits::default(),
            duplicates: Duplicates::default(),
            source: Source::Import,
            added_ms: 0,
        }
    }
}

/// The state of an import.
#[derive(Debug, Default)]
pub struct Imported {
    /// Bytes that were read.
    pub bytes: u64,
    /// Games that were read, stored or not.
    pub games: u64,
    /// Numbers of the added games, ascending.
    pub added: Vec<Range<u32>>,
    /// Number of duplicates that were not added.
    pub duplicates: u64,
    /// Number of known games that were replaced.
    pub replaced: u64,
    /// Number of duplicates that wait for [`Library::decide`].
    pub undecided: u64,
    /// The stored or known games in the order of the source, the first [`MAX_CHAPTERS`].
    pub order: Vec<u32>,
    /// Games of the import, counted from 1, that equal known games, with their numbers; the first 1,000.
    pub known: Vec<(u64, u32)>,
    /// Number of games that could not be read.
    pub failed: u64,
    /// Errors of games that could not be read, the first 1,000.
    pub errors: Vec<RecordError>,
    /// Number of notices.
    pub noticed: u64,
    /// Games, counted from 1, and their notices, the first 1,000.
    pub notices: Vec<(u64, Notice)>,
    /// Time since the start.
    pub elapsed: Duration,
    /// Whether the import was cancelled. Games that were added before remain.
    pub cancelled: bool,
}

impl Imported {
    /// Number of added games.
    #[must_use]
    pub fn added_count(&self) -> u64 {
        self.added.iter().map(|ids| u64::from(ids.end - ids.start)).sum()
    }

    fn add(&mut self, first: u64, outcomes: Vec<Outcome>) {
        let games = outcomes.iter().map(|outcome| outcome.game());
        self.order.extend(games.take(MAX_CHAPTERS as usize - self.order.len()));
        for (number, outcome) in (first..).zip(outcomes) {
            match outcome {
                Outcome::Added(id) => match self.added.last_mut().filter(|ids| ids.end == id) {
                    Some(last) => last.end = id + 1,
                    None => self.added.push(id..id + 1),
                },
                Outcome::Duplicate(id) | Outcome::Replaced(id) | Outcome::Undecided(id) => {
                    match outcome {
                        Outcome::Replaced(_) => self.replaced += 1,
                        Outcome::Undecided(_) => self.undecided += 1,
                        _ => self.duplicates += 1,
                    }
                    if self.known.len() < MAX_REPORTED {
                        self.known.push((number, id));
                    }
                }
            }
        }
    }
}

/// Adds many games in batches, while the caller reads further ones. Several can be used at the same time.
#[derive(Debug)]
pub struct Importer<'a> {
    library: &'a Library,
    options: ImportOptions,
    batch: Vec<NewGame>,
    bytes: usize,
    /// The time of the first game of the batch.
    begun: Instant,
    /// Batches that wait for the writer, each with the number of its first game.
    waiting: VecDeque<(u64, Receiver<Outcomes>)>,
    state: Imported,
    /// The stored or known games in the order of the source, all of them, if they are wanted.
    pub(crate) games: Option<Vec<u32>>,
    started: Instant,
}

#[expect(clippy::disallowed_methods, reason = "it measures the import")]
fn now() -> Instant {
    Instant::now()
}

impl<'a> Importer<'a> {
    pub(crate) fn new(library: &'a Library, options: ImportOptions) -> Self {
        let (batch, waiting, started) = (Vec::new(), VecDeque::new(), now());
        let state = Imported::default();
        let (begun, bytes, games) = (started, 0, None);
        Self { library, options, batch, bytes, begun, waiting, state, games, started }
    }

    /// The state. Games of batches that wait for the writer are read, but not added yet.
    pub fn state(&mut self) -> &Imported {
        self.state.elapsed = now().saturating_duration_since(self.started);
        &self.state
    }

    /// Adds a game.
    ///
    /// # Errors
    /// An earlier batch was not added.
    pub fn add(&mut self, record: &GameRecord) -> Result<(), Error> {
        let options = &self.options;
        self.add_game(NewGame::from_record(record, options.source, options.added_ms))
    }

    /// Adds an encoded game.
    ///
    /// # Errors
    /// An earlier batch was not added.
    pub fn add_game(&mut self, game: NewGame) -> Result<(), Error> {
        if self.batch.is_empty() {
            self.begun = now();
        }
        self.bytes += game.moves.len() + game.tags.len() + game.annotations.len();
        self.batch.push(game);
        self.state.games += 1;
        let is_full = self.batch.len() >= MAX_GAMES || self.bytes >= MAX_BYTES;
        if is_full || now().saturating_duration_since(self.begun) >= MAX_AGE {
            self.send()?;
        }
        self.receive(MAX_WAITING)
    }

    fn send(&mut self) -> Result<(), Error> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        let first = self.state.games + 1 - batch.len() as u64;
        let receiver = self.library.send_games(batch, self.options.duplicates, None)?;
        self.waiting.push_back((first, receiver));
        Ok(())
    }

    /// Receives outcomes until no more than `waiting` batches wait.
    fn receive(&mut self, waiting: usize) -> Result<(), Error> {
        while self.waiting.len() > waiting {
            let Some((first, receiver)) = self.waiting.pop_front() else { break };
            let outcomes =
                receiver.recv().map_err(|_| Error::Defect(LibraryDefect::LibraryClosed))??;
            if let Some(games) = &mut self.games {
                games.extend(outcomes.iter().map(|outcome| outcome.game()));
            }
            self.state.add(first, outcomes);
        }
        Ok(())
    }

    /// Waits until all games are stored.
    ///
    /// # Errors
    /// A batch was not added. [`Self::state`] has the games of the others.
    pub fn flush(&mut self) -> Result<(), Error> {
        let mut result = self.send();
        while !self.waiting.is_empty() {
            let received = self.receive(self.waiting.len() - 1);
            result = result.and(received);
        }
        result
    }

    /// Waits until all games are stored.
    ///
    /// # Errors
    /// A batch was not added.
    pub fn finish(mut self) -> Result<Imported, Error> {
        self.flush()?;
        self.state();
        Ok(self.state)
    }

    /// Counts a game that could not be read.
    pub fn fail(&mut self, error: RecordError) {
        self.state.failed += 1;
        if self.state.errors.len() < MAX_REPORTED {
            self.state.errors.push(error);
        }
    }

    /// Drops games that the writer has not received, and waits for the others.
    ///
    /// # Errors
    /// A batch was not added.
    pub fn cancel(mut self) -> Result<Imported, Error> {
        self.state.cancelled = true;
        self.state.games -= self.batch.len() as u64;
        self.batch.clear();
        self.finish()
    }
}

/// A source whose bytes are counted.
struct Counting<R> {
    source: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Library {
    /// Reads the games of a source and adds them in batches. `progress` is called about five times a second and
    /// cancels the import with [`ControlFlow::Break`]. Games that were added remain after a cancellation, an error and
    /// a crash.
    ///
    /// # Errors
    /// A batch could not be stored. A game that cannot be read is not an error.
    pub fn import(
        &self,
        source: impl Read + Send,
        options: ImportOptions,
        progress: impl FnMut(&Imported) -> ControlFlow<()>,
    ) -> Result<Imported, Error> {
        import(self, source, options, progress)
    }

    /// Adds games one by one; [`Self::import`] for records that come from elsewhere.
    #[must_use]
    pub fn importer(&self, options: ImportOptions) -> Importer<'_> {
        Importer::new(self, options)
    }
}

/// Reads all games of a source.
fn import(
    library: &Library,
    source: impl Read + Send,
    options: ImportOptions,
    mut progress: impl FnMut(&Imported) -> ControlFlow<()>,
) -> Result<Imported, Error> {
    let bytes = Arc::new(AtomicU64::new(0));
    let source = Counting { source, bytes: Arc::clone(&bytes) };
    let mut records = Records::new(source, options.format, options.limits);
    let mut importer = Importer::new(library, options);
    let mut reported = now();
    while let Some(record) = records.next() {
        let number = importer.state.games + importer.state.failed + 1;
        match record {
            Ok(record) => importer.add(&record)?,
            Err(error) => importer.fail(error),
        }
        let state = &mut importer.state;
        state.noticed += records.notices().len() as u64;
        let notices = records.notices().iter().map(|notice| (number, notice.clone()));
        state.notices.extend(notices.take(MAX_REPORTED - state.notices.len()));
        state.bytes = bytes.load(Ordering::Relaxed);
        if now().saturating_duration_since(reported) >= PROGRESS {
            reported = now();
            if progress(importer.state()).is_break() {
                return importer.cancel();
            }
        }
    }
    let imported = importer.finish()?;
    let _ = progress(&imported);
    Ok(imported)
}
