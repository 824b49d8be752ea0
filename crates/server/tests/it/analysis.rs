//! Analysis at the cursor of a game, and reports on whole games.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::support::{Fixture, Tab, against, game, id_of};

fn settings(lines: u32) -> Value {
    json!({ "lines": lines, "goal": { "kind": "infinite" }, "only": [], "threat": false, "locked": false })
}

async fn open(tab: &mut Tab, moves: &[&str]) -> (u32, String, Vec<Value>) {
    let text = format!("position startpos moves {}", moves.join(" "));
    let mut new = game("chess", Value::Null);
    new["start"] = json!({ "kind": "text", "text": text });
    let (topic, state) = tab.new_game(new).await;
    let id = id_of(&topic);
    let nodes =
        state["nodes"].as_array().expect("nodes").iter().map(|node| node["id"].clone()).collect();
    (id, topic, nodes)
}

/// The text of the output of an engine.
fn info_text(message: &Value) -> Option<(&Value, &str)> {
    let panel = &message["delta"]["delta"]["engines"][0];
    let text = panel["info"]["text"].as_str()?;
    Some((&panel["node"], text))
}

#[tokio::test(flavor = "multi_thread")]
async fn final_output_is_reported_with_the_best_move() {
    // The engine sends depths 1 to 20 and its move in one burst.
    let (_server, mut tab, engine) = Fixture::with_engine(&["stale"]).await;
    let (id, topic, _) = open(&mut tab, &[]).await;
    let analysis = format!("analysis/{id}");
    tab.follow(&analysis).await;
    let goal = json!({ "kind": "depth", "depth": 20 });
    let settings =
        json!({ "lines": 1, "goal": goal, "only": [], "threat": false, "locked": false });
    let begun = json!({ "kind": "analyse", "game": id, "engine": engine, "settings": settings });
    tab.done(begun).await;
    let done = tab.change(&analysis, |delta| delta["engines"][0]["status"] == "done").await;
    let info = &done["engines"][0]["info"];
    assert_eq!((&info["depth"], &info["nodes"]), (&json!(20), &json!(2000)), "{info}");
    assert_eq!(info["lines"][0]["score"], json!({ "kind": "cp", "value": 20 }));
    // The same holds for the output of an engine that plays.
    let time = json!({ "kind": "per_move", "time": 60_000 });
    let (other, state) = tab.new_game(game("chess", against(&engine, time, false))).await;
    assert_ne!(other, topic);
    let mv = json!({ "kind": "move", "game": state["id"], "node": 0, "text": "e4" });
    assert_eq!(tab.ask(mv).await["kind"], "node");
    let delta = tab.change(&other, |delta| delta["play"]["status"] == "your_turn").await;
    let thought = &delta["play"]["players"]["second"]["info"];
    assert_eq!((&thought["depth"], &thought["nodes"]), (&json!(20), &json!(2000)), "{thought}");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_of_another_position_is_not_shown() {
    let (_server, mut tab, engine) = Fixture::with_engine(&["stale"]).await;
    let moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6"];
    let (id, topic, nodes) = open(&mut tab, &moves).await;
    let mut fens: HashMap<String, String> = HashMap::new();
    for node in &nodes {
        tab.ask(json!({ "kind": "go_to", "game": id, "node": node })).await;
        let state = tab.follow(&topic).await;
        let fen = state["position"]["text"].as_str().expect("a position").to_owned();
        fens.insert(node.to_string(), fen);
    }
    let analysis = format!("analysis/{id}");
    tab.follow(&analysis).await;
    let begun = json!({ "kind": "analyse", "game": id, "engine": engine, "settings": settings(1) });
    tab.done(begun).await;
    let mut seen = 0;
    for round in 0..3 {
        for node in nodes.iter().skip(round % 2) {
            tab.ask(json!({ "kind": "go_to", "game": id, "node": node })).await;
            // The searches of other positions end immediately.
            if seen % 2 == 0 {
                tab.until(|message| {
                    info_text(message).is_some_and(|(at, text)| {
                        let fen = &fens[&at.to_string()];
                        assert_eq!(text, format!("at {fen}"), "a stale line");
                        at == node
                    })
                })
                .await;
            }
            seen += 1;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_analysis_keeps_its_output() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let (id, _, _) = open(&mut tab, &["e2e4"]).await;
    let analysis = format!("analysis/{id}");
    tab.follow(&analysis).await;
    let rejected =
        json!({ "kind": "analyse", "game": id, "engine": engine, "settings": settings(21) });
    assert_eq!(tab.ask(rejected).await["category"], "limit");
    let begun = json!({ "kind": "analyse", "game": id, "engine": engine, "settings": settings(1) });
    tab.done(begun).await;
    let line =
        tab.change(&analysis, |delta| delta["engines"][0]["info"]["lines"][0].is_object()).await;
    let line = &line["engines"][0]["info"]["lines"][0];
    assert_eq!(line["pv"][0]["uci"], "a7a5");
    assert_eq!(line["pv"][0]["text"]["western"], "a5");
    assert_eq!(line["score"]["kind"], "cp");
    let stopped = tab.ask(json!({ "kind": "stop_analysis", "game": id, "engine": null })).await;
    assert_eq!(stopped["kind"], "done");
    let last = tab
        .change(&analysis, |delta| {
            delta["engines"][0]["status"] == "stopped"
                && delta["engines"][0]["info"]["best"].is_object()
        })
        .await;
    assert_eq!(last["engines"][0]["info"]["best"]["uci"], "a7a5");
    tab.done(json!({ "kind": "end_analysis", "game": id, "engine": engine })).await;
    tab.change(&analysis, |delta| delta["removed"][0] == engine).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_engines_analyze_concurrently() {
    let (_server, mut tab, one) = Fixture::with_engine(&[]).await;
    let two = tab.add_mime(&["stale"]).await;
    let (id, _, _) = open(&mut tab, &[]).await;
    let analysis = format!("analysis/{id}");
    tab.follow(&analysis).await;
    for engine in [&one, &two] {
        let begun =
            json!({ "kind": "analyse", "game": id, "engine": engine, "settings": settings(0) });
        tab.done(begun).await;
    }
    for engine in [&one, &two] {
        let panel = tab
            .change(&analysis, |delta| {
                let panel = &delta["engines"][0];
                &panel["engine"] == engine && panel["status"] == "searching"
            })
            .await;
        // With zero variations, none is shown.
        assert_eq!(panel["engines"][0]["info"]["lines"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_engine_is_reported_and_restarted() {
    let (_server, mut tab, engine) = Fixture::with_engine(&["crash"]).await;
    let (id, _, _) = open(&mut tab, &[]).await;
    let analysis = format!("analysis/{id}");
    tab.follow(&analysis).await;
    let begun = json!({ "kind": "analyse", "game": id, "engine": engine, "settings": settings(1) });
    tab.ask(begun.clone()).await;
    for _ in 0..2 {
        let panel = tab.change(&analysis, |delta| delta["engines"][0]["status"] == "failed").await;
        let error = &panel["engines"][0]["error"];
        assert_eq!(error["exit_cause"], "aborted", "{error}");
        tab.ask(begun.clone()).await;
    }
}

/// Imports a game and reports on it. Returns its number.
pub(crate) async fn reported(server: &Fixture, tab: &mut Tab, engine: &Value, pgn: &[u8]) -> Value {
    let game = server.open_pgn(pgn).await;
    let topic = format!("report/{game}");
    tab.follow(&topic).await;
    let settings = json!({ "engine": engine, "limits": { "depth": 3 } });
    let on = json!({ "kind": "games", "games": [game] });
    tab.done(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    tab.change(&topic, |delta| delta["status"] == "done").await;
    game
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_judges_and_annotates_every_position() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let pgn = b"1. f3 e5 2. g4 Qh4# 0-1\n";
    let game = server.open_pgn(pgn).await;
    let topic = format!("report/{game}");
    assert_eq!(tab.follow(&topic).await["status"], "none");
    let settings = json!({
        "engine": engine, "limits": { "depth": 3 }, "backwards": true, "annotate": true,
    });
    let begun = json!({
        "kind": "start_report", "on": { "kind": "games", "games": [game] }, "settings": settings,
    });
    tab.done(begun).await;
    tab.change(&topic, |delta| delta["status"] == "done").await;
    let report = tab.follow(&topic).await;
    assert_eq!((&report["done"], &report["total"]), (&json!(5), &json!(5)), "{report}");
    let positions = report["positions"].as_array().expect("positions");
    // A mate on the board requires no search.
    assert_eq!(positions[4]["score"], json!({ "kind": "mated", "plies": 0 }));
    assert!(report["sides"]["first"]["accuracy"].is_number());
    let state = tab.follow(&format!("game/{game}")).await;
    let nodes = state["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().filter(|node| node["engine"].is_object()).count() >= 5);
    let text = server.get(&format!("/api/export/{game}?format=pgn&engine=true")).await.text();
    assert!(text.contains("[%eval"), "{text}");
}

/// A report adds to the game and changes nothing of its author. One undo removes all of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_preserves_the_annotations_of_the_author() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let pgn = b"1. e4 $1 {[%eval 0.5]} e5 $3 2. Qh5 $3 {my} Nc6 3. Bc4 Nf6 $4 4. Qxf7# *\n";
    let game = server.open_pgn(pgn).await;
    let author = server.get(&format!("/api/export/{game}?format=pgn")).await.text();
    let before = tab.follow(&format!("game/{game}")).await;
    let topic = format!("report/{game}");
    tab.follow(&topic).await;
    let settings = json!({ "engine": engine, "limits": { "depth": 3 }, "annotate": true });
    let on = json!({ "kind": "games", "games": [game] });
    tab.done(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    tab.change(&topic, |delta| delta["status"] == "done").await;
    let unchanged = server.get(&format!("/api/export/{game}?format=pgn")).await.text();
    assert_eq!(unchanged, author);
    let merged = server.get(&format!("/api/export/{game}?format=pgn&engine=true")).await.text();
    let merged = merged.replace('\n', " ");
    assert!(merged.contains("1. e4 $1 { [%eval 0.50] } 1... e5 $3 { [%eval"), "{merged}");
    assert!(merged.contains("[Annotator \""), "{merged}");
    let after = tab.follow(&format!("game/{game}")).await;
    assert_eq!(after["undo"], json!({ "undo": true, "redo": false }));
    // A later report replaces the notes of the earlier one, which undo brings back.
    let other = tab.add_mime(&["proud"]).await;
    let settings = json!({ "engine": other, "limits": { "depth": 3 }, "annotate": true });
    tab.done(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    tab.change(&topic, |delta| delta["status"] == "done").await;
    let second = tab.follow(&format!("game/{game}")).await;
    assert_ne!(second["nodes"], after["nodes"]);
    let undo = json!({ "kind": "edit", "game": game, "edit": { "kind": "undo" } });
    tab.done(undo.clone()).await;
    let first = tab.follow(&format!("game/{game}")).await;
    assert_eq!(first["nodes"], after["nodes"]);
    tab.done(undo).await;
    let undone = tab.follow(&format!("game/{game}")).await;
    assert_eq!(undone["nodes"], before["nodes"]);
    assert_eq!(undone["undo"], json!({ "undo": false, "redo": true }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_report_is_resumed() {
    let (server, mut tab, deaf) = Fixture::with_engine(&["stale"]).await;
    let pgn = b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n";
    let game = server.open_pgn(pgn).await;
    let topic = format!("report/{game}");
    tab.follow(&topic).await;
    let settings =
        json!({ "engine": deaf, "limits": { "depth": 1 }, "backwards": false, "annotate": false });
    let begin = json!({
        "kind": "start_report", "on": { "kind": "games", "games": [game] }, "settings": settings,
    });
    tab.done(begin.clone()).await;
    tab.change(&topic, |delta| delta["done"].as_u64() >= Some(1)).await;
    let stopped = tab.ask(json!({ "kind": "stop_report", "game": game })).await;
    let over = stopped["category"] == "conflict";
    assert!(over || stopped["kind"] == "done", "{stopped}");
    if !over {
        // The probe ends as well.
        tab.process_is(&json!("report"), "ended").await;
        tab.done(begin).await;
        tab.change(&topic, |delta| delta["status"] == "done").await;
    }
    assert_eq!(tab.follow(&topic).await["done"], 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_at_a_mistake_is_judged() {
    // Its score is winning for the side to move: only its own move is good.
    let (server, mut tab, engine) = Fixture::with_engine(&["proud"]).await;
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
    // The game is unchanged.
    assert_eq!(
        tab.follow(&format!("game/{game}")).await["nodes"].as_array().map(Vec::len),
        Some(5)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_exits_during_an_attempt_is_reported() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let game = reported(&server, &mut tab, &engine, b"1. f3 e5 2. g4 Qh4# 0-1\n").await;
    let source = json!({
        "kind": "program", "path": crate::support::mime(), "args": ["crash"], "dir": null, "env": {},
    });
    let entry = json!({ "name": "", "source": source, "protocol": null });
    tab.done(json!({ "kind": "change_engine", "engine": engine, "entry": entry })).await;
    let attempt = json!({ "kind": "try_move", "game": game, "node": 0, "text": "d4", "limits": { "depth": 1 } });
    let answer = tab.ask(attempt).await;
    assert_eq!(answer["category"], "engine", "{answer}");
}
