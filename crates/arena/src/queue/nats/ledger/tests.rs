//! Grants, failures, silent workers, and takeovers.

use super::*;
use crate::match_state::tests::pair;

const LEASE_MS: u64 = 30_000;

fn ledger(term: u64, pairings: u64) -> Ledger {
    let mut ledger = Ledger::new("match", b"key", term, LEASE_MS);
    (0..pairings).for_each(|index| ledger.offer(pairing(index)));
    ledger
}

fn pairing(index: u64) -> Pairing {
    pair(index, &(0, 1, Vec::new(), false)).pairing
}

/// The next job of a worker.
fn take(ledger: &mut Ledger, worker: &str, now_ms: u64) -> Option<Grant> {
    match ledger.take(worker, now_ms) {
        Taken::Jobs(jobs) => jobs.into_iter().next().map(|job| job.grant),
        Taken::Wait { .. } => None,
    }
}

fn is_held(ledger: &mut Ledger, worker: &str, grant: &Grant) -> bool {
    ledger.held(worker, grant, 0).is_some()
}

#[test]
fn a_message_counts_only_with_the_current_grant_of_its_sender() {
    let mut ledger = ledger(1, 2);
    let grant = take(&mut ledger, "a", 0).expect("a job");
    assert!(is_held(&mut ledger, "a", &grant));
    let changed = [
        Grant { index: 1, ..grant.clone() },
        Grant { serial: grant.serial + 1, ..grant.clone() },
        Grant { at_ms: grant.at_ms + 1, ..grant.clone() },
        Grant { mac: "00".to_owned(), ..grant.clone() },
        Grant { mac: "x".to_owned(), ..grant.clone() },
        Grant { mac: String::new(), ..grant.clone() },
        Grant { term: 0, ..grant.clone() },
    ];
    for other in &changed {
        assert!(!is_held(&mut ledger, "a", other), "{other:?}");
    }
    assert!(!is_held(&mut ledger, "b", &grant), "another worker");
    assert_eq!(ledger.counts().ignored, changed.len() as u64 + 1);
    // After its end, the grant has no effect, also if the same worker has the job again.
    ledger.tick(LEASE_MS + 1);
    assert!(!is_held(&mut ledger, "a", &grant));
    let again = take(&mut ledger, "a", LEASE_MS + 1).expect("a job");
    assert_eq!(again.index, grant.index, "it comes first");
    assert!(!is_held(&mut ledger, "a", &grant));
    assert!(is_held(&mut ledger, "a", &again));
    ledger.accept("a", again.index, 1);
    assert!(!is_held(&mut ledger, "a", &again), "it is done");
}

#[test]
fn jobs_that_are_given_back_count_for_nothing() {
    let mut ledger = ledger(1, 1);
    for _ in 0..1000 {
        let grant = take(&mut ledger, "a", 0).expect("a job, without delay");
        assert!(ledger.give_back("a", &grant, 0));
        assert!(!ledger.give_back("a", &grant, 0), "it has it no more");
    }
    assert_eq!(ledger.counts().skipped, 0);
}

#[test]
fn a_pairing_that_three_workers_fail_is_skipped() {
    let mut ledger = ledger(1, 1);
    for (number, worker) in ["a", "b", "c"].iter().enumerate() {
        let grant = take(&mut ledger, worker, 0).expect("a job");
        assert_eq!(grant.index, 0);
        let ending = ledger.fail(worker, 0, 0);
        let is_skipped = matches!(&ending, Ending::Skipped { by, .. } if by.len() == 3);
        assert_eq!(is_skipped, number == 2, "{ending:?}");
        assert!(take(&mut ledger, worker, 0).is_none(), "it does not get it again");
    }
    assert_eq!((ledger.counts().skipped, ledger.len()), (1, 0));
}

#[test]
fn a_pairing_that_the_only_worker_fails_waits_for_others_and_is_skipped_then() {
    let mut ledger = ledger(1, 1);
    take(&mut ledger, "a", 0).expect("a job");
    let requeued = Ending::Requeued { index: 0, worker: "a".to_owned() };
    assert_eq!(ledger.fail("a", 0, 0), requeued);
    for now in (0..2 * LEASE_MS).step_by(1000) {
        assert!(take(&mut ledger, "a", now).is_none());
        assert_eq!(ledger.tick(now), []);
    }
    let endings = ledger.tick(2 * LEASE_MS);
    assert!(matches!(&endings[..], [Ending::Skipped { by, .. }] if by == &["a"]), "{endings:?}");
}

#[test]
fn too_many_skipped_pairings_are_noticed() {
    let mut ledger = ledger(1, 2000);
    for index in 0..21 {
        assert_eq!(ledger.has_skipped_too_many(), index > 20, "{index}");
        for worker in ["a", "b", "c"] {
            ledger.fail(worker, index, 0);
        }
    }
    assert!(ledger.has_skipped_too_many(), "more than 1 %");
    ledger.clear_skipped();
    assert!(!ledger.has_skipped_too_many());
    assert_eq!(ledger.counts().skipped, 21);
}

#[test]
fn a_worker_that_fails_waits_longer_and_longer() {
    let mut ledger = ledger(1, 100);
    let mut now = 0;
    let mut delays = Vec::new();
    for _ in 0..12 {
        let grant = take(&mut ledger, "a", now).expect("a job");
        ledger.fail("a", grant.index, now);
        let delay = match ledger.take("a", now) {
            Taken::Wait { ms } => ms,
            Taken::Jobs(jobs) => {
                for job in jobs {
                    ledger.give_back("a", &job.grant, now);
                }
                0
            }
        };
        delays.push(delay / 1000);
        now += delay;
    }
    assert_eq!(delays, [0, 0, 10, 20, 40, 80, 160, 320, 600, 600, 600, 600]);
    let grant = take(&mut ledger, "a", now).expect("a job");
    ledger.accept("a", grant.index, 1);
    assert!(take(&mut ledger, "a", now).is_some(), "a success ends the delays");
}

#[test]
fn a_pairing_whose_workers_are_lost_is_delayed_but_not_skipped() {
    let mut ledger = ledger(1, 1);
    let mut now = 0;
    for lost in 1..20 {
        let worker = format!("w{lost}");
        while take(&mut ledger, &worker, now).is_none() {
            now += 1000;
        }
        now += LEASE_MS + 1;
        assert_eq!(ledger.tick(now), [Ending::Requeued { index: 0, worker }]);
    }
    assert!(take(&mut ledger, "other", now).is_none());
    assert!(take(&mut ledger, "other", now + 600_000).is_some());
}

#[test]
fn a_job_that_is_renewed_is_kept() {
    let mut ledger = ledger(1, 1);
    let grant = take(&mut ledger, "a", 0).expect("a job");
    for now in (0..10 * LEASE_MS).step_by(10_000) {
        ledger.renew("a", &grant, now);
        assert_eq!(ledger.tick(now + LEASE_MS), []);
    }
}

/// Otherwise a worker that renews its jobs and does not play them would keep the match from its end.
#[test]
fn an_overdue_job_goes_to_a_worker_without_one() {
    const MEAN_MS: u64 = 1000;
    const LIMIT_MS: u64 = OVERDUE_MEANS * MEAN_MS + 2 * (BATCH_MS + LEASE_MS);
    let held_for = |lost: u32, has_idle: bool, is_stopped: bool| {
        let mut ledger = ledger(1, 2);
        take(&mut ledger, "good", 0).expect("a job");
        ledger.accept("good", 0, MEAN_MS);
        let grant = take(&mut ledger, "evil", 0).expect("a job");
        ledger.offered.get_mut(&1).expect("it is offered").lost = lost;
        if is_stopped {
            ledger.stop(false);
        }
        let mut times = (0..20 * LIMIT_MS).step_by(1000);
        times.find(|&now| {
            ledger.renew("evil", &grant, now);
            if has_idle {
                assert!(take(&mut ledger, "good", now).is_none());
            }
            // It may also ask for more.
            take(&mut ledger, "evil", now);
            let endings = ledger.tick(now);
            assert!(endings.len() <= 1);
            let is_free = !endings.is_empty();
            assert_eq!(is_held(&mut ledger, "evil", &grant), !is_free);
            assert!(!is_free || is_stopped || take(&mut ledger, "good", now).is_some());
            is_free
        })
    };
    assert_eq!(held_for(0, true, false), Some(LIMIT_MS + 1000));
    assert_eq!(held_for(1, true, false), Some(2 * LIMIT_MS + 1000), "the job may be a long one");
    assert_eq!(held_for(0, false, true), Some(LIMIT_MS + 1000));
    assert_eq!(held_for(0, false, false), None, "no other worker wants it");
}

#[test]
fn a_later_coordinator_accepts_grants_of_an_earlier_one() {
    let mut first = ledger(5, 3);
    let grants: Vec<Grant> =
        ["a", "b"].iter().map(|worker| take(&mut first, worker, 900).expect("a job")).collect();
    let mut second = ledger(9, 3);
    assert!(!is_held(&mut second, "b", &grants[0]), "of another worker");
    let held = second.held("a", &grants[0], 0).expect("a grant of the same match");
    assert_eq!(held.held_ms, None, "its clock is another one");
    second.accept("a", 0, 1);
    assert!(!is_held(&mut second, "a", &grants[0]), "it is done");
    // The second one has given the pairing to another worker meanwhile.
    assert_eq!(take(&mut second, "c", 0).map(|grant| grant.index), Some(1));
    assert!(!is_held(&mut second, "b", &grants[1]));
    // The key of another match is another one.
    let mut other = Ledger::new("match", b"other", 9, LEASE_MS);
    other.offer(pairing(1));
    assert!(!is_held(&mut other, "b", &grants[1]));
}

#[test]
fn a_new_worker_holds_few_jobs_and_a_proven_one_many() {
    let mut ledger = ledger(1, 10_000);
    let hoard = |ledger: &mut Ledger, worker: &str| {
        std::iter::from_fn(|| take(ledger, worker, 0)).take(9_000).count() as u64
    };
    assert_eq!(hoard(&mut ledger, "new"), FIRST_JOBS);
    for _ in 0..100 {
        let grant = take(&mut ledger, "proven", 0).expect("a job");
        ledger.accept("proven", grant.index, 100_000);
    }
    assert_eq!(hoard(&mut ledger, "proven"), FIRST_JOBS + 100);
}

#[test]
fn short_jobs_are_given_out_in_batches() {
    let batch = |duration_ms: u64, pairings: u64| {
        let mut ledger = ledger(1, pairings + 1);
        take(&mut ledger, "a", 0).expect("a job");
        ledger.accept("a", 0, duration_ms);
        let Taken::Jobs(jobs) = ledger.take("b", 0) else { panic!("jobs") };
        jobs.len()
    };
    assert_eq!(batch(60_000, 1000), 1);
    assert_eq!(batch(5_000, 1000), 4);
    assert_eq!(batch(1, 1000), 16);
    assert_eq!(batch(1, 20), 5, "near the end all workers get jobs");
}

#[test]
fn maps_are_bounded() {
    let mut ledger = ledger(1, 1);
    for number in 0..3 * MAX_WORKERS {
        ledger.take(&format!("w{number}"), 0);
        assert!(ledger.workers.len() <= MAX_WORKERS);
    }
    let fake = Grant { index: 7, term: 1, serial: 9, at_ms: 0, mac: "00".to_owned() };
    for number in 0..1000 {
        ledger.renew(&format!("x{number}"), &Grant { index: number, ..fake.clone() }, 0);
    }
    assert_eq!(ledger.counts().ignored, 1000);
    assert!(ledger.workers.len() <= MAX_WORKERS && ledger.len() == 1);
}

#[test]
fn a_stop_withdraws_what_no_worker_plays() {
    let mut all = ledger(1, 3);
    let grant = take(&mut all, "a", 0).expect("a job");
    assert_eq!(all.stop(false), [1, 2]);
    assert!(is_held(&mut all, "a", &grant));
    assert!(take(&mut all, "b", 0).is_none());
    assert_eq!(all.stop(true), [0]);
    assert_eq!(all.len(), 0);
}

#[test]
fn limits_bound_the_workers_and_the_jobs_at_the_same_time() {
    let mut ledger = ledger(1, 100);
    ledger.set_limits(LedgerLimits { workers: Some(2), jobs: Some(3) });
    let of_a = take(&mut ledger, "a", 0).expect("a job");
    assert!(ledger.may_begin("b", 0) && !ledger.may_begin("b", 1), "another one prepares");
    take(&mut ledger, "b", 0).expect("a job");
    assert!(take(&mut ledger, "c", 0).is_none(), "two workers");
    let second = take(&mut ledger, "b", 0).expect("a job");
    assert!(take(&mut ledger, "a", 0).is_none(), "three jobs");
    ledger.accept("b", second.index, 1);
    // Short jobs are given out in batches, but not beyond the limit.
    let Taken::Jobs(jobs) = ledger.take("b", 0) else { panic!("jobs") };
    assert_eq!(jobs.len(), 1);
    ledger.accept("a", of_a.index, 1);
    take(&mut ledger, "c", 0).expect("a job, as a holds none");
    ledger.set_limits(LedgerLimits::default());
    take(&mut ledger, "a", 0).expect("a job");
}
