//! `setoption name … value …`, and names of options: spelling, comparison and limits.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use core::cmp::Ordering;
use core::fmt;

use crate::diagnostic::DiagnosticKind;
use crate::dialect::Dialect;
use crate::parser::MessageReader;
use crate::serializer::{WriteError, check_length, check_text};
use crate::tokenizer::{Token, Tokens, has_byte_below};

/// Maximum length in bytes.
pub(crate) const MAX_NAME: usize = 256;

impl Dialect {
    /// Whether the GUI sends this option even to an engine that did not declare it.
    ///
    /// Shogi GUIs do so with `USI_Hash` and `USI_Ponder`.
    pub fn sends_undeclared(self, name: &str) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => self.same_option(name, "USI_Hash") || self.same_option(name, "USI_Ponder"),
        }
    }

    /// Whether the prefix of the name reserves its meaning: `UCI_…` (UCI 2006, option), in USI also
    /// `USI_…` (USI draft 1 §4).
    pub fn fixes_meaning(self, name: &str) -> bool {
        strip_prefix_ignoring_case(name, "UCI_").is_some()
            || (self == Self::Usi && strip_prefix_ignoring_case(name, "USI_").is_some())
    }

    /// The UCI name of an option in the spelling of this dialect.
    ///
    /// In USI, `Hash`, `Ponder` and `OwnBook` have the prefix `USI_`, `UCI_` becomes `USI_`, and a
    /// space becomes `_`. `MultiPV` is unchanged, as in deployed engines; the draft's `USI_MultiPV` is
    /// accepted.
    ///
    /// ```
    /// use readyok_protocol::Dialect;
    /// assert_eq!(Dialect::Usi.option_name("Hash").to_string(), "USI_Hash");
    /// assert_eq!(Dialect::Usi.option_name("Clear Hash").to_string(), "Clear_Hash");
    /// assert_eq!(Dialect::Uci.option_name("Clear Hash").to_string(), "Clear Hash");
    /// ```
    pub const fn option_name(self, name: &str) -> OptionName<'_> {
        OptionName { dialect: self, name }
    }

    /// Whether two names denote the same option. Case does not matter. In USI, runs of spaces and
    /// underscores are equal, and `USI_Hash`, `Hash` and `UCI_Hash` are the same.
    ///
    /// In UCI only case and the length of runs of spaces are ignored. A name longer than
    /// [`OptionDecl::MAX_NAME`](crate::OptionDecl::MAX_NAME) never matches, not even itself.
    pub fn same_option(self, a: &str, b: &str) -> bool {
        if MAX_NAME < a.len().max(b.len()) {
            return false;
        }
        self.compare_option_names(a, b).is_eq()
    }

    /// An order of names in which names of the same option are equal.
    pub(crate) fn compare_option_names(self, a: &str, b: &str) -> Ordering {
        let fold = |name| folded(without_prefix(self, name), self);
        fold(a).cmp(fold(b))
    }
}

/// The name of an option in the spelling of a dialect. See [`Dialect::option_name`].
#[derive(Clone, Copy, Debug)]
pub struct OptionName<'a> {
    dialect: Dialect,
    name: &'a str,
}

impl fmt::Display for OptionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dialect.spaces_in_option_names() {
            return f.write_str(self.name);
        }
        let rest = match self.name {
            "Hash" | "Ponder" | "OwnBook" => {
                f.write_str("USI_")?;
                self.name
            }
            _ => match strip_prefix_ignoring_case(self.name, "UCI_") {
                Some(rest) => {
                    f.write_str("USI_")?;
                    rest
                }
                None => self.name,
            },
        };
        for (index, part) in rest.split_ascii_whitespace().enumerate() {
            if 0 < index {
                f.write_str("_")?;
            }
            f.write_str(part)?;
        }
        Ok(())
    }
}

fn without_prefix(dialect: Dialect, name: &str) -> &str {
    match dialect {
        Dialect::Uci => name,
        Dialect::Usi => strip_prefix_ignoring_case(name, "USI_")
            .or_else(|| strip_prefix_ignoring_case(name, "UCI_"))
            .unwrap_or(name),
    }
}

fn strip_prefix_ignoring_case<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = name.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The name in lower case with one space for each run of separators.
fn folded(name: &str, dialect: Dialect) -> impl Iterator<Item = char> + '_ {
    let separator =
        move |c: char| c.is_ascii_whitespace() || (!dialect.spaces_in_option_names() && c == '_');
    let mut tokens = name.split(separator).filter(|token| !token.is_empty()).enumerate();
    let mut current = tokens.next().map(|(_, token)| token.chars());
    core::iter::from_fn(move || {
        let chars = current.as_mut()?;
        if let Some(c) = chars.next() {
            return Some(c.to_ascii_lowercase());
        }
        current = tokens.next().map(|(_, token)| token.chars());
        current.as_ref().map(|_| ' ')
    })
}

pub(crate) fn check_name(name: &str) -> Result<(), WriteError> {
    check_length("name of an option", name.len(), MAX_NAME)?;
    check_text("name of an option", name, &[])
}

impl<'a> MessageReader<'a> {
    /// The name of an option, unless it is too long.
    pub(crate) fn option_name(&mut self, name: Token<'a>) -> Option<&'a str> {
        if MAX_NAME < name.text.len() {
            self.report(name, DiagnosticKind::NameTooLong);
            return None;
        }
        if !self.dialect.spaces_in_option_names() && has_byte_below(b' ' + 1, name.text) {
            self.report(name, DiagnosticKind::SpaceInName);
        }
        Some(name.text)
    }
}

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
        let is_option = |name: &str| name.len() <= MAX_NAME && is_option(name);
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
        check_name(&self.name)?;
        if keyword_in(&self.name).is_some() {
            return Err(WriteError::Keyword { field: "name of an option", keyword: "value" });
        }
        if self.value.is_none() && keyword_in_any_case(&self.name).is_some() {
            return Err(WriteError::Misread { field: "name of an option" });
        }
        if let Some(value) = &self.value
            && !value.is_empty()
        {
            check_text("value of an option", value, &[])?;
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
pub(super) fn read<'a>(reader: &mut MessageReader<'a>) -> Option<SetOption<'a>> {
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
fn read_name<'a>(reader: &mut MessageReader<'a>) -> Option<SetOption<'a>> {
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
fn read_swapped<'a>(reader: &mut MessageReader<'a>) -> Option<SetOption<'a>> {
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
