//! What a check has to say, in each language.

mod template;
mod value;

use std::fmt;

use readyok_protocol::{Language, NoteKind, Rule};

pub(crate) use template::{Template, is_same};
pub(crate) use value::Value;

/// A text with values in it that can be said in each language.
///
/// What engines have said, commands and names of options are values: they stay as they are.
/// [`Display`](fmt::Display) says it in English.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    template: Template,
    values: Vec<(&'static str, Value)>,
}

/// A message: the English template, then the values of all names in it. A template that has no
/// translation, or another one's names, does not compile.
macro_rules! said {
    ($english:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        const TEMPLATE: $crate::message::Template =
            $crate::message::Template::new($english, &[$(stringify!($name)),*]);
        $crate::message::Message::new(
            TEMPLATE,
            vec![$((
                stringify!($name),
                $crate::message::Value::from($crate::message::said!(@ $name $(= $value)?)),
            )),*],
        )
    }};
    (@ $name:ident) => { $name };
    (@ $name:ident = $value:expr) => { $value };
}

pub(crate) use said;

impl Message {
    pub(crate) fn new(template: Template, values: Vec<(&'static str, Value)>) -> Self {
        Self { template, values }
    }

    /// A text that has no values.
    fn plain(text: impl Fn(Language) -> &'static str) -> Self {
        let template = Template::plain(text(Language::English), text(Language::Japanese));
        Self { template, values: Vec::new() }
    }

    /// Where it stands that a line may not be so.
    pub(crate) fn clause(note: NoteKind) -> Self {
        Self::plain(|language| note.clause_in(language))
    }

    /// The message in a language.
    pub fn in_language(&self, language: Language) -> String {
        let mut text = String::new();
        // Writing into a `String` cannot fail.
        let _ = self.write(language, &mut text);
        text
    }

    fn write(&self, language: Language, to: &mut impl fmt::Write) -> fmt::Result {
        let mut rest = self.template.text(language);
        while let Some((before, name, after)) = next_name(rest) {
            to.write_str(before)?;
            // The template was compared with its names: each has a value.
            for (_, value) in self.values.iter().filter(|(it, _)| *it == name) {
                value.write(language, to)?;
            }
            rest = after;
        }
        to.write_str(rest)
    }
}

/// What stands before the first name in braces, the name, and what stands behind it.
fn next_name(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Language::English, f)
    }
}

impl From<Rule> for Message {
    fn from(rule: Rule) -> Self {
        Self::plain(|language| rule.text_in(language))
    }
}

impl From<NoteKind> for Message {
    fn from(note: NoteKind) -> Self {
        Self::plain(|language| note.text_in(language))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &Message, english: &str, japanese: &str) {
        assert_eq!(message.to_string(), english);
        assert_eq!(message.in_language(Language::English), english);
        assert_eq!(message.in_language(Language::Japanese), japanese);
    }

    #[test]
    fn values_stand_where_the_language_has_them() {
        check(
            &said!("line {number} comes after line {before}", number = 3_u32, before = 1_u32),
            "line 3 comes after line 1",
            "1 番の読み筋の後に 3 番を送った",
        );
        // What an engine has said is no template.
        check(
            &said!("`{text}` is no message of the protocol", text = "{text} }{"),
            "`{text} }{` is no message of the protocol",
            "`{text} }{` はプロトコルのメッセージではない",
        );
    }

    #[test]
    fn phrases_are_in_the_language_of_their_sentence() {
        let when = said!("after a search");
        check(
            &said!("after `{command}` {when} `isready` was not answered", command = "stop", when),
            "after `stop` after a search `isready` was not answered",
            "探索の後の `stop` の後、`isready` に応答しなかった",
        );
        check(
            &said!(
                "with `{said}` it broke the rule that {rule}",
                said = "x",
                rule = Rule::AfterQuit
            ),
            "with `x` it broke the rule that nothing follows `quit`",
            "`x` は次の規則に反する: `quit` の後には何も送らない",
        );
    }

    #[test]
    fn notes_and_their_clauses_are_in_each_language() {
        let note = &NoteKind::NotANumber;
        check(
            &said!("{note} ({clause})", note, clause = Message::clause(*note)),
            "not a whole number (UCI 2006: <x> is a whole number)",
            "整数ではない (UCI 2006: <x> は整数)",
        );
    }

    #[test]
    fn what_is_only_english_stands_beside_english() {
        let english = "expected value at line 1 column 2";
        check(
            &said!("{english_syntax}", english_syntax = english),
            english,
            "JSON の構文が正しくない",
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_end_of_a_process_is_told_in_each_language() {
        use std::os::unix::process::ExitStatusExt;
        use std::process::ExitStatus;

        let ended = |raw| said!("it ended with {status}", status = ExitStatus::from_raw(raw));
        check(&ended(3 << 8), "it ended with exit status: 3", "終了した (終了コード 3)");
        check(&ended(9), "it ended with signal: 9 (SIGKILL)", "終了した (シグナル 9)");
    }
}
