//! Messages of checks: a text with parameters, in each language.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::process::ExitStatus;
use std::str::EscapeDebug;
use std::sync::LazyLock;

use readyok_client::Exit;
use readyok_protocol::{DiagnosticKind, Language, Move, Rule};
use readyok_rules::{IllegalReason, LineError, MoveError};
use serde::Deserialize;

/// A localized text with values for its parameters.
///
/// Engine output, commands and option names are values and are not translated.
/// [`Display`](fmt::Display) writes English.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    text: Text,
    values: Vec<(&'static str, Value)>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Text {
    /// A template of the catalog, by its id.
    Catalog(&'static str),
    /// The English text of a library; other languages are in the catalog.
    Library {
        english: String,
        id: &'static str,
    },
    Rule(Rule),
    Illegal(IllegalReason),
    Note(DiagnosticKind),
    NoteClause(DiagnosticKind),
}

/// The value of a parameter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Value {
    /// Not translated.
    Plain(String),
    /// Translated with its message.
    Message(Box<Message>),
    /// The exit status of a process.
    Exit { english: String, japanese: String },
}

/// A message of the catalog: its id, then `name` or `name = value` for each parameter.
macro_rules! message {
    ($id:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::message::Message::new($id, $crate::message::values!($($name $(= $value)?),*))
    };
}

/// The values of a message by name.
macro_rules! values {
    ($($name:ident $(= $value:expr)?),* $(,)?) => {
        vec![$((
            stringify!($name),
            $crate::message::Value::from($crate::message::values!(@ $name $(= $value)?)),
        )),*]
    };
    (@ $name:ident) => { $name };
    (@ $name:ident = $value:expr) => { $value };
}
pub(crate) use {message, values};

impl Message {
    pub(crate) fn new(id: &'static str, values: Vec<(&'static str, Value)>) -> Self {
        Self { text: Text::Catalog(id), values }
    }

    /// A message with the English text of a library.
    pub(crate) fn of_library(
        english: String,
        id: &'static str,
        values: Vec<(&'static str, Value)>,
    ) -> Self {
        Self { text: Text::Library { english, id }, values }
    }

    fn plain(text: Text) -> Self {
        Self { text, values: Vec::new() }
    }

    /// The name of the text, independent of its values.
    pub(crate) fn id(&self) -> &str {
        match &self.text {
            Text::Catalog(id) | Text::Library { id, .. } => id,
            Text::Rule(rule) => rule.text(),
            Text::Illegal(_) => "illegal",
            Text::Note(note) | Text::NoteClause(note) => note.text_in(Language::English),
        }
    }

    /// The clause that a diagnostic refers to.
    pub(crate) fn clause(note: DiagnosticKind) -> Self {
        Self::plain(Text::NoteClause(note))
    }

    /// The message in a language.
    pub fn in_language(&self, language: Language) -> String {
        let mut text = String::new();
        // Writing to a `String` never fails.
        let _ = self.write(language, &mut text);
        text
    }

    fn write(&self, language: Language, to: &mut dyn fmt::Write) -> fmt::Result {
        let template = match &self.text {
            Text::Library { english, .. } if language == Language::English => {
                return to.write_str(english);
            }
            Text::Catalog(id) | Text::Library { id, .. } => template(id, language),
            Text::Rule(rule) => return to.write_str(rule.text_in(language)),
            Text::Illegal(why) if language == Language::English => return write!(to, "{why}"),
            Text::Illegal(why) => JAPANESE.illegal_moves.get(why).map_or("", String::as_str),
            Text::Note(note) => return to.write_str(note.text_in(language)),
            Text::NoteClause(note) => return to.write_str(note.clause_in(language)),
        };
        let mut rest = template;
        while let Some((before, name, after)) = next_parameter(rest) {
            to.write_str(before)?;
            for (_, value) in self.values.iter().filter(|(parameter, _)| *parameter == name) {
                value.write(language, to)?;
            }
            rest = after;
        }
        to.write_str(rest)
    }
}

/// The text before the first parameter, its name, and the text after it.
fn next_parameter(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

impl Value {
    fn write(&self, language: Language, to: &mut dyn fmt::Write) -> fmt::Result {
        match (self, language) {
            (Self::Plain(text), _)
            | (Self::Exit { english: text, .. }, Language::English)
            | (Self::Exit { japanese: text, .. }, Language::Japanese) => to.write_str(text),
            (Self::Message(message), _) => message.write(language, to),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Language::English, f)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Language::English, f)
    }
}

impl From<Rule> for Message {
    fn from(rule: Rule) -> Self {
        Self::plain(Text::Rule(rule))
    }
}

impl From<DiagnosticKind> for Message {
    fn from(note: DiagnosticKind) -> Self {
        Self::plain(Text::Note(note))
    }
}

macro_rules! plain_values {
    ($($kind:ty),+) => {
        $(impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                Self::Plain(value.to_string())
            }
        })+
    };
}

plain_values!(
    &str,
    &&str,
    &String,
    String,
    Cow<'_, str>,
    &Cow<'_, str>,
    EscapeDebug<'_>,
    &Move,
    i32,
    i64,
    u16,
    u32,
    u64,
    u128,
    usize
);

impl From<Message> for Value {
    fn from(message: Message) -> Self {
        Self::Message(Box::new(message))
    }
}

impl From<&Message> for Value {
    fn from(message: &Message) -> Self {
        message.clone().into()
    }
}

impl From<Rule> for Value {
    fn from(rule: Rule) -> Self {
        Message::from(rule).into()
    }
}

impl From<&DiagnosticKind> for Value {
    fn from(note: &DiagnosticKind) -> Self {
        Message::from(*note).into()
    }
}

impl From<ExitStatus> for Value {
    fn from(status: ExitStatus) -> Self {
        let exception = Exit::from(status).exception();
        let english = match exception {
            Some(name) => format!("{status}, {name}"),
            None => status.to_string(),
        };
        let japanese = match (status.code(), signal(status)) {
            (Some(code), _) => match exception {
                Some(name) => format!("例外 `{name}` ({code:#010X})"),
                None => format!("終了コード {code}"),
            },
            (None, Some(signal)) => format!("シグナル {signal}"),
            (None, None) => english.clone(),
        };
        Self::Exit { english, japanese }
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

impl From<&LineError> for Value {
    fn from(error: &LineError) -> Self {
        let number = error.index.saturating_add(1);
        let values = values!(number, cause = &error.error);
        Message::of_library(error.to_string(), "move.number", values).into()
    }
}

impl From<&MoveError> for Value {
    fn from(error: &MoveError) -> Self {
        Message::from(error).into()
    }
}

impl From<&MoveError> for Message {
    fn from(error: &MoveError) -> Self {
        let (mv, cause) = (&error.text, Self::plain(Text::Illegal(error.reason)));
        if error.candidates.is_empty() {
            return Self::of_library(error.to_string(), "move.illegal", values!(mv, cause));
        }
        let values = values!(mv, cause, moves = error.candidates.join(", "));
        Self::of_library(error.to_string(), "move.illegal-among", values)
    }
}

#[cfg(test)]
mod illegal_move_tests {
    use readyok_protocol::Language;

    use super::*;

    #[test]
    fn illegal_moves_have_a_japanese_text() {
        let error = MoveError {
            text: "e2e5".into(),
            reason: IllegalReason::Unreachable,
            candidates: vec![],
        };
        let line = LineError { index: 2, error };
        let message = crate::message::message!("pv.illegal", error = &line);
        assert_eq!(message.to_string(), format!("the PV is illegal: {line}"));
        assert_eq!(
            message.in_language(Language::Japanese),
            "読み筋どおりに指せない: 3 手目: `e2e5` は指せない (その駒はそこへ動けない)"
        );
        assert_eq!(JAPANESE.illegal_moves.len(), IllegalReason::TEXTS.len());
        let why = IllegalReason::AmbiguousMove;
        let error =
            MoveError { text: "N".into(), reason: why, candidates: vec!["a".into(), "b".into()] };
        let message = crate::message::message!("bestmove.illegal", error = &error);
        assert_eq!(
            message.in_language(Language::Japanese),
            "`bestmove` が合法手ではない: `N` は指せない (複数の手が考えられる: a, b)"
        );
    }
}

/// The texts of one message, with parameters in braces.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    /// `None` if a library provides the English text.
    en: Option<String>,
    ja: String,
}

/// Japanese texts of declarations in the source, which have the English ones.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Japanese {
    /// Rules by the id of their check.
    checks: BTreeMap<String, String>,
    illegal_moves: HashMap<IllegalReason, String>,
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
fn template(id: &'static str, language: Language) -> &'static str {
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
    let translated = JAPANESE.sources.get(english).map(|source| source.as_str().into());
    translated.unwrap_or_else(|| english.replace(" and ", " と ").into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use crate::spec::Check;

    fn check(message: &Message, english: &str, japanese: &str) {
        assert_eq!(message.to_string(), english);
        assert_eq!(message.in_language(Language::English), english);
        assert_eq!(message.in_language(Language::Japanese), japanese);
    }

    #[test]
    fn parameters_have_the_order_of_each_language() {
        check(
            &message!("multipv.order", number = 3_u32, before = 1_u32),
            "line 3 follows line 1",
            "1 番の読み筋の後に 3 番を送った",
        );
        // A value is not a template.
        check(
            &message!("line.unknown", text = "{text} }{"),
            "`{text} }{` is not a protocol message",
            "`{text} }{` はプロトコルのメッセージではない",
        );
    }

    #[test]
    fn nested_messages_have_the_language_of_the_outer_one() {
        let when = message!("when.after-search");
        check(
            &message!("idle.no-readyok", command = "stop", when),
            "no reply to `isready` after `stop` after a search",
            "探索の後の `stop` の後、`isready` に応答しなかった",
        );
        let rule = Rule::AfterQuit;
        check(
            &message!("line.violation", line = "x", rule),
            &format!("`x` violates this rule: {}", rule.text()),
            &format!("`x` は次の規則に反する: {}", rule.text_in(Language::Japanese)),
        );
    }

    #[test]
    fn diagnostics_and_their_clauses_are_localized() {
        let note = &DiagnosticKind::PartialNumber;
        check(
            &message!("line.diagnostic", note, clause = Message::clause(*note)),
            &format!("{} ({})", note.text(), note.clause()),
            "整数ではない数 (UCI 2006: `<x>` は整数)",
        );
    }

    #[test]
    fn texts_of_libraries_have_a_summary_in_japanese() {
        let english = "expected value at line 1 column 2";
        check(
            &Message::of_library(english.into(), "translation.syntax", Vec::new()),
            english,
            "JSON の構文が正しくない",
        );
    }

    #[cfg(unix)]
    #[test]
    fn exit_statuses_are_localized() {
        use std::os::unix::process::ExitStatusExt;

        let exited = |raw| message!("client.exited", status = ExitStatus::from_raw(raw));
        check(&exited(3 << 8), "exited (exit status: 3)", "終了した (終了コード 3)");
        check(&exited(9), "exited (signal: 9 (SIGKILL))", "終了した (シグナル 9)");
    }

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
        let messages =
            messages().into_values().filter_map(|message| Some((message.en?, message.ja)));
        let rules = japanese().checks;
        let rules =
            checks().filter_map(|check| Some((check.rule.into(), rules.get(check.id)?.clone())));
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
            let required: BTreeSet<_> = parameters(&english)
                .into_iter()
                .filter(|parameter| !parameter.starts_with("english"))
                .collect();
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
        for text in messages().into_values().map(|message| message.ja).chain(rules) {
            let (outside, _) = spans(&text);
            let mut rest = String::new();
            for part in outside.split('{') {
                rest += part.split_once('}').map_or(part, |(_, rest)| rest);
            }
            for name in NAMES {
                rest = rest.replace(name, "");
            }
            assert!(!rest.contains(|c: char| c.is_ascii_alphabetic()), "{text}");
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
