//! Arguments of searches: limits by their names in Python, and values of options.

use std::num::NonZero;
use std::time::Duration;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use readyok_client::protocol::MateLimit;
use readyok_client::{Clocks, Dialect, Go, Limit, MoveList, Search};
use readyok_rules::MoveCodec;

use crate::error::value_error;

/// The value of an option as a text. None for a button.
pub(crate) fn option_text(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Some(value.is_true().to_string()));
    }
    Ok(Some(value.str()?.extract()?))
}

/// Names and values of options.
pub(crate) type OptionTexts = Vec<(String, Option<String>)>;

/// The options of a dictionary.
pub(crate) fn option_texts(options: Option<&Bound<'_, PyAny>>) -> PyResult<OptionTexts> {
    let Some(options) = options.filter(|options| !options.is_none()) else { return Ok(Vec::new()) };
    let mut texts = Vec::new();
    for item in options.call_method0("items")?.try_iter()? {
        let (name, value): (String, Bound<'_, PyAny>) = item?.extract()?;
        texts.push((name, option_text(&value)?));
    }
    Ok(texts)
}

/// A duration of a number of seconds.
pub(crate) fn seconds(value: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(value).map_err(value_error)
}

fn millis(value: f64) -> PyResult<i64> {
    Ok(i64::try_from(seconds(value)?.as_millis()).unwrap_or(i64::MAX))
}

/// The search with limits that are keyword arguments.
///
/// `must_end`: a search without a limit is an error, as nothing would end it.
pub(crate) fn search(
    limits: Option<&Bound<'_, PyDict>>,
    codec: MoveCodec,
    must_end: bool,
) -> PyResult<Search> {
    let mut go = Go::default();
    let mut increment = (0.0, 0.0);
    let (mut lines, mut deadline, mut options) = (None, None, Vec::new());
    let (mut ponder, mut ponder_after) = (false, false);
    for (name, value) in limits.into_iter().flatten() {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        let named = |error: PyErr| {
            let text = format!("argument '{name}': {}", error.value(value.py()));
            if error.is_instance_of::<PyOverflowError>(value.py()) {
                value_error(text)
            } else {
                PyErr::from_type(error.get_type(value.py()), text)
            }
        };
        match name.as_str() {
            "time" => go.move_time = Some(seconds(value.extract().map_err(named)?).map_err(named)?),
            "depth" => go.depth = Some(value.extract().map_err(named)?),
            "nodes" => go.nodes = Some(value.extract().map_err(named)?),
            "mate" => {
                go.mate = Some(match codec.dialect() {
                    Dialect::Uci => MateLimit::Moves(value.extract().map_err(named)?),
                    Dialect::Usi => {
                        MateLimit::Time(seconds(value.extract().map_err(named)?).map_err(named)?)
                    }
                });
            }
            "clock" => {
                let (first, second): (f64, f64) = value.extract().map_err(named)?;
                go.clocks.white_time = Some(millis(first).map_err(named)?);
                go.clocks.black_time = Some(millis(second).map_err(named)?);
            }
            "increment" => increment = value.extract().map_err(named)?,
            "byoyomi" => {
                go.clocks.byoyomi = Some(millis(value.extract().map_err(named)?).map_err(named)?);
            }
            "moves_to_go" => go.clocks.moves_to_go = Some(value.extract().map_err(named)?),
            "moves" => {
                let mut moves = MoveList::EMPTY;
                for text in value.extract::<Vec<String>>().map_err(named)? {
                    let mv = codec.encode_text(&text);
                    moves
                        .push(mv.ok_or_else(|| value_error(format_args!("not a move: {text:?}")))?);
                }
                go.search_moves = Some(moves);
            }
            "lines" => {
                let count: u32 = value.extract().map_err(named)?;
                lines = Some(
                    NonZero::new(count).ok_or_else(|| named(value_error("must be positive")))?,
                );
            }
            "options" => options = option_texts(Some(&value))?,
            "deadline" => deadline = Some(seconds(value.extract().map_err(named)?).map_err(named)?),
            "ponder" => ponder = value.is_truthy()?,
            "ponder_after" => ponder_after = value.is_truthy()?,
            _ => {
                let text = format!("got an unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(text));
            }
        }
    }
    complete_clocks(&mut go.clocks, increment)?;
    if (Go { search_moves: None, ..go.clone() }) == Go::default() {
        if must_end {
            let names = "time, depth, nodes, mate, clock, byoyomi";
            return Err(value_error(format_args!("expected a limit: one of {names}")));
        }
        go.infinite = true;
    }
    let mut search = Search::new(Limit::Go(Box::new(go)));
    if let Some(lines) = lines {
        search = search.lines(lines.get());
    }
    for (name, value) in options {
        search = search.option(name, value.unwrap_or_default());
    }
    if let Some(deadline) = deadline {
        search = search.deadline_after(deadline);
    }
    if ponder {
        search = search.ponder();
    }
    Ok(if ponder_after { search.ponder_after() } else { search })
}

/// Adds what belongs to clocks.
fn complete_clocks(clocks: &mut Clocks, (first, second): (f64, f64)) -> PyResult<()> {
    if clocks.byoyomi.is_some() && clocks.white_time.is_none() {
        (clocks.white_time, clocks.black_time) = (Some(0), Some(0));
    }
    let has_increment = first != 0.0 || second != 0.0;
    if clocks.white_time.is_none() && (has_increment || clocks.moves_to_go.is_some()) {
        return Err(value_error("an increment or moves to go need a clock"));
    }
    if has_increment {
        clocks.white_increment = Some(millis(first)?);
        clocks.black_increment = Some(millis(second)?);
    }
    Ok(())
}
