//! Positions with the moves that led to them.

use std::collections::{BTreeMap, HashMap};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyString, PyTuple, PyType};
use readyok_rules::{
    GameOutcome, Handicap, LineError, Move, Opening, Position as Board, PositionHistory, Setup,
    Side,
};

use crate::error::{OrRaise, value_error};
use crate::names;

/// A position of chess, Chess960 or shogi, with the moves that led to it, which count for repetitions.
///
/// text: FEN (four to six fields, any form of castling rights) or SFEN; the start position without it.
/// game: "chess", "chess960" or "shogi".
/// moves: moves from there, in any notation that `push` reads.
///
/// Moves are texts in UCI notation ("e2e4", in Chess960 castling is "king takes rook") or USI notation ("7g7f").
/// Positions are mutable; equal are those that the rules of repetition treat as the same.
///
/// Raises PositionError if the text is not a position of the game, and IllegalMoveError.
#[pyclass(module = "readyok", name = "Position")]
#[derive(Clone)]
pub(crate) struct Position(pub(crate) PositionHistory);

impl From<Board> for Position {
    fn from(start: Board) -> Self {
        Self(PositionHistory::new(start))
    }
}

impl Position {
    pub(crate) fn now(&self) -> &Board {
        self.0.position()
    }

    /// The texts of moves, without a copy for each.
    fn texts<'py>(
        &self,
        py: Python<'py>,
        moves: impl IntoIterator<Item = Move>,
    ) -> Vec<Bound<'py, PyString>> {
        let form = self.0.game().castling_form();
        moves.into_iter().map(|mv| PyString::new(py, mv.uci(form).as_str())).collect()
    }

    fn uci(&self, mv: Move) -> String {
        mv.to_uci(self.0.game().castling_form())
    }

    /// Plays all moves, of any notation, or none.
    pub(crate) fn play_all<T: AsRef<str>>(&mut self, texts: &[T]) -> Result<(), LineError> {
        let plies = self.0.moves().len();
        for (index, text) in texts.iter().enumerate() {
            if let Err(error) = self.0.push_any(text.as_ref()) {
                self.0.truncate(plies);
                return Err(LineError { index, error });
            }
        }
        Ok(())
    }
}

#[pymethods]
impl Position {
    #[new]
    #[pyo3(signature = (text=None, *, game="chess", moves=None))]
    fn new(text: Option<&str>, game: &str, moves: Option<Vec<PyBackedStr>>) -> PyResult<Self> {
        let game = names::game(game)?;
        let start = match text {
            None => Board::start(game),
            Some(text) => Board::from_text(game, text).or_raise()?,
        };
        let mut position = Self::from(start);
        position.play_all(&moves.unwrap_or_default()).or_raise()?;
        Ok(position)
    }

    /// The start position of Chess960 with a number of Scharnagl's scheme, 0 to 959; 518 is that of chess.
    #[staticmethod]
    fn chess960(number: u16) -> PyResult<Self> {
        let setup = Setup::chess960(number);
        let setup =
            setup.ok_or_else(|| value_error(format_args!("{number} is not from 0 to 959")))?;
        Ok(setup.position().or_raise()?.into())
    }

    /// The start position of a handicap of shogi, such as "rook".
    #[staticmethod]
    fn handicap(name: &str) -> PyResult<Self> {
        let handicap = Handicap::from_name(name);
        let handicap =
            handicap.ok_or_else(|| value_error(format_args!("no such handicap: {name:?}")))?;
        Ok(Setup::handicap(handicap).position().or_raise()?.into())
    }

    /// "chess", "chess960" or "shogi".
    #[getter]
    fn game(&self) -> &'static str {
        self.0.game().name()
    }

    /// The side to move: "first" is White in chess and Black (sente) in shogi.
    #[getter]
    fn turn(&self) -> &'static str {
        self.now().turn().name()
    }

    /// Whether the side to move is in check.
    #[getter]
    fn in_check(&self) -> bool {
        self.now().in_check()
    }

    /// A hash of 64 bits of what the rules of repetition compare: pieces, hands, side to move, castling rights and a possible
    /// en passant capture. In chess it is the key of Polyglot books.
    #[getter]
    fn key(&self) -> u64 {
        self.now().key()
    }

    /// The number of moves played in this object.
    #[getter]
    fn ply(&self) -> usize {
        self.0.moves().len()
    }

    /// The moves played, in UCI or USI notation.
    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyString>> {
        self.texts(py, self.0.moves().iter().copied())
    }

    /// A copy of the position before the first move.
    #[getter]
    fn start(&self) -> Self {
        self.0.start().clone().into()
    }

    /// The legal moves in UCI or USI notation, in unspecified order.
    #[getter]
    fn legal_moves<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyString>> {
        self.texts(py, self.now().legal_moves())
    }

    /// The pieces by square: {"e1": "K", "e8": "k", ...}; upper case is the first player, "+P" is promoted.
    #[getter]
    fn pieces(&self) -> HashMap<String, String> {
        let setup = self.now().setup();
        let game = setup.game();
        setup.pieces().map(|(square, piece)| (square.name(game), piece.to_string())).collect()
    }

    /// The pieces in a hand with their numbers (shogi): {"P": 2, "B": 1}. Empty in chess.
    fn hand(&self, side: &str) -> PyResult<BTreeMap<String, u32>> {
        let side = names::side(side)?;
        let setup = self.now().setup();
        let kinds = readyok_rules::PieceKind::IN_HAND.into_iter();
        let counts = kinds.map(|kind| (kind.letter().to_string(), setup.hand(side, kind)));
        Ok(counts.filter(|(_, count)| 0 < *count).collect())
    }

    /// The number of the next move, from 1 (fullmove number of FEN, move number of SFEN).
    #[getter]
    fn move_number(&self) -> u32 {
        self.now().setup().move_number()
    }

    /// Plies since the last capture or pawn move (chess). 0 in shogi.
    #[getter]
    fn halfmove_clock(&self) -> u32 {
        self.now().setup().halfmove_clock()
    }

    /// The number of this start position in Scharnagl's scheme, if it is one of Chess960 with the same arrangement of both sides.
    #[getter]
    fn chess960_number(&self) -> Option<u16> {
        let (white, black) = self.now().setup().chess960_numbers()?;
        (white == black).then_some(white)
    }

    /// The outcome, if the game is over: checkmate, stalemate, repetition, 50 moves, dead positions; perpetual check and the
    /// fourth repetition in shogi. Draws that players of chess have to claim count.
    #[getter]
    fn outcome(&self) -> Option<Outcome> {
        self.now().outcome().map(Outcome::from)
    }

    /// The draws that the side to move can claim (FIDE 9.2.2, 9.3.2). Empty in shogi.
    #[getter]
    fn claims(&self) -> Vec<&'static str> {
        self.now().claims().into_iter().map(readyok_rules::Termination::name).collect()
    }

    /// Whether the side to move can declare a win by the 27-point rule of shogi.
    #[getter]
    fn can_declare(&self) -> bool {
        self.now().can_declare()
    }

    /// Whether a side has the material to give mate (chess). Always true in shogi.
    fn has_mating_material(&self, side: &str) -> PyResult<bool> {
        Ok(self.now().has_mating_material(names::side(side)?))
    }

    /// The opening of exactly this position: its ECO code and English name. None in Chess960 and shogi.
    #[getter]
    fn opening(&self) -> Option<(&'static str, &'static str)> {
        Opening::of(self.now()).map(|opening| (opening.eco, opening.name))
    }

    /// Whether a text is a legal move in UCI or USI notation.
    fn is_legal(&self, r#move: &str) -> bool {
        self.now().parse_move(r#move).is_ok()
    }

    /// Plays a move in UCI, USI, SAN, Western or Japanese notation, and returns it in UCI or USI notation.
    ///
    /// Raises IllegalMoveError, and the position is unchanged.
    fn push(&mut self, r#move: &str) -> PyResult<String> {
        let mv = self.0.push_any(r#move).or_raise()?;
        Ok(self.uci(mv))
    }

    /// Plays moves in the notations of `push`. Faster than a call for each.
    ///
    /// Raises IllegalMoveError, and the position is unchanged; `index` is the index of the illegal move.
    fn push_all(&mut self, moves: Vec<PyBackedStr>) -> PyResult<()> {
        self.play_all(&moves).or_raise()
    }

    /// Takes back the last move and returns it.
    ///
    /// Raises IndexError if no move was played.
    fn pop(&mut self) -> PyResult<String> {
        let mv = self.0.pop();
        let mv = mv.ok_or_else(|| PyIndexError::new_err("no move was played in this position"))?;
        Ok(self.uci(mv))
    }

    /// A copy after moves in the notations of `push`.
    #[pyo3(signature = (*moves))]
    fn after(&self, moves: Vec<PyBackedStr>) -> PyResult<Self> {
        let mut copy = self.clone();
        copy.push_all(moves)?;
        Ok(copy)
    }

    /// Reads a move of a notation, in its exact form or a lenient one, and returns it in UCI or USI notation.
    ///
    /// Raises IllegalMoveError; `candidates` are the moves that an ambiguous text fits.
    #[pyo3(signature = (r#move, notation="san"))]
    fn parse(&self, r#move: &str, notation: &str) -> PyResult<String> {
        let mv = self.now().parse(r#move, names::notation(notation)?).or_raise()?;
        Ok(self.uci(mv))
    }

    /// Writes a legal move in a notation.
    ///
    /// Raises IllegalMoveError.
    #[pyo3(signature = (r#move, notation="san"))]
    fn notation(&self, r#move: &str, notation: &str) -> PyResult<String> {
        let notation = names::notation(notation)?;
        let mv = self.now().parse_any(r#move).or_raise()?;
        Ok(self.now().notation(mv, notation))
    }

    /// Writes a line of moves in UCI or USI notation, such as a principal variation, in another notation. From the first
    /// illegal move on, the texts are returned unchanged: engines send such lines.
    #[pyo3(signature = (moves, notation="san"))]
    fn line(&self, moves: Vec<PyBackedStr>, notation: &str) -> PyResult<Vec<String>> {
        Ok(self.now().notate(moves.iter().map(|text| &**text), names::notation(notation)?))
    }

    /// The position as FEN or SFEN.
    ///
    /// form (chess): "x-fen" has an en passant square only if a capture is possible, "fen" after each double step, and
    /// "shredder" has files as castling rights.
    #[pyo3(signature = (form="x-fen"))]
    fn text(&self, form: &str) -> PyResult<String> {
        Ok(self.now().text(names::fen_form(form)?))
    }

    /// A copy with the same moves.
    fn copy(&self) -> Self {
        self.clone()
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, memo: &Bound<'_, PyAny>) -> Self {
        _ = memo;
        self.clone()
    }

    /// Positions can be sent to other processes.
    fn __reduce__<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let arguments = (slf.0.start().to_string(), slf.game(), slf.moves(py));
        let restore = py.get_type::<Self>().getattr("_restore")?;
        Ok((restore, arguments.into_pyobject(py)?))
    }

    #[classmethod]
    fn _restore(
        _class: &Bound<'_, PyType>,
        text: &str,
        game: &str,
        moves: Vec<PyBackedStr>,
    ) -> PyResult<Self> {
        Self::new(Some(text), game, Some(moves))
    }

    fn __str__(&self) -> String {
        self.now().to_string()
    }

    fn __repr__(&self) -> String {
        format!("Position('{}', game='{}')", self.now(), self.game())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        let Ok(other) = other.try_borrow() else { return false };
        let (one, other) = (self.now(), other.now());
        one.game() == other.game() && one.key() == other.key()
    }
}

/// How a game ended.
///
/// result: "1-0", "0-1", "1/2-1/2" or "*".
/// winner: "first", "second" or None.
/// termination: what ended the game, such as "checkmate" or "repetition".
#[pyclass(module = "readyok", frozen, eq, hash, get_all)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Outcome {
    /// "1-0", "0-1", "1/2-1/2" or "*".
    result: &'static str,
    /// "first", "second" or None.
    winner: Option<&'static str>,
    /// What ended the game, such as "checkmate" or "repetition".
    termination: &'static str,
}

impl From<GameOutcome> for Outcome {
    fn from(outcome: GameOutcome) -> Self {
        Self {
            result: outcome.result.as_str(),
            winner: outcome.winner().map(Side::name),
            termination: outcome.termination.name(),
        }
    }
}

#[pymethods]
impl Outcome {
    fn __repr__(&self) -> String {
        format!("Outcome('{}', '{}')", self.result, self.termination)
    }
}
