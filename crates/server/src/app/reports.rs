//! Whole-game reports: an engine looks at every position of a main line, one report after another.

use std::sync::Arc;
use std::time::Duration;

use readyok_client::Search;
use readyok_protocol::{Dialect, Go, MateLimit};
use readyok_rules::{MoveCodec, Position};
use serde::{Deserialize, Serialize};

use super::failures::{engine_ended, game_changed, no_score, untold};
use super::games::written;
use super::{App, AppState};
use crate::engine::{EngineCommand, SearchKind, SearchSpec};
use crate::game::{Searched, api_error, judge, summary};
use crate::store::{StoreError, Written};
use crate::time::Moment;
use crate::wire::{
    Answer, ApiError, ApiErrorCode, Delta, Edit, EngineId, Evaluation, Failure, GameId, Label,
    Limits, NodeId, ProblemKind as Kind, ProcessId, Purpose, ReportDelta, ReportSettings,
    ReportState, ReportStatus, Score, SearchInfo, Topic, ValuesFor,
};

/// Search time of a position if no limit is given.
const USUAL: Duration = Duration::from_millis(500);
/// So many moves of the best line are kept.
const LONGEST_KEPT: usize = 24;
/// A better line is written down up to so many moves.
const LONGEST: usize = 8;

/// A report as the library keeps it; what was found out is kept beside it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StoredReport {
    settings: ReportSettings,
    nodes: Vec<NodeId>,
}

/// The report of a game.
pub(super) struct Report {
    settings: ReportSettings,
    status: ReportStatus,
    /// The root and the main line as they were when it began.
    nodes: Vec<NodeId>,
    searched: Vec<Option<Searched>>,
    process: Option<ProcessId>,
    search_id: u64,
    /// The ply that is being searched.
    at: usize,
    error: Option<Failure>,
    /// Whether the library has it, or will have.
    stored: bool,
}

impl Report {
    fn new(kept: StoredReport, status: ReportStatus) -> Self {
        let StoredReport { settings, nodes } = kept;
        let searched = vec![None; nodes.len()];
        let (process, error) = (None, None);
        Self {
            settings,
            status,
            nodes,
            searched,
            process,
            search_id: 0,
            at: 0,
            error,
            stored: true,
        }
    }

    /// What the library knows of a report.
    pub(super) fn restored((kept, judged): (StoredReport, Vec<Searched>)) -> Self {
        let mut report = Self::new(kept, ReportStatus::Stopped);
        for searched in judged {
            let ply = usize::try_from(searched.ply).unwrap_or(usize::MAX);
            if let Some(place) = report.searched.get_mut(ply) {
                *place = Some(searched);
            }
        }
        if report.next().is_none() {
            report.status = ReportStatus::Done;
        }
        report
    }

    pub(super) fn status(&self) -> ReportStatus {
        self.status
    }

    /// Whether it is being made, or will be.
    pub(super) fn is_due(&self) -> bool {
        matches!(self.status, ReportStatus::Running | ReportStatus::Queued)
    }

    pub(super) fn error(&self) -> Option<&Failure> {
        self.error.as_ref()
    }

    fn next(&self) -> Option<usize> {
        let open = |ply: &usize| self.searched.get(*ply).is_some_and(Option::is_none);
        let plies = 0..self.nodes.len();
        if self.settings.backwards {
            plies.rev().find(|ply| open(ply))
        } else {
            plies.into_iter().find(|ply| open(ply))
        }
    }

    /// Who makes it.
    pub(super) fn engine(&self) -> EngineId {
        self.settings.engine
    }

    /// What it has found out about the position of a node.
    pub(super) fn judged_at(&self, node: NodeId) -> Option<&Searched> {
        self.searched.iter().flatten().find(|searched| searched.node == node)
    }

    fn done(&self) -> u32 {
        u32::try_from(self.searched.iter().flatten().count()).unwrap_or(u32::MAX)
    }
}

impl App {
    /// Makes reports, one after another; one that was stopped with the same settings goes on.
    pub(super) async fn start_report(
        self: &Arc<Self>,
        games: Vec<GameId>,
        settings: ReportSettings,
    ) -> Result<Answer, ApiError> {
        self.state().registry.get(settings.engine)?;
        let id = match *games.as_slice() {
            [] => {
                return Err(api_error(ApiErrorCode::NotFound, Kind::NoGames, "there are no games"));
            }
            [id] => id,
            _ => return self.report_on_many(games, settings).await,
        };
        self.open_game(id).await?;
        let begun = {
            let mut state = self.state();
            let begun = state.queue_report(id, &settings)?;
            state.next_report();
            begun
        };
        if let Some(begun) = begun
            && let Err(error) = written(begun).await
        {
            self.state().report_is_unkept(id, error.clone().into());
            return Err(error);
        }
        Ok(Answer::Done)
    }
}

impl AppState {
    /// The state of a report; an empty one if there is none.
    pub(super) fn report_state(&self, id: GameId) -> ReportState {
        let (Some(report), Some(room)) = (self.reports.get(&id), self.rooms.get(&id)) else {
            return ReportState::default();
        };
        let game = room.game();
        let positions = report.searched.iter().enumerate().map(|(ply, it)| {
            let before = ply.checked_sub(1).and_then(|ply| report.searched.get(ply)?.as_ref());
            it.as_ref().map(|it| judge(it, before, game))
        });
        ReportState {
            settings: Some(report.settings.clone()),
            status: report.status,
            done: report.done(),
            total: u32::try_from(report.nodes.len()).unwrap_or(u32::MAX),
            positions: positions.collect(),
            sides: summary(&report.searched, game),
            error: report.error.clone(),
        }
    }

    /// Tells of the plies that have changed.
    fn publish_report(&mut self, id: GameId, plies: &[usize]) {
        let topic = Topic::Report(id);
        if !self.hub.is_wanted(topic) {
            return;
        }
        let state = self.report_state(id);
        let positions = plies.iter().filter_map(|ply| state.positions.get(*ply)?.clone()).collect();
        let ReportState { status, done, sides, error, .. } = state;
        let delta = ReportDelta { status, done, positions, sides, error };
        self.hub.publish(topic, Delta::Report(delta));
    }

    /// Has a game that is there wait for its report, or for the rest of it. The report of a new one is being
    /// written, and [`Self::report_is_unkept`] if that fails.
    pub(super) fn queue_report(
        &mut self,
        id: GameId,
        settings: &ReportSettings,
    ) -> Result<Option<Written<Result<(), StoreError>>>, ApiError> {
        let mut nodes = vec![crate::game::ROOT];
        nodes.extend(self.room(id)?.tree().main_line());
        let old = self.reports.get_mut(&id);
        if old.as_ref().is_some_and(|report| report.process.is_some()) {
            let text = "the game is being reported on";
            return Err(api_error(ApiErrorCode::NotNow, Kind::BeingReported, text));
        }
        let same = |report: &&mut Report| {
            report.stored && report.settings == *settings && report.nodes == nodes
        };
        let written = if let Some(report) = old.filter(same) {
            report.status = ReportStatus::Queued;
            report.error = None;
            None
        } else {
            let kept = StoredReport { settings: settings.clone(), nodes };
            let report = Report::new(kept.clone(), ReportStatus::Queued);
            self.reports.insert(id, report);
            // Whoever listens knows another report.
            self.hub.refresh(Topic::Report(id));
            Some(self.saves.run(move |store| store.begin_report(id, &kept)))
        };
        self.publish_report(id, &[]);
        Ok(written)
    }

    /// The library could not take a report that was begun.
    pub(super) fn report_is_unkept(&mut self, id: GameId, why: Failure) {
        let Some(report) = self.reports.get_mut(&id) else { return };
        report.stored = false;
        let has_process = report.process.is_some();
        if report.is_due() {
            self.fail_report(id, why);
            if !has_process {
                self.job_game_over(id);
                self.release_game(id);
                self.next_report();
            }
        }
    }

    /// Begins the next report, if none is being made.
    pub(super) fn next_report(&mut self) {
        while !self.reports.values().any(|report| report.process.is_some()) {
            let queued = |report: &Report| report.status == ReportStatus::Queued;
            let next = self.reports.iter().find(|(_, report)| queued(report));
            let Some((id, engine)) = next.map(|(id, report)| (*id, report.settings.engine)) else {
                if self.queue_from_jobs() {
                    continue;
                }
                return;
            };
            let variant = self.rooms.get(&id).map(|room| room.game().into());
            let values = self.registry.get(engine).map(|it| it.values(ValuesFor::Analyse));
            let started = values.and_then(|values| {
                self.start_process(engine, Purpose::Report { game: id }, variant, values, false)
            });
            let failed = started.is_err();
            if let Some(report) = self.reports.get_mut(&id) {
                match started {
                    Ok(process) => {
                        report.process = Some(process);
                        report.status = ReportStatus::Running;
                    }
                    Err(error) => {
                        report.status = ReportStatus::Failed;
                        report.error = Some(error.into());
                    }
                }
            }
            self.publish_report(id, &[]);
            if failed {
                self.job_game_over(id);
                self.release_game(id);
            }
        }
    }

    /// Searches the next position, or ends the report.
    pub(super) fn report_goes_on(&mut self, process: ProcessId, id: GameId, at: Moment) {
        loop {
            let Some(report) = self.reports.get(&id).filter(|it| it.process == Some(process))
            else {
                return;
            };
            if report.status != ReportStatus::Running {
                return;
            }
            let Some(ply) = report.next() else { return self.end_report(id, at) };
            let Some(node) = report.nodes.get(ply).copied() else { return };
            self.last_search_id += 1;
            let search_id = self.last_search_id;
            let Some(room) = self.rooms.get(&id) else { return };
            let position = room.tree().position(node);
            let Some(position) = position else {
                return self.fail_report(id, game_changed());
            };
            let found = Searched {
                ply: u32::try_from(ply).unwrap_or(u32::MAX),
                node,
                turn: position.turn().into(),
                score: Score::Cp { value: 0 },
                choices: position.legal_moves().len(),
                word: room.tree().wire(node).map(|node| node.word).unwrap_or_default(),
                best: Vec::new(),
                depth: None,
            };
            if let Some(score) = score_at_end(&position) {
                self.keep_searched(id, ply, Searched { score, ..found });
                continue;
            }
            let Some(running) = self.processes.get(&process) else { return };
            let (Some(dialect), Some(handle)) = (running.dialect, &running.handle) else { return };
            let moves = room.tree().moves_to(node);
            let codec = MoveCodec::new(dialect, room.game());
            let job = codec.and_then(|codec| {
                let game = room.wire_game(codec, &moves)?;
                let search = Search::from(go(&report.settings.limits, dialect)).lines(1);
                let kind = SearchKind::Analyse;
                Some(SearchSpec { search_id, kind, game, search, position, codec, shown: 1 })
            });
            let Some(job) = job else {
                return self.fail_report(id, untold());
            };
            handle.send(EngineCommand::Search(Box::new(job)));
            if let Some(report) = self.reports.get_mut(&id) {
                (report.search_id, report.at) = (search_id, ply);
            }
            return;
        }
    }

    fn keep_searched(&mut self, id: GameId, ply: usize, searched: Searched) {
        let found = searched.clone();
        // What cannot be kept is found out again after the next start.
        drop(self.saves.run(move |store| store.save_judgement(id, &found)));
        if let Some(place) = self.reports.get_mut(&id).and_then(|it| it.searched.get_mut(ply)) {
            *place = Some(searched);
        }
        // The loss of the next move is known now as well.
        self.publish_report(id, &[ply, ply + 1]);
    }

    /// A position was searched.
    pub(super) fn report_answers(
        &mut self,
        process: ProcessId,
        id: GameId,
        search_id: u64,
        told: &SearchInfo,
        at: Moment,
    ) {
        let Some(report) = self.reports.get(&id).filter(|report| report.search_id == search_id)
        else {
            return;
        };
        let ply = report.at;
        let (Some(node), Some(room)) = (report.nodes.get(ply).copied(), self.rooms.get(&id)) else {
            return;
        };
        let Some(position) = room.tree().position(node) else {
            return self.fail_report(id, game_changed());
        };
        let line = told.lines.first();
        let Some(score) = line.and_then(|line| line.score) else {
            return self.fail_report(id, no_score());
        };
        let best = line.map(|line| line.pv.iter().take(LONGEST_KEPT).cloned().collect());
        let searched = Searched {
            ply: u32::try_from(ply).unwrap_or(u32::MAX),
            node,
            turn: position.turn().into(),
            score,
            choices: position.legal_moves().len(),
            word: room.tree().wire(node).map(|node| node.word).unwrap_or_default(),
            best: best.unwrap_or_default(),
            depth: told.depth,
        };
        self.keep_searched(id, ply, searched);
        self.report_goes_on(process, id, at);
    }

    fn end_report(&mut self, id: GameId, at: Moment) {
        let Some(report) = self.reports.get_mut(&id) else { return };
        report.status = ReportStatus::Done;
        let (annotate, process) = (report.settings.annotate, report.process);
        if annotate {
            self.annotate(id, at);
        }
        self.leave_report(process);
        self.publish_report(id, &[]);
    }

    fn leave_report(&mut self, process: Option<ProcessId>) {
        let running = process.and_then(|process| self.processes.get(&process));
        if let Some(handle) = running.and_then(|running| running.handle.as_ref()) {
            handle.send(EngineCommand::Quit);
        }
    }

    fn fail_report(&mut self, id: GameId, why: Failure) {
        let Some(report) = self.reports.get_mut(&id) else { return };
        report.status = ReportStatus::Failed;
        report.error = Some(why);
        let process = report.process;
        self.leave_report(process);
        self.publish_report(id, &[]);
    }

    /// The process of a report has ended.
    pub(super) fn report_ended(&mut self, process: ProcessId, id: GameId, why: Option<&Failure>) {
        if let Some(report) = self.reports.get_mut(&id).filter(|it| it.process == Some(process)) {
            report.process = None;
            if report.status == ReportStatus::Running {
                report.status = ReportStatus::Failed;
                report.error = Some(why.cloned().unwrap_or_else(engine_ended));
            }
            self.publish_report(id, &[]);
            self.job_game_over(id);
            self.release_game(id);
        } else if !self.reports.contains_key(&id) {
            // The game was closed meanwhile.
            self.job_game_over(id);
        }
        self.next_report();
    }

    /// Stops a report, or all.
    pub(super) fn stop_report(&mut self, game: Option<GameId>) -> Result<Answer, ApiError> {
        let stops: Vec<GameId> = self
            .reports
            .iter()
            .filter(|(id, _)| game.is_none_or(|game| game == **id))
            .filter(|(_, it)| it.is_due())
            .map(|(id, _)| *id)
            .collect();
        if stops.is_empty() {
            return Err(api_error(ApiErrorCode::NotNow, Kind::NoReport, "no report is being made"));
        }
        for id in stops {
            let Some(report) = self.reports.get_mut(&id) else { continue };
            report.status = ReportStatus::Stopped;
            let process = report.process;
            self.leave_report(process);
            self.publish_report(id, &[]);
        }
        Ok(Answer::Done)
    }

    /// Writes what was found into the game.
    fn annotate(&mut self, id: GameId, at: Moment) {
        let state = self.report_state(id);
        let Some(report) = self.reports.get(&id) else { return };
        let nodes = report.nodes.clone();
        let Some(room) = self.rooms.get_mut(&id) else { return };
        for judged in state.positions.iter().flatten() {
            room.note_judged(judged.node, Evaluation { score: judged.score, depth: judged.depth });
            let nag = match judged.label {
                Some(Label::Inaccuracy) => 6,
                Some(Label::Mistake) => 2,
                Some(Label::Blunder) => 4,
                Some(Label::Best | Label::Forced) | None => continue,
            };
            room.add_sign(judged.node, nag);
            let ply = usize::try_from(judged.ply).unwrap_or(usize::MAX);
            let before = ply.checked_sub(1);
            let better = before.and_then(|ply| state.positions.get(ply)?.as_ref());
            let node = before.and_then(|ply| nodes.get(ply).copied());
            if let (Some(better), Some(node)) = (better, node) {
                let words = better.best.iter().take(LONGEST).map(|it| it.word.clone()).collect();
                // A line that cannot be played is of no use to a reader.
                let _ = room.edit(Edit::Insert { node, words, evaluation: None });
            }
        }
        self.settle(id, Vec::new(), at);
    }
}

/// What a position is worth to the side to move where the game is over: that needs no engine.
pub(super) fn score_at_end(position: &Position) -> Option<Score> {
    let ending = position.ending()?;
    match ending.winner {
        None => Some(Score::Cp { value: 0 }),
        Some(winner) if position.legal_moves().is_empty() => {
            Some(Score::Mate { plies: Some(0), won: winner == position.turn() })
        }
        Some(_) => None,
    }
}

/// How long to look at a position.
pub(super) fn go(limits: &Limits, dialect: Dialect) -> Go<'static> {
    let mate = limits.mate.map(|limit| match dialect {
        Dialect::Uci => MateLimit::Moves(u32::try_from(limit).unwrap_or(u32::MAX)),
        Dialect::Usi => MateLimit::Time(Duration::from_millis(limit)),
    });
    let move_time = limits.time.map(Duration::from_millis);
    let go = Go { depth: limits.depth, nodes: limits.nodes, move_time, mate, ..Go::default() };
    if go.is_bare() { Go { move_time: Some(USUAL), ..Go::default() } } else { go }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Side;

    fn check(backwards: bool, expected: [usize; 3]) {
        let limits = Limits::default();
        let settings = ReportSettings { engine: 1, limits, backwards, annotate: false };
        let kept = StoredReport { settings, nodes: vec![0, 1, 2, 3] };
        let mut report = Report::new(kept, ReportStatus::Running);
        let found = Searched {
            ply: 0,
            node: 0,
            turn: Side::First,
            score: Score::Cp { value: 0 },
            choices: 1,
            word: String::new(),
            best: Vec::new(),
            depth: None,
        };
        // What was found out before it was stopped is not searched again.
        report.searched[1] = Some(found.clone());
        for ply in expected {
            assert_eq!(report.next(), Some(ply));
            report.searched[ply] = Some(found.clone());
        }
        assert_eq!(report.next(), None);
    }

    #[test]
    fn positions_are_searched_forwards_or_backwards() {
        check(false, [0, 2, 3]);
        check(true, [3, 2, 0]);
    }
}
