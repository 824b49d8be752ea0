//! `setoption name … value …`.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use core::fmt;

use crate::OptionDecl;
use crate::note::NoteKind;
use crate::read::Reader;
use crate::words::Words;
use crate::write::{self, WriteError};

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
    /// `value`; whoever knows the options can do better. `is_option` is asked only of names that
    /// are no longer than [`OptionDecl::MAX_NAME`].
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

    pub(crate) fn write(&self, out: &mut (impl fmt::Write + ?Sized)) -> Result<(), WriteError> {
        write::check_option_name(&self.name)?;
        // The first word is read as part of the name, whatever it is.
        if Words::of(&self.name).skip(1).any(|word| word.text.eq_ignore_ascii_case("value")) {
            return Err(WriteError::Keyword { field: "name of an option", keyword: "value" });
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
            out.write_str(encoded(value))?;
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
                reader.note(word, NoteKind::WrongCase);
            }
            reader.words.next();
        }
        Some(word) if is(word.text, "value") => return read_swapped(reader),
        Some(_) => reader.note_missing(NoteKind::MissingKeyword),
        None => (),
    }
    read_name(reader)
}

/// Reads what follows `name`.
fn read_name<'a>(reader: &mut Reader<'a>) -> Option<SetOption<'a>> {
    let start = reader.words.next_start();
    let mut end = start;
    let mut value = None;
    while let Some(word) = reader.words.next() {
        if word.text.eq_ignore_ascii_case("value") && start < word.start {
            if word.text != "value" {
                reader.note(word, NoteKind::WrongCase);
            }
            value = Some(decoded(reader.words.rest().text));
            break;
        }
        end = word.end();
    }
    let name = reader.words.slice(start, end);
    if name.text.is_empty() {
        reader.note_missing(NoteKind::Missing);
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
            reader.note(value_key, NoteKind::WrongOrder);
            let first = reader.words.slice(start, end);
            let mut read = read_name(reader)?;
            if read.value.is_some() {
                reader.note(first, NoteKind::Repeated);
            } else {
                read.value = Some(decoded(first.text));
            }
            return Some(read);
        }
        end = word.end();
    }
    reader.note_missing(NoteKind::Missing);
    None
}

/// The empty string is `<empty>` on the wire (UCI 2006, option type string).
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(if text == "<empty>" { "" } else { text })
}

/// A text as it stands on the wire.
pub(crate) fn encoded(text: &str) -> &str {
    if text.is_empty() { "<empty>" } else { text }
}
