//! Nodes: the moves of a game with their annotations.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use readyok_rules::record::{
    Annotations, EngineNote, Evaluation, Mark, MarkColor, Nag, Node as RecordNode, NodeId,
    RecordMove, ScoredLine,
};
use readyok_rules::{Position as Board, Square};

use crate::document::{Game, PyEvaluation};
use crate::error::{OrRaise, value_error};
use crate::limits::seconds;
use crate::names;
use crate::position::{Outcome, Position};
use crate::score::Score;

/// A move of a game with its annotations, or the start of the game. Nodes of a deleted line raise ValueError.
#[pyclass(module = "readyok", frozen)]
pub(crate) struct Node {
    game: Py<Game>,
    id: NodeId,
}

impl Node {
    pub(crate) fn new(game: Py<Game>, id: NodeId) -> Self {
        Self { game, id }
    }

    fn at(&self, py: Python<'_>, id: NodeId) -> Self {
        Self { game: self.game.clone_ref(py), id }
    }

    fn with<T>(&self, py: Python<'_>, read: impl FnOnce(&Game, &RecordNode) -> T) -> PyResult<T> {
        let game = self.game.borrow(py);
        let node = game.record().node(self.id).ok_or_else(deleted)?;
        Ok(read(&game, node))
    }

    fn notes<T>(&self, py: Python<'_>, read: impl FnOnce(&Annotations) -> T) -> PyResult<T> {
        self.with(py, |game, _| read(game.record().annotations(self.id)))
    }

    fn change(&self, py: Python<'_>, change: impl FnOnce(&mut Annotations)) -> PyResult<()> {
        let mut game = self.game.borrow_mut(py);
        change(game.document.record.annotations_mut(self.id).ok_or_else(deleted)?);
        Ok(())
    }

    fn board(&self, py: Python<'_>) -> PyResult<Board> {
        self.game.borrow(py).record().position_after(self.id).ok_or_else(deleted)
    }
}

fn deleted() -> PyErr {
    value_error("the node was deleted")
}

fn color_name(color: MarkColor) -> &'static str {
    match color {
        MarkColor::Green => "green",
        MarkColor::Red => "red",
        MarkColor::Yellow => "yellow",
        MarkColor::Blue => "blue",
    }
}

#[pymethods]
impl Node {
    /// A number that identifies the node in its game. 0 is the root.
    #[getter]
    fn id(&self) -> u32 {
        self.id.into()
    }

    /// The move in UCI or USI notation; "0000" for a null move. None at the root.
    #[getter]
    fn r#move(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |game, node| node.mv().map(|mv| game.uci(mv)))
    }

    /// The move in a notation. None at the root.
    #[pyo3(signature = (notation="san"))]
    fn notation(&self, py: Python<'_>, notation: &str) -> PyResult<Option<String>> {
        let notation = names::notation(notation)?;
        let game = self.game.borrow(py);
        let node = game.record().node(self.id).ok_or_else(deleted)?;
        let Some((mv, parent)) = node.mv().zip(node.parent()) else { return Ok(None) };
        let RecordMove::Legal(legal) = mv else { return Ok(Some(game.uci(mv))) };
        let before = game.record().position_after(parent).ok_or_else(deleted)?;
        Ok(Some(before.notation(legal, notation)))
    }

    /// Whether the move is illegal: the last one of a game that it lost.
    #[getter]
    fn is_illegal(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |_, node| node.mv().is_some_and(RecordMove::is_illegal))
    }

    /// The number of moves from the start to this node.
    #[getter]
    fn ply(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |_, node| node.ply())
    }

    /// The node before this one. None at the root.
    #[getter]
    fn parent(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let parent = self.with(py, |_, node| node.parent())?;
        Ok(parent.map(|id| self.at(py, id)))
    }

    /// The continuation, and variations of it.
    #[getter]
    fn children(&self, py: Python<'_>) -> PyResult<Vec<Self>> {
        let ids: Vec<_> =
            self.with(py, |game, _| game.record().children(self.id).map(RecordNode::id).collect())?;
        Ok(ids.into_iter().map(|id| self.at(py, id)).collect())
    }

    /// The continuation. None at the end of a line.
    #[getter]
    fn next(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let next = self.with(py, |game, _| game.record().next(self.id).map(RecordNode::id))?;
        Ok(next.map(|id| self.at(py, id)))
    }

    /// The position after the move, without the moves before it.
    #[getter]
    fn position(&self, py: Python<'_>) -> PyResult<Position> {
        Ok(self.board(py)?.into())
    }

    /// Comments after the move. They can have several lines.
    #[getter]
    fn comments(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.notes(py, |notes| notes.comments.clone())
    }

    #[setter]
    fn set_comments(&self, py: Python<'_>, comments: Vec<String>) -> PyResult<()> {
        self.change(py, |notes| notes.comments = comments)
    }

    /// The comments as one text, separated by line breaks. Setting it replaces all of them.
    #[getter]
    fn comment(&self, py: Python<'_>) -> PyResult<String> {
        self.notes(py, |notes| notes.comments.join("\n"))
    }

    #[setter]
    fn set_comment(&self, py: Python<'_>, comment: String) -> PyResult<()> {
        let comments = if comment.is_empty() { Vec::new() } else { vec![comment] };
        self.change(py, |notes| notes.comments = comments)
    }

    /// Comments before the move, if it begins a variation (PGN).
    #[getter]
    fn comments_before(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.notes(py, |notes| notes.before.clone())
    }

    #[setter]
    fn set_comments_before(&self, py: Python<'_>, comments: Vec<String>) -> PyResult<()> {
        self.change(py, |notes| notes.before = comments)
    }

    /// Numeric annotation glyphs: 1 is "!", 2 "?", 3 "!!", 4 "??", 5 "!?", 6 "?!", and so on (PGN).
    #[getter]
    fn nags(&self, py: Python<'_>) -> PyResult<Vec<u16>> {
        self.notes(py, |notes| notes.nags.iter().map(|Nag(nag)| u16::from(*nag)).collect())
    }

    #[setter]
    fn set_nags(&self, py: Python<'_>, nags: Vec<u16>) -> PyResult<()> {
        let nags = nags.into_iter().map(|nag| u8::try_from(nag).map(Nag).map_err(value_error));
        let nags = nags.collect::<PyResult<_>>()?;
        self.change(py, |notes| notes.nags = nags)
    }

    /// The remaining time of the player after the move, in seconds.
    #[getter]
    fn clock(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.notes(py, |notes| notes.clock.map(|time| time.as_secs_f64()))
    }

    #[setter]
    fn set_clock(&self, py: Python<'_>, time: Option<f64>) -> PyResult<()> {
        let time = time.map(seconds).transpose()?;
        self.change(py, |notes| notes.clock = time)
    }

    /// The time spent on the move, in seconds.
    #[getter]
    fn elapsed(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.notes(py, |notes| notes.elapsed.map(|time| time.as_secs_f64()))
    }

    #[setter]
    fn set_elapsed(&self, py: Python<'_>, time: Option<f64>) -> PyResult<()> {
        let time = time.map(seconds).transpose()?;
        self.change(py, |notes| notes.elapsed = time)
    }

    /// The evaluation of the position after the move that the record has.
    #[getter]
    fn evaluation(&self, py: Python<'_>) -> PyResult<Option<PyEvaluation>> {
        self.notes(py, |notes| notes.evaluation.map(PyEvaluation::from))
    }

    /// Sets the evaluation of the position. The score is from the view of the first player; None removes the evaluation.
    #[pyo3(signature = (score, depth=None))]
    fn set_evaluation(
        &self,
        py: Python<'_>,
        score: Option<&Score>,
        depth: Option<u32>,
    ) -> PyResult<()> {
        let evaluation = score.map(|score| Evaluation { score: score.0, depth });
        self.change(py, |notes| notes.evaluation = evaluation)
    }

    /// Marked squares and arrows (PGN): (color, square, None) or (color, from, to); colors are "green", "red", "yellow" and
    /// "blue".
    #[getter]
    fn marks(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, String, Option<String>)>> {
        self.with(py, |game, _| {
            let rules = game.record().game();
            let marks = &game.record().annotations(self.id).marks;
            let name = |square: Square| square.name(rules);
            marks
                .iter()
                .map(|mark| (color_name(mark.color), name(mark.from), mark.to.map(name)))
                .collect()
        })
    }

    #[setter]
    fn set_marks(
        &self,
        py: Python<'_>,
        marks: Vec<(String, String, Option<String>)>,
    ) -> PyResult<()> {
        let rules = self.game.borrow(py).record().game();
        let square = |name: &str| {
            let square = Square::read(rules, name);
            square.ok_or_else(|| value_error(format_args!("no such square: {name:?}")))
        };
        let colors = [MarkColor::Green, MarkColor::Red, MarkColor::Yellow, MarkColor::Blue];
        let marks = marks.iter().map(|(name, from, to)| {
            let color = colors.into_iter().find(|color| color_name(*color) == name);
            let color =
                color.ok_or_else(|| value_error(format_args!("no such color: {name:?}")))?;
            let to = to.as_deref().map(square).transpose()?;
            Ok(Mark { color, from: square(from)?, to })
        });
        let marks = marks.collect::<PyResult<_>>()?;
        self.change(py, |notes| notes.marks = marks)
    }

    /// How the game or the variation ended after this move.
    #[getter]
    fn outcome(&self, py: Python<'_>) -> PyResult<Option<Outcome>> {
        self.notes(py, |notes| notes.end.as_ref().map(|end| Outcome::from(end.outcome)))
    }

    /// Adds a move, in the notations of `Position.push`: the continuation, or a variation of it. Returns the existing node if
    /// the move is known.
    ///
    /// Raises IllegalMoveError.
    fn add(&self, py: Python<'_>, r#move: &str) -> PyResult<Self> {
        let mv = self.board(py)?.parse_any(r#move).or_raise()?;
        let id = self.game.borrow_mut(py).document.record.add(self.id, mv).or_raise()?;
        Ok(self.at(py, id))
    }

    /// Adds a line of moves and returns its last node. If a move is illegal, nothing is added.
    fn add_line(&self, py: Python<'_>, moves: Vec<PyBackedStr>) -> PyResult<Self> {
        let mut line = Position::from(self.board(py)?);
        line.play_all(&moves).or_raise()?;
        let mut game = self.game.borrow_mut(py);
        let mut id = self.id;
        for &mv in line.0.moves() {
            id = game.document.record.add(id, mv).or_raise()?;
        }
        Ok(self.at(py, id))
    }

    /// Deletes the node and all nodes after it.
    fn delete(&self, py: Python<'_>) -> PyResult<()> {
        if self.id == NodeId::ROOT {
            return Err(value_error("the root cannot be deleted"));
        }
        let deleted_nodes = self.game.borrow_mut(py).document.record.delete(self.id);
        if deleted_nodes.is_empty() { Err(deleted()) } else { Ok(()) }
    }

    /// Moves the line of this node one place towards the main line; with `to_main`, makes it the main line.
    #[pyo3(signature = (*, to_main=false))]
    fn promote(&self, py: Python<'_>, to_main: bool) -> PyResult<()> {
        self.with(py, |_, _| ())?;
        self.game.borrow_mut(py).document.record.promote(self.id, to_main);
        Ok(())
    }

    /// Notes what an engine found in the position after this move. Notes are a layer: they change no annotation.
    ///
    /// score: from the view of the side to move.
    /// depth: the depth of the search in plies.
    /// lines: the best lines with their scores, the best one first: [(score, ["e2e4", "e7e5"]), ...].
    #[pyo3(signature = (score, *, depth=None, lines=None))]
    fn set_note(
        &self,
        py: Python<'_>,
        score: &Score,
        depth: Option<u32>,
        lines: Option<Vec<(PyRef<'_, Score>, Vec<String>)>>,
    ) -> PyResult<()> {
        let choices = self.board(py)?.legal_moves().len();
        let mut note = EngineNote::new(score.0, choices);
        note.depth = depth;
        let lines = lines.unwrap_or_default().into_iter();
        note.lines = lines.map(|(score, moves)| ScoredLine { score: score.0, moves }).collect();
        self.game.borrow_mut(py).document.engine.set(self.id, note);
        Ok(())
    }

    /// The score of the engine's note, from the view of the first player, and its depth.
    #[getter]
    fn note(&self, py: Python<'_>) -> PyResult<Option<PyEvaluation>> {
        self.with(py, |game, _| game.document.evaluation(self.id).map(PyEvaluation::from))
    }

    /// The judgement of the move by the notes before and after it: "inaccuracy", "mistake", "blunder", "best" (the engine's
    /// choice), "forced" (the only legal move) or None.
    #[getter]
    fn label(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |game, _| game.document.label(self.id).as_ref().map(names::serde_name))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        let other = other.get();
        self.game.is(&other.game) && self.id == other.id
    }

    fn __hash__(&self) -> u64 {
        (self.game.as_ptr() as usize as u64)
            .wrapping_mul(31)
            .wrapping_add(u32::from(self.id).into())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match (self.ply(py), self.r#move(py)) {
            (Ok(ply), Ok(Some(mv))) => format!("<Node {ply}: {mv}>"),
            (Ok(_), _) => "<Node: start>".to_owned(),
            (Err(_), _) => "<Node: deleted>".to_owned(),
        }
    }
}
