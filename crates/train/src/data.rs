//! Files of games: the moves, the scores of the searches, and the results.
//!
//! A file is a sequence of blocks, each with its length and checksum: first a [`Header`], then one
//! [`Record`] for each game, in the order of their numbers. A partial block at the end, which a killed
//! program leaves, is truncated when a run is resumed.

mod block;
mod error;
mod header;
mod reader;
mod record;
mod writer;

pub use error::DataError;
pub use header::{Header, VERSION};
pub use reader::Reader;
pub use record::{End, MATE, MAX_PLIES, Ply, Record, Winner};
pub use writer::Writer;
