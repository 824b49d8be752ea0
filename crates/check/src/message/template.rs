//! Texts in each language with names in the places of values, compared while they are compiled.

use readyok_protocol::Language;

use crate::japanese;

/// A text in each language, with names in braces in the places of values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Template {
    english: &'static str,
    japanese: &'static str,
}

/// How the names of values begin that only English has words for, such as what a parser says.
/// Another language leaves them out.
const ENGLISH_ONLY: &[u8] = b"english";

impl Template {
    /// The template of an English text with these names in it.
    pub(crate) const fn new(english: &'static str, names: &[&str]) -> Self {
        let japanese = japanese::finding(english);
        let mut at = 0;
        while at < names.len() {
            let name = names[at].as_bytes();
            assert!(has_name(english, name), "a value has no place in the text");
            assert!(
                has_name(japanese, name) || is_english_only(name),
                "the translation leaves a value out"
            );
            at += 1;
        }
        assert!(has_only(english, names), "a name in the text has no value");
        assert!(has_only(japanese, names), "a name in the translation has no value");
        Self { english, japanese }
    }

    /// A text that has no values, in each language.
    pub(super) const fn plain(english: &'static str, japanese: &'static str) -> Self {
        Self { english, japanese }
    }

    pub(super) const fn text(self, language: Language) -> &'static str {
        match language {
            Language::English => self.english,
            Language::Japanese => self.japanese,
        }
    }
}

const fn is_english_only(name: &[u8]) -> bool {
    ENGLISH_ONLY.len() <= name.len() && is_same(name.split_at(ENGLISH_ONLY.len()).0, ENGLISH_ONLY)
}

/// Whether this name stands in braces in a text.
const fn has_name(text: &str, name: &[u8]) -> bool {
    let mut rest = text.as_bytes();
    while let Some((found, after)) = name_in(rest) {
        if is_same(found, name) {
            return true;
        }
        rest = after;
    }
    false
}

/// Whether no other names than these stand in braces in a text.
const fn has_only(text: &str, names: &[&str]) -> bool {
    let mut rest = text.as_bytes();
    while let Some((found, after)) = name_in(rest) {
        let mut at = 0;
        while at < names.len() && !is_same(found, names[at].as_bytes()) {
            at += 1;
        }
        if at == names.len() {
            return false;
        }
        rest = after;
    }
    true
}

/// The first name in braces, and what stands behind it.
const fn name_in(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut open = 0;
    while open < text.len() && text[open] != b'{' {
        open += 1;
    }
    let mut close = open;
    while close < text.len() && text[close] != b'}' {
        close += 1;
    }
    if close == text.len() {
        return None;
    }
    let (head, after) = text.split_at(close + 1);
    Some((head.split_at(close).0.split_at(open + 1).1, after))
}

/// Whether two texts are the same, for constants.
pub(crate) const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}
