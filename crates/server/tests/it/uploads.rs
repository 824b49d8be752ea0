//! Entries of imports: counts and errors of files that tabs have sent.

use serde_json::{Value, json};

use crate::support::{Fixture, Tab};

async fn faults(server: &Fixture, job: &Value) -> Value {
    let query = json!({ "job": job }).to_string();
    server.post("/api/library/faults", "application/json", query.as_bytes()).await.json()
}

async fn jobs(tab: &mut Tab) -> Vec<Value> {
    let state = tab.follow("jobs").await;
    tab.done(json!({ "kind": "unsubscribe", "topic": "jobs" })).await;
    state["jobs"].as_array().expect("jobs").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_has_an_entry_with_all_errors_after_a_restart() {
    let (server, mut tab) = Fixture::with_tab().await;
    let bad = "[FEN \"no position\"]\n\n1. e4 *\n\n".repeat(30);
    let text = format!("1. e4 e5 *\n\n1. d4 *\n\n{bad}1. c4 Ke5 *\n");
    let imported = server.import("?name=big.pgn", &text).await.json();
    assert_eq!((&imported["total"], &imported["total_errors"]), (&json!(3), &json!(30)));
    let entry = jobs(&mut tab).await.remove(0);
    assert_eq!((&entry["id"], &entry["upload"]), (&imported["job"], &json!("big.pgn")));
    assert_eq!((&entry["status"], &entry["games"]), (&json!("done"), &json!(3)), "{entry}");
    assert_eq!(entry["bytes"], text.len());
    assert_eq!(entry["total_bytes"], text.len());
    assert_eq!(entry["errors"].as_array().map(Vec::len), Some(20));
    let (server, mut tab) = server.restart().await;
    let mut after = jobs(&mut tab).await.remove(0);
    after["status"] = entry["status"].clone();
    assert_eq!(after, entry);
    // The game that was read in part is listed, too.
    let faults = faults(&server, &entry["id"]).await;
    let errors = faults["errors"].as_array().expect("errors");
    assert_eq!((errors.len(), &faults["total_errors"]), (31, &json!(31)), "{faults}");
    let first = &errors[0];
    assert_eq!(first["of"], json!({ "kind": "file", "name": "big.pgn" }));
    assert_eq!(first["why"]["context"]["game"], 3, "{first}");
    assert!(first["why"]["context"]["line"].is_number(), "{first}");
    let resumed = tab.ask(json!({ "kind": "resume_job", "id": entry["id"] })).await;
    assert_eq!(resumed["category"], "not_found", "{resumed}");
    tab.done(json!({ "kind": "delete_job", "id": entry["id"] })).await;
    assert_eq!(jobs(&mut tab).await, [] as [Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_imports_are_kept() {
    let (server, mut tab) = Fixture::with_tab().await;
    for number in 0..25 {
        let name = format!("?name={number}.pgn");
        assert_eq!(
            server.import(&name, format!("[Round \"{number}\"]\n\n1. e4 *\n")).await.status,
            200
        );
    }
    let names: Vec<Value> = jobs(&mut tab).await.iter().map(|job| job["upload"].clone()).collect();
    assert_eq!(names.len(), 20);
    assert_eq!((&names[0], &names[19]), (&json!("24.pgn"), &json!("5.pgn")));
}

/// A position that breaks the rules is shown, but it is no imported game.
#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_position_is_not_counted_as_a_game() {
    let (server, mut tab) = Fixture::with_tab().await;
    let pawns = "lnsgkgsnl/1r5b1/ppppppppp/9/ppppppppp/9/PPPP5/1B5R1/LNSGKGSNL b - 1";
    let imported = server.import("?name=pasted.txt&open=true", pawns).await.json();
    assert_eq!((&imported["total"], &imported["job"]), (&json!(0), &Value::Null), "{imported}");
    assert_ne!(imported["total_errors"].as_u64().max(imported["total_warnings"].as_u64()), Some(0));
    assert_eq!(jobs(&mut tab).await, [] as [Value; 0]);
    assert_eq!(server.search(&json!({})).await.json()["total"], 0);
}

/// Files that were joined have byte order marks between their games.
#[tokio::test(flavor = "multi_thread")]
async fn a_byte_order_mark_between_games_is_no_error() {
    let server = Fixture::start().await;
    let game =
        |name: &str| format!("\u{feff}[White \"{name}\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n");
    let text = game("a") + &game("b") + "\u{feff}" + &game("c") + "\u{feff}";
    let imported = server.import("?name=joined.pgn", text).await.json();
    assert_eq!(
        (&imported["total"], &imported["total_errors"]),
        (&json!(3), &json!(0)),
        "{imported}"
    );
}
