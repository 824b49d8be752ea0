//! Values of options, validated against the declaration, and the options of an engine.

#![expect(clippy::allow_attributes, reason = "`errors!` has one, for other crates")]

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::Dialect;
use crate::command::decoded;
use crate::option::decl::{OptionDecl, OptionKind, whole_number};
use crate::option::known::KnownOption;
use crate::translation::display_text;

/// The value of an option.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum OptionValue {
    /// Value of a check option.
    Check(bool),
    /// Value of a spin option.
    Spin(i64),
    /// Value of a combo, string or filename option, or one of an unknown type. May be empty.
    Text(String),
    /// A button was pressed.
    Pressed,
}

crate::errors! {
    /// Why a text is not a value of an option.
    #[derive(Clone, Debug, Eq, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(tag = "code", rename_all = "snake_case"))]
    // Aliases are the names in results of matches before the codes of the page replaced them.
    #[non_exhaustive]
    pub enum OptionError {
        NotABoolean { option: String = display_text(option), value: String = display_text(value) } =>
            "option `{option}` is `true` or `false`, not `{value}`",
        #[cfg_attr(feature = "serde", serde(alias = "not-a-number"))]
        NotAnInteger { option: String = display_text(option), value: String = display_text(value) } =>
            "option `{option}` is a whole number, not `{value}`",
        OutOfRange {
            option: String = display_text(option),
            value: i64,
            /// The smallest value, if there is one.
            min: Option<i64> = end(*min, "-∞"),
            /// The largest value, if there is one.
            max: Option<i64> = end(*max, "∞"),
        } => "option `{option}` is between {min} and {max}, not {value}",
        #[cfg_attr(feature = "serde", serde(alias = "not-a-choice"))]
        UnknownChoice {
            option: String = display_text(option),
            value: String = display_text(value),
            choices: Vec<String> = quoted(choices),
        } => "option `{option}` cannot be `{value}`, only {choices}",
        /// Or NUL.
        LineBreak { option: String = display_text(option) } => "line end in the value of option `{option}`",
        #[cfg_attr(feature = "serde", serde(alias = "no-value"))]
        MissingValue { option: String = display_text(option) } => "option `{option}` needs a value",
        #[cfg_attr(feature = "serde", serde(alias = "unwanted-value"))]
        OptionIsButton { option: String = display_text(option), value: String = display_text(value) } =>
            "button `{option}` takes no value, not `{value}`",
    }
}

fn end(end: Option<i64>, missing: &str) -> String {
    end.map_or_else(|| missing.to_owned(), |end| end.to_string())
}

fn quoted(choices: &[String]) -> String {
    choices
        .iter()
        .map(|choice| format!("`{}`", display_text(choice)))
        .collect::<Vec<_>>()
        .join(", ")
}

impl OptionDecl<'_> {
    /// The default, if the engine declared a valid one.
    pub fn default_value(&self) -> Option<OptionValue> {
        match &self.kind {
            OptionKind::Check { default } => default.map(OptionValue::Check),
            OptionKind::Spin { default, .. } => default.map(OptionValue::Spin),
            OptionKind::Combo { default, .. }
            | OptionKind::String { default }
            | OptionKind::Filename { default } => {
                default.as_deref().map(|text| OptionValue::Text(text.to_owned()))
            }
            OptionKind::Button | OptionKind::Other { .. } => None,
        }
    }

    /// Parses the value of a `setoption`. Case does not matter, except in free text; the choice of a combo
    /// is returned as declared. `<empty>` is the empty text.
    ///
    /// # Errors
    /// The text is not a value of this option.
    pub fn value(&self, text: Option<&str>) -> Result<OptionValue, OptionError> {
        let option = || self.name.clone().into_owned();
        if let OptionKind::Button = self.kind {
            return match text {
                None | Some("") => Ok(OptionValue::Pressed),
                Some(text) => {
                    Err(OptionError::OptionIsButton { option: option(), value: text.to_owned() })
                }
            };
        }
        let text = text.ok_or_else(|| OptionError::MissingValue { option: option() })?;
        if text.bytes().any(|byte| matches!(byte, b'\n' | b'\r' | 0)) {
            return Err(OptionError::LineBreak { option: option() });
        }
        let value = || text.to_owned();
        match &self.kind {
            OptionKind::Check { .. } => match text {
                _ if text.eq_ignore_ascii_case("true") => Ok(OptionValue::Check(true)),
                _ if text.eq_ignore_ascii_case("false") => Ok(OptionValue::Check(false)),
                _ => Err(OptionError::NotABoolean { option: option(), value: value() }),
            },
            OptionKind::Spin { min, max, .. } => {
                let number = whole_number(text).ok_or_else(|| OptionError::NotAnInteger {
                    option: option(),
                    value: value(),
                })?;
                if min.is_some_and(|min| number < min) || max.is_some_and(|max| max < number) {
                    let (min, max) = (*min, *max);
                    return Err(OptionError::OutOfRange {
                        option: option(),
                        value: number,
                        min,
                        max,
                    });
                }
                Ok(OptionValue::Spin(number))
            }
            OptionKind::Combo { default, vars } => default
                .iter()
                .chain(vars)
                .find(|choice| choice.eq_ignore_ascii_case(&decoded(text)))
                .map(|choice| OptionValue::Text(choice.clone().into_owned()))
                .ok_or_else(|| OptionError::UnknownChoice {
                    option: option(),
                    value: value(),
                    choices: vars.iter().cloned().map(Cow::into_owned).collect(),
                }),
            OptionKind::Button
            | OptionKind::String { .. }
            | OptionKind::Filename { .. }
            | OptionKind::Other { .. } => Ok(OptionValue::Text(decoded(text).into_owned())),
        }
    }
}

impl OptionValue {
    /// The text after `value` in `setoption`. `None` for a button.
    pub fn to_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Check(true) => Some(Cow::Borrowed("true")),
            Self::Check(false) => Some(Cow::Borrowed("false")),
            Self::Spin(number) => Some(Cow::Owned(alloc::format!("{number}"))),
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Pressed => None,
        }
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_text().as_deref().unwrap_or_default())
    }
}

/// The options of an engine, in the order of declaration, with unique names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OptionSet {
    dialect: Dialect,
    decls: Vec<OptionDecl<'static>>,
    /// Indexes into `decls`, sorted by name: an engine may declare thousands.
    sorted: Vec<usize>,
    /// Memory of all declarations.
    bytes: usize,
}

/// The engine has no option with this name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownOption {
    /// The requested name.
    pub name: String,
}

impl OptionSet {
    /// Maximum number of options. Further ones are ignored; no known engine has a tenth of them.
    pub const MAX_LEN: usize = 4096;

    /// Maximum memory of all declarations in bytes. One that would exceed it is ignored.
    pub const MAX_BYTES: usize = 1 << 20;

    /// An empty set. The dialect decides which names are equal.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, decls: Vec::new(), sorted: Vec::new(), bytes: 0 }
    }

    /// The dialect that decides which names are equal.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Adds a declaration, or replaces the one with the same name. One beyond the limits is ignored,
    /// and so is one whose name is longer than [`OptionDecl::MAX_NAME`].
    pub fn declare(&mut self, decl: OptionDecl<'static>) {
        let place = self.place(&decl.name);
        let count = self.decls.len();
        let index = place.ok().and_then(|place| self.sorted.get(place).copied());
        let old = index.and_then(|index| self.decls.get_mut(index));
        let bytes = self.bytes - old.as_ref().map_or(0, |old| old.size()) + decl.size();
        if Self::MAX_BYTES < bytes || OptionDecl::MAX_NAME < decl.name.len() {
            return;
        }
        match (old, place) {
            (Some(old), _) => *old = decl,
            (None, Err(place)) if count < Self::MAX_LEN => {
                self.sorted.insert(place, count);
                self.decls.push(decl);
            }
            (None, _) => return,
        }
        self.bytes = bytes;
    }

    /// Finds an option by name, in any equivalent spelling of the dialect.
    pub fn find(&self, name: &str) -> Option<&OptionDecl<'static>> {
        self.decls.get(self.index(name)?)
    }

    /// Finds an option by name.
    ///
    /// # Errors
    /// No option has this name.
    pub fn require(&self, name: &str) -> Result<&OptionDecl<'static>, UnknownOption> {
        self.find(name).ok_or_else(|| UnknownOption { name: name.to_owned() })
    }

    /// The index of an option in the order of declaration.
    pub fn index(&self, name: &str) -> Option<usize> {
        if OptionDecl::MAX_NAME < name.len() {
            return None;
        }
        self.sorted.get(self.place(name).ok()?).copied()
    }

    /// Index of a name in `sorted`, or its insertion point.
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.sorted.binary_search_by(|&index| {
            let decl = self.decls.get(index).map_or("", |decl| &decl.name);
            self.dialect.compare_option_names(decl, name)
        })
    }

    /// The engine's text about itself (`UCI_EngineAbout`), such as its license.
    pub fn engine_about(&self) -> Option<&str> {
        match &self.find(KnownOption::EngineAbout.name())?.kind {
            OptionKind::String { default: Some(text) } if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// All options, in the order of declaration.
    pub fn iter(&self) -> core::slice::Iter<'_, OptionDecl<'static>> {
        self.decls.iter()
    }

    /// The number of options.
    pub fn len(&self) -> usize {
        self.decls.len()
    }

    /// Whether there are no options.
    pub fn is_empty(&self) -> bool {
        self.decls.is_empty()
    }
}

impl<'a> IntoIterator for &'a OptionSet {
    type Item = &'a OptionDecl<'static>;
    type IntoIter = core::slice::Iter<'a, OptionDecl<'static>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for UnknownOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine has no option `{}`", self.name.escape_debug())
    }
}

impl core::error::Error for UnknownOption {}
