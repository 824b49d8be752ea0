//! The steps of a conversion: a thread reads games, the calling thread selects and writes them.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use readyok_rules::record::{Condition, GameRecord, Notice, ReadExtent, RecordError};

use super::duplicates::DuplicateFinder;
use super::format::FileFormat;
use super::input::{Files, Games, InputFile, ReadOptions};
use super::losses::{LossReport, Origin};
use super::output::{Destination, Output, Rendered};
use super::progress::Progress;
use super::render::Renderer;
use super::select::{Content, Duplicates, Selection};
use super::sort::Spool;
use super::stats::{Stats, StatsForm};
use crate::clock::now;
use crate::exit::{Code, Failure, on_interrupt};
use crate::terminal::{print_error, printable};

/// Games that are passed between the threads in one message.
const BATCH: usize = 64;
/// Maximum age of a batch, so that a slow source has no effect on the games that were read.
const BATCH_AGE: Duration = Duration::from_millis(50);
const QUEUE: usize = 8;
/// Interval in which an interrupt is checked.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(100);

/// What is done with the selected games.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    Write(Box<(Renderer, Destination)>),
    Count,
    Stats(StatsForm),
    /// Lists the defects of the files.
    Check,
    /// Lists the files with at least one selected game.
    List,
}

/// Where games are read.
pub(crate) enum Source {
    Files(Files, ReadOptions),
    /// Games that are stored in a file in another form.
    Stored(StoredGames),
}

/// Games of a database.
pub(crate) struct StoredGames {
    /// The path of the database.
    pub(crate) path: PathBuf,
    /// The number of games.
    pub(crate) total: u64,
    /// The games with their numbers, or why they cannot be read.
    pub(crate) games: Box<dyn Iterator<Item = (u64, Result<GameRecord, String>)> + Send>,
}

pub(crate) struct Conversion {
    pub(crate) source: Source,
    pub(crate) selection: Selection,
    pub(crate) content: Content,
    pub(crate) mode: Mode,
    /// Lost moves have no effect on the exit code.
    pub(crate) is_lenient: bool,
    /// Prints the number of written games as JSON on standard output.
    pub(crate) prints_json: bool,
}

/// What the reading thread found.
enum Found {
    Game(Box<Game>),
    /// A file that cannot be opened.
    Unreadable(usize, io::Error),
}

struct Game {
    file: usize,
    /// The number in the file, from 1.
    number: u64,
    /// The number among the games of all files.
    ordinal: u64,
    format: Option<FileFormat>,
    record: Result<GameRecord, RecordError>,
    notices: Vec<Notice>,
}

pub(crate) fn run(conversion: Conversion) -> Result<Code, Failure> {
    let Conversion { source, selection, content, mode, is_lenient, prints_json } = conversion;
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    on_interrupt(move || flag.store(true, Ordering::Release)).map_err(Failure::failed)?;
    let bytes = Arc::new(AtomicU64::new(0));
    let (mut files, reading) = match source {
        Source::Files(files, read) => (files, Reading::Files(read)),
        Source::Stored(stored) => (Files::stored(&stored.path), Reading::Stored(stored)),
    };
    let is_read_twice = selection.duplicates.is_some() && !matches!(mode, Mode::Check);
    let total = match &reading {
        Reading::Files(_) => files.size().map(|size| if is_read_twice { size * 2 } else { size }),
        Reading::Stored(stored) => Some(stored.total),
    };
    let mut progress = Progress::new("games", total, Arc::clone(&bytes));
    let mut duplicates = HashSet::new();
    if let Reading::Files(read) = reading
        && is_read_twice
    {
        let pass = DuplicatePass {
            files,
            options: read,
            condition: selection.condition.clone(),
            bytes: Arc::clone(&bytes),
            games: Arc::default(),
        };
        match pass.run(&mut progress, &interrupted)? {
            Some(found) => (files, duplicates) = found,
            None => return Ok(Code::Interrupted),
        }
    }
    let inputs = files.canonical();
    let (found, games) = sync_channel(QUEUE);
    let reader = Reader {
        files: files.clone(),
        bytes: Arc::clone(&bytes),
        found,
        batch: Vec::new(),
        begun: now(),
        games: 0,
    };
    thread::Builder::new()
        .name("reader".to_owned())
        .spawn(move || reader.run(reading))
        .map_err(Failure::failed)?;
    let sink = match mode {
        Mode::Write(options) => {
            let (renderer, destination) = *options;
            let output = Output::new(destination, inputs);
            let order = selection.order.clone();
            let spool = order.map(Spool::new).transpose().map_err(Failure::failed)?;
            Sink::Write { renderer: Box::new(renderer), output: Box::new(output), spool }
        }
        Mode::Count => Sink::Count,
        Mode::Stats(form) => Sink::Stats(form, Box::default()),
        Mode::Check => Sink::Check,
        Mode::List => Sink::List(None),
    };
    let run = Run {
        files: files.0,
        progress,
        sample: selection.sample.map(|size| Sample::new(size, selection.seed)),
        selection,
        content,
        duplicates,
        sink,
        read: 0,
        passed: 0,
        selected: 0,
        defects: 0,
        losses: LossReport::new(is_lenient),
        prints_json,
    };
    match run.run(&games, &interrupted) {
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Code::Done),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Code::Interrupted),
        done => done.map_err(Failure::failed),
    }
}

/// Finds the games that duplicate others among those that match a condition, in a pass of its own: the first of
/// them can be the one that is not kept.
struct DuplicatePass {
    files: Files,
    options: ReadOptions,
    condition: Condition,
    bytes: Arc<AtomicU64>,
    games: Arc<AtomicU64>,
}

impl DuplicatePass {
    /// The files, which can be read again, and the ordinals of duplicates. `None` after an interrupt.
    fn run(
        self,
        progress: &mut Progress,
        interrupted: &AtomicBool,
    ) -> Result<Option<(Files, HashSet<u64>)>, Failure> {
        let games = Arc::clone(&self.games);
        let (done, found) = sync_channel(1);
        // A thread: reading from a pipe can block.
        thread::Builder::new()
            .name("duplicates".to_owned())
            .spawn(move || done.send(self.find()))
            .map_err(Failure::failed)?;
        loop {
            match found.recv_timeout(INTERRUPT_INTERVAL) {
                Ok(found) => return found.map(Some).map_err(Failure::failed),
                Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Acquire) => {
                    progress.clear();
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => progress.update(games.load(Ordering::Relaxed)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::failed("the search for duplicates failed"));
                }
            }
        }
    }

    fn find(mut self) -> io::Result<(Files, HashSet<u64>)> {
        self.files.make_repeatable()?;
        let mut finder = DuplicateFinder::default();
        let mut ordinal = 0;
        for file in &self.files.0 {
            // The main pass reports errors.
            let Ok(games) = Games::open(file, self.options, &self.bytes) else { continue };
            for record in games {
                if let Ok(record) = record
                    && self.condition.matches(&record)
                {
                    finder.add(ordinal, &record);
                }
                ordinal += 1;
                self.games.store(ordinal, Ordering::Relaxed);
            }
        }
        Ok((self.files, finder.finish()))
    }
}

/// How the reading thread reads.
enum Reading {
    Files(ReadOptions),
    Stored(StoredGames),
}

/// Reads the games of all files.
struct Reader {
    files: Files,
    bytes: Arc<AtomicU64>,
    found: SyncSender<Vec<Found>>,
    batch: Vec<Found>,
    begun: std::time::Instant,
    /// Games that were read.
    games: u64,
}

impl Reader {
    fn run(mut self, reading: Reading) {
        match reading {
            Reading::Files(options) => {
                for (number, file) in self.files.0.clone().iter().enumerate() {
                    if !self.read(number, file, options) {
                        return;
                    }
                }
            }
            Reading::Stored(stored) => {
                for (number, record) in stored.games {
                    self.bytes.fetch_add(1, Ordering::Relaxed);
                    let (file, ordinal, format, notices) = (0, number, None, Vec::new());
                    let found = match record {
                        Ok(record) => {
                            let record = Ok(record);
                            let game = Game { file, number, ordinal, format, record, notices };
                            Found::Game(Box::new(game))
                        }
                        Err(error) => {
                            let text = format!("game {number}: {error}");
                            Found::Unreadable(file, io::Error::other(text))
                        }
                    };
                    if !self.send(found) {
                        return;
                    }
                }
            }
        }
        self.flush();
    }

    /// False if no more games are wanted.
    fn read(&mut self, number: usize, file: &InputFile, options: ReadOptions) -> bool {
        let mut games = match Games::open(file, options, &self.bytes) {
            Ok(games) => games,
            Err(error) => return self.send(Found::Unreadable(number, error)),
        };
        let before = self.games;
        while let Some(record) = games.next() {
            let notices = games.notices().to_vec();
            let ordinal = self.games;
            self.games += 1;
            let format = games.format();
            let of_file = self.games - before;
            let game = Game { file: number, number: of_file, ordinal, format, record, notices };
            if !self.send(Found::Game(Box::new(game))) {
                return false;
            }
        }
        true
    }

    fn send(&mut self, found: Found) -> bool {
        if self.batch.is_empty() {
            self.begun = now();
        }
        self.batch.push(found);
        let is_due = self.batch.len() >= BATCH || now() - self.begun >= BATCH_AGE;
        !is_due || self.flush()
    }

    fn flush(&mut self) -> bool {
        self.found.send(std::mem::take(&mut self.batch)).is_ok()
    }
}

enum Sink {
    Write {
        renderer: Box<Renderer>,
        output: Box<Output>,
        spool: Option<Spool>,
    },
    Count,
    Stats(StatsForm, Box<Stats>),
    Check,
    /// The last file that was listed.
    List(Option<usize>),
}

/// A random sample of games, in their order.
struct Sample {
    size: usize,
    random: u64,
    seen: u64,
    games: Vec<(u64, Game)>,
}

impl Sample {
    fn new(size: usize, seed: u64) -> Self {
        Self { size, random: seed, seen: 0, games: Vec::new() }
    }

    /// Adds a game with the probability that makes all samples equally likely (reservoir sampling).
    fn add(&mut self, game: Game) {
        let number = self.seen;
        self.seen += 1;
        if self.games.len() < self.size {
            self.games.push((number, game));
            return;
        }
        let index = self.below(self.seen);
        if let Some(entry) = usize::try_from(index).ok().and_then(|at| self.games.get_mut(at)) {
            *entry = (number, game);
        }
    }

    /// A random number below a limit (`SplitMix64`; the bias is negligible).
    fn below(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit.max(1)
    }
}

struct Run {
    files: Vec<InputFile>,
    progress: Progress,
    selection: Selection,
    sample: Option<Sample>,
    content: Content,
    /// The ordinals of games that duplicate a kept one.
    duplicates: HashSet<u64>,
    sink: Sink,
    read: u64,
    /// Games that passed the selection before `skip` and `first`.
    passed: u64,
    selected: u64,
    /// Defects that `Mode::Check` lists.
    defects: u64,
    losses: LossReport,
    prints_json: bool,
}

impl Run {
    fn run(mut self, games: &Receiver<Vec<Found>>, stop: &AtomicBool) -> io::Result<Code> {
        'all: loop {
            if stop.load(Ordering::Acquire) {
                self.progress.clear();
                return Err(io::ErrorKind::Interrupted.into());
            }
            let batch = match games.recv_timeout(INTERRUPT_INTERVAL) {
                Ok(batch) => batch,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            for found in batch {
                let wants_more = match found {
                    Found::Game(game) => self.add(*game)?,
                    Found::Unreadable(file, error) => {
                        let name = self.name(file);
                        if matches!(self.sink, Sink::Check) {
                            self.defects += 1;
                            self.print(&format!("{name}:1:1: error: {error}"))?;
                        } else {
                            let line = self.losses.unreadable_file(&name, &error);
                            self.report(Some(line));
                        }
                        true
                    }
                };
                if !wants_more {
                    break 'all;
                }
            }
            self.progress.update(self.read);
        }
        self.finish()
    }

    fn name(&self, file: usize) -> String {
        self.files.get(file).map(InputFile::name).unwrap_or_default()
    }

    fn report(&mut self, line: Option<String>) {
        if let Some(line) = line {
            self.progress.clear();
            print_error(&line);
        }
    }

    /// Prints a line of the output of a report.
    fn print(&mut self, line: &str) -> io::Result<()> {
        self.progress.clear();
        writeln!(io::stdout().lock(), "{line}")
    }

    /// Processes a game. False if no more games are needed.
    fn add(&mut self, game: Game) -> io::Result<bool> {
        self.read += 1;
        if matches!(self.sink, Sink::Check) {
            return self.check(&game).map(|()| true);
        }
        let record = match &game.record {
            Ok(record) => record,
            Err(error) => {
                let line = self.losses.unreadable(&self.name(game.file), error);
                self.report(line);
                return Ok(true);
            }
        };
        if !self.selection.condition.matches(record) {
            self.losses.read_unselected(&game.notices);
            return Ok(true);
        }
        if let Some(duplicates) = self.selection.duplicates {
            let is_duplicate = self.duplicates.contains(&game.ordinal);
            if is_duplicate != (duplicates == Duplicates::Only) {
                return Ok(true);
            }
        }
        match &mut self.sample {
            Some(sample) => {
                sample.add(game);
                Ok(true)
            }
            None => self.pass(game),
        }
    }

    fn check(&mut self, game: &Game) -> io::Result<()> {
        let name = self.name(game.file);
        for notice in &game.notices {
            self.defects += 1;
            let Notice { line, column, reason, kept } = notice;
            let kept = if *kept == ReadExtent::All { String::new() } else { format!("; {kept}") };
            let text = printable(&format!("{reason}{kept}"));
            self.print(&format!("{name}:{line}:{column}: warning: {text}"))?;
        }
        if let Err(error) = &game.record {
            self.defects += 1;
            let RecordError { line, column, kind, .. } = error;
            let text = printable(&kind.to_string());
            self.print(&format!("{name}:{line}:{column}: error: {text}"))?;
        }
        Ok(())
    }

    /// Processes a selected game. Games are counted here, unless they are sorted first.
    fn pass(&mut self, game: Game) -> io::Result<bool> {
        let Game { file, number, format, record: Ok(mut record), notices, .. } = game else {
            return Ok(true);
        };
        let is_sorted = matches!(&self.sink, Sink::Write { spool: Some(_), .. });
        if !is_sorted {
            match self.counted() {
                Counted::Skipped => return Ok(true),
                Counted::Selected => {}
                Counted::AfterLast => return Ok(false),
            }
        }
        let name = self.name(file);
        let origin = Origin { file: &name, game: number };
        let line = self.losses.read(origin, &notices);
        self.report(line);
        match &mut self.sink {
            Sink::Count | Sink::Check => {}
            Sink::Stats(_, stats) => stats.add(&record),
            Sink::List(last) => {
                if *last != Some(file) {
                    *last = Some(file);
                    self.print(&name)?;
                }
            }
            Sink::Write { renderer, output, spool } => {
                let groups = output.split_key().map(|key| key.of(&record)).unwrap_or_default();
                self.content.apply(&mut record);
                let format = renderer.format_of(&record, format);
                if renderer.loses_characters(&record, format) {
                    self.losses.approximated();
                }
                let (bytes, line) = match renderer.render(&record, format) {
                    Ok((bytes, losses)) => {
                        (Some(bytes), self.losses.written(origin, format, losses))
                    }
                    Err(error) => (None, self.losses.unwritable(origin, &error)),
                };
                if let Some(line) = line {
                    self.progress.clear();
                    print_error(&line);
                }
                let Some(bytes) = bytes else { return Ok(true) };
                let game = Rendered { bytes, format, file, groups };
                match spool {
                    Some(spool) => spool.add(&record, game)?,
                    None => self.write(&game)?,
                }
            }
        }
        Ok(is_sorted || !self.is_complete())
    }

    fn write(&mut self, game: &Rendered) -> io::Result<()> {
        let Sink::Write { output, .. } = &mut self.sink else { return Ok(()) };
        match self.files.get(game.file) {
            Some(file) if !game.bytes.is_empty() => output.write(game, file),
            _ => Ok(()),
        }
    }

    /// Counts a game for `skip` and `first`.
    fn counted(&mut self) -> Counted {
        self.passed += 1;
        if self.passed <= self.selection.skip {
            return Counted::Skipped;
        }
        if self.is_complete() {
            return Counted::AfterLast;
        }
        self.selected += 1;
        Counted::Selected
    }

    fn is_complete(&self) -> bool {
        self.selection.first.is_some_and(|first| first <= self.selected)
    }

    fn finish(mut self) -> io::Result<Code> {
        if let Some(sample) = self.sample.take() {
            let mut games = sample.games;
            games.sort_by_key(|(number, _)| *number);
            for (_, game) in games {
                if !self.pass(game)? {
                    break;
                }
            }
        }
        let spool = match &mut self.sink {
            Sink::Write { spool, .. } => spool.take(),
            _ => None,
        };
        if let Some(spool) = spool {
            spool.drain(|game| match self.counted() {
                Counted::Skipped => Ok(true),
                Counted::Selected => self.write(&game).map(|()| true),
                Counted::AfterLast => Ok(false),
            })?;
        }
        self.progress.clear();
        match self.sink {
            Sink::Write { output, .. } => {
                output.finish()?;
                if self.prints_json {
                    writeln!(io::stdout().lock(), "{{\"games\":{}}}", self.selected)?;
                }
            }
            Sink::Count => writeln!(io::stdout().lock(), "{}", self.selected)?,
            Sink::Stats(StatsForm::Table, stats) => {
                io::stdout().lock().write_all(stats.table().as_bytes())?;
            }
            Sink::Stats(StatsForm::Json, stats) => {
                writeln!(io::stdout().lock(), "{}", stats.json()?)?;
            }
            Sink::Check => {
                let (games, defects) = (self.read, self.defects);
                print_error(&format!(
                    "{games} {}, {defects} {}",
                    if games == 1 { "game" } else { "games" },
                    if defects == 1 { "defect" } else { "defects" }
                ));
            }
            Sink::List(_) => {}
        }
        for line in self.losses.summary() {
            print_error(&line);
        }
        let is_clean = self.defects == 0 && !self.losses.is_failure();
        Ok(if is_clean { Code::Done } else { Code::Failed })
    }
}

enum Counted {
    Skipped,
    Selected,
    /// The maximum number is reached.
    AfterLast,
}
