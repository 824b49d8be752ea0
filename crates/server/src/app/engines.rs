//! Engines of the state: what is registered, processes that start, tell news and end.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use readyok_protocol::Register;

use super::{App, AppState, EngineProcess, MOST_ENDED};
use crate::engine::{
    EngineCommand, EngineEvent, EngineFailure, RegisteredEngine, Start, default_of, start,
};
use crate::game::{api_error, no_such, odd_text};
use crate::store::{StoreError, Written};
use crate::time::{Moment, date, now};
use crate::wire::{
    Answer, ApiError, ApiErrorCode, Delta, EngineEntry, EngineId, EngineState, EnginesDelta,
    EnginesState, Failure, GameId, Machine, Problem, ProblemKind, ProcessId, ProcessState,
    ProcessStatus, Purpose, Registration, Thing, Topic, ValuesFor, Variant,
};

use super::failures::{killed_by_user, server_ends, too_many_engines};
use super::games::written;
use super::library::distinct;

/// So many processes can run at once.
const MOST_PROCESSES: usize = 64;
/// So many engines are asked at once what they can do when the server starts.
const MOST_ASKED: usize = 4;

impl App {
    pub(super) async fn remove_engine(&self, id: EngineId) -> Result<Answer, ApiError> {
        let forgotten = self.state().forget_engine(id)?;
        written(forgotten).await?;
        Ok(Answer::Done)
    }
}

impl AppState {
    pub(super) fn engines_state(&self) -> EnginesState {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        EnginesState {
            engines: self.registry.iter().map(|(id, engine)| engine.wire(id)).collect(),
            processes: self.processes.values().map(|running| running.state.clone()).collect(),
            machine: Machine {
                processors: u32::try_from(processors).unwrap_or(u32::MAX),
                memory: memory(),
            },
        }
    }

    fn publish_engines(&mut self, delta: EnginesDelta) {
        self.hub.publish(Topic::Engines, Delta::Engines(delta));
    }

    /// Tells tabs and the library of a change of an engine.
    pub(super) fn engine_changed(&mut self, id: EngineId) {
        let Ok(engine) = self.registry.get(id) else { return };
        let state: EngineState = engine.wire(id);
        let entry = engine.entry.to_keep();
        // What cannot be kept now is kept with the next change.
        drop(self.saves.run(move |store| store.save_engine(id, &entry)));
        self.publish_engines(EnginesDelta { engines: vec![state], ..EnginesDelta::default() });
    }

    fn process_changed(&mut self, id: ProcessId) {
        if let Some(running) = self.processes.get_mut(&id) {
            let log = running.log.lock().unwrap_or_else(PoisonError::into_inner);
            running.state.breaches = log.breaches();
            drop(log);
            let processes = vec![running.state.clone()];
            self.publish_engines(EnginesDelta { processes, ..EnginesDelta::default() });
        }
    }

    /// Starts a process of an engine.
    pub(super) fn start_process(
        &mut self,
        engine: EngineId,
        use_for: Purpose,
        variant: Option<Variant>,
        values: BTreeMap<String, String>,
        ponders: bool,
    ) -> Result<ProcessId, ApiError> {
        let registered = self.registry.get(engine)?;
        if self.closing {
            return Err(ApiError::because(ApiErrorCode::NotNow, server_ends()));
        }
        let alive = self.processes.values().filter(|running| running.handle.is_some()).count();
        if MOST_PROCESSES <= alive {
            return Err(ApiError::because(ApiErrorCode::TooMuch, too_many_engines()));
        }
        self.last_process += 1;
        let id = self.last_process;
        let dialect = if use_for == Purpose::Inspect {
            registered.dialect_to_ask(variant)
        } else {
            registered.dialect(variant)
        };
        let how = Start {
            name: registered.name().to_owned(),
            reach: registered.entry.reach.clone(),
            built_in: self.setup.built_in.clone(),
            home: self.setup.data.clone(),
            dialect,
            values: registered.fitting(values, dialect),
            register: registered.register(),
            ponders,
            guard: self.setup.guard.clone(),
        };
        let process = start(id, how, Arc::clone(&self.reporter));
        let state = ProcessState {
            id,
            engine,
            use_for,
            status: ProcessStatus::Starting,
            pid: None,
            started: date(now()),
            identity: None,
            error: None,
            stderr: Vec::new(),
            breaches: 0,
        };
        let log = Arc::clone(&process.log);
        self.processes.insert(
            id,
            EngineProcess {
                handle: Some(process),
                log,
                state,
                dialect: None,
                pending: Vec::new(),
                side: None,
                hint: None,
                strength: None,
                approvals: (None, None),
                restart: false,
            },
        );
        self.forget_old_processes();
        self.process_changed(id);
        Ok(id)
    }

    fn forget_old_processes(&mut self) {
        let ended: Vec<ProcessId> = self
            .processes
            .iter()
            .filter(|(_, running)| running.handle.is_none())
            .map(|(id, _)| *id)
            .collect();
        let forgotten: Vec<ProcessId> =
            ended.iter().take(ended.len().saturating_sub(MOST_ENDED)).copied().collect();
        for id in &forgotten {
            self.processes.remove(id);
            self.hub.close(Topic::Log(*id));
        }
        if !forgotten.is_empty() {
            self.publish_engines(EnginesDelta { forgotten, ..EnginesDelta::default() });
        }
    }

    /// A process tells something.
    pub(super) fn news(&mut self, id: ProcessId, news: EngineEvent, at: Moment) {
        let Some(running) = self.processes.get_mut(&id) else { return };
        let use_for = running.state.use_for;
        match news {
            EngineEvent::Ready(greeting) => {
                running.dialect = Some(greeting.dialect);
                running.state.pid = greeting.pid;
                let engine = running.state.engine;
                self.registry.on_handshake(engine, &greeting);
                let identity = self.registry.get(engine).ok().and_then(|it| it.identity().cloned());
                if let Some(running) = self.processes.get_mut(&id) {
                    running.state.identity = identity;
                }
                self.note_approvals(id);
                self.engine_changed(engine);
                self.process_changed(id);
                self.greeted(id, use_for, at);
            }
            EngineEvent::Status(status) => {
                running.state.status = status;
                self.note_approvals(id);
                self.process_changed(id);
            }
            EngineEvent::SearchStarted(search_id) => match use_for {
                Purpose::Play { game } => self.seat_begins(id, game, search_id, at),
                Purpose::Analyse { game } => self.lane_begins(id, game, search_id),
                Purpose::Inspect
                | Purpose::Hint { .. }
                | Purpose::Report { .. }
                | Purpose::Learn { .. }
                | Purpose::Console => (),
            },
            EngineEvent::Info(search_id, told) => match use_for {
                Purpose::Play { game } => self.seat_thinks(id, game, search_id, &told, at),
                Purpose::Analyse { game } => self.lane_tells(id, game, search_id, *told, false),
                Purpose::Inspect
                | Purpose::Hint { .. }
                | Purpose::Report { .. }
                | Purpose::Learn { .. }
                | Purpose::Console => (),
            },
            EngineEvent::SearchFinished(search_id, played, told) => match use_for {
                Purpose::Play { game } => {
                    self.seat_answers(id, game, (search_id, &played, &told), at);
                }
                Purpose::Analyse { game } => self.lane_tells(id, game, search_id, *told, true),
                Purpose::Hint { game } => self.hint_answers(id, game, search_id, &told, at),
                Purpose::Report { game } => self.report_answers(id, game, search_id, &told, at),
                Purpose::Learn { .. } => self.trial_answers(id, search_id, &told),
                Purpose::Inspect | Purpose::Console => (),
            },
            EngineEvent::SearchRejected(search_id, why) => {
                running.state.error = Some(why.clone());
                self.process_changed(id);
                match use_for {
                    Purpose::Play { game } => self.seat_fails(id, game, Some(&why), at),
                    Purpose::Analyse { game } => self.lane_refused(id, game, search_id, why),
                    Purpose::Hint { .. }
                    | Purpose::Inspect
                    | Purpose::Report { .. }
                    | Purpose::Learn { .. }
                    | Purpose::Console => {
                        if let Some(handle) =
                            self.processes.get(&id).and_then(|it| it.handle.as_ref())
                        {
                            handle.send(EngineCommand::Quit);
                        }
                    }
                }
            }
            EngineEvent::CommandFailed(why) => {
                running.state.error = Some(why);
                self.process_changed(id);
            }
            EngineEvent::Exited(death) => {
                running.handle = None;
                running.pending.clear();
                let restart = std::mem::take(&mut running.restart);
                let (engine, failed) = (running.state.engine, death.is_some());
                let why = death.map(|death| {
                    running.state.stderr =
                        death.stderr.iter().map(|line| crate::engine::printable(line)).collect();
                    running.state.error = Some(death.why.clone());
                    death.why
                });
                running.state.status =
                    if failed { ProcessStatus::Dead } else { ProcessStatus::Ended };
                let greeted = running.dialect.is_some();
                self.note_approvals(id);
                self.process_changed(id);
                if !greeted && failed {
                    if let Ok(engine) = self.registry.get_mut(engine) {
                        engine.error.clone_from(&why);
                    }
                    self.engine_changed(engine);
                }
                self.ended(id, use_for, why.as_ref(), restart, at);
                self.ask_next();
                self.forget_old_processes();
            }
        }
    }

    /// What an engine has said of its registration and its copy protection.
    pub(super) fn note_approvals(&mut self, id: ProcessId) {
        let Some(running) = self.processes.get_mut(&id) else { return };
        let log = running.log.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = (log.registration(), log.copy_protection());
        drop(log);
        // Of several processes the one that has said something last is right.
        if std::mem::replace(&mut running.approvals, heard) == heard {
            return;
        }
        let engine = running.state.engine;
        let Ok(registered) = self.registry.get_mut(engine) else { return };
        if (registered.registration, registered.copy_protection) != heard {
            (registered.registration, registered.copy_protection) = heard;
            self.engine_changed(engine);
        }
    }

    fn greeted(&mut self, id: ProcessId, use_for: Purpose, at: Moment) {
        match use_for {
            Purpose::Play { game } => self.seat_greeted(id, game, at),
            Purpose::Analyse { game } => self.lane_greeted(id, game),
            Purpose::Hint { game } => self.hint_greeted(id, game),
            Purpose::Inspect => {
                if let Some(handle) = self.processes.get(&id).and_then(|it| it.handle.as_ref()) {
                    // What it says of its registration comes after its options.
                    handle.send(EngineCommand::Ready);
                    handle.send(EngineCommand::Quit);
                }
            }
            Purpose::Report { game } => self.report_goes_on(id, game, at),
            Purpose::Learn { .. } => self.trial_greeted(id),
            Purpose::Console => (),
        }
    }

    fn ended(
        &mut self,
        id: ProcessId,
        use_for: Purpose,
        why: Option<&Failure>,
        restart: bool,
        at: Moment,
    ) {
        match use_for {
            Purpose::Play { game } => {
                self.seat_fails(id, game, why, at);
                if restart {
                    let _ = self.act(game, at, |room| room.go_on(at));
                }
            }
            Purpose::Analyse { game } => self.lane_ended(id, game, why, restart),
            Purpose::Console if restart => {
                if let Some(engine) = self.processes.get(&id).map(|it| it.state.engine) {
                    // Why it could not be started is told by its own state.
                    let _ = self.open_console(engine);
                }
            }
            Purpose::Report { game } => self.report_ended(id, game, why),
            Purpose::Learn { .. } => self.trial_ended(id, why),
            Purpose::Inspect | Purpose::Hint { .. } | Purpose::Console => (),
        }
    }

    /// Registers an engine and asks it what it can do.
    pub(super) fn add_engine(&mut self, entry: EngineEntry) -> Result<Answer, ApiError> {
        let id = self.registry.add(entry)?;
        self.added(id)
    }

    /// Registers an engine again under another name.
    pub(super) fn copy_engine(&mut self, id: EngineId) -> Result<Answer, ApiError> {
        let mut taken = self.registry.iter().map(|(_, it)| it.name().to_owned()).collect();
        let name = distinct(self.registry.get(id)?.name(), &mut taken);
        let copy = self.registry.copy(id, name)?;
        self.added(copy)
    }

    fn added(&mut self, id: EngineId) -> Result<Answer, ApiError> {
        // It is registered, even if it cannot be asked now.
        if let Err(error) = self.inspect(id) {
            self.registry.get_mut(id)?.error = Some(error.into());
        }
        self.engine_changed(id);
        Ok(Answer::Engine { engine: id })
    }

    pub(super) fn inspect(&mut self, id: EngineId) -> Result<Answer, ApiError> {
        for variant in self.registry.get(id)?.to_ask_about() {
            self.ask_about(id, *variant)?;
        }
        Ok(Answer::Done)
    }

    fn ask_about(&mut self, id: EngineId, variant: Option<Variant>) -> Result<ProcessId, ApiError> {
        let values = self.registry.get(id)?.values(ValuesFor::All);
        self.start_process(id, Purpose::Inspect, variant, values, false)
    }

    /// Engines of which nothing is known are asked, and the built-in one with its copies.
    pub(crate) fn inspect_unknown(&mut self) {
        let unknown = self.registry.iter();
        let unknown = unknown.filter(|(_, engine)| engine.is_to_be_asked());
        let asked = |(id, engine): (EngineId, &RegisteredEngine)| {
            engine.to_ask_about().iter().map(move |variant| (id, *variant))
        };
        self.unasked = unknown.flat_map(asked).collect();
        self.ask_next();
    }

    /// Asks the next engines of which nothing is known, a few at once.
    fn ask_next(&mut self) {
        loop {
            let asked = |running: &&EngineProcess| {
                running.state.use_for == Purpose::Inspect && running.handle.is_some()
            };
            if MOST_ASKED <= self.processes.values().filter(asked).count() {
                return;
            }
            let Some((id, variant)) = self.unasked.pop_front() else { return };
            let engine = self.registry.get(id);
            // It may have been removed, or used, in the meantime.
            let is_unknown = engine.is_ok_and(RegisteredEngine::is_to_be_asked);
            if is_unknown && self.ask_about(id, variant).is_err() {
                // There is no room: its turn comes when a process ends.
                self.unasked.push_front((id, variant));
                return;
            }
        }
    }

    pub(super) fn change_engine(
        &mut self,
        id: EngineId,
        entry: EngineEntry,
    ) -> Result<Answer, ApiError> {
        self.registry.change(id, entry)?;
        self.engine_changed(id);
        self.inspect(id)
    }

    /// Removes an engine. Returns when the library knows.
    fn forget_engine(&mut self, id: EngineId) -> Result<Written<Result<(), StoreError>>, ApiError> {
        self.registry.remove(id)?;
        for running in self.processes.values().filter(|running| running.state.engine == id) {
            if let Some(handle) = &running.handle {
                handle.send(EngineCommand::Quit);
            }
        }
        let games: Vec<GameId> = self.lanes.keys().copied().collect();
        for game in games {
            self.remove_lane(game, id);
        }
        self.publish_engines(EnginesDelta { removed: vec![id], ..EnginesDelta::default() });
        Ok(self.saves.run(move |store| store.delete_engine(id)))
    }

    /// Sets values for good, for the processes that run as well.
    pub(super) fn set_options(
        &mut self,
        id: EngineId,
        of: ValuesFor,
        values: &BTreeMap<String, Option<String>>,
    ) -> Result<Answer, ApiError> {
        self.registry.set_values(id, of, values)?;
        self.engine_changed(id);
        self.pass_values_on(id, &values.keys().collect::<Vec<_>>());
        Ok(Answer::Done)
    }

    /// Has the processes of an engine take its values. Of the names that were changed, those without a value go
    /// back to their defaults.
    fn pass_values_on(&self, id: EngineId, changed: &[&String]) {
        let Ok(engine) = self.registry.get(id) else { return };
        let options = engine.options();
        for running in self.processes.values().filter(|running| running.state.engine == id) {
            let of = match running.state.use_for {
                Purpose::Play { .. } => ValuesFor::Play,
                Purpose::Analyse { .. }
                | Purpose::Hint { .. }
                | Purpose::Report { .. }
                | Purpose::Learn { .. } => ValuesFor::Analyse,
                Purpose::Inspect => continue,
                Purpose::Console => ValuesFor::All,
            };
            let mut values = engine.values(of);
            for name in changed {
                let option = options.iter().find(|option| option.name == **name);
                if let Some(default) = option.and_then(default_of) {
                    values.entry((*name).clone()).or_insert(default);
                }
            }
            let own = self.values_of_seat(running);
            values.retain(|name, _| !own.contains_key(name));
            if let Some(handle) = &running.handle {
                handle.send(EngineCommand::Set(engine.fitting(values, running.dialect)));
            }
        }
    }

    /// The values that a process has for the game that it plays, over those of its engine.
    fn values_of_seat(&self, running: &EngineProcess) -> BTreeMap<String, String> {
        let (Purpose::Play { game }, Some(side)) = (running.state.use_for, running.side) else {
            return BTreeMap::new();
        };
        let room = self.rooms.get(&game);
        let player = room.and_then(|room| room.slot(side)?.engine());
        let (Some(player), Ok(engine)) = (player, self.registry.get(running.state.engine)) else {
            return BTreeMap::new();
        };
        engine.values_for(player, room.map(|room| room.game().into()))
    }

    /// Presses a button of all processes of an engine. If there is none, one is started for it.
    pub(super) fn press(&mut self, id: EngineId, button: &str) -> Result<Answer, ApiError> {
        let engine = self.registry.get(id)?;
        let known = engine.options().iter().any(|option| {
            option.name == button && matches!(option.kind, crate::wire::OptionKind::Button)
        });
        if !known {
            return Err(api_error(
                ApiErrorCode::Engine,
                Problem::no_such(Thing::Button, button),
                "the engine has no such button",
            ));
        }
        let press = || EngineCommand::Press(button.to_owned());
        let runs = |running: &EngineProcess| {
            // One that is only asked what it can do leaves at once.
            running.state.use_for != Purpose::Inspect
                && running.state.status != ProcessStatus::Leaving
                && running.handle.is_some()
        };
        let processes: Vec<ProcessId> = self
            .processes
            .iter()
            .filter(|(_, running)| running.state.engine == id && runs(running))
            .map(|(process, _)| *process)
            .collect();
        if processes.is_empty() {
            let process = self.start_console(id)?;
            self.send(process, press())?;
            return Ok(Answer::Process { process });
        }
        let commands = processes.into_iter().map(|process| self.send(process, press()));
        // What one does not hear, the others do.
        let commands: Vec<_> = commands.collect();
        commands.into_iter().find(Result::is_err).unwrap_or(Ok(Answer::Done))
    }

    pub(super) fn save_presets(
        &mut self,
        id: EngineId,
        change: impl FnOnce(&mut Self) -> Result<(), ApiError>,
    ) -> Result<Answer, ApiError> {
        self.registry.get(id)?;
        change(self)?;
        self.engine_changed(id);
        Ok(Answer::Done)
    }

    pub(super) fn apply_preset(
        &mut self,
        id: EngineId,
        name: &str,
        of: ValuesFor,
    ) -> Result<Answer, ApiError> {
        let engine = self.registry.get_mut(id)?;
        let preset = engine.entry.presets.iter().find(|preset| preset.name == name).cloned();
        let preset =
            preset.ok_or_else(|| no_such(Thing::Preset, name, "there is no such preset"))?;
        let before = std::mem::replace(engine.values_mut(of), preset.values);
        self.engine_changed(id);
        self.pass_values_on(id, &before.keys().collect::<Vec<_>>());
        Ok(Answer::Done)
    }

    /// What to answer when an engine wants to be registered.
    pub(super) fn register_engine(
        &mut self,
        id: EngineId,
        with: Option<Registration>,
    ) -> Result<Answer, ApiError> {
        let odd = |text: &str| 1000 < text.len() || text.chars().any(char::is_control);
        if with.as_ref().is_some_and(|with| odd(&with.name) || odd(&with.code)) {
            return Err(odd_text(Thing::Registration, "the name or the code is too long or odd"));
        }
        let engine = self.registry.get_mut(id)?;
        engine.entry.registered_as = with.map(|with| (with.name, with.code));
        let register = engine.register().unwrap_or(Register::Later);
        for running in self.processes.values().filter(|running| running.state.engine == id) {
            if let Some(handle) = &running.handle {
                handle.send(EngineCommand::Register(register.clone()));
            }
        }
        self.engine_changed(id);
        Ok(Answer::Done)
    }

    pub(super) fn open_console(&mut self, id: EngineId) -> Result<Answer, ApiError> {
        Ok(Answer::Process { process: self.start_console(id)? })
    }

    fn start_console(&mut self, id: EngineId) -> Result<ProcessId, ApiError> {
        let values = self.registry.get(id)?.values(ValuesFor::All);
        self.start_process(id, Purpose::Console, None, values, false)
    }

    /// Orders something of a process.
    pub(super) fn send(
        &mut self,
        id: ProcessId,
        command: EngineCommand,
    ) -> Result<Answer, ApiError> {
        let running = self.processes.get(&id);
        let handle = running.and_then(|running| running.handle.as_ref());
        let handle = handle
            .ok_or_else(|| no_such(Thing::Process, &id, format!("process {id} does not run")))?;
        if !handle.send(command) {
            return Err(api_error(
                ApiErrorCode::Engine,
                ProblemKind::NotListening,
                "the engine does not listen",
            ));
        }
        Ok(Answer::Done)
    }

    pub(super) fn restart_process(&mut self, id: ProcessId) -> Result<Answer, ApiError> {
        let alive = self.processes.get(&id).is_some_and(|running| running.handle.is_some());
        if alive {
            if let Some(running) = self.processes.get_mut(&id) {
                running.restart = true;
            }
            return self.send(id, EngineCommand::Quit);
        }
        let state =
            self.processes.get(&id).map(|running| (running.state.engine, running.state.use_for));
        let (engine, use_for) = state
            .ok_or_else(|| no_such(Thing::Process, &id, format!("there is no process {id}")))?;
        match use_for {
            Purpose::Play { game } => {
                let at = now();
                self.act(game, at, |room| room.go_on(at))
            }
            Purpose::Analyse { game } => self.restart_lane(game, engine),
            Purpose::Console => self.open_console(engine),
            Purpose::Inspect
            | Purpose::Hint { .. }
            | Purpose::Report { .. }
            | Purpose::Learn { .. } => self.inspect(engine),
        }
    }

    /// Kills a process at once. It is told as its end.
    pub(super) fn kill_process(&mut self, id: ProcessId, at: Moment) -> Result<Answer, ApiError> {
        let handle = self.processes.get_mut(&id).and_then(|running| running.handle.take());
        let handle = handle
            .ok_or_else(|| no_such(Thing::Process, &id, format!("process {id} does not run")))?;
        handle.kill();
        drop(handle);
        let death = EngineFailure { why: killed_by_user(), stderr: Vec::new() };
        self.news(id, EngineEvent::Exited(Some(death)), at);
        Ok(Answer::Done)
    }
}

/// MiB of memory that the machine has.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}
