//! Exercises with spaced repetition.

use serde_json::{Value, json};

use crate::analysis::reported;
use crate::support::{Fixture, options};

const LADDER: &str = "[FEN \"7k/8/8/8/8/8/R7/1R5K w - - 0 1\"]\n[Event \"Ladder\"]\n\n\
    1. Ra7 Kg8 2. Rb8# *\n";

async fn training(server: &Fixture) -> Value {
    let answer = server.post("/api/training", "application/json", b"{}").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

async fn import(server: &Fixture, name: &str, text: &str) -> Value {
    let path = format!("/api/training/import?name={name}");
    server.post(&path, "application/octet-stream", text.as_bytes()).await.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_problem_is_solved_graded_and_stored() {
    let (server, mut tab) = Fixture::with_tab().await;
    let imported = import(&server, "a.pgn", LADDER).await;
    assert_eq!((&imported["added"], &imported["known"]), (&json!(1), &json!(0)), "{imported}");
    let imported = import(&server, "a.pgn", LADDER).await;
    assert_eq!((&imported["added"], &imported["known"]), (&json!(0), &json!(1)), "{imported}");
    let view = training(&server).await;
    let exercise = &view["queue"][0];
    assert_eq!((&exercise["kind"], &exercise["mate"]), (&json!("mate"), &json!(2)), "{view}");
    assert_eq!(exercise["source"]["name"], "Ladder");
    let id = exercise["id"].clone();

    let opened = tab.ask(json!({ "kind": "open_exercise", "id": id })).await;
    assert_eq!(opened["position"]["turn"], "first", "{opened}");
    assert_eq!(opened["intervals"].as_array().map(Vec::len), Some(4));
    let attempt = |moves: &[&str], text: &str| json!({ "kind": "try_exercise", "id": id, "moves": moves, "text": text });
    // The engine evaluates a move that is not in the solution.
    let other = tab.ask(attempt(&[], "Kg2")).await;
    assert_eq!(other["attempt"]["right"], false, "{other}");
    let first = tab.ask(attempt(&[], "Ra7")).await;
    assert_eq!(first["attempt"]["reply"]["uci"], "h8g8", "{first}");
    assert_eq!(first["attempt"]["solved"], false);
    let last = tab.ask(attempt(&["a2a7", "h8g8"], "Rb8")).await;
    assert_eq!(last["attempt"]["solved"], true, "{last}");
    assert_eq!(tab.ask(attempt(&[], "Ra9")).await["category"], "illegal_move");
    let solution = tab.ask(json!({ "kind": "solve_exercise", "id": id, "moves": [] })).await;
    assert_eq!(solution["line"].as_array().map(Vec::len), Some(3), "{solution}");

    let graded = tab.ask(json!({ "kind": "grade_exercise", "id": id, "grade": "good" })).await;
    assert!(graded["due"].as_u64().is_some_and(|due| 0 < due), "{graded}");
    let missing = tab.ask(json!({ "kind": "grade_exercise", "id": 99, "grade": "good" })).await;
    assert_eq!(missing["category"], "not_found");
    let directory = server.stop().await.expect("a directory");

    let server = Fixture::start_with(options(directory.path())).await;
    let view = training(&server).await;
    assert_eq!(view["queue"], json!([]));
    assert_eq!((&view["stats"]["today"], &view["stats"]["solved"]), (&json!(1), &json!(1)));
    assert_eq!(view["exercises"][0]["due"], graded["due"]);
    let mut tab = server.tab().await;
    tab.ask(json!({ "kind": "delete_exercises", "ids": [id] })).await;
    assert_eq!(training(&server).await["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_of_own_games_become_exercises() {
    // Its score is winning for the side to move: all other moves are mistakes.
    let (server, mut tab, engine) = Fixture::with_engine(&["proud"]).await;
    let pgn = b"[White \"Foolish\"]\n[Black \"Lucky\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n";
    let game = reported(&server, &mut tab, &engine, pgn).await;
    // Own games are in the library.
    tab.done(json!({ "kind": "save_draft", "game": game })).await;
    let all = json!({ "kind": "collect_exercises", "game": null, "side": null });
    assert_eq!(tab.ask(all.clone()).await["added"], 0);
    let set = json!({
        "kind": "set_settings",
        "settings": { "page": {}, "training": { "names": [" foolish "], "new_per_day": 20 } },
    });
    tab.done(set).await;
    let collected = tab.ask(all.clone()).await;
    assert_eq!((&collected["added"], &collected["known"]), (&json!(2), &json!(0)), "{collected}");
    let view = training(&server).await;
    let exercise = &view["queue"][0];
    assert_eq!((&exercise["kind"], &exercise["side"]), (&json!("mistake"), &json!("first")));
    assert_eq!(exercise["source"]["name"], "Foolish – Lucky");
    assert_eq!(exercise["source"]["game"], game);
    let id = exercise["id"].clone();
    let played = exercise["source"]["played"]["uci"].clone();
    let attempt =
        |text: &Value| json!({ "kind": "try_exercise", "id": id, "moves": [], "text": text });
    let again = tab.ask(attempt(&played)).await;
    assert_eq!(again["attempt"]["right"], false, "{again}");
    assert!(again["attempt"]["loss"].as_f64().is_some_and(|loss| 50.0 < loss), "{again}");
    let solution = tab.ask(json!({ "kind": "solve_exercise", "id": id, "moves": [] })).await;
    let best = tab.ask(attempt(&solution["line"][0]["uci"])).await;
    assert_eq!(best["attempt"]["solved"], true, "{best}");

    // A deleted exercise returns by a request for its game only.
    tab.ask(json!({ "kind": "delete_exercises", "ids": [id] })).await;
    assert_eq!(tab.ask(all).await["added"], 0);
    let side = json!({ "kind": "collect_exercises", "game": game, "side": "first" });
    assert_eq!(tab.ask(side).await["added"], 1);
}
