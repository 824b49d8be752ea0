//! Options: declarations and values.

pub(crate) mod decl;
mod known;
mod opponent;
mod path_list;
mod position_value;
mod set;
mod value;

pub use decl::{OptionDecl, OptionKind, OptionType};
pub use known::{KnownOption, Language, SetBy};
pub use opponent::{Opponent, OpponentError, OpponentKind, Title};
pub use path_list::{PathList, PathListError, PathSeparator};
pub use position_value::{PositionValue, PositionValueError};
pub use set::{OptionSet, UnknownOption};
pub use value::{OptionError, OptionValue};
