//! Searches, their reports and their results.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::exceptions::{PyStopAsyncIteration, PyTimeoutError};
use pyo3::prelude::*;
use readyok_client::protocol::{Checkmate, Info as ProtocolInfo, Reply};
use readyok_client::{
    self as client, Best, Bound as ScoreBound, Dialect, EngineError, SearchHandle,
};
use readyok_rules::MoveCodec;

use crate::error::{IntoException, OrRaise};
use crate::limits::seconds;
use crate::score::Score;
use crate::task::{SIGNALS, Task};
use crate::{lock, now};

type End = Result<client::SearchResult, EngineError>;

/// A search, and its end as soon as it was taken from the engine. Several threads and tasks can wait for it.
struct Shared {
    handle: SearchHandle,
    /// Moves of engines for other games can have another form: those of shogi in UCI.
    codec: MoveCodec,
    end: Mutex<Option<End>>,
}

impl Shared {
    /// The end, if the search ends in time.
    fn end_within(&self, time: Duration) -> Option<End> {
        // The engine returns the end once, so the lock is held meanwhile; it is short, as signals are checked between calls.
        let mut end = lock(&self.end);
        if end.is_none() {
            *end = self.handle.wait_within(time);
        }
        end.clone()
    }

    /// The end, in a task.
    async fn ended(&self) -> End {
        let mut ended = Box::pin(self.handle.ended());
        std::future::poll_fn(|context| {
            let mut end = lock(&self.end);
            if end.is_none() {
                match ended.as_mut().poll(context) {
                    std::task::Poll::Ready(ready) => *end = Some(ready),
                    std::task::Poll::Pending => return std::task::Poll::Pending,
                }
            }
            end.clone().map_or(std::task::Poll::Pending, std::task::Poll::Ready)
        })
        .await
    }
}

/// Stops a search if a task that waits for it is cancelled.
struct StopOnDrop(Option<Arc<Shared>>);

impl StopOnDrop {
    fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(search) = self.0.take() {
            search.handle.stop();
        }
    }
}

/// A running search: iterate over its reports, wait for its result, or await it. A crash of the engine raises in all three.
///
/// It is stopped when it is deleted, at the end of a `with` block, and when a task that awaits it is cancelled. Reports that are
/// not read in time are replaced by later ones of the same variation.
#[pyclass(module = "readyok", frozen)]
pub(crate) struct Search {
    shared: Arc<Shared>,
    /// The engine must not end before the search.
    _engine: Py<PyAny>,
}

impl Search {
    pub(crate) fn new(handle: SearchHandle, codec: MoveCodec, engine: Py<PyAny>) -> Self {
        Self { shared: Arc::new(Shared { handle, codec, end: Mutex::new(None) }), _engine: engine }
    }

    pub(crate) fn wait_for_end(
        &self,
        py: Python<'_>,
        timeout: Option<Duration>,
    ) -> PyResult<SearchResult> {
        let deadline = timeout.and_then(|time| now().checked_add(time));
        loop {
            let left = deadline.map(|at| at.saturating_duration_since(now()));
            let slice = left.map_or(SIGNALS, |left| left.min(SIGNALS));
            if let Some(end) = py.detach(|| self.shared.end_within(slice)) {
                return end
                    .or_raise()
                    .map(|result| SearchResult { result, codec: self.shared.codec });
            }
            py.check_signals()?;
            if left.is_some_and(|left| left <= slice) {
                return Err(PyTimeoutError::new_err("the search has not ended in time"));
            }
        }
    }
}

#[pymethods]
impl Search {
    /// Waits for the result.
    ///
    /// timeout: seconds after which TimeoutError is raised; the search continues.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<SearchResult> {
        self.wait_for_end(py, timeout.map(seconds).transpose()?)
    }

    /// Stops the search. Its result follows.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.shared.handle.stop());
    }

    /// Reports that the opponent played the expected move: a search that was begun with `ponder=True` continues as a normal one.
    fn ponder_hit(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.shared.handle.ponder_hit(None)).or_raise()
    }

    /// Whether the search has ended. Reports may be left to read.
    #[getter]
    fn is_over(&self, py: Python<'_>) -> bool {
        py.detach(|| lock(&self.shared.end).is_some() || self.shared.handle.is_over())
    }

    /// The latest report about each variation so far, the best first.
    #[getter]
    fn lines(&self, py: Python<'_>) -> Vec<Info> {
        let lines = py.detach(|| match &*lock(&self.shared.end) {
            Some(Ok(result)) => result.lines.clone(),
            Some(Err(_)) | None => self.shared.handle.so_far(),
        });
        let codec = self.shared.codec;
        lines.iter().cloned().map(|info| Info::new(info, codec)).collect()
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Info>> {
        let search = &self.shared;
        loop {
            let next = py.detach(|| {
                if lock(&search.end).is_some() {
                    return None;
                }
                // After the end, `next_within` returns the reports that are left, and does not wait.
                let is_over = search.handle.is_over();
                let update = search.handle.next_within(SIGNALS);
                if update.is_none() && is_over {
                    search.end_within(SIGNALS);
                }
                Some(update)
            });
            match next {
                Some(Some(update)) => return Ok(Some(Info::new(*update.info, search.codec))),
                Some(None) => py.check_signals()?,
                None => {
                    return match &*lock(&search.end) {
                        Some(Err(error)) => Err(error.clone().into_exception()),
                        Some(Ok(_)) | None => Ok(None),
                    };
                }
            }
        }
    }

    fn __await__(&self) -> Task {
        let mut stop = StopOnDrop(Some(Arc::clone(&self.shared)));
        let search = Arc::clone(&self.shared);
        let end = async move {
            let end = search.ended().await;
            stop.disarm();
            end
        };
        let codec = self.shared.codec;
        Task::then(end, move |py, end| {
            Ok(Py::new(py, SearchResult { result: end.or_raise()?, codec })?.into_any())
        })
    }

    fn __aiter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __anext__(&self) -> Task {
        let search = Arc::clone(&self.shared);
        let next = async move {
            let has_ended = lock(&search.end).is_some();
            let update = if has_ended { None } else { search.handle.update().await };
            match update {
                Some(update) => Ok(*update.info),
                None => Err(search.ended().await.err()),
            }
        };
        let codec = self.shared.codec;
        Task::then(next, move |py, next| match next {
            Ok(info) => Ok(Py::new(py, Info::new(info, codec))?.into_any()),
            Err(Some(error)) => Err(error.into_exception()),
            Err(None) => Err(PyStopAsyncIteration::new_err(())),
        })
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyAny>) {
        _ = exception;
        self.stop(py);
    }

    fn __aenter__(slf: Py<Self>) -> Task {
        Task::ready(slf)
    }

    #[pyo3(signature = (*exception))]
    fn __aexit__(&self, py: Python<'_>, exception: &Bound<'_, PyAny>) -> Task {
        _ = exception;
        self.stop(py);
        Task::ready(py.None())
    }
}

/// A report of a search (`info`). A field that the engine did not send is None.
#[pyclass(module = "readyok", frozen)]
pub(crate) struct Info {
    info: ProtocolInfo<'static>,
    codec: MoveCodec,
}

impl Info {
    fn new(info: ProtocolInfo<'static>, codec: MoveCodec) -> Self {
        Self { info, codec }
    }
}

#[pymethods]
impl Info {
    /// The depth in plies.
    #[getter]
    fn depth(&self) -> Option<u32> {
        self.info.depth
    }

    /// The selective depth in plies.
    #[getter]
    fn seldepth(&self) -> Option<u32> {
        self.info.seldepth
    }

    /// The rank of the variation; 1 is the best.
    #[getter]
    fn multipv(&self) -> u32 {
        self.info.multipv.unwrap_or(1)
    }

    /// The score from the view of the side to move.
    #[getter]
    fn score(&self) -> Option<Score> {
        self.info.score.map(Score)
    }

    /// "exact"; "lower" if the true score is this or higher, "upper" if it is this or lower.
    #[getter]
    fn bound(&self) -> &'static str {
        match self.info.bound {
            ScoreBound::Exact => "exact",
            ScoreBound::Lower => "lower",
            ScoreBound::Upper => "upper",
        }
    }

    /// Probabilities of win, draw and loss of the side to move, in permille.
    #[getter]
    fn wdl(&self) -> Option<(u16, u16, u16)> {
        self.info.wdl.map(|wdl| (wdl.win, wdl.draw, wdl.loss))
    }

    /// Nodes searched.
    #[getter]
    fn nodes(&self) -> Option<u64> {
        self.info.nodes
    }

    /// Nodes per second.
    #[getter]
    fn nps(&self) -> Option<u64> {
        self.info.nps
    }

    /// The usage of the hash table in permille.
    #[getter]
    fn hashfull(&self) -> Option<u32> {
        self.info.hashfull
    }

    /// Tablebase hits.
    #[getter]
    fn tbhits(&self) -> Option<u64> {
        self.info.tbhits
    }

    /// Seconds since the start of the search.
    #[getter]
    fn time(&self) -> Option<f64> {
        self.info.time.map(|time| time.as_secs_f64())
    }

    /// The move being searched.
    #[getter]
    fn currmove(&self) -> Option<String> {
        self.info.currmove.as_ref().map(|mv| self.codec.decode_text(mv.as_str()).into_owned())
    }

    /// The number of the move being searched, from 1.
    #[getter]
    fn currmovenumber(&self) -> Option<u32> {
        self.info.currmovenumber
    }

    /// The principal variation, in the notation of the game; illegal moves are not removed. `Position.line` writes it in SAN or another notation.
    #[getter]
    fn pv(&self) -> Vec<String> {
        let moves = self.info.pv.iter().flat_map(|pv| self.codec.decode_line(pv));
        moves.map(Cow::into_owned).collect()
    }

    /// The text of `info string`.
    #[getter]
    fn string(&self) -> Option<&str> {
        self.info.string.as_deref()
    }

    /// The line in UCI.
    fn __str__(&self) -> String {
        let mut text = String::new();
        let info = Reply::Info(self.info.clone());
        match info.write(Dialect::Uci, &mut text) {
            Ok(()) => text,
            Err(error) => format!("info string {error}"),
        }
    }

    fn __repr__(&self) -> String {
        format!("<Info {}>", self.__str__())
    }
}

/// The result of a search.
#[pyclass(module = "readyok", frozen)]
pub(crate) struct SearchResult {
    result: client::SearchResult,
    codec: MoveCodec,
}

impl SearchResult {
    fn text(&self, mv: &client::Move) -> String {
        self.codec.decode_text(mv.as_str()).into_owned()
    }
}

#[pymethods]
impl SearchResult {
    /// The move, in UCI or USI notation. It was not checked for legality. None if the engine has no move or resigns.
    #[getter]
    fn r#move(&self) -> Option<String> {
        self.result.best_move().map(|mv| self.text(&mv))
    }

    /// "resign" or "win" (a declaration) of a shogi engine.
    #[getter]
    fn declaration(&self) -> Option<&'static str> {
        match self.result.best {
            Best::Resign => Some("resign"),
            Best::Win => Some("win"),
            Best::Move(_) | Best::None | Best::Other(_) => None,
        }
    }

    /// The answer of the engine as it was sent, such as "e2e4", "(none)" or "resign".
    #[getter]
    fn answer(&self) -> String {
        match &self.result.best {
            Best::Move(mv) => mv.as_str().to_owned(),
            Best::None => "(none)".to_owned(),
            Best::Resign => "resign".to_owned(),
            Best::Win => "win".to_owned(),
            Best::Other(text) => text.clone().into_owned(),
        }
    }

    /// The expected reply.
    #[getter]
    fn ponder(&self) -> Option<String> {
        self.result.ponder.as_ref().map(|mv| self.text(mv))
    }

    /// Whether the engine pondered on this position and received `ponderhit`.
    #[getter]
    fn ponder_hit(&self) -> bool {
        self.result.ponder_hit
    }

    /// The answer to a mate search: "mate", "nomate", "timeout", "notimplemented" or "unknown". None after other searches of
    /// a shogi engine; derived from the score for a chess engine.
    #[getter]
    fn checkmate(&self) -> &'static str {
        match self.result.clone().into_checkmate() {
            Checkmate::Moves(_) => "mate",
            Checkmate::NoMate => "nomate",
            Checkmate::Timeout => "timeout",
            Checkmate::NotImplemented => "notimplemented",
            Checkmate::Unknown => "unknown",
        }
    }

    /// The moves of the mate that a mate search found. Empty without one.
    #[getter]
    fn mate_line(&self) -> Vec<String> {
        match self.result.clone().into_checkmate() {
            Checkmate::Moves(moves) => {
                self.codec.decode_line(&moves).map(Cow::into_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The latest report about the best variation.
    #[getter]
    fn info(&self) -> Info {
        Info::new(self.result.info.clone(), self.codec)
    }

    /// The latest reports about all variations, the best first.
    #[getter]
    fn lines(&self) -> Vec<Info> {
        self.result.lines.iter().cloned().map(|info| Info::new(info, self.codec)).collect()
    }

    /// Seconds from `go` or `ponderhit` to the answer.
    #[getter]
    fn time(&self) -> f64 {
        self.result.time().as_secs_f64()
    }

    fn __repr__(&self) -> String {
        format!("<SearchResult {}>", self.answer())
    }
}
