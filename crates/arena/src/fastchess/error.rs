//! What can be wrong with a command line.

use std::{error, fmt};

use crate::stats::SprtError;

/// What is wrong with a command line, and where.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentError {
    /// No such option.
    UnknownOption {
        /// What was written.
        option: String,
        /// A known option that looks like it.
        similar: Option<&'static str>,
    },
    /// An option that takes nothing was given something.
    TakesNothing(&'static str),
    /// An option that takes one value was given none or several.
    TakesOneValue(&'static str),
    /// An option that takes `key=value` pairs was given something else, or nothing.
    TakesPairs {
        /// The option.
        option: &'static str,
        /// What stood there instead of a pair.
        word: Option<String>,
    },
    /// An option has no such key, or the key not this value.
    BadPair {
        /// The option.
        option: &'static str,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What is expected, if that helps.
        expected: &'static str,
    },
    /// A value is not what the option takes.
    BadValue {
        /// The option.
        option: &'static str,
        /// The value.
        value: String,
        /// What is expected.
        expected: &'static str,
    },
    /// There are fewer than two engines.
    TooFewEngines,
    /// An engine has neither a command nor a name.
    EngineWithoutCommand,
    /// An engine has no limit for its searches.
    NoLimit {
        /// Its name.
        engine: String,
    },
    /// An engine has a clock and a time for each move.
    TwoTimes {
        /// Its name.
        engine: String,
    },
    /// The numbers make no test.
    Test(SprtError),
    /// Chess960 needs openings.
    NeedsBook,
    /// Options that cannot both be.
    Conflict(&'static str),
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOption { option, similar: Some(similar) } => {
                write!(f, "no option `{option}`; did you mean `{similar}`?")
            }
            Self::UnknownOption { option, similar: None } => write!(f, "no option `{option}`"),
            Self::TakesNothing(option) => write!(f, "`{option}` takes no value"),
            Self::TakesOneValue(option) => write!(f, "`{option}` takes exactly one value"),
            Self::TakesPairs { option, word: Some(word) } => {
                write!(f, "`{option}` takes key=value pairs, and `{word}` is none")
            }
            Self::TakesPairs { option, word: None } => {
                write!(f, "`{option}` takes key=value pairs")
            }
            Self::BadPair { option, key, value, expected: "" } => {
                write!(f, "`{option}` has no `{key}={value}`")
            }
            Self::BadPair { option, key, value, expected } => {
                write!(f, "`{option}` has no `{key}={value}`: expected {expected}")
            }
            Self::BadValue { option, value, expected } => {
                write!(f, "`{option}` cannot be `{value}`: expected {expected}")
            }
            Self::TooFewEngines => f.write_str("at least two engines are needed"),
            Self::EngineWithoutCommand => f.write_str("an engine needs a `cmd`"),
            Self::NoLimit { engine } => {
                write!(f, "engine `{engine}` has no limit: give tc, st, nodes or depth")
            }
            Self::TwoTimes { engine } => write!(f, "engine `{engine}` has both tc and st"),
            Self::Test(error) => write!(f, "`-sprt`: {error}"),
            Self::NeedsBook => f.write_str("`-variant fischerandom` needs `-openings`"),
            Self::Conflict(what) => f.write_str(what),
        }
    }
}

impl error::Error for ArgumentError {}
