//! Rematches: the same players and settings again.

use serde_json::{Value, json};

use crate::support::{Fixture, Tab, against, game, options};

fn clock(base: u64) -> Value {
    json!({ "kind": "clock", "base": base, "increment": 0, "byoyomi": 0, "moves": null })
}

fn id(topic: &str) -> Value {
    topic.rsplit_once('/').expect("a number").1.parse::<u32>().expect("a number").into()
}

fn of(kind: &str, game: &Value) -> Value {
    json!({ "kind": kind, "game": game })
}

/// Begins a game and gives it up; gives back its number.
async fn lost(tab: &mut Tab, new: Value) -> Value {
    let (topic, _) = tab.new_game(new).await;
    let game = id(&topic);
    assert_eq!(tab.ask(of("resign", &game)).await["kind"], "done");
    game
}

async fn state(tab: &mut Tab, game: &Value) -> Value {
    tab.follow(&format!("game/{game}")).await
}

/// The state of the rematch of a game.
async fn rematch(tab: &mut Tab, game: &Value) -> Value {
    let answer = tab.ask(of("rematch", game)).await;
    assert_eq!(answer["kind"], "game", "{answer}");
    assert_ne!(&answer["game"], game);
    state(tab, &answer["game"]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_players_change_sides_and_keep_all_else() {
    let server = Fixture::start().await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&[]).await;
    let mut players = against(&engine, clock(60_000), true);
    players["first"]["time"] = clock(300_000);
    players["second"]["limits"] = json!({ "depth": 3, "nodes": null, "time": null, "mate": null });
    players["second"]["strength"] = json!({ "value": 5 });
    players["second"]["options"] = json!({ "Hash": "32" });
    let mut new = game("chess", players.clone());
    new["start"] = json!({ "kind": "text", "text": "position startpos moves d2d4 d7d5" });
    let (topic, before) = tab.new_game(new).await;
    assert_eq!(before["play"]["rematch"], Value::Null);
    let first = id(&topic);
    let early = tab.ask(of("rematch", &first)).await;
    assert_eq!(early["error"]["code"], "game_not_over", "{early}");
    tab.ask(of("resign", &first)).await;
    let over = tab.change(&topic, |delta| delta["play"]["status"] == "over").await;
    assert_eq!(over["play"]["rematch"], json!({ "kind": "open", "swapped": true }));

    let next = rematch(&mut tab, &first).await;
    assert_eq!(next["nodes"][2]["uci"], "d7d5");
    let slots = &next["play"]["players"];
    assert_eq!(
        (&slots["first"]["player"], &slots["second"]["player"]),
        (&players["second"], &players["first"])
    );
    let left = next["play"]["clocks"]["remaining"]["second"].as_i64();
    assert!(left.is_some_and(|left| 60_000 < left), "{next}");
    // The engine has the first move, and makes it.
    let topic = format!("game/{}", next["id"]);
    if next["play"]["status"] != "your_turn" {
        tab.change(&topic, |delta| delta["play"]["status"] == "your_turn").await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_gives_a_handicap_gives_it_again() {
    let server = Fixture::start().await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&["usi"]).await;
    let players = against(&engine, json!({ "kind": "none" }), false);
    let mut new = game("shogi", players.clone());
    new["start"] = json!({ "kind": "handicap", "name": "lance" });
    let first = lost(&mut tab, new).await;
    let before = state(&mut tab, &first).await;
    assert_eq!(before["play"]["rematch"], json!({ "kind": "open", "swapped": false }));
    let next = rematch(&mut tab, &first).await;
    assert_eq!(next["start"], before["start"]);
    assert_eq!(next["play"]["players"]["first"]["player"], players["first"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_one_rematch_until_it_is_deleted() {
    let server = Fixture::start().await;
    let (mut one, mut two) = (server.tab().await, server.tab().await);
    let engine = one.add_mime(&[]).await;
    let new = game("chess", against(&engine, clock(60_000), false));
    let first = lost(&mut one, new).await;
    let topic = format!("game/{first}");
    two.follow(&topic).await;
    let next = rematch(&mut one, &first).await["id"].clone();
    let begun = json!({ "kind": "begun", "game": next });
    two.change(&topic, |delta| delta["play"]["rematch"] == begun).await;
    assert_eq!(rematch(&mut two, &first).await["id"], next);

    // It is known after a restart, and of a game that was closed as well that it is gone.
    let directory = server.stop().await.expect("its directory");
    let server = Fixture::start_with(options(directory.path())).await;
    let mut tab = server.tab().await;
    assert_eq!(state(&mut tab, &first).await["play"]["rematch"], begun);
    tab.ask(of("delete_game", &next)).await;
    let open = json!({ "kind": "open", "swapped": true });
    tab.change(&topic, |delta| delta["play"]["rematch"] == open).await;
    let next = rematch(&mut tab, &first).await["id"].clone();
    tab.ask(of("close_game", &first)).await;
    tab.ask(of("delete_game", &next)).await;
    tab.ask(of("open_game", &first)).await;
    assert_eq!(state(&mut tab, &first).await["play"]["rematch"], open);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_opening_of_a_rematch_comes_from_the_same_book() {
    let server = Fixture::start().await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&[]).await;
    let book = server.data.join("book.pgn");
    std::fs::write(&book, "1. e4 c5 2. Nf3 d6 *\n").expect("it is written");
    let mut new = game("chess", against(&engine, clock(60_000), false));
    new["book"] = json!({ "path": book, "plies": 2 });
    let first = lost(&mut tab, new).await;
    let next = rematch(&mut tab, &first).await;
    assert_eq!(next["nodes"][2]["uci"], "c7c5");
    std::fs::remove_file(&book).expect("it is there");
    tab.ask(of("delete_game", &next["id"])).await;
    assert_eq!(tab.ask(of("rematch", &first)).await["category"], "invalid_path");
    server.stop().await;
}
