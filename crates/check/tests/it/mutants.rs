//! Every check is proved both ways: an engine that obeys passes it, and one that breaks its rule and
//! no other fails it and nothing else.
//!
//! A mutant is asked by the checks in whose conversations its switch is looked at, and by all that
//! listen: where the switch is not looked at, it is the engine that obeys.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;

use readyok_check::{Profile, Report, Suite, Target, Timeouts, Verdict, all};

use crate::faults::{NEED_THE_MACHINE, alone, prove, together, told_oddly};

/// Faults that cannot be had alone: the check, and those that see the same.
const RELATED: &[(&str, &[&str])] = &[
    // A word that is no move cannot be played, either.
    ("info.moves", &["info.legal-pv"]),
    // The variation has the length that the wrong unit does not.
    ("info.mate-score", &["info.mate-pv"]),
    // They look at castling from both sides.
    ("positions.move-form", &["positions.castling", "info.pv-bestmove"]),
    ("positions.castling", &["positions.move-form", "info.pv-bestmove"]),
    ("positions.chess960", &["positions.move-form", "positions.double-frc", "info.pv-bestmove"]),
    // An answer that comes too early while pondering is seen by both.
    ("search.no-early-bestmove", &["search.ponder.holds-bestmove"]),
    // A bound without its score is a field without its value.
    ("info.bound-with-score", &["info.complete"]),
    // Every detail of the search that comes at once comes too early.
    ("info.current-move", &["info.late-details"]),
    ("info.currline-requested", &["info.late-details"]),
    ("info.refutation-requested", &["info.late-details"]),
];

/// Faults that make each conversation slow: only checks of this area are looked at.
const SLOW: [&str; 2] = ["handshake.quick", "search.ready"];
/// The fault that makes every conversation wait for answers that do not come.
const SILENT: &str = "lexical.batch";

/// What came of the engine that obeys.
struct Obeyed {
    reports: Vec<Report>,
    /// For each switch, the checks in whose conversations it was looked at.
    looked_at: BTreeMap<String, BTreeSet<String>>,
}

#[expect(clippy::expect_used, reason = "what the tests share")]
static OBEYED: LazyLock<Obeyed> = LazyLock::new(|| {
    let _machine = together();
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace");
    let argument = trace.to_str().expect("a plain path");
    let run =
        &|profile: &Profile| suite(&["--trace", argument], *profile).run().expect("it greets");
    let reports = thread::scope(|scope| {
        let start = |profile| scope.spawn(move || run(profile));
        let runs: Vec<_> = Profile::ALL.iter().map(start).collect();
        runs.into_iter().map(|it| it.join().expect("a report")).collect()
    });
    let mut looked_at = BTreeMap::<String, BTreeSet<String>>::new();
    for line in fs::read_to_string(&trace).expect("a trace").lines() {
        let (check, switch) = line.split_once(' ').expect("a check and a switch");
        looked_at.entry(switch.to_owned()).or_default().insert(check.to_owned());
    }
    Obeyed { reports, looked_at }
});

/// The engine with its translation file beside it.
#[expect(clippy::expect_used, reason = "what the tests share")]
static ENGINE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("obedient");
    fs::create_dir_all(&folder).expect("a folder");
    let engine = folder.join("obedient");
    let _ = fs::remove_file(&engine);
    // A file that was just written cannot be started while another thread starts a program.
    fs::hard_link(env!("CARGO_BIN_EXE_obedient"), &engine).expect("a link");
    let texts = include_str!("obedient.lang.json");
    fs::write(engine.with_extension("lang.json"), texts).expect("a translation");
    engine
});

fn suite(arguments: &[&str], profile: Profile) -> Suite {
    let subject = Target::program(ENGINE.as_path(), arguments);
    let suite = Suite::new(subject).profile(profile).timeouts(Timeouts::fixed(2.0)).jobs(4);
    suite.random_searches(60).random_lines(6).soak(12)
}

#[test]
fn an_engine_that_obeys_passes_every_check() {
    let mut judged = BTreeSet::new();
    for report in &OBEYED.reports {
        for result in &report.results {
            match &result.verdict {
                Verdict::Fail(_) | Verdict::Inconclusive(_) => panic!("{report}"),
                Verdict::Pass => {
                    judged.insert(result.check.id);
                }
                Verdict::Skip(_) => (),
            }
        }
        assert_eq!(report.exit_status(), 0);
        assert_eq!(told_oddly(report), None);
    }
    let missing: Vec<_> = all().map(|it| it.id).filter(|id| !judged.contains(id)).collect();
    assert!(missing.is_empty(), "the engine gives no occasion for {missing:?}");
}

#[test]
fn a_mutant_fails_its_check_and_nothing_unrelated() {
    LazyLock::force(&OBEYED);
    let _machine = alone();
    // What takes longest comes first, so that nothing waits for it at the end: an engine that is slow,
    // one that says nothing, one that does not go, and searches by the clock.
    let is_long = |id| id == SILENT || SLOW.contains(&id);
    let (long, rest): (Vec<_>, Vec<_>) = all().partition(|it| is_long(it.id));
    prove(long.into_iter().chain(rest.into_iter().rev()), RELATED, |check| {
        let profile = check.profiles[0];
        let mut suite = suite(&["--break", check.id], profile).only([check.id]);
        if NEED_THE_MACHINE.contains(&check.id) {
            // They are looked at for as long as an answer may take, and have the machine.
            suite = suite.timeouts(Timeouts::fixed(0.4)).jobs(12);
        }
        if SLOW.contains(&check.id) {
            suite = suite.only(check.id.split('.').take(1));
        } else {
            let asking = OBEYED.looked_at.get(check.id);
            suite = suite.only(asking.into_iter().flatten());
            suite = suite.only(all().filter(|it| it.passive).map(|it| it.id));
        }
        suite.run().map_err(|error| format!("{}: {error}", check.id))
    });
}
