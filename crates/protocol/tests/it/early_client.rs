//! A client that does not wait for the handshake causes no violation of a correct engine.
//!
//! Every command, and every sequence of two, is inserted at every point of a handshake and of the first
//! search after it. Engines of several designs answer, none of which violates a rule by itself.

use core::time::Duration;
use std::collections::VecDeque;

use readyok_protocol::{Command, Dialect, Observer, Party, Reply, Rule, Violation};

/// How an engine handles commands before it has sent `uciok` or `usiok`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Design {
    /// Executes them in order.
    InOrder,
    /// Executes them immediately, while another thread executes the handshake.
    Threaded,
    /// Ignores them.
    IgnoresEarly,
    /// Executes them in order and implements the other protocol as well.
    BothProtocols,
}

const DESIGNS: [Design; 4] =
    [Design::InOrder, Design::Threaded, Design::IgnoresEarly, Design::BothProtocols];

/// A search that waits for `stop` or `ponderhit`.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Open {
    Infinite,
    Ponder,
    Mate,
}

struct Engine {
    design: Design,
    dialect: Dialect,
    /// Lines that are not sent yet.
    output: VecDeque<String>,
    /// Number of lines in the output up to the end of the handshake.
    handshake: usize,
    /// Number of lines at the front of the output from another thread.
    urgent: usize,
    shows_current_line: bool,
    search: Option<Open>,
    handshake_done: bool,
    is_gone: bool,
}

impl Engine {
    fn new(design: Design, dialect: Dialect) -> Self {
        Self {
            design,
            dialect,
            output: VecDeque::new(),
            handshake: 0,
            urgent: 0,
            shows_current_line: false,
            search: None,
            handshake_done: false,
            is_gone: false,
        }
    }

    fn receive(&mut self, line: &str) {
        if self.is_gone {
            return;
        }
        let other = other(self.dialect);
        let command = Command::read(line, self.dialect).value;
        let is_handshake = command == Command::Uci;
        let answers = if is_handshake {
            hello(self.dialect)
        } else if line == other.handshake() {
            let bilingual = self.design == Design::BothProtocols;
            if bilingual { hello(other) } else { Vec::new() }
        } else if self.design == Design::IgnoresEarly
            && !self.handshake_done
            && command != Command::Quit
        {
            return;
        } else {
            self.answers(&command)
        };
        if is_handshake {
            self.handshake = self.output.len() + answers.len();
        }
        if self.design == Design::Threaded && !is_handshake && 0 < self.handshake {
            self.handshake += answers.len();
            for line in answers {
                self.output.insert(self.urgent, line);
                self.urgent += 1;
            }
        } else {
            self.output.extend(answers);
        }
    }

    fn answers(&mut self, command: &Command<'_>) -> Vec<String> {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        match command {
            Command::IsReady => lines(&["readyok"]),
            Command::Register(_) => lines(&["registration checking", "registration ok"]),
            Command::SetOption(set) if set.name.ends_with("_ShowCurrLine") => {
                self.shows_current_line = true;
                lines(&["info string current line"])
            }
            Command::Go(_) if self.search.is_some() => Vec::new(),
            Command::Go(go) if go.perft.is_some() => lines(&["a2a3: 1", "Nodes searched: 1"]),
            Command::Go(go) => {
                let mate = go.mate.is_some() && self.dialect == Dialect::Usi;
                let mut found = lines(&["info depth 1 score cp 1", "info refutation a2a3 a7a6"]);
                if self.shows_current_line {
                    found.push("info currline 1 a2a3".to_owned());
                }
                if go.ponder {
                    self.search = Some(Open::Ponder);
                } else if go.infinite || go.is_bare() {
                    self.search = Some(Open::Infinite);
                } else if mate && go.mate == Some(readyok_protocol::MateLimit::Infinite) {
                    self.search = Some(Open::Mate);
                } else {
                    found.push(if mate { "checkmate nomate" } else { "bestmove a2a3" }.to_owned());
                }
                found
            }
            Command::Stop | Command::GameOver(_) => match self.search.take() {
                Some(Open::Mate) => lines(&["checkmate timeout"]),
                Some(Open::Infinite | Open::Ponder) => lines(&["bestmove a2a3"]),
                None => Vec::new(),
            },
            Command::PonderHit(_) if self.search == Some(Open::Ponder) => {
                self.search = None;
                lines(&["bestmove a2a3"])
            }
            Command::Quit => {
                self.is_gone = true;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn send(&mut self) -> Option<String> {
        let line = self.output.pop_front()?;
        self.handshake = self.handshake.saturating_sub(1);
        self.urgent = self.urgent.saturating_sub(1);
        self.handshake_done |= line == self.dialect.handshake_ok();
        Some(line)
    }
}

fn hello(dialect: Dialect) -> Vec<String> {
    let name = |name| dialect.option_name(name).to_string();
    vec![
        "id name A".to_owned(),
        format!("option name {} type check default false", name("UCI_ShowCurrLine")),
        format!("option name {} type check default true", name("UCI_ShowRefutations")),
        dialect.handshake_ok().to_owned(),
        "copyprotection checking".to_owned(),
        "copyprotection ok".to_owned(),
    ]
}

fn other(dialect: Dialect) -> Dialect {
    match dialect {
        Dialect::Uci => Dialect::Usi,
        Dialect::Usi => Dialect::Uci,
    }
}

/// A client, an engine, and an observer of both.
struct Scenario<'a> {
    dialect: Dialect,
    engine: Engine,
    observer: Observer,
    now: Duration,
    /// Number of lines, without inserted ones.
    count: usize,
    inserted: (usize, &'a [&'a str]),
    transcript: Vec<String>,
}

impl Scenario<'_> {
    /// Runs a session of a client that waits for its engine, with the inserted commands.
    fn run(mut self) {
        let dialect = self.dialect;
        let ready = [("isready", Some("readyok"))];
        let new_game = [(dialect.new_game(), None)];
        let search = match dialect {
            Dialect::Uci => "go depth 1",
            Dialect::Usi => "go btime 0 wtime 0 byoyomi 100",
        };
        let first: [_; 1] = [(dialect.handshake(), Some(dialect.handshake_ok()))];
        let start = if dialect == Dialect::Uci { [new_game, ready] } else { [ready, new_game] };
        let rest = [("position startpos", None), (search, Some("bestmove")), ("stop", None)];
        for (line, answer) in first.into_iter().chain(start.into_iter().flatten()).chain(rest) {
            self.step();
            self.send(line);
            while let Some(wanted) = answer {
                self.step();
                let Some(line) = self.receive() else { break };
                if line.starts_with(wanted) {
                    break;
                }
            }
        }
        while self.receive().is_some() {}
        let mut owed = self.observer.end_of_output();
        if self.observer.protocol_state().dialect() != dialect {
            // After `quit`, only the handshake of an unsupported protocol is unanswered.
            owed.retain(|violation| violation.rule != Rule::UciUnanswered);
        }
        self.judge(&owed);
    }

    /// Inserts the commands at their point.
    fn step(&mut self) {
        if self.count == self.inserted.0 {
            let lines = core::mem::take(&mut self.inserted.1);
            for line in lines {
                self.insert(line);
            }
        }
        self.count += 1;
    }

    fn insert(&mut self, line: &str) {
        let protocol_state = self.observer.protocol_state();
        let is_handshake =
            line == self.dialect.handshake() || line == other(self.dialect).handshake();
        let is_early = !is_handshake
            && (protocol_state.phase() == readyok_protocol::Phase::Fresh
                || protocol_state.is_handshake_pending())
            && !matches!(
                Command::read(line, protocol_state.dialect()).value,
                Command::Quit | Command::Unknown(_)
            );
        let violations = self.send(line);
        if is_early {
            let blamed = violations.iter().any(|violation| violation.by == Party::Client);
            assert!(blamed, "no violation for `{line}`: {:#?}", self.transcript);
        }
    }

    fn send(&mut self, line: &str) -> Vec<Violation> {
        self.report('>', line);
        if let Some(dialect) = self.observer.other_handshake(line) {
            self.observer.expect_handshake(dialect);
        }
        let command = Command::read(line, self.observer.protocol_state().dialect()).value;
        let violations = self.observer.observe_command(&command, self.now);
        self.judge(&violations);
        self.engine.receive(line);
        violations
    }

    fn receive(&mut self) -> Option<String> {
        let line = self.engine.send()?;
        self.report('<', &line);
        if let Some(dialect) = self.observer.other_handshake_ok(&line) {
            self.observer.return_to(dialect);
        }
        let reply = Reply::read(&line, self.observer.protocol_state().dialect()).value;
        let violations = self.observer.observe_reply(&reply, self.now);
        self.judge(&violations);
        Some(line)
    }

    /// Details of a search may be sent after one second.
    fn report(&mut self, side: char, line: &str) {
        self.now += Duration::from_secs(2);
        self.transcript.push(format!("{side} {line}"));
    }

    fn judge(&self, violations: &[Violation]) {
        let guilty: Vec<_> =
            violations.iter().filter(|violation| violation.by == Party::Engine).collect();
        let design = self.engine.design;
        assert!(guilty.is_empty(), "{design:?}: {guilty:?} after {:#?}", self.transcript);
    }
}

fn check(dialect: Dialect, commands: &str) {
    // The handshake and everything up to the end of the first search.
    const POINTS: usize = 16;
    let commands: Vec<&str> = commands.split('|').collect();
    for design in DESIGNS {
        for point in 0..POINTS {
            let run = |lines: &[&str]| {
                Scenario {
                    dialect,
                    engine: Engine::new(design, dialect),
                    observer: Observer::new(dialect),
                    now: Duration::ZERO,
                    count: 0,
                    inserted: (point, lines),
                    transcript: Vec::new(),
                }
                .run();
            };
            run(&[]);
            for &first in &commands {
                run(&[first]);
                for &second in &commands {
                    run(&[first, second]);
                }
            }
        }
    }
}

#[test]
fn early_commands_lead_to_no_violation_of_a_uci_engine() {
    check(
        Dialect::Uci,
        "\
        uci|usi|debug on|isready|setoption name UCI_ShowCurrLine value true|\
        setoption name Unknown value 1|register later|ucinewgame|position startpos|go depth 1|\
        go infinite|go ponder depth 1|go perft 1|stop|ponderhit|quit|joho",
    );
}

#[test]
fn early_commands_lead_to_no_violation_of_a_usi_engine() {
    check(
        Dialect::Usi,
        "\
        usi|uci|isready|setoption name USI_ShowCurrLine value true|\
        setoption name Unknown value 1|register name A code 1|usinewgame|position startpos|\
        go byoyomi 100|go infinite|go ponder|go mate 100|go mate infinite|stop|ponderhit|\
        gameover lose|quit",
    );
}
