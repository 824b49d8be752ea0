//! Values that hold for all engines of a match or for one of them: `10+0.1`, `2=10+0.1`.

use std::{error, fmt, str::FromStr};

/// A value, and the engine it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerEngine<T> {
    /// Which engine, counted from 1; all without a number.
    pub engine: Option<usize>,
    /// The value.
    pub value: T,
}

/// What is wrong with values that are for single engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagError {
    /// The value makes no sense.
    Value(String),
    /// There is no engine of this number.
    NoEngine {
        /// The number.
        number: usize,
        /// How many engines there are.
        engines: usize,
    },
}

impl<T: FromStr<Err: fmt::Display>> FromStr for PerEngine<T> {
    type Err = FlagError;

    fn from_str(text: &str) -> Result<Self, FlagError> {
        let numbered = text
            .split_once('=')
            .and_then(|(number, value)| number.parse().ok().map(|number: usize| (number, value)));
        let (engine, value) = match numbered {
            Some((number, value)) => (Some(number), value),
            None => (None, text),
        };
        let value = value.parse().map_err(|error: T::Err| FlagError::Value(error.to_string()))?;
        Ok(Self { engine, value })
    }
}

impl<T> PerEngine<T> {
    /// Applies values in order, those for all engines before those for one.
    ///
    /// # Errors
    /// A value is for an engine that is not there.
    pub fn apply<E>(
        values: &[Self],
        engines: &mut [E],
        mut set: impl FnMut(&mut E, &T),
    ) -> Result<(), FlagError> {
        let count = engines.len();
        for each in values.iter().filter(|each| each.engine.is_none()) {
            for engine in engines.iter_mut() {
                set(engine, &each.value);
            }
        }
        for each in values {
            let Some(number) = each.engine else { continue };
            let engine = number.checked_sub(1).and_then(|index| engines.get_mut(index));
            set(engine.ok_or(FlagError::NoEngine { number, engines: count })?, &each.value);
        }
        Ok(())
    }
}

impl fmt::Display for FlagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(why) => f.write_str(why),
            Self::NoEngine { number, engines } => {
                write!(f, "there is no engine {number}: the match has {engines}")
            }
        }
    }
}

impl error::Error for FlagError {}
