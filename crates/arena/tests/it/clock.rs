//! Clocks: properties of all time controls, and clock arguments of `go`.

use std::time::Duration;

use proptest::prelude::*;
use readyok_arena::game::{Answer, Decision, PlayerClock, Referee, Verdict, go};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{Adjudication, Limits, TimeControl};
use readyok_arena::result::GameEnd;
use readyok_protocol::{Command, Dialect};
use readyok_rules::{Game, Side};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn tc(text: &str) -> Limits {
    Limits { tc: Some(text.parse().expect(text)), ..Limits::default() }
}

/// Spends milliseconds move by move, and compares the remaining time after each.
fn check(limits: Limits, game: Game, moves: &[(u64, u64)]) {
    let mut clock = PlayerClock::new(limits, game);
    for &(used, left) in moves {
        clock.spend(ms(used)).expect("in time");
        assert_eq!(clock.left(), Some(ms(left)), "after {used} ms of {limits:?}");
    }
}

#[test]
fn increments_follow_moves_in_chess_and_precede_them_in_shogi() {
    check(tc("10+0.1"), Game::Chess, &[(1_000, 9_100), (9_100, 100), (0, 200)]);
    check(tc("10+0.1"), Game::Shogi, &[(1_000, 9_200), (9_200, 100), (0, 200)]);
    assert_eq!(PlayerClock::new(tc("10+0.1"), Game::Chess).budget(), Some(ms(10_000)));
    assert_eq!(PlayerClock::new(tc("10+0.1"), Game::Shogi).budget(), Some(ms(10_100)));
    // Otherwise the first move would have no time.
    check(tc("0+1"), Game::Chess, &[(400, 1_600), (1_600, 1_000)]);
    for game in [Game::Chess, Game::Shogi] {
        let clock = PlayerClock::new(tc("10+0.1"), game).with_first_increment();
        assert_eq!(clock.budget(), Some(ms(10_100)), "as with fastchess");
    }
}

#[test]
fn adds_time_after_each_time_control() {
    check(tc("2/10"), Game::Chess, &[(4_000, 6_000), (6_000, 10_000), (0, 10_000), (0, 20_000)]);
    check(tc("1/1+1"), Game::Chess, &[(1_000, 2_000), (500, 3_500)]);
}

#[test]
fn unused_byoyomi_does_not_accumulate() {
    let limits = Limits { byoyomi_ms: Some(1_000), ..tc("3") };
    check(limits, Game::Shogi, &[(2_000, 1_000), (1_900, 0), (1_000, 0), (10, 0)]);
    let mut clock = PlayerClock::new(limits, Game::Shogi);
    assert_eq!(clock.budget(), Some(ms(4_000)));
    clock.spend(ms(3_999)).expect("in time");
    assert_eq!(clock.budget(), Some(ms(1_000)));
    let only = Limits { byoyomi_ms: Some(1_000), ..Limits::default() };
    assert_eq!(PlayerClock::new(only, Game::Shogi).budget(), Some(ms(1_000)));
}

#[test]
fn the_shortest_limit_applies() {
    let limits = Limits { move_time_ms: Some(500), ..tc("10") };
    let mut clock = PlayerClock::new(limits, Game::Chess);
    assert_eq!(clock.budget(), Some(ms(500)));
    clock.spend(ms(501)).expect_err("too long for a move");
    let mut clock = PlayerClock::new(limits, Game::Chess);
    for _ in 0..20 {
        clock.spend(ms(500)).expect("in time");
    }
    assert_eq!(clock.budget(), Some(Duration::ZERO));
}

#[test]
fn limits_of_nodes_and_depth_have_no_clock() {
    let limits = Limits { nodes: Some(1), depth: Some(1), ..Limits::default() };
    let mut clock = PlayerClock::new(limits, Game::Chess);
    clock.spend(ms(1_000_000)).expect("no clock");
    assert_eq!((clock.budget(), clock.deadline(), clock.left()), (None, None, None));
}

#[test]
fn tolerates_an_overrun_within_the_margin() {
    let mut clock = PlayerClock::new(Limits { margin_ms: 50, ..tc("1+0.5") }, Game::Chess);
    clock.spend(ms(1_050)).expect("within the margin");
    assert_eq!(clock.left(), Some(ms(500)));
    let overrun = clock.spend(ms(551)).expect_err("past it");
    assert_eq!(overrun.late, ms(51));
}

#[test]
fn any_late_answer_loses() {
    for answer in [Answer::Move("e2e4"), Answer::Move("e2e5"), Answer::Resign, Answer::Declare] {
        let rules = Adjudication::default();
        let limits = [tc("1"), tc("2")];
        let mut referee =
            Referee::new(Game::Chess, &Opening::default(), limits, &rules, None).expect("a start");
        assert_eq!(referee.deadline(), Some(ms(1_000)));
        assert_eq!(referee.on_timeout(ms(1_000)), Verdict::Continue);
        let fraction = Duration::from_micros(1_000_999);
        assert_eq!(referee.on_timeout(fraction), Verdict::Continue, "whole milliseconds count");
        let in_time = referee.clone().on_answer(Answer::Move("e2e4"), fraction, None);
        assert_eq!(in_time, Verdict::Continue);
        let late = ms(1_001);
        let forfeit = |winner, late_us| {
            let termination = GameEnd::time_forfeit(late_us);
            Verdict::Over(Decision { winner: Some(winner), end: termination })
        };
        assert_eq!(referee.clone().on_timeout(late), forfeit(Side::Second, 1_000));
        assert_eq!(referee.clone().on_answer(answer, late, None), forfeit(Side::Second, 1_000));
        referee.on_answer(Answer::Move("e2e4"), ms(1_000), None);
        assert_eq!(referee.deadline(), Some(ms(2_000)));
        assert_eq!(referee.on_answer(answer, ms(2_003), None), forfeit(Side::First, 3_000));
    }
}

fn check_go(limits: [Limits; 2], game: Game, side: Side, dialect: Dialect, expected: &str) {
    let [first, second] = limits.map(|limits| PlayerClock::new(limits, game));
    let (own, other) = match side {
        Side::First => (first, second),
        Side::Second => (second, first),
    };
    let mut text = String::new();
    let command = Command::Go(go(&own, &other, side, dialect));
    command.write(dialect, &mut text).expect("it can be written");
    assert_eq!(text, expected, "{limits:?}");
}

#[test]
fn sends_clocks_in_the_convention_of_the_protocol() {
    use Dialect::{Uci, Usi};
    use Side::{First, Second};
    let (fast, slow) = (tc("10+0.1"), tc("60+1"));
    let chess = |limits, side, text| check_go(limits, Game::Chess, side, Uci, text);
    chess([fast, slow], First, "go wtime 10000 btime 60000 winc 100 binc 1000");
    chess([fast, slow], Second, "go wtime 10000 btime 60000 winc 100 binc 1000");
    chess([tc("40/60"), tc("10")], First, "go wtime 60000 btime 10000 movestogo 40");
    chess([tc("40/60"), tc("10")], Second, "go wtime 60000 btime 10000");
    let nodes = Limits { nodes: Some(7), ..Limits::default() };
    chess([nodes, fast], First, "go nodes 7");
    chess([nodes, fast], Second, "go btime 10000 binc 100");
    chess(
        [Limits { move_time_ms: Some(50), ..fast }, fast],
        First,
        "go wtime 10000 btime 10000 winc 100 binc 100 movetime 50",
    );
    let shogi = |limits, side, dialect, text| check_go(limits, Game::Shogi, side, dialect, text);
    shogi([fast, slow], First, Usi, "go btime 10000 wtime 60000 binc 100 winc 1000");
    shogi([fast, slow], Second, Usi, "go btime 10000 wtime 60000 binc 100 winc 1000");
    shogi([fast, slow], First, Uci, "go wtime 10100 btime 61000 winc 100 binc 1000");
    let byoyomi = Limits { byoyomi_ms: Some(2_000), ..tc("30") };
    shogi([byoyomi; 2], First, Usi, "go btime 30000 wtime 30000 byoyomi 2000");
    shogi([byoyomi; 2], First, Uci, "go wtime 32000 btime 32000 winc 2000 binc 2000");
    shogi([byoyomi, fast], First, Usi, "go btime 30000 wtime 10100 byoyomi 2000");
    shogi([byoyomi, fast], Second, Usi, "go btime 30000 wtime 10000 binc 2000 winc 100");
    let only = Limits { byoyomi_ms: Some(500), ..Limits::default() };
    shogi([only; 2], Second, Usi, "go btime 0 wtime 0 byoyomi 500");
}

prop_compose! {
    fn limits()(
        moves in proptest::option::of(1..50_u32),
        time in 0..100_000_u64,
        increment in 0..5_000_u64,
        has_tc: bool,
        byoyomi_ms in proptest::option::of(0..5_000_u64),
        move_time_ms in proptest::option::of(1..5_000_u64),
        margin_ms in 0..200_u64,
    ) -> Limits {
        let tc = TimeControl { moves, time: ms(time), increment: ms(increment), hourglass: false };
        let tc = has_tc.then_some(tc);
        Limits { tc, byoyomi_ms, move_time_ms, margin_ms, ..Limits::default() }
    }
}

proptest! {
    /// The budget is consistent with the time spent, an increment never reduces it, and the flag falls exactly after
    /// the deadline, in whole milliseconds.
    #[test]
    fn the_flag_falls_exactly_after_the_deadline(
        limits in limits(),
        shogi: bool,
        parts in proptest::collection::vec(0..=1_000_u32, 1..80),
    ) {
        let game = if shogi { Game::Shogi } else { Game::Chess };
        let mut clock = PlayerClock::new(limits, game);
        for part in parts {
            let Some((budget, deadline)) = clock.budget().zip(clock.deadline()) else {
                prop_assert!(clock.left().is_none() && limits.move_time_ms.is_none());
                return Ok(());
            };
            prop_assert_eq!(deadline, budget + ms(limits.margin_ms));
            let overrun = clock.clone().spend(deadline + ms(1)).map_err(|overrun| overrun.late);
            prop_assert_eq!(overrun, Err(ms(limits.margin_ms + 1)));
            prop_assert!(clock.clone().spend(deadline + Duration::from_micros(999)).is_ok());
            let before = clock.left();
            let used = deadline * part / 1_000;
            prop_assert!(clock.spend(used).is_ok());
            let used = ms(u64::try_from(used.as_millis()).unwrap_or(u64::MAX));
            if let Some((before, left)) = before.zip(clock.left()) {
                let increment = limits.tc.map_or(Duration::ZERO, |tc| tc.increment);
                let least = before.saturating_sub(used) + increment;
                let most = least + limits.tc.map_or(Duration::ZERO, |tc| tc.time);
                prop_assert!(left == least || left == most);
            }
        }
    }

    /// The values of `go` never exceed the budget.
    #[test]
    fn sent_clocks_never_exceed_the_budget(
        limits in [limits(), limits()],
        first: bool,
        usi: bool,
    ) {
        let clocks = limits.map(|limits| PlayerClock::new(limits, Game::Shogi));
        let side = if first { Side::First } else { Side::Second };
        let [own, other] = &clocks;
        let dialect = if usi { Dialect::Usi } else { Dialect::Uci };
        let go = go(own, other, side, dialect);
        let mut text = String::new();
        prop_assert!(Command::Go(go.clone()).write(dialect, &mut text).is_ok(), "{:?}", go);
        let color = match (side, dialect) {
            (Side::First, Dialect::Uci) | (Side::Second, Dialect::Usi) => readyok_protocol::Color::White,
            _ => readyok_protocol::Color::Black,
        };
        if let Some(sent) = go.clocks.of(color).filter(|_| limits[0].move_time_ms.is_none()) {
            prop_assert_eq!(Some(sent.budget()), own.budget());
        }
    }
}
