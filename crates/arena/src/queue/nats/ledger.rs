//! The jobs of a match and their holders. It has no clock and no connection: the coordinator calls it for each message.
//!
//! ```text
//!  offer ──> waiting ──take──> held by a worker ──accept──> (result stored)
//!               ^                    │
//!               └── returned, failed, invalid, silent for the time of a lease, or overdue
//! ```
//!
//! Invariants:
//! - The name of a worker is the last token of the subject of its message, which the server of a farm has checked.
//! - A message counts only with the current grant of its sender. Any other one changes a counter of this match, and
//!   nothing of any worker.
//! - No message ends the match. A pairing that [`MAX_FAILED`] workers could not play is skipped.
//! - No worker keeps a job forever: a job that takes far longer than others goes to another worker that has none.
//! - A job that is given back counts for nothing. A worker that has failed or lost jobs waits before its next one.
//! - Each map is bounded by the offered pairings or by [`MAX_WORKERS`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use data_encoding::HEXLOWER;
use ring::hmac;

use crate::pairing::Pairing;
use crate::queue::nats::messages::{Grant, GrantedJob};

/// The number of workers that could not play a pairing, after which it is skipped.
const MAX_FAILED: usize = 3;

/// The maximum number of remembered workers. Those without jobs are forgotten first.
const MAX_WORKERS: usize = 20_000;

/// The number of jobs that a new worker may hold. Each finished job increases it by one.
const FIRST_JOBS: u64 = 32;

/// The maximum number of jobs that a worker may hold.
const MAX_JOBS: u64 = 4096;

/// The work of a grant of several short jobs, in milliseconds.
const BATCH_MS: u64 = 20_000;

/// The maximum number of jobs of one grant.
const MAX_BATCH: u64 = 16;

/// A job is overdue after this number of mean durations, in addition to the time of two batches and two leases.
const OVERDUE_MEANS: u64 = 10;

/// The failed and lost jobs of a worker or a pairing in a row without a delay.
const FREE_FAILURES: u32 = 2;

/// The first and the longest delay, in milliseconds. Delays double.
const DELAYS_MS: [u64; 2] = [10_000, 600_000];

/// The delay of a worker without a job, in milliseconds. A new job is announced.
const WAIT_MS: u64 = 15_000;

/// The share of the pairings that may be skipped without a pause of the match, and the least number.
const MAX_SKIPPED: (u64, u64) = (100, 10);

/// The holders of the jobs of a match.
pub(super) struct Ledger {
    id: String,
    key: hmac::Key,
    /// The term of this coordinator.
    term: u64,
    /// A silent worker loses its jobs after this time.
    lease_ms: u64,
    /// The number of the last grant, of all ledgers of the term.
    serials: Arc<AtomicU64>,
    offered: BTreeMap<u64, Offered>,
    /// The pairings without a holder, in the order of their offers. Those that were held before come first.
    waiting: VecDeque<u64>,
    workers: BTreeMap<String, WorkerRecord>,
    counts: LedgerCounts,
    stopping: bool,
    limits: LedgerLimits,
}

/// The maximum numbers of workers and of jobs at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LedgerLimits {
    pub(super) workers: Option<u64>,
    pub(super) jobs: Option<u64>,
}

/// A pairing in progress.
struct Offered {
    pairing: Pairing,
    holder: Option<Holder>,
    /// The workers that could not play it.
    failed: BTreeSet<String>,
    /// Since when no other worker has asked for jobs, after it was failed.
    lonely_since_ms: Option<u64>,
    /// How often its holders were lost.
    lost: u32,
    not_before_ms: u64,
}

struct Holder {
    worker: String,
    term: u64,
    serial: u64,
    at_ms: u64,
    until_ms: u64,
}

#[derive(Default)]
struct WorkerRecord {
    held: u64,
    finished: u64,
    /// Failed and lost jobs since the last finished one.
    failures: u32,
    not_before_ms: u64,
    seen_ms: u64,
    /// When it has got no job, because no job was left for it.
    idle_since_ms: Option<u64>,
}

impl WorkerRecord {
    fn is_idle(&self, now_ms: u64) -> bool {
        self.idle_since_ms.is_some_and(|since| now_ms <= since + 2 * WAIT_MS)
    }
}

/// The numbers of events of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LedgerCounts {
    /// Offered pairings.
    pub(super) offered: u64,
    /// Messages without a current grant of their sender, and malformed ones.
    pub(super) ignored: u64,
    /// Skipped pairings.
    pub(super) skipped: u64,
    /// Skipped pairings since the last pause of the match for them.
    recently_skipped: u64,
    /// Results that count, and the sum of their durations.
    finished: u64,
    finished_ms: u64,
}

/// The answer to a request for jobs.
#[derive(Debug)]
pub(super) enum Taken {
    Jobs(Vec<GrantedJob>),
    Wait { ms: u64 },
}

/// A job with a current grant.
#[derive(Clone, Debug)]
pub(super) struct HeldJob {
    pub(super) pairing: Pairing,
    /// The time since the grant; `None` for a grant of an earlier coordinator.
    pub(super) held_ms: Option<u64>,
}

/// A job that its worker has lost or failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ending {
    /// It waits for another worker.
    Requeued { index: u64, worker: String },
    /// It is not played.
    Skipped { pairing: Box<Pairing>, by: Vec<String> },
}

impl Ledger {
    pub(super) fn new(id: &str, key: &[u8], term: u64, lease_ms: u64) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        Self::with(id.to_owned(), key, [term, lease_ms], Arc::default())
    }

    fn with(
        id: String,
        key: hmac::Key,
        [term, lease_ms]: [u64; 2],
        serials: Arc<AtomicU64>,
    ) -> Self {
        Self {
            id,
            key,
            term,
            lease_ms,
            serials,
            offered: BTreeMap::new(),
            waiting: VecDeque::new(),
            workers: BTreeMap::new(),
            counts: LedgerCounts::default(),
            stopping: false,
            limits: LedgerLimits::default(),
        }
    }

    /// A ledger of other jobs for the same workers. A worker cannot see which one has given a job to it.
    pub(super) fn sibling(&self, purpose: &str) -> Self {
        let (id, key) = (format!("{}/{purpose}", self.id), self.key.clone());
        Self::with(id, key, [self.term, self.lease_ms], Arc::clone(&self.serials))
    }

    /// A number of an index between 0 and 1 that no worker can predict.
    #[expect(clippy::cast_precision_loss, reason = "a probability needs no more precision")]
    pub(super) fn chance(&self, index: u64) -> f64 {
        let tag = hmac::sign(&self.key, format!("chance of {} {index}", self.id).as_bytes());
        let (start, _) = tag.as_ref().split_first_chunk().unwrap_or((&[0; 8], &[]));
        u64::from_le_bytes(*start) as f64 / u64::MAX as f64
    }

    pub(super) fn counts(&self) -> LedgerCounts {
        self.counts
    }

    pub(super) fn offer(&mut self, pairing: Pairing) {
        let index = pairing.index;
        let offered = Offered {
            pairing,
            holder: None,
            failed: BTreeSet::new(),
            lonely_since_ms: None,
            lost: 0,
            not_before_ms: 0,
        };
        if self.offered.insert(index, offered).is_none() {
            self.counts.offered += 1;
            self.waiting.push_back(index);
        }
    }

    /// Whether a pairing is offered.
    pub(super) fn has(&self, index: u64) -> bool {
        self.offered.contains_key(&index)
    }

    /// An offered pairing.
    pub(super) fn pairing(&self, index: u64) -> Option<&Pairing> {
        self.offered.get(&index).map(|offered| &offered.pairing)
    }

    /// Keeps an offered pairing from workers, until it is [put back](Self::put_back) or removed.
    pub(super) fn hold_back(&mut self, index: u64) {
        self.waiting.retain(|&waiting| waiting != index);
    }

    /// Gives a pairing to workers again.
    pub(super) fn put_back(&mut self, index: u64) {
        self.requeue(index);
    }

    /// Whether a worker holds the job of a pairing.
    pub(super) fn is_held(&self, index: u64) -> bool {
        self.offered.get(&index).is_some_and(|offered| offered.holder.is_some())
    }

    /// Whether a worker holds a job.
    pub(super) fn is_played(&self) -> bool {
        self.offered.values().any(|offered| offered.holder.is_some())
    }

    /// Takes the jobs of a worker, which is excluded, and forgets it.
    pub(super) fn take_from(&mut self, worker: &str) -> Vec<u64> {
        let held = self.offered.iter().filter(|(_, offered)| {
            offered.holder.as_ref().is_some_and(|holder| holder.worker == worker)
        });
        let held: Vec<u64> = held.map(|(&index, _)| index).collect();
        for &index in &held {
            self.requeue(index);
        }
        self.workers.remove(worker);
        held
    }

    /// The number of pairings without a holder.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The number of offered pairings.
    pub(super) fn len(&self) -> usize {
        self.offered.len()
    }

    /// Withdraws the pairings without a holder, or all of them.
    pub(super) fn stop(&mut self, all: bool) -> Vec<u64> {
        self.stopping = true;
        let is_over = |offered: &Offered| all || offered.holder.is_none();
        let over = self.offered.iter().filter(|(_, offered)| is_over(offered));
        let over: Vec<u64> = over.map(|(&index, _)| index).collect();
        for &index in &over {
            self.remove(index);
        }
        self.waiting.clear();
        over
    }

    /// Withdraws a pairing.
    pub(super) fn remove(&mut self, index: u64) {
        self.release(index);
        self.offered.remove(&index);
        self.waiting.retain(|&waiting| waiting != index);
    }

    /// Whether the match is being stopped: jobs that are given back are withdrawn.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Limits the next grants. Jobs in progress continue.
    pub(super) fn set_limits(&mut self, limits: LedgerLimits) {
        self.limits = limits;
    }

    /// Whether a worker may begin to play, in addition to those that hold jobs and `others` that prepare the match.
    pub(super) fn may_begin(&self, worker: &str, others: u64) -> bool {
        let Some(limit) = self.limits.workers else { return true };
        let holds = |(name, record): (&String, &WorkerRecord)| record.held > 0 && name != worker;
        let holding = self.workers.iter().filter(|entry| holds(*entry)).count() as u64;
        holding + others < limit
    }

    /// The number of jobs that may be given out now.
    fn free_jobs(&self) -> u64 {
        let Some(limit) = self.limits.jobs else { return u64::MAX };
        limit.saturating_sub(self.workers.values().map(|record| record.held).sum())
    }

    /// Gives jobs to a worker.
    pub(super) fn take(&mut self, worker: &str, now_ms: u64) -> Taken {
        self.take_if(worker, now_ms, |_| true)
    }

    /// Gives jobs to a worker, only those that it may have.
    pub(super) fn take_if(
        &mut self,
        worker: &str,
        now_ms: u64,
        may_have: impl Fn(u64) -> bool,
    ) -> Taken {
        if !self.may_begin(worker, 0) {
            return Taken::Wait { ms: WAIT_MS };
        }
        let batch = self.batch().min(self.free_jobs());
        let Some(record) = self.record(worker, now_ms) else { return Taken::Wait { ms: WAIT_MS } };
        if now_ms < record.not_before_ms {
            return Taken::Wait { ms: record.not_before_ms - now_ms };
        }
        let most = (FIRST_JOBS + record.finished).min(MAX_JOBS);
        let room = most.saturating_sub(record.held).min(batch);
        let mut jobs = Vec::new();
        for _ in 0..room {
            let Some(index) = self.choose(worker, now_ms, &may_have) else { break };
            jobs.extend(self.grant(worker, index, now_ms));
        }
        if let Some(record) = self.workers.get_mut(worker) {
            record.idle_since_ms = (jobs.is_empty() && room > 0).then_some(now_ms);
        }
        if jobs.is_empty() { Taken::Wait { ms: WAIT_MS } } else { Taken::Jobs(jobs) }
    }

    /// The mean duration of a job, if any is finished.
    pub(super) fn mean_ms(&self) -> Option<u64> {
        let LedgerCounts { finished, finished_ms, .. } = self.counts;
        finished_ms.checked_div(finished)
    }

    /// The number of jobs of one grant: several short ones.
    fn batch(&self) -> u64 {
        let mean = self.mean_ms();
        // Near the end of the match all workers get jobs.
        let share = u64::try_from(self.waiting.len() / 4).unwrap_or(u64::MAX).max(1);
        mean.map_or(1, |mean| (BATCH_MS / mean.max(1)).clamp(1, MAX_BATCH)).min(share)
    }

    fn choose(
        &mut self,
        worker: &str,
        now_ms: u64,
        may_have: &impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let mut waiting = self.waiting.iter();
        let position =
            waiting.position(|&index| self.is_for(worker, index, now_ms) && may_have(index))?;
        self.waiting.remove(position)
    }

    fn is_for(&self, worker: &str, index: u64, now_ms: u64) -> bool {
        self.offered.get(&index).is_some_and(|offered| {
            offered.not_before_ms <= now_ms && !offered.failed.contains(worker)
        })
    }

    /// The pairings without a holder that a worker has not failed.
    pub(super) fn waiting_for(&self, worker: &str, now_ms: u64) -> impl Iterator<Item = u64> {
        self.waiting.iter().copied().filter(move |&index| self.is_for(worker, index, now_ms))
    }

    /// The workers of the match.
    pub(super) fn active(&self, now_ms: u64) -> impl Iterator<Item = &str> {
        let timeout_ms = 2 * self.lease_ms;
        let active =
            self.workers.iter().filter(move |(_, record)| now_ms <= record.seen_ms + timeout_ms);
        active.map(|(worker, _)| worker.as_str())
    }

    /// The workers that have got no job.
    pub(super) fn idle(&self, now_ms: u64) -> impl Iterator<Item = &str> {
        let idle = self.workers.iter().filter(move |(_, record)| record.is_idle(now_ms));
        idle.map(|(worker, _)| worker.as_str())
    }

    /// A worker has sent a message.
    pub(super) fn see(&mut self, worker: &str, now_ms: u64) {
        self.record(worker, now_ms);
    }

    /// A worker has got another job.
    pub(super) fn set_busy(&mut self, worker: &str) {
        if let Some(record) = self.workers.get_mut(worker) {
            record.idle_since_ms = None;
        }
    }

    fn grant(&mut self, worker: &str, index: u64, now_ms: u64) -> Option<GrantedJob> {
        let serial = self.serials.fetch_add(1, Ordering::Relaxed) + 1;
        let term = self.term;
        let mut grant = Grant { index, term, serial, at_ms: now_ms, mac: String::new() };
        grant.mac = self.mac(worker, &grant);
        let until_ms = now_ms + self.lease_ms;
        let offered = self.offered.get_mut(&index)?;
        let worker = worker.to_owned();
        offered.holder =
            Some(Holder { worker: worker.clone(), term, serial, at_ms: now_ms, until_ms });
        let pairing = offered.pairing.clone();
        self.workers.entry(worker).or_default().held += 1;
        Some(GrantedJob { grant, pairing, replay: None })
    }

    /// What the code of a grant authenticates.
    fn claim(&self, worker: &str, grant: &Grant) -> String {
        let Grant { index, term, serial, at_ms, .. } = grant;
        format!("{} {worker} {index} {term} {serial} {at_ms}", self.id)
    }

    fn mac(&self, worker: &str, grant: &Grant) -> String {
        HEXLOWER.encode(hmac::sign(&self.key, self.claim(worker, grant).as_bytes()).as_ref())
    }

    /// Whether a coordinator has given this grant of this ledger to a worker.
    pub(super) fn is_genuine(&self, worker: &str, grant: &Grant) -> bool {
        let claim = self.claim(worker, grant);
        HEXLOWER
            .decode(grant.mac.as_bytes())
            .is_ok_and(|tag| hmac::verify(&self.key, claim.as_bytes(), &tag).is_ok())
    }

    /// Whether an earlier coordinator has given this grant to a worker.
    pub(super) fn is_earlier(&self, worker: &str, grant: &Grant) -> bool {
        grant.term < self.term && self.is_genuine(worker, grant)
    }

    /// The job of a grant, if it is the current one of its sender. Otherwise the message counts as ignored.
    pub(super) fn held(&mut self, worker: &str, grant: &Grant, now_ms: u64) -> Option<HeldJob> {
        let is_current = self.is_genuine(worker, grant) && {
            self.adopt(worker, grant, now_ms);
            let holder = self.offered.get(&grant.index).and_then(|offered| offered.holder.as_ref());
            holder.is_some_and(|holder| {
                (holder.worker.as_str(), holder.term, holder.serial)
                    == (worker, grant.term, grant.serial)
            })
        };
        let offered = self.offered.get(&grant.index).filter(|_| is_current);
        let Some(offered) = offered else {
            self.ignore();
            return None;
        };
        let is_own = grant.term == self.term;
        let held_ms = offered.holder.as_ref().map(|holder| now_ms.saturating_sub(holder.at_ms));
        Some(HeldJob { pairing: offered.pairing.clone(), held_ms: held_ms.filter(|_| is_own) })
    }

    /// Counts a message that has no effect.
    pub(super) fn ignore(&mut self) {
        self.counts.ignored = self.counts.ignored.saturating_add(1);
    }

    /// A genuine grant of an earlier coordinator is valid as long as no other worker holds the pairing.
    fn adopt(&mut self, worker: &str, grant: &Grant, now_ms: u64) {
        if grant.term >= self.term || self.record(worker, now_ms).is_none() {
            return;
        }
        let until_ms = now_ms + self.lease_ms;
        let Some(offered) = self.offered.get_mut(&grant.index) else { return };
        if offered.holder.is_some() || offered.failed.contains(worker) {
            return;
        }
        let (term, serial) = (grant.term, grant.serial);
        let holder = Holder { worker: worker.to_owned(), term, serial, at_ms: now_ms, until_ms };
        offered.holder = Some(holder);
        self.workers.entry(worker.to_owned()).or_default().held += 1;
        self.waiting.retain(|&waiting| waiting != grant.index);
    }

    /// The worker still plays a job.
    pub(super) fn renew(&mut self, worker: &str, grant: &Grant, now_ms: u64) {
        if self.held(worker, grant, now_ms).is_none() {
            return;
        }
        let until_ms = now_ms + self.lease_ms;
        let offered = self.offered.get_mut(&grant.index);
        if let Some(holder) = offered.and_then(|offered| offered.holder.as_mut()) {
            holder.until_ms = until_ms;
        }
        self.record(worker, now_ms);
    }

    /// The worker gives a job back. Returns whether it had it.
    pub(super) fn give_back(&mut self, worker: &str, grant: &Grant, now_ms: u64) -> bool {
        let is_held = self.held(worker, grant, now_ms).is_some();
        if is_held {
            self.requeue(grant.index);
        }
        is_held
    }

    /// The result of a held job counts.
    pub(super) fn accept(&mut self, worker: &str, index: u64, duration_ms: u64) {
        self.remove(index);
        self.counts.finished += 1;
        self.counts.finished_ms = self.counts.finished_ms.saturating_add(duration_ms);
        if let Some(record) = self.workers.get_mut(worker) {
            record.finished += 1;
            record.failures = 0;
        }
    }

    /// The result of a held job does not count.
    pub(super) fn reject(&mut self, worker: &str, index: u64, now_ms: u64) {
        self.requeue(index);
        self.count_failure(worker, now_ms);
    }

    /// The worker could not play a held job.
    pub(super) fn fail(&mut self, worker: &str, index: u64, now_ms: u64) -> Ending {
        self.requeue(index);
        self.count_failure(worker, now_ms);
        let failed = self.offered.get_mut(&index).map(|offered| {
            offered.failed.insert(worker.to_owned());
            offered.failed.len()
        });
        if failed.is_some_and(|failed| failed >= MAX_FAILED)
            && let Some(skipped) = self.skip(index)
        {
            return skipped;
        }
        Ending::Requeued { index, worker: worker.to_owned() }
    }

    fn skip(&mut self, index: u64) -> Option<Ending> {
        let offered = self.offered.get_mut(&index)?;
        let by = std::mem::take(&mut offered.failed).into_iter().collect();
        let pairing = Box::new(offered.pairing.clone());
        self.remove(index);
        self.counts.skipped += 1;
        self.counts.recently_skipped += 1;
        Some(Ending::Skipped { pairing, by })
    }

    /// Whether enough pairings were skipped to show that the match has another fault.
    pub(super) fn has_skipped_too_many(&self) -> bool {
        let (share, least) = MAX_SKIPPED;
        self.counts.recently_skipped > (self.counts.offered / share).max(least)
    }

    /// Counts skipped pairings from 0 again, since a user may continue the match after its pause.
    pub(super) fn clear_skipped(&mut self) {
        self.counts.recently_skipped = 0;
    }

    /// Takes jobs from silent workers and overdue ones, and skips pairings that all workers of the match could not play.
    pub(super) fn tick(&mut self, now_ms: u64) -> Vec<Ending> {
        let mut endings = Vec::new();
        let lost = self.offered.iter().filter_map(|(&index, offered)| {
            let holder = offered.holder.as_ref()?;
            let is_lost = holder.until_ms < now_ms || self.is_overdue(offered, holder, now_ms);
            is_lost.then(|| (index, holder.worker.clone()))
        });
        for (index, worker) in lost.collect::<Vec<_>>() {
            self.requeue(index);
            self.count_failure(&worker, now_ms);
            if let Some(offered) = self.offered.get_mut(&index) {
                offered.lost = offered.lost.saturating_add(1);
                offered.not_before_ms = now_ms + delay_ms(offered.lost);
            }
            endings.push(Ending::Requeued { index, worker });
        }
        let abandoned = self.abandoned(now_ms);
        endings.extend(abandoned.into_iter().filter_map(|index| self.skip(index)));
        endings
    }

    /// Whether a job delays the match by its duration: another worker has none, or the match is being stopped. A
    /// worker may renew a job that it does not play.
    fn is_overdue(&self, offered: &Offered, holder: &Holder, now_ms: u64) -> bool {
        let Some(mean) = self.mean_ms() else { return false };
        let most =
            mean.saturating_mul(OVERDUE_MEANS).saturating_add(2 * (BATCH_MS + self.lease_ms));
        // The next worker has more time, since the job may be a long one.
        let until_ms = holder.at_ms.saturating_add(most.saturating_mul(1 << offered.lost.min(16)));
        let mut workers = self.workers.iter();
        until_ms < now_ms
            && (self.stopping
                || workers.any(|(name, record)| *name != holder.worker && record.is_idle(now_ms)))
    }

    /// The pairings that all workers of the match have failed, for the time of two leases.
    fn abandoned(&mut self, now_ms: u64) -> Vec<u64> {
        let timeout_ms = 2 * self.lease_ms;
        let active: BTreeSet<String> = self.active(now_ms).map(str::to_owned).collect();
        let mut abandoned = Vec::new();
        for (&index, offered) in &mut self.offered {
            if offered.failed.is_empty() || offered.holder.is_some() {
                continue;
            }
            if active.iter().any(|worker| !offered.failed.contains(worker)) {
                offered.lonely_since_ms = None;
                continue;
            }
            let since = *offered.lonely_since_ms.get_or_insert(now_ms);
            if since + timeout_ms <= now_ms {
                abandoned.push(index);
            }
        }
        abandoned
    }

    /// Puts a pairing before those without an earlier holder.
    fn requeue(&mut self, index: u64) {
        self.release(index);
        if self.offered.contains_key(&index) && !self.waiting.contains(&index) {
            self.waiting.push_front(index);
        }
    }

    fn release(&mut self, index: u64) {
        let holder = self.offered.get_mut(&index).and_then(|offered| offered.holder.take());
        let Some(holder) = holder else { return };
        if let Some(record) = self.workers.get_mut(&holder.worker) {
            record.held = record.held.saturating_sub(1);
        }
    }

    fn count_failure(&mut self, worker: &str, now_ms: u64) {
        if let Some(record) = self.workers.get_mut(worker) {
            record.failures = record.failures.saturating_add(1);
            record.not_before_ms = now_ms + delay_ms(record.failures);
        }
    }

    /// The record of a worker; `None` if there are too many workers with jobs.
    fn record(&mut self, worker: &str, now_ms: u64) -> Option<&mut WorkerRecord> {
        if self.workers.len() >= MAX_WORKERS && !self.workers.contains_key(worker) {
            self.workers.retain(|_, record| record.held > 0 || now_ms < record.not_before_ms);
            if self.workers.len() >= MAX_WORKERS {
                return None;
            }
        }
        let record = self.workers.entry(worker.to_owned()).or_default();
        record.seen_ms = now_ms;
        Some(record)
    }
}

/// The delay after this number of failures in a row.
fn delay_ms(failures: u32) -> u64 {
    let [first, longest] = DELAYS_MS;
    let Some(doublings) = failures.checked_sub(FREE_FAILURES + 1) else { return 0 };
    first.saturating_mul(1 << doublings.min(16)).min(longest)
}

#[cfg(test)]
mod tests;
