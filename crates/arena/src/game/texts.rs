//! Which texts engines may get as values of their options, where a text can name a file.

use std::collections::BTreeSet;

use readyok_protocol::OptionKind;

/// The texts that options may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// Options that may have any, in lower case.
    names: BTreeSet<String>,
    /// Values that any option may have.
    values: BTreeSet<String>,
}

impl TextOptions {
    /// Options of these names, in lower case, may have any text, and all others these values.
    pub fn new(names: BTreeSet<String>, values: BTreeSet<String>) -> Self {
        Self { names, values }
    }

    /// Whether an option that was declared so may have this value.
    pub(super) fn permit(&self, name: &str, kind: &OptionKind<'_>, value: &str) -> bool {
        let any = || self.values.contains(value) || self.names.contains(&name.to_lowercase());
        match kind {
            OptionKind::String { default } | OptionKind::Filename { default } => {
                default.as_deref() == Some(value) || any()
            }
            OptionKind::Other { .. } => any(),
            OptionKind::Check { .. }
            | OptionKind::Spin { .. }
            | OptionKind::Combo { .. }
            | OptionKind::Button => true,
        }
    }
}
