//! The state of a match on the coordinator, and its reactions to messages of workers and settings of users.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::message::Acker;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use crate::game::{Tablebases, verify_pair};
use crate::pairing::{PairResult, Pairing};
use crate::queue::nats::audits::Audits;
use crate::queue::nats::coordinator::rejections::Rejections;
use crate::queue::nats::ledger::{Ending, HeldJob, Ledger, LedgerCounts, LedgerLimits, Taken};
use crate::queue::nats::messages::{
    Announcement, Ended, Grant, Note, PROTOCOL, StoredResult, TakeAnswer, TakeRequest, Want, read,
    sender_of,
};
use crate::queue::nats::status::{StatusBuilder, shortened};
use crate::queue::status::{Control, LiveGame, QuarantinedResult};
use crate::queue::{
    MatchSpec, Progress, Rejection, Report, ReturnReason, Speed, Stop, WorkerId, scale_times,
};
use crate::store::IndexSet;
use crate::time::unix_ms;
use crate::worker_stats::{Failure, Fault};

/// The number of invalid results of a worker after which it is excluded.
const MAX_INVALID: u64 = 3;

/// Workers that prepare the match at the same time, since each one downloads its files.
const MAX_PREPARING: usize = 20;

/// The delay of a worker that may not prepare the match yet, in milliseconds.
const PREPARE_WAIT_MS: u64 = 5_000;

/// The delay of a worker while the match gives out no jobs, in milliseconds.
const CLOSED_WAIT_MS: u64 = 60_000;

/// The maximum number of results that wait until their pairings are offered.
const MAX_EARLY: usize = 512;

/// The maximum number of workers of other versions that are reported.
const MAX_OUTDATED_WORKERS: usize = 64;

/// The time for open audits at the end of the match, in multiples of a lease and of the mean duration of a pair, and its
/// maximum in milliseconds.
const EXTRA: u64 = 4;
const MAX_EXTRA_MS: u64 = 1_800_000;

/// The maximum length of a message about progress. The coordinator counts warnings by engine and kind, and keeps one of
/// each.
const MAX_PROGRESS_LEN: usize = 128 << 10;

/// Whether progress may be of this pairing.
fn is_of(progress: &Progress, pairing: &Pairing) -> bool {
    let is_game = |game: &u32| *game < pairing.games;
    match progress {
        Progress::GameStart { game }
        | Progress::Move { game, .. }
        | Progress::GameEnd { game, .. } => is_game(game),
        Progress::Warning { game, engine, .. } => {
            is_game(game) && [pairing.first, pairing.second].contains(engine)
        }
        Progress::Replay => true,
    }
}

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) spec: MatchSpec,
    pub(super) tablebases: Option<Arc<dyn Tablebases>>,
    pub(super) reports: Sender<Report>,
    pub(super) chores: UnboundedSender<Chore>,
    pub(super) open_chores: AtomicUsize,
    /// The start of the term.
    pub(super) start: Instant,
    /// A worker that is silent for this time loses its jobs.
    pub(super) lease: Duration,
    /// The announced specification.
    pub(super) revision: u64,
}

/// A task for the server, which needs no answer.
pub(super) enum Chore {
    /// Keeps a result that is on disk on the server, too, and removes it from the inbox of the match.
    Keep { message: Message, result: Box<StoredResult> },
    /// Stores an invalid result for users.
    Quarantine { message: Message, entry: QuarantinedResult },
    /// Removes a message from the inbox of the match.
    Drop(Acker),
    /// Excludes a worker, in the settings of the match.
    Exclude(String),
    /// Pauses the match, in its settings.
    Pause,
    /// Deletes discarded results.
    Discard(Vec<u64>),
    /// Loads a result of an earlier coordinator.
    Load(u64),
}

pub(super) struct State {
    pub(super) ledger: Ledger,
    pub(super) audits: Audits,
    /// When all pairings were played, in milliseconds since the start of the term.
    pub(super) settling_since_ms: Option<u64>,
    /// Indices of known results.
    pub(super) known: IndexSet,
    /// Indices of results that the server has kept, for pairings that are not offered yet.
    pub(super) kept: BTreeSet<u64>,
    /// Results of an earlier term for pairings that are not offered yet.
    pub(super) early: BTreeMap<u64, Message>,
    /// Results that count, by index, until they are on disk.
    unsynced: BTreeMap<u64, (Message, Box<StoredResult>)>,
    pub(super) rejections: Rejections,
    /// The workers that prepare the match, with the time of their last message.
    preparing: BTreeMap<String, Instant>,
    /// Workers of other versions, which are reported once.
    outdated: BTreeSet<String>,
    pub(super) stop: Option<Stop>,
    /// Workers that are excluded, and not yet in the settings of the match.
    excluding: BTreeSet<String>,
    /// Failures of engines that have paused the match once.
    accepted: BTreeSet<Failure>,
    /// Workers whose games are replayed with few equal moves, which are reported once.
    pub(super) flagged: BTreeSet<WorkerId>,
    /// Whether a worker got no job since the last announcement of jobs.
    is_wanted: bool,
    pub(super) control: Control,
    /// The number of threads of a pair.
    threads: u64,
    pub(super) status: StatusBuilder,
}

impl State {
    /// `threads` is the number of threads of a pair.
    pub(super) fn new(
        ledger: Ledger,
        audits: Audits,
        known: IndexSet,
        control: Control,
        threads: u64,
    ) -> Self {
        let mut this = Self {
            ledger,
            audits,
            settling_since_ms: None,
            known,
            kept: BTreeSet::new(),
            early: BTreeMap::new(),
            unsynced: BTreeMap::new(),
            rejections: Rejections::default(),
            preparing: BTreeMap::new(),
            outdated: BTreeSet::new(),
            stop: None,
            excluding: BTreeSet::new(),
            accepted: BTreeSet::new(),
            flagged: BTreeSet::new(),
            is_wanted: false,
            control: Control::default(),
            threads,
            status: StatusBuilder::default(),
        };
        this.set_control(control);
        this
    }

    fn set_control(&mut self, control: Control) {
        let jobs =
            control.max_threads.map(|threads| (u64::from(threads) / self.threads.max(1)).max(1));
        self.ledger.set_limits(LedgerLimits { workers: control.max_workers.map(u64::from), jobs });
        self.control = control;
    }

    /// Gives jobs to a worker: an audit first.
    fn take(&mut self, worker: &str, now_ms: u64) -> Taken {
        self.ledger.see(worker, now_ms);
        let audits = self.audits.take(worker, now_ms);
        if matches!(audits, Taken::Jobs(_)) {
            self.ledger.set_busy(worker);
            return audits;
        }
        let taken = self.ledger.take(worker, now_ms);
        self.is_wanted |= matches!(taken, Taken::Wait { .. });
        taken
    }

    pub(super) fn is_excluded(&self, worker: &str) -> bool {
        self.control.excluded.contains(worker)
    }

    /// Whether a result must wait until its pairing is offered: it is genuine, and of an earlier term. Only a few wait,
    /// since others could not be read meanwhile.
    fn is_early(&self, worker: &str, grant: &Grant) -> bool {
        self.early.len() < MAX_EARLY
            && !self.known.contains(grant.index)
            && !self.ledger.has(grant.index)
            && self.ledger.is_earlier(worker, grant)
    }

    /// Whether a message has the result of a pairing that is not on disk yet.
    fn is_pending(&self, index: u64, message: &Message) -> bool {
        let sequence = |message: &Message| message.info().ok().map(|info| info.stream_sequence);
        let pending = self.unsynced.get(&index);
        pending.is_some_and(|(pending, _)| sequence(pending) == sequence(message))
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, report: Report) {
        // Fails without a coordinator, which then needs no report.
        let _ = self.reports.send(report);
    }

    pub(super) fn warn(&self, text: String, pair: Option<u64>) {
        self.send(Report::Warning { text, pair });
    }

    pub(super) fn warn_of_server(&self, text: &str) {
        self.warn(text.to_owned(), None);
    }

    pub(super) fn chore(&self, chore: Chore) {
        self.open_chores.fetch_add(1, Ordering::Relaxed);
        // Fails if the match is closed.
        let _ = self.chores.send(chore);
    }

    /// Removes a message from the inbox of the match. Its payload does not wait for that.
    pub(super) fn discard(&self, message: Message) {
        let (_, acker) = message.split();
        self.chore(Chore::Drop(acker));
    }

    pub(super) fn on_chore_done(&self) {
        self.open_chores.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn has_chores(&self) -> bool {
        self.open_chores.load(Ordering::Relaxed) > 0
    }

    /// Milliseconds since the start of the term. Calendar time can jump.
    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn announcement(&self) -> Announcement {
        let state = self.state();
        let has_audits = || state.audits.is_waited_for(&state.ledger, self.now_ms());
        Announcement {
            protocol: PROTOCOL,
            revision: self.revision,
            priority: state.control.priority,
            is_open: !state.control.paused && !state.control.stop && state.stop.is_none(),
            has_jobs: state.ledger.waiting() > 0 || has_audits(),
            stop: state.stop,
            lease_ms: u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Whether jobs must be announced, since a worker has got none.
    pub(super) fn take_wanted(&self) -> bool {
        let now = self.now_ms();
        let mut guard = self.state();
        let state = &mut *guard;
        (state.ledger.waiting() > 0 && std::mem::take(&mut state.is_wanted))
            || state.audits.take_new(&state.ledger, now)
    }

    /// The answer to a request of a worker; `None` for a malformed one.
    pub(super) fn on_take(&self, worker: &str, payload: &[u8]) -> Option<TakeAnswer> {
        let Some(TakeRequest { protocol, want }) = read::<TakeRequest>(payload) else {
            self.state().ledger.ignore();
            return None;
        };
        if let Some(why) = self.denial(worker, protocol) {
            return Some(TakeAnswer::Denied { why });
        }
        let mut state = self.state();
        if state.control.paused || state.control.stop || state.stop.is_some() {
            return Some(TakeAnswer::Wait { ms: CLOSED_WAIT_MS });
        }
        match want {
            Want::Preparation => {
                state.rejections.on_preparing(worker);
                let others = state.preparing.keys().filter(|name| *name != worker).count() as u64;
                let is_free =
                    state.preparing.len() < MAX_PREPARING && state.ledger.may_begin(worker, others);
                if !is_free && !state.preparing.contains_key(worker) {
                    return Some(TakeAnswer::Wait { ms: PREPARE_WAIT_MS });
                }
                state.preparing.insert(worker.to_owned(), Instant::now());
                Some(TakeAnswer::Prepare)
            }
            Want::Jobs => {
                state.preparing.remove(worker);
                state.rejections.on_ready(worker);
                let taken = state.take(worker, self.now_ms());
                if matches!(taken, Taken::Jobs(_)) {
                    state.status.see(worker, unix_ms());
                }
                drop(state);
                Some(match taken {
                    Taken::Jobs(jobs) => {
                        self.send(Report::Wanted);
                        TakeAnswer::Jobs(jobs)
                    }
                    Taken::Wait { ms } => {
                        self.send(Report::Wanted);
                        TakeAnswer::Wait { ms }
                    }
                })
            }
        }
    }

    /// Why a worker cannot play the match.
    fn denial(&self, worker: &str, protocol: u32) -> Option<String> {
        let mut state = self.state();
        if protocol == PROTOCOL {
            let why = "the worker is excluded from the match";
            return state.is_excluded(worker).then(|| why.to_owned());
        }
        let (old, new) =
            if protocol < PROTOCOL { ("worker", "match") } else { ("match", "worker") };
        let why = format!(
            "the {old} is of an older version of readyok than the {new}: update it (protocol {protocol} of the worker, {PROTOCOL} of the match)"
        );
        let is_new =
            state.outdated.len() < MAX_OUTDATED_WORKERS && state.outdated.insert(worker.to_owned());
        drop(state);
        if is_new {
            self.warn(format!("the worker `{}` cannot play: {why}", shortened(worker)), None);
        }
        Some(why)
    }

    pub(super) fn on_note(&self, worker: &str, payload: &[u8]) {
        let Some(note) = read::<Note>(payload) else { return self.state().ledger.ignore() };
        if self.state().is_excluded(worker) {
            return;
        }
        let now = self.now_ms();
        match note {
            Note::Playing { grants } => {
                let mut state = self.state();
                state.status.see(worker, unix_ms());
                for grant in &grants {
                    if state.audits.is_of(worker, grant) {
                        state.audits.renew(worker, grant, now);
                        state.ledger.see(worker, now);
                    } else {
                        state.ledger.renew(worker, grant, now);
                    }
                }
            }
            Note::Preparing => {
                if let Some(seen) = self.state().preparing.get_mut(worker) {
                    *seen = Instant::now();
                }
            }
            Note::Rejected { why } => {
                let mut state = self.state();
                state.preparing.remove(worker);
                let is_new = state.rejections.add(worker, &why);
                if is_new && let Rejection::Build { engine, failure } = &why {
                    state.status.add_failed_build(worker, engine, failure);
                }
                drop(state);
                if is_new {
                    let (worker, why) = (shortened(worker), shortened(&why.to_string()));
                    self.warn(format!("the worker `{worker}` rejects the match: {why}"), None);
                }
            }
            Note::Returned { grants } => {
                for grant in grants {
                    let mut state = self.state();
                    if state.audits.is_of(worker, &grant) {
                        state.audits.give_back(worker, &grant, now);
                    } else if state.ledger.give_back(worker, &grant, now) {
                        drop(state);
                        self.on_requeued(grant.index);
                    }
                }
            }
            Note::Progress { grant, progress } => {
                if self.state().audits.is_of(worker, &grant) {
                    // The pair is known.
                    return;
                }
                let Some(held) = self.state().ledger.held(worker, &grant, now) else { return };
                if MAX_PROGRESS_LEN < payload.len() || !is_of(&progress, &held.pairing) {
                    return self.state().ledger.ignore();
                }
                let worker = WorkerId(worker.to_owned());
                if let Progress::GameStart { game } = progress {
                    let (first, second) = held.pairing.sides(game);
                    let (pair, since_ms) = (grant.index, unix_ms());
                    let worker = WorkerId(shortened(&worker.0));
                    let game = LiveGame { worker, pair, game, first, second, since_ms };
                    self.state().status.start_game(game);
                }
                self.send(Report::Progress { worker, index: grant.index, progress });
            }
        }
    }

    /// A job has no holder any more. It is withdrawn if the match is being stopped.
    fn on_requeued(&self, index: u64) {
        let mut state = self.state();
        state.status.end_pair(index);
        let is_stopping = state.ledger.is_stopping();
        if is_stopping {
            state.ledger.remove(index);
        }
        drop(state);
        let why = if is_stopping { ReturnReason::Withdrawn } else { ReturnReason::Requeued };
        self.send(Report::Returned { index, why });
    }

    /// Handles a message of the inbox of the match.
    pub(super) fn on_ended(&self, message: Message) {
        let ended =
            sender_of(&message.subject).map(str::to_owned).zip(read::<Ended>(&message.payload));
        let Some((worker, ended)) = ended else {
            self.state().ledger.ignore();
            return self.discard(message);
        };
        let grant = ended.grant().clone();
        if self.state().audits.is_of(&worker, &grant) {
            return self.on_audit_ended(&worker, &grant, ended, message);
        }
        if self.state().is_pending(grant.index, &message) {
            // The server delivers a message again that was not acknowledged in time.
            return;
        }
        let held = {
            // The lock covers the check and the insertion: a concurrent offer must not be missed.
            let mut state = self.state();
            if state.is_early(&worker, &grant) {
                state.early.insert(grant.index, message);
                return;
            }
            let is_excluded = state.is_excluded(&worker);
            let now = self.now_ms();
            state.ledger.held(&worker, &grant, now).filter(|_| !is_excluded)
        };
        let Some(held) = held else { return self.discard(message) };
        match ended {
            Ended::Failed { why, .. } => {
                self.on_failed(&worker, &grant, &why);
                self.discard(message);
            }
            Ended::Done { result, speed, .. } => {
                let result = StoredResult { result, speed };
                self.on_done(&worker, &grant, &held, result, message);
            }
            Ended::Replayed { .. } => {
                self.state().ledger.ignore();
                self.discard(message);
            }
        }
    }

    fn on_failed(&self, worker: &str, grant: &Grant, why: &str) {
        let ending = self.state().ledger.fail(worker, grant.index, self.now_ms());
        let (worker, why) = (shortened(worker), shortened(why));
        let text = format!("the worker `{worker}` cannot play the pairing: {why}");
        self.warn(text, Some(grant.index));
        self.on_ending(ending);
    }

    fn on_ending(&self, ending: Ending) {
        match ending {
            Ending::Requeued { index, .. } => self.on_requeued(index),
            Ending::Skipped { pairing, by } => self.on_skipped(*pairing, &by),
        }
    }

    /// No worker can play a pairing. Too many of them pause the match, and each one if others depend on its result.
    fn on_skipped(&self, pairing: Pairing, by: &[String]) {
        let index = pairing.index;
        let why = format!("{} could not play it", shortened(&by.join(", ")));
        let is_needed = self.spec.plan.needs_all_results();
        if is_needed {
            self.warn(format!("the pairing cannot be played: {why}"), Some(index));
            self.state().ledger.offer(pairing);
        } else {
            self.send(Report::Returned { index, why: ReturnReason::Skipped(why) });
        }
        let mut state = self.state();
        if (is_needed || state.ledger.has_skipped_too_many()) && !state.control.paused {
            state.control.paused = true;
            state.ledger.clear_skipped();
            drop(state);
            let text = "workers cannot play the pairings: the match is paused; its warnings have the reasons";
            self.warn(text.to_owned(), None);
            self.chore(Chore::Pause);
        }
    }

    fn on_done(
        &self,
        worker: &str,
        grant: &Grant,
        held: &HeldJob,
        mut stored: StoredResult,
        message: Message,
    ) {
        let index = grant.index;
        if let Some(why) = self.contradiction(worker, held, &stored) {
            self.state().ledger.reject(worker, index, self.now_ms());
            self.on_invalid(worker, index, why, message);
            return self.on_requeued(index);
        }
        stored.result.worker = Some(WorkerId(worker.to_owned()));
        let result = Box::new(stored.result.clone());
        {
            let mut state = self.state();
            // It may have been withdrawn meanwhile.
            if !state.ledger.has(index) {
                drop(state);
                return self.discard(message);
            }
            let duration = result.games.iter().map(|game| game.duration_ms);
            state.ledger.accept(worker, index, duration.fold(0, u64::saturating_add));
            state.known.insert(index);
            state
                .status
                .workers_mut()
                .set_speed(&WorkerId(worker.to_owned()), stored.speed.as_ref().map(Speed::value));
            state.unsynced.insert(index, (message, Box::new(stored)));
        }
        self.send(Report::Done { worker: WorkerId(worker.to_owned()), result, records: None });
    }

    /// The contradiction of a result, if it is invalid.
    pub(super) fn contradiction(
        &self,
        worker: &str,
        held: &HeldJob,
        stored: &StoredResult,
    ) -> Option<String> {
        let StoredResult { result, speed } = stored;
        if result.worker.as_ref().is_some_and(|name| name.0 != worker) {
            return Some("the result names another worker".to_owned());
        }
        let claimed: u64 =
            result.games.iter().map(|game| game.duration_ms).fold(0, u64::saturating_add);
        if let Some(most) = held.held_ms.map(|held| held.saturating_add(held / 10 + 1000))
            && claimed > most
        {
            return Some(format!(
                "its games have taken {claimed} ms, but it was given out {most} ms ago at most"
            ));
        }
        if let Some(excess) =
            speed.as_ref().and_then(|speed| speed.excess_of(self.spec.plan.game, result))
        {
            return Some(excess.to_string());
        }
        self.verified(&held.pairing, result, speed.as_ref()).err()
    }

    fn verified(
        &self,
        pairing: &Pairing,
        result: &PairResult,
        speed: Option<&Speed>,
    ) -> Result<(), String> {
        let spec = scale_times(self.spec.clone(), speed);
        verify_pair(&spec.plan, pairing, result, self.tablebases.as_ref())
            .map_err(|why| why.to_string())
    }

    pub(super) fn on_invalid(&self, worker: &str, index: u64, why: String, message: Message) {
        let id = WorkerId(worker.to_owned());
        let entry = QuarantinedResult { worker: id.clone(), index, why, at_ms: unix_ms() };
        let count = {
            let mut state = self.state();
            state.status.add_quarantined(entry.clone());
            state.status.workers_mut().add_invalid(&id)
        };
        let text = format!(
            "invalid result of the worker `{}`, the pairing is replayed: {}",
            shortened(worker),
            shortened(&entry.why)
        );
        self.warn(text, Some(index));
        self.chore(Chore::Quarantine { message, entry });
        if count >= MAX_INVALID {
            self.exclude(worker);
        }
    }

    /// A result of an earlier coordinator was loaded. Without one, the pairing is played again.
    pub(super) fn on_loaded(&self, index: u64, stored: Option<StoredResult>) {
        let mut state = self.state();
        let Some(pairing) = state.ledger.pairing(index).cloned() else { return };
        drop(state);
        let valid = stored.filter(|StoredResult { result, speed }| {
            let worker = result.worker.as_ref();
            !worker.is_some_and(|worker| self.state().is_excluded(&worker.0))
                && self.verified(&pairing, result, speed.as_ref()).is_ok()
        });
        state = self.state();
        let Some(StoredResult { result, .. }) = valid else {
            state.ledger.put_back(index);
            return;
        };
        state.ledger.remove(index);
        state.known.insert(index);
        drop(state);
        let worker = result.worker.clone().unwrap_or_else(|| WorkerId(String::new()));
        self.send(Report::Done { worker, result: Box::new(result), records: None });
    }

    /// A result counts. Too many failures of engines at a worker exclude the worker, or pause the match.
    pub(super) fn on_stored(&self, pair: &PairResult) {
        let excesses = {
            let mut state = self.state();
            state.status.workers_mut().add(pair);
            state.status.add_pair(pair);
            state.audits.on_pair(pair);
            // Restored results were judged when they arrived.
            if !state.unsynced.contains_key(&pair.pairing.index) {
                return;
            }
            state.status.workers_mut().excesses()
        };
        for (worker, excess) in excesses {
            let name = shortened(&worker.0);
            match excess.fault {
                Fault::Worker => {
                    if self.exclude(&worker.0) {
                        self.warn(format!("the worker `{name}` is excluded: {excess}"), None);
                    }
                }
                Fault::Engine | Fault::Unknown => {
                    let mut state = self.state();
                    // A user who continues the match accepts the failures.
                    if !state.control.paused && state.accepted.insert(excess.failure) {
                        state.control.paused = true;
                        drop(state);
                        let text = format!("the match is paused: {excess} (worker `{name}`)");
                        self.warn(text, None);
                        self.chore(Chore::Pause);
                    }
                }
            }
        }
    }

    /// Excludes a worker. Returns false if it was excluded before.
    pub(super) fn exclude(&self, worker: &str) -> bool {
        let taken = {
            let mut state = self.state();
            if !state.control.excluded.insert(worker.to_owned()) {
                return false;
            }
            state.excluding.insert(worker.to_owned());
            state.audits.exclude(worker);
            state.ledger.take_from(worker)
        };
        for index in taken {
            self.on_requeued(index);
        }
        self.send(Report::Excluded(BTreeSet::from([worker.to_owned()])));
        self.chore(Chore::Exclude(worker.to_owned()));
        true
    }

    /// The exclusion of a worker is in the settings of the match.
    pub(super) fn on_exclusion_written(&self, worker: &str) {
        self.state().excluding.remove(worker);
    }

    /// Results are on disk: those that arrived before `on_stored` was called for them.
    pub(super) fn on_synced(&self, stored: &[u64]) {
        for index in stored {
            let unsynced = self.state().unsynced.remove(index);
            if let Some((message, result)) = unsynced {
                self.chore(Chore::Keep { message, result });
            }
        }
    }

    /// Applies the settings of users.
    pub(super) fn on_control(&self, mut control: Control) {
        let mut state = self.state();
        // They may have been read before.
        control.excluded.extend(state.excluding.iter().cloned());
        if state.control == control {
            return;
        }
        let added = control.excluded.difference(&state.control.excluded).cloned();
        let added: BTreeSet<String> = added.collect();
        let stops = control.stop && !state.control.stop;
        state.set_control(control);
        let taken: Vec<u64> =
            added.iter().flat_map(|worker| state.ledger.take_from(worker)).collect();
        for worker in &added {
            state.audits.exclude(worker);
        }
        drop(state);
        for index in taken {
            self.on_requeued(index);
        }
        if !added.is_empty() {
            self.send(Report::Excluded(added));
        }
        if stops {
            self.send(Report::StopRequested);
        }
    }

    /// Finds lost workers. Called about every second.
    pub(super) fn tick(&self) {
        let now = Instant::now();
        let (endings, rejected, is_settling) = {
            let mut guard = self.state();
            let state = &mut *guard;
            let timeout = self.lease;
            state.preparing.retain(|_, seen| now <= *seen + timeout);
            let is_over = state.stop.is_some() || state.control.paused;
            let has_others = is_over || !state.preparing.is_empty() || state.ledger.is_played();
            let rejected = state.rejections.poll(has_others, 2 * timeout, now);
            let LedgerCounts { ignored, skipped, .. } = state.ledger.counts();
            state.status.set_counts(ignored, skipped);
            state.audits.tick(&state.ledger, self.now_ms());
            state.status.set_audits(state.audits.status(), state.audits.replays());
            (state.ledger.tick(self.now_ms()), rejected, state.settling_since_ms.is_some())
        };
        if is_settling {
            // The coordinator asks again whether the match may end.
            self.send(Report::Wanted);
        }
        for ending in endings {
            self.on_ending(ending);
        }
        if let Some(all) = rejected {
            let names = shortened(&all.join(", "));
            self.warn(
                format!("all workers reject the match, which waits for others: {names}"),
                None,
            );
        }
    }

    /// Whether the match waits for no audit, when all pairings are played.
    pub(super) fn is_settled(&self) -> bool {
        let now = self.now_ms();
        let mut state = self.state();
        let is_over = state.stop.is_some() || state.control.stop || state.control.paused;
        if is_over || !state.audits.is_in_progress(&state.ledger, now) {
            return true;
        }
        let since = *state.settling_since_ms.get_or_insert(now);
        let lease_ms = u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX);
        let extra_ms = lease_ms.saturating_add(state.ledger.mean_ms().unwrap_or(0)) * EXTRA;
        since.saturating_add(extra_ms.min(MAX_EXTRA_MS)) <= now
    }

    pub(super) fn stop(&self, how: Stop) {
        let lost = {
            let mut state = self.state();
            state.stop = state.stop.max(Some(how));
            state.ledger.stop(how == Stop::Abort)
        };
        for index in lost {
            self.send(Report::Returned { index, why: ReturnReason::Withdrawn });
        }
    }
}
