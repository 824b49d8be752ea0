//! The processes of engines and their searches.

use std::collections::{BTreeMap, BTreeSet};

use readyok_protocol::GameResult;

use super::process::{EngineProcess, Reply, Task};
use super::wanted::{Goal, Owner, Wanted};
use crate::engine::{
    EngineCommand, EngineEvent, EngineFailure, EngineInfo, Found, Process, SearchKind, Start,
};
use crate::game::TimeBudget;
use crate::wire::{
    ApiError, EngineId, ErrorCode, ErrorInfo, ErrorSubject, GameId, LogDelta, ProcessId,
    ProcessState, SearchInfo,
};

/// Maximum number of running processes.
const MAX_PROCESSES: usize = 64;
/// Maximum number of exited processes with logs.
const MAX_EXITED: usize = 16;
/// Maximum length of a line that the user sends to an engine, in bytes.
const MAX_LINE: usize = 64 << 10;

/// Starts a process. Its events are passed to [`Tasks::on_event`].
pub(crate) type Launch = Box<dyn Fn(ProcessId, Start) -> Process + Send>;

/// An event for the owner of a process.
#[derive(Debug)]
pub(crate) enum TaskEvent {
    /// The handshake is complete. [`Tasks::begin`] starts the search.
    Ready(Box<EngineInfo>),
    /// The search has begun.
    Started,
    Progress(Box<SearchInfo>),
    /// The search has ended. The process continues to run.
    Done(Result<Box<Found>, ErrorInfo>),
    /// The process has exited, and its search with it.
    Exited {
        failure: Option<ErrorInfo>,
        was_ready: bool,
        /// The user has requested another process in its place.
        restart: bool,
    },
}

pub(crate) struct Tasks {
    launch: Launch,
    processes: BTreeMap<ProcessId, EngineProcess>,
    last_process: ProcessId,
    last_search: u64,
    changed: BTreeSet<ProcessId>,
}

/// The changes of processes since the last call of [`Tasks::take_changes`].
#[derive(Debug, Default)]
pub(crate) struct ProcessChanges {
    pub(crate) changed: Vec<ProcessState>,
    pub(crate) forgotten: Vec<ProcessId>,
}

impl Tasks {
    pub(crate) fn new(launch: Launch) -> Self {
        let (processes, changed) = (BTreeMap::new(), BTreeSet::new());
        Self { launch, processes, last_process: 0, last_search: 0, changed }
    }

    pub(crate) fn get(&self, id: ProcessId) -> Option<&EngineProcess> {
        self.processes.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: ProcessId) -> Option<&mut EngineProcess> {
        self.processes.get_mut(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ProcessId, &EngineProcess)> {
        self.processes.iter().map(|(id, process)| (*id, process))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut EngineProcess> {
        self.processes.values_mut()
    }

    pub(crate) fn states(&self) -> Vec<ProcessState> {
        self.processes.values().map(EngineProcess::state).collect()
    }

    /// The process that works for an owner.
    pub(crate) fn process_of(&self, owner: Owner) -> Option<(ProcessId, &EngineProcess)> {
        self.iter().find(|(_, process)| process.owner == Some(owner) && process.is_usable())
    }

    fn of_mut(&mut self, owner: Owner) -> Option<&mut EngineProcess> {
        self.iter_mut().find(|process| process.owner == Some(owner) && process.is_usable())
    }

    /// Whether a process works on a game.
    pub(crate) fn is_game_busy(&self, game: GameId) -> bool {
        self.iter().any(|(_, process)| process.is_running() && process.game() == Some(game))
    }

    /// The number of processes that report options.
    pub(crate) fn count_probes(&self) -> usize {
        self.iter()
            .filter(|(_, process)| process.owner == Some(Owner::Probe) && process.is_running())
            .count()
    }

    /// Starts a process. Another one of an owner of searches quits, and its search is replaced.
    pub(crate) fn start(
        &mut self,
        owner: Owner,
        engine: EngineId,
        how: Start,
        overrides: BTreeMap<String, String>,
    ) -> Result<ProcessId, ApiError> {
        if owner.searches() {
            self.replace(owner);
            for process in self.iter_mut().filter(|process| process.owner == Some(owner)) {
                // Its exit does not concern the owner any longer.
                process.owner = None;
            }
        }
        if MAX_PROCESSES <= self.iter().filter(|(_, process)| process.is_running()).count() {
            return Err(ApiError::limit(ErrorCode::TooManyProcesses));
        }
        self.last_process += 1;
        let id = self.last_process;
        let handle = (self.launch)(id, how);
        let process = EngineProcess::new((id, engine), owner, handle, overrides);
        self.processes.insert(id, process);
        self.changed.insert(id);
        Ok(id)
    }

    // Searches.

    /// Searches with the process of an owner, after its handshake. An earlier search is replaced.
    pub(crate) fn search(
        &mut self,
        owner: Owner,
        wanted: Wanted,
        reply: Option<Reply>,
    ) -> Result<(), ErrorInfo> {
        self.last_search += 1;
        let id = self.last_search;
        let Some(process) = self.of_mut(owner) else { return Err(ErrorCode::EngineStopped.into()) };
        let replaced = process.task.replace(Task { id, wanted, moves_now: false, reply });
        let begun = process.begin_search();
        if begun.is_err() {
            process.task = None;
            process.send(EngineCommand::Rest);
        }
        if let Some(reply) = replaced.and_then(|task| task.reply) {
            let _ = reply.send(Err(ErrorCode::AttemptReplaced.into()));
        }
        begun
    }

    /// Starts the search of a process whose handshake is complete. Returns the end of a search that cannot begin.
    pub(crate) fn begin(&mut self, id: ProcessId) -> Option<(Option<Owner>, TaskEvent)> {
        let process = self.processes.get_mut(&id)?;
        let why = process.begin_search().err()?;
        finish(process, Err(why))
    }

    /// The opponent has played the pondered move.
    pub(crate) fn hit(&mut self, owner: Owner, budget: TimeBudget) {
        let Some(process) = self.of_mut(owner) else { return };
        match (process.dialect(), &mut process.task) {
            (Some(dialect), Some(_)) => {
                process.send(EngineCommand::Hit(budget.go(dialect).clocks));
            }
            (None, Some(task)) => {
                (task.wanted.kind, task.wanted.goal) = (SearchKind::Play, Goal::Budget(budget));
            }
            (_, None) => (),
        }
    }

    /// Stops the search of an owner; its best move counts.
    pub(crate) fn move_now(&mut self, owner: Owner) {
        let Some(process) = self.of_mut(owner) else { return };
        if process.dialect().is_some() {
            process.send(EngineCommand::MoveNow);
        } else if let Some(task) = &mut process.task {
            task.moves_now = true;
        }
    }

    /// Withdraws the search of an owner.
    pub(crate) fn rest(&mut self, owner: Owner) {
        let Some(process) = self.of_mut(owner) else { return };
        process.task = None;
        if process.dialect().is_some() {
            process.send(EngineCommand::Rest);
        }
    }

    // Ends.

    /// Ends the process of an owner.
    pub(crate) fn end(&mut self, owner: Owner) {
        self.end_with(owner, &ErrorCode::EngineStopped.into());
    }

    /// Ends the process of an owner whose search is replaced.
    pub(crate) fn replace(&mut self, owner: Owner) {
        self.end_with(owner, &ErrorCode::AttemptReplaced.into());
    }

    /// Ends the process of a player whose game is over.
    pub(crate) fn end_player(&mut self, owner: Owner, result: GameResult) {
        self.rest(owner);
        if let Some(process) = self.of_mut(owner)
            && process.dialect().is_some()
        {
            process.send(EngineCommand::GameOver(result));
        }
        self.end(owner);
    }

    /// Ends the processes of a game that is closed.
    pub(crate) fn end_game(&mut self, game: GameId) {
        let why = ErrorCode::GameClosed.into();
        self.iter_mut()
            .filter(|process| process.game() == Some(game))
            .for_each(|process| end(process, &why));
    }

    pub(crate) fn end_all(&mut self) {
        let why = ErrorCode::ShuttingDown.into();
        self.iter_mut().for_each(|process| end(process, &why));
    }

    fn end_with(&mut self, owner: Owner, why: &ErrorInfo) {
        if let Some(process) = self.of_mut(owner) {
            end(process, why);
        }
    }

    /// Sends `quit` to a process, and marks it for a restart. Returns false if it does not run.
    pub(crate) fn quit_and_restart(&mut self, id: ProcessId) -> Result<bool, ApiError> {
        let process = self.processes.get_mut(&id).ok_or_else(|| not_running(id))?;
        if process.is_running() {
            process.quit_and_restart();
            return Ok(true);
        }
        Ok(false)
    }

    /// Kills a process. Its exit is an event for its owner.
    pub(crate) fn kill(&mut self, id: ProcessId) -> Result<EngineEvent, ApiError> {
        let handle = self.get_mut(id).and_then(EngineProcess::kill);
        handle.ok_or_else(|| not_running(id))?.kill();
        let why = ErrorCode::KilledByUser.into();
        Ok(EngineEvent::Exited(Some(EngineFailure { why, stderr: Vec::new() })))
    }

    pub(crate) fn kill_all(&mut self) {
        for process in self.iter_mut() {
            drop(process.kill());
        }
    }

    pub(crate) fn have_all_exited(&self) -> bool {
        self.processes.values().all(EngineProcess::has_exited)
    }

    // Commands.

    /// Sends commands to the processes of an engine.
    pub(crate) fn send_to_all(
        &mut self,
        engine: EngineId,
        command: impl Fn(&EngineProcess) -> Option<EngineCommand>,
    ) {
        for process in self.iter_mut().filter(|process| process.engine() == engine) {
            if let Some(command) = command(process) {
                process.send(command);
            }
        }
    }

    /// Sends a command of the user.
    pub(crate) fn command(
        &mut self,
        id: ProcessId,
        command: EngineCommand,
    ) -> Result<(), ApiError> {
        let process = self.get_mut(id).filter(|process| process.is_running());
        if process.ok_or_else(|| not_running(id))?.send(command) {
            return Ok(());
        }
        Err(ApiError::engine(ErrorCode::InputNotAccepted))
    }

    pub(crate) fn send_line(&mut self, id: ProcessId, line: String) -> Result<(), ApiError> {
        if MAX_LINE < line.len() || line.chars().any(char::is_control) {
            return Err(ApiError::invalid_text(ErrorSubject::Line));
        }
        self.command(id, EngineCommand::SendLine(line))
    }

    // Events.

    /// Handles an event of a process. Returns the one for its owner.
    pub(crate) fn on_event(
        &mut self,
        id: ProcessId,
        event: EngineEvent,
    ) -> Option<(Option<Owner>, TaskEvent)> {
        let process = self.processes.get_mut(&id)?;
        let owner = process.owner;
        let current = process.task.as_ref().map(|task| task.id);
        let is_current = |search| current == Some(search);
        match event {
            EngineEvent::Ready(info) => Some((owner, TaskEvent::Ready(info))),
            EngineEvent::SearchStarted(search) => {
                is_current(search).then_some((owner, TaskEvent::Started))
            }
            EngineEvent::Info(search, info) => {
                is_current(search).then_some((owner, TaskEvent::Progress(info)))
            }
            EngineEvent::SearchFinished(search, found) => {
                if is_current(search) {
                    finish(process, Ok(found))
                } else {
                    None
                }
            }
            EngineEvent::SearchRejected(search, why) => {
                process.set_error(why.clone());
                self.changed.insert(id);
                if is_current(search) { finish(process, Err(why)) } else { None }
            }
            EngineEvent::Status(status) => {
                process.set_status(status);
                self.changed.insert(id);
                None
            }
            EngineEvent::CommandFailed(why) => {
                process.set_error(why);
                self.changed.insert(id);
                None
            }
            EngineEvent::Exited(failure) => {
                let was_ready = process.dialect().is_some();
                let (failure, restart) = process.set_exited(failure);
                self.changed.insert(id);
                let reply = process.task.take().and_then(|task| task.reply);
                if let Some(reply) = reply {
                    let stopped = || ErrorCode::EngineStopped.into();
                    let _ = reply.send(Err(failure.clone().unwrap_or_else(stopped)));
                }
                Some((owner, TaskEvent::Exited { failure, was_ready, restart }))
            }
        }
    }

    // Publishing.

    /// Marks a process as changed.
    pub(crate) fn touch(&mut self, id: ProcessId) {
        self.changed.insert(id);
    }

    /// The changes since the last call. The oldest processes that have exited are forgotten.
    pub(crate) fn take_changes(&mut self) -> ProcessChanges {
        let exited = self.iter().filter(|(_, process)| !process.is_running());
        let exited: Vec<ProcessId> = exited.map(|(id, _)| id).collect();
        let excess = exited.len().saturating_sub(MAX_EXITED);
        let forgotten: Vec<ProcessId> = exited.into_iter().take(excess).collect();
        for id in &forgotten {
            self.processes.remove(id);
        }
        let changed = std::mem::take(&mut self.changed).into_iter();
        let changed = changed.filter_map(|id| Some(self.get(id)?.state())).collect();
        ProcessChanges { changed, forgotten }
    }

    /// The new lines of the logs that are wanted.
    pub(crate) fn take_log_lines(
        &mut self,
        is_wanted: impl Fn(ProcessId) -> bool,
    ) -> Vec<(ProcessId, LogDelta)> {
        let mut lines = Vec::new();
        for (id, process) in &mut self.processes {
            if !is_wanted(*id) {
                process.stop_following();
            } else if let Some(delta) = process.new_lines() {
                lines.push((*id, delta));
            }
        }
        lines
    }
}

/// Ends the search of a process: the caller that waits gets the result and the process quits, or its owner gets it.
fn finish(
    process: &mut EngineProcess,
    result: Result<Box<Found>, ErrorInfo>,
) -> Option<(Option<Owner>, TaskEvent)> {
    let Some(reply) = process.task.take()?.reply else {
        return Some((process.owner, TaskEvent::Done(result)));
    };
    // A tab that was closed needs no answer.
    let _ = reply.send(result.map(|found| *found));
    process.send(EngineCommand::Quit);
    None
}

fn end(process: &mut EngineProcess, why: &ErrorInfo) {
    if let Some(reply) = process.task.take().and_then(|task| task.reply) {
        let _ = reply.send(Err(why.clone()));
    }
    process.send(EngineCommand::Quit);
}

fn not_running(id: ProcessId) -> ApiError {
    ApiError::not_found(ErrorSubject::Process, id)
}
