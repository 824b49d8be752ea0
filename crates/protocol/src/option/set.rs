//! The options of an engine, indexed by name.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::decl::{OptionDecl, OptionKind};
use super::known::KnownOption;
use crate::Dialect;

/// The options of an engine, in the order of declaration, with unique names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OptionSet {
    dialect: Dialect,
    decls: Vec<OptionDecl<'static>>,
    /// Indexes into `decls`, sorted by name: an engine may declare thousands.
    sorted: Vec<usize>,
    /// Memory of all declarations.
    bytes: usize,
}

/// The engine has no option with this name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownOption {
    /// The requested name.
    pub name: String,
}

impl OptionSet {
    /// Maximum number of options. Further ones are ignored; no known engine has a tenth of them.
    pub const MAX_LEN: usize = 4096;

    /// Maximum memory of all declarations in bytes. One that would exceed it is ignored.
    pub const MAX_BYTES: usize = 1 << 20;

    /// An empty set. The dialect decides which names are equal.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, decls: Vec::new(), sorted: Vec::new(), bytes: 0 }
    }

    /// The dialect that decides which names are equal.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Adds a declaration, or replaces the one with the same name. One beyond the limits is ignored,
    /// and so is one whose name is longer than [`OptionDecl::MAX_NAME`].
    pub fn declare(&mut self, decl: OptionDecl<'static>) {
        let place = self.place(&decl.name);
        let count = self.decls.len();
        let index = place.ok().and_then(|place| self.sorted.get(place).copied());
        let old = index.and_then(|index| self.decls.get_mut(index));
        let bytes = self.bytes - old.as_ref().map_or(0, |it| it.size()) + decl.size();
        if Self::MAX_BYTES < bytes || OptionDecl::MAX_NAME < decl.name.len() {
            return;
        }
        match (old, place) {
            (Some(old), _) => *old = decl,
            (None, Err(place)) if count < Self::MAX_LEN => {
                self.sorted.insert(place, count);
                self.decls.push(decl);
            }
            (None, _) => return,
        }
        self.bytes = bytes;
    }

    /// Finds an option by name, in any equivalent spelling of the dialect.
    pub fn find(&self, name: &str) -> Option<&OptionDecl<'static>> {
        self.decls.get(self.index(name)?)
    }

    /// Finds an option by name.
    ///
    /// # Errors
    /// No option has this name.
    pub fn require(&self, name: &str) -> Result<&OptionDecl<'static>, UnknownOption> {
        self.find(name).ok_or_else(|| UnknownOption { name: name.to_owned() })
    }

    /// The index of an option in the order of declaration.
    pub fn index(&self, name: &str) -> Option<usize> {
        if OptionDecl::MAX_NAME < name.len() {
            return None;
        }
        self.sorted.get(self.place(name).ok()?).copied()
    }

    /// Index of a name in `sorted`, or its insertion point.
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.sorted.binary_search_by(|&index| {
            let decl = self.decls.get(index).map_or("", |decl| &decl.name);
            self.dialect.compare_option_names(decl, name)
        })
    }

    /// The engine's text about itself (`UCI_EngineAbout`), such as its license.
    pub fn engine_about(&self) -> Option<&str> {
        match &self.find(KnownOption::EngineAbout.name())?.kind {
            OptionKind::String { default: Some(text) } if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// All options, in the order of declaration.
    pub fn iter(&self) -> core::slice::Iter<'_, OptionDecl<'static>> {
        self.decls.iter()
    }

    /// The number of options.
    pub fn len(&self) -> usize {
        self.decls.len()
    }

    /// Whether there are no options.
    pub fn is_empty(&self) -> bool {
        self.decls.is_empty()
    }
}

impl<'a> IntoIterator for &'a OptionSet {
    type Item = &'a OptionDecl<'static>;
    type IntoIter = core::slice::Iter<'a, OptionDecl<'static>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for UnknownOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine has no option `{}`", self.name.escape_debug())
    }
}

impl core::error::Error for UnknownOption {}
