//! Checkpoints, from which training continues.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::nnue::curve::{Curve, Point};
use crate::nnue::optimizer::Adam;
use crate::nnue::training::TrainingState;

const MAGIC: &[u8; 8] = b"nntrain1";

/// The state of a training run on a disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The settings and the data. Training continues only with the same ones.
    pub settings: String,
    pub state: TrainingState,
    /// The learning curve.
    pub curve: Curve,
}

/// Why a checkpoint cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("`{}`: {}", .0.display(), .1)]
    Io(PathBuf, #[source] io::Error),
    /// The file is damaged, or not a checkpoint.
    #[error("`{}` is not a valid checkpoint", .0.display())]
    Invalid(PathBuf),
    /// The run had other settings.
    #[error("`{}` was written with other settings:\n{found}\ninstead of\n{wanted}", path.display())]
    Settings {
        path: PathBuf,
        /// Its settings.
        found: String,
        /// The settings of the program.
        wanted: String,
    },
    /// The network has another number of parameters.
    #[error("`{}` has a network of another game, size or activation", .0.display())]
    Shape(PathBuf),
}

impl Checkpoint {
    /// Writes a file. An existing one is replaced only if writing succeeds.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let mut bytes = MAGIC.to_vec();
        let mut text = |text: &str| {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        text(&self.settings);
        let state = &self.state;
        for number in [
            u64::from(state.epoch),
            state.used as u64,
            state.positions,
            u64::from(state.reports),
            u64::from(state.adam.steps),
            state.best_loss.to_bits(),
            self.curve.reference.to_bits(),
            self.curve.points.len() as u64,
            state.parameters.len() as u64,
        ] {
            bytes.extend(number.to_le_bytes());
        }
        for Point { positions, progress, rate, training, validation } in &self.curve.points {
            bytes.extend(positions.to_le_bytes());
            bytes.extend(progress.to_le_bytes());
            bytes.extend(rate.to_le_bytes());
            bytes.extend(training.to_le_bytes());
            bytes.extend(validation.to_le_bytes());
        }
        for floats in [&state.parameters, &state.best, &state.adam.first, &state.adam.second] {
            bytes.extend(floats.iter().flat_map(|float| float.to_le_bytes()));
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let failed = |error| CheckpointError::Io(path.to_owned(), error);
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let mut file = fs::File::create(&partial).map_err(failed)?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&partial, path).map_err(failed)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or it is invalid.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = fs::read(path).map_err(|error| CheckpointError::Io(path.to_owned(), error))?;
        Self::parse(&bytes).ok_or_else(|| CheckpointError::Invalid(path.to_owned()))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (content, checksum) = bytes.split_last_chunk()?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let mut fields = Fields(content.strip_prefix(MAGIC)?);
        let length = fields.size()?;
        let settings = std::str::from_utf8(fields.bytes(length)?).ok()?.to_owned();
        let epoch = fields.number()?.try_into().ok()?;
        let used = fields.size()?;
        let positions = fields.number()?;
        let reports = fields.number()?.try_into().ok()?;
        let steps = fields.number()?.try_into().ok()?;
        let best_loss = f64::from_bits(fields.number()?);
        let reference = f64::from_bits(fields.number()?);
        let (points, parameters) = (fields.size()?, fields.size()?);
        let point = |_| {
            Some(Point {
                positions: fields.number()?,
                progress: fields.float()?,
                rate: fields.float()?,
                training: f64::from_bits(fields.number()?),
                validation: f64::from_bits(fields.number()?),
            })
        };
        let points = (0..points).map(point).collect::<Option<_>>()?;
        let mut floats = || fields.floats(parameters);
        let state = TrainingState {
            parameters: floats()?,
            best: floats()?,
            adam: Adam { first: floats()?, second: floats()?, steps },
            best_loss,
            epoch,
            used,
            positions,
            reports,
        };
        let curve = Curve { points, reference };
        fields.0.is_empty().then_some(Self { settings, state, curve })
    }
}

/// The remaining bytes.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u64> {
        let (&bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(bytes))
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn float(&mut self) -> Option<f32> {
        let (&bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(f32::from_le_bytes(bytes))
    }

    fn floats(&mut self, count: usize) -> Option<Vec<f32>> {
        let (floats, _) = self.bytes(count.checked_mul(4)?)?.as_chunks();
        Some(floats.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
    }
}
