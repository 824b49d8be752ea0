//! A database of chess and shogi games with a position index.
//!
//! A [`Library`] is one `SQLite` file with one writer thread. Every method can be called by any thread and blocks:
//! additions until they are committed, queries until they have their result. Queries read a consistent state and wait
//! neither for the writer nor for each other.
//!
//! * A game is added from a [`GameRecord`](readyok_rules::record::GameRecord) by [`NewGame::from_record`], and read
//!   as an equal one by [`NewGame::record`]. [`NewGame::play`] is data of the app that belongs to the game.
//! * [`Library::import`] streams files of any size and format, with progress, cancellation and [`Duplicates`];
//!   [`Library::importer`] adds records from elsewhere. [`Library::add_once`] adds a batch that is repeated after a
//!   crash.
//! * [`Library::search`] finds games by a [`Condition`](readyok_rules::record::Condition): one scan of 32-byte
//!   [`Summary`] values in memory, and the index of positions and material. Games about which these do not know enough
//!   are replayed for patterns of pieces, or decoded; [`Filter::watched`] has their progress and cancels.
//! * [`Library::explore`] returns statistics of the moves of a position. [`move_of`] converts their codes.
//! * [`Library::repertoire`] finds the games that follow a tree of moves, and where they leave it.
//! * [`Library::duplicates`] groups games that are one game; [`Library::merge_names`] makes one name of several, and
//!   [`Library::propose_names`] finds spelling variants of players.
//! * [`Library::back_up`] copies the file, [`examine`] finds defects, and [`repair()`] writes a new file of what can be read.
//!   [`Library::import_library`] adds the games of another database.
//! * [`Library::edit_collection`] changes collections: named, ordered lists of games.
//! * A [`GameDocument`](readyok_rules::record::GameDocument) also has the ids of its nodes and the notes of engines:
//!   [`NewGame::from_document`], [`NewGame::document`]. [`encode_document`] makes one blob of a document, which an
//!   app can save after each change, in a file of its own: a save does not wait for an import then.
//!
//! # Several processes
//!
//! Any number of processes, and of [`Library`] values, can use one file. The writer handles each request with a lock
//! that excludes those of other processes, and a change of another process is read before the next request or query.
//! While several have the file open, no writer keeps postings in memory.
//!
//! # Durability
//!
//! A kill of the process loses nothing that was acknowledged. Postings of recent games are only in memory; their games
//! are indexed again when the file is opened. A file since version 3 is extended
//! when it is opened; one of another version is rejected unchanged.

mod backup;
mod bitset;
mod check;
mod codec;
mod collection;
mod duplicates;
mod error;
mod game;
mod groups;
mod import;
mod index;
mod library;
mod lock;
mod matcher;
mod merge;
mod names;
mod outcome;
mod pattern_cache;
mod patterns;
mod postings;
mod query;
mod receipt;
mod repair;
mod repertoire;
mod schema;
mod snapshot;
mod summary;
mod text_cache;
mod varint;
mod writer;

pub use check::{Defect, DefectKind, Examined, examine};
pub use codec::{code_of, decode_document, encode_document, move_of};
pub use collection::{Chapter, Collection, CollectionEdit, MAX_CHAPTERS};
pub use duplicates::Undecided;
pub use error::{Error, Item, LibraryDefect, is_damage};
pub use game::{GameEntry, Indexer, NewGame, StoredGame};
pub use groups::DuplicateGroup;
pub use import::{ImportOptions, Imported, Importer};
pub use library::{Hold, Library};
pub use matcher::{Filter, Watch};
pub use merge::Merged;
pub use names::{NameCount, NameKind, NameMerge, NameProposal, ProposalReason, SpellingFile};
pub use outcome::{Decided, Decision, Duplicates, Outcome};
pub use postings::{END_OF_GAME, Key};
pub use query::{Column, Explorer, MoveStatistics, Page};
pub use receipt::Receipt;
pub use repair::{Repaired, repair};
pub use repertoire::{RepertoireGame, RepertoirePlace};
pub use summary::{NameId, Summary};
pub use varint::Corrupt;

pub use readyok_rules::record::{Date, ResultCounts, Source, Speed};
