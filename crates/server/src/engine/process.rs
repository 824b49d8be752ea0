//! A process of an engine: a task that owns it, carries out commands and reports events.
//!
//! ```text
//!  EngineCommand ──> ┌─ Idle ──── Search ────> Searching ─┐  answer, or the next command ends the search
//!            │   │ its end is awaited             │  (the old search is stopped and drained first)
//!            └───┴──────── Dead, Ended <──────────┘ ──> EngineEvent
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use readyok_client::{
    Best, Builder, Dialect, Engine, EngineError, Game as WireGame, Guard, Lines, Search,
    SearchHandle, SearchResult, Update,
};
use readyok_protocol::{Clocks, GameResult, OptionKind, OptionSet, Party, Register};
use readyok_rules::{MoveCodec, Position};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::info_accumulator::InfoAccumulator;
use super::log::Log;
use crate::errors::engine_error;
use crate::game::{EngineAnswer, EngineMove};
use crate::time::{instant, now};
use crate::wire::{EngineProgram, EngineSource, ErrorInfo, ProcessId, ProcessStatus, SearchInfo};

/// Minimum interval between reports of a search.
const MIN_INTERVAL: Duration = Duration::from_millis(40);
/// Maximum output that is read from an engine, in bytes per second: forty thousand lines.
const RATE: u32 = 4 << 20;
/// Maximum number of commands that wait for a process.
const MAX_ORDERS: usize = 256;

/// A handle to a process. Dropping it kills the process and its descendants.
#[derive(Debug)]
pub(crate) struct Process {
    commands: mpsc::Sender<EngineCommand>,
    pub(crate) log: Arc<Mutex<Log>>,
    task: tokio::task::JoinHandle<()>,
}

/// A command to a process.
#[derive(Debug)]
pub(crate) enum EngineCommand {
    /// Searches, after the current search is stopped.
    Search(Box<SearchSpec>),
    /// Stops the search; its best move counts.
    MoveNow,
    /// The opponent has played the pondered move.
    Hit(Clocks),
    /// Stops the search; the answer is ignored.
    Rest,
    /// Sets options. Analysis is restarted with them; a search for a move is finished first.
    Set(BTreeMap<String, String>),
    Press(String),
    /// Registers, now or with the next process.
    Register(Register<'static>),
    /// Sends a line of the user.
    SendLine(String),
    /// Reports the result of the game.
    GameOver(GameResult),
    /// Requests `readyok`, so that all earlier output is read.
    Ready,
    Quit,
}

impl EngineCommand {
    /// Whether it requires an idle engine, and analysis continues afterwards.
    fn needs_rest(&self) -> bool {
        matches!(self, Self::Set(_) | Self::Press(_) | Self::Register(_))
    }
}

/// A search.
#[derive(Clone, Debug)]
pub(crate) struct SearchSpec {
    /// Returned with all events of the search.
    pub(crate) search_id: u64,
    pub(crate) kind: SearchKind,
    pub(crate) game: WireGame,
    pub(crate) search: Search,
    /// The position that is searched.
    pub(crate) position: Position,
    pub(crate) codec: MoveCodec,
    /// Number of variations to show.
    pub(crate) shown: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SearchKind {
    Play,
    Ponder,
    Analyse,
}

/// The answer to a search.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) answer: EngineAnswer,
    pub(crate) info: SearchInfo,
}

/// An event of a process.
#[derive(Debug)]
pub(crate) enum EngineEvent {
    /// The handshake is complete.
    Ready(Box<EngineInfo>),
    /// The status has changed.
    Status(ProcessStatus),
    /// A search has begun.
    SearchStarted(u64),
    /// The current state of a search.
    Info(u64, Box<SearchInfo>),
    /// A search has ended with an answer.
    SearchFinished(u64, Box<Found>),
    /// A search could not be started or has failed; the engine continues to run.
    SearchRejected(u64, ErrorInfo),
    /// A command could not be carried out.
    CommandFailed(ErrorInfo),
    /// The process has exited, on request or with an error.
    Exited(Option<EngineFailure>),
}

/// The failure of a process, with the last lines of its stderr.
#[derive(Debug)]
pub(crate) struct EngineFailure {
    pub(crate) why: ErrorInfo,
    pub(crate) stderr: Vec<String>,
}

/// The result of a handshake.
#[derive(Debug)]
pub(crate) struct EngineInfo {
    pub(crate) name: String,
    pub(crate) author: String,
    pub(crate) dialect: Dialect,
    pub(crate) options: OptionSet,
    pub(crate) pid: Option<u32>,
}

/// The parameters of a process.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) source: EngineSource,
    /// Narikin.
    pub(crate) built_in: EngineProgram,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) values: BTreeMap<String, String>,
    pub(crate) register: Option<Register<'static>>,
    pub(crate) ponders: bool,
    pub(crate) guard: Option<Guard>,
}

/// Receives events. It must not block.
type Reporter = Arc<dyn Fn(ProcessId, EngineEvent) + Send + Sync>;

impl Process {
    /// A process whose commands a test receives.
    #[cfg(test)]
    pub(crate) fn fake() -> (Self, mpsc::Receiver<EngineCommand>) {
        let (commands, inbox) = mpsc::channel(MAX_ORDERS);
        (Self { commands, log: Arc::default(), task: tokio::spawn(async {}) }, inbox)
    }

    /// Sends a command. Returns false if too many commands wait; there is always room for `quit`.
    pub(crate) fn send(&self, command: EngineCommand) -> bool {
        let has_room = matches!(command, EngineCommand::Quit) || 1 < self.commands.capacity();
        has_room && self.commands.try_send(command).is_ok()
    }

    /// Kills the process.
    pub(crate) fn kill(&self) {
        self.task.abort();
    }

    /// Whether its task has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The end of the task drops the engine, whose handle kills the process.
        self.task.abort();
    }
}

/// Starts a process.
pub(crate) fn start(id: ProcessId, how: Start, reporter: Reporter) -> Process {
    let (commands, inbox) = mpsc::channel(MAX_ORDERS);
    let log = Arc::<Mutex<Log>>::default();
    let actor =
        Actor { id, reporter, inbox, log: Arc::clone(&log), spec: None, held: VecDeque::new() };
    let task = tokio::spawn(actor.run(how));
    Process { commands, log, task }
}

struct Actor {
    id: ProcessId,
    reporter: Reporter,
    inbox: mpsc::Receiver<EngineCommand>,
    log: Arc<Mutex<Log>>,
    spec: Option<Box<SearchSpec>>,
    /// Commands that wait for the end of a search for a move.
    held: VecDeque<EngineCommand>,
}

/// The reason to stop following a search.
enum SearchEnd {
    /// A command ends the search.
    Command(EngineCommand),
    /// The search has ended.
    Over,
    /// All senders of commands are dropped.
    Alone,
}

impl Actor {
    fn report(&self, event: EngineEvent) {
        (self.reporter)(self.id, event);
    }

    async fn run(mut self, how: Start) {
        self.report(EngineEvent::Status(ProcessStatus::Starting));
        let engine = match self.open(&how).await {
            Ok(engine) => engine,
            Err(error) => return self.report(EngineEvent::Exited(Some(failure_of(&error)))),
        };
        let end = self.serve(engine, &how).await;
        let failure = end.as_ref().map(failure_of);
        if let Some(failure) = &failure {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            for line in &failure.stderr {
                log.add_error(line, now());
            }
        }
        self.report(EngineEvent::Exited(failure));
    }

    async fn open(&self, how: &Start) -> Result<Engine, EngineError> {
        let log = Arc::clone(&self.log);
        let log_line = move |side: Party, line: &str| {
            log.lock().unwrap_or_else(PoisonError::into_inner).add(side, line, now());
        };
        let mut builder = Builder::default();
        builder = builder.name(how.name.clone()).read_rate(RATE).on_line(log_line);
        if let Some(dialect) = how.dialect {
            builder = builder.dialect(dialect);
        }
        if let Some(register) = &how.register {
            builder = builder.register(register.clone());
        }
        if let Some(guard) = &how.guard {
            builder = builder.guard(guard);
        }
        match &how.source {
            EngineSource::BuiltIn => builder.spawn_async(how.built_in.command()).await,
            EngineSource::Program(program) => builder.spawn_async(program.command()).await,
            EngineSource::Tcp { address } => builder.connect_async(address).await,
        }
    }

    /// Carries out commands until the engine exits. Returns the error if it failed.
    async fn serve(&mut self, mut engine: Engine, how: &Start) -> Option<EngineError> {
        engine.allow_pondering(how.ponders);
        if let Err(error) = self.set(&mut engine, &how.values) {
            return Some(error);
        }
        self.report(EngineEvent::Ready(Box::new(EngineInfo {
            name: engine.identity().name.clone(),
            author: engine.identity().author.clone(),
            dialect: engine.dialect(),
            options: engine.options().clone(),
            pid: engine.process_id(),
        })));
        self.report(EngineEvent::Status(ProcessStatus::Idle));
        loop {
            let command = if let Some(spec) = self.spec.take() {
                match self.search(&mut engine, &spec).await {
                    Ok(SearchEnd::Command(command)) => {
                        // Analysis continues after a command that needs an idle engine.
                        self.spec = command.needs_rest().then_some(spec);
                        command
                    }
                    Ok(SearchEnd::Over) => {
                        self.report(EngineEvent::Status(ProcessStatus::Idle));
                        continue;
                    }
                    Ok(SearchEnd::Alone) => EngineCommand::Quit,
                    Err(error) => return Some(error),
                }
            } else if let Some(command) = self.held.pop_front() {
                command
            } else {
                tokio::select! {
                    command = self.inbox.recv() => command.unwrap_or(EngineCommand::Quit),
                    error = engine.ended() => return Some(error),
                }
            };
            let done = match command {
                EngineCommand::Search(spec) => {
                    self.spec = Some(spec);
                    continue;
                }
                EngineCommand::Rest => {
                    self.report(EngineEvent::Status(ProcessStatus::Idle));
                    Ok(())
                }
                // The search that they were meant for is over.
                EngineCommand::MoveNow | EngineCommand::Hit(_) => Ok(()),
                EngineCommand::Set(values) => self.set(&mut engine, &values),
                EngineCommand::Press(button) => engine.push_button(&button),
                EngineCommand::Register(with) => engine.register(with),
                EngineCommand::SendLine(line) => {
                    self.user_speaks();
                    engine.send_raw(&line)
                }
                EngineCommand::GameOver(result) => engine.game_over(result),
                EngineCommand::Ready => match engine.dialect() {
                    Dialect::Uci => engine.ready_async().await,
                    // In USI the same command starts a game.
                    Dialect::Usi => Ok(()),
                },
                EngineCommand::Quit => {
                    self.report(EngineEvent::Status(ProcessStatus::Leaving));
                    return engine.quit_async().await.err();
                }
            };
            if let Err(error) = done {
                if !error.is_recoverable() {
                    return Some(error);
                }
                self.report(EngineEvent::CommandFailed(engine_error(&error)));
            }
        }
    }

    /// Sets options. An invalid value is reported; the others are set.
    fn set(
        &self,
        engine: &mut Engine,
        values: &BTreeMap<String, String>,
    ) -> Result<(), EngineError> {
        for (name, value) in values {
            match set(engine, name, value) {
                Err(error) if error.is_recoverable() => {
                    self.report(EngineEvent::CommandFailed(engine_error(&error)));
                }
                done => done?,
            }
        }
        Ok(())
    }

    fn user_speaks(&self) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).user_speaks();
    }

    /// Searches until the end, or until a command that requires the engine.
    async fn search(
        &mut self,
        engine: &mut Engine,
        spec: &SearchSpec,
    ) -> Result<SearchEnd, EngineError> {
        let begun = match spec.kind {
            SearchKind::Play => engine.begin(&spec.game, spec.search.clone()),
            SearchKind::Analyse => engine.analyse(&spec.game, spec.search.clone()),
            SearchKind::Ponder => return self.ponder(engine, spec).await,
        };
        match begun {
            Ok(search) => {
                self.report(EngineEvent::Status(ProcessStatus::Searching));
                self.report(EngineEvent::SearchStarted(spec.search_id));
                self.follow(engine, search, spec).await
            }
            Err(error) => self.reject(spec, error),
        }
    }

    fn reject(&self, spec: &SearchSpec, error: EngineError) -> Result<SearchEnd, EngineError> {
        if !error.is_recoverable() {
            return Err(error);
        }
        self.report(EngineEvent::SearchRejected(spec.search_id, engine_error(&error)));
        Ok(SearchEnd::Over)
    }

    async fn ponder(
        &mut self,
        engine: &mut Engine,
        spec: &SearchSpec,
    ) -> Result<SearchEnd, EngineError> {
        let pondering = match engine.ponder(&spec.game, spec.search.clone()) {
            Ok(pondering) => pondering,
            Err(error) => return self.reject(spec, error),
        };
        self.report(EngineEvent::Status(ProcessStatus::Pondering));
        self.report(EngineEvent::SearchStarted(spec.search_id));
        let mut throttle = InfoThrottle::new(spec);
        let mut ended = false;
        let clocks = loop {
            tokio::select! {
                command = self.inbox.recv() => match command {
                    Some(EngineCommand::Hit(clocks)) => break clocks,
                    Some(EngineCommand::SendLine(line)) => {
                        self.user_speaks();
                        engine.send_raw(&line)?;
                    }
                    Some(EngineCommand::MoveNow) => (),
                    Some(command) if command.needs_rest() => self.held.push_back(command),
                    Some(command) => return Ok(SearchEnd::Command(command)),
                    None => return Ok(SearchEnd::Alone),
                },
                update = pondering.update(), if !ended => match update {
                    Some(update) => throttle.take(&update),
                    None => ended = true,
                },
                () = throttle.due(), if throttle.is_due() => {
                    self.report(EngineEvent::Info(spec.search_id, Box::new(throttle.info(&pondering.so_far()))));
                }
            }
        };
        match pondering.ponder_hit(Some(clocks).filter(|clocks| !clocks.is_empty())) {
            Ok(()) => {
                self.report(EngineEvent::Status(ProcessStatus::Searching));
                self.follow(engine, pondering, spec).await
            }
            Err(error) => self.reject(spec, error),
        }
    }

    /// Reports the output of a search until its end.
    async fn follow(
        &mut self,
        engine: &mut Engine,
        search: SearchHandle,
        spec: &SearchSpec,
    ) -> Result<SearchEnd, EngineError> {
        let mut throttle = InfoThrottle::new(spec);
        let played = loop {
            tokio::select! {
                command = self.inbox.recv() => match command {
                    Some(EngineCommand::MoveNow) => search.stop(),
                    Some(EngineCommand::SendLine(line)) => {
                        self.user_speaks();
                        engine.send_raw(&line)?;
                    }
                    Some(EngineCommand::Hit(_)) => (),
                    Some(command) if command.needs_rest() && spec.kind != SearchKind::Analyse => {
                        self.held.push_back(command);
                    }
                    Some(command) => return Ok(SearchEnd::Command(command)),
                    None => return Ok(SearchEnd::Alone),
                },
                update = search.update() => match update {
                    Some(update) => throttle.take(&update),
                    None => break search.await,
                },
                () = throttle.due(), if throttle.is_due() => {
                    self.report(EngineEvent::Info(spec.search_id, Box::new(throttle.info(&search.so_far()))));
                }
            }
        };
        match played {
            Ok(played) => {
                let info = throttle.accumulator.ended(&played);
                let found = Found { answer: answer(&played, spec.codec), info };
                self.report(EngineEvent::SearchFinished(spec.search_id, Box::new(found)));
                Ok(SearchEnd::Over)
            }
            Err(error) => self.reject(spec, error),
        }
    }
}

/// Pending output.
struct InfoThrottle {
    accumulator: InfoAccumulator,
    /// The time of the next report.
    due: Option<Instant>,
    last: Option<Instant>,
}

impl InfoThrottle {
    fn new(spec: &SearchSpec) -> Self {
        let accumulator = InfoAccumulator::new(spec.position.clone(), spec.codec, spec.shown);
        Self { accumulator, due: None, last: None }
    }

    fn take(&mut self, update: &Update) {
        self.accumulator.take(&update.info);
        if self.due.is_none() {
            let now = Instant::from_std(instant());
            self.due = Some(self.last.map_or(now, |last| (last + MIN_INTERVAL).max(now)));
        }
    }

    fn is_due(&self) -> bool {
        self.due.is_some()
    }

    async fn due(&self) {
        if let Some(due) = self.due {
            sleep_until(due).await;
        }
    }

    fn info(&mut self, lines: &Lines) -> SearchInfo {
        self.last = Some(Instant::from_std(instant()));
        self.due = None;
        self.accumulator.info(lines)
    }
}

/// Sets an option or presses a button.
fn set(engine: &mut Engine, name: &str, value: &str) -> Result<(), EngineError> {
    let is_button =
        engine.options().find(name).is_some_and(|option| matches!(option.kind, OptionKind::Button));
    if is_button { engine.push_button(name) } else { engine.set_option(name, value) }
}

fn failure_of(error: &EngineError) -> EngineFailure {
    EngineFailure { why: engine_error(error), stderr: error.stderr().to_vec() }
}

/// The answer of an engine, in the notation of the game.
fn answer(played: &SearchResult, codec: MoveCodec) -> EngineAnswer {
    let best = match &played.best {
        Best::Move(mv) if played.best_move().is_none() => EngineMove::Nothing(mv.to_string()),
        Best::Move(mv) => EngineMove::Move(codec.decode_text(mv.as_str()).into_owned()),
        Best::Resign => EngineMove::Resign,
        Best::Win => EngineMove::Win,
        Best::None => EngineMove::Nothing("(none)".to_owned()),
        Best::Other(text) => EngineMove::Nothing(super::log::printable(text)),
    };
    EngineAnswer {
        best,
        ponder: played.ponder.map(|mv| codec.decode_text(mv.as_str()).into_owned()),
        elapsed: u64::try_from(played.time().as_millis()).unwrap_or(u64::MAX),
    }
}
