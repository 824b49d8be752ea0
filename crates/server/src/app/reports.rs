//! Whole-game reports: an engine searches every position of a main line. One report runs at a time.

use readyok_rules::judgement::final_score;
use readyok_rules::record::{EngineNote, EngineNotes, GameDocument, ScoredLine};

use super::AppState;
use crate::engine::RegisteredEngine;
use crate::game::{GameSession, ROOT, judge, summary};
use crate::search::{Owner, TaskEvent, Wanted};
use crate::store::{StoreError, StoredReport, Written};
use crate::wire::{
    ApiError, Delta, EngineId, ErrorCode, ErrorInfo, GameId, NodeId, ReportDelta, ReportSettings,
    ReportState, ReportStatus, SearchInfo, Topic,
};

/// Maximum number of saved moves of the principal variation.
const MAX_SAVED_MOVES: usize = 24;

pub(super) struct Report {
    settings: ReportSettings,
    status: ReportStatus,
    /// The root and the main line at the start of the report.
    nodes: Vec<NodeId>,
    notes: EngineNotes,
    /// The ply that is being searched.
    at: usize,
    error: Option<ErrorInfo>,
    /// Whether it is in the library, or queued for it.
    stored: bool,
}

impl Report {
    fn new(stored: StoredReport, status: ReportStatus) -> Self {
        let StoredReport { settings, nodes, notes } = stored;
        Self { settings, status, nodes, notes, at: 0, error: None, stored: true }
    }

    pub(super) fn restored(stored: StoredReport) -> Self {
        let mut report = Self::new(stored, ReportStatus::Stopped);
        if report.next().is_none() {
            report.status = ReportStatus::Done;
        }
        report
    }

    /// The game with what the report has found so far.
    fn document(&self, session: &GameSession) -> GameDocument {
        let mut document = GameDocument::from(session.tree().to_record());
        document.engine = self.notes.clone();
        document
    }

    fn is_due(&self) -> bool {
        matches!(self.status, ReportStatus::Running | ReportStatus::Queued)
    }

    fn next(&self) -> Option<usize> {
        let open =
            |(ply, node): (usize, &NodeId)| self.notes.get((*node).into()).is_none().then_some(ply);
        let mut nodes = self.nodes.iter().enumerate();
        if self.settings.backwards { nodes.rev().find_map(open) } else { nodes.find_map(open) }
    }

    fn done(&self) -> u32 {
        u32::try_from(self.notes.iter().count()).unwrap_or(u32::MAX)
    }

    fn fail(&mut self, why: ErrorInfo) {
        self.status = ReportStatus::Failed;
        self.error = Some(why);
    }
}

impl AppState {
    pub(super) fn restore_report(&mut self, id: GameId, stored: Option<StoredReport>) {
        if let Some(stored) = stored {
            self.reports.entry(id).or_insert_with(|| Report::restored(stored));
        }
    }

    pub(super) fn is_report_due(&self, id: GameId) -> bool {
        self.reports.get(&id).is_some_and(Report::is_due)
    }

    /// Whether an engine runs for the report of a game, or for any report.
    fn is_reporting(&self, game: Option<GameId>) -> bool {
        self.tasks.iter().any(|(_, process)| match process.owner() {
            Some(Owner::Report(id)) => process.is_running() && game.is_none_or(|game| game == id),
            _ => false,
        })
    }

    /// The status of a report, and why it failed.
    pub(super) fn report_result(&self, id: GameId) -> (ReportStatus, Option<ErrorInfo>) {
        let report = self.reports.get(&id);
        report.map_or((ReportStatus::None, None), |report| (report.status, report.error.clone()))
    }

    /// What the report found in the position at a node, and the engine.
    pub(super) fn note_at(&self, id: GameId, node: NodeId) -> Option<(EngineId, &EngineNote)> {
        let report = self.reports.get(&id)?;
        Some((report.settings.engine, report.notes.get(node.into())?))
    }

    /// The state of a report; an empty one if the game has no report.
    pub(super) fn report_state(&self, id: GameId) -> ReportState {
        self.report_state_at(id, |_| true)
    }

    /// The state with the judgements of some plies.
    fn report_state_at(&self, id: GameId, is_wanted: impl Fn(usize) -> bool) -> ReportState {
        let (Some(report), Some(session)) = (self.reports.get(&id), self.sessions.get(&id)) else {
            return ReportState::default();
        };
        let document = report.document(session);
        ReportState {
            settings: Some(report.settings.clone()),
            status: report.status,
            done: report.done(),
            total: u32::try_from(report.nodes.len()).unwrap_or(u32::MAX),
            positions: judge(&document, &report.nodes, is_wanted),
            sides: summary(&document, &report.nodes),
            error: report.error.clone(),
        }
    }

    /// Publishes the status and changed plies.
    fn publish_report(&mut self, id: GameId, plies: &[usize]) {
        let topic = Topic::Report(id);
        if !self.hub.is_wanted(topic) {
            return;
        }
        let state = self.report_state_at(id, |ply| plies.contains(&ply));
        let ReportState { status, done, positions, sides, error, .. } = state;
        let positions = positions.into_iter().flatten().collect();
        let delta = ReportDelta { status, done, positions, sides, error };
        self.hub.publish(topic, Delta::Report(delta));
    }

    // The queue.

    /// Enqueues the report of an open game, or resumes it. A new one is written to the library; the caller calls
    /// [`Self::on_report_not_saved`] after an error.
    pub(super) fn enqueue_report(
        &mut self,
        id: GameId,
        settings: &ReportSettings,
    ) -> Result<Option<Written<Result<(), StoreError>>>, ApiError> {
        let mut nodes = vec![ROOT];
        nodes.extend(self.session(id)?.tree().main_line());
        if self.is_reporting(Some(id)) {
            return Err(ApiError::conflict(ErrorCode::ReportRunning));
        }
        let same = |report: &&mut Report| {
            report.stored && report.settings == *settings && report.nodes == nodes
        };
        let written = if let Some(report) = self.reports.get_mut(&id).filter(same) {
            report.status = ReportStatus::Queued;
            report.error = None;
            None
        } else {
            let stored = StoredReport::new(settings.clone(), nodes);
            self.reports.insert(id, Report::new(stored.clone(), ReportStatus::Queued));
            // Subscribers have the old report.
            self.hub.refresh(Topic::Report(id));
            Some(self.saves.run(move |store| store.begin_report(id, &stored)))
        };
        self.publish_report(id, &[]);
        Ok(written)
    }

    /// Fails a report that the library could not store. Returns whether it has finished.
    pub(super) fn on_report_not_saved(&mut self, id: GameId, why: ErrorInfo) -> bool {
        let Some(report) = self.reports.get_mut(&id) else { return false };
        report.stored = false;
        let is_due = report.is_due();
        if is_due {
            self.fail_report(id, why);
        }
        is_due && !self.is_reporting(Some(id))
    }

    /// Starts the next report. Returns the game of one that could not be started, and whether none is queued.
    pub(super) fn start_next_report(&mut self) -> NextReport {
        if self.is_reporting(None) {
            return NextReport::Running;
        }
        let mut queued =
            self.reports.iter_mut().filter(|(_, report)| report.status == ReportStatus::Queued);
        let Some((id, report)) = queued.next() else { return NextReport::None };
        let (id, engine) = (*id, report.settings.engine);
        report.status = ReportStatus::Running;
        let variant = self.sessions.get(&id).map(GameSession::game);
        match self.start_process(Owner::Report(id), engine, variant) {
            Ok(_) => {
                self.publish_report(id, &[]);
                self.search_next_position(id);
                NextReport::Running
            }
            Err(error) => {
                self.fail_report(id, error.into());
                NextReport::Failed(id)
            }
        }
    }

    /// Stops the report of a game, or all. Returns the games whose reports had not begun.
    pub(super) fn stop_reports(&mut self, game: Option<GameId>) -> Result<Vec<GameId>, ApiError> {
        let due = self.reports.iter().filter(|(_, report)| report.is_due());
        let due = due.map(|(id, _)| *id).filter(|id| game.is_none_or(|game| game == *id));
        let due: Vec<GameId> = due.collect();
        if due.is_empty() {
            return Err(ApiError::conflict(ErrorCode::NoReportRunning));
        }
        for id in &due {
            if let Some(report) = self.reports.get_mut(id) {
                report.status = ReportStatus::Stopped;
            }
            self.tasks.end(Owner::Report(*id));
            self.publish_report(*id, &[]);
        }
        Ok(due.into_iter().filter(|id| !self.is_reporting(Some(*id))).collect())
    }

    // Searches.

    /// Returns whether the report has finished.
    pub(super) fn on_report_event(&mut self, id: GameId, event: TaskEvent) -> bool {
        match event {
            TaskEvent::Done(Ok(found)) => self.on_position_searched(id, &found.info),
            TaskEvent::Done(Err(why)) => self.fail_report(id, why),
            TaskEvent::Exited { failure, .. } => {
                let Some(report) = self.reports.get_mut(&id) else { return true };
                if report.status == ReportStatus::Running {
                    report.fail(failure.unwrap_or_else(|| ErrorCode::EngineStopped.into()));
                }
                self.publish_report(id, &[]);
                return true;
            }
            TaskEvent::Ready(_) | TaskEvent::Started | TaskEvent::Progress(_) => (),
        }
        false
    }

    /// Searches the next position, or finishes the report.
    fn search_next_position(&mut self, id: GameId) {
        loop {
            let (Some(report), Some(session)) = (self.reports.get_mut(&id), self.sessions.get(&id))
            else {
                return;
            };
            let Some(ply) = report.next() else { return self.finish_report(id) };
            let node = report.nodes.get(ply).copied();
            let Some(line) = node.and_then(|node| session.tree().engine_line(node)) else {
                return self.fail_report(id, ErrorCode::GameChanged.into());
            };
            if let Some(score) = final_score(&line.position) {
                let note = EngineNote::new(score, line.position.legal_moves().len());
                self.record_position(id, ply, note);
                continue;
            }
            report.at = ply;
            let wanted = Wanted::evaluation(line, report.settings.limits);
            if let Err(why) = self.tasks.search(Owner::Report(id), wanted, None) {
                self.fail_report(id, why);
            }
            return;
        }
    }

    fn on_position_searched(&mut self, id: GameId, info: &SearchInfo) {
        let (Some(report), Some(session)) = (self.reports.get(&id), self.sessions.get(&id)) else {
            return;
        };
        let ply = report.at;
        let node = report.nodes.get(ply).copied();
        let Some(position) = node.and_then(|node| session.tree().position(node)) else {
            return self.fail_report(id, ErrorCode::GameChanged.into());
        };
        let line = info.lines.first();
        let Some(score) = line.and_then(|line| line.score) else {
            return self.fail_report(id, ErrorCode::NoScore.into());
        };
        let best = line.into_iter().flat_map(|line| &line.pv).take(MAX_SAVED_MOVES);
        let moves: Vec<String> = best.map(|mv| mv.uci.clone()).collect();
        let mut note = EngineNote::new(score, position.legal_moves().len());
        note.depth = info.depth;
        note.lines.extend((!moves.is_empty()).then_some(ScoredLine { score, moves }));
        self.record_position(id, ply, note);
        self.search_next_position(id);
    }

    fn record_position(&mut self, id: GameId, ply: usize, note: EngineNote) {
        let stored = note.clone();
        // An unsaved position is searched again after the next start.
        drop(self.saves.run(move |store| store.save_judgement(id, ply, &stored)));
        if let Some(report) = self.reports.get_mut(&id)
            && let Some(node) = report.nodes.get(ply)
        {
            report.notes.set((*node).into(), note);
        }
        // The loss of the next move is known now as well.
        self.publish_report(id, &[ply, ply + 1]);
    }

    fn finish_report(&mut self, id: GameId) {
        let Some(report) = self.reports.get_mut(&id) else { return };
        report.status = ReportStatus::Done;
        self.tasks.end(Owner::Report(id));
        if report.settings.annotate {
            self.annotate(id);
        }
        self.publish_report(id, &[]);
    }

    fn fail_report(&mut self, id: GameId, why: ErrorInfo) {
        let Some(report) = self.reports.get_mut(&id) else { return };
        report.fail(why);
        self.tasks.end(Owner::Report(id));
        self.publish_report(id, &[]);
    }

    /// Adds what the engine found to the game.
    fn annotate(&mut self, id: GameId) {
        let Some(report) = self.reports.get(&id) else { return };
        let engine = self.registry.get(report.settings.engine);
        let mut notes = EngineNotes::new(engine.map(RegisteredEngine::name).unwrap_or_default());
        for (node, note) in report.notes.iter() {
            notes.set(node, note.clone());
        }
        // The game is open: its report runs.
        let _ = self.change_session(id, |session, _| {
            session.document_mut().set_engine_notes(notes);
            Ok(((), Vec::new()))
        });
    }
}

/// The result of [`AppState::start_next_report`].
pub(super) enum NextReport {
    /// A report runs.
    Running,
    /// The report of a game could not be started.
    Failed(GameId),
    /// No report is queued.
    None,
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Score;

    use super::*;
    use crate::wire::SearchLimits;

    fn check(backwards: bool, expected: [usize; 3]) {
        let limits = SearchLimits::default();
        let settings = ReportSettings { engine: 1, limits, backwards, annotate: false };
        let stored = StoredReport::new(settings, vec![0, 1, 2, 3]);
        let mut report = Report::new(stored, ReportStatus::Running);
        let note = || EngineNote::new(Score::Cp(0), 1);
        // Judged positions are not searched again after a stop.
        report.notes.set(1.into(), note());
        for ply in expected {
            assert_eq!(report.next(), Some(ply));
            report.notes.set(report.nodes[ply].into(), note());
        }
        assert_eq!(report.next(), None);
    }

    #[test]
    fn positions_are_searched_forwards_or_backwards() {
        check(false, [0, 2, 3]);
        check(true, [3, 2, 0]);
    }
}
