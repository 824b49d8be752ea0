//! Tables of configuration files: one declaration of fields and defaults.

/// Declares structures that are read from files. Each field has a default; unknown fields are errors.
macro_rules! settings {
    ($($(#[$attribute:meta])* $name:ident {
        $($(#[$field_attribute:meta])* $field:ident: $kind:ty = $default:expr,)*
    })*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(crate) struct $name {
            $($(#[$field_attribute])* pub(crate) $field: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        #[cfg(test)]
        impl $name {
            /// The fields with their defaults.
            pub(crate) fn fields() -> Vec<(&'static str, String)> {
                let default = Self::default();
                vec![$((stringify!($field), format!("{:?}", default.$field)),)*]
            }
        }
    )*};
}

pub(crate) use settings;
