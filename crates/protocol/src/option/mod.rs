//! Options: declarations and values.

pub(crate) mod decl;
mod known;
pub(crate) mod name;
mod opponent;
pub(crate) mod option_type;
mod path_list;
mod position_value;
mod set;
mod value;

pub use decl::{OptionDecl, OptionKind};
pub use known::{KnownOption, SetBy};
pub use name::OptionName;
pub use opponent::{Opponent, OpponentError, OpponentKind, Title};
pub use option_type::OptionType;
pub use path_list::{PathList, PathListError, PathSeparator};
pub use position_value::{PositionValue, PositionValueError};
pub use set::{OptionSet, UnknownOption};
pub use value::{OptionError, OptionValue};
