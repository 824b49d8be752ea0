//! Runs a batch: distributes positions to engines, and writes the results in the order of the positions.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use data_encoding::HEXLOWER;
use readyok_client::Guard;
use readyok_rules::Game;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::input::{Found, Item, PlyChoice, Positions};
use super::record::Form;
use super::search::{BatchEngine, Fatal, Outcome, SearchSettings, SearchStop, Searcher};
use super::summary::{Scored, Summary, SummaryForm};
use crate::connect::start_guard;
use crate::convert::{Files, Progress, ReadOptions, replace_file};
use crate::exit::{Code, Failure, on_interrupt};
use crate::progress_file::ProgressFile;
use crate::terminal::{print_error, printable};

/// Interval in which the progress is shown and an interrupt is noticed.
const INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of positions between the first one without a result and the last one that was read, for each
/// process. It bounds the memory.
const WINDOW_PER_JOB: usize = 16;
/// The number of positions that are read ahead.
const READ_AHEAD: usize = 16;
/// The maximum number of printed defects of the input.
const MAX_PROBLEMS: u64 = 20;
/// The version of the progress file.
const VERSION: u32 = 1;

/// A run of `analyse --input`.
pub(crate) struct Batch {
    pub(crate) files: Files,
    pub(crate) read: ReadOptions,
    pub(crate) choice: PlyChoice,
    /// The game of positions that fit several.
    pub(crate) game: Option<Game>,
    pub(crate) engines: Vec<BatchEngine>,
    /// Processes of each engine.
    pub(crate) jobs: usize,
    pub(crate) search: SearchSettings,
    pub(crate) form: Form,
    /// Standard output if `None`.
    pub(crate) output: Option<PathBuf>,
    pub(crate) summary: SummaryForm,
    /// Discards the progress of an earlier run.
    pub(crate) restart: bool,
    /// Ends the run at the first defect of the input.
    pub(crate) is_strict: bool,
    /// Lost moves of games have no effect on the exit code.
    pub(crate) is_lenient: bool,
}

/// The first line of the progress file: what the results depend on.
#[derive(Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Settings {
    #[serde(rename = "readyok_analyse")]
    version: u32,
    inputs: Vec<String>,
    engines: Vec<String>,
    search: String,
    positions: String,
    form: String,
}

impl Settings {
    fn of(batch: &Batch) -> Self {
        let inputs = (0..).map_while(|number| batch.files.get(number).map(|_| number));
        Self {
            version: VERSION,
            inputs: inputs.map(|number| batch.files.name(number)).collect(),
            // Without the registration, which can be secret.
            engines: batch
                .engines
                .iter()
                .map(|BatchEngine { name, address }| {
                    format!("{name} {:?} {:?}", address.source, address.options)
                })
                .collect(),
            search: format!("{:?}", batch.search),
            positions: format!("{:?} {:?} {:?}", batch.choice, batch.game, batch.read),
            form: format!("{:?}", batch.form),
        }
    }
}

/// The results of all engines for a position, in the progress file.
#[derive(Deserialize, Serialize)]
struct Entry {
    /// A hash of the position.
    key: String,
    file: usize,
    label: String,
    lines: Vec<String>,
    scored: Vec<Scored>,
}

fn key_of(item: &Item) -> String {
    let hash = Sha256::digest(item.key().as_bytes());
    HEXLOWER.encode(hash.get(..8).unwrap_or_default())
}

/// Where results are written.
enum Sink {
    /// Standard output, a pipe or a device.
    Stream(BufWriter<Box<dyn Write>>),
    /// The progress file; the output is written at the end.
    File { progress: Box<ProgressFile>, path: PathBuf },
}

/// A position that is analysed.
struct Slot {
    item: Arc<Item>,
    outcomes: Vec<Option<Outcome>>,
}

/// What threads share.
struct Shared<'a> {
    search: &'a SearchSettings,
    stop: SearchStop,
    state: Mutex<State>,
    changed: Condvar,
    window: usize,
    engines: usize,
    is_strict: bool,
}

struct State {
    /// Taken while a thread reads.
    source: Option<Receiver<Found>>,
    is_exhausted: bool,
    /// The positions without all results, in order. The first one has the number `base`.
    slots: VecDeque<Slot>,
    base: usize,
    /// The next position of each engine.
    next: Vec<usize>,
    /// Defects of the input that were not reported yet.
    problems: Vec<Problem>,
    fatal: Option<Fatal>,
}

enum Problem {
    Unreadable(String),
    Cut(String),
}

impl Shared<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next position of an engine, and its number. `None` after the last one.
    fn next(&self, engine: usize) -> Option<(usize, Arc<Item>)> {
        let mut state = self.lock();
        loop {
            if self.is_stopped() || state.fatal.is_some() {
                return None;
            }
            let number = state.next.get(engine).copied()?;
            let index = number.saturating_sub(state.base);
            if let Some(slot) = state.slots.get(index) {
                let item = Arc::clone(&slot.item);
                if let Some(next) = state.next.get_mut(engine) {
                    *next += 1;
                }
                return Some((number, item));
            }
            if state.is_exhausted {
                return None;
            }
            let is_full = self.window <= state.slots.len();
            let Some(source) = (if is_full { None } else { state.source.take() }) else {
                // Another thread reads, or the first position has no result yet.
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            // A pipe can be slow; results of others are written meanwhile.
            drop(state);
            let found = self.receive(&source);
            state = self.lock();
            state.source = Some(source);
            match found {
                None => state.is_exhausted = true,
                Some(Found::Position(item)) => {
                    let outcomes = (0..self.engines).map(|_| None).collect();
                    state.slots.push_back(Slot { item: Arc::from(item), outcomes });
                }
                Some(Found::Unreadable(text)) => {
                    state.problems.push(Problem::Unreadable(text));
                    state.is_exhausted = self.is_strict;
                }
                Some(Found::Cut(text)) => {
                    state.problems.push(Problem::Cut(text));
                    state.is_exhausted = self.is_strict;
                }
            }
            self.changed.notify_all();
        }
    }

    /// Waits for something that was read. `None` at the end, or if the run was stopped.
    fn receive(&self, source: &Receiver<Found>) -> Option<Found> {
        loop {
            match source.recv_timeout(INTERVAL) {
                Ok(found) => return Some(found),
                Err(RecvTimeoutError::Timeout) if !self.is_stopped() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn finish(&self, engine: usize, number: usize, outcome: Outcome) {
        let mut state = self.lock();
        let index = number.saturating_sub(state.base);
        if let Some(slot) = state.slots.get_mut(index)
            && let Some(place) = slot.outcomes.get_mut(engine)
        {
            *place = Some(outcome);
        }
        self.changed.notify_all();
    }

    fn work(&self, engine: usize, searcher: &mut Searcher<'_>) {
        while let Some((number, item)) = self.next(engine) {
            match searcher.analyse(&item) {
                Ok(Some(outcome)) => self.finish(engine, number, outcome),
                Ok(None) => return,
                Err(fatal) => {
                    self.lock().fatal.get_or_insert(fatal);
                    self.stop();
                    return;
                }
            }
        }
    }

    /// Stops all searches.
    fn stop(&self) {
        self.stop.stop();
        self.changed.notify_all();
    }
}

/// Reads in a thread that nothing waits for, because reading from a pipe cannot be interrupted.
fn spawn_reader(mut source: Positions) -> io::Result<Receiver<Found>> {
    let (sender, found) = sync_channel(READ_AHEAD);
    let read = move || {
        while let Some(found) = source.next() {
            if sender.send(found).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("positions".to_owned()).spawn(read)?;
    Ok(found)
}

/// Analyses the positions of files.
pub(crate) fn run(batch: &Batch) -> Result<Code, Failure> {
    let guard = start_guard().map_err(Failure::failed)?;
    let bytes = Arc::new(AtomicU64::new(0));
    let mut writer = Writer::open(batch, Arc::clone(&bytes))?;
    let stop = SearchStop::default();
    let running = stop.clone();
    #[expect(clippy::exit, reason = "the second interrupt does not wait for the engines")]
    let interrupt = move || {
        if running.stop() {
            std::process::exit(Code::Interrupted.number());
        }
    };
    on_interrupt(interrupt).map_err(Failure::failed)?;
    let Batch { files, read, choice, game, .. } = batch;
    let mut source = Positions::new(files.clone(), *read, *choice, *game, batch.form.is_epd, bytes);
    writer.skip(&mut source)?;
    let shared = Shared {
        search: &batch.search,
        stop,
        state: Mutex::new(State {
            source: Some(spawn_reader(source).map_err(Failure::failed)?),
            is_exhausted: false,
            slots: VecDeque::new(),
            base: 0,
            next: vec![0; batch.engines.len()],
            problems: Vec::new(),
            fatal: None,
        }),
        changed: Condvar::new(),
        window: batch.jobs.saturating_mul(WINDOW_PER_JOB),
        engines: batch.engines.len(),
        is_strict: batch.is_strict,
    };
    let written = write_all(batch, &shared, &guard, &mut writer);
    writer.progress.clear();
    match written {
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Code::Done),
        Err(error) => return Err(writer.failed(&error)),
        Ok(()) => {}
    }
    if let Some(fatal) = shared.lock().fatal.take() {
        let text = format!("{fatal}{}", writer.kept());
        return Err(if fatal.is_usage() { Failure::usage(text) } else { Failure::failed(text) });
    }
    if shared.is_stopped() {
        writer.print_summary();
        print_error(&format!("interrupted{}", writer.kept()));
        return Ok(Code::Interrupted);
    }
    writer.finish()
}

/// Runs the threads and writes the results as long as there are any.
fn write_all(
    batch: &Batch,
    shared: &Shared<'_>,
    guard: &Guard,
    writer: &mut Writer<'_>,
) -> io::Result<()> {
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for job in 0..batch.jobs {
            for (number, engine) in batch.engines.iter().enumerate() {
                let thread = job * batch.engines.len() + number;
                let mut searcher =
                    Searcher::new((shared.search, &shared.stop), engine, guard, thread);
                threads.push(scope.spawn(move || shared.work(number, &mut searcher)));
            }
        }
        let written = write_results(shared, writer);
        if written.is_err() {
            shared.stop();
        }
        written
    })
}

fn write_results(shared: &Shared<'_>, writer: &mut Writer<'_>) -> io::Result<()> {
    let mut state = shared.lock();
    loop {
        let problems = std::mem::take(&mut state.problems);
        let mut complete = Vec::new();
        while state.slots.front().is_some_and(|slot| slot.outcomes.iter().all(Option::is_some)) {
            complete.extend(state.slots.pop_front());
            state.base += 1;
        }
        let is_over = shared.is_stopped()
            || state.fatal.is_some()
            || state.is_exhausted && state.slots.is_empty();
        if problems.is_empty() && complete.is_empty() {
            if is_over {
                return Ok(());
            }
            writer.flush()?;
            let waited = shared.changed.wait_timeout(state, INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            writer.progress.update(writer.count);
            continue;
        }
        shared.changed.notify_all();
        drop(state);
        for slot in complete {
            writer.write(slot)?;
        }
        for problem in problems {
            writer.report(problem);
        }
        state = shared.lock();
    }
}

/// Writes results in their order.
struct Writer<'a> {
    batch: &'a Batch,
    sink: Sink,
    summary: Summary,
    progress: Progress,
    /// The number of positions with results.
    count: u64,
    /// The number and the hash of the positions of earlier runs.
    known: (u64, Sha256),
    /// The number of reported defects.
    problems: u64,
    has_cut: bool,
    /// The run ended at a defect of the input.
    is_broken_off: bool,
}

impl<'a> Writer<'a> {
    fn open(batch: &'a Batch, bytes: Arc<AtomicU64>) -> Result<Self, Failure> {
        let engines = batch.engines.iter().map(|engine| engine.name.clone()).collect();
        let mut summary = Summary::new(engines);
        let mut known = (0, Sha256::new());
        let stream = |out: Box<dyn Write>| Sink::Stream(BufWriter::with_capacity(1 << 16, out));
        let sink = match &batch.output {
            None => stream(Box::new(io::stdout())),
            Some(path) if path.exists() && !path.is_file() => {
                let file = std::fs::OpenOptions::new().write(true).open(path);
                let named = |error| format!("`{}`: {error}", path.display());
                stream(Box::new(file.map_err(|error| Failure::usage(named(error)))?))
            }
            Some(path) => {
                if std::fs::canonicalize(path)
                    .is_ok_and(|path| batch.files.canonical().contains(&path))
                {
                    let text = format!("`{}` is an input file", path.display());
                    return Err(Failure::usage(format!("{text}; choose another output")));
                }
                let progress = ProgressFile::path_of(path);
                let opened =
                    ProgressFile::open(&progress, &Settings::of(batch), batch.restart, |line| {
                        let Ok(entry) = serde_json::from_str::<Entry>(line) else { return false };
                        known.0 += 1;
                        known.1.update(entry.key.as_bytes());
                        summary.add(entry.file, &entry.label, &entry.scored);
                        true
                    });
                let opened = opened.map_err(|error| {
                    Failure::usage(format!("`{}`: {error}", progress.display()))
                })?;
                Sink::File { progress: Box::new(opened), path: path.clone() }
            }
        };
        let progress = Progress::new("positions", batch.files.size(), bytes);
        Ok(Self {
            batch,
            sink,
            summary,
            progress,
            count: known.0,
            known,
            problems: 0,
            has_cut: false,
            is_broken_off: false,
        })
    }

    /// Skips the positions of earlier runs.
    fn skip(&mut self, source: &mut Positions) -> Result<(), Failure> {
        let (count, expected) = self.known.clone();
        if count == 0 {
            return Ok(());
        }
        print_error(&format!("continues after {count} positions"));
        let mut hash = Sha256::new();
        let mut left = count;
        while left > 0 {
            match source.next() {
                None => break,
                Some(Found::Position(item)) => {
                    left -= 1;
                    hash.update(key_of(&item).as_bytes());
                }
                Some(Found::Unreadable(text)) => self.report(Problem::Unreadable(text)),
                Some(Found::Cut(text)) => self.report(Problem::Cut(text)),
            }
        }
        if left > 0 || hash.finalize() != expected.finalize() {
            let Sink::File { path, .. } = &self.sink else { return Ok(()) };
            let progress = ProgressFile::path_of(path);
            let text = format!("`{}`: the input has changed", progress.display());
            return Err(Failure::usage(format!("{text}; remove the file or use --restart")));
        }
        Ok(())
    }

    fn write(&mut self, slot: Slot) -> io::Result<()> {
        let Slot { item, outcomes } = slot;
        let batch = self.batch;
        let file = batch.files.name(item.file);
        let (mut lines, mut scored) = (Vec::new(), Vec::new());
        for (engine, outcome) in batch.engines.iter().zip(outcomes.iter().flatten()) {
            match batch.form.line(&item, &file, &engine.name, outcome) {
                Ok(line) => lines.push(line),
                Err(error) => {
                    let text = format!("{}: {error}", label(&item, &file));
                    self.report(Problem::Unreadable(text));
                }
            }
            let mv = outcome.mv().map(|mv| item.position.notation(mv, batch.form.notation));
            let result = Scored::of(outcome, mv);
            if result.is_failure()
                && let Err(error) = &outcome.analysed
            {
                self.print(&format!("{}: {error}", label(&item, &file)));
            }
            scored.push(result);
        }
        let label = label(&item, &file);
        self.summary.add(item.file, &label, &scored);
        match &mut self.sink {
            Sink::Stream(out) => {
                for line in lines {
                    writeln!(out, "{line}")?;
                }
            }
            Sink::File { progress, .. } => {
                let (key, file) = (key_of(&item), item.file);
                progress.add(&Entry { key, file, label, lines, scored })?;
            }
        }
        self.count += 1;
        self.progress.update(self.count);
        Ok(())
    }

    /// Reports a defect of the input.
    fn report(&mut self, problem: Problem) {
        self.problems += 1;
        let text = match problem {
            Problem::Unreadable(text) => {
                self.summary.add_unreadable();
                text
            }
            Problem::Cut(text) => {
                self.has_cut = true;
                text
            }
        };
        if self.problems <= MAX_PROBLEMS {
            self.print(&text);
        }
        self.is_broken_off |= self.batch.is_strict;
    }

    fn print(&mut self, text: &str) {
        self.progress.clear();
        print_error(text);
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stream(out) => out.flush(),
            Sink::File { .. } => Ok(()),
        }
    }

    /// What the progress file keeps of an incomplete run, for a message.
    fn kept(&self) -> String {
        match &self.sink {
            Sink::Stream(_) => String::new(),
            Sink::File { path, .. } => {
                let (progress, count) = (ProgressFile::path_of(path), self.count);
                let text = format!("`{}` keeps {count} positions", progress.display());
                format!("; {text}, and the same command continues")
            }
        }
    }

    fn failed(&self, error: &io::Error) -> Failure {
        Failure::failed(format!("cannot write the results: {error}{}", self.kept()))
    }

    /// Prints the summary: on standard output if that has no results.
    fn print_summary(&mut self) {
        let name = |file| self.batch.files.name(file);
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = self.summary.write(self.batch.summary, &name, &mut text);
        // Fails if the stream is closed.
        let _ = match &self.batch.output {
            Some(_) => io::stdout().write_all(&text),
            None => io::stderr().write_all(&text),
        };
    }

    fn finish(mut self) -> Result<Code, Failure> {
        if let Err(error) = self.flush() {
            return Err(self.failed(&error));
        }
        if self.problems > MAX_PROBLEMS {
            print_error(&format!(
                "{} defects of the input are not listed",
                self.problems - MAX_PROBLEMS
            ));
        }
        self.print_summary();
        let is_failure = self.summary.unreadable() > 0
            || self.summary.failures() > 0
            || self.has_cut && !self.batch.is_lenient
            || self.is_broken_off;
        let code = if is_failure { Code::Failed } else { Code::Done };
        if self.is_broken_off {
            print_error(&format!("ended at the first defect (--strict){}", self.kept()));
            return Ok(code);
        }
        let Sink::File { progress, path } = &mut self.sink else { return Ok(code) };
        let written = replace_file(path, |out| {
            progress.read(|line| {
                let entry: Entry = serde_json::from_str(line)?;
                entry.lines.iter().try_for_each(|line| writeln!(out, "{line}"))
            })
        });
        if let Err(error) = written {
            return Err(self.failed(&error));
        }
        let Sink::File { progress, .. } = self.sink else { return Ok(code) };
        progress.remove().map_err(Failure::failed)?;
        Ok(code)
    }
}

/// `wac.epd:12 WAC.012`.
fn label(item: &Item, file: &str) -> String {
    let mut label = printable(file);
    // Writing to a string never fails.
    if let Some(number) = item.line.or(item.game) {
        let _ = write!(label, ":{number}");
    }
    if item.game.is_some() || item.ply > 0 {
        let _ = write!(label, " ply {}", item.ply);
    }
    if let Some(id) = &item.id {
        let _ = write!(label, " {}", printable(id));
    }
    label
}
