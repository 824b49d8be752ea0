//! Positions, legal moves and notations of chess, Chess960 and shogi.
//!
//! The games share their types ([`Position`], [`Move`], [`GameOutcome`]), not a board. The boards are
//! [`ChessBoard`] and [`ShogiBoard`], thin wrappers of `shakmaty` and `rsshogi` for engines.
//!
//! A [`Setup`] is the contents of a FEN or an SFEN; a [`Position`] is playable. [`EndRules`] decide when
//! a game is over, as federations and engine matches differ. [`record`] reads and writes game files.
//!
//! A [`MoveCodec`] converts positions and moves between the rules and the messages of an engine, and a
//! [`session::Judge`] judges the session of a client with an engine.
//!
//! ```
//! use readyok_rules::{Game, Notation, Position};
//!
//! let position = Position::start(Game::Shogi).after(["7g7f", "3c3d"])?;
//! let mv = position.parse_move("8h2b+")?;
//! assert_eq!(position.notation(mv, Notation::Japanese), "▲２二角成");
//! assert_eq!(position.notation(mv, Notation::Western), "Bx2b+");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod book;
mod chess;
mod codec;
mod end_rules;
mod epd;
mod error;
pub mod fairy;
mod game;
mod history;
pub mod judgement;
#[cfg(feature = "openings")]
mod opening;
mod outcome;
mod piece;
mod position;
pub mod record;
pub mod session;
mod setup;
mod shogi;
#[cfg(feature = "syzygy")]
mod tablebase;
mod uci;

pub use book::polyglot::PolyglotBook;
pub use book::{
    Book, BookCounter, BookError, BookFormat, BookMove, BookOptions, BookSize, BookWriter,
};
pub use chess::ChessBoard;
pub use codec::{CodecError, MoveCodec};
pub use end_rules::{
    ChessRules, DeadPositions, Declaration, EndRules, Impasse, MoveLimit, ShogiRules,
};
pub use epd::{Epd, EpdDefect, EpdError, Operand, Operation};
pub use error::{Field, IllegalReason, LineError, MoveError, NamedSide, PositionError};
pub use game::{Game, Move, Notation, Side};
pub use history::PositionHistory;
#[cfg(feature = "openings")]
pub use opening::Opening;
pub use outcome::{GameOutcome, GameResult, Termination};
pub use piece::{Piece, PieceKind, Square};
pub use position::{BoardRef, Position};
pub use readyok_protocol::CastlingForm;
pub use setup::{FenForm, Handicap, Setup};
pub use shogi::ShogiBoard;
#[cfg(feature = "syzygy")]
pub use tablebase::{
    Syzygy, TablebaseCategory, TablebaseEnd, TablebaseError, TablebaseMove, TablebaseResult,
    TablebaseValue, Wdl,
};
// The boards return values of these crates, so users need the same versions.
pub use {rsshogi, shakmaty};
