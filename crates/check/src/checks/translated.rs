//! What is wrong with a translation file, as part of what a check has found.

use readyok_protocol::translation::{Finding, Problem, Translation, TranslationError};

use crate::message::{Message, said};

/// Something in a file that can be read.
pub(super) fn finding(found: &Finding) -> Message {
    let problem = match &found.problem {
        Problem::MissingDefault => said!("the default language is missing"),
        Problem::UnknownOption { option } => {
            said!("the engine has no option `{option}`", option = quoted(option))
        }
        Problem::RepeatedOption { option, first } => said!(
            "`{option}` is the same option as `{first}`",
            option = quoted(option),
            first = quoted(first)
        ),
        Problem::UnknownValue { option, value } => said!(
            "option `{option}` has no choice `{value}`",
            option = quoted(option),
            value = quoted(value)
        ),
        // The others do not fail a check.
        other => said!("{english}", english = other.to_string()),
    };
    said!("{language}: {problem}", language = found.language.to_string(), problem)
}

/// Why a file cannot be read.
pub(super) fn error(error: &TranslationError) -> Message {
    match error {
        TranslationError::TooLarge { bytes } => {
            let most = Translation::MAX_BYTES;
            said!("{bytes} bytes are more than {most}", bytes = *bytes, most)
        }
        TranslationError::NotUtf8 { at } => said!("not UTF-8 at byte {at}", at = *at),
        TranslationError::TooDeep { at } => said!("nested too deep at byte {at}", at = *at),
        // A parser says it, in English only.
        TranslationError::Syntax { .. } => {
            said!("{english_syntax}", english_syntax = error.to_string())
        }
        TranslationError::Version { found } => {
            said!("version {found} is not known", found = *found)
        }
        TranslationError::Shape { at, expected } => {
            said!("`{at}`: expected {english}", at = quoted(at), english = *expected)
        }
        TranslationError::TooMany { at, limit } => {
            said!("`{at}`: more than {limit} entries", at = quoted(at), limit = *limit)
        }
        TranslationError::TooLong { at, limit } => {
            said!("`{at}`: more than {limit} characters", at = quoted(at), limit = *limit)
        }
        other => said!("{english}", english = other.to_string()),
    }
}

fn quoted(text: &str) -> String {
    text.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use readyok_protocol::{Dialect, Language, OptionSet};

    use super::*;

    #[test]
    fn english_says_what_the_reader_says() {
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
            let said = message.in_language(Language::Japanese);
            assert!(said.contains(japanese), "{said}");
        }
    }

    #[test]
    fn english_says_what_the_comparison_says() {
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
