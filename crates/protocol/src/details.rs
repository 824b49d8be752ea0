//! The details of a search that few clients want to receive, and when they may be reported.

use core::time::Duration;

use crate::{Dialect, Info, OptionDecl, OptionSet, OptionValue};

/// UCI 2006, info: what is searched at the moment is reported after one second only.
const QUIET: Duration = Duration::from_secs(1);

/// Which details the client asks for, with options that have fixed names.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Details {
    dialect: Dialect,
    current_line: bool,
    refutations: bool,
}

impl Details {
    /// As it is before any option is set.
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, ..Self::default() }
    }

    /// All details.
    pub(crate) fn all(dialect: Dialect) -> Self {
        Self { dialect, current_line: true, refutations: true }
    }

    /// As the defaults of an engine have it.
    pub(crate) fn of(options: &OptionSet) -> Self {
        let mut details = Self::new(options.dialect());
        for decl in options {
            details.declare(decl);
        }
        details
    }

    /// Takes note of a default.
    pub(crate) fn declare(&mut self, decl: &OptionDecl<'_>) {
        if let Some(value) = decl.default_value() {
            self.set_option(&decl.name, &value);
        }
    }

    /// Takes note of the options that show details.
    pub(crate) fn set_option(&mut self, name: &str, value: &OptionValue) {
        let OptionValue::Check(on) = *value else { return };
        if self.dialect.same_option(name, "UCI_ShowCurrLine") {
            self.current_line = on;
        } else if self.dialect.same_option(name, "UCI_ShowRefutations") {
            self.refutations = on;
        }
    }

    /// What is asked for here or there.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            current_line: self.current_line || other.current_line,
            refutations: self.refutations || other.refutations,
            ..self
        }
    }

    /// Takes away what is not to be reported after so much time of search.
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

    /// Whether a line has what nobody has asked for.
    pub(crate) fn exceeded_by(self, info: &Info<'_>) -> bool {
        info.currline.is_some() && !self.current_line
            || info.refutation.is_some() && !self.refutations
    }
}

/// Whether a line has what is not to be reported after so much time of search, by the clock of someone
/// who is so far from the engine.
pub(crate) fn is_too_soon(info: &Info<'_>, searched: Duration, distance: Duration) -> bool {
    let has_details = info.currmove.is_some()
        || info.currmovenumber.is_some()
        || info.currline.is_some()
        || info.refutation.is_some();
    has_details && searched.saturating_add(distance) < QUIET
}
