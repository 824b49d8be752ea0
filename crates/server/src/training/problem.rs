//! Problems of files, and the lines of a file with its errors.

use std::io::{BufRead, BufReader, Read};

use super::Task;
use crate::errors::io_error;
use crate::wire::{ErrorCode, ErrorInfo, ErrorSubject, ExerciseKind, Variant};

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 120;
/// Maximum number of reported errors.
pub(super) const MAX_ERRORS: usize = 100;
/// Maximum length of a line in bytes.
const MAX_LINE: usize = 16 << 10;
/// The size of the buffer of a file in bytes.
const BUFFER: usize = 64 << 10;

/// The name without control characters, cut at its maximum length.
pub(super) fn shortened(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect()
}

/// A problem of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) key: i64,
    pub(crate) variant: Variant,
    pub(crate) kind: ExerciseKind,
    /// The task in one of its forms in the database.
    pub(crate) stored: String,
    pub(crate) rating: Option<u16>,
    pub(crate) themes: Vec<String>,
}

impl Problem {
    /// A problem without themes has those of its mate, with their names at Lichess.
    pub(crate) fn new(task: &Task, rating: Option<u16>, mut themes: Vec<String>) -> Option<Self> {
        if themes.is_empty() && task.kind == ExerciseKind::Mate {
            themes.push("mate".to_owned());
            themes.extend(task.mate.map(|mate| format!("mateIn{mate}")));
        }
        let stored = serde_json::to_string(task).ok()?;
        let Task { variant, kind, .. } = *task;
        Some(Self { key: task.key(), variant, kind, stored, rating, themes })
    }
}

/// What was not imported of a file.
#[derive(Debug, Default)]
pub(crate) struct Omitted {
    /// The number of entries that are no problems.
    pub(crate) skipped: u32,
    pub(crate) errors: Vec<ErrorInfo>,
    pub(crate) total_errors: u32,
}

impl Omitted {
    pub(super) fn error(&mut self, line: u64, error: ErrorInfo) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error.with(|context| context.line = Some(line)));
        }
        self.total_errors = self.total_errors.saturating_add(1);
    }
}

/// Passes the lines of a text with their numbers to `visit` until it returns false. Lines that are too long, and the
/// failure of the source, are errors.
pub(super) fn each_line(
    source: impl Read,
    omitted: &mut Omitted,
    mut visit: impl FnMut(u64, &str, &mut Omitted) -> bool,
) {
    let mut source = BufReader::with_capacity(BUFFER, source);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let limit = (MAX_LINE + 1) as u64;
        match source.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) if MAX_LINE < line.len() => {
                omitted.error(number, ErrorCode::TooLong { subject: ErrorSubject::Line }.into());
                if let Err(error) = source.skip_until(b'\n') {
                    return omitted.error(number, io_error(&error).into());
                }
            }
            Ok(_) => {
                if !visit(number, &String::from_utf8_lossy(&line), omitted) {
                    return;
                }
            }
            Err(error) => return omitted.error(number, io_error(&error).into()),
        }
    }
}
