//! Tests of root causes: an engine with one defect has one root cause, regardless of the number of affected checks.

use std::time::Duration;

use readyok_check::{Cancellation, Profile, Report, Suite, Target, Timeouts};

use readyok_protocol::Language;

use crate::faults::{
    ABORTED, alone, failed, filter_map_parallel, is_unmeasured, test_program, together,
};

/// The defects with the root causes, one of which must be found.
const DEFECTS: &[(&str, &[&str])] = &[
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
    ("no-takeback", Profile::Uci2006, "positions.startpos"),
    ("no-takeback", Profile::UsiDeployed, "positions.startpos"),
    ("first-searchmove-only", Profile::Uci2006, "search.searchmoves"),
    ("first-searchmove-only", Profile::UsiDeployed, "search.searchmoves"),
    ("last-searchmove-only", Profile::Uci2006, "search.searchmoves"),
    ("last-searchmove-only", Profile::UsiDeployed, "search.searchmoves"),
    ("spin-without-range", Profile::Uci2006, "options.spin-range"),
    ("spin-without-range", Profile::UsiDeployed, "options.spin-range"),
    ("multipv-as-check", Profile::Uci2006, "options.fixed-types"),
    ("multipv-as-check", Profile::UsiDeployed, "options.fixed-types"),
    ("cpuload-over-permille", Profile::Uci2006, "info.permille"),
    ("cpuload-over-permille", Profile::UsiDeployed, "info.permille"),
    ("negative-tbhits", Profile::Uci2006, "info.numbers"),
    ("negative-tbhits", Profile::UsiDeployed, "info.numbers"),
    ("text-after-handshake", Profile::Uci2006, "lexical.reply-form"),
    ("text-after-handshake", Profile::UsiDeployed, "lexical.reply-form"),
    ("text-after-readyok", Profile::Uci2006, "lexical.reply-form"),
    ("text-after-readyok", Profile::UsiDeployed, "lexical.reply-form"),
    ("text-after-bestmove", Profile::Uci2006, "lexical.reply-form"),
    ("text-after-bestmove", Profile::UsiDeployed, "lexical.reply-form"),
    ("ponder-without-move", Profile::Uci2006, "lexical.reply-form"),
    ("ponder-without-move", Profile::UsiDeployed, "lexical.reply-form"),
    ("score-without-unit", Profile::Uci2006, "info.complete"),
    ("score-without-unit", Profile::UsiDeployed, "info.complete"),
    ("exits-at-empty-moves-after-fen", Profile::Uci2006, "positions.fen-sfen"),
    ("exits-at-empty-moves-after-fen", Profile::UsiDeployed, "positions.fen-sfen"),
    ("two-names", Profile::Uci2006, "handshake.name"),
    ("two-names", Profile::UsiDeployed, "handshake.name"),
    ("illegal-currmove", Profile::Uci2006, "info.current-move"),
    ("illegal-currmove", Profile::UsiDeployed, "info.current-move"),
    ("large-currmovenumber", Profile::Uci2006, "info.current-move"),
    ("large-currmovenumber", Profile::UsiDeployed, "info.current-move"),
    ("forgets-position-at-isready", Profile::Uci2006, "state.position-kept"),
    ("forgets-position-at-isready", Profile::UsiDeployed, "state.position-kept"),
    ("keeps-position-after-ponder-miss", Profile::Uci2006, "search.ponder.stop"),
    ("keeps-position-after-ponder-miss", Profile::UsiDeployed, "search.ponder.stop"),
    ("hash-in-kilobytes", Profile::Uci2006, "resources.hash-follows"),
    ("hash-in-kilobytes", Profile::UsiDeployed, "resources.hash-follows"),
    ("number-as-check-default", Profile::Uci2006, "options.check-default"),
    ("number-as-check-default", Profile::UsiDeployed, "options.check-default"),
    ("option-without-type", Profile::Uci2006, "options.readable"),
    ("option-without-type", Profile::UsiDeployed, "options.readable"),
    ("null-move", Profile::Uci2006, "search.legal-move"),
    ("null-move", Profile::UsiDeployed, "search.legal-move"),
    ("multipv-from-zero", Profile::Uci2006, "info.multipv"),
    ("multipv-from-zero", Profile::UsiDeployed, "info.multipv"),
    ("upper-case-squares", Profile::Uci2006, "positions.move-form"),
    ("upper-case-squares", Profile::UsiDeployed, "positions.move-form"),
    ("pv-of-best-move-twice", Profile::Uci2006, "info.legal-pv"),
    ("pv-of-best-move-twice", Profile::UsiDeployed, "info.legal-pv"),
    ("upper-case-promotions", Profile::Uci2006, "positions.move-form"),
    ("exits-at-movestogo-zero", Profile::Uci2006, "limits.zero"),
    ("castles-without-right", Profile::Uci2006, "positions.castling"),
    ("mate-in-plies", Profile::Uci2006, "search.mate"),
    ("lower-case-drops", Profile::UsiDeployed, "positions.move-form"),
    ("exits-at-draw", Profile::UsiDeployed, "usi.idle-game-over"),
    ("readyok-at-game-over", Profile::UsiDeployed, "usi.idle-game-over"),
    ("checkmate-without-moves", Profile::UsiDeployed, "usi.mate-moves"),
    ("stale-stop", Profile::Uci2006, "lexical.idle-stop"),
    ("stale-ponderhit", Profile::Uci2006, "lexical.idle-ponderhit"),
    ("keeps-depth", Profile::Uci2006, "search.limits-reset"),
    ("keeps-movetime", Profile::Uci2006, "search.limits-reset"),
    ("keeps-searchmoves", Profile::Uci2006, "search.limits-reset"),
    ("options-before-id", Profile::Uci2006, "handshake.id-first"),
    ("check-with-range", Profile::Uci2006, "options.readable"),
    ("spin-with-choices", Profile::Uci2006, "options.readable"),
    ("currline-from-zero", Profile::Uci2006, "info.currline"),
    ("first-line-without-multipv", Profile::Uci2006, "info.multipv"),
    ("mate-in-zero", Profile::Uci2006, "info.mate-score"),
    ("nps-infinite", Profile::Uci2006, "info.numbers"),
    ("depth-with-selective-depth", Profile::Uci2006, "info.complete"),
    ("prompt", Profile::Uci2006, "options.readable"),
    ("empty-name", Profile::Uci2006, "handshake.name"),
    ("name-without-keyword", Profile::Uci2006, "handshake.name"),
    ("option-without-keyword", Profile::Uci2006, "options.readable"),
    ("needs-new-game", Profile::Uci2006, "positions.startpos"),
    ("appends-moves", Profile::Uci2006, "positions.special-moves"),
    ("infinite-ends-later", Profile::Uci2006, "search.no-early-bestmove"),
    ("infinite-ends-when-complete", Profile::Uci2006, "search.infinite"),
    ("late-readyok-in-search", Profile::Uci2006, "search.ready"),
    ("thinks-after-position", Profile::Uci2006, "resources.idle"),
    ("isready-resets-options", Profile::Uci2006, "info.multipv"),
    ("first-setoption-only", Profile::Uci2006, "positions.chess960"),
    ("options-only-before-search", Profile::Uci2006, "info.multipv"),
    ("no-info-of-forced-move", Profile::Uci2006, "info.before-bestmove"),
    ("no-limits-after-ponderhit", Profile::Uci2006, "search.ponder.hit"),
    ("no-rights-by-file", Profile::Uci2006, "positions.chess960"),
    ("promotion-with-equals-sign", Profile::Uci2006, "positions.promotions"),
    ("stale-stop", Profile::UsiDeployed, "lexical.idle-stop"),
    ("stale-ponderhit", Profile::UsiDeployed, "lexical.idle-ponderhit"),
    ("keeps-depth", Profile::UsiDeployed, "search.limits-reset"),
    ("keeps-movetime", Profile::UsiDeployed, "search.limits-reset"),
    ("keeps-searchmoves", Profile::UsiDeployed, "search.limits-reset"),
    ("options-before-id", Profile::UsiDeployed, "handshake.id-first"),
    ("check-with-range", Profile::UsiDeployed, "options.readable"),
    ("spin-with-choices", Profile::UsiDeployed, "options.readable"),
    ("currline-from-zero", Profile::UsiDeployed, "info.currline"),
    ("first-line-without-multipv", Profile::UsiDeployed, "info.multipv"),
    ("mate-in-zero", Profile::UsiDeployed, "info.mate-score"),
    ("nps-infinite", Profile::UsiDeployed, "info.numbers"),
    ("depth-with-selective-depth", Profile::UsiDeployed, "info.complete"),
    ("prompt", Profile::UsiDeployed, "options.readable"),
    ("empty-name", Profile::UsiDeployed, "handshake.name"),
    ("name-without-keyword", Profile::UsiDeployed, "handshake.name"),
    ("option-without-keyword", Profile::UsiDeployed, "options.readable"),
    ("needs-new-game", Profile::UsiDeployed, "positions.startpos"),
    ("appends-moves", Profile::UsiDeployed, "positions.random-lines"),
    ("infinite-ends-later", Profile::UsiDeployed, "search.no-early-bestmove"),
    ("late-readyok-in-search", Profile::UsiDeployed, "search.ready"),
    ("thinks-after-position", Profile::UsiDeployed, "resources.idle"),
    ("isready-resets-options", Profile::UsiDeployed, "info.multipv"),
    ("first-setoption-only", Profile::UsiDeployed, "info.multipv"),
    ("options-only-before-search", Profile::UsiDeployed, "info.multipv"),
    ("no-limits-after-ponderhit", Profile::UsiDeployed, "search.ponder.hit"),
    ("exits-at-loss", Profile::UsiDeployed, "usi.idle-game-over"),
    ("two-digit-hand", Profile::UsiDeployed, "positions.short-sfen"),
    ("no-promotion-sign", Profile::UsiDeployed, "positions.shogi-promotions"),
    ("limit-without-strength", Profile::UsiDeployed, "options.elo-with-limit"),
    ("filename-without-default", Profile::UsiDeployed, "options.string-default"),
];

#[test]
fn violations_that_need_a_particular_stimulus_are_detected() {
    let _machine = alone();
    let missed = filter_map_parallel(PARALLEL, VIOLATIONS, |&(defect, profile, id)| {
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
