//! Engines in this program, and those that are installed.

use std::path::Path;
use std::thread;

use readyok_check::{Subject, Suite};
use readyok_protocol::{Dialect, Side};

fn narikin() -> Subject {
    Subject::in_process("narikin", |input, output| {
        // If it cannot go on, its output ends, and that is what the checks see.
        if let Ok(narikin) = narikin::runner() {
            let _ = narikin.run(input, output);
        }
    })
}

#[test]
fn narikin_conforms_in_both_protocols() {
    let _machine = crate::faults::together();
    let judge = |dialect| {
        let report = Suite::new(narikin()).dialect(dialect).run().expect("it greets");
        let failures: Vec<_> = report.failures().map(|it| it.check.id).collect();
        assert!(failures.is_empty() && report.conforms(), "{report}");
    };
    thread::scope(|scope| {
        for dialect in Dialect::ALL {
            scope.spawn(move || judge(dialect));
        }
    });
}

#[test]
fn what_is_no_engine_is_told_so() {
    let cat = Suite::new(Subject::program("/bin/cat", [""; 0])).timeout_scale(0.02);
    if Path::new("/bin/cat").exists() {
        assert!(cat.run().is_err());
    }
    assert!(Suite::new(Subject::program("/no/such/engine", [""; 0])).run().is_err());
}

#[test]
fn the_pages_about_the_checks_are_fresh() {
    let pages = [
        (Side::Engine, "conformance.md", "--list"),
        (Side::Client, "conformance-clients.md", "--gui --list"),
    ];
    for (side, name, list) in pages {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let page = std::fs::read_to_string(path).unwrap_or_default();
        let hint =
            format!("docs/{name} is stale: run `readyok check {list} --markdown docs/{name}`");
        assert!(page == readyok_check::page(side), "{hint}");
    }
}
