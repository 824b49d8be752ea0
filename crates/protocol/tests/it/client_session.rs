//! Scripts for client sessions.

mod failures;
mod options;
mod searches;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use readyok_protocol::session::client::{
    ClientSession, Event, NewGame, Purpose, SearchId, SearchRequest, Timeouts,
};
use readyok_protocol::{Command, Dialect, GameResult, Register, Reply};

/// Runs a script. `<` is a line of the engine, `>` an expected line of the session, `=` an expected event,
/// `!` an action of the caller. Other lines and events are errors. `␣` is a space at the end of a line.
#[track_caller]
fn check_client(dialect: Dialect, script: &str) {
    let mut run = Run::new(dialect);
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (kind, text) = line.split_at(1);
        let text = &*text.trim_start().replace('␣', " ");
        match kind {
            "<" | "!" => {
                // Lines and events must not be early.
                assert_eq!(run.sent(), None, "sent before `{line}`, in {script}");
                assert_eq!(run.happened(), None, "happened before `{line}`, in {script}");
                if kind == "<" {
                    run.session.receive_line(text, run.now, &mut run.out);
                } else {
                    run.act(text);
                }
            }
            ">" => assert_eq!(run.sent().as_deref(), Some(text), "sent, in {script}"),
            "=" => assert_eq!(run.happened().as_deref(), Some(text), "happened, in {script}"),
            _ => panic!("no such line in a script: {line}"),
        }
    }
    assert_eq!(run.sent(), None, "sent at the end of {script}");
    assert_eq!(run.happened(), None, "happened at the end of {script}");
}

struct Run {
    session: ClientSession,
    dialect: Dialect,
    out: String,
    now: Duration,
    ids: Vec<SearchId>,
    events: VecDeque<String>,
}

impl Run {
    fn new(dialect: Dialect) -> Self {
        let (mut out, now) = (String::new(), Duration::from_secs(1));
        let session = ClientSession::start(dialect, Timeouts::default(), now, &mut out);
        Self { session, dialect, out, now, ids: Vec::new(), events: VecDeque::new() }
    }

    fn sent(&mut self) -> Option<String> {
        let (line, rest) = self.out.split_once('\n')?;
        let (line, rest) = (line.to_owned(), rest.to_owned());
        self.out = rest;
        Some(line)
    }

    fn happened(&mut self) -> Option<String> {
        while let Some(event) = self.session.poll_event() {
            let text = self.describe(event);
            self.events.push_back(text);
        }
        self.events.pop_front()
    }

    fn number(&self, id: SearchId) -> usize {
        self.ids.iter().position(|other| *other == id).map_or(self.ids.len() + 1, |index| index + 1)
    }

    fn describe(&self, event: Event) -> String {
        let line = |reply: Reply<'_>| {
            let mut line = String::new();
            reply.write(self.dialect, &mut line).unwrap();
            line
        };
        match event {
            Event::Started(id) => format!("started {}", self.number(id)),
            Event::Info(id, info) => format!("{} {}", self.number(id), line(Reply::Info(*info))),
            Event::BestMove(id, best) => {
                format!("{} {}", self.number(id), line(Reply::BestMove(best)))
            }
            Event::Checkmate(id, mate) => {
                format!("{} {}", self.number(id), line(Reply::Checkmate(mate)))
            }
            Event::Dropped(id, reason) => format!("{} dropped: {reason:?}", self.number(id)),
            Event::Overrun(id) => format!("{} overrun", self.number(id)),
            Event::Violation(violation) => format!("violation {:?}", violation.rule),
            Event::InfoString(text) => format!("info string {text}"),
            Event::UnknownLine(text) => format!("unknown line {text}"),
            Event::Malformed(diagnostics) => format!("malformed {:?}", diagnostics[0].kind),
            Event::HandshakeComplete => "handshake complete".to_owned(),
            Event::Ready(_) => "ready".to_owned(),
            Event::Timeout(wait) => format!("timeout {wait:?}"),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    fn request(&self, text: &str) -> SearchRequest {
        let (position, go) = text.split_once('|').unwrap();
        let line = format!("position {position}");
        let Command::Position(position) = Command::read(&line, self.dialect).value.into_owned()
        else {
            panic!("no position: {line}");
        };
        let line = format!("go {go}");
        let Command::Go(go) = Command::read(&line, self.dialect).value.into_owned() else {
            panic!("no limit: {line}");
        };
        SearchRequest { position, go, ..SearchRequest::default() }
    }

    fn act(&mut self, text: &str) {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (now, out) = (self.now, &mut self.out);
        match verb {
            "search" | "analyse" | "lines" | "with" | "press" => {
                let (argument, rest) = match verb {
                    "lines" | "with" => rest.split_once(' ').unwrap(),
                    "press" => rest.split_at(rest.find("startpos").unwrap()),
                    _ => ("", rest),
                };
                let mut request = self.request(rest);
                match verb {
                    "analyse" => request.purpose = Purpose::Analyse,
                    "lines" => request.multipv = Some(argument.parse().unwrap()),
                    "with" => {
                        let (name, value) = argument.split_once('=').unwrap();
                        request.options.push((name.to_owned(), Some(value.to_owned())));
                    }
                    "press" => request.options.push((argument.trim().to_owned(), None)),
                    _ => (),
                }
                let id = self.session.search(request, now, &mut self.out).unwrap();
                self.ids.push(id);
            }
            "reject" => {
                let request = self.request(rest);
                let usage_error = self.session.search(request, now, &mut self.out).unwrap_err();
                self.events.push_back(format!("usage error: {usage_error}"));
            }
            "stop" => {
                let id = self.ids[rest.parse::<usize>().unwrap() - 1];
                self.session.stop(id, now, out);
            }
            "ponderhit" => {
                let (number, clocks) = rest.split_once(' ').unwrap_or((rest, ""));
                let id = self.ids[number.parse::<usize>().unwrap() - 1];
                let line = format!("go {clocks}");
                let Command::Go(go) = Command::read(&line, self.dialect).value else {
                    panic!("no clocks: {clocks}");
                };
                if let Err(usage_error) = self.session.ponder_hit(id, Some(go.clocks), now, out) {
                    self.events.push_back(format!("usage error: {usage_error}"));
                }
            }
            "newgame" => {
                let opponent = (!rest.is_empty() && rest != "960").then(|| rest.to_owned());
                let game = NewGame { chess960: rest == "960", variant: None, opponent };
                if let Err(usage_error) = self.session.new_game(game, now, out) {
                    self.events.push_back(format!("usage error: {usage_error}"));
                }
            }
            "gameover" => self.session.game_over(GameResult::Win, now, out),
            "set" => {
                let (name, value) =
                    rest.split_once('=').map_or((rest, None), |(a, b)| (a, Some(b)));
                if let Err(usage_error) = self.session.set_option(name, value, now, out) {
                    self.events.push_back(format!("usage error: {usage_error}"));
                }
            }
            "register" => {
                let name = Some(rest.to_owned().into());
                self.session.register(Register::With { name, code: None }, now, out).unwrap();
            }
            "ping" => {
                self.session.ping(now, out).unwrap();
            }
            "join" => self.session.sync_between_searches(false),
            "early" => self.session.position_before_ready(true),
            "hold" => self.session.set_manual_start(),
            "start" => self.session.start_pending(now, out),
            "quit" => self.session.quit(now, out),
            "eof" => self.session.receive_eof(),
            "wait" => {
                self.now += Duration::from_millis(rest.parse().unwrap());
                self.session.handle_timeout(self.now, &mut self.out);
            }
            _ => panic!("no such action: {text}"),
        }
    }
}

/// Runs a script after a handshake with the given options.
#[track_caller]
fn check_uci(options: &[&str], script: &str) {
    let mut all = "> uci\n< id name Test\n".to_owned();
    for option in options {
        writeln!(all, "< option name {option}").unwrap();
    }
    check_client(Dialect::Uci, &format!("{all}< uciok\n= handshake complete\n{script}"));
}

#[track_caller]
fn check_usi(options: &[&str], script: &str) {
    let mut all = "> usi\n< id name Test\n".to_owned();
    for option in options {
        writeln!(all, "< option name {option}").unwrap();
    }
    check_client(Dialect::Usi, &format!("{all}< usiok\n= handshake complete\n{script}"));
}

/// The first search in UCI, up to its `go`.
const FIRST: &str = "
    ! search startpos | depth 5
    > isready
    < readyok
    > position startpos
    > go depth 5
    = started 1
";
