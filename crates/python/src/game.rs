//! Games with headers, a tree of moves, annotations, and what engines found.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;
use readyok_rules::record::{self, GameRecord, NodeId, RecordMove};
use readyok_rules::{Game as Rules, GameOutcome, GameResult, Position as Board, Side};

use crate::document::{Game, warn};
use crate::error::{OrRaise, value_error};
use crate::names;
use crate::node::Node;
use crate::position::{Outcome, Position};

#[pymethods]
impl Game {
    #[new]
    #[pyo3(signature = (position=None))]
    fn from_position(position: Option<&Position>) -> PyResult<Self> {
        let (start, moves) = match position {
            Some(position) => (position.0.start().clone(), position.0.moves()),
            None => (Board::start(Rules::Chess), [].as_slice()),
        };
        let mut record = GameRecord::new(start);
        for &mv in moves {
            record.play(mv).or_raise()?;
        }
        if let Some(outcome) = position.and_then(|position| position.now().outcome()) {
            record.conclude(outcome);
        }
        Ok(Self::new(record, Vec::new()))
    }

    /// "chess", "chess960" or "shogi".
    #[getter]
    fn game(&self) -> &'static str {
        self.record().game().name()
    }

    /// The headers, which can be changed like a dictionary. Names are those of the game's own formats: "White" and "Event" in
    /// chess, "先手" and "棋戦" in shogi.
    #[getter]
    fn headers(slf: Py<Self>, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        CLASS.import(py, "readyok._headers", "Headers")?.call1((slf,))
    }

    fn _header(&self, name: &str) -> Option<&str> {
        self.record().headers.get(name)
    }

    fn _set_header(&mut self, name: &str, value: &str) {
        self.document.record.headers.set(name, value);
    }

    fn _remove_header(&mut self, name: &str) -> bool {
        self.document.record.headers.remove(name).is_some()
    }

    fn _headers(&self) -> Vec<(&str, &str)> {
        self.record().headers.iter().collect()
    }

    /// The name of a player, in every game.
    fn player(&self, side: &str) -> PyResult<Option<&str>> {
        Ok(self.record().player(names::side(side)?))
    }

    /// Sets the name of a player, in every game.
    fn set_player(&mut self, side: &str, name: &str) -> PyResult<()> {
        self.document.record.set_player(names::side(side)?, name);
        Ok(())
    }

    /// "1-0", "0-1", "1/2-1/2" or "*".
    #[getter]
    fn result(&self) -> &'static str {
        self.record().result.as_str()
    }

    #[setter]
    fn set_result(&mut self, result: &str) -> PyResult<()> {
        let known = GameResult::from_text(result);
        self.document.record.result =
            known.ok_or_else(|| value_error(format_args!("no such result: {result:?}")))?;
        Ok(())
    }

    /// The result and what ended the game, as in the record or else by the last position. None if neither is known.
    #[getter]
    fn outcome(&self) -> Option<Outcome> {
        let record = self.record();
        let termination = record.derived_termination()?;
        let result = record.end().map_or(record.result, |end| end.outcome.result);
        Some(GameOutcome { result, termination }.into())
    }

    /// Ends the game. Without a result, the one that follows from the termination and the side to move is set.
    #[pyo3(signature = (termination, result=None))]
    fn finish(&mut self, termination: &str, result: Option<&str>) -> PyResult<()> {
        let termination = names::termination(termination)?;
        match result {
            None => self.document.record.finish(termination),
            Some(_) if result.and_then(GameResult::from_text).is_none() => {
                return Err(value_error(format_args!(
                    "no such result: {:?}",
                    result.unwrap_or("")
                )));
            }
            Some(text) => {
                let result = GameResult::from_text(text).unwrap_or(GameResult::Unknown);
                self.document.record.conclude(GameOutcome { result, termination });
            }
        }
        Ok(())
    }

    /// The last named opening of the main line: its ECO code and English name. None in Chess960 and shogi.
    #[getter]
    fn opening(&self) -> Option<(&'static str, &'static str)> {
        self.record().opening().map(|opening| (opening.eco, opening.name))
    }

    /// The start position.
    #[getter]
    fn start(&self) -> Position {
        self.record().start().clone().into()
    }

    /// The position at the end of the main line, with its moves. A null move or an illegal one ends the moves.
    #[getter]
    fn position(&self) -> PyResult<Position> {
        let mut position = Position::from(self.record().start().clone());
        for mv in self.mainline() {
            let RecordMove::Legal(mv) = mv else { break };
            position.0.push(mv).or_raise()?;
        }
        Ok(position)
    }

    /// The number of moves of the main line.
    fn __len__(&self) -> usize {
        self.record().mainline().count()
    }

    fn __bool__(&self) -> bool {
        true
    }

    /// The main line in UCI or USI notation. A null move is "0000"; the last move can be illegal (`Node.is_illegal`).
    #[getter]
    fn moves(&self) -> Vec<String> {
        self.mainline().map(|mv| self.uci(mv)).collect()
    }

    /// The main line in a notation.
    #[pyo3(signature = (notation="san"))]
    fn line(&self, notation: &str) -> PyResult<Vec<String>> {
        let notation = names::notation(notation)?;
        let positions = self.record().positions().zip(self.mainline());
        Ok(positions
            .map(|(position, mv)| match mv {
                RecordMove::Legal(mv) => position.notation(mv, notation),
                other => self.uci(other),
            })
            .collect())
    }

    /// The positions of the main line as FEN or SFEN: one more than moves.
    #[pyo3(signature = (form="x-fen"))]
    fn texts(&self, form: &str) -> PyResult<Vec<String>> {
        let form = names::fen_form(form)?;
        Ok(self.record().positions().map(|position| position.text(form)).collect())
    }

    /// The keys of the positions of the main line as native integers of 64 bits, for array("Q"), memoryview and NumPy.
    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let positions = self.record().positions();
        let keys: Vec<u8> = positions.flat_map(|position| position.key().to_ne_bytes()).collect();
        PyBytes::new(py, &keys)
    }

    /// The start of the game, a node without a move.
    #[getter]
    fn root(slf: Py<Self>) -> Node {
        Node::new(slf, NodeId::ROOT)
    }

    /// The last node of the main line.
    #[getter]
    fn last(slf: Bound<'_, Self>) -> Node {
        let id = slf.borrow().record().last();
        Node::new(slf.unbind(), id)
    }

    /// All nodes except the root, those of variations included, parents before children.
    #[getter]
    fn nodes(slf: Bound<'_, Self>) -> Vec<Node> {
        let ids: Vec<_> = slf.borrow().record().ids().skip(1).collect();
        ids.into_iter().map(|id| Node::new(slf.clone().unbind(), id)).collect()
    }

    /// The first node, in the order of `nodes`, with a position that the rules of repetition treat as the same. The root included.
    fn find(slf: Bound<'_, Self>, position: &Position) -> Option<Node> {
        let id = slf.borrow().record().find(position.now())?;
        Some(Node::new(slf.unbind(), id))
    }

    /// The name of the engine whose notes the nodes have. Empty if it is not known.
    #[getter]
    fn engine(&self) -> &str {
        self.document.engine.name()
    }

    #[setter]
    fn set_engine(&mut self, name: &str) {
        let mut notes = record::EngineNotes::new(name);
        for (id, note) in self.document.engine.iter() {
            notes.set(id, note.clone());
        }
        self.document.engine = notes;
    }

    /// The accuracy of a player in percent by the notes of an engine, with the curve of Lichess. None without notes.
    fn accuracy(&self, side: &str) -> PyResult<Option<f64>> {
        let side = names::side(side)?;
        let [first, second] = self.document.accuracies();
        Ok(match side {
            Side::First => first.accuracy,
            Side::Second => second.accuracy,
        })
    }

    /// The game as text. Notes of an engine are merged: evaluations, glyphs of errors, better lines.
    ///
    /// Issues a RecordWarning about content that the format cannot hold. Raises RecordError if it does not support the game.
    #[pyo3(signature = (format="pgn"))]
    fn write(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let format = names::format(format)?;
        let (text, losses) = self.written(format)?;
        warn(py, format, losses)?;
        Ok(text)
    }

    /// What a format cannot hold of the game, such as "variations". Empty if it holds everything.
    fn losses(&self, format: &str) -> PyResult<Vec<String>> {
        let (_, losses) = self.written(names::format(format)?)?;
        Ok(losses.iter().map(|loss| loss.to_string()).collect())
    }

    /// A copy that can be changed independently.
    fn copy(&self) -> Self {
        Self { document: self.document.clone(), notices: self.notices.clone() }
    }

    fn __copy__(&self) -> Self {
        self.copy()
    }

    fn __deepcopy__(&self, memo: &Bound<'_, PyAny>) -> Self {
        _ = memo;
        self.copy()
    }

    fn __str__(&self) -> PyResult<String> {
        let format = if self.record().game() == Rules::Shogi { "kif" } else { "pgn" };
        Ok(self.written(names::format(format)?)?.0)
    }

    fn __repr__(&self) -> String {
        let player = |side| self.record().player(side).unwrap_or("?");
        let (first, second) = (player(Side::First), player(Side::Second));
        let plies = self.__len__();
        format!("<Game {}: {first} - {second} {}, {plies} plies>", self.game(), self.result())
    }
}
