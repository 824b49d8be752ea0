//! Tricky lines: the documented results are published in `docs/tolerance.md`.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use readyok_protocol::{
    Command, Diagnostic, Dialect, Go, Info, OptionDecl, Reply, SetOption, WriteError,
};

use crate::cases::{self, Case};

const TABLE: &str = include_str!("data/tricky.txt");

#[test]
fn tricky_lines_have_the_documented_result() {
    cases::read(TABLE).iter().for_each(Case::check);
}

#[test]
fn the_tolerance_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tolerance.md");
    let page = page();
    if env::var_os("READYOK_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    assert!(published == page, "docs/tolerance.md is stale: test again with READYOK_BLESS=1");
}

/// The decisions as a Markdown page: the cases with a remark.
fn page() -> String {
    let mut page = String::from(include_str!("data/tricky/page.txt"));
    let mut clause = "";
    for case in cases::read(TABLE).iter().filter(|case| !case.remark.is_empty()) {
        if clause != case.clause {
            clause = &case.clause;
            let head = "| line | canonical form | diagnostics | remark |\n|---|---|---|---|";
            write!(page, "\n## {clause}\n\n{head}\n").unwrap();
        }
        let side = if case.from_client { "→" } else { "←" };
        let written = match &case.written {
            _ if !case.understood => "*stored as text*".to_owned(),
            Some(written) => format!("`{written}`"),
            None => "unchanged".to_owned(),
        };
        let Case { spelling, diagnostics, remark, .. } = case;
        writeln!(page, "| {side} `{spelling}` | {written} | {diagnostics} | {remark} |").unwrap();
    }
    page
}

/// Checks that a command is rejected and nothing is written.
fn check_rejected(command: &Command<'_>, dialect: Dialect) -> WriteError {
    let mut out = String::new();
    let error = command.write(dialect, &mut out).unwrap_err();
    assert_eq!(out, "", "{command:?}");
    error
}

/// Checks that a reply is rejected and nothing is written.
fn check_reply_rejected(reply: &Reply<'_>) {
    let mut out = String::new();
    reply.write(Dialect::Uci, &mut out).unwrap_err();
    assert_eq!(out, "", "{reply:?}");
}

#[test]
fn a_text_cannot_add_a_line() {
    let option = SetOption { name: "Hash".into(), value: Some("1\nquit".into()) };
    let error = check_rejected(&Command::SetOption(option), Dialect::Uci);
    assert_eq!(error.to_string(), "line end in value of an option: `1\\nquit`");
    check_rejected(&Command::Unknown("d\rquit".into()), Dialect::Uci);
    check_reply_rejected(&Reply::Info(Info::text("done\nbestmove e2e4")));
    check_reply_rejected(&Reply::Unknown("\0".into()));
}

#[test]
fn a_text_cannot_become_another_message_or_field() {
    check_rejected(&Command::Unknown("quit".into()), Dialect::Uci);
    check_rejected(&Command::Unknown("joho GO infinite".into()), Dialect::Uci);
    let option = SetOption { name: "draw value".into(), value: None };
    check_rejected(&Command::SetOption(option), Dialect::Uci);
    let option = SetOption { name: "Max Value Reset".into(), value: None };
    check_rejected(&Command::SetOption(option), Dialect::Uci);
    let go = Go { unknown: vec!["Depth".into()], ..Go::default() };
    check_rejected(&Command::Go(go), Dialect::Uci);
    let pv = Some("e2e4 winrate 0.5".parse().unwrap());
    check_reply_rejected(&Reply::Info(Info { pv, ..Info::default() }));
    let info = Info { unknown: vec!["string".into()], ..Info::default() };
    check_reply_rejected(&Reply::Info(info));
    check_reply_rejected(&Reply::Option(OptionDecl::button("a type check b")));
    check_reply_rejected(&Reply::Option(OptionDecl::combo("a", "b var c", ["b var c"])));
}

#[test]
fn clocks_of_the_other_dialect_are_read_but_not_written() {
    for (line, dialect) in [
        ("go byoyomi 5000", Dialect::Uci),
        ("go wtime 1 btime 1 byoyomi 7", Dialect::Uci),
        ("ponderhit byoyomi 7", Dialect::Uci),
        ("go btime 1 wtime 1 binc 1 byoyomi 7", Dialect::Usi),
        ("ponderhit btime 1 wtime 1 winc 1 byoyomi 7", Dialect::Usi),
    ] {
        let command = Command::read(line, dialect).strict().unwrap();
        let error = check_rejected(&command, dialect);
        assert!(matches!(error, WriteError::NotInDialect { .. }), "{line}: {error}");
    }
}

#[test]
fn a_go_is_read_the_same_with_one_space_and_with_two() {
    let keys = ["wtime", "winc", "WINC", "byoyomi", "movetime", "depth", "nonsense", "infinite"];
    let numbers = ["0", "300000", "-5", "+5", "5x", "", "x", "12345678", "123456789012345", "9e9"];
    let long = "12345678901234567890";
    let numbers = || numbers.into_iter().chain([long]);
    for (first, second) in keys.iter().flat_map(|first| keys.map(|second| (first, second))) {
        for (one, other) in numbers().flat_map(|one| numbers().map(move |other| (one, other))) {
            let tokens = ["go", first, one, second, other, "btime", "7"];
            let tokens: Vec<_> = tokens.into_iter().filter(|token| !token.is_empty()).collect();
            let [line, wide] = [" ", "  "].map(|space| tokens.join(space));
            for dialect in Dialect::ALL {
                let [read, wide] = [&line, &wide].map(|line| Command::read(line, dialect));
                let kinds = |diagnostics: &[Diagnostic]| {
                    diagnostics.iter().map(|diagnostic| diagnostic.kind).collect::<Vec<_>>()
                };
                assert_eq!(read.value, wide.value, "{line}");
                assert_eq!(kinds(&read.diagnostics), kinds(&wide.diagnostics), "{line}");
            }
        }
    }
}

#[test]
fn a_move_of_the_other_dialect_is_not_written() {
    for (token, dialect) in [("e2e4", Dialect::Usi), ("P*3d", Dialect::Uci)] {
        let best = Reply::BestMove(token.parse::<readyok_protocol::Move>().unwrap().into());
        best.write(dialect, &mut String::new()).unwrap_err();
    }
}
