//! Engines in this program, and those that are installed.

use std::path::Path;

use readyok_check::{Subject, Suite};
use readyok_protocol::Dialect;

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
    for dialect in Dialect::ALL {
        let report = Suite::new(narikin()).dialect(dialect).run().expect("it greets");
        let failures: Vec<_> = report.failures().map(|it| it.check.id).collect();
        assert!(failures.is_empty() && report.conforms(), "{report}");
    }
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
fn the_page_about_the_checks_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let hint =
        "docs/conformance.md is stale: run `readyok check --list --markdown docs/conformance.md`";
    assert!(page == readyok_check::page(), "{hint}");
}
