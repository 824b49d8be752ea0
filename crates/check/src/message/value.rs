//! What stands in messages, out of what checks have at hand.

use std::borrow::Cow;
use std::fmt;
use std::process::ExitStatus;
use std::str::EscapeDebug;

use readyok_protocol::{Language, Move, NoteKind, Rule};

use super::Message;

/// What stands in a message in the place of a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Value {
    /// The same in each language.
    Word(String),
    /// A phrase, in the language of the message that it is in.
    Phrase(Box<Message>),
    /// How a process has ended, in English and in Japanese.
    Status(String, String),
}

impl Value {
    pub(super) fn write(&self, language: Language, to: &mut impl fmt::Write) -> fmt::Result {
        match (self, language) {
            (Self::Word(text), _)
            | (Self::Status(text, _), Language::English)
            | (Self::Status(_, text), Language::Japanese) => to.write_str(text),
            (Self::Phrase(message), _) => to.write_str(&message.in_language(language)),
        }
    }
}

macro_rules! words {
    ($($kind:ty),+) => {
        $(impl From<$kind> for Value {
            fn from(word: $kind) -> Self {
                Self::Word(word.to_string())
            }
        })+
    };
}

words!(
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
    fn from(phrase: Message) -> Self {
        Self::Phrase(Box::new(phrase))
    }
}

impl From<&Message> for Value {
    fn from(phrase: &Message) -> Self {
        phrase.clone().into()
    }
}

impl From<Rule> for Value {
    fn from(rule: Rule) -> Self {
        Message::from(rule).into()
    }
}

impl From<&NoteKind> for Value {
    fn from(note: &NoteKind) -> Self {
        Message::from(*note).into()
    }
}

impl From<ExitStatus> for Value {
    fn from(status: ExitStatus) -> Self {
        let japanese = match (status.code(), signal(status)) {
            (Some(code), _) => format!("終了コード {code}"),
            (None, Some(signal)) => format!("シグナル {signal}"),
            (None, None) => status.to_string(),
        };
        Self::Status(status.to_string(), japanese)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Language::English, f)
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
