//! The transcript of a session, the searches in it, and excerpts that reproduce a failure.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use readyok_protocol::translation::display_text;
use readyok_protocol::{
    BestMove, Command, DiagnosticKind, Dialect, Go, Info, Party, Reply, Rule, Violation,
};
use readyok_rules::session::{Detail, Finding, Judge, PvFault, SentPosition};
use readyok_rules::{CastlingForm, Game, Position};

use crate::format;
use crate::message::{Message, message};
use crate::spec::Observation;

/// Maximum number of recorded lines.
const MAX_ENTRIES: usize = 20_000;

/// Marks the end of input.
pub(crate) const INPUT_ENDS: &str = "(the input ends)";

/// A session with an engine, from its start.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a session")]
pub(crate) struct Transcript {
    pub(crate) dialect: Dialect,
    /// The client conformed, so that violations of the engine count.
    pub(crate) conforming: bool,
    /// The session ended normally.
    pub(crate) complete: bool,
    closed: bool,
    pub(crate) entries: Vec<TranscriptEntry>,
    /// The last lines of the error output of an engine that has exited.
    pub(crate) errors: Vec<String>,
    /// The first entry of the engine that ends with a carriage return only.
    pub(crate) lone_return: Option<usize>,
    /// The engine has exited during the test.
    pub(crate) has_exited: bool,
    /// A line of the client was written in parts.
    pub(crate) is_fragmented: bool,
    /// Several lines of the client are one write.
    pub(crate) is_batched: bool,
    searches: OnceLock<Vec<Search>>,
    judgement: OnceLock<Judgement>,
}

/// The findings of the judge of sessions, with the indexes of their entries.
#[derive(Clone, Debug)]
struct Judgement {
    judge: Judge,
    findings: Vec<(usize, Finding)>,
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct TranscriptEntry {
    /// Time since the start of the engine.
    pub(crate) at: Duration,
    pub(crate) side: Party,
    pub(crate) text: String,
    /// The sent bytes, if they are not the text and a line feed.
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) violation: Option<Violation>,
    pub(crate) notes: Vec<DiagnosticKind>,
}

/// Options that affect the output.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent options of the protocol")]
pub(crate) struct Settings {
    pub(crate) lines: u32,
    /// The strength is limited.
    pub(crate) limited: bool,
    pub(crate) wdl: bool,
    pub(crate) current_line: bool,
    pub(crate) refutations: bool,
}

/// A search and its recorded output.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// The start position, if its game is supported.
    pub(crate) position: Option<Position>,
    pub(crate) go: Go<'static>,
    /// Time of `go`.
    pub(crate) begin: Duration,
    pub(crate) settings: Settings,
    /// `info` lines with the indexes of their entries.
    pub(crate) infos: Vec<(usize, Info<'static>)>,
    pub(crate) best: Option<(usize, BestMove<'static>)>,
    /// The client sent `stop`.
    pub(crate) stopped: bool,
}

impl Transcript {
    pub(crate) fn new(dialect: Dialect, conforming: bool) -> Self {
        Self {
            dialect,
            conforming,
            complete: true,
            closed: false,
            entries: Vec::new(),
            errors: Vec::new(),
            lone_return: None,
            has_exited: false,
            is_fragmented: false,
            is_batched: false,
            searches: OnceLock::new(),
            judgement: OnceLock::new(),
        }
    }

    /// A transcript that may be incomplete.
    pub(crate) fn with_complete(self, complete: bool) -> Self {
        Self { complete, ..self }
    }

    /// The lines of the client.
    pub(crate) fn commands(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.entries
            .iter()
            .filter(|entry| entry.side == Party::Client)
            .map(|entry| entry.text.as_str())
    }

    /// Stops recording, because further output belongs to no test.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    pub(crate) fn add(&mut self, entry: TranscriptEntry) {
        if !self.closed && self.entries.len() < MAX_ENTRIES {
            self.entries.push(entry);
        }
    }

    /// The transcript without an entry.
    pub(crate) fn without(mut self, at: usize) -> Self {
        if at < self.entries.len() {
            self.entries.remove(at);
        }
        self.lone_return = self.lone_return.filter(|other| *other != at);
        Self { searches: OnceLock::new(), ..self }
    }

    /// The parsed lines of the engine.
    pub(crate) fn replies(&self) -> impl Iterator<Item = (usize, &TranscriptEntry, Reply<'_>)> {
        let of_engine =
            self.entries.iter().enumerate().filter(|(_, entry)| entry.side == Party::Engine);
        of_engine.map(|(at, entry)| (at, entry, Reply::read(&entry.text, self.dialect).value))
    }

    /// The searches in order, without those with an unexpected `go`. Evaluated after the session.
    pub(crate) fn searches(&self) -> &[Search] {
        self.searches.get_or_init(|| self.read_searches())
    }

    /// The first entry that violates a rule, and the number of entries to which it applies.
    pub(crate) fn observe(&self, rule: Rule, side: Party) -> Observation {
        if rule.is_ordering() {
            return match self.first_violation(rule) {
                Some(at) => Err((at, self.violation(at, rule))),
                None => Ok(self.entries.iter().filter(|entry| entry.side == side).count()),
            };
        }
        let Judgement { judge, findings } = self.judgement();
        match findings.iter().find(|(_, finding)| finding.rule() == Some(rule)) {
            Some((at, finding)) => {
                let message = finding.detail().and_then(|detail| message_of(rule, detail));
                Err((*at, message.unwrap_or_else(|| self.violation(*at, rule))))
            }
            None => Ok(usize::try_from(judge.judged(rule)).unwrap_or(usize::MAX)),
        }
    }

    /// The first entry that violates a rule.
    pub(crate) fn first_violation(&self, rule: Rule) -> Option<usize> {
        if rule.is_ordering() {
            // Output during the end of a session was not judged.
            let is = |violation: &Violation| violation.rule == rule;
            return self.entries.iter().position(|entry| entry.violation.as_ref().is_some_and(is));
        }
        let mut findings = self.judgement().findings.iter();
        findings.find(|(_, finding)| finding.rule() == Some(rule)).map(|(at, _)| *at)
    }

    fn violation(&self, at: usize, rule: Rule) -> Message {
        let line = self.entries.get(at).map_or("", |entry| &entry.text);
        message!("line.violation", line = format::start(line), rule)
    }

    /// The judgement of all entries. Evaluated after the session.
    fn judgement(&self) -> &Judgement {
        self.judgement.get_or_init(|| {
            let (mut judge, mut findings) = (Judge::new(self.dialect), Vec::new());
            // Engines must ignore the unknown commands of the checks.
            judge.forbid_text();
            for (at, entry) in self.entries.iter().enumerate() {
                let found = match entry.side {
                    // An event is no line.
                    Party::Client if entry.bytes.as_ref().is_some_and(Vec::is_empty) => continue,
                    Party::Client => judge.command(&entry.text, entry.at),
                    Party::Engine => judge.reply(&entry.text, entry.at),
                };
                findings.extend(found.into_iter().map(|finding| (at, finding)));
            }
            Judgement { judge, findings }
        })
    }

    fn read_searches(&self) -> Vec<Search> {
        let mut done = Vec::new();
        let mut running: Option<Search> = None;
        let mut sent = SentPosition::new(self.dialect);
        let mut settings = Settings {
            lines: 1,
            limited: false,
            wdl: false,
            current_line: false,
            refutations: false,
        };
        for (at, entry) in self.entries.iter().enumerate() {
            match entry.side {
                Party::Client => match Command::read(&entry.text, self.dialect).value {
                    Command::SetOption(set) => {
                        let value = set.value.as_deref().unwrap_or_default();
                        let on = value.eq_ignore_ascii_case("true");
                        let is = |name| self.dialect.same_option(&set.name, name);
                        sent.set_option(&set);
                        if is("MultiPV") {
                            // The effect of an invalid value is undefined.
                            settings.lines = value.parse().unwrap_or(u32::MAX);
                        } else if is("UCI_LimitStrength") || is("USI_LimitStrength") {
                            settings.limited = on;
                        } else if is("UCI_ShowWDL") {
                            settings.wdl = on;
                        } else if is("UCI_ShowCurrLine") {
                            settings.current_line = on;
                        } else if is("UCI_ShowRefutations") {
                            settings.refutations = on;
                        }
                    }
                    // The judge reports an illegal position.
                    Command::Position(it) => drop(sent.set(&it)),
                    Command::Go(go) => {
                        running = Some(Search {
                            position: sent.position().cloned(),
                            go: go.into_owned(),
                            begin: entry.at,
                            settings,
                            infos: Vec::new(),
                            best: None,
                            stopped: false,
                        });
                    }
                    Command::Stop | Command::GameOver(_) => {
                        if let Some(search) = &mut running {
                            search.stopped = true;
                        }
                    }
                    _ => (),
                },
                Party::Engine => match Reply::read(&entry.text, self.dialect).value {
                    Reply::Info(info) => {
                        if let Some(search) = &mut running {
                            search.infos.push((at, info.into_owned()));
                        }
                    }
                    Reply::BestMove(best) => {
                        if let Some(mut search) = running.take() {
                            search.best = Some((at, best.into_owned()));
                            done.push(search);
                        }
                    }
                    Reply::Option(decl) => sent.declare(&decl),
                    Reply::Checkmate(_) => running = None,
                    _ => (),
                },
            }
        }
        done
    }
}

impl TranscriptEntry {
    /// A line without violation and diagnostics.
    pub(crate) fn new(at: Duration, side: Party, text: String) -> Self {
        Self { at, side, text, bytes: None, violation: None, notes: Vec::new() }
    }
}

/// The message about a violation, if the line does not show it.
fn message_of(rule: Rule, detail: &Detail) -> Option<Message> {
    Some(match (detail, rule) {
        (Detail::Form { kind, .. }, _) => {
            message!("line.diagnostic", note = kind, clause = Message::clause(*kind))
        }
        (Detail::Option(option), Rule::UndeclaredOption) => {
            message!("client.undeclared-option", option)
        }
        (Detail::Option(option), Rule::InvalidOptionValue) => {
            message!("client.invalid-value", option)
        }
        (Detail::Position(_), _) => message!("client.invalid-position"),
        (Detail::Move(error), Rule::IllegalSearchMove) => {
            message!("client.illegal-move", mv = &error.text)
        }
        (Detail::Move(error), _) => message!("bestmove.illegal", error),
        (Detail::PonderMove(error), _) => message!("bestmove.illegal-ponder", error),
        (Detail::NoMove(answer), _) => message!("bestmove.none", answer),
        (Detail::Pv(PvFault::Illegal(error)), _) => message!("pv.illegal", error),
        (Detail::Pv(PvFault::BeyondEnd { text, .. }), _) => message!("pv.beyond-end", mv = text),
        (Detail::OtherMove { expected, played }, _) => {
            message!("client.other-move", expected, played)
        }
        (Detail::Option(_) | Detail::Late { .. }, _) => return None,
    })
}

/// The game of a dialect.
pub(crate) trait GameOf {
    /// The game of `position startpos`.
    fn game(self) -> Game;
}

impl GameOf for Dialect {
    fn game(self) -> Game {
        match self {
            Self::Uci => Game::Chess,
            Self::Usi => Game::Shogi,
        }
    }
}

/// The required notation of a move, if the engine used another one.
pub(crate) fn canonical_move(position: &Position, token: &str) -> Option<String> {
    let form = position.game().castling_form();
    let form = match position.game() {
        Game::Chess | Game::Shogi => CastlingForm::KingMove,
        Game::Chess960 => form,
    };
    Some(position.parse_move(token).ok()?.to_uci(form))
}

/// Maximum length of a displayed line.
const MAX_SHOWN: usize = 400;

/// Maximum number of client lines before the failure.
const COMMANDS_SHOWN: usize = 24;

/// Maximum number of lines per search.
const LINES_SHOWN: u32 = 4;

/// Number of lines before and after the behavior of a mock engine.
const BEFORE: usize = 8;
const BEHIND: usize = 20;

/// Maximum length of a pasted line, including its line end: terminals truncate longer ones (`N_TTY_BUF_SIZE`).
const MAX_PASTED: usize = 4095;

/// A part of a transcript.
#[derive(Clone, Debug)]
pub(crate) struct Excerpt {
    /// The lines with times and directions.
    pub(crate) transcript: String,
    /// The input of the engine. `None` for clients.
    pub(crate) input: Option<Input>,
}

/// The input of an engine, for reproduction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Input {
    /// Lines to paste into the engine's input. Each ends in a line feed.
    Lines(String),
    /// A shell command whose output is piped into the engine, for bytes that cannot be typed or an end of input.
    Command(String),
}

impl Transcript {
    /// The shortest part of the transcript that reproduces an entry: the client's commands without earlier
    /// searches, and the relevant output of the engine. `None` means the last entry.
    pub(crate) fn excerpt(&self, about: Option<usize>) -> Excerpt {
        let last = about.unwrap_or_else(|| self.entries.len().saturating_sub(1));
        let entries = self.entries.get(..=last).unwrap_or(&self.entries);
        let from = match about {
            // A given entry belongs to one search. Without an entry, all searches may be relevant.
            Some(_) => {
                entries.iter().rposition(|entry| is_command(entry, &["position"])).unwrap_or(0)
            }
            None => recent(entries),
        };
        let first_ready = entries.iter().position(|entry| is_command(entry, &["isready"]));
        let lasting = ["uci", "usi", "setoption"];
        let relevant = self.relevant(entries);
        let shown = entries.iter().enumerate().filter(|&(at, entry)| match entry.side {
            Party::Client => from <= at || first_ready == Some(at) || is_command(entry, &lasting),
            Party::Engine => at == last || (from <= at && relevant.contains(&at)),
        });
        let shown: Vec<&TranscriptEntry> = shown.map(|(_, entry)| entry).collect();
        let sent = shown.iter().filter(|entry| entry.side == Party::Client);
        let searches = entries.iter().take(from).filter(|entry| is_command(entry, &["go"])).count();
        let mut transcript = formatted(shown.iter().copied());
        for line in self.errors.iter().filter(|_| about.is_none()) {
            let _ = writeln!(transcript, "        ! {line}");
        }
        if 0 < searches {
            // Earlier searches may affect the tables of the engine.
            let _ = writeln!(transcript, "        (other searches before it: {searches})");
        }
        Excerpt { transcript, input: input(sent.copied()) }
    }

    /// The lines before and after an entry, in both directions.
    pub(crate) fn around(&self, at: usize) -> Excerpt {
        let entries = self.entries.iter().skip(at.saturating_sub(BEFORE)).take(BEFORE + BEHIND);
        Excerpt { transcript: formatted(entries), input: None }
    }

    /// The relevant lines of the engine: the last line and the last PVs of a search, without the handshake.
    fn relevant(&self, entries: &[TranscriptEntry]) -> BTreeSet<usize> {
        let mut relevant = BTreeSet::new();
        let mut lines = BTreeSet::new();
        let mut in_search = false;
        for (at, entry) in entries.iter().enumerate().rev() {
            if entry.side == Party::Client {
                in_search = false;
                continue;
            }
            let shown = match Reply::read(&entry.text, self.dialect).value {
                Reply::Id(_) | Reply::Option(_) => false,
                Reply::Unknown(text) => !text.is_empty(),
                Reply::Info(info) => {
                    let first = !std::mem::replace(&mut in_search, true);
                    let line = info.multipv.unwrap_or(1);
                    let variation = info.pv.is_some() && line <= LINES_SHOWN && lines.insert(line);
                    first || variation
                }
                Reply::UciOk
                | Reply::ReadyOk
                | Reply::BestMove(_)
                | Reply::Checkmate(_)
                | Reply::CopyProtection(_)
                | Reply::Registration(_) => {
                    in_search = false;
                    lines.clear();
                    true
                }
            };
            if shown {
                relevant.insert(at);
            }
        }
        relevant
    }
}

fn is_command(entry: &TranscriptEntry, keywords: &[&str]) -> bool {
    let first = entry.text.split_whitespace().next();
    entry.side == Party::Client && first.is_some_and(|first| keywords.contains(&first))
}

/// The start of the last part of a long transcript: a `position`, so that no search is split.
fn recent(entries: &[TranscriptEntry]) -> usize {
    let commands = || entries.iter().enumerate().filter(|(_, entry)| entry.side == Party::Client);
    if commands().count() <= COMMANDS_SHOWN {
        return 0;
    }
    let recent = commands().rev().take(COMMANDS_SHOWN);
    let positions =
        recent.filter(|(_, recent)| is_command(recent, &["position"])).map(|(at, _)| at);
    positions.min().unwrap_or(0)
}

/// Lines with their times and directions.
fn formatted<'a>(entries: impl Iterator<Item = &'a TranscriptEntry>) -> String {
    let mut text = String::new();
    for entry in entries {
        let direction = if entry.side == Party::Client { '>' } else { '<' };
        let milliseconds = entry.at.as_millis();
        // Writing to a `String` never fails.
        let _ = writeln!(
            text,
            "{milliseconds:>7} {direction} {}",
            format::shown(&entry.text, MAX_SHOWN)
        );
    }
    text
}

/// The client's commands, for reproduction.
fn input<'a>(sent: impl Iterator<Item = &'a TranscriptEntry> + Clone) -> Option<Input> {
    // Copying text removes trailing spaces and replaces tabs.
    let plain = |entry: &TranscriptEntry| {
        let text = entry.text.as_str();
        entry.bytes.is_none() && text.len() < MAX_PASTED && display_text(text) == text
    };
    sent.clone().next()?;
    if sent.clone().all(plain) {
        return Some(Input::Lines(sent.flat_map(|entry| [&entry.text, "\n"]).collect()));
    }
    let ends = sent.clone().any(|entry| entry.text == INPUT_ENDS);
    let mut format = String::new();
    for entry in sent {
        match &entry.bytes {
            Some(bytes) => format.extend(bytes.iter().map(|byte| in_format(*byte))),
            None => format.extend(entry.text.bytes().chain([b'\n']).map(in_format)),
        }
    }
    Some(Input::Command(if ends {
        format!("printf '{format}'")
    } else {
        // The input stays open, because its end would end the engine.
        format!("{{ printf '{format}'; cat; }}")
    }))
}

/// A byte in the format of `printf(1)`, in single quotes.
fn in_format(byte: u8) -> String {
    match byte {
        b'\n' => "\\n".into(),
        b'\r' => "\\r".into(),
        b'\t' => "\\t".into(),
        b'\\' => "\\\\".into(),
        b'%' => "%%".into(),
        b'\'' => "'\\''".into(),
        b' '..=b'~' => char::from(byte).into(),
        _ => format!("\\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(lines: &[&str]) -> Transcript {
        let mut transcript = Transcript::new(Dialect::Uci, true);
        for line in lines {
            let (side, text) = match line.strip_prefix("> ") {
                Some(text) => (Party::Client, text),
                None => (Party::Engine, line.strip_prefix("< ").expect("a direction")),
            };
            transcript.add(TranscriptEntry::new(Duration::from_millis(7), side, text.to_owned()));
        }
        transcript
    }

    fn lines(excerpt: &Excerpt) -> &str {
        match &excerpt.input {
            Some(Input::Lines(lines)) => lines,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn contains_only_the_relevant_search() {
        let transcript = transcript(&[
            "> uci",
            "< uciok",
            "> isready",
            "< readyok",
            "> position startpos",
            "> go depth 1",
            "< bestmove e2e4",
            "> isready",
            "< readyok",
            "> position startpos moves e2e4",
            "> go depth 1",
            "< info depth 1 pv d2d4",
            "< info depth 2 multipv 2 pv d2d4",
            "< info depth 2 multipv 1 pv e2e4",
            "< info nodes 1",
            "< info nodes 2",
            "< bestmove e2e4",
            "> quit",
        ]);
        let excerpt = transcript.excerpt(Some(16));
        assert_eq!(lines(&excerpt), "uci\nisready\nposition startpos moves e2e4\ngo depth 1\n");
        assert!(
            excerpt.transcript.ends_with("(other searches before it: 1)\n"),
            "{}",
            excerpt.transcript
        );
        let sent = excerpt.transcript.lines().filter_map(|line| line.split_once(" < "));
        let sent: Vec<&str> = sent.map(|(_, line)| line).collect();
        assert_eq!(
            sent,
            [
                "info depth 2 multipv 2 pv d2d4",
                "info depth 2 multipv 1 pv e2e4",
                "info nodes 2",
                "bestmove e2e4",
            ]
        );
    }

    #[test]
    fn a_long_transcript_starts_at_a_position() {
        let mut sent = vec!["> uci", "> isready", "> setoption name Hash value 2"];
        for _ in 0..30 {
            sent.extend(["> isready", "> go depth 1", "> position startpos", "> stop"]);
        }
        let transcript = transcript(&sent);
        let shown = transcript.excerpt(None);
        let shown = lines(&shown);
        let start = "uci\nisready\nsetoption name Hash value 2\nposition startpos\nstop\nisready\n";
        assert!(shown.starts_with(start), "{shown}");
        assert!(shown.lines().count() < 30, "{shown}");
    }

    #[test]
    fn input_that_cannot_be_typed_is_a_shell_command() {
        let mut transcript = transcript(&["> uci"]);
        transcript.add(TranscriptEntry {
            bytes: Some(b"100%\xff'\\\r".to_vec()),
            ..TranscriptEntry::new(Duration::ZERO, Party::Client, "100%?'\\".into())
        });
        let printf = r"printf 'uci\n100%%\377'\''\\\r'";
        let command = Input::Command(format!("{{ {printf}; cat; }}"));
        assert_eq!(transcript.excerpt(None).input, Some(command));
        transcript.add(TranscriptEntry {
            bytes: Some(Vec::new()),
            ..TranscriptEntry::new(Duration::ZERO, Party::Client, INPUT_ENDS.into())
        });
        assert_eq!(transcript.excerpt(None).input, Some(Input::Command(printf.into())));
    }
}
