//! The display of a match.

use std::io::{self, Write};

use readyok::matches::{LiveTable, MatchText};
use readyok_arena::event::{End, Event, JointRatings, Rating};
use readyok_arena::listener::Listener as _;
use readyok_arena::match_state::MatchState;
use readyok_arena::pairing::{Opening, PairResult, Pairing};
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::queue::{Stop, WarningContext, WorkerId};
use readyok_arena::result::{GameEnd, MatchGame, WarningKind};
use readyok_arena::store::ContentHash;
use readyok_rules::{Side, Termination};

use crate::program::Terminal;

const A: EngineId = EngineId(0);
const B: EngineId = EngineId(1);

fn plan() -> Plan {
    toml::from_str(
        "game = 'chess'\nrounds = 4\nadjudication = { max_moves = 22 }\n\
         [[engines]]\nname = 'a'\ncommand = 'a'\n[[engines]]\nname = 'b'\ncommand = 'b'\n",
    )
    .expect("a plan")
}

fn match_start(resumed: u64) -> Event {
    let engines = vec!["a".to_owned(), "b".to_owned()];
    Event::MatchStart {
        plan_hash: ContentHash::of_plan(&plan()),
        game: plan().game,
        engines,
        resumed,
    }
}

fn game_start(pair: u64, game: u32, [first, second]: [EngineId; 2]) -> Event {
    let worker = WorkerId(format!("worker-{pair}"));
    Event::GameStart { pair, game, round: 1, first, second, worker, opening: Opening::default() }
}

fn game_end(pair: u64, game: u32, sides: [EngineId; 2], winner: Option<Side>) -> Event {
    let mates = winner.is_some();
    let termination = if mates { Termination::Checkmate } else { Termination::Stalemate };
    ended(pair, game, sides, winner, termination.into())
}

fn ended(
    pair: u64,
    game: u32,
    [first, second]: [EngineId; 2],
    winner: Option<Side>,
    end: GameEnd,
) -> Event {
    Event::GameEnd {
        pair,
        game,
        first,
        second,
        winner,
        end,
        plies: 40,
        duration_ms: 1,
        engines: Box::default(),
    }
}

/// A pair that `a` wins by a win and a draw, and its events.
fn pair(index: u64) -> (PairResult, Vec<Event>) {
    let pairing = Pairing {
        index,
        round: 1,
        first: A,
        second: B,
        games: 2,
        fixed_colors: false,
        // Games from one opening would repeat each other.
        opening: Opening { position: Some(index.to_string()), index, ..Opening::default() },
        options: Default::default(),
    };
    let game = |(first, second, winner)| MatchGame {
        first,
        second,
        winner,
        end: Termination::Resignation.into(),
        moves: Vec::new(),
        started_ms: 0,
        duration_ms: 1,
        warnings: Vec::new(),
        engines: Default::default(),
    };
    let games = [(A, B, Some(Side::First)), (B, A, None)].map(game).to_vec();
    let events = vec![
        game_start(index, 0, [A, B]),
        game_end(index, 0, [A, B], Some(Side::First)),
        game_start(index, 1, [B, A]),
        game_end(index, 1, [B, A], None),
        Event::PairEnd { pair: index, round: 1, complete: index + 1 },
    ];
    (PairResult { pairing, games, worker: None }, events)
}

/// Plays a pair.
fn play(state: &mut MatchState, index: u64) {
    let (result, events) = pair(index);
    for event in &events {
        state.apply(event);
    }
    state.add(&result);
}

/// Applies an event. Returns its line.
fn line(state: &mut MatchState, event: &Event) -> Option<String> {
    state.apply(event);
    MatchText(state).line(event)
}

fn rows(state: &MatchState) -> Vec<String> {
    MatchText(state).rows(None)
}

/// Whether a row contains a text.
fn shows(rows: &[String], text: &str) -> bool {
    rows.iter().any(|row| row.contains(text))
}

#[test]
fn progress_and_scores_follow_the_pairs() {
    let mut state = MatchState::new(&plan(), 4);
    assert!(shows(&rows(&state), "0/4 game pairs"), "{:?}", rows(&state));
    let filled =
        |state: &MatchState| rows(state).iter().map(|row| row.matches('█').count()).sum::<usize>();
    let mut before = filled(&state);
    assert_eq!(before, 0);
    for index in 0..4 {
        play(&mut state, index);
        let (rows, won) = (rows(&state), index + 1);
        assert!(shows(&rows, &format!("{won}/4 game pairs")), "{rows:?}");
        assert!(shows(&rows, &format!("a: +{won} ={won} -0")), "{rows:?}");
        let now = filled(&state);
        assert!(before < now, "{rows:?}");
        before = now;
    }
    assert!(!shows(&rows(&state), "░"), "the bar is full");
}

#[test]
fn a_resumed_match_starts_with_its_stored_pairs() {
    let mut state = MatchState::new(&plan(), 4);
    for index in 0..3 {
        state.add(&pair(index).0);
    }
    assert!(shows(&rows(&state), "3/4 game pairs"), "{:?}", rows(&state));
    let line = line(&mut state, &match_start(3)).unwrap_or_default();
    assert!(line.starts_with("resumed after 3 game pairs"), "{line}");
}

/// Discarded pairs are not shown: neither their score nor their games.
#[test]
fn nothing_is_shown_of_discarded_pairs() {
    let mut state = MatchState::new(&plan(), 4);
    play(&mut state, 0);
    play(&mut state, 1);
    state.discard(&[0, 1]);
    let all = rows(&state);
    assert!(shows(&all, "0/4 game pairs"), "{all:?}");
    assert!(!shows(&all, "a: +") && !shows(&all, "1.1") && !shows(&all, "2.2"), "{all:?}");
    assert_eq!(MatchText(&state).ratings(), [""; 0]);
}

#[test]
fn shows_running_and_finished_games() {
    let mut state = MatchState::new(&plan(), 4);
    assert!(!shows(&rows(&state), "1.2"));
    state.apply(&game_start(0, 1, [B, A]));
    let all = rows(&state);
    assert!(shows(&all, "worker-0") && shows(&all, "1.2  b – a"), "{all:?}");
    let line = line(&mut state, &game_end(0, 1, [B, A], None)).expect("a line");
    assert!(line.contains("1.2  b – a") && line.contains("(40 plies)"), "{line}");
    let all = rows(&state);
    assert!(!shows(&all, "worker-0") && shows(&all, &line), "{all:?}");
}

#[test]
fn draws_the_table_at_the_start_and_at_the_end() {
    let mut state = MatchState::new(&plan(), 2);
    let terminal = Terminal::default();
    let mut live = LiveTable::new(terminal.clone(), || (80, 24));
    live.on_event(&match_start(0), &state);
    let first = terminal.drain();
    assert!(first.contains("a – b") && first.contains("0/2 game pairs"), "{first:?}");
    for index in [0, 1] {
        play(&mut state, index);
        for event in pair(index).1 {
            live.on_event(&event, &state);
        }
    }
    terminal.drain();
    live.on_event(&Event::MatchEnd { why: End::Complete, complete: 2, games: 4 }, &state);
    let last = terminal.drain();
    // The previous frame is erased.
    assert!(last.contains("\r\x1b[J"), "{last:?}");
    for text in ["2/2 game pairs", "a: +2 =2 -0", "2.2  b – a"] {
        assert!(last.contains(text), "no {text:?} in {last:?}");
    }
    assert!(last.ends_with("finished: 2 game pairs, 4 games\n"), "{last:?}");
}

#[test]
fn a_closed_terminal_does_not_end_the_match() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let state = MatchState::new(&plan(), 1);
    let mut live = LiveTable::new(Closed, || (80, 24));
    live.on_event(&match_start(0), &state);
    live.on_event(&Event::MatchEnd { why: End::Complete, complete: 1, games: 2 }, &state);
}

#[test]
fn results_have_details() {
    let mut state = MatchState::new(&plan(), 4);
    let mut end = |winner, end| line(&mut state, &ended(0, 0, [A, B], winner, end));
    let line = end(Some(Side::Second), GameEnd::time_forfeit(400));
    let expected = "1.1  a – b  0-1  White loses on time by 0.4 ms (40 plies)";
    assert_eq!(line.as_deref(), Some(expected));
    let line = end(None, Termination::MoveLimit.into());
    let expected = "1.1  a – b  1/2-1/2  draw by the limit of 22 moves (40 plies)";
    assert_eq!(line.as_deref(), Some(expected));
}

#[test]
fn ranks_engines_by_ratings_if_known() {
    let plan: Plan = toml::from_str(
        "game = 'chess'\nrounds = 4\n[[engines]]\nname = 'a'\ncommand = 'a'\n\
         [[engines]]\nname = 'b'\ncommand = 'b'\n[[engines]]\nname = 'c'\ncommand = 'c'\n",
    )
    .expect("a plan");
    let mut state = MatchState::new(&plan, 4);
    let rows = MatchText(&state).ratings();
    assert!(shows(&rows, "Elo") && !shows(&rows, "rat"), "{rows:?}");
    let rating = |elo, error| Rating { elo, error };
    state.apply(&Event::Ratings(JointRatings {
        ratings: vec![
            rating(Some(-50.0), Some(19.6)),
            rating(Some(50.0), Some(19.6)),
            rating(None, None),
        ],
        first_move: rating(Some(12.0), Some(3.0)),
        covariance: vec![
            vec![Some(100.0), Some(-100.0), None],
            vec![Some(-100.0), Some(100.0), None],
            vec![None, None, None],
        ],
    }));
    state.apply(&Event::Champion { engine: EngineId(2) });
    let rows = MatchText(&state).ratings();
    let expected = [
        "  1. b  0.0/0  – %  rating 50.0 +/- 19.6  100.0 +/- 39.2 above next",
        "  2. a  0.0/0  – %  rating -50.0 +/- 19.6",
        "  3. c  0.0/0  – %  rating unknown +/- unknown",
        "joint ratings with mean 0; first-move advantage 12.0 +/- 3.0",
        "c wins the knockout",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_stop_reports_the_games_in_progress() {
    let mut state = MatchState::new(&plan(), 4);
    let stopping = |how| Event::Stopping { how, why: End::Interrupted };
    let none = line(&mut state, &stopping(Stop::Finish));
    assert_eq!(none.as_deref(), Some("stopping: interrupted"));
    state.apply(&game_start(0, 0, [A, B]));
    let one =
        "stopping: interrupted; finishing 1 game pair in progress, press Ctrl-C again to abort";
    assert_eq!(line(&mut state, &stopping(Stop::Finish)).as_deref(), Some(one));
    let terminal = Terminal::default();
    let mut live = LiveTable::new(terminal.clone(), || (120, 24));
    live.on_event(&stopping(Stop::Finish), &state);
    assert!(terminal.drain().contains(one), "the live table contains it");
    state.apply(&game_start(1, 0, [A, B]));
    let two = one.replace("1 game pair", "2 game pairs");
    assert_eq!(line(&mut state, &stopping(Stop::Finish)), Some(two));
    let abort = "stopping: interrupted; aborting the games in progress";
    assert_eq!(line(&mut state, &stopping(Stop::Abort)).as_deref(), Some(abort));
}

#[test]
fn prints_a_few_warnings_of_each_kind() {
    let mut state = MatchState::new(&plan(), 1);
    let mut printed = |engine, kind: WarningKind| {
        let text = kind.to_string();
        let context =
            WarningContext { kind, line: None, position: None, moves: Vec::new(), played: None };
        let engine = Some(engine);
        let context = Some(Box::new(context));
        line(&mut state, &Event::Warning { text, pair: Some(0), engine, context }).is_some()
    };
    let other = |number| WarningKind::OtherPv { text: format!("a2a{number}") };
    let count = (0..20).filter(|&number| printed(A, other(number))).count();
    assert_eq!(count, 5, "the move makes no other kind");
    assert!(printed(B, other(0)), "another engine");
    assert!(printed(A, WarningKind::MoveWithoutScore), "another kind");

    let end = Event::MatchEnd { why: End::Complete, complete: 1, games: 2 };
    let lines = line(&mut state, &end).unwrap_or_default();
    assert_eq!(
        lines.lines().collect::<Vec<_>>(),
        [
            "warning: a: 15 more warnings of this kind: the PV starts with `a2a0`, not with the move played",
            "finished: 1 game pair, 2 games",
        ]
    );
}
