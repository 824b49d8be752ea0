//! Game records: one type for all games, and the file formats.
//!
//! [`GameRecord`] is a game with variations. [`read`] reads the games of a file one by one, so even a
//! large database needs memory for only one game. [`write()`] writes one game.
//!
//! ```
//! use readyok_rules::record::{self, Format};
//!
//! let file = b"[White \"Anna\"]\n\n1. e4 e5 2. Nf3 (2. f4 exf4) 2... Nc6 1/2-1/2\n";
//! for game in record::read(&file[..], Format::PGN) {
//!     let game = game?;
//!     assert_eq!(game.mainline().count(), 4);
//!     let mut written = Vec::new();
//!     record::write(&game, Format::PGN, &mut written)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(any(test, not(feature = "encodings")))]
mod charset;
#[cfg(feature = "compression")]
pub mod compression;
mod csa;
mod date;
mod document;
mod encoding;
mod error;
mod filter;
mod fold;
mod format;
mod formats;
mod game;
mod identity;
mod input;
mod jkf;
mod kif;
mod limits;
mod lines;
mod loss;
mod metadata;
mod notice;
mod opening_tree;
mod pgn;
mod records;
mod shogi;
mod speed;
mod strip;

pub use date::{Date, DateRange};
pub use document::{EngineNote, EngineNotes, GameDocument, Merge, ScoredLine};
pub use encoding::{Encoding, InputEncoding, UnsupportedEncoding};
pub use error::{
    AddError, Defect, FilterError, Limit, PatternDefect, RecordError, RecordErrorKind,
};
pub use filter::{
    BoardPattern, Condition, EcoRange, Feature, HeaderTest, MaterialAnswer, MaterialPattern,
    MaterialSignature, MoveLine, NumberRange, PatternSearch, PiecePlacement, PlayerColor,
    PlayerCondition, PlayerResult, PositionPattern, Source, TextPattern, rating,
};
pub use fold::fold;
pub use format::{Bookmark, Format};
pub use game::{
    AddedTree, Changes, Children, GameRecord, Mainline, Node, NodeId, Positions, RecordMove,
};
pub use identity::{AnnotationCount, GameIdentity, is_known_name, online_game};
pub use limits::Limits;
pub use loss::{Loss, Losses};
pub use metadata::{Annotations, End, Evaluation, Headers, Mark, MarkColor, Nag, Tag};
pub use notice::{Cost, Notice, NoticeReason, ReadExtent};
pub use opening_tree::{OpeningTree, OpeningTreeOptions, ResultCounts};
pub use pgn::{PgnOptions, write_pgn};
pub use records::{Records, WriteError, decode, read, write, write_encoded};
pub use speed::Speed;
