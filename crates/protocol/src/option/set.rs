//! The options of one engine, found by name.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::decl::{OptionDecl, OptionKind};
use super::known::KnownOption;
use crate::Dialect;

/// The options that an engine declares, in its order, each name once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OptionSet {
    dialect: Dialect,
    decls: Vec<OptionDecl<'static>>,
    /// Where the options stand in `decls`, sorted by their names: an engine may declare thousands.
    sorted: Vec<usize>,
    /// What the declarations take together.
    bytes: usize,
}

/// An engine has no option of this name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownOption {
    /// The name that was looked for.
    pub name: String,
}

impl OptionSet {
    /// More declarations are ignored: no known engine has a tenth of them.
    pub const MAX_LEN: usize = 4096;

    /// The most memory that the declarations take together, in bytes. One that would not fit is
    /// ignored.
    pub const MAX_BYTES: usize = 1 << 20;

    /// No options yet. The dialect decides which names are the same.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, decls: Vec::new(), sorted: Vec::new(), bytes: 0 }
    }

    /// The dialect that decides which names are the same.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Adds a declaration. One of the same name takes the place of the old one. One too many is
    /// ignored, and so is one whose name is longer than [`OptionDecl::MAX_NAME`].
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

    /// The option of a name, in any spelling that means the same in this dialect.
    pub fn find(&self, name: &str) -> Option<&OptionDecl<'static>> {
        self.decls.get(self.index(name)?)
    }

    /// The option of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn require(&self, name: &str) -> Result<&OptionDecl<'static>, UnknownOption> {
        self.find(name).ok_or_else(|| UnknownOption { name: name.to_owned() })
    }

    /// Where the option of a name stands among the others.
    pub fn index(&self, name: &str) -> Option<usize> {
        if OptionDecl::MAX_NAME < name.len() {
            return None;
        }
        self.sorted.get(self.place(name).ok()?).copied()
    }

    /// Where a name stands in `sorted`, or where it would.
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.sorted.binary_search_by(|&index| {
            let decl = self.decls.get(index).map_or("", |decl| &decl.name);
            self.dialect.compare_option_names(decl, name)
        })
    }

    /// What the engine says about itself (`UCI_EngineAbout`): a text for people, such as its licence.
    pub fn engine_about(&self) -> Option<&str> {
        match &self.find(KnownOption::EngineAbout.name())?.kind {
            OptionKind::String { default: Some(text) } if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// All options, in the order in which they were declared.
    pub fn iter(&self) -> core::slice::Iter<'_, OptionDecl<'static>> {
        self.decls.iter()
    }

    /// The number of options.
    pub fn len(&self) -> usize {
        self.decls.len()
    }

    /// Whether there are none.
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
