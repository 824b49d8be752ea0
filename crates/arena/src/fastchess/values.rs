//! The values of options, and the options that are only pairs of them.

use std::path::PathBuf;
use std::str::FromStr;

use regex::Regex;

use super::ArgumentError;
use super::flags::Flag;
use super::options::{EpdOut, Log, PgnNotation, PgnOut};

/// Hands each pair to a function that says whether the option has it.
pub(super) fn each(
    flag: &Flag,
    mut take: impl FnMut(&str, &str) -> Option<()>,
) -> Result<(), ArgumentError> {
    flag.pairs.iter().try_for_each(|(key, value)| {
        take(key, value).ok_or_else(|| ArgumentError::BadPair {
            option: flag.name,
            key: key.clone(),
            value: value.clone(),
            expected: "",
        })
    })
}

pub(super) fn number<T: FromStr>(flag: &Flag) -> Result<T, ArgumentError> {
    flag.value().parse().map_err(|_| ArgumentError::BadValue {
        option: flag.name,
        value: flag.value().to_owned(),
        expected: "a number",
    })
}

pub(super) fn truth(value: &str) -> Option<bool> {
    value.parse().ok()
}

pub(super) fn pgn_out(flag: &Flag) -> Result<PgnOut, ArgumentError> {
    let mut out = PgnOut { append: true, ..PgnOut::default() };
    each(flag, |key, value| {
        let field = match key {
            "file" => {
                out.file = Some(PathBuf::from(value));
                return Some(());
            }
            "match_line" => {
                Regex::new(value).ok()?;
                out.match_lines.push(value.to_owned());
                return Some(());
            }
            "notation" => {
                out.notation = match value {
                    "san" => PgnNotation::San,
                    "lan" => PgnNotation::Lan,
                    "uci" => PgnNotation::Uci,
                    _ => return None,
                };
                return Some(());
            }
            "append" => &mut out.append,
            "nodes" => &mut out.nodes,
            "seldepth" => &mut out.seldepth,
            "nps" => &mut out.nps,
            "hashfull" => &mut out.hashfull,
            "tbhits" => &mut out.tbhits,
            "timeleft" => &mut out.timeleft,
            "latency" => &mut out.latency,
            "pv" => &mut out.pv,
            "min" => &mut out.min,
            _ => return None,
        };
        *field = truth(value)?;
        Some(())
    })?;
    Ok(out)
}

pub(super) fn epd_out(flag: &Flag) -> Result<EpdOut, ArgumentError> {
    let mut out = EpdOut { file: None, append: true };
    each(flag, |key, value| {
        match key {
            "file" => out.file = Some(PathBuf::from(value)),
            "append" => out.append = truth(value)?,
            _ => return None,
        }
        Some(())
    })?;
    Ok(out)
}

pub(super) fn log(flag: &Flag) -> Result<Log, ArgumentError> {
    let level = "warn".to_owned();
    let mut log = Log { level, append: true, realtime: true, ..Log::default() };
    each(flag, |key, value| {
        match key {
            "file" => log.file = Some(PathBuf::from(value)),
            "level" if matches!(value, "trace" | "info" | "warn" | "err" | "fatal") => {
                value.clone_into(&mut log.level);
            }
            "append" => log.append = truth(value)?,
            "compress" => log.compress = truth(value)?,
            "realtime" => log.realtime = truth(value)?,
            "engine" => log.engine = truth(value)?,
            _ => return None,
        }
        Some(())
    })?;
    Ok(log)
}

/// A list like `3,5,7-11`.
pub(super) fn cpus(flag: &Flag) -> Result<Vec<u32>, ArgumentError> {
    /// No machine has more.
    const MOST: u32 = 65_536;
    let mut cpus = Vec::new();
    for part in flag.words.iter().flat_map(|word| word.split(',')) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.parse::<u32>(), to.parse::<u32>()) {
            (Ok(from), Ok(to)) if from <= to && to < MOST => cpus.extend(from..=to),
            _ => {
                return Err(ArgumentError::BadValue {
                    option: flag.name,
                    value: part.to_owned(),
                    expected: "a list like 3,5,7-11",
                });
            }
        }
    }
    Ok(cpus)
}
