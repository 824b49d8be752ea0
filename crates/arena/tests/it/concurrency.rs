//! Concurrent games of a match: clocks are not affected by engines of other games or by listeners.

use std::fs;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use readyok_arena::event::{End, Event};
use readyok_arena::game::GameSettings;
use readyok_arena::listener::Listener;
use readyok_arena::match_state::MatchState;
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::{EngineId, Limits};
use readyok_arena::queue::Stop;
use readyok_arena::runner::{
    EnginePlayer, Match, PairPlayer, PlayContext, PlayerError, Settings, Summary,
};
use readyok_arena::store::Store;
use readyok_client::{Timeouts, WaitLimit};
use readyok_rules::Game;

use crate::instant::TestDir;
use crate::scripted::SHORT;

/// Far longer than concurrent engines need, and shorter than the disturbance.
const GENEROUS: Duration = Duration::from_secs(30);
/// Maximum duration of the disturbance, and the limit of the clocks.
const LONG: Duration = Duration::from_mins(2);

type PairOutcome = Result<Option<PairResult>, PlayerError>;

/// Plays with engines, wrapped by a function.
struct Wrapped<F> {
    player: EnginePlayer,
    around: F,
}

impl<F: FnMut(&Pairing, &mut dyn FnMut() -> PairOutcome) -> PairOutcome> PairPlayer for Wrapped<F> {
    fn play(&mut self, pairing: &Pairing, watch: &mut PlayContext<'_>) -> PairOutcome {
        (self.around)(pairing, &mut || self.player.play(pairing, watch))
    }
}

/// Plays with one worker per pairing.
fn play(
    place: &TestDir,
    listener: Option<Box<dyn Listener>>,
    around: impl Fn(&Pairing, &mut dyn FnMut() -> PairOutcome) -> PairOutcome + Sync,
) -> Summary {
    let store = Store::create(&place.path("match.jsonl"), &place.plan).expect("a new file");
    let settings =
        Settings { on_interrupt: Stop::Abort, report_moves: true, ..Settings::default() };
    let mut game = Match::new(store, settings).expect("a match");
    if let Some(listener) = listener {
        game.listen(listener);
    }
    let stop = game.stop_handle();
    let around = |pairing: &Pairing, play: &mut dyn FnMut() -> PairOutcome| {
        let played = around(pairing, play);
        if pairing.first != FLOOD && pairing.second != FLOOD {
            stop.interrupt();
        }
        played
    };
    let short = WaitLimit::fixed(SHORT);
    let timeouts = Timeouts { stop: short, quit: short, ..Timeouts::default() };
    let summary = game.play_here(3, None, |order| Wrapped {
        player: EnginePlayer::new(&order.plan, GameSettings::new(Game::Chess), timeouts)
            .report_moves(order.report_moves),
        around: &around,
    });
    summary.expect("a match")
}

/// The opponent of the others.
const FLOOD: EngineId = EngineId(2);

fn clock() -> Limits {
    Limits { tc: Some(format!("{}", LONG.as_secs()).parse().expect("a time")), ..Limits::default() }
}

/// The times used in a pair, whose games have ended regularly.
fn counted(pair: &PairResult) -> Duration {
    assert!(pair.games.iter().all(|game| !game.end.termination.is_failure()), "{pair:?}");
    let moves = pair.games.iter().flat_map(|game| &game.moves);
    moves.map(|played| Duration::from_micros(played.time_us)).sum()
}

/// The measured time of an engine is near zero while two others flood their output.
#[test]
fn flooding_in_another_game_does_not_affect_clocks() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    let flood = format!("flood one-in=1 log={}", log.display());
    let limits = Limits { move_time_ms: Some(120_000), ..Limits::default() };
    let engines = [("", clock()), ("", clock()), (flood.as_str(), limits)];
    let place = TestDir::new(Game::Chess, 1, &engines);
    let asked = || fs::read_to_string(&log).map_or(0, |log| log.matches("go ").count());
    let quiet = Mutex::new(None);
    let summary = play(&place, None, |pairing, play| {
        if pairing.first == FLOOD || pairing.second == FLOOD {
            return play();
        }
        // Until both others have started.
        for _ in 0..6_000 {
            if asked() == 2 {
                break;
            }
            thread::park_timeout(Duration::from_millis(10));
        }
        assert_eq!(asked(), 2);
        let played = play();
        *quiet.lock().expect("no panic") = played.clone().ok().flatten();
        played
    });
    // The others would not have ended.
    assert_eq!(summary.end, End::Interrupted);
    assert!(summary.complete <= 1, "{summary:?}");
    let quiet = quiet.into_inner().expect("no panic").expect("a pair");
    assert!(counted(&quiet) < GENEROUS, "{quiet:?}");
}

/// Blocks at the first move until a pair was played.
struct Slow {
    played: Receiver<()>,
    received: Arc<Mutex<Option<bool>>>,
}

impl Listener for Slow {
    fn on_event(&mut self, event: &Event, _: &MatchState) {
        let mut received = self.received.lock().expect("no panic");
        if matches!(event, Event::Move { .. }) && received.is_none() {
            *received = Some(self.played.recv_timeout(LONG).is_ok());
        }
    }
}

#[test]
fn a_slow_listener_does_not_affect_clocks() {
    let place = TestDir::new(Game::Chess, 1, &[("", clock()), ("", clock())]);
    let (sender, played) = channel();
    let received = Arc::new(Mutex::new(None));
    let slow = Slow { played, received: Arc::clone(&received) };
    let pair = Mutex::new(None);
    play(&place, Some(Box::new(slow)), |_, play| {
        let played = play();
        *pair.lock().expect("no panic") = played.clone().ok().flatten();
        sender.send(()).expect("it listens");
        played
    });
    assert_eq!(*received.lock().expect("no panic"), Some(true), "it was played while it waited");
    let pair = pair.into_inner().expect("no panic").expect("a pair");
    assert!(counted(&pair) < GENEROUS, "{pair:?}");
}
