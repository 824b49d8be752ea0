//! Limits of memory and time for hostile lines.

use std::cell::Cell;
use std::time::Duration;

use readyok_protocol::{
    Command, Diagnostic, DiagnosticKind, Dialect, KnownOption, LineBuffer, OptionDecl, OptionKind,
    OptionSet, Reply, SetOption, WriteError, decode,
};

fn name(length: usize) -> String {
    "n".repeat(length)
}

/// The declaration in a line of an engine, and the kinds of its diagnostics.
#[track_caller]
fn declared(line: &str) -> (OptionDecl<'_>, Vec<DiagnosticKind>) {
    let reading = Reply::read(line, Dialect::Uci);
    match reading.value {
        Reply::Option(decl) => {
            (decl, reading.diagnostics.iter().map(|diagnostic| diagnostic.kind).collect())
        }
        other => panic!("no declaration: {other:?}"),
    }
}

#[track_caller]
fn check_too_long(result: &Result<(), WriteError>, max: usize) {
    assert!(
        matches!(result, Err(WriteError::TooLong { max: it, .. }) if *it == max),
        "{result:?} does not name the limit {max}"
    );
}

#[test]
fn a_name_longer_than_the_limit_is_not_read() {
    for (length, is_name) in [(OptionDecl::MAX_NAME, true), (OptionDecl::MAX_NAME + 1, false)] {
        let name = name(length);
        let set = format!("setoption name {name} value 3");
        let declare = format!("option name {name} type button");
        for dialect in Dialect::ALL {
            let command = Command::read(&set, dialect);
            assert_eq!(matches!(command.value, Command::SetOption(_)), is_name);
            let span = 15..15 + length;
            let long = Diagnostic { span, kind: DiagnosticKind::NameTooLong };
            assert_eq!(command.diagnostics.contains(&long), !is_name);
            let reply = Reply::read(&declare, dialect);
            assert_eq!(matches!(reply.value, Reply::Option(_)), is_name);
            assert_eq!(reply.diagnostics.is_empty(), is_name);
            assert_eq!(dialect.same_option(&name, &name), is_name);
        }
        let mut set = OptionSet::new(Dialect::Uci);
        set.declare(OptionDecl::button(name.clone()));
        assert_eq!(set.find(&name).is_some(), is_name);
        assert_eq!(set.len(), usize::from(is_name));
    }
}

#[test]
fn a_name_longer_than_the_limit_is_not_written() {
    let name = name(OptionDecl::MAX_NAME + 1);
    let mut out = String::new();
    let set = SetOption { name: name.as_str().into(), value: None };
    check_too_long(&Command::SetOption(set).write(Dialect::Uci, &mut out), OptionDecl::MAX_NAME);
    let declared = Reply::Option(OptionDecl::button(name));
    check_too_long(&declared.write(Dialect::Uci, &mut out), OptionDecl::MAX_NAME);
    assert_eq!(out, "");
}

#[test]
fn a_setoption_is_split_only_within_the_name_limit() {
    let value = format!("x{}", " value x".repeat(4000));
    let set = SetOption { name: "x".into(), value: Some(value.into()) };
    let asked = Cell::new(0);
    let resolved = set.clone().resolved(|name| {
        assert!(name.len() <= OptionDecl::MAX_NAME, "a name of {} bytes", name.len());
        asked.set(asked.get() + 1);
        false
    });
    assert_eq!(resolved, set);
    assert!(asked.get() <= OptionDecl::MAX_NAME, "{} names", asked.get());
}

#[test]
fn an_oversized_name_is_not_compared() {
    let name = format!("USI_Hash{}", "_".repeat(1 << 20));
    assert_eq!(KnownOption::find(&name, Dialect::Usi), None);
    assert!(Dialect::Usi.same_option("USI_Hash__", "Hash"));
}

#[test]
fn a_combo_has_no_more_choices_than_the_limit() {
    let vars: Vec<_> = (0..OptionDecl::MAX_VARS + 2).map(|number| format!("v{number}")).collect();
    let line = format!("option name X type combo default v0 var {}", vars.join(" var "));
    let (decl, diagnostics) = declared(&line);
    assert_eq!(diagnostics, [DiagnosticKind::TooManyChoices; 2]);
    let OptionKind::Combo { vars, .. } = &decl.kind else { panic!("{decl:?}") };
    assert_eq!(vars.len(), OptionDecl::MAX_VARS);
    let mut more = vars.clone();
    more.push("w".into());
    let kind = OptionKind::Combo { default: None, vars: more };
    let reply = Reply::Option(OptionDecl { kind, ..decl });
    check_too_long(&reply.write(Dialect::Uci, &mut String::new()), OptionDecl::MAX_VARS);
}

#[test]
fn a_text_longer_than_the_limit_is_skipped() {
    let long = name(OptionDecl::MAX_TEXT + 1);
    for (rest, kind) in [
        (format!("string default {long}"), OptionKind::String { default: None }),
        (format!("filename default {long}"), OptionKind::Filename { default: None }),
        (
            format!("combo default {long} var {long} var a"),
            OptionKind::Combo { default: None, vars: vec!["a".into()] },
        ),
    ] {
        let line = format!("option name X type {rest}");
        let (decl, diagnostics) = declared(&line);
        assert_eq!(decl.kind, kind);
        assert!(diagnostics.contains(&DiagnosticKind::TextTooLong));
    }
    let unwritable = Reply::Option(OptionDecl::string("X", long));
    check_too_long(&unwritable.write(Dialect::Uci, &mut String::new()), OptionDecl::MAX_TEXT);
    let line = format!("option name X type string default {}", name(OptionDecl::MAX_TEXT));
    assert_eq!(declared(&line).1, []);
}

#[test]
fn a_type_longer_than_the_limit_is_not_read() {
    let line = format!("option name X type {}", name(OptionDecl::MAX_NAME + 1));
    let reading = Reply::read(&line, Dialect::Uci);
    assert!(matches!(reading.value, Reply::Unknown(_)));
    assert_eq!(
        reading.diagnostics.first().map(|diagnostic| diagnostic.kind),
        Some(DiagnosticKind::NameTooLong)
    );
}

#[test]
fn a_set_has_no_more_options_than_the_limit() {
    let mut set = OptionSet::new(Dialect::Uci);
    for number in 0..=OptionSet::MAX_LEN {
        set.declare(OptionDecl::button(format!("{number}")));
    }
    assert_eq!(set.len(), OptionSet::MAX_LEN);
    set.declare(OptionDecl::check("0", true));
    let replaced = set.find("0").map(|decl| decl.kind.keyword());
    assert_eq!(replaced, Some("check"), "a full set takes no replacement");
}

/// A full set of options of one kind.
fn full_of(kind: &OptionKind<'static>) -> OptionSet {
    let mut set = OptionSet::new(Dialect::Uci);
    for number in 0..=OptionSet::MAX_LEN {
        set.declare(OptionDecl { name: format!("{number}").into(), kind: kind.clone() });
        if set.len() == number {
            break;
        }
    }
    set
}

#[test]
fn a_set_has_a_memory_limit() {
    let text = || name(OptionDecl::MAX_TEXT);
    let mut set = full_of(&OptionDecl::string("", text()).kind);
    let full = set.len();
    let most = OptionSet::MAX_BYTES / OptionDecl::MAX_TEXT;
    assert!((most - most / 8..=most).contains(&full), "{full} options");
    // A replaced declaration frees its memory.
    set.declare(OptionDecl::button("0"));
    set.declare(OptionDecl::string("one more", text()));
    assert_eq!(set.len(), full + 1);
    let vars = (0..OptionDecl::MAX_VARS).map(|_| "".into()).collect();
    let kind = OptionKind::Combo { default: None, vars };
    let full = full_of(&kind).len();
    assert!(full < 64, "{full} lists of choices");
}

/// The start of a message, and a repeated part.
const LONG_COMMANDS: [(&str, &str); 26] = [
    ("", "x"),
    ("", "joho "),
    ("", " "),
    ("", "\x07 "),
    ("", "\u{feff}"),
    ("uci", " joho"),
    ("isready ", "x"),
    ("debug", " joho"),
    ("register name a", " code b name"),
    ("register later", " x"),
    ("setoption name a", " value x"),
    ("setoption name a value", " \u{e9}"),
    ("setoption name", " name"),
    ("position startpos moves", " e2e4"),
    ("position startpos moves", " E2E4"),
    ("position startpos moves", " xyz"),
    ("position startpos", " moves e2e4"),
    ("position fen ", "8/"),
    ("position fen", " 8 w"),
    ("position sfen 9/9 b ", "2P"),
    ("go searchmoves", " e2e4 d2d4"),
    ("go", " depth 5"),
    ("go", " DEPTH x"),
    ("go nodes ", "9"),
    ("go", " joho 1"),
    ("ponderhit", " btime 1"),
];

const LONG_REPLIES: [(&str, &str); 29] = [
    ("", "y"),
    ("", "Warning: "),
    ("", "info "),
    ("", "\x1b[1m"),
    ("id name", " x"),
    ("id name", "  "),
    ("option name", " x"),
    ("option name x type", " y"),
    ("option name x type combo default a", " var b"),
    ("option name x type string default", " type check"),
    ("option name x type spin default 1", " min 1"),
    ("copyprotection", " x"),
    ("registration", " OK"),
    ("bestmove e2e4", " ponder e7e5"),
    ("bestmove e2e4", " ponder e7e5,e5d4"),
    ("bestmove e2e4", " draw"),
    ("checkmate", " 7g7f"),
    ("info pv", " e2e4 e7e5"),
    ("info pv", " rep_draw"),
    ("info pv e2e4", " winrate 0.5"),
    ("info pv", " 7G7F x 5"),
    ("info", " currmove e2e4,e4f5"),
    ("info", " refutation e2e4 currline 1"),
    ("info", " score cp 1 mate 2"),
    ("info", " depth 12/20"),
    ("info nodes ", "9"),
    ("info", " joho"),
    ("info string", " x "),
    ("info time", " -99999999999999999999"),
];

/// A line of about this length.
fn long(start: &str, part: &str, length: usize) -> String {
    let mut line = start.to_owned();
    while line.len() < length {
        line.push_str(part);
    }
    line
}

/// The CPU time of a call. Other load on the computer does not count.
#[cfg(unix)]
fn time(act: impl FnOnce()) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    let start = now();
    act();
    now().saturating_sub(start)
}

#[cfg(not(unix))]
fn time(act: impl FnOnce()) -> Duration {
    #[expect(clippy::disallowed_methods, reason = "it is real work that is measured")]
    let now = std::time::Instant::now;
    let start = now();
    act();
    start.elapsed()
}

/// Checks that eight times the length takes at most 24 times the time: quadratic work would take 64 times
/// as long. Several comparisons are made because one may be disturbed.
#[track_caller]
fn check_linear(what: &str, act: impl Fn(&str), start: &str, part: &str) {
    const LONG: usize = LineBuffer::DEFAULT_LIMIT;
    let [short, long] = [LONG / 8, LONG].map(|length| long(start, part, length));
    let is_linear = (0..50).any(|_| {
        let once = (0..3).map(|_| time(|| act(&short))).min().unwrap_or_default();
        time(|| act(&long)) < once.max(Duration::from_micros(1)) * 24
    });
    assert!(is_linear, "{what}: `{start}` with `{}` many times", part.escape_debug());
}

#[test]
fn lines_of_any_kind_are_read_in_linear_time() {
    for dialect in Dialect::ALL {
        for (start, part) in LONG_COMMANDS {
            let read = |line: &str| drop(Command::read(line, dialect));
            check_linear("a command", read, start, part);
        }
        for (start, part) in LONG_REPLIES {
            let read = |line: &str| drop(Reply::read(line, dialect));
            check_linear("a reply", read, start, part);
        }
    }
}

#[test]
fn bytes_are_split_in_linear_time() {
    for part in ["x", "\r\n", "\n", "x\r"] {
        let cut = |text: &str| {
            let mut buffer = LineBuffer::default();
            for chunk in text.as_bytes().chunks(100) {
                buffer.push(chunk);
                while buffer.next_line().is_some() {}
            }
        };
        check_linear("a stream", cut, "", part);
    }
    // The length is in bytes, half of which are invalid UTF-8.
    let undecodable = |text: &str| drop(decode(&b"\xffx".repeat(text.len() / 2)));
    check_linear("bytes", undecodable, "", "x");
}
