//! Records of games: one type for every game, and the formats in which people keep them.
//!
//! [`GameRecord`] holds a game with its variations. [`read`] gives the games of a file one by one,
//! so that a database of any size needs memory for one game only; [`write()`] writes one.
//!
//! ```
//! use readyok_rules::record::{self, Format};
//!
//! let file = b"[White \"Anna\"]\n\n1. e4 e5 2. Nf3 (2. f4 exf4) 2... Nc6 1/2-1/2\n";
//! for game in record::read(&file[..], Format::Pgn) {
//!     let game = game?;
//!     assert_eq!(game.mainline().count(), 4);
//!     let mut written = Vec::new();
//!     record::write(&game, Format::Pgn, &mut written)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotations;
mod bookmark;
mod csa;
mod error;
mod format;
mod game;
mod games;
mod headers;
mod jkf;
mod kif;
mod limits;
mod lines;
mod pgn;
mod shogi;
mod source;
mod usi;

pub use annotations::{Annotations, End, Evaluation, Mark, MarkColor, Nag};
pub use bookmark::Bookmark;
pub use error::{AddError, Limit, Oddity, RecordError, RecordErrorKind, Strange, WriteError};
pub use format::{Encoding, Format, Records, read, write, write_encoded};
pub use game::{GameRecord, Mainline, Node, NodeId, Positions};
pub use headers::{Headers, Tag};
pub use limits::Limits;
pub use pgn::{PgnOptions, write_pgn};
