//! Both sessions joined by a wire that delays, and now and then loses or repeats a line.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use proptest::prelude::*;
use readyok_protocol::session::{client, engine};
use readyok_protocol::{
    BestMove, Command, Dialect, Dialogue, GameResult, Go, Info, Move, OptionDecl, OptionSet, Phase,
    Position, Reply,
};

/// What may happen next.
#[derive(Clone, Debug)]
enum Step {
    Search(u8),
    Stop,
    PonderHit,
    NewGame,
    GameOver,
    Option(u8),
    Ping,
    /// The engine has found its move.
    Answer,
    /// The engine tells something, whether it searches or not.
    Tell,
    /// So many lines arrive at the engine, or at the client.
    ToEngine(usize),
    ToClient(usize),
    /// A line to the client arrives twice.
    Repeat,
    /// A line that nobody asked for arrives at either end.
    Noise(usize),
    Wait(u16),
}

const NOISE: [&str; 6] =
    ["bestmove a1a1", "readyok", "stop", "go depth 1", "isready", "setoption name Hash value x"];

fn step(faults: bool) -> BoxedStrategy<Step> {
    let fair = prop_oneof![
        6 => (0u8..5).prop_map(Step::Search),
        3 => Just(Step::Stop),
        2 => Just(Step::PonderHit),
        1 => Just(Step::NewGame),
        1 => Just(Step::GameOver),
        2 => (1u8..99).prop_map(Step::Option),
        2 => Just(Step::Ping),
        6 => Just(Step::Answer),
        3 => Just(Step::Tell),
        8 => (1usize..4).prop_map(Step::ToEngine),
        8 => (1usize..4).prop_map(Step::ToClient),
        2 => (0u16..5000).prop_map(Step::Wait),
    ];
    if !faults {
        return fair.boxed();
    }
    prop_oneof![12 => fair, 1 => Just(Step::Repeat), 1 => (0..NOISE.len()).prop_map(Step::Noise)]
        .boxed()
}

/// A client, an engine, the wire between them, and two referees at its ends.
struct Pair {
    dialect: Dialect,
    client: client::ClientSession,
    engine: engine::EngineSession,
    to_engine: VecDeque<String>,
    to_client: VecDeque<String>,
    /// Judges what the client says, in the order in which the client saw it.
    at_client: Dialogue,
    /// Judges what the engine says, in the order in which the engine saw it. What it makes of
    /// lines from nowhere is its own business.
    at_engine: Option<Dialogue>,
    /// Searches that the engine was told to do and has not answered.
    working: u32,
    accepted: u32,
    answered: u32,
    open: BTreeMap<client::SearchId, u32>,
    last: Option<client::SearchId>,
    now: Duration,
    faulty: bool,
}

impl Pair {
    fn new(dialect: Dialect, faulty: bool) -> Self {
        let mut out = String::new();
        let patience = client::Patience::default();
        let client = client::ClientSession::start(dialect, patience, Duration::ZERO, &mut out);
        let options = Dialect::ALL.map(|dialect| {
            let mut set = OptionSet::new(dialect);
            set.declare(OptionDecl::spin("Hash", 16, 1, 1024));
            set.declare(OptionDecl::check("Ponder", false));
            set
        });
        let profile = engine::Profile {
            name: "Pair".to_owned(),
            author: String::new(),
            options: options.into(),
        };
        let mut pair = Self {
            dialect,
            client,
            engine: engine::EngineSession::new(profile).unwrap(),
            to_engine: VecDeque::new(),
            to_client: VecDeque::new(),
            at_client: Dialogue::new(dialect),
            at_engine: (!faulty).then(|| Dialogue::new(dialect)),
            working: 0,
            accepted: 0,
            answered: 0,
            open: BTreeMap::new(),
            last: None,
            now: Duration::ZERO,
            faulty,
        };
        pair.client_said(&out);
        pair
    }

    fn client_said(&mut self, out: &str) {
        for line in out.lines() {
            let reading = Command::read(line, self.dialect);
            assert_eq!(reading.notes, [], "the client wrote `{line}`");
            assert_eq!(self.at_client.command(&reading.value), Ok(()), "the client said `{line}`");
            self.to_engine.push_back(line.to_owned());
        }
        while let Some(event) = self.client.poll_event() {
            match event {
                client::Event::Started(id)
                | client::Event::Info(id, _)
                | client::Event::Overran(id) => {
                    assert_eq!(self.open[&id], 0, "an event after the end of {id:?}");
                }
                client::Event::BestMove(id, _)
                | client::Event::Checkmate(id, _)
                | client::Event::Dropped(id, _) => {
                    *self.open.get_mut(&id).unwrap() += 1;
                    assert_eq!(self.open[&id], 1, "a second end of {id:?}");
                }
                client::Event::Violation(violation) if !self.faulty => panic!("{violation}"),
                client::Event::Odd(notes) if !self.faulty => panic!("{notes:?}"),
                client::Event::Chatter(line) if !self.faulty => panic!("{line}"),
                _ => (),
            }
        }
    }

    fn engine_said(&mut self, out: &str) {
        for line in out.lines() {
            let reading = Reply::read(line, self.dialect);
            assert_eq!(reading.notes, [], "the engine wrote `{line}`");
            let fault = self.at_engine.as_mut().map(|judge| judge.reply(&reading.value));
            assert_eq!(fault.unwrap_or(Ok(())), Ok(()), "the engine said `{line}`");
            self.answered += u32::from(matches!(reading.value, Reply::BestMove(_)));
            self.to_client.push_back(line.to_owned());
        }
        while let Some(event) = self.engine.poll_event() {
            match event {
                engine::Event::Search(_) => {
                    self.working += 1;
                    self.accepted += 1;
                    assert_eq!(self.working, 1, "two searches at once");
                }
                engine::Event::Prepare => {
                    let mut out = String::new();
                    self.engine.ready(&mut out).unwrap();
                    self.engine_said(&out);
                }
                engine::Event::Violation(violation) if !self.faulty => panic!("{violation}"),
                engine::Event::Odd(notes) if !self.faulty => panic!("{notes:?}"),
                engine::Event::Unknown(line) if !self.faulty => panic!("{line}"),
                _ => (),
            }
        }
    }

    fn engine_hears(&mut self, line: &str) {
        let mut out = String::new();
        let heard = Command::read(line, self.dialect).value;
        let fault = self.at_engine.as_mut().map(|judge| judge.command(&heard));
        assert_eq!(fault.unwrap_or(Ok(())), Ok(()), "the engine heard `{line}`");
        self.engine.receive_line(line, self.now, &mut out);
        self.engine_said(&out);
    }

    fn client_hears(&mut self, line: &str) {
        let mut out = String::new();
        self.at_client.overhear_reply(&Reply::read(line, self.dialect).value);
        self.client.receive_line(line, self.now, &mut out);
        self.client_said(&out);
    }

    fn play(&mut self, step: &Step) {
        let mut out = String::new();
        match *step {
            Step::Search(kind) => {
                let go = match kind {
                    0 => Go::infinite(),
                    1 => Go { ponder: true, ..Go::nodes(9) },
                    2 => Go::nodes(5),
                    _ => Go::depth(kind.into()),
                };
                let position = Position::default();
                let request = client::SearchRequest { position, go, ..Default::default() };
                if let Ok(id) = self.client.search(request, self.now, &mut out) {
                    self.open.insert(id, 0);
                    self.last = Some(id);
                }
            }
            Step::Stop => self.with_last(client::ClientSession::stop),
            Step::PonderHit => self.with_last(|client, id, now, out| {
                // A search that does not ponder refuses it, which is right.
                let _ = client.ponder_hit(id, None, now, out);
            }),
            Step::NewGame => {
                // Refused until the greeting is over.
                let _ = self.client.new_game(client::NewGame::default(), self.now, &mut out);
            }
            Step::GameOver => self.client.game_over(GameResult::Lose, self.now, &mut out),
            Step::Option(value) => {
                let value = value.to_string();
                // Refused until the greeting is over.
                let _ = self.client.set_option("Hash", Some(&value), self.now, &mut out);
            }
            Step::Ping => {
                let _ = self.client.ping(self.now, &mut out);
            }
            Step::Answer => self.answer(),
            Step::Tell => {
                let mut out = String::new();
                let info = Info { depth: Some(1), nodes: Some(7), ..Info::default() };
                self.engine.info(info, self.now, &mut out).unwrap();
                self.engine_said(&out);
            }
            Step::ToEngine(count) => {
                for _ in 0..count {
                    let Some(line) = self.to_engine.pop_front() else { break };
                    self.engine_hears(&line);
                }
            }
            Step::ToClient(count) => {
                for _ in 0..count {
                    let Some(line) = self.to_client.pop_front() else { break };
                    self.client_hears(&line);
                }
            }
            Step::Repeat => {
                if let Some(line) = self.to_client.front().cloned() {
                    self.to_client.push_front(line);
                }
            }
            Step::Noise(index) => {
                let line = NOISE[index];
                if index < 2 { self.client_hears(line) } else { self.engine_hears(line) }
            }
            Step::Wait(millis) => {
                self.now += Duration::from_millis(millis.into());
                self.client.handle_timeout(self.now, &mut out);
                let mut said = String::new();
                self.engine.handle_timeout(self.now, &mut said);
                self.engine_said(&said);
            }
        }
        self.client_said(&out);
    }

    fn with_last(
        &mut self,
        act: impl FnOnce(&mut client::ClientSession, client::SearchId, Duration, &mut String),
    ) {
        let mut out = String::new();
        if let Some(id) = self.last {
            act(&mut self.client, id, self.now, &mut out);
        }
        self.client_said(&out);
    }

    fn answer(&mut self) {
        if 0 < self.working {
            self.working -= 1;
            let best = BestMove::from(Move::NULL);
            let mut out = String::new();
            self.engine.best_move(best, self.now, &mut out).unwrap();
            self.engine_said(&out);
        }
    }

    /// Lets everything arrive and every search be answered. Only what runs for ever is stopped.
    fn settle(&mut self) {
        let end = [Step::Answer, Step::ToEngine(usize::MAX), Step::ToClient(usize::MAX)];
        for step in end.iter().cycle().take(300) {
            self.play(step);
        }
        self.play(&Step::Stop);
        if self.faulty {
            // A false `bestmove` may have told the client that there is nothing to stop.
            self.engine_hears("stop");
        }
        for step in end.iter().cycle().take(300) {
            self.play(step);
        }
    }
}

fn play(usi: bool, faulty: bool, steps: &[Step]) -> Pair {
    let mut pair = Pair::new(if usi { Dialect::Usi } else { Dialect::Uci }, faulty);
    for step in steps {
        pair.play(step);
    }
    pair.settle();
    pair
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever both callers do and however the wire delays, neither side breaks a rule, every
    /// search of the client ends once, and every `go` gets one `bestmove`.
    #[test]
    fn neither_side_breaks_a_rule(
        usi in any::<bool>(),
        steps in prop::collection::vec(step(false), 0..100),
    ) {
        let pair = play(usi, false, &steps);
        prop_assert_eq!(pair.client.dialogue().phase(), Phase::Idle);
        prop_assert_eq!(pair.engine.dialogue().phase(), Phase::Idle);
        prop_assert_eq!(pair.accepted, pair.answered);
        prop_assert!(pair.open.values().all(|ends| *ends == 1), "{:?}", pair.open);
    }

    /// Lines that come twice or from nowhere end no search twice, start no two searches, and stop
    /// neither side from going on.
    #[test]
    fn faults_on_the_wire_do_no_lasting_harm(
        usi in any::<bool>(),
        steps in prop::collection::vec(step(true), 0..100),
    ) {
        let pair = play(usi, true, &steps);
        prop_assert_eq!(pair.accepted, pair.answered);
        prop_assert!(pair.open.values().all(|ends| *ends <= 1), "{:?}", pair.open);
        prop_assert!(pair.working == 0, "a search that nobody ends");
    }
}
