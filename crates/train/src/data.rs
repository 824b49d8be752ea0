//! Files of games: what Narikin played, what it thought, and how it ended.
//!
//! A file is a sequence of blocks, each with its length and checksum: first a [`Header`], then one
//! [`Record`] for each game, in the order of their numbers. What a killed program has left unfinished
//! at the end is cut off when the file goes on.

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
