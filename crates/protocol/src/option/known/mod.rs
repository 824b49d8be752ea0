//! Options with standardized or conventional names.

use super::option_type::OptionType;
use crate::dialect::Dialect;
use crate::language::Language;

/// The party that sets an option.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SetBy {
    /// The user, in the engine settings.
    User,
    /// The client, derived from the game and the search.
    Client,
    /// Neither: it describes the engine or applies to single positions.
    Elsewhere,
}

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
        /// An option with a standardized or conventional name.
        ///
        /// Some have values with a syntax of their own: [`Opponent`](crate::Opponent),
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
            /// All known options.
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
    /// Finds an option by name, in any equivalent spelling of the dialect: in USI, `Hash`, `USI_Hash`
    /// and `usi_hash` are equal.
    pub fn find(name: &str, dialect: Dialect) -> Option<Self> {
        Self::ALL.iter().copied().find(|option| {
            let Entry { name: usual, aliases, .. } = option.entry();
            [usual].iter().chain(aliases).any(|known| dialect.same_option(known, name))
        })
    }

    /// The UCI name. [`Dialect::option_name`] converts it to another dialect.
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// The expected type. `filename` is accepted for `string`.
    pub const fn option_type(self) -> OptionType {
        self.entry().option_type
    }

    /// The party that sets the option.
    pub const fn set_by(self) -> SetBy {
        self.entry().set_by
    }

    /// A short label.
    pub const fn label(self, language: Language) -> &'static str {
        self.text(language).label
    }

    /// A description in one sentence without a full stop.
    pub const fn description(self, language: Language) -> &'static str {
        self.text(language).description
    }

    /// The specification or engine that defines the option.
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

impl Dialect {
    /// Whether setting this option without a declaration is no violation: GUIs set the options of
    /// [`SetBy::Client`] in any case.
    pub fn tolerates_undeclared(self, name: &str) -> bool {
        let known = KnownOption::find(name, self);
        self.sends_undeclared(name) || known.is_some_and(|it| it.set_by() == SetBy::Client)
    }

    /// Whether the engine settings omit an option: one that is set elsewhere, or an unknown one with a
    /// reserved prefix (UCI 2006, option name; USI draft 1 §5.3, option name).
    pub fn hides_option(self, name: &str) -> bool {
        match KnownOption::find(name, self) {
            Some(known) => known.set_by() != SetBy::User,
            None => self.fixes_meaning(name),
        }
    }
}
