//! Whole-game reports.

use serde_json::{Value, json};

use crate::support::{Fixture, Tab};

/// Reads a game and reports on it; gives its number.
async fn reported(server: &Fixture, tab: &mut Tab, engine: &Value, pgn: &[u8]) -> Value {
    let read =
        server.post("/api/import?name=a.pgn&open=true", "application/octet-stream", pgn).await;
    let game = read.json()["opened"].clone();
    let topic = format!("report/{game}");
    tab.follow(&topic).await;
    let settings = json!({ "engine": engine, "limits": { "depth": 3 } });
    let on = json!({ "kind": "games", "games": [game] });
    let begun = tab.ask(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    assert_eq!(begun["kind"], "done", "{begun}");
    tab.change(&topic, |delta| delta["status"] == "done").await;
    game
}

#[tokio::test(flavor = "multi_thread")]
async fn every_position_of_a_game_is_judged_and_written_down() {
    let server = Fixture::start().await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&[]).await;
    let pgn = b"1. f3 e5 2. g4 Qh4# 0-1\n";
    let read =
        server.post("/api/import?name=a.pgn&open=true", "application/octet-stream", pgn).await;
    let game = read.json()["opened"].clone();
    let topic = format!("report/{game}");
    assert_eq!(tab.follow(&topic).await["status"], "none");
    let settings = json!({
        "engine": engine, "limits": { "depth": 3 }, "backwards": true, "annotate": true,
    });
    let begun = json!({
        "kind": "start_report", "on": { "kind": "games", "games": [game] }, "settings": settings,
    });
    assert_eq!(tab.ask(begun).await["kind"], "done");
    tab.change(&topic, |delta| delta["status"] == "done").await;
    let report = tab.follow(&topic).await;
    assert_eq!((&report["done"], &report["total"]), (&json!(5), &json!(5)), "{report}");
    let positions = report["positions"].as_array().expect("positions");
    // The board has the mate; the engine is not asked.
    assert_eq!(positions[4]["score"], json!({ "kind": "mated", "plies": 0 }));
    assert!(report["sides"]["first"]["accuracy"].is_number());
    let state = tab.follow(&format!("game/{game}")).await;
    let nodes = state["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().filter(|node| node["evaluation"].is_object()).count() >= 5);
    let text = server.get(&format!("/api/export/{game}?format=pgn")).await.text();
    assert!(text.contains("[%eval"), "{text}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_report_is_resumed() {
    let server = Fixture::start().await;
    let mut tab = server.tab().await;
    let deaf = tab.add_mime(&["stale"]).await;
    let pgn = b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n";
    let read =
        server.post("/api/import?name=a.pgn&open=true", "application/octet-stream", pgn).await;
    let game = read.json()["opened"].clone();
    let topic = format!("report/{game}");
    tab.follow(&topic).await;
    let settings =
        json!({ "engine": deaf, "limits": { "depth": 1 }, "backwards": false, "annotate": false });
    let begin = json!({
        "kind": "start_report", "on": { "kind": "games", "games": [game] }, "settings": settings,
    });
    assert_eq!(tab.ask(begin.clone()).await["kind"], "done");
    tab.change(&topic, |delta| delta["done"].as_u64() >= Some(1)).await;
    let stopped = tab.ask(json!({ "kind": "stop_report", "game": game })).await;
    let over = stopped["category"] == "conflict";
    assert!(over || stopped["kind"] == "done", "{stopped}");
    if !over {
        // That which has asked the engine for its options ends as well, and means nothing.
        tab.change("engines", |delta| {
            let it = &delta["processes"][0];
            it["purpose"]["kind"] == "report" && it["status"] == "ended"
        })
        .await;
        let again = tab.ask(begin).await;
        assert_eq!(again["kind"], "done", "{again}");
        tab.change(&topic, |delta| delta["status"] == "done").await;
    }
    assert_eq!(tab.follow(&topic).await["done"], 7);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_try_at_a_mistake_is_judged() {
    let server = Fixture::start().await;
    let mut tab = server.tab().await;
    // Its score is winning for the side to move: only its own move is good.
    let engine = tab.add_mime(&["proud"]).await;
    let game = reported(&server, &mut tab, &engine, b"1. f3 e5 2. g4 Qh4# 0-1\n").await;
    let state = tab.follow(&format!("game/{game}")).await;
    let before_mate = state["nodes"][3]["id"].clone();
    let attempt = |text: &str| {
        let limits = json!({ "depth": 1 });
        json!({ "kind": "try_move", "game": game, "node": before_mate, "text": text, "limits": limits })
    };
    let own = tab.ask(attempt("a7a5")).await;
    assert_eq!((&own["kind"], &own["good"]), (&json!("tried"), &json!(true)), "{own}");
    let mate = tab.ask(attempt("Qh4")).await;
    assert_eq!((&mate["loss"], &mate["good"]), (&json!(0.0), &json!(true)), "{mate}");
    let other = tab.ask(attempt("d5")).await;
    assert_eq!((&other["good"], &other["side"]), (&json!(false), &json!("second")), "{other}");
    assert!(other["loss"].as_f64().is_some_and(|loss| loss > 50.0), "{other}");
    for text in ["d4", ""] {
        assert_eq!(tab.ask(attempt(text)).await["category"], "illegal_move", "{text}");
    }
    let nowhere =
        json!({ "kind": "try_move", "game": game, "node": 99, "text": "d5", "limits": {} });
    assert_eq!(tab.ask(nowhere).await["category"], "not_found");
    // The game is as it was.
    assert_eq!(
        tab.follow(&format!("game/{game}")).await["nodes"].as_array().map(Vec::len),
        Some(5)
    );
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_exits_during_an_attempt_is_reported() {
    let server = Fixture::start().await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&[]).await;
    let game = reported(&server, &mut tab, &engine, b"1. f3 e5 2. g4 Qh4# 0-1\n").await;
    let source = json!({
        "kind": "program", "path": crate::support::mime(), "args": ["crash"], "dir": null, "env": {},
    });
    let entry = json!({ "name": "", "source": source, "protocol": null });
    let changed =
        tab.ask(json!({ "kind": "change_engine", "engine": engine, "entry": entry })).await;
    assert_eq!(changed["kind"], "done", "{changed}");
    let attempt = json!({ "kind": "try_move", "game": game, "node": 0, "text": "d4", "limits": { "depth": 1 } });
    let answer = tab.ask(attempt).await;
    assert_eq!(answer["category"], "engine", "{answer}");
    server.stop().await;
}
