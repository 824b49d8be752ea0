//! The translation file of an engine: texts for its options in the languages of its users.
//!
//! USI draft 1 §2 requires such a file and leaves its format open. This format serves UCI engines as
//! well. `docs/translation.md` describes it, `docs/translation.schema.json` is its JSON Schema. With the
//! feature `translation`, `Translation::read` reads it.

#[cfg(feature = "translation")]
mod read;

use alloc::borrow::{Cow, ToOwned};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::str::FromStr;

#[cfg(feature = "translation")]
pub use crate::translation::read::TranslationError;

use crate::{Dialect, KnownOption, Language, OptionDecl, OptionKind, OptionSet};

/// The texts of an engine in several languages. Empty without a file.
///
/// ```
/// use readyok_protocol::Dialect;
/// use readyok_protocol::translation::Translation;
/// let none = Translation::default();
/// let japanese = none.lookup(Dialect::Usi, &["ja-JP".parse()?]);
/// assert_eq!(japanese.label("USI_Ponder"), "先読み");
/// assert_eq!(japanese.label("NULL_MOVE_R"), "NULL_MOVE_R");
/// # Ok::<(), readyok_protocol::translation::LanguageTagError>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Translation {
    /// The fallback language.
    pub default: Option<LanguageTag>,
    /// The texts in each language.
    pub languages: BTreeMap<LanguageTag, EngineTexts>,
}

/// The texts of an engine in one language. Empty texts are not translated.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct EngineTexts {
    /// The name of the engine.
    pub name: String,
    /// The author of the engine.
    pub author: String,
    /// The texts of the options, by their names in the protocol.
    pub options: BTreeMap<String, OptionTexts>,
}

/// The texts of an option in one language. Empty texts are not translated.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OptionTexts {
    /// A short label.
    pub label: String,
    /// A description of the option.
    pub help: String,
    /// The choices of a combo option, by their texts in the protocol.
    pub values: BTreeMap<String, String>,
}

/// The texts for a list of preferred languages, sanitized for display: see [`display_text`].
///
/// Each text is searched in the preferred languages and their parents (RFC 4647 §3.4), then in the default
/// language of the file. Then follow the table of [known options](KnownOption) and the text of the protocol.
#[derive(Clone, Debug)]
pub struct Lookup<'a> {
    dialect: Dialect,
    chain: Vec<&'a EngineTexts>,
    known: Language,
}

impl Translation {
    /// The extension of the file. It has the name of the executable, without its extension, and is in the
    /// same directory.
    pub const EXTENSION: &'static str = "lang.json";
    /// Maximum size of a file in bytes.
    pub const MAX_BYTES: usize = 1 << 20;
    /// Maximum nesting depth of objects and lists, including unknown ones.
    pub const MAX_DEPTH: usize = 16;
    /// Maximum number of languages.
    pub const MAX_LANGUAGES: usize = 64;
    /// Maximum number of options per language.
    pub const MAX_OPTIONS: usize = 1024;
    /// Maximum number of values per option.
    pub const MAX_VALUES: usize = 256;
    /// Maximum length of a name, author, label or value, original or translated, in characters.
    pub const MAX_LABEL: usize = 200;
    /// Maximum length of a help text in characters.
    pub const MAX_HELP: usize = 2000;

    /// The texts for a user with these languages, in order of preference.
    pub fn lookup(&self, dialect: Dialect, preferred: &[LanguageTag]) -> Lookup<'_> {
        let is_known = |tag: &str| Language::ALL.into_iter().find(|language| language.tag() == tag);
        Lookup {
            dialect,
            chain: preferred.iter().chain(&self.default).flat_map(|tag| self.texts(tag)).collect(),
            known: preferred
                .iter()
                .flat_map(LanguageTag::ranges)
                .find_map(is_known)
                .unwrap_or_default(),
        }
    }

    /// The texts in a language and its parents.
    fn texts<'a>(&'a self, tag: &LanguageTag) -> impl Iterator<Item = &'a EngineTexts> {
        tag.ranges().filter_map(|range| self.languages.get(range))
    }
}

impl EngineTexts {
    /// The texts of an option, by any equivalent name in the dialect.
    pub fn option(&self, dialect: Dialect, name: &str) -> Option<&OptionTexts> {
        self.options.get(name).or_else(|| {
            self.options
                .iter()
                .find(|(option, _)| dialect.same_option(option, name))
                .map(|(_, texts)| texts)
        })
    }
}

impl OptionTexts {
    /// The text of a choice. Case does not matter.
    pub fn value(&self, value: &str) -> Option<&str> {
        let same = |(choice, _): &(&String, _)| choice.eq_ignore_ascii_case(value);
        self.values
            .get(value)
            .or_else(|| self.values.iter().find(same).map(|(_, text)| text))
            .map(String::as_str)
    }
}

impl<'a> Lookup<'a> {
    /// The name of the engine. `id` is the text of `id name`.
    pub fn engine_name<'t>(&self, id: &'t str) -> Cow<'t, str>
    where
        'a: 't,
    {
        self.first(|texts| Some(&texts.name)).unwrap_or_else(|| display_text(id))
    }

    /// The author of the engine. `id` is the text of `id author`.
    pub fn author<'t>(&self, id: &'t str) -> Cow<'t, str>
    where
        'a: 't,
    {
        self.first(|texts| Some(&texts.author)).unwrap_or_else(|| display_text(id))
    }

    /// The label of an option.
    pub fn label<'t>(&self, option: &'t str) -> Cow<'t, str>
    where
        'a: 't,
    {
        self.first(|texts| Some(&texts.option(self.dialect, option)?.label))
            .or_else(|| self.known(option).map(|known| Cow::Borrowed(known.label(self.known))))
            .unwrap_or_else(|| display_text(option))
    }

    /// The description of an option, if there is one.
    pub fn help(&self, option: &str) -> Option<Cow<'a, str>> {
        self.first(|texts| Some(&texts.option(self.dialect, option)?.help)).or_else(|| {
            self.known(option).map(|known| Cow::Borrowed(known.description(self.known)))
        })
    }

    /// The label of a choice of a combo option.
    pub fn value<'t>(&self, option: &str, value: &'t str) -> Cow<'t, str>
    where
        'a: 't,
    {
        self.first(|texts| texts.option(self.dialect, option)?.value(value))
            .unwrap_or_else(|| display_text(value))
    }

    fn known(&self, option: &str) -> Option<KnownOption> {
        KnownOption::find(option, self.dialect)
    }

    /// The first text that is not empty after sanitizing.
    fn first(&self, text: impl Fn(&'a EngineTexts) -> Option<&'a str>) -> Option<Cow<'a, str>> {
        let shown = |texts: &&'a EngineTexts| text(texts).map(display_text);
        self.chain.iter().filter_map(shown).find(|text| !text.is_empty())
    }
}

/// A language tag (BCP 47), such as `ja` or `zh-Hant-TW`, in lower case, as case is insignificant
/// (RFC 5646 §2.1.1).
///
/// Only the syntax is checked, not whether its subtags are registered.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LanguageTag(String);

/// A text that is not a language tag.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LanguageTagError {
    /// The text.
    pub tag: String,
}

impl LanguageTag {
    /// Maximum length in bytes. RFC 5646 §4.4.1 recommends to support 35.
    pub const MAX_LEN: usize = 64;

    /// The tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tag and its parents: the last subtag is removed repeatedly, together with a single letter before
    /// it (RFC 4647 §3.4).
    ///
    /// ```
    /// use readyok_protocol::translation::LanguageTag;
    /// let tag: LanguageTag = "zh-Hant-CN-x-private".parse()?;
    /// assert!(tag.ranges().eq(["zh-hant-cn-x-private", "zh-hant-cn", "zh-hant", "zh"]));
    /// # Ok::<(), readyok_protocol::translation::LanguageTagError>(())
    /// ```
    pub fn ranges(&self) -> impl Iterator<Item = &str> {
        core::iter::successors(Some(self.as_str()), |tag| {
            let (parent, _) = tag.rsplit_once('-')?;
            match parent.rsplit_once('-') {
                Some((grandparent, single)) if single.len() == 1 => Some(grandparent),
                _ => Some(parent),
            }
        })
    }
}

impl FromStr for LanguageTag {
    type Err = LanguageTagError;

    fn from_str(text: &str) -> Result<Self, LanguageTagError> {
        let is_part = |part: &str| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let is_language = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
        let fits = text.len() <= Self::MAX_LEN
            && text.split('-').all(is_part)
            && text.split('-').next().is_some_and(is_language);
        if fits {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(LanguageTagError { tag: text.to_owned() })
        }
    }
}

impl Borrow<str> for LanguageTag {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LanguageTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for LanguageTagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a language tag", self.tag.escape_debug())
    }
}

impl core::error::Error for LanguageTagError {}

/// A problem in a translation file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The language of the texts.
    pub language: LanguageTag,
    /// The problem.
    pub problem: Problem,
}

/// The kinds of problems.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The default language is missing in the file.
    MissingDefault,
    /// The engine declares no such option.
    UnknownOption {
        /// The name in the file.
        option: String,
    },
    /// Two entries denote the same option. Which one is used is unspecified.
    RepeatedOption {
        /// The name of the second entry.
        option: String,
        /// The name of the first entry.
        first: String,
    },
    /// The engine declares no such choice.
    UnknownValue {
        /// The name of the option.
        option: String,
        /// The choice in the file.
        value: String,
    },
    /// An option of the user has no label in this language or a parent of it.
    UntranslatedOption {
        /// The name of the option.
        option: String,
    },
    /// Other choices of the option are translated; this one is not.
    UntranslatedValue {
        /// The name of the option.
        option: String,
        /// The choice.
        value: String,
    },
    /// A label, a choice or a help text is too long for a dialog.
    LongText {
        /// The name of the option.
        option: String,
        /// Number of characters.
        length: usize,
        /// Recommended maximum.
        limit: usize,
    },
    /// Two options have the same label.
    SameLabel {
        /// The name of the second option.
        option: String,
        /// The name of the first.
        first: String,
    },
}

/// Longer labels and choices do not fit in a dialog.
const LONG_LABEL: usize = 40;
/// Longer help texts do not fit in a tooltip.
const LONG_HELP: usize = 400;

impl Translation {
    /// Compares the file with the declared options.
    pub fn lint(&self, declared: &OptionSet) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(default) = &self.default
            && !self.languages.contains_key(default)
        {
            let problem = Problem::MissingDefault;
            findings.push(Finding { language: default.clone(), problem });
        }
        for (language, texts) in &self.languages {
            let mut problems = Vec::new();
            check_entries(texts, declared, &mut problems);
            self.check_completeness(language, declared, &mut problems);
            let finding = |problem| Finding { language: language.clone(), problem };
            findings.extend(problems.into_iter().map(finding));
        }
        findings
    }

    fn check_completeness(
        &self,
        language: &LanguageTag,
        declared: &OptionSet,
        problems: &mut Vec<Problem>,
    ) {
        let dialect = declared.dialect();
        for decl in declared {
            let mut entries =
                self.texts(language).filter_map(|texts| texts.option(dialect, &decl.name));
            let is_labelled = entries.any(|entry| !entry.label.is_empty())
                || has_known_label(&decl.name, language, dialect)
                || dialect.hides_option(&decl.name);
            if !is_labelled {
                problems.push(Problem::UntranslatedOption { option: name(decl) });
            }
        }
    }
}

fn has_known_label(name: &str, language: &LanguageTag, dialect: Dialect) -> bool {
    KnownOption::find(name, dialect).is_some()
        && Language::ALL.iter().any(|known| language.ranges().any(|range| range == known.tag()))
}

fn check_entries(texts: &EngineTexts, declared: &OptionSet, problems: &mut Vec<Problem>) {
    let mut names = BTreeMap::new();
    let mut labels = BTreeMap::new();
    for (option, entry) in &texts.options {
        let Some((index, decl)) = declared.index(option).zip(declared.find(option)) else {
            problems.push(Problem::UnknownOption { option: option.clone() });
            continue;
        };
        if let Some(first) = names.insert(index, option) {
            let first = first.clone();
            problems.push(Problem::RepeatedOption { option: option.clone(), first });
        } else if !entry.label.is_empty()
            && let Some(first) = labels.insert(&entry.label, option)
        {
            let first = first.clone();
            problems.push(Problem::SameLabel { option: option.clone(), first });
        }
        check_lengths(option, entry, problems);
        check_values(decl, entry, problems);
    }
}

fn check_lengths(option: &str, entry: &OptionTexts, problems: &mut Vec<Problem>) {
    let labels = entry.values.values().chain([&entry.label]).map(|text| (text, LONG_LABEL));
    for (text, limit) in labels.chain([(&entry.help, LONG_HELP)]) {
        let length = text.chars().count();
        if limit < length {
            problems.push(Problem::LongText { option: option.to_owned(), length, limit });
        }
    }
}

fn check_values(decl: &OptionDecl<'_>, entry: &OptionTexts, problems: &mut Vec<Problem>) {
    let choices = match &decl.kind {
        OptionKind::Combo { vars, .. } => vars.as_slice(),
        _ => &[],
    };
    for value in entry.values.keys() {
        if !choices.iter().any(|choice| choice.eq_ignore_ascii_case(value)) {
            problems.push(Problem::UnknownValue { option: name(decl), value: value.clone() });
        }
    }
    if entry.values.is_empty() {
        return;
    }
    for choice in choices {
        if entry.value(choice).is_none_or(str::is_empty) {
            let value = choice.clone().into_owned();
            problems.push(Problem::UntranslatedValue { option: name(decl), value });
        }
    }
}

fn name(decl: &OptionDecl<'_>) -> String {
    decl.name.clone().into_owned()
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.language, self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &String| alloc::format!("`{}`", text.escape_debug());
        match self {
            Self::MissingDefault => f.write_str("the default language is missing"),
            Self::UnknownOption { option } => {
                write!(f, "the engine has no option {}", quoted(option))
            }
            Self::RepeatedOption { option, first } => {
                write!(f, "{} is the same option as {}", quoted(option), quoted(first))
            }
            Self::UnknownValue { option, value } => {
                write!(f, "option {} has no choice {}", quoted(option), quoted(value))
            }
            Self::UntranslatedOption { option } => write!(f, "{} has no label", quoted(option)),
            Self::UntranslatedValue { option, value } => {
                write!(f, "{} of option {} is not translated", quoted(value), quoted(option))
            }
            Self::LongText { option, length, limit } => write!(
                f,
                "a text of option {} has {length} characters, better at most {limit}",
                quoted(option)
            ),
            Self::SameLabel { option, first } => {
                write!(f, "{} has the same label as {}", quoted(option), quoted(first))
            }
        }
    }
}

/// Sanitizes a text for display: one line, without characters that reorder or hide the text around it.
///
/// Line ends and tabs become spaces. Removed are other control characters, byte order marks, the marks,
/// embeddings, overrides and isolates of bidirectional text (UAX #9 §2), and white space at both ends.
pub fn display_text(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.chars().all(|c| shown(c) == Some(c)) {
        return Cow::Borrowed(text);
    }
    let shown: String = text.chars().filter_map(shown).collect();
    // Removed characters may have been outside of the white space.
    Cow::Owned(shown.trim().into())
}

fn shown(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => None,
        _ if c.is_control() => None,
        _ => Some(c),
    }
}
