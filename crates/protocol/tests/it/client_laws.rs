//! Properties of client sessions for arbitrary callers and engines.

use std::collections::BTreeMap;
use std::time::Duration;

use readyok_protocol::session::client::{
    ClientSession, Event, NewGame, SearchId, SearchRequest, TimeoutKind, Timeouts,
};
use readyok_protocol::{
    Clocks, Command, DiagnosticKind, Dialect, GameResult, Go, Move, Position, ProtocolState, Reply,
};

#[derive(Clone, Debug)]
pub enum Step {
    Search(u8),
    Stop,
    PonderHit,
    /// With clocks that no engine accepts.
    PonderHitClocks,
    NewGame,
    GameOver,
    Option(u8),
    Ping,
    Register,
    TimeoutKind(u16),
    /// The engine sends the correct answer.
    Answer,
    /// The engine sends an arbitrary line.
    Line(String),
    Quit,
    Eof,
}

/// Interprets arbitrary bytes as lines of an engine, and lines that start with `!` as actions of the
/// caller. Every search ends once, and the session violates no rule.
pub fn client_session(bytes: &[u8]) {
    for (dialect, early) in
        Dialect::ALL.into_iter().flat_map(|dialect| [(dialect, false), (dialect, true)])
    {
        let mut table = Harness::new(dialect);
        table.session.position_before_ready(early);
        for line in String::from_utf8_lossy(bytes).lines() {
            table.play(&step(line));
        }
        table.play(&Step::Eof);
        assert!(table.open.values().all(|ends| *ends == 1), "{:?}", table.open);
    }
}

fn step(line: &str) -> Step {
    let Some(verb) = line.strip_prefix('!') else { return Step::Line(line.to_owned()) };
    let mut bytes = verb.bytes();
    let (verb, argument) = (bytes.next().unwrap_or_default(), bytes.next().unwrap_or_default());
    match verb {
        b's' => Step::Search(argument % 7),
        b'x' => Step::Stop,
        b'h' => Step::PonderHit,
        b'c' => Step::PonderHitClocks,
        b'n' => Step::NewGame,
        b'g' => Step::GameOver,
        b'o' => Step::Option(argument),
        b'p' => Step::Ping,
        b'r' => Step::Register,
        b'w' => Step::TimeoutKind(u16::from(argument) * 255),
        b'q' => Step::Quit,
        b'e' => Step::Eof,
        _ => Step::Answer,
    }
}

/// A session, a correct engine, and a referee between them.
pub struct Harness {
    dialect: Dialect,
    pub session: ClientSession,
    referee: ProtocolState,
    pub out: String,
    pub now: Duration,
    /// Answers that a correct engine would send next.
    owed: Vec<&'static str>,
    pub open: BTreeMap<SearchId, u32>,
    pub last: Option<SearchId>,
    /// The running search may last until it is stopped.
    unbounded: bool,
    /// A timeout of the running search was reported.
    late: bool,
}

impl Harness {
    pub fn new(dialect: Dialect) -> Self {
        let (mut out, now) = (String::new(), Duration::ZERO);
        let session = ClientSession::start(dialect, Timeouts::default(), now, &mut out);
        let referee = ProtocolState::new(dialect);
        let (owed, open) = (Vec::new(), BTreeMap::new());
        let mut table = Self {
            dialect,
            session,
            referee,
            out,
            now,
            owed,
            open,
            last: None,
            unbounded: false,
            late: false,
        };
        table.settle();
        table
    }

    /// Passes the lines of the session to the engine, and its events to the caller.
    fn settle(&mut self) {
        for line in std::mem::take(&mut self.out).lines() {
            let reading = Command::read(line, self.dialect);
            // The engine itself has declared such a name.
            let mut diagnostics = reading
                .diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.kind != DiagnosticKind::SpaceInName);
            assert_eq!(diagnostics.next(), None, "the session wrote `{line}`");
            let fault = self.referee.command(&reading.value);
            assert_eq!(fault, Ok(()), "the session sent `{line}` in {:?}", self.referee);
            match reading.value {
                Command::Uci if self.dialect == Dialect::Uci => {
                    self.owed.extend([
                        "id name A",
                        "option name Hash type spin default 1 min 1 max 99",
                        "uciok",
                    ]);
                }
                Command::Uci => self.owed.extend(["id name A", "usiok"]),
                Command::IsReady => self.owed.push("readyok"),
                Command::Go(go) => {
                    let clocks_follow = go.ponder && self.dialect == Dialect::Usi;
                    assert!(!go.is_bare() || clocks_follow, "a bare go");
                    let times = [go.clocks.white_time, go.clocks.black_time];
                    let least = i64::from(self.dialect == Dialect::Uci);
                    assert!(times.into_iter().flatten().all(|time| least <= time), "{go:?}");
                    self.owed.push("bestmove 0000");
                    self.unbounded = go.infinite || go.ponder;
                    self.late = false;
                }
                Command::Stop | Command::PonderHit(_) => self.unbounded = false,
                _ => (),
            }
        }
        while let Some(event) = self.session.poll_event() {
            let (id, ends) = match event {
                Event::Started(id) | Event::Info(id, _) | Event::Overrun(id) => (id, 0),
                Event::Timeout(wait) => {
                    self.late |= wait == TimeoutKind::Stop;
                    continue;
                }
                Event::BestMove(id, _) | Event::Checkmate(id, _) | Event::Dropped(id, _) => (id, 1),
                _ => continue,
            };
            let count = self.open.get_mut(&id).expect("an event of a search that was asked for");
            assert_eq!(*count, 0, "an event after the end of {id:?}");
            *count += ends;
        }
        let open = self.open.values().filter(|ends| **ends == 0).count();
        assert!(open <= 2, "{:?}", self.open);
        // Every open request has a deadline, except a search that may last forever and one whose
        // timeout was reported.
        let may_wait = open == 0 || self.unbounded || self.late;
        assert!(may_wait || self.session.poll_timeout().is_some(), "{:?} waits", self.session);
    }

    fn receive(&mut self, line: &str) {
        self.referee.apply_reply_lenient(&Reply::read(line, self.dialect).value);
        self.session.receive_line(line, self.now, &mut self.out);
    }

    fn search(&mut self, kind: u8) {
        let time = Duration::from_millis(100);
        let go = match kind {
            0 => Go::infinite(),
            1 => Go { ponder: true, ..Go::move_time(time) },
            2 => Go::depth(3),
            3 => Go { search_moves: Some([Move::NULL].into_iter().collect()), ..Go::nodes(7) },
            4 => Go { perft: Some(3), ..Go::default() },
            5 => Go { ponder: true, ..Go::default() },
            _ => Go::default(),
        };
        let request = SearchRequest {
            position: Position::default(),
            go,
            multipv: Some(kind.into()),
            ..SearchRequest::default()
        };
        // The caller receives the id only when the call returns, so the count starts here.
        if let Ok(id) = self.session.search(request, self.now, &mut self.out) {
            self.open.insert(id, 0);
            self.last = Some(id);
        }
    }

    pub fn play(&mut self, step: &Step) {
        let (now, out) = (self.now, &mut self.out);
        match step {
            Step::Search(kind) => self.search(*kind),
            Step::Stop => {
                if let Some(id) = self.last {
                    self.session.stop(id, now, out);
                }
            }
            Step::PonderHit => {
                if let Some(id) = self.last {
                    let _ = self.session.ponder_hit(id, None, now, out);
                }
            }
            Step::PonderHitClocks => {
                let clocks =
                    Clocks { white_time: Some(-5), black_time: Some(0), ..Clocks::default() };
                if let Some(id) = self.last {
                    let _ = self.session.ponder_hit(id, Some(clocks), now, out);
                }
            }
            Step::NewGame => {
                let _ = self.session.new_game(NewGame::default(), now, out);
            }
            Step::GameOver => self.session.game_over(GameResult::Draw, now, out),
            Step::Option(value) => {
                let value = (value % 99 + 1).to_string();
                let _ = self.session.set_option("Hash", Some(&value), now, out);
            }
            Step::Ping => {
                let _ = self.session.ping(now, out);
            }
            Step::Register => {
                let later = readyok_protocol::Register::Later;
                let _ = self.session.register(later, now, out);
            }
            Step::TimeoutKind(millis) => {
                self.now += Duration::from_millis((*millis).into());
                self.session.handle_timeout(self.now, &mut self.out);
                if let Some(at) = self.session.poll_timeout() {
                    assert!(self.now < at, "a deadline that was handled is over");
                }
            }
            Step::Answer => {
                if !self.owed.is_empty() {
                    let line = self.owed.remove(0);
                    self.receive(line);
                }
            }
            Step::Line(line) => self.receive(line),
            Step::Quit => self.session.quit(now, out),
            Step::Eof => self.session.receive_eof(),
        }
        self.settle();
    }
}
