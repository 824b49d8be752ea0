//! Parsing, formatting and validation of plans and time controls.

use std::time::Duration;

use readyok_arena::plan::{
    EngineTimeouts, HourglassProblem, Limits, Plan, PlanError, Protocol, TimeControl,
    TimeControlError,
};
use readyok_client::{Timeouts, WaitLimit};
use readyok_rules::Game;

use crate::sample;

fn check_control(text: &str, moves: Option<u32>, time_ms: u64, increment_ms: u64, written: &str) {
    let [time, increment] = [time_ms, increment_ms].map(Duration::from_millis);
    let control = TimeControl { moves, time, increment, hourglass: false };
    assert_eq!(text.parse(), Ok(control), "{text}");
    assert_eq!(control.to_string(), written);
    assert_eq!(written.parse(), Ok(control), "{written}");
}

#[test]
fn time_controls_are_read_as_other_runners_read_them() {
    check_control("10+0.1", None, 10_000, 100, "10+0.1");
    check_control("40/5:00", Some(40), 300_000, 0, "40/300");
    check_control("40/0:30.5+1", Some(40), 30_500, 1_000, "40/30.5+1");
    check_control(".5", None, 500, 0, "0.5");
    check_control("0+1", None, 0, 1_000, "0+1");
}

#[test]
fn an_hourglass_is_read_as_cutechess_reads_it() {
    for (text, time, written) in [("hg60", 60, "hg60"), ("hg1:30", 90, "hg90")] {
        let control: TimeControl = text.parse().expect(text);
        assert_eq!((control.time, control.hourglass), (Duration::from_secs(time), true));
        assert_eq!(control.to_string(), written);
    }
    for text in ["hg60+1", "40/hg60"] {
        assert_eq!(text.parse::<TimeControl>(), Err(TimeControlError::Hourglass), "{text}");
    }
    assert_eq!("hg0".parse::<TimeControl>(), Err(TimeControlError::Zero));
    assert!("60hg".parse::<TimeControl>().is_err());
}

#[test]
fn invalid_time_controls_are_rejected() {
    let time = |text: &str| Err::<TimeControl, _>(TimeControlError::Time(text.to_owned()));
    assert_eq!("0".parse::<TimeControl>(), Err(TimeControlError::Zero));
    assert_eq!("0/5".parse::<TimeControl>(), Err(TimeControlError::Moves("0".to_owned())));
    assert_eq!("x/5".parse::<TimeControl>(), Err(TimeControlError::Moves("x".to_owned())));
    for text in ["", "x", "-5", "1e3", "0.1234", "99999999999", "1.", "NaN"] {
        match text {
            "1." => assert!(text.parse::<TimeControl>().is_ok()),
            _ => assert_eq!(text.parse(), time(text), "{text}"),
        }
    }
}

#[test]
fn a_sequential_test_without_rounds_lasts_until_its_end() {
    let rounds = |more: &str, sprt: &str| {
        let text = format!("game = 'chess'\n{more}\nengines = []\n{sprt}");
        let plan = Plan::from_toml(&text).expect("a plan");
        (plan.rounds, plan.is_unlimited())
    };
    let test = "[sprt]\nelo0 = 0.0\nelo1 = 5.0";
    assert_eq!(rounds("", ""), (1, false));
    assert_eq!(rounds("", test), (Plan::UNLIMITED_ROUNDS, true));
    assert_eq!(rounds("rounds = 7", test), (7, false));
    // The engines determine the rounds of a knockout.
    assert_eq!(rounds("format = { kind = 'knockout' }", test), (1, false));
}

#[test]
fn a_plan_survives_toml() {
    let text = include_str!("data/plan/a_plan_survives_toml.txt");
    let plan: Plan = toml::from_str(text).expect("a plan");
    assert_eq!(plan.engines.len(), 2);
    let written = toml::to_string(&plan).expect("text");
    assert_eq!(toml::from_str::<Plan>(&written).expect(&written), plan);
    let unknown = toml::from_str::<Plan>("game = \"chess\"\nround = 1\n");
    assert!(unknown.expect_err("a misspelt field").to_string().contains("round"));
}

#[test]
fn the_plan_sets_the_timeouts_of_an_engine() {
    let read = |text: &str| toml::from_str::<EngineTimeouts>(text).expect(text);
    let usual = Timeouts::default();
    assert_eq!(read("").apply(usual), usual);
    let slow = read("ready_ms = 7200000").apply(usual);
    assert_eq!(slow.ready, WaitLimit::fixed(Duration::from_hours(2)));
    assert_eq!(slow.handshake, usual.handshake);
    let quick = read("handshake_ms = 500").apply(usual);
    assert_eq!(
        quick.handshake,
        WaitLimit { silence: Duration::from_millis(500), ..usual.handshake }
    );
    let endless = read(&format!("handshake_ms = {}", i64::MAX)).apply(usual);
    assert_eq!(endless.handshake, WaitLimit::fixed(Duration::from_hours(24)));
}

fn check_plan(change: impl FnOnce(&mut Plan), expected: &Result<(), PlanError>) {
    let mut plan = sample::plan(&["a", "b"], 1);
    for engine in &mut plan.engines {
        engine.limits = Limits { nodes: Some(1), ..Limits::default() };
    }
    change(&mut plan);
    assert_eq!(&plan.check(), expected);
}

#[test]
fn a_plan_with_an_unusable_hourglass_is_rejected() {
    let zero = |field| Err(PlanError::ZeroLimit { engine: "b".to_owned(), field });
    check_plan(|_| (), &Ok(()));
    let none = Err(PlanError::NoLimit { engine: "b".to_owned() });
    check_plan(|plan| plan.engines[1].limits = Limits { margin_ms: 1, ..Limits::default() }, &none);
    check_plan(|plan| plan.engines[1].limits.nodes = Some(0), &zero("nodes"));
    check_plan(|plan| plan.engines[1].limits.depth = Some(0), &zero("depth"));
    check_plan(|plan| plan.engines[1].limits.move_time_ms = Some(0), &zero("move_time_ms"));
    check_plan(|plan| plan.engines[1].limits.byoyomi_ms = Some(0), &zero("byoyomi_ms"));
    let clock = Limits { byoyomi_ms: Some(0), tc: "10".parse().ok(), ..Limits::default() };
    check_plan(|plan| plan.engines[1].limits = clock, &Ok(()));
    let hourglass = |plan: &mut Plan| {
        let limits = Limits { tc: "hg60".parse().ok(), ..Limits::default() };
        plan.engines.iter_mut().for_each(|engine| engine.limits = limits);
    };
    let rejected = |problem| Err(PlanError::Hourglass { engine: "a".to_owned(), problem });
    check_plan(hourglass, &Ok(()));
    let others = |plan: &mut Plan| {
        hourglass(plan);
        plan.engines[1].limits = Limits { tc: "60".parse().ok(), ..Limits::default() };
    };
    check_plan(others, &rejected(HourglassProblem::Others));
    let byoyomi = |plan: &mut Plan| {
        hourglass(plan);
        plan.engines[0].limits.byoyomi_ms = Some(1000);
    };
    check_plan(byoyomi, &rejected(HourglassProblem::Byoyomi));
    let ponder = |plan: &mut Plan| {
        hourglass(plan);
        plan.engines[0].ponder = true;
    };
    check_plan(ponder, &rejected(HourglassProblem::Ponder));
    let usi = |plan: &mut Plan| plan.engines[1].protocol = Some(Protocol::Usi);
    check_plan(usi, &Err(PlanError::UsiInChess { engine: "b".to_owned() }));
    // Only the reader of a plan file reads other files.
    let file = |plan: &mut Plan| plan.engines[1].options_file = Some("tuned.toml".into());
    check_plan(file, &Err(PlanError::OptionsFile { engine: "b".to_owned() }));
    let shogi = |plan: &mut Plan| {
        plan.game = Game::Shogi;
        usi(plan);
    };
    check_plan(shogi, &Ok(()));
    let same = Err(PlanError::SameName { name: "a".to_owned() });
    check_plan(|plan| plan.engines[1].name = "a".to_owned(), &same);
}
