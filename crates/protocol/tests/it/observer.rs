//! Rules that do not depend on the order of messages, each with a valid and a violating session.

use core::time::Duration;

use readyok_protocol::DiagnosticKind::AfterSearchMoves;
use readyok_protocol::{Command, Dialect, Observer, Reply, Rule, Violation};

/// Runs a session (`>` client, `<` engine, `+` milliseconds) and returns the violated rules, and those of
/// missing answers at its end.
fn broken(dialect: Dialect, script: &str) -> (Vec<Rule>, Vec<Rule>) {
    let mut observer = Observer::new(dialect);
    let mut now = Duration::ZERO;
    let mut rules = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (side, text) = line.split_at(1);
        let text = text.trim_start();
        rules.extend(match side {
            ">" if text == "EOF" => {
                observer.end_of_input();
                Vec::new()
            }
            ">" => observer.observe_command(&Command::read(text, dialect).value, now),
            "<" => observer.observe_reply(&Reply::read(text, dialect).value, now),
            _ => {
                now += Duration::from_millis(text.parse().expect("a number"));
                Vec::new()
            }
        });
    }
    let rule = |violation: Violation| {
        assert_eq!(violation.by, violation.rule.binds());
        violation.rule
    };
    let owed = observer.end_of_output();
    (rules.into_iter().map(rule).collect(), owed.into_iter().map(rule).collect())
}

const READY: &str = include_str!("data/observer/ready.txt");

const SHOGI: &str = include_str!("data/observer/shogi.txt");

#[track_caller]
fn check_chess(rules: &[Rule], script: &str) {
    let (broken, _) = broken(Dialect::Uci, &format!("{READY}{script}"));
    assert_eq!(broken, rules, "{script}");
}

#[track_caller]
fn check_shogi(rules: &[Rule], script: &str) {
    let (broken, _) = broken(Dialect::Usi, &format!("{SHOGI}{script}"));
    assert_eq!(broken, rules, "{script}");
}

#[test]
fn declared_options_are_set_to_valid_values() {
    for fine in [
        "> setoption name Hash value 64",
        "> setoption name hash value 64",
        "> setoption name Other value 0",
        "> setoption name Clear Hash",
        "> setoption name OwnBook value TRUE",
        "> setoption name Style value Risky",
        "> setoption name Learning File value <empty>",
        "> setoption name Learning File value",
        "> setoption name King Safety Max Value value 3",
    ] {
        check_chess(&[], fine);
    }
    for wrong in [
        "> setoption name Hash value 2048",
        "> setoption name Hash value much",
        "> setoption name Hash",
        "> setoption name Other value 10",
        "> setoption name Clear Hash value now",
        "> setoption name OwnBook value yes",
        "> setoption name Style value Wild",
        "> setoption name Learning File",
    ] {
        check_chess(&[Rule::InvalidOptionValue], wrong);
    }
    check_chess(&[Rule::UndeclaredOption], "> setoption name Threads value 2");
    check_shogi(&[Rule::UndeclaredOption], "> setoption name Threads value 2");
}

#[test]
fn options_of_the_client_may_be_set_undeclared() {
    for name in ["Ponder", "MultiPV", "UCI_Chess960", "UCI_AnalyseMode", "UCI_Opponent"] {
        check_chess(&[], &format!("> setoption name {name} value true"));
    }
    check_shogi(&[], "> setoption name USI_Hash value 64\n> setoption name USI_Ponder value true");
    check_chess(&[Rule::UndeclaredOption], "> setoption name UCI_LimitStrength value true");
}

#[test]
fn an_option_during_the_handshake_violates_only_the_order() {
    let early = "> uci\n> setoption name Hash value 1\n< id name A\n< uciok";
    assert_eq!(broken(Dialect::Uci, early).0, [Rule::BeforeUciOk]);
    check_chess(&[Rule::BusyEngine], "> go infinite\n> setoption name Hash value 1");
}

#[test]
fn too_many_options_suppress_violations_of_the_client() {
    let many = (0..5000).map(|n| format!("< option name O{n} type check default true\n"));
    let many = many.collect::<Vec<_>>().concat();
    let script = format!("> uci\n< id name A\n{many}< uciok\n> setoption name O4999 value true");
    assert_eq!(broken(Dialect::Uci, &script).0, []);
}

#[test]
fn a_search_has_a_limit() {
    let none = [Rule::SearchWithoutLimit];
    check_chess(&none, "> go");
    check_chess(&none, "> go searchmoves e2e4");
    check_chess(&none, "> go ponder\n> ponderhit");
    check_chess(&[], "> go ponder wtime 9 btime 9\n> ponderhit");
    check_chess(&[], "> go ponder\n> stop");
    check_chess(&[], "> go infinite");
    check_chess(&[], "> go perft 3");
    check_chess(&[], "> go rtime 100");
    check_shogi(&none, "> go");
    check_shogi(&[], "> go ponder\n> ponderhit btime 9 wtime 9 byoyomi 9");
    check_shogi(&[], "> go mate");
}

#[test]
fn clocks_have_time_left() {
    let run_out = [Rule::InvalidClock];
    check_chess(&run_out, "> go wtime 0 btime -5");
    check_chess(&run_out, "> go wtime 100 btime 0");
    check_chess(&run_out, "> go wtime 100 btime 100 winc -1");
    check_chess(&[], "> go wtime 1 btime 1 winc 0 binc 0");
    check_chess(&[], "> go infinite wtime 0 btime 0");
    check_shogi(&[], "> go btime 0 wtime 0 byoyomi 10000");
    check_shogi(&run_out, "> go btime -1 wtime 0 byoyomi 10000");
    check_shogi(&run_out, "> go btime 1 wtime 1 byoyomi -1");
    check_chess(&run_out, "> go ponder wtime 9 btime 9\n> ponderhit wtime -1 btime 3");
}

#[test]
fn limits_are_at_least_one_in_a_session() {
    for limit in ["depth 0", "nodes 0", "mate 0", "movetime 0", "movetime -3"] {
        check_chess(&[Rule::ZeroLimit], &format!("> go {limit}"));
    }
    check_chess(&[Rule::ZeroLimit], "> go wtime 9 btime 9 movestogo 0");
    check_shogi(&[Rule::ZeroLimit], "> go mate 0");
    check_shogi(&[], "> go mate infinite");
}

#[test]
fn details_are_sent_only_while_they_are_enabled() {
    let line = "+ 2000\n< info currline 1 e2e4\n< info currline 1 d2d4";
    check_chess(&[Rule::UnrequestedDetail], &format!("> go infinite\n{line}"));
    let on = "> setoption name UCI_ShowCurrLine value true\n";
    let off = "> setoption name UCI_ShowCurrLine value false\n";
    check_chess(&[], &format!("{on}> go infinite\n{line}"));
    check_chess(&[Rule::UnrequestedDetail], &format!("{on}{off}> go infinite\n{line}"));
    check_chess(&[], "> go infinite\n+ 2000\n< info refutation e2e4 e7e5");
    // The engine may apply it immediately or after the search.
    check_chess(&[Rule::BusyEngine], &format!("> go infinite\n{on}{line}"));
    check_chess(&[Rule::BusyEngine], &format!("{on}> go infinite\n{off}{line}"));
    check_shogi(&[Rule::UnrequestedDetail], "> go infinite\n+ 2000\n< info currline 1 7g7f");
    let asked = "> setoption name USI_ShowCurrLine value true\n> go infinite\n+ 2000\n";
    let asked = format!("{asked}< info currline 1 7g7f");
    check_shogi(&[Rule::UndeclaredOption], &asked);
}

#[test]
fn a_second_handshake_preserves_the_enabled_details() {
    let again = "> setoption name UCI_ShowCurrLine value true\n> uci\n< id name A
        < option name UCI_ShowCurrLine type check default false\n< uciok
        > go infinite\n+ 2000\n< info currline 1 e2e4";
    check_chess(&[Rule::RepeatedUci], again);
}

#[test]
fn details_are_sent_after_one_second() {
    let too_soon = [Rule::EarlyDetail];
    let at = |ms: u32, what: &str| format!("> go infinite\n+ {ms}\n< info {what}\n< info {what}");
    check_chess(&too_soon, &at(500, "currmove e2e4 currmovenumber 1"));
    check_chess(&too_soon, &at(500, "currmovenumber 1"));
    check_chess(&too_soon, &at(0, "refutation e2e4"));
    check_chess(&[], &at(950, "currmove e2e4"));
    check_chess(&[], &at(0, "depth 1 score cp 1 pv e2e4"));
    // Each search has its own first second, which does not start again at `ponderhit`.
    let next = "> stop\n< bestmove e2e4\n> go infinite\n< info currmove e2e4";
    check_chess(&too_soon, &format!("{}\n{next}", at(1500, "currmove e2e4")));
    let ponder = "> go ponder wtime 9 btime 9\n+ 1000\n> ponderhit\n< info currmove e2e4";
    check_chess(&[], ponder);
}

#[test]
fn missing_answers_are_reported_at_the_end() {
    let owed = |script: &str| broken(Dialect::Uci, script).1;
    assert_eq!(owed(""), []);
    assert_eq!(owed("> uci"), [Rule::UciUnanswered]);
    assert_eq!(owed("> uci\n< id name A\n> quit"), [Rule::UciUnanswered]);
    let ready = |script: &str| owed(&format!("{READY}{script}"));
    assert_eq!(ready(""), []);
    assert_eq!(ready("> quit"), []);
    assert_eq!(ready("> isready"), [Rule::IsReadyUnanswered]);
    assert_eq!(ready("> isready\n> quit\n< readyok"), []);
    assert_eq!(
        ready("> go infinite\n> isready\n> stop\n< bestmove e2e4"),
        [Rule::IsReadyUnanswered]
    );
    assert_eq!(ready("> go depth 1"), [Rule::GoUnanswered]);
    assert_eq!(ready("> go perft 1"), []);
    assert_eq!(ready("> go depth 1\n< bestmove e2e4"), []);
    // These need no answer.
    assert_eq!(ready("> go depth 1\n> quit"), []);
    assert_eq!(ready("> go depth 1\n> EOF"), []);
}

#[test]
fn an_isready_that_the_engine_may_ignore_is_not_owed() {
    let early = "> isready\n> uci\n< id name A\n< uciok";
    assert_eq!(broken(Dialect::Uci, early), (vec![Rule::BeforeUciOk], vec![]));
}

#[test]
fn an_interrupted_session_reports_no_missing_answers() {
    let mut observer = Observer::new(Dialect::Uci);
    observer.observe_command(&Command::Uci, Duration::ZERO);
    observer.interrupt();
    // Earlier output of the client may be received later.
    observer.observe_command(&Command::Uci, Duration::ZERO);
    assert_eq!(observer.end_of_output(), []);
}

#[test]
fn a_limit_after_searchmoves_is_reported() {
    let diagnostics = |line| {
        let kinds = Command::read(line, Dialect::Uci)
            .diagnostics
            .into_iter()
            .map(|diagnostic| diagnostic.kind);
        kinds.collect::<Vec<_>>()
    };
    assert_eq!(diagnostics("go searchmoves e2e4 depth 5 nodes 3"), [AfterSearchMoves]);
    assert_eq!(diagnostics("go depth 5 searchmoves e2e4 d2d4"), []);
}
