//! The registered engines: their options, probes, checks, and the events of their processes.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;
use std::{env, thread};

use readyok_client::Guard;
use readyok_client::unstable::{
    directory_for_name, find_executable, find_in_path, is_executable, split_command_line,
};
use readyok_protocol::Register;

use super::checks::{CheckReporter, Checks};
use super::components::{AppEvent, Context, SearchEvent};
use super::processes::{EngineProcess, ProcessSpec, Processes};
use super::{App, ServerSettings, written};
use crate::engine::{
    EngineCommand, EngineEvent, EngineInfo, RegisteredEngine, Registry, default_of, not_a_program,
};
use crate::hub::Hub;
use crate::store::{StoreError, Written};
use crate::wire::{
    Answer, ApiError, Delta, EngineEntry, EngineId, EngineSource, EngineState, EnginesDelta,
    EnginesState, ErrorCode, ErrorSubject, FoundEngines, Machine, OptionKind, Preset, ProcessId,
    ProcessStatus, Purpose, Registration, Topic, ValuesFor, Variant,
};

/// Maximum number of engines that are probed concurrently.
const MAX_PROBES: usize = 4;
/// Maximum length of the name and of the code of a registration, in bytes.
const MAX_REGISTRATION: usize = 1000;

/// The registered engines.
pub(crate) struct Engines {
    pub(super) registry: Registry,
    pub(super) checks: Checks,
    pub(super) setup: Arc<ServerSettings>,
}

impl App {
    pub(super) async fn remove_engine(&self, id: EngineId) -> Result<Answer, ApiError> {
        let removed = self.update(|components, cx| components.engines.remove(cx, id))?;
        written(removed).await?;
        Ok(Answer::Done)
    }
}

impl Engines {
    pub(super) fn new(
        registry: Registry,
        check_reporter: CheckReporter,
        setup: Arc<ServerSettings>,
    ) -> Self {
        Self { registry, checks: Checks::new(check_reporter), setup }
    }

    pub(super) fn guard(&self) -> Option<Guard> {
        self.setup.guard.clone()
    }

    /// Marks the found engines whose programs are registered.
    pub(super) fn mark_registered(&self, found: &mut FoundEngines) {
        let program = |source: &EngineSource| match source {
            EngineSource::Program { path, args, .. } => Some((path.clone(), args.clone())),
            EngineSource::Tcp { .. } | EngineSource::BuiltIn => None,
        };
        let registered: Vec<_> =
            self.registry.iter().filter_map(|(_, engine)| program(&engine.entry.source)).collect();
        for engine in &mut found.engines {
            let program = program(&engine.entry.source);
            engine.registered = program.is_some_and(|program| registered.contains(&program));
        }
    }

    /// The program and the arguments of the built-in engine.
    pub(super) fn built_in(&self) -> &(PathBuf, Vec<String>) {
        &self.setup.built_in
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(super) fn get(&self, id: EngineId) -> Result<&RegisteredEngine, ApiError> {
        self.registry.get(id)
    }

    pub(super) fn state(&self, processes: &Processes) -> EnginesState {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        EnginesState {
            engines: self.registry.iter().map(|(id, engine)| engine.wire(id)).collect(),
            processes: processes.states(),
            machine: Machine { cores: u32::try_from(cores).unwrap_or(u32::MAX), memory: memory() },
        }
    }

    /// Saves and publishes a change of an engine.
    fn changed(&self, cx: &mut Context<'_>, id: EngineId) {
        let Ok(engine) = self.registry.get(id) else { return };
        let entry = engine.entry.to_keep();
        // After an error it is saved with the next change.
        drop(cx.saves.run(move |store| store.save_engine(id, &entry)));
        self.publish_state(cx.hub, id);
    }

    /// Publishes the state of an engine.
    pub(super) fn publish_state(&self, hub: &mut Hub, id: EngineId) {
        let Ok(engine) = self.registry.get(id) else { return };
        let state: EngineState = engine.wire(id);
        publish(hub, EnginesDelta { engines: vec![state], ..EnginesDelta::default() });
    }

    pub(super) fn start_process(
        &self,
        cx: &mut Context<'_>,
        spec: ProcessSpec,
    ) -> Result<ProcessId, ApiError> {
        let engine = self.registry.get(spec.engine)?;
        if cx.closing {
            return Err(ApiError::conflict(ErrorCode::ShuttingDown));
        }
        cx.processes.start(cx.hub, engine, spec)
    }

    /// Starts a process with the engine's own values.
    pub(super) fn start_with(
        &self,
        cx: &mut Context<'_>,
        engine: EngineId,
        purpose: Purpose,
        variant: Option<Variant>,
        values: ValuesFor,
    ) -> Result<ProcessId, ApiError> {
        let values = self.registry.get(engine)?.values(values);
        let overrides = BTreeMap::new();
        let spec = ProcessSpec { engine, purpose, variant, values, overrides, ponders: false };
        self.start_process(cx, spec)
    }

    // Events of processes.

    pub(super) fn on_process_event(
        &mut self,
        cx: &mut Context<'_>,
        id: ProcessId,
        event: EngineEvent,
    ) {
        let Some(process) = cx.processes.get_mut(id) else { return };
        let (engine, purpose) = (process.engine(), process.purpose());
        let event = match event {
            EngineEvent::Ready(info) => {
                self.on_handshake(cx, id, engine, &info);
                SearchEvent::Ready
            }
            EngineEvent::Status(status) => {
                process.set_status(status);
                self.refresh_approvals(cx, id);
                return cx.processes.publish(cx.hub, id);
            }
            EngineEvent::SearchStarted(search) => SearchEvent::Started(search),
            EngineEvent::Info(search, info) => SearchEvent::Info(search, info),
            EngineEvent::SearchFinished(search, result, info) => {
                SearchEvent::Finished(search, result, info)
            }
            EngineEvent::SearchRejected(search, why) => {
                process.set_error(why.clone());
                cx.processes.publish(cx.hub, id);
                SearchEvent::Rejected(search, why)
            }
            EngineEvent::CommandFailed(why) => {
                process.set_error(why);
                return cx.processes.publish(cx.hub, id);
            }
            EngineEvent::Exited(failure) => {
                let was_ready = process.dialect().is_some();
                let (failure, restart) = process.set_exited(failure);
                self.refresh_approvals(cx, id);
                cx.processes.publish(cx.hub, id);
                if !was_ready && failure.is_some() {
                    if let Ok(engine) = self.registry.get_mut(engine) {
                        engine.error.clone_from(&failure);
                    }
                    self.changed(cx, engine);
                }
                SearchEvent::Exited { failure, restart }
            }
        };
        let has_exited = matches!(event, SearchEvent::Exited { .. });
        cx.events.push_back(AppEvent::Search(id, purpose, event));
        if has_exited {
            cx.events.push_back(AppEvent::ProcessExited);
        }
    }

    fn on_handshake(
        &mut self,
        cx: &mut Context<'_>,
        id: ProcessId,
        engine: EngineId,
        info: &EngineInfo,
    ) {
        self.registry.on_handshake(engine, info);
        let identity = self.registry.get(engine).ok().and_then(|it| it.identity().cloned());
        if let Some(process) = cx.processes.get_mut(id) {
            process.set_ready(info, identity);
        }
        self.refresh_approvals(cx, id);
        self.changed(cx, engine);
        cx.processes.publish(cx.hub, id);
    }

    /// Applies the latest change of registration and copy protection by any process of an engine.
    fn refresh_approvals(&mut self, cx: &mut Context<'_>, id: ProcessId) {
        let Some(process) = cx.processes.get_mut(id) else { return };
        let (engine, Some(approvals)) = (process.engine(), process.new_approvals()) else { return };
        let Ok(registered) = self.registry.get_mut(engine) else { return };
        if (registered.registration, registered.copy_protection) != approvals {
            (registered.registration, registered.copy_protection) = approvals;
            self.changed(cx, engine);
        }
    }

    pub(super) fn refresh_all_approvals(&mut self, cx: &mut Context<'_>) {
        let running = cx.processes.iter().filter(|(_, process)| process.is_running());
        for id in running.map(|(id, _)| id).collect::<Vec<_>>() {
            self.refresh_approvals(cx, id);
        }
    }

    pub(super) fn on_console_event(
        &self,
        cx: &mut Context<'_>,
        process: ProcessId,
        event: &SearchEvent,
    ) {
        match event {
            SearchEvent::Exited { restart: true, .. } => {
                if let Some(engine) = cx.processes.get(process).map(EngineProcess::engine) {
                    // The state of the new process has the error.
                    let _ = self.open_console(cx, engine);
                }
            }
            SearchEvent::Rejected(..) => cx.processes.quit(process),
            SearchEvent::Ready
            | SearchEvent::Started(_)
            | SearchEvent::Info(..)
            | SearchEvent::Finished(..)
            | SearchEvent::Exited { restart: false, .. } => (),
        }
    }

    // Registration.

    pub(super) fn add(
        &mut self,
        cx: &mut Context<'_>,
        entry: EngineEntry,
        values: BTreeMap<String, String>,
    ) -> Result<Answer, ApiError> {
        let id = self.registry.add(entry, values)?;
        self.added(cx, id)
    }

    /// Registers an engine again under another name.
    pub(super) fn copy(&mut self, cx: &mut Context<'_>, id: EngineId) -> Result<Answer, ApiError> {
        let copy = self.registry.copy(id)?;
        self.added(cx, copy)
    }

    fn added(&mut self, cx: &mut Context<'_>, id: EngineId) -> Result<Answer, ApiError> {
        // It is registered even if it cannot be probed now.
        if let Err(error) = self.probe(cx, id) {
            self.registry.get_mut(id)?.error = Some(error.into());
        }
        self.changed(cx, id);
        Ok(Answer::Engine { engine: id })
    }

    pub(super) fn change(
        &mut self,
        cx: &mut Context<'_>,
        id: EngineId,
        entry: EngineEntry,
    ) -> Result<Answer, ApiError> {
        self.registry.change(id, entry)?;
        self.changed(cx, id);
        self.probe(cx, id)
    }

    fn remove(
        &mut self,
        cx: &mut Context<'_>,
        id: EngineId,
    ) -> Result<Written<Result<(), StoreError>>, ApiError> {
        self.registry.remove(id)?;
        self.checks.cancel(id);
        Self::send_to_all(cx, id, |_| Some(EngineCommand::Quit));
        cx.events.push_back(AppEvent::EngineRemoved(id));
        publish(cx.hub, EnginesDelta { removed: vec![id], ..EnginesDelta::default() });
        Ok(cx.saves.run(move |store| store.delete_engine(id)))
    }

    /// Starts a process that only reports options.
    pub(super) fn probe(&self, cx: &mut Context<'_>, id: EngineId) -> Result<Answer, ApiError> {
        for variant in self.registry.get(id)?.probe_variants() {
            self.start_with(cx, id, Purpose::Inspect, *variant, ValuesFor::All)?;
        }
        Ok(Answer::Done)
    }

    // Options.

    /// Sets option values permanently, and for the processes that run.
    pub(super) fn set_options(
        &mut self,
        cx: &mut Context<'_>,
        id: EngineId,
        of: ValuesFor,
        values: &BTreeMap<String, Option<String>>,
    ) -> Result<Answer, ApiError> {
        self.registry.set_values(id, of, values)?;
        self.changed(cx, id);
        self.apply_values(cx, id, &values.keys().collect::<Vec<_>>());
        Ok(Answer::Done)
    }

    /// Sends the values of an engine to its processes. Changed options without a value get their defaults.
    fn apply_values(&self, cx: &Context<'_>, id: EngineId, changed: &[&String]) {
        let Ok(engine) = self.registry.get(id) else { return };
        let options = engine.options();
        Self::send_to_all(cx, id, |process| {
            let of = match process.purpose() {
                Purpose::Play { .. } => ValuesFor::Play,
                Purpose::Analyse { .. }
                | Purpose::Hint { .. }
                | Purpose::Report { .. }
                | Purpose::Learn { .. }
                | Purpose::Exercise { .. } => ValuesFor::Analyse,
                Purpose::Inspect => return None,
                Purpose::Console => ValuesFor::All,
            };
            let mut values = engine.values(of);
            for name in changed {
                let option = options.iter().find(|option| option.name == **name);
                if let Some(default) = option.and_then(default_of) {
                    values.entry((*name).clone()).or_insert(default);
                }
            }
            values.retain(|name, _| !process.overrides().contains_key(name));
            Some(EngineCommand::Set(engine.fitting(values, process.dialect())))
        });
    }

    fn send_to_all(
        cx: &Context<'_>,
        id: EngineId,
        command: impl Fn(&EngineProcess) -> Option<EngineCommand>,
    ) {
        for (_, process) in cx.processes.iter().filter(|(_, process)| process.engine() == id) {
            if let Some(command) = command(process) {
                process.send(command);
            }
        }
    }

    /// Presses a button of all processes of an engine, or of a new one if none runs.
    pub(super) fn press_button(
        &self,
        cx: &mut Context<'_>,
        id: EngineId,
        button: &str,
    ) -> Result<Answer, ApiError> {
        let options = self.registry.get(id)?.options();
        let is_button = |kind: &OptionKind| matches!(kind, OptionKind::Button);
        if !options.iter().any(|option| option.name == button && is_button(&option.kind)) {
            return Err(ApiError::engine(ErrorCode::unknown(ErrorSubject::Button, button)));
        }
        let press = || EngineCommand::Press(button.to_owned());
        let is_usable = |process: &EngineProcess| {
            // Probes quit immediately.
            process.engine() == id
                && process.purpose() != Purpose::Inspect
                && process.status() != ProcessStatus::Leaving
                && process.is_running()
        };
        let usable = cx.processes.iter().filter(|(_, process)| is_usable(process));
        let processes: Vec<ProcessId> = usable.map(|(process, _)| process).collect();
        if processes.is_empty() {
            let process = self.start_with(cx, id, Purpose::Console, None, ValuesFor::All)?;
            cx.processes.command(process, press())?;
            return Ok(Answer::Process { process });
        }
        // All processes receive the command, even if one fails.
        let results = processes.into_iter().map(|process| cx.processes.command(process, press()));
        let results: Vec<_> = results.collect();
        results.into_iter().find(Result::is_err).unwrap_or(Ok(()))?;
        Ok(Answer::Done)
    }

    pub(super) fn save_preset(
        &mut self,
        cx: &mut Context<'_>,
        id: EngineId,
        preset: Preset,
    ) -> Result<Answer, ApiError> {
        self.registry.save_preset(id, preset)?;
        self.changed(cx, id);
        Ok(Answer::Done)
    }

    pub(super) fn delete_preset(
        &mut self,
        cx: &mut Context<'_>,
        id: EngineId,
        name: &str,
    ) -> Result<Answer, ApiError> {
        let presets = &mut self.registry.get_mut(id)?.entry.presets;
        presets.retain(|preset| preset.name != name);
        self.changed(cx, id);
        Ok(Answer::Done)
    }

    pub(super) fn apply_preset(
        &mut self,
        cx: &mut Context<'_>,
        id: EngineId,
        name: &str,
        of: ValuesFor,
    ) -> Result<Answer, ApiError> {
        let engine = self.registry.get_mut(id)?;
        let preset = engine.entry.presets.iter().find(|preset| preset.name == name).cloned();
        let preset = preset.ok_or_else(|| ApiError::not_found(ErrorSubject::Preset, name))?;
        let before = std::mem::replace(engine.values_mut(of), preset.values);
        self.changed(cx, id);
        self.apply_values(cx, id, &before.keys().collect::<Vec<_>>());
        Ok(Answer::Done)
    }

    /// Sets the response to an engine that requires a registration.
    pub(super) fn register(
        &mut self,
        cx: &mut Context<'_>,
        id: EngineId,
        with: Option<Registration>,
    ) -> Result<Answer, ApiError> {
        let is_malformed =
            |text: &str| MAX_REGISTRATION < text.len() || text.chars().any(char::is_control);
        if with.as_ref().is_some_and(|it| is_malformed(&it.name) || is_malformed(&it.code)) {
            return Err(ApiError::invalid_text(ErrorSubject::Registration));
        }
        let engine = self.registry.get_mut(id)?;
        engine.entry.registered_as = with.map(|with| (with.name, with.code));
        let register = engine.register().unwrap_or(Register::Later);
        Self::send_to_all(cx, id, |_| Some(EngineCommand::Register(register.clone())));
        self.changed(cx, id);
        Ok(Answer::Done)
    }

    pub(super) fn open_console(
        &self,
        cx: &mut Context<'_>,
        id: EngineId,
    ) -> Result<Answer, ApiError> {
        let process = self.start_with(cx, id, Purpose::Console, None, ValuesFor::All)?;
        Ok(Answer::Process { process })
    }
}

/// Probes of the engines whose options are unknown: processes that only report options.
#[derive(Default)]
pub(crate) struct Probes {
    /// The engines that wait, with the variant to probe them for.
    queue: VecDeque<(EngineId, Option<Variant>)>,
}

impl Probes {
    /// Probes the engines whose options are unknown, and the built-in one with its copies.
    pub(super) fn start(&mut self, engines: &Engines, cx: &mut Context<'_>) {
        let unknown = engines.registry.iter().filter(|(_, engine)| engine.needs_probe());
        let probes = |(id, engine): (EngineId, &RegisteredEngine)| {
            engine.probe_variants().iter().map(move |variant| (id, *variant))
        };
        self.queue = unknown.flat_map(probes).collect();
        self.start_next(engines, cx);
    }

    pub(super) fn start_next(&mut self, engines: &Engines, cx: &mut Context<'_>) {
        loop {
            let is_probe = |(_, process): &(ProcessId, &EngineProcess)| {
                process.purpose() == Purpose::Inspect && process.is_running()
            };
            if MAX_PROBES <= cx.processes.iter().filter(is_probe).count() {
                return;
            }
            let Some((id, variant)) = self.queue.pop_front() else { return };
            // The engine may have been removed or used in the meantime.
            let is_unknown = engines.get(id).is_ok_and(RegisteredEngine::needs_probe);
            if is_unknown
                && engines.start_with(cx, id, Purpose::Inspect, variant, ValuesFor::All).is_err()
            {
                // Too many processes run: retried when one of them exits.
                self.queue.push_front((id, variant));
                return;
            }
        }
    }

    pub(super) fn on_event(cx: &Context<'_>, process: ProcessId, event: &SearchEvent) {
        match event {
            SearchEvent::Ready => {
                // The state of its registration follows its options.
                cx.processes.send(process, EngineCommand::Ready);
                cx.processes.quit(process);
            }
            SearchEvent::Rejected(..) => cx.processes.quit(process),
            SearchEvent::Started(_)
            | SearchEvent::Info(..)
            | SearchEvent::Finished(..)
            | SearchEvent::Exited { .. } => (),
        }
    }
}

fn publish(hub: &mut Hub, delta: EnginesDelta) {
    hub.publish(Topic::Engines, Delta::Engines(delta));
}

/// The memory of the machine in MiB.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// Parses an address, a path, or a command line with the quoting of a shell.
pub(super) fn preview(text: &str) -> Result<Answer, ApiError> {
    let text = text.trim();
    let entry = |source| Answer::Preview {
        entry: EngineEntry { name: String::new(), source, protocol: None },
    };
    if let Some(address) = text.strip_prefix("tcp://") {
        return Ok(entry(EngineSource::Tcp { address: address.to_owned() }));
    }
    let program = |path: &str, args: &[String], dir| EngineSource::Program {
        path: path.to_owned(),
        args: args.to_vec(),
        dir,
        env: BTreeMap::new(),
    };
    if is_executable(Path::new(text)) {
        return Ok(entry(program(text, &[], None)));
    }
    let tokens = split_command_line(text).unwrap_or_default();
    let Some((first, args)) = tokens.split_first() else {
        return Err(ApiError::invalid_request(ErrorCode::IncompleteCommand));
    };
    let found = if first.contains(is_separator) {
        find_executable(Path::new(first))
    } else {
        find_in_path(first, &env::var_os("PATH").unwrap_or_default())
    };
    match found.as_deref().and_then(Path::to_str) {
        Some(path) => {
            // Without arguments no file is relative to the directory, which the user might delete.
            let dir = if args.is_empty() { None } else { directory_for_name(first) };
            let dir = dir.and_then(|dir| dir.into_os_string().into_string().ok());
            Ok(entry(program(path, args, dir)))
        }
        None => Err(not_a_program(first)),
    }
}
