//! Known moves of a position: tablebases and opening books.

pub use readyok_rules::record::ResultCounts;
use readyok_rules::{TablebaseCategory, TablebaseEnd};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::{LibraryFilter, LibraryGame, LichessDatabase, LichessGame, MoveText, Variant};

/// Files that are looked up for a position, on the machine of the server.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct References {
    /// Directories with Syzygy tablebases.
    pub syzygy: Vec<String>,
    /// Opening books.
    pub books: Vec<String>,
}

/// A position to probe. `POST /api/tablebase`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct TablebaseQuery {
    pub variant: Variant,
    /// The position as FEN.
    pub position: String,
}

/// The values of a position and its moves.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct TablebaseView {
    /// The result for the side to move; none without a table.
    pub category: Option<TablebaseCategory>,
    /// Plies to the next capture or pawn move: positive for wins, negative for losses.
    pub dtz: Option<i32>,
    /// The end of the game in the position.
    pub end: Option<TablebaseEnd>,
    /// The legal moves, best first.
    pub moves: Vec<TablebaseMoveView>,
    /// Whether the values are those of the tablebases of Lichess.
    pub online: bool,
}

/// A move and the value of the position after it, for the side that plays it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct TablebaseMoveView {
    pub uci: String,
    pub text: MoveText,
    pub category: Option<TablebaseCategory>,
    pub dtz: Option<i32>,
    /// Whether the move is a capture or a pawn move.
    pub zeroing: bool,
    /// The end of the game by the move.
    pub end: Option<TablebaseEnd>,
}

/// A position to explore. `POST /api/explorer`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct ExplorerQuery {
    pub variant: Variant,
    /// The position as FEN or SFEN.
    pub position: String,
    pub source: ExplorerSource,
}

/// A source of moves.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a message has one value")]
pub enum ExplorerSource {
    /// A book of the settings.
    Book { path: String },
    /// The games of the library that match a filter.
    Library { filter: LibraryFilter },
    /// The explorer of Lichess, if it is switched on.
    Lichess { database: LichessDatabase },
}

/// The moves of a position.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Explorer {
    /// Of a book.
    Book {
        /// In descending order of weights, then of evaluations.
        moves: Vec<ExplorerBookMove>,
        /// Whether the book is for another game.
        other_game: bool,
    },
    /// Of games.
    Library {
        /// The results of all games that reached the position, by any moves.
        counts: ResultCounts,
        /// In descending order of games.
        moves: Vec<ExplorerMove>,
        /// The latest games.
        games: Vec<LibraryGame>,
    },
    /// Of a database of Lichess.
    Lichess {
        counts: ResultCounts,
        /// In descending order of games.
        moves: Vec<ExplorerMove>,
        games: Vec<LichessGame>,
    },
}

/// A move of games.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ExplorerMove {
    pub uci: String,
    pub text: MoveText,
    pub counts: ResultCounts,
    /// Average rating of the players of the move.
    pub rating: Option<f64>,
    /// Performance rating of the players of the move.
    pub performance: Option<f64>,
    /// The date of the latest game.
    pub last_played: Option<String>,
}

/// A move of a book.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ExplorerBookMove {
    pub uci: String,
    pub text: MoveText,
    /// The relative weight, or the number of games with the move.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub weight: Option<u64>,
    /// The share of all weights, from 0 to 1.
    pub share: Option<f64>,
    /// The evaluation for the side to move, in centipawns.
    pub score: Option<i32>,
    /// The depth of the evaluation, in plies.
    pub depth: Option<u32>,
    /// The expected reply.
    pub reply: Option<MoveText>,
}
