//! Hostile workers: a message has an effect only with a grant of its sender, and only on the job of this grant. The messages
//! are written as an attacker would write them, without the types of the queue.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use async_nats::{Client, ConnectOptions, Subscriber};
use futures_util::{FutureExt, StreamExt};
use readyok_arena::event::End;
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::EngineId;
use readyok_arena::queue::nats::permissions::OWNER;
use readyok_arena::queue::nats::{Connection, Departure, QueuedMatch};
use readyok_arena::queue::status::Phase;
use readyok_arena::runner::Summary;
use readyok_rules::{Side, Termination};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use super::farm::{Farmhand, check_complete, coordinate, id_of, pairs, spec, wait_for};
use super::{Hand, PASSWORD, Server, TIMEOUT, worker};
use crate::sample;

/// The workers that a farm knows.
const WORKERS: [&str; 11] =
    ["alice", "bob", "evil", "victim", "silent", "old", "one", "two", "three", "four", "spare"];

/// The number of pairs of most matches.
const PAIRS: u32 = 24;

/// The honest workers, which play each match to its end.
const HONEST: [&str; 2] = ["alice", "bob"];

/// The maximum number of messages of a worker in the inbox of a match.
const MAX_INBOX_PER_WORKER: u64 = 256;

/// The number of jobs that a worker without results may hold.
const FIRST_JOBS: usize = 32;

/// Timeout of the answer to a request, which may be the last one of a match.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval of renewals.
const RENEWAL: Duration = Duration::from_millis(500);

/// A match that is attacked.
struct Attacked {
    server: Server,
    directory: TempDir,
    connection: Connection,
    id: String,
    path: PathBuf,
    pairs: u32,
    run: JoinHandle<Summary>,
}

/// Attacks two matches: on a server without authentication, and in a farm.
fn attack(pairs: u32, attack: impl Fn(Attacked)) {
    for server in [Server::start(), Server::farm(&WORKERS)].into_iter().flatten() {
        attack(Attacked::start(server, pairs));
    }
}

impl Attacked {
    fn start(server: Server, pairs: u32) -> Self {
        let directory = TempDir::new().expect("a directory");
        let connection = server.connect();
        let spec = spec(directory.path(), ["a", "b"], pairs);
        let (id, path) = (id_of(&spec), directory.path().join("results"));
        let run = coordinate(server.port, path.clone(), spec, 0);
        wait_for(&connection, |admin| {
            let open = admin.open_matches().expect("a server").pop()?;
            (open.phase == Phase::Running).then_some(())
        });
        Self { server, directory, connection, id, path, pairs, run }
    }

    fn raw(&self, name: &str) -> Raw {
        Raw::new(self.server.port, name, &self.id)
    }

    /// A connection with all permissions.
    fn owner(&self) -> Raw {
        Raw::new(self.server.port, OWNER, &self.id)
    }

    /// Waits until this number of messages has had no effect.
    fn wait_for_ignored(&self, count: u64) {
        wait_for(&self.connection, |admin| {
            let found = admin.find(&self.id).ok()?;
            (found.status.ignored >= count).then_some(())
        });
    }

    /// Waits until the match has this number of pairs.
    fn wait_for_pairs(&self, count: u64) {
        wait_for(&self.connection, |admin| {
            let found = admin.find(&self.id).ok()?;
            (found.status.pairs >= count).then_some(())
        });
    }

    /// The honest workers play the match to its end, while the attack is repeated. Each pair counts once, with the right
    /// result, and only the named workers are excluded.
    fn end(self, excluded: &[&str], attack: impl Fn() + Sync) -> (QueuedMatch, Vec<PairResult>) {
        let is_over = AtomicBool::new(false);
        let summary = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    attack();
                    thread::sleep(Duration::from_millis(20));
                }
            });
            let hands = HONEST.map(|name| {
                let cache = self.directory.path().join(name);
                Farmhand::start(self.server.port, name, cache, Duration::from_millis(20))
            });
            let summary = self.run.join();
            is_over.store(true, Ordering::Relaxed);
            for hand in hands {
                hand.leave();
            }
            summary.expect("no panic")
        });
        assert_eq!((summary.end, summary.complete), (End::Complete, u64::from(self.pairs)));
        check_complete(&self.path, u64::from(self.pairs));
        let found = wait_for(&self.connection, |admin| {
            admin.find(&self.id).ok().filter(|found| found.phase == Phase::Finished)
        });
        assert_eq!(
            found.control.excluded,
            excluded.iter().map(|name| (*name).to_owned()).collect()
        );
        assert!(!found.control.paused, "{found:?}");
        assert_eq!(found.status.skipped, 0, "{found:?}");
        let mut warnings = found.status.warnings.iter();
        assert!(
            !warnings.any(|text| HONEST.iter().any(|name| text.contains(name))),
            "{:?}",
            found.status.warnings
        );
        (found, pairs(&self.path))
    }
}

/// The indices of the pairs of a worker.
fn pairs_of(pairs: &[PairResult], name: &str) -> Vec<u64> {
    let own = pairs.iter().filter(|pair| pair.worker == Some(worker(name)));
    own.map(|pair| pair.pairing.index).collect()
}

/// A client that sends any message in its own name, as a worker of a farm may.
struct Raw {
    runtime: Runtime,
    client: Client,
    name: String,
    id: String,
}

impl Raw {
    fn new(port: u16, name: &str, id: &str) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let options = ConnectOptions::with_user_and_password(name.to_owned(), PASSWORD.to_owned())
            .custom_inbox_prefix(format!("_INBOX.{name}"));
        let client = runtime.block_on(options.connect(format!("127.0.0.1:{port}")));
        let (name, id) = (name.to_owned(), id.to_owned());
        Self { runtime, client: client.expect("a server"), name, id }
    }

    /// A subject that ends with the match and a worker.
    fn subject(&self, kind: &str, worker: &str) -> String {
        format!("readyok.{kind}.{}.{worker}", self.id)
    }

    fn publish(&self, subject: String, text: impl Into<Vec<u8>>) {
        let text: Vec<u8> = text.into();
        let sent = self.runtime.block_on(self.client.publish(subject, text.into()));
        sent.expect("a connection");
    }

    fn publish_with_reply(&self, subject: String, reply: &str, text: &Value) {
        let (reply, text) = (reply.to_owned(), text.to_string());
        let sent = self.client.publish_with_reply(subject, reply, text.into());
        self.runtime.block_on(sent).expect("a connection");
    }

    fn end_job(&self, ended: &Value) {
        self.publish(self.subject("results", &self.name), ended.to_string());
    }

    fn note(&self, note: &Value) {
        self.publish(self.subject("note", &self.name), note.to_string());
    }

    /// Renews a job until the end of the test.
    fn renew(&self, grant: &Value) {
        let (client, subject) = (self.client.clone(), self.subject("note", &self.name));
        let text = json!({ "playing": { "grants": [grant] } }).to_string();
        self.runtime.spawn(async move {
            loop {
                let sent = client.publish(subject.clone(), text.clone().into()).await;
                sent.expect("a connection");
                sleep(RENEWAL).await;
            }
        });
    }

    /// Waits until the server has all messages.
    fn flush(&self) {
        self.runtime.block_on(self.client.flush()).expect("a connection");
    }

    fn subscribe(&self, subject: &str) -> Subscriber {
        let subscribed = self.client.subscribe(subject.to_owned());
        let subscribed = self.runtime.block_on(subscribed).expect("a connection");
        self.flush();
        subscribed
    }

    /// The answer to a request; `null` after the end of the match.
    fn request(&self, subject: String, text: &Value) -> Value {
        let answer = self.runtime.block_on(async {
            timeout(ANSWER_TIMEOUT, self.client.request(subject, text.to_string().into())).await
        });
        let Ok(Ok(answer)) = answer else { return Value::Null };
        serde_json::from_slice(&answer.payload).expect("JSON")
    }

    fn ask(&self, text: &Value) -> Value {
        self.request(self.subject("take", &self.name), text)
    }

    /// The jobs of an answer, if it has any.
    fn jobs(&self) -> Vec<Value> {
        let answer = self.ask(&json!({ "protocol": 3, "want": "jobs" }));
        answer["jobs"].as_array().cloned().unwrap_or_default()
    }

    /// Waits for a job. Further jobs of the same answer are given back.
    fn job(&self) -> Value {
        let until = SystemTime::now() + TIMEOUT;
        loop {
            let mut jobs = self.jobs().into_iter();
            if let Some(job) = jobs.next() {
                let rest: Vec<Value> = jobs.map(|job| job["grant"].clone()).collect();
                self.note(&json!({ "returned": { "grants": rest } }));
                return job;
            }
            assert!(SystemTime::now() < until, "no job in time");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The number of messages in the inbox of the match.
    fn waiting_results(&self) -> u64 {
        let subject = format!("$JS.API.STREAM.INFO.READYOK_INBOX_{}", self.id);
        // The stream is deleted at the end of the match.
        self.request(subject, &json!({}))["state"]["messages"].as_u64().unwrap_or_default()
    }
}

/// A valid result of a job.
fn result_of(job: &Value) -> Value {
    let pairing: Pairing = serde_json::from_value(job["pairing"].clone()).expect("a pairing");
    serde_json::to_value(sample::played(pairing)).expect("JSON")
}

/// A short game pair that an engine loses by a crash.
fn crashed(index: u64) -> Value {
    let mut pair = sample::pair(0);
    pair.pairing.index = index;
    for game in &mut pair.games {
        game.moves.truncate(2);
        game.end = sample::crash();
    }
    serde_json::to_value(pair).expect("JSON")
}

fn done(grant: &Value, result: &Value) -> Value {
    json!({ "done": { "grant": grant, "result": result, "speed": 1e6 } })
}

fn failed(grant: &Value) -> Value {
    json!({ "failed": { "grant": grant, "why": "x" } })
}

fn progress(grant: &Value, text: &str) -> Value {
    let progress = json!({ "kind": "warning", "engine": 0, "game": 0, "text": text });
    json!({ "progress": { "grant": grant, "progress": progress } })
}

/// All messages with a grant.
fn use_grant(attacker: &Raw, grant: &Value, index: u64) {
    attacker.end_job(&done(grant, &crashed(index)));
    attacker.end_job(&failed(grant));
    attacker.note(&json!({ "playing": { "grants": [grant] } }));
    attacker.note(&json!({ "returned": { "grants": [grant, grant] } }));
    attacker.note(&progress(grant, "x"));
}

/// Results and failures of pairings of others or of no worker, with invented and changed grants.
#[test]
fn messages_without_a_grant_have_no_effect() {
    attack(PAIRS, |attacked| {
        let evil = attacked.raw("evil");
        let own = evil.job()["grant"].clone();
        let forge = || {
            for index in (0..u64::from(PAIRS)).chain([10_000_000, u64::MAX]) {
                let mut grant = own.clone();
                grant["index"] = index.into();
                if own["index"] != index {
                    use_grant(&evil, &grant, index);
                }
                for term in [0, 1, 2, u64::MAX] {
                    let mac = "0".repeat(if term == 0 { 0 } else { 64 });
                    let grant = json!({ "index": index, "term": term, "serial": 1, "at_ms": 0, "mac": mac });
                    use_grant(&evil, &grant, index);
                }
                // Messages of earlier versions, without a grant.
                evil.end_job(&json!({ "failed": { "index": index, "why": "x" } }));
                evil.end_job(&json!({ "lost": { "index": index } }));
                evil.end_job(&json!({ "done": { "result": crashed(index) } }));
            }
            evil.flush();
        };
        forge();
        attacked.wait_for_ignored(100);
        evil.note(&json!({ "returned": { "grants": [own] } }));
        evil.flush();
        let (_, pairs) = attacked.end(&[], forge);
        assert!(pairs_of(&pairs, "evil").is_empty());
    });
}

/// The job of a grant belongs to the worker in the subject of the message, and a grant ends with its job.
#[test]
fn grants_of_others_and_ended_grants_have_no_effect() {
    attack(PAIRS, |attacked| {
        let (evil, victim) = (attacked.raw("evil"), attacked.raw("victim"));
        let foreign = victim.job();
        victim.renew(&foreign["grant"]);
        let index = foreign["grant"]["index"].as_u64().expect("an index");
        evil.end_job(&done(&foreign["grant"], &result_of(&foreign)));
        use_grant(&evil, &foreign["grant"], index);
        let returned = evil.job();
        evil.note(&json!({ "returned": { "grants": [returned["grant"]] } }));
        // The job is free before its grant is used again.
        let mut again = Vec::new();
        while again
            .last()
            .is_none_or(|job: &Value| job["grant"]["index"] != returned["grant"]["index"])
        {
            again.push(evil.job());
        }
        evil.end_job(&done(&returned["grant"], &result_of(&returned)));
        use_grant(&evil, &returned["grant"], 0);
        let used = evil.job();
        for _ in 0..20 {
            evil.end_job(&done(&used["grant"], &result_of(&used)));
        }
        let grants: Vec<&Value> = again.iter().map(|job| &job["grant"]).collect();
        evil.note(&json!({ "returned": { "grants": grants } }));
        evil.flush();
        attacked.wait_for_ignored(7 + 7 + 19);
        // The victim still has its job.
        victim.end_job(&done(&foreign["grant"], &result_of(&foreign)));
        victim.flush();
        attacked.wait_for_pairs(2);
        let (_, pairs) = attacked.end(&[], || {
            evil.end_job(&done(&used["grant"], &result_of(&used)));
            evil.end_job(&failed(&used["grant"]));
        });
        assert_eq!(pairs_of(&pairs, "victim"), [index]);
        assert_eq!(pairs_of(&pairs, "evil"), [used["grant"]["index"].as_u64().expect("an index")]);
    });
}

/// The server verifies the name in each subject. Everything else that a worker may want to write or read is denied, and it
/// keeps its own permissions.
#[test]
fn a_worker_of_a_farm_writes_and_reads_only_for_itself() {
    let Some(server) = Server::farm(&WORKERS) else { return };
    let attacked = Attacked::start(server, PAIRS);
    let (evil, victim) = (attacked.raw("evil"), attacked.raw("victim"));
    let job = victim.job();
    victim.renew(&job["grant"]);
    let id = attacked.id.clone();
    let foreign = [
        "_INBOX.>".to_owned(),
        "_INBOX.victim.>".to_owned(),
        "_INBOX.owner.>".to_owned(),
        "readyok.>".to_owned(),
        format!("readyok.results.{id}.victim"),
        format!("readyok.take.{id}.*"),
        format!("readyok.stored.{id}.*"),
        "$KV.READYOK_KEYS.>".to_owned(),
        "$JS.API.>".to_owned(),
    ];
    let mut received: Vec<_> = foreign.iter().map(|subject| evil.subscribe(subject)).collect();
    let grant = &job["grant"];
    let index = grant["index"].as_u64().expect("an index");
    let forge = || {
        evil.publish(evil.subject("results", "victim"), done(grant, &crashed(index)).to_string());
        evil.publish(evil.subject("results", "victim"), failed(grant).to_string());
        for text in [json!({ "returned": { "grants": [grant] } }), progress(grant, "x")] {
            evil.publish(evil.subject("note", "victim"), text.to_string());
        }
        let state = json!({ "has_jobs": false, "stop": "finish", "priority": 9 });
        evil.publish(format!("readyok.state.{id}"), state.to_string());
        for key in ["READYOK_MATCHES", "READYOK_KEYS", "READYOK_CONTROL"] {
            evil.publish(format!("$KV.{key}.{id}"), "{}");
        }
        evil.publish("$KV.READYOK_WORKERS.victim".to_owned(), "{}");
        evil.publish(format!("readyok.files.{id}.x"), "x");
        evil.publish(format!("readyok.stored.{id}.{index}"), crashed(index).to_string());
        for stream in [format!("READYOK_INBOX_{id}"), "READYOK_RESULTS".to_owned()] {
            for call in ["DELETE", "PURGE", "INFO"] {
                evil.publish(format!("$JS.API.STREAM.{call}.{stream}"), "");
            }
            for number in 1..50 {
                let acknowledged = format!("$JS.ACK.{stream}.results.1.{number}.{number}.0.0");
                evil.publish(acknowledged, "+TERM");
            }
        }
        evil.flush();
    };
    forge();
    victim.end_job(&done(grant, &result_of(&job)));
    victim.flush();
    attacked.wait_for_pairs(1);
    let (_, pairs) = attacked.end(&[], forge);
    assert_eq!(pairs_of(&pairs, "victim"), [index]);
    assert!(pairs_of(&pairs, "evil").is_empty());
    for (subject, received) in foreign.iter().zip(&mut received) {
        if let Some(Some(message)) = received.next().now_or_never() {
            panic!("{subject}: {message:?}");
        }
    }
}

/// A worker holds a limited number of jobs, and only its own messages renew them.
#[test]
fn jobs_that_are_never_played_are_played_by_others() {
    attack(80, |attacked| {
        let (evil, silent) = (attacked.raw("evil"), attacked.raw("silent"));
        let held = silent.job()["grant"].clone();
        let mut taken = Vec::new();
        for _ in 0..100 {
            taken.extend(evil.jobs().into_iter().map(|job| job["grant"].clone()));
        }
        assert_eq!(taken.len(), FIRST_JOBS);
        let (_, pairs) = attacked.end(&[], || {
            evil.note(&json!({ "playing": { "grants": [held] } }));
            evil.jobs();
        });
        assert!(pairs_of(&pairs, "evil").is_empty() && pairs_of(&pairs, "silent").is_empty());
    });
}

#[test]
fn failed_jobs_are_played_by_others() {
    attack(PAIRS, |attacked| {
        let evil = attacked.raw("evil");
        let fail = || {
            for job in evil.jobs() {
                evil.end_job(&failed(&job["grant"]));
                evil.flush();
            }
        };
        for _ in 0..2 * PAIRS {
            fail();
        }
        let (found, pairs) = attacked.end(&[], fail);
        assert!(pairs_of(&pairs, "evil").is_empty());
        let warned = found.status.warnings.iter().any(|text| text.contains("evil"));
        assert!(warned, "{:?}", found.status.warnings);
    });
}

/// The name, the times and the nodes in a result are not believed.
#[test]
fn invalid_results_exclude_only_their_sender() {
    attack(PAIRS, |attacked| {
        let evil = attacked.raw("evil");
        let lie = |change: fn(&mut Value)| {
            let job = evil.job();
            let mut ended = done(&job["grant"], &result_of(&job));
            change(&mut ended["done"]);
            evil.end_job(&ended);
            evil.flush();
        };
        lie(|done| done["result"]["worker"] = format!("{}/0", HONEST[0]).into());
        lie(|done| done["result"]["games"][0]["duration_ms"] = json!(3_600_000));
        lie(|done| {
            done["speed"] = json!([1e6, 1e6]);
            done["result"]["games"][0]["moves"][0]["nodes"] = json!(1_000_000_000_000_u64);
        });
        let denial = wait_for(&attacked.connection, |_| {
            let answer = evil.ask(&json!({ "protocol": 3, "want": "jobs" }));
            for job in answer["jobs"].as_array().into_iter().flatten() {
                evil.note(&json!({ "returned": { "grants": [job["grant"]] } }));
            }
            answer["denied"]["why"].as_str().map(str::to_owned)
        });
        assert!(denial.contains("excluded"), "{denial}");
        let (found, pairs) = attacked.end(&["evil"], || {
            evil.note(&json!({ "rejected": { "why": { "kind": "not-fetched", "why": "x" } } }));
            evil.note(&json!("preparing"));
        });
        assert_eq!(found.status.invalid, 3);
        let reasons = found.status.quarantine.iter().map(|entry| entry.why.as_str());
        for (why, part) in reasons.zip(["another worker", "have taken 36000", "nodes, but at most"])
        {
            assert!(why.contains(part), "{why}");
        }
        assert!(pairs_of(&pairs, "evil").is_empty());
    });
}

/// Games that an engine has lost without a move are valid results. A worker that has only them does not end the match, and is excluded.
#[test]
fn failed_starts_of_one_worker_do_not_end_the_match() {
    attack(PAIRS, |attacked| {
        let evil = attacked.raw("evil");
        for _ in 0..3 {
            let job = evil.job();
            let pairing = serde_json::from_value(job["pairing"].clone()).expect("a pairing");
            let mut result = sample::played(pairing);
            for game in &mut result.games {
                let winner = if game.first == EngineId(0) { Side::Second } else { Side::First };
                game.winner = Some(winner);
                game.end = Termination::EngineStartFailure.into();
                game.moves.clear();
            }
            let result = serde_json::to_value(result).expect("JSON");
            evil.end_job(&done(&job["grant"], &result));
            evil.flush();
        }
        let (_, pairs) = attacked.end(&["evil"], || ());
        assert!(pairs_of(&pairs, "evil").is_empty());
    });
}

/// A worker fills neither the inbox of the match nor the memory of the coordinator.
#[test]
fn floods_are_bounded() {
    attack(PAIRS, |attacked| {
        let (evil, owner) = (attacked.raw("evil"), attacked.owner());
        let own = evil.job()["grant"].clone();
        let forged =
            json!({ "index": 3, "term": 2, "serial": 1, "at_ms": 0, "mac": "0".repeat(64) });
        let text = done(&forged, &crashed(3)).to_string();
        for count in 1..=10_000 {
            evil.publish(evil.subject("results", "evil"), text.clone());
            if count % 1000 == 0 {
                let waiting = owner.waiting_results();
                assert!(waiting <= MAX_INBOX_PER_WORKER, "{waiting}");
            }
        }
        let junk = "x".repeat(900_000);
        for number in 1..=300_u64 {
            let mut grant = forged.clone();
            grant["index"] = (10_000_000 + number).into();
            let long = json!({ "failed": { "grant": grant, "why": junk } });
            evil.end_job(&long);
            if number % 30 == 0 {
                evil.note(&long);
                evil.note(&progress(&own, &junk));
                evil.note(
                    &json!({ "rejected": { "why": { "kind": "not-fetched", "why": junk } } }),
                );
                evil.publish(evil.subject("take", "evil"), junk.clone());
                let waiting = owner.waiting_results();
                assert!(waiting <= MAX_INBOX_PER_WORKER, "{waiting}");
            }
        }
        let grants = vec![&forged; 2000];
        for number in 0..2000 {
            evil.note(&progress(&own, "x"));
            evil.note(&progress(&forged, "x"));
            if number % 100 == 0 {
                evil.note(&json!({ "playing": { "grants": grants } }));
                evil.note(&json!({ "returned": { "grants": grants } }));
            }
            let inbox = "_INBOX.evil.flood";
            let subject = evil.subject("take", "evil");
            evil.publish_with_reply(
                subject,
                inbox,
                &json!({ "protocol": 3, "want": "preparation" }),
            );
            evil.publish_with_reply("readyok.hello.evil".to_owned(), inbox, &json!(null));
        }
        evil.note(&json!({ "returned": { "grants": [own] } }));
        evil.flush();
        attacked.wait_for_ignored(1000);
        let (found, pairs) = attacked.end(&[], || {
            evil.end_job(&done(&forged, &crashed(3)));
            evil.note(&progress(&forged, "x"));
        });
        assert!(pairs_of(&pairs, "evil").is_empty());
        assert!(found.status.warnings.iter().all(|text| text.chars().count() <= 300));
    });
}

/// The coordinator counts warnings by engine and kind.
#[test]
fn progress_of_other_games_and_engines_has_no_effect() {
    const COUNT: u64 = 200;
    attack(PAIRS, |attacked| {
        let evil = attacked.raw("evil");
        let own = evil.job()["grant"].clone();
        evil.renew(&own);
        let note = |progress: Value| {
            evil.note(&json!({ "progress": { "grant": own, "progress": progress } }));
        };
        for number in 2..2 + COUNT {
            let kind = json!({ "kind": "no-score" });
            let context = json!({ "kind": kind, "moves": [] });
            note(
                json!({ "kind": "warning", "game": 0, "engine": number, "text": "x", "context": context }),
            );
            note(json!({ "kind": "warning", "game": number, "engine": 0, "text": "x" }));
            note(json!({ "kind": "game-start", "game": number }));
            let text = "x".repeat(if number % 50 == 0 { 200_000 } else { 1 });
            note(json!({ "kind": "warning", "game": 2, "engine": 1, "text": text }));
        }
        note(json!({ "kind": "game-start", "game": 1 }));
        evil.flush();
        attacked.wait_for_ignored(4 * COUNT);
        evil.note(&json!({ "returned": { "grants": [own] } }));
        let (_, pairs) = attacked.end(&[], || ());
        assert!(pairs_of(&pairs, "evil").is_empty());
    });
}

/// The coordinator may publish everywhere: an attacker must not choose the subject of its answers.
#[test]
fn answers_go_only_to_the_inbox_of_the_sender() {
    attack(PAIRS, |attacked| {
        let evil = attacked.raw("evil");
        let listener = attacked.owner();
        let state = format!("readyok.state.{}", evil.id);
        let subjects = [
            "_INBOX.victim.x".to_owned(),
            "_INBOX.evilx.1".to_owned(),
            "_INBOX.evil".to_owned(),
            "_INBOX.owner.1".to_owned(),
            "$KV.READYOK_MATCHES.x".to_owned(),
            "readyok.hello.victim".to_owned(),
            evil.subject("take", "victim"),
            evil.subject("note", "victim"),
            evil.subject("results", "victim"),
            state,
        ];
        let mut received: Vec<_> =
            subjects.iter().map(|subject| listener.subscribe(subject)).collect();
        let ask = || {
            for subject in &subjects {
                for want in ["preparation", "jobs"] {
                    let text = json!({ "protocol": 3, "want": want });
                    evil.publish_with_reply(evil.subject("take", "evil"), subject, &text);
                }
                let text = json!({ "protocol": 1, "want": "jobs" });
                evil.publish_with_reply(evil.subject("take", "evil"), subject, &text);
                evil.publish_with_reply("readyok.hello.evil".to_owned(), subject, &json!(null));
                evil.publish_with_reply(evil.subject("note", "evil"), subject, &json!("preparing"));
            }
            evil.flush();
        };
        ask();
        // The answer to the last request arrives after those to earlier ones.
        evil.ask(&json!({ "protocol": 3, "want": "jobs" }));
        evil.request("readyok.hello.evil".to_owned(), &Value::Null);
        listener.flush();
        for (subject, received) in subjects.iter().zip(&mut received) {
            while let Some(Some(message)) = received.next().now_or_never() {
                let is_announcement = subject.starts_with("readyok.state.")
                    && serde_json::from_slice::<Value>(&message.payload).expect("JSON")["has_jobs"]
                        .is_boolean();
                assert!(is_announcement, "{subject}: {message:?}");
            }
        }
        let (_, pairs) = attacked.end(&[], ask);
        assert!(pairs_of(&pairs, "evil").is_empty());
    });
}

#[test]
fn malformed_messages_and_names_have_no_effect() {
    attack(PAIRS, |attacked| {
        let evil = attacked.raw("evil");
        let own = evil.job();
        evil.renew(&own["grant"]);
        let with = |field: &str, value: &str| {
            let text = own["grant"].to_string();
            let before = format!("\"{field}\":{}", own["grant"][field]);
            let changed = text.replace(&before, &format!("\"{field}\":{value}"));
            assert_ne!(changed, text);
            format!("{{\"failed\":{{\"grant\":{changed},\"why\":\"x\"}}}}")
        };
        let mut texts: Vec<Vec<u8>> = [
            "",
            "{",
            "null",
            "[]",
            "\u{0}",
            "{\"failed\":null}",
            "{\"done\":{}}",
            "{\"failed\":{\"grant\":{},\"why\":\"x\"}}",
            "{\"jobs\":[]}",
            "\"done\"",
            "\"preparing\"",
            "\"Preparing\"",
            "{\"protocol\":3}",
            "{\"protocol\":-1,\"want\":\"jobs\"}",
            "{\"protocol\":99999999999999999999,\"want\":\"jobs\"}",
            "{\"protocol\":3,\"want\":\"everything\"}",
            "{\"playing\":{\"grants\":{}}}",
            "{\"rejected\":{\"why\":{}}}",
            "{\"progress\":{}}",
        ]
        .map(|text| text.as_bytes().to_vec())
        .into();
        texts.push(b"\xff\xfe".to_vec());
        texts.push("[".repeat(100_000).into());
        texts.push("{\"failed\":".repeat(10_000).into());
        for field in ["index", "term", "serial", "at_ms"] {
            for value in
                ["-1", "1.5", "1e400", "18446744073709551615", "99999999999999999999", "null"]
            {
                texts.push(with(field, value).into());
            }
        }
        for value in ["null", "7", "\"\"", "\"é\"", "\"00\"", "[]"] {
            texts.push(with("mac", value).into());
        }
        let long = "x".repeat(200);
        let names =
            ["owner", "a/b/c", "/", "\u{e9}", "{{name()}}", "$x", "a=b", "..", "a'b", &long];
        let send = || {
            for text in &texts {
                for kind in ["results", "note", "take"] {
                    evil.publish(evil.subject(kind, "evil"), text.clone());
                }
                evil.publish("readyok.hello.evil".to_owned(), text.clone());
            }
            for name in names.iter().filter(|name| !name.contains("..")) {
                let text = json!({ "protocol": 3, "want": "jobs" });
                let reply = format!("_INBOX.{name}.1");
                evil.publish_with_reply(evil.subject("take", name), &reply, &text);
                evil.publish(evil.subject("results", name), failed(&own["grant"]).to_string());
                evil.publish(evil.subject("note", name), progress(&own["grant"], "x").to_string());
            }
            evil.flush();
        };
        let mut replies = names.iter().filter(|name| !name.contains(".."));
        let mut replies: Vec<_> =
            replies.by_ref().map(|name| evil.subscribe(&format!("_INBOX.{name}.*"))).collect();
        send();
        attacked.wait_for_ignored(texts.len() as u64);
        evil.ask(&json!({ "protocol": 3, "want": "preparation" }));
        for reply in &mut replies {
            assert!(reply.next().now_or_never().is_none());
        }
        // The attacker still has its own job.
        evil.end_job(&done(&own["grant"], &result_of(&own)));
        evil.flush();
        attacked.wait_for_pairs(1);
        let (_, pairs) = attacked.end(&[], send);
        assert_eq!(pairs_of(&pairs, "evil"), [own["grant"]["index"].as_u64().expect("an index")]);
        let workers: BTreeSet<_> = pairs.iter().filter_map(|pair| pair.worker.clone()).collect();
        assert!(workers.len() <= 3, "{workers:?}");
    });
}

/// A worker of another version is named once, and gets the reason.
#[test]
fn other_versions_are_rejected_by_name() {
    attack(PAIRS, |attacked| {
        let old = attacked.raw("old");
        let why = |protocol: u32| {
            wait_for(&attacked.connection, |_| {
                let answer = old.ask(&json!({ "protocol": protocol, "want": "jobs" }));
                answer["denied"]["why"].as_str().map(str::to_owned)
            })
        };
        assert!(why(1).contains("the worker is of an older version"), "{}", why(1));
        assert!(why(4).contains("the match is of an older version"), "{}", why(4));
        let (found, _) = attacked.end(&[], || {
            old.ask(&json!({ "protocol": 1, "want": "jobs" }));
        });
        let named = found.status.warnings.iter().filter(|text| text.contains("worker `old`"));
        assert_eq!(named.count(), 1, "{:?}", found.status.warnings);
    });
}

/// A worker that leaves is at no disadvantage, and neither is the match.
#[test]
fn a_worker_may_restart_a_hundred_times() {
    attack(PAIRS, |attacked| {
        let cache = attacked.directory.path().join("restarted");
        thread::scope(|scope| {
            for name in ["one", "two", "three", "four"] {
                let (port, cache) = (attacked.server.port, &cache);
                scope.spawn(move || {
                    for _ in 0..25 {
                        let mut hand = Hand::new(port, name, cache);
                        let lease = hand.take().expect("a job");
                        drop(lease);
                        hand.pool.leave(Departure::Return);
                    }
                });
            }
        });
        // It gets a job immediately.
        let mut hand = Hand::new(attacked.server.port, "one", &cache);
        let lease = hand.take().expect("a job");
        let pairing = lease.job().pairing.clone();
        let index = pairing.index;
        lease.finish(sample::played(pairing)).expect("a queue");
        hand.pool.leave(Departure::Finish);
        attacked.wait_for_pairs(1);
        let (_, pairs) = attacked.end(&[], || ());
        assert_eq!(pairs_of(&pairs, "one"), [index]);
    });
}
