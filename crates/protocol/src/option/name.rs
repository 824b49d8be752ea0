//! Names of options: spelling, comparison and limits.

use core::cmp::Ordering;
use core::fmt;

use crate::diagnostic::DiagnosticKind;
use crate::dialect::Dialect;
use crate::parser::Reader;
use crate::serializer::{WriteError, check_length, check_text};
use crate::tokenizer::{Token, has_byte_below};

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

impl<'a> Reader<'a> {
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
