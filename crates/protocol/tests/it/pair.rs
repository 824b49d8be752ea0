//! Both sessions, connected by a wire that delays lines, and may lose, repeat or invent lines, or
//! disconnect.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use proptest::prelude::*;
use readyok_protocol::session::{client, engine};
use readyok_protocol::{
    Best, BestMove, Checkmate, Command, Dialect, GameResult, Go, Info, MateLimit, Move, MoveList,
    MoveShape, OptionDecl, OptionSet, OptionValue, Phase, Position, ProtocolState, Reply, Square,
};

/// Faults of the wire besides delays.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wire {
    /// None.
    Fair,
    /// Lines are lost.
    Lossy,
    /// Lines are repeated or invented.
    Faulty,
}

/// An action of the test.
#[derive(Clone, Debug)]
enum Step {
    Search {
        kind: u8,
        position: u8,
        multipv: Option<u32>,
    },
    Stop,
    PonderHit,
    NewGame,
    GameOver,
    /// `Hash` or `Threads`.
    Option(bool, u8),
    Ping,
    /// The engine answers.
    Answer,
    /// The engine sends `info`, during a search or not.
    Report,
    /// This number of lines arrives at the engine, or at the client.
    ToEngine(usize),
    ToClient(usize),
    /// A line to the client arrives twice.
    Repeat,
    /// An invented line arrives at either end.
    Noise(usize),
    /// The next line to the engine, or to the client, is lost.
    Lose {
        to_engine: bool,
    },
    /// The engine, or the client, exits: its output arrives, and then the end.
    Eof {
        of_engine: bool,
    },
    TimeoutKind(u16),
}

const NOISE: [&str; 6] =
    ["bestmove a1a1", "readyok", "stop", "go depth 1", "isready", "setoption name Hash value x"];

fn step(wire: Wire) -> BoxedStrategy<Step> {
    let search = (0u8..6, 0u8..4, prop::option::of(1u32..12))
        .prop_map(|(kind, position, multipv)| Step::Search { kind, position, multipv });
    let fair = prop_oneof![
        60 => search,
        30 => Just(Step::Stop),
        20 => Just(Step::PonderHit),
        10 => Just(Step::NewGame),
        10 => Just(Step::GameOver),
        20 => (any::<bool>(), 1u8..99).prop_map(|(hash, value)| Step::Option(hash, value)),
        20 => Just(Step::Ping),
        60 => Just(Step::Answer),
        30 => Just(Step::Report),
        80 => (1usize..4).prop_map(Step::ToEngine),
        80 => (1usize..4).prop_map(Step::ToClient),
        20 => (0u16..5000).prop_map(Step::TimeoutKind),
        2 => any::<bool>().prop_map(|of_engine| Step::Eof { of_engine }),
    ];
    let lose = any::<bool>().prop_map(|to_engine| Step::Lose { to_engine });
    match wire {
        Wire::Fair => fair.boxed(),
        Wire::Lossy => prop_oneof![20 => fair, 1 => lose].boxed(),
        Wire::Faulty => prop_oneof![
            12 => fair,
            1 => Just(Step::Repeat),
            1 => (0..NOISE.len()).prop_map(Step::Noise)
        ]
        .boxed(),
    }
}

/// A move that identifies its search.
fn move_of(tag: u64, dialect: Dialect) -> Move {
    let part = |divisor: u64| u8::try_from(tag / divisor % 8 + 1).unwrap();
    let (from, to) = (Square::new(part(1), part(8)), Square::new(part(64), 9));
    let shape = MoveShape::Board { from, to, suffix: None };
    Move::from_shape(shape, dialect).unwrap()
}

fn position_of(choice: u8, dialect: Dialect) -> Position<'static> {
    let fen = "fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let sfen = "sfen 4k4/9/9/9/9/9/4P4/9/4K4 b - 1";
    let text = match (choice, dialect) {
        (0, _) => "startpos",
        (1, Dialect::Uci) => "startpos moves e2e4 c7c5",
        (1, Dialect::Usi) => "startpos moves 7g7f 3c3d",
        (2, Dialect::Uci) => fen,
        (2, Dialect::Usi) => sfen,
        (_, Dialect::Uci) => &format!("{fen} moves e2e4"),
        (_, Dialect::Usi) => &format!("{sfen} moves 5g5f"),
    };
    match Command::read(&format!("position {text}"), dialect).strict().unwrap().into_owned() {
        Command::Position(position) => position,
        other => panic!("no position: {other:?}"),
    }
}

/// Limits of several kinds that encode the tag.
fn go_of(kind: u8, tag: u64, dialect: Dialect) -> Go<'static> {
    let named = || Some([move_of(tag, dialect)].into_iter().collect());
    match (kind, dialect) {
        (0, _) => Go { search_moves: named(), ..Go::infinite() },
        (1, _) => Go { ponder: true, search_moves: named(), ..Go::nodes(9) },
        (2, _) => Go::nodes(tag),
        (3, _) => Go { search_moves: named(), ..Go::depth(3) },
        (4, Dialect::Usi) => Go { mate: Some(millis(tag)), ..Go::default() },
        (4, Dialect::Uci) => {
            Go { mate: Some(MateLimit::Moves(2)), search_moves: named(), ..Go::default() }
        }
        _ => Go::depth(u32::try_from(tag).unwrap()),
    }
}

fn millis(tag: u64) -> MateLimit {
    MateLimit::Time(Duration::from_millis(tag))
}

/// The engine's move for these limits.
fn answer_to(go: &Go<'_>, dialect: Dialect) -> Move {
    let named = go.search_moves.as_ref().and_then(|moves| moves.moves().next());
    let timed = match go.mate {
        Some(MateLimit::Time(time)) => u64::try_from(time.as_millis()).ok(),
        _ => None,
    };
    let tag = timed.or(go.nodes).or_else(|| go.depth.map(u64::from)).unwrap_or(0);
    named.unwrap_or_else(|| move_of(tag, dialect))
}

/// A search from the engine's point of view.
struct Work {
    go: Go<'static>,
    /// Whether it is answered by `checkmate`.
    for_mate: bool,
    /// Whether it is unanswered.
    open: bool,
    since: Duration,
    /// Whether `info` was sent.
    reported: bool,
}

/// A search from the client's point of view.
struct Asked {
    position: Position<'static>,
    multipv: i64,
    answer: Move,
    /// Number of ends.
    ends: u32,
}

/// A client, an engine, the wire between them, and two referees at its ends.
struct Pair {
    dialect: Dialect,
    client: client::ClientSession,
    engine: engine::EngineSession,
    to_engine: VecDeque<String>,
    to_client: VecDeque<String>,
    /// Checks the lines of the client, in the order seen by the client.
    at_client: ProtocolState,
    /// Checks the lines of the engine, in the order seen by the engine. Effects of invented lines are not
    /// checked.
    at_engine: Option<ProtocolState>,
    /// The latest search of the engine.
    work: Option<Work>,
    accepted: u32,
    answered: u32,
    asked: BTreeMap<client::SearchId, Asked>,
    last: Option<client::SearchId>,
    /// `Hash` was set before `Threads`, and has to be set again.
    hash_is_due: Option<bool>,
    multipv: i64,
    now: Duration,
    wire: Wire,
    client_gone: bool,
    engine_gone: bool,
}

impl Pair {
    fn new(dialect: Dialect, wire: Wire) -> Self {
        let mut out = String::new();
        let timeouts = client::Timeouts::default();
        let client = client::ClientSession::start(dialect, timeouts, Duration::ZERO, &mut out);
        let options = Dialect::ALL.map(|dialect| {
            let mut set = OptionSet::new(dialect);
            set.declare(OptionDecl::spin("Hash", 16, 1, 1024));
            set.declare(OptionDecl::check("Ponder", false));
            set.declare(OptionDecl::spin("MultiPV", 1, 1, 8));
            set.declare(OptionDecl::spin("Threads", 1, 1, 99));
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
            at_client: ProtocolState::new(dialect),
            at_engine: (wire == Wire::Fair).then(|| ProtocolState::new(dialect)),
            work: None,
            accepted: 0,
            answered: 0,
            asked: BTreeMap::new(),
            last: None,
            hash_is_due: None,
            multipv: 1,
            now: Duration::ZERO,
            wire,
            client_gone: false,
            engine_gone: false,
        };
        pair.client_sent(&out);
        pair
    }

    fn client_sent(&mut self, out: &str) {
        for line in out.lines() {
            let reading = Command::read(line, self.dialect);
            assert_eq!(reading.diagnostics, [], "the client wrote `{line}`");
            assert_eq!(self.at_client.command(&reading.value), Ok(()), "the client sent `{line}`");
            self.check_order(&reading.value, line);
            self.to_engine.push_back(line.to_owned());
        }
        while let Some(event) = self.client.poll_event() {
            self.check_client_event(event);
        }
    }

    /// Checks the order of options and limits, which the protocol state does not check.
    fn check_order(&mut self, command: &Command<'_>, line: &str) {
        match command {
            // The default needs no repetition, nor does an undeclared option of a shogi engine.
            Command::SetOption(set) if set.name.ends_with("Hash") => {
                let declared = self.client.options().find("Hash");
                let repeated = declared.filter(|_| set.value.as_deref() != Some("16"));
                self.hash_is_due = repeated.map(|_| false);
            }
            Command::SetOption(set) if set.name == "Threads" => {
                self.hash_is_due = self.hash_is_due.map(|_| true);
            }
            Command::Go(_) | Command::IsReady => {
                assert_ne!(self.hash_is_due, Some(true), "no `Hash` after `Threads`");
            }
            _ => (),
        }
        if let Some((_, moves)) = line.split_once(" searchmoves ") {
            let moves: MoveList<'_> = moves.parse().unwrap();
            assert_eq!(moves.moves().count(), moves.len(), "a limit after the moves: `{line}`");
        }
    }

    fn check_client_event(&mut self, event: client::Event) {
        let is_faulty = self.wire == Wire::Faulty;
        match event {
            client::Event::Started(id) | client::Event::Overrun(id) => {
                assert_eq!(self.asked[&id].ends, 0, "an event after the end of {id:?}");
            }
            client::Event::Info(id, info) => {
                let asked = &self.asked[&id];
                assert_eq!(asked.ends, 0, "`info` after the end of {id:?}");
                let first = info.pv.and_then(|pv| pv.moves().next());
                assert!(
                    is_faulty || first.is_none_or(|first| first == asked.answer),
                    "another search"
                );
            }
            client::Event::BestMove(id, best) => {
                self.end(id);
                let expected = Best::Move(self.asked[&id].answer);
                assert!(is_faulty || best.best == expected, "{best:?} of another search");
            }
            client::Event::Checkmate(id, mate) => {
                self.end(id);
                let expected = Checkmate::Moves([self.asked[&id].answer].into_iter().collect());
                assert!(is_faulty || mate == expected, "{mate:?} of another search");
            }
            client::Event::Dropped(id, _) => self.end(id),
            // A client terminates an engine that times out, unless the session continues by itself.
            client::Event::Timeout(wait)
                if self.wire == Wire::Lossy && wait != client::TimeoutKind::Ready =>
            {
                self.to_client.clear();
                self.lose_engine();
            }
            client::Event::Violation(it) if self.wire == Wire::Fair => panic!("{it}"),
            client::Event::Malformed(diagnostics) if self.wire == Wire::Fair => {
                panic!("{diagnostics:?}")
            }
            client::Event::UnknownLine(line) if self.wire == Wire::Fair => panic!("{line}"),
            _ => (),
        }
    }

    fn end(&mut self, id: client::SearchId) {
        let asked = self.asked.get_mut(&id).unwrap();
        asked.ends += 1;
        assert_eq!(asked.ends, 1, "a second end of {id:?}");
    }

    fn engine_sent(&mut self, out: &str) {
        for line in out.lines() {
            let reading = Reply::read(line, self.dialect);
            // Before the handshake an engine uses another dialect.
            let fits = reading.diagnostics.is_empty() || self.wire == Wire::Faulty;
            assert!(fits, "the engine wrote `{line}`");
            let fault = self.at_engine.as_mut().map(|judge| judge.reply(&reading.value));
            assert_eq!(fault.unwrap_or(Ok(())), Ok(()), "the engine sent `{line}`");
            self.check_reply(&reading.value);
            self.to_client.push_back(line.to_owned());
        }
        while let Some(event) = self.engine.poll_event() {
            match event {
                engine::Event::Search(request) => self.begin(&request),
                engine::Event::Prepare => {
                    let mut out = String::new();
                    self.engine.ready(&mut out).unwrap();
                    self.engine_sent(&out);
                }
                engine::Event::SetOption { name, value: OptionValue::Spin(lines) }
                    if name == "MultiPV" =>
                {
                    self.multipv = lines;
                }
                engine::Event::Violation(it) if self.wire == Wire::Fair => panic!("{it}"),
                engine::Event::Malformed(diagnostics) if self.wire == Wire::Fair => {
                    panic!("{diagnostics:?}")
                }
                engine::Event::Unknown(line) if self.wire == Wire::Fair => panic!("{line}"),
                _ => (),
            }
        }
    }

    /// Checks the time of `info`.
    fn check_reply(&mut self, reply: &Reply<'_>) {
        match reply {
            Reply::Info(info) if info.string.is_none() => {
                let work = self.work.as_mut().expect("`info` without a search");
                let late = Duration::from_secs(1) <= self.now.saturating_sub(work.since);
                assert!(late || info.currmove.is_none(), "details within the first second");
                work.reported = true;
            }
            Reply::BestMove(_) | Reply::Checkmate(_) => {
                self.answered += 1;
                let work = self.work.take().expect("an answer without a search");
                assert!(work.reported, "an answer without `info`");
            }
            _ => (),
        }
    }

    fn begin(&mut self, request: &engine::SearchRequest) {
        assert!(self.work.is_none(), "two concurrent searches");
        self.accepted += 1;
        if self.wire == Wire::Fair {
            let answer = answer_to(&request.go, self.dialect);
            let asked = self.asked.values().find(|asked| asked.answer == answer);
            let asked = asked.expect("a search that the client asked for");
            assert_eq!(request.position, asked.position);
            assert_eq!(self.multipv, asked.multipv);
        }
        let for_mate = request.go.mate.is_some() && self.dialect == Dialect::Usi;
        let go = request.go.clone();
        self.work = Some(Work { go, for_mate, open: true, since: self.now, reported: false });
    }

    fn engine_receives(&mut self, line: &str) {
        if self.engine_gone || self.client_gone {
            return;
        }
        let mut out = String::new();
        let command = Command::read(line, self.dialect).value;
        let fault = self.at_engine.as_mut().map(|judge| judge.command(&command));
        assert_eq!(fault.unwrap_or(Ok(())), Ok(()), "the engine received `{line}`");
        self.engine.receive_line(line, self.now, &mut out);
        self.engine_sent(&out);
    }

    fn client_receives(&mut self, line: &str) {
        if self.engine_gone || self.client_gone {
            return;
        }
        let mut out = String::new();
        self.at_client.apply_reply_lenient(&Reply::read(line, self.dialect).value);
        self.client.receive_line(line, self.now, &mut out);
        self.client_sent(&out);
    }

    fn play(&mut self, step: &Step) {
        let mut out = String::new();
        match *step {
            Step::Search { kind, position, multipv } => {
                let tag = u64::try_from(self.asked.len()).unwrap() + 1;
                let go = go_of(kind, tag, self.dialect);
                let position = position_of(position, self.dialect);
                let asked = Asked {
                    position: position.clone(),
                    multipv: multipv.unwrap_or(1).min(8).into(),
                    answer: move_of(tag, self.dialect),
                    ends: 0,
                };
                let request = client::SearchRequest { position, go, multipv, ..Default::default() };
                if let Ok(id) = self.client.search(request, self.now, &mut out) {
                    self.asked.insert(id, asked);
                    self.last = Some(id);
                }
            }
            Step::Stop => self.with_last(client::ClientSession::stop),
            Step::PonderHit => self.with_last(|client, id, now, out| {
                // Rejected if the search is not pondering.
                let _ = client.ponder_hit(id, None, now, out);
            }),
            Step::NewGame => {
                // Rejected until the handshake is complete.
                let _ = self.client.new_game(client::NewGame::default(), self.now, &mut out);
            }
            Step::GameOver => self.client.game_over(GameResult::Lose, self.now, &mut out),
            Step::Option(hash, value) => {
                let (name, value) = (if hash { "Hash" } else { "Threads" }, value.to_string());
                // Rejected until the handshake is complete.
                let _ = self.client.set_option(name, Some(&value), self.now, &mut out);
            }
            Step::Ping => {
                let _ = self.client.ping(self.now, &mut out);
            }
            Step::Answer => self.answer(),
            Step::Report => {
                let dialect = self.engine.protocol_state().dialect();
                let answer = self.work.as_ref().map(|work| answer_to(&work.go, dialect));
                let info = Info {
                    depth: Some(1),
                    nodes: Some(7),
                    currmove: Some(move_of(0, dialect)),
                    pv: answer.map(|answer| [answer].into_iter().collect()),
                    ..Info::default()
                };
                let mut out = String::new();
                self.engine.info(info, self.now, &mut out).unwrap();
                self.engine_sent(&out);
            }
            Step::ToEngine(count) => {
                for _ in 0..count {
                    let Some(line) = self.to_engine.pop_front() else { break };
                    self.engine_receives(&line);
                }
            }
            Step::ToClient(count) => {
                for _ in 0..count {
                    let Some(line) = self.to_client.pop_front() else { break };
                    self.client_receives(&line);
                }
            }
            Step::Repeat => {
                if let Some(line) = self.to_client.front().cloned() {
                    self.to_client.push_front(line);
                }
            }
            Step::Noise(index) => {
                let line = NOISE[index];
                if index < 2 { self.client_receives(line) } else { self.engine_receives(line) }
            }
            Step::Lose { to_engine } => {
                // Lost lines are removed before they arrive.
                let line = if to_engine { &mut self.to_engine } else { &mut self.to_client };
                line.pop_front();
            }
            Step::Eof { of_engine: true } => {
                self.play(&Step::ToClient(usize::MAX));
                self.lose_engine();
            }
            Step::Eof { of_engine: false } => {
                self.play(&Step::ToEngine(usize::MAX));
                self.lose_client();
            }
            Step::TimeoutKind(millis) => self.wait(Duration::from_millis(millis.into())),
        }
        self.client_sent(&out);
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        let mut out = String::new();
        self.client.handle_timeout(self.now, &mut out);
        self.client_sent(&out);
        let mut out = String::new();
        self.engine.handle_timeout(self.now, &mut out);
        self.engine_sent(&out);
    }

    /// The engine's process exits.
    fn lose_engine(&mut self) {
        if !self.client_gone {
            self.engine_gone = true;
            self.client.receive_eof();
            self.client_sent("");
        }
    }

    /// The client's process exits.
    fn lose_client(&mut self) {
        if !self.engine_gone {
            self.client_gone = true;
            if let Some(judge) = &mut self.at_engine {
                judge.apply_command_lenient(&Command::Quit);
            }
            let mut out = String::new();
            self.engine.end_of_input(&mut out);
            self.engine_sent(&out);
        }
    }

    fn with_last(
        &mut self,
        act: impl FnOnce(&mut client::ClientSession, client::SearchId, Duration, &mut String),
    ) {
        let mut out = String::new();
        if let Some(id) = self.last {
            act(&mut self.client, id, self.now, &mut out);
        }
        self.client_sent(&out);
    }

    fn answer(&mut self) {
        if let Some(work) = self.work.as_mut().filter(|work| work.open) {
            work.open = false;
            let answer = answer_to(&work.go, self.engine.protocol_state().dialect());
            let mut out = String::new();
            let result = if work.for_mate {
                let mate = Checkmate::Moves([answer].into_iter().collect());
                self.engine.checkmate(mate, self.now, &mut out)
            } else {
                self.engine.best_move(BestMove::from(answer), self.now, &mut out)
            };
            result.unwrap();
            self.engine_sent(&out);
        }
    }

    /// Delivers all lines and answers all searches. Only infinite searches are stopped, and only lost lines
    /// are skipped.
    fn settle(&mut self) {
        let end = [Step::Answer, Step::ToEngine(usize::MAX), Step::ToClient(usize::MAX)];
        for step in end.iter().cycle().take(300) {
            self.play(step);
        }
        self.play(&Step::Stop);
        if self.wire == Wire::Faulty {
            // After an invented `bestmove` the client may not send `stop`.
            self.engine_receives("stop");
        }
        let age = if self.wire == Wire::Lossy { Duration::from_hours(1) } else { Duration::ZERO };
        for _ in 0..10 {
            for step in end.iter().cycle().take(30) {
                self.play(step);
            }
            self.wait(age);
        }
    }

    fn is_whole(&self) -> bool {
        !self.client_gone && !self.engine_gone
    }

    /// Checks that the engine has answered all searches.
    fn check_answers(&self) {
        assert!(self.engine_gone || self.accepted == self.answered, "an unanswered search");
    }

    /// Checks that each search of the client has ended once.
    fn check_ends(&self) {
        let open = self.asked.iter().find(|(_, asked)| asked.ends != 1);
        assert!(self.client_gone || open.is_none(), "{:?} has no end", open.map(|(id, _)| id));
    }
}

fn play(usi: bool, wire: Wire, steps: &[Step]) -> Pair {
    let mut pair = Pair::new(if usi { Dialect::Usi } else { Dialect::Uci }, wire);
    for step in steps {
        pair.play(step);
    }
    pair.settle();
    pair
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// For any actions and delays: neither side violates a rule, every search of the client ends once, with
    /// its own answer, and every `go` gets one `bestmove`.
    #[test]
    fn neither_side_violates_a_rule(
        usi in any::<bool>(),
        steps in prop::collection::vec(step(Wire::Fair), 0..100),
    ) {
        let pair = play(usi, Wire::Fair, &steps);
        if pair.is_whole() {
            prop_assert_eq!(pair.client.protocol_state().phase(), Phase::Idle);
            prop_assert_eq!(pair.engine.protocol_state().phase(), Phase::Idle);
        }
        pair.check_answers();
        pair.check_ends();
    }

    /// For any lost lines: no search gets the answer of another one, and with an engine that is terminated
    /// after a timeout, each search ends.
    #[test]
    fn lost_lines_do_not_mix_up_searches(
        usi in any::<bool>(),
        steps in prop::collection::vec(step(Wire::Lossy), 0..100),
    ) {
        let pair = play(usi, Wire::Lossy, &steps);
        pair.check_answers();
        pair.check_ends();
    }

    /// Repeated or invented lines end no search twice, start no two searches, and block neither side.
    #[test]
    fn duplicate_and_unexpected_lines_do_no_lasting_harm(
        usi in any::<bool>(),
        steps in prop::collection::vec(step(Wire::Faulty), 0..100),
    ) {
        let pair = play(usi, Wire::Faulty, &steps);
        pair.check_answers();
    }
}
