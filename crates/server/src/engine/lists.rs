//! Engine lists of other programs: Cute Chess, En Croissant, Arena and ShogiHome.

use std::collections::BTreeMap;
use std::env;
use std::path::{MAIN_SEPARATOR, Path};

use readyok_client::unstable::{find_executable, find_in_path, split_command_line};
use serde_json::{Map, Value};

use crate::wire::{
    EngineEntry, EngineList, EngineProgram, EngineSource, ErrorCode, ErrorInfo, ErrorSubject,
    Protocol,
};

/// Maximum number of engines of a list.
const MAX_LISTED: usize = 500;
/// Maximum number of option values of an engine.
const MAX_VALUES: usize = 500;
/// Maximum size of a text, in bytes.
const MAX_TEXT: usize = 4096;

/// An engine of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listed {
    pub(crate) entry: EngineEntry,
    /// Option values that differ from the defaults.
    pub(crate) values: BTreeMap<String, String>,
}

/// Why a list or one of its engines cannot be imported.
#[derive(Debug, PartialEq)]
pub(crate) enum ListError {
    UnknownFormat,
    TooManyEngines,
    /// The engine has no program.
    NoProgram,
    NotExecutable(String),
    /// The engine speaks another protocol.
    OtherProtocol(String),
}

impl From<ListError> for ErrorInfo {
    fn from(error: ListError) -> Self {
        let code = match error {
            ListError::UnknownFormat => ErrorCode::UnknownEngineList,
            ListError::TooManyEngines => ErrorCode::TooMany { subject: ErrorSubject::Engine },
            ListError::NoProgram => ErrorCode::IncompleteCommand,
            ListError::NotExecutable(name) => ErrorCode::NotExecutable { name },
            ListError::OtherProtocol(text) => ErrorCode::OtherProtocol { text },
        };
        code.into()
    }
}

/// The engines of a list with their names, or the reasons why they cannot be used.
pub(crate) type Engines = Vec<(String, Result<Listed, ListError>)>;

/// Reads a list, whose format is detected.
pub(crate) fn read(text: &str) -> Result<(EngineList, Engines), ListError> {
    let text = text.trim_start_matches('\u{feff}');
    let (list, entries) = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(entries)) => {
            let is_cutechess = entries.iter().any(|entry| entry.get("command").is_some());
            let list = if is_cutechess { EngineList::CuteChess } else { EngineList::EnCroissant };
            let paths = entries.iter().any(|entry| entry.get("path").is_some());
            if !is_cutechess && !paths && !entries.is_empty() {
                return Err(ListError::UnknownFormat);
            }
            (list, entries.into_iter().map(entry).collect::<Vec<_>>())
        }
        Ok(Value::Object(mut root)) => match root.remove("engines") {
            Some(Value::Object(engines)) => (
                EngineList::ShogiHome,
                engines.into_iter().map(|(_, engine)| entry(engine)).collect(),
            ),
            _ => return Err(ListError::UnknownFormat),
        },
        Ok(_) => return Err(ListError::UnknownFormat),
        Err(_) => (EngineList::Arena, sections(text)),
    };
    if list == EngineList::Arena && entries.is_empty() {
        return Err(ListError::UnknownFormat);
    }
    if MAX_LISTED < entries.len() {
        return Err(ListError::TooManyEngines);
    }
    // En Croissant lists engines of servers as well.
    let is_local = |entry: &Map<String, Value>| {
        list != EngineList::EnCroissant
            || text_of(entry, &["type"]).is_none_or(|text| text == "local")
    };
    let engines = entries.iter().filter(|entry| is_local(entry)).map(|entry| {
        let name = text_of(entry, &["name", "defaultName"]).unwrap_or_default();
        (name.clone(), listed(list, name, entry))
    });
    Ok((list, engines.collect()))
}

fn entry(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(entry) => entry,
        _ => Map::new(),
    }
}

/// The sections of an INI file with a program.
fn sections(text: &str) -> Vec<Map<String, Value>> {
    let mut found: Vec<Map<String, Value>> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            found.push(Map::from_iter([("section".to_owned(), Value::from(name))]));
        } else if let (Some((key, value)), Some(section)) = (line.split_once('='), found.last_mut())
            && !line.starts_with([';', '#'])
        {
            let value = value.trim().trim_matches('"');
            section.insert(key.trim().to_ascii_lowercase(), Value::from(value));
        }
    }
    found.retain(|section| text_of(section, COMMANDS).is_some());
    for section in &mut found {
        if text_of(section, &["name"]).is_none()
            && let Some(name) = section.get("section").cloned()
        {
            section.insert("name".to_owned(), name);
        }
    }
    found
}

/// Names of the field with the program, in all formats.
const COMMANDS: &[&str] = &["command", "path", "exe", "filename", "engine"];

/// The first field that is a text, and not empty.
fn text_of(entry: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| entry.get(*name)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty() && text.len() <= MAX_TEXT).map(str::to_owned)
}

fn listed(list: EngineList, name: String, entry: &Map<String, Value>) -> Result<Listed, ListError> {
    let protocol = match list {
        EngineList::ShogiHome => Some(Protocol::Usi),
        EngineList::EnCroissant => Some(Protocol::Uci),
        EngineList::CuteChess | EngineList::Arena => {
            match text_of(entry, &["protocol", "type"])
                .map(|text| text.to_ascii_lowercase())
                .as_deref()
            {
                None | Some("auto" | "autodetect") => None,
                Some("uci" | "uci2") => Some(Protocol::Uci),
                Some("usi") => Some(Protocol::Usi),
                Some(other) => return Err(ListError::OtherProtocol(other.to_owned())),
            }
        }
    };
    let command = text_of(entry, COMMANDS).ok_or(ListError::NoProgram)?;
    let directory = text_of(entry, &["workingDirectory", "workingdirectory", "dir"]);
    let (path, mut args) = split(&command, directory.as_deref())?;
    if let Some(more) = text_of(entry, &["args", "arguments", "commandline", "parameters"]) {
        args.extend(split_command_line(&more).unwrap_or_default());
    }
    let dir = directory.filter(|directory| Path::new(directory).is_absolute());
    let program = EngineProgram { dir: dir.map(Into::into), ..EngineProgram::new(path, args) };
    let source = EngineSource::Program(program);
    Ok(Listed { entry: EngineEntry { name, source, protocol }, values: values(entry) })
}

/// The program of a command, and its arguments.
fn split(command: &str, directory: Option<&str>) -> Result<(String, Vec<String>), ListError> {
    let resolved = |program: &str| -> Option<String> {
        let path = Path::new(program);
        let found = if path.is_absolute() {
            find_executable(path)
        } else if let Some(directory) = directory {
            find_executable(&Path::new(directory).join(path))
        } else if program.contains(['/', MAIN_SEPARATOR]) {
            None
        } else {
            find_in_path(program, &env::var_os("PATH").unwrap_or_default())
        };
        found.filter(|path| path.is_absolute())?.to_str().map(str::to_owned)
    };
    if let Some(path) = resolved(command) {
        return Ok((path, Vec::new()));
    }
    let missing = || ListError::NotExecutable(command.to_owned());
    let mut tokens = split_command_line(command).ok_or_else(missing)?.into_iter();
    let path = tokens.next().and_then(|program| resolved(&program)).ok_or_else(missing)?;
    Ok((path, tokens.collect()))
}

/// The option values of an engine: an array of names and values, or an object by name.
fn values(entry: &Map<String, Value>) -> BTreeMap<String, String> {
    let pair = |option: &Value| -> Option<(String, String)> {
        let name = option.get("name")?.as_str()?.to_owned();
        if option.get("type").and_then(Value::as_str) == Some("button") {
            return None;
        }
        let value = match option.get("value")? {
            Value::String(text) => text.clone(),
            Value::Bool(on) => on.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        let is_short = name.len() <= MAX_TEXT && value.len() <= MAX_TEXT;
        let is_plain = !name.chars().chain(value.chars()).any(char::is_control);
        (is_short && is_plain).then_some((name, value))
    };
    match entry.get("options").or_else(|| entry.get("settings")) {
        Some(Value::Array(options)) => options.iter().filter_map(pair).take(MAX_VALUES).collect(),
        Some(Value::Object(options)) => {
            options.values().filter_map(pair).take(MAX_VALUES).collect()
        }
        _ => BTreeMap::new(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::expect_used, reason = "lists of the tests are valid")]
    fn one(text: &str) -> (EngineList, String, Result<Listed, ListError>) {
        let (list, engines) = read(text).expect("it is a list");
        let (name, engine) = engines.into_iter().next().expect("an engine");
        (list, name, engine)
    }

    fn program(listed: &Listed) -> (Option<&str>, &[String], Option<&str>) {
        match &listed.entry.source {
            EngineSource::Program(EngineProgram { path, args, dir, .. }) => {
                (path.to_str(), args, dir.as_deref().and_then(Path::to_str))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lists_of_cute_chess_are_read() {
        let text = json!([
            { "name": "Shell", "command": "sh -c \"a b\"", "workingDirectory": "/bin", "protocol": "uci",
              "options": [{ "name": "Hash", "value": 128 }, { "name": "Ponder", "value": true },
                          { "name": "Clear", "type": "button", "value": "x" }] },
            { "name": "Old", "command": "/bin/sh", "protocol": "xboard" },
            { "name": "Gone", "command": "/nowhere/engine", "protocol": "uci" },
        ]);
        let (list, engines) = read(&text.to_string()).expect("it is a list");
        assert_eq!(list, EngineList::CuteChess);
        let shell = engines[0].1.as_ref().expect("it is usable");
        assert_eq!(
            program(shell),
            (Some("/bin/sh"), &["-c".to_owned(), "a b".to_owned()][..], Some("/bin"))
        );
        assert_eq!(shell.entry.protocol, Some(Protocol::Uci));
        let values: Vec<_> =
            shell.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(values, ["Hash=128", "Ponder=true"]);
        assert_eq!(engines[1].1, Err(ListError::OtherProtocol("xboard".to_owned())));
        assert_eq!(engines[2].1, Err(ListError::NotExecutable("/nowhere/engine".to_owned())));
    }

    #[test]
    fn lists_of_en_croissant_are_read() {
        let text = json!([
            { "type": "local", "name": "Stockfish", "path": "/bin/sh",
              "settings": [{ "name": "MultiPV", "value": "3" }] },
            { "type": "lichess", "name": "Cloud", "url": "https://example.org" },
        ]);
        let (list, engines) = read(&text.to_string()).expect("it is a list");
        assert_eq!((list, engines.len()), (EngineList::EnCroissant, 1));
        let engine = engines[0].1.as_ref().expect("it is usable");
        assert_eq!(program(engine).0, Some("/bin/sh"));
        assert_eq!(engine.values["MultiPV"], "3");
    }

    #[test]
    fn lists_of_shogihome_are_read() {
        let text = json!({ "engines": { "es://usi-engine/1": {
            "uri": "es://usi-engine/1", "name": "水匠", "path": "/bin/sh",
            "options": { "USI_Hash": { "name": "USI_Hash", "type": "spin", "value": 1024 },
                         "Threads": { "name": "Threads", "type": "spin", "default": 4 } } } } });
        let (list, name, engine) = one(&text.to_string());
        assert_eq!((list, name.as_str()), (EngineList::ShogiHome, "水匠"));
        let engine = engine.expect("it is usable");
        assert_eq!(engine.entry.protocol, Some(Protocol::Usi));
        assert_eq!(engine.values, BTreeMap::from([("USI_Hash".to_owned(), "1024".to_owned())]));
    }

    #[test]
    fn lists_of_arena_are_read() {
        let text = "; a comment\r\n[General]\r\nLanguage=en\r\n\r\n[Engine1]\r\nName=Shell\r\nPath=/bin/sh\r\n\
                    CommandLine=-c x\r\nType=UCI\r\n[Engine2]\r\nPath=\"/bin/sh\"\r\nType=Winboard\r\n";
        let (list, engines) = read(text).expect("it is a list");
        assert_eq!((list, engines.len()), (EngineList::Arena, 2));
        let shell = engines[0].1.as_ref().expect("it is usable");
        assert_eq!((engines[0].0.as_str(), shell.entry.protocol), ("Shell", Some(Protocol::Uci)));
        assert_eq!(program(shell).1, ["-c", "x"]);
        assert_eq!(engines[1].0, "Engine2");
        assert_eq!(engines[1].1, Err(ListError::OtherProtocol("winboard".to_owned())));
    }

    #[test]
    fn other_files_are_rejected() {
        for text in ["", "hello", "3", "[1]", r#"{"a": 1}"#, "[General]\nLanguage=en"] {
            assert_eq!(read(text).map(|_| ()), Err(ListError::UnknownFormat), "{text}");
        }
        let many = json!(vec![json!({ "command": "/bin/sh" }); MAX_LISTED + 1]);
        assert_eq!(read(&many.to_string()).map(|_| ()), Err(ListError::TooManyEngines));
    }
}
