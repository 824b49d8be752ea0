//! Tests of the checks of clients: a conforming client passes all checks, and a client with one fault fails its check and no
//! unrelated one.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use readyok_check::{ClientSuite, Report, Timeouts, Verdict, all_of_clients};
use readyok_protocol::Dialect;

use crate::faults::{failed, prove, test_program, together};

/// The test client.
#[expect(clippy::expect_used, reason = "used by all tests")]
fn caller() -> &'static str {
    static PATH: LazyLock<String> =
        LazyLock::new(|| test_program("caller").into_os_string().into_string().expect("UTF-8"));
    &PATH
}

/// Idle timeout; twice the timeout of the client.
const IDLE_TIMEOUT: Duration = Duration::from_secs(7);

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
        runs.into_iter().map(|it| it.join().expect("a report")).collect()
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
            .filter(|it| matches!(it.verdict, Verdict::Fail(_) | Verdict::Inconclusive(_)))
            .collect();
        assert!(unexpected.is_empty(), "{report}");
        assert_eq!(report.exit_status(), 0);
        for result in &report.results {
            *passed.entry(result.check.id).or_insert(false) |= result.verdict == Verdict::Pass;
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
fn rejects_commands_that_are_not_clients() {
    let without = ClientSuite::new([caller()], caller()).run().expect_err("no engine is named");
    assert!(without.to_string().contains("`{engine}`"), "{without}");
    let missing = ClientSuite::new(["/no/such/client", "{engine}"], caller());
    assert!(missing.run().is_err());
    let idle = ClientSuite::new(["echo", "{engine}"], caller()).run().expect_err("it starts none");
    assert!(idle.to_string().contains("does not start an engine"), "{idle}");
}
