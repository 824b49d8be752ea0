//! Whole-game reports.

use serde_json::json;

use crate::support::Fixture;

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
    // The board says that it is mate, whatever the engine says elsewhere.
    assert_eq!(positions[4]["score"], json!({ "kind": "mate", "plies": 0, "won": false }));
    assert!(report["sides"]["first"]["accuracy"].is_number());
    let state = tab.follow(&format!("game/{game}")).await;
    let nodes = state["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().filter(|node| node["evaluation"].is_object()).count() >= 5);
    let text = server.get(&format!("/api/export/{game}?format=pgn")).await.text();
    assert!(text.contains("[%eval"), "{text}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_was_stopped_goes_on() {
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
    let over = stopped["code"] == "not_now";
    assert!(over || stopped["kind"] == "done", "{stopped}");
    if !over {
        tab.change("engines", |delta| delta["processes"][0]["status"] == "ended").await;
        let again = tab.ask(begin).await;
        assert_eq!(again["kind"], "done", "{again}");
        tab.change(&topic, |delta| delta["status"] == "done").await;
    }
    assert_eq!(tab.follow(&topic).await["done"], 7);
    server.stop().await;
}
