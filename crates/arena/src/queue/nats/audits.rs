//! The audits of a match: workers of other owners play some pairs again. It has no clock and no connection.
//!
//! ```text
//!  stored pair ──selected──> open ──take──> worker of another owner ──> equal: made
//!                             ^                                    └──> differing: a third opinion decides
//!                             └──────── another opinion ────────────────────┘
//! ```
//!
//! Invariants:
//! - The first pairs of each worker are audited, and a share of all pairs that depends on the key of the match: no worker
//!   can predict which, or distinguish an audit of moves from another job.
//! - An opinion counts once per owner. A worker is accused only by the equal games of two owners, if fewer owners have its
//!   games. If the games of three owners differ, the engines are not deterministic, and no worker is accused.
//! - Games on time are never equal. They are replayed by the recorded numbers of nodes, and accuse no worker.
//! - An audit changes no result.
//! - Each map is bounded by [`MAX_OPEN`], [`MAX_MADE`] or [`MAX_WORKERS`].

use std::collections::{BTreeMap, BTreeSet};

use readyok_rules::{Side, Termination};
use serde::{Deserialize, Serialize};

use crate::game::{Agreement, Replay};
use crate::pairing::{PairResult, Pairing};
use crate::plan::{EnginePlan, Plan};
use crate::queue::nats::ledger::{Ending, HeldJob, Ledger, Taken};
use crate::queue::nats::messages::{Grant, write};
use crate::queue::nats::permissions::owner_of;
use crate::queue::status::{AuditGap, AuditStatus};
use crate::result::{MatchGame, Variation};
use crate::worker_stats::ReplayedPairs;

/// The share of the pairs that are audited.
const SHARE: f64 = 0.02;

/// The number of pairs of a worker that are audited in any case.
const FIRST_PAIRS: u64 = 3;

/// The maximum number of open audits. The oldest one without an auditor is not made then.
const MAX_OPEN: usize = 512;

/// The maximum number of audits of a match.
const MAX_MADE: usize = 50_000;

/// The maximum number of workers whose pairs are counted.
const MAX_WORKERS: usize = 20_000;

/// The maximum number of opinions of an audit.
const MAX_OPINIONS: usize = 5;

/// The number of opinions after which only a further owner is asked.
const OPINIONS_OF_ALL: usize = 3;

/// The maximum length of a stored record: the server limits that of a message.
const MAX_RECORD: usize = 512 << 10;

/// How the pairs of a match are audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    /// The moves must be equal.
    Moves,
    /// The recorded games are replayed.
    Replays,
}

impl Comparison {
    /// `None` if the engines have no limits.
    fn of(plan: &Plan) -> Option<Self> {
        let is_timed = |engine: &EnginePlan| {
            let limits = engine.limits;
            limits.tc.is_some() || limits.byoyomi_ms.is_some() || limits.move_time_ms.is_some()
        };
        let is_limited = |engine: &EnginePlan| {
            is_timed(engine) || engine.limits.nodes.is_some() || engine.limits.depth.is_some()
        };
        let threads = |engine: &EnginePlan| {
            let mut options = engine.options.iter();
            let option = options.find(|(name, _)| name.eq_ignore_ascii_case("Threads"));
            option.map_or("1", |(_, value)| value.trim()).to_owned()
        };
        let may_differ =
            |engine: &EnginePlan| is_timed(engine) || engine.ponder || threads(engine) != "1";
        plan.engines
            .iter()
            .all(is_limited)
            .then(|| if plan.engines.iter().any(may_differ) { Self::Replays } else { Self::Moves })
    }
}

/// The audits of a match.
pub(super) struct Audits {
    comparison: Option<Comparison>,
    has_verified_names: bool,
    jobs: Ledger,
    open: BTreeMap<u64, Audit>,
    /// The number of stored pairs of each worker.
    pairs: BTreeMap<String, u64>,
    record: AuditRecord,
    /// Whether the record has changed since it was stored.
    has_changed: bool,
    /// Whether there is a new job that a worker waits for.
    is_new: bool,
    /// The owners of the workers of the match.
    parties: BTreeSet<String>,
}

/// What a later coordinator must know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct AuditRecord {
    /// The audited pairs by the worker that has made the last audit.
    made: BTreeMap<String, BTreeSet<u64>>,
    differing: u64,
    not_made: u64,
    is_not_deterministic: bool,
    /// Further opinions about open audits with different ones.
    opinions: BTreeMap<u64, Vec<Opinion>>,
    replays: BTreeMap<String, ReplayedPairs>,
}

struct Audit {
    /// The first one is that of the stored pair.
    opinions: Vec<Opinion>,
    replay: Option<Box<Replay>>,
}

/// The games of a pair as a worker has played them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Opinion {
    worker: String,
    games: Vec<PlayedGame>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PlayedGame {
    moves: Variation,
    winner: Option<Side>,
    end: Termination,
}

/// What an opinion has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The games of two workers differ: another opinion is needed.
    Differing { workers: [String; 2] },
    /// The games of a worker are not those of two others.
    Accused { worker: String, others: [String; 2] },
    /// All opinions differ.
    NotDeterministic { workers: Vec<String> },
}

impl Opinion {
    fn of(worker: &str, result: &PairResult) -> Self {
        let games = result.games.iter().map(PlayedGame::of).collect();
        Self { worker: worker.to_owned(), games }
    }

    fn agrees(&self, other: &Self) -> bool {
        self.games.len() == other.games.len()
            && self.games.iter().zip(&other.games).all(|(one, other)| one.agrees(other))
    }

    /// Whether all games have ended by their moves.
    fn is_conclusive(&self) -> bool {
        self.games.iter().all(PlayedGame::has_ended_by_moves)
    }
}

impl PlayedGame {
    fn of(game: &MatchGame) -> Self {
        let moves = game.moves.iter().map(|made| made.mv.as_str().to_owned()).collect();
        Self { moves, winner: game.winner, end: game.end.termination }
    }

    /// Whether an end does not depend on the host.
    fn has_ended_by_moves(&self) -> bool {
        !matches!(
            self.end,
            Termination::TimeForfeit
                | Termination::EngineStall
                | Termination::EngineCrash
                | Termination::EngineStartFailure
                | Termination::TablebaseAdjudication
        )
    }

    /// Whether both games have the same moves. A game that a host has ended has their start.
    fn agrees(&self, other: &Self) -> bool {
        let starts = |short: &Self, long: &Self| {
            let mut moves = long.moves.tokens();
            short.moves.tokens().all(|mv| moves.next() == Some(mv))
        };
        match (self.has_ended_by_moves(), other.has_ended_by_moves()) {
            (true, true) => self == other,
            (false, true) => starts(self, other),
            (true, false) => starts(other, self),
            (false, false) => starts(self, other) || starts(other, self),
        }
    }
}

impl Audits {
    /// The audits of a match, whose jobs are granted with the key of its ledger.
    pub(super) fn new(
        plan: &Plan,
        jobs: &Ledger,
        has_verified_names: bool,
        record: AuditRecord,
    ) -> Self {
        Self {
            comparison: Comparison::of(plan),
            has_verified_names,
            jobs: jobs.sibling("audits"),
            open: BTreeMap::new(),
            pairs: BTreeMap::new(),
            record,
            has_changed: false,
            is_new: false,
            parties: BTreeSet::new(),
        }
    }

    /// The record as it is stored, if it has changed since the last call.
    pub(super) fn take_changed(&mut self) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        let text = write(&self.record).ok()?;
        if text.len() <= MAX_RECORD {
            return Some(text);
        }
        // A later coordinator asks for these opinions again.
        write(&AuditRecord { opinions: BTreeMap::new(), ..self.record.clone() }).ok()
    }

    /// The record could not be stored.
    pub(super) fn set_changed(&mut self) {
        self.has_changed = true;
    }

    fn party_of<'a>(&self, worker: &'a str) -> &'a str {
        // Without verified names, the owner is unknown.
        if self.has_verified_names { owner_of(worker) } else { worker }
    }

    fn is_active(&self) -> bool {
        match self.comparison {
            Some(Comparison::Moves) => !self.record.is_not_deterministic,
            Some(Comparison::Replays) => true,
            None => false,
        }
    }

    fn made(&self) -> usize {
        self.record.made.values().map(BTreeSet::len).sum()
    }

    fn is_made(&self, index: u64) -> bool {
        self.record.made.values().any(|made| made.contains(&index))
    }

    /// A pair is stored, or was restored: it may be audited.
    pub(super) fn on_pair(&mut self, pair: &PairResult) {
        let Some(worker) = &pair.worker else { return };
        let index = pair.pairing.index;
        let is_known = self.pairs.len() < MAX_WORKERS || self.pairs.contains_key(&worker.0);
        let is_first = is_known && {
            let count = self.pairs.entry(worker.0.clone()).or_default();
            *count += 1;
            *count <= FIRST_PAIRS
        };
        let is_selected = is_first || self.jobs.chance(index) < SHARE;
        if !is_selected || !self.is_active() || self.open.contains_key(&index) {
            return;
        }
        if self.is_made(index) || MAX_MADE <= self.made() {
            return;
        }
        let replay = (self.comparison == Some(Comparison::Replays)).then(|| Replay::of(pair));
        if replay.as_ref().is_some_and(|replay| replay.searches() == 0) {
            return;
        }
        if MAX_OPEN <= self.open.len() {
            let oldest = self.open.keys().copied().find(|&index| !self.jobs.is_held(index));
            let Some(oldest) = oldest else { return };
            self.abandon(oldest);
        }
        let mut opinions = vec![Opinion::of(&worker.0, pair)];
        opinions.extend(self.record.opinions.get(&index).cloned().unwrap_or_default());
        self.open.insert(index, Audit { opinions, replay: replay.map(Box::new) });
        self.jobs.offer(pair.pairing.clone());
        self.is_new = true;
    }

    /// Closes an audit.
    fn close(&mut self, index: u64) {
        self.open.remove(&index);
        self.jobs.remove(index);
        self.has_changed |= self.record.opinions.remove(&index).is_some();
    }

    fn abandon(&mut self, index: u64) {
        self.close(index);
        self.record.not_made += 1;
        self.has_changed = true;
    }

    fn finish(&mut self, index: u64, auditor: &str) {
        self.close(index);
        self.record.made.entry(auditor.to_owned()).or_default().insert(index);
        self.has_changed = true;
    }

    /// Abandons all open audits, at the end of the match.
    pub(super) fn abandon_all(&mut self) {
        for index in self.open.keys().copied().collect::<Vec<_>>() {
            self.abandon(index);
        }
    }

    /// Pairs do not count any more, and the remaining ones are restored again.
    pub(super) fn discard(&mut self, indices: &[u64]) {
        self.pairs.clear();
        for index in indices {
            self.close(*index);
            for made in self.record.made.values_mut() {
                made.remove(index);
            }
        }
        self.has_changed = true;
    }

    /// The opinions of a worker do not count any more. What it has audited is audited again when it is restored.
    pub(super) fn exclude(&mut self, worker: &str) {
        self.jobs.take_from(worker);
        let mut own = Vec::new();
        for (&index, audit) in &mut self.open {
            if audit.opinions.first().is_some_and(|opinion| opinion.worker == worker) {
                own.push(index);
            }
            audit.opinions.retain(|opinion| opinion.worker != worker);
        }
        for index in own {
            self.close(index);
        }
        for opinions in self.record.opinions.values_mut() {
            opinions.retain(|opinion| opinion.worker != worker);
        }
        self.record.made.remove(worker);
        self.record.replays.remove(worker);
        self.has_changed = true;
    }

    /// Whether a worker may give the next opinion.
    fn may_audit(&self, worker: &str, index: u64) -> bool {
        let Some(Audit { opinions, .. }) = self.open.get(&index) else { return false };
        if opinions.iter().any(|opinion| opinion.worker == worker) {
            return false;
        }
        let is_known =
            |party: &str| opinions.iter().any(|opinion| self.party_of(&opinion.worker) == party);
        if !is_known(self.party_of(worker)) {
            return true;
        }
        // The workers of two owners may be asked for a third opinion, if there is no other one.
        let mut owners = opinions.iter().map(|opinion| self.party_of(&opinion.worker));
        let first = owners.next();
        let has_two = owners.any(|party| Some(party) != first);
        has_two
            && opinions.len() < OPINIONS_OF_ALL
            && self.parties.iter().all(|party| is_known(party))
    }

    /// Gives audits to a worker.
    pub(super) fn take(&mut self, worker: &str, now_ms: u64) -> Taken {
        if self.jobs.waiting() == 0 {
            return Taken::Wait { ms: 0 };
        }
        let party = self.party_of(worker);
        if !self.parties.contains(party) {
            self.parties.insert(party.to_owned());
        }
        let waiting = self.jobs.waiting_for(worker, now_ms);
        let may: BTreeSet<u64> = waiting.filter(|&index| self.may_audit(worker, index)).collect();
        let mut taken = self.jobs.take_if(worker, now_ms, |index| may.contains(&index));
        if let Taken::Jobs(jobs) = &mut taken {
            for job in jobs {
                let audit = self.open.get(&job.pairing.index);
                job.replay = audit.and_then(|audit| audit.replay.clone());
            }
        }
        taken
    }

    /// Whether one of these workers could make a waiting audit.
    fn is_possible<'a>(&self, workers: impl Iterator<Item = &'a str>, now_ms: u64) -> bool {
        let mut by_party: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for worker in workers {
            by_party.entry(self.party_of(worker)).or_default().push(worker);
        }
        let could = |workers: &Vec<&str>| {
            // The first workers represent the others of their owner, except for its own opinions and failures.
            workers.iter().take(MAX_OPINIONS + 1).any(|worker| {
                let mut waiting = self.jobs.waiting_for(worker, now_ms);
                waiting.any(|index| self.may_audit(worker, index))
            })
        };
        by_party.values().any(could)
    }

    /// Whether audits are possible or in progress.
    pub(super) fn is_in_progress(&self, ledger: &Ledger, now_ms: u64) -> bool {
        self.jobs.is_played()
            || (self.jobs.waiting() > 0 && self.is_possible(ledger.active(now_ms), now_ms))
    }

    /// Whether an idle worker could make an audit.
    pub(super) fn is_waited_for(&self, ledger: &Ledger, now_ms: u64) -> bool {
        self.jobs.waiting() > 0 && self.is_possible(ledger.idle(now_ms), now_ms)
    }

    /// Whether there is a new job for an idle worker since the last call.
    pub(super) fn take_new(&mut self, ledger: &Ledger, now_ms: u64) -> bool {
        std::mem::take(&mut self.is_new) && self.is_waited_for(ledger, now_ms)
    }

    /// Whether a grant is one of an open audit.
    pub(super) fn is_of(&self, worker: &str, grant: &Grant) -> bool {
        // Most messages are of pairs, and need no authentication here.
        self.jobs.has(grant.index) && self.jobs.is_genuine(worker, grant)
    }

    /// The audit of a grant, if it is the current one of its sender.
    pub(super) fn held(&mut self, worker: &str, grant: &Grant, now_ms: u64) -> Option<HeldJob> {
        self.jobs.held(worker, grant, now_ms)
    }

    /// The recorded games of an audit.
    pub(super) fn replay(&self, index: u64) -> Option<&Replay> {
        self.open.get(&index)?.replay.as_deref()
    }

    pub(super) fn renew(&mut self, worker: &str, grant: &Grant, now_ms: u64) {
        self.jobs.renew(worker, grant, now_ms);
    }

    pub(super) fn give_back(&mut self, worker: &str, grant: &Grant, now_ms: u64) {
        self.is_new |= self.jobs.give_back(worker, grant, now_ms);
    }

    pub(super) fn reject(&mut self, worker: &str, index: u64, now_ms: u64) {
        self.jobs.reject(worker, index, now_ms);
        self.is_new = true;
    }

    /// A worker could not make an audit.
    pub(super) fn fail(&mut self, worker: &str, index: u64, now_ms: u64) {
        let ending = self.jobs.fail(worker, index, now_ms);
        self.on_ending(&ending);
    }

    fn on_ending(&mut self, ending: &Ending) {
        match ending {
            Ending::Requeued { .. } => self.is_new = true,
            Ending::Skipped { pairing, .. } => self.abandon(pairing.index),
        }
    }

    /// Finds lost auditors.
    pub(super) fn tick(&mut self, ledger: &Ledger, now_ms: u64) {
        for ending in self.jobs.tick(now_ms) {
            self.on_ending(&ending);
        }
        self.parties =
            ledger.active(now_ms).map(|worker| self.party_of(worker).to_owned()).collect();
    }

    /// A worker has replayed recorded games.
    pub(super) fn on_replayed(&mut self, worker: &str, index: u64, agreement: Agreement) {
        let Some(audit) = self.open.get(&index) else { return };
        let duration_ms = audit.replay.as_ref().map_or(0, |replay| replay.max_ms);
        let audited = audit.opinions.first().map(|opinion| opinion.worker.clone());
        if let Some(audited) = audited {
            self.jobs.accept(worker, index, duration_ms);
            self.record.replays.entry(audited).or_default().add(agreement);
            self.finish(index, worker);
        }
    }

    /// The replayed pairs of each worker.
    pub(super) fn replays(&self) -> &BTreeMap<String, ReplayedPairs> {
        &self.record.replays
    }

    /// A worker has played an audited pair again, with a valid result.
    pub(super) fn on_done(
        &mut self,
        worker: &str,
        pairing: &Pairing,
        result: &PairResult,
        now_ms: u64,
    ) -> Vec<Finding> {
        let index = pairing.index;
        let opinion = Opinion::of(worker, result);
        let Some(audit) = self.open.get_mut(&index) else { return Vec::new() };
        if !opinion.is_conclusive() {
            self.fail(worker, index, now_ms);
            return Vec::new();
        }
        let is_first_difference = audit.opinions.len() == 1;
        audit.opinions.push(opinion.clone());
        let opinions = audit.opinions.clone();
        let duration = result.games.iter().map(|game| game.duration_ms);
        self.jobs.accept(worker, index, duration.fold(0, u64::saturating_add));
        let verdict = self.judge(&opinions);
        if is_first_difference && !matches!(verdict, Verdict::Agreed { .. }) {
            self.record.differing += 1;
        }
        let name = |number: usize| opinions.get(number).map_or("", |it| &it.worker).to_owned();
        match verdict {
            Verdict::Agreed { by, dissenters } => {
                self.finish(index, worker);
                let accused =
                    |number| Finding::Accused { worker: name(number), others: by.map(name) };
                dissenters.into_iter().map(accused).collect()
            }
            Verdict::NotDeterministic => {
                self.record.is_not_deterministic = true;
                self.finish(index, worker);
                self.abandon_all();
                let workers = opinions.into_iter().map(|opinion| opinion.worker).collect();
                vec![Finding::NotDeterministic { workers }]
            }
            Verdict::Undecided if MAX_OPINIONS <= opinions.len() => {
                self.abandon(index);
                Vec::new()
            }
            Verdict::Undecided => {
                self.record.opinions.entry(index).or_default().push(opinion);
                self.has_changed = true;
                self.jobs.offer(pairing.clone());
                self.is_new = true;
                let differing = Finding::Differing { workers: [name(0), name(1)] };
                is_first_difference.then_some(differing).into_iter().collect()
            }
        }
    }

    fn judge(&self, opinions: &[Opinion]) -> Verdict {
        let parties: Vec<&str> =
            opinions.iter().map(|opinion| self.party_of(&opinion.worker)).collect();
        let supporters = |number: usize| -> BTreeMap<&str, usize> {
            let all = opinions.iter().zip(&parties).enumerate();
            // The first supporter of each owner.
            all.rev()
                .filter(|(_, (other, _))| opinions.get(number).is_some_and(|it| it.agrees(other)))
                .map(|(other, (_, party))| (*party, other))
                .collect()
        };
        let sides: Vec<BTreeMap<&str, usize>> = (0..opinions.len()).map(supporters).collect();
        let best = (0..opinions.len()).rev().max_by_key(|&number| sides[number].len());
        let Some((best, side)) = best.and_then(|best| Some((best, sides.get(best)?))) else {
            return Verdict::Undecided;
        };
        let mut members = side.values().copied();
        if let (Some(one), Some(other)) = (members.next(), members.next()) {
            let dissents = |number: &usize| !opinions[best].agrees(&opinions[*number]);
            let dissenters: Vec<usize> = (0..opinions.len()).filter(dissents).collect();
            let has_equal_side = dissenters.iter().any(|&number| side.len() <= sides[number].len());
            return if has_equal_side {
                Verdict::Undecided
            } else {
                Verdict::Agreed { by: [one, other], dissenters }
            };
        }
        let owners: BTreeSet<&&str> = parties.iter().collect();
        if owners.len() < 3 { Verdict::Undecided } else { Verdict::NotDeterministic }
    }

    /// The state for users. `flagged` workers have replays with few equal moves.
    pub(super) fn status(&self) -> AuditStatus {
        let gap = if self.comparison.is_none() {
            None
        } else if !self.is_active() {
            Some(AuditGap::NotDeterministic)
        } else if self.parties.len() != 1 {
            None
        } else if self.has_verified_names {
            Some(AuditGap::NoOtherOwner)
        } else {
            Some(AuditGap::NoOtherWorker)
        };
        let AuditRecord { differing, not_made, .. } = self.record;
        let open = self.open.len() as u64;
        AuditStatus { made: self.made() as u64, open, differing, not_made, flagged: 0, gap }
    }
}

/// What the opinions about a pair show.
enum Verdict {
    /// Two owners agree, and more than those with other games.
    Agreed {
        /// Workers of two owners.
        by: [usize; 2],
        dissenters: Vec<usize>,
    },
    NotDeterministic,
    Undecided,
}

#[cfg(test)]
mod tests;
