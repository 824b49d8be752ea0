//! Problems of a translation file, localized.

use readyok_protocol::translation::{Finding, Problem, Translation, TranslationError};

use crate::message::{Message, message, values};

/// A problem of a file that can be parsed.
pub(super) fn finding(found: &Finding) -> Message {
    let (id, values) = match &found.problem {
        Problem::MissingDefault => ("translation.no-default", Vec::new()),
        Problem::UnknownOption { option } => {
            ("translation.unknown-option", values!(option = quoted(option)))
        }
        Problem::RepeatedOption { option, first } => {
            let values = values!(option = quoted(option), first = quoted(first));
            ("translation.repeated-option", values)
        }
        Problem::UnknownValue { option, value } => {
            let values = values!(option = quoted(option), value = quoted(value));
            ("translation.unknown-choice", values)
        }
        // The others do not fail a check.
        _ => ("translation.other", Vec::new()),
    };
    let problem = Message::of_library(found.problem.to_string(), id, values);
    message!("translation.language", language = found.language.to_string(), problem)
}

/// Why a file cannot be parsed.
pub(super) fn error(error: &TranslationError) -> Message {
    let (id, values) = match error {
        TranslationError::TooLarge { bytes } => {
            let values = values!(bytes = *bytes, limit = Translation::MAX_BYTES);
            ("translation.too-large", values)
        }
        TranslationError::NotUtf8 { at } => ("translation.not-utf8", values!(at = *at)),
        TranslationError::TooDeep { at } => ("translation.too-deep", values!(at = *at)),
        TranslationError::Syntax { .. } => ("translation.syntax", Vec::new()),
        TranslationError::Version { found } => ("translation.version", values!(found = *found)),
        TranslationError::Shape { at, .. } => ("translation.shape", values!(at = quoted(at))),
        TranslationError::TooMany { at, limit } => {
            ("translation.too-many", values!(at = quoted(at), limit = *limit))
        }
        TranslationError::TooLong { at, limit } => {
            ("translation.too-long", values!(at = quoted(at), limit = *limit))
        }
        _ => ("translation.other", Vec::new()),
    };
    Message::of_library(error.to_string(), id, values)
}

fn quoted(text: &str) -> String {
    text.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use readyok_protocol::{Dialect, Language, OptionSet};

    use super::*;

    #[test]
    fn parse_errors_have_a_japanese_text() {
        let file = |languages: &str| format!("{{\"usi-translation\":1,\"languages\":{languages}}}");
        let deep = "[".repeat(Translation::MAX_DEPTH + 1);
        let label = "x".repeat(Translation::MAX_LABEL + 1);
        let cases = [
            (vec![b' '; Translation::MAX_BYTES + 1], "バイト"),
            (vec![0xff], "UTF-8"),
            (deep.into_bytes(), "入れ子"),
            (b"{,".to_vec(), "JSON"),
            (b"{\"usi-translation\":9}".to_vec(), "バージョン"),
            (file("3").into_bytes(), "`/languages`"),
            (file(&format!("{{\"ja\":{{\"name\":\"{label}\"}}}}")).into_bytes(), "文字"),
        ];
        for (bytes, japanese) in cases {
            let it = Translation::read(&bytes).expect_err("a broken file");
            let message = error(&it);
            assert_eq!(message.to_string(), it.to_string());
            let text = message.in_language(Language::Japanese);
            assert!(text.contains(japanese), "{text}");
        }
    }

    #[test]
    fn findings_have_the_english_text_of_the_library() {
        let file =
            r#"{"usi-translation":1,"default":"fr","languages":{"ja":{"options":{"A":{}}}}}"#;
        let file = Translation::read(file.as_bytes()).expect("a file");
        let found = file.lint(&OptionSet::new(Dialect::Usi));
        assert_eq!(found.len(), 2, "{found:?}");
        for it in found {
            assert_eq!(finding(&it).to_string(), it.to_string());
        }
    }
}
