//! The coordinator of a match: it issues jobs, stores results, and decides when the match is over.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use readyok_rules::Termination;

use crate::event::{End, Event};
use crate::export::{Exports, Records};
use crate::listener::Listener;
use crate::match_state::{Added, Failed, MatchState};
use crate::pairing::{PairResult, Pairing};
use crate::queue::{Dispatcher, MatchSpec, Progress, Report, ReturnReason, Stop, WorkerId};
use crate::repeats::Repeated;
use crate::runner::{MatchError, Settings, Summary, open_schedule, truncate};
use crate::schedule::{Next, PairingScore, Schedule};
use crate::stats::Verdict;
use crate::store::{Reader, Store};
use crate::time::now;

/// Consecutive failed starts after which an engine is considered broken.
const MAX_NO_STARTS: u64 = 3;

/// The parts of a match.
pub(super) struct Parts {
    pub(super) spec: MatchSpec,
    pub(super) store: Store,
    pub(super) schedule: Schedule,
    pub(super) exports: Exports,
    pub(super) state: MatchState,
    pub(super) listeners: Vec<Box<dyn Listener>>,
    pub(super) settings: Settings,
    /// See [`Match::with_openings`](crate::runner::Match::with_openings).
    pub(super) openings: Option<PathBuf>,
}

pub(super) struct Coordinator<'a> {
    parts: Parts,
    dispatcher: &'a mut dyn Dispatcher,
    /// Jobs in progress.
    offered: BTreeMap<u64, Pairing>,
    /// All pairings were issued.
    all_issued: bool,
    interrupts: u32,
    stop: Option<(Stop, End)>,
    error: Option<MatchError>,
    /// When results must be synced.
    sync_by: Option<Instant>,
}

/// The next exclusion of workers among the reports that have arrived.
fn excluded(reports: &Receiver<Report>) -> Option<Report> {
    reports.try_iter().find(|report| matches!(report, Report::Excluded(_)))
}

impl<'a> Coordinator<'a> {
    pub(super) fn new(parts: Parts, dispatcher: &'a mut dyn Dispatcher) -> Self {
        Self {
            parts,
            dispatcher,
            offered: BTreeMap::new(),
            all_issued: false,
            interrupts: 0,
            stop: None,
            error: None,
            sync_by: None,
        }
    }

    /// Runs the match to its end.
    pub(super) fn run(mut self, reports: &Receiver<Report>) -> Result<Summary, MatchError> {
        let started = self.restore().and_then(|()| self.offer());
        self.record_error(started);
        loop {
            let next = if self.is_over() {
                // The last pairs may have shown that those of a worker must be played again.
                match excluded(reports) {
                    Some(excluded) => Some(excluded),
                    None if self.dispatcher.is_settled() => break,
                    None => self.next(reports),
                }
            } else {
                self.next(reports)
            };
            let Some(report) = next else { continue };
            let handled = self.handle(report).and_then(|()| self.offer());
            self.record_error(handled);
        }
        let synced = self.sync();
        self.record_error(synced);
        self.finish()
    }

    fn is_over(&self) -> bool {
        self.offered.is_empty() && (self.all_issued || self.stop.is_some())
    }

    /// Waits for a report, and syncs results in time. The wait has no timeout otherwise, since each worker has deadlines
    /// for its engines.
    fn next(&mut self, reports: &Receiver<Report>) -> Option<Report> {
        let report = match self.sync_by {
            None => reports.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(by) => reports.recv_timeout(by.saturating_duration_since(now())),
        };
        if self.sync_by.is_some_and(|by| by <= now()) {
            let synced = self.sync();
            self.record_error(synced);
        }
        match report {
            Ok(report) => Some(report),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // No worker is left to report their ends.
                self.offered.clear();
                self.record_error(Err(MatchError::Stuck));
                None
            }
        }
    }

    /// Restores the state of the stored results.
    fn restore(&mut self) -> Result<(), MatchError> {
        let resumed = self.parts.store.stored().len();
        // Listeners see the restored state from the start.
        let restored = self.restore_pairs();
        self.emit(&Event::MatchStart {
            plan_hash: self.parts.spec.plan_hash,
            game: self.parts.spec.plan.game,
            engines: self
                .parts
                .spec
                .plan
                .engines
                .iter()
                .map(|engine| engine.name.clone())
                .collect(),
            resumed,
        });
        self.dispatcher.on_results(&self.parts.state);
        restored?;
        for text in self.parts.exports.open()? {
            self.emit(&Event::Warning { text, pair: None, engine: None, context: None });
        }
        for score in self.parts.state.scores() {
            self.emit(&Event::Score(score));
        }
        self.report_parameters();
        self.check_test()
    }

    fn restore_pairs(&mut self) -> Result<(), MatchError> {
        self.parts.exports.begin(&mut self.parts.store)?;
        for pair in Reader::open(self.parts.store.path())? {
            let pair = pair?;
            self.parts.schedule.record(PairingScore::from(&pair))?;
            self.parts.state.add(&pair);
            self.dispatcher.on_stored(&pair);
            self.parts.exports.check(&pair)?;
        }
        Ok(())
    }

    /// Offers as many pairings as the queue needs.
    fn offer(&mut self) -> Result<(), MatchError> {
        while !self.all_issued
            && self.stop.is_none()
            && self.offered.len() < self.dispatcher.min_offered()
        {
            match self.parts.schedule.next()? {
                // It is in progress since before pairs were discarded.
                Next::Pairing(pairing) if self.offered.contains_key(&pairing.index) => {}
                Next::Pairing(pairing) => {
                    let job = self.parts.spec.job(pairing.clone());
                    self.offered.insert(pairing.index, pairing);
                    self.dispatcher.offer(job)?;
                }
                Next::Wait if self.offered.is_empty() => return Err(MatchError::Stuck),
                Next::Wait => break,
                Next::Done => {
                    self.all_issued = true;
                    self.dispatcher.complete();
                }
            }
        }
        self.report_skipped();
        Ok(())
    }

    /// Reports openings that were skipped.
    fn report_skipped(&mut self) {
        let skipped = self.parts.schedule.take_skipped();
        if skipped.is_empty() {
            return;
        }
        let skipped = Arc::new(skipped);
        for listener in &mut self.parts.listeners {
            listener.on_skipped_openings(&skipped, &self.parts.state);
        }
    }

    fn handle(&mut self, report: Report) -> Result<(), MatchError> {
        match report {
            Report::Progress { worker, index, progress } => {
                self.on_progress(worker, index, progress);
            }
            Report::Done { mut result, records, .. } => {
                if let Some(worker) = &mut result.worker {
                    worker.0 = truncate(&worker.0);
                }
                return self.on_done(&result, records);
            }
            Report::Returned { index, why } => return self.on_return(index, why),
            // The next pairings are offered after each report.
            Report::Wanted => {}
            Report::Warning { text, pair } => self.warn(text, pair),
            Report::Excluded(workers) => return self.exclude(&workers),
            Report::StopRequested => return self.stop(Stop::Finish, End::Stopped),
            Report::Interrupted => {
                self.interrupts += 1;
                let how = match self.interrupts {
                    1 => self.parts.settings.on_interrupt,
                    _ => Stop::Abort,
                };
                return self.stop(how, End::Interrupted);
            }
            Report::QueueFailed(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn on_done(&mut self, pair: &PairResult, records: Option<Records>) -> Result<(), MatchError> {
        let index = pair.pairing.index;
        // A job can be done twice, and by a worker of another process.
        let Some(pairing) = self.offered.remove(&index) else { return Ok(()) };
        let complete = u32::try_from(pair.games.len()) == Ok(pairing.games)
            && pair.games.iter().zip(0..).all(|(game, number)| {
                (game.first, game.second) == pairing.sides(number)
                    && game.end != Termination::Aborted
            });
        if !pair.pairing.has_same_games(&pairing) || !complete {
            return Err(MatchError::Pairing {
                index,
                why: "the result does not match the pairing".to_owned(),
            });
        }
        if let Some((Stop::Abort, End::Test { .. } | End::Takes { .. })) = self.stop {
            return Ok(());
        }
        if self.parts.store.append(pair)? && self.sync_by.is_none() {
            self.sync_by = Some(now() + self.parts.settings.sync);
        }
        match records {
            Some(records) => self.parts.exports.append_records(pair, records)?,
            None => self.parts.exports.append(pair)?,
        }
        self.parts.schedule.record(PairingScore::from(pair))?;
        self.dispatcher.on_stored(pair);
        let Added { failed, repeated } = self.parts.state.count(pair);
        self.dispatcher.on_results(&self.parts.state);
        for listener in &mut self.parts.listeners {
            listener.on_pair(pair, &self.parts.state);
        }
        let complete = self.parts.store.stored().len();
        self.emit(&Event::PairEnd { pair: index, round: pairing.round, complete });
        if let Some(score) = self.parts.state.score(pairing.first, pairing.second) {
            self.emit(&Event::Score(score));
        }
        self.report_parameters();
        let count = self.parts.state.repeated();
        for Repeated { game, earlier } in repeated {
            self.emit(&Event::RepeatedGame { pair: index, game, earlier, count });
        }
        self.report_failures(pair, &failed)?;
        self.check_test()
    }

    /// Discards the pairs of workers, and schedules them again unless the match is being stopped. The match starts again
    /// with the remaining pairs.
    fn exclude(&mut self, workers: &BTreeSet<String>) -> Result<(), MatchError> {
        let is_excluded = |pair: &PairResult| {
            pair.worker.as_ref().is_some_and(|worker| workers.contains(&worker.0))
        };
        let discarded = self.parts.store.discard(is_excluded)?;
        let names: Vec<String> = workers.iter().map(|name| truncate(name)).collect();
        let names = names.join(", ");
        let what = if self.stop.is_some() { "discarded" } else { "replayed" };
        let text = format!("excluded {names}: {} pairs are {what}", discarded.len());
        self.warn(text, None);
        if discarded.is_empty() {
            return Ok(());
        }
        self.parts.schedule = open_schedule(&self.parts.spec.plan, self.parts.openings.as_deref())?;
        self.parts.state.discard(&discarded);
        self.parts.exports.close()?;
        self.parts.exports.clear();
        self.all_issued = false;
        self.dispatcher.on_discarded(&discarded);
        self.restore()
    }

    fn warn(&mut self, text: String, pair: Option<u64>) {
        self.dispatcher.on_warning(&text);
        self.emit(&Event::Warning { text, pair, engine: None, context: None });
    }

    fn on_return(&mut self, index: u64, why: ReturnReason) -> Result<(), MatchError> {
        let why = match why {
            ReturnReason::Requeued => {
                let text = "the worker was lost or gave the job back; the pairing is replayed";
                self.warn(text.to_owned(), Some(index));
                return Ok(());
            }
            ReturnReason::Skipped(why) => {
                self.warn(format!("the pairing is skipped: {why}"), Some(index));
                None
            }
            ReturnReason::Withdrawn => None,
            ReturnReason::TooManyDeliveries => Some("its workers were lost".to_owned()),
            ReturnReason::Failed(why) => Some(why),
        };
        self.offered.remove(&index);
        why.map_or(Ok(()), |why| Err(MatchError::Pairing { index, why }))
    }

    fn on_progress(&mut self, worker: WorkerId, index: u64, progress: Progress) {
        let Some(pairing) = self.offered.get(&index) else { return };
        let (round, opening) = (pairing.round, pairing.opening.clone());
        let sides = |game| pairing.sides(game);
        let event = match progress {
            Progress::GameStart { game } => {
                let (first, second) = sides(game);
                Event::GameStart { pair: index, game, round, first, second, worker, opening }
            }
            Progress::Move { game, ply, played } => Event::Move { pair: index, game, ply, played },
            Progress::GameEnd { game, winner, end, plies, duration_ms, engines } => {
                let (first, second) = sides(game);
                let pair = index;
                Event::GameEnd {
                    pair,
                    game,
                    first,
                    second,
                    winner,
                    end,
                    plies,
                    duration_ms,
                    engines,
                }
            }
            Progress::Replay => {
                let text = "the process was suspended; the pairing is replayed".to_owned();
                Event::Warning { text, pair: Some(index), engine: None, context: None }
            }
            Progress::Warning { engine, text, context, .. } => {
                Event::Warning { text, pair: Some(index), engine: Some(engine), context }
            }
        };
        self.emit(&event);
    }

    /// Reports the values of a tuning.
    fn report_parameters(&mut self) {
        let Some(tune) = self.parts.state.tune() else { return };
        let (values, averages) = (tune.tuner().values().to_vec(), tune.averages());
        self.emit(&Event::Parameters { values, averages });
    }

    /// Reports engines that have failed, and ends the match if one has failed too often.
    fn report_failures(&mut self, pair: &PairResult, failed: &[Failed]) -> Result<(), MatchError> {
        for &Failed { engine, game, failures } in failed {
            let played = usize::try_from(game).ok().and_then(|game| pair.games.get(game));
            let Some(played) = played else { continue };
            self.emit(&Event::EngineFailure {
                engine,
                pair: pair.pairing.index,
                game,
                end: played.end.clone(),
                count: failures.all,
            });
            // A worker must not end the match. The queue compares the failures of its workers.
            if pair.worker.is_some() {
                continue;
            }
            let is_over_limit =
                self.parts.settings.failures.is_some_and(|max| failures.broken >= max);
            if (is_over_limit || failures.no_starts >= MAX_NO_STARTS) && self.stop.is_none() {
                self.stop(Stop::Finish, End::Failures { engine, count: failures.broken })?;
            }
        }
        Ok(())
    }

    fn check_test(&mut self) -> Result<(), MatchError> {
        if let Some(takes) = self.parts.state.takes() {
            let (status, end) = (takes.status(), takes.end());
            self.emit(&Event::Takes(status));
            return match end {
                Some(accepted) if self.stop.is_none() => {
                    self.stop(self.parts.settings.on_verdict, End::Takes { accepted })
                }
                _ => Ok(()),
            };
        }
        let Some(test) = self.parts.state.test() else { return Ok(()) };
        self.emit(&Event::Test(test));
        match test.verdict {
            Verdict::Continue => Ok(()),
            // The first reason of the end is preserved.
            _ if self.stop.is_some() => Ok(()),
            verdict => self.stop(self.parts.settings.on_verdict, End::Test { verdict }),
        }
    }

    /// Stops the match. The first reason is preserved; an abort overrides `Finish`.
    fn stop(&mut self, how: Stop, why: End) -> Result<(), MatchError> {
        let (how, why) = match self.stop.take() {
            None => (how, why),
            Some((before, reason)) if before >= how => {
                self.stop = Some((before, reason));
                return Ok(());
            }
            Some((_, reason)) => (how, reason),
        };
        self.emit(&Event::Stopping { how, why: why.clone() });
        self.stop = Some((how, why));
        self.dispatcher.stop(how).map_err(MatchError::Queue)
    }

    /// Stops the match after an error.
    fn record_error(&mut self, result: Result<(), MatchError>) {
        let Err(error) = result else { return };
        let why = End::Error { text: error.to_string() };
        self.error.get_or_insert(error);
        if self.stop(Stop::Abort, why).is_err() {
            // The workers of this queue will not report any more.
            self.offered.clear();
        }
    }

    /// Syncs results to the disk.
    fn sync(&mut self) -> Result<(), MatchError> {
        self.sync_by = None;
        self.parts.store.sync()?;
        self.dispatcher.on_synced();
        Ok(())
    }

    fn finish(mut self) -> Result<Summary, MatchError> {
        let complete = self.parts.store.stored().len();
        let games = self.parts.state.games();
        let closed = self.parts.exports.close();
        self.record_error(closed.map_err(MatchError::from));
        let end = match (&self.error, self.stop.take()) {
            (Some(error), _) => End::Error { text: error.to_string() },
            (None, Some((_, end))) => end,
            (None, None) => End::Complete,
        };
        if let Some(ratings) = self.parts.state.estimate_ratings() {
            self.emit(&Event::Ratings(ratings));
        }
        // Errors of outcomes were reported when they were recorded.
        if let Ok(Some(engine)) = self.parts.schedule.champion() {
            self.emit(&Event::Champion { engine });
        }
        self.emit(&Event::MatchEnd { why: end.clone(), complete, games });
        match self.error {
            Some(error) => Err(error),
            None => Ok(Summary { end, complete, games, scores: self.parts.state.scores() }),
        }
    }

    fn emit(&mut self, event: &Event) {
        self.parts.state.apply(event);
        for listener in &mut self.parts.listeners {
            listener.on_event(event, &self.parts.state);
        }
    }
}
