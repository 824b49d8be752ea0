//! Drafts: pasted and new boards, which are not in the library until they are saved or played.

use serde_json::{Value, json};

use crate::support::{Fixture, Tab, game};

/// A position that differs for each number.
fn position(number: usize) -> String {
    let (file, rank) = (number % 8, 3 + number / 8);
    let row = |has_pawn: bool| {
        let text = format!("{file}P{}", 7 - file).replace('0', "");
        if has_pawn { text } else { "8".to_owned() }
    };
    let rows: Vec<String> = (2..7).rev().map(|at| row(at == rank)).collect();
    format!("4k3/{}/8/4K3 w - - 0 1", rows.join("/"))
}

/// Pastes a text. Returns the number of the board.
async fn paste(server: &Fixture, text: &str, replaces: &Value) -> Value {
    let replaces = if replaces.is_null() { String::new() } else { format!("&replaces={replaces}") };
    let query = format!("?name=pasted.txt&open=true{replaces}");
    let imported = server.import(&query, text).await.json();
    assert_eq!((&imported["total"], &imported["job"]), (&json!(0), &json!(null)), "{imported}");
    assert!(imported["opened"].is_number(), "{imported}");
    imported["opened"].clone()
}

async fn library_size(server: &Fixture) -> Value {
    server.search(&json!({})).await.json()["total"].clone()
}

/// The open games: number, draft, unsaved.
async fn boards(server: &Fixture) -> Vec<(Value, bool, bool)> {
    let state = server.tab().await.follow("games").await;
    let games = state["games"].as_array().expect("games").clone();
    let flag = |game: &Value, name: &str| game[name].as_bool().expect("a flag");
    games
        .iter()
        .map(|game| (game["id"].clone(), flag(game, "draft"), flag(game, "unsaved")))
        .collect()
}

async fn play(tab: &mut Tab, game: &Value, node: u32, text: &str) {
    let mv = json!({ "kind": "move", "game": game, "node": node, "text": text });
    let answer = tab.ask(mv).await;
    assert_eq!(answer["kind"], "node", "{answer}");
}

/// The page shows each board after it is pasted.
#[tokio::test(flavor = "multi_thread")]
async fn pastes_leave_no_game_and_one_draft() {
    let (server, mut tab) = Fixture::with_tab().await;
    let mut shown = Value::Null;
    for number in 0..25 {
        let next = paste(&server, &position(number), &shown).await;
        let topic = format!("game/{next}");
        tab.follow(&topic).await;
        if !shown.is_null() {
            let topic = format!("game/{shown}");
            tab.done(json!({ "kind": "unsubscribe", "topic": topic })).await;
        }
        shown = next;
    }
    assert_eq!(library_size(&server).await, 0);
    assert_eq!(boards(&server).await, [(shown, true, false)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_board_is_a_draft_and_a_played_game_is_not() {
    let (server, mut tab) = Fixture::with_tab().await;
    let (topic, _) = tab.new_game(game("chess", Value::Null)).await;
    assert_eq!(library_size(&server).await, 0);
    let board = boards(&server).await.remove(0).0;
    let human = |name: &str| json!({ "kind": "human", "name": name, "time": { "kind": "none" } });
    let players = json!({ "first": human("Ada"), "second": human("Bob") });
    tab.done(json!({ "kind": "resume", "game": board, "from": 0, "players": players })).await;
    assert_eq!(library_size(&server).await, 1);
    assert_eq!(boards(&server).await, [(board.clone(), false, false)]);
    play(&mut tab, &board, 0, "e4").await;
    tab.done(json!({ "kind": "unsubscribe", "topic": topic })).await;
    tab.done(json!({ "kind": "close_game", "game": board })).await;
    let found = server.search(&json!({ "player": "Ada" })).await.json();
    assert_eq!((&found["games"][0]["id"], &found["games"][0]["plies"]), (&board, &json!(1)));
    // A game is in the library from its start.
    tab.new_game(game("chess", json!({ "first": human("C"), "second": human("D") }))).await;
    assert_eq!(library_size(&server).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn drafts_survive_a_restart_and_are_saved_on_request() {
    let (server, mut tab) = Fixture::with_tab().await;
    let edited = paste(&server, "1. e4 e5", &Value::Null).await;
    play(&mut tab, &edited, 2, "Nf3").await;
    let untouched = paste(&server, "1. d4 d5", &edited).await;
    let (server, mut tab) = server.restart().await;
    let mut found = boards(&server).await;
    found.sort_by_key(|board| board.0.as_u64());
    assert_eq!(found, [(edited.clone(), true, true), (untouched.clone(), true, false)]);
    assert_eq!(library_size(&server).await, 0);
    tab.done(json!({ "kind": "save_draft", "game": edited })).await;
    // A second time, nothing happens.
    tab.done(json!({ "kind": "save_draft", "game": edited })).await;
    assert_eq!(library_size(&server).await, 1);
    play(&mut tab, &edited, 3, "Nc6").await;
    let (server, mut tab) = server.restart().await;
    let page = server.search(&json!({})).await.json();
    assert_eq!((&page["total"], &page["games"][0]["plies"]), (&json!(1), &json!(4)), "{page}");
    assert_eq!(page["games"][0]["source"], "import");
    // The number of a draft is of no other game.
    let other = server.import("?name=a.pgn", "1. c4 c5 *\n").await.json();
    assert!(untouched.as_u64() < other["games"][0]["id"].as_u64(), "{other}");
    tab.done(json!({ "kind": "save_draft", "game": untouched })).await;
    assert_eq!(library_size(&server).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_with_edits_is_not_replaced_and_returns_after_it_is_closed() {
    let (server, mut tab) = Fixture::with_tab().await;
    let edited = paste(&server, "1. e4 e5", &Value::Null).await;
    play(&mut tab, &edited, 2, "Nf3").await;
    let next = paste(&server, "1. d4 d5", &edited).await;
    assert_eq!(boards(&server).await.len(), 2);
    // No tab has shown it.
    let last = paste(&server, "1. c4", &Value::Null).await;
    let mut open: Vec<Value> = boards(&server).await.into_iter().map(|board| board.0).collect();
    open.sort_by_key(Value::as_u64);
    assert_eq!(open, [edited.clone(), last.clone()], "without {next}");
    tab.done(json!({ "kind": "close_game", "game": edited })).await;
    tab.done(json!({ "kind": "close_game", "game": last })).await;
    assert_eq!(boards(&server).await, []);
    assert_eq!(library_size(&server).await, 0);
    let opened = tab.ask(json!({ "kind": "open_game", "game": edited })).await;
    assert_eq!(opened, json!({ "kind": "game", "game": edited }));
    assert_eq!(boards(&server).await, [(edited.clone(), true, true)]);
    let (server, mut tab) = server.restart().await;
    assert_eq!(boards(&server).await, [(edited.clone(), true, true)], "it is stored again");
    let gone = tab.ask(json!({ "kind": "open_game", "game": last })).await;
    assert_eq!(gone["category"], "not_found", "{gone}");
    let deleted = tab.ask(json!({ "kind": "delete_game", "game": edited })).await;
    assert_eq!(deleted["kind"], "deleted", "{deleted}");
    assert_eq!(boards(&server).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_with_a_label_or_in_a_collection_is_a_game() {
    let (server, mut tab) = Fixture::with_tab().await;
    let first = paste(&server, "1. e4 e5", &Value::Null).await;
    let of = json!({ "kind": "games", "games": [first] });
    let create = json!({ "kind": "create", "name": "Pirc", "of": of });
    let created = tab.ask(json!({ "kind": "edit_collection", "edit": create })).await;
    assert_eq!(created["kind"], "collection", "{created}");
    assert_eq!(library_size(&server).await, 1);
    let second = paste(&server, "1. d4 d5", &Value::Null).await;
    let of = json!({ "kind": "games", "games": [second] });
    tab.done(json!({ "kind": "set_label", "of": of, "label": "x", "set": true })).await;
    assert_eq!(server.search(&json!({ "label": "x" })).await.json()["total"], 1);
    assert!(boards(&server).await.iter().all(|(_, draft, _)| !draft));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_exported_with_other_games() {
    let server = Fixture::start().await;
    let draft = paste(&server, "1. e4 e5 2. Nf3", &Value::Null).await;
    let of = format!("%7B%22kind%22%3A%22games%22%2C%22games%22%3A%5B{draft}%5D%7D");
    let text = server.get(&format!("/api/export?of={of}&format=pgn")).await.text();
    assert!(text.contains("1. e4 e5 2. Nf3"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_games_open_as_a_collection_in_their_order() {
    let (server, mut tab) = Fixture::with_tab().await;
    let study = "[StudyName \"Pirc\"]\n[ChapterName \"One\"]\n\n1. e4 d6 *\n\n\
        [StudyName \"Pirc\"]\n[ChapterName \"Two\"]\n\n1. d4 d6 *\n\n1. e4 d6 2. d4 *\n";
    let kif = "手合割：平手\n手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 投了\n";
    for (name, text, title, count) in [
        ("study.pgn", study.to_owned(), "Pirc", 3),
        ("two.kif", format!("{kif}\n{}", kif.replace("７六歩(77)", "２六歩(27)")), "two", 2),
        (
            "two.csa",
            "V2.2\nPI\n+\n+7776FU\n%TORYO\n/\nV2.2\nPI\n+\n+2726FU\n%TORYO\n".into(),
            "two",
            2,
        ),
    ] {
        let imported = server.import(&format!("?name={name}&open=true"), text).await.json();
        let collection = &imported["collection"];
        assert_eq!(collection["name"], title, "{name}: {imported}");
        let games = collection["games"].as_array().expect("games");
        assert_eq!((games.len(), &imported["opened"]), (count, &games[0]), "{name}");
        let query = json!({ "collection": collection["id"] }).to_string();
        let answer = server.post("/api/library/chapters", "application/json", query.as_bytes());
        let chapters = answer.await.json();
        let listed = chapters["chapters"].as_array().expect("chapters").iter();
        let listed: Vec<Value> = listed.map(|chapter| chapter["game"]["id"].clone()).collect();
        assert_eq!(&listed, games, "{name}");
        assert!(
            boards(&server).await.iter().any(|board| board == &(games[0].clone(), false, false))
        );
        tab.done(json!({ "kind": "close_game", "game": games[0] })).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_has_a_place_in_its_collection_and_a_preview() {
    let server = Fixture::start().await;
    let text = "1. e4 $1 d6 *\n\n1. d4 d6 2. c4 *\n\n1. c4 *\n";
    let imported = server.import("?name=three.pgn&open=true", text).await.json();
    let games = imported["collection"]["games"].as_array().expect("games").clone();
    let post = async |path: &str, query: Value| {
        let query = query.to_string();
        server.post(path, "application/json", query.as_bytes()).await.json()
    };
    for (place, game) in games.iter().enumerate() {
        let order = post("/api/library/order", json!({ "game": game })).await;
        assert_eq!((&order["place"], &order["collection"]["chapters"]), (&json!(place), &json!(3)));
        let at =
            |place: Option<usize>| place.and_then(|it| games.get(it)).cloned().unwrap_or_default();
        let sides = (order["previous"].clone(), order["next"].clone());
        assert_eq!(sides, (at(place.checked_sub(1)), at(Some(place + 1))));
    }
    let draft = paste(&server, "1. e4 e5", &Value::Null).await;
    assert_eq!(post("/api/library/order", json!({ "game": draft })).await, Value::Null);
    let shown = post("/api/library/preview", json!({ "game": games[1], "ply": 1 })).await;
    assert_eq!((&shown["ply"], &shown["plies"]), (&json!(1), &json!(3)), "{shown}");
    assert!(shown["position"]["text"].as_str().expect("a text").contains("/3P4/"), "{shown}");
    assert_eq!(shown["moves"][2]["text"]["western"], "c4");
    let shown = post("/api/library/preview", json!({ "game": draft })).await;
    assert_eq!((&shown["ply"], &shown["moves"][1]["text"]["western"]), (&json!(2), &json!("e5")));
}
