//! Properties of values: scores, clocks, option names.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use readyok_protocol::{
    Clock, Clocks, Color, Command, Convention, Dialect, Fen, Go, MateLimit, Move, MoveList,
    OptionDecl, OptionError, OptionValue, PositionErrorKind, Reply, Score, SetOption, Sfen,
};

fn score() -> impl Strategy<Value = Score> {
    prop_oneof![
        any::<i32>().prop_map(Score::Cp),
        (1..40u32).prop_map(|plies| Score::MateIn { plies }),
        (1..40u32).prop_map(|plies| Score::MatedIn { plies }),
        select(vec![Score::Mated, Score::MatedInUnknown, Score::MateInUnknown, Score::MateGiven]),
    ]
}

fn clock() -> impl Strategy<Value = Clock> {
    let convention = select(vec![Convention::IncrementIncluded, Convention::IncrementToCome]);
    // Beyond this range the sums saturate.
    let millis = || prop_oneof![-(1i64 << 60)..1 << 60, -10i64..1_000_000];
    (millis(), millis(), millis(), prop::option::of(any::<u32>()), convention).prop_map(
        |(remaining, increment, byoyomi, moves_to_go, convention)| Clock {
            remaining,
            increment,
            byoyomi,
            moves_to_go,
            convention,
        },
    )
}

#[test]
fn time_limits_are_written_in_milliseconds_rounded_up() {
    for (time, millis) in [
        (Duration::ZERO, 0),
        (Duration::from_nanos(1), 1),
        (Duration::from_millis(1), 1),
        (Duration::from_micros(1_001), 2),
        (Duration::from_millis(u64::MAX), i64::MAX),
        (Duration::MAX, i64::MAX),
    ] {
        let mate = Some(MateLimit::Time(time));
        let go = Go { move_time: Some(time), random_time: Some(time), mate, ..Go::default() };
        let mut line = String::new();
        Command::Go(go).write(Dialect::Usi, &mut line).unwrap();
        assert_eq!(line, format!("go mate {millis} movetime {millis} rtime {millis}"));
    }
}

#[test]
fn scores_are_ordered_from_mated_to_mate_given() {
    let ordered = [
        Score::Mated,
        Score::MatedIn { plies: 2 },
        Score::MatedIn { plies: 4 },
        Score::MatedInUnknown,
        Score::Cp(i32::MIN),
        Score::Cp(0),
        Score::Cp(i32::MAX),
        Score::MateInUnknown,
        Score::MateIn { plies: 3 },
        Score::MateIn { plies: 1 },
        Score::MateGiven,
    ];
    assert!(ordered.is_sorted());
    assert!(ordered.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn a_score_is_displayed_in_moves() {
    let shown = [
        (Score::Cp(-5), "-0.05"),
        (Score::Cp(123), "+1.23"),
        (Score::Cp(i32::MIN), "-21474836.48"),
        (Score::MateIn { plies: 5 }, "#3"),
        (Score::MatedIn { plies: 4 }, "#-2"),
        (Score::Mated, "#-0"),
        (Score::MateGiven, "#+0"),
        (Score::MateInUnknown, "#+?"),
    ];
    for (score, text) in shown {
        assert_eq!(score.to_string(), text);
    }
}

#[test]
fn clocks_use_the_larger_byoyomi_and_the_shorter_period() {
    let white = Clock { remaining: 1_000, byoyomi: 5, moves_to_go: Some(4), ..Clock::default() };
    let black = Clock { remaining: 2_000, byoyomi: 7, moves_to_go: Some(3), ..Clock::default() };
    let clocks = Clocks::new(white, black);
    assert_eq!((clocks.byoyomi, clocks.moves_to_go), (Some(7), Some(3)));
    assert_eq!(clocks.of(Color::Black).unwrap().remaining, 2_000);
    assert!(Clocks::default().is_empty());
    assert_eq!(Clocks::default().of(Color::White), None);
}

#[test]
fn usi_option_names_have_their_own_spelling_and_comparison() {
    for (uci, usi) in [
        ("Hash", "USI_Hash"),
        ("Ponder", "USI_Ponder"),
        ("OwnBook", "USI_OwnBook"),
        ("MultiPV", "MultiPV"),
        ("UCI_AnalyseMode", "USI_AnalyseMode"),
        ("Move Overhead", "Move_Overhead"),
    ] {
        assert_eq!(Dialect::Usi.option_name(uci).to_string(), usi);
        assert_eq!(Dialect::Uci.option_name(uci).to_string(), uci);
        assert!(Dialect::Usi.same_option(uci, usi), "{uci} and {usi}");
        assert!(Dialect::Usi.same_option(&usi.to_lowercase(), usi));
    }
    assert!(Dialect::Uci.same_option("clear  hash", "Clear Hash"));
    assert!(!Dialect::Uci.same_option("Clear_Hash", "Clear Hash"));
    assert!(!Dialect::Uci.same_option("UCI_Hash", "Hash"));
}

#[test]
fn a_value_is_checked_against_its_declaration() {
    let spin = OptionDecl::spin("Hash", 16, 1, 128);
    assert_eq!(spin.value(Some("+32")), Ok(OptionValue::Spin(32)));
    assert!(matches!(spin.value(Some("129")), Err(OptionError::OutOfRange { value: 129, .. })));
    assert!(matches!(spin.value(Some("1e2")), Err(OptionError::NotAnInteger { .. })));
    assert!(matches!(spin.value(None), Err(OptionError::MissingValue { .. })));
    let combo = OptionDecl::combo("Book", "", ["", "Small"]);
    assert_eq!(combo.value(Some("small")), Ok(OptionValue::Text("Small".into())));
    assert_eq!(combo.value(Some("<empty>")), Ok(OptionValue::Text(String::new())));
    assert!(matches!(combo.value(Some("Big")), Err(OptionError::UnknownChoice { .. })));
    let text = OptionDecl::string("Path", "");
    assert_eq!(text.value(Some("<empty>")), Ok(OptionValue::Text(String::new())));
    assert!(matches!(text.value(Some("a\nquit")), Err(OptionError::LineBreak { .. })));
    let check = OptionDecl::check("Ponder", false);
    assert_eq!(check.value(Some("TRUE")), Ok(OptionValue::Check(true)));
    assert!(matches!(check.value(Some("1")), Err(OptionError::NotABoolean { .. })));
    let button = OptionDecl::button("Clear Hash");
    assert_eq!(button.value(None), Ok(OptionValue::Pressed));
    assert!(matches!(button.value(Some("x")), Err(OptionError::OptionIsButton { .. })));
}

#[test]
fn an_ambiguous_setoption_is_split_at_an_option_name() {
    let sent = SetOption { name: "draw".into(), value: Some("value 3".into()) };
    let resolved = sent.clone().resolved(|name| name == "draw value");
    assert_eq!((&*resolved.name, resolved.value.as_deref()), ("draw value", Some("3")));
    assert_eq!(sent.clone().resolved(|_| false), sent);
}

#[test]
fn a_list_of_moves_rejects_keywords() {
    let mut list = MoveList::EMPTY;
    for token in ["depth", "moves", "score", "", "a b", "a\n"] {
        list.push_token(token).unwrap_err();
    }
    list.push_token("E7E8Q").unwrap();
    list.push_token("rep_draw").unwrap();
    assert_eq!((list.as_str(), list.len(), list.moves().count()), ("e7e8q rep_draw", 2, 1));
    assert!(list.pop() && list.pop() && !list.pop());
}

#[test]
fn moves_are_added_one_by_one_or_together() {
    let tokens = ["e2e4", "e7e8q", "P@e4", "a10j10q", "7g7f", "8h2b+", "0000"];
    let moves: Vec<Move> = tokens.iter().map(|token| token.parse().unwrap()).collect();
    for count in 0..300 {
        let some = || moves.iter().copied().cycle().take(count);
        let mut single = MoveList::EMPTY;
        some().for_each(|mv| single.push(mv));
        let mut extended: MoveList<'_> = some().take(3).collect();
        extended.extend(some().skip(3));
        assert_eq!((&extended, some().collect()), (&single, single.clone()), "{count}");
        let expected: Vec<_> = tokens.iter().copied().cycle().take(count).collect();
        assert_eq!(single.as_str(), expected.join(" "));
    }
}

#[test]
fn a_chess_board_has_eight_ranks_of_eight_files() {
    for board in ["8/8/8/8/8/8/8/8", "rnb1kbnr/pppp1ppp/8/8/8/8/PPPP1PPP/RNB1KBNR[QPqp]"] {
        Fen::chess(&format!("{board} w - - 0 1")).unwrap();
    }
    for (board, kind) in [
        ("8/8/8", PositionErrorKind::RankCount),
        ("8/8/8/8/8/8/8/8/8", PositionErrorKind::RankCount),
        ("9/9/9/9/9/9/9/9", PositionErrorKind::RankLength),
        ("10/10/10/10/10/10/10/10", PositionErrorKind::RankLength),
    ] {
        let text = format!("{board} w - - 0 1");
        Fen::new(&text).unwrap();
        let error = Fen::chess(&text).unwrap_err();
        assert_eq!((error.kind, &*error.text), (kind, board));
    }
    assert_eq!(
        Fen::chess("8/8/8 w - - 0 1").unwrap_err().to_string(),
        "wrong number of ranks: `8/8/8` at bytes 1 to 5"
    );
    // SFEN has one size.
    assert!(Sfen::new("9/9/9 b - 1").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scores_are_totally_ordered(a in score(), b in score(), c in score()) {
        prop_assert_eq!(a == b, a.cmp(&b).is_eq());
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert!(!(a <= b && b <= c) || a <= c);
    }

    #[test]
    fn negation_reverses_the_order_of_scores(a in score(), b in score()) {
        prop_assert!(a > b || b.negated() <= a.negated());
        prop_assert_eq!(a.negated().is_mate(), a.is_mate());
    }

    #[test]
    fn a_budget_does_not_depend_on_the_convention(clock in clock()) {
        let to_come = clock.in_convention(Convention::IncrementToCome);
        let both = to_come.in_convention(Convention::IncrementIncluded);
        prop_assert_eq!(clock.budget(), to_come.budget());
        prop_assert_eq!(to_come.budget(), both.budget());
    }
}

#[test]
fn moves_without_effect_are_not_played() {
    for (line, dialect, played) in [
        ("bestmove e2e4", Dialect::Uci, Some("e2e4")),
        ("bestmove a1a1", Dialect::Uci, None),
        ("bestmove 0000", Dialect::Uci, None),
        ("bestmove (none)", Dialect::Uci, None),
        ("bestmove 7g7f", Dialect::Usi, Some("7g7f")),
        ("bestmove 5e5e", Dialect::Usi, None),
        ("bestmove P*5e", Dialect::Usi, Some("P*5e")),
        ("bestmove resign", Dialect::Usi, None),
    ] {
        let reading = Reply::read(line, dialect);
        let Reply::BestMove(best) = &reading.value else { panic!("{line}") };
        assert_eq!(best.best.to_move().map(String::from).as_deref(), played, "{line}");
        let mut written = String::new();
        reading.value.write(dialect, &mut written).unwrap();
        assert_eq!(written, line, "the token is kept");
    }
}
