//! `setoption name … value …`.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use core::fmt;

use crate::OptionDecl;
use crate::diagnostic::DiagnosticKind;
use crate::read::Reader;
use crate::words::{Word, Words};
use crate::write::{self, WriteError};

/// How the empty text is written after `value` or `default`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum EmptyText {
    /// As `<empty>` (UCI 2006, option type string).
    Keyword,
    /// As nothing, which engines that do not know `<empty>` need.
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
    /// The name as it was sent, with the spaces within it. Compare it with
    /// [`Dialect::same_option`](crate::Dialect::same_option).
    pub name: Cow<'a, str>,
    /// The value. `None` if there is no word `value`, as for a button; empty if nothing follows
    /// it, or `<empty>` does.
    pub value: Option<Cow<'a, str>>,
}

impl SetOption<'_> {
    /// The same message, cut at the word `value` that makes the name an option.
    ///
    /// `setoption name draw value value 3` can be read in two ways. The reader cuts at the first
    /// `value`, and at one in another case only if there is no other; whoever knows the options can do
    /// better. `is_option` is asked only of names that are no longer than [`OptionDecl::MAX_NAME`].
    #[must_use]
    pub fn resolved(self, is_option: impl Fn(&str) -> bool) -> Self {
        let is_option = |name: &str| name.len() <= OptionDecl::MAX_NAME && is_option(name);
        let Some(value) = self.value.as_deref().filter(|_| !is_option(&self.name)) else {
            return self;
        };
        let whole = format!("{} value {value}", self.name);
        let cut = Words::of(&whole).find_map(|word| {
            let name = whole.get(..word.start)?.trim_end();
            let value = whole.get(word.end()..)?.trim_start();
            (word.text == "value" && is_option(name)).then(|| (name.to_owned(), value.to_owned()))
        });
        match cut {
            Some((name, value)) => {
                SetOption { name: Cow::Owned(name), value: Some(Cow::Owned(value)) }
            }
            None if is_option(&whole) => SetOption { name: Cow::Owned(whole), value: None },
            None => self,
        }
    }

    /// The same message cut where whoever does not know the options cuts it: at the first word `value`,
    /// though that is part of the name. [`resolved`](Self::resolved) undoes it.
    #[must_use]
    pub(crate) fn unresolved(self, empty: EmptyText) -> Self {
        let (Some(value), Some(word)) = (&self.value, keyword_in(&self.name)) else { return self };
        let (before, after) = (self.name.get(..word.start), self.name.get(word.end()..));
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

    /// Writes the message for an engine that has its own notation of the empty text.
    pub(crate) fn write_spelled(
        &self,
        empty: EmptyText,
        out: &mut (impl fmt::Write + ?Sized),
    ) -> Result<(), WriteError> {
        write::check_option_name(&self.name)?;
        if keyword_in(&self.name).is_some() {
            return Err(WriteError::Keyword { field: "name of an option", keyword: "value" });
        }
        if self.value.is_none() && keyword_in_any_case(&self.name).is_some() {
            return Err(WriteError::Misread { field: "name of an option" });
        }
        if let Some(value) = &self.value
            && !value.is_empty()
        {
            write::check_text("value of an option", value, &[])?;
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

/// Reads what follows `setoption`. `None` without a name.
pub(super) fn read<'a>(reader: &mut Reader<'a>) -> Option<SetOption<'a>> {
    let first = reader.words.peek();
    let is = |word: &str, key: &str| word.eq_ignore_ascii_case(key);
    match first {
        Some(word) if is(word.text, "name") => {
            if word.text != "name" {
                reader.report(word, DiagnosticKind::WrongCase);
            }
            reader.words.next();
        }
        Some(word) if is(word.text, "value") => return read_swapped(reader),
        Some(_) => reader.report_missing(DiagnosticKind::MissingKeyword),
        None => (),
    }
    read_name(reader)
}

/// The word that ends a name. The first word is part of it, whatever it is.
fn keyword_in(name: &str) -> Option<Word<'_>> {
    Words::of(name).skip(1).find(|word| word.text == "value")
}

/// The word that ends a name in a line where no other does: in another case, and with a word after it.
/// Without one it is the end of a name such as `Max Value`.
fn keyword_in_any_case(name: &str) -> Option<Word<'_>> {
    let mut words = Words::of(name).skip(1).peekable();
    while let Some(word) = words.next() {
        if word.text.eq_ignore_ascii_case("value") && words.peek().is_some() {
            return Some(word);
        }
    }
    None
}

/// Reads what follows `name`.
fn read_name<'a>(reader: &mut Reader<'a>) -> Option<SetOption<'a>> {
    let start = reader.words.next_start();
    let text = reader.words.rest().text;
    let keyword = keyword_in(text).or_else(|| keyword_in_any_case(text));
    let keyword = keyword.map(|word| Word { start: start + word.start, ..word });
    let end = keyword.map_or_else(|| reader.words.line().len(), |word| word.start);
    let name = reader.words.slice(start, end);
    reader.words.go_to(keyword.map_or(end, |word| word.end()));
    if let Some(word) = keyword.filter(|word| word.text != "value") {
        reader.report(word, DiagnosticKind::WrongCase);
    }
    let value = keyword.map(|_| decoded(reader.words.rest().text));
    if name.text.is_empty() {
        reader.report_missing(DiagnosticKind::Missing);
        return None;
    }
    Some(SetOption { name: Cow::Borrowed(reader.option_name(name)?), value })
}

/// `setoption value … name …`. A second `value`, after the name, is the value.
fn read_swapped<'a>(reader: &mut Reader<'a>) -> Option<SetOption<'a>> {
    let value_key = reader.words.next()?;
    let start = reader.words.next_start();
    let mut end = start;
    while let Some(word) = reader.words.next() {
        if word.text.eq_ignore_ascii_case("name") {
            reader.report(value_key, DiagnosticKind::WrongOrder);
            let first = reader.words.slice(start, end);
            let mut read = read_name(reader)?;
            if read.value.is_some() {
                reader.report(first, DiagnosticKind::Repeated);
            } else {
                read.value = Some(decoded(first.text));
            }
            return Some(read);
        }
        end = word.end();
    }
    reader.report_missing(DiagnosticKind::Missing);
    None
}

/// The empty string is `<empty>` on the wire (UCI 2006, option type string).
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(if text == "<empty>" { "" } else { text })
}

/// A text as it stands on the wire.
pub(crate) fn encoded(text: &str) -> &str {
    if text.is_empty() { EmptyText::Keyword.text() } else { text }
}
