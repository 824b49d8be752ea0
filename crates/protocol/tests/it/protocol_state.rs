//! The rules about order, each with a valid and a violating session.

use readyok_protocol::{Command, Dialect, ProtocolState, Reply, Rule, Violation};

/// Runs a session (`>` client, `<` engine) and returns the violated rules.
fn broken(dialect: Dialect, script: &str) -> Vec<Rule> {
    let mut protocol_state = ProtocolState::new(dialect);
    let mut rules = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (side, text) = line.split_at(1);
        let before = protocol_state.clone();
        let mut strict = protocol_state.clone();
        let mut is_out_of_turn = false;
        let (violation, rejected) = if side == ">" {
            let command = Command::read(text, dialect).value;
            is_out_of_turn = matches!(command, Command::Go(_) | Command::Register(_));
            (protocol_state.apply_command_lenient(&command), strict.command(&command))
        } else {
            let reply = Reply::read(text, dialect).value;
            (protocol_state.apply_reply_lenient(&reply), strict.reply(&reply))
        };
        assert_eq!(rejected.err(), violation, "both ways of asking agree about {line}");
        if let Some(Violation { by, rule }) = violation {
            assert_eq!(by, rule.binds());
            assert_eq!(strict, before, "a violation changes nothing: {line}");
            if rule.is_ignored() {
                let phases = (protocol_state.phase(), before.phase());
                assert_eq!(phases.0, phases.1, "a broken must changes no phase: {line}");
                // An additional `go` or `register` changes who is responsible for its answer.
                assert!(
                    is_out_of_turn || protocol_state == before,
                    "a broken must changes nothing: {line}"
                );
            }
            rules.push(rule);
        }
    }
    rules
}

#[track_caller]
fn check_innocent(script: &str) {
    assert_eq!(broken(Dialect::Uci, script), []);
}

#[track_caller]
fn check_guilty(rule: Rule, script: &str) {
    assert_eq!(broken(Dialect::Uci, script), [rule]);
}

const READY: &str = "> uci\n< id name A\n< uciok\n> isready\n< readyok\n> position startpos\n";

#[test]
fn the_sessions_of_the_specifications_are_valid() {
    check_innocent(&format!(
        "{READY}> go infinite\n< info depth 1\n> stop\n< bestmove e2e4\n> quit"
    ));
    check_innocent(&format!(
        "{READY}> go ponder wtime 9 btime 9\n< info depth 1\n> ponderhit\n< bestmove g1f3\n> quit"
    ));
    check_innocent(&format!("{READY}> go ponder\n> isready\n< readyok\n> stop\n< bestmove g1f3"));
}

#[test]
fn crossing_messages_are_no_violation() {
    check_innocent(&format!("{READY}> go depth 1\n< bestmove e2e4\n> stop\n> isready\n< readyok"));
    let shogi =
        "> usi\n< id name A\n< usiok\n> isready\n< readyok\n> usinewgame\n> position startpos
        > go btime 9 wtime 9\n< bestmove 7g7f\n> gameover lose";
    assert_eq!(broken(Dialect::Usi, shogi), []);
}

/// fastchess ends the game and starts the next one.
#[test]
fn a_bestmove_without_a_move_ends_the_search() {
    let next =
        "> ucinewgame\n> isready\n< readyok\n> position startpos\n> go depth 1\n< bestmove e2e4";
    check_innocent(&format!("{READY}> go wtime 9 btime 9\n< bestmove\n{next}"));
    check_guilty(Rule::BestMoveWithoutSearch, &format!("{READY}< bestmove"));
}

#[test]
fn each_rule_has_a_violating_session() {
    let ready = |rest: &str| format!("{READY}{rest}");
    check_guilty(Rule::BeforeUciOk, "> setoption name Hash value 1\n> uci");
    check_guilty(Rule::BeforeUciOk, "> uci\n> isready\n< readyok");
    check_guilty(Rule::RepeatedUci, &ready("> uci\n< id name A\n< uciok"));
    check_guilty(Rule::BusyEngine, &ready("> go infinite\n> position startpos"));
    check_guilty(Rule::BusyEngine, &ready("> go infinite\n> go infinite"));
    check_guilty(Rule::BusyEngine, &ready("> go infinite\n> setoption name Hash value 1"));
    check_guilty(
        Rule::SearchBeforeReady,
        "> uci\n< id name A\n< uciok\n> position startpos\n> go depth 1",
    );
    check_guilty(
        Rule::SearchBeforeReady,
        &ready("> ucinewgame\n> position startpos\n> go depth 1"),
    );
    check_guilty(
        Rule::SearchWithoutPosition,
        "> uci\n< id name A\n< uciok\n> isready\n< readyok\n> go depth 1",
    );
    check_guilty(Rule::PonderHitWithoutPonder, &ready("> ponderhit"));
    check_guilty(Rule::PonderHitWithoutPonder, &ready("> go depth 1\n> ponderhit"));
    check_guilty(Rule::RegistrationUnanswered, &ready("< registration error\n> go depth 1"));
    check_guilty(Rule::AfterQuit, "> uci\n> quit\n> isready");
    check_guilty(Rule::ReplyBeforeUci, "< id name A\n> uci\n< id name A\n< uciok");
    check_guilty(Rule::UciOkWithoutUci, &ready("< uciok"));
    check_guilty(Rule::NoName, "> uci\n< uciok");
    check_guilty(Rule::LateDeclaration, &ready("< option name X type button"));
    check_guilty(Rule::EarlyStatus, "> uci\n< copyprotection checking");
    check_guilty(Rule::ReadyOkWithoutIsReady, &ready("< readyok"));
    check_guilty(
        Rule::BestMoveWithoutSearch,
        &ready("> go depth 1\n< bestmove e2e4\n< bestmove e2e4"),
    );
    check_guilty(Rule::BestMoveTooEarly, &ready("> go infinite\n< bestmove e2e4"));
    check_guilty(Rule::BestMoveTooEarly, &ready("> go ponder\n< bestmove e2e4"));
    check_guilty(Rule::InfoWithoutSearch, &ready("< info depth 1"));
    check_guilty(Rule::InfoWithoutSearch, &ready("< info pv e2e4 string x"));
    check_guilty(Rule::InfoWithoutSearch, &ready("< info score cp 3 nodes 5 string x"));
    let shogi = "> usi\n< id name A\n< usiok\n< checkmate nomate";
    assert_eq!(broken(Dialect::Usi, shogi), [Rule::CheckmateWithoutMateSearch]);
}

#[test]
fn a_readyok_for_an_earlier_ping_does_not_count_for_the_new_game() {
    let script =
        format!("{READY}> isready\n> ucinewgame\n< readyok\n> position startpos\n> go depth 1");
    check_guilty(Rule::SearchBeforeReady, &script);
}

#[test]
fn every_rule_has_a_text_and_a_clause() {
    for rule in Rule::ALL {
        assert!(!rule.text().is_empty() && !rule.clause().is_empty(), "{rule:?}");
        assert_eq!(
            Rule::ALL.iter().filter(|other| other.text() == rule.text()).count(),
            1,
            "{rule:?}"
        );
    }
}

#[test]
fn a_registration_error_after_an_attempt_needs_no_answer() {
    check_innocent(&format!(
        "{READY}< registration error\n> register later\n< registration checking\n< registration error\n> go depth 1\n< bestmove a2a3"
    ));
}

#[test]
fn texts_and_unknown_tokens_are_allowed_between_searches() {
    check_innocent(&format!("{READY}< info string x\n< info joho string depth 1"));
}

#[test]
fn a_readyok_counts_after_those_for_earlier_pings() {
    check_innocent(&format!(
        "{READY}> isready\n> ucinewgame\n< readyok\n> isready\n< readyok\n> go depth 1"
    ));
}

#[test]
fn gameover_requires_another_readyok() {
    let shogi = "> usi\n< id name A\n< usiok\n> isready\n< readyok\n> position startpos
        > gameover win\n> go depth 1";
    assert_eq!(broken(Dialect::Usi, shogi), [Rule::SearchBeforeReady]);
}

#[test]
fn a_first_handshake_after_other_commands_is_allowed() {
    let searched = "> go depth 1\n< bestmove e2e4\n> uci\n< id name A\n< uciok";
    check_guilty(Rule::BeforeUciOk, searched);
    check_guilty(Rule::BeforeUciOk, "> go infinite\n> uci");
}

#[test]
fn an_answer_to_an_additional_handshake_is_no_violation() {
    let answer = "< id name A\n< option name Hash type spin default 1 min 1 max 2\n< uciok";
    let searching = format!("{READY}> go infinite\n> uci\n");
    check_guilty(Rule::RepeatedUci, &format!("{searching}{answer}\n> stop\n< bestmove e2e4"));
    check_guilty(Rule::RepeatedUci, &format!("{searching}> stop\n< bestmove e2e4\n{answer}"));
    check_guilty(Rule::RepeatedUci, &format!("> uci\n> uci\n{answer}\n{answer}"));
    let unexpected = [Rule::RepeatedUci, Rule::LateDeclaration, Rule::UciOkWithoutUci];
    let twice = format!("{searching}{answer}\n< id name A\n< uciok");
    assert_eq!(broken(Dialect::Uci, &twice), unexpected);
}

#[test]
fn an_answer_to_an_additional_go_is_no_violation() {
    let twice = "> go infinite\n> go depth 2\n< bestmove e2e4\n< info depth 2\n< bestmove d2d4";
    check_guilty(Rule::BusyEngine, &format!("{READY}{twice}"));
    let mate = "> usi\n< id name A\n< usiok\n> isready\n< readyok\n> position startpos
        > go depth 1\n> go mate infinite\n< bestmove 7g7f\n< checkmate nomate";
    assert_eq!(broken(Dialect::Usi, mate), [Rule::BusyEngine]);
}

#[test]
fn an_additional_go_allows_one_answer_and_perft_none() {
    let [busy, unexpected] = [Rule::BusyEngine, Rule::BestMoveWithoutSearch];
    let thrice = "> go depth 1\n> go depth 2\n< bestmove a2a3\n< bestmove a2a3\n< bestmove a2a3";
    assert_eq!(broken(Dialect::Uci, &format!("{READY}{thrice}")), [busy, unexpected]);
    let perft = "> go depth 1\n> go perft 2\n< bestmove a2a3\n< bestmove a2a3";
    assert_eq!(broken(Dialect::Uci, &format!("{READY}{perft}")), [busy, unexpected]);
}

#[test]
fn a_go_during_the_handshake_may_be_answered() {
    let answer = "< id name A\n< option name Hash type spin default 1 min 1 max 2\n< uciok";
    for before in ["", "> isready\n> ucinewgame\n> position startpos\n", "> position startpos\n"] {
        let script =
            format!("> uci\n{before}> go depth 1\n{answer}\n< info depth 1\n< bestmove e2e4");
        let early = before.lines().count() + 1;
        assert_eq!(broken(Dialect::Uci, &script), vec![Rule::BeforeUciOk; early], "{script}");
    }
    let answered_first = format!("> uci\n> go depth 1\n< bestmove e2e4\n{answer}\n< uciok");
    let rules = [Rule::BeforeUciOk, Rule::UciOkWithoutUci];
    assert_eq!(broken(Dialect::Uci, &answered_first), rules);
    let never = "> uci\n> go depth 1\n> isready\n< id name A\n< copyprotection checking\n< uciok";
    let rules = [Rule::BeforeUciOk, Rule::BeforeUciOk, Rule::EarlyStatus];
    assert_eq!(broken(Dialect::Uci, never), rules);
}
