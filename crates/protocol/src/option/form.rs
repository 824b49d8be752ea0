//! The rules for the declaration of an option.

use super::{OptionDecl, OptionKind};
use crate::{DiagnosticKind, Rule};

impl OptionDecl<'_> {
    /// Whether the declaration, which was read with these diagnostics, violates a rule of the kind
    /// [`RuleKind::Form`](crate::RuleKind::Form).
    pub fn violates(&self, rule: Rule, notes: &[DiagnosticKind]) -> bool {
        let has = |kind| notes.contains(&kind);
        match (rule, &self.kind) {
            (Rule::OptionForm, _) => self.malformed_part(notes).is_some(),
            (Rule::CheckDefault, OptionKind::Check { default }) => {
                default.is_none()
                    || has(DiagnosticKind::WrongCase)
                    || has(DiagnosticKind::BadDefault)
            }
            (Rule::SpinRange, OptionKind::Spin { default, min, max }) => {
                match (default, min, max) {
                    (Some(default), Some(min), Some(max)) => default < min || max < default,
                    _ => true,
                }
            }
            (Rule::ComboDefault, OptionKind::Combo { default, vars }) => default
                .as_ref()
                .is_none_or(|default| !vars.iter().any(|var| var.eq_ignore_ascii_case(default))),
            (
                Rule::StringDefault,
                OptionKind::String { default } | OptionKind::Filename { default },
            ) => default.is_none() || has(DiagnosticKind::Missing),
            _ => false,
        }
    }

    /// The first of these diagnostics that violates [`Rule::OptionForm`]. The others belong to the rule for the default, or
    /// violate none.
    pub fn malformed_part(&self, notes: &[DiagnosticKind]) -> Option<DiagnosticKind> {
        use DiagnosticKind as Kind;

        let is_malformed = |note: &Kind| match (&self.kind, note) {
            (_, Kind::BadDefault | Kind::SpaceInName)
            | (OptionKind::Check { .. }, Kind::WrongCase)
            | (OptionKind::Spin { .. }, Kind::NotANumber)
            | (OptionKind::String { .. } | OptionKind::Filename { .. }, Kind::Missing) => false,
            // Without its type an option is read as a button.
            (OptionKind::Button, note) => matches!(note, Kind::Missing | Kind::MissingKeyword),
            _ => true,
        };
        notes.iter().copied().find(is_malformed)
    }
}
