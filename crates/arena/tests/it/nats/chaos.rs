//! A match over a NATS server with engines that crash, hang and flood occasionally.

use std::num::NonZeroU64;
use std::thread;

use readyok_arena::event::End;
use readyok_arena::game::GameSettings;
use readyok_arena::pairing::PairResult;
use readyok_arena::queue::nats::NatsDispatcher;
use readyok_arena::runner::{EnginePlayer, Match, Settings, work_on};
use readyok_arena::store::{Reader, Store};
use readyok_client::Timeouts;
use readyok_rules::Game;
use readyok_rules::Termination;

use super::{Hand, Server, settings, worker};
use crate::instant::{TestDir, limits};

/// The games by pairing. Failures depend on the position and are reproducible.
fn outcomes(place: &TestDir, name: &str) -> Vec<(u64, Vec<String>)> {
    let pairs = Reader::open(&place.path(name)).expect("results");
    let outcome = |pair: PairResult| {
        let games = pair.games.iter().map(|game| {
            let end = match game.end.termination {
                // Durations differ.
                Termination::EngineStall => "stall".to_owned(),
                _ => game.end.to_string(),
            };
            format!("{:?} {end} after {}", game.winner, game.moves.len())
        });
        (pair.pairing.index, games.collect())
    };
    let mut outcomes: Vec<_> = pairs.map(|pair| outcome(pair.expect("a pair"))).collect();
    outcomes.sort_unstable();
    outcomes
}

fn player(place: &TestDir) -> EnginePlayer {
    let setting = GameSettings::new(place.plan.game);
    EnginePlayer::new(&place.plan, setting, Timeouts::default())
}

#[test]
fn occasional_failures_cost_only_their_games() {
    const ROUNDS: u32 = 12;
    let Some(server) = Server::start() else { return };
    let bad = "crash hang flood one-in=12";
    let mut place = TestDir::new(Game::Chess, ROUNDS, &[(bad, limits(None)), (bad, limits(None))]);
    place.plan.search_timeout_ms = NonZeroU64::new(1000);
    let begin = |name| {
        let store = Store::create(&place.path(name), &place.plan).expect("a new file");
        Match::new(store, Settings::default()).expect("a match")
    };
    let here = begin("here").play_here(2, None, |_| player(&place)).expect("a match");
    let expected = outcomes(&place, "here");
    let all = format!("{expected:?}");
    for end in ["crashes", "stall", "moves"] {
        assert!(all.contains(end), "{end} is missing: {all}");
    }

    let game = begin("there");
    let connection = server.connect();
    let order = game.spec().clone().with_contents().expect("programs");
    let reports = game.reports();
    let dispatcher = NatsDispatcher::open(&connection, order, None, settings(), reports);
    let mut dispatcher = dispatcher.expect("a queue");
    let cache = place.path("cache");
    player(&place).probe_engines().expect("they work at the start");
    let there = thread::scope(|scope| {
        for name in ["one", "two", "three"] {
            let (server, place, cache) = (&server, &place, &cache);
            scope.spawn(move || {
                let mut hand = Hand::new(server.port, name, cache);
                let served = hand.serve().expect("a permitted match");
                let mut player = player(place).as_remote_worker(worker(name));
                while let Some(lease) = hand.take() {
                    work_on(lease, served.stop_token(), &mut player).expect("a queue");
                }
            });
        }
        let there = game.coordinate(&mut dispatcher);
        // Ends the workers.
        dispatcher.finish(&End::Complete).expect("a server");
        there.expect("a match")
    });
    assert_eq!(there, here);
    assert_eq!(outcomes(&place, "there"), expected);
    #[cfg(target_os = "linux")]
    assert_eq!(place.running_become(&[]), [""; 0]);
}
