//! The coordinator of a match: it issues jobs, stores results, and decides when the match is over.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use readyok_rules::Termination;

use crate::event::{End, Event, JointRatings, Listener, Score, TestState};
use crate::export::{Exports, Records};
use crate::pairing::{PairResult, Pairing};
use crate::plan::{EngineId, GamesPerPairing, Plan};
use crate::queue::{Dispatcher, MatchSpec, Progress, Report, ReturnReason, Stop, WorkerId};
use crate::repeats::{Repeated, Repeats};
use crate::result::MatchGame;
use crate::runner::{MatchError, Settings, Summary, open_schedule, truncate};
use crate::schedule::{Next, PairingScore, Schedule};
use crate::stats::{Crosstable, Outcome, Sprt, Verdict};
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
    pub(super) tally: Tally,
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
    workers: usize,
    /// All pairings were issued.
    all_issued: bool,
    interrupts: u32,
    stop: Option<(Stop, End)>,
    error: Option<MatchError>,
    /// When results must be synced.
    sync_by: Option<Instant>,
}

impl<'a> Coordinator<'a> {
    pub(super) fn new(parts: Parts, dispatcher: &'a mut dyn Dispatcher) -> Self {
        Self {
            parts,
            dispatcher,
            offered: BTreeMap::new(),
            workers: 0,
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
        while !self.is_over() {
            let Some(report) = self.next(reports) else { continue };
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
        self.parts.exports.begin(&mut self.parts.store)?;
        for pair in Reader::open(self.parts.store.path())? {
            let pair = pair?;
            self.parts.schedule.record(PairingScore::from(&pair))?;
            self.parts.tally.add(&pair);
            self.parts.tally.repeated(&pair);
            self.dispatcher.on_stored(&pair);
            self.parts.exports.check(&pair)?;
        }
        for text in self.parts.exports.open()? {
            self.emit(&Event::Warning { text, pair: None, engine: None, context: None });
        }
        for score in self.parts.tally.scores() {
            self.emit(&Event::Score(score));
        }
        self.report_parameters();
        self.check_test()
    }

    /// Offers two pairings per worker: the next one is available without waiting for this thread.
    fn offer(&mut self) -> Result<(), MatchError> {
        while !self.all_issued
            && self.stop.is_none()
            && self.offered.len() < (2 * self.workers).max(self.dispatcher.min_offered())
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
            listener.on_skipped_openings(&skipped);
        }
    }

    fn handle(&mut self, report: Report) -> Result<(), MatchError> {
        match report {
            Report::Joined(_) => self.workers += 1,
            Report::Left(_) => self.workers = self.workers.saturating_sub(1),
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
            Report::Rejected { worker, why } => {
                let (worker, why) = (truncate(&worker.0), truncate(&why.to_string()));
                self.warn(format!("the worker `{worker}` rejects the match: {why}"), None);
            }
            Report::Invalid { worker, index, why } => {
                let (worker, why) = (truncate(&worker.0), truncate(&why));
                self.warn(
                    format!(
                        "invalid result of the worker `{worker}`, the pairing is replayed: {why}"
                    ),
                    Some(index),
                );
            }
            Report::Excluded(workers) => return self.exclude(&workers),
            Report::StopRequested => return self.stop(Stop::Finish, End::Stopped),
            Report::AllRejected(workers) => return Err(MatchError::Rejected(workers)),
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
        if let Some((Stop::Abort, End::Test { .. })) = self.stop {
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
        let failed = self.parts.tally.add(pair);
        let complete = self.parts.store.stored().len();
        self.emit(&Event::PairEnd { pair: index, round: pairing.round, complete });
        if let Some(score) = self.parts.tally.score(pairing.first, pairing.second) {
            self.emit(&Event::Score(score));
        }
        self.report_parameters();
        let (repeated, count) = self.parts.tally.repeated(pair);
        for Repeated { game, earlier } in repeated {
            self.emit(&Event::RepeatedGame { pair: index, game, earlier, count });
        }
        self.report_failures(pair, &failed)?;
        self.check_test()
    }

    /// Discards the pairs of workers, and schedules them again. The match starts again with the remaining pairs.
    fn exclude(&mut self, workers: &BTreeSet<String>) -> Result<(), MatchError> {
        let is_excluded = |pair: &PairResult| {
            pair.worker.as_ref().is_some_and(|worker| workers.contains(&worker.0))
        };
        let discarded = self.parts.store.discard(is_excluded)?;
        let names: Vec<String> = workers.iter().map(|name| truncate(name)).collect();
        let names = names.join(", ");
        let text = format!("excluded {names}: {} pairs are replayed", discarded.len());
        self.warn(text, None);
        // A test that has decided is over.
        if discarded.is_empty() || self.stop.is_some() {
            return Ok(());
        }
        self.parts.schedule = open_schedule(&self.parts.spec.plan, self.parts.openings.as_deref())?;
        self.parts.tally = Tally::new(&self.parts.spec.plan)?;
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
        let tuner = self.parts.schedule.tuner();
        if let Some(values) = tuner.map(|tuner| tuner.values().to_vec()) {
            self.emit(&Event::Parameters { values });
        }
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
            let is_over_limit =
                self.parts.settings.failures.is_some_and(|max| failures.broken >= max);
            if (is_over_limit || failures.no_starts >= MAX_NO_STARTS) && self.stop.is_none() {
                self.stop(Stop::Finish, End::Failures { engine, count: failures.broken })?;
            }
        }
        Ok(())
    }

    fn check_test(&mut self) -> Result<(), MatchError> {
        let Some(test) = self.parts.tally.test() else { return Ok(()) };
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
        Ok(())
    }

    fn finish(mut self) -> Result<Summary, MatchError> {
        let complete = self.parts.store.stored().len();
        let games = self.parts.tally.games();
        let closed = self.parts.exports.close();
        self.record_error(closed.map_err(MatchError::from));
        let end = match (&self.error, self.stop.take()) {
            (Some(error), _) => End::Error { text: error.to_string() },
            (None, Some((_, end))) => end,
            (None, None) => End::Complete,
        };
        if let Some(ratings) = self.parts.tally.ratings() {
            self.emit(&Event::Ratings(ratings));
        }
        // Errors of outcomes were reported when they were recorded.
        if let Ok(Some(engine)) = self.parts.schedule.champion() {
            self.emit(&Event::Champion { engine });
        }
        self.emit(&Event::MatchEnd { why: end.clone(), complete, games });
        match self.error {
            Some(error) => Err(error),
            None => Ok(Summary { end, complete, games, scores: self.parts.tally.scores() }),
        }
    }

    fn emit(&mut self, event: &Event) {
        for listener in &mut self.parts.listeners {
            listener.on_event(event);
        }
    }
}

/// Counts of stored results.
#[derive(Debug)]
pub(crate) struct Tally {
    scores: BTreeMap<(EngineId, EngineId), Score>,
    games: u64,
    failures: BTreeMap<EngineId, Failures>,
    test: Option<(Sprt, GamesPerPairing)>,
    /// With three or more engines.
    crosstable: Option<Crosstable>,
    /// None in a tuning, whose pairs are played with different options.
    repeats: Option<Repeats>,
}

/// A game lost by a failure of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    pub(super) engine: EngineId,
    /// The number of the game in its pair, counted from 0.
    pub(super) game: u32,
    /// The failures of the engine, including this game.
    pub(super) failures: Failures,
}

/// Failures of an engine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Failures {
    /// All failures.
    pub(super) all: u64,
    /// Crashes, stalls and failed starts, without illegal moves and losses on time.
    pub(super) broken: u64,
    /// Consecutive failed starts.
    pub(super) no_starts: u64,
}

impl Tally {
    pub(crate) fn new(plan: &Plan) -> Result<Self, MatchError> {
        let test = match plan.sprt {
            Some(_) if plan.engines.len() != 2 => {
                return Err(MatchError::TestOf(plan.engines.len()));
            }
            Some(sprt) => Some((sprt.test().map_err(MatchError::Test)?, plan.games)),
            None => None,
        };
        let engines = plan.engines.len();
        let crosstable = (engines > 2).then(|| Crosstable::new(engines).ok()).flatten();
        Ok(Self {
            scores: BTreeMap::new(),
            games: 0,
            failures: BTreeMap::new(),
            test,
            crosstable,
            repeats: plan.tune.is_none().then(Repeats::default),
        })
    }

    /// Counts a pair. Returns its games that were lost by failures.
    pub(crate) fn add(&mut self, pair: &PairResult) -> Vec<Failed> {
        let (first, second) = (pair.pairing.first, pair.pairing.second);
        let (engine, opponent) = (first.min(second), first.max(second));
        let score = self.scores.entry((engine, opponent));
        let score = score.or_insert_with(|| Score::new(engine, opponent));
        let outcomes: Vec<Outcome> =
            pair.games.iter().map(|game| outcome_for(engine, game)).collect();
        score.add(&outcomes);
        self.games += pair.games.len() as u64;
        if let Some(crosstable) = &mut self.crosstable {
            pair.count_in(crosstable);
        }
        (0..).zip(&pair.games).filter_map(|(index, game)| self.add_failures(index, game)).collect()
    }

    fn add_failures(&mut self, index: u32, game: &MatchGame) -> Option<Failed> {
        let loser = loser(game);
        for engine in [game.first, game.second] {
            let failures = self.failures.entry(engine).or_default();
            let failed = game.end.termination.is_failure() && loser == Some(engine);
            let no_start = failed && game.end == Termination::EngineStartFailure;
            failures.all += u64::from(failed);
            failures.broken += u64::from(failed && game.end.termination.is_engine_failure());
            if no_start {
                failures.no_starts += 1;
            } else if game.end != Termination::EngineStartFailure {
                failures.no_starts = 0;
            }
        }
        let engine = loser.filter(|_| game.end.termination.is_failure())?;
        let failures = self.failures.get(&engine).copied()?;
        Some(Failed { engine, game: index, failures })
    }

    /// The score of two engines.
    pub(crate) fn score(&self, one: EngineId, other: EngineId) -> Option<Score> {
        self.scores.get(&(one.min(other), one.max(other))).copied()
    }

    /// The scores of all encounters.
    pub(crate) fn scores(&self) -> Vec<Score> {
        self.scores.values().copied().collect()
    }

    /// The games of a pair that repeat earlier ones. Returns also the number of all such games.
    pub(super) fn repeated(&mut self, pair: &PairResult) -> (Vec<Repeated>, u64) {
        match &mut self.repeats {
            Some(repeats) => (repeats.add(pair), repeats.count()),
            None => (Vec::new(), 0),
        }
    }

    /// The number of games.
    pub(crate) fn games(&self) -> u64 {
        self.games
    }

    /// The ratings; `None` for two engines or without games.
    pub(crate) fn ratings(&self) -> Option<JointRatings> {
        self.crosstable.as_ref().filter(|_| self.games > 0).and_then(JointRatings::of)
    }

    /// The state of the test; `None` without a test or without results.
    pub(crate) fn test(&self) -> Option<TestState> {
        let (sprt, games) = self.test.as_ref()?;
        let counts = self.score(EngineId(0), EngineId(1))?.counts(*games)?;
        sprt.status(&counts).ok().map(TestState::from)
    }
}

/// The loser of a game.
pub(super) fn loser(game: &MatchGame) -> Option<EngineId> {
    game.winner.map(|winner| game.engine(winner.other()))
}

fn outcome_for(engine: EngineId, game: &MatchGame) -> Outcome {
    match loser(game) {
        None => Outcome::Draw,
        Some(loser) if loser == engine => Outcome::Loss,
        Some(_) => Outcome::Win,
    }
}

impl Score {
    fn new(engine: EngineId, opponent: EngineId) -> Self {
        Self { engine, opponent, wins: 0, draws: 0, losses: 0, pairs: [0; 6] }
    }

    fn add(&mut self, outcomes: &[Outcome]) {
        for outcome in outcomes {
            match outcome {
                Outcome::Win => self.wins += 1,
                Outcome::Draw => self.draws += 1,
                Outcome::Loss => self.losses += 1,
            }
        }
        let [one, other] = outcomes else { return };
        let [ll, ld, wl, dd, wd, ww] = &mut self.pairs;
        let pair = match (one, other) {
            (Outcome::Loss, Outcome::Loss) => ll,
            (Outcome::Loss, Outcome::Draw) | (Outcome::Draw, Outcome::Loss) => ld,
            (Outcome::Loss, Outcome::Win) | (Outcome::Win, Outcome::Loss) => wl,
            (Outcome::Draw, Outcome::Draw) => dd,
            (Outcome::Draw, Outcome::Win) | (Outcome::Win, Outcome::Draw) => wd,
            (Outcome::Win, Outcome::Win) => ww,
        };
        *pair += 1;
    }
}
