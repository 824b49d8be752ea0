//! An engine process: its handle, its state, its log and its search.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use readyok_client::{Dialect, EngineFailureKind, Game as EngineGame};
use readyok_protocol::Language;
use readyok_rules::MoveCodec;
use tokio::sync::oneshot;

use super::wanted::{Owner, Wanted};
use crate::engine::{
    EngineCommand, EngineFailure, EngineInfo, Found, Log, Process, SearchSpec, printable,
};
use crate::time::{date, now};
use crate::wire::{
    Approval, EngineId, ErrorCode, ErrorInfo, GameId, Identity, LogDelta, LogState, ProcessId,
    ProcessState, ProcessStatus, Speaker,
};

/// Receives the result of a search; the process quits after it.
pub(crate) type Reply = oneshot::Sender<Result<Found, ErrorInfo>>;

/// The search of a process.
pub(super) struct Task {
    pub(super) id: u64,
    pub(super) wanted: Wanted,
    /// The engine is to play immediately after the search has begun.
    pub(super) moves_now: bool,
    /// The caller that waits for the result. Without one, the owner gets it.
    pub(super) reply: Option<Reply>,
}

pub(crate) struct EngineProcess {
    /// None after another process has replaced it.
    pub(super) owner: Option<Owner>,
    /// None after its exit.
    handle: Option<Process>,
    /// It has received `quit`.
    leaving: bool,
    log: Arc<Mutex<Log>>,
    state: ProcessState,
    /// None before the handshake.
    dialect: Option<Dialect>,
    /// The identity of its game; none before the first search.
    game: Option<EngineGame>,
    pub(super) task: Option<Task>,
    overrides: BTreeMap<String, String>,
    /// The states of registration and copy protection that were last read from the log.
    approvals: (Option<Approval>, Option<Approval>),
    /// Another process replaces it after its exit.
    restart: bool,
    /// The number of the last published line of its log. None if the log has no subscribers.
    published: Option<u64>,
}

impl EngineProcess {
    pub(crate) fn new(
        (id, engine): (ProcessId, EngineId),
        owner: Owner,
        handle: Process,
        overrides: BTreeMap<String, String>,
    ) -> Self {
        let state = ProcessState {
            id,
            engine,
            purpose: owner.purpose(),
            status: ProcessStatus::Starting,
            pid: None,
            started: date(now()),
            identity: None,
            error: None,
            stderr: Vec::new(),
            breaches: 0,
        };
        Self {
            owner: Some(owner),
            log: Arc::clone(&handle.log),
            handle: Some(handle),
            leaving: false,
            state,
            dialect: None,
            game: None,
            task: None,
            overrides,
            approvals: (None, None),
            restart: false,
            published: None,
        }
    }

    pub(crate) fn engine(&self) -> EngineId {
        self.state.engine
    }

    pub(crate) fn owner(&self) -> Option<Owner> {
        self.owner
    }

    pub(super) fn game(&self) -> Option<GameId> {
        self.owner?.game()
    }

    pub(crate) fn state(&self) -> ProcessState {
        ProcessState { breaches: self.log().breaches(), ..self.state.clone() }
    }

    pub(crate) fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.state.identity.as_ref()
    }

    pub(crate) fn overrides(&self) -> &BTreeMap<String, String> {
        &self.overrides
    }

    pub(crate) fn is_running(&self) -> bool {
        self.handle.is_some()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it runs and has not received `quit`.
    pub(crate) fn is_usable(&self) -> bool {
        self.handle.is_some() && !self.leaving
    }

    /// Returns false if it has exited or has received `quit`, or if too many commands wait for it.
    pub(crate) fn send(&mut self, command: EngineCommand) -> bool {
        let Some(handle) = self.handle.as_ref().filter(|_| !self.leaving) else { return false };
        self.leaving = matches!(command, EngineCommand::Quit);
        handle.send(command)
    }

    /// Sends its search, if its handshake is complete.
    pub(super) fn begin_search(&mut self) -> Result<(), ErrorInfo> {
        let (Some(dialect), Some(task)) = (self.dialect, &self.task) else { return Ok(()) };
        let Wanted { kind, line, .. } = &task.wanted;
        let codec = MoveCodec::new(dialect, line.position.game());
        let codec = codec.ok_or(EngineFailureKind::UnsupportedGame)?;
        let sent = codec.encode_position(&line.start, &line.moves);
        let sent = sent.ok_or(EngineFailureKind::UnsupportedPosition)?;
        let search = task.wanted.search(codec)?;
        let game = match &self.game {
            Some(game) => game.at(sent),
            None => EngineGame::new(sent, codec.new_game()),
        };
        self.game = Some(game.clone());
        let spec = SearchSpec {
            search_id: task.id,
            kind: *kind,
            game,
            search,
            position: line.position.clone(),
            codec,
            shown: task.wanted.shown(),
        };
        let moves_now = task.moves_now;
        if !self.send(EngineCommand::Search(Box::new(spec))) {
            return Err(ErrorCode::InputNotAccepted.into());
        }
        if moves_now {
            self.send(EngineCommand::MoveNow);
        }
        Ok(())
    }

    pub(super) fn quit_and_restart(&mut self) {
        self.restart = true;
        self.send(EngineCommand::Quit);
    }

    /// Drops its handle, which kills it.
    pub(super) fn kill(&mut self) -> Option<Process> {
        self.handle.take()
    }

    pub(super) fn has_exited(&self) -> bool {
        self.handle.as_ref().is_none_or(Process::is_over)
    }

    // Events.

    pub(crate) fn set_ready(&mut self, info: &EngineInfo, identity: Option<Identity>) {
        self.dialect = Some(info.dialect);
        self.state.pid = info.pid;
        self.state.identity = identity;
    }

    /// Sets option values that later changes of the engine's values do not affect.
    pub(crate) fn override_values(&mut self, values: BTreeMap<String, String>) {
        self.send(EngineCommand::Set(values.clone()));
        self.overrides.extend(values);
    }

    pub(crate) fn set_status(&mut self, status: ProcessStatus) {
        self.state.status = status;
    }

    pub(crate) fn set_error(&mut self, error: ErrorInfo) {
        self.state.error = Some(error);
    }

    /// Returns why the process failed, if it did, and whether another one replaces it.
    pub(crate) fn set_exited(
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
    pub(crate) fn new_approvals(&mut self) -> Option<(Option<Approval>, Option<Approval>)> {
        let log = self.log();
        let approvals = (log.registration(), log.copy_protection());
        drop(log);
        (std::mem::replace(&mut self.approvals, approvals) != approvals).then_some(approvals)
    }

    // The log.

    pub(crate) fn log_state(&self) -> LogState {
        let log = self.log();
        // Subscribers get the lines after the last published one with the next delta.
        let total = self.published.unwrap_or_else(|| log.total());
        let lines = log.after(0).lines.into_iter().filter(|line| line.number <= total).collect();
        LogState { process: self.state.id, lines, total }
    }

    /// Prepares the publishing of the log.
    pub(crate) fn follow_log(&mut self) {
        if self.published.is_none() {
            let total = self.log().total();
            self.published = Some(total);
        }
    }

    pub(super) fn stop_following(&mut self) {
        self.published = None;
    }

    /// The lines after the last published one, if there are any.
    pub(super) fn new_lines(&mut self) -> Option<LogDelta> {
        let log = self.log();
        let total = log.total();
        let tail = self.published.filter(|last| *last != total).map(|last| log.after(last));
        drop(log);
        self.published = Some(total);
        let tail = tail?;
        Some(LogDelta { lines: tail.lines, skipped: tail.skipped, total: tail.total })
    }

    /// The log as a file: `<time in ms> > line`, with violations in a language.
    pub(crate) fn log_text(&self, language: Language) -> String {
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
