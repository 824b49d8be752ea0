//! Texts by id, from `locale/`: messages in each language, rules and sources of checks in Japanese.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use readyok_protocol::{Language, Rule};

/// The texts of one message, with parameters in braces.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    /// `None` if a library provides the English text.
    en: Option<String>,
    ja: String,
}

/// Japanese texts of the checks; English is part of their declaration.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Japanese {
    /// Rules by the id of their check.
    checks: BTreeMap<String, String>,
    /// Sources by their English name.
    sources: BTreeMap<String, String>,
}

// The tests parse both files.
static MESSAGES: LazyLock<BTreeMap<String, Texts>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../locale/messages.json")).unwrap_or_default()
});
static JAPANESE: LazyLock<Japanese> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../locale/checks.ja.json")).unwrap_or_default()
});

/// The template of a message.
pub(crate) fn template(id: &'static str, language: Language) -> &'static str {
    let Some(texts) = MESSAGES.get(id) else { return id };
    match language {
        Language::English => texts.en.as_deref().unwrap_or(id),
        Language::Japanese => &texts.ja,
    }
}

/// The rule of a check in Japanese.
pub(crate) fn japanese_rule(check: &str) -> Option<&'static str> {
    JAPANESE.checks.get(check).map(String::as_str)
}

/// The document and section of a clause. Documents keep their own names.
pub(crate) fn source(english: &'static str, language: Language) -> Cow<'static, str> {
    if language == Language::English {
        return english.into();
    }
    if let Some(rule) = Rule::ALL.into_iter().find(|rule| rule.clause() == english) {
        return rule.clause_in(language).into();
    }
    let translated = JAPANESE.sources.get(english).map(|it| it.as_str().into());
    translated.unwrap_or_else(|| english.replace(" and ", " と ").into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::spec::Check;

    /// Names that Japanese texts write in Latin letters.
    const NAMES: [&str; 14] = [
        "MultiPV", "Chess960", "UTF-8", "SFEN", "ASCII", "JSON", "UCI", "USI", "FEN", "CPU", "CR",
        "LF", "MB", "ms",
    ];

    fn messages() -> BTreeMap<String, Texts> {
        serde_json::from_str(include_str!("../locale/messages.json")).expect("valid messages")
    }

    fn japanese() -> Japanese {
        serde_json::from_str(include_str!("../locale/checks.ja.json")).expect("valid texts")
    }

    fn checks() -> impl Iterator<Item = &'static Check> {
        crate::all().chain(crate::all_of_clients())
    }

    /// English and Japanese texts with the same meaning.
    fn pairs() -> Vec<(String, String)> {
        let messages = messages().into_values().filter_map(|it| Some((it.en?, it.ja)));
        let rules = japanese().checks;
        let rules = checks().filter_map(|it| Some((it.rule.into(), rules.get(it.id)?.clone())));
        messages.chain(rules).collect()
    }

    /// The parameters in braces.
    fn parameters(text: &str) -> BTreeSet<&str> {
        let names = text.split('{').skip(1).filter_map(|part| part.split_once('}'));
        names.map(|(name, _)| name).collect()
    }

    /// The text outside code spans, and the code spans.
    fn spans(text: &str) -> (String, BTreeSet<&str>) {
        let parts: Vec<&str> = text.split('`').collect();
        assert_eq!(parts.len() % 2, 1, "unclosed code span: {text}");
        (
            parts.iter().step_by(2).copied().collect::<Vec<_>>().join("`"),
            parts.iter().skip(1).step_by(2).copied().collect(),
        )
    }

    #[test]
    fn translations_have_the_parameters_and_code_spans_of_the_english_text() {
        for (english, japanese) in pairs() {
            let required: BTreeSet<_> =
                parameters(&english).into_iter().filter(|it| !it.starts_with("english")).collect();
            assert_eq!(required, parameters(&japanese), "{japanese}");
            let (_, expected) = spans(&english);
            let (_, found) = spans(&japanese);
            let missing: Vec<_> = expected.difference(&found).collect();
            assert!(missing.is_empty(), "{japanese} lacks {missing:?}");
        }
    }

    #[test]
    fn japanese_texts_contain_no_english() {
        let rules = japanese().checks.into_values();
        for text in messages().into_values().map(|it| it.ja).chain(rules) {
            let (outside, _) = spans(&text);
            let mut rest = String::new();
            for part in outside.split('{') {
                rest += part.split_once('}').map_or(part, |(_, rest)| rest);
            }
            for name in NAMES {
                rest = rest.replace(name, "");
            }
            assert!(!rest.contains(|it: char| it.is_ascii_alphabetic()), "{text}");
            assert!(!text.ends_with('。'), "{text}");
        }
    }

    #[test]
    fn every_check_has_a_japanese_rule() {
        let texts = japanese().checks;
        let ids: BTreeSet<&str> = checks().map(|check| check.id).collect();
        for check in checks() {
            let ordered = check.order.is_some();
            assert_ne!(ordered, texts.contains_key(check.id), "{}", check.id);
        }
        for id in texts.keys() {
            assert!(ids.contains(id.as_str()), "no check has the id {id}");
        }
    }

    #[test]
    fn every_source_is_a_document_or_has_a_translation() {
        let documents = ["UCI 2006", "The UCI Protocol", "USI draft 1", "PGN specification"];
        let sources: BTreeSet<&str> =
            checks().flat_map(|check| check.clauses).map(|clause| clause.source).collect();
        for english in &sources {
            let text = source(english, Language::Japanese);
            let is_document = documents.iter().any(|document| english.starts_with(document));
            assert!(is_document || text != *english, "{english}");
            assert!(!text.contains(" and "), "{text}");
        }
        for english in japanese().sources.keys() {
            assert!(sources.contains(english.as_str()), "no check cites {english}");
        }
    }

    /// The messages in a source text: ids, each with the names of its arguments.
    fn used(source: &str) -> Vec<(&str, BTreeSet<&str>)> {
        let calls = source.split(concat!("message", "!(")).skip(1);
        let mut found = Vec::new();
        for call in calls.filter(|call| call.trim_start().starts_with('"')) {
            let mut quotes = call.splitn(3, '"');
            let (Some(_), Some(id), Some(rest)) = (quotes.next(), quotes.next(), quotes.next())
            else {
                continue;
            };
            found.push((id, names(rest)));
        }
        found
    }

    /// The names of `, name, name = value)`.
    fn names(arguments: &str) -> BTreeSet<&str> {
        let (mut depth, mut quoted, mut begin) = (0, false, 0);
        let mut names = BTreeSet::new();
        for (at, c) in arguments.char_indices() {
            match c {
                '"' => quoted = !quoted,
                _ if quoted => (),
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if 0 < depth => depth -= 1,
                ',' | ')' if depth == 0 => {
                    let name = arguments[begin..at].split('=').next().unwrap_or_default().trim();
                    names.extend((!name.is_empty()).then_some(name));
                    begin = at + 1;
                    if c == ')' {
                        break;
                    }
                }
                _ => (),
            }
        }
        names
    }

    #[test]
    fn every_message_is_used_with_its_parameters() {
        let mut sources = String::new();
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut sources);
        let messages = messages();
        for (id, arguments) in used(&sources) {
            let texts = messages.get(id).unwrap_or_else(|| panic!("no message has the id {id}"));
            assert_eq!(parameters(texts.en.as_deref().unwrap_or(&texts.ja)), arguments, "{id}");
        }
        for id in messages.keys() {
            assert!(sources.contains(&format!("\"{id}\"")), "{id} is unused");
        }
    }

    fn read(directory: &Path, sources: &mut String) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                read(&path, sources);
            } else {
                *sources += &fs::read_to_string(&path).expect("a source file");
            }
        }
    }
}
