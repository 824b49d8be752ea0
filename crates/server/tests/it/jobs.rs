//! Work on many games: directories that are read, games that are reported on one after another.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Fixture, Options, Tab, options};

const PGN: &str = "[White \"Ada\"]\n[ECO \"B20\"]\n[Opening \"Sicilian Defence\"]\n\n1. e4 c5 *\n\n\
    [White \"Babbage\"]\n\n1. d4 d5 2. c4 *\n";
const KIF: &str =
    "手合割：平手\n手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:01/00:00:01)\n";

/// A server that may show a directory of records.
async fn server_with(data: &Path, root: &Path) -> Fixture {
    let data = data.join("data");
    Fixture::start_with(Options { roots: vec![root.to_owned()], ..options(&data) }).await
}

fn records(directory: &Path, files: &[(&str, &str)]) -> std::path::PathBuf {
    let root = directory.join("records");
    std::fs::create_dir(&root).expect("it is made");
    for (name, text) in files {
        std::fs::write(root.join(name), text).expect("it is written");
    }
    root
}

async fn job_ends(tab: &mut Tab, id: &Value) -> Value {
    let over = |job: &Value| {
        job["id"] == *id && matches!(job["status"].as_str(), Some("done" | "failed" | "stopped"))
    };
    let delta = tab.change("jobs", |delta| {
        delta["changed"].as_array().is_some_and(|all| all.iter().any(over))
    });
    delta.await["changed"][0].clone()
}

async fn found(server: &Fixture, query: Value) -> Vec<Value> {
    let body = query.to_string();
    let page = server.post("/api/library/search", "application/json", body.as_bytes()).await;
    page.json()["games"].as_array().expect("games").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn imports_the_games_of_a_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let broken = "1. e4 e4 *\n";
    let root = records(
        directory.path(),
        &[("a.pgn", PGN), ("b.kif", KIF), ("c.pgn", broken), ("notes.doc", "1. e4 *")],
    );
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    assert_eq!(tab.follow("jobs").await["jobs"], json!([]));
    let path = root.to_str().expect("it is UTF-8");
    let begun = tab.ask(json!({ "kind": "import_directory", "path": path })).await;
    assert_eq!(begun["kind"], "job", "{begun}");
    let job = job_ends(&mut tab, &begun["id"]).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(
        (&job["files"], &job["files_done"], &job["games"]),
        (&json!(3), &json!(3), &json!(3))
    );
    assert_eq!(job["errors"][0]["of"], json!({ "kind": "file", "name": "c.pgn" }), "{job}");
    assert_eq!(found(&server, json!({})).await.len(), 3);
    for (named, count) in [("b20", 1), ("sicilian", 1), ("B2_", 0), ("king's", 0)] {
        assert_eq!(found(&server, json!({ "named": named })).await.len(), count, "{named}");
    }
    // Nothing of it is opened, and what lies elsewhere is not read.
    assert_eq!(tab.follow("games").await["games"], json!([]));
    let elsewhere = tab.ask(json!({ "kind": "import_directory", "path": "/etc" })).await;
    assert_eq!(elsewhere["category"], "invalid_path", "{elsewhere}");
    let id = &begun["id"];
    assert_eq!(tab.ask(json!({ "kind": "delete_job", "id": id })).await["kind"], "done");
    assert_eq!(tab.follow("jobs").await["jobs"], json!([]));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_on_the_games_of_a_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = records(directory.path(), &[("a.pgn", PGN), ("b.kif", KIF)]);
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&[]).await;
    tab.follow("jobs").await;
    let settings = json!({ "engine": engine, "limits": { "depth": 1 }, "annotate": true });
    let on = json!({ "kind": "directory", "path": root.to_str() });
    let begun = tab.ask(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    assert_eq!(begun["kind"], "job", "{begun}");
    let job = job_ends(&mut tab, &begun["id"]).await;
    assert_eq!((&job["status"], &job["done"]), (&json!("done"), &json!(3)), "{job}");
    assert_eq!(tab.follow("games").await["games"], json!([]), "none is open");
    let games = found(&server, json!({ "player": "babbage" })).await;
    let id = games[0]["id"].clone();
    let text = server.get(&format!("/api/export/{id}?format=pgn")).await.text();
    assert!(text.contains("[%eval"), "{text}");
    // The report is there when the game is opened.
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": id })).await["kind"], "game");
    let report = tab.follow(&format!("report/{id}")).await;
    assert_eq!((&report["status"], &report["done"]), (&json!("done"), &json!(4)), "{report}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_resumed_after_a_restart_of_the_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let many = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n\n".repeat(12);
    let root = records(directory.path(), &[("a.pgn", &many)]);
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&[]).await;
    tab.follow("jobs").await;
    let settings = json!({ "engine": engine, "limits": { "depth": 1 } });
    let on = json!({ "kind": "directory", "path": root.to_str() });
    let begun = tab.ask(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    let id = begun["id"].clone();
    // In the middle of the work, wherever that is.
    tab.change("jobs", |delta| delta["changed"][0]["done"].as_u64() >= Some(1)).await;
    server.stop().await;

    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    let jobs = tab.follow("jobs").await;
    let job = &jobs["jobs"][0];
    assert_eq!(job["id"], id, "{jobs}");
    if job["status"] != "done" {
        assert_eq!(job["status"], "stopped", "{job}");
        let resumed = tab.ask(json!({ "kind": "resume_job", "id": id })).await;
        assert_eq!(resumed["kind"], "done", "{resumed}");
        let job = job_ends(&mut tab, &id).await;
        assert_eq!((&job["status"], &job["done"]), (&json!("done"), &json!(12)), "{job}");
        assert_eq!(job["failed"], 0, "{job}");
    }
    assert_eq!(found(&server, json!({})).await.len(), 12, "no game was read twice");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_always_dies_ends_the_job() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = records(directory.path(), &[("a.pgn", &"1. e4 *\n\n".repeat(9))]);
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&["crash"]).await;
    tab.follow("jobs").await;
    let settings = json!({ "engine": engine, "limits": { "depth": 1 } });
    let on = json!({ "kind": "directory", "path": root.to_str() });
    let begun = tab.ask(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    let job = job_ends(&mut tab, &begun["id"]).await;
    assert_eq!((&job["status"], &job["failed"]), (&json!("failed"), &json!(3)), "{job}");
    server.stop().await;
}
