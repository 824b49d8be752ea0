//! Tests of the checks of clients: a conforming client passes all checks, and a client with one fault fails its check and no
//! unrelated one.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use readyok_check::{ClientSuite, Report, Timeouts, Verdict, all_of_clients};
use readyok_protocol::Dialect;

use crate::faults::{
    ABORTED, alone, failed, filter_map_parallel, is_unmeasured, prove, test_program, together,
};

/// The test client.
#[expect(clippy::expect_used, reason = "used by all tests")]
fn caller() -> &'static str {
    static PATH: LazyLock<String> =
        LazyLock::new(|| test_program("caller").into_os_string().into_string().expect("UTF-8"));
    &PATH
}

/// Idle timeout; twice the timeout of the client.
const IDLE_TIMEOUT: Duration = Duration::from_secs(7);

/// Number of parallel clients, which use little CPU time.
const PARALLEL: usize = 12;

/// Faults that violate several rules: the check, and the related checks.
const RELATED: [(&str, &[&str]); 6] = [
    // Other moves are legal in the position of the engine.
    ("gui.conduct.sends-position", &["gui.conduct.legal-searchmoves"]),
    // Without a name there is no option.
    ("gui.conduct.setoption-form", &["gui.conduct.known-commands", "gui.conduct.declared-options"]),
    // `isready` is sent before the end of the handshake.
    ("gui.conduct.handshake-first", &["gui.conduct.waits-for-ready"]),
    // The registration request arrives during another wait.
    ("gui.conduct.handshake-once", &["gui.conduct.registers"]),
    ("gui.conduct.waits-for-ready", &["gui.conduct.registers"]),
    // A partial line is parsed as a reply.
    ("gui.lines.fragments", &["gui.conduct.waits-for-ready"]),
];

fn suite(fault: Option<&str>, dialect: Dialect) -> ClientSuite {
    let mut command = vec![caller()];
    if dialect == Dialect::Usi {
        command.push("--usi");
    }
    command.extend(fault.iter().flat_map(|id| ["--break", *id]));
    command.push("{engine}");
    ClientSuite::new(command, caller())
        .timeouts(Timeouts::fixed(1.0))
        .idle_timeout(IDLE_TIMEOUT)
        .jobs(6)
}

/// Runs a suite in both protocols in parallel.
#[expect(clippy::expect_used, reason = "what the tests share")]
fn in_both(suite: impl Fn(Dialect) -> ClientSuite + Sync) -> Vec<Report> {
    let run = |dialect| suite(dialect).run().expect("it starts its engine");
    thread::scope(|scope| {
        let runs: Vec<_> =
            Dialect::ALL.into_iter().map(|dialect| scope.spawn(move || run(dialect))).collect();
        runs.into_iter().map(|run| run.join().expect("a report")).collect()
    })
}

#[test]
fn conforming_client_passes_every_check() {
    let _machine = together();
    let mut passed = BTreeMap::new();
    for report in in_both(|dialect| suite(None, dialect)) {
        let unexpected: Vec<_> = report
            .results
            .iter()
            .filter(|result| matches!(result.verdict, Verdict::Fail(_) | Verdict::Inconclusive(_)))
            .collect();
        assert!(unexpected.is_empty(), "{report}");
        assert_eq!(report.exit_status(), 0);
        for result in &report.results {
            *passed.entry(result.check.id).or_insert(false) |=
                result.verdict == Verdict::Pass || is_unmeasured(&report, result.check.id);
        }
    }
    let skipped: Vec<_> = passed.iter().filter(|(_, passed)| !**passed).collect();
    assert!(skipped.is_empty(), "{skipped:?} are never tested");
}

#[test]
fn client_with_a_fault_fails_its_check_and_no_unrelated_one() {
    let _machine = together();
    prove(all_of_clients(), &RELATED, |check| {
        let dialect = check.profiles[0].dialect();
        // Passive checks observe all runs, and registration needs its own run.
        let only = [check.id, "gui.conduct.", "gui.status.registration-error"];
        let report = suite(Some(check.id), dialect).only(only).run();
        report.map_err(|error| format!("{}: {error}", check.id))
    });
}

const UCI: &[Dialect] = &[Dialect::Uci];
const USI: &[Dialect] = &[Dialect::Usi];
const BOTH: &[Dialect] = &Dialect::ALL;

/// Violations of single sentences of the specifications: the protocols, the check of conduct, and the defects.
const VIOLATIONS: &[(&[Dialect], &str, &str)] = &[
    (UCI, "option-values", "value-of-button check-value-yes"),
    (BOTH, "option-values", "value-out-of-range undeclared-choice"),
    (BOTH, "declared-options", "value-without-keyword"),
    (
        BOTH,
        "go-form",
        "clock-without-number clock-with-unit clock-with-comma repeated-depth no-searchmoves \
         depth-as-text",
    ),
    (UCI, "handshake-first", "isready-before-uci option-before-uci"),
    (USI, "handshake-first", "isready-before-usi option-before-usi"),
    (
        UCI,
        "known-commands",
        "debug-with-unknown-argument register-without-argument text-after-ponderhit",
    ),
    (
        BOTH,
        "known-commands",
        "upper-case-command debug-without-argument text-after-isready text-after-stop \
         text-after-quit xboard-command",
    ),
    (
        USI,
        "known-commands",
        "uci-command-in-usi gameover-without-result gameover-with-unknown-result",
    ),
    (BOTH, "legal-positions", "null-move"),
    (BOTH, "new-game", "second-game-without-new-game"),
    (BOTH, "ponderhit", "repeated-ponderhit"),
    (UCI, "position-form", "two-positions"),
    (
        BOTH,
        "position-form",
        "start-position-misspelled san-move upper-case-moves moves-with-commas \
         moves-with-hyphens",
    ),
    (USI, "position-form", "fen-in-usi"),
    (BOTH, "positive-limits", "no-moves-to-go depth-of-zero"),
    (BOTH, "valid-clocks", "negative-increment"),
    (USI, "valid-clocks", "negative-byoyomi"),
    (UCI, "waits-for-bestmove", "uci-new-game-in-search"),
    (
        BOTH,
        "waits-for-bestmove",
        "setoption-in-search go-in-search go-after-stop position-while-pondering",
    ),
    (USI, "waits-for-bestmove", "usi-new-game-in-search"),
    (UCI, "waits-for-ready", "uci-new-game-without-isready"),
];

#[test]
fn violations_of_single_sentences_are_detected() {
    let _machine = alone();
    let violations: Vec<_> = VIOLATIONS
        .iter()
        .flat_map(|&(dialects, id, defects)| {
            let id = format!("gui.conduct.{id}");
            let defects = defects.split(' ').map(move |defect| (defect, id.clone()));
            defects.flat_map(|(defect, id)| {
                dialects.iter().map(move |dialect| (defect, *dialect, id.clone()))
            })
        })
        .collect();
    let missed = filter_map_parallel(PARALLEL, &violations, |(defect, dialect, id)| {
        let fault = format!("gui.defect.{defect}");
        match suite(Some(&fault), *dialect).dialect(*dialect).only([id, "gui.search.no-info"]).run()
        {
            Ok(report) if failed(&report).contains(&id.as_str()) => None,
            Ok(report) => Some(format!("{defect} passes {id}:\n{report}")),
            Err(error) => Some(format!("{defect}: {error}")),
        }
    });
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
}

#[test]
fn a_run_ends_at_its_maximum_time() {
    let _machine = together();
    let suite = suite(Some("gui.search.no-reply"), Dialect::Uci).timeouts(Timeouts::fixed(20.0));
    let suite = suite.idle_timeout(Duration::from_mins(1)).max_time(Duration::from_secs(6));
    let report = suite.run().expect("it starts its engine");
    // Far less than the idle timeout.
    assert!(report.took < Duration::from_mins(1), "{report}");
    assert_ne!(report.exit_status(), 0, "{report}");
}

#[test]
fn our_client_passes_every_check() {
    let _machine = together();
    let reports = in_both(|dialect| {
        let mut command = vec![test_program("asks").into_os_string()];
        command.extend((dialect == Dialect::Usi).then(|| "--usi".into()));
        command.push("{engine}".into());
        ClientSuite::new(command, caller())
            .timeouts(Timeouts::fixed(1.0))
            .idle_timeout(IDLE_TIMEOUT)
            .jobs(6)
    });
    for report in reports {
        assert_eq!(failed(&report), [""; 0], "{report}");
        assert!(report.conforms(), "{report}");
    }
}

#[test]
fn crash_of_a_client_is_described() {
    let _machine = together();
    let id = "gui.search.null-move";
    let report = suite(Some(id), Dialect::Uci).only([id]).run().expect("it starts its engine");
    let result = report.results.iter().find(|result| result.check.id == id).expect("a result");
    assert!(matches!(result.verdict, Verdict::Fail(_)), "{report}");
    assert!(result.verdict.text().contains(ABORTED), "{report}");
}

#[test]
fn rejects_commands_that_are_not_clients() {
    let without = ClientSuite::new([caller()], caller()).run().expect_err("no engine is named");
    assert!(without.to_string().contains("`{engine}`"), "{without}");
    let missing = ClientSuite::new(["/no/such/client", "{engine}"], caller());
    assert!(missing.run().is_err());
    let echo: &[&str] =
        if cfg!(windows) { &["cmd", "/c", "echo", "{engine}"] } else { &["echo", "{engine}"] };
    let idle = ClientSuite::new(echo, caller()).run().expect_err("it starts none");
    assert!(idle.to_string().contains("does not start an engine"), "{idle}");
}
