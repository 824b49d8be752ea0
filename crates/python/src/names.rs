//! Values by their names.

use pyo3::prelude::*;
use readyok_client::Dialect;
use readyok_rules::record::Format;
use readyok_rules::{FenForm, Game, Notation, Side, Termination};

use crate::error::value_error;

fn named<T>(value: Option<T>, kind: &str, name: &str) -> PyResult<T> {
    value.ok_or_else(|| value_error(format_args!("no such {kind}: {name:?}")))
}

pub(crate) fn game(name: &str) -> PyResult<Game> {
    named(Game::from_name(name), "game", name)
}

pub(crate) fn side(name: &str) -> PyResult<Side> {
    named(Side::from_name(name), "side", name)
}

pub(crate) fn notation(name: &str) -> PyResult<Notation> {
    named(Notation::from_name(name), "notation", name)
}

/// The format of a name or a file extension.
pub(crate) fn format(name: &str) -> PyResult<Format> {
    let format = Format::from_name(name).or_else(|| Format::from_extension(name));
    named(format, "format", name)
}

pub(crate) fn termination(name: &str) -> PyResult<Termination> {
    named(Termination::from_name(name), "termination", name)
}

pub(crate) fn fen_form(name: &str) -> PyResult<FenForm> {
    named(FenForm::from_name(name), "form of FEN", name)
}

pub(crate) fn dialect(name: &str) -> PyResult<Dialect> {
    named(Dialect::ALL.into_iter().find(|dialect| dialect.handshake() == name), "protocol", name)
}

/// The name of a value in files, which serde declares.
pub(crate) fn serde_name(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}
