//! Input lines with their terminators.

use std::io::{self, Read as _};
use std::sync::mpsc::Sender;

/// A line.
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) end: End,
}

/// The terminator of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    Feed,
    Return,
    Both,
    /// The end of the input.
    Nothing,
}

/// Reads to the end of input. With the fault, each chunk is parsed as complete lines.
pub(crate) fn read(lines: &Sender<Line>, fragmented: bool) {
    let mut input = io::stdin().lock();
    let mut chunk = vec![0; 1 << 16];
    let mut rest = Vec::new();
    let mut after_return = false;
    loop {
        let count = match input.read(&mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        let mut bytes = &chunk[..count];
        if after_return && bytes.first() == Some(&b'\n') {
            bytes = &bytes[1..];
        }
        after_return = bytes.last() == Some(&b'\r');
        rest.extend_from_slice(bytes);
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (end, length) = match (rest[at], rest.get(at + 1)) {
                (b'\r', Some(b'\n')) => (End::Both, 2),
                (b'\r', _) => (End::Return, 1),
                _ => (End::Feed, 1),
            };
            let text = String::from_utf8_lossy(&rest[..at]).into_owned();
            rest.drain(..at + length);
            if lines.send(Line { text, end }).is_err() {
                return;
            }
        }
        if fragmented && !rest.is_empty() {
            let text = String::from_utf8_lossy(&rest).into_owned();
            rest.clear();
            if lines.send(Line { text, end: End::Feed }).is_err() {
                return;
            }
        }
    }
    if !rest.is_empty() {
        let text = String::from_utf8_lossy(&rest).into_owned();
        // Without a receiver the session has ended.
        let _ = lines.send(Line { text, end: End::Nothing });
    }
}
