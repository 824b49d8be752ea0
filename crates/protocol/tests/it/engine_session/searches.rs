//! Searches: answers, pondering, and the output before them.

use std::time::Duration;

use readyok_protocol::session::engine::{EngineSession, Event, Profile, SearchRequest};
use readyok_protocol::{CastlingForm, Color, Command, Dialect, OptionDecl, OptionSet};

use super::{READY, Run, check_engine, check_search};

#[test]
fn every_go_gets_exactly_one_bestmove() {
    check_search(
        "
        > go depth 1
        = search: position startpos moves e2e4, go depth 1
        ! info depth 1 score cp -20 pv e7e5
        < info depth 1 score cp -20 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        ! usage_error bestmove e7e5
        ",
    );
}

#[test]
fn the_bestmove_of_an_infinite_search_waits_for_stop() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        ! info depth 99 score mate -1
        < info depth 99 score mate -1
        ! bestmove e7e5
        ! usage_error bestmove e7e5
        > ponderhit
        = against PonderHitWithoutPonder
        > stop
        < bestmove e7e5
        ",
    );
}

#[test]
fn the_bestmove_of_a_ponder_search_waits_for_ponderhit_or_stop() {
    for end in ["ponderhit", "stop"] {
        check_search(&format!(
            "
            > go ponder movetime 100
            = search: position startpos moves e2e4, go ponder movetime 100
            ! info depth 1 score mate 1 pv e7e5
            < info depth 1 score mate 1 pv e7e5
            ! bestmove e7e5
            > {end}
            < bestmove e7e5
            "
        ));
    }
}

#[test]
fn an_infinite_ponder_search_waits_for_stop_even_after_ponderhit() {
    check_search(
        "
        > go ponder infinite
        = search: position startpos moves e2e4, go ponder infinite
        ! info depth 1 pv e7e5
        < info depth 1 pv e7e5
        ! bestmove e7e5
        > ponderhit
        > stop
        < bestmove e7e5
        ",
    );
}

#[test]
fn the_time_of_a_ponder_search_counts_from_ponderhit() {
    check_search(
        "
        > go ponder movetime 1000
        = search: position startpos moves e2e4, go ponder movetime 1000
        ! after 5000
        > ponderhit
        = ponder hit
        ! after 999
        ! info currmove e7e5
        ! bestmove e7e5
        < info depth 0 time 999 pv e7e5
        < bestmove e7e5
        ",
    );
}

#[test]
fn a_running_search_receives_ponderhit_and_stop() {
    check_search(
        "
        > go ponder wtime 1000 btime 2000
        = search: position startpos moves e2e4, go ponder wtime 1000 btime 2000
        > ponderhit
        = ponder hit
        > stop
        = stop
        ! info depth 1 pv e7e5
        < info depth 1 pv e7e5
        ! bestmove e7e5 ponder g1f3
        < bestmove e7e5 ponder g1f3
        ",
    );
}

#[test]
fn stop_and_ponderhit_are_ignored_between_searches() {
    check_search(
        "
        > stop
        > ponderhit
        = against PonderHitWithoutPonder
        ",
    );
}

#[test]
fn details_are_sent_after_one_second_if_their_options_are_on() {
    let script = |on| {
        format!(
            "
            > setoption name UCI_ShowCurrLine value {on}
            = option UCI_ShowCurrLine {on}
            > setoption name UCI_ShowRefutations value {on}
            = option UCI_ShowRefutations {on}
            {READY}
            > go infinite
            = search: position startpos moves e2e4, go infinite
            ! after 999
            ! info currmove e7e5 currmovenumber 1
            ! info currline 1 e7e5
            ! info refutation e7e5 f2f4
            ! info nodes 7 currmove e7e5
            < info nodes 7
            ! after 1
            ! info currmove e7e5 currmovenumber 1
            < info currmove e7e5 currmovenumber 1
            ! info currline 1 e7e5
            "
        )
    };
    check_engine(Dialect::Uci, &format!("{}\n! info refutation e7e5", script(false)));
    check_engine(
        Dialect::Uci,
        &format!(
            "{}
            < info currline 1 e7e5
            ! info refutation e7e5 f2f4
            < info refutation e7e5 f2f4",
            script(true)
        ),
    );
}

#[test]
fn there_is_an_info_before_every_bestmove() {
    check_search(
        "
        > go movetime 500
        = search: position startpos moves e2e4, go movetime 500
        ! info string thinking
        < info string thinking
        ! after 450
        ! bestmove e7e5
        < info depth 0 time 450 pv e7e5
        < bestmove e7e5
        > go movetime 500
        = search: position startpos moves e2e4, go movetime 500
        ! bestmove (none)
        < info depth 0 time 0
        < bestmove (none)
        ",
    );
}

/// The start of a search that has used up its burst of lines.
fn flooded() -> Run {
    let mut run = Run::new();
    run.check("> go infinite\n= against BeforeUciOk\n= search: position startpos, go infinite");
    run.act("flood 10000");
    let lines = run.out.lines().count();
    assert_eq!(lines, 101, "only a burst is sent");
    run.out.clear();
    run
}

#[test]
fn a_flood_is_reduced_to_the_latest_line() {
    flooded().check(
        "
        ! after 39
        < info depth 10000 pv e2e4
        ! info depth 10001 pv e2e4
        ! info depth 10001 currmove e2e4
        ! bestmove e2e4
        < info depth 10001 pv e2e4
        > stop
        < bestmove e2e4
        ",
    );
}

#[test]
fn a_flood_is_reduced_to_the_latest_line_of_each_rank() {
    flooded().check(
        "
        ! info depth 7 multipv 1 pv e2e4
        ! info depth 7 multipv 2 pv d2d4
        ! info depth 7 multipv 3 pv c2c4
        ! info depth 8 multipv 1 pv e2e4
        ! info depth 8 multipv 2 pv d2d4
        ! after 39
        < info depth 8 multipv 1 pv e2e4
        < info depth 8 multipv 2 pv d2d4
        < info depth 7 multipv 3 pv c2c4
        ! info depth 8 multipv 3 pv c2c4
        < info depth 8 multipv 3 pv c2c4
        ! info depth 9 multipv 1 pv e2e4
        ! info depth 9 multipv 2 pv d2d4
        ! after 2000
        < info depth 9 multipv 1 pv e2e4
        < info depth 9 multipv 2 pv d2d4
        ",
    );
}

#[test]
fn a_search_starts_a_new_iteration() {
    flooded().check(
        "
        > stop
        = stop
        ! bestmove e2e4
        < info depth 10000 pv e2e4
        < bestmove e2e4
        ! after 5000
        > go depth 1
        = against SearchWithoutPosition
        = search: position startpos, go depth 1
        ! info depth 1 multipv 2 pv d2d4
        < info depth 1 multipv 2 pv d2d4
        ",
    );
}

#[test]
fn only_texts_are_sent_between_searches() {
    check_engine(
        Dialect::Uci,
        "
        ! info score cp 3 nodes 5 string x
        ! info nodes 5 string x
        ! info string x
        < info string x
        ",
    );
}

#[test]
fn a_line_without_a_variation_does_not_replace_one() {
    flooded().check(
        "
        ! info depth 7 score cp 30 pv e2e4
        ! info depth 8 score cp 60 lowerbound
        ! info depth 8 score cp 90 lowerbound
        ! bestmove e2e4
        < info depth 7 score cp 30 pv e2e4
        < info depth 8 score cp 90 lowerbound
        > stop
        < bestmove e2e4
        ",
    );
}

#[test]
fn texts_of_a_flood_are_sent_or_counted() {
    let mut run = flooded();
    for number in 0..1234 {
        run.act(&format!("info string {number}"));
    }
    run.act("bestmove e2e4");
    let lines: Vec<String> = std::iter::from_fn(|| run.sent()).collect();
    assert_eq!(lines.len(), 1002, "the last variation, a thousand texts, and their number");
    assert_eq!(lines[0], "info depth 10000 pv e2e4");
    assert_eq!(lines[1000], "info string 999");
    assert_eq!(lines[1001], "info string 234 more lines of text are left out");
}

#[test]
fn delayed_lines_have_a_deadline() {
    let mut run = flooded();
    let due = run.session.poll_timeout().unwrap();
    assert_eq!(due, run.now + Duration::from_millis(20));
    run.session.handle_timeout(due, &mut run.out);
    assert_eq!(run.sent().as_deref(), Some("info depth 10000 pv e2e4"));
    assert_eq!(run.session.poll_timeout(), None);
}

#[test]
fn info_after_the_answer_is_dropped_except_texts() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        ! info depth 1 pv e7e5
        < info depth 1 pv e7e5
        ! bestmove e7e5
        ! info depth 2 pv e7e5
        > stop
        < bestmove e7e5
        ! info depth 3 pv e7e5
        ! info string done
        < info string done
        ",
    );
}

#[test]
fn quit_releases_a_delayed_bestmove() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        > quit
        < bestmove e7e5
        = quit
        ",
    );
}

#[test]
fn gameover_during_a_search_acts_like_stop() {
    for go in ["go ponder", "go btime 0 wtime 0 byoyomi 1000"] {
        check_engine(
            Dialect::Usi,
            &format!(
                "
                > isready
                = prepare
                ! ready
                < readyok
                > position startpos
                > {go}
                = search: position startpos, {go}
                > gameover lose
                = game over: lose
                = stop
                ! info depth 1 pv 7g7f
                < info depth 1 pv 7g7f
                ! bestmove 7g7f
                < bestmove 7g7f
                > gameover draw
                = game over: draw
                "
            ),
        );
    }
}

#[test]
fn ponderhit_may_contain_the_clocks() {
    check_engine(
        Dialect::Usi,
        "
        > isready
        = prepare
        ! ready
        < readyok
        > position startpos
        > go ponder
        = search: position startpos, go ponder
        > ponderhit btime 53000 wtime 60000 binc 5000 winc 5000
        = ponder hit, 53000 ms
        ",
    );
}

#[test]
fn a_mate_search_is_answered_by_checkmate() {
    check_engine(
        Dialect::Usi,
        "
        > isready
        = prepare
        ! ready
        < readyok
        > position startpos
        > go mate infinite
        = search: position startpos, go mate infinite
        ! checkmate nomate
        < info depth 0 time 0
        < checkmate nomate
        > go depth 1
        = search: position startpos, go depth 1
        ! usage_error checkmate nomate
        ",
    );
}

#[test]
fn a_shogi_engine_without_a_legal_move_resigns() {
    check_engine(
        Dialect::Usi,
        "
        > isready
        = prepare
        ! ready
        < readyok
        > position startpos
        > go depth 1
        = search: position startpos, go depth 1
        ! info depth 0 score mate -0
        < info depth 0 score mate -0
        ! bestmove none
        < bestmove resign
        ",
    );
}

#[test]
fn a_checkmate_found_while_pondering_is_delayed() {
    for end in ["ponderhit", "stop"] {
        check_engine(
            Dialect::Usi,
            &format!(
                "
                > isready
                = prepare
                ! ready
                < readyok
                > position startpos
                > go ponder mate 1000
                = search: position startpos, go ponder mate 1000
                ! checkmate nomate
                < info depth 0 time 0
                ! usage_error checkmate nomate
                > {end}
                < checkmate nomate
                "
            ),
        );
    }
}

#[test]
fn leaf_nodes_are_not_counted() {
    check_search("> go perft 5\n< info string this engine does not count leaf nodes");
}

#[test]
fn the_clock_is_that_of_the_side_to_move() {
    use Color::{Black, White};
    use Dialect::{Uci, Usi};

    let clock = |dialect, position: &str| {
        let read = |line| Command::read(line, dialect).value.into_owned();
        let (Command::Position(position), Command::Go(go)) =
            (read(position), read("go wtime 1000 btime 2000"))
        else {
            panic!("{position}")
        };
        let request = SearchRequest::new(dialect, position, go);
        (request.mover(), request.clock().unwrap().remaining)
    };
    assert_eq!(clock(Uci, "position startpos"), (White, 1000));
    assert_eq!(clock(Uci, "position startpos moves e2e4"), (Black, 2000));
    assert_eq!(clock(Uci, "position fen 4k3/8/8/8/8/8/8/4K3 b - - 0 1"), (Black, 2000));
    // Shogi over UCI: the first player, Black in SFEN, is White.
    assert_eq!(clock(Uci, "position sfen 4k4/9/9/9/9/9/9/9/4K4 b - 1"), (White, 1000));
    assert_eq!(clock(Uci, "position sfen 4k4/9/9/9/9/9/9/9/4K4 w - 2"), (Black, 2000));
    assert_eq!(clock(Usi, "position startpos"), (Black, 2000));
    assert_eq!(clock(Usi, "position startpos moves 7g7f"), (White, 1000));
    assert_eq!(clock(Usi, "position sfen 4k4/9/9/9/9/9/9/9/4K4 w - 1 moves 5a4a"), (Black, 2000));
}

/// A limit is never lost: the leading integer is used, or else a time of one second, with an explanation
/// (UCI 2006: `<x>` is a whole number).
#[test]
fn limits_that_are_not_integers_limit_the_search() {
    for (sent, read) in [
        ("movetime 100.5", "movetime 100"),
        ("wtime 60000.0 btime 60000.0 winc 0.0 binc 0.0", "wtime 60000 btime 60000 winc 0 binc 0"),
        ("depth 5.0", "depth 5"),
        ("movetime 100,", "movetime 100"),
        ("movetime 100ms", "movetime 100"),
        ("nodes 1k", "nodes 1"),
    ] {
        check_search(&format!(
            "
            > go {sent}
            = malformed: number that is not an integer
            = search: position startpos moves e2e4, go {read}
            "
        ));
    }
    for (sent, kind) in [
        ("nodes x", "not a number"),
        ("movetime x", "not a number"),
        ("movetime", "missing value"),
        ("perft x", "not a number"),
        ("movetime=100", "unknown token"),
        ("ponder movetime x", "not a number"),
    ] {
        let (ponder, text) =
            sent.strip_prefix("ponder ").map_or(("", sent), |rest| ("ponder ", rest));
        check_search(&format!(
            "
            > go {sent}
            < info string `go` has no usable limit in `{text}`: the search takes 1s
            = malformed: {kind}
            = search: position startpos moves e2e4, go {ponder}movetime 1000 {text}
            "
        ));
    }
}

#[test]
fn a_search_without_the_own_clock_takes_one_second() {
    for go in ["wtime 1000", "winc 1000 binc 1000", "movestogo 40"] {
        check_search(&format!(
            "
            > go {go}
            < info string `go` has no clock of the side to move: the search takes 1s
            = search: position startpos moves e2e4, go {go} movetime 1000
            "
        ));
    }
    check_search(
        "
        > go wtime 1000 btime x
        < info string `go` has no usable limit in `btime x`: the search takes 1s
        = malformed: not a number
        = search: position startpos moves e2e4, go wtime 1000 movetime 1000 btime x
        ",
    );
}

#[test]
fn a_search_without_limits_is_not_limited() {
    for go in ["go", "go infinite", "go ponder", "go searchmoves e7e5"] {
        check_search(&format!("> {go}\n= search: position startpos moves e2e4, {go}"));
    }
    check_search(
        "
        > go infinite movetime x
        = malformed: not a number
        = search: position startpos moves e2e4, go infinite movetime x
        ",
    );
}

#[test]
fn unusable_limits_of_usi_take_one_second() {
    for (sent, searched) in [
        ("mate x", "mate 1000 mate x"),
        ("byoyomi x", "movetime 1000 byoyomi x"),
        ("btime 0.0 wtime 0.0 byoyomi x", "btime 0 wtime 0 byoyomi x"),
    ] {
        let explains = searched.contains("1000");
        let explanation =
            format!("< info string `go` has no usable limit in `{sent}`: the search takes 1s");
        let kind =
            if sent.contains(".0") { "number that is not an integer" } else { "not a number" };
        check_engine(
            Dialect::Usi,
            &format!(
                "
                > isready
                = prepare
                ! ready
                < readyok
                > position startpos
                > go {sent}
                {}
                = malformed: {kind}
                = search: position startpos, go {searched}
                ",
                if explains { &explanation } else { "" }
            ),
        );
    }
}

#[test]
fn the_notation_of_castling_is_that_of_the_option() {
    let castling = |lines: &[&str]| {
        let mut options = OptionSet::new(Dialect::Uci);
        options.declare(OptionDecl::check("UCI_Chess960", false));
        let profile =
            Profile { name: "Test".into(), author: String::new(), options: vec![options] };
        let mut session = EngineSession::new(profile).unwrap();
        for line in lines {
            session.receive_line(line, Duration::ZERO, &mut String::new());
        }
        let search = core::iter::from_fn(|| session.poll_event()).find_map(|event| match event {
            Event::Search(request) => Some(request),
            _ => None,
        });
        let request = search.unwrap();
        assert_eq!(request.is_chess960(), request.castling == CastlingForm::KingTakesRook);
        request.castling
    };
    let on = "setoption name UCI_Chess960 value true";
    let off = "setoption name uci_chess960 value false";
    assert_eq!(castling(&["uci", "go depth 1"]), CastlingForm::KingMove);
    assert_eq!(castling(&["uci", on, "go depth 1"]), CastlingForm::KingTakesRook);
    assert_eq!(castling(&["uci", on, off, "go depth 1"]), CastlingForm::KingMove);
}
