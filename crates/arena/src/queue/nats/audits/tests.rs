//! Selection, opinions of several owners, replays, exclusions and takeovers.

use super::*;
use crate::match_state::tests::{pair, plan};
use crate::pairing::WorkerId;
use crate::plan::{EngineId, GamesPerPairing};
use crate::result::MoveRecord;

const LEASE_MS: u64 = 30_000;

/// A match whose audits are tested.
struct Tested {
    plan: Plan,
    ledger: Ledger,
    audits: Audits,
    now_ms: u64,
}

fn plan_with(limits: &str) -> Plan {
    let mut plan = plan(2, GamesPerPairing::Two);
    for engine in &mut plan.engines {
        engine.limits = toml::from_str(limits).expect("limits");
    }
    plan
}

impl Tested {
    fn new(limits: &str, has_verified_names: bool) -> Self {
        Self::with(plan_with(limits), has_verified_names, AuditRecord::default())
    }

    fn with(plan: Plan, has_verified_names: bool, record: AuditRecord) -> Self {
        let ledger = Ledger::new("match", b"key", 1, LEASE_MS);
        let audits = Audits::new(&plan, &ledger, has_verified_names, record);
        Self { plan, ledger, audits, now_ms: 0 }
    }

    /// A fixed number of nodes, and verified names.
    fn of_moves() -> Self {
        Self::new("nodes = 100", true)
    }

    /// The same match with a later coordinator.
    fn later(&self) -> Self {
        let text = serde_json::to_string(&self.audits.record).expect("JSON");
        let record = serde_json::from_str(&text).expect("a record");
        Self::with(self.plan.clone(), self.audits.has_verified_names, record)
    }

    fn see(&mut self, workers: &[&str]) {
        for worker in workers {
            self.ledger.see(worker, self.now_ms);
        }
        self.audits.tick(&self.ledger, self.now_ms);
    }

    fn take(&mut self, worker: &str) -> Option<Grant> {
        self.see(&[worker]);
        match self.audits.take(worker, self.now_ms) {
            Taken::Jobs(jobs) => {
                assert_eq!(jobs.len(), 1);
                jobs.into_iter().next().map(|job| job.grant)
            }
            Taken::Wait { .. } => None,
        }
    }

    /// A worker plays its audit with these moves.
    fn play(&mut self, worker: &str, moves: &str) -> Vec<Finding> {
        let grant = self.take(worker).expect("an audit");
        let held = self.audits.held(worker, &grant, self.now_ms).expect("a current grant");
        let result = played(grant.index, worker, moves);
        self.audits.on_done(worker, &held.pairing, &result, self.now_ms)
    }

    fn counts(&self) -> (u64, u64, u64, u64) {
        let AuditStatus { made, open, differing, not_made, .. } = self.audits.status();
        (made, open, differing, not_made)
    }
}

/// A pair of a worker, whose first game has these moves.
fn played(index: u64, worker: &str, moves: &str) -> PairResult {
    let mut pair = pair(index, &(0, 1, vec![Some(Side::First), None], false));
    pair.worker = Some(WorkerId(worker.to_owned()));
    let moves = moves
        .split_whitespace()
        .map(|mv| MoveRecord { nodes: Some(100), ..MoveRecord::new(mv.parse().expect("a move")) });
    pair.games[0].moves = moves.collect();
    pair
}

const GOOD: &str = "e2e4 e7e5";
const BAD: &str = "e2e4 c7c5";
const OTHER: &str = "d2d4 d7d5";

#[test]
fn the_first_pairs_of_each_worker_and_a_share_of_all_are_selected() {
    const PAIRS: u64 = 10_000;
    let mut tested = Tested::of_moves();
    for index in 0..PAIRS {
        let worker = if index % 100 == 7 { "rare" } else { "often" };
        tested.audits.on_pair(&played(index, worker, GOOD));
        let AuditStatus { open, not_made, .. } = tested.audits.status();
        assert!(open <= MAX_OPEN as u64);
        if index == 10 {
            assert_eq!((open, not_made), (4, 0), "three of the one, and one of the other");
        }
    }
    let AuditStatus { open, not_made, .. } = tested.audits.status();
    assert!((150..=260).contains(&(open + not_made)), "{open} {not_made}");
    // Another key selects other pairs, which no worker knows.
    let other = Ledger::new("match", b"other", 1, LEASE_MS);
    let selected = |ledger: &Ledger| -> Vec<u64> {
        (0..PAIRS).filter(|&index| ledger.chance(index) < SHARE).collect()
    };
    let [one, other] = [selected(&tested.audits.jobs), selected(&other.sibling("audits"))];
    let common = one.iter().filter(|index| other.contains(index)).count();
    assert!(common < one.len() / 4, "{common} of {}", one.len());
}

#[test]
fn a_pair_is_audited_by_another_owner() {
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&played(0, "alice/1", GOOD));
    assert!(tested.take("alice/1").is_none(), "its own pair");
    assert!(tested.take("alice/2").is_none(), "the same owner");
    tested.audits.tick(&tested.ledger, 0);
    assert_eq!(tested.audits.status().gap, Some(AuditGap::NoOtherOwner));
    assert!(!tested.audits.is_in_progress(&tested.ledger, 0), "the match does not wait");
    assert_eq!(tested.play("bob/1", GOOD), []);
    assert_eq!(tested.counts(), (1, 0, 0, 0));
    tested.audits.tick(&tested.ledger, 0);
    assert_eq!(tested.audits.status().gap, None);

    // Without verified names, an owner is unknown.
    let mut tested = Tested::new("nodes = 100", false);
    tested.audits.on_pair(&played(0, "alice/1", GOOD));
    assert!(tested.take("alice/1").is_none());
    tested.audits.tick(&tested.ledger, 0);
    assert_eq!(tested.audits.status().gap, Some(AuditGap::NoOtherWorker));
    assert_eq!(tested.play("alice/2", GOOD), []);
    assert_eq!(tested.counts(), (1, 0, 0, 0));
}

#[test]
fn a_third_owner_decides() {
    let differing = |one: &str, other: &str| {
        vec![Finding::Differing { workers: [one.to_owned(), other.to_owned()] }]
    };
    let accused = |worker: &str, others: [&str; 2]| {
        let others = others.map(str::to_owned);
        vec![Finding::Accused { worker: worker.to_owned(), others }]
    };
    // The pair was not played as recorded.
    let mut tested = Tested::of_moves();
    tested.see(&["carol"]);
    tested.audits.on_pair(&played(0, "alice", BAD));
    assert_eq!(tested.play("bob", GOOD), differing("alice", "bob"));
    assert!(tested.take("bob").is_none() && tested.take("alice").is_none());
    assert!(tested.take("bob/2").is_none(), "a third owner is there");
    assert_eq!(tested.play("carol", GOOD), accused("alice", ["bob", "carol"]));
    assert_eq!(tested.counts(), (1, 0, 1, 0));
    // The auditor has not played it.
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&played(0, "alice", GOOD));
    assert_eq!(tested.play("bob", BAD), differing("alice", "bob"));
    assert_eq!(tested.play("carol", GOOD), accused("bob", ["alice", "carol"]));
    assert_eq!(tested.counts(), (1, 0, 1, 0));
}

/// Otherwise the workers of one owner could accuse any other one.
#[test]
fn the_opinion_of_an_owner_counts_once() {
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&played(0, "alice/1", BAD));
    tested.play("bob/1", GOOD);
    assert_eq!(tested.play("alice/2", BAD), [], "no third owner is there");
    assert!(tested.take("alice/3").is_none() && tested.take("bob/2").is_none());
    assert!(!tested.audits.is_in_progress(&tested.ledger, 0));
    assert_eq!(tested.counts(), (0, 1, 1, 0));
    let [one, other] = ["bob/1", "carol"].map(str::to_owned);
    let found = tested.play("carol", GOOD);
    let others = || [one.clone(), other.clone()];
    assert_eq!(
        found,
        ["alice/1", "alice/2"]
            .map(|worker| Finding::Accused { worker: worker.to_owned(), others: others() })
    );
    // A worker of the same owner convicts it.
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&played(0, "alice/1", BAD));
    tested.play("bob/1", GOOD);
    let found = tested.play("alice/2", GOOD);
    assert!(matches!(&found[..], [Finding::Accused { worker, .. }] if worker == "alice/1"));
    // Different games of two owners only.
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&played(0, "alice/1", BAD));
    tested.play("bob/1", GOOD);
    assert_eq!(tested.play("alice/2", OTHER), []);
    assert_eq!(tested.audits.status().gap, None, "it could be one owner who lies");
}

#[test]
fn engines_with_three_different_games_are_not_deterministic() {
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&played(0, "alice", GOOD));
    tested.audits.on_pair(&played(1, "alice", GOOD));
    let first = tested.take("bob").expect("an audit").index;
    assert_eq!(first, 0);
    let pairing = played(0, "bob", BAD).pairing;
    tested.audits.on_done("bob", &pairing, &played(0, "bob", BAD), 0);
    tested.ledger.see("carol", 0);
    // Whichever audit comes first.
    let grant = loop {
        let grant = tested.take("carol").expect("an audit");
        if grant.index == 0 {
            break grant;
        }
    };
    let found = tested.audits.on_done("carol", &pairing, &played(grant.index, "carol", OTHER), 0);
    let workers = ["alice", "bob", "carol"].map(str::to_owned).into();
    assert_eq!(found, [Finding::NotDeterministic { workers }]);
    assert_eq!(tested.counts(), (1, 0, 1, 1));
    tested.audits.on_pair(&played(2, "dave", GOOD));
    assert_eq!(tested.counts(), (1, 0, 1, 1), "the match is not audited any more");
    assert_eq!(tested.audits.status().gap, Some(AuditGap::NotDeterministic));
    assert_eq!(tested.later().audits.status().gap, Some(AuditGap::NotDeterministic));
}

/// A crash or a loss on time is one of the host.
#[test]
fn a_game_that_a_host_has_ended_has_the_start_of_the_other() {
    let crashed = |moves: &str| {
        let mut pair = played(0, "alice", moves);
        pair.games[0].end = Termination::EngineCrash.into();
        pair
    };
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&crashed("e2e4"));
    assert_eq!(tested.play("bob", GOOD), []);
    assert_eq!(tested.counts(), (1, 0, 0, 0));
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&crashed("d2d4"));
    assert!(matches!(tested.play("bob", GOOD)[..], [Finding::Differing { .. }]));
    // An auditor whose engine crashes has no opinion.
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&played(0, "alice", GOOD));
    for auditor in ["bob", "carol", "dave"] {
        let grant = tested.take(auditor).expect("an audit");
        let pairing = played(grant.index, auditor, GOOD).pairing;
        assert_eq!(tested.audits.on_done(auditor, &pairing, &crashed("e2e4"), 0), []);
        assert!(tested.take(auditor).is_none());
    }
    assert_eq!(tested.counts(), (0, 0, 0, 1));
}

#[test]
fn excluded_workers_have_no_opinion() {
    let mut tested = Tested::of_moves();
    for index in 0..3 {
        tested.audits.on_pair(&played(index, "alice", GOOD));
    }
    tested.play("bob", GOOD);
    tested.play("bob", BAD);
    assert_eq!(tested.counts(), (1, 2, 1, 0));
    let held = tested.take("bob").expect("an audit");
    tested.audits.exclude("bob");
    assert!(tested.audits.held("bob", &held, 0).is_none());
    // The pairs of the match are restored, and what it has audited is audited again.
    tested.audits.discard(&[7]);
    for index in 0..3 {
        tested.audits.on_pair(&played(index, "alice", GOOD));
    }
    assert_eq!(tested.counts(), (0, 3, 1, 0));
    for _ in 0..3 {
        assert_eq!(tested.play("carol", GOOD), [], "the opinion of bob does not count");
    }
    assert_eq!(tested.counts(), (3, 0, 1, 0));
    // Discarded pairs are played, and audited, again.
    tested.audits.exclude("alice");
    tested.audits.discard(&[0, 1, 2]);
    assert_eq!(tested.counts(), (0, 0, 1, 0));
    tested.audits.on_pair(&played(0, "dave", GOOD));
    assert_eq!(tested.counts(), (0, 1, 1, 0));
}

#[test]
fn a_later_coordinator_continues_the_audits() {
    let mut first = Tested::of_moves();
    let pairs = [played(0, "alice", BAD), played(1, "alice", GOOD), played(2, "bob", GOOD)];
    for pair in &pairs {
        first.audits.on_pair(pair);
    }
    first.see(&["carol"]);
    while first.counts().0 == 0 {
        first.play("bob", GOOD);
    }
    assert_eq!(first.counts(), (1, 2, 1, 0));
    assert!(first.audits.take_changed().is_some() && first.audits.take_changed().is_none());
    let mut second = first.later();
    assert_eq!(second.counts(), (1, 0, 1, 0));
    for pair in &pairs {
        second.audits.on_pair(pair);
    }
    assert_eq!(second.counts(), (1, 2, 1, 0));
    second.see(&["alice", "bob", "carol"]);
    let mut found = Vec::new();
    while second.counts().1 > 0 {
        found.extend(second.play("carol", GOOD));
    }
    let [one, other] = ["bob", "carol"].map(str::to_owned);
    assert_eq!(found, [Finding::Accused { worker: "alice".to_owned(), others: [one, other] }]);
    assert_eq!(second.counts(), (3, 0, 1, 0));
    // The grant of an audit outlives its coordinator.
    let mut third = Tested::of_moves();
    third.audits.on_pair(&pairs[0]);
    let grant = third.take("bob").expect("an audit");
    let ledger = Ledger::new("match", b"key", 2, LEASE_MS);
    let mut fourth = Audits::new(&third.plan, &ledger, true, AuditRecord::default());
    assert!(!fourth.is_of("bob", &grant), "it is not open yet");
    fourth.on_pair(&pairs[0]);
    assert!(fourth.is_of("bob", &grant) && fourth.held("bob", &grant, 0).is_some());
}

#[test]
fn grants_of_audits_are_not_those_of_pairs() {
    let mut tested = Tested::of_moves();
    tested.ledger.offer(played(5, "x", GOOD).pairing);
    let Taken::Jobs(jobs) = tested.ledger.take("bob", 0) else { panic!("a job") };
    tested.audits.on_pair(&played(0, "alice", GOOD));
    let audit = tested.take("bob").expect("an audit");
    assert!(tested.audits.is_of("bob", &audit) && !tested.audits.is_of("carol", &audit));
    assert!(!tested.audits.is_of("bob", &jobs[0].grant));
    assert!(!tested.ledger.is_genuine("bob", &audit));
    assert_eq!(audit.serial, jobs[0].grant.serial + 1, "its number does not reveal the purpose");
}

#[test]
fn only_comparable_games_are_audited() {
    for (limits, options, expected) in [
        ("nodes = 100", "", Some(Comparison::Moves)),
        ("depth = 5", "", Some(Comparison::Moves)),
        ("nodes = 100", "1", Some(Comparison::Moves)),
        ("nodes = 100", "2", Some(Comparison::Replays)),
        ("tc = \"10+0.1\"", "", Some(Comparison::Replays)),
        ("move_time_ms = 10\nnodes = 100", "", Some(Comparison::Replays)),
        ("byoyomi_ms = 10", "", Some(Comparison::Replays)),
        ("", "", None),
    ] {
        let mut plan = plan_with(limits);
        if !options.is_empty() {
            let engine = &mut plan.engines[EngineId(1).index()];
            engine.options.insert("threads".to_owned(), options.to_owned());
        }
        assert_eq!(Comparison::of(&plan), expected, "{limits} {options}");
    }
    let mut tested = Tested::new("", true);
    tested.audits.on_pair(&played(0, "alice", GOOD));
    assert_eq!(tested.counts(), (0, 0, 0, 0));
}

#[test]
fn games_on_time_are_replayed_and_accuse_no_worker() {
    let mut tested = Tested::new("tc = \"10+0.1\"", true);
    tested.audits.on_pair(&played(0, "alice", GOOD));
    tested.see(&["bob"]);
    let Taken::Jobs(jobs) = tested.audits.take("bob", 0) else { panic!("an audit") };
    let replay = jobs[0].replay.as_ref().expect("a replay");
    assert_eq!((replay.games.len(), replay.searches()), (2, 2));
    tested.audits.on_replayed("bob", 0, Agreement { searches: 2, equal: 0 });
    assert_eq!(tested.counts(), (1, 0, 0, 0));
    let replays = tested.audits.replays();
    assert_eq!(replays["alice"].pairs, 1);
    assert_eq!(tested.later().audits.replays()["alice"], replays["alice"]);
    // Without numbers of nodes there is nothing to replay.
    let mut silent = played(1, "alice", GOOD);
    for made in &mut silent.games[0].moves {
        made.nodes = None;
    }
    tested.audits.on_pair(&silent);
    assert_eq!(tested.counts(), (1, 0, 0, 0));
}

#[test]
fn open_audits_are_not_made_at_the_end() {
    let mut tested = Tested::of_moves();
    tested.audits.on_pair(&played(0, "alice", GOOD));
    tested.see(&["alice"]);
    assert!(!tested.audits.is_in_progress(&tested.ledger, 0), "no worker could make it");
    tested.see(&["bob"]);
    assert!(tested.audits.is_in_progress(&tested.ledger, 0));
    assert!(tested.take("bob").is_some());
    assert!(tested.audits.is_in_progress(&tested.ledger, LEASE_MS));
    // Both workers are gone.
    let later = 3 * LEASE_MS;
    tested.audits.tick(&tested.ledger, later);
    assert!(!tested.audits.is_in_progress(&tested.ledger, later));
    tested.audits.abandon_all();
    assert_eq!(tested.counts(), (0, 0, 0, 1));
}
