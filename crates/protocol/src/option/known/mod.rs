//! The options whose names have a fixed or conventional meaning.

use crate::{Dialect, OptionType};

/// Who sets an option.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SetBy {
    /// The user, in the dialog of engine settings.
    User,
    /// The client, from the game and the search: it is no setting of its own.
    Client,
    /// Neither of them there: it tells of the engine, or is meant for single positions.
    Elsewhere,
}

/// The languages in which well-known options, rules and diagnostics are described.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Japanese.
    Japanese,
}

/// What is known of an option.
struct Entry {
    name: &'static str,
    aliases: &'static [&'static str],
    option_type: OptionType,
    set_by: SetBy,
    english: Text,
    japanese: Text,
    clause: &'static str,
}

struct Text {
    label: &'static str,
    description: &'static str,
}

macro_rules! known_options {
    ($($option:ident = $name:literal $(| $alias:literal)*, $option_type:ident, $set_by:ident {
        en: $en_label:literal, $en:literal,
        ja: $ja_label:literal, $ja:literal,
        clause: $clause:literal,
    })*) => {
        /// An option whose name has a fixed or conventional meaning.
        ///
        /// Some carry more than a text: [`Opponent`](crate::Opponent),
        /// [`PositionValue`](crate::PositionValue) and [`PathList`](crate::PathList).
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum KnownOption {
            $(
                #[doc = concat!("`", $name, "`: ", $en, ".")]
                $option,
            )*
        }

        impl KnownOption {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$option),*];

            pub(super) const fn entry(self) -> Entry {
                match self {
                    $(Self::$option => Entry {
                        name: $name,
                        aliases: &[$($alias),*],
                        option_type: OptionType::$option_type,
                        set_by: SetBy::$set_by,
                        english: Text { label: $en_label, description: $en },
                        japanese: Text { label: $ja_label, description: $ja },
                        clause: $clause,
                    },)*
                }
            }
        }
    };
}

mod table;

pub use table::KnownOption;

impl KnownOption {
    /// The option of a name, in any spelling that means the same in the dialect: `Hash`,
    /// `USI_Hash` and `usi_hash` are one in USI.
    pub fn find(name: &str, dialect: Dialect) -> Option<Self> {
        Self::ALL.iter().copied().find(|option| {
            let Entry { name: usual, aliases, .. } = option.entry();
            [usual].iter().chain(aliases).any(|known| dialect.same_option(known, name))
        })
    }

    /// The name in UCI. [`Dialect::option_name`] spells it in another dialect.
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// The type that the option should be declared with. `filename` will do for `string`.
    pub const fn option_type(self) -> OptionType {
        self.entry().option_type
    }

    /// Who sets the option.
    pub const fn set_by(self) -> SetBy {
        self.entry().set_by
    }

    /// A short name for people.
    pub const fn label(self, language: Language) -> &'static str {
        self.text(language).label
    }

    /// What the option does, in one sentence without a full stop.
    pub const fn description(self, language: Language) -> &'static str {
        self.text(language).description
    }

    /// Where the meaning comes from.
    pub const fn clause(self) -> &'static str {
        self.entry().clause
    }

    const fn text(self, language: Language) -> Text {
        match language {
            Language::English => self.entry().english,
            Language::Japanese => self.entry().japanese,
        }
    }
}

impl Language {
    /// Both languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Japanese];

    /// The language tag: `en` or `ja`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Japanese => "ja",
        }
    }
}

impl Dialect {
    /// Whether an option is kept out of the dialog of engine settings: one that is set elsewhere,
    /// and an unknown one whose name says that its meaning is fixed (UCI 2006, option name; USI
    /// draft 1 §5.3, option name).
    pub fn hides_option(self, name: &str) -> bool {
        match KnownOption::find(name, self) {
            Some(known) => known.set_by() != SetBy::User,
            None => self.fixes_meaning(name),
        }
    }
}
