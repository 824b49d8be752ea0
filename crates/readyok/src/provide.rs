//! `readyok provide`: offers an engine to the analysis board of Lichess (external engine protocol).

mod broker;
mod job;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use readyok_client::{Engine, EngineError, Guard, Search, Stopper};
use readyok_protocol::{Dialect, Reply};
use readyok_rules::Game;

pub(crate) use broker::{Broker, Registration};
use job::{Job, Work};

use crate::address::Address;
use crate::analyse::{AnalysisPosition, Start};
use crate::clock::{Backoff, sleep};
use crate::player::set_options;
use crate::terminal::print_error;

/// First and longest pause after a failed request.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// Number of lines that wait for the network. More than a second of output of a fast engine.
const QUEUED_LINES: usize = 1000;

/// Interval of checks whether the server has closed the stream.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// An engine that is offered.
#[derive(Clone, Debug)]
pub(crate) struct Provided {
    pub(crate) address: Address,
    /// Options in addition to those of the address.
    pub(crate) options: Vec<String>,
    pub(crate) max_threads: u32,
    /// In mebibytes.
    pub(crate) max_hash: u32,
    /// The depth of a search without a limit.
    pub(crate) default_depth: u32,
}

impl Provided {
    /// Starts the engine.
    pub(crate) fn open(&self, guard: &Guard) -> Result<Engine, EngineError> {
        let mut engine = self.address.open(Some(Dialect::Uci), guard)?;
        set_options(&mut engine, &self.options)?;
        Ok(engine)
    }
}

/// Waits for analysis requests, and answers them until `stop`.
pub(crate) fn provide(
    broker: &Broker,
    provided: &Provided,
    engine: Engine,
    guard: &Guard,
    stop: &AtomicBool,
) {
    let current = Current::default();
    thread::scope(|scope| {
        // The worker takes one job; another one waits until the search of the first is stopped.
        let (jobs, received) = mpsc::sync_channel(0);
        let worker = Worker {
            broker,
            provided,
            guard,
            current: &current,
            engine: Some(engine),
            session: None,
        };
        scope.spawn(move || worker.run(&received));
        let mut pauses = Backoff::new(PAUSES.0, PAUSES.1);
        while !stop.load(Ordering::Acquire) {
            match broker.acquire() {
                Ok(Some(job)) => {
                    pauses.reset();
                    current.stop();
                    if jobs.send(job).is_err() {
                        return;
                    }
                }
                Ok(None) => pauses.reset(),
                Err(error) => {
                    let pause = error.retry_after().unwrap_or_else(|| pauses.pause());
                    let seconds = pause.as_secs();
                    print_error(&format!("{error}; next attempt in {seconds} s"));
                    sleep(pause, stop);
                }
            }
        }
        current.stop();
    });
}

/// The search in progress.
#[derive(Debug, Default)]
struct Current(Mutex<Option<Stopper>>);

impl Current {
    fn set(&self, stopper: Option<Stopper>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = stopper;
    }

    fn stop(&self) {
        if let Some(stopper) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            stopper.stop();
        }
    }
}

/// Searches, and streams the lines of the engine.
struct Worker<'a> {
    broker: &'a Broker,
    provided: &'a Provided,
    guard: &'a Guard,
    current: &'a Current,
    /// `None` after a failure.
    engine: Option<Engine>,
    /// Identifies the analysis of the hash table.
    session: Option<String>,
}

impl Worker<'_> {
    fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            if let Err(error) = self.answer(&job) {
                print_error(&format!("request {}: {error}", job.id));
            }
            self.current.set(None);
        }
    }

    fn answer(&mut self, job: &Job) -> Result<(), String> {
        let mut engine = match self.engine.take() {
            Some(engine) => engine,
            None => self.provided.open(self.guard).map_err(|error| error.to_string())?,
        };
        let result = self.search(&mut engine, job);
        match result {
            Ok(()) => {
                self.engine = Some(engine);
                Ok(())
            }
            Err(SearchError::Work(error)) => {
                self.engine = Some(engine);
                // The empty answer ends the request.
                let (lines, received) = mpsc::sync_channel(1);
                drop(lines);
                let _ = self.broker.submit(&job.id, received);
                Err(error)
            }
            Err(SearchError::Engine(error)) => {
                self.session = None;
                Err(error.to_string())
            }
        }
    }

    fn search(&mut self, engine: &mut Engine, job: &Job) -> Result<(), SearchError> {
        let setup = setup(engine, &job.work).map_err(SearchError::Work)?;
        let (threads, hash) = (
            job.work.threads.clamp(1, self.provided.max_threads),
            job.work.hash.clamp(1, self.provided.max_hash),
        );
        for (name, value) in [("Threads", threads), ("Hash", hash)] {
            let text = value.to_string();
            let changes = engine.option_value(name).is_some_and(|value| value.to_string() != text);
            if changes {
                engine.set_option(name, &text)?;
            }
        }
        if self.session.as_ref() != Some(&job.work.session_id) {
            engine.new_game(&setup.game)?;
            self.session = Some(job.work.session_id.clone());
        }
        let limit = job.work.limit(self.provided.default_depth);
        let search = Search::new(limit).lines(job.work.multi_pv.clamp(1, MAX_LINES));
        let analysis = engine.analyse(&setup.game, search)?;
        self.current.set(Some(analysis.stopper()));
        let (lines, received) = mpsc::sync_channel(QUEUED_LINES);
        thread::scope(|scope| {
            let upload = scope.spawn(|| self.broker.submit(&job.id, received));
            loop {
                let is_over = analysis.is_over();
                match analysis.next_within(CHECK_INTERVAL) {
                    Some(update) => {
                        if let Some(line) = line(&update.info)
                            && !send(&lines, line)
                        {
                            analysis.stop();
                        }
                    }
                    None if is_over => break,
                    // The board was closed or shows another position.
                    None if upload.is_finished() => analysis.stop(),
                    None => (),
                }
            }
            let result = analysis.wait();
            if let Ok(result) = &result {
                send(&lines, best_move(result));
            }
            drop(lines);
            // An error means that the server closed the stream, which ends an analysis.
            let _ = upload.join();
            result.map(drop).map_err(SearchError::Engine)
        })
    }
}

/// The largest number of lines in the protocol.
const MAX_LINES: u32 = 5;

/// Why a request was not answered.
enum SearchError {
    /// The request is invalid.
    Work(String),
    Engine(EngineError),
}

impl From<EngineError> for SearchError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// The position of a request. Its legality is checked, because engines crash on illegal positions.
fn setup(engine: &Engine, work: &Work) -> Result<AnalysisPosition, String> {
    if !["chess", "standard", "fromPosition", "chess960"].contains(&work.variant.as_str()) {
        return Err(format!("variant `{}` is not offered", work.variant.escape_debug()));
    }
    let has_chess960 = engine.option_value("UCI_Chess960").is_some();
    let game = if has_chess960 { Game::Chess960 } else { Game::Chess };
    let start = Start::Fen(work.initial_fen.clone());
    AnalysisPosition::new(game, &start, &work.moves.join(" ")).map_err(|error| error.to_string())
}

/// Queues a line. Returns false if the upload has ended. A line is dropped if the network is too slow.
fn send(lines: &SyncSender<String>, line: String) -> bool {
    !matches!(lines.try_send(line), Err(TrySendError::Disconnected(_)))
}

/// The line of an `info` with a score, with the fields of the published protocol. The broker rejects others, such as `wdl`.
fn line(info: &readyok_protocol::Info<'static>) -> Option<String> {
    info.score?;
    let mut info = info.clone();
    info.multipv = info.multipv.or(Some(1));
    info.wdl = None;
    info.eps = None;
    info.movesleft = None;
    info.currmove = None;
    info.currmovenumber = None;
    info.refutation = None;
    info.currline = None;
    info.string = None;
    info.unknown.clear();
    let mut line = String::new();
    Reply::Info(info).write(Dialect::Uci, &mut line).ok()?;
    Some(line)
}

fn best_move(result: &readyok_client::SearchResult) -> String {
    result.best_move().map_or_else(|| "bestmove (none)".to_owned(), |mv| format!("bestmove {mv}"))
}
