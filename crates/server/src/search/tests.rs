//! Tests of [`Tasks`] with processes that only this file plays: their events come in random orders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use readyok_client::{Dialect, EngineFailureKind};
use readyok_protocol::{GameResult, OptionSet};
use readyok_rules::{Game, Position};
use tokio::sync::{mpsc, oneshot};

use super::process::Reply;
use super::*;
use crate::engine::{
    EngineCommand, EngineEvent, EngineFailure, EngineInfo, Found, Process, SearchKind, Start,
};
use crate::game::{EngineAnswer, EngineLine, EngineMove};
use crate::wire::{
    EngineProgram, EngineSource, ErrorCode, ErrorInfo, ProcessId, SearchInfo, SearchLimits, Side,
};

type Commands = mpsc::Receiver<EngineCommand>;
type Answer = oneshot::Receiver<Result<Found, ErrorInfo>>;

/// The other end of a process.
struct FakeProcess {
    commands: Commands,
    is_ready: bool,
    has_quit: bool,
    /// The searches that it has received, which it may still answer.
    searches: Vec<u64>,
}

/// [`Tasks`] with processes that a test plays.
struct Stage {
    tasks: Tasks,
    started: Arc<Mutex<Vec<(ProcessId, Commands)>>>,
    processes: BTreeMap<ProcessId, FakeProcess>,
}

fn line() -> EngineLine {
    let position = Position::start(Game::Chess);
    EngineLine { start: position.clone(), moves: Vec::new(), position }
}

fn wanted() -> Wanted {
    Wanted::evaluation(line(), SearchLimits::default())
}

fn info() -> EngineInfo {
    let (name, author) = ("Test".to_owned(), String::new());
    let (dialect, options) = (Dialect::Uci, OptionSet::default());
    EngineInfo { name, author, dialect, options, pid: None }
}

fn found() -> Found {
    let best = EngineMove::Move("e2e4".to_owned());
    let answer = EngineAnswer { best, ponder: None, elapsed: 1 };
    Found { answer, info: SearchInfo::default() }
}

fn start() -> Start {
    Start {
        name: "Test".to_owned(),
        source: EngineSource::BuiltIn,
        built_in: EngineProgram::new("", [""; 0]),
        dialect: None,
        values: BTreeMap::new(),
        register: None,
        ponders: false,
        guard: None,
    }
}

impl Stage {
    fn new() -> Self {
        let started = Arc::<Mutex<Vec<_>>>::default();
        let new = Arc::clone(&started);
        let launch = move |id, _| {
            let (process, commands) = Process::fake();
            new.lock().expect("no panic").push((id, commands));
            process
        };
        Self { tasks: Tasks::new(Box::new(launch)), started, processes: BTreeMap::new() }
    }

    fn start(&mut self, owner: Owner) -> ProcessId {
        let id = self.tasks.start(owner, 1, start(), BTreeMap::new()).expect("few processes run");
        self.see_started();
        id
    }

    fn see_started(&mut self) {
        for (id, commands) in self.started.lock().expect("no panic").drain(..) {
            let process =
                FakeProcess { commands, is_ready: false, has_quit: false, searches: Vec::new() };
            self.processes.insert(id, process);
        }
    }

    fn search(&mut self, owner: Owner) -> Result<(), ErrorInfo> {
        self.tasks.search(owner, wanted(), None)
    }

    fn search_once(&mut self, owner: Owner) -> Answer {
        self.start(owner);
        let (reply, answer): (Reply, _) = oneshot::channel();
        self.tasks.search(owner, wanted(), Some(reply)).expect("it runs");
        answer
    }

    /// Reads the commands of a process. None follows `quit`.
    fn read(&mut self, id: ProcessId) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        while let Ok(command) = process.commands.try_recv() {
            assert!(!process.has_quit, "{command:?} follows `quit`");
            match command {
                EngineCommand::Search(spec) => {
                    assert!(process.is_ready, "a search before the handshake");
                    process.searches.push(spec.search_id);
                }
                EngineCommand::Quit => process.has_quit = true,
                _ => (),
            }
        }
    }

    fn report(&mut self, id: ProcessId, event: EngineEvent) -> Vec<(Owner, TaskEvent)> {
        let is_ready = matches!(event, EngineEvent::Ready(_));
        if let EngineEvent::Exited(_) = event {
            self.read(id);
            self.processes.remove(&id);
        }
        let event = self.tasks.on_event(id, event);
        let mut events: Vec<_> = event.into_iter().collect();
        if is_ready {
            self.tasks.get_mut(id).expect("it is known").set_ready(&info(), None);
            self.processes.get_mut(&id).expect("it runs").is_ready = true;
            events.extend(self.tasks.begin(id));
        }
        self.read(id);
        events.into_iter().filter_map(|(owner, event)| Some((owner?, event))).collect()
    }
}

fn code(answer: &mut Answer) -> Option<Result<(), ErrorCode>> {
    let result = answer.try_recv().ok()?;
    Some(result.map(drop).map_err(|why| why.code))
}

const PLAYER: Owner = Owner::Player(1, Side::First);

#[tokio::test]
async fn an_answer_to_an_earlier_search_is_dropped() {
    let mut stage = Stage::new();
    let id = stage.start(PLAYER);
    stage.search(PLAYER).expect("it runs");
    stage.report(id, EngineEvent::Ready(Box::new(info())));
    let first = stage.processes[&id].searches[0];
    stage.search(PLAYER).expect("it runs");
    for event in
        [EngineEvent::SearchStarted(first), EngineEvent::SearchFinished(first, Box::new(found()))]
    {
        assert!(stage.report(id, event).is_empty());
    }
    let second = stage.processes[&id].searches[1];
    let events = stage.report(id, EngineEvent::SearchFinished(second, Box::new(found())));
    assert!(matches!(events[..], [(PLAYER, TaskEvent::Done(Ok(_)))]));
    // A withdrawn search has no end.
    stage.search(PLAYER).expect("it runs");
    stage.tasks.rest(PLAYER);
    stage.read(id);
    let third = stage.processes[&id].searches[2];
    assert!(stage.report(id, EngineEvent::SearchFinished(third, Box::new(found()))).is_empty());
}

#[tokio::test]
async fn a_search_begins_after_the_handshake_in_its_latest_form() {
    let mut stage = Stage::new();
    let id = stage.start(PLAYER);
    let ponder = Wanted { kind: SearchKind::Ponder, ..wanted() };
    stage.tasks.search(PLAYER, ponder, None).expect("it runs");
    stage.tasks.move_now(PLAYER);
    assert!(stage.processes.get_mut(&id).expect("it runs").commands.try_recv().is_err());
    stage.tasks.get_mut(id).expect("it is known").set_ready(&info(), None);
    assert!(stage.tasks.begin(id).is_none());
    let commands = &mut stage.processes.get_mut(&id).expect("it runs").commands;
    assert!(matches!(commands.try_recv(), Ok(EngineCommand::Search(_))));
    assert!(matches!(commands.try_recv(), Ok(EngineCommand::MoveNow)));
}

#[tokio::test]
async fn each_failed_search_is_answered() {
    let owner = Owner::Hint(1);
    let check = |end: fn(&mut Stage, ProcessId), expected| {
        let mut stage = Stage::new();
        let mut answer = stage.search_once(owner);
        let id = *stage.processes.keys().next().expect("it runs");
        end(&mut stage, id);
        assert_eq!(code(&mut answer), Some(Err(expected)));
    };
    check(|stage, id| drop(stage.report(id, EngineEvent::Exited(None))), ErrorCode::EngineStopped);
    check(
        |stage, id| {
            let why = EngineFailure {
                why: EngineFailureKind::ProgramNotFound.into(),
                stderr: Vec::new(),
            };
            stage.report(id, EngineEvent::Exited(Some(why)));
        },
        EngineFailureKind::ProgramNotFound.into(),
    );
    check(|stage, _| drop(stage.search_once(Owner::Hint(1))), ErrorCode::AttemptReplaced);
    check(|stage, _| stage.tasks.end_game(1), ErrorCode::GameClosed);
    check(|stage, _| stage.tasks.end_all(), ErrorCode::ShuttingDown);
    check(
        |stage, id| {
            stage.report(id, EngineEvent::Ready(Box::new(info())));
            let search = stage.processes[&id].searches[0];
            stage.report(id, EngineEvent::SearchRejected(search, ErrorCode::NoScore.into()));
        },
        ErrorCode::NoScore,
    );
    check(
        |stage, id| {
            let exit = stage.tasks.kill(id).expect("it runs");
            stage.report(id, exit);
        },
        ErrorCode::KilledByUser,
    );
}

#[tokio::test]
async fn a_position_that_the_engine_does_not_support_is_answered() {
    let mut stage = Stage::new();
    let owner = Owner::Exercise(1);
    stage.start(owner);
    let (reply, mut answer) = oneshot::channel();
    stage.tasks.search(owner, wanted(), Some(reply)).expect("its protocol is unknown");
    let id = *stage.processes.keys().next().expect("it runs");
    // A USI engine does not play chess.
    let info = EngineInfo { dialect: Dialect::Usi, ..info() };
    stage.tasks.get_mut(id).expect("it is known").set_ready(&info, None);
    assert!(stage.tasks.begin(id).is_none(), "a caller waits for the result");
    assert_eq!(code(&mut answer), Some(Err(EngineFailureKind::UnsupportedGame.into())));
    stage.read(id);
    assert!(stage.processes[&id].has_quit);
}

/// A generator of the steps of a random run (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((bits ^ (bits >> 31)) % end as u64).expect("it is smaller")
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() { None } else { all.get(self.below(all.len())).copied() }
    }
}

const KEPT: [Owner; 6] = [
    PLAYER,
    Owner::Player(1, Side::Second),
    Owner::Player(2, Side::First),
    Owner::Analysis(1, 1),
    Owner::Analysis(2, 2),
    Owner::Report(1),
];
const ONCE: [Owner; 4] = [Owner::Hint(1), Owner::Hint(2), Owner::Attempt(1), Owner::Exercise(1)];

/// A run of random steps: the searches of owners that keep their processes, and those that callers wait for.
struct Run {
    stage: Stage,
    random: Random,
    /// The owners whose searches have not ended.
    searching: BTreeSet<usize>,
    answers: Vec<Answer>,
    searches: usize,
    ended: usize,
    answered: usize,
}

impl Run {
    fn new(seed: u64) -> Self {
        let (stage, random, searching) = (Stage::new(), Random(seed), BTreeSet::new());
        Self { stage, random, searching, answers: Vec::new(), searches: 0, ended: 0, answered: 0 }
    }

    fn withdraw(&mut self, of: impl Fn(Owner) -> bool) {
        let before = self.searching.len();
        self.searching.retain(|index| !of(KEPT[*index]));
        self.ended += before - self.searching.len();
    }

    fn handle(&mut self, events: Vec<(Owner, TaskEvent)>) {
        for (owner, event) in events {
            let Some(index) = KEPT.iter().position(|kept| *kept == owner) else {
                assert!(!matches!(event, TaskEvent::Done(_)), "a caller waits for the result");
                continue;
            };
            match event {
                TaskEvent::Done(_) => {
                    assert!(self.searching.remove(&index), "{owner:?} has no search");
                    self.ended += 1;
                }
                TaskEvent::Exited { .. } => {
                    self.ended += usize::from(self.searching.remove(&index));
                }
                TaskEvent::Started | TaskEvent::Progress(_) => {
                    assert!(self.searching.contains(&index), "{owner:?} has no search");
                }
                TaskEvent::Ready(_) => (),
            }
        }
    }

    /// A command of a feature or of the user.
    fn command(&mut self) {
        let owner = KEPT[self.random.below(KEPT.len())];
        match self.random.below(12) {
            0..4 => {
                if self.stage.tasks.process_of(owner).is_none() {
                    self.stage.start(owner);
                }
                self.withdraw(|kept| kept == owner);
                self.searches += 1;
                let index = KEPT.iter().position(|kept| *kept == owner).expect("a kept one");
                match self.stage.search(owner) {
                    Ok(()) => drop(self.searching.insert(index)),
                    Err(_) => self.ended += 1,
                }
            }
            4..8 => {
                let owner = ONCE[self.random.below(ONCE.len())];
                self.searches += 1;
                let answer = self.stage.search_once(owner);
                self.answers.push(answer);
            }
            8 => {
                self.stage.tasks.rest(owner);
                self.withdraw(|kept| kept == owner);
            }
            9 => {
                self.stage.tasks.end_player(owner, GameResult::Draw);
                self.withdraw(|kept| kept == owner);
            }
            10 if self.random.below(4) == 0 => {
                self.stage.tasks.end_game(1);
                self.withdraw(|kept| kept.game() == Some(1));
            }
            _ => {
                let ids: Vec<_> = self.stage.processes.keys().copied().collect();
                let Some(id) = self.random.of(&ids) else { return };
                match self.random.below(4) {
                    0 => {
                        let exit = self.stage.tasks.kill(id).expect("it runs");
                        let events = self.stage.report(id, exit);
                        self.handle(events);
                    }
                    1 => drop(self.stage.tasks.quit_and_restart(id)),
                    2 => drop(self.stage.tasks.command(id, EngineCommand::Quit)),
                    _ => self.stage.tasks.move_now(owner),
                }
            }
        }
    }

    /// An event of a process.
    fn event(&mut self) {
        let ids: Vec<_> = self.stage.processes.keys().copied().collect();
        let Some(id) = self.random.of(&ids) else { return };
        self.stage.read(id);
        let process = &self.stage.processes[&id];
        let search = self.random.of(&process.searches);
        let event = match (self.random.below(10), search) {
            (0, _) => EngineEvent::Exited(None),
            (1, _) => {
                let why = EngineFailureKind::OutputClosed.into();
                EngineEvent::Exited(Some(EngineFailure { why, stderr: Vec::new() }))
            }
            _ if process.has_quit => EngineEvent::Exited(None),
            _ if !process.is_ready => EngineEvent::Ready(Box::new(info())),
            (2..4, Some(search)) => EngineEvent::SearchStarted(search),
            (4..6, Some(search)) => EngineEvent::Info(search, Box::default()),
            (6..9, Some(search)) => EngineEvent::SearchFinished(search, Box::new(found())),
            (_, Some(search)) => {
                EngineEvent::SearchRejected(search, ErrorCode::EngineStopped.into())
            }
            (_, None) => EngineEvent::Status(crate::wire::ProcessStatus::Idle),
        };
        let events = self.stage.report(id, event);
        self.handle(events);
    }

    fn count_answers(&mut self) {
        self.answers.retain_mut(|answer| match answer.try_recv() {
            Ok(_) => {
                self.answered += 1;
                false
            }
            Err(oneshot::error::TryRecvError::Empty) => true,
            Err(oneshot::error::TryRecvError::Closed) => panic!("a search without an answer"),
        });
    }
}

/// More than ten thousand searches: each ends once, no command follows `quit`, and each caller gets an answer.
#[tokio::test]
async fn each_search_ends_once_in_any_order_of_events() {
    let mut searches = 0;
    for seed in 0..300 {
        let mut run = Run::new(seed);
        for _ in 0..160 {
            if run.random.below(2) == 0 {
                run.command();
            } else {
                run.event();
            }
            run.count_answers();
        }
        run.stage.tasks.end_all();
        run.withdraw(|_| true);
        for id in run.stage.processes.keys().copied().collect::<Vec<_>>() {
            run.stage.read(id);
            assert!(run.stage.processes[&id].has_quit, "process {id} continues");
            let events = run.stage.report(id, EngineEvent::Exited(None));
            run.handle(events);
        }
        run.count_answers();
        assert!(run.answers.is_empty(), "seed {seed}: {} callers wait", run.answers.len());
        assert_eq!(run.ended + run.answered, run.searches, "seed {seed}");
        searches += run.searches;
    }
    assert!(10_000 <= searches, "{searches} searches");
}
