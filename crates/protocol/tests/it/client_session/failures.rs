//! Timeouts, registration, invalid messages, and the end of an engine.

use std::time::Duration;

use readyok_protocol::Dialect;
use readyok_protocol::session::client::{ClientSession, Timeouts};

use super::{FIRST, Run, check_client, check_uci, check_usi};

#[test]
fn a_registration_error_is_answered_once() {
    check_uci(
        &[],
        "< registration checking
         = registration(checking)
         < registration error
         = registration(error)
         > register later
         < registration error
         = registration(error)",
    );
}

#[test]
fn a_registration_is_stored_until_the_engine_requires_it() {
    check_uci(
        &[],
        "! register Stefan MK
         < registration error
         = registration(error)
         > register name Stefan MK
         < registration checking
         = registration(checking)
         < registration ok
         = registration(ok)",
    );
}

#[test]
fn another_registration_waits_for_the_end_of_the_search() {
    check_uci(
        &[],
        &format!(
            "< registration error
            = registration(error)
            > register later
            {FIRST}
            ! register Stefan MK
            < bestmove e2e4
            = 1 bestmove e2e4
            > register name Stefan MK"
        ),
    );
}

#[test]
fn a_registration_during_the_error_event_is_sent_once() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            < registration error
            = registration(error)
            ! register Stefan MK
            < bestmove e2e4
            = 1 bestmove e2e4
            > register name Stefan MK
            < registration ok
            = registration(ok)"
        ),
    );
}

#[test]
fn a_copy_protected_engine_accepts_no_searches() {
    check_uci(
        &[],
        "! search startpos | depth 1
         > isready
         < copyprotection error
         = copyprotection(error)
         = 1 dropped: CopyProtected
         < readyok
         ! reject startpos | depth 1
         = usage error: the engine reported a copy protection error",
    );
}

#[test]
fn a_silent_engine_exceeds_the_handshake_timeout() {
    check_client(Dialect::Uci, "> uci\n! wait 9999\n! wait 1\n= timeout Handshake\n! wait 99999");
}

#[test]
fn output_extends_the_ready_timeout_but_not_the_stop_timeout() {
    check_uci(
        &[],
        "! ping
         > isready
         ! wait 59000
         < info string loading
         = info string loading
         ! wait 59000
         < 
         ! wait 59999
         ! wait 1
         = timeout Ready",
    );
    check_uci(
        &[],
        &format!(
            "{FIRST}! stop 1\n> stop\n! wait 9000\n< info depth 6\n= 1 info depth 6\n! wait 1000\n= timeout Stop"
        ),
    );
}

#[test]
fn a_search_that_overruns_its_clock_is_stopped() {
    check_uci(
        &[],
        "! search startpos | wtime 1000 btime 5000
         > isready
         < readyok
         > position startpos
         > go wtime 1000 btime 5000
         = started 1
         ! wait 2999
         ! wait 1
         = 1 overrun
         > stop
         < bestmove e2e4
         = 1 bestmove e2e4",
    );
}

#[test]
fn an_infinite_search_may_be_silent_forever() {
    check_uci(
        &[],
        "! search startpos | infinite
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 1
         ! wait 999999999",
    );
}

#[test]
fn a_disconnect_drops_every_search() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! search startpos | depth 9
            > stop
            ! eof
            = 2 dropped: Disconnected
            = 1 dropped: Disconnected
            = disconnected
            ! reject startpos | depth 1
            = usage error: the engine is not running"
        ),
    );
}

#[test]
fn quit_stops_the_search_and_waits_for_the_exit() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! quit
            > stop
            > quit
            = 1 dropped: Disconnected
            < bestmove e2e4
            ! wait 5000
            = timeout Exit"
        ),
    );
}

#[test]
fn unknown_and_unexpected_messages_are_ignored() {
    check_uci(
        &[],
        "< Stockfish 15 by the developers
         = unknown line Stockfish 15 by the developers
         < readyok
         = violation ReadyOkWithoutIsReady
         < bestmove e2e4
         = violation BestMoveWithoutSearch
         < info depth 3 score cp 1
         = violation InfoWithoutSearch
         < uciok
         = violation UciOkWithoutUci",
    );
}

#[test]
fn a_missing_readyok_does_not_block_searches() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! ping
            > isready
            < bestmove e2e4
            = 1 bestmove e2e4
            ! search startpos | depth 6
            ! wait 59999
            ! wait 1
            = timeout Ready
            > isready
            < readyok
            > position startpos
            > go depth 6
            = started 2"
        ),
    );
}

#[test]
fn each_timeout_is_reported_separately() {
    check_uci(
        &[],
        "! search startpos | infinite
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 1
         ! ping
         > isready
         ! wait 60000
         = timeout Ready
         ! stop 1
         > stop
         ! wait 10000
         = timeout Stop
         < bestmove e2e4
         = 1 bestmove e2e4
         ! search startpos | infinite
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 2
         ! stop 2
         > stop
         ! wait 10000
         = timeout Stop
         ! ping
         > isready
         ! wait 60000
         = timeout Ready",
    );
}

#[test]
fn output_extends_a_search_without_a_time_limit() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! wait 599999
            < info depth 3
            = 1 info depth 3
            ! wait 599999
            ! wait 1
            = 1 overrun
            > stop"
        ),
    );
}

#[test]
fn a_mate_search_may_be_silent_forever() {
    check_usi(
        &["USI_Hash type spin default 1 min 1 max 9", "USI_Ponder type check default false"],
        "! search startpos | mate infinite
         > setoption name USI_Ponder value false
         > setoption name USI_Hash value 1
         > isready
         < readyok
         > position startpos
         > go mate infinite
         = started 1
         ! wait 999999999",
    );
}

#[test]
fn the_end_of_the_output_is_reported_once() {
    check_uci(&[], "! ping\n> isready\n! eof\n= disconnected\n! eof\n! wait 999999");
}

/// Passes lines to a session that has sent `uci`.
fn session_after(lines: &[&str]) -> ClientSession {
    let mut out = String::new();
    let mut session =
        ClientSession::start(Dialect::Uci, Timeouts::default(), Duration::ZERO, &mut out);
    for line in lines {
        session.receive_line(line, Duration::ZERO, &mut out);
    }
    session
}

#[test]
fn a_status_is_explained_by_the_text_next_to_it() {
    let message = |lines: &[&str]| session_after(lines).status_message().map(str::to_owned);
    let reason = Some("no dongle".to_owned());
    let error = "copyprotection error";
    for lines in [
        ["uciok", "info string no dongle", error],
        ["uciok", "no dongle", error],
        ["uciok", error, "info string no dongle"],
        ["uciok", error, "no dongle"],
        ["uciok", "no dongle", "registration error"],
    ] {
        assert_eq!(message(&lines), reason, "{lines:?}");
    }
    let checked = ["uciok", "a text", "copyprotection checking", "no dongle", error, "more"];
    assert_eq!(message(&checked), reason);
    // Some engines send it before `uciok`, or only with the first of several errors.
    let early = ["registration error", "no dongle", "uciok"];
    assert_eq!(message(&early), reason);
    let error = "registration error";
    assert_eq!(message(&["uciok", "no dongle", error, "registration checking", error]), reason);
    let error = "copyprotection error";
    // Neither a banner nor the text before an earlier status explains this status.
    assert_eq!(message(&["Example 1.0", "uciok", error]), None);
    assert_eq!(message(&["uciok", "a text", "registration checking", "registration error"]), None);
    assert_eq!(message(&["uciok", "a text", "registration ok"]), None);
}

#[test]
fn the_latest_text_is_available_after_a_failure() {
    let last = |lines: &[&str]| session_after(lines).last_text().map(str::to_owned);
    assert_eq!(last(&["Error! no net"]), Some("Error! no net".to_owned()));
    assert_eq!(last(&["uciok", "info string no net"]), Some("no net".to_owned()));
    assert_eq!(last(&["banner", "uciok"]), None);
}

#[test]
fn the_duration_of_a_timeout_is_reported() {
    use readyok_protocol::session::client::TimeoutKind;

    let mut run = Run::new(Dialect::Uci);
    let start = run.now;
    run.session.receive_line("id name A", start + Duration::from_secs(4), &mut run.out);
    assert_eq!(run.session.timeout_of(TimeoutKind::Handshake), None);
    run.session.handle_timeout(start + Duration::from_secs(20), &mut run.out);
    assert_eq!(run.session.timeout_of(TimeoutKind::Handshake), Some(Duration::from_secs(14)));
    assert_eq!(run.session.timeout_of(TimeoutKind::Ready), None);
}
