//! The registered engines: their options, probes, checks, and the events of their processes.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, is_separator};

use readyok_client::unstable::{
    directory_for_name, find_executable, find_in_path, is_executable, split_command_line,
};
use readyok_protocol::Register;

use super::AppState;
use crate::engine::machine::machine;
use crate::engine::{
    EngineCommand, EngineInfo, RegisteredEngine, Start, default_of, not_a_program,
};
use crate::search::{EngineProcess, Owner, TaskEvent};
use crate::store::{StoreError, Written};
use crate::wire::{
    Answer, ApiError, Delta, EngineEntry, EngineId, EngineProgram, EngineSource, EnginesDelta,
    EnginesState, ErrorCode, ErrorInfo, ErrorSubject, FoundEngines, OptionKind, Preset, ProcessId,
    Registration, Topic, ValuesFor, Variant,
};

/// Maximum number of engines that are probed concurrently.
const MAX_PROBES: usize = 4;
/// Maximum length of the name and of the code of a registration, in bytes.
const MAX_REGISTRATION: usize = 1000;

impl AppState {
    /// Marks the found engines whose programs are registered.
    pub(super) fn mark_registered(&self, found: &mut FoundEngines) {
        let program = |source: &EngineSource| match source {
            EngineSource::Program(program) => Some((program.path.clone(), program.args.clone())),
            EngineSource::Tcp { .. } | EngineSource::BuiltIn => None,
        };
        let registered: Vec<_> = self
            .registry
            .iter()
            .filter_map(|(_, engine)| program(&engine.config.entry.source))
            .collect();
        for engine in &mut found.engines {
            let program = program(&engine.entry.source);
            engine.registered = program.is_some_and(|program| registered.contains(&program));
        }
    }

    pub(super) fn engines_state(&self) -> EnginesState {
        EnginesState {
            engines: self.registry.iter().map(|(id, engine)| engine.wire(id)).collect(),
            processes: self.tasks.states(),
            machine: machine().clone(),
            search: self.search_state(),
        }
    }

    /// Saves and publishes a change of an engine.
    fn save_engine(&mut self, id: EngineId) {
        let Ok(engine) = self.registry.get(id) else { return };
        let config = engine.config.to_keep();
        // After an error it is saved with the next change.
        drop(self.saves.run(move |store| store.save_engine(id, &config)));
        self.publish_engine(id);
    }

    /// Publishes the state of an engine.
    pub(super) fn publish_engine(&mut self, id: EngineId) {
        let Ok(engine) = self.registry.get(id) else { return };
        let delta = EnginesDelta { engines: vec![engine.wire(id)], ..EnginesDelta::default() };
        self.hub.publish(Topic::Engines, Delta::Engines(delta));
    }

    /// Starts a process with the engine's values for its owner.
    pub(super) fn start_process(
        &mut self,
        owner: Owner,
        id: EngineId,
        variant: Option<Variant>,
    ) -> Result<ProcessId, ApiError> {
        self.start_process_with(owner, id, variant, (BTreeMap::new(), false))
    }

    /// Starts a process with option values that later changes of the engine's values do not affect.
    pub(super) fn start_process_with(
        &mut self,
        owner: Owner,
        id: EngineId,
        variant: Option<Variant>,
        (overrides, ponders): (BTreeMap<String, String>, bool),
    ) -> Result<ProcessId, ApiError> {
        let engine = self.registry.get(id)?;
        if self.closing {
            return Err(ApiError::conflict(ErrorCode::ShuttingDown));
        }
        let dialect = match owner {
            Owner::Probe => engine.probe_dialect(variant),
            _ => engine.dialect(variant),
        };
        let mut values = engine.values(owner.values());
        values.extend(overrides.clone());
        let how = Start {
            name: engine.name().to_owned(),
            source: engine.config.entry.source.clone(),
            built_in: self.program.built_in.clone(),
            dialect,
            values: engine.fitting(values, dialect),
            register: engine.register(),
            ponders,
            guard: self.program.guard.clone(),
        };
        self.tasks.start(owner, id, how, overrides)
    }

    // Events of processes.

    pub(super) fn on_handshake(&mut self, id: ProcessId, info: &EngineInfo) {
        let Some(process) = self.tasks.get_mut(id) else { return };
        let engine = process.engine();
        self.registry.on_handshake(engine, info);
        let registered = self.registry.get(engine).ok();
        process.set_ready(info, registered.and_then(|registered| registered.identity().cloned()));
        self.tasks.touch(id);
        self.refresh_approvals(id);
        self.save_engine(engine);
    }

    pub(super) fn on_handshake_failed(&mut self, id: ProcessId, why: &ErrorInfo) {
        let Some(engine) = self.tasks.get(id).map(EngineProcess::engine) else { return };
        if let Ok(engine) = self.registry.get_mut(engine) {
            engine.error = Some(why.clone());
        }
        self.save_engine(engine);
    }

    /// Applies the latest change of registration and copy protection by any process of an engine.
    pub(super) fn refresh_approvals(&mut self, id: ProcessId) {
        let Some(process) = self.tasks.get_mut(id) else { return };
        let (engine, Some(approvals)) = (process.engine(), process.new_approvals()) else { return };
        let Ok(registered) = self.registry.get_mut(engine) else { return };
        if (registered.registration, registered.copy_protection) != approvals {
            (registered.registration, registered.copy_protection) = approvals;
            self.save_engine(engine);
        }
    }

    pub(super) fn refresh_all_approvals(&mut self) {
        let running = self.tasks.iter().filter(|(_, process)| process.is_running());
        for id in running.map(|(id, _)| id).collect::<Vec<_>>() {
            self.refresh_approvals(id);
        }
    }

    pub(super) fn on_console_event(&mut self, id: ProcessId, event: &TaskEvent) {
        if let TaskEvent::Exited { restart: true, .. } = event
            && let Some(engine) = self.tasks.get(id).map(EngineProcess::engine)
        {
            // The state of the new process has the error.
            let _ = self.open_console(engine);
        }
    }

    // Registration.

    pub(super) fn add_engine(
        &mut self,
        entry: EngineEntry,
        values: BTreeMap<String, String>,
    ) -> Result<Answer, ApiError> {
        let id = self.registry.add(entry, values)?;
        self.engine_added(id)
    }

    /// Registers an engine again under another name.
    pub(super) fn copy_engine(&mut self, id: EngineId) -> Result<Answer, ApiError> {
        let copy = self.registry.copy(id)?;
        self.engine_added(copy)
    }

    fn engine_added(&mut self, id: EngineId) -> Result<Answer, ApiError> {
        // It is registered even if it cannot be probed now.
        if let Err(error) = self.probe(id) {
            self.registry.get_mut(id)?.error = Some(error.into());
        }
        self.save_engine(id);
        self.publish_search();
        Ok(Answer::Engine { engine: id })
    }

    pub(super) fn change_engine(
        &mut self,
        id: EngineId,
        entry: EngineEntry,
    ) -> Result<Answer, ApiError> {
        self.registry.change(id, entry)?;
        self.save_engine(id);
        self.publish_search();
        self.probe(id)
    }

    pub(super) fn remove_engine(
        &mut self,
        id: EngineId,
    ) -> Result<Written<Result<(), StoreError>>, ApiError> {
        self.registry.remove(id)?;
        self.checks.cancel(id);
        self.tasks.send_to_all(id, |_| Some(EngineCommand::Quit));
        let delta = EnginesDelta { removed: vec![id], ..EnginesDelta::default() };
        self.hub.publish(Topic::Engines, Delta::Engines(delta));
        self.publish_search();
        Ok(self.saves.run(move |store| store.delete_engine(id)))
    }

    /// Starts a process that only reports options.
    pub(super) fn probe(&mut self, id: EngineId) -> Result<Answer, ApiError> {
        for variant in self.registry.get(id)?.probe_variants() {
            self.start_process(Owner::Probe, id, *variant)?;
        }
        Ok(Answer::Done)
    }

    // Options.

    /// Sets option values permanently, and for the processes that run.
    pub(super) fn set_options(
        &mut self,
        id: EngineId,
        of: ValuesFor,
        values: &BTreeMap<String, Option<String>>,
    ) -> Result<Answer, ApiError> {
        self.registry.set_values(id, of, values)?;
        self.save_engine(id);
        self.apply_values(id, &values.keys().collect::<Vec<_>>());
        Ok(Answer::Done)
    }

    /// Sends the values of an engine to its processes. Changed options without a value get their defaults.
    fn apply_values(&mut self, id: EngineId, changed: &[&String]) {
        let Ok(engine) = self.registry.get(id) else { return };
        let options = engine.options();
        self.tasks.send_to_all(id, |process| {
            let owner = process.owner().filter(|owner| *owner != Owner::Probe)?;
            let mut values = engine.values(owner.values());
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

    /// Presses a button of all processes of an engine, or of a new one if none runs.
    pub(super) fn press_button(&mut self, id: EngineId, button: &str) -> Result<Answer, ApiError> {
        let options = self.registry.get(id)?.options();
        let is_button = |kind: &OptionKind| matches!(kind, OptionKind::Button);
        if !options.iter().any(|option| option.name == button && is_button(&option.kind)) {
            return Err(ApiError::engine(ErrorCode::unknown(ErrorSubject::Button, button)));
        }
        let press = || EngineCommand::Press(button.to_owned());
        // Probes quit immediately.
        let is_receiver = |process: &EngineProcess| {
            process.engine() == id && process.owner() != Some(Owner::Probe) && process.is_usable()
        };
        let receivers = self.tasks.iter().filter(|(_, process)| is_receiver(process));
        let processes: Vec<ProcessId> = receivers.map(|(process, _)| process).collect();
        if processes.is_empty() {
            let process = self.start_process(Owner::Console, id, None)?;
            self.tasks.command(process, press())?;
            return Ok(Answer::Process { process });
        }
        // All processes receive the command, even if one fails.
        let results = processes.into_iter().map(|process| self.tasks.command(process, press()));
        let results: Vec<_> = results.collect();
        results.into_iter().find(Result::is_err).unwrap_or(Ok(()))?;
        Ok(Answer::Done)
    }

    pub(super) fn save_preset(&mut self, id: EngineId, preset: Preset) -> Result<Answer, ApiError> {
        self.registry.save_preset(id, preset)?;
        self.save_engine(id);
        Ok(Answer::Done)
    }

    pub(super) fn delete_preset(&mut self, id: EngineId, name: &str) -> Result<Answer, ApiError> {
        let presets = &mut self.registry.get_mut(id)?.config.values.presets;
        presets.retain(|preset| preset.name != name);
        self.save_engine(id);
        Ok(Answer::Done)
    }

    pub(super) fn apply_preset(
        &mut self,
        id: EngineId,
        name: &str,
        of: ValuesFor,
    ) -> Result<Answer, ApiError> {
        let engine = self.registry.get_mut(id)?;
        let preset =
            engine.config.values.presets.iter().find(|preset| preset.name == name).cloned();
        let preset = preset.ok_or_else(|| ApiError::not_found(ErrorSubject::Preset, name))?;
        let before = std::mem::replace(engine.values_mut(of), preset.values);
        self.save_engine(id);
        self.apply_values(id, &before.keys().collect::<Vec<_>>());
        Ok(Answer::Done)
    }

    /// Sets the response to an engine that requires a registration.
    pub(super) fn register(
        &mut self,
        id: EngineId,
        with: Option<Registration>,
    ) -> Result<Answer, ApiError> {
        let is_malformed =
            |text: &str| MAX_REGISTRATION < text.len() || text.chars().any(char::is_control);
        if with.as_ref().is_some_and(|with| is_malformed(&with.name) || is_malformed(&with.code)) {
            return Err(ApiError::invalid_text(ErrorSubject::Registration));
        }
        let engine = self.registry.get_mut(id)?;
        engine.config.registered_as = with.map(|with| (with.name, with.code));
        let register = engine.register().unwrap_or(Register::Later);
        self.tasks.send_to_all(id, |_| Some(EngineCommand::Register(register.clone())));
        self.save_engine(id);
        Ok(Answer::Done)
    }

    pub(super) fn open_console(&mut self, id: EngineId) -> Result<Answer, ApiError> {
        let process = self.start_process(Owner::Console, id, None)?;
        Ok(Answer::Process { process })
    }

    // Probes: processes that only report options.

    /// Probes the engines whose options are unknown, and the built-in one with its copies.
    pub(crate) fn probe_engines(&mut self) {
        let unknown = self.registry.iter().filter(|(_, engine)| engine.needs_probe());
        let probes = |(id, engine): (EngineId, &RegisteredEngine)| {
            engine.probe_variants().iter().map(move |variant| (id, *variant))
        };
        self.probes = unknown.flat_map(probes).collect();
        self.start_next_probes();
    }

    pub(super) fn start_next_probes(&mut self) {
        while self.tasks.count_probes() < MAX_PROBES {
            let Some((id, variant)) = self.probes.pop_front() else { return };
            // The engine may have been removed or used in the meantime.
            let is_unknown = self.registry.get(id).is_ok_and(RegisteredEngine::needs_probe);
            if is_unknown && self.start_process(Owner::Probe, id, variant).is_err() {
                // Too many processes run: retried when one of them exits.
                self.probes.push_front((id, variant));
                return;
            }
        }
    }

    pub(super) fn on_probe_event(&mut self, id: ProcessId, event: &TaskEvent) {
        if let TaskEvent::Ready(_) = event
            && let Some(process) = self.tasks.get_mut(id)
        {
            // The state of its registration follows its options.
            process.send(EngineCommand::Ready);
            process.send(EngineCommand::Quit);
        }
    }
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
    if is_executable(Path::new(text)) {
        return Ok(entry(EngineSource::Program(EngineProgram::new(text, [""; 0]))));
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
    // JSON has no other paths.
    let found = found.filter(|path| path.to_str().is_some());
    let found = found.ok_or_else(|| not_a_program(Path::new(first)))?;
    // Without arguments no file is relative to the directory, which the user might delete.
    let dir = if args.is_empty() { None } else { directory_for_name(first) };
    let dir = dir.filter(|dir| dir.to_str().is_some());
    Ok(entry(EngineSource::Program(EngineProgram { dir, ..EngineProgram::new(found, args) })))
}
