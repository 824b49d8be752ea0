//! Scripts for client sessions.

use std::collections::VecDeque;
use std::time::Duration;

use readyok_protocol::session::client::{
    ClientSession, Event, NewGame, Purpose, SearchId, SearchRequest, TimeoutKind, Timeouts,
};
use readyok_protocol::{Command, Dialect, GameResult, Go, MateLimit, Register, Reply};

use crate::scripts::{self, Script};

/// Runs the steps of a script, after the handshake unless it starts with `none`. `<` is a line of the engine, `>` an
/// expected line of the session, `=` an expected event, `!` an action of the caller. Other lines and events are
/// errors.
fn check(script: &Script) {
    let (dialect, handshake) = match script.start.as_str() {
        "uci" => (Dialect::Uci, true),
        "usi" => (Dialect::Usi, true),
        "none" => (Dialect::Uci, false),
        other => panic!("no such start: {other}"),
    };
    let mut steps = String::new();
    if handshake {
        let options: String =
            script.options.iter().flat_map(|option| ["< option name ", option, "\n"]).collect();
        let (hello, ok) = (dialect.handshake(), dialect.handshake_ok());
        steps = format!("> {hello}\n< id name Test\n{options}< {ok}\n= handshake complete\n");
    }
    steps += &script.steps;
    let (mut run, script) = (Run::new(dialect), &steps);
    for line in script.lines() {
        let (kind, text) = line.split_at(1);
        let text = text.strip_prefix(' ').unwrap_or(text);
        match kind {
            "#" => (),
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

#[test]
fn searches() {
    scripts::check(include_str!("data/sessions/client_searches.txt"), check);
}

#[test]
fn options_and_games() {
    scripts::check(include_str!("data/sessions/client_options.txt"), check);
}

#[test]
fn timeouts_registration_and_invalid_messages() {
    scripts::check(include_str!("data/sessions/client_failures.txt"), check);
}

#[test]
fn any_duration_can_limit_a_search() {
    for (time, millis) in [
        (Duration::ZERO, "1"),
        (Duration::from_nanos(1), "1"),
        (Duration::MAX, "9223372036854775807"),
    ] {
        let (start, mut out) = (Duration::ZERO, String::new());
        let mut session = ClientSession::start(Dialect::Usi, Timeouts::default(), start, &mut out);
        session.receive_line("usiok", start, &mut out);
        let mate = Some(MateLimit::Time(time));
        let go = Go { mate, random_time: Some(time), ..Go::move_time(time) };
        session.search(SearchRequest { go, ..SearchRequest::default() }, start, &mut out).unwrap();
        session.receive_line("readyok", start, &mut out);
        let line = format!("go mate {millis} movetime {millis} rtime {millis}");
        assert!(out.lines().any(|other| other == line), "{out}");
        assert!(session.poll_timeout().is_some());
    }
}

#[test]
fn declared_options_are_found_in_any_spelling() {
    let mut run = Run::new(Dialect::Usi);
    for line in ["id name A", "option name USI_Hash type spin default 16 min 1 max 64", "usiok"] {
        run.session.receive_line(line, run.now, &mut run.out);
    }
    assert!(run.session.options().find("hash").is_some());
    assert_eq!(run.session.identity().name, "A");
}

/// Passes lines to a session that has sent `uci`.
fn session_after(lines: &[&str]) -> ClientSession {
    let mut out = String::new();
    let mut session =
        ClientSession::start(Dialect::Uci, Timeouts::default(), Duration::ZERO, &mut out);
    for line in lines {
        session.receive_line(line, Duration::ZERO, &mut out);
    }
    session
}

#[test]
fn a_status_is_explained_by_the_text_next_to_it() {
    let message = |lines: &[&str]| session_after(lines).status_message().map(str::to_owned);
    let reason = Some("no dongle".to_owned());
    let error = "copyprotection error";
    for lines in [
        ["uciok", "info string no dongle", error],
        ["uciok", "no dongle", error],
        ["uciok", error, "info string no dongle"],
        ["uciok", error, "no dongle"],
        ["uciok", "no dongle", "registration error"],
    ] {
        assert_eq!(message(&lines), reason, "{lines:?}");
    }
    let checked = ["uciok", "a text", "copyprotection checking", "no dongle", error, "more"];
    assert_eq!(message(&checked), reason);
    // Some engines send it before `uciok`, or only with the first of several errors.
    let early = ["registration error", "no dongle", "uciok"];
    assert_eq!(message(&early), reason);
    let error = "registration error";
    assert_eq!(message(&["uciok", "no dongle", error, "registration checking", error]), reason);
    let error = "copyprotection error";
    // Neither a banner nor the text before an earlier status explains this status.
    assert_eq!(message(&["Example 1.0", "uciok", error]), None);
    assert_eq!(message(&["uciok", "a text", "registration checking", "registration error"]), None);
    assert_eq!(message(&["uciok", "a text", "registration ok"]), None);
}

#[test]
fn the_latest_text_is_available_after_a_failure() {
    let last = |lines: &[&str]| session_after(lines).last_text().map(str::to_owned);
    assert_eq!(last(&["Error! no net"]), Some("Error! no net".to_owned()));
    assert_eq!(last(&["uciok", "info string no net"]), Some("no net".to_owned()));
    assert_eq!(last(&["banner", "uciok"]), None);
}

#[test]
fn the_duration_of_a_timeout_is_reported() {
    let mut run = Run::new(Dialect::Uci);
    let start = run.now;
    run.session.receive_line("id name A", start + Duration::from_secs(4), &mut run.out);
    assert_eq!(run.session.timeout_of(TimeoutKind::Handshake), None);
    run.session.handle_timeout(start + Duration::from_secs(20), &mut run.out);
    assert_eq!(run.session.timeout_of(TimeoutKind::Handshake), Some(Duration::from_secs(14)));
    assert_eq!(run.session.timeout_of(TimeoutKind::Ready), None);
}
