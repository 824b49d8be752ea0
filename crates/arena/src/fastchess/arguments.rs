//! The grammar of the command line: options, their values, errors, and the keys of `-engine` and `-each`.

use std::num::ParseIntError;
use std::path::{Path, PathBuf, is_separator};
use std::str::FromStr;

use readyok_client::unstable::split_command_line;
use regex::Regex;

use crate::export::{PgnMoves, PgnStyle};
use crate::fastchess::options::{EpdOut, Level, Log, PgnOut};
use crate::plan::{EnginePlan, Protocol, TimeControl, TimeControlError};
use crate::stats::SprtError;

/// The syntax of the values of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    /// No value.
    None,
    /// One value.
    One,
    /// `key=value` pairs.
    Pairs,
    /// Pairs, or no value.
    OptionalPairs,
    /// Any values.
    Any,
}

const FLAGS: &[(&str, Syntax)] = &[
    ("-engine", Syntax::Pairs),
    ("-each", Syntax::Pairs),
    ("-pgnout", Syntax::OptionalPairs),
    ("-epdout", Syntax::OptionalPairs),
    ("-openings", Syntax::Pairs),
    ("-sprt", Syntax::Pairs),
    ("-draw", Syntax::Pairs),
    ("-resign", Syntax::Pairs),
    ("-maxmoves", Syntax::One),
    ("-tb", Syntax::One),
    ("-tbpieces", Syntax::One),
    ("-tbignore50", Syntax::None),
    ("-tbadjudicate", Syntax::One),
    ("-concurrency", Syntax::One),
    ("-force-concurrency", Syntax::None),
    ("-use-affinity", Syntax::Any),
    ("-rounds", Syntax::One),
    ("-games", Syntax::One),
    ("-repeat", Syntax::Any),
    ("-noswap", Syntax::None),
    ("-reverse", Syntax::None),
    ("-tournament", Syntax::One),
    ("-seeds", Syntax::One),
    ("-variant", Syntax::One),
    ("-event", Syntax::Any),
    ("-site", Syntax::Any),
    ("-wait", Syntax::One),
    ("-srand", Syntax::One),
    ("-recover", Syntax::None),
    ("-quick", Syntax::Pairs),
    ("-config", Syntax::Pairs),
    ("-autosaveinterval", Syntax::One),
    ("-ratinginterval", Syntax::One),
    ("-scoreinterval", Syntax::One),
    ("-report", Syntax::Pairs),
    ("-output", Syntax::Pairs),
    ("-log", Syntax::Pairs),
    ("-crc32", Syntax::Pairs),
    ("-show-latency", Syntax::None),
    ("-strict", Syntax::None),
    ("-check-mate-pvs", Syntax::None),
    ("-testEnv", Syntax::None),
    ("-debug", Syntax::Any),
    ("-startup-ms", Syntax::One),
    ("-ucinewgame-ms", Syntax::One),
    ("-ping-ms", Syntax::One),
    ("-version", Syntax::None),
    ("--version", Syntax::None),
    ("-v", Syntax::None),
    ("--v", Syntax::None),
    ("-help", Syntax::None),
    ("--help", Syntax::None),
    ("--compliance", Syntax::Any),
    ("-compliance", Syntax::Any),
];

/// An option with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    pub(super) values: Vec<String>,
    pub(super) pairs: Vec<(String, String)>,
}

impl Flag {
    /// The value of an option with [`Syntax::One`].
    pub(super) fn value(&self) -> &str {
        self.values.first().map_or("", String::as_str)
    }
}

/// Splits a command line into options. An argument that starts with `-` is an option, except for a
/// negative number.
pub(super) fn split(args: &[String]) -> Result<Vec<Flag>, ArgumentError> {
    let mut flags = Vec::new();
    let mut rest = args.iter().peekable();
    while let Some(arg) = rest.next() {
        let known = FLAGS.iter().find(|(name, _)| name == arg);
        let &(name, syntax) = known.ok_or_else(|| unknown(arg))?;
        let mut values = Vec::new();
        // All further arguments belong to the engine.
        let is_last = name.ends_with("-compliance");
        while let Some(next) = rest.next_if(|next| is_last || !is_option(next)) {
            values.push(next.clone());
        }
        flags.push(flag(name, syntax, values)?);
    }
    Ok(flags)
}

fn is_option(arg: &str) -> bool {
    arg.strip_prefix('-').is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn flag(name: &'static str, syntax: Syntax, values: Vec<String>) -> Result<Flag, ArgumentError> {
    let mut pairs = Vec::new();
    match syntax {
        Syntax::None if !values.is_empty() => return Err(ArgumentError::ExpectsNoValue(name)),
        Syntax::One if values.len() != 1 => return Err(ArgumentError::ExpectsOneValue(name)),
        Syntax::Pairs if values.is_empty() => {
            return Err(ArgumentError::ExpectsPairs { option: name, found: None });
        }
        Syntax::Pairs | Syntax::OptionalPairs => {
            for arg in &values {
                let pair = arg.split_once('=').filter(|(k, v)| !k.is_empty() && !v.is_empty());
                let (key, value) = pair.ok_or_else(|| ArgumentError::ExpectsPairs {
                    option: name,
                    found: Some(arg.clone()),
                })?;
                pairs.push((key.to_owned(), value.to_owned()));
            }
        }
        Syntax::None | Syntax::One | Syntax::Any => {}
    }
    Ok(Flag { name, values, pairs })
}

fn unknown(arg: &str) -> ArgumentError {
    let nearest = FLAGS.iter().map(|&(name, _)| (strsim::levenshtein(name, arg), name)).min();
    let similar = nearest.and_then(|(distance, name)| (distance <= 2).then_some(name));
    ArgumentError::UnknownOption { option: arg.to_owned(), similar }
}

/// Calls `set` with each pair. `set` returns none for an unknown key or an invalid value.
pub(super) fn each(
    flag: &Flag,
    mut set: impl FnMut(&str, &str) -> Option<()>,
) -> Result<(), ArgumentError> {
    flag.pairs.iter().try_for_each(|(key, value)| {
        set(key, value).ok_or_else(|| ArgumentError::BadPair {
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

pub(super) fn boolean(value: &str) -> Option<bool> {
    value.parse().ok()
}

pub(super) fn pgn_out(flag: &Flag) -> Result<PgnOut, ArgumentError> {
    let style = PgnStyle { as_fastchess: true, ..PgnStyle::default() };
    let mut out = PgnOut { append: true, style, ..PgnOut::default() };
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
                out.style.moves = match value {
                    "san" => PgnMoves::San,
                    "lan" => PgnMoves::Lan,
                    "uci" => PgnMoves::Uci,
                    _ => return None,
                };
                return Some(());
            }
            "append" => &mut out.append,
            "nodes" => &mut out.style.fields.nodes,
            "seldepth" => &mut out.style.fields.seldepth,
            "nps" => &mut out.style.fields.nps,
            "hashfull" => &mut out.style.fields.hashfull,
            "tbhits" => &mut out.style.fields.tbhits,
            "timeleft" => &mut out.style.fields.time_left,
            "latency" => &mut out.style.fields.latency,
            "pv" => &mut out.style.fields.pv,
            "min" => &mut out.style.min,
            _ => return None,
        };
        *field = boolean(value)?;
        Some(())
    })?;
    Ok(out)
}

pub(super) fn epd_out(flag: &Flag) -> Result<EpdOut, ArgumentError> {
    let mut out = EpdOut { file: None, append: true };
    each(flag, |key, value| {
        match key {
            "file" => out.file = Some(PathBuf::from(value)),
            "append" => out.append = boolean(value)?,
            _ => return None,
        }
        Some(())
    })?;
    Ok(out)
}

pub(super) fn log(flag: &Flag) -> Result<Log, ArgumentError> {
    let mut log = Log { append: true, ..Log::default() };
    each(flag, |key, value| {
        match key {
            "file" => log.file = Some(PathBuf::from(value)),
            "level" => {
                log.level = match value {
                    "trace" => Level::Trace,
                    "info" => Level::Info,
                    "warn" => Level::Warn,
                    "err" => Level::Err,
                    "fatal" => Level::Fatal,
                    _ => return None,
                };
            }
            "append" => log.append = boolean(value)?,
            "compress" => log.compress = boolean(value)?,
            // Lines are never buffered.
            "realtime" => drop(boolean(value)?),
            "engine" => log.engine = boolean(value)?,
            _ => return None,
        }
        Some(())
    })?;
    Ok(log)
}

/// Parses a list of CPUs such as `3,5,7-11`.
pub(super) fn cpus(flag: &Flag) -> Result<Vec<u32>, ArgumentError> {
    const MAX_CPUS: u32 = 65_536;
    let mut cpus = Vec::new();
    for part in flag.values.iter().flat_map(|value| value.split(',')) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.parse::<u32>(), to.parse::<u32>()) {
            (Ok(from), Ok(to)) if from <= to && to < MAX_CPUS => cpus.extend(from..=to),
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

/// An invalid command line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArgumentError {
    /// The option does not exist.
    #[error("no option `{option}`{}", similar.map(|similar| format!("; did you mean `{similar}`?")).unwrap_or_default())]
    UnknownOption {
        /// The argument.
        option: String,
        /// An option with a similar name.
        similar: Option<&'static str>,
    },
    /// An option without values has a value.
    #[error("`{0}` has no value")]
    ExpectsNoValue(&'static str),
    /// An option with one value has none or several.
    #[error("`{0}` requires exactly one value")]
    ExpectsOneValue(&'static str),
    /// An option with `key=value` pairs has another value or none.
    #[error("`{option}` requires key=value pairs{}", found.as_ref().map(|found| format!(", not `{found}`")).unwrap_or_default())]
    ExpectsPairs {
        /// The option.
        option: &'static str,
        /// The argument that is not a pair.
        found: Option<String>,
    },
    /// A key of an option does not exist, or its value is invalid.
    #[error("`{option}` has no `{key}={value}`{}", if expected.is_empty() { String::new() } else { format!(": expected {expected}") })]
    BadPair {
        /// The option.
        option: &'static str,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// The expected value; empty if the key does not exist.
        expected: &'static str,
    },
    /// The value of an option is invalid.
    #[error("`{option}` cannot be `{value}`: expected {expected}")]
    BadValue {
        /// The option.
        option: &'static str,
        /// The value.
        value: String,
        /// The expected value.
        expected: &'static str,
    },
    /// The match has fewer than two engines.
    #[error("a match requires at least two engines")]
    TooFewEngines,
    /// An engine has neither a command nor a name.
    #[error("an engine requires a `cmd`")]
    EngineWithoutCommand,
    /// An engine has no search limit.
    #[error("engine `{engine}` has no limit: use tc, st, nodes or depth")]
    NoLimit {
        /// The name of the engine.
        engine: String,
    },
    /// An engine has both a clock and a time per move.
    #[error("engine `{engine}` has both tc and st")]
    TwoTimes {
        /// The name of the engine.
        engine: String,
    },
    /// The parameters of the SPRT are invalid.
    #[error("`-sprt`: {0}")]
    Test(SprtError),
    /// Chess960 requires openings.
    #[error("`-variant fischerandom` requires `-openings`")]
    NeedsBook,
    /// Unsupported or conflicting options.
    #[error("{0}")]
    Conflict(&'static str),
}

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
            engine.args = split_command_line(value).ok_or_else(|| bad("balanced quotes"))?;
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
        // The path is relative to the working directory of the engine. A name without a file there is one in PATH.
        let file = Path::new(dir).join(&engine.command);
        if engine.command.contains(is_separator) || file.exists() {
            engine.command = file.to_string_lossy().into_owned();
        }
    }
    let limits = &engine.limits;
    let engine = || engine.name.clone();
    match (limits.tc, limits.move_time_ms, limits.nodes, limits.depth) {
        (None, None, None, None) => Err(ArgumentError::NoLimit { engine: engine() }),
        (Some(_), Some(_), ..) => Err(ArgumentError::TwoTimes { engine: engine() }),
        _ => Ok(()),
    }
}
