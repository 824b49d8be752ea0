//! Files of weights, and tables of weights.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use narikin::eval::{WEIGHT_UNITS, Weight, read_weights, shogi::Group};

/// Why weights cannot be read.
#[derive(Debug)]
pub enum WeightsError {
    /// The file cannot be read.
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file is of another model.
    OtherModel {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: usize,
        /// The number of weights of the model, with four bytes each.
        weights: usize,
    },
}

impl fmt::Display for WeightsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => {
                write!(f, "`{}` cannot be read: {source}", path.display())
            }
            Self::OtherModel { path, bytes, weights } => {
                let path = path.display();
                write!(f, "`{path}` has {bytes} bytes, but the model {weights} weights of 4")
            }
        }
    }
}

impl Error for WeightsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::OtherModel { .. } => None,
        }
    }
}

/// Reads the weights of a model with this number of weights, in the format of [`read_weights`].
///
/// # Errors
/// See [`WeightsError`].
pub fn read(path: &Path, weights: usize) -> Result<Vec<Weight>, WeightsError> {
    let bytes =
        fs::read(path).map_err(|source| WeightsError::Io { path: path.to_owned(), source })?;
    if bytes.len() != 4 * weights {
        return Err(WeightsError::OtherModel {
            path: path.to_owned(),
            bytes: bytes.len(),
            weights,
        });
    }
    Ok(read_weights(&bytes))
}

/// The bytes of a file of weights.
pub fn bytes(weights: &[Weight]) -> Vec<u8> {
    let both = |weight: &Weight| [weight.mg.to_le_bytes(), weight.eg.to_le_bytes()];
    weights.iter().flat_map(both).flatten().collect()
}

/// A table of weights by group, in centipawns: middlegame and endgame, separated by a slash. Rows have
/// the length of the board's rows if the group is a multiple.
pub fn table(weights: &[Weight], groups: &[Group]) -> String {
    let mut table = String::new();
    for Group { name, range } in groups {
        let group = weights.get(range.clone()).unwrap_or(&[]);
        // Writing to a string does not fail.
        let _ = writeln!(table, "{name}: {} from {}", group.len(), range.start);
        for row in group.chunks(if group.len().is_multiple_of(9) { 9 } else { 8 }) {
            for weight in row {
                let (mg, eg) = (centipawns(weight.mg), centipawns(weight.eg));
                let _ = write!(table, " {mg:>7.1}/{eg:<7.1}");
            }
            table.truncate(table.trim_end().len());
            table.push('\n');
        }
    }
    table
}

fn centipawns(units: i16) -> f64 {
    f64::from(units) / f64::from(WEIGHT_UNITS)
}
