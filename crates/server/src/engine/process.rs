//! One process of an engine: a task that owns it, does what it is ordered to, and tells the news.
//!
//! ```text
//!  EngineCommand ──> ┌─ Idle ──── Search ────> Searching ─┐  answer, or the next command ends the search
//!            │   │ its end is awaited             │  (the old search is stopped and drained first)
//!            └───┴──────── Dead, Ended <──────────┘ ──> EngineEvent
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
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

use super::failure::failure;
use super::info_accumulator::InfoAccumulator;
use super::log::Log;
use crate::time::{instant, now};
use crate::wire::{Failure, ProcessId, ProcessStatus, Reach, SearchInfo};

/// What a process tells of its search at most so often: 25 times a second.
const PACE: Duration = Duration::from_millis(40);
/// So many bytes a second are read of an engine: forty thousand lines, of which people see 25.
const RATE: u32 = 4 << 20;
/// A process gets so many commands ahead of what it has done.
const MOST_ORDERS: usize = 256;

/// A handle to a process. Dropping it kills the process with all that it has started.
#[derive(Debug)]
pub(crate) struct Process {
    commands: mpsc::Sender<EngineCommand>,
    pub(crate) log: Arc<Mutex<Log>>,
    task: tokio::task::JoinHandle<()>,
}

/// What a process is ordered to do.
#[derive(Debug)]
pub(crate) enum EngineCommand {
    /// To search. Whatever it searches is stopped first.
    Search(Box<SearchSpec>),
    /// To answer at once.
    MoveNow,
    /// The opponent has played what it ponders on.
    Hit(Clocks),
    /// To leave off; nobody wants the answer.
    Rest,
    /// To take values of options. A search for analysis begins anew with them; one for a move is waited for.
    Set(BTreeMap<String, String>),
    /// To press a button.
    Press(String),
    /// To register, now or with the next process.
    Register(Register<'static>),
    /// To be told a line of the user's.
    Say(String),
    /// To be told how the game has ended.
    GameOver(GameResult),
    /// To say whether it is there, so that all is heard that it has said before.
    Ready,
    /// To leave.
    Quit,
}

impl EngineCommand {
    /// Whether an engine that does nothing is needed for it, and nothing else changes.
    fn needs_rest(&self) -> bool {
        matches!(self, Self::Set(_) | Self::Press(_) | Self::Register(_))
    }
}

/// A search.
#[derive(Clone, Debug)]
pub(crate) struct SearchSpec {
    /// Comes back with all that is told of it.
    pub(crate) search_id: u64,
    pub(crate) kind: SearchKind,
    pub(crate) game: WireGame,
    pub(crate) search: Search,
    /// The position that is searched.
    pub(crate) position: Position,
    pub(crate) codec: MoveCodec,
    /// So many variations are shown.
    pub(crate) shown: usize,
}

/// What a search is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SearchKind {
    Play,
    Ponder,
    Analyse,
}

/// What a process tells.
#[derive(Debug)]
pub(crate) enum EngineEvent {
    /// It has greeted.
    Ready(Box<EngineInfo>),
    /// It does something else now.
    Status(ProcessStatus),
    /// A search has begun.
    SearchStarted(u64),
    /// What it thinks.
    Info(u64, Box<SearchInfo>),
    /// A search has ended with an answer.
    SearchFinished(u64, Box<SearchResult>, Box<SearchInfo>),
    /// A search could not be begun or failed, and the engine is there still.
    SearchRejected(u64, Failure),
    /// An command could not be carried out.
    CommandFailed(Failure),
    /// It has ended: as it was asked to, or with an error.
    Exited(Option<EngineFailure>),
}

/// How a process has failed, with the last lines of its error output.
#[derive(Debug)]
pub(crate) struct EngineFailure {
    pub(crate) why: Failure,
    pub(crate) stderr: Vec<String>,
}

/// What an engine says of itself.
#[derive(Debug)]
pub(crate) struct EngineInfo {
    pub(crate) name: String,
    pub(crate) author: String,
    pub(crate) dialect: Dialect,
    pub(crate) options: OptionSet,
    pub(crate) pid: Option<u32>,
}

/// How to start a process.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) reach: Reach,
    /// The program that is Narikin, with its arguments.
    pub(crate) built_in: (PathBuf, Vec<String>),
    /// Where it runs.
    pub(crate) home: PathBuf,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) values: BTreeMap<String, String>,
    pub(crate) register: Option<Register<'static>>,
    pub(crate) ponders: bool,
    pub(crate) guard: Option<Guard>,
}

/// Who is told the news. He must not wait.
pub(crate) type Reporter = Arc<dyn Fn(ProcessId, EngineEvent) + Send + Sync>;

impl Process {
    /// Gives an command. One too many is refused: the engine does not listen.
    pub(crate) fn send(&self, command: EngineCommand) -> bool {
        self.commands.try_send(command).is_ok()
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
        // With the task goes the engine, whose handle kills it.
        self.task.abort();
    }
}

/// Starts a process.
pub(crate) fn start(id: ProcessId, how: Start, report: Reporter) -> Process {
    let (commands, inbox) = mpsc::channel(MOST_ORDERS);
    let log = Arc::<Mutex<Log>>::default();
    let actor =
        Actor { id, report, inbox, log: Arc::clone(&log), spec: None, held: VecDeque::new() };
    let task = tokio::spawn(actor.run(how));
    Process { commands, log, task }
}

struct Actor {
    id: ProcessId,
    report: Reporter,
    inbox: mpsc::Receiver<EngineCommand>,
    log: Arc<Mutex<Log>>,
    spec: Option<Box<SearchSpec>>,
    /// What waits for the end of a search whose answer is wanted.
    held: VecDeque<EngineCommand>,
}

/// Why a search was left.
enum SearchEnd {
    /// For an command.
    Command(EngineCommand),
    /// It has ended.
    Over,
    /// Nobody is there to give commands.
    Alone,
}

impl Actor {
    fn tell(&self, news: EngineEvent) {
        (self.report)(self.id, news);
    }

    async fn run(mut self, how: Start) {
        self.tell(EngineEvent::Status(ProcessStatus::Starting));
        let engine = match self.open(&how).await {
            Ok(engine) => engine,
            Err(error) => return self.tell(EngineEvent::Exited(Some(death(&error)))),
        };
        let end = self.serve(engine, &how).await;
        let death = end.as_ref().map(death);
        if let Some(death) = &death {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            for line in &death.stderr {
                log.hear_error(line, now());
            }
        }
        self.tell(EngineEvent::Exited(death));
    }

    async fn open(&self, how: &Start) -> Result<Engine, EngineError> {
        let log = Arc::clone(&self.log);
        let hear = move |side: Party, line: &str| {
            log.lock().unwrap_or_else(PoisonError::into_inner).hear(side, line, now());
        };
        let mut builder = Builder::default();
        builder = builder.name(how.name.clone()).read_rate(RATE).on_line(hear);
        if let Some(dialect) = how.dialect {
            builder = builder.dialect(dialect);
        }
        if let Some(register) = &how.register {
            builder = builder.register(register.clone());
        }
        if let Some(guard) = &how.guard {
            builder = builder.guard(guard);
        }
        let command = |path: &std::path::Path, args: &[String]| {
            let mut command = std::process::Command::new(path);
            command.args(args);
            command
        };
        match &how.reach {
            Reach::BuiltIn => {
                let (path, args) = &how.built_in;
                let mut command = command(path, args);
                command.current_dir(&how.home);
                builder.spawn_async(command).await
            }
            Reach::Program { path, args, dir, env } => {
                let mut command = command(path.as_ref(), args);
                if let Some(dir) = dir {
                    command.current_dir(dir);
                }
                command.envs(env);
                builder.spawn_async(command).await
            }
            Reach::Tcp { address } => builder.connect_async(address).await,
        }
    }

    /// Does what is ordered until the engine ends. Tells why, if nobody wanted it.
    async fn serve(&mut self, mut engine: Engine, how: &Start) -> Option<EngineError> {
        engine.allow_pondering(how.ponders);
        if let Err(error) = self.set(&mut engine, &how.values) {
            return Some(error);
        }
        self.tell(EngineEvent::Ready(Box::new(EngineInfo {
            name: engine.identity().name.clone(),
            author: engine.identity().author.clone(),
            dialect: engine.dialect(),
            options: engine.options().clone(),
            pid: engine.process_id(),
        })));
        self.tell(EngineEvent::Status(ProcessStatus::Idle));
        loop {
            let command = if let Some(spec) = self.spec.take() {
                match self.search(&mut engine, &spec).await {
                    Ok(SearchEnd::Command(command)) => {
                        // Analysis goes on after what needed an engine that does nothing.
                        self.spec = command.needs_rest().then_some(spec);
                        command
                    }
                    Ok(SearchEnd::Over) => {
                        self.tell(EngineEvent::Status(ProcessStatus::Idle));
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
                    self.tell(EngineEvent::Status(ProcessStatus::Idle));
                    Ok(())
                }
                // The search that they were meant for is over.
                EngineCommand::MoveNow | EngineCommand::Hit(_) => Ok(()),
                EngineCommand::Set(values) => self.set(&mut engine, &values),
                EngineCommand::Press(button) => engine.push_button(&button),
                EngineCommand::Register(with) => engine.register(with),
                EngineCommand::Say(line) => {
                    self.user_speaks();
                    engine.send_raw(&line)
                }
                EngineCommand::GameOver(result) => engine.game_over(result),
                EngineCommand::Ready => match engine.dialect() {
                    Dialect::Uci => engine.ready_async().await,
                    // There the same word begins a game.
                    Dialect::Usi => Ok(()),
                },
                EngineCommand::Quit => {
                    self.tell(EngineEvent::Status(ProcessStatus::Leaving));
                    return engine.quit_async().await.err();
                }
            };
            if let Err(error) = done {
                if !error.is_recoverable() {
                    return Some(error);
                }
                self.tell(EngineEvent::CommandFailed(failure(&error)));
            }
        }
    }

    /// Sets values. One that the engine cannot have is told, and keeps no other from being set.
    fn set(
        &self,
        engine: &mut Engine,
        values: &BTreeMap<String, String>,
    ) -> Result<(), EngineError> {
        for (name, value) in values {
            match set(engine, name, value) {
                Err(error) if error.is_recoverable() => {
                    self.tell(EngineEvent::CommandFailed(failure(&error)))
                }
                done => done?,
            }
        }
        Ok(())
    }

    fn user_speaks(&self) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).user_speaks();
    }

    /// Searches until the end, or until an command that needs the engine.
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
                self.tell(EngineEvent::Status(ProcessStatus::Searching));
                self.tell(EngineEvent::SearchStarted(spec.search_id));
                self.follow(engine, search, spec).await
            }
            Err(error) => self.refuse(spec, error),
        }
    }

    fn refuse(&self, spec: &SearchSpec, error: EngineError) -> Result<SearchEnd, EngineError> {
        if !error.is_recoverable() {
            return Err(error);
        }
        self.tell(EngineEvent::SearchRejected(spec.search_id, failure(&error)));
        Ok(SearchEnd::Over)
    }

    async fn ponder(
        &mut self,
        engine: &mut Engine,
        spec: &SearchSpec,
    ) -> Result<SearchEnd, EngineError> {
        let mut pondering = match engine.ponder(&spec.game, spec.search.clone()) {
            Ok(pondering) => pondering,
            Err(error) => return self.refuse(spec, error),
        };
        self.tell(EngineEvent::Status(ProcessStatus::Pondering));
        self.tell(EngineEvent::SearchStarted(spec.search_id));
        let mut throttle = InfoThrottle::new(spec);
        let mut ended = false;
        let clocks = loop {
            tokio::select! {
                command = self.inbox.recv() => match command {
                    Some(EngineCommand::Hit(clocks)) => break clocks,
                    Some(EngineCommand::Say(line)) => {
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
                    self.tell(EngineEvent::Info(spec.search_id, Box::new(throttle.told(&pondering.so_far()))));
                }
            }
        };
        match pondering.ponder_hit(Some(clocks).filter(|clocks| !clocks.is_empty())) {
            Ok(()) => {
                self.tell(EngineEvent::Status(ProcessStatus::Searching));
                self.follow(engine, pondering, spec).await
            }
            Err(error) => self.refuse(spec, error),
        }
    }

    /// Tells what a search tells.
    async fn follow(
        &mut self,
        engine: &mut Engine,
        mut search: SearchHandle,
        spec: &SearchSpec,
    ) -> Result<SearchEnd, EngineError> {
        let mut throttle = InfoThrottle::new(spec);
        let played = loop {
            tokio::select! {
                command = self.inbox.recv() => match command {
                    Some(EngineCommand::MoveNow) => search.stop(),
                    Some(EngineCommand::Say(line)) => {
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
                    self.tell(EngineEvent::Info(spec.search_id, Box::new(throttle.told(&search.so_far()))));
                }
            }
        };
        match played {
            Ok(played) => {
                let told = throttle.accumulator.ended(&played);
                self.tell(EngineEvent::SearchFinished(
                    spec.search_id,
                    Box::new(played),
                    Box::new(told),
                ));
                Ok(SearchEnd::Over)
            }
            Err(error) => self.refuse(spec, error),
        }
    }
}

/// What was told and not passed on.
struct InfoThrottle {
    accumulator: InfoAccumulator,
    /// When it is to be passed on.
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
            self.due = Some(self.last.map_or(now, |last| (last + PACE).max(now)));
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

    fn told(&mut self, lines: &Lines) -> SearchInfo {
        self.last = Some(Instant::from_std(instant()));
        self.due = None;
        self.accumulator.told(lines)
    }
}

/// Sets an option or presses a button.
fn set(engine: &mut Engine, name: &str, value: &str) -> Result<(), EngineError> {
    let is_button =
        engine.options().find(name).is_some_and(|option| matches!(option.kind, OptionKind::Button));
    if is_button { engine.push_button(name) } else { engine.set_option(name, value) }
}

fn death(error: &EngineError) -> EngineFailure {
    EngineFailure { why: failure(error), stderr: error.stderr().to_vec() }
}

/// What an answer says, in words of the game.
pub(crate) fn answer(played: &SearchResult, codec: MoveCodec) -> crate::game::EngineAnswer {
    use crate::game::EngineMove;
    let best = match &played.best {
        Best::Move(mv) if played.best_move().is_none() => EngineMove::Nothing(mv.to_string()),
        Best::Move(mv) => EngineMove::Move(codec.decode_text(mv.as_str()).into_owned()),
        Best::Resign => EngineMove::Resign,
        Best::Win => EngineMove::Win,
        Best::None => EngineMove::Nothing("(none)".to_owned()),
        Best::Other(word) => EngineMove::Nothing(super::log::printable(word)),
    };
    crate::game::EngineAnswer {
        best,
        ponder: played.ponder.map(|mv| codec.decode_text(mv.as_str()).into_owned()),
        elapsed: u64::try_from(played.time().as_millis()).unwrap_or(u64::MAX),
    }
}
