//! Limits: tabs, engines, uploads, games, updates, and the end of the server.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Fixture, LONG, Tab, game, id_of, open_socket};

/// Minimum interval between updates of a search.
const MIN_INTERVAL: Duration = Duration::from_millis(40);

/// Maximum number of open games.
const MAX_OPEN: usize = 200;

/// The time for a reload after the last tab was closed.
const RELOAD: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_tabs_is_limited() {
    let (server, mut tab) = Fixture::with_tab().await;
    let mut others = Vec::new();
    // The first message is a handshake, or there is no message.
    while others.len() < 1000 {
        let stream = TcpStream::connect(&server.host).await.expect("it listens");
        let headers = server.socket_headers();
        let mut socket = open_socket(&server.host, stream, &headers).await.expect("it is ours");
        match timeout(LONG, socket.next()).await.expect("in time") {
            Some(Ok(Message::Text(_))) => others.push(socket),
            Some(_) | None => break,
        }
    }
    assert_eq!(others.len(), 99);
    assert_eq!(tab.follow("games").await["games"], json!([]));
    // Another tab can connect after a tab has left.
    drop(others);
    let deadline = Instant::now() + LONG;
    loop {
        let stream = TcpStream::connect(&server.host).await.expect("it listens");
        let headers = server.socket_headers();
        let mut socket = open_socket(&server.host, stream, &headers).await.expect("it is ours");
        if let Some(Ok(Message::Text(_))) = timeout(LONG, socket.next()).await.expect("in time") {
            break;
        }
        assert!(Instant::now() < deadline, "there is no room");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_processes_is_limited() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let mut answer = Value::Null;
    let mut started = 0;
    while started < 1000 {
        answer = tab.ask(json!({ "kind": "open_console", "engine": engine })).await;
        if answer["kind"] != "process" {
            break;
        }
        started += 1;
    }
    assert_eq!((&answer["category"], started <= 64), (&json!("limit"), true), "{started}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_concurrent_uploads_is_limited() {
    const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let server = Fixture::start().await;
    let head = format!(
        "POST /api/import?name=a.pgn HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nAuthorization: {1}\r\n\
        Content-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\
        Expect: 100-continue\r\n\r\n",
        server.host, server.authorization
    );
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(&server.host).await.expect("it listens");
        stream.write_all(head.as_bytes()).await.expect("it reads");
        // The server requests the file when fewer uploads run.
        let mut answer = [0; CONTINUE.len()];
        timeout(LONG, stream.read_exact(&mut answer)).await.expect("in time").expect("an answer");
        assert_eq!(answer, CONTINUE);
        slow.push(stream);
    }
    let small = async || server.import("?name=b.pgn", "1. e4 *\n").await;
    assert_eq!(small().await.json()["category"], "conflict");
    // Another upload starts after the server has noticed the disconnection.
    drop(slow);
    let deadline = Instant::now() + LONG;
    let read = loop {
        let answer = small().await;
        if answer.status == 200 {
            break answer;
        }
        assert!(Instant::now() < deadline, "{}", answer.text());
    };
    assert_eq!(read.json()["total"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn closes_the_longest_idle_game_at_the_limit() {
    let (_server, mut tab) = Fixture::with_tab().await;
    tab.follow("games").await;
    let set_up = async |tab: &mut Tab, players: Value| {
        tab.ask(json!({ "kind": "new_game", "game": game("chess", players) })).await
    };
    // A game with a subscriber, and a game with a move.
    let (watched, _) = tab.new_game(game("chess", Value::Null)).await;
    let left = set_up(&mut tab, Value::Null).await["game"].clone();
    let mv = json!({ "kind": "move", "game": left, "node": 0, "text": "e4" });
    assert_eq!(tab.ask(mv).await["kind"], "node");
    // A draft with changes would be lost.
    tab.done(json!({ "kind": "save_draft", "game": left })).await;
    let human = json!({ "kind": "human", "name": "Ada", "time": { "kind": "none" } });
    let played = json!({ "first": human, "second": human });
    for _ in 2..MAX_OPEN {
        assert_eq!(set_up(&mut tab, played.clone()).await["kind"], "game");
    }
    let late = set_up(&mut tab, Value::Null).await["game"].clone();
    let gone = tab.change("games", |delta| delta["removed"] != json!([])).await;
    assert_eq!(gone["removed"], json!([left]));
    assert_eq!(set_up(&mut tab, played.clone()).await["kind"], "game");
    let gone = tab.change("games", |delta| delta["removed"] != json!([])).await;
    assert_eq!(gone["removed"], json!([late]));
    assert_eq!(set_up(&mut tab, played.clone()).await["category"], "limit");
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": left })).await["category"], "limit");
    // Games without subscribers are closed and remain in the library.
    tab.done(json!({ "kind": "unsubscribe", "topic": watched })).await;
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": left })).await["kind"], "game");
    let state = tab.follow(&format!("game/{left}")).await;
    assert_eq!(state["nodes"][1]["uci"], "e2e4");
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_are_not_unpacked() {
    let server = Fixture::start().await;
    // A megabyte of spaces as gzip: the header, one block, the length.
    let mut archive = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    archive.extend([0xed, 0xc1, 1, 1, 0, 0, 0, 0x80, 0x90, 0xfe, 0xaf, 0xee, 8, 0x0a]);
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0";
    for (name, bytes) in [("a.pgn.gz", archive.as_slice()), ("a.zip", zip), ("a.pgn", zip)] {
        let read = server.import(&format!("?name={name}"), bytes).await.json();
        assert_eq!(read["total"], 0, "{name}: {read}");
        assert!(!read["errors"].as_array().is_none_or(Vec::is_empty), "{name}: {read}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_output_is_limited_to_25_updates_per_second() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let (topic, _) = tab.new_game(game("chess", Value::Null)).await;
    let id = id_of(&topic);
    let topic = format!("analysis/{id}");
    tab.follow(&topic).await;
    let before = Instant::now();
    let settings = json!({
        "lines": 1, "goal": { "kind": "infinite" }, "only": [], "threat": false, "locked": false,
    });
    let begun = json!({ "kind": "analyse", "game": id, "engine": engine, "settings": settings });
    tab.done(begun).await;
    let mut depths = Vec::new();
    while depths.len() < 12 {
        let delta = tab.change(&topic, |delta| delta["engines"].is_array()).await;
        let depth = delta["engines"][0]["info"]["lines"][0]["depth"].as_u64();
        depths.extend(depth.filter(|depth| !depths.contains(depth)));
    }
    // The engine reports a depth every two milliseconds. A slow machine only makes this longer.
    assert!(MIN_INTERVAL * 11 <= before.elapsed(), "{depths:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_exits_without_tabs_if_set() {
    let server = Fixture::start_as(|options| options.reload = RELOAD).await;
    let mut tab = server.tab().await;
    let mut settings = tab.follow("settings").await;
    settings["on_close"]["quit"] = json!(true);
    tab.done(json!({ "kind": "set_settings", "settings": settings })).await;
    drop(tab);
    server.ended().await;
}

/// Plays the first move, with which the clocks start.
async fn start_clocks(tab: &mut Tab, game: &Value) {
    let first = json!({ "kind": "move", "game": game["id"], "node": game["cursor"], "text": "e4" });
    assert_eq!(tab.ask(first).await["kind"], "node");
}

/// The states of a game and of an analysis after the last tab was closed.
async fn check_close(pause_games: bool, stop_analysis: bool) {
    let server = Fixture::start_as(|options| options.reload = RELOAD).await;
    let mut tab = server.tab().await;
    let mut settings = tab.follow("settings").await;
    settings["on_close"] =
        json!({ "pause_games": pause_games, "stop_analysis": stop_analysis, "quit": false });
    let done = tab.ask(json!({ "kind": "set_settings", "settings": settings })).await;
    assert_eq!(done["kind"], "done", "{done}");
    let engine = tab.add_mime(&[]).await;
    let time = json!({
        "kind": "clock", "base": 3_600_000, "increment": 0, "byoyomi": 0, "moves": null,
    });
    let human = json!({ "kind": "human", "name": "Ada", "time": time });
    let (topic, state) =
        tab.new_game(game("chess", json!({ "first": human, "second": human }))).await;
    assert_eq!(state["play"]["status"], "your_turn");
    start_clocks(&mut tab, &state).await;
    let analysis = format!("analysis/{}", state["id"]);
    tab.follow(&analysis).await;
    let begun = json!({
        "kind": "analyse", "game": state["id"], "engine": engine, "settings": {
            "lines": 1, "goal": { "kind": "infinite" }, "only": [], "threat": false,
            "locked": false,
        },
    });
    tab.done(begun).await;
    tab.change(&analysis, |delta| delta["engines"][0]["status"] == "searching").await;
    drop(tab);
    // A tab that reconnects in time must disconnect again.
    let deadline = Instant::now() + LONG;
    loop {
        sleep(RELOAD * 2).await;
        let mut tab = server.tab().await;
        let play = tab.follow(&topic).await["play"].clone();
        let panels = tab.follow(&analysis).await["engines"].clone();
        let paused = play["status"] == "paused";
        let stopped = panels == json!([]);
        if (paused, stopped) == (pause_games, stop_analysis) {
            assert_eq!(play["clocks"]["running"].is_null(), paused, "{play}");
            assert!(stopped || panels[0]["status"] == "searching", "{panels}");
            break;
        }
        assert!((paused, stopped) == (false, false), "{play} {panels}");
        assert!(Instant::now() < deadline, "{play} {panels}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_last_tab_pauses_games_if_set() {
    check_close(true, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_last_tab_stops_analysis_if_set() {
    check_close(false, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_last_tab_changes_nothing_if_set() {
    check_close(false, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_exits_after_the_last_game_if_set() {
    let server = Fixture::start_as(|options| options.reload = RELOAD).await;
    let mut tab = server.tab().await;
    let mut settings = tab.follow("settings").await;
    settings["on_close"] = json!({ "pause_games": false, "stop_analysis": true, "quit": true });
    tab.done(json!({ "kind": "set_settings", "settings": settings })).await;
    // The flag falls when the tab has been gone for long enough.
    let time =
        json!({ "kind": "clock", "base": 1500, "increment": 0, "byoyomi": 0, "moves": null });
    let human = json!({ "kind": "human", "name": "Ada", "time": time });
    let (_, state) = tab.new_game(game("chess", json!({ "first": human, "second": human }))).await;
    start_clocks(&mut tab, &state).await;
    drop(tab);
    server.ended().await;
}
