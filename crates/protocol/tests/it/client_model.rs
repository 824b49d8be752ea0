//! Whatever the caller wants and the engine says, the client's session keeps its law.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use readyok_protocol::session::client::{
    ClientSession, Event, NewGame, Patience, SearchId, SearchRequest,
};
use readyok_protocol::{Color, Command, Dialect, Dialogue, GameResult, Go, Move, Position, Reply};

#[derive(Clone, Debug)]
enum Step {
    Search(u8),
    Stop,
    PonderHit,
    NewGame,
    GameOver,
    Option(u8),
    Ping,
    Register,
    Wait(u16),
    /// The engine answers what it was asked, as an honest one does.
    Answer,
    /// The engine says anything at any time.
    Say(usize),
    Quit,
    Eof,
}

const LINES: [&str; 16] = [
    "bestmove e2e4",
    "bestmove (none)",
    "bestmove 7g7f ponder 3c3d",
    "readyok",
    "uciok",
    "usiok",
    "checkmate nomate",
    "info depth 1 score cp 1 pv e2e4",
    "info string hello",
    "registration error",
    "copyprotection checking",
    "option name Hash type spin default 1 min 1 max 9",
    "id name Other",
    "",
    "bestmove",
    "Unknown command: stop",
];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u8..5).prop_map(Step::Search),
        3 => Just(Step::Stop),
        2 => Just(Step::PonderHit),
        2 => Just(Step::NewGame),
        1 => Just(Step::GameOver),
        2 => any::<u8>().prop_map(Step::Option),
        2 => Just(Step::Ping),
        1 => Just(Step::Register),
        2 => any::<u16>().prop_map(Step::Wait),
        12 => Just(Step::Answer),
        6 => (0..LINES.len()).prop_map(Step::Say),
    ]
}

fn script() -> impl Strategy<Value = Vec<Step>> {
    let end = prop_oneof![Just(Step::Quit), Just(Step::Eof)];
    (prop::collection::vec(step(), 0..120), end, prop::collection::vec(step(), 0..6)).prop_map(
        |(mut steps, end, after)| {
            steps.push(end);
            steps.extend(after);
            steps.push(Step::Eof);
            steps
        },
    )
}

/// A session, an engine that answers honestly when asked to, and a referee between them.
struct Table {
    dialect: Dialect,
    session: ClientSession,
    referee: Dialogue,
    out: String,
    now: Duration,
    /// What an honest engine would say next.
    owed: Vec<&'static str>,
    open: BTreeMap<SearchId, u32>,
    last: Option<SearchId>,
}

impl Table {
    fn new(dialect: Dialect) -> Self {
        let (mut out, now) = (String::new(), Duration::ZERO);
        let session = ClientSession::start(dialect, Patience::default(), now, &mut out);
        let referee = Dialogue::new(dialect);
        let (owed, open) = (Vec::new(), BTreeMap::new());
        let mut table = Self { dialect, session, referee, out, now, owed, open, last: None };
        table.settle();
        table
    }

    /// Hands the session's lines to the engine, and its events to the caller.
    fn settle(&mut self) {
        for line in std::mem::take(&mut self.out).lines() {
            let reading = Command::read(line, self.dialect);
            assert_eq!(reading.notes, [], "the session wrote `{line}`");
            let fault = self.referee.command(&reading.value);
            assert_eq!(fault, Ok(()), "the session said `{line}` in {:?}", self.referee);
            match reading.value {
                Command::Hello if self.dialect == Dialect::Uci => {
                    self.owed.extend([
                        "id name A",
                        "option name Hash type spin default 1 min 1 max 99",
                        "uciok",
                    ]);
                }
                Command::Hello => self.owed.extend(["id name A", "usiok"]),
                Command::IsReady => self.owed.push("readyok"),
                Command::Go(go) => {
                    assert!(!go.is_bare(), "a bare go");
                    self.owed.push("bestmove 0000");
                }
                _ => (),
            }
        }
        while let Some(event) = self.session.poll_event() {
            let (id, ends) = match event {
                Event::Started(id) | Event::Info(id, _) | Event::Overran(id) => (id, 0),
                Event::BestMove(id, _) | Event::Checkmate(id, _) | Event::Dropped(id, _) => (id, 1),
                _ => continue,
            };
            let count = self.open.get_mut(&id).expect("an event of a search that was asked for");
            assert_eq!(*count, 0, "an event after the end of {id:?}");
            *count += ends;
        }
        assert!(self.open.values().filter(|ends| **ends == 0).count() <= 2, "{:?}", self.open);
    }

    fn hear(&mut self, line: &str) {
        self.referee.overhear_reply(&Reply::read(line, self.dialect).value);
        self.session.receive_line(line, self.now, &mut self.out);
    }

    fn search(&mut self, kind: u8) {
        let time = Duration::from_millis(100);
        let go = match kind {
            0 => Go::infinite(),
            1 => Go { ponder: true, ..Go::move_time(time) },
            2 => Go::depth(3),
            3 => Go { search_moves: Some([Move::NULL].into_iter().collect()), ..Go::nodes(7) },
            _ => Go::default(),
        };
        let request = SearchRequest {
            position: Position::default(),
            go,
            mover: Some(Color::Black),
            multipv: Some(kind.into()),
            ..SearchRequest::default()
        };
        // The caller sees its id only when the call returns, so the count starts here.
        if let Ok(id) = self.session.search(request, self.now, &mut self.out) {
            self.open.insert(id, 0);
            self.last = Some(id);
        }
    }

    fn play(&mut self, step: &Step) {
        let (now, out) = (self.now, &mut self.out);
        match *step {
            Step::Search(kind) => self.search(kind),
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
            Step::NewGame => self.session.new_game(NewGame::default(), now, out),
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
                let _ = self.session.register(later, out);
            }
            Step::Wait(millis) => {
                self.now += Duration::from_millis(millis.into());
                self.session.handle_timeout(self.now, &mut self.out);
                if let Some(at) = self.session.poll_timeout() {
                    assert!(self.now < at, "a deadline that was handled is over");
                }
            }
            Step::Answer => {
                if !self.owed.is_empty() {
                    let line = self.owed.remove(0);
                    self.hear(line);
                }
            }
            Step::Say(index) => self.hear(LINES[index]),
            Step::Quit => self.session.quit(now, out),
            Step::Eof => self.session.receive_eof(),
        }
        self.settle();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every search ends exactly once, the session breaks no rule, and no handled deadline stays.
    #[test]
    fn every_search_ends_once_whatever_the_engine_says(usi in any::<bool>(), steps in script()) {
        let mut table = Table::new(if usi { Dialect::Usi } else { Dialect::Uci });
        for step in &steps {
            table.play(step);
        }
        for (id, ends) in &table.open {
            prop_assert_eq!(*ends, 1, "{:?} ended {} times", id, ends);
        }
    }

    /// With an honest engine, nothing waits for ever: after enough answers the session is idle.
    #[test]
    fn an_honest_engine_is_never_waited_for(usi in any::<bool>(), steps in prop::collection::vec(step(), 0..80)) {
        let mut table = Table::new(if usi { Dialect::Usi } else { Dialect::Uci });
        for step in steps.iter().filter(|step| !matches!(step, Step::Say(_))) {
            table.play(step);
        }
        if let Some(id) = table.last {
            table.session.stop(id, table.now, &mut table.out);
        }
        for _ in 0..50 {
            table.play(&Step::Answer);
        }
        prop_assert!(table.session.is_idle());
        prop_assert!(table.open.values().all(|ends| *ends == 1));
    }
}
