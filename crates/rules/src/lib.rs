//! Positions, legal moves and notations of chess, Chess960 and shogi.
//!
//! The games share words ([`Position`], [`Move`], [`GameOutcome`]), not a board: the boards are
//! [`ChessBoard`] and [`ShogiBoard`], thin over `shakmaty` and `rsshogi`, for those who search.
//! A [`Setup`] is what a FEN or an SFEN can say; a [`Position`] can be played. When a game is over is
//! for [`EndRules`] to say, as federations and matches of programs differ. Games as files have them
//! are in [`record`].
//!
//! A [`MoveCodec`] converts positions and moves between the rules and the messages of an engine.
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

mod chess;
mod codec;
mod declaration;
mod epd;
mod error;
pub mod fairy;
mod moves;
mod opening;
mod outcome;
mod piece;
mod polyglot;
mod position;
pub mod record;
mod rules;
mod setup;
mod shogi;

pub use chess::ChessBoard;
pub use codec::{CodecError, MoveCodec};
pub use declaration::Declaration;
pub use epd::{Epd, EpdError, Operand, Operation};
pub use error::{Field, IllegalReason, LineError, MoveError, PositionError};
pub use moves::{CastlingForm, Move};
pub use opening::Opening;
pub use outcome::{GameOutcome, GameResult, Termination};
pub use piece::{Kind, Piece, Square};
pub use polyglot::Polyglot;
pub use position::{BoardRef, Game, Notation, Position, Side};
pub use rules::{ChessRules, DeadPositions, EndRules, Impasse, MoveLimit, ShogiRules};
pub use setup::{FenForm, Handicap, Setup};
pub use shogi::ShogiBoard;
// The boards hand out values of these crates; whoever uses them needs the very same version.
pub use {rsshogi, shakmaty};
