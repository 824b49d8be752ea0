//! `option name … type …`: the declaration of an option.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use super::known::KnownOption;
use crate::command::setoption;
use crate::command::{EmptyText, decoded, encoded};
use crate::diagnostic::DiagnosticKind;
use crate::option::known::OptionType;
use crate::parser::{MessageReader, in_any_case};
use crate::serializer::{self, WriteError};
use crate::tokenizer::{Integer, Token, Tokens, has_byte_below, split_token};

/// The declaration of an option by an engine.
///
/// Defaults may be missing or invalid, as in some real engines; such options can be set anyway.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OptionDecl<'a> {
    /// The name in the engine's spelling.
    pub name: Cow<'a, str>,
    /// The type, with the default and the range.
    pub kind: OptionKind<'a>,
}

/// The type of an option.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum OptionKind<'a> {
    /// True or false.
    Check {
        /// The default.
        default: Option<bool>,
    },
    /// A whole number.
    Spin {
        /// The default.
        default: Option<i64>,
        /// The smallest value.
        min: Option<i64>,
        /// The largest value.
        max: Option<i64>,
    },
    /// One of several choices.
    Combo {
        /// The default. Some engines do not list it in `vars`.
        default: Option<Cow<'a, str>>,
        /// The choices, in the engine's order.
        vars: Vec<Cow<'a, str>>,
    },
    /// An action of the engine.
    Button,
    /// A text.
    String {
        /// The default.
        default: Option<Cow<'a, str>>,
    },
    /// The path of a file (USI).
    Filename {
        /// The default.
        default: Option<Cow<'a, str>>,
    },
    /// An unknown type.
    Other {
        /// The type.
        kind: Cow<'a, str>,
        /// The rest of the line.
        rest: Cow<'a, str>,
    },
}

impl<'a> OptionDecl<'a> {
    /// Maximum length of a name or type in bytes; known ones are less than a quarter of it. A message
    /// with a longer one is stored as text.
    pub const MAX_NAME: usize = setoption::MAX_NAME;

    /// Maximum length of a default or choice in bytes. A longer one is skipped: a truncated path would be
    /// another path.
    pub const MAX_TEXT: usize = 4096;

    /// Maximum number of choices of a combo. Further ones are skipped.
    pub const MAX_VARS: usize = 1024;

    /// A check option.
    pub fn check(name: impl Into<Cow<'a, str>>, default: bool) -> Self {
        Self { name: name.into(), kind: OptionKind::Check { default: Some(default) } }
    }

    /// A spin option.
    pub fn spin(name: impl Into<Cow<'a, str>>, default: i64, min: i64, max: i64) -> Self {
        let kind = OptionKind::Spin { default: Some(default), min: Some(min), max: Some(max) };
        Self { name: name.into(), kind }
    }

    /// A combo option.
    pub fn combo(
        name: impl Into<Cow<'a, str>>,
        default: impl Into<Cow<'a, str>>,
        vars: impl IntoIterator<Item = impl Into<Cow<'a, str>>>,
    ) -> Self {
        let vars = vars.into_iter().map(Into::into).collect();
        Self { name: name.into(), kind: OptionKind::Combo { default: Some(default.into()), vars } }
    }

    /// A button.
    pub fn button(name: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), kind: OptionKind::Button }
    }

    /// A string option.
    pub fn string(name: impl Into<Cow<'a, str>>, default: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), kind: OptionKind::String { default: Some(default.into()) } }
    }

    /// A filename option.
    pub fn filename(name: impl Into<Cow<'a, str>>, default: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), kind: OptionKind::Filename { default: Some(default.into()) } }
    }

    /// A text about the engine, such as its license: `UCI_EngineAbout`, whose default is the text and
    /// which is never set. [`OptionSet::engine_about`](crate::OptionSet::engine_about) reads it.
    pub fn engine_about(text: impl Into<Cow<'a, str>>) -> Self {
        Self::string(KnownOption::EngineAbout.name(), text)
    }

    /// The same declaration without borrows.
    pub fn into_owned(self) -> OptionDecl<'static> {
        OptionDecl { name: Cow::Owned(self.name.into_owned()), kind: self.kind.into_owned() }
    }

    /// Memory of the declaration in bytes, without allocator overhead.
    pub(super) fn size(&self) -> usize {
        let texts = match &self.kind {
            OptionKind::Combo { default, vars } => {
                let texts: usize = vars.iter().chain(default).map(|text| text.len()).sum();
                size_of_val(vars.as_slice()) + texts
            }
            OptionKind::String { default } | OptionKind::Filename { default } => {
                default.as_deref().map_or(0, str::len)
            }
            OptionKind::Other { kind, rest } => kind.len() + rest.len(),
            OptionKind::Check { .. } | OptionKind::Spin { .. } | OptionKind::Button => 0,
        };
        size_of::<Self>() + self.name.len() + texts
    }

    /// The notation of an empty text in the line of this declaration. `None` if it has no empty text.
    pub(crate) fn empty_text_in(&self, line: &str) -> Option<EmptyText> {
        match &self.kind {
            OptionKind::String { default: Some(text) }
            | OptionKind::Filename { default: Some(text) }
                if text.is_empty() =>
            {
                let last = Tokens::of(line).next_back();
                let is_keyword = last.is_some_and(|token| token.text == encoded(""));
                Some(if is_keyword { EmptyText::Keyword } else { EmptyText::Blank })
            }
            // A blank choice is skipped by the reader, so an empty choice was written as a keyword.
            OptionKind::Combo { default, vars } => {
                let has_empty = default.iter().chain(vars).any(|text| text.is_empty());
                has_empty.then_some(EmptyText::Keyword)
            }
            _ => None,
        }
    }

    pub(crate) fn write(&self, out: &mut (impl fmt::Write + ?Sized)) -> Result<(), WriteError> {
        self.check_name()?;
        if !self.kind.is_plain() {
            self.kind.check()?;
        }
        out.write_str("option name ")?;
        out.write_str(&self.name)?;
        self.kind.write(out)?;
        Ok(())
    }

    #[inline]
    fn check_name(&self) -> Result<(), WriteError> {
        let name = &*self.name;
        // Fast path: a single token before a known type is never split.
        let is_plain = !matches!(self.kind, OptionKind::Other { .. }) && serializer::is_token(name);
        if is_plain && name.len() <= Self::MAX_NAME { Ok(()) } else { self.check_any_name() }
    }

    fn check_any_name(&self) -> Result<(), WriteError> {
        setoption::check_name(&self.name)?;
        if !self.ends_its_name() {
            return Err(WriteError::Keyword { field: "name of an option", keyword: "type" });
        }
        Ok(())
    }

    /// Whether the reader would end the name at its end.
    fn ends_its_name(&self) -> bool {
        let rest = match &self.kind {
            OptionKind::Other { rest, .. } => rest,
            _ => "",
        };
        let end = self.name.len();
        let key = Token { text: "type", start: end };
        let after = [self.kind.keyword(), rest].into_iter().flat_map(Tokens::of);
        let after = after.map(|token| Token { start: end + 1, ..token });
        name_end(Tokens::of(&self.name).chain([key]).chain(after))
            .is_some_and(|(last_span, _)| last_span.start == end)
    }
}

fn check_text(
    field: &'static str,
    text: &str,
    keywords: &[&'static str],
) -> Result<(), WriteError> {
    serializer::check_length(field, text.len(), OptionDecl::MAX_TEXT)?;
    serializer::check_text(field, text, keywords)
}

/// Fast path for nearly all choices: one short token with another length than `var` and
/// `default`.
#[inline]
fn is_plain_choice(text: &str) -> bool {
    !matches!(text.len(), 0 | 3 | 7 | 17..) && !has_byte_below(b' ' + 1, text)
}

fn check_choice(text: &str) -> Result<(), WriteError> {
    if is_plain_choice(text) { Ok(()) } else { check_any_choice(text) }
}

fn check_any_choice(text: &str) -> Result<(), WriteError> {
    let keywords = &["var", "default"];
    if text.is_empty() { Ok(()) } else { check_text("choice of an option", text, keywords) }
}

impl OptionKind<'_> {
    /// The type. `None` if it is unknown.
    pub fn option_type(&self) -> Option<OptionType> {
        Some(match self {
            Self::Check { .. } => OptionType::Check,
            Self::Spin { .. } => OptionType::Spin,
            Self::Combo { .. } => OptionType::Combo,
            Self::Button => OptionType::Button,
            Self::String { .. } => OptionType::String,
            Self::Filename { .. } => OptionType::Filename,
            Self::Other { .. } => return None,
        })
    }

    /// The keyword of the type.
    pub fn keyword(&self) -> &str {
        match self {
            Self::Check { .. } => "check",
            Self::Spin { .. } => "spin",
            Self::Combo { .. } => "combo",
            Self::Button => "button",
            Self::String { .. } => "string",
            Self::Filename { .. } => "filename",
            Self::Other { kind, .. } => kind,
        }
    }

    /// Whether the type is a combo of plain choices, which need no further check.
    #[inline]
    fn is_plain(&self) -> bool {
        let Self::Combo { default, vars } = self else { return false };
        vars.len() <= OptionDecl::MAX_VARS
            && default.as_deref().is_none_or(is_plain_choice)
            && vars.iter().all(|text| is_plain_choice(text))
    }

    #[inline(never)]
    fn check(&self) -> Result<(), WriteError> {
        match self {
            Self::Check { .. } | Self::Spin { .. } | Self::Button => (),
            Self::Combo { default, vars } => {
                serializer::check_length("choices of an option", vars.len(), OptionDecl::MAX_VARS)?;
                default.as_deref().map_or(Ok(()), check_choice)?;
                vars.iter().try_for_each(|text| check_choice(text))?;
            }
            Self::String { default } | Self::Filename { default } => {
                if let Some(text) = default.as_deref().filter(|text| !text.is_empty()) {
                    check_text("default of an option", text, &[])?;
                }
            }
            Self::Other { kind, rest } => {
                serializer::check_length("type of an option", kind.len(), OptionDecl::MAX_NAME)?;
                serializer::check_token("type of an option", kind)?;
                if in_any_case(kind, OptionType::from_token).is_some() {
                    return Err(WriteError::Misread { field: "type of an option" });
                }
                if !rest.is_empty() {
                    check_text("declaration of an option", rest, &[])?;
                }
            }
        }
        Ok(())
    }

    fn write(&self, out: &mut (impl fmt::Write + ?Sized)) -> fmt::Result {
        match self {
            Self::Check { default: Some(true) } => out.write_str(" type check default true"),
            Self::Check { default: Some(false) } => out.write_str(" type check default false"),
            Self::Check { default: None } => out.write_str(" type check"),
            Self::Spin { default, min, max } => {
                out.write_str(" type spin")?;
                serializer::signed(out, " default ", *default)?;
                serializer::signed(out, " min ", *min)?;
                serializer::signed(out, " max ", *max)
            }
            Self::Combo { default, vars } => {
                match default {
                    Some(text) => write_text(" type combo default ", Some(text), out)?,
                    None => out.write_str(" type combo")?,
                }
                vars.iter().try_for_each(|text| write_text(" var ", Some(text), out))
            }
            Self::Button => out.write_str(" type button"),
            Self::String { default } => {
                out.write_str(" type string")?;
                write_text(" default ", default.as_deref(), out)
            }
            Self::Filename { default } => {
                out.write_str(" type filename")?;
                write_text(" default ", default.as_deref(), out)
            }
            Self::Other { kind, rest } => {
                out.write_str(" type ")?;
                out.write_str(kind)?;
                out.write_str(if rest.is_empty() { "" } else { " " })?;
                out.write_str(rest)
            }
        }
    }

    /// The same type without borrows.
    pub fn into_owned(self) -> OptionKind<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Check { default } => OptionKind::Check { default },
            Self::Spin { default, min, max } => OptionKind::Spin { default, min, max },
            Self::Combo { default, vars } => OptionKind::Combo {
                default: default.map(owned),
                vars: vars.into_iter().map(owned).collect(),
            },
            Self::Button => OptionKind::Button,
            Self::String { default } => OptionKind::String { default: default.map(owned) },
            Self::Filename { default } => OptionKind::Filename { default: default.map(owned) },
            Self::Other { kind, rest } => {
                OptionKind::Other { kind: owned(kind), rest: owned(rest) }
            }
        }
    }
}

/// Writes ` key text` if there is a text.
#[inline]
fn write_text(
    key: &'static str,
    text: Option<&str>,
    out: &mut (impl fmt::Write + ?Sized),
) -> fmt::Result {
    let Some(text) = text else { return Ok(()) };
    out.write_str(key)?;
    if text.is_empty() { out.write_str(encoded("")) } else { out.write_str(text) }
}

/// Reads the rest of `option`. `None` without a name or a type.
///
/// The name ends at the first `type` before a known type, or else at the first `type`, because a name
/// may contain any token.
pub(crate) fn read<'a>(reader: &mut MessageReader<'a>) -> Option<OptionDecl<'a>> {
    let before = reader.tokens.at();
    match reader.tokens.next() {
        Some(token) if token.text == "name" => (),
        Some(token) if token.text.eq_ignore_ascii_case("name") => {
            reader.report(token, DiagnosticKind::WrongCase);
        }
        Some(token) if token.text == "type" => return read_type_first(token, reader),
        Some(_) => {
            reader.tokens.go_to(before);
            reader.report_missing(DiagnosticKind::MissingKeyword);
        }
        None => {
            reader.report_missing(DiagnosticKind::Missing);
            return None;
        }
    }
    let Some((name, type_token)) = split_name(reader) else {
        reader.report_missing(DiagnosticKind::Missing);
        return None;
    };
    let name = reader.option_name(name)?;
    if OptionDecl::MAX_NAME < type_token.text.len() {
        reader.report(type_token, DiagnosticKind::NameTooLong);
        return None;
    }
    let kind = read_kind(type_token, reader);
    Some(OptionDecl { name: Cow::Borrowed(name), kind })
}

/// Splits off the name and reads `type` and the token after it.
fn split_name<'a>(reader: &mut MessageReader<'a>) -> Option<(Token<'a>, Token<'a>)> {
    let start = reader.tokens.next_start();
    let (key, type_token) = name_end(reader.tokens.clone())?;
    if key.text != "type" {
        reader.report(key, DiagnosticKind::WrongCase);
    }
    reader.tokens.go_to(type_token.end());
    Some((reader.tokens.slice(start, key.start), type_token))
}

/// The token `type` after the name, and the token after it.
fn name_end<'a>(mut tokens: impl Iterator<Item = Token<'a>>) -> Option<(Token<'a>, Token<'a>)> {
    let mut first = None;
    // The first token always belongs to the name.
    tokens.next()?;
    let mut token = tokens.next()?;
    for next in tokens {
        if token.text.eq_ignore_ascii_case("type") {
            if OptionType::from_token(next.text).is_some() {
                return Some((token, next));
            }
            first = first.or(Some((token, next)));
        }
        token = next;
    }
    first
}

/// `option type … name …`, with a name of one token.
fn read_type_first<'a>(
    type_key: Token<'_>,
    reader: &mut MessageReader<'a>,
) -> Option<OptionDecl<'a>> {
    let type_token = reader.tokens.next();
    let name_key = reader.tokens.next();
    reader.report(type_key, DiagnosticKind::WrongOrder);
    name_key.filter(|token| token.text == "name")?;
    let type_token = type_token.filter(|token| OptionType::from_token(token.text).is_some())?;
    let name = reader.tokens.next()?;
    let name = reader.option_name(name)?;
    let kind = read_kind(type_token, reader);
    Some(OptionDecl { name: Cow::Borrowed(name), kind })
}

fn read_kind<'a>(type_token: Token<'a>, reader: &mut MessageReader<'a>) -> OptionKind<'a> {
    let exact = OptionType::from_token(type_token.text);
    if exact.is_none() && in_any_case(type_token.text, OptionType::from_token).is_some() {
        reader.report(type_token, DiagnosticKind::WrongCase);
    }
    match exact.or_else(|| in_any_case(type_token.text, OptionType::from_token)) {
        Some(OptionType::Check) => read_check(reader),
        Some(OptionType::Spin) => read_spin(reader),
        Some(OptionType::Combo) => read_combo(reader),
        Some(OptionType::Button) => {
            reader.expect_end();
            OptionKind::Button
        }
        Some(OptionType::String) => OptionKind::String { default: read_text(reader) },
        Some(OptionType::Filename) => OptionKind::Filename { default: read_text(reader) },
        None => {
            reader.report(type_token, DiagnosticKind::UnknownType);
            OptionKind::Other {
                kind: Cow::Borrowed(type_token.text),
                rest: Cow::Borrowed(short_text(reader).unwrap_or_default()),
            }
        }
    }
}

fn is_attribute(token: &str) -> bool {
    matches!(token, "default" | "min" | "max" | "var")
}

fn read_check<'a>(reader: &mut MessageReader<'a>) -> OptionKind<'a> {
    let mut default = None;
    while let Some(key) = reader.tokens.next() {
        if !key.text.eq_ignore_ascii_case("default") {
            reader.report(key, DiagnosticKind::UnknownToken);
            continue;
        }
        let Some(token) = reader.tokens.next() else {
            reader.report_missing(DiagnosticKind::Missing);
            break;
        };
        let value = |token: &str| match token {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        let found = value(token.text).or_else(|| {
            let repaired = in_any_case(token.text, value);
            reader.report(
                token,
                repaired.map_or(DiagnosticKind::BadDefault, |_| DiagnosticKind::WrongCase),
            );
            repaired.or_else(|| in_any_case(token.text, clear_meaning))
        });
        default = found.or(default);
    }
    OptionKind::Check { default }
}

/// The only possible meaning of an invalid default of a check.
fn clear_meaning(token: &str) -> Option<bool> {
    match token {
        "1" | "yes" | "on" => Some(true),
        "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn read_spin<'a>(reader: &mut MessageReader<'a>) -> OptionKind<'a> {
    let (mut default, mut min, mut max, mut at) = (None, None, None, None);
    while let Some(key) = reader.tokens.next() {
        let slot = match key.text {
            "default" => &mut default,
            "min" => &mut min,
            "max" => &mut max,
            _ => {
                reader.report(key, DiagnosticKind::UnknownToken);
                continue;
            }
        };
        let token = reader.tokens.peek();
        let value = reader.signed(is_attribute);
        if slot.is_some() {
            reader.report(key, DiagnosticKind::Repeated);
        }
        *slot = value.or(*slot);
        if value.is_some() && key.text == "default" {
            at = token;
        }
    }
    let outside =
        |default| min.is_some_and(|min| default < min) || max.is_some_and(|max| max < default);
    if let (Some(_), Some(token)) = (default.filter(|default| outside(*default)), at) {
        reader.report(token, DiagnosticKind::BadDefault);
    }
    OptionKind::Spin { default, min, max }
}

/// Fast path: reads the fields of a combo with canonical spacing and choices of one token. Any other
/// field is not consumed.
#[inline]
fn read_plain_combo<'a>(
    reader: &mut MessageReader<'a>,
    vars: &mut Vec<Cow<'a, str>>,
) -> Option<Token<'a>> {
    let mut default = None;
    let mut rest = reader.tokens.line().get(reader.tokens.at()..).unwrap_or_default();
    while let Some((is_default, text, after)) = plain_field(rest) {
        let end = reader.tokens.at() + rest.len() - after.len();
        if is_default && default.is_none() {
            default = Some(Token { text, start: end - text.len() });
        } else if !is_default && vars.len() < OptionDecl::MAX_VARS {
            vars.push(decoded(text));
        } else {
            break;
        }
        reader.tokens.go_to(end);
        rest = after;
    }
    default
}

/// The first field of a text for [`read_plain_combo`]: whether it is the default, its text, and the
/// rest.
#[inline]
fn plain_field(text: &str) -> Option<(bool, &str, &str)> {
    const DEFAULT: &str = " default ";
    const VAR: &str = " var ";
    let default = text.strip_prefix(DEFAULT);
    let (token, rest) = split_token(default.or_else(|| text.strip_prefix(VAR))?);
    let is_whole = rest.is_empty() || rest.starts_with(VAR) || rest.starts_with(DEFAULT);
    let is_text = !matches!(token, "" | "var" | "default") && token.len() <= OptionDecl::MAX_TEXT;
    (is_whole && is_text).then_some((default.is_some(), token, rest))
}

fn read_combo<'a>(reader: &mut MessageReader<'a>) -> OptionKind<'a> {
    let mut vars = Vec::with_capacity(4);
    let mut default = read_plain_combo(reader, &mut vars);
    let is_key = |token: &str| matches!(token, "default" | "var");
    let mut next = reader.tokens.next();
    while let Some(key) = next {
        if !is_key(key.text) {
            reader.report(key, DiagnosticKind::UnknownToken);
            next = reader.tokens.next();
            continue;
        }
        let value;
        (value, next) = reader.tokens.text_before(is_key);
        if value.text.is_empty() {
            reader.report(value, DiagnosticKind::Missing);
        } else if OptionDecl::MAX_TEXT < value.text.len() {
            reader.report(value, DiagnosticKind::TextTooLong);
        } else if key.text == "var" && vars.len() == OptionDecl::MAX_VARS {
            reader.report(value, DiagnosticKind::TooManyChoices);
        } else if key.text == "var" {
            vars.push(decoded(value.text));
        } else {
            if default.is_some() {
                reader.report(key, DiagnosticKind::Repeated);
            }
            default = Some(value);
        }
    }
    if let Some(token) = default.filter(|token| !vars.contains(&decoded(token.text))) {
        reader.report(token, DiagnosticKind::BadDefault);
    }
    OptionKind::Combo { default: default.map(|token| decoded(token.text)), vars }
}

/// The default of a string option: the rest of the line.
fn read_text<'a>(reader: &mut MessageReader<'a>) -> Option<Cow<'a, str>> {
    while let Some(key) = reader.tokens.next() {
        if key.text.eq_ignore_ascii_case("default") {
            return short_text(reader).map(decoded);
        }
        reader.report(key, DiagnosticKind::UnknownToken);
    }
    None
}

/// The rest of the line, unless it is too long.
fn short_text<'a>(reader: &mut MessageReader<'a>) -> Option<&'a str> {
    let text = reader.tokens.rest();
    if OptionDecl::MAX_TEXT < text.text.len() {
        reader.report(text, DiagnosticKind::TextTooLong);
        return None;
    }
    Some(text.text)
}

/// Reads a whole number that an `i64` can hold.
pub(super) fn whole_number(text: &str) -> Option<i64> {
    Integer::read(text)?.signed()
}
