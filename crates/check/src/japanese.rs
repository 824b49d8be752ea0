//! Rules and findings in Japanese, by their English. What has no translation does not compile.

mod client_rules;
mod clients;
mod common;
mod greeting;
mod options;
mod places;
mod positions;
mod processes;
mod rules;
mod searches;
mod shogi;
mod told;

use std::borrow::Cow;

use readyok_protocol::{Language, Rule};

use crate::message::is_same;

/// An English text and its translation.
type Entry = (&'static str, &'static str);

/// The entries of a file: the English text, then the Japanese one.
macro_rules! catalogue {
    ($($english:literal => $japanese:literal),+ $(,)?) => {
        pub(super) const ENTRIES: &[super::Entry] = &[$(($english, $japanese)),+];
    };
}

use catalogue;

const RULES: [&[Entry]; 2] = [rules::ENTRIES, client_rules::ENTRIES];

const FINDINGS: [&[Entry]; 9] = [
    common::ENTRIES,
    greeting::ENTRIES,
    options::ENTRIES,
    positions::ENTRIES,
    searches::ENTRIES,
    told::ENTRIES,
    processes::ENTRIES,
    shogi::ENTRIES,
    clients::ENTRIES,
];

/// A rule of a check in Japanese.
pub(crate) const fn rule(english: &str) -> &'static str {
    // Rules about the order of messages are those of the protocol.
    let mut at = 0;
    while at < Rule::ALL.len() {
        let rule = Rule::ALL[at];
        if is_same(rule.text().as_bytes(), english.as_bytes()) {
            return rule.text_in(Language::Japanese);
        }
        at += 1;
    }
    match find(&RULES, english) {
        Some(japanese) => japanese,
        None => panic!("this rule has no Japanese translation"),
    }
}

/// The template of a finding in Japanese.
pub(crate) const fn finding(english: &str) -> &'static str {
    match find(&FINDINGS, english) {
        Some(japanese) => japanese,
        None => panic!("this text has no Japanese translation"),
    }
}

/// Where a rule stands, in Japanese. Documents are cited by their own names.
pub(crate) fn place(english: &'static str) -> Cow<'static, str> {
    let of_rule = Rule::ALL.into_iter().find(|rule| rule.clause() == english);
    let japanese = match of_rule {
        Some(rule) => Some(rule.clause_in(Language::Japanese)),
        None => find(&[places::ENTRIES], english),
    };
    japanese.map_or_else(|| english.replace(" and ", " と ").into(), Cow::Borrowed)
}

const fn find(files: &[&[Entry]], english: &str) -> Option<&'static str> {
    let mut file = 0;
    while file < files.len() {
        let mut at = 0;
        while at < files[file].len() {
            let (text, japanese) = files[file][at];
            if is_same(text.as_bytes(), english.as_bytes()) {
                return Some(japanese);
            }
            at += 1;
        }
        file += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Words that Japanese writes as English does.
    const NAMES: [&str; 14] = [
        "MultiPV", "Chess960", "UTF-8", "SFEN", "ASCII", "JSON", "UCI", "USI", "FEN", "CPU", "CR",
        "LF", "MB", "ms",
    ];

    /// The parts of a text outside and between its backticks.
    fn parts(text: &str) -> (String, BTreeSet<&str>) {
        let parts: Vec<&str> = text.split('`').collect();
        assert_eq!(parts.len() % 2, 1, "an open backtick: {text}");
        (
            parts.iter().step_by(2).copied().collect::<Vec<_>>().join("`"),
            parts.iter().skip(1).step_by(2).copied().collect(),
        )
    }

    fn entries() -> impl Iterator<Item = Entry> {
        RULES.into_iter().chain(FINDINGS).flatten().copied()
    }

    #[test]
    fn only_names_and_words_of_the_protocol_are_not_japanese() {
        for (_, japanese) in entries() {
            let (outside, _) = parts(japanese);
            let mut rest = String::new();
            // Names of values are none of the text.
            for part in outside.split('{') {
                rest += part.split_once('}').map_or(part, |(_, rest)| rest);
            }
            for name in NAMES {
                rest = rest.replace(name, "");
            }
            let odd = rest.chars().find(char::is_ascii_alphabetic);
            assert_eq!(odd, None, "{japanese}");
            assert!(!japanese.ends_with('。'), "{japanese}");
        }
    }

    #[test]
    fn both_languages_speak_of_the_same_words_of_the_protocol() {
        for (english, japanese) in entries() {
            let (_, words) = parts(english);
            let (_, said) = parts(japanese);
            let missing: Vec<_> = words.difference(&said).collect();
            assert!(missing.is_empty(), "{japanese} leaves out {missing:?}");
        }
    }

    #[test]
    fn each_text_is_there_once() {
        for files in [&RULES[..], &FINDINGS[..]] {
            let mut seen = BTreeSet::new();
            for (english, _) in files.iter().copied().flatten() {
                assert!(seen.insert(english), "{english} is there twice");
            }
        }
    }

    #[test]
    fn each_rule_is_one_of_a_check() {
        let rules: BTreeSet<&str> =
            crate::all().chain(crate::all_of_clients()).map(|check| check.rule).collect();
        for (english, _) in RULES.into_iter().flatten() {
            assert!(rules.contains(english), "no check has the rule: {english}");
        }
    }

    #[test]
    fn each_place_is_a_document_or_has_a_translation() {
        let documents = ["UCI 2006", "The UCI Protocol", "USI draft 1", "PGN specification"];
        let checks = || crate::all().chain(crate::all_of_clients());
        let places: BTreeSet<&str> =
            checks().flat_map(|check| check.clauses).map(|clause| clause.place).collect();
        for english in &places {
            let japanese = place(english);
            let is_document = documents.iter().any(|document| english.starts_with(document));
            assert!(is_document || japanese != *english, "{english}");
            assert!(!japanese.contains(" and "), "{japanese}");
        }
        for (english, _) in places::ENTRIES {
            assert!(places.contains(english), "nothing stands at: {english}");
        }
    }

    #[test]
    fn each_text_can_be_said() {
        let mut sources = String::new();
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut sources);
        for (english, _) in FINDINGS.into_iter().flatten() {
            let literal = format!("\"{english}\"");
            assert!(sources.contains(&literal), "nothing says: {english}");
        }
    }

    fn read(folder: &Path, sources: &mut String) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                if !path.ends_with("japanese") {
                    read(&path, sources);
                }
            } else {
                *sources += &fs::read_to_string(&path).expect("a source");
            }
        }
    }
}
