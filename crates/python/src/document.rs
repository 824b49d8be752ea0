//! The value behind `Game`: a document, and what its reading reported.

use pyo3::prelude::*;
use readyok_rules::record::{
    self, Evaluation, GameDocument, GameRecord, Losses, Merge, RecordMove,
};

use crate::error::{OrRaise, value_error};
use crate::score::Score;

/// A game of chess, Chess960 or shogi: headers, a tree of moves with annotations, and what engines found.
///
/// position: the start and the moves of the game so far; the start position of chess without it.
#[pyclass(module = "readyok", name = "Game")]
pub(crate) struct Game {
    pub(crate) document: GameDocument,
    /// Defects of the text that the game was read from: what was skipped, guessed or replaced.
    #[pyo3(get)]
    pub(crate) notices: Vec<String>,
}

impl Game {
    pub(crate) fn new(record: GameRecord, notices: Vec<String>) -> Self {
        Self { document: record.into(), notices }
    }

    pub(crate) fn record(&self) -> &GameRecord {
        &self.document.record
    }

    pub(crate) fn uci(&self, mv: RecordMove) -> String {
        mv.to_uci(self.record().game().castling_form())
    }

    pub(crate) fn mainline(&self) -> impl Iterator<Item = RecordMove> {
        self.record().mainline().filter_map(record::Node::mv)
    }

    /// The text in a format, and what it cannot hold.
    pub(crate) fn written(&self, format: record::Format) -> PyResult<(String, Losses)> {
        let mut out = Vec::new();
        let losses = if self.document.engine.is_empty() {
            record::write(self.record(), format, &mut out).or_raise()?
        } else {
            record::write(&self.document.to_record(Merge::of(format)), format, &mut out)
                .or_raise()?
        };
        Ok((String::from_utf8(out).map_err(value_error)?, losses))
    }
}

/// Warns about content that a format cannot hold.
pub(crate) fn warn(py: Python<'_>, format: record::Format, losses: Losses) -> PyResult<()> {
    if losses.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = losses.iter().map(|loss| loss.to_string()).collect();
    let text = format!("{format} cannot hold {}", names.join(", "));
    let class = py.import("readyok.errors")?.getattr("RecordWarning")?;
    py.import("warnings")?.call_method1("warn", (text, class, 2)).map(drop)
}

/// An evaluation in a record.
///
/// score: from the view of the first player (White in chess).
/// depth: the depth of the search in plies, if it is known.
#[pyclass(module = "readyok", name = "Evaluation", frozen, get_all)]
#[derive(Clone, Copy)]
pub(crate) struct PyEvaluation {
    /// From the view of the first player (White in chess).
    pub(crate) score: Score,
    /// The depth of the search in plies, if it is known.
    pub(crate) depth: Option<u32>,
}

impl From<Evaluation> for PyEvaluation {
    fn from(evaluation: Evaluation) -> Self {
        Self { score: Score(evaluation.score), depth: evaluation.depth }
    }
}

#[pymethods]
impl PyEvaluation {
    fn __repr__(&self) -> String {
        let depth = self.depth.map(|depth| format!(", depth {depth}"));
        format!("<Evaluation {}{}>", self.score.0, depth.unwrap_or_default())
    }
}
