//! Optional details of a search, and when they may be reported.

use core::time::Duration;

use crate::{Dialect, Info, OptionDecl, OptionSet, OptionValue};

/// UCI 2006, info: current moves and lines are reported only after one second.
const QUIET: Duration = Duration::from_secs(1);

/// Details that the client has enabled by options.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Details {
    dialect: Dialect,
    current_line: bool,
    refutations: bool,
}

impl Details {
    /// The state before any option is set.
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, ..Self::default() }
    }

    pub(crate) fn all(dialect: Dialect) -> Self {
        Self { dialect, current_line: true, refutations: true }
    }

    /// The state after the defaults of an engine.
    pub(crate) fn of(options: &OptionSet) -> Self {
        let mut details = Self::new(options.dialect());
        for decl in options {
            details.declare(decl);
        }
        details
    }

    /// Applies a default.
    pub(crate) fn declare(&mut self, decl: &OptionDecl<'_>) {
        if let Some(value) = decl.default_value() {
            self.set_option(&decl.name, &value);
        }
    }

    /// Applies an option that enables details.
    pub(crate) fn set_option(&mut self, name: &str, value: &OptionValue) {
        let OptionValue::Check(on) = *value else { return };
        if self.dialect.same_option(name, "UCI_ShowCurrLine") {
            self.current_line = on;
        } else if self.dialect.same_option(name, "UCI_ShowRefutations") {
            self.refutations = on;
        }
    }

    /// The union of two sets of details.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            current_line: self.current_line || other.current_line,
            refutations: self.refutations || other.refutations,
            ..self
        }
    }

    /// Removes the details that may not be reported after this search time.
    pub(crate) fn trim(self, info: &mut Info<'_>, searched: Duration) {
        if searched < QUIET {
            info.currmove = None;
            info.currmovenumber = None;
            info.currline = None;
            info.refutation = None;
        }
        if !self.current_line {
            info.currline = None;
        }
        if !self.refutations {
            info.refutation = None;
        }
    }

    /// Whether a line contains a detail that is not enabled.
    pub(crate) fn exceeded_by(self, info: &Info<'_>) -> bool {
        info.currline.is_some() && !self.current_line
            || info.refutation.is_some() && !self.refutations
    }
}

/// Whether a line contains details that are too early for this search time, measured with the
/// given tolerance.
pub(crate) fn is_too_soon(info: &Info<'_>, searched: Duration, distance: Duration) -> bool {
    let has_details = info.currmove.is_some()
        || info.currmovenumber.is_some()
        || info.currline.is_some()
        || info.refutation.is_some();
    has_details && searched.saturating_add(distance) < QUIET
}
