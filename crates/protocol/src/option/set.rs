//! The options of one engine, found by name.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::decl::OptionDecl;
use crate::Dialect;

/// The options that an engine declares, in its order, each name once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OptionSet {
    dialect: Dialect,
    decls: Vec<OptionDecl<'static>>,
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

    /// No options yet. The dialect decides which names are the same.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, decls: Vec::new() }
    }

    /// The dialect that decides which names are the same.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Adds a declaration. One of the same name takes the place of the old one.
    pub fn declare(&mut self, decl: OptionDecl<'static>) {
        match self.index(&decl.name) {
            Some(index) => {
                if let Some(old) = self.decls.get_mut(index) {
                    *old = decl;
                }
            }
            None if self.decls.len() < Self::MAX_LEN => self.decls.push(decl),
            None => (),
        }
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
        self.decls.iter().position(|decl| self.dialect.same_option(&decl.name, name))
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
