//! Whole-game reports: an engine searches every position of a main line. One report runs at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use readyok_client::Search;
use readyok_protocol::{Dialect, Go, MateLimit};
use readyok_rules::MoveCodec;
use readyok_rules::judgement::final_score;
use readyok_rules::record::{EngineNote, EngineNotes, GameDocument, ScoredLine};

use super::components::{AppEvent, Context, SearchEvent, SearchId};
use super::engines::Engines;
use super::games::Games;
use super::{App, written};
use crate::engine::{EngineCommand, RegisteredEngine, SearchKind, SearchSpec};
use crate::game::{GameSession, ROOT, judge, summary};
use crate::store::{StoreError, StoredReport, Written};
use crate::wire::{
    Answer, ApiError, Delta, EngineId, ErrorCategory, ErrorCode, ErrorInfo, GameId, Limits, NodeId,
    ProcessId, Purpose, ReportDelta, ReportSettings, ReportState, ReportStatus, SearchInfo, Topic,
    ValuesFor,
};

/// Search time of a position without another limit.
const DEFAULT_TIME: Duration = Duration::from_millis(500);
/// Maximum number of saved moves of the principal variation.
const MAX_SAVED_MOVES: usize = 24;

struct Report {
    settings: ReportSettings,
    status: ReportStatus,
    /// The root and the main line at the start of the report.
    nodes: Vec<NodeId>,
    notes: EngineNotes,
    process: Option<ProcessId>,
    search_id: SearchId,
    /// The ply that is being searched.
    at: usize,
    error: Option<ErrorInfo>,
    /// Whether it is in the library, or queued for it.
    stored: bool,
}

impl Report {
    fn new(stored: StoredReport, status: ReportStatus) -> Self {
        let StoredReport { settings, nodes, notes } = stored;
        Self {
            settings,
            status,
            nodes,
            notes,
            process: None,
            search_id: 0,
            at: 0,
            error: None,
            stored: true,
        }
    }

    fn restored(stored: StoredReport) -> Self {
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

/// The reports of the open games.
#[derive(Default)]
pub(crate) struct Reports {
    reports: BTreeMap<GameId, Report>,
}

impl App {
    /// Enqueues reports. A stopped one with the same settings is resumed.
    pub(super) async fn start_report(
        &self,
        games: Vec<GameId>,
        settings: ReportSettings,
    ) -> Result<Answer, ApiError> {
        self.update(|components, _| components.engines.get(settings.engine).map(drop))?;
        let id = match *games.as_slice() {
            [] => {
                return Err(ApiError::new(ErrorCategory::NotFound, ErrorCode::NoGames));
            }
            [id] => id,
            _ => return self.report_on_many(games, settings).await,
        };
        self.open_game(id).await?;
        let begun = self.update(|it, cx| {
            let begun = it.reports.enqueue(it.games, cx, id, &settings)?;
            it.reports.start_next(it.games, it.engines, cx);
            Ok::<_, ApiError>(begun)
        })?;
        if let Some(begun) = begun
            && let Err(error) = written(begun).await
        {
            self.update(|it, cx| it.reports.on_save_failed(it.games, cx, id, error.clone().into()));
            return Err(error);
        }
        Ok(Answer::Done)
    }
}

impl Reports {
    pub(super) fn restore(&mut self, id: GameId, stored: Option<StoredReport>) {
        if let Some(stored) = stored {
            self.reports.entry(id).or_insert_with(|| Report::restored(stored));
        }
    }

    pub(super) fn remove(&mut self, cx: &mut Context<'_>, id: GameId) {
        self.reports.remove(&id);
        cx.hub.close(Topic::Report(id));
    }

    pub(super) fn is_due(&self, id: GameId) -> bool {
        self.reports.get(&id).is_some_and(Report::is_due)
    }

    /// The status of a report, and why it failed.
    pub(super) fn result(&self, id: GameId) -> (ReportStatus, Option<ErrorInfo>) {
        let report = self.reports.get(&id);
        report.map_or((ReportStatus::None, None), |it| (it.status, it.error.clone()))
    }

    /// What the report found in the position at a node, and the engine.
    pub(super) fn note_at(&self, id: GameId, node: NodeId) -> Option<(EngineId, &EngineNote)> {
        let report = self.reports.get(&id)?;
        Some((report.settings.engine, report.notes.get(node.into())?))
    }

    /// The state of a report; an empty one if the game has no report.
    pub(super) fn state(&self, games: &Games, id: GameId) -> ReportState {
        self.state_at(games, id, |_| true)
    }

    /// The state with the judgements of some plies.
    fn state_at(
        &self,
        games: &Games,
        id: GameId,
        is_wanted: impl Fn(usize) -> bool,
    ) -> ReportState {
        let (Some(report), Some(session)) = (self.reports.get(&id), games.get(id)) else {
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
    fn publish(&self, games: &Games, cx: &mut Context<'_>, id: GameId, plies: &[usize]) {
        let topic = Topic::Report(id);
        if !cx.hub.is_wanted(topic) {
            return;
        }
        let state = self.state_at(games, id, |ply| plies.contains(&ply));
        let ReportState { status, done, positions, sides, error, .. } = state;
        let positions = positions.into_iter().flatten().collect();
        let delta = ReportDelta { status, done, positions, sides, error };
        cx.hub.publish(topic, Delta::Report(delta));
    }

    // The queue.

    /// Enqueues the report of an open game, or resumes it. A new one is written to the library; the caller calls
    /// [`Self::on_save_failed`] after an error.
    pub(super) fn enqueue(
        &mut self,
        games: &Games,
        cx: &mut Context<'_>,
        id: GameId,
        settings: &ReportSettings,
    ) -> Result<Option<Written<Result<(), StoreError>>>, ApiError> {
        let mut nodes = vec![ROOT];
        nodes.extend(games.session(id)?.tree().main_line());
        let old = self.reports.get_mut(&id);
        if old.as_ref().is_some_and(|report| report.process.is_some()) {
            return Err(ApiError::conflict(ErrorCode::ReportRunning));
        }
        let same = |report: &&mut Report| {
            report.stored && report.settings == *settings && report.nodes == nodes
        };
        let written = if let Some(report) = old.filter(same) {
            report.status = ReportStatus::Queued;
            report.error = None;
            None
        } else {
            let stored = StoredReport::new(settings.clone(), nodes);
            self.reports.insert(id, Report::new(stored.clone(), ReportStatus::Queued));
            // Subscribers have the old report.
            cx.hub.refresh(Topic::Report(id));
            Some(cx.saves.run(move |store| store.begin_report(id, &stored)))
        };
        self.publish(games, cx, id, &[]);
        Ok(written)
    }

    /// Fails a report that the library could not store.
    pub(super) fn on_save_failed(
        &mut self,
        games: &Games,
        cx: &mut Context<'_>,
        id: GameId,
        why: ErrorInfo,
    ) {
        let Some(report) = self.reports.get_mut(&id) else { return };
        report.stored = false;
        let has_process = report.process.is_some();
        if report.is_due() {
            self.fail(games, cx, id, why);
            if !has_process {
                cx.events.push_back(AppEvent::ReportFinished(id));
            }
        }
    }

    /// Starts the next report if none runs.
    pub(super) fn start_next(&mut self, games: &Games, engines: &Engines, cx: &mut Context<'_>) {
        if self.reports.values().any(|report| report.process.is_some()) {
            return;
        }
        let mut queued =
            self.reports.iter_mut().filter(|(_, report)| report.status == ReportStatus::Queued);
        let Some((id, report)) = queued.next() else {
            cx.events.push_back(AppEvent::ReportQueueEmpty);
            return;
        };
        let (id, engine) = (*id, report.settings.engine);
        let variant = games.get(id).map(GameSession::game);
        let purpose = Purpose::Report { game: id };
        match engines.start_with(cx, engine, purpose, variant, ValuesFor::Analyse) {
            Ok(process) => {
                report.process = Some(process);
                report.status = ReportStatus::Running;
            }
            Err(error) => {
                report.fail(error.into());
                cx.events.push_back(AppEvent::ReportFinished(id));
            }
        }
        self.publish(games, cx, id, &[]);
    }

    /// Stops the report of a game, or all.
    pub(super) fn stop(
        &mut self,
        games: &Games,
        cx: &mut Context<'_>,
        game: Option<GameId>,
    ) -> Result<Answer, ApiError> {
        let due = self.reports.iter().filter(|(_, report)| report.is_due());
        let due = due.map(|(id, _)| *id).filter(|id| game.is_none_or(|game| game == *id));
        let due: Vec<GameId> = due.collect();
        if due.is_empty() {
            return Err(ApiError::conflict(ErrorCode::NoReportRunning));
        }
        for id in due {
            let Some(report) = self.reports.get_mut(&id) else { continue };
            report.status = ReportStatus::Stopped;
            report.process.inspect(|process| cx.processes.quit(*process));
            self.publish(games, cx, id, &[]);
        }
        Ok(Answer::Done)
    }

    // Searches.

    pub(super) fn on_event(
        &mut self,
        games: &mut Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (process, id): (ProcessId, GameId),
        event: SearchEvent,
    ) {
        match event {
            SearchEvent::Ready => self.search_next(games, engines, cx, (process, id)),
            SearchEvent::Finished(search, _, info) => {
                self.on_finished(games, engines, cx, (process, id), (search, &info));
            }
            SearchEvent::Rejected(..) => cx.processes.quit(process),
            SearchEvent::Exited { failure, .. } => {
                self.on_exited(games, engines, cx, (process, id), failure);
            }
            SearchEvent::Started(_) | SearchEvent::Info(..) => (),
        }
    }

    /// Searches the next position, or finishes the report.
    fn search_next(
        &mut self,
        games: &mut Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (process, id): (ProcessId, GameId),
    ) {
        loop {
            let Some(report) = self.reports.get_mut(&id) else { return };
            if report.process != Some(process) || report.status != ReportStatus::Running {
                return;
            }
            let Some(ply) = report.next() else { return self.finish(games, engines, cx, id) };
            let Some(node) = report.nodes.get(ply).copied() else { return };
            let Some(session) = games.get(id) else { return };
            let Some(position) = session.tree().position(node) else {
                return self.fail(games, cx, id, ErrorCode::GameChanged.into());
            };
            if let Some(score) = final_score(&position) {
                let note = EngineNote::new(score, position.legal_moves().len());
                self.record(games, cx, id, ply, note);
                continue;
            }
            let Some(dialect) = cx.processes.dialect(process) else { return };
            let Some(line) = session.tree().engine_line(node) else { return };
            let search_id = cx.next_search_id();
            let spec = MoveCodec::new(dialect, session.game()).and_then(|codec| {
                let game = session.engine_game(codec, &line)?;
                let search = Search::from(limits(&report.settings.limits, dialect)).lines(1);
                let kind = SearchKind::Analyse;
                Some(SearchSpec { search_id, kind, game, search, position, codec, shown: 1 })
            });
            let Some(spec) = spec else {
                return self.fail(games, cx, id, ErrorCode::UnsupportedPosition.into());
            };
            (report.search_id, report.at) = (search_id, ply);
            cx.processes.send(process, EngineCommand::Search(Box::new(spec)));
            return;
        }
    }

    fn on_finished(
        &mut self,
        games: &mut Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (process, id): (ProcessId, GameId),
        (search, info): (SearchId, &SearchInfo),
    ) {
        let report = self.reports.get(&id).filter(|report| report.search_id == search);
        let Some(report) = report else { return };
        let ply = report.at;
        let (Some(node), Some(session)) = (report.nodes.get(ply).copied(), games.get(id)) else {
            return;
        };
        let Some(position) = session.tree().position(node) else {
            return self.fail(games, cx, id, ErrorCode::GameChanged.into());
        };
        let line = info.lines.first();
        let Some(score) = line.and_then(|line| line.score) else {
            return self.fail(games, cx, id, ErrorCode::NoScore.into());
        };
        let best = line.into_iter().flat_map(|line| &line.pv).take(MAX_SAVED_MOVES);
        let moves: Vec<String> = best.map(|mv| mv.uci.clone()).collect();
        let mut note = EngineNote::new(score, position.legal_moves().len());
        note.depth = info.depth;
        note.lines.extend((!moves.is_empty()).then_some(ScoredLine { score, moves }));
        self.record(games, cx, id, ply, note);
        self.search_next(games, engines, cx, (process, id));
    }

    fn record(
        &mut self,
        games: &Games,
        cx: &mut Context<'_>,
        id: GameId,
        ply: usize,
        note: EngineNote,
    ) {
        let stored = note.clone();
        // An unsaved position is searched again after the next start.
        drop(cx.saves.run(move |store| store.save_judgement(id, ply, &stored)));
        if let Some(report) = self.reports.get_mut(&id)
            && let Some(node) = report.nodes.get(ply)
        {
            report.notes.set((*node).into(), note);
        }
        // The loss of the next move is known now as well.
        self.publish(games, cx, id, &[ply, ply + 1]);
    }

    fn finish(&mut self, games: &mut Games, engines: &Engines, cx: &mut Context<'_>, id: GameId) {
        let Some(report) = self.reports.get_mut(&id) else { return };
        report.status = ReportStatus::Done;
        report.process.inspect(|process| cx.processes.quit(*process));
        if report.settings.annotate {
            self.annotate(games, engines, cx, id);
        }
        self.publish(games, cx, id, &[]);
    }

    fn fail(&mut self, games: &Games, cx: &mut Context<'_>, id: GameId, why: ErrorInfo) {
        let Some(report) = self.reports.get_mut(&id) else { return };
        report.fail(why);
        report.process.inspect(|process| cx.processes.quit(*process));
        self.publish(games, cx, id, &[]);
    }

    fn on_exited(
        &mut self,
        games: &Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (process, id): (ProcessId, GameId),
        failure: Option<ErrorInfo>,
    ) {
        let report = self.reports.get_mut(&id).filter(|report| report.process == Some(process));
        if let Some(report) = report {
            report.process = None;
            if report.status == ReportStatus::Running {
                report.fail(failure.unwrap_or_else(|| ErrorCode::EngineStopped.into()));
            }
            self.publish(games, cx, id, &[]);
        } else if self.reports.contains_key(&id) {
            // The process of an earlier report.
            return self.start_next(games, engines, cx);
        }
        cx.events.push_back(AppEvent::ReportFinished(id));
    }

    /// Adds what the engine found to the game.
    fn annotate(&self, games: &mut Games, engines: &Engines, cx: &mut Context<'_>, id: GameId) {
        let Some(report) = self.reports.get(&id) else { return };
        let engine = engines.get(report.settings.engine);
        let mut notes = EngineNotes::new(engine.map(RegisteredEngine::name).unwrap_or_default());
        for (node, note) in report.notes.iter() {
            notes.set(node, note.clone());
        }
        // The game is open: its report runs.
        let _ = games.update(engines, cx, id, |session, _| {
            session.document_mut().set_engine_notes(notes);
            Ok(Vec::new())
        });
    }
}

/// The limits of the search of a position.
pub(super) fn limits(limits: &Limits, dialect: Dialect) -> Go<'static> {
    let mate = limits.mate.map(|limit| match dialect {
        Dialect::Uci => MateLimit::Moves(u32::try_from(limit).unwrap_or(u32::MAX)),
        Dialect::Usi => MateLimit::Time(Duration::from_millis(limit)),
    });
    let move_time = limits.time.map(Duration::from_millis);
    let go = Go { depth: limits.depth, nodes: limits.nodes, move_time, mate, ..Go::default() };
    if go.is_bare() { Go { move_time: Some(DEFAULT_TIME), ..Go::default() } } else { go }
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Score;

    use super::*;

    fn check(backwards: bool, expected: [usize; 3]) {
        let limits = Limits::default();
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
