//! Options: declarations and values.

pub(crate) mod decl;
mod form;
mod known;
mod text;
mod value;

pub use decl::{OptionDecl, OptionKind};
pub use known::{KnownOption, OptionType, SetBy};
pub use text::{
    Opponent, OpponentError, OpponentKind, PathList, PathListError, PathSeparator, PositionValue,
    PositionValueError, Title,
};
pub use value::{OptionError, OptionSet, OptionValue, UnknownOption};
