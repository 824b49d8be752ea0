//! Games of one match at the same time: the clocks of one are not hurt by an engine of another, nor
//! by whoever listens.

use std::fs;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use readyok_arena::event::{End, Event, Listener};
use readyok_arena::game::GameSettings;
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::{EngineId, Limits};
use readyok_arena::queue::Stop;
use readyok_arena::runner::{
    EnginePlayer, Match, PairPlayer, PlayContext, PlayerError, Settings, Summary,
};
use readyok_arena::store::Store;
use readyok_client::{Timeouts, WaitLimit};
use readyok_rules::Game;

use crate::instant::Place;
use crate::scripted::SHORT;

/// Far longer than engines need that play at once, and shorter than what they are beside.
const GENEROUS: Duration = Duration::from_secs(30);
/// How long the disturbance lasts if nobody ends it, and what the clocks bear.
const LONG: Duration = Duration::from_mins(2);

type Played = Result<Option<PairResult>, PlayerError>;

/// Plays with engines, and does something around it.
struct Around<F> {
    player: EnginePlayer,
    around: F,
}

impl<F: FnMut(&Pairing, &mut dyn FnMut() -> Played) -> Played> PairPlayer for Around<F> {
    fn play(&mut self, pairing: &Pairing, watch: &mut PlayContext<'_>) -> Played {
        (self.around)(pairing, &mut || self.player.play(pairing, watch))
    }
}

/// Plays with a worker for each pairing.
fn play(
    place: &Place,
    listener: Option<Box<dyn Listener>>,
    around: impl Fn(&Pairing, &mut dyn FnMut() -> Played) -> Played + Sync,
) -> Summary {
    let store = Store::create(&place.path("match.jsonl"), &place.plan).expect("a new file");
    let settings =
        Settings { on_interrupt: Stop::Abort, report_moves: true, ..Settings::default() };
    let mut game = Match::new(store, settings).expect("a match");
    if let Some(listener) = listener {
        game.listen(listener);
    }
    let stop = game.stop_handle();
    let around = |pairing: &Pairing, play: &mut dyn FnMut() -> Played| {
        let played = around(pairing, play);
        if pairing.first != FLOOD && pairing.second != FLOOD {
            stop.interrupt();
        }
        played
    };
    let short = WaitLimit::fixed(SHORT);
    let patience = Timeouts { stop: short, quit: short, ..Timeouts::default() };
    let summary = game.play_here(3, None, |order| Around {
        player: EnginePlayer::new(&order.plan, GameSettings::new(Game::Chess), patience)
            .report_moves(order.report_moves),
        around: &around,
    });
    summary.expect("a match")
}

/// The engine that the others play beside.
const FLOOD: EngineId = EngineId(2);

fn clock() -> Limits {
    Limits { tc: Some(format!("{}", LONG.as_secs()).parse().expect("a time")), ..Limits::default() }
}

/// What the clocks of a pair have counted; its games have ended well.
fn counted(pair: &PairResult) -> Duration {
    assert!(pair.games.iter().all(|game| !game.end.termination.is_failure()), "{pair:?}");
    let moves = pair.games.iter().flat_map(|game| &game.moves);
    moves.map(|played| Duration::from_micros(played.time_us)).sum()
}

/// An engine that plays at once is counted next to nothing while two others never stop talking.
#[test]
fn no_clock_is_hurt_by_an_engine_that_floods_another_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let flood = format!("flood one-in=1 log={}", log.display());
    let limits = Limits { move_time_ms: Some(120_000), ..Limits::default() };
    let engines = [("", clock()), ("", clock()), (flood.as_str(), limits)];
    let place = Place::new(Game::Chess, 1, &engines);
    let asked = || fs::read_to_string(&log).map_or(0, |log| log.matches("go ").count());
    let quiet = Mutex::new(None);
    let summary = play(&place, None, |pairing, play| {
        if pairing.first == FLOOD || pairing.second == FLOOD {
            return play();
        }
        // Until both of the others have begun to talk.
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
    // The others would have gone on.
    assert_eq!(summary.end, End::Interrupted);
    assert!(summary.complete <= 1, "{summary:?}");
    let quiet = quiet.into_inner().expect("no panic").expect("a pair");
    assert!(counted(&quiet) < GENEROUS, "{quiet:?}");
}

/// Stops at the first move until a pair was played.
struct Slow {
    played: Receiver<()>,
    heard: Arc<Mutex<Option<bool>>>,
}

impl Listener for Slow {
    fn on_event(&mut self, event: &Event) {
        let mut heard = self.heard.lock().expect("no panic");
        if matches!(event, Event::Move { .. }) && heard.is_none() {
            *heard = Some(self.played.recv_timeout(LONG).is_ok());
        }
    }
}

#[test]
fn no_clock_waits_for_a_slow_listener() {
    let place = Place::new(Game::Chess, 1, &[("", clock()), ("", clock())]);
    let (sender, played) = channel();
    let heard = Arc::new(Mutex::new(None));
    let slow = Slow { played, heard: Arc::clone(&heard) };
    let pair = Mutex::new(None);
    play(&place, Some(Box::new(slow)), |_, play| {
        let played = play();
        *pair.lock().expect("no panic") = played.clone().ok().flatten();
        sender.send(()).expect("it listens");
        played
    });
    assert_eq!(*heard.lock().expect("no panic"), Some(true), "it was played while it waited");
    let pair = pair.into_inner().expect("no panic").expect("a pair");
    assert!(counted(&pair) < GENEROUS, "{pair:?}");
}
