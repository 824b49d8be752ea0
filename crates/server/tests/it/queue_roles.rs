//! Authors, approvers and readers of a farm: tests that wait for approval, and what an account may change.

use std::sync::Arc;

use readyok_server::{Account, Options, Password};
use serde_json::{Value, json};

use crate::queue::{Recorder, form};
use crate::support::{Answer, Fixture, get, log_in, send, session_of};

const REPOSITORY: &str = "https://example.org/engine";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

struct Farm {
    server: Fixture,
    queue: Arc<Recorder>,
}

impl Farm {
    async fn start() -> Self {
        let queue = Arc::new(Recorder::default());
        let shared = Arc::clone(&queue);
        let hash = Password::new("correct horse").expect("a hash").hash().to_owned();
        let account = |name: &str, role: &str| {
            format!("[{name}]\nrole = \"{role}\"\npassword = \"{hash}\"\n")
        };
        let accounts = [
            account("alice", "author"),
            account("carol", "author"),
            account("bob", "approver"),
            account("dave", "reader"),
        ];
        let accounts = Account::read_all(&accounts.concat()).expect("accounts");
        let change = move |options: &mut Options| {
            options.queue = Some(shared);
            options.accounts = accounts;
            options.repositories.insert(REPOSITORY.to_owned());
        };
        Self { server: Fixture::start_as(change).await, queue }
    }

    async fn member(&self, name: &str) -> Member<'_> {
        let login = json!({ "account": { "name": name, "password": "correct horse" } });
        let session = session_of(&log_in(&self.server.host, &login).await);
        Member { host: &self.server.host, authorization: format!("Bearer {session}") }
    }
}

struct Member<'a> {
    host: &'a str,
    authorization: String,
}

impl Member<'_> {
    async fn post(&self, path: &str, body: &Value) -> Answer {
        let origin = format!("http://{}", self.host);
        let headers = [
            ("authorization", self.authorization.as_str()),
            ("origin", origin.as_str()),
            ("content-type", "application/json"),
        ];
        send(self.host, "POST", path, &headers, body.to_string().as_bytes()).await
    }

    async fn overview(&self) -> Value {
        let headers = [("authorization", self.authorization.as_str())];
        get(self.host, "/api/queue", &headers).await.json()
    }
}

/// A test of two commits.
fn test() -> Value {
    let mut plan = form();
    for (engine, revision) in [(0, "lmr"), (1, "main")] {
        plan["engines"][engine]["engine"] = json!({ "source": {
            "repository": REPOSITORY, "revision": revision, "commit": COMMIT, "build": "make EXE=engine",
            "program": "engine", "bench": 4242,
        }});
    }
    json!({ "kind": "plan", "plan": plan, "priority": 7, "max_workers": 2 })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_test_of_an_author_waits_for_approval() {
    let farm = Farm::start().await;
    let (alice, bob) = (farm.member("alice").await, farm.member("bob").await);
    assert_eq!(alice.overview().await["user"]["waits"], true);
    let proposed = alice.post("/api/queue", &test()).await.json();
    assert_eq!(proposed["waits"], true, "{proposed}");
    let proposal = &alice.overview().await["proposals"][0];
    assert_eq!(
        (&proposal["author"], &proposal["test"]["plan"]["name"]),
        (&json!("alice"), &json!("form"))
    );
    farm.queue.asked();

    // Neither the author nor another author may approve it.
    let path = format!("/api/queue/proposals/{}", proposed["id"].as_str().expect("a number"));
    let approve = json!({ "action": "approve" });
    for name in ["alice", "carol", "dave"] {
        let rejected = farm.member(name).await.post(&path, &approve).await;
        assert!([401, 403].contains(&rejected.status), "{name}: {}", rejected.status);
    }
    assert_eq!(farm.queue.asked(), Vec::<String>::new());

    let started = bob.post(&path, &approve).await.json();
    assert_eq!(started["id"], "b");
    let (plan, priority) = farm.queue.last_plan();
    assert_eq!(priority, 0, "only others set priorities");
    let source = plan.engines[0].source.as_ref().expect("a commit");
    assert_eq!((source.commit.as_str(), source.bench), (COMMIT, Some(4242)));
    let asked = farm.queue.asked();
    assert!(asked.iter().any(|text| text.contains("max_workers: Some(2)")), "{asked:?}");
    assert_eq!(bob.overview().await["proposals"], json!([]));

    // Later tests start immediately, and the author controls them.
    let next = alice.post("/api/queue", &test()).await.json();
    assert_eq!((&next["id"], next.get("waits")), (&json!("b"), None));
    for action in ["pause", "resume", "stop"] {
        let body = json!({ "action": action });
        assert_eq!(alice.post("/api/queue/b", &body).await.status, 200, "{action}");
        assert_eq!(alice.post("/api/queue/a", &body).await.status, 403, "not an own match");
        assert_eq!(farm.member("carol").await.post("/api/queue/b", &body).await.status, 403);
    }
    for body in [
        json!({ "action": "priority", "priority": 9 }),
        json!({ "action": "limit", "max_workers": null, "max_threads": null }),
        json!({ "action": "exclude", "worker": "w" }),
    ] {
        assert_eq!(alice.post("/api/queue/b", &body).await.status, 403, "{body}");
        assert_eq!(bob.post("/api/queue/b", &body).await.status, 200, "{body}");
    }
    for action in ["start", "remove"] {
        assert_eq!(bob.post("/api/queue/b", &json!({ "action": action })).await.status, 403);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_author_tests_commits_of_permitted_repositories_only() {
    let farm = Farm::start().await;
    let changed = |path: &[&str], value: Value| {
        let mut test = test();
        let place = path.iter().fold(&mut test, |value, key| match key.parse::<usize>() {
            Ok(index) => &mut value[index],
            Err(_) => &mut value[*key],
        });
        *place = value;
        test
    };
    let engine = ["plan", "engines", "0"];
    let in_source = |key| [engine[0], engine[1], engine[2], "engine", "source", key];
    for name in ["alice", "bob"] {
        let member = farm.member(name).await;
        for (code, test) in [
            (
                "repository_not_permitted",
                changed(&in_source("repository"), json!("https://example.org/x")),
            ),
            (
                "authors_test_commits",
                changed(
                    &[engine[0], engine[1], engine[2], "engine"],
                    json!({ "command": "/bin/sh" }),
                ),
            ),
            (
                "authors_name_no_files",
                changed(
                    &[engine[0], engine[1], engine[2], "options"],
                    json!({ "EvalFile": "/etc/passwd" }),
                ),
            ),
            (
                "authors_test_commits",
                changed(
                    &["plan", "openings"],
                    json!({ "kind": "file", "path": "/etc/passwd", "plies": null, "shuffled": true }),
                ),
            ),
            ("source_unavailable", changed(&in_source("program"), json!("../../bin/sh"))),
        ] {
            let rejected = member.post("/api/queue", &test).await;
            assert_eq!(rejected.status, 400, "{test}");
            assert_eq!(rejected.json()["error"]["code"], code, "{test}");
        }
        let text = json!({ "kind": "text", "text": "readyok match a b" });
        assert_eq!(member.post("/api/queue", &text).await.status, 403);
        // The app is for the owner.
        let headers = [("authorization", member.authorization.as_str())];
        for path in ["/api/engines.toml", "/api/files", "/api/export"] {
            assert_eq!(get(member.host, path, &headers).await.status, 401, "{path}");
        }
    }
    assert_eq!(farm.queue.asked(), Vec::<String>::new());
    let dave = farm.member("dave").await;
    assert!([401, 403].contains(&dave.post("/api/queue", &test()).await.status));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_author_can_withdraw_and_cannot_flood() {
    let farm = Farm::start().await;
    let alice = farm.member("alice").await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        let proposed = alice.post("/api/queue", &test()).await.json();
        ids.push(proposed["id"].as_str().expect("a number").to_owned());
    }
    assert_eq!(alice.post("/api/queue", &test()).await.status, 413);
    let path = format!("/api/queue/proposals/{}", ids[0]);
    let remove = json!({ "action": "remove" });
    let carol = farm.member("carol").await;
    assert_eq!(carol.post(&path, &remove).await.status, 403, "of another author");
    assert_eq!(alice.post(&path, &remove).await.status, 200);
    assert_eq!(alice.post(&path, &remove).await.status, 404);
    assert_eq!(alice.post("/api/queue", &test()).await.status, 200);
    for wrong in [
        json!({ "account": { "name": "alice", "password": "wrong" } }),
        json!({ "account": { "name": "unknown", "password": "correct horse" } }),
        json!({ "password": "correct horse" }),
    ] {
        let rejected = log_in(&farm.server.host, &wrong).await;
        assert!([401, 404].contains(&rejected.status), "{wrong}: {}", rejected.status);
    }
}
