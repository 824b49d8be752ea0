//! Exceptions. Their classes are in `readyok/errors.py`, because some of them have two bases, which the stable interface of
//! the interpreter does not offer.

use std::fmt::Display;
use std::io;
use std::path::Path;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use readyok_client::{EngineError, Problem};
use readyok_rules::record::{AddError, RecordError, RecordErrorKind, WriteError};
use readyok_rules::{BookError, LineError, MoveError, PositionError, TablebaseError};

/// An exception of a class of `readyok.errors`, with attributes.
pub(crate) fn exception(
    class: &str,
    text: &dyn Display,
    fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    Python::attach(|py| {
        let create = || {
            let details = PyDict::new(py);
            fill(&details)?;
            let class = py.import("readyok.errors")?.getattr(class)?;
            class.call((text.to_string(),), Some(&details))
        };
        create().map_or_else(|error| error, PyErr::from_value)
    })
}

/// The conversion of an error of Rust to an exception with the same text.
pub(crate) trait IntoException {
    fn into_exception(self) -> PyErr;
}

pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: IntoException> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(IntoException::into_exception)
    }
}

impl IntoException for PositionError {
    fn into_exception(self) -> PyErr {
        exception("PositionError", &self, |_| Ok(()))
    }
}

impl IntoException for MoveError {
    fn into_exception(self) -> PyErr {
        LineError { index: 0, error: self }.raise(false)
    }
}

impl IntoException for LineError {
    fn into_exception(self) -> PyErr {
        self.raise(true)
    }
}

trait Raise {
    fn raise(self, is_line: bool) -> PyErr;
}

impl Raise for LineError {
    fn raise(self, is_line: bool) -> PyErr {
        let text: &dyn Display = if is_line { &self } else { &self.error };
        exception("IllegalMoveError", text, |details| {
            details.set_item("move", &self.error.text)?;
            details.set_item("candidates", &self.error.candidates)?;
            details.set_item("index", self.index)
        })
    }
}

impl IntoException for RecordError {
    fn into_exception(self) -> PyErr {
        let text = self.to_string();
        if let RecordErrorKind::Io(error) = self.kind {
            // The exception of a file object.
            return match error.downcast::<PyErr>() {
                Ok(exception) => exception,
                Err(error) => os_error(&io::Error::new(error.kind(), text), None),
            };
        }
        exception("RecordError", &text, |details| {
            details.set_item("game", self.game)?;
            details.set_item("line", self.line)?;
            details.set_item("column", self.column)
        })
    }
}

impl IntoException for WriteError {
    fn into_exception(self) -> PyErr {
        match self {
            Self::Io(error) => match error.downcast::<PyErr>() {
                Ok(exception) => exception,
                Err(error) => os_error(&error, None),
            },
            other @ Self::WrongGame { .. } => exception("RecordError", &other, |_| Ok(())),
        }
    }
}

impl IntoException for AddError {
    fn into_exception(self) -> PyErr {
        match self {
            Self::Move(error) => error.into_exception(),
            other => exception("RecordError", &other, |_| Ok(())),
        }
    }
}

impl IntoException for TablebaseError {
    fn into_exception(self) -> PyErr {
        exception("TablebaseError", &self, |_| Ok(()))
    }
}

impl IntoException for BookError {
    fn into_exception(self) -> PyErr {
        match self {
            Self::Io(error) => os_error(&error, None),
            other @ Self::Unsorted { .. } => value_error(other),
        }
    }
}

impl IntoException for EngineError {
    fn into_exception(self) -> PyErr {
        let class = match self.problem() {
            Problem::Start { .. } => "EngineStartError",
            Problem::Timeout(_) | Problem::OutOfTime(_) | Problem::Stalled => "EngineTimeoutError",
            Problem::Disconnected => "EngineTerminatedError",
            Problem::Dropped(_) => "SearchDroppedError",
            Problem::Usage(_) => "EngineUsageError",
            _ => "EngineError",
        };
        exception(class, &self, |details| {
            details.set_item("engine", self.engine())?;
            details.set_item("stderr", self.stderr())?;
            details.set_item("recoverable", self.is_recoverable())
        })
    }
}

/// A `ValueError`: an argument has a value that the function does not accept.
pub(crate) fn value_error(text: impl Display) -> PyErr {
    PyValueError::new_err(text.to_string())
}

/// An `OSError` of the class of its number, such as `FileNotFoundError`.
pub(crate) fn os_error(error: &io::Error, path: Option<&Path>) -> PyErr {
    match (error.raw_os_error(), path) {
        (Some(number), Some(path)) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, text, path.as_os_str().to_owned()))
        }
        _ => io::Error::new(error.kind(), error.to_string()).into(),
    }
}
