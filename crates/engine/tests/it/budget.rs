//! Time budgets.

use std::time::Duration;

use readyok_engine::protocol::{Command, Dialect, Position};
use readyok_engine::{Budget, SearchRequest};

/// Checks the soft and the hard limit of the first player in milliseconds.
#[track_caller]
fn check_budget(dialect: Dialect, go: &str, soft: Option<u64>, hard: Option<u64>) {
    let Command::Go(go) = Command::read(go, dialect).value.into_owned() else { panic!("{go}") };
    let request = SearchRequest::new(dialect, Position::default(), go);
    let budget = Budget::new(&request, Duration::from_millis(10));
    let millis = |limit: Option<Duration>| limit.map(|limit| limit.as_millis().try_into().unwrap());
    assert_eq!((millis(budget.soft), millis(budget.hard)), (soft, hard));
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
    check_budget(Dialect::Uci, "go wtime 30010 btime 1", Some(1000), Some(4000));
    check_budget(Dialect::Uci, "go wtime 30010 winc 1000", Some(1742), Some(6970));
    check_budget(Dialect::Uci, "go wtime 10010 movestogo 10", Some(1000), Some(4000));
    // Some GUIs send this for no moves to go.
    check_budget(Dialect::Uci, "go wtime 30010 movestogo 0", Some(1000), Some(4000));
}

/// With equal limits, an obvious move would take as long as any other.
#[test]
fn the_soft_limit_is_below_the_hard_limit() {
    check_budget(Dialect::Uci, "go wtime 10010 movestogo 1", Some(9_999), Some(10_000));
    check_budget(Dialect::Uci, "go wtime 10010 movestogo 2", Some(3_999), Some(4_000));
    check_budget(Dialect::Uci, "go wtime 110 winc 5000", Some(79), Some(80));
}

#[test]
fn a_clock_is_never_overrun() {
    check_budget(Dialect::Uci, "go wtime 40 winc 10", Some(1), Some(4));
    check_budget(Dialect::Uci, "go wtime 0", Some(1), Some(1));
    check_budget(Dialect::Uci, "go wtime -5000", Some(1), Some(1));
    check_budget(
        Dialect::Uci,
        "go wtime 9223372036854775807",
        Some(307_445_734_561_825_859),
        Some(1_229_782_938_247_303_439),
    );
}

#[test]
fn byoyomi_is_fully_used() {
    check_budget(Dialect::Usi, "go btime 0 wtime 0 byoyomi 1000", Some(990), Some(990));
    check_budget(Dialect::Usi, "go btime 30010 wtime 0 byoyomi 1000", Some(2000), Some(5000));
    // The clock would be empty after this move anyway.
    check_budget(Dialect::Usi, "go btime 510 wtime 0 byoyomi 1000", Some(1500), Some(1500));
    check_budget(Dialect::Usi, "go btime 1040 wtime 0 byoyomi 1000", Some(2030), Some(2030));
    check_budget(Dialect::Usi, "go btime 1060 wtime 0 byoyomi 1000", Some(1035), Some(1140));
    check_budget(Dialect::Usi, "go btime 0 wtime 0 binc 1000 winc 1000", Some(775), Some(792));
}

#[test]
fn the_smallest_limit_counts() {
    check_budget(Dialect::Uci, "go wtime 30010 movetime 2010", Some(1000), Some(2000));
    check_budget(Dialect::Usi, "go mate 1010", Some(1000), Some(1000));
}
