//! The queue for the page: matches of forms, downloads, and what readers may do.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use readyok_arena::plan::{
    EnginePlan, Limits, OpeningOrder, OpeningSource, Openings, Plan, TimeControl,
};
use readyok_arena::store::Store;
use readyok_rules::Game;
use readyok_server::matches::Results;
use readyok_server::wire::{QueueAction, QueueMatch};
use readyok_server::{Listing, QueueDashboard};
use readyok_server::{Options, Password};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::support::{Answer, Fixture, get, log_in, mime, open_socket, post, send, session_of};

/// A queue with one match, which records what is asked of it.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    asked: Mutex<Vec<String>>,
    started: Mutex<Vec<(Plan, i32)>>,
    /// The results of the match `done`.
    results: Mutex<Option<PathBuf>>,
}

impl Recorder {
    fn record(&self, what: String) {
        self.asked.lock().expect("no panic").push(what);
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("no panic"))
    }

    pub(crate) fn last_plan(&self) -> (Plan, i32) {
        self.started.lock().expect("no panic").pop().expect("a match was started")
    }
}

/// A match with settings that no form shows.
fn original() -> Plan {
    let tc: TimeControl = "10+0.1".parse().expect("a time control");
    let engine = |name: &str| EnginePlan {
        name: name.to_owned(),
        command: format!("/far/away/{name}"),
        args: vec!["--quiet".to_owned()],
        options: BTreeMap::from([("Hash".to_owned(), "16".to_owned())]),
        limits: Limits { tc: Some(tc), margin_ms: 30, ..Limits::default() },
        restart: true,
        ..EnginePlan::default()
    };
    let source = OpeningSource::File { path: "/far/away/book.epd".to_owned(), format: None };
    Plan {
        event: "nightly".to_owned(),
        engines: vec![engine("new"), engine("base")],
        rounds: Plan::UNLIMITED_ROUNDS,
        openings: Openings { source, order: OpeningOrder::Random, skip: 7, ..Openings::default() },
        seed: 1,
        ..Plan::new(Game::Chess)
    }
}

impl QueueDashboard for Recorder {
    fn overview(&self, search: &str) -> Result<Listing, String> {
        self.record(format!("overview {search}"));
        let (server, open, finished) = ("nats://host".to_owned(), Vec::new(), Vec::new());
        Ok(Listing { server, open, finished, workers: Vec::new() })
    }

    fn details(&self, id: &str, _: bool) -> Result<Option<QueueMatch>, String> {
        self.record(format!("details {id}"));
        Ok(None)
    }

    fn results(&self, id: &str) -> Result<Option<(Results, String)>, String> {
        self.record(format!("results {id}"));
        let path = self.results.lock().expect("no panic").clone().filter(|_| id == "done");
        Ok(path.map(|path| (Results::at(path), "../night\"ly\r\n".to_owned())))
    }

    fn plan(&self, id: &str) -> Result<Option<(Plan, i32)>, String> {
        Ok((id == "a").then(|| (original(), 3)))
    }

    fn read(&self, text: &str, openings: Option<&str>) -> Result<(Plan, i32), String> {
        self.record(format!("read {text} {openings:?}"));
        Ok((original(), 5))
    }

    fn start(&self, plan: &Plan, priority: i32) -> Result<String, String> {
        self.record("start".to_owned());
        self.started.lock().expect("no panic").push((plan.clone(), priority));
        Ok("b".to_owned())
    }

    fn start_copy(
        &self,
        id: &str,
        priority: i32,
        change: &dyn Fn(&Plan) -> Plan,
    ) -> Result<String, String> {
        self.record(format!("copy {id}"));
        self.started.lock().expect("no panic").push((change(&original()), priority));
        Ok("c".to_owned())
    }

    fn openings_path(&self, name: &str) -> Result<PathBuf, String> {
        Err(format!("{name} does not exist"))
    }

    fn openings(&self) -> Result<Vec<String>, String> {
        self.record("openings".to_owned());
        Ok(Vec::new())
    }

    fn add_openings(&self, name: &str, _: &mut dyn Read) -> Result<(), String> {
        self.record(format!("add {name}"));
        Ok(())
    }

    fn act(&self, id: &str, action: QueueAction) -> Result<String, String> {
        self.record(format!("{action:?}"));
        Ok(id.to_owned())
    }
}

/// A server with a queue and a password of readers.
async fn server() -> (Fixture, Arc<Recorder>) {
    let queue = Arc::new(Recorder::default());
    let shared = Arc::clone(&queue);
    let change = move |options: &mut Options| {
        options.queue = Some(shared);
        options.reader_password = Some(Password::new("battery staple").expect("a hash"));
    };
    (Fixture::start_as(change).await, queue)
}

/// The requests that change a queue or a local match.
fn changes() -> Vec<(&'static str, Value)> {
    let act = |action: Value| ("/api/queue/a", action);
    let form = json!({ "kind": "plan", "plan": form(), "priority": 0 });
    vec![
        act(json!({ "action": "pause" })),
        act(json!({ "action": "resume" })),
        act(json!({ "action": "stop" })),
        act(json!({ "action": "start" })),
        act(json!({ "action": "remove" })),
        act(json!({ "action": "priority", "priority": 7 })),
        act(json!({ "action": "limit", "max_workers": 2, "max_threads": null })),
        act(json!({ "action": "exclude", "worker": "w" })),
        act(json!({ "action": "include", "worker": "w" })),
        ("/api/queue", json!({ "kind": "text", "text": "readyok match a b" })),
        ("/api/queue", form),
    ]
}

pub(crate) fn form() -> Value {
    let engine = |name: &str| {
        json!({
            "engine": { "command": mime(), "args": [] }, "name": name, "time": { "kind": "none" },
            "nodes": 10, "depth": null, "options": { "Hash": "8" },
        })
    };
    json!({
        "name": "form", "variant": "chess", "engines": [engine("new"), engine("base")],
        "format": "round_robin", "rounds": 4_294_967_295_u32, "pairs": 1, "openings": { "kind": "built_in" },
        "concurrency": 1, "draw": null, "resign": null, "max_moves": 200,
        "sprt": { "elo0": 0.0, "elo1": 5.0, "alpha": 0.05, "beta": 0.05, "model": "normalized" },
        "seed": 9,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_matches_and_changes_nothing() {
    let (server, queue) = server().await;
    let session = session_of(&log_in(&server.host, &json!({ "password": "battery staple" })).await);
    let origin = format!("http://{}", server.host);
    let authorization = format!("Bearer {session}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("origin", origin.as_str()),
        ("content-type", "application/json"),
    ];
    for path in [
        "/api/queue",
        "/api/queue/a",
        "/api/queue/a/files/games",
        "/api/queue/a/files/results",
        "/api/queue/a/files/report",
        "/api/matches",
        "/api/matches/1",
        "/api/matches/1/files/games",
    ] {
        let answer = get(&server.host, path, &headers[..1]).await;
        assert!([200, 404].contains(&answer.status), "{path}: {}", answer.status);
    }
    let overview = get(&server.host, "/api/queue", &headers[..1]).await.json();
    assert_eq!(overview["writable"], false);
    queue.asked();

    for (path, body) in changes() {
        let rejected =
            send(&server.host, "POST", path, &headers, body.to_string().as_bytes()).await;
        assert!([401, 403].contains(&rejected.status), "{path} {body}: {}", rejected.status);
    }
    // What the form of a new match shows, and everything outside of matches.
    for path in [
        "/api/queue/a/plan",
        "/api/queue/openings",
        "/api/files",
        "/api/choices",
        "/api/engines.toml",
        "/api/matchesx",
        "/api/export",
    ] {
        let rejected = get(&server.host, path, &headers[..1]).await;
        assert!([401, 403].contains(&rejected.status), "{path}: {}", rejected.status);
    }
    // Commands to local matches need a socket.
    let stream = TcpStream::connect(&server.host).await.expect("it listens");
    let protocols = [
        ("sec-websocket-protocol", format!("readyok, {session}")),
        ("origin", format!("http://{}", server.host)),
    ];
    assert!(open_socket(&server.host, stream, &protocols).await.is_err());
    assert_eq!(queue.asked(), Vec::<String>::new());

    // The owner may do all of it.
    for (path, body) in changes() {
        let answer = server.post(path, "application/json", body.to_string().as_bytes()).await;
        assert_eq!(answer.status, 200, "{path} {body}: {}", answer.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_starts_a_match_in_one_request() {
    let (server, queue) = server().await;
    let wanted = json!({ "kind": "plan", "plan": form(), "priority": -2 });
    assert_eq!(post(&server, "/api/queue", &wanted).await["id"], "b");
    let (plan, priority) = queue.last_plan();
    assert_eq!((priority, plan.event.as_str(), plan.seed), (-2, "form", 9));
    assert!(plan.is_unlimited() && plan.sprt.is_some() && plan.adjudication.max_moves == Some(200));
    let [new, base] = plan.engines.as_slice() else { panic!("two engines") };
    assert_eq!((new.command.as_str(), new.name.as_str()), (mime(), "new"));
    assert_eq!((base.limits.nodes, base.options["Hash"].as_str()), (Some(10), "8"));

    let rejected = |change: fn(&mut Value)| {
        let mut wanted = wanted.clone();
        change(&mut wanted);
        wanted
    };
    for wanted in [
        rejected(|wanted| wanted["plan"]["engines"][0]["engine"] = json!(99)),
        rejected(|wanted| wanted["plan"]["engines"][0]["nodes"] = Value::Null),
        rejected(|wanted| wanted["plan"]["sprt"]["elo1"] = json!(-1.0)),
        rejected(|wanted| wanted["plan"]["sprt"] = Value::Null),
        rejected(|wanted| wanted["openings"] = json!("../book.epd")),
    ] {
        let body = wanted.to_string();
        let answer: Answer = server.post("/api/queue", "application/json", body.as_bytes()).await;
        assert!((400..500).contains(&answer.status), "{wanted}: {}", answer.status);
    }
    assert_eq!(queue.asked(), ["start"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_keeps_what_the_form_does_not_show() {
    let (server, queue) = server().await;
    let mut wanted = server.get("/api/queue/a/plan").await.json();
    assert_eq!((&wanted["priority"], &wanted["base"]), (&json!(3), &json!("a")), "{wanted}");
    assert_eq!(server.get("/api/queue/z/plan").await.status, 404);
    wanted["kind"] = json!("plan");
    wanted["plan"]["name"] = json!("again");
    wanted["plan"]["seed"] = json!(2);
    assert_eq!(post(&server, "/api/queue", &wanted).await["id"], "c", "{wanted}");
    let (plan, priority) = queue.last_plan();
    let expected = Plan { event: "again".to_owned(), seed: 2, ..original() };
    assert_eq!((plan, priority), (expected.clone(), 3));

    wanted["plan"]["engines"][0]["options"] = json!({ "Hash": "64" });
    wanted["plan"]["engines"][1]["time"] = json!({ "kind": "per_move", "time": 100 });
    wanted["plan"]["rounds"] = json!(50);
    post(&server, "/api/queue", &wanted).await;
    let (plan, _) = queue.last_plan();
    let mut expected = Plan { rounds: 50, ..expected };
    expected.engines[0].options = BTreeMap::from([("Hash".to_owned(), "64".to_owned())]);
    let limits = Limits { move_time_ms: Some(100), margin_ms: 30, ..Limits::default() };
    expected.engines[1].limits = limits;
    assert_eq!(plan, expected);
    // Another program is a new engine.
    wanted["plan"]["engines"][0]["engine"] = json!({ "command": mime() });
    post(&server, "/api/queue", &wanted).await;
    let (plan, _) = queue.last_plan();
    assert_eq!((plan.engines[0].command.as_str(), plan.engines[0].restart), (mime(), false));
    assert_eq!(plan.engines[1], expected.engines[1]);
}

/// Any reader downloads the results of the queue, in a request or at a temporary address.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_downloads_the_files_of_a_match() {
    let (server, queue) = server().await;
    let path = server.data.join("done.jsonl");
    let source = OpeningSource::Start;
    let openings = Openings { source, ..Openings::default() };
    Store::create(&path, &Plan { openings, rounds: 1, ..original() }).expect("a results file");
    *queue.results.lock().expect("no panic") = Some(path.clone());
    let session = session_of(&log_in(&server.host, &json!({ "password": "battery staple" })).await);
    let authorization = format!("Bearer {session}");
    let headers = [("authorization", authorization.as_str())];
    let stored = std::fs::read(&path).expect("the results");
    let answer = get(&server.host, "/api/queue/done/files/results", &headers).await;
    let name = "attachment; filename=\"night-ly.jsonl\"";
    assert_eq!((answer.status, answer.header("content-disposition")), (200, Some(name)));
    assert!(
        answer.text().contains("readyok-match") && answer.text().contains("nightly"),
        "{}",
        answer.text()
    );
    let found = get(&server.host, "/api/queue/done/addresses/results", &headers).await.json();
    let address = format!("/{}", found["address"].as_str().expect("an address"));
    let shown = get(&server.host, &address, &[]).await;
    assert_eq!((shown.status, shown.text()), (200, answer.text()));
    assert!(answer.text().len() >= stored.len(), "all of it is sent");
    // Other matches, files and sessions have none.
    for path in ["/api/queue/other/files/results", "/api/queue/done/files/plan"] {
        assert_eq!(get(&server.host, path, &headers).await.status, 404, "{path}");
    }
    assert_eq!(get(&server.host, "/api/queue/done/files/results", &[]).await.status, 401);
}
