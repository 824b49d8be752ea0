//! Names of values, for command lines, files and other languages.

/// Declares the names of the values of an enum, so that each is written once. Further names are aliases, which are
/// only read.
macro_rules! names {
    ($(#[$doc:meta])* $type:ident: $($variant:ident = $name:literal $(| $alias:literal)*),+ $(,)?) => {
        impl $type {
            /// The names of all values, and their aliases.
            pub const NAMES: &'static [(&'static str, Self)] =
                &[$(($name, Self::$variant), $(($alias, Self::$variant),)*)+];

            /// The name.
            $(#[$doc])*
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The value of a name or of an alias.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
            }
        }
    };
}

pub(crate) use names;
