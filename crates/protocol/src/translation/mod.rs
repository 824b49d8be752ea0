//! The translation file of an engine: what people read in place of the names of its options.
//!
//! USI draft 1 §2 wants such a file and leaves its format open. This is a format for it; it serves
//! UCI engines as well. `docs/translation.md` describes it, `docs/translation.schema.json` is its
//! JSON Schema. With the feature `translation`, `Translation::read` reads it.

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

/// What an engine is called in the languages of people. Empty if there is no file.
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
    /// The language for those whose languages are not there.
    pub default: Option<LanguageTag>,
    /// The texts in each language.
    pub languages: BTreeMap<LanguageTag, EngineTexts>,
}

/// The texts of an engine in one language. What is empty is not translated.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct EngineTexts {
    /// The name of the engine.
    pub name: String,
    /// The author of the engine.
    pub author: String,
    /// The texts of the options, by their names on the wire.
    pub options: BTreeMap<String, OptionTexts>,
}

/// The texts of an option in one language. What is empty is not translated.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OptionTexts {
    /// A short name.
    pub label: String,
    /// What the option does.
    pub help: String,
    /// The choices of a combo option, by their texts on the wire.
    pub values: BTreeMap<String, String>,
}

/// The texts for one person, ready to be shown: see [`display_text`].
///
/// Each text is looked for by itself: in the languages that the person wants and their parents
/// (RFC 4647 §3.4), in the default language of the file, and in the table of
/// [known options](KnownOption). What is found nowhere is shown as it is on the wire.
#[derive(Clone, Debug)]
pub struct Lookup<'a> {
    dialect: Dialect,
    chain: Vec<&'a EngineTexts>,
    known: Language,
}

impl Translation {
    /// The file is named like the program, without the extension of that, and with this one. It
    /// lies next to it.
    pub const EXTENSION: &'static str = "lang.json";
    /// The largest file, in bytes.
    pub const MAX_BYTES: usize = 1 << 20;
    /// How deep objects and lists may be nested, those included that are not understood.
    pub const MAX_DEPTH: usize = 16;
    /// The largest number of languages.
    pub const MAX_LANGUAGES: usize = 64;
    /// The largest number of options of a language.
    pub const MAX_OPTIONS: usize = 1024;
    /// The largest number of values of an option.
    pub const MAX_VALUES: usize = 256;
    /// The longest name, author, label or value, on the wire or translated, in characters.
    pub const MAX_LABEL: usize = 200;
    /// The longest help text, in characters.
    pub const MAX_HELP: usize = 2000;

    /// The texts for somebody who reads these languages, the preferred one first.
    pub fn lookup(&self, dialect: Dialect, wanted: &[LanguageTag]) -> Lookup<'_> {
        let is_known = |tag: &str| Language::ALL.into_iter().find(|it| it.tag() == tag);
        Lookup {
            dialect,
            chain: wanted.iter().chain(&self.default).flat_map(|tag| self.texts(tag)).collect(),
            known: wanted
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
    /// The texts of an option, by any name that means the same in the dialect.
    pub fn option(&self, dialect: Dialect, name: &str) -> Option<&OptionTexts> {
        self.options.get(name).or_else(|| {
            self.options.iter().find(|(it, _)| dialect.same_option(it, name)).map(|(_, it)| it)
        })
    }
}

impl OptionTexts {
    /// The text of a choice, whose case does not matter.
    pub fn value(&self, value: &str) -> Option<&str> {
        let same = |(it, _): &(&String, _)| it.eq_ignore_ascii_case(value);
        self.values
            .get(value)
            .or_else(|| self.values.iter().find(same).map(|(_, text)| text))
            .map(String::as_str)
    }
}

impl<'a> Lookup<'a> {
    /// The name of the engine, which calls itself `id` on the wire.
    pub fn engine_name<'t>(&self, id: &'t str) -> Cow<'t, str>
    where
        'a: 't,
    {
        self.first(|texts| Some(&texts.name)).unwrap_or_else(|| display_text(id))
    }

    /// The author of the engine, who is called `id` on the wire.
    pub fn author<'t>(&self, id: &'t str) -> Cow<'t, str>
    where
        'a: 't,
    {
        self.first(|texts| Some(&texts.author)).unwrap_or_else(|| display_text(id))
    }

    /// A short name of an option.
    pub fn label<'t>(&self, option: &'t str) -> Cow<'t, str>
    where
        'a: 't,
    {
        self.first(|texts| Some(&texts.option(self.dialect, option)?.label))
            .or_else(|| self.known(option).map(|it| Cow::Borrowed(it.label(self.known))))
            .unwrap_or_else(|| display_text(option))
    }

    /// What an option does, if anybody says so.
    pub fn help(&self, option: &str) -> Option<Cow<'a, str>> {
        self.first(|texts| Some(&texts.option(self.dialect, option)?.help))
            .or_else(|| self.known(option).map(|it| Cow::Borrowed(it.description(self.known))))
    }

    /// A choice of a combo option.
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

    /// The first text that shows anything.
    fn first(&self, text: impl Fn(&'a EngineTexts) -> Option<&'a str>) -> Option<Cow<'a, str>> {
        let shown = |it: &&'a EngineTexts| text(it).map(display_text);
        self.chain.iter().filter_map(shown).find(|it| !it.is_empty())
    }
}
