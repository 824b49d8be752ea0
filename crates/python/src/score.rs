//! Scores of engines.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use readyok_client as client;
use readyok_rules::judgement;

use crate::error::value_error;
use crate::names;

/// Positional and named arguments of [`Score`].
type Cp = (Option<i32>,);
type Named = BTreeMap<&'static str, i64>;

/// The score of a position, from the view of the side to move unless stated otherwise.
///
/// cp: centipawns.
/// mate: plies until the mate; negative if the side to move will be mated, 0 if it is mated.
///
/// Scores are ordered: a later loss is better, a sooner win is better, and mates are beyond all centipawns.
#[pyclass(module = "readyok", frozen)]
#[derive(Clone, Copy)]
pub(crate) struct Score(pub(crate) client::Score);

#[pymethods]
impl Score {
    #[new]
    #[pyo3(signature = (cp=None, *, mate=None))]
    fn new(cp: Option<i32>, mate: Option<i32>) -> PyResult<Self> {
        Ok(Self(match (cp, mate) {
            (Some(cp), None) => client::Score::Cp(cp),
            (None, Some(plies)) if plies != 0 => {
                client::Score::mate(0 < plies, Some(plies.unsigned_abs()))
            }
            _ => {
                return Err(value_error("expected either centipawns or plies until a mate, not 0"));
            }
        }))
    }

    /// Centipawns. None if a mate was found.
    #[getter]
    fn cp(&self) -> Option<i32> {
        match self.0 {
            client::Score::Cp(value) => Some(value),
            _ => None,
        }
    }

    /// Plies until the mate: negative if the side to move will be mated, 0 if a side is mated. None if no mate was found or the
    /// distance is unknown.
    #[getter]
    fn mate(&self) -> Option<i64> {
        let plies = i64::from(self.0.mate_plies()?);
        Some(if self.0.is_mated() { -plies } else { plies })
    }

    /// Moves of the winner until the mate, as UCI engines and PGN count: negative if the side to move will be mated.
    #[getter]
    fn mate_moves(&self) -> Option<i64> {
        let plies = i64::from(self.0.mate_plies()?);
        Some(if self.0.is_mated() { -(plies / 2) } else { (plies + 1) / 2 })
    }

    /// Whether a mate was found, for or against the side to move.
    #[getter]
    fn is_mate(&self) -> bool {
        self.0.is_mate()
    }

    /// The winning chances in percent, 0 to 100, by the curve that Lichess uses for chess and one for shogi.
    #[pyo3(signature = (game="chess"))]
    fn winning_chances(&self, game: &str) -> PyResult<f64> {
        Ok(judgement::winning_chances(self.0, names::game(game)?))
    }

    /// The score from the view of the other side.
    fn __neg__(&self) -> Self {
        Self(self.0.negated())
    }

    fn __richcmp__(&self, other: &Self, op: CompareOp) -> bool {
        op.matches(self.0.cmp(&other.0))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    /// "+0.25", "#3" (moves until the mate), "#-0".
    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __getnewargs_ex__(&self) -> PyResult<(Cp, Named)> {
        match (self.cp(), self.mate()) {
            (Some(cp), _) => Ok(((Some(cp),), Named::new())),
            (None, Some(plies)) => Ok(((None,), Named::from([("mate", plies)]))),
            (None, None) => Err(value_error("a mate at an unknown distance cannot be copied")),
        }
    }

    fn __repr__(&self) -> String {
        match (self.cp(), self.mate()) {
            (Some(cp), _) => format!("Score({cp})"),
            (None, Some(plies)) => format!("Score(mate={plies})"),
            (None, None) => format!("<Score {}>", self.0),
        }
    }
}
