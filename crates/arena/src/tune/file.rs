//! The file with the result of a tuning: options for an engine of a match.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::event::Rating;
use crate::plan::EnginePlan;
use crate::tune::status::{TuneStatus, TunedParameter};

/// Maximum size of a file in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Options of an engine as a TOML file, with the tuning that found them.
///
/// ```toml
/// [options]
/// FutilityMargin = "131"
///
/// [tuning]
/// pairs = 20000
/// gain = { elo = 7.1, error = 5.2 }
///
/// [tuning.parameters.FutilityMargin]
/// start = 120.0
/// average = 130.6
/// low = 112.4
/// high = 149.8
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionsFile {
    /// The options.
    pub options: BTreeMap<String, String>,
    /// The tuning, for readers of the file: matches do not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<TuningSummary>,
}

/// The result of a tuning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningSummary {
    /// The number of pairs.
    pub pairs: u64,
    /// The estimated Elo of the options against the start values, with its error.
    pub gain: Rating,
    /// The parameters by the names of their options.
    pub parameters: BTreeMap<String, ParameterSummary>,
}

/// The result of a tuning for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterSummary {
    /// The first value.
    pub start: f64,
    /// The average of the latest values, not rounded.
    pub average: f64,
    /// The lower bound of the 95 % confidence interval of the best value; absent if the games exclude no value below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A file of options that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OptionsFileError {
    /// It cannot be read.
    #[error("`{path}`: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is larger than 1 MiB.
    #[error("`{0}` is larger than 1 MiB: it is no file of options")]
    TooLarge(PathBuf),
    /// It is not TOML with a table `options` of texts.
    #[error("`{path}`: {source}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: toml::de::Error,
    },
}

impl OptionsFile {
    /// The averages of a tuning.
    pub fn tuned(status: &TuneStatus) -> Self {
        let summary = |tuned: &TunedParameter| ParameterSummary {
            start: tuned.start,
            average: tuned.average,
            low: Some(tuned.low).filter(|low| tuned.min < *low),
            high: Some(tuned.high).filter(|high| *high < tuned.max),
        };
        let parameters = status.parameters.iter();
        Self {
            options: options(parameters.clone(), |tuned| tuned.rounded.clone()),
            tuning: Some(TuningSummary {
                pairs: status.pairs,
                gain: status.gain,
                parameters: parameters.map(|tuned| (tuned.name.clone(), summary(tuned))).collect(),
            }),
        }
    }

    /// The start values of a tuning.
    pub fn start(status: &TuneStatus) -> Self {
        let options = options(status.parameters.iter(), |tuned| tuned.rounded_start.clone());
        Self { options, tuning: None }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is too large, or is not a file of options.
    pub fn read(path: &Path) -> Result<Self, OptionsFileError> {
        let failed = |source| OptionsFileError::Read { path: path.to_owned(), source };
        let mut text = String::new();
        let file = File::open(path).map_err(failed)?;
        file.take(MAX_SIZE + 1).read_to_string(&mut text).map_err(failed)?;
        if MAX_SIZE < text.len() as u64 {
            return Err(OptionsFileError::TooLarge(path.to_owned()));
        }
        toml::from_str(&text)
            .map_err(|source| OptionsFileError::Invalid { path: path.to_owned(), source })
    }
}

fn options<'a>(
    parameters: impl Iterator<Item = &'a TunedParameter>,
    value: impl Fn(&TunedParameter) -> String,
) -> BTreeMap<String, String> {
    parameters.map(|tuned| (tuned.name.clone(), value(tuned))).collect()
}

impl EnginePlan {
    /// Reads the [options file](EnginePlan::options_file), if there is one. A relative path starts in `directory`. Options
    /// of the plan take precedence.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn read_options_file(&mut self, directory: &Path) -> Result<(), OptionsFileError> {
        let Some(path) = self.options_file.take() else { return Ok(()) };
        for (name, value) in OptionsFile::read(&directory.join(path))?.options {
            self.options.entry(name).or_insert(value);
        }
        Ok(())
    }
}
