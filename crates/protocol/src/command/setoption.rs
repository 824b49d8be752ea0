//! `setoption name … value …`.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use core::fmt;

use crate::diagnostic::DiagnosticKind;
use crate::option::name;
use crate::parser::Reader;
use crate::serializer::{self, WriteError};
use crate::tokenizer::{Token, Tokens};

/// The notation of an empty text after `value` or `default`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum EmptyText {
    /// `<empty>` (UCI 2006, option type string).
    Keyword,
    /// No text, for engines that do not support `<empty>`.
    Blank,
}

impl EmptyText {
    const fn text(self) -> &'static str {
        match self {
            Self::Keyword => "<empty>",
            Self::Blank => "",
        }
    }
}

/// `setoption name <name> [value <value>]`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SetOption<'a> {
    /// The name as sent, including inner spaces. Compare it with
    /// [`Dialect::same_option`](crate::Dialect::same_option).
    pub name: Cow<'a, str>,
    /// The value. `None` without a token `value`, as for a button; empty if nothing or `<empty>`
    /// follows it.
    pub value: Option<Cow<'a, str>>,
}

impl SetOption<'_> {
    /// The same message, split at the token `value` that yields the name of an option.
    ///
    /// `setoption name draw value value 3` is ambiguous. The reader splits at the first `value`, or
    /// without one at the first in another case. With a list of options this method is exact.
    /// `is_option` is called only with names up to [`OptionDecl::MAX_NAME`](crate::OptionDecl::MAX_NAME) bytes.
    #[must_use]
    pub fn resolved(self, is_option: impl Fn(&str) -> bool) -> Self {
        let is_option = |name: &str| name.len() <= name::MAX_NAME && is_option(name);
        let Some(value) = self.value.as_deref().filter(|_| !is_option(&self.name)) else {
            return self;
        };
        let whole = format!("{} value {value}", self.name);
        let cut = Tokens::of(&whole).find_map(|token| {
            let name = whole.get(..token.start)?.trim_end();
            let value = whole.get(token.end()..)?.trim_start();
            (token.text == "value" && is_option(name)).then(|| (name.to_owned(), value.to_owned()))
        });
        match cut {
            Some((name, value)) => {
                SetOption { name: Cow::Owned(name), value: Some(Cow::Owned(value)) }
            }
            None if is_option(&whole) => SetOption { name: Cow::Owned(whole), value: None },
            None => self,
        }
    }

    /// The message as read without a list of options: split at the first token `value`, even inside
    /// the name. Inverse of [`resolved`](Self::resolved).
    #[must_use]
    pub(crate) fn unresolved(self, empty: EmptyText) -> Self {
        let (Some(value), Some(token)) = (&self.value, keyword_in(&self.name)) else { return self };
        let (before, after) = (self.name.get(..token.start), self.name.get(token.end()..));
        let name = before.unwrap_or_default().trim_end().to_owned();
        let rest = after.unwrap_or_default().trim_start();
        let space = if rest.is_empty() { "" } else { " " };
        let value = if value.is_empty() { empty.text() } else { value };
        let value = format!("{rest}{space}value {value}");
        SetOption { name: Cow::Owned(name), value: Some(Cow::Owned(value.trim_end().to_owned())) }
    }

    pub(crate) fn write(&self, out: &mut (impl fmt::Write + ?Sized)) -> Result<(), WriteError> {
        self.write_spelled(EmptyText::Keyword, out)
    }

    /// Writes the message with the given notation of the empty text.
    pub(crate) fn write_spelled(
        &self,
        empty: EmptyText,
        out: &mut (impl fmt::Write + ?Sized),
    ) -> Result<(), WriteError> {
        name::check_name(&self.name)?;
        if keyword_in(&self.name).is_some() {
            return Err(WriteError::Keyword { field: "name of an option", keyword: "value" });
        }
        if self.value.is_none() && keyword_in_any_case(&self.name).is_some() {
            return Err(WriteError::Misread { field: "name of an option" });
        }
        if let Some(value) = &self.value
            && !value.is_empty()
        {
            serializer::check_text("value of an option", value, &[])?;
        }
        out.write_str("setoption name ")?;
        out.write_str(&self.name)?;
        if let Some(value) = &self.value {
            out.write_str(" value ")?;
            out.write_str(if value.is_empty() { empty.text() } else { value })?;
        }
        Ok(())
    }

    /// The same message without borrows.
    pub fn into_owned(self) -> SetOption<'static> {
        SetOption {
            name: Cow::Owned(self.name.into_owned()),
            value: self.value.map(|value| Cow::Owned(value.into_owned())),
        }
    }
}

/// Reads the rest of `setoption`. `None` without a name.
pub(super) fn read<'a>(reader: &mut Reader<'a>) -> Option<SetOption<'a>> {
    let first = reader.tokens.peek();
    let is = |token: &str, key: &str| token.eq_ignore_ascii_case(key);
    match first {
        Some(token) if is(token.text, "name") => {
            if token.text != "name" {
                reader.report(token, DiagnosticKind::WrongCase);
            }
            reader.tokens.next();
        }
        Some(token) if is(token.text, "value") => return read_swapped(reader),
        Some(_) => reader.report_missing(DiagnosticKind::MissingKeyword),
        None => (),
    }
    read_name(reader)
}

/// The token that ends a name. The first token always belongs to the name.
fn keyword_in(name: &str) -> Option<Token<'_>> {
    Tokens::of(name).skip(1).find(|token| token.text == "value")
}

/// The keyword in another case, if a token follows it. Otherwise it is the end of a name such as
/// `Max Value`.
fn keyword_in_any_case(name: &str) -> Option<Token<'_>> {
    let mut tokens = Tokens::of(name).skip(1).peekable();
    while let Some(token) = tokens.next() {
        if token.text.eq_ignore_ascii_case("value") && tokens.peek().is_some() {
            return Some(token);
        }
    }
    None
}

/// Reads the tokens after `name`.
fn read_name<'a>(reader: &mut Reader<'a>) -> Option<SetOption<'a>> {
    let start = reader.tokens.next_start();
    let text = reader.tokens.rest().text;
    let keyword = keyword_in(text).or_else(|| keyword_in_any_case(text));
    let keyword = keyword.map(|token| Token { start: start + token.start, ..token });
    let end = keyword.map_or_else(|| reader.tokens.line().len(), |token| token.start);
    let name = reader.tokens.slice(start, end);
    reader.tokens.go_to(keyword.map_or(end, |token| token.end()));
    if let Some(token) = keyword.filter(|token| token.text != "value") {
        reader.report(token, DiagnosticKind::WrongCase);
    }
    let value = keyword.map(|_| decoded(reader.tokens.rest().text));
    if name.text.is_empty() {
        reader.report_missing(DiagnosticKind::Missing);
        return None;
    }
    Some(SetOption { name: Cow::Borrowed(reader.option_name(name)?), value })
}

/// `setoption value … name …`. A second `value`, after the name, takes precedence.
fn read_swapped<'a>(reader: &mut Reader<'a>) -> Option<SetOption<'a>> {
    let value_key = reader.tokens.next()?;
    let start = reader.tokens.next_start();
    let mut end = start;
    while let Some(token) = reader.tokens.next() {
        if token.text.eq_ignore_ascii_case("name") {
            reader.report(value_key, DiagnosticKind::WrongOrder);
            let first = reader.tokens.slice(start, end);
            let mut read = read_name(reader)?;
            if read.value.is_some() {
                reader.report(first, DiagnosticKind::Repeated);
            } else {
                read.value = Some(decoded(first.text));
            }
            return Some(read);
        }
        end = token.end();
    }
    reader.report_missing(DiagnosticKind::Missing);
    None
}

/// The empty string is `<empty>` in the protocol (UCI 2006, option type string).
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(if text == "<empty>" { "" } else { text })
}

/// Inverse of [`decoded`].
pub(crate) fn encoded(text: &str) -> &str {
    if text.is_empty() { EmptyText::Keyword.text() } else { text }
}
