//! Checks of Narikin, over pipes and TCP.

use std::net::{Shutdown, TcpListener};
use std::path::Path;
use std::thread;

use readyok_check::{CheckResult, Suite, Target, Verdict};
use readyok_protocol::Language;
use readyok_protocol::{Dialect, Party};

fn narikin() -> Target {
    Target::in_process("narikin", |input, output| {
        // An error closes its output, which the checks detect.
        if let Ok(narikin) = narikin::runner() {
            let _ = narikin.run(input, output);
        }
    })
}

#[test]
fn narikin_conforms_in_both_protocols() {
    let _machine = crate::faults::together();
    let judge = |dialect| {
        let report = Suite::new(narikin()).dialect(dialect).run().expect("a handshake");
        let failures: Vec<_> = report.failures().map(|result| result.check.id).collect();
        assert!(failures.is_empty(), "{report}");
        // Times cannot be judged while other tests use the host.
        let open = |result: &&CheckResult| {
            matches!(result.verdict, Verdict::Inconclusive(_)) && !result.loaded
        };
        let open: Vec<_> =
            report.results.iter().filter(open).map(|result| result.check.id).collect();
        assert_eq!(open, [""; 0], "{report}");
    };
    thread::scope(|scope| {
        for dialect in Dialect::ALL {
            scope.spawn(move || judge(dialect));
        }
    });
}

/// Narikin at a TCP port, for one client after another.
#[expect(clippy::expect_used, reason = "a port of this machine is there")]
fn serve_narikin() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let ends = stream.try_clone().and_then(|input| Ok((input, stream.try_clone()?)));
            if let (Ok((input, output)), Ok(narikin)) = (ends, narikin::runner()) {
                // An error closes the connection, which the checks detect.
                let _ = narikin.run(input, output);
            }
            let _ = stream.shutdown(Shutdown::Both);
        }
    });
    address
}

#[test]
fn tcp_engine_skips_checks_that_need_a_process() {
    let _machine = crate::faults::together();
    let target = Target::tcp(serve_narikin());
    let report = Suite::new(target).only(["handshake.", "exit."]).run().expect("a handshake");
    assert!(report.conforms() && report.failures().next().is_none(), "{report}");
    let verdict = |name: &str| report.results.iter().find(|result| result.check.id == name);
    let verdict = |name: &str| verdict(name).map(|result| result.verdict.clone());
    assert_eq!(verdict("exit.eof.searching"), Some(Verdict::Pass), "{report}");
    let terminate = verdict("exit.terminate").expect("a verdict");
    assert!(matches!(terminate, Verdict::Skip(_)), "{report}");
    assert_eq!(terminate.text(), "requires an engine that runs as a process");
    let why = terminate.message().map(|message| message.in_language(Language::Japanese));
    assert_eq!(why.as_deref(), Some("この検査にはプロセスとして動くエンジンが必要"));
}

#[test]
fn rejects_targets_that_are_not_engines() {
    let cat = Suite::new(Target::program("/bin/cat", [""; 0])).timeout_scale(0.02);
    if Path::new("/bin/cat").exists() {
        assert!(cat.run().is_err());
    }
    assert!(Suite::new(Target::program("/no/such/engine", [""; 0])).run().is_err());
    assert!(Suite::new(Target::tcp("nowhere")).run().is_err());
}

#[test]
fn the_pages_about_the_checks_are_fresh() {
    let pages = [(Party::Engine, "conformance.md"), (Party::Client, "conformance-clients.md")];
    for (side, name) in pages {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        let fresh = readyok_check::list_table(side);
        if std::env::var_os("READYOK_BLESS").is_some() {
            std::fs::write(path, fresh).expect("a writable page");
            continue;
        }
        assert!(page == fresh, "docs/{name} is stale: test again with READYOK_BLESS=1");
    }
}
