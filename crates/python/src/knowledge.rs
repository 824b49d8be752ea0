//! Tablebases and opening books.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use readyok_rules::{Book as RulesBook, Syzygy, TablebaseValue};

use crate::error::{OrRaise, os_error};
use crate::lock;
use crate::names;
use crate::position::Position;

/// Syzygy tablebases of some directories. Files are opened when they are needed, and stay open.
///
/// Raises OSError if a directory cannot be read or none of them has a table.
#[pyclass(module = "readyok", frozen)]
pub(crate) struct Tablebase(Syzygy);

#[pymethods]
impl Tablebase {
    #[new]
    #[pyo3(signature = (*directories))]
    fn new(py: Python<'_>, directories: Vec<PathBuf>) -> PyResult<Self> {
        let opened = py.detach(|| Syzygy::open(directories));
        opened.map(Self).map_err(|error| os_error(&error, None))
    }

    /// The number of files.
    fn __len__(&self) -> usize {
        self.0.files()
    }

    /// The number of pieces of the largest table, kings included.
    #[getter]
    fn max_pieces(&self) -> usize {
        self.0.max_pieces()
    }

    /// The values of a position and of its moves, the best move first.
    ///
    /// Raises TablebaseError: no table can have the position. The values from a missing or damaged file have the value None.
    fn probe(&self, py: Python<'_>, position: &Position) -> PyResult<TablebaseResult> {
        let board = position.now();
        let form = board.game().castling_form();
        let result = py.detach(|| self.0.probe_moves(board)).or_raise()?;
        let (category, dtz) = value(result.value);
        let moves = result.moves.into_iter().map(|rated| {
            let (category, dtz) = value(rated.value);
            let (mv, is_zeroing) = (rated.mv.to_uci(form), rated.is_zeroing);
            TablebaseMove { r#move: mv, category, dtz, is_zeroing }
        });
        Ok(TablebaseResult { category, dtz, moves: moves.collect() })
    }
}

fn value(value: TablebaseValue) -> (Option<String>, Option<i32>) {
    (value.category.as_ref().map(names::serde_name), value.dtz)
}

/// The values of a position in tablebases.
///
/// category: the result for the side to move under the fifty-move rule: "win", "maybe_win" (a win or a cursed win, because the
///     distance is rounded), "cursed_win" (a draw by the fifty-move rule), "draw", "blessed_loss", "maybe_loss", "loss", or None.
/// dtz: plies to the next capture or pawn move of best play; negative for losses.
/// moves: the legal moves, the best first.
#[pyclass(module = "readyok", frozen, get_all)]
pub(crate) struct TablebaseResult {
    /// The result for the side to move under the fifty-move rule. None without a table.
    category: Option<String>,
    /// Plies to the next capture or pawn move of best play; negative for losses. None without a table.
    dtz: Option<i32>,
    /// The legal moves, the best first.
    moves: Vec<TablebaseMove>,
}

/// The value of a move, for the side that plays it.
#[pyclass(module = "readyok", frozen, get_all)]
#[derive(Clone)]
pub(crate) struct TablebaseMove {
    /// The move in UCI notation.
    r#move: String,
    /// The result for the side that plays the move.
    category: Option<String>,
    /// Plies to the next capture or pawn move after the move; negative for losses.
    dtz: Option<i32>,
    /// Whether the move is a capture or a pawn move.
    is_zeroing: bool,
}

#[pymethods]
impl TablebaseMove {
    fn __repr__(&self) -> String {
        format!(
            "<TablebaseMove {}: {}>",
            self.r#move,
            self.category.as_deref().unwrap_or("unknown")
        )
    }
}

/// An opening book: Polyglot for chess and Chess960, the text format of YaneuraOu for shogi.
///
/// Raises OSError, and ValueError if the file is not a book.
#[pyclass(module = "readyok", frozen)]
pub(crate) struct Book(Mutex<RulesBook>);

#[pymethods]
impl Book {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| RulesBook::open(&path));
        match opened {
            Err(readyok_rules::BookError::Io(error)) => Err(os_error(&error, Some(&path))),
            other => Ok(Self(Mutex::new(other.or_raise()?))),
        }
    }

    /// The legal moves of the book in a position, in the order of the file. Empty if the book is for another game.
    fn moves(&self, py: Python<'_>, position: &Position) -> PyResult<Vec<BookMove>> {
        let board = position.now();
        let form = board.game().castling_form();
        let moves = py.detach(|| lock(&self.0).moves(board)).or_raise()?;
        let text = |mv: readyok_rules::Move| mv.to_uci(form);
        let moves = moves.into_iter().map(|entry| BookMove {
            r#move: text(entry.mv),
            reply: entry.reply.map(text),
            weight: entry.weight,
            score: entry.score,
            depth: entry.depth,
        });
        Ok(moves.collect())
    }
}

/// A move of an opening book.
#[pyclass(module = "readyok", frozen, get_all)]
pub(crate) struct BookMove {
    /// The move in UCI or USI notation.
    r#move: String,
    /// The expected reply (shogi).
    reply: Option<String>,
    /// The relative weight, or the number of games with the move.
    weight: Option<u64>,
    /// The evaluation for the side to move, in centipawns (shogi).
    score: Option<i32>,
    /// The depth of the evaluation, in plies (shogi).
    depth: Option<u32>,
}

#[pymethods]
impl BookMove {
    fn __repr__(&self) -> String {
        let weight = self.weight.map(|weight| format!(", weight {weight}"));
        format!("<BookMove {}{}>", self.r#move, weight.unwrap_or_default())
    }
}
