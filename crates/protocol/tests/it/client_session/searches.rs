//! Searches: order, pondering, limits, duplicate answers.

use std::time::Duration;

use readyok_protocol::session::client::{ClientSession, SearchRequest, Timeouts};
use readyok_protocol::{Dialect, Go, MateLimit};

use super::{FIRST, check_uci, check_usi};

#[test]
fn sends_isready_before_the_first_search() {
    check_uci(&[], FIRST);
}

#[test]
fn sends_isready_between_searches_in_uci() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            < bestmove e2e4
            = 1 bestmove e2e4
            ! search startpos moves e2e4 e7e5 | depth 5
            > isready
            < readyok
            > position startpos moves e2e4 e7e5
            > go depth 5
            = started 2"
        ),
    );
}

#[test]
fn a_duplicate_bestmove_ends_no_other_search() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            < bestmove e2e4
            = 1 bestmove e2e4
            ! search startpos moves e2e4 | depth 5
            > isready
            < bestmove e2e4
            = violation BestMoveWithoutSearch
            < readyok
            > position startpos moves e2e4
            > go depth 5
            = started 2
            < bestmove e7e5
            = 2 bestmove e7e5"
        ),
    );
}

/// Three consecutive searches, the second of which is stopped.
#[test]
fn unsynchronized_searches_wait_only_after_stop() {
    check_uci(
        &[],
        &format!(
            "! join
            {FIRST}
            < bestmove e2e4
            = 1 bestmove e2e4
            ! search startpos moves e2e4 e7e5 | infinite
            > position startpos moves e2e4 e7e5
            > go infinite
            = started 2
            ! stop 2
            > stop
            < bestmove g1f3
            = 2 bestmove g1f3
            ! search startpos | depth 5
            > isready
            < readyok
            > position startpos
            > go depth 5
            = started 3"
        ),
    );
}

#[test]
fn a_duplicate_answer_enables_synchronization() {
    check_uci(
        &[],
        &format!(
            "! join
            {FIRST}
            < bestmove e2e4
            = 1 bestmove e2e4
            < bestmove e2e4
            = violation BestMoveWithoutSearch
            ! search startpos | depth 5
            > position startpos
            > go depth 5
            = started 2
            < bestmove e2e4
            = 2 bestmove e2e4
            ! search startpos | depth 5
            > isready"
        ),
    );
}

#[test]
fn lines_before_a_manual_start_do_not_answer_the_search() {
    check_usi(
        &[],
        "! hold
         ! search startpos | depth 5
         > setoption name USI_Hash value 32
         > setoption name USI_Ponder value false
         > isready
         < readyok
         ! start
         > position startpos
         > go depth 5
         = started 1
         < bestmove 7g7f
         = 1 bestmove 7g7f
         ! search startpos | depth 5
         < bestmove 2g2f
         = violation BestMoveWithoutSearch
         ! start
         ! wait 5
         ! start
         > position startpos
         > go depth 5
         = started 2",
    );
}

#[test]
fn a_newer_search_stops_the_running_one_and_replaces_the_pending_one() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! search startpos moves d2d4 | infinite
            > stop
            ! search startpos moves c2c4 | infinite
            = 2 dropped: Superseded
            < info depth 3
            = 1 info depth 3
            < bestmove e2e4
            = 1 bestmove e2e4
            > isready
            < readyok
            > position startpos moves c2c4
            > go infinite
            = started 3"
        ),
    );
}

#[test]
fn a_cancelled_search_never_starts() {
    check_uci(
        &[],
        "! search startpos | infinite\n> isready\n! stop 1\n= 1 dropped: Cancelled\n< readyok",
    );
}

#[test]
fn stop_is_sent_once() {
    check_uci(
        &[],
        &format!("{FIRST}! stop 1\n> stop\n! stop 1\n< bestmove a2a3\n= 1 bestmove a2a3\n! stop 1"),
    );
}

#[test]
fn a_ponder_hit_turns_the_search_into_a_normal_one() {
    check_uci(
        &["Ponder type check default false"],
        "! search startpos moves e2e4 e7e5 | ponder wtime 1000 btime 1000
         > setoption name Ponder value true
         > isready
         < readyok
         > position startpos moves e2e4 e7e5
         > go ponder wtime 1000 btime 1000
         = started 1
         ! wait 60000
         ! ponderhit 1
         > ponderhit
         < bestmove g1f3
         = 1 bestmove g1f3
         ! ponderhit 1
         = usage error: no search with this id is pondering",
    );
}

#[test]
fn a_ponder_miss_is_a_stop() {
    check_uci(
        &[],
        "! search startpos moves e2e4 e7e5 | ponder wtime 1000 btime 1000
         > isready
         < readyok
         > position startpos moves e2e4 e7e5
         > go ponder wtime 1000 btime 1000
         = started 1
         ! search startpos moves e2e4 c7c5 | wtime 1000 btime 1000
         > stop
         < bestmove g1f3 ponder b8c6
         = 1 bestmove g1f3 ponder b8c6
         > isready
         < readyok
         > position startpos moves e2e4 c7c5
         > go wtime 1000 btime 1000
         = started 2",
    );
}

#[test]
fn an_early_bestmove_in_ponder_ends_the_search() {
    check_uci(
        &[],
        "! search startpos moves e2e4 e7e5 | ponder wtime 1000 btime 1000
         > isready
         < readyok
         > position startpos moves e2e4 e7e5
         > go ponder wtime 1000 btime 1000
         = started 1
         < bestmove g1f3
         = violation BestMoveTooEarly
         = 1 bestmove g1f3
         ! ponderhit 1
         = usage error: no search with this id is pondering",
    );
}

#[test]
fn a_mate_search_in_usi_ends_with_checkmate_or_bestmove() {
    for (answer, event) in [
        ("checkmate G*5b", "1 checkmate G*5b"),
        ("checkmate nomate", "1 checkmate nomate"),
        ("bestmove G*5b", "1 bestmove G*5b"),
    ] {
        check_usi(
            &["USI_Hash type spin default 16 min 1 max 99", "USI_Ponder type check default false"],
            &format!(
                "! search sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1 | mate 5000
                 > setoption name USI_Ponder value false
                 > setoption name USI_Hash value 16
                 > isready
                 < readyok
                 > position sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1
                 > go mate 5000
                 = started 1
                 < {answer}
                 = {event}"
            ),
        );
    }
}

#[test]
fn requests_that_engines_misread_are_rejected() {
    check_uci(
        &[],
        "! reject startpos |
         = usage error: the search has no limit
         ! reject startpos | searchmoves depth 5
         = usage error: `searchmoves` is empty
         ! reject sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1 | depth 5
         = usage error: the position is in the notation of another game",
    );
}

#[test]
fn clocks_are_at_least_one_millisecond_in_uci_and_searchmoves_come_last() {
    check_uci(
        &[],
        "! search startpos | searchmoves e2e4 d2d4 wtime -5 btime 0 winc -1 binc 0 movestogo 0
         > isready
         < readyok
         > position startpos
         > go wtime 1 btime 1 winc 0 binc 0 searchmoves e2e4 d2d4
         = started 1",
    );
}

#[test]
fn isready_is_answered_during_a_search() {
    check_uci(
        &[],
        &format!(
            "{FIRST}! ping\n> isready\n< readyok\n= ready\n< bestmove a2a3\n= 1 bestmove a2a3"
        ),
    );
}

#[test]
fn a_duplicate_answer_of_a_shogi_engine_enables_isready() {
    check_usi(
        &["USI_Hash type spin default 1 min 1 max 9", "USI_Ponder type check default false"],
        "! search startpos | btime 0 wtime 0 byoyomi 1000
         > setoption name USI_Ponder value false
         > setoption name USI_Hash value 1
         > isready
         < readyok
         > position startpos
         > go btime 0 wtime 0 byoyomi 1000
         = started 1
         < bestmove 7g7f
         = 1 bestmove 7g7f
         < bestmove 7g7f
         = violation BestMoveWithoutSearch
         ! search startpos moves 7g7f 3c3d | btime 0 wtime 0 byoyomi 1000
         ! wait 5
         > position startpos moves 7g7f 3c3d
         > go btime 0 wtime 0 byoyomi 1000
         = started 2
         < bestmove 2g2f
         = 2 bestmove 2g2f
         ! search startpos | btime 0 wtime 0 byoyomi 1000
         > isready
         < bestmove 2g2f
         = violation BestMoveWithoutSearch
         < readyok
         > position startpos
         > go btime 0 wtime 0 byoyomi 1000
         = started 3",
    );
}

/// Two searches of a shogi game with a duplicate answer to the first during the second.
const REPEATED: &str = "! search startpos moves 7g7f | btime 0 wtime 0 byoyomi 1000
         > setoption name USI_Hash value 32
         > setoption name USI_Ponder value false
         > isready
         < readyok
         > position startpos moves 7g7f
         > go btime 0 wtime 0 byoyomi 1000
         = started 1
         < bestmove 3c3d
         = 1 bestmove 3c3d
         ! search startpos moves 7g7f 3c3d 2g2f | btime 0 wtime 0 byoyomi 1000
         ! wait 5
         > position startpos moves 7g7f 3c3d 2g2f
         > go btime 0 wtime 0 byoyomi 1000
         = started 2";

#[test]
fn a_move_that_was_just_played_is_not_an_answer() {
    check_usi(
        &[],
        &format!(
            "{REPEATED}
             < bestmove 3c3d
             = violation BestMoveWithoutSearch
             < bestmove 8c8d
             = 2 bestmove 8c8d
             ! search startpos | btime 0 wtime 0 byoyomi 1000
             > isready"
        ),
    );
}

#[test]
fn a_repeated_impossible_move_is_the_answer() {
    check_usi(
        &[],
        &format!(
            "{REPEATED}
             < bestmove 3c3d
             = violation BestMoveWithoutSearch
             < bestmove 3c3d
             = 2 bestmove 3c3d"
        ),
    );
}

#[test]
fn an_answer_after_info_is_accepted() {
    check_usi(
        &[],
        &format!(
            "{REPEATED}
             < info string thinking
             = 2 info string thinking
             < info depth 1
             = 2 info depth 1
             < bestmove 3c3d
             = 2 bestmove 3c3d"
        ),
    );
}

/// A king that castles by the move to its rook may stay on its square and move there next.
#[test]
fn a_move_may_be_made_again_after_castling_in_chess960() {
    check_uci(
        &["UCI_Chess960 type check default false"],
        "! join
         ! newgame 960
         ! search startpos | depth 5
         > setoption name UCI_Chess960 value true
         > ucinewgame
         > isready
         < readyok
         > position startpos
         > go depth 5
         = started 1
         < bestmove g1h1
         = 1 bestmove g1h1
         ! search startpos moves g1h1 a7a6 | depth 5
         > position startpos moves g1h1 a7a6
         > go depth 5
         = started 2
         < bestmove g1h1
         = 2 bestmove g1h1",
    );
}

#[test]
fn the_clock_of_a_ponder_search_starts_at_the_hit() {
    check_uci(
        &[],
        "! search startpos moves e2e4 e7e5 | ponder movetime 1000
         > isready
         < readyok
         > position startpos moves e2e4 e7e5
         > go ponder movetime 1000
         = started 1
         ! wait 100000
         ! ponderhit 1 wtime -5 btime 0
         > ponderhit
         ! wait 2000
         ! wait 1
         = 1 overrun
         > stop",
    );
}

#[test]
fn perft_and_invalid_moves_are_rejected() {
    check_uci(
        &[],
        "! reject startpos | perft 3
         = usage error: the output of `go perft` has no defined end
         ! reject startpos moves e2e4 rep_draw | depth 5
         = usage error: `rep_draw` is not a move
         ! reject startpos | depth 5 searchmoves 7g7f
         = usage error: `7g7f` is not a move",
    );
}

#[test]
fn limits_are_at_least_one() {
    check_uci(
        &[],
        "! search startpos | depth 0 nodes 0 mate 0 movetime 0
         > isready
         < readyok
         > position startpos
         > go depth 1 nodes 1 mate 1 movetime 1
         = started 1",
    );
}

#[test]
fn any_duration_can_limit_a_search() {
    for (time, millis) in [
        (Duration::ZERO, "1"),
        (Duration::from_nanos(1), "1"),
        (Duration::MAX, "9223372036854775807"),
    ] {
        let (start, mut out) = (Duration::ZERO, String::new());
        let mut session = ClientSession::start(Dialect::Usi, Timeouts::default(), start, &mut out);
        session.receive_line("usiok", start, &mut out);
        let mate = Some(MateLimit::Time(time));
        let go = Go { mate, random_time: Some(time), ..Go::move_time(time) };
        session.search(SearchRequest { go, ..SearchRequest::default() }, start, &mut out).unwrap();
        session.receive_line("readyok", start, &mut out);
        let line = format!("go mate {millis} movetime {millis} rtime {millis}");
        assert!(out.lines().any(|other| other == line), "{out}");
        assert!(session.poll_timeout().is_some());
    }
}

#[test]
fn a_search_of_a_finished_game_reports_nothing() {
    check_uci(
        &[],
        &format!(
            "{FIRST}! gameover\n> stop\n< info depth 3\n< bestmove e2e4\n= 1 dropped: GameOver"
        ),
    );
}

/// A shogi engine that has answered, and the next search.
const ANSWERED: &str = "! search startpos | depth 5
         > setoption name USI_Hash value 32
         > setoption name USI_Ponder value false
         > isready
         < readyok
         > position startpos
         > go depth 5
         = started 1
         < bestmove 7g7f
         = 1 bestmove 7g7f
         ! search startpos moves 2g2f | depth 5";

#[test]
fn a_duplicate_answer_of_a_shogi_engine_arrives_between_searches() {
    check_usi(
        &[],
        &format!(
            "{ANSWERED}
         ! wait 4
         < bestmove 2g2f
         = violation BestMoveWithoutSearch
         ! wait 1
         > position startpos moves 2g2f
         > go depth 5
         = started 2
         < bestmove 8c8d
         = 2 bestmove 8c8d"
        ),
    );
}

#[test]
fn unsynchronized_shogi_searches_do_not_wait() {
    check_usi(
        &[],
        &format!(
            "! join
         {ANSWERED}
         > position startpos moves 2g2f
         > go depth 5
         = started 2"
        ),
    );
}

/// A match runner starts the clock with `go`: the engine reads the moves before.
#[test]
fn sends_the_position_before_isready() {
    check_uci(
        &[],
        &format!(
            "! early
            {FIRST}
            < bestmove e2e4
            = 1 bestmove e2e4
            ! search startpos moves e2e4 e7e5 | depth 5
            > position startpos moves e2e4 e7e5
            > isready
            < readyok
            > go depth 5
            = started 2
            < bestmove g1f3
            = 2 bestmove g1f3
            ! newgame
            ! search startpos | depth 5
            > ucinewgame
            > isready
            < readyok
            > position startpos
            > go depth 5
            = started 3"
        ),
    );
}

#[test]
fn an_early_position_of_another_search_is_replaced() {
    let start = format!(
        "! early
        {FIRST}
        < bestmove e2e4
        = 1 bestmove e2e4
        ! search startpos moves e2e4 e7e5 | depth 5
        > position startpos moves e2e4 e7e5
        > isready"
    );
    check_uci(
        &[],
        &format!(
            "{start}
            ! search startpos | depth 6
            = 2 dropped: Superseded
            < readyok
            > position startpos
            > go depth 6
            = started 3"
        ),
    );
    check_uci(
        &["Hash type spin default 16 min 1 max 64"],
        &format!(
            "{start}
            ! set Hash=32
            > setoption name Hash value 32
            < readyok
            > position startpos moves e2e4 e7e5
            > isready
            < readyok
            > go depth 5
            = started 2"
        ),
    );
}

#[test]
fn shogi_positions_are_sent_with_go() {
    check_usi(
        &[],
        &format!(
            "! early
         ! join
         {ANSWERED}
         > position startpos moves 2g2f
         > go depth 5
         = started 2"
        ),
    );
}
