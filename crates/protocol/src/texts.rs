//! Declarations of errors and names together with their English texts.

/// Declares an enum of errors: `Variant { field: Type } => "text with {field}"`. The text is the `Display` of the
/// variant, the first line of its documentation, and an entry of the constant `TEXTS`, from which programs generate
/// translations.
///
/// A text without one of its fields, or with another one, does not compile. `field: Type = expression` displays the
/// expression instead of the field. Attributes, also `derive`, are those of the enum, the variant or the field. Errors
/// with texts of their own are in a block `wraps`.
///
/// ```
/// # #[derive(Debug)] struct Defect;
/// # impl core::fmt::Display for Defect {
/// #     fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result { f.write_str("defect") }
/// # }
/// readyok_protocol::errors! {
///     /// Why a book is rejected.
///     #[derive(Debug)]
///     pub enum BookError {
///         Empty => "the book is empty",
///         /// Polyglot only.
///         BadEntry { line: u64, text: &'static str = text.trim() } => "line {line}: unexpected `{text}`",
///     }
///     wraps {
///         Defect(Defect),
///     }
/// }
/// assert_eq!(BookError::BadEntry { line: 3, text: " x" }.to_string(), "line 3: unexpected `x`");
/// assert_eq!(BookError::from(Defect).to_string(), "defect");
/// assert_eq!(BookError::TEXTS[0], ("Empty", "the book is empty"));
/// ```
#[macro_export]
macro_rules! errors {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $(
                $(#[$note:meta])*
                $variant:ident
                $({ $($(#[$attr:meta])* $field:ident: $type:ty $(= $shown:expr)?),+ $(,)? })?
                => $text:literal,
            )*
        }
        $(wraps { $($(#[$wrap:meta])* $wrapper:ident($wrapped:ty),)* })?
    ) => {
        #[allow(missing_docs, reason = "the text explains the fields; enums that are not public need no documentation")]
        $(#[$meta])*
        $vis enum $name {
            $(
                #[doc = $text]
                #[doc = ""]
                $(#[$note])*
                $variant $({
                    $($(#[$attr])* $field: $type),+
                })?,
            )*
            $($(
                #[doc = concat!("The text of `", stringify!($wrapped), "`.")]
                $(#[$wrap])*
                $wrapper($wrapped),
            )*)?
        }

        impl $name {
            /// The name of each variant with its English text.
            $vis const TEXTS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($variant), $text)),*];
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $(Self::$variant $({ $($field),+ })? =>
                        ::core::write!(f, $text $($(, $field = $crate::errors!(@shown $field $(, $shown)?))+)?),)*
                    $($(Self::$wrapper(wrapped) => ::core::fmt::Display::fmt(wrapped, f),)*)?
                }
            }
        }

        impl ::core::error::Error for $name {}

        $($(
            impl From<$wrapped> for $name {
                fn from(wrapped: $wrapped) -> Self {
                    Self::$wrapper(wrapped)
                }
            }
        )*)?
    };
    (@shown $field:ident) => { $field };
    (@shown $field:ident, $shown:expr) => { $shown };
}

/// Declares an enum whose variants have English texts: `Variant => "text"`. The text is the `Display` of the variant,
/// the first line of its documentation, and an entry of the constant `TEXTS`.
///
/// ```
/// readyok_protocol::texts! {
///     /// A part of a position.
///     #[derive(Clone, Copy, Debug)]
///     pub enum Part {
///         Board => "the board",
///     }
/// }
/// assert_eq!(Part::Board.to_string(), "the board");
/// assert_eq!(Part::TEXTS, [("Board", "the board")]);
/// ```
#[macro_export]
macro_rules! texts {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$note:meta])* $variant:ident => $text:literal,)*
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $(
                #[doc = $text]
                #[doc = ""]
                $(#[$note])*
                $variant,
            )*
        }

        impl $name {
            /// The name of each variant with its English text.
            $vis const TEXTS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($variant), $text)),*];

            /// The English text.
            #[allow(dead_code, reason = "most enums are displayed only")]
            $vis const fn text(&self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.text())
            }
        }
    };
}

/// Declares the names of the values of an enum, so that each is written once. Further names are aliases, which are
/// only read.
///
/// ```
/// # #[derive(Clone, Copy, Debug, PartialEq)]
/// # pub enum Side { First, Second }
/// readyok_protocol::names! {
///     /// It is that of files.
///     Side: First = "first" | "sente", Second = "second" | "gote"
/// }
/// assert_eq!(Side::First.name(), "first");
/// assert_eq!(Side::from_name("gote"), Some(Side::Second));
/// ```
#[macro_export]
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
