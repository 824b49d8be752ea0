//! Distributes games to engines and writes them in their order.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use readyok_client::Stopper;
use readyok_protocol::Go;
use readyok_rules::Side;
use readyok_rules::judgement::SideAccuracy;
use readyok_rules::record::{Format, GameDocument, GameRecord, Merge, Notice, RecordError};

use super::evaluate::{EngineSettings, Shared, Worker, file_error};
use super::journal::{Journal, Settings};
use crate::connect::start_guard;
use crate::convert::{
    Destination, FileFormat, Files, Games, LossReport, Origin, Output, Progress, ReadOptions,
    Rendered, Renderer, is_directory,
};
use crate::exit::{Code, Failure, on_interrupt};
use crate::progress_file::ProgressFile;
use crate::terminal::{print, print_error, printable};

/// Interval in which the progress is shown.
const INTERVAL: Duration = Duration::from_millis(100);

/// A run of `annotate`.
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(crate) struct Annotation {
    pub(crate) files: Files,
    pub(crate) read: ReadOptions,
    pub(crate) engine: EngineSettings,
    /// The engine as the user named it.
    pub(crate) engine_name: String,
    pub(crate) concurrency: usize,
    pub(crate) insert_lines: bool,
    pub(crate) renderer: Renderer,
    pub(crate) destination: Destination,
    /// Discards the progress of an earlier run.
    pub(crate) restart: bool,
    pub(crate) is_quiet: bool,
    /// Lost moves have no effect on the exit code.
    pub(crate) is_lenient: bool,
}

/// The games of all files, which the threads read one after another.
struct Source {
    files: Files,
    read: ReadOptions,
    next_file: usize,
    games: Option<(usize, Games)>,
    number: u64,
    /// The number of the last game in its file.
    in_file: u64,
    bytes: Arc<AtomicU64>,
}

/// A game with its number, from 1.
struct Job {
    number: u64,
    source: GameSource,
    record: Result<GameRecord, ReadFailure>,
}

/// Where a game was read, and with which notices.
struct GameSource {
    file: usize,
    /// The number in the file, from 1.
    number: u64,
    format: Option<FileFormat>,
    notices: Vec<Notice>,
}

enum ReadFailure {
    File(io::Error),
    Game(RecordError),
}

impl Source {
    fn next(&mut self) -> Option<Job> {
        loop {
            if let Some((file, games)) = &mut self.games {
                let file = *file;
                if let Some(read) = games.next() {
                    self.number += 1;
                    self.in_file += 1;
                    let (number, format) = (self.in_file, games.format());
                    let notices = games.notices().to_vec();
                    let source = GameSource { file, number, format, notices };
                    let record = read.map_err(ReadFailure::Game);
                    return Some(Job { number: self.number, source, record });
                }
                self.games = None;
                self.in_file = 0;
            }
            let file = self.next_file;
            self.next_file += 1;
            match Games::open(self.files.get(file)?, self.read, &self.bytes) {
                Ok(games) => self.games = Some((file, games)),
                Err(error) => {
                    self.number += 1;
                    let source = GameSource { file, number: 0, format: None, notices: Vec::new() };
                    let record = Err(ReadFailure::File(error));
                    return Some(Job { number: self.number, source, record });
                }
            }
        }
    }
}

enum Outcome {
    Evaluated(Box<GameDocument>),
    /// The game cannot be read.
    Unreadable(ReadFailure),
    /// The run fails.
    Failed(String),
}

struct Done {
    number: u64,
    source: GameSource,
    outcome: Outcome,
}

/// Annotates games.
pub(crate) fn run(annotation: &Annotation) -> Result<Code, Failure> {
    let guard = start_guard().map_err(Failure::failed)?;
    let journal = open_journal(annotation).map_err(Failure::usage)?;
    if journal.len() > 0 {
        print_error(&format!("continues after {} positions", journal.len()));
    }
    let bytes = Arc::new(AtomicU64::new(0));
    let stopped = Arc::new(AtomicBool::new(false));
    let stoppers: Arc<Mutex<Vec<Stopper>>> = Arc::default();
    let (flag, running) = (Arc::clone(&stopped), Arc::clone(&stoppers));
    #[expect(clippy::exit, reason = "the second interrupt does not wait for the engines")]
    let interrupt = move || {
        if flag.swap(true, Ordering::AcqRel) {
            std::process::exit(Code::Interrupted.number());
        }
        for stopper in running.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            stopper.stop();
        }
    };
    on_interrupt(interrupt).map_err(Failure::failed)?;
    let positions = AtomicU64::new(0);
    let source = Mutex::new(Source {
        files: annotation.files.clone(),
        read: annotation.read,
        next_file: 0,
        games: None,
        number: 0,
        in_file: 0,
        bytes: Arc::clone(&bytes),
    });
    let shared = Shared {
        settings: &annotation.engine,
        guard: &guard,
        journal: &journal,
        stopped: &stopped,
        stoppers: &stoppers,
        positions: &positions,
    };
    let progress = Progress::new("positions", annotation.files.size(), bytes);
    let mut writer = Writer::new(annotation, progress);
    let done = thread::scope(|scope| {
        let (done, finished) = channel();
        for _ in 0..annotation.concurrency {
            let done = done.clone();
            let (shared, source) = (&shared, &source);
            scope.spawn(move || work(shared, source, &done));
        }
        drop(done);
        loop {
            match finished.recv_timeout(INTERVAL) {
                Ok(done) => {
                    if let Err(error) = writer.add(done) {
                        stopped.store(true, Ordering::Release);
                        return Err(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            writer.progress.update(positions.load(Ordering::Relaxed));
        }
    });
    writer.progress.clear();
    match done {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Code::Done),
        done => done.map_err(Failure::failed)?,
    }
    if stopped.load(Ordering::Acquire) {
        if annotation.destination.path.is_some() {
            print_error("interrupted; the same command continues");
        }
        return Ok(Code::Interrupted);
    }
    let code = writer.finish().map_err(Failure::failed)?;
    journal.remove().map_err(Failure::failed)?;
    Ok(code)
}

fn work(shared: &Shared<'_>, jobs: &Mutex<Source>, done: &Sender<Done>) {
    let mut worker = Worker::new(shared);
    while !shared.stopped.load(Ordering::Acquire) {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(Job { number, source, record }) = job else { return };
        let outcome = match record {
            Err(failure) => Outcome::Unreadable(failure),
            Ok(record) => match worker.evaluate(number, record) {
                Ok(Some(game)) => Outcome::Evaluated(Box::new(game)),
                Ok(None) => return,
                Err(text) => Outcome::Failed(text),
            },
        };
        if done.send(Done { number, source, outcome }).is_err() {
            return;
        }
    }
}

/// The progress file is next to the output.
fn open_journal(annotation: &Annotation) -> io::Result<Journal> {
    let Some(output) = &annotation.destination.path else { return Ok(Journal::temporary()) };
    if output.exists() && !output.is_file() && !output.is_dir() {
        return Ok(Journal::temporary());
    }
    let path = if is_directory(output) {
        std::fs::create_dir_all(output).map_err(|error| file_error(output, &error))?;
        output.join("annotate.progress")
    } else {
        ProgressFile::path_of(output)
    };
    let engine = &annotation.engine;
    let Go { depth, nodes, move_time, .. } = &engine.go;
    let limit = format!("depth {depth:?} nodes {nodes:?} movetime {move_time:?}");
    let settings = Settings::new(&annotation.engine_name, &engine.options, limit, engine.lines);
    Journal::open(&path, &settings, annotation.restart).map_err(|error| file_error(&path, &error))
}

/// Writes games in their order.
struct Writer<'a> {
    annotation: &'a Annotation,
    output: Output,
    progress: Progress,
    /// Games after one that is not finished.
    waiting: BTreeMap<u64, Done>,
    next: u64,
    losses: LossReport,
}

impl<'a> Writer<'a> {
    fn new(annotation: &'a Annotation, progress: Progress) -> Self {
        let inputs = annotation.files.canonical();
        let output = Output::new(annotation.destination.clone(), inputs);
        let losses = LossReport::new(annotation.is_lenient);
        Self { annotation, output, progress, waiting: BTreeMap::new(), next: 1, losses }
    }

    fn add(&mut self, done: Done) -> io::Result<()> {
        if let Outcome::Failed(text) = done.outcome {
            return Err(io::Error::other(text));
        }
        self.waiting.insert(done.number, done);
        while let Some(done) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.write(done)?;
        }
        Ok(())
    }

    fn write(&mut self, done: Done) -> io::Result<()> {
        let GameSource { file, number, format, notices } = done.source;
        let name = self.annotation.files.name(file);
        let origin = Origin { file: &name, game: number };
        let game = match done.outcome {
            Outcome::Evaluated(game) => *game,
            Outcome::Unreadable(ReadFailure::File(error)) => {
                let line = self.losses.unreadable_file(&name, &error);
                self.report(Some(line));
                return Ok(());
            }
            Outcome::Unreadable(ReadFailure::Game(error)) => {
                let line = self.losses.unreadable(&name, &error);
                self.report(line);
                return Ok(());
            }
            Outcome::Failed(text) => return Err(io::Error::other(text)),
        };
        let line = self.losses.read(origin, &notices);
        self.report(line);
        let renderer = &self.annotation.renderer;
        let format = renderer.format_of(&game.record, format);
        let merge = match format {
            FileFormat::Record(format) => Merge::of(format),
            FileFormat::Fen | FileFormat::Sfen | FileFormat::Epd => Merge::of(Format::UCI),
        };
        let lines = merge.lines && self.annotation.insert_lines;
        let (record, sides) = (game.to_record(Merge { lines, ..merge }), game.accuracies());
        if renderer.loses_characters(&record, format) {
            self.losses.approximated();
        }
        let bytes = match renderer.render(&record, format) {
            Ok((bytes, losses)) => {
                let line = self.losses.written(origin, format, losses);
                self.report(line);
                bytes
            }
            Err(error) => {
                let line = self.losses.unwritable(origin, &error);
                self.report(line);
                return Ok(());
            }
        };
        let rendered = Rendered { bytes, format, file, groups: Vec::new() };
        if let Some(file) = self.annotation.files.get(file) {
            self.output.write(&rendered, file)?;
        }
        if self.annotation.destination.path.is_some() && !self.annotation.is_quiet {
            self.progress.clear();
            print(&summary(done.number, &record, &sides));
        }
        Ok(())
    }

    fn report(&mut self, line: Option<String>) {
        if let Some(line) = line {
            self.progress.clear();
            print_error(&line);
        }
    }

    fn finish(self) -> io::Result<Code> {
        self.output.finish()?;
        for line in self.losses.summary() {
            print_error(&line);
        }
        Ok(if self.losses.is_failure() { Code::Failed } else { Code::Done })
    }
}

/// A line about a game.
fn summary(number: u64, record: &GameRecord, sides: &[SideAccuracy; 2]) -> String {
    let name = |side| printable(record.player(side).unwrap_or("?"));
    let [first, second] = sides;
    let accuracy = |side: &SideAccuracy| {
        side.accuracy.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"))
    };
    format!(
        "{number}  {} – {}  {}  accuracy {} / {}  ?! {}/{}  ? {}/{}  ?? {}/{}",
        name(Side::First),
        name(Side::Second),
        record.result.as_str(),
        accuracy(first),
        accuracy(second),
        first.inaccuracies,
        second.inaccuracies,
        first.mistakes,
        second.mistakes,
        first.blunders,
        second.blunders,
    )
}
