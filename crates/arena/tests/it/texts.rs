//! Options with texts, which can name files, where only some may be set.

use readyok_arena::game::{PlayerOptions, TextOptions};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{EnginePlan, Limits};
use readyok_rules::{Game, Termination};

use crate::scripted::{Script, plan, play, player, script, setting};

/// Plays with an option that is declared like this. Returns the reason of a failed start.
fn check(declared: &str, value: &str, texts: Option<TextOptions>) -> Option<String> {
    let nodes = Limits { nodes: Some(1), ..Limits::default() };
    let options = [("Style".to_owned(), value.to_owned())].into();
    let first = EnginePlan { options, ..plan("first", nodes) };
    let handshake = format!("option name Style {declared}");
    let (first, received) =
        player(Game::Chess, 0, &first, Script { handshake, ..script("f2f3, g2g4") });
    let (mut second, _received) =
        player(Game::Chess, 1, &plan("second", nodes), script("e7e5, d8h4"));
    let mut first = first.with_options(PlayerOptions { texts, ..PlayerOptions::default() });
    let result = play(&setting(Game::Chess), &Opening::default(), &mut first, &mut second);
    drop(first);
    let was_set =
        received.try_iter().any(|line| line == format!("setoption name Style value {value}"));
    let Some(failure) = result.end.failure() else {
        assert!(was_set && result.end == Termination::Checkmate, "{:?}", result.end);
        return None;
    };
    assert!(!was_set, "the option was sent");
    Some(failure.to_string())
}

fn texts(names: &[&str], values: &[&str]) -> TextOptions {
    let set = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    TextOptions::new(set(names), set(values))
}

#[test]
fn sets_only_allowed_texts() {
    let none = || Some(texts(&[], &[]));
    for declared in ["type string default solid", "type filename default solid", "type unknown"] {
        assert_eq!(check(declared, "wild", None), None);
        let why = check(declared, "wild", none()).expect("it is not allowed");
        assert_eq!(why, "the text value of option `Style` is not allowed here");
        assert_eq!(check(declared, "wild", Some(texts(&["style"], &[]))), None);
        assert_eq!(check(declared, "wild", Some(texts(&[], &["wild"]))), None);
        assert!(check(declared, "wild", Some(texts(&["other"], &["tame"]))).is_some());
    }
}

#[test]
fn options_without_text_need_no_permission() {
    let none = || Some(texts(&[], &[]));
    assert_eq!(check("type spin default 1 min 0 max 9", "5", none()), None);
    assert_eq!(check("type combo default solid var solid var wild", "wild", none()), None);
}
