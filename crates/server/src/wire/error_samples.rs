//! Failures of engines, warnings of matches, and errors of results and of the library have the same texts on the terminal
//! and on the page.
//!
//! The samples are generated from the declared variants. `web/src/i18n/samples.test.ts` compares the texts of the page.

use std::fmt;

use readyok_arena::result::{EngineFailure, WarningKind};
use readyok_arena::store::{StoreDefect, StoreError};
use readyok_client::{EngineFailureKind, Exit, ExitCause, ProcessStatus};
use readyok_library::LibraryDefect;
use readyok_protocol::{OptionError, Rule};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ErrorInfo;
use super::typescript::{check, snake_case};
use crate::errors::{engine_failure, store_error, warning};
use crate::store as server;

/// An external text with characters that a terminal or a page could interpret.
const EXTERNAL: &str = "C:\\a \"b\" <i>{cause}</i> `c` \u{1b}[2J\u{202e}\td";

/// One value of each declared variant. A variant takes its fields from the first of the samples that has them.
fn all<T: DeserializeOwned + Serialize>(texts: &[(&str, &str)], samples: &[Value]) -> Vec<T> {
    let value = |name: &str| {
        let name = snake_case(name).replace('_', "-");
        let read = samples.iter().find_map(|fields| {
            let mut stored = fields.clone();
            stored["kind"] = name.clone().into();
            stored["code"] = name.replace('-', "_").into();
            serde_json::from_value(stored).ok()
        });
        let read: T = read.unwrap_or_else(|| panic!("the samples lack a field of {name}"));
        let written = serde_json::to_value(&read).expect("it is serializable");
        let tag = written["kind"].as_str().or_else(|| written["code"].as_str());
        assert_eq!(tag.map(|tag| tag.replace('_', "-")), Some(name));
        read
    };
    texts.iter().map(|(name, _)| value(name)).collect()
}

fn failures() -> Vec<EngineFailure> {
    let sample = |value: Value| {
        json!({
            "overrun_ms": 12, "name": EXTERNAL, "option": EXTERNAL, "value": value,
            "min": null, "max": 9, "choices": ["a", EXTERNAL],
        })
    };
    let samples = [sample(EXTERNAL.into()), sample(12.into())];
    let kinds = [EngineFailureKind::TEXTS, OptionError::TEXTS].concat();
    let kinds: Vec<EngineFailureKind> = all(&kinds, &samples);
    let with_details = kinds.iter().map(|kind| EngineFailure {
        timeout_ms: Some(2500),
        exit: Some(Exit::code(3)),
        last_stderr_line: Some(EXTERNAL.to_owned()),
        ..EngineFailure::new(kind.clone()).with_message(EXTERNAL)
    });
    let causes = ExitCause::TEXTS.iter().map(|(name, _)| {
        let cause = serde_json::from_value(snake_case(name).into());
        Some(cause.expect("it is the name of a cause"))
    });
    let causes: Vec<Option<ExitCause>> = causes.chain([None]).collect();
    let (exception, plain) = (ProcessStatus::Code(-1_073_741_819), ProcessStatus::Code(3));
    let statuses = [exception, plain, ProcessStatus::Signal(11), ProcessStatus::Unknown];
    let exits = statuses.into_iter().flat_map(|status| {
        causes.iter().map(move |cause| EngineFailure::exited(Exit { status, cause: *cause }))
    });
    kinds.iter().cloned().map(EngineFailure::new).chain(with_details).chain(exits).collect()
}

fn warnings() -> Vec<WarningKind> {
    let closed = EngineFailure {
        last_stderr_line: Some(EXTERNAL.to_owned()),
        ..EngineFailure::exited(Exit::code(3))
    };
    let samples = [
        json!(closed),
        json!({ "kind": "missing-value", "option": EXTERNAL }),
        json!(Rule::NoName),
    ];
    let samples = samples.map(|cause| {
        json!({
            "name": EXTERNAL, "value": EXTERNAL, "message": EXTERNAL, "text": EXTERNAL, "cause": cause,
            "termination": "fifty-moves", "plies": 3, "found": 2, "opponent": 3, "own": -2, "percent": 150,
        })
    });
    all(WarningKind::TEXTS, &samples)
}

fn store_errors() -> Vec<StoreError> {
    let sample = json!({
        "operation": "open", "error": EXTERNAL, "why": EXTERNAL, "version": 4, "supported": 3,
        "differences": ["a", "b"], "variables": ["a", "b"], "files": ["a", "b"],
    });
    let defects: Vec<StoreDefect> = all(StoreDefect::TEXTS, &[sample]);
    let error = |(line, defect)| StoreError { path: "a.match".into(), line, defect };
    [None, Some(3)].into_iter().cycle().zip(defects).map(error).collect()
}

fn library_defects() -> Vec<LibraryDefect> {
    let sample = json!({ "found": 6, "expected": 5 });
    all(LibraryDefect::TEXTS, &[sample])
}

/// The error for the page, and the text of the terminal.
fn sample(error: &ErrorInfo, terminal: &impl fmt::Display) -> Value {
    let text = terminal.to_string();
    let sent = serde_json::to_value(error).expect("it is serializable");
    let read: ErrorInfo = serde_json::from_value(sent.clone()).expect("it is an error");
    for error in [error, &read] {
        assert_eq!(error.to_string(), text);
    }
    json!({ "error": sent, "text": text })
}

#[test]
fn terminal_and_page_have_the_same_texts() {
    let failures =
        failures().into_iter().map(|failure| sample(&engine_failure(&failure), &failure));
    let warnings =
        warnings().into_iter().map(|kind| sample(&warning(None, Some(&kind), ""), &kind));
    let results = store_errors().into_iter().map(|error| sample(&store_error(&error), &error));
    // A terminal also names the file.
    let library = library_defects().into_iter().map(|defect| {
        let error = server::StoreError::Library(defect.clone().into());
        sample(&server::library_error(&error).into(), &defect)
    });
    let samples: Vec<Value> = failures.chain(warnings).chain(results).chain(library).collect();
    let samples = serde_json::to_string_pretty(&samples).expect("it is serializable");
    check("api/error-samples.json", &(samples + "\n"));
}
