//! Files of weights, and weights for people to read.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use narikin::eval::{WEIGHT_UNITS, Weight, read_weights};

/// Why weights cannot be read.
#[derive(Debug)]
pub enum WeightsError {
    /// The file cannot be read.
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is of another model.
    OtherModel {
        /// The file.
        path: PathBuf,
        /// How many bytes it has.
        bytes: usize,
        /// How many weights the model has, of four bytes each.
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

/// Reads the weights of a model that has so many, as [`read_weights`] does.
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

/// Weights by their groups, in centipawns: in the opening, a slash, and in the ending. Rows are as
/// long as those of the board if a group fills them.
pub fn table(weights: &[Weight], groups: &[(&str, Range<usize>)]) -> String {
    let mut table = String::new();
    for (name, range) in groups {
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
