//! The log of a process: the lines of both parties, with protocol violations.

use std::collections::VecDeque;
use std::time::Duration;

use readyok_protocol::{
    Command, Diagnostic, Dialect, Language, Observer, Party, Reply, Severity, Status, Violation,
};

use crate::time::{Moment, date};
use crate::wire::{Approval, Breach, BreachText, LogLine, Speaker};

/// Maximum number of lines in memory.
const KEPT: usize = 10_000;
/// Maximum number of lines in a snapshot.
const SHOWN: usize = 2000;
/// Maximum length of a line, in characters.
const MAX_LINE: usize = 4096;
/// Maximum number of reported violations of a line.
const MAX_BREACHES: usize = 16;

/// The log of one process.
#[derive(Debug)]
pub(crate) struct Log {
    lines: VecDeque<LogLine>,
    total: u64,
    observer: Observer,
    breaches: u32,
    registration: Option<Approval>,
    copy_protection: Option<Approval>,
    /// Whether the next line of the client is a line of the user.
    user_speaks: bool,
}

/// The lines after a known one.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) lines: Vec<LogLine>,
    pub(crate) skipped: u64,
    pub(crate) total: u64,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            lines: VecDeque::new(),
            total: 0,
            observer: Observer::new(Dialect::default()),
            breaches: 0,
            registration: None,
            copy_protection: None,
            user_speaks: false,
        }
    }
}

impl Log {
    /// Adds a line of the client or the engine.
    pub(crate) fn add(&mut self, side: Party, line: &str, at: Moment) {
        let time = Duration::from_millis(at);
        let (notes, violations) = match side {
            Party::Client => {
                if let Some(dialect) = self.observer.other_handshake(line) {
                    // The handshake of a new process in another dialect.
                    self.observer = Observer::new(dialect);
                }
                let reading = Command::read(line, self.observer.protocol_state().dialect());
                (reading.diagnostics, self.observer.observe_command(&reading.value, time))
            }
            Party::Engine => {
                let reading = Reply::read(line, self.observer.protocol_state().dialect());
                match reading.value {
                    Reply::Registration(status) => self.registration = Some(approval(status)),
                    Reply::CopyProtection(status) => self.copy_protection = Some(approval(status)),
                    _ => (),
                }
                (reading.diagnostics, self.observer.observe_reply(&reading.value, time))
            }
        };
        let mut breaches: Vec<Breach> = violations.into_iter().map(broken).collect();
        breaches.extend(notes.iter().map(|note| form(note, line)));
        breaches.truncate(MAX_BREACHES);
        let by = match side {
            Party::Client if std::mem::take(&mut self.user_speaks) => Speaker::User,
            Party::Client => Speaker::Client,
            Party::Engine => Speaker::Engine,
        };
        if side == Party::Engine && !breaches.is_empty() {
            self.breaches = self.breaches.saturating_add(1);
        }
        self.push(by, line, breaches, at);
    }

    /// Marks the next line of the client as a line of the user.
    pub(crate) fn user_speaks(&mut self) {
        self.user_speaks = true;
    }

    /// Adds a line of the error output.
    pub(crate) fn add_error(&mut self, line: &str, at: Moment) {
        self.push(Speaker::Stderr, line, Vec::new(), at);
    }

    fn push(&mut self, by: Speaker, line: &str, breaches: Vec<Breach>, at: Moment) {
        self.total += 1;
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        let text = printable(line);
        let at = date(at);
        self.lines.push_back(LogLine { number: self.total, at, by, text, breaches });
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn breaches(&self) -> u32 {
        self.breaches
    }

    pub(crate) fn registration(&self) -> Option<Approval> {
        self.registration
    }

    pub(crate) fn copy_protection(&self) -> Option<Approval> {
        self.copy_protection
    }

    /// All stored lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &LogLine> {
        self.lines.iter()
    }

    /// The printable part of a line.
    pub(crate) fn after(&self, number: u64) -> Tail {
        let new = usize::try_from(self.total.saturating_sub(number)).unwrap_or(usize::MAX);
        let shown = new.min(SHOWN).min(self.lines.len());
        let lines = self.lines.iter().skip(self.lines.len() - shown).cloned().collect();
        let skipped = u64::try_from(new - shown).unwrap_or(u64::MAX);
        Tail { lines, skipped, total: self.total }
    }
}

fn approval(status: Status) -> Approval {
    match status {
        Status::Checking => Approval::Checking,
        Status::Ok => Approval::Ok,
        Status::Error => Approval::Error,
    }
}

fn broken(violation: Violation) -> Breach {
    let rule = violation.rule;
    let text = |language| BreachText {
        text: rule.text_in(language).to_owned(),
        clause: rule.clause_in(language).to_owned(),
    };
    Breach {
        serious: rule.severity() == Severity::Must,
        english: text(Language::English),
        japanese: text(Language::Japanese),
        span: None,
    }
}

fn form(note: &Diagnostic, line: &str) -> Breach {
    let place = |byte: usize| {
        let before = line.get(..byte).unwrap_or(line);
        u32::try_from(printable(before).chars().count()).unwrap_or(u32::MAX)
    };
    let text = |language| BreachText {
        text: note.kind.text_in(language).to_owned(),
        clause: note.kind.clause_in(language).to_owned(),
    };
    Breach {
        serious: false,
        english: text(Language::English),
        japanese: text(Language::Japanese),
        span: Some((place(note.span.start), place(note.span.end))),
    }
}

/// A line for display: control characters are escaped, and a long line is truncated.
pub(crate) fn printable(line: &str) -> String {
    let mut text = String::with_capacity(line.len().min(MAX_LINE));
    for letter in line.chars().take(MAX_LINE) {
        if letter.is_control() && letter != '\t' {
            text.extend(letter.escape_default());
        } else {
            text.push(letter);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(lines: &[&str]) -> Log {
        let mut log = Log::default();
        for line in lines {
            let (sign, text) = line.split_at(2);
            let side = if sign == "> " { Party::Client } else { Party::Engine };
            log.add(side, text, 7);
        }
        log
    }

    #[test]
    fn a_violation_has_its_line_and_clause() {
        let log = log_of(&["> uci", "< id name X", "< uciok", "< bestmove e2e4", "> go infinite"]);
        let marked: Vec<_> =
            log.lines().filter(|line| !line.breaches.is_empty()).map(|line| line.number).collect();
        assert_eq!(marked, [4, 5]);
        assert_eq!(log.breaches(), 1);
        assert!(
            log.lines()
                .all(|line| line.breaches.iter().all(|breach| !breach.english.clause.is_empty()))
        );
    }

    #[test]
    fn a_violation_is_described_in_both_languages() {
        let log = log_of(&["> uci", "< id name X", "< uciok", "< bestmove e2e4", "< info depth x"]);
        let texts: Vec<_> = log
            .lines()
            .flat_map(|line| &line.breaches)
            .map(|line| (line.english.text.as_str(), line.japanese.text.as_str()))
            .collect();
        assert!(texts.contains(&(
            "`bestmove` answers `go`, once",
            "`bestmove` は `go` に対して一度だけ返す"
        )));
        assert!(texts.contains(&("not a number", "数ではない")), "{texts:?}");
    }

    #[test]
    fn lines_of_the_user_are_checked_against_the_options() {
        let log = log_of(&[
            "> uci",
            "< id name X",
            "< option name Hash type spin default 1 min 1 max 8",
            "< uciok",
            "> setoption name Hash value 9",
            "> setoption name Threads value 2",
            "> setoption name Hash value 8",
        ]);
        let marked = log.lines().filter(|line| line.breaches.iter().any(|breach| breach.serious));
        assert_eq!(marked.map(|line| line.number).collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn the_registration_status_is_read_from_the_log() {
        let log = log_of(&["> uci", "< id name X", "< uciok", "< registration error"]);
        assert_eq!(log.registration(), Some(Approval::Error));
        assert_eq!(log.copy_protection(), None);
    }

    #[test]
    fn the_log_is_bounded_and_counts_omitted_lines() {
        let mut log = log_of(&["> uci", "< id name X", "< uciok"]);
        for number in 0..KEPT + 100 {
            log.add(Party::Engine, &format!("info string {number}"), 7);
        }
        assert_eq!(log.lines().count(), KEPT);
        let tail = log.after(3);
        assert_eq!((tail.lines.len(), tail.skipped), (SHOWN, (KEPT + 100 - SHOWN) as u64));
        assert_eq!(log.after(log.total()).lines, []);
    }

    #[test]
    fn control_characters_are_escaped() {
        let log = log_of(&["< id name \u{1b}[31m<b>X"]);
        let line = log.lines().next().expect("a line");
        assert_eq!(line.text, "id name \\u{1b}[31m<b>X");
    }
}
