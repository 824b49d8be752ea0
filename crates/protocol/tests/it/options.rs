//! Known options, and option values with a syntax of their own.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use proptest::prelude::*;
use readyok_protocol::{
    Command, Dialect, Fen, KnownOption, Language, Opponent, OpponentError, OpponentKind,
    OptionDecl, OptionSet, PathList, PathListError, PathSeparator, PositionValue,
    PositionValueError, Reply, SetBy, Title,
};

/// Parses the value of a `setoption` line.
#[track_caller]
fn set<T: FromStr<Err: Debug>>(line: &str, option: KnownOption) -> T {
    let Command::SetOption(set) = Command::read(line, Dialect::Uci).strict().unwrap() else {
        panic!("`{line}` sets no option");
    };
    assert_eq!(KnownOption::find(&set.name, Dialect::Uci), Some(option));
    set.value.unwrap().parse().unwrap()
}

#[track_caller]
fn check_round_trip<T: FromStr<Err: Debug> + Display + Debug + PartialEq>(value: &T) {
    assert_eq!(&value.to_string().parse::<T>().unwrap(), value);
}

#[track_caller]
fn check_hidden(dialect: Dialect, name: &str, hidden: bool) {
    assert_eq!(dialect.hides_option(name), hidden, "{name} in {dialect:?}");
}

fn declared(line: &str, dialect: Dialect) -> OptionDecl<'_> {
    match Reply::read(line, dialect).value {
        Reply::Option(decl) => decl,
        other => panic!("`{line}` is {other:?}"),
    }
}

#[test]
fn each_option_is_found_by_its_name_in_both_dialects() {
    for dialect in Dialect::ALL {
        for &option in KnownOption::ALL {
            let name = dialect.option_name(option.name()).to_string();
            assert_eq!(KnownOption::find(&name, dialect), Some(option), "{name}");
            assert_eq!(KnownOption::find(&name.to_lowercase(), dialect), Some(option), "{name}");
        }
    }
}

#[test]
fn an_option_is_found_in_either_spelling_in_usi() {
    for name in ["Hash", "USI_Hash", "usi_hash"] {
        assert_eq!(KnownOption::find(name, Dialect::Usi), Some(KnownOption::Hash));
    }
    for name in ["MultiPV", "USI_MultiPV"] {
        assert_eq!(KnownOption::find(name, Dialect::Usi), Some(KnownOption::MultiPv));
    }
    for name in ["Debug_Log_File", "DebugLogFile"] {
        assert_eq!(KnownOption::find(name, Dialect::Usi), Some(KnownOption::DebugLogFile));
    }
    assert_eq!(KnownOption::find("USI_Hash", Dialect::Uci), None);
    assert_eq!(KnownOption::find("", Dialect::Usi), None);
}

#[test]
fn each_option_is_described_in_each_language() {
    for &option in KnownOption::ALL {
        assert!(!option.clause().is_empty());
        for language in Language::ALL {
            let (label, text) = (option.label(language), option.description(language));
            assert!((1..=40).contains(&label.chars().count()), "{option:?}: {label}");
            assert!((1..=100).contains(&text.chars().count()), "{option:?}: {text}");
            assert!(!text.ends_with(['.', '。']), "{option:?}: {text}");
        }
        assert!(option.description(Language::English).is_ascii());
        assert!(!option.description(Language::Japanese).is_ascii());
    }
}

#[test]
fn no_two_options_have_the_same_label() {
    for language in Language::ALL {
        let mut labels: Vec<_> =
            KnownOption::ALL.iter().map(|option| option.label(language)).collect();
        labels.sort_unstable();
        let all = labels.len();
        labels.dedup();
        assert_eq!(labels.len(), all);
    }
}

/// UCI 2006 and USI draft 1, option: types of the options with a fixed meaning; The UCI Protocol,
/// option: the conventional ones.
#[test]
fn known_options_have_the_types_of_the_specifications() {
    let uci = [
        "option name Hash type spin default 1 min 1 max 128",
        "option name NalimovPath type string default <empty>",
        "option name NalimovCache type spin default 1 min 1 max 32",
        "option name Ponder type check default false",
        "option name OwnBook type check default false",
        "option name MultiPV type spin default 1 min 1 max 256",
        "option name UCI_ShowCurrLine type check default false",
        "option name UCI_ShowRefutations type check default false",
        "option name UCI_LimitStrength type check default false",
        "option name UCI_Elo type spin default 1320 min 1320 max 3190",
        "option name UCI_AnalyseMode type check default false",
        "option name UCI_Opponent type string default <empty>",
        "option name UCI_EngineAbout type string default Shredder by Stefan Meyer-Kahlen",
        "option name UCI_ShredderbasesPath type string default <empty>",
        "option name UCI_SetPositionValue type string default <empty>",
        "option name UCI_Chess960 type check default false",
        "option name Threads type spin default 1 min 1 max 1024",
        "option name Clear Hash type button",
        "option name Move Overhead type spin default 10 min 0 max 5000",
        "option name SyzygyPath type string default <empty>",
        "option name Debug Log File type string default <empty>",
    ];
    let usi = [
        "option name USI_Hash type spin default 16 min 8 max 1024",
        "option name USI_Ponder type check default false",
        "option name USI_Strength type spin default 1 min -10 max 6",
        "option name USI_AnalyseMode type check default false",
    ];
    let uci = uci.map(|line| (line, Dialect::Uci));
    let usi = usi.map(|line| (line, Dialect::Usi));
    for (line, dialect) in uci.into_iter().chain(usi) {
        let decl = declared(line, dialect);
        let known = KnownOption::find(&decl.name, dialect).expect(line);
        assert_eq!(decl.kind.option_type(), Some(known.option_type()), "{line}");
    }
}

/// UCI 2006 and USI draft 1, option name: options that are set automatically, and unknown ones
/// with the prefix, are not shown.
#[test]
fn options_with_special_treatment_are_hidden() {
    for name in ["Ponder", "MultiPV", "UCI_AnalyseMode", "UCI_Opponent", "UCI_Variant"] {
        check_hidden(Dialect::Uci, name, true);
    }
    for name in ["USI_Ponder", "USI_AnalyseMode", "MultiPV", "USI_MultiPV"] {
        check_hidden(Dialect::Usi, name, true);
    }
    for dialect in Dialect::ALL {
        for name in ["UCI_Unheard", "uci_unheard", "UCI_EngineAbout", "UCI_SetPositionValue"] {
            check_hidden(dialect, name, true);
        }
        for name in ["UCI_Elo", "Hash", "OwnBook", "Style", "Ucinate", "UCI"] {
            check_hidden(dialect, name, false);
        }
    }
    check_hidden(Dialect::Usi, "USI_Unheard", true);
    check_hidden(Dialect::Uci, "USI_Unheard", false);
    check_hidden(Dialect::Usi, "USI_Hash", false);
}

#[test]
fn the_client_sets_options_of_the_game_and_the_search() {
    let managed: Vec<_> = KnownOption::ALL
        .iter()
        .filter(|option| option.set_by() == SetBy::Client)
        .map(|option| option.name())
        .collect();
    assert_eq!(
        managed,
        ["Ponder", "MultiPV", "UCI_AnalyseMode", "UCI_Opponent", "UCI_Chess960", "UCI_Variant"],
    );
}

/// UCI 2006, option, `UCI_Opponent`: both examples.
#[test]
fn opponents_are_read_from_the_examples() {
    let kasparov: Opponent =
        set("setoption name UCI_Opponent value GM 2800 human Gary Kasparov", KnownOption::Opponent);
    assert_eq!(
        Ok(kasparov),
        Opponent::new(Some(Title::GM), Some(2800), OpponentKind::Human, "Gary Kasparov"),
    );
    let shredder: Opponent =
        set("setoption name UCI_Opponent value none none computer Shredder", KnownOption::Opponent);
    assert_eq!(Ok(shredder), Opponent::new(None, None, OpponentKind::Computer, "Shredder"));
}

#[test]
fn opponents_are_read_with_missing_parts_and_in_any_case() {
    for (text, canonical) in [
        ("  gm\t2800 HUMAN Gary   Kasparov ", "GM 2800 human Gary Kasparov"),
        ("2800 human Gary Kasparov", "none 2800 human Gary Kasparov"),
        ("BOT computer Leela", "BOT none computer Leela"),
        ("computer human", "none none computer human"),
        ("None NONE computer none", "none none computer none"),
    ] {
        assert_eq!(text.parse::<Opponent>().unwrap().to_string(), canonical);
    }
}

#[test]
fn invalid_opponents_are_explained() {
    let error = |text: &str| text.parse::<Opponent>().unwrap_err();
    let token = |token: &str| token.to_owned();
    assert_eq!(
        error("Dr. 2800 human X"),
        OpponentError::Title { token: token("Dr."), at: 0 },
        "a title is letters"
    );
    assert_eq!(error("GM good human X"), OpponentError::Rating { token: token("good"), at: 3 });
    assert_eq!(error("GM 2800 alien X"), OpponentError::Kind { token: token("alien"), at: 8 });
    assert_eq!(error(""), OpponentError::Kind { token: token(""), at: 0 });
    assert_eq!(error("GM 2800 human  "), OpponentError::NoName);
    assert_eq!(error("GM good human X").to_string(), "`good` at byte 3 is not a rating or `none`");
}

/// UCI 2006, option, `UCI_SetPositionValue`: the three formats.
#[test]
fn position_values_are_read_in_their_three_formats() {
    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let read = |value: &str| -> PositionValue {
        let line = format!("setoption name UCI_SetPositionValue value {value}");
        set(&line, KnownOption::SetPositionValue)
    };
    let fen = || Fen::new(START).unwrap();
    assert_eq!(read(&format!("50 + {START}")), PositionValue::Set { centipawns: 50, fen: fen() });
    assert_eq!(read(&format!("-50 {START}")), PositionValue::Set { centipawns: -50, fen: fen() });
    assert_eq!(read(&format!("clear + {START}")), PositionValue::Clear { fen: fen() });
    assert_eq!(read("clearall"), PositionValue::ClearAll);
}

#[test]
fn invalid_position_values_are_explained() {
    let error = |text: &str| text.parse::<PositionValue>().unwrap_err();
    let value = |token: &str| PositionValueError::Value { token: token.to_owned() };
    assert_eq!(error("much + 8/8"), value("much"));
    assert_eq!(error(""), value(""));
    assert_eq!(error("clearall now"), PositionValueError::Trailing { at: 9 });
    assert!(matches!(error("50 + 9/8 w"), PositionValueError::Position { at: 5, .. }));
    assert!(matches!(error("clear"), PositionValueError::Position { at: 5, .. }));
}

#[track_caller]
fn check_paths(text: &str, paths: &[&str]) {
    let list: PathList = text.parse().unwrap();
    assert_eq!(list.iter().collect::<Vec<_>>(), paths, "{text}");
    check_round_trip(&list);
}

/// UCI 2006, setoption, and The UCI Protocol, setoption: the examples.
#[test]
fn paths_are_read_from_the_examples() {
    let nalimov: PathList = set(
        r"setoption name NalimovPath value c:\chess\tb\4;c:\chess\tb\5",
        KnownOption::NalimovPath,
    );
    assert_eq!(nalimov.iter().collect::<Vec<_>>(), [r"c:\chess\tb\4", r"c:\chess\tb\5"]);
    let syzygy: PathList = set(
        "setoption name SyzygyPath value /home/jud/chess/tb/4:/home/jud/chess/tb/5",
        KnownOption::SyzygyPath,
    );
    assert_eq!(syzygy.iter().collect::<Vec<_>>(), ["/home/jud/chess/tb/4", "/home/jud/chess/tb/5"]);
}

#[test]
fn a_drive_is_not_a_separate_path() {
    check_paths(r"c:\", &[r"c:\"]);
    check_paths(r"c:\a:d:/b", &[r"c:\a", "d:/b"]);
    check_paths(" /my games ; D:tb ", &["/my games", "D:tb"]);
    check_paths("/a::/b;;", &["/a", "/b"]);
    check_paths("", &[]);
}

#[test]
fn a_path_with_a_separator_is_rejected() {
    for path in ["", " /a", "a;b", "/a:b", "c::x", "c", "a\nb", "a\0b"] {
        assert_eq!(PathList::new([path]), Err(PathListError { path: path.to_owned() }), "{path:?}");
    }
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{1,12}", "(none|human|computer|GM|[0-9]{1,4})( (none|human|x))?"]
}

proptest! {
    #[test]
    fn opponents_survive_a_round_trip(
        title in proptest::option::of("[A-Z]{1,8}"),
        rating: Option<u32>,
        is_human: bool,
        name in any_name(),
    ) {
        let kind = if is_human { OpponentKind::Human } else { OpponentKind::Computer };
        let title = title.and_then(|title| Title::new(&title));
        if let Ok(opponent) = Opponent::new(title, rating, kind, &name) {
            check_round_trip(&opponent);
        }
    }

    #[test]
    fn position_values_survive_a_round_trip(centipawns: i32, clear: bool) {
        let fen = Fen::new("8/8/8/8/8/8/8/K1k5 w - - 0 1").unwrap();
        let set = PositionValue::Set { centipawns, fen: fen.clone() };
        check_round_trip(&if clear { PositionValue::Clear { fen } } else { set });
    }

    #[test]
    fn paths_survive_a_round_trip_with_each_separator(
        paths in proptest::collection::vec("([a-zA-Z]:)?[a-c:;/\\\\ ]{0,6}", 0..4),
    ) {
        let fitting = paths.iter().map(String::as_str).filter(|path| PathList::new([*path]).is_ok());
        let list = PathList::new(fitting).unwrap();
        for separator in [PathSeparator::Semicolon, PathSeparator::Colon] {
            prop_assert_eq!(&list.joined_by(separator).parse::<PathList>().unwrap(), &list);
        }
    }

    #[test]
    fn any_text_is_a_value_of_some_option(text: String, known in "\\PC{0,20}") {
        // Checks that no reader panics, and that accepted values are written unchanged.
        for text in [text, format!("GM {known}"), format!("50 + {known}"), format!("c:{known}")] {
            if let Ok(value) = text.parse::<Opponent>() { check_round_trip(&value); }
            if let Ok(value) = text.parse::<PositionValue>() { check_round_trip(&value); }
            if let Ok(value) = text.parse::<PathList>() { check_round_trip(&value); }
        }
    }
}

#[test]
fn an_engine_declares_its_about_text() {
    let text = "Shredder by Stefan Meyer-Kahlen, see www.shredderchess.com";
    let decl = OptionDecl::engine_about(text);
    let mut line = String::new();
    Reply::Option(decl.clone()).write(Dialect::Uci, &mut line).unwrap();
    assert_eq!(line, format!("option name UCI_EngineAbout type string default {text}"));
    let mut options = OptionSet::new(Dialect::Uci);
    assert_eq!(options.engine_about(), None);
    options.declare(decl);
    assert_eq!(options.engine_about(), Some(text));
    options.declare(OptionDecl::engine_about(""));
    assert_eq!(options.engine_about(), None);
    options.declare(OptionDecl::button("UCI_EngineAbout"));
    assert_eq!(options.engine_about(), None);
}
