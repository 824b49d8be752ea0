//! Time budgets.

use std::time::Duration;

use readyok_engine::protocol::{Command, Dialect};
use readyok_engine::{Budget, SearchRequest};

/// The budget of a search in a position.
fn budget(dialect: Dialect, position: &str, go: &str) -> Budget {
    let Command::Position(position) = Command::read(position, dialect).value.into_owned() else {
        panic!("{position}");
    };
    let Command::Go(go) = Command::read(go, dialect).value.into_owned() else { panic!("{go}") };
    let request = SearchRequest::new(dialect, position, go);
    Budget::new(&request, Duration::from_millis(10))
}

/// Checks the soft and the hard limit in milliseconds.
#[track_caller]
fn check_budget_in(position: &str, dialect: Dialect, go: &str, limits: [Option<u64>; 2]) {
    let budget = budget(dialect, position, go);
    let millis = |limit: Option<Duration>| limit.map(|limit| limit.as_millis().try_into().unwrap());
    assert_eq!([budget.soft, budget.hard].map(millis), limits);
}

/// Checks the soft and the hard limit of the first move in milliseconds.
#[track_caller]
fn check_budget(dialect: Dialect, go: &str, soft: Option<u64>, hard: Option<u64>) {
    check_budget_in("position startpos", dialect, go, [soft, hard]);
}

#[test]
fn movetime_is_used_except_the_overhead() {
    check_budget(Dialect::Uci, "go movetime 1000", Some(990), Some(990));
    check_budget(Dialect::Uci, "go movetime 5", Some(1), Some(1));
    check_budget(Dialect::Usi, "go rtime 1000", Some(990), Some(990));
}

#[test]
fn only_times_limit_the_time() {
    check_budget(Dialect::Uci, "go depth 5", None, None);
    check_budget(Dialect::Uci, "go infinite wtime 1000", None, None);
    check_budget(Dialect::Uci, "go btime 1000", None, None);
    check_budget(Dialect::Usi, "go mate infinite", None, None);
}

#[test]
fn a_clock_is_divided_among_the_moves() {
    check_budget(Dialect::Uci, "go wtime 30010 btime 1", Some(600), Some(2400));
    check_budget(Dialect::Uci, "go wtime 30010 winc 1000", Some(1045), Some(4182));
    check_budget(Dialect::Uci, "go wtime 10010 movestogo 10", Some(1000), Some(4000));
    // Some GUIs send this for no moves to go.
    check_budget(Dialect::Uci, "go wtime 30010 movestogo 0", Some(600), Some(2400));
}

/// Both limits grow with the stage of the game, which a position states by its moves and its move number.
#[test]
fn openings_get_less_time_than_later_positions() {
    let board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    for (position, go, soft) in [
        (format!("fen {board} w KQkq - 0 1"), "go wtime 30010", 600),
        (format!("fen {board} b KQkq - 0 6"), "go btime 30010", 680),
        (format!("fen {board} w KQkq - 0 31"), "go wtime 30010", 1080),
        (format!("fen {board} w KQkq - 0 31 moves g1f3 g8f6"), "go wtime 30010", 1090),
        (format!("fen {board} w KQkq - 0 9999"), "go wtime 30010", 1500),
        (format!("fen {board} w KQkq - 0 31"), "go wtime 30010 movestogo 30", 1000),
    ] {
        let limits = [Some(soft), Some(4 * soft)];
        check_budget_in(&format!("position {position}"), Dialect::Uci, go, limits);
    }
    let board = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
    for (ply, soft) in [(1, 400), (11, 500), (61, 1000), (201, 1500)] {
        let position = format!("position sfen {board} b - {ply}");
        check_budget_in(&position, Dialect::Usi, "go btime 30010", [Some(soft), Some(4 * soft)]);
    }
}

/// The time of each move, and the rest of the clock, in a game in which each search uses one and a half of the soft limit, at
/// most the hard one. The times of the clock are in seconds.
fn clock_of_a_game(
    dialect: Dialect,
    [main, increment, byoyomi]: [u64; 3],
    moves: usize,
) -> (Vec<Duration>, Duration) {
    let [mut left, added, period] = [main, increment, byoyomi].map(Duration::from_secs);
    let mut times = Vec::new();
    for number in 0..moves {
        let millis = left.as_millis();
        let (shuffle, go) = match dialect {
            Dialect::Uci => ("a1a2", format!("go wtime {millis} winc {}", added.as_millis())),
            Dialect::Usi => {
                ("1a1b", format!("go btime {millis} wtime 1 byoyomi {}", period.as_millis()))
            }
        };
        let line = vec![shuffle; 2 * number].join(" ");
        let budget = budget(dialect, &format!("position startpos moves {line}"), &go);
        let used = (budget.soft.unwrap() * 3 / 2).min(budget.hard.unwrap());
        assert!(used <= left + period, "move {number}: {used:?} of {left:?}");
        left = left.saturating_sub(used) + added;
        times.push(used);
    }
    (times, left)
}

/// A clock with increments keeps a reserve for long games.
#[test]
fn a_clock_with_increments_is_not_used_up() {
    for (main, increment) in [(900, 10), (180, 2), (60, 1)] {
        for moves in [60, 80, 150] {
            let (_, left) = clock_of_a_game(Dialect::Uci, [main, increment, 0], moves);
            let minimum = Duration::from_secs(3 * increment);
            assert!(minimum < left, "{main}+{increment}: {left:?} after {moves} moves");
        }
    }
}

/// With ten minutes and 30 seconds of byoyomi, the main time is spent after the opening, on moves of about *e* periods.
#[test]
fn main_time_with_byoyomi_is_spent_on_a_few_long_moves() {
    let seconds = Duration::from_secs;
    let (times, left) = clock_of_a_game(Dialect::Usi, [600, 0, 30], 60);
    assert!(times[..15].iter().all(|time| *time <= seconds(10)), "{times:?}");
    let is_long = |at: &usize| (seconds(60)..seconds(130)).contains(&times[*at]);
    let long: Vec<usize> = (0..60).filter(is_long).collect();
    assert!((5..=8).contains(&long.len()), "{times:?}");
    assert!(long.iter().all(|at| (30..=80).contains(&(2 * at))), "{times:?}");
    assert!(times[45..].iter().all(|time| *time == Duration::from_millis(29_990)), "{times:?}");
    assert!(left < Duration::from_millis(100), "{left:?}");
}

/// With equal limits, an obvious move would take as long as any other.
#[test]
fn the_soft_limit_is_below_the_hard_limit() {
    check_budget(Dialect::Uci, "go wtime 10010 movestogo 1", Some(7_999), Some(8_000));
    check_budget(Dialect::Uci, "go wtime 10010 movestogo 2", Some(3_999), Some(4_000));
    check_budget(Dialect::Uci, "go wtime 110 winc 5000", Some(79), Some(80));
    // With a move overhead of 10 ms, the answer is sent after 18 ms.
    check_budget(Dialect::Uci, "go wtime 32 movestogo 1", Some(16), Some(17));
}

#[test]
fn a_clock_is_never_overrun() {
    check_budget(Dialect::Uci, "go wtime 40 winc 10", Some(1), Some(2));
    check_budget(Dialect::Uci, "go wtime 0", Some(1), Some(1));
    check_budget(Dialect::Uci, "go wtime -5000", Some(1), Some(1));
    check_budget(
        Dialect::Uci,
        "go wtime 9223372036854775807",
        Some(184_467_440_737_095_515),
        Some(737_869_762_948_382_063),
    );
}

#[test]
fn byoyomi_is_fully_used() {
    check_budget(Dialect::Usi, "go btime 0 wtime 0 byoyomi 1000", Some(990), Some(990));
    check_budget(Dialect::Usi, "go btime 30010 wtime 0 byoyomi 1000", Some(240), Some(600));
    // The clock would be empty after this move anyway.
    check_budget(Dialect::Usi, "go btime 510 wtime 0 byoyomi 1000", Some(1500), Some(1500));
    check_budget(Dialect::Usi, "go btime 1010 wtime 0 byoyomi 1000", Some(2000), Some(2000));
    check_budget(Dialect::Usi, "go btime 1060 wtime 0 byoyomi 1000", Some(150), Some(375));
    check_budget(Dialect::Usi, "go btime 0 wtime 0 binc 1000 winc 1000", Some(458), Some(792));
}

#[test]
fn the_smallest_limit_counts() {
    check_budget(Dialect::Uci, "go wtime 30010 movetime 2010", Some(600), Some(2000));
    check_budget(Dialect::Usi, "go mate 1010", Some(1000), Some(1000));
}
