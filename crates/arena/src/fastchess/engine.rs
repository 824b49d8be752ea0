//! The keys of `-engine` and `-each`.

use std::num::ParseIntError;
use std::path::Path;

use crate::plan::{EnginePlan, Protocol, TimeControl, TimeControlError};

use super::ArgumentError;

/// Applies a pair to an engine.
pub(super) fn set(
    option: &'static str,
    engine: &mut EnginePlan,
    key: &str,
    value: &str,
) -> Result<(), ArgumentError> {
    let bad = |expected| ArgumentError::BadPair {
        option,
        key: key.to_owned(),
        value: value.to_owned(),
        expected,
    };
    if let Some(name) = key.strip_prefix("option.").filter(|name| !name.is_empty()) {
        engine.options.insert(name.to_owned(), value.to_owned());
        return Ok(());
    }
    match key {
        "cmd" => value.clone_into(&mut engine.command),
        "name" => value.clone_into(&mut engine.name),
        "dir" => engine.dir = Some(value.to_owned()),
        "args" => {
            engine.args = shlex::split(value).ok_or_else(|| bad("balanced quotes"))?;
        }
        "tc" => engine.limits.tc = control(value).map_err(|()| bad("[moves/][min:]sec[+inc]"))?,
        "st" => {
            let control = nonzero(seconds(value)).map_err(|()| bad("seconds"))?;
            let millis = control.map(|control| u64::try_from(control.time.as_millis()));
            engine.limits.move_time_ms = millis.transpose().map_err(|_| bad("seconds"))?;
        }
        // As in fastchess, 0 is no limit, here and for times.
        "nodes" => engine.limits.nodes = limit(value).map_err(|_| bad("a number"))?,
        "depth" | "plies" => {
            let depth = limit(value).map_err(|_| bad("a number"))?;
            let depth = depth.map(u32::try_from).transpose();
            engine.limits.depth = depth.map_err(|_| bad("a number"))?;
        }
        "timemargin" => {
            engine.limits.margin_ms = value.parse().map_err(|_| bad("milliseconds, at least 0"))?;
        }
        "restart" => {
            engine.restart = match value {
                "on" => true,
                "off" => false,
                _ => return Err(bad("on or off")),
            };
        }
        "proto" => {
            engine.protocol = Some(match value {
                "uci" => Protocol::Uci,
                // An extension: fastchess has no shogi.
                "usi" => Protocol::Usi,
                _ => return Err(bad("uci or usi")),
            });
        }
        _ => return Err(bad("")),
    }
    Ok(())
}

fn limit(value: &str) -> Result<Option<u64>, ParseIntError> {
    value.parse().map(|number| Some(number).filter(|&number| number > 0))
}

/// Removes the unit `s` and truncates to milliseconds, because scripts compute scaled times with any
/// number of decimals.
fn seconds(text: &str) -> &str {
    let text = text.strip_suffix('s').unwrap_or(text);
    match text.split_once('.') {
        Some((_, fraction)) if fraction.bytes().all(|digit| digit.is_ascii_digit()) => {
            let more = fraction.len().saturating_sub(3);
            text.get(..text.len() - more).unwrap_or(text)
        }
        _ => text,
    }
}

fn control(text: &str) -> Result<Option<TimeControl>, ()> {
    if matches!(text, "inf" | "infinite") {
        return Ok(None);
    }
    let text = text.strip_prefix("inf/").or_else(|| text.strip_prefix("infinite/")).unwrap_or(text);
    let parts: Vec<&str> = text.split('+').map(seconds).collect();
    nonzero(&parts.join("+"))
}

fn nonzero(text: &str) -> Result<Option<TimeControl>, ()> {
    match text.parse() {
        Ok(control) => Ok(Some(control)),
        Err(TimeControlError::Zero) => Ok(None),
        Err(_) => Err(()),
    }
}

/// Completes an engine after its last pair: path and name of the executable.
pub(super) fn finish(engine: &mut EnginePlan) -> Result<(), ArgumentError> {
    if engine.command.is_empty() {
        return Err(ArgumentError::EngineWithoutCommand);
    }
    if engine.name.is_empty() {
        let stem = Path::new(&engine.command).file_stem().unwrap_or_default();
        engine.name = stem.to_string_lossy().into_owned();
    }
    if let Some(dir) = &engine.dir {
        // The path is relative to the working directory of the engine.
        engine.command = Path::new(dir).join(&engine.command).to_string_lossy().into_owned();
    }
    let limits = &engine.limits;
    let engine = || engine.name.clone();
    match (limits.tc, limits.move_time_ms, limits.nodes, limits.depth) {
        (None, None, None, None) => Err(ArgumentError::NoLimit { engine: engine() }),
        (Some(_), Some(_), ..) => Err(ArgumentError::TwoTimes { engine: engine() }),
        _ => Ok(()),
    }
}
