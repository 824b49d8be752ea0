//! Every check is proved both ways: an engine that obeys passes it, and one that breaks its rule and
//! no other fails it and nothing else.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use readyok_check::{Check, Pace, Profile, Report, Subject, Suite, Verdict, all};

/// Faults that cannot be had alone: the check, and those that see the same.
const RELATED: [(&str, &[&str]); 7] = [
    // A word that is no move cannot be played, either.
    ("info.moves", &["info.legal-pv"]),
    // The variation has the length that the wrong unit does not.
    ("info.mate-score", &["info.mate-pv"]),
    // They look at castling from both sides.
    ("positions.move-form", &["positions.castling", "info.pv-head"]),
    ("positions.castling", &["positions.move-form", "info.pv-head"]),
    ("positions.chess960", &["positions.move-form", "info.pv-head"]),
    // An answer that comes too early while pondering is seen by both.
    ("search.not-too-early", &["search.ponder.holds-bestmove"]),
    // A bound without its score is a field without its value.
    ("info.bound-with-score", &["info.complete"]),
];

/// Faults that make each conversation slow: only checks of this area are looked at.
const SLOW: [&str; 2] = ["handshake.quick", "search.ready"];

/// So many engines with faults at once. Mostly they wait.
const AT_ONCE: usize = 6;

fn suite(fault: Option<&str>, profile: Profile) -> Suite {
    let arguments = fault.map_or(vec![], |id| vec!["--break", id]);
    let subject = Subject::program(env!("CARGO_BIN_EXE_obedient"), arguments);
    Suite::new(subject).profile(profile).pace(Pace::fixed(2.0)).jobs(4).random_searches(60)
}

fn failed(report: &Report) -> Vec<&'static str> {
    report.failures().map(|it| it.check.id).collect()
}

#[test]
fn an_engine_that_obeys_passes_every_check() {
    for profile in Profile::ALL {
        let report = suite(None, *profile).run().expect("it greets");
        let odd: Vec<_> = report
            .results
            .iter()
            .filter(|it| matches!(it.verdict, Verdict::Fail(_) | Verdict::Inconclusive(_)))
            .collect();
        assert!(odd.is_empty(), "{}\n{report}", profile.name());
        assert_eq!(report.exit_status(), 0);
    }
}

#[test]
fn a_mutant_fails_its_check_and_nothing_unrelated() {
    let checks: Vec<&Check> = all().collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(check) = checks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = is_caught(check) {
                        wrong.lock().expect("no panic").push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn is_caught(check: &Check) -> Result<(), String> {
    let profile = check.profiles[0];
    let mut suite = suite(Some(check.id), profile);
    if SLOW.contains(&check.id) {
        suite = suite.only(check.id.split('.').take(1));
    }
    let report = suite.run().map_err(|error| format!("{}: {error}", check.id))?;
    let failed = failed(&report);
    let related = RELATED.iter().find(|(id, _)| *id == check.id).map_or(&[][..], |(_, them)| them);
    let unrelated = |id: &&&str| **id != check.id && !related.contains(*id);
    if !failed.contains(&check.id) {
        let result = report.results.iter().find(|it| it.check.id == check.id);
        return Err(format!("{} is not caught: {:?}", check.id, result.map(|it| &it.verdict)));
    }
    match failed.iter().find(unrelated) {
        Some(other) => Err(format!("{} is taken for {other}:\n{report}", check.id)),
        None => Ok(()),
    }
}
