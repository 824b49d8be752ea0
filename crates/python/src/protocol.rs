//! Lines of UCI and USI, as the dictionaries of their JSON form.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use readyok_protocol::{Command, Dialect, Reply};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::value_error;
use crate::names;

/// The longest text of a message.
const MAX_JSON: usize = 1 << 20;

fn json<'py>(py: Python<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    static JSON: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let json =
        JSON.get_or_try_init(py, || Ok::<_, PyErr>(py.import("json")?.into_any().unbind()))?;
    json.bind(py).getattr(function)
}

/// A message, and the texts of its defects.
type Reading<'py> = (Bound<'py, PyAny>, Vec<String>);

fn parsed<'py>(
    py: Python<'py>,
    value: &impl Serialize,
    defects: Vec<String>,
) -> PyResult<Reading<'py>> {
    let text = serde_json::to_string(value).map_err(value_error)?;
    Ok((json(py, "loads")?.call1((text,))?, defects))
}

fn message<T: DeserializeOwned>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    let text: String = json(value.py(), "dumps")?.call1((value,))?.extract()?;
    if MAX_JSON < text.len() {
        return Err(value_error("the message is too long"));
    }
    serde_json::from_str(&text).map_err(value_error)
}

/// Reads a line of an engine. Returns the message, as data of JSON, and the texts of its defects. Every line has a message.
#[pyfunction]
#[pyo3(signature = (line, protocol="uci"))]
pub(crate) fn parse_reply<'py>(
    py: Python<'py>,
    line: &str,
    protocol: &str,
) -> PyResult<Reading<'py>> {
    let reading = Reply::read(line, names::dialect(protocol)?);
    let defects = reading.diagnostics.iter().map(ToString::to_string).collect();
    parsed(py, &reading.value, defects)
}

/// Reads a line of a GUI. Returns the message, as data of JSON, and the texts of its defects. Every line has a message.
#[pyfunction]
#[pyo3(signature = (line, protocol="uci"))]
pub(crate) fn parse_command<'py>(
    py: Python<'py>,
    line: &str,
    protocol: &str,
) -> PyResult<Reading<'py>> {
    let reading = Command::read(line, names::dialect(protocol)?);
    let defects = reading.diagnostics.iter().map(ToString::to_string).collect();
    parsed(py, &reading.value, defects)
}

fn line<E: std::fmt::Display>(
    protocol: &str,
    write: impl FnOnce(Dialect, &mut String) -> Result<(), E>,
) -> PyResult<String> {
    let mut text = String::new();
    write(names::dialect(protocol)?, &mut text).map_err(value_error)?;
    Ok(text)
}

/// Writes a message in the form of `parse_reply` as a line of an engine.
///
/// Raises ValueError if it is not a message, or if the line would be read differently.
#[pyfunction]
#[pyo3(signature = (message, protocol="uci"))]
pub(crate) fn format_reply(message: &Bound<'_, PyAny>, protocol: &str) -> PyResult<String> {
    let reply: Reply<'static> = self::message(message)?;
    line(protocol, |dialect, text| reply.write(dialect, text))
}

/// Writes a message in the form of `parse_command` as a line of a GUI.
///
/// Raises ValueError if it is not a message, or if the line would be read differently.
#[pyfunction]
#[pyo3(signature = (message, protocol="uci"))]
pub(crate) fn format_command(message: &Bound<'_, PyAny>, protocol: &str) -> PyResult<String> {
    let command: Command<'static> = self::message(message)?;
    line(protocol, |dialect, text| command.write(dialect, text))
}
