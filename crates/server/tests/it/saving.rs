//! Saving. Only answers to changes wait for the library.

use std::path::Path;

use futures_util::StreamExt;
use readyok_server::Warning;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{Fixture, LONG, bind, game, open_socket, options};

fn library(data: &Path) -> Connection {
    database(data, "library.sqlite")
}

/// Open games and everything else.
fn app(data: &Path) -> Connection {
    database(data, "app.sqlite")
}

fn database(data: &Path, name: &str) -> Connection {
    let db = Connection::open(data.join(name)).expect("it opens");
    db.busy_timeout(LONG).expect("it is set");
    db
}

/// Blocks writes to a file until the release.
struct Blocked(Connection);

impl Blocked {
    fn new(db: Connection) -> Self {
        db.execute_batch("BEGIN IMMEDIATE").expect("no other write is long");
        Self(db)
    }

    fn release(self) {
        self.0.execute_batch("ROLLBACK").expect("it was begun");
    }
}

fn number(db: &Connection, query: &str) -> u32 {
    db.query_row(query, [], |row| row.get(0)).expect("a number")
}

fn mv(id: &Value, node: u32, text: &str) -> Value {
    json!({ "kind": "move", "game": id, "node": node, "text": text })
}

fn go_to(id: &Value, node: u32) -> Value {
    json!({ "kind": "go_to", "game": id, "node": node })
}

/// Knight moves that return to the start position.
const SHUFFLE: [&str; 4] = ["Nf3", "Nf6", "Ng1", "Ng8"];

fn pgn(games: usize) -> String {
    let game = |number| format!("[White \"Ada {number}\"]\n\n1. e4 e5 2. Nf3 *\n\n");
    (0..games).map(game).collect::<Vec<_>>().concat()
}

/// The number of transactions in the write-ahead log of the library, which is too short for a checkpoint.
fn transactions(data: &Path) -> usize {
    let log = std::fs::read(data.join("library.sqlite-wal")).expect("a log");
    if log.is_empty() {
        return 0;
    }
    let number_at =
        |at: usize| log[at..at + 4].try_into().map(u32::from_be_bytes).expect("four bytes");
    let page = usize::try_from(number_at(8)).expect("a size");
    let frames = log[32..].chunks_exact(24 + page);
    let frames = frames.take_while(|frame| frame[8..16] == log[16..24]);
    // The last frame of a transaction has the size of the file.
    frames.filter(|frame| frame[4..8] != [0; 4]).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_do_not_wait_for_saving() {
    let server = Fixture::start().await;
    let (mut tab, mut other) = (server.tab().await, server.tab().await);
    let (topic, state) = tab.new_game(game("chess", Value::Null)).await;
    let (_, second) = other.new_game(game("chess", Value::Null)).await;
    assert_eq!(other.ask(mv(&second["id"], 0, "e4")).await["kind"], "node");
    other.follow(&topic).await;
    let blocked = Blocked::new(app(&server.data));

    let played = tab.send(mv(&state["id"], 0, "d4")).await;
    // Subscribers receive the move; another game and the tab itself continue.
    other.change(&topic, |delta| delta["nodes"][1]["uci"] == "d2d4").await;
    other.done(go_to(&second["id"], 0)).await;
    let third = other.send(mv(&second["id"], 1, "e5")).await;
    other.done(go_to(&second["id"], 1)).await;
    tab.done(go_to(&state["id"], 0)).await;
    // Answers are sent after saving.
    assert!(!tab.has_answer(played) && !other.has_answer(third));

    blocked.release();
    assert_eq!(tab.answer(played).await["kind"], "node");
    assert_eq!(other.answer(third).await["kind"], "node");
    let again = tab.follow(&topic).await;
    assert_eq!(
        (&again["save_error"], again["nodes"].as_array().map(Vec::len)),
        (&Value::Null, Some(2))
    );
    let rows = format!("SELECT count(*) FROM open_game WHERE game = {}", state["id"]);
    assert_eq!(number(&app(&server.data), &rows), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_do_not_wait_for_an_import() {
    let (server, mut tab) = Fixture::with_tab().await;
    let (_, state) = tab.new_game(game("chess", Value::Null)).await;
    assert_eq!(tab.ask(mv(&state["id"], 0, "e4")).await["kind"], "node");
    let blocked = Blocked::new(library(&server.data));
    let body = pgn(100);
    let import = server.import("?name=a.pgn", body);
    let meanwhile = async {
        // The waiting writer must not delay these commands.
        for node in [0, 1, 0, 1] {
            tab.done(go_to(&state["id"], node)).await;
        }
        blocked.release();
    };
    let (imported, ()) = tokio::join!(import, meanwhile);
    assert_eq!((imported.status, imported.json()["total"].clone()), (200, json!(100)));
}

#[tokio::test(flavor = "multi_thread")]
async fn moves_during_a_write_are_saved_together() {
    let server = Fixture::start().await;
    let (mut tab, mut other) = (server.tab().await, server.tab().await);
    let (topic, state) = tab.new_game(game("chess", Value::Null)).await;
    let id = &state["id"];
    other.follow(&topic).await;
    let db = app(&server.data);
    db.execute_batch(
        "CREATE TABLE saved (game INTEGER);
         CREATE TRIGGER count AFTER INSERT ON open_game
            BEGIN INSERT INTO saved (game) VALUES (NEW.game); END",
    )
    .expect("it is made");
    let blocked = Blocked::new(app(&server.data));
    let mut sent = Vec::new();
    for (node, text) in (0..20).zip(SHUFFLE.into_iter().cycle()) {
        sent.push(tab.send(mv(id, node, text)).await);
    }
    let is_last = |delta: &Value| {
        delta["nodes"].as_array().is_some_and(|nodes| nodes.iter().any(|node| node["id"] == 20))
    };
    other.change(&topic, is_last).await;
    blocked.release();
    for id in sent {
        assert_eq!(tab.answer(id).await["kind"], "node");
    }
    // The first move may be saved before the others arrive.
    let saves = number(&db, "SELECT count(*) FROM saved");
    assert!((1..=2).contains(&saves), "{saves} times");
}

#[tokio::test(flavor = "multi_thread")]
async fn answered_changes_survive_a_crash() {
    let (server, mut tab) = Fixture::with_tab().await;
    let (_, state) = tab.new_game(game("chess", Value::Null)).await;
    let (_, closed) = tab.new_game(game("chess", Value::Null)).await;
    assert_eq!(tab.ask(mv(&closed["id"], 0, "e4")).await["kind"], "node");
    tab.done(json!({ "kind": "save_draft", "game": closed["id"] })).await;
    tab.done(json!({ "kind": "close_game", "game": closed["id"] })).await;
    let engine = tab.add_mime(&[]).await;
    let settings = json!({ "page": { "theme": "dark" } });
    tab.done(json!({ "kind": "set_settings", "settings": settings })).await;
    for (node, text) in (0..10).zip(SHUFFLE.into_iter().cycle()) {
        assert_eq!(tab.ask(mv(&state["id"], node, text)).await["kind"], "node");
    }
    // The files after a crash at this moment.
    let copy = tempfile::tempdir().expect("a directory");
    for name in ["app.sqlite", "library.sqlite"] {
        for name in [name.to_owned(), format!("{name}-wal")] {
            std::fs::copy(server.data.join(&name), copy.path().join(&name)).expect("it exists");
        }
    }
    let next = Fixture::start_with(options(copy.path())).await;
    let mut tab = next.tab().await;
    let games = tab.follow("games").await;
    let open: Vec<&Value> = games["games"].as_array().expect("games").iter().collect();
    assert_eq!(open.len(), 1, "{games}");
    assert_eq!((&open[0]["id"], &open[0]["plies"]), (&state["id"], &json!(10)));
    assert_eq!(tab.follow("settings").await["page"]["theme"], "dark");
    let engines = tab.follow("engines").await;
    assert!(engines["engines"].as_array().expect("engines").iter().any(|one| one["id"] == engine));
    let reopen = json!({ "kind": "open_game", "game": closed["id"] });
    assert_eq!(tab.ask(reopen).await["kind"], "game");
    for db in [library(copy.path()), app(copy.path())] {
        let intact: String =
            db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("an answer");
        assert_eq!(intact, "ok");
    }
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_is_closed_after_it_is_saved() {
    let server = Fixture::start().await;
    let (mut tab, mut other) = (server.tab().await, server.tab().await);
    let (topic, state) = tab.new_game(game("chess", Value::Null)).await;
    let (_, second) = other.new_game(game("chess", Value::Null)).await;
    let id = &state["id"];
    other.follow(&topic).await;
    let blocked = Blocked::new(app(&server.data));
    let played = tab.send(mv(id, 0, "e4")).await;
    let closed = tab.send(json!({ "kind": "close_game", "game": id })).await;
    other.change(&topic, |delta| delta["nodes"][1]["uci"] == "e2e4").await;
    other.done(go_to(&second["id"], 0)).await;
    assert!(!tab.has_answer(closed));
    blocked.release();
    assert_eq!(tab.answer(played).await["kind"], "node");
    assert_eq!(tab.answer(closed).await["kind"], "done");
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": id })).await["kind"], "game");
    let again = tab.follow(&topic).await;
    assert_eq!(again["nodes"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_that_is_deleted_during_saving_stays_deleted() {
    let server = Fixture::start().await;
    let (mut tab, mut other) = (server.tab().await, server.tab().await);
    let (topic, state) = tab.new_game(game("chess", Value::Null)).await;
    let id = &state["id"];
    other.follow(&topic).await;
    let blocked = Blocked::new(app(&server.data));
    let played = tab.send(mv(id, 0, "e4")).await;
    let deleted = tab.send(json!({ "kind": "delete_game", "game": id })).await;
    other.until(|other| other["kind"] == "closed" && other["topic"] == *topic).await;
    blocked.release();
    assert_eq!(tab.answer(played).await["kind"], "node");
    assert_eq!(tab.answer(deleted).await["kind"], "deleted");
    let reopen = json!({ "kind": "open_game", "game": id });
    assert_eq!(tab.ask(reopen).await["category"], "not_found");
    let db = library(&server.data);
    assert_eq!(number(&db, "SELECT count(*) FROM game"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn games_are_imported_in_batches() {
    let server = Fixture::start().await;
    server.probes_ended().await;
    let before = transactions(&server.data);
    let body = pgn(130);
    let imported = server.import("?name=a.pgn", body).await;
    assert_eq!((imported.status, imported.json()["total"].clone()), (200, json!(130)));
    let made = transactions(&server.data) - before;
    assert!((1..=5).contains(&made), "{made} transactions");
    let db = library(&server.data);
    assert_eq!(number(&db, "SELECT count(*) FROM game"), 130);
    assert_eq!(number(&app(&server.data), "SELECT count(*) FROM open_game"), 0);
    let page = server.search(&json!({ "opening": "1. e4 e5 2. Nf3" })).await;
    assert_eq!(page.json()["total"], 130);
}

/// Simulates a disk that is full after a number of games.
fn full_at(db: &Connection, games: usize) {
    db.execute_batch(&format!(
        "CREATE TRIGGER full BEFORE INSERT ON game WHEN {games} <= (SELECT count(*) FROM game)
            BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
    ))
    .expect("it is made");
}

#[tokio::test(flavor = "multi_thread")]
async fn games_are_imported_until_the_disk_is_full() {
    let server = Fixture::start().await;
    let db = library(&server.data);
    full_at(&db, 700);
    let body = pgn(1100);
    let imported = server.import("?name=a.pgn", body).await;
    let imported = imported.json();
    let total = imported["total"].as_u64().expect("a number");
    assert!(total <= 700, "{total}");
    let error = imported["errors"][0]["text"].as_str().expect("an error");
    assert!(error.contains("disk is full"), "{error}");
    assert_eq!(u64::from(number(&db, "SELECT count(*) FROM game")), total);
    // A new game is rejected as well.
    db.execute_batch("DROP TRIGGER full").expect("it is gone");
    full_at(&db, 0);
    let mut tab = server.tab().await;
    let human = json!({ "kind": "human", "name": "Ada", "time": { "kind": "none" } });
    let players = json!({ "first": human, "second": human });
    let new = json!({ "kind": "new_game", "game": game("chess", players) });
    assert_eq!(tab.ask(new).await["category"], "storage");
}

/// A browser sends all of a file before it reads the answer. The file is larger than the buffers of a connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_after_sending_receives_the_reason_of_an_early_end() {
    let server = Fixture::start().await;
    let db = library(&server.data);
    full_at(&db, 600);
    let mut body = b"[White \"Ada\"]\n\n1. e4 e4 *\n\n".to_vec();
    // More games than wait for the library.
    body.extend(pgn(4000).into_bytes());
    body.resize(48 << 20, b'\n');
    let mut stream = TcpStream::connect(&server.host).await.expect("it listens");
    let head = format!(
        "POST /api/import?name=a.pgn HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nAuthorization: {1}\r\n\
        Content-Type: application/octet-stream\r\nContent-Length: {2}\r\n\r\n",
        server.host,
        server.authorization,
        body.len()
    );
    // The connection stays open: another request follows.
    for end in ["", "Connection: close\r\n"] {
        let head = head.replace("\r\n\r\n", &format!("\r\n{end}\r\n"));
        stream.write_all(head.as_bytes()).await.expect("it is open");
        timeout(LONG, stream.write_all(&body)).await.expect("in time").expect("it is received");
        let mut answer = vec![0; 1 << 20];
        let mut length = 0;
        let (head, json) = loop {
            let read = timeout(LONG, stream.read(&mut answer[length..])).await.expect("in time");
            length += read.expect("an answer");
            let text = String::from_utf8_lossy(&answer[..length]);
            let Some((head, rest)) = text.split_once("\r\n\r\n") else { continue };
            if let Ok(json) = serde_json::from_str::<Value>(rest) {
                break (head.to_owned(), json);
            }
        };
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        // The reason is before the defects of games.
        let error = json["errors"][0]["text"].as_str().expect("an error");
        assert!(error.contains("disk is full"), "{error}");
        assert!(json["total"].as_u64().expect("a number") <= 600, "{}", json["total"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_failed_on_a_full_disk_resumes_without_duplicates() {
    let server = Fixture::start().await;
    let directory = server.data.join("games");
    std::fs::create_dir(&directory).expect("a directory");
    std::fs::write(directory.join("a.pgn"), pgn(100)).expect("a file");
    let db = library(&server.data);
    full_at(&db, 70);
    let mut tab = server.tab().await;
    tab.follow("jobs").await;
    let answer = tab.ask(json!({ "kind": "import_directory", "path": directory })).await;
    assert_eq!(answer["kind"], "job", "{answer}");
    let failed = tab.change("jobs", |delta| delta["changed"][0]["status"] == "failed").await;
    let error = failed["changed"][0]["errors"][0]["why"]["text"].as_str().expect("an error");
    assert!(error.contains("disk is full"), "{error}");
    db.execute_batch("DROP TRIGGER full").expect("it is gone");
    tab.done(json!({ "kind": "resume_job", "id": answer["id"] })).await;
    let done = tab.change("jobs", |delta| delta["changed"][0]["status"] == "done").await;
    assert_eq!(done["changed"][0]["games"], 100);
    assert_eq!(number(&db, "SELECT count(*) FROM game"), 100);
    assert_eq!(number(&db, "SELECT count(DISTINCT substr(summary, 9, 4)) FROM game"), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_reported_in_the_terminal_and_the_page() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Fixture::start_with(options(directory.path())).await;
    let mut tab = server.tab().await;
    let (_, state) = tab.new_game(game("chess", Value::Null)).await;
    tab.done(json!({ "kind": "save_draft", "game": state["id"] })).await;
    server.stop().await;
    let path = directory.path().join("app.sqlite");
    let mut content = std::fs::read(&path).expect("a file");
    content[100..4096].fill(0xA5);
    std::fs::write(&path, content).expect("it is ours");
    let moved = directory.path().join("damaged/1/app.sqlite");
    let bound = bind(&options(directory.path())).await.expect("it can be served");
    assert!(bound.warnings().contains(&Warning::Damaged(path.clone(), Some(moved.clone()))));
    drop(bound);
    let server = Fixture::start_with(options(directory.path())).await;
    let stream = TcpStream::connect(&server.host).await.expect("it listens");
    let mut socket =
        open_socket(&server.host, stream, &server.socket_headers()).await.expect("it is ours");
    let first = timeout(LONG, socket.next()).await.expect("in time").expect("a message");
    let first: Value =
        serde_json::from_str(first.expect("it is open").to_text().expect("text")).expect("JSON");
    assert_eq!(first["kind"], "handshake");
    assert_eq!(first["damaged"], json!([{ "path": path, "moved_to": moved, "game": null }]));
    // The library is used.
    let page = server.search(&json!({})).await;
    assert_eq!(page.json()["total"], 1);
}
