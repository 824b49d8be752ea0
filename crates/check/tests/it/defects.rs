//! Tests of root causes: an engine with one defect has one root cause, regardless of the number of affected checks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use readyok_check::{Profile, Report, Suite, Target, Timeouts};

use crate::faults::{alone, test_program};

/// The defects with the root causes, one of which must be found.
const DEFECTS: &[(&str, &[&str])] = &[
    ("exits-at-go", &["search.completes"]),
    ("silent-at-go", &["search.completes"]),
    ("exits-at-depth", &["search.depth"]),
    ("exits-at-nodes", &["search.nodes"]),
    ("exits-at-movetime", &["search.movetime.ends"]),
    ("exits-at-clock", &["search.clock"]),
    ("exits-at-infinite", &["search.stop"]),
    ("exits-at-ponder", &["search.ponder.hit"]),
    ("exits-at-searchmoves", &["search.searchmoves"]),
    ("ignores-depth", &["search.depth"]),
    ("ignores-nodes", &["search.nodes"]),
    ("ignores-movetime", &["search.movetime.ends"]),
    ("ignores-clock", &["search.clock"]),
    ("ignores-stop", &["search.stop"]),
    ("ignores-searchmoves", &["search.searchmoves"]),
    ("slow", &["search.depth"]),
    ("ponder-like-search", &["search.ponder.holds-bestmove"]),
    ("reports-nothing", &["info.before-bestmove"]),
    ("splits-at-single-spaces", &["lexical.spaces"]),
    ("exits-at-unknown-command", &["lexical.unknown-command"]),
    ("comments-unknown-commands", &["handshake.known-messages"]),
    ("ignores-moves", &["positions.startpos"]),
    ("ignores-fen", &["positions.fen-sfen"]),
    ("no-readyok-in-search", &["search.ready"]),
    ("ignores-quit", &["exit.quit.idle"]),
    ("ignores-eof", &["exit.eof.idle"]),
    ("capital-default", &["options.check-default"]),
    ("unprompted-handshake", &["handshake.waits"]),
    ("exits-at-setoption", &["options.settable"]),
    ("repeats-bestmove", &["search.one-bestmove"]),
    ("info-after-bestmove", &["lexical.idle-info"]),
    ("exits-without-legal-move", &["positions.no-legal-move"]),
    ("scores-of-white", &["info.score-side"]),
    ("mates-in-plies", &["info.mate-score"]),
    ("no-author", &["handshake.author"]),
];

/// Properties that are no defects.
const CONFORMING: [&str; 1] = ["ponder-not-declared"];

/// Number of parallel engines, which use little CPU time.
const PARALLEL: usize = 12;

fn check(defect: &str) -> Result<Report, String> {
    let fault = format!("defect.{defect}");
    let target = Target::program(test_program("obedient"), ["--break", fault.as_str()]);
    let suite = Suite::new(target).profile(Profile::Uci2006).timeouts(Timeouts::fixed(0.6));
    let suite = suite.random_searches(30).random_lines(4).jobs(4);
    suite.run().map_err(|error| format!("{defect}: {error}"))
}

/// Violations that a rule detects only with a particular stimulus: the defect, the edition, and the check.
const VIOLATIONS: &[(&str, Profile, &str)] = &[
    ("bare-startpos-keeps-moves", Profile::Uci2006, "positions.startpos"),
    ("position-stops", Profile::Uci2006, "state.position-in-search"),
    ("isready-stops-later", Profile::Uci2006, "search.ready"),
    ("string-middle", Profile::Uci2006, "info.string-last"),
    ("names-without-spaces", Profile::Uci2006, "options.settable"),
    ("warns-about-options", Profile::Uci2006, "options.settable"),
    ("short-buffer", Profile::Uci2006, "lexical.long-line"),
    ("unprompted-handshake", Profile::Uci2006, "handshake.waits"),
    ("late-with-increment", Profile::Uci2006, "search.clock"),
    ("late-with-one-clock", Profile::Uci2006, "search.clock"),
    ("late-before-control", Profile::Uci2006, "search.moves-to-go"),
    ("swapped-clocks", Profile::Uci2006, "search.clock"),
    ("swapped-clocks", Profile::UsiDeployed, "search.clock"),
    ("late-in-byoyomi", Profile::UsiDeployed, "usi.byoyomi-time"),
    ("late-in-byoyomi", Profile::UsiDeployed, "limits.game"),
    ("castling-takes-rook", Profile::Uci2006, "positions.castling"),
    ("choices-with-spaces", Profile::UsiDeployed, "options.no-spaces"),
    ("one-piece-in-hand", Profile::UsiDeployed, "positions.short-sfen"),
    ("infinite-without-searchmoves", Profile::Uci2006, "search.searchmoves"),
    ("infinite-without-searchmoves", Profile::UsiDraft1, "search.searchmoves"),
    ("black-castling-takes-rook", Profile::UciModern, "positions.castling"),
    ("no-en-passant-for-white", Profile::Uci2006, "positions.en-passant"),
    ("multipv-never-decreases", Profile::Uci2006, "info.multipv-limit"),
    ("multipv-never-decreases", Profile::UsiDeployed, "info.multipv-limit"),
    ("chess960-stays-on", Profile::Uci2006, "positions.chess960"),
    ("exits-at-registration", Profile::Uci2006, "search.register"),
    ("no-mate-in-two", Profile::Uci2006, "search.mate"),
    ("about-as-check", Profile::Uci2006, "options.fixed-types"),
    ("no-promoted-pieces", Profile::UsiDeployed, "positions.fen-sfen"),
];

#[test]
fn violations_that_need_a_particular_stimulus_are_detected() {
    let _machine = alone();
    let next = AtomicUsize::new(0);
    let missed = Mutex::new(Vec::new());
    let detect = |(defect, profile, id): (&str, Profile, &'static str)| {
        let fault = format!("defect.{defect}");
        let target = Target::program(test_program("obedient"), ["--break", fault.as_str()]);
        let timeouts = Timeouts::fixed(1.0);
        let suite = Suite::new(target).profile(profile).timeouts(timeouts).only([id]);
        match suite.run() {
            Ok(report) if report.failures().any(|it| it.check.id == id) => None,
            // On a busy host times have no verdict.
            Ok(report) if report.results.iter().any(|it| it.verdict.text().contains("busy")) => {
                None
            }
            Ok(report) => Some(format!("{defect} passes {id}:\n{report}")),
            Err(error) => Some(format!("{defect}: {error}")),
        }
    };
    thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                while let Some(case) = VIOLATIONS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let why = detect(*case);
                    missed.lock().unwrap_or_else(PoisonError::into_inner).extend(why);
                }
            });
        }
    });
    let missed = missed.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
}

#[test]
fn engine_with_one_defect_has_one_root_cause() {
    let _machine = alone();
    let work: Vec<(&str, &[&str])> =
        DEFECTS.iter().copied().chain(CONFORMING.map(|it| (it, &[][..]))).collect();
    let (wrong, next) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let judge = |defect: &str, expected: &[&str]| -> Result<(), String> {
        let report = check(defect)?;
        let found: Vec<&str> = report.causes().iter().map(|it| it.id).collect();
        if found == expected {
            return Ok(());
        }
        Err(format!("{defect}: {found:?} instead of {expected:?}\n{report}"))
    };
    thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                while let Some((defect, expected)) = work.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    if let Err(why) = judge(defect, expected) {
                        wrong.lock().unwrap_or_else(PoisonError::into_inner).push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
