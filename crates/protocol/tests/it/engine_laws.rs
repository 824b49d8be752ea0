//! Properties of engine sessions for arbitrary clients and owners, checked by the property test and the
//! fuzz target.

use std::collections::VecDeque;
use std::time::Duration;

use readyok_protocol::session::engine::{EngineSession, Event, Profile};
use readyok_protocol::{
    BestMove, Checkmate, Command, Dialect, Goal, Info, Move, MoveList, OptionDecl, OptionSet,
    Phase, ProtocolState, Reply, Rule, Status, Violation,
};

/// The session sends complete and allowed messages, and answers each search once.
///
/// A line that starts with `!` is an action of the owner, selected by the next letter. All other lines
/// are from the client.
pub fn engine_session(bytes: &[u8]) {
    let options = Dialect::ALL.map(|dialect| {
        let mut options = OptionSet::new(dialect);
        options.declare(OptionDecl::spin("Hash", 16, 1, 1024));
        options.declare(OptionDecl::check("UCI_ShowCurrLine", true));
        options
    });
    let profile = Profile { name: "Law".into(), author: String::new(), options: options.into() };
    let session = EngineSession::new(profile).expect("the profile can be written");
    let mut run = Run {
        watcher: Watcher::new(session.protocol_state().dialect()),
        session,
        now: Duration::ZERO,
        out: String::new(),
    };
    for line in String::from_utf8_lossy(bytes).lines() {
        run.step(line);
    }
    // Enough stops and answers complete all searches.
    while !run.watcher.waiting.is_empty() || run.watcher.protocol_state.is_searching() {
        let before = run.watcher.answers;
        run.step("stop");
        run.step("!best");
        assert!(before < run.watcher.answers, "a search without an answer");
    }
}

struct Run {
    session: EngineSession,
    watcher: Watcher,
    now: Duration,
    out: String,
}

impl Run {
    fn step(&mut self, line: &str) {
        if let Some(verb) = line.strip_prefix('!') {
            act(verb, &mut self.session, &mut self.now, &mut self.out);
        } else {
            self.session.receive_line(line, self.now, &mut self.out);
        }
        while let Some(event) = self.session.poll_event() {
            assert_ne!(event, Event::Dropped, "a command was dropped");
        }
        match line.strip_prefix('!') {
            None => self.watcher.receive(line),
            Some(verb) if verb.starts_with('q') => self.watcher.receive("quit"),
            Some(_) => (),
        }
        self.out.lines().for_each(|line| self.watcher.check(line));
        self.out.clear();
    }
}

fn act(verb: &str, session: &mut EngineSession, now: &mut Duration, out: &mut String) {
    let best: Move = "0000".parse().expect("the null move");
    let pv: MoveList<'_> = [best].into_iter().collect();
    let number = u32::try_from(verb.len()).unwrap_or(u32::MAX);
    let info = match verb.chars().next() {
        Some('b') => return drop(session.best_move(BestMove::from(best), *now, out)),
        Some('c') => return drop(session.checkmate(Checkmate::NoMate, *now, out)),
        Some('r') => return drop(session.ready(out)),
        Some('g') => return drop(session.registration(Status::Error, out)),
        Some('y') => return drop(session.copy_protection(Status::Ok, out)),
        Some('q') => return session.end_of_input(out),
        Some('t') => {
            *now += Duration::from_millis(number.into());
            return session.handle_timeout(*now, out);
        }
        Some('p') => Info { depth: Some(number), pv: Some(pv), ..Info::default() },
        Some('m') => Info { multipv: Some(number), pv: Some(pv), ..Info::default() },
        Some('d') => Info { currmove: Some(best), depth: Some(number), ..Info::default() },
        _ => Info::text("text"),
    };
    // A forbidden call is rejected; the watcher checks whether that is correct.
    let _rejected = session.info(info, *now, out);
}

/// Follows the session like a client that queues what an engine cannot accept yet.
struct Watcher {
    protocol_state: ProtocolState,
    /// The client's protocol. The engine adopts it in the handshake.
    dialect: Dialect,
    /// A handshake command was sent.
    settled: bool,
    waiting: VecDeque<Command<'static>>,
    position_is_valid: bool,
    /// The running search has no valid position, so it is answered as soon as the rules allow.
    fails: bool,
    searches: usize,
    answers: usize,
}

impl Watcher {
    fn new(dialect: Dialect) -> Self {
        let (protocol_state, waiting) = (ProtocolState::new(dialect), VecDeque::new());
        Self {
            protocol_state,
            dialect,
            settled: false,
            waiting,
            position_is_valid: true,
            fails: false,
            searches: 0,
            answers: 0,
        }
    }

    fn receive(&mut self, line: &str) {
        if self.waiting.contains(&Command::Quit) {
            return;
        }
        let hello = Dialect::of_handshake(line).filter(|_| !self.settled);
        self.settled |= hello.is_some();
        self.dialect = hello.unwrap_or(self.dialect);
        let command = Command::read(line, self.dialect).value;
        let behind = is_about_search(&command) && self.waiting.iter().any(is_search);
        let waits = (hello.is_some() || is_invalid_position(&command))
            && self.protocol_state.is_searching();
        if behind || waits || !self.take(&command) {
            self.waiting.push_back(command.into_owned());
        }
        self.settle();
    }

    /// Applies a command, unless it has to wait.
    fn take(&mut self, command: &Command<'_>) -> bool {
        let before = self.protocol_state.is_searching();
        let rule = self.protocol_state.command(command).err().map(|violation| violation.rule);
        if rule.is_some_and(|rule| !rule.is_ignored()) {
            self.protocol_state.apply_command_lenient(command);
        }
        if *command == Command::Uci && self.protocol_state.phase() == Phase::Handshake {
            self.protocol_state.set_dialect(self.dialect);
        }
        if matches!(command, Command::Position(_)) && rule != Some(Rule::BusyEngine) {
            self.position_is_valid = true;
        } else if is_invalid_position(command) {
            self.position_is_valid = false;
        }
        if !before && self.protocol_state.is_searching() {
            self.searches += 1;
            self.fails = !self.position_is_valid;
        }
        rule != Some(Rule::BusyEngine)
    }

    fn may_answer(&self) -> bool {
        let Phase::Searching { goal, pondering, stopped } = self.protocol_state.phase() else {
            return false;
        };
        stopped || !pondering && goal != Goal::Infinite
    }

    fn check(&mut self, line: &str) {
        let reading = Reply::read(line, self.protocol_state.dialect());
        assert!(reading.diagnostics.is_empty(), "{line:?} is malformed: {:?}", reading.diagnostics);
        assert!(!matches!(reading.value, Reply::Unknown(_)), "{line:?} is not a message");
        let verdict: Result<(), Violation> = self.protocol_state.reply(&reading.value);
        assert_eq!(verdict, Ok(()), "{line:?}");
        if matches!(reading.value, Reply::BestMove(_) | Reply::Checkmate(_)) {
            self.answers += 1;
            self.fails = false;
            assert!(self.answers <= self.searches, "an answer without a search");
        }
        self.settle();
    }

    /// Applies queued commands as soon as possible; a queued `go` ends the search before it.
    fn settle(&mut self) {
        if self.protocol_state.phase() == Phase::Closed {
            return self.waiting.clear();
        }
        while self.protocol_state.phase() != Phase::Handshake {
            let searching = self.protocol_state.is_searching();
            if searching && self.fails && self.may_answer() {
                break;
            }
            let mut before = self.waiting.iter().take_while(|next| !is_search(next));
            let at = if searching { before.position(is_about_search) } else { Some(0) };
            let Some(command) = at.and_then(|at| self.waiting.remove(at)) else { break };
            self.take(&command);
        }
        if self.waiting.iter().any(|next| is_search(next) || *next == Command::Uci) {
            self.protocol_state.apply_command_lenient(&Command::Stop);
        }
    }
}

fn is_about_search(command: &Command<'_>) -> bool {
    matches!(command, Command::Stop | Command::PonderHit(_) | Command::GameOver(_) | Command::Quit)
}

fn is_invalid_position(command: &Command<'_>) -> bool {
    let Command::Unknown(text) = command else { return false };
    text.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case("position"))
}

fn is_search(command: &Command<'_>) -> bool {
    matches!(command, Command::Go(go) if go.perft.is_none())
}
