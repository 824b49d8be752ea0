//! Games that are played, and rematches.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Fixture, Tab, against, forget_what_was_learned, game, id_of, options};

fn no_time() -> Value {
    json!({ "kind": "none" })
}

/// Five minutes.
fn clock() -> Value {
    json!({ "kind": "clock", "base": 300_000, "increment": 1000, "byoyomi": 0, "moves": null })
}

/// A move after a node.
fn mv(game: &str, node: &Value, text: &str) -> Value {
    json!({ "kind": "move", "game": id_of(game), "node": node, "text": text })
}

/// Waits until it is the human's turn. Returns the last node.
async fn my_turn(tab: &mut Tab, topic: &str) -> Value {
    let delta = tab.change(topic, |delta| delta["play"]["status"] == "your_turn").await;
    delta["play"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_human_plays_against_an_engine() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let (topic, state) = tab.new_game(game("chess", against(&engine, clock(), false))).await;
    assert_eq!(state["position"]["legal"].as_array().map(Vec::len), Some(20));
    let root = state["cursor"].clone();
    let rejected = tab.ask(mv(&topic, &root, "e5")).await;
    assert_eq!(rejected["category"], "illegal_move", "{rejected}");
    let played = tab.ask(mv(&topic, &root, "e4")).await;
    assert_eq!(played["kind"], "node", "{played}");
    let play = my_turn(&mut tab, &topic).await;
    // The first of all moves, in order of UCI notation.
    let state = tab.follow(&topic).await;
    let last = state["nodes"].as_array().and_then(|nodes| nodes.last()).expect("a move");
    assert_eq!((&last["uci"], &last["text"]["western"]), (&json!("a7a5"), &json!("a5")));
    assert_eq!(play["last_move_node"], last["id"]);
    assert_eq!(play["clocks"]["running"], "first");
    assert_eq!(play["players"]["second"]["name"], "Mime <b>1</b>");
    assert!(last["clock"].as_u64().is_some_and(|left| left <= 301_000), "{last}");
    tab.done(json!({ "kind": "resign", "game": id_of(&topic) })).await;
    let ended = tab.change(&topic, |delta| delta["outcome_change"]["outcome"].is_object()).await;
    assert_eq!(ended["outcome_change"]["outcome"]["result"], "0-1");
    assert_eq!(ended["outcome_change"]["outcome"]["termination"], "resignation");
}

#[tokio::test(flavor = "multi_thread")]
async fn shogi_is_played_in_usi_notation() {
    let (_server, mut tab, engine) = Fixture::with_engine(&["usi"]).await;
    let (topic, state) = tab.new_game(game("shogi", against(&engine, no_time(), false))).await;
    let played = tab.ask(mv(&topic, &state["cursor"], "▲７六歩")).await;
    assert_eq!(played["kind"], "node", "{played}");
    // Without a limit, the engine searches until “Move now”.
    tab.change(&topic, |delta| delta["play"]["status"] == "searching").await;
    tab.done(json!({ "kind": "move_now", "game": id_of(&topic) })).await;
    my_turn(&mut tab, &topic).await;
    let state = tab.follow(&topic).await;
    let nodes = state["nodes"].as_array().expect("nodes");
    assert_eq!(nodes[1]["text"]["japanese"], "▲７六歩");
    assert_eq!(nodes.len(), 3);
}

/// The parameters of `go` after the first move of the human.
async fn go_of(tab: &mut Tab, engine: &Value, variant: &str, time: Value, limits: Value) -> String {
    let mut players = against(engine, time, false);
    players["second"]["limits"] = limits;
    let (topic, state) = tab.new_game(game(variant, players)).await;
    let text = if variant == "shogi" { "7g7f" } else { "e4" };
    assert_eq!(tab.ask(mv(&topic, &state["cursor"], text)).await["kind"], "node");
    tab.change(&topic, |delta| {
        ["searching", "your_turn"].iter().any(|status| delta["play"]["status"] == *status)
    })
    .await;
    let engines = tab.follow("engines").await;
    let processes = engines["processes"].as_array().expect("processes");
    let purpose = json!({ "kind": "play", "game": id_of(&topic) });
    let process =
        processes.iter().find(|process| process["purpose"] == purpose).expect("its process");
    let topic_of_log = format!("log/{}", process["id"]);
    let go_in = |log: &Value| {
        let lines = log["lines"].as_array()?;
        let mut texts = lines.iter().filter_map(|line| line["text"].as_str());
        texts.find_map(|text| text.strip_prefix("go ").map(str::to_owned))
    };
    let mut log = tab.follow(&topic_of_log).await;
    // The engine may receive the command after the page has received the event.
    if go_in(&log).is_none() {
        log = tab.change(&topic_of_log, |delta| go_in(delta).is_some()).await;
    }
    let go = go_in(&log).expect("it was asked");
    tab.done(json!({ "kind": "resign", "game": id_of(&topic) })).await;
    // The human's remaining time depends on the machine.
    let tokens: Vec<&str> = go.split(' ').collect();
    let mut shown = Vec::new();
    for pair in tokens.chunks(2) {
        let [name, value] = pair else { return go.clone() };
        let own = if variant == "shogi" { "btime" } else { "wtime" };
        shown.push(if *name == own { format!("{name} …") } else { format!("{name} {value}") });
    }
    shown.sort();
    shown.join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn all_time_controls_are_sent_to_engines() {
    let (_server, mut tab, uci) = Fixture::with_engine(&[]).await;
    let usi = tab.add_mime(&["usi"]).await;
    let clock = |increment: u32, byoyomi: u32, moves: Option<u32>| {
        json!({
            "kind": "clock", "base": 60_000, "increment": increment, "byoyomi": byoyomi,
            "moves": moves,
        })
    };
    let per_move = json!({ "kind": "per_move", "time": 700 });
    for (engine, variant, time, limits, expected) in [
        (&uci, "chess", per_move.clone(), json!({}), "movetime 700"),
        (&uci, "chess", per_move.clone(), json!({ "depth": 3 }), "depth 3 movetime 700"),
        (&uci, "chess", per_move.clone(), json!({ "time": 90 }), "movetime 90"),
        (&uci, "chess", clock(0, 0, Some(40)), json!({}), "btime 60000 movestogo 40 wtime …"),
        (&uci, "chess", clock(2000, 0, None), json!({}), "binc 2000 btime 60000 winc 2000 wtime …"),
        (&uci, "chess", no_time(), json!({ "depth": 5 }), "depth 5"),
        (&uci, "chess", no_time(), json!({ "nodes": 900 }), "nodes 900"),
        (&usi, "shogi", clock(0, 10_000, None), json!({}), "btime … byoyomi 10000 wtime 60000"),
        (&usi, "shogi", no_time(), json!({ "depth": 4 }), "depth 4"),
    ] {
        let go = go_of(&mut tab, engine, variant, time.clone(), limits.clone()).await;
        assert_eq!(go, expected, "{time} {limits}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_is_taken_back_with_its_reply() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let (topic, state) = tab.new_game(game("chess", against(&engine, clock(), true))).await;
    let root = state["cursor"].clone();
    tab.ask(mv(&topic, &root, "e4")).await;
    my_turn(&mut tab, &topic).await;
    tab.done(json!({ "kind": "take_back", "game": id_of(&topic) })).await;
    let state = tab.follow(&topic).await;
    assert_eq!(state["nodes"].as_array().map(Vec::len), Some(1));
    assert_eq!(state["play"]["status"], "your_turn");
    tab.ask(mv(&topic, &root, "d4")).await;
    let play = my_turn(&mut tab, &topic).await;
    assert_ne!(play["last_move_node"], root);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_tab_has_its_own_cursor() {
    let server = Fixture::start().await;
    let (mut one, mut two) = (server.tab().await, server.tab().await);
    let (topic, state) = one.new_game(game("chess", Value::Null)).await;
    two.follow(&topic).await;
    let played = one.ask(mv(&topic, &state["cursor"], "g1f3")).await;
    let seen = two.change(&topic, |delta| delta["nodes"][0].is_object()).await;
    assert_eq!(seen["at"], Value::Null, "{seen}");
    assert_eq!(two.follow(&topic).await["cursor"], state["cursor"]);
    assert_eq!(one.follow(&topic).await["cursor"], played["node"]);
    // A new tab begins at the latest cursor, and moves from there.
    let mut three = server.tab().await;
    assert_eq!(three.follow(&topic).await["cursor"], played["node"]);
    let back = json!({ "kind": "go_to", "game": id_of(&topic), "node": state["cursor"] });
    three.send(back).await;
    let seen = three.change(&topic, |delta| delta["at"]["cursor"] == state["cursor"]).await;
    assert_eq!(seen["at"]["position"]["turn"], "first");
    assert_eq!(one.follow(&topic).await["cursor"], played["node"]);
    // The removal of its node moves a cursor to the parent.
    let delete = json!({ "kind": "delete", "node": played["node"] });
    two.send(json!({ "kind": "edit", "game": id_of(&topic), "edit": delete })).await;
    one.change(&topic, |delta| delta["at"]["cursor"] == state["cursor"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_at_the_end_of_a_game_follow_it() {
    let server = Fixture::start().await;
    let (mut one, mut two, mut three) =
        (server.tab().await, server.tab().await, server.tab().await);
    let engine = one.add_mime(&[]).await;
    let (topic, state) = one.new_game(game("chess", against(&engine, clock(), true))).await;
    for tab in [&mut two, &mut three] {
        tab.follow(&topic).await;
    }
    one.ask(mv(&topic, &state["cursor"], "e4")).await;
    my_turn(&mut one, &topic).await;
    let reply = one.follow(&topic).await["play"]["last_move_node"].clone();
    two.change(&topic, |delta| delta["at"]["cursor"] == reply).await;
    // A tab that has gone back stays there.
    let back = json!({ "kind": "go_to", "game": id_of(&topic), "node": state["cursor"] });
    three.ask(back).await;
    one.ask(mv(&topic, &reply, "d4")).await;
    my_turn(&mut one, &topic).await;
    let tip = one.follow(&topic).await["play"]["last_move_node"].clone();
    assert_eq!(two.follow(&topic).await["cursor"], tip);
    assert_eq!(three.follow(&topic).await["cursor"], state["cursor"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_tabs_receive_the_same_state() {
    let server = Fixture::start().await;
    let (mut one, mut two) = (server.tab().await, server.tab().await);
    let (topic, state) = one.new_game(game("chess", Value::Null)).await;
    two.follow(&topic).await;
    let played = one.ask(mv(&topic, &state["cursor"], "g1f3")).await;
    let comment = json!({ "kind": "comment", "node": played["node"], "comments": ["<script>"], "before": [] });
    two.ask(json!({ "kind": "edit", "game": id_of(&topic), "edit": comment })).await;
    let delta = one.change(&topic, |delta| delta["nodes"][0]["comments"][0] == "<script>").await;
    assert_eq!(delta["undo"]["undo"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_is_resumed_after_a_restart() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let (topic, state) = tab.new_game(game("chess", against(&engine, clock(), false))).await;
    tab.ask(mv(&topic, &state["cursor"], "e4")).await;
    let before = my_turn(&mut tab, &topic).await;
    let (_server, mut tab) = server.restart().await;
    let games = tab.follow("games").await;
    assert_eq!(games["games"][0]["id"], id_of(&topic));
    let state = tab.follow(&topic).await;
    assert_eq!(state["play"]["status"], "interrupted");
    assert_eq!(state["play"]["last_move_node"], before["last_move_node"]);
    tab.done(json!({ "kind": "resume", "game": id_of(&topic), "from": null, "players": null }))
        .await;
    assert_eq!(my_turn(&mut tab, &topic).await["last_move_node"], before["last_move_node"]);
    tab.ask(mv(&topic, &before["last_move_node"], "d4")).await;
    let after = my_turn(&mut tab, &topic).await;
    assert_ne!(after["last_move_node"], before["last_move_node"]);
}

/// Plays against an engine of limited strength, stops the server, changes its data, and resumes the game. Returns
/// the protocol log after the restart.
async fn log_after_a_restart(change: impl FnOnce(&Path)) -> String {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let mut players = against(&engine, clock(), false);
    players["second"]["strength"] = json!({ "value": 5 });
    players["second"]["options"] = json!({ "Hash": "32" });
    let (topic, state) = tab.new_game(game("chess", players)).await;
    tab.ask(mv(&topic, &state["cursor"], "e4")).await;
    let tip = my_turn(&mut tab, &topic).await["last_move_node"].clone();
    let directory = server.stop().await.expect("its directory");
    change(directory.path());

    let server = Fixture::start_with(options(directory.path())).await;
    let mut tab = server.tab().await;
    tab.follow(&topic).await;
    tab.done(json!({ "kind": "resume", "game": id_of(&topic), "from": null, "players": null }))
        .await;
    my_turn(&mut tab, &topic).await;
    tab.ask(mv(&topic, &tip, "d4")).await;
    tab.change(&topic, |delta| {
        delta["play"]["status"] == "your_turn" && delta["play"]["last_move_node"] != tip
    })
    .await;
    let state = tab.follow("engines").await;
    let processes = state["processes"].as_array().expect("processes");
    let plays =
        processes.iter().find(|process| process["purpose"]["kind"] == "play").expect("it plays");
    let log = server.get(&format!("/api/log/{}", plays["id"])).await.text();
    server.stop().await;
    log
}

#[tokio::test(flavor = "multi_thread")]
async fn limited_strength_remains_after_a_restart() {
    let weak = "> setoption name Skill Level value 5\n";
    let log = log_after_a_restart(|_| ()).await;
    assert!(log.contains(weak) && log.contains("> setoption name Hash value 32\n"), "{log}");
    // It applies even if the options are unknown.
    let log = log_after_a_restart(forget_what_was_learned).await;
    let set = log.find(weak).expect("it is sent");
    assert!(log.find("> go ").is_some_and(|go| set < go), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_of_an_engine_interrupts_the_game() {
    let (_server, mut tab, engine) = Fixture::with_engine(&["crash"]).await;
    // The increment exceeds the time of the first move, also on a busy machine.
    let mut clock = clock();
    clock["increment"] = json!(200_000);
    let players = against(&engine, clock.clone(), false);
    let (topic, state) = tab.new_game(game("chess", players)).await;
    tab.ask(mv(&topic, &state["cursor"], "e4")).await;
    let lost = tab.process_is(&json!("play"), "dead").await;
    let process = &lost["processes"][0];
    assert_eq!(process["stderr"][0], "mime: out of thoughts");
    let error = &process["error"];
    assert_eq!(error["exit_cause"], "aborted", "{error}");
    let details = json!([{ "detail": "stderr", "line": "mime: out of thoughts" }]);
    assert_eq!(error["context"]["details"], details);
    let state = tab.follow(&topic).await;
    assert_eq!(state["play"]["status"], "interrupted");
    assert_eq!(state["play"]["failure"], json!({ "side": "second", "error": error }));
    assert_eq!(state["outcome"], Value::Null);
    // Another engine continues the game with the same clocks.
    let other = tab.add_mime(&[]).await;
    let players = against(&other, clock, false);
    tab.ask(json!({ "kind": "resume", "game": state["id"], "from": null, "players": players }))
        .await;
    let state = tab.follow(&topic).await;
    assert_eq!(state["play"]["failure"], Value::Null);
    // Including the increment of the first move.
    assert!(state["play"]["clocks"]["remaining"]["first"].as_u64() > Some(300_000));
}

/// A USI engine does not play chess, which is no reason to lose.
#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_does_not_play_the_game_interrupts_it() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let other = tab.add_mime(&["usi"]).await;
    let mut players = against(&engine, no_time(), false);
    players["first"] = players["second"].clone();
    players["first"]["engine"] = other;
    let (topic, _) = tab.new_game(game("chess", players)).await;
    let state = tab.follow(&topic).await;
    if state["play"]["status"] != "interrupted" {
        tab.change(&topic, |delta| delta["play"]["status"] == "interrupted").await;
    }
    let state = tab.follow(&topic).await;
    assert_eq!(state["outcome"], Value::Null, "{state}");
    assert_eq!(state["play"]["failure"]["error"]["code"], "unsupported_game", "{state}");
}

/// A search that fails is answered with the reason.
#[tokio::test(flavor = "multi_thread")]
async fn a_hint_is_answered_with_a_move_or_the_failure() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let (topic, _) = tab.new_game(game("chess", against(&engine, clock(), false))).await;
    let hint = |engine: &Value| json!({ "kind": "hint", "game": id_of(&topic), "engine": engine });
    tab.done(hint(&engine)).await;
    let state = tab.follow(&topic).await;
    assert_eq!(state["play"]["hint"]["hint"]["uci"], "a2a3", "{state}");
    let crashing = tab.add_mime(&["crash"]).await;
    let failed = tab.ask(hint(&crashing)).await;
    assert_eq!(failed["category"], "engine", "{failed}");
    let detail = &failed["error"]["context"]["details"][0];
    assert_eq!(detail["line"], "mime: out of thoughts", "{failed}");
    let illegal = tab.add_mime(&["illegal"]).await;
    let failed = tab.ask(hint(&illegal)).await;
    assert_eq!(failed["category"], "engine", "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_illegal_move_loses() {
    let (_server, mut tab, engine) = Fixture::with_engine(&["illegal"]).await;
    let (topic, state) = tab.new_game(game("chess", against(&engine, clock(), false))).await;
    tab.ask(mv(&topic, &state["cursor"], "e4")).await;
    let ended = tab.change(&topic, |delta| delta["outcome_change"]["outcome"].is_object()).await;
    assert_eq!(ended["outcome_change"]["outcome"]["termination"], "illegal-move");
    assert_eq!(ended["outcome_change"]["outcome"]["result"], "1-0");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_moves_come_from_a_book() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().join("books");
    std::fs::create_dir(&root).expect("it is made");
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        std::fs::write(&path, text).expect("it is written");
        path.to_str().expect("it is UTF-8").to_owned()
    };
    let pgn = write("book.pgn", "1. e4 c5 2. Nf3 d6 *\n");
    let epd = write("book.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - id \"a pawn\";\n");
    let sfen = write("book.sfen", "startpos moves 7g7f 3c3d\n");
    let outside = directory.path().join("outside.pgn");
    std::fs::write(&outside, "1. d4 *\n").expect("it is written");
    let data = directory.path().join("data");
    let options = crate::support::Options { roots: vec![root], ..options(&data) };
    let server = Fixture::start_with(options).await;
    let mut tab = server.tab().await;
    let with = |variant: &str, path: &str, plies: u32| {
        let mut new = game(variant, Value::Null);
        new["book"] = json!({ "path": path, "plies": plies });
        new
    };
    let moves = |state: &Value| -> Vec<String> {
        let nodes = state["nodes"].as_array().expect("nodes");
        nodes[1..].iter().map(|node| node["uci"].as_str().unwrap_or("").to_owned()).collect()
    };
    let (_, state) = tab.new_game(with("chess", &pgn, 3)).await;
    assert_eq!(moves(&state), ["e2e4", "c7c5", "g1f3"]);
    assert_eq!(state["position"]["turn"], "second");
    let (_, state) = tab.new_game(with("chess", &epd, 8)).await;
    assert_eq!(state["position"]["text"], "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
    let (_, state) = tab.new_game(with("shogi", &sfen, 8)).await;
    assert_eq!(moves(&state), ["7g7f", "3c3d"]);
    let outside = outside.to_str().expect("it is UTF-8");
    let mut handicap = with("shogi", &sfen, 8);
    handicap["start"] = json!({ "kind": "handicap", "name": "lance" });
    for (new, category) in [
        (with("chess", outside, 8), "invalid_path"),
        (with("chess", "/etc/passwd", 8), "invalid_path"),
        (with("chess", &sfen, 8), "invalid_path"),
        (handicap, "invalid_position"),
    ] {
        let answer = tab.ask(json!({ "kind": "new_game", "game": new })).await;
        assert_eq!(answer["category"], category, "{answer}");
    }
}

/// The outcome of the game after export and import.
async fn exported(server: &Fixture, tab: &mut Tab, game: u32, format: &str) -> Value {
    let text = server.get(&format!("/api/export/{game}?format={format}")).await.text();
    let name = format!("?name=a.{format}&open=true");
    let read = server.import(&name, &text).await.json();
    assert!(read["opened"].is_number(), "{read}: {text}");
    tab.follow(&format!("game/{}", read["opened"])).await["outcome"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn records_of_a_resignation_during_the_engines_turn_name_the_winner() {
    let (server, mut tab, engine) = Fixture::with_engine(&["usi"]).await;
    let (topic, state) = tab.new_game(game("shogi", against(&engine, no_time(), false))).await;
    assert_eq!(tab.ask(mv(&topic, &state["cursor"], "7g7f")).await["kind"], "node");
    // Without a limit, the engine searches until “Move now”.
    tab.change(&topic, |delta| delta["play"]["status"] == "searching").await;
    tab.done(json!({ "kind": "resign", "game": id_of(&topic) })).await;
    let expected = tab.follow(&topic).await["outcome"].clone();
    assert_eq!(
        (&expected["result"], &expected["termination"]),
        (&json!("0-1"), &json!("resignation"))
    );
    for format in ["csa", "kif", "ki2", "jkf"] {
        assert_eq!(exported(&server, &mut tab, id_of(&topic), format).await, expected, "{format}");
    }
    // The outcome is stored with the game.
    let (server, mut tab) = server.restart().await;
    assert_eq!(tab.follow(&topic).await["outcome"], expected);
    assert_eq!(exported(&server, &mut tab, id_of(&topic), "csa").await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn records_of_perpetual_check_name_the_winner() {
    let (server, mut tab) = Fixture::with_tab().await;
    let human = json!({ "kind": "human", "name": "", "time": no_time() });
    let mut setup = game("shogi", json!({ "first": human, "second": human }));
    setup["start"] = json!({ "kind": "text", "text": "5k3/9/9/9/9/9/9/9/K3R4 b - 1" });
    let (topic, state) = tab.new_game(setup).await;
    let mut node = state["cursor"].clone();
    // It ends with the evasion, and the side that gave the checks is to move.
    for text in ["5i4i", "4a5a", "4i5i", "5a4a"].iter().cycle().take(12) {
        let played = tab.ask(mv(&topic, &node, text)).await;
        assert_eq!(played["kind"], "node", "{text}: {played}");
        node = played["node"].clone();
    }
    let expected = tab.follow(&topic).await["outcome"].clone();
    let end = (&expected["result"], &expected["termination"]);
    assert_eq!(end, (&json!("0-1"), &json!("perpetual-check")));
    for format in ["csa", "kif", "ki2", "jkf"] {
        assert_eq!(exported(&server, &mut tab, id_of(&topic), format).await, expected, "{format}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forfeit_has_a_result_and_a_termination() {
    let (server, mut tab) = Fixture::with_tab().await;
    let kif = "手合割：平手\n   1 ７六歩(77)\n   2 不戦敗\nまで1手で後手の不戦敗\n";
    let read = server.import("?name=a.kif&open=true", kif).await.json();
    let outcome = tab.follow(&format!("game/{}", read["opened"])).await["outcome"].clone();
    assert_eq!((&outcome["result"], &outcome["termination"]), (&json!("1-0"), &json!("forfeit")));
}

fn sudden_death(base: u64) -> Value {
    json!({ "kind": "clock", "base": base, "increment": 0, "byoyomi": 0, "moves": null })
}

fn of(kind: &str, game: &Value) -> Value {
    json!({ "kind": kind, "game": game })
}

/// Starts a game and resigns. Returns its number.
async fn lost(tab: &mut Tab, new: Value) -> Value {
    let (topic, _) = tab.new_game(new).await;
    let game = json!(id_of(&topic));
    tab.done(of("resign", &game)).await;
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
async fn a_rematch_swaps_sides_and_keeps_the_settings() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let mut players = against(&engine, sudden_death(60_000), true);
    players["first"]["time"] = sudden_death(300_000);
    players["second"]["limits"] = json!({ "depth": 3, "nodes": null, "time": null, "mate": null });
    players["second"]["strength"] = json!({ "value": 5 });
    players["second"]["options"] = json!({ "Hash": "32" });
    let mut new = game("chess", players.clone());
    new["start"] = json!({ "kind": "text", "text": "position startpos moves d2d4 d7d5" });
    let (topic, before) = tab.new_game(new).await;
    assert_eq!(before["play"]["rematch"], Value::Null);
    let first = json!(id_of(&topic));
    let early = tab.ask(of("rematch", &first)).await;
    assert_eq!(early["error"]["code"], "game_not_over", "{early}");
    tab.ask(of("resign", &first)).await;
    let ended = tab.change(&topic, |delta| delta["play"]["status"] == "over").await;
    assert_eq!(ended["play"]["rematch"], json!({ "kind": "open", "swapped": true }));

    let next = rematch(&mut tab, &first).await;
    assert_eq!(next["nodes"][2]["uci"], "d7d5");
    let slots = &next["play"]["players"];
    assert_eq!(
        (&slots["first"]["player"], &slots["second"]["player"]),
        (&players["second"], &players["first"])
    );
    let left = next["play"]["clocks"]["remaining"]["second"].as_i64();
    assert!(left.is_some_and(|left| 60_000 < left), "{next}");
    // The engine plays the first move.
    let topic = format!("game/{}", next["id"]);
    if next["play"]["status"] != "your_turn" {
        tab.change(&topic, |delta| delta["play"]["status"] == "your_turn").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rematch_keeps_the_handicap() {
    let (_server, mut tab, engine) = Fixture::with_engine(&["usi"]).await;
    let players = against(&engine, json!({ "kind": "none" }), false);
    let mut new = game("shogi", players.clone());
    new["start"] = json!({ "kind": "handicap", "name": "lance" });
    let first = lost(&mut tab, new).await;
    let before = state(&mut tab, &first).await;
    assert_eq!(before["play"]["rematch"], json!({ "kind": "open", "swapped": false }));
    let next = rematch(&mut tab, &first).await;
    assert_eq!(next["start"], before["start"]);
    assert_eq!(next["play"]["players"]["first"]["player"], players["first"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_one_rematch_until_it_is_deleted() {
    let server = Fixture::start().await;
    let (mut one, mut two) = (server.tab().await, server.tab().await);
    let engine = one.add_mime(&[]).await;
    let new = game("chess", against(&engine, sudden_death(60_000), false));
    let first = lost(&mut one, new).await;
    let topic = format!("game/{first}");
    two.follow(&topic).await;
    let next = rematch(&mut one, &first).await["id"].clone();
    let begun = json!({ "kind": "begun", "game": next });
    two.change(&topic, |delta| delta["play"]["rematch"] == begun).await;
    assert_eq!(rematch(&mut two, &first).await["id"], next);

    // It is known after a restart. A deletion is known to a closed game as well.
    let (_server, mut tab) = server.restart().await;
    assert_eq!(state(&mut tab, &first).await["play"]["rematch"], begun);
    tab.ask(of("delete_game", &next)).await;
    let open = json!({ "kind": "open", "swapped": true });
    tab.change(&topic, |delta| delta["play"]["rematch"] == open).await;
    let next = rematch(&mut tab, &first).await["id"].clone();
    tab.ask(of("close_game", &first)).await;
    tab.ask(of("delete_game", &next)).await;
    tab.ask(of("open_game", &first)).await;
    assert_eq!(state(&mut tab, &first).await["play"]["rematch"], open);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_opening_of_a_rematch_comes_from_the_same_book() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let book = server.data.join("book.pgn");
    std::fs::write(&book, "1. e4 c5 2. Nf3 d6 *\n").expect("it is written");
    let mut new = game("chess", against(&engine, sudden_death(60_000), false));
    new["book"] = json!({ "path": book, "plies": 2 });
    let first = lost(&mut tab, new).await;
    let next = rematch(&mut tab, &first).await;
    assert_eq!(next["nodes"][2]["uci"], "c7c5");
    std::fs::remove_file(&book).expect("it is there");
    tab.ask(of("delete_game", &next["id"])).await;
    assert_eq!(tab.ask(of("rematch", &first)).await["category"], "invalid_path");
}
