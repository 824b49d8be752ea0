//! Engine processes: their handles, states and logs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use readyok_client::Dialect;
use readyok_protocol::Language;

use super::ServerSettings;
use crate::engine::{
    EngineCommand, EngineFailure, EngineInfo, Log, Process, RegisteredEngine, Reporter, Start,
    printable, start,
};
use crate::hub::Hub;
use crate::time::{date, now};
use crate::wire::{
    ApiError, Approval, Delta, EngineId, EnginesDelta, ErrorCode, ErrorInfo, ErrorSubject, GameId,
    Identity, LogDelta, LogState, ProcessId, ProcessState, ProcessStatus, Purpose, Speaker, Topic,
    Variant,
};

/// Maximum number of running processes.
const MAX_PROCESSES: usize = 64;
/// Maximum number of exited processes with logs.
const MAX_EXITED: usize = 16;
/// Maximum length of a line that the user sends to an engine, in bytes.
const MAX_LINE: usize = 64 << 10;

/// The parameters of a process.
pub(super) struct ProcessSpec {
    pub(super) engine: EngineId,
    pub(super) purpose: Purpose,
    pub(super) variant: Option<Variant>,
    /// The option values of the engine.
    pub(super) values: BTreeMap<String, String>,
    /// Option values of this process, which later changes of the engine's values do not affect.
    pub(super) overrides: BTreeMap<String, String>,
    pub(super) ponders: bool,
}

pub(super) struct EngineProcess {
    /// None after its exit.
    handle: Option<Process>,
    log: Arc<Mutex<Log>>,
    state: ProcessState,
    /// None before the handshake.
    dialect: Option<Dialect>,
    overrides: BTreeMap<String, String>,
    /// The states of registration and copy protection that were last read from the log.
    approvals: (Option<Approval>, Option<Approval>),
    /// Another process replaces it after its exit.
    restart: bool,
    /// The number of the last published line of its log. None if the log has no subscribers.
    published: Option<u64>,
}

impl EngineProcess {
    pub(super) fn engine(&self) -> EngineId {
        self.state.engine
    }

    pub(super) fn purpose(&self) -> Purpose {
        self.state.purpose
    }

    pub(super) fn status(&self) -> ProcessStatus {
        self.state.status
    }

    pub(super) fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    pub(super) fn identity(&self) -> Option<&Identity> {
        self.state.identity.as_ref()
    }

    pub(super) fn overrides(&self) -> &BTreeMap<String, String> {
        &self.overrides
    }

    pub(super) fn is_running(&self) -> bool {
        self.handle.is_some()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns false if it has exited, or if too many commands wait for it.
    pub(super) fn send(&self, command: EngineCommand) -> bool {
        self.handle.as_ref().is_some_and(|handle| handle.send(command))
    }

    // Events.

    pub(super) fn set_ready(&mut self, info: &EngineInfo, identity: Option<Identity>) {
        self.dialect = Some(info.dialect);
        self.state.pid = info.pid;
        self.state.identity = identity;
    }

    /// Sets option values that later changes of the engine's values do not affect.
    pub(super) fn override_values(&mut self, values: BTreeMap<String, String>) {
        self.send(EngineCommand::Set(values.clone()));
        self.overrides.extend(values);
    }

    pub(super) fn set_status(&mut self, status: ProcessStatus) {
        self.state.status = status;
    }

    pub(super) fn set_error(&mut self, error: ErrorInfo) {
        self.state.error = Some(error);
    }

    /// Returns why the process failed, if it did, and whether another one replaces it.
    pub(super) fn set_exited(
        &mut self,
        failure: Option<EngineFailure>,
    ) -> (Option<ErrorInfo>, bool) {
        self.handle = None;
        let failed = failure.is_some();
        self.state.status = if failed { ProcessStatus::Dead } else { ProcessStatus::Ended };
        let why = failure.map(|failure| {
            self.state.stderr = failure.stderr.iter().map(|line| printable(line)).collect();
            self.state.error = Some(failure.why.clone());
            failure.why
        });
        (why, std::mem::take(&mut self.restart))
    }

    /// The states of registration and copy protection, if its log has new ones.
    pub(super) fn new_approvals(&mut self) -> Option<(Option<Approval>, Option<Approval>)> {
        let log = self.log();
        let approvals = (log.registration(), log.copy_protection());
        drop(log);
        (std::mem::replace(&mut self.approvals, approvals) != approvals).then_some(approvals)
    }

    // The log.

    pub(super) fn log_state(&self) -> LogState {
        let log = self.log();
        // Subscribers get the lines after the last published one with the next delta.
        let total = self.published.unwrap_or_else(|| log.total());
        let lines = log.after(0).lines.into_iter().filter(|line| line.number <= total).collect();
        LogState { process: self.state.id, lines, total }
    }

    /// Prepares the publishing of the log.
    pub(super) fn follow_log(&mut self) {
        if self.published.is_none() {
            let total = self.log().total();
            self.published = Some(total);
        }
    }

    /// The lines after the last published one, if there are any.
    fn new_lines(&mut self) -> Option<LogDelta> {
        let log = self.log();
        let total = log.total();
        let tail = self.published.filter(|last| *last != total).map(|last| log.after(last));
        drop(log);
        self.published = Some(total);
        let tail = tail?;
        Some(LogDelta { lines: tail.lines, skipped: tail.skipped, total: tail.total })
    }

    /// The log as a file: `<time in ms> > line`, with violations in a language.
    pub(super) fn log_text(&self, language: Language) -> String {
        let log = self.log();
        let mut text = String::new();
        for line in log.lines() {
            let sign = match line.by {
                Speaker::Client => '>',
                Speaker::User => '!',
                Speaker::Engine => '<',
                Speaker::Stderr => 'E',
            };
            // Writing into a `String` cannot fail.
            let _ = writeln!(text, "{} {sign} {}", line.at, line.text);
            for breach in &line.breaches {
                let (why, [note, must]) = match language {
                    Language::English => (&breach.english, ["note", "must"]),
                    Language::Japanese => (&breach.japanese, ["注意", "必須"]),
                };
                let level = if breach.serious { must } else { note };
                let _ = writeln!(text, "{} # {level}: {} [{}]", line.at, why.text, why.clause);
            }
        }
        text
    }
}

pub(super) struct Processes {
    entries: BTreeMap<ProcessId, EngineProcess>,
    last_id: ProcessId,
    reporter: Reporter,
    setup: Arc<ServerSettings>,
}

impl Processes {
    pub(super) fn new(setup: Arc<ServerSettings>, reporter: Reporter) -> Self {
        Self { entries: BTreeMap::new(), last_id: 0, reporter, setup }
    }

    pub(super) fn states(&self) -> Vec<ProcessState> {
        self.entries.values().map(|process| process.state.clone()).collect()
    }

    pub(super) fn get(&self, id: ProcessId) -> Option<&EngineProcess> {
        self.entries.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: ProcessId) -> Option<&mut EngineProcess> {
        self.entries.get_mut(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ProcessId, &EngineProcess)> {
        self.entries.iter().map(|(id, process)| (*id, process))
    }

    pub(super) fn dialect(&self, id: ProcessId) -> Option<Dialect> {
        self.entries.get(&id)?.dialect
    }

    pub(super) fn is_running(&self, id: ProcessId) -> bool {
        self.entries.get(&id).is_some_and(EngineProcess::is_running)
    }

    /// Whether a process works on a game.
    pub(super) fn is_game_busy(&self, game: GameId) -> bool {
        self.entries.values().any(|it| it.is_running() && game_of(it.purpose()) == Some(game))
    }

    pub(super) fn start(
        &mut self,
        hub: &mut Hub,
        engine: &RegisteredEngine,
        spec: ProcessSpec,
    ) -> Result<ProcessId, ApiError> {
        if MAX_PROCESSES <= self.entries.values().filter(|it| it.is_running()).count() {
            return Err(ApiError::limit(ErrorCode::TooManyProcesses));
        }
        self.last_id += 1;
        let id = self.last_id;
        let ProcessSpec { engine: engine_id, purpose, variant, mut values, overrides, ponders } =
            spec;
        values.extend(overrides.clone());
        let dialect = if purpose == Purpose::Inspect {
            engine.probe_dialect(variant)
        } else {
            engine.dialect(variant)
        };
        let how = Start {
            name: engine.name().to_owned(),
            source: engine.entry.source.clone(),
            built_in: self.setup.built_in.clone(),
            home: self.setup.data.clone(),
            dialect,
            values: engine.fitting(values, dialect),
            register: engine.register(),
            ponders,
            guard: self.setup.guard.clone(),
        };
        let handle = start(id, how, Arc::clone(&self.reporter));
        let state = ProcessState {
            id,
            engine: engine_id,
            purpose,
            status: ProcessStatus::Starting,
            pid: None,
            started: date(now()),
            identity: None,
            error: None,
            stderr: Vec::new(),
            breaches: 0,
        };
        let process = EngineProcess {
            log: Arc::clone(&handle.log),
            handle: Some(handle),
            state,
            dialect: None,
            overrides,
            approvals: (None, None),
            restart: false,
            published: None,
        };
        self.entries.insert(id, process);
        self.prune(hub);
        self.publish(hub, id);
        Ok(id)
    }

    /// Publishes a change of a process.
    pub(super) fn publish(&mut self, hub: &mut Hub, id: ProcessId) {
        if let Some(process) = self.entries.get_mut(&id) {
            let breaches = process.log().breaches();
            process.state.breaches = breaches;
            let delta =
                EnginesDelta { processes: vec![process.state.clone()], ..EnginesDelta::default() };
            hub.publish(Topic::Engines, Delta::Engines(delta));
        }
    }

    /// Forgets the oldest processes that have exited.
    pub(super) fn prune(&mut self, hub: &mut Hub) {
        let exited = self.entries.iter().filter(|(_, process)| !process.is_running());
        let exited: Vec<ProcessId> = exited.map(|(id, _)| *id).collect();
        let excess = exited.len().saturating_sub(MAX_EXITED);
        let forgotten: Vec<ProcessId> = exited.into_iter().take(excess).collect();
        for id in &forgotten {
            self.entries.remove(id);
            hub.close(Topic::Log(*id));
        }
        if !forgotten.is_empty() {
            let delta = EnginesDelta { forgotten, ..EnginesDelta::default() };
            hub.publish(Topic::Engines, Delta::Engines(delta));
        }
    }

    // Commands.

    /// Returns false if the process does not run, or if too many commands wait for it.
    pub(super) fn send(&self, id: ProcessId, command: EngineCommand) -> bool {
        self.entries.get(&id).is_some_and(|process| process.send(command))
    }

    pub(super) fn quit(&self, id: ProcessId) {
        self.send(id, EngineCommand::Quit);
    }

    pub(super) fn quit_game(&self, game: GameId) {
        for process in self.entries.values().filter(|it| game_of(it.purpose()) == Some(game)) {
            process.send(EngineCommand::Quit);
        }
    }

    pub(super) fn quit_all(&self) {
        for process in self.entries.values() {
            process.send(EngineCommand::Quit);
        }
    }

    /// Sends a command of the user.
    pub(super) fn command(&self, id: ProcessId, command: EngineCommand) -> Result<(), ApiError> {
        let process = self.entries.get(&id).filter(|process| process.is_running());
        let process = process.ok_or_else(|| not_running(id))?;
        if process.send(command) {
            return Ok(());
        }
        Err(ApiError::engine(ErrorCode::InputNotAccepted))
    }

    pub(super) fn send_line(&self, id: ProcessId, line: String) -> Result<(), ApiError> {
        if MAX_LINE < line.len() || line.chars().any(char::is_control) {
            return Err(ApiError::invalid_text(ErrorSubject::Line));
        }
        self.command(id, EngineCommand::SendLine(line))
    }

    /// Sends `quit` to a process, and marks it for a restart. Returns false if it does not run.
    pub(super) fn quit_and_restart(&mut self, id: ProcessId) -> Result<bool, ApiError> {
        let missing = || ApiError::not_found(ErrorSubject::Process, id);
        let process = self.entries.get_mut(&id).ok_or_else(missing)?;
        if !process.is_running() {
            return Ok(false);
        }
        process.restart = true;
        self.command(id, EngineCommand::Quit)?;
        Ok(true)
    }

    /// Kills a process. Returns the failure to report as its exit.
    pub(super) fn kill(&mut self, id: ProcessId) -> Result<EngineFailure, ApiError> {
        let handle = self.entries.get_mut(&id).and_then(|process| process.handle.take());
        handle.ok_or_else(|| not_running(id))?.kill();
        Ok(EngineFailure { why: ErrorCode::KilledByUser.into(), stderr: Vec::new() })
    }

    pub(super) fn kill_all(&mut self) {
        for process in self.entries.values_mut() {
            process.handle = None;
        }
    }

    pub(super) fn have_all_exited(&self) -> bool {
        self.entries.values().all(|process| process.handle.as_ref().is_none_or(Process::is_over))
    }

    /// Publishes the new lines of all logs that have subscribers.
    pub(super) fn publish_logs(&mut self, hub: &mut Hub) {
        for (id, process) in &mut self.entries {
            let topic = Topic::Log(*id);
            if !hub.is_wanted(topic) {
                process.published = None;
            } else if let Some(delta) = process.new_lines() {
                hub.publish(topic, Delta::Log(delta));
            }
        }
    }
}

fn not_running(id: ProcessId) -> ApiError {
    ApiError::not_found(ErrorSubject::Process, id)
}

fn game_of(purpose: Purpose) -> Option<GameId> {
    match purpose {
        Purpose::Play { game }
        | Purpose::Analyse { game }
        | Purpose::Hint { game }
        | Purpose::Report { game }
        | Purpose::Learn { game } => Some(game),
        Purpose::Inspect | Purpose::Exercise { .. } | Purpose::Console => None,
    }
}
