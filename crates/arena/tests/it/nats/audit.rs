//! Audits: a worker of another owner that invents legal games is found, and honest workers are not accused.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use nkeys::KeyPair;
use readyok_arena::event::End;
use readyok_arena::game::GameSettings;
use readyok_arena::pairing::PairResult;
use readyok_arena::plan::Plan;
use readyok_arena::queue::nats::{Access, Admin, Connection, NatsDispatcher, QueuedMatch};
use readyok_arena::queue::status::{AuditGap, AuditStatus, Phase};
use readyok_arena::queue::{Dispatcher, MatchSpec, Report};
use readyok_arena::result::MoveRecord;
use readyok_arena::runner::{EnginePlayer, Match, Settings, work_on};
use readyok_arena::store::{IndexSet, Reader, Store};
use readyok_arena::worker_stats::WorkerFlag;
use readyok_client::Timeouts;
use readyok_protocol::Score;
use readyok_rules::{Game, Side, Termination};
use serde_json::json;
use tempfile::TempDir;

use super::access::token;
use super::farm::{Farmhand, check_complete, coordinate_with, id_of, pairs as pairs_of, wait_for};
use super::{Hand, Server, access, offer, open, order, settings, worker};
use crate::instant::{TestDir, limits as engine_limits};

const PAIRS: u32 = 40;

/// A match with these limits.
fn spec(directory: &Path, limits: &str, pairs: u32) -> MatchSpec {
    let mut plan = order(directory, ["a", "b"]).plan;
    plan.rounds = pairs;
    for engine in &mut plan.engines {
        engine.limits = toml::from_str(limits).expect("limits");
    }
    MatchSpec::new(&plan).with_contents().expect("programs that can be read")
}

/// The credentials of the owner of a farm: names of workers count as verified.
fn as_owner(server: &Server) -> Access {
    let [account, user] = [KeyPair::new_account(), KeyPair::new_user()];
    let claim = json!({ "type": "user", "version": 2 });
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        token(&account, &user, "owner", &claim),
        user.seed().expect("a seed"),
    );
    let path = server.directory.path().join("owner.creds");
    fs::write(&path, text).expect("space");
    Access { credentials: Some(path), ..access(server.port) }
}

/// A match with audits.
struct Audited {
    server: Server,
    directory: TempDir,
    id: String,
    path: PathBuf,
    run: thread::JoinHandle<readyok_arena::runner::Summary>,
}

impl Audited {
    fn start(limits: &str, has_verified_names: bool, pairs: u32) -> Option<Self> {
        let server = Server::start()?;
        let directory = TempDir::new().expect("a directory");
        let spec = spec(directory.path(), limits, pairs);
        let (id, path) = (id_of(&spec), directory.path().join("results"));
        let access = if has_verified_names { as_owner(&server) } else { access(server.port) };
        let run = coordinate_with(access, path.clone(), spec, 0);
        Some(Self { server, directory, id, path, run })
    }

    fn hand(&self, name: &str, delay_ms: u64, change: fn(&mut PairResult)) -> Farmhand {
        let cache = self.directory.path().join(name.replace('/', "-"));
        Farmhand::with(self.server.port, name, cache, Duration::from_millis(delay_ms), change)
    }

    fn honest(&self, name: &str) -> Farmhand {
        self.hand(name, 5, |_| ())
    }

    /// Slow, so that it does not play the whole match alone.
    fn evil(&self) -> Farmhand {
        self.hand("mallory/1", 100, invent)
    }

    fn wait_for_pairs(&self, count: u64) {
        wait_for(&self.server.connect(), |admin| {
            let found = admin.find(&self.id).ok()?;
            (found.status.pairs >= count).then_some(())
        });
    }

    /// Waits for the end. Each pair counts once, with the result of an honest worker.
    fn end(self, pairs: u64, hands: Vec<Farmhand>) -> QueuedMatch {
        let summary = self.run.join().expect("no panic");
        assert_eq!((summary.end, summary.complete), (End::Complete, pairs));
        for hand in hands {
            drop(hand.leave());
        }
        check_complete(&self.path, pairs);
        let found = wait_for(&self.server.connect(), |admin| {
            admin.find(&self.id).ok().filter(|found| found.phase == Phase::Finished)
        });
        let pairs = pairs_of(&self.path);
        let mut workers = pairs.iter().filter_map(|pair| pair.worker.as_ref());
        assert!(workers.all(|worker| !found.control.excluded.contains(&worker.0)));
        found
    }
}

/// A legal game with plausible values that no engine has played: the other side wins.
fn invent(result: &mut PairResult) {
    let game = &mut result.games[0];
    let moves = ["f2f3", "e7e5", "g2g4", "d8h4"].iter().zip(1..);
    let moves = moves.map(|(mv, ply)| MoveRecord {
        time_us: 1_000 * ply,
        score: Some(Score::Cp(12)),
        depth: Some(3),
        nodes: Some(100 * ply),
        ..MoveRecord::new(mv.parse().expect("a move"))
    });
    game.moves = moves.collect();
    game.winner = Some(Side::Second);
    game.end = Termination::Checkmate.into();
}

#[test]
fn a_worker_that_invents_games_is_excluded_and_its_pairs_are_played_again() {
    const PAIRS: u32 = 250;
    for has_verified_names in [true, false] {
        let Some(audited) = Audited::start("nodes = 100", has_verified_names, PAIRS) else {
            return;
        };
        let evil = audited.evil();
        audited.wait_for_pairs(8);
        let honest = ["alice/1", "bob/1", "carol/1"].map(|name| audited.honest(name));
        let hands = honest.into_iter().chain([evil]).collect();
        let found = audited.end(u64::from(PAIRS), hands);
        assert_eq!(found.control.excluded, ["mallory/1".to_owned()].into());
        let AuditStatus { made, open, differing, .. } = found.status.audits;
        assert!(made >= 3 && open == 0 && differing > 0, "{:?}", found.status.audits);
        let is_reason = |text: &String| text.contains("`mallory/1` is excluded");
        assert!(found.status.warnings.iter().any(is_reason), "{:?}", found.status.warnings);
    }
}

/// It lies as an auditor, too.
#[test]
fn a_worker_that_invents_games_does_not_accuse_others() {
    let Some(audited) = Audited::start("nodes = 100", true, PAIRS) else { return };
    let honest = ["alice/1", "bob/1", "carol/1"].map(|name| audited.honest(name));
    audited.wait_for_pairs(2);
    let evil = audited.evil();
    let hands = honest.into_iter().chain([evil]).collect();
    let found = audited.end(u64::from(PAIRS), hands);
    assert!(found.control.excluded.iter().all(|name| name == "mallory/1"), "{found:?}");
}

#[test]
fn honest_workers_are_audited_and_not_accused() {
    for has_verified_names in [true, false] {
        let Some(audited) = Audited::start("nodes = 100", has_verified_names, PAIRS) else {
            return;
        };
        let honest = ["alice/1", "alice/2", "bob/1"].map(|name| audited.honest(name));
        let found = audited.end(u64::from(PAIRS), honest.into());
        assert!(found.control.excluded.is_empty(), "{found:?}");
        let AuditStatus { made, open, differing, not_made, gap, .. } = found.status.audits;
        assert!(made >= 3, "{:?}", found.status.audits);
        assert_eq!((open, differing, not_made, gap), (0, 0, 0, None));
    }
}

/// The match does not wait for them.
#[test]
fn workers_of_one_owner_are_not_audited() {
    let Some(audited) = Audited::start("nodes = 100", true, PAIRS) else { return };
    let hands = ["alice/1", "alice/2"].map(|name| audited.honest(name));
    let found = audited.end(u64::from(PAIRS), hands.into());
    let AuditStatus { made, open, not_made, gap, .. } = found.status.audits;
    assert!(not_made >= 3, "{:?}", found.status.audits);
    assert_eq!((made, open, gap), (0, 0, Some(AuditGap::NoOtherOwner)));
}

#[test]
fn games_on_time_are_replayed() {
    let Some(audited) = Audited::start("tc = \"10+0.1\"", true, PAIRS) else { return };
    let hands = ["alice/1", "bob/1"].map(|name| audited.honest(name));
    let found = audited.end(u64::from(PAIRS), hands.into());
    assert!(found.control.excluded.is_empty(), "{found:?}");
    let AuditStatus { made, open, differing, flagged, not_made, .. } = found.status.audits;
    assert!(made >= 3, "{:?}", found.status.audits);
    assert_eq!((open, differing, flagged, not_made), (0, 0, 0, 0));
}

/// Only an operator can decide: an engine on time may play other moves on another host.
#[test]
fn a_worker_that_invents_games_on_time_is_flagged_and_not_excluded() {
    let Some(audited) = Audited::start("tc = \"10+0.1\"", true, 1_000_000) else { return };
    let connection = audited.server.connect();
    let hands = ["alice/1", "bob/1", "carol/1"].map(|name| audited.hand(name, 0, |_| ()));
    let evil = audited.hand("mallory/1", 0, invent);
    let found = wait_for(&connection, |admin| {
        admin.find(&audited.id).ok().filter(|found| found.status.audits.flagged > 0)
    });
    let row = found.status.workers.iter().find(|row| row.worker.0 == "mallory/1").expect("a row");
    assert!(matches!(row.flags[..], [.., WorkerFlag::Replays { .. }]), "{row:?}");
    assert_eq!(found.status.audits.flagged, 1);
    assert!(found.control.excluded.is_empty(), "{found:?}");
    Admin::new(&connection).stop(&found).expect("a running match");
    assert_eq!(audited.run.join().expect("no panic").end, End::Stopped);
    for hand in hands.into_iter().chain([evil]) {
        drop(hand.leave());
    }
}

#[test]
fn audits_survive_a_restart_of_the_coordinator() {
    const PAIRS: u64 = 3;
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let spec = spec(directory.path(), "nodes = 100", 10);
    let connection = Connection::open(&as_owner(&server)).expect("a connection");
    let wait_for_audits = |expected: [u64; 2]| {
        wait_for(&connection, |admin| {
            let AuditStatus { made, open, .. } = admin.find(&id_of(&spec)).ok()?.status.audits;
            ([made, open] == expected).then_some(())
        });
    };
    let play = |hand: &mut Hand| {
        let lease = hand.take().expect("a job");
        let pairing = lease.job().pairing.clone();
        let index = pairing.index;
        lease.finish(crate::sample::played(pairing)).expect("a queue");
        index
    };
    let (mut dispatcher, reports) = open(&connection, &spec, false);
    offer(&mut dispatcher, &spec, 0..PAIRS);
    let mut alice = Hand::new(server.port, "alice/1", directory.path());
    for _ in 0..PAIRS {
        play(&mut alice);
    }
    let pair_of = |report| match report {
        Report::Done { result, .. } => Some(*result),
        _ => None,
    };
    let pairs: Vec<PairResult> = reports.iter().filter_map(pair_of).take(3).collect();
    for pair in &pairs {
        dispatcher.on_stored(pair);
    }
    dispatcher.on_synced();
    let mut bob = Hand::new(server.port, "bob/1", directory.path());
    let mut audited = vec![play(&mut bob)];
    wait_for_audits([1, 2]);
    // It is killed without notice.
    dispatcher.abandon();
    let mut stored = IndexSet::default();
    for pair in &pairs {
        stored.insert(pair.pairing.index);
    }
    let (sender, _reports) = channel();
    let dispatcher =
        NatsDispatcher::open(&connection, spec.clone(), Some(&stored), settings(), sender);
    let mut dispatcher = dispatcher.expect("a queue");
    for pair in &pairs {
        dispatcher.on_stored(pair);
    }
    wait_for_audits([1, 2]);
    audited.extend([play(&mut bob), play(&mut bob)]);
    wait_for_audits([3, 0]);
    audited.sort_unstable();
    assert_eq!(audited, (0..PAIRS).collect::<Vec<_>>());
}

/// The moves by pairing.
fn games(path: &Path) -> Vec<(u64, Vec<String>)> {
    let pairs = Reader::open(path).expect("results").map(|pair| pair.expect("a pair"));
    let moves = |pair: &PairResult| -> Vec<String> {
        let moves = pair.games.iter().flat_map(|game| &game.moves);
        moves.map(|made| made.mv.to_string()).collect()
    };
    let mut all: Vec<_> = pairs.map(|pair| (pair.pairing.index, moves(&pair))).collect();
    all.sort_unstable();
    all
}

/// A worker that plays with other engines. The result is that of a match on this host.
#[test]
fn games_of_other_engines_do_not_change_the_result_of_a_match_at_fixed_nodes() {
    const ROUNDS: u32 = 16;
    let Some(server) = Server::start() else { return };
    let engines = [("", engine_limits(None)), ("", engine_limits(None))];
    let place = TestDir::new(Game::Chess, ROUNDS, &engines);
    let player =
        |plan: &Plan| EnginePlayer::new(plan, GameSettings::new(plan.game), Timeouts::default());
    let mut others = place.plan.clone();
    for (engine, seed) in others.engines.iter_mut().zip(8..) {
        engine.args = vec![format!("seed={seed}")];
    }
    let begin = |name| {
        let store = Store::create(&place.path(name), &place.plan).expect("a new file");
        Match::new(store, Settings::default()).expect("a match")
    };
    begin("here").play_here(2, None, |_| player(&place.plan)).expect("a match");
    let game = begin("there");
    let spec = game.spec().clone().with_contents().expect("programs that can be read");
    let id = id_of(&spec);
    let connection = Connection::open(&as_owner(&server)).expect("a connection");
    let dispatcher = NatsDispatcher::open(&connection, spec, None, settings(), game.reports());
    let mut dispatcher = dispatcher.expect("a queue");
    let has_cheated = Barrier::new(4);
    thread::scope(|scope| {
        for name in ["alice/1", "bob/1", "carol/1", "mallory/1"] {
            let (server, place, player) = (&server, &place, &player);
            let (others, has_cheated) = (&others, &has_cheated);
            scope.spawn(move || {
                let is_honest = name != "mallory/1";
                let cache = place.path(&name.replace('/', "-"));
                let mut hand = Hand::new(server.port, name, &cache);
                if is_honest {
                    has_cheated.wait();
                }
                let served = hand.serve().expect("a permitted match");
                let plan = if is_honest { &place.plan } else { others };
                let mut player = player(plan).as_remote_worker(worker(name));
                let mut played = 0;
                while let Some(lease) = hand.take() {
                    work_on(lease, served.stop_token(), &mut player).expect("a queue");
                    played += 1;
                    if !is_honest && played == 2 {
                        has_cheated.wait();
                    }
                }
            });
        }
        let summary = game.coordinate(&mut dispatcher);
        // Ends the workers.
        dispatcher.finish(&End::Complete).expect("a server");
        assert_eq!(summary.expect("a match").complete, u64::from(ROUNDS));
    });
    assert_eq!(games(&place.path("there")), games(&place.path("here")));
    let found = Admin::new(&connection).find(&id).expect("a match");
    assert_eq!(found.control.excluded, ["mallory/1".to_owned()].into());
}
