//! Japanese texts of rules and diagnostics.

use readyok_protocol::{DiagnosticKind, Language, Rule};

/// Names that are not translated.
const NAMES: [&str; 3] = ["UCI", "USI", "UTF-8"];

fn texts() -> Vec<(&'static str, &'static str)> {
    let (en, ja) = (Language::English, Language::Japanese);
    let rules = Rule::ALL.map(|rule| (rule.text_in(en), rule.text_in(ja)));
    let diagnostics = DiagnosticKind::ALL.map(|kind| (kind.text_in(en), kind.text_in(ja)));
    rules.into_iter().chain(diagnostics).collect()
}

/// The texts between backticks, and the rest.
fn quoted(text: &str) -> (Vec<&str>, String) {
    let parts: Vec<_> = text.split('`').collect();
    assert_eq!(parts.len() % 2, 1, "an open backtick: {text}");
    let tokens = parts.iter().skip(1).step_by(2).copied().collect();
    (tokens, parts.into_iter().step_by(2).collect())
}

#[test]
fn only_names_and_keywords_are_not_japanese() {
    for (_, japanese) in texts() {
        let (_, mut rest) = quoted(japanese);
        for name in NAMES {
            rest = rest.replace(name, "");
        }
        assert!(!rest.chars().any(|letter| letter.is_ascii_alphabetic()), "{japanese}");
        assert!(!rest.is_ascii(), "{japanese}");
        assert!(!rest.ends_with('。'), "{japanese}");
    }
}

#[test]
fn both_languages_contain_the_same_keywords() {
    for (english, japanese) in texts() {
        let [mut one, mut other] = [english, japanese].map(|text| quoted(text).0);
        one.sort_unstable();
        one.dedup();
        other.sort_unstable();
        other.dedup();
        assert_eq!(one, other, "{english}: {japanese}");
    }
}

#[test]
fn no_two_texts_are_the_same() {
    for place in [|texts: (_, _)| texts.0, |texts: (&'static str, &'static str)| texts.1] {
        let mut all: Vec<&str> = texts().into_iter().map(place).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}

/// Parts of documents and keywords in clauses.
const CITED: [&str; 12] = [
    "general rules",
    "draft",
    "GUI to engine",
    "Engine to GUI",
    "option type: check, spin, combo, button, string",
    "info score",
    "info seldepth",
    "move format",
    "move1",
    "movei",
    "specification",
    "The UCI Protocol",
];

#[test]
fn clauses_with_a_sentence_are_translated() {
    let (en, ja) = (Language::English, Language::Japanese);
    for kind in DiagnosticKind::ALL {
        let (english, japanese) = (kind.clause_in(en), kind.clause_in(ja));
        assert_eq!(english, kind.clause());
        let mut rest = quoted(japanese).1;
        for name in CITED {
            rest = rest.replace(name, "");
        }
        let tokens = rest.split(|letter: char| !letter.is_ascii_alphabetic());
        let known = |token: &str| {
            let known = ["go", "info", "option", "filename", "cp", "depth", "x", "Stockfish"];
            token.chars().all(|letter| letter.is_ascii_uppercase()) || known.contains(&token)
        };
        for token in tokens {
            assert!(known(token), "{token}: {japanese}");
        }
    }
    for rule in Rule::ALL {
        let (english, japanese) = (rule.clause_in(en), rule.clause_in(ja));
        assert_eq!(english, rule.clause());
        // Without quotations and titles of documents.
        let rest: String = japanese.split(['“', '”']).step_by(2).collect();
        let particles = [" and ", " no ", " is ", " of ", " as "];
        assert!(!particles.iter().any(|token| rest.contains(token)), "{japanese}");
        let documents = |clause: &str| clause.matches(';').count();
        assert!(rule == Rule::SearchWithoutLimit || documents(japanese) == documents(english));
    }
}
