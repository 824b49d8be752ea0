//! Events of engine processes for the features that own them, and commands of the user to processes.

use super::AppState;
use crate::engine::EngineEvent;
use crate::game::ActiveGame;
use crate::hub::Hub;
use crate::search::{Owner, ProcessChanges, TaskEvent};
use crate::wire::{Answer, ApiError, Delta, EnginesDelta, ErrorSubject, ProcessId, Topic};

impl AppState {
    pub(super) fn on_process_event(&mut self, id: ProcessId, event: EngineEvent) {
        let event = self.tasks.on_event(id, event);
        if let Some((_, TaskEvent::Ready(info))) = &event {
            self.on_handshake(id, info);
        } else {
            self.refresh_approvals(id);
        }
        let Some((owner, event)) = event else { return };
        if let TaskEvent::Exited { failure: Some(failure), was_ready: false, .. } = &event {
            self.on_handshake_failed(id, failure);
        }
        let is_ready = matches!(event, TaskEvent::Ready(_));
        let has_exited = matches!(event, TaskEvent::Exited { .. });
        if let Some(owner) = owner {
            self.on_task_event(id, owner, event);
        }
        if is_ready && let Some((Some(owner), failed)) = self.tasks.begin(id) {
            self.on_task_event(id, owner, failed);
        }
        if has_exited {
            self.start_next_probes();
        }
    }

    fn on_task_event(&mut self, id: ProcessId, owner: Owner, event: TaskEvent) {
        match owner {
            Owner::Player(game, side) => self.on_player_event((game, side), id, event),
            Owner::Analysis(game, engine) => self.on_analysis_event((game, engine), event),
            Owner::Report(game) => {
                if self.on_report_event(game, event) {
                    self.on_report_finished(game);
                    self.start_reports();
                }
            }
            Owner::Probe => self.on_probe_event(id, &event),
            Owner::Console => self.on_console_event(id, &event),
            // A caller waits for the result.
            Owner::Hint(_) | Owner::Attempt(_) | Owner::Exercise(_) => (),
        }
    }

    /// Restarts a process, or its purpose after its exit.
    pub(super) fn restart_process(&mut self, id: ProcessId) -> Result<Answer, ApiError> {
        if self.tasks.quit_and_restart(id)? {
            return Ok(Answer::Done);
        }
        let process = self.tasks.get(id).map(|process| (process.engine(), process.owner()));
        let missing = || ApiError::not_found(ErrorSubject::Process, id);
        let (engine, owner) = process.ok_or_else(missing)?;
        match owner {
            Some(Owner::Player(game, _)) => self.play(game, ActiveGame::resume),
            Some(Owner::Analysis(game, engine)) => self.restart_analysis(game, engine),
            Some(Owner::Console) => self.open_console(engine),
            Some(
                Owner::Probe
                | Owner::Hint(_)
                | Owner::Report(_)
                | Owner::Attempt(_)
                | Owner::Exercise(_),
            )
            | None => self.probe(engine),
        }
    }

    /// Kills a process, and reports its exit.
    pub(super) fn kill_process(&mut self, id: ProcessId) -> Result<Answer, ApiError> {
        let exit = self.tasks.kill(id)?;
        self.on_process_event(id, exit);
        Ok(Answer::Done)
    }

    /// Publishes the changes of processes.
    pub(super) fn publish_processes(&mut self) {
        let ProcessChanges { changed: processes, forgotten } = self.tasks.take_changes();
        if processes.is_empty() && forgotten.is_empty() {
            return;
        }
        for id in &forgotten {
            self.hub.close(Topic::Log(*id));
        }
        let delta = EnginesDelta { processes, forgotten, ..EnginesDelta::default() };
        self.hub.publish(Topic::Engines, Delta::Engines(delta));
    }

    /// Publishes the new lines of all logs that have subscribers.
    pub(super) fn publish_logs(&mut self) {
        let Self { tasks, hub, .. } = self;
        let lines = tasks.take_log_lines(|id| Hub::is_wanted(hub, Topic::Log(id)));
        for (id, delta) in lines {
            self.hub.publish(Topic::Log(id), Delta::Log(delta));
        }
    }
}
