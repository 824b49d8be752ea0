//! Tests of root causes: an engine with one defect has one root cause, regardless of the number of affected checks.

use std::time::Duration;

use readyok_check::{Cancellation, Profile, Report, Suite, Target, Timeouts};

use readyok_protocol::Language;

use crate::faults::{
    ABORTED, alone, failed, filter_map_parallel, is_unmeasured, test_program, together,
};

/// The defects with the root causes, one of which must be found.
pub(crate) const DEFECTS: &[(&str, &[&str])] = &[
    ("exits-at-go", &["search.completes"]),
    ("silent-at-go", &["search.completes"]),
    ("no-readyok", &["handshake.ready"]),
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
    ("ends-infinite", &["search.infinite"]),
    ("isready-stops", &["search.ready"]),
    ("ignores-searchmoves", &["search.searchmoves"]),
    ("slow", &["search.depth"]),
    ("slow-when-deep", &["search.depth"]),
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
    ("black-ignored", &["positions.fen-sfen"]),
    ("needs-first-new-game", &["search.new-game"]),
];

/// Properties that are no defects.
const CONFORMING: [&str; 2] = ["ponder-not-declared", "describes-itself"];

/// Number of parallel engines, which use little CPU time.
const PARALLEL: usize = 12;

fn check(defect: &str) -> Result<Report, String> {
    let fault = format!("defect.{defect}");
    let target = Target::program(test_program("obedient"), ["--break", fault.as_str()]);
    let suite = Suite::new(target).profile(Profile::Uci2006).timeouts(Timeouts::fixed(0.6));
    let suite = suite.random_searches(30).random_lines(4).jobs(4);
    suite.run().map_err(|error| format!("{defect}: {error}"))
}

const UCI: &[Profile] = &[Profile::Uci2006];
const USI: &[Profile] = &[Profile::UsiDeployed];
const BOTH: &[Profile] = &[Profile::Uci2006, Profile::UsiDeployed];

/// Violations that a rule detects only with a particular stimulus: the profiles, the check, and the defects.
pub(crate) const VIOLATIONS: &[(&[Profile], &str, &str)] = &[
    (BOTH, "handshake.id-first", "options-before-id"),
    (BOTH, "handshake.name", "two-names empty-name name-without-keyword"),
    (UCI, "handshake.waits", "unprompted-handshake"),
    (UCI, "info.before-bestmove", "no-info-of-forced-move"),
    (BOTH, "info.complete", "score-without-unit depth-with-selective-depth"),
    (BOTH, "info.current-move", "illegal-currmove large-currmovenumber"),
    (BOTH, "info.currline", "currline-from-zero"),
    (BOTH, "info.legal-pv", "pv-of-best-move-twice"),
    (BOTH, "info.mate-score", "mate-in-zero"),
    (
        BOTH,
        "info.multipv",
        "multipv-from-zero first-line-without-multipv isready-resets-options \
         options-only-before-search",
    ),
    (USI, "info.multipv", "first-setoption-only"),
    (BOTH, "info.multipv-limit", "multipv-never-decreases"),
    (BOTH, "info.numbers", "negative-tbhits nps-infinite"),
    (BOTH, "info.permille", "cpuload-over-permille"),
    (UCI, "info.string-last", "string-middle"),
    (BOTH, "lexical.idle-ponderhit", "stale-ponderhit"),
    (BOTH, "lexical.idle-stop", "stale-stop"),
    (UCI, "lexical.long-line", "short-buffer"),
    (
        BOTH,
        "lexical.reply-form",
        "text-after-handshake text-after-readyok text-after-bestmove ponder-without-move",
    ),
    (USI, "limits.game", "late-in-byoyomi"),
    (UCI, "limits.zero", "exits-at-movestogo-zero"),
    (BOTH, "options.check-default", "number-as-check-default"),
    (USI, "options.elo-with-limit", "limit-without-strength"),
    (UCI, "options.fixed-types", "about-as-check"),
    (BOTH, "options.fixed-types", "multipv-as-check"),
    (USI, "options.no-spaces", "choices-with-spaces"),
    (
        BOTH,
        "options.readable",
        "option-without-type check-with-range spin-with-choices prompt option-without-keyword",
    ),
    (UCI, "options.settable", "names-without-spaces warns-about-options"),
    (BOTH, "options.spin-range", "spin-without-range"),
    (USI, "options.string-default", "filename-without-default"),
    (UCI, "positions.castling", "castling-takes-rook castles-without-right"),
    (&[Profile::UciModern], "positions.castling", "black-castling-takes-rook"),
    (UCI, "positions.chess960", "chess960-stays-on first-setoption-only no-rights-by-file"),
    (UCI, "positions.en-passant", "no-en-passant-for-white"),
    (BOTH, "positions.fen-sfen", "exits-at-empty-moves-after-fen"),
    (USI, "positions.fen-sfen", "no-promoted-pieces"),
    (UCI, "positions.move-form", "upper-case-promotions"),
    (BOTH, "positions.move-form", "upper-case-squares"),
    (USI, "positions.move-form", "lower-case-drops"),
    (UCI, "positions.promotions", "promotion-with-equals-sign"),
    (USI, "positions.random-lines", "appends-moves"),
    (USI, "positions.shogi-promotions", "no-promotion-sign"),
    (USI, "positions.short-sfen", "one-piece-in-hand two-digit-hand"),
    (UCI, "positions.special-moves", "appends-moves"),
    (UCI, "positions.startpos", "bare-startpos-keeps-moves"),
    (BOTH, "positions.startpos", "no-takeback needs-new-game"),
    (BOTH, "resources.hash-follows", "hash-in-kilobytes"),
    (BOTH, "resources.idle", "thinks-after-position"),
    (UCI, "search.clock", "late-with-increment late-with-one-clock"),
    (BOTH, "search.clock", "swapped-clocks"),
    (UCI, "search.infinite", "infinite-ends-when-complete"),
    (BOTH, "search.legal-move", "null-move"),
    (BOTH, "search.limits-reset", "keeps-depth keeps-movetime keeps-searchmoves"),
    (UCI, "search.mate", "no-mate-in-two mate-in-plies"),
    (UCI, "search.moves-to-go", "late-before-control"),
    (BOTH, "search.no-early-bestmove", "infinite-ends-later"),
    (BOTH, "search.ponder.hit", "no-limits-after-ponderhit"),
    (BOTH, "search.ponder.stop", "keeps-position-after-ponder-miss"),
    (UCI, "search.ready", "isready-stops-later"),
    (BOTH, "search.ready", "late-readyok-in-search"),
    (UCI, "search.register", "exits-at-registration"),
    (BOTH, "search.searchmoves", "first-searchmove-only last-searchmove-only"),
    (&[Profile::Uci2006, Profile::UsiDraft1], "search.searchmoves", "infinite-without-searchmoves"),
    (UCI, "state.position-in-search", "position-stops"),
    (BOTH, "state.position-kept", "forgets-position-at-isready"),
    (USI, "usi.byoyomi-time", "late-in-byoyomi"),
    (USI, "usi.idle-game-over", "exits-at-draw readyok-at-game-over exits-at-loss"),
    (USI, "usi.mate-moves", "checkmate-without-moves"),
];

#[test]
fn violations_that_need_a_particular_stimulus_are_detected() {
    let _machine = alone();
    let violations: Vec<_> = VIOLATIONS
        .iter()
        .flat_map(|&(profiles, id, defects)| {
            let defects = defects.split(' ').map(move |defect| (defect, id));
            defects
                .flat_map(|(defect, id)| profiles.iter().map(move |profile| (defect, *profile, id)))
        })
        .collect();
    let missed = filter_map_parallel(PARALLEL, &violations, |&(defect, profile, id)| {
        let fault = format!("defect.{defect}");
        let target = Target::program(test_program("obedient"), ["--break", fault.as_str()]);
        let timeouts = Timeouts::fixed(1.0);
        let suite = Suite::new(target).profile(profile).timeouts(timeouts).only([id]);
        match suite.run() {
            Ok(report) if report.failures().any(|result| result.check.id == id) => None,
            // On a busy host times have no verdict.
            Ok(report) if report.results.iter().any(|result| result.loaded) => None,
            Ok(report) if is_unmeasured(&report, id) => None,
            Ok(report) => Some(format!("{defect} passes {id}:\n{report}")),
            Err(error) => Some(format!("{defect}: {error}")),
        }
    });
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
}

/// Deviations from sentences that leave a choice: a sign of a number, the end of a search for a mate that does not exist, a
/// recommendation, and the meaning of “as soon as possible”.
const PERMITTED: [&str; 5] =
    ["signed-numbers", "signed-score", "time-apart-from-pv", "endless-mate-search", "late-quit"];

#[test]
fn crash_of_an_engine_is_described() {
    let _machine = together();
    let target = Target::program(test_program("obedient"), ["--break", "defect.aborts-at-depth"]);
    let report = Suite::new(target).only(["search.depth"]).run().expect("a handshake");
    let result =
        report.failures().find(|result| result.check.id == "search.depth").expect("a failure");
    assert!(result.verdict.text().contains(ABORTED), "{report}");
}

#[test]
fn permitted_deviations_pass() {
    let _machine = together();
    for deviation in PERMITTED {
        let fault = format!("defect.{deviation}");
        let target = Target::program(test_program("obedient"), ["--break", fault.as_str()]);
        let suite = Suite::new(target).profile(Profile::Uci2006).timeouts(Timeouts::fixed(2.0));
        let report = suite.only(["info.", "search.mate", "exit.quit."]).jobs(4).run();
        let report = report.expect("a handshake");
        assert_eq!(failed(&report), [""; 0], "{deviation}: {report}");
    }
}

#[test]
fn a_slow_engine_without_info_has_no_verdict_on_scores() {
    let _machine = together();
    let target = Target::program(test_program("obedient"), ["--break", "defect.fixed-depth"]);
    let suite = Suite::new(target).profile(Profile::Uci2006).timeouts(Timeouts::fixed(0.6));
    let report = suite.only(["scores.", "info.mate-score"]).jobs(4).run().expect("a handshake");
    assert_eq!(failed(&report), [""; 0], "{report}");
}

/// Engines that do not end a session by themselves.
const HANGING: [&str; 4] = ["silent-at-go", "floods-at-go", "ignores-stop", "ignores-quit"];

#[test]
fn a_run_ends_at_its_maximum_time() {
    let _machine = alone();
    for defect in HANGING {
        let fault = format!("defect.{defect}");
        let target = Target::program(test_program("obedient"), ["--break", fault.as_str()]);
        let suite = Suite::new(target).profile(Profile::Uci2006).timeouts(Timeouts::fixed(20.0));
        let report = suite.max_time(Duration::from_secs(3)).run().expect("a handshake");
        // Far less than the timeout of one reply.
        assert!(report.took < Duration::from_secs(40), "{defect}: {report}");
        assert_ne!(report.exit_status(), 0, "{defect}: {report}");
    }
}

#[test]
fn a_canceled_run_ends_without_waiting_for_the_engine() {
    let _machine = alone();
    let target = Target::program(test_program("obedient"), ["--break", "defect.silent-at-go"]);
    let cancellation = Cancellation::default();
    let by_progress = cancellation.clone();
    // Timeouts that exceed any limit.
    let suite = Suite::new(target).profile(Profile::Uci2006).timeouts(Timeouts::fixed(10_000.0));
    let suite = suite.canceled_by(&cancellation).on_progress(move |_| by_progress.cancel());
    let error = suite.run().expect_err("it was canceled");
    assert_eq!(error.message().in_language(Language::English), "the run was canceled");
}

#[test]
fn engine_with_one_defect_has_one_root_cause() {
    let _machine = alone();
    let work: Vec<(&str, &[&str])> =
        DEFECTS.iter().copied().chain(CONFORMING.map(|name| (name, &[][..]))).collect();
    let judge = |defect: &str, expected: &[&str]| -> Result<(), String> {
        let report = check(defect)?;
        let found: Vec<&str> = report.causes().iter().map(|cause| cause.id).collect();
        if found == expected {
            return Ok(());
        }
        Err(format!("{defect}: {found:?} instead of {expected:?}\n{report}"))
    };
    let wrong = filter_map_parallel(PARALLEL, &work, |&(defect, expected)| {
        judge(defect, expected).is_err().then_some((defect, expected))
    });
    // On a busy host, replies of concurrent engines can be late. Alone, they are not.
    let wrong: Vec<String> = wrong
        .into_iter()
        .filter_map(|(defect, expected)| {
            judge(defect, expected).or_else(|_| judge(defect, expected)).err()
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
