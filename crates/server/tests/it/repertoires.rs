//! Patterns, opening trees and the games of a repertoire.

use serde_json::{Value, json};

use crate::support::{Fixture, Tab, post};

const GAMES: &str = "\
[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. d4 d5 2. c4 e6 3. Nc3 Nf6 1-0\n\n\
[White \"C\"]\n[Black \"D\"]\n[Result \"1/2-1/2\"]\n\n1. c4 e6 2. d4 d5 3. Nc3 c6 1/2-1/2\n\n\
[White \"E\"]\n[Black \"F\"]\n[Result \"0-1\"]\n\n1. d4 d5 2. Nf3 Nf6 0-1\n\n\
[White \"Tree\"]\n[Black \"?\"]\n\n1. d4 d5 (1... f5) 2. c4 e6 *\n";

async fn with_games() -> (Fixture, Tab) {
    let (server, tab) = Fixture::with_tab().await;
    let imported = server.import("?name=games.pgn", GAMES).await.json();
    assert_eq!(imported["collection"]["games"], json!([1, 2, 3, 4]), "{imported}");
    (server, tab)
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_select_games_and_show_their_position() {
    let (server, _tab) = with_games().await;
    let search = |pattern: &str| json!({ "pattern": pattern, "sort": "added", "ascending": true });
    let ids = |page: &Value| -> Vec<u64> {
        let games = page["games"].as_array().expect("games");
        games.iter().filter_map(|game| game["id"].as_u64()).collect()
    };
    let page = post(&server, "/api/library/search", &search("on=Nc3,pd5")).await;
    assert_eq!(ids(&page), [1, 2], "{page}");
    let page = post(&server, "/api/library/search", &search("on=Nf3,nf6 flip=files")).await;
    assert_eq!(ids(&page), [3], "{page}");
    let preview = json!({ "game": 2, "filter": { "pattern": "on=Pd4,pd5" } });
    let preview = post(&server, "/api/library/preview", &preview).await;
    assert_eq!(preview["ply"], 4, "{preview}");
    // Another position of the game, and a game that does not match.
    let asked = json!({ "game": 2, "ply": 1, "filter": { "pattern": "on=Pd4,pd5" } });
    assert_eq!(post(&server, "/api/library/preview", &asked).await["ply"], 1);
    let other = json!({ "game": 2, "filter": { "pattern": "on=Qa1" } });
    assert_eq!(post(&server, "/api/library/preview", &other).await["ply"], 6);
    let wrong = post(&server, "/api/library/search", &search("on=Pe1")).await;
    assert_eq!(wrong["error"]["code"], "pattern_rank", "{wrong}");
    assert_eq!(wrong["error"]["square"], "e1", "{wrong}");
    let none = post(&server, "/api/library/progress", &json!({ "ticket": 7 })).await;
    assert_eq!(none, Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn games_become_an_opening_tree() {
    let (server, mut tab) = with_games().await;
    let of = json!({ "kind": "games", "games": [1, 2, 3] });
    let build = json!({ "kind": "build_opening_tree", "of": of, "plies": 40, "min_games": 1 });
    let answer = tab.ask(build).await;
    let tree = json!({ "games": 3, "moves": 13, "omitted": 0, "unconnected": 0, "cut": 0 });
    assert_eq!(answer, json!({ "kind": "opening_tree", "game": 5, "tree": tree }));
    tab.ask(json!({ "kind": "open_game", "game": 5 })).await;
    let view = tab.follow("game/5").await;
    assert!(view.to_string().contains("2 games, 50 %: +1 =0 -1"), "{view}");
    assert!(view.to_string().contains("continues as after d4 d5 c4 e6"), "{view}");
    let none = json!({ "kind": "games", "games": [] });
    let none = json!({ "kind": "build_opening_tree", "of": none, "plies": 40, "min_games": 1 });
    assert_eq!(tab.ask(none).await["error"]["code"], "nothing_to_merge");
    drop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn games_of_a_repertoire_are_listed_by_place() {
    let (server, _tab) = with_games().await;
    let found = post(&server, "/api/library/repertoire", &json!({ "tree": 4 })).await;
    let counts = json!({ "first": 1, "draws": 1, "second": 1, "unknown": 0 });
    assert_eq!((&found["counts"], &found["total"]), (&counts, &json!(2)), "{found}");
    let places = found["places"].as_array().expect("places");
    let place = &places[0];
    assert_eq!(place["counts"], json!({ "first": 1, "draws": 1, "second": 0, "unknown": 0 }));
    assert_eq!(place["line"].as_array().map(Vec::len), Some(4), "{place}");
    assert_eq!(place["turn"], "first");
    assert!(place["text"].to_string().contains("Nc3"), "{place}");
    let games = place["games"].as_array().expect("games");
    assert_eq!(games.iter().map(|game| &game["id"]).collect::<Vec<_>>(), [2, 1]);
    let filtered = json!({ "tree": 4, "filter": { "result": "0-1" } });
    let filtered = post(&server, "/api/library/repertoire", &filtered).await;
    assert_eq!(filtered["total"], 1, "{filtered}");
    let missing = post(&server, "/api/library/repertoire", &json!({ "tree": 99 })).await;
    assert_eq!(missing["category"], "not_found", "{missing}");
}
