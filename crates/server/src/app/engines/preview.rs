//! What is run for the text that the user enters as an engine.

use std::collections::BTreeMap;
use std::env;
use std::path::{MAIN_SEPARATOR, Path};

use crate::engine::{is_program, not_a_program};
use crate::wire::{Answer, ApiError, EngineEntry, EngineSource, ErrorCode};

/// Parses an address, a path, or a command line with the quoting of a shell.
pub(in crate::app) fn preview(text: &str) -> Result<Answer, ApiError> {
    let text = text.trim();
    let entry = |source| Answer::Preview {
        entry: EngineEntry { name: String::new(), source, protocol: None },
    };
    if let Some(address) = text.strip_prefix("tcp://") {
        return Ok(entry(EngineSource::Tcp { address: address.to_owned() }));
    }
    let program = |path: &str, args: &[String]| EngineSource::Program {
        path: path.to_owned(),
        args: args.to_vec(),
        dir: None,
        env: BTreeMap::new(),
    };
    if is_program(Path::new(text)) {
        return Ok(entry(program(text, &[])));
    }
    let tokens = shlex::split(text).unwrap_or_default();
    let Some((first, args)) = tokens.split_first() else {
        return Err(ApiError::invalid_request(ErrorCode::IncompleteCommand));
    };
    let found = if first.contains('/') || first.contains(MAIN_SEPARATOR) {
        Some(first.clone())
    } else {
        let path = env::var_os("PATH").unwrap_or_default();
        let found = env::split_paths(&path).map(|dir| dir.join(first)).find(|it| is_program(it));
        found.and_then(|path| path.to_str().map(str::to_owned))
    };
    match found.filter(|path| is_program(Path::new(path))) {
        Some(path) => Ok(entry(program(&path, args))),
        None => Err(not_a_program(first)),
    }
}
