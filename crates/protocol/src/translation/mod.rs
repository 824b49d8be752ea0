//! The translation file of an engine: texts for its options in the languages of its users.
//!
//! USI draft 1 §2 requires such a file and leaves its format open. This format serves UCI engines as
//! well. `docs/translation.md` describes it, `docs/translation.schema.json` is its JSON Schema. With the
//! feature `translation`, `Translation::read` reads it.

mod display;
mod lint;
#[cfg(feature = "translation")]
mod read;
mod tag;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::{Dialect, KnownOption, Language};

pub use display::display_text;
pub use lint::{Finding, Problem};
#[cfg(feature = "translation")]
pub use read::TranslationError;
pub use tag::{LanguageTag, LanguageTagError};

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
/// language of the file, then in the table of [known options](KnownOption). If it is not found, the text
/// of the protocol is used.
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
        let is_known = |tag: &str| Language::ALL.into_iter().find(|it| it.tag() == tag);
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
            self.options.iter().find(|(it, _)| dialect.same_option(it, name)).map(|(_, it)| it)
        })
    }
}

impl OptionTexts {
    /// The text of a choice. Case does not matter.
    pub fn value(&self, value: &str) -> Option<&str> {
        let same = |(it, _): &(&String, _)| it.eq_ignore_ascii_case(value);
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
            .or_else(|| self.known(option).map(|it| Cow::Borrowed(it.label(self.known))))
            .unwrap_or_else(|| display_text(option))
    }

    /// The description of an option, if there is one.
    pub fn help(&self, option: &str) -> Option<Cow<'a, str>> {
        self.first(|texts| Some(&texts.option(self.dialect, option)?.help))
            .or_else(|| self.known(option).map(|it| Cow::Borrowed(it.description(self.known))))
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
        let shown = |it: &&'a EngineTexts| text(it).map(display_text);
        self.chain.iter().filter_map(shown).find(|it| !it.is_empty())
    }
}
