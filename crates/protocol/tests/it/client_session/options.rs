//! Options and games.

use readyok_protocol::Dialect;

use super::{FIRST, Run, check_uci, check_usi};

#[test]
fn options_wait_for_the_end_of_the_search() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024"],
        &format!(
            "{FIRST}
            ! set hash=64
            < bestmove e2e4
            = 1 bestmove e2e4
            > setoption name Hash value 64"
        ),
    );
}

/// A setting has an effect, although nothing else ends the search.
#[test]
fn an_endless_search_is_stopped_for_an_option_and_starts_again() {
    let hash = ["Hash type spin default 16 min 1 max 1024"];
    for search in ["search startpos | infinite", "analyse startpos | depth 30"] {
        let go = search.split_once("| ").unwrap().1;
        check_uci(
            &hash,
            &format!(
                "! {search}
                > isready
                < readyok
                > position startpos
                > go {go}
                = started 1
                ! set Hash=16
                ! set Hash=64
                > stop
                ! set Hash=32
                ! ping
                < info depth 9
                = 1 info depth 9
                < bestmove e2e4
                > setoption name Hash value 32
                > isready
                < readyok
                = ready
                > position startpos
                > go {go}
                = started 1
                ! stop 1
                > stop
                < bestmove e2e4
                = 1 bestmove e2e4"
            ),
        );
    }
}

#[test]
fn a_search_that_is_stopped_does_not_start_again_for_an_option() {
    let start = "! search startpos | infinite
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 1
         ! set Hash=64
         > stop";
    let hash = ["Hash type spin default 16 min 1 max 1024"];
    let after = "< bestmove e2e4
         = 1 bestmove e2e4
         > setoption name Hash value 64";
    check_uci(&hash, &format!("{start}\n! stop 1\n{after}"));
    check_uci(
        &hash,
        &format!(
            "{start}
            ! search startpos | depth 1
            {after}
            > isready
            < readyok
            > position startpos
            > go depth 1
            = started 2"
        ),
    );
}

#[test]
fn a_ponderhit_before_the_second_start_makes_the_search_a_normal_one() {
    check_uci(
        &["Threads type spin default 1 min 1 max 8", "Ponder type check default true"],
        "! search startpos | ponder wtime 1000 btime 1000
         > isready
         < readyok
         > position startpos
         > go ponder wtime 1000 btime 1000
         = started 1
         ! set Threads=2
         > stop
         ! ponderhit 1
         < bestmove e2e4
         > setoption name Threads value 2
         > isready
         < readyok
         > position startpos
         > go wtime 1000 btime 1000
         = started 1
         < bestmove e2e4
         = 1 bestmove e2e4",
    );
}

#[test]
fn readyok_follows_the_options_that_wait_for_an_answer() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024"],
        &format!(
            "{FIRST}
            ! set Hash=64
            ! ping
            < bestmove e2e4
            = 1 bestmove e2e4
            > setoption name Hash value 64
            > isready
            < readyok
            = ready"
        ),
    );
}

#[test]
fn threads_are_set_before_the_hash() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024", "Threads type spin default 1 min 1 max 8"],
        &format!(
            "{FIRST}
            ! set Hash=64
            ! set Threads=4
            < bestmove e2e4
            = 1 bestmove e2e4
            > setoption name Threads value 4
            > setoption name Hash value 64"
        ),
    );
}

#[test]
fn wrong_values_are_rejected_before_they_are_sent() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024", "Ponder type check default false"],
        "! set Hash=0
         = usage error: option `Hash` is between 1 and 1024, not 0
         ! set Hash=64\r
         > setoption name Hash value 64
         ! set NoSuch=1
         = usage error: the engine has no option `NoSuch`
         ! set Ponder=true
         = usage error: option `Ponder` is managed by the session",
    );
}

#[test]
fn a_button_is_pressed_each_time() {
    check_uci(
        &["Clear Hash type button"],
        "! set Clear Hash\n> setoption name Clear Hash\n! set Clear Hash\n> setoption name Clear Hash",
    );
}

#[test]
fn options_of_one_search_are_reset() {
    check_uci(
        &["Contempt type spin default 0 min 0 max 99"],
        "! with Contempt=50 startpos | depth 1
         > setoption name Contempt value 50
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1
         < bestmove e2e4
         = 1 bestmove e2e4
         ! search startpos | depth 1
         > setoption name Contempt value 0
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 2",
    );
}

#[test]
fn multipv_and_analyse_mode_depend_on_the_search() {
    check_uci(
        &["MultiPV type spin default 1 min 1 max 3", "UCI_AnalyseMode type check default false"],
        "! lines 9 startpos | depth 1
         > setoption name MultiPV value 3
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1
         < bestmove e2e4
         = 1 bestmove e2e4
         ! analyse startpos | infinite
         > setoption name MultiPV value 1
         > setoption name UCI_AnalyseMode value true
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 2",
    );
}

#[test]
fn a_chess960_game_sends_its_option_and_opponent() {
    check_uci(
        &["UCI_Chess960 type check default false", "UCI_Opponent type string"],
        "! newgame GM 2800 human Garry
         ! search startpos | depth 1
         > ucinewgame
         > setoption name UCI_Opponent value GM 2800 human Garry
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1
         < bestmove e2e4
         = 1 bestmove e2e4
         ! newgame 960
         ! search startpos | depth 1
         > setoption name UCI_Chess960 value true
         > ucinewgame
         > setoption name UCI_Opponent value <empty>
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 2",
    );
}

#[test]
fn a_game_without_an_opponent_resets_the_option() {
    for (declared, restored) in
        [("type string", "<empty>"), ("type string default none none human", "none none human")]
    {
        let script = format!(
            "! newgame GM 2800 human Garry
             ! search startpos | depth 1
             > ucinewgame
             > setoption name UCI_Opponent value GM 2800 human Garry
             > isready
             < readyok
             > position startpos
             > go depth 1
             = started 1
             < bestmove e2e4
             = 1 bestmove e2e4
             ! newgame
             ! search startpos | depth 1
             > ucinewgame
             > setoption name UCI_Opponent value {restored}
             > isready
             < readyok
             > position startpos
             > go depth 1
             = started 2
             < bestmove e2e4
             = 2 bestmove e2e4
             ! newgame
             ! search startpos | depth 1
             > ucinewgame
             > isready"
        );
        check_uci(&[&format!("UCI_Opponent {declared}")], &script);
    }
}

#[test]
fn an_unset_opponent_is_not_reset() {
    check_uci(
        &["UCI_Opponent type string"],
        "! newgame
         ! search startpos | depth 1
         > ucinewgame
         > isready",
    );
}

#[test]
fn a_shogi_game_starts_with_isready_and_undeclared_options() {
    check_usi(
        &["MultiPV type spin default 1 min 1 max 9"],
        "! newgame
         ! search startpos | btime 0 wtime 0 byoyomi 10000
         > setoption name USI_Hash value 32
         > setoption name USI_Ponder value false
         > isready
         < readyok
         > usinewgame
         > position startpos
         > go btime 0 wtime 0 byoyomi 10000
         = started 1
         < bestmove 7g7f
         = 1 bestmove 7g7f
         ! search startpos moves 7g7f 3c3d | btime 0 wtime 0 byoyomi 10000
         ! wait 5
         > position startpos moves 7g7f 3c3d
         > go btime 0 wtime 0 byoyomi 10000
         = started 2
         ! gameover
         > stop
         > gameover win
         < bestmove resign
         = 2 dropped: GameOver
         ! newgame
         ! search startpos | btime 0 wtime 0 byoyomi 10000
         > isready
         < readyok
         > usinewgame
         > position startpos
         > go btime 0 wtime 0 byoyomi 10000
         = started 3",
    );
}

#[test]
fn names_of_options_may_contain_the_token_value() {
    let options = [
        "King Safety Max Value type spin default 1 min 0 max 999",
        "draw value type spin default 1 min 0 max 9",
        "a value b type string default x",
        "Reset Value type button",
    ];
    check_uci(
        &options,
        "! set King Safety Max Value=400
         > setoption name King Safety Max Value value 400
         ! set draw value=3
         > setoption name draw value value 3
         ! set a value b=
         > setoption name a value b value <empty>
         ! set Reset Value
         > setoption name Reset Value",
    );
}

#[test]
fn an_empty_text_has_the_notation_of_the_declaration() {
    let set = |name: &str, value: &str| {
        let other = if name == "Style" { "Solid" } else { "y" };
        format!(
            "! set {name}={other}\n> setoption name {name} value {other}\n\
             ! set {name}=\n> setoption name {name} value{value}\n"
        )
    };
    let keyword = " <empty>";
    let blank = ["Log type string default␣", "Other type string default x"];
    check_uci(&blank, &(set("Log", "␣") + &set("Other", "␣")));
    check_uci(&["Log type filename default"], &set("Log", "␣"));
    check_uci(&["Log value type string default"], &set("Log value", ""));
    check_uci(&["Log type string default <empty>"], &set("Log", keyword));
    check_uci(&["Log type string default x"], &set("Log", keyword));
    check_uci(&["Log type string"], &set("Log", keyword));
    check_usi(&["Log type filename default␣"], &set("Log", "␣"));
    // If the engine uses both notations, an option of unknown notation has that of UCI.
    let mixed = ["A type string default", "B type string default <empty>", "C type string"];
    check_uci(&mixed, &(set("A", "␣") + &set("B", keyword) + &set("C", keyword)));
    let choice =
        ["A type string default", "Style type combo default x var x var Solid var <empty>"];
    check_uci(&choice, &set("Style", keyword));
}

#[test]
fn a_text_of_one_search_is_reset_to_a_blank_default() {
    check_uci(
        &["LogFile type string default␣"],
        "! with LogFile=one.log startpos | depth 1
         > setoption name LogFile value one.log
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1
         < bestmove e2e4
         = 1 bestmove e2e4
         ! search startpos | depth 1
         > setoption name LogFile value␣
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 2",
    );
}

#[test]
fn an_ambiguous_option_name_is_rejected() {
    let options = [
        "draw type string default x",
        "draw value type spin default 1 min 0 max 9",
        "reset value type button",
        "Max Value Reset type button",
    ];
    check_uci(
        &options,
        "! set draw value=3
         = usage error: name of an option contains the keyword `value`
         ! set reset value
         = usage error: name of an option contains the keyword `value`
         ! set Max Value Reset
         = usage error: name of an option would be read differently
         ! set draw=value 3
         > setoption name draw value value 3",
    );
}

#[test]
fn options_sent_during_a_ping_require_another_one() {
    check_uci(
        &["Hash type spin default 16 min 1 max 99"],
        "! ping
         > isready
         ! set Hash=32
         > setoption name Hash value 32
         ! search startpos | depth 1
         < readyok
         = ready
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1",
    );
}

#[test]
fn declared_options_are_found_in_any_spelling() {
    let mut run = Run::new(Dialect::Usi);
    for line in ["id name A", "option name USI_Hash type spin default 16 min 1 max 64", "usiok"] {
        run.session.receive_line(line, run.now, &mut run.out);
    }
    assert!(run.session.options().find("hash").is_some());
    assert_eq!(run.session.identity().name, "A");
}

#[test]
fn the_hash_is_set_again_after_other_threads() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024", "Threads type spin default 1 min 1 max 8"],
        "! set Hash=64
         > setoption name Hash value 64
         ! set Threads=4
         > setoption name Threads value 4
         > setoption name Hash value 64
         ! set Threads=4",
    );
}

#[test]
fn the_hash_is_reset_to_its_default_after_other_threads() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024", "Threads type spin default 1 min 1 max 8"],
        &format!(
            "! set Hash=64
            > setoption name Hash value 64
            {FIRST}
            ! set Hash=16
            ! set Threads=4
            < bestmove e2e4
            = 1 bestmove e2e4
            > setoption name Threads value 4
            > setoption name Hash value 16"
        ),
    );
}

#[test]
fn options_between_shogi_searches_send_no_isready() {
    check_usi(
        &[
            "USI_Hash type spin default 1 min 1 max 9",
            "USI_Ponder type check default false",
            "MultiPV type spin default 1 min 1 max 9",
        ],
        "! search startpos | infinite
         > setoption name USI_Ponder value false
         > setoption name USI_Hash value 1
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 1
         < bestmove 7g7f
         = violation BestMoveTooEarly
         = 1 bestmove 7g7f
         ! lines 3 startpos | infinite
         > setoption name MultiPV value 3
         ! wait 5
         > position startpos
         > go infinite
         = started 2",
    );
}

#[test]
fn usi_ponder_is_sent_to_an_engine_that_does_not_declare_it() {
    check_usi(
        &["USI_Hash type spin default 1 min 1 max 9"],
        "! search startpos | byoyomi 1000 btime 0 wtime 0
         > setoption name USI_Hash value 1
         > setoption name USI_Ponder value false
         > isready
         < readyok
         > position startpos
         > go btime 0 wtime 0 byoyomi 1000
         = started 1
         < bestmove 7g7f ponder 3c3d
         = 1 bestmove 7g7f ponder 3c3d
         ! search startpos moves 7g7f 3c3d | ponder
         > setoption name USI_Ponder value true
         ! wait 5
         > position startpos moves 7g7f 3c3d
         > go ponder
         = started 2
         ! ponderhit 2
         = usage error: the search has no limit
         ! ponderhit 2 btime 500 wtime 400
         > ponderhit btime 500 wtime 400 byoyomi 0",
    );
}

#[test]
fn an_unsupported_game_is_rejected() {
    check_uci(
        &[],
        "! newgame 960
         = usage error: the engine has no option `UCI_Chess960`
         ! newgame GM 2800 human Garry",
    );
    check_uci(
        &["UCI_Opponent type string"],
        "! newgame \u{b}GM 2800
         = usage error: value of an option is empty or has white space at its start or end",
    );
}

#[test]
fn a_late_declaration_changes_nothing() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024"],
        "< option name Hash type button
         = violation LateDeclaration
         ! set Hash=64
         > setoption name Hash value 64",
    );
}

#[test]
fn a_button_is_pressed_for_each_search_that_requests_it() {
    let search = |number: u32| {
        format!(
            "! press Clear Hash startpos | depth 1
             > setoption name Clear Hash
             > isready
             < readyok
             > position startpos
             > go depth 1
             = started {number}
             < bestmove e2e4
             = {number} bestmove e2e4\n"
        )
    };
    check_uci(&["Clear Hash type button"], &format!("{}{}", search(1), search(2)));
}
