//! The recorded output of real engines is read without loss.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs};

use readyok_protocol::{Command, Diagnostic, Dialect, Observer, Reply, decode};

use crate::cases::unescaped;
use crate::laws;

const KNOWN: &str = include_str!("data/corpus.txt");

/// A known diagnostic of an engine. See the comments of the table.
#[derive(Debug)]
struct KnownDiagnostic<'a> {
    transcript: &'a str,
    kind: &'a str,
    line: &'a str,
}

fn known() -> Vec<KnownDiagnostic<'static>> {
    let (mut known, mut has_reason) = (Vec::new(), false);
    for entry in KNOWN.lines() {
        if entry.is_empty() || entry.starts_with('#') {
            has_reason = entry.starts_with('#');
            continue;
        }
        assert!(has_reason, "{entry} has no reason");
        let mut parts = entry.splitn(3, ' ');
        let (transcript, kind) = (parts.next().unwrap(), parts.next().unwrap());
        known.push(KnownDiagnostic { transcript, kind, line: parts.next().unwrap_or("") });
    }
    known
}

impl KnownDiagnostic<'_> {
    fn covers(&self, transcript: &str, kind: &str, line: &[u8]) -> bool {
        let is_line = match self.line.strip_suffix('*') {
            Some(start) => line.starts_with(&unescaped(start)),
            None => line == unescaped(self.line),
        };
        transcript.starts_with(self.transcript) && kind == self.kind && is_line
    }
}

fn transcripts() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/transcripts");
    let mut paths: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths
}

#[test]
fn transcripts_are_read_without_loss() {
    let known = known();
    let mut used = vec![false; known.len()];
    let (mut lines, mut unexpected) = (0, Vec::new());
    for path in transcripts() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let session = fs::read_to_string(&path).unwrap();
        let dialect =
            if session.contains("\n# dialect: usi\n") { Dialect::Usi } else { Dialect::Uci };
        for entry in session.lines() {
            let Some((from_client, text)) = message(entry) else { continue };
            lines += 1;
            let line = unescaped(text);
            for kind in diagnostic_kinds(&line, from_client, dialect) {
                match known.iter().position(|known| known.covers(name, &kind, &line)) {
                    Some(index) => used[index] = true,
                    None => unexpected.push(format!("{name} {kind} {text}")),
                }
            }
        }
    }
    assert!(6_000 < lines, "{lines} lines are not the transcripts");
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
    for (entry, used) in known.iter().zip(used) {
        assert!(used, "no longer in the transcripts: {entry:?}");
    }
}

/// Engines that lose an `isready` during a search.
const LOSE_PINGS: [&str; 3] = ["glaurung-infinite", "sjaakii-infinite", "sjaakii-usi-infinite"];

/// Engines that comment on commands: Lishogi-Bot#136 fails at such a line.
const PRINT_TEXT: [&str; 7] = [
    "fairy-stockfish-usi-handshake UnknownLine: No such option: USI_Ponder",
    "fairy-stockfish-usi-handshake UnknownLine: No such option: USI_Hash",
    "glaurung-infinite UnknownLine: Unknown command: stop",
    "glaurung-mate UnknownLine: Unknown command: stop",
    "glaurung-search UnknownLine: Unknown command: stop",
    "sjaakii-usi-handshake UnknownLine: Error (Illegal move or unknown command): setoption name USI_Ponder value true",
    "sjaakii-usi-handshake UnknownLine: Error (Illegal move or unknown command): setoption name USI_Hash value 32",
];

#[test]
fn transcripts_violate_only_known_content_rules() {
    let mut broken = Vec::new();
    for path in transcripts() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        // There the client is malformed on purpose.
        if name.ends_with("-unexpected") {
            continue;
        }
        let session = fs::read_to_string(&path).unwrap();
        let dialect =
            if session.contains("\n# dialect: usi\n") { Dialect::Usi } else { Dialect::Uci };
        let mut observer = Observer::new(dialect);
        // Transcripts contain no times.
        let mut now = Duration::ZERO;
        for entry in session.lines() {
            let Some((from_client, text)) = message(entry) else { continue };
            let bytes = unescaped(text);
            let (line, _) = decode(&bytes);
            now += Duration::from_secs(1);
            let violations = if from_client {
                observer.observe_command(&Command::read(&line, dialect).value, now)
            } else {
                observer.observe_reply(&Reply::read(&line, dialect).value, now)
            };
            let content = violations.into_iter().filter(|violation| !violation.rule.is_ordering());
            broken.extend(content.map(|violation| format!("{name} {:?}: {text}", violation.rule)));
        }
        let owed = observer.end_of_output().into_iter();
        broken.extend(owed.map(|violation| format!("{name} {:?}", violation.rule)));
    }
    let is_text = |line: &String| line.contains(" UnknownLine: ");
    let (texts, broken): (Vec<_>, Vec<_>) = broken.into_iter().partition(is_text);
    assert_eq!(broken, LOSE_PINGS.map(|name| format!("{name} IsReadyUnanswered")));
    assert_eq!(texts, PRINT_TEXT);
}

/// The sender and the text of a transcript entry. `None` for a remark.
fn message(entry: &str) -> Option<(bool, &str)> {
    match entry.split_at_checked(1)? {
        (">", text) => Some((true, text.strip_prefix(' ').unwrap_or(text))),
        ("<", text) => Some((false, text.strip_prefix(' ').unwrap_or(text))),
        _ => None,
    }
}

/// Reads a line and returns the kinds of its diagnostics, `Unknown` if it is stored as text, `Rewritten`
/// if tokens are not written back.
fn diagnostic_kinds(bytes: &[u8], from_client: bool, dialect: Dialect) -> Vec<String> {
    let (line, undecodable) = decode(bytes);
    let (is_unknown, mut diagnostics, written) = if from_client {
        let read = Command::read(&line, dialect);
        let is_unknown = matches!(read.value, Command::Unknown(_));
        (is_unknown, read.diagnostics, laws::command(&line, dialect))
    } else {
        let read = Reply::read(&line, dialect);
        let is_unknown = matches!(read.value, Reply::Unknown(_));
        (is_unknown, read.diagnostics, laws::reply(&line, dialect))
    };
    if is_unknown {
        return vec!["Unknown".to_owned()];
    }
    diagnostics.extend(undecodable);
    let mut kinds: Vec<_> = diagnostics.iter().map(|diagnostic| spelled(diagnostic.kind)).collect();
    kinds.dedup();
    if !is_accounted_for(&line, &diagnostics, &written.unwrap()) {
        kinds.push("Rewritten".to_owned());
    }
    kinds
}

fn spelled(kind: impl fmt::Debug) -> String {
    format!("{kind:?}")
}

/// Whether each token without a diagnostic is written back, and nothing else.
fn is_accounted_for(line: &str, diagnostics: &[Diagnostic], written: &str) -> bool {
    let mut rest: Vec<&str> = written.split_ascii_whitespace().collect();
    let mut blank = line.to_owned();
    for diagnostic in diagnostics {
        blank.replace_range(diagnostic.span.clone(), &" ".repeat(diagnostic.span.len()));
    }
    let all_found = blank.split_ascii_whitespace().all(|token| {
        let found = rest.iter().position(|other| *other == token);
        found.is_some_and(|index| {
            rest.swap_remove(index);
            true
        })
    });
    all_found && (rest.is_empty() || !diagnostics.is_empty())
}
