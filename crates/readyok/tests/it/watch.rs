//! What a tap reports.

use std::time::Duration;

use readyok::tap::{Entry, Heard, Watch};
use readyok_protocol::Party;

/// Plays a conversation: `>` from the client, `<` from the engine. After each line come the
/// reports that it is due to, with `!`.
#[track_caller]
fn check_reports(script: &str) {
    let mut watch = Watch::default();
    let mut heard = Vec::new();
    for line in script.lines().map(str::trim_start).filter(|line| !line.is_empty()) {
        let (side, text) = match line.split_at(2) {
            ("> ", text) => (Party::Client, text),
            ("< ", text) => (Party::Engine, text),
            ("! ", _) => continue,
            _ => panic!("no step: {line}"),
        };
        heard.push(line.to_owned());
        watch.hear(side, Duration::ZERO, format!("{text}\n").as_bytes(), &mut |entry| {
            if let Heard::Breach(breach) = &entry.heard {
                heard.push(format!("! {breach}"));
            }
        });
    }
    let wanted: Vec<_> = script.lines().map(str::trim_start).filter(|it| !it.is_empty()).collect();
    assert_eq!(heard, wanted);
}

#[test]
fn a_faultless_conversation_is_not_reported() {
    check_reports(
        "> uci
         < id name Example
         < option name Hash type spin default 16 min 1 max 64
         < uciok
         > isready
         < readyok
         > position startpos moves e2e4
         > go depth 3
         < info depth 1 score cp 20 pv e7e5
         < bestmove e7e5
         > quit",
    );
}

#[test]
fn each_side_is_held_to_its_rules() {
    check_reports(
        "> uci
         < uciok
         ! should: `id name` comes before `uciok` or `usiok` [UCI 2006, uci and id; USI draft 1 §5.3]
         < readyok
         ! must: `readyok` answers `isready`, once [UCI 2006, readyok; USI draft 1 §5.3]
         > ponderhit
         ! must: `ponderhit` belongs to a running `go ponder` [UCI 2006, ponderhit; The UCI Protocol, ponderhit]
         < bestmove e2e4
         ! must: `bestmove` answers `go`, once [UCI 2006, bestmove; USI draft 1 §5.3]",
    );
}

#[test]
fn what_was_declared_and_asked_for_is_remembered() {
    check_reports(
        "> uci
         < id name Example
         < option name Hash type spin default 16 min 1 max 64
         < uciok
         > setoption name Hash value 65
         ! must: an option is set to a value that it can have, and a button to none [UCI 2006, option and setoption; USI draft 1 §5.3]
         > setoption name Threads value 2
         ! must: only options that the engine has declared are set [UCI 2006, option and setoption; USI draft 1 §5.3]
         > setoption name MultiPV value 2
         > isready
         < readyok
         > position startpos
         > go wtime 0 btime -5
         ! should: `wtime` and `btime` are more than zero, in USI not negative, as no time is [UCI 2006, go wtime and winc; USI draft 1 §5.3]
         < info currmove e2e4
         ! should: `currmove`, `currmovenumber`, `currline` and `refutation` are sent only after one second [UCI 2006, info (“only after one second”); USI draft 1 §5.3]
         < bestmove e2e4
         > go searchmoves e2e4 depth 3
         ! note: limit after `searchmoves`: `depth` [as deployed (Stockfish): `searchmoves` is the last token of `go` but for its moves]
         < bestmove e2e4
         > quit",
    );
}

#[test]
fn the_first_hello_decides_the_dialect() {
    check_reports(
        "> usi
         < id name Example
         < usiok
         > isready
         < readyok
         > usinewgame
         > position startpos moves 7g7f
         > go mate 1000
         < checkmate nomate
         > gameover win",
    );
}

#[test]
fn a_client_may_try_the_other_dialect_before_the_engine_answers() {
    check_reports(
        "> uci
         > usi
         < id name Example
         < usiok",
    );
}

#[test]
fn what_was_asked_before_another_dialect_may_still_be_answered() {
    check_reports(
        "> uci
         > isready
         ! should: nothing but `quit` is said before the engine's `uciok` or `usiok` [UCI 2006, uci; USI draft 1 §5.3, usi]
         > usi
         < readyok
         < id name Example
         < usiok
         < readyok
         ! must: `readyok` answers `isready`, once [UCI 2006, readyok; USI draft 1 §5.3]",
    );
}

#[test]
fn what_is_written_wrongly_is_quoted() {
    check_reports(
        "> uci
         < id name Example
         < uciok
         > isready now
         ! note: text after the end of the message: `now` [UCI 2006, general rules, and USI draft 1 §5.1: a token that is not known is skipped, and the rest of the line is read]",
    );
}

fn entries(watch: &mut Watch, side: Party, bytes: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    let mut tell = |entry: &Entry<'_>| {
        all.push(match &entry.heard {
            Heard::Line(line) => format!("{} {}", entry.line, line.escape_ascii()),
            Heard::Breach(breach) => format!("{} {breach}", entry.line),
        });
    };
    watch.hear(side, Duration::ZERO, bytes, &mut tell);
    all
}

#[test]
fn lines_are_numbered_however_they_are_cut() {
    let mut watch = Watch::default();
    assert_eq!(entries(&mut watch, Party::Client, b"uc"), [""; 0]);
    assert_eq!(entries(&mut watch, Party::Client, b"i\r"), ["1 uci"]);
    assert_eq!(entries(&mut watch, Party::Client, b"\nquit\n"), ["2 quit"]);
    assert_eq!(entries(&mut watch, Party::Engine, b"\n"), ["1 "]);
}

#[test]
fn an_unfinished_line_counts_when_its_side_ends() {
    let mut watch = Watch::default();
    assert_eq!(entries(&mut watch, Party::Client, b"uci\nquit"), ["1 uci"]);
    let mut last = Vec::new();
    watch.end(Party::Client, Duration::ZERO, &mut |entry| last.push(entry.line));
    assert_eq!(last, [2]);
}

#[test]
fn a_line_without_end_is_reported_and_costs_no_memory() {
    let mut watch = Watch::default();
    let flood = vec![b'x'; 3 << 20];
    let told = entries(&mut watch, Party::Engine, &flood);
    assert_eq!(
        told,
        [
            "1 note: a line is longer than 1048576 bytes [no rule of the protocols: it was passed on unread]"
        ]
    );
    assert_eq!(entries(&mut watch, Party::Engine, &flood), [""; 0]);
}

#[test]
fn broken_utf8_is_reported_as_it_reads() {
    let mut watch = Watch::default();
    let told = entries(&mut watch, Party::Engine, b"info string caf\xe9\n");
    assert_eq!(told[0], r"1 info string caf\xe9");
    assert_eq!(
        told[1],
        "1 note: bytes that are not UTF-8: `\u{fffd}` [USI draft 1 §2: 7-bit ASCII; UTF-8 as \
         spoken today]"
    );
}
