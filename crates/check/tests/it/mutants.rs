//! Tests of the checks of engines: a conforming engine passes all checks, and an engine with one fault fails its check and no
//! unrelated one.
//!
//! A mutant runs with the checks that evaluate its switch, and with all passive checks: otherwise it
//! is the conforming engine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;

use readyok_check::{Level, Profile, Report, Suite, Target, Timeouts, Verdict, all};

use crate::faults::{
    NEED_IDLE_HOST, alone, is_unmeasured, prove, test_program, together, unsuitable_text,
};

/// Faults that violate several rules: the check, and the related checks.
const RELATED: &[(&str, &[&str])] = &[
    // An option before `uci` may arrive after it was sent.
    ("handshake.waits", &["handshake.id-first"]),
    // An invalid move is also illegal.
    ("info.moves", &["info.legal-pv"]),
    // The length of the PV contradicts the wrong unit.
    ("info.mate-score", &["info.mate-pv"]),
    // Both checks test castling.
    ("positions.move-form", &["positions.castling", "positions.chess960", "info.pv-bestmove"]),
    ("positions.castling", &["positions.move-form", "info.pv-bestmove"]),
    ("positions.chess960", &["positions.move-form", "positions.double-frc", "info.pv-bestmove"]),
    // Both checks detect an early reply while pondering.
    ("search.no-early-bestmove", &["search.ponder.holds-bestmove"]),
    // A bound without its score is a field without its value.
    ("info.bound-with-score", &["info.complete"]),
    // The last report of a search that ends early has an early time.
    ("search.movetime.uses", &["info.time"]),
    // On a busy host, a time in another unit is less than the one before.
    ("info.time", &["info.monotonic-counts"]),
    // Every detail is sent too early.
    ("info.current-move", &["info.late-details"]),
    ("info.currline-requested", &["info.late-details"]),
    ("info.refutation-requested", &["info.late-details"]),
];

/// Faults that slow down every session: only checks of this area run.
pub(crate) const SLOW: [&str; 2] = ["handshake.quick", "search.ready"];
/// The fault that makes every session wait for missing replies.
pub(crate) const SILENT: &str = "lexical.batch";

/// Results of the conforming engine.
struct Obeyed {
    reports: Vec<Report>,
    /// For each switch, the checks that evaluate it.
    evaluated: BTreeMap<String, BTreeSet<String>>,
}

#[expect(clippy::expect_used, reason = "what the tests share")]
static OBEYED: LazyLock<Obeyed> = LazyLock::new(|| {
    let _machine = together();
    let directory = tempfile::tempdir().expect("a directory");
    let argument = directory.path().to_str().expect("a plain path");
    let run =
        &|profile: &Profile| suite(&["--trace", argument], *profile).run().expect("a handshake");
    let reports = thread::scope(|scope| {
        let start = |profile| scope.spawn(move || run(profile));
        let runs: Vec<_> = Profile::ALL.iter().map(start).collect();
        runs.into_iter().map(|run| run.join().expect("a report")).collect()
    });
    let mut evaluated = BTreeMap::<String, BTreeSet<String>>::new();
    for trace in directory.path().read_dir().expect("a directory") {
        let trace = trace.expect("a trace").path();
        for line in fs::read_to_string(&trace).expect("a trace").lines() {
            let (check, switch) = line.split_once(' ').expect("a check and a switch");
            evaluated.entry(switch.to_owned()).or_default().insert(check.to_owned());
        }
    }
    Obeyed { reports, evaluated }
});

/// The engine with its translation file.
#[expect(clippy::expect_used, reason = "what the tests share")]
static ENGINE: LazyLock<PathBuf> = LazyLock::new(|| {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("obedient");
    fs::create_dir_all(&directory).expect("a directory");
    let engine = directory.join("obedient");
    let _ = fs::remove_file(&engine);
    // Executing a new file could fail, because a concurrently forked process may hold it open for writing.
    fs::hard_link(test_program("obedient"), &engine).expect("a link");
    let texts = include_str!("obedient.lang.json");
    fs::write(engine.with_extension("lang.json"), texts).expect("a translation");
    engine
});

fn suite(arguments: &[&str], profile: Profile) -> Suite {
    let subject = Target::program(ENGINE.as_path(), arguments);
    let suite = Suite::new(subject).profile(profile).timeouts(Timeouts::fixed(2.0)).jobs(4);
    suite.random_searches(60).random_lines(6).level(Level::Soak).soak_games(12)
}

#[test]
fn conforming_engine_passes_every_check() {
    let mut judged = BTreeSet::new();
    for report in &OBEYED.reports {
        for result in &report.results {
            match &result.verdict {
                // Times cannot be judged while other programs use the host.
                Verdict::Inconclusive(_) if result.loaded => {
                    judged.insert(result.check.id);
                }
                Verdict::Fail(_) | Verdict::Inconclusive(_) => panic!("{report}"),
                Verdict::Pass => {
                    judged.insert(result.check.id);
                }
                Verdict::Skip(_) if is_unmeasured(report, result.check.id) => {
                    judged.insert(result.check.id);
                }
                Verdict::Skip(_) => (),
            }
        }
        assert_ne!(report.exit_status(), 1);
        assert_eq!(unsuitable_text(report), None);
    }
    let missing: Vec<_> = all().map(|check| check.id).filter(|id| !judged.contains(id)).collect();
    assert!(missing.is_empty(), "the engine gives no occasion for {missing:?}");
}

#[test]
fn engine_with_a_fault_fails_its_check_and_no_unrelated_one() {
    LazyLock::force(&OBEYED);
    let _machine = alone();
    // The longest runs come first: a slow engine, a silent one, one that does not search, and searches with clocks.
    let is_long = |id| id == SILENT || SLOW.contains(&id);
    let (long, rest): (Vec<_>, Vec<_>) = all().partition(|check| is_long(check.id));
    prove(long.into_iter().chain(rest.into_iter().rev()), RELATED, |check| {
        let profile = check.profiles[0];
        let mut suite = suite(&["--break", check.id], profile).only([check.id]);
        if NEED_IDLE_HOST.contains(&check.id) {
            // They are observed for the timeout of a reply, on an idle host.
            suite = suite.timeouts(Timeouts::fixed(0.4)).jobs(12);
        }
        if SLOW.contains(&check.id) {
            suite = suite.only(check.id.split('.').take(1));
        } else {
            let evaluating = OBEYED.evaluated.get(check.id);
            suite = suite.only(evaluating.into_iter().flatten());
            suite = suite.only(all().filter(|check| check.passive).map(|check| check.id));
        }
        suite.run().map_err(|error| format!("{}: {error}", check.id))
    });
}
