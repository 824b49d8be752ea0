//! What real engines were received to say is read without loss.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs};

use readyok_protocol::{Command, Diagnostic, Dialect, Observer, Reply, decode};

use crate::cases::unescaped;
use crate::laws;

const ODDITIES: &str = include_str!("data/corpus.txt");

/// A known diagnostic of an engine. See the head of the table.
#[derive(Debug)]
struct Oddity<'a> {
    transcript: &'a str,
    kind: &'a str,
    line: &'a str,
}

fn oddities() -> Vec<Oddity<'static>> {
    let (mut oddities, mut has_reason) = (Vec::new(), false);
    for entry in ODDITIES.lines() {
        if entry.is_empty() || entry.starts_with('#') {
            has_reason = entry.starts_with('#');
            continue;
        }
        assert!(has_reason, "{entry} has no reason");
        let mut parts = entry.splitn(3, ' ');
        let (transcript, kind) = (parts.next().unwrap(), parts.next().unwrap());
        oddities.push(Oddity { transcript, kind, line: parts.next().unwrap_or("") });
    }
    oddities
}

impl Oddity<'_> {
    fn covers(&self, transcript: &str, kind: &str, line: &[u8]) -> bool {
        let is_line = match self.line.strip_suffix('*') {
            Some(start) => line.starts_with(&unescaped(start)),
            None => line == unescaped(self.line),
        };
        transcript.starts_with(self.transcript) && kind == self.kind && is_line
    }
}

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/transcripts");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "txt"));
    paths.sort();
    paths
}

#[test]
fn every_line_of_every_transcript_is_read_without_loss() {
    let oddities = oddities();
    let mut used = vec![false; oddities.len()];
    let (mut lines, mut unexpected) = (0, Vec::new());
    for path in transcripts() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let session = fs::read_to_string(&path).unwrap();
        let dialect =
            if session.contains("\n# dialect: usi\n") { Dialect::Usi } else { Dialect::Uci };
        for entry in session.lines() {
            let Some((from_client, text)) = said(entry) else { continue };
            lines += 1;
            let line = unescaped(text);
            for kind in odd_kinds(&line, from_client, dialect) {
                match oddities.iter().position(|it| it.covers(name, &kind, &line)) {
                    Some(index) => used[index] = true,
                    None => unexpected.push(format!("{name} {kind} {text}")),
                }
            }
        }
    }
    assert!(6_000 < lines, "{lines} lines are not the transcripts");
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
    for (oddity, used) in oddities.iter().zip(used) {
        assert!(used, "no longer heard: {oddity:?}");
    }
}

/// The engines that lose an `isready` during a search.
const LOSE_PINGS: [&str; 3] = ["glaurung-infinite", "sjaakii-infinite", "sjaakii-usi-infinite"];

#[test]
fn of_the_rules_that_no_order_decides_real_engines_break_those_that_are_known() {
    let mut broken = Vec::new();
    for path in transcripts() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        // In these the client violates the protocol on purpose.
        if name.ends_with("-unexpected") {
            continue;
        }
        let session = fs::read_to_string(&path).unwrap();
        let dialect =
            if session.contains("\n# dialect: usi\n") { Dialect::Usi } else { Dialect::Uci };
        let mut observer = Observer::new(dialect);
        // Transcripts tell no times.
        let mut now = Duration::ZERO;
        for entry in session.lines() {
            let Some((from_client, text)) = said(entry) else { continue };
            let bytes = unescaped(text);
            let (line, _) = decode(&bytes);
            now += Duration::from_secs(1);
            let violations = if from_client {
                observer.observe_command(&Command::read(&line, dialect).value, now)
            } else {
                observer.observe_reply(&Reply::read(&line, dialect).value, now)
            };
            let told = violations.into_iter().filter(|it| !it.rule.is_ordering());
            broken.extend(told.map(|it| format!("{name} {:?}: {text}", it.rule)));
        }
        let owed = observer.end_of_output().into_iter();
        broken.extend(owed.map(|it| format!("{name} {:?}", it.rule)));
    }
    assert_eq!(broken, LOSE_PINGS.map(|name| format!("{name} IsReadyUnanswered")));
}

/// Who sent what, in an entry of a transcript. `None` for a remark.
fn said(entry: &str) -> Option<(bool, &str)> {
    match entry.split_at_checked(1)? {
        (">", text) => Some((true, text.strip_prefix(' ').unwrap_or(text))),
        ("<", text) => Some((false, text.strip_prefix(' ').unwrap_or(text))),
        _ => None,
    }
}

/// Reads a line, and returns what is odd about it: the kinds of its diagnostics, `Unknown` if it is kept
/// as text, `Rewritten` if tokens of it are not written again.
fn odd_kinds(bytes: &[u8], from_client: bool, dialect: Dialect) -> Vec<String> {
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

/// Whether each token that no diagnostic is about is written again, and nothing else if there are none.
fn is_accounted_for(line: &str, diagnostics: &[Diagnostic], written: &str) -> bool {
    let mut rest: Vec<&str> = written.split_ascii_whitespace().collect();
    let mut blank = line.to_owned();
    for diagnostic in diagnostics {
        blank.replace_range(diagnostic.span.clone(), &" ".repeat(diagnostic.span.len()));
    }
    let all_found = blank.split_ascii_whitespace().all(|token| {
        let found = rest.iter().position(|it| *it == token);
        found.is_some_and(|index| {
            rest.swap_remove(index);
            true
        })
    });
    all_found && (rest.is_empty() || !diagnostics.is_empty())
}
