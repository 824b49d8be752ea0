//! The library: sorting, explorer, labels, duplicates, collections, deletion with undo, export of many games, import of files.

use serde_json::{Value, json};

use crate::support::{Fixture, export, post};

const GAMES: &str = "[White \"Ada\"]\n[Black \"Babbage\"]\n[WhiteElo \"2000\"]\n[BlackElo \"2100\"]\n\
    [Date \"1843.07.10\"]\n[Result \"1-0\"]\n\n1. e4 c5 2. Nf3 1-0\n\n\
    [White \"Carol\"]\n[Black \"Ada\"]\n[Date \"1850.??.??\"]\n[Result \"1/2-1/2\"]\n\n1. Nf3 c5 2. e4 d6 1/2-1/2\n\n\
    [White \"Dora\"]\n[Black \"Emil\"]\n[Result \"*\"]\n\n1. d4 *\n";

/// The position after 1. e4 c5 2. Nf3.
const SICILIAN: &str = "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";

async fn import(server: &Fixture, query: &str, text: &str) -> Value {
    server.import(&format!("?name=a.pgn{query}"), text).await.json()
}

async fn search(server: &Fixture, query: &Value) -> Value {
    server.search(query).await.json()
}

/// The names of the first players.
async fn first_players(server: &Fixture, query: Value) -> Vec<String> {
    let page = search(server, &query).await;
    let games = page["games"].as_array().expect("games");
    games
        .iter()
        .map(|game| game["names"]["first"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn games_are_sorted_by_columns() {
    let server = Fixture::start().await;
    assert_eq!(import(&server, "", GAMES).await["total"], 3);
    let sorted = |sort: &str, ascending: bool| {
        first_players(&server, json!({ "sort": sort, "ascending": ascending }))
    };
    assert_eq!(sorted("changed", false).await, ["Dora", "Carol", "Ada"]);
    assert_eq!(sorted("first", true).await, ["Ada", "Carol", "Dora"]);
    assert_eq!(sorted("plies", false).await, ["Carol", "Ada", "Dora"]);
    assert_eq!(sorted("date", true).await, ["Dora", "Ada", "Carol"]);
    let page = search(&server, &json!({ "player": "carol" })).await;
    let game = &page["games"][0];
    assert_eq!((&game["date"], &game["result"]), (&json!("1850"), &json!("1/2-1/2")));
    assert_eq!(
        first_players(&server, json!({ "player": "ada", "side": "second" })).await,
        ["Carol"]
    );
    assert_eq!(first_players(&server, json!({ "min_rating": 2000 })).await, ["Ada"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_explorer_counts_transpositions_and_closed_games() {
    let server = Fixture::start().await;
    import(&server, "", GAMES).await;
    let explore = |position: &'static str, filter: Value| {
        let source = json!({ "kind": "library", "filter": filter });
        let query = json!({ "variant": "chess", "position": position, "source": source });
        let server = &server;
        async move { post(server, "/api/explorer", &query).await }
    };
    let found = explore(SICILIAN, json!({})).await;
    assert_eq!(
        (&found["kind"], &found["counts"]["first"]),
        (&json!("library"), &json!(1)),
        "{found}"
    );
    assert_eq!(found["counts"]["draws"], 1);
    assert_eq!(found["games"].as_array().map(Vec::len), Some(2));
    let moves = found["moves"].as_array().expect("moves");
    assert_eq!(
        (moves.len(), &moves[0]["uci"], &moves[0]["text"]["western"]),
        (1, &json!("d7d6"), &json!("d6"))
    );
    assert_eq!(moves[0]["last_played"], "1850");
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let found = explore(start, json!({ "player": "babbage" })).await;
    assert_eq!(found["moves"][0]["uci"], "e2e4", "{found}");
    assert_eq!(
        (&found["moves"][0]["rating"], &found["moves"][0]["performance"]),
        (&json!(2000.0), &json!(2500.0))
    );
    // An open game is found with its changes after it is closed.
    let page = search(&server, &json!({ "player": "dora" })).await;
    let id = &page["games"][0]["id"];
    let mut tab = server.tab().await;
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": id })).await["kind"], "game");
    let mv = json!({ "kind": "move", "game": id, "node": 1, "text": "d5" });
    assert_eq!(tab.ask(mv).await["kind"], "node");
    tab.done(json!({ "kind": "close_game", "game": id })).await;
    let found =
        explore("rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1", json!({})).await;
    assert_eq!(found["moves"][0]["uci"], "d7d5", "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicates_are_skipped_or_kept_and_listed() {
    let server = Fixture::start().await;
    assert_eq!(import(&server, "", GAMES).await["total"], 3);
    let again = import(&server, "", GAMES).await;
    assert_eq!((&again["total"], &again["duplicates"]), (&json!(0), &json!(3)), "{again}");
    let kept = import(&server, "&duplicates=keep", GAMES).await;
    assert_eq!((&kept["total"], &kept["duplicates"]), (&json!(3), &json!(0)), "{kept}");
    let found = post(&server, "/api/library/duplicates", &json!({})).await;
    assert_eq!((&found["total"], &found["surplus"]), (&json!(3), &json!(3)), "{found}");
    let group = &found["groups"][0];
    assert_eq!(group["games"].as_array().map(Vec::len), Some(2));
    assert_eq!((&group["games"][0]["id"], &group["beginnings"]), (&json!(1), &json!([])));
}

/// Another program has added annotations to a file that is open here.
#[tokio::test(flavor = "multi_thread")]
async fn an_import_does_not_replace_an_open_game() {
    let (server, mut tab) = Fixture::with_tab().await;
    let headers = "[Event \"A\"]\n[Site \"B\"]\n[White \"Ada\"]\n[Black \"Bob\"]\n\n";
    let imported = import(&server, "", &format!("{headers}1. e4 e5 2. Nf3 *\n")).await;
    let game = imported["games"][0]["id"].clone();
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": game })).await["kind"], "game");
    let comment = json!({ "kind": "comment", "node": 1, "comments": ["mine"] });
    tab.done(json!({ "kind": "edit", "game": game, "edit": comment })).await;
    let changed = format!("{headers}1. e4 {{theirs, and longer}} e5 $1 2. Nf3 $3 *\n");
    let text = async || server.get(&format!("/api/export/{game}?format=pgn")).await.text();

    // Without a replacement, both versions remain.
    let skipped = import(&server, "", &changed).await;
    assert_eq!(skipped["total"], 1, "{skipped}");
    let other = search(&server, &json!({})).await["games"].as_array().expect("games").len();
    assert_eq!(other, 2);
    let of = json!({ "kind": "filter", "filter": {} });
    let all = export(&server, &of, "pgn").await.text();
    assert!(all.contains("mine") && all.contains("theirs"), "{all}");

    let id = json!({ "kind": "games", "games": [game.as_u64().expect("a number") + 1] });
    assert_eq!(tab.ask(json!({ "kind": "delete_games", "of": id })).await["count"], 1);
    let replaced = import(&server, "&duplicates=replace", &changed).await;
    assert_eq!((&replaced["total"], &replaced["undecided"]), (&json!(0), &json!(1)), "{replaced}");
    let decide = json!({ "kind": "decide_duplicates", "games": null, "decision": "replace" });
    let kept = tab.ask(decide.clone()).await;
    assert_eq!(kept["error"]["code"], "open_game_not_replaced", "{kept}");
    assert!(text().await.contains("mine"), "it is open");
    let waiting = post(&server, "/api/library/undecided", &json!({})).await;
    assert_eq!(waiting["total"], 1, "{waiting}");
    tab.done(json!({ "kind": "close_game", "game": game })).await;
    assert!(text().await.contains("mine"), "its changes are in the library");
    tab.done(decide).await;
    let text = text().await;
    assert!(text.contains("theirs") && !text.contains("mine"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_games_are_restored_with_their_labels() {
    let server = Fixture::start().await;
    import(&server, "", GAMES).await;
    let mut tab = server.tab().await;
    let ada = json!({ "kind": "filter", "filter": { "player": "ada" } });
    let label = json!({ "kind": "set_label", "of": ada, "label": "study", "set": true });
    tab.done(label).await;
    let page = search(&server, &json!({ "label": "study" })).await;
    assert_eq!((&page["total"], &page["games"][0]["labels"]), (&json!(2), &json!(["study"])));
    assert_eq!(page["labels"], json!([{ "label": "study", "games": 2 }]));
    // One of them is open.
    let id = &page["games"][0]["id"];
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": id })).await["kind"], "game");
    let deleted = tab.ask(json!({ "kind": "delete_games", "of": ada })).await;
    assert_eq!((&deleted["count"], &deleted["restorable"]), (&json!(2), &json!(true)), "{deleted}");
    assert_eq!(first_players(&server, json!({})).await, ["Dora"]);
    assert_eq!(tab.follow("games").await["games"], json!([]));
    assert_eq!(tab.ask(json!({ "kind": "restore_games" })).await["count"], 2);
    assert_eq!(search(&server, &json!({ "label": "study" })).await["total"], 2);
    assert_eq!(tab.ask(json!({ "kind": "restore_games" })).await["count"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn selections_are_exported_and_read_back() {
    let server = Fixture::start().await;
    import(&server, "", GAMES).await;
    let all = export(&server, &json!({ "kind": "filter", "filter": {} }), "pgn").await;
    assert_eq!(all.status, 200, "{}", all.text());
    let again = import(&server, "", &all.text()).await;
    assert_eq!((&again["total"], &again["duplicates"]), (&json!(0), &json!(3)), "{again}");
    let id = &search(&server, &json!({ "player": "carol" })).await["games"][0]["id"];
    let one = export(&server, &json!({ "kind": "games", "games": [id] }), "pgn").await.text();
    assert!(one.contains("Carol") && !one.contains("Dora"), "{one}");
    // No game of chess can be written as KIF.
    let none = export(&server, &json!({ "kind": "filter", "filter": {} }), "kif").await;
    assert_eq!((none.status, none.text()), (200, String::new()));
    let wrong = server.get("/api/export?of=rubbish&format=pgn").await;
    assert_eq!(wrong.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_imported_as_a_job_with_progress() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().canonicalize().expect("a path").join("games.pgn");
    let text = (0..600).map(|number| format!("[White \"Ada {number}\"]\n\n1. e4 zz e5 *\n\n"));
    std::fs::write(&file, text.collect::<String>()).expect("a file");
    let root = file.parent().expect("a directory").to_owned();
    let server = Fixture::start_as(|options| options.roots.push(root)).await;
    let mut tab = server.tab().await;
    tab.follow("jobs").await;
    let begun = tab.ask(json!({ "kind": "import_directory", "path": file })).await;
    assert_eq!(begun["kind"], "job", "{begun}");
    let job = tab.change("jobs", |delta| delta["changed"][0]["status"] == "done").await;
    let job = &job["changed"][0];
    assert_eq!((&job["games"], &job["files"]), (&json!(600), &json!(1)), "{job}");
    assert_eq!(job["bytes"], job["total_bytes"]);
    assert_eq!(job["notices"].as_array().map(Vec::len), Some(20));
    assert_eq!(search(&server, &json!({})).await["total"], 600);
}

/// A study as Lichess exports it, with a game that another file has too.
const STUDY: &str = "[Event \"Rooks: Lucena\"]\n[Site \"https://lichess.org/study/a/b\"]\n\
    [StudyName \"Rooks\"]\n[ChapterName \"Lucena\"]\n\n1. e4 e5 *\n\n\
    [White \"Ada\"]\n[Black \"Babbage\"]\n[Result \"1-0\"]\n\n1. e4 c5 2. Nf3 1-0\n\n\
    [Event \"Rooks: Philidor\"]\n[Site \"https://lichess.org/study/a/c\"]\n\n1. d4 d5 *\n";

/// The names of the chapters of a collection.
async fn chapters(server: &Fixture, collection: &Value) -> Vec<String> {
    let body = json!({ "collection": collection });
    let found = post(server, "/api/library/chapters", &body).await;
    let chapters = found["chapters"].as_array().expect("chapters");
    assert_eq!(found["collection"]["chapters"], chapters.len());
    chapters.iter().map(|chapter| chapter["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_becomes_a_collection_and_a_file_again() {
    let server = Fixture::start().await;
    let known = "[White \"Ada\"]\n[Black \"Babbage\"]\n[Result \"1-0\"]\n\n1. e4 c5 2. Nf3 1-0\n";
    let imported = import(&server, "", known).await;
    assert_eq!((&imported["total"], &imported["collection"]), (&json!(1), &Value::Null));
    let imported = import(&server, "", STUDY).await;
    assert_eq!((&imported["total"], &imported["duplicates"]), (&json!(2), &json!(1)), "{imported}");
    let file = &imported["collection"];
    assert_eq!(file, &json!({ "id": null, "name": "Rooks", "games": [2, 1, 3] }));
    let mut tab = server.tab().await;
    let edit = |edit: Value| json!({ "kind": "edit_collection", "edit": edit });
    let of = json!({ "kind": "games", "games": file["games"] });
    let create = edit(json!({ "kind": "create", "name": file["name"], "of": of }));
    let created = tab.ask(create).await;
    assert_eq!(created["kind"], "collection", "{created}");
    let id = &created["id"];
    assert_eq!(chapters(&server, id).await, ["Lucena", "Ada – Babbage", "Philidor"]);
    let list = post(&server, "/api/library/collections", &json!({})).await;
    assert_eq!(list["collections"][0]["name"], "Rooks", "{list}");

    let body = json!({ "collection": id });
    let found = post(&server, "/api/library/chapters", &body).await;
    let last = &found["chapters"][2]["id"];
    tab.ask(edit(json!({ "kind": "move_chapter", "chapter": last, "place": 0 }))).await;
    tab.ask(edit(json!({ "kind": "rename_chapter", "chapter": last, "name": "Defence" }))).await;
    tab.ask(edit(json!({ "kind": "rename", "collection": id, "name": "Rook endings" }))).await;
    let expected = ["Defence", "Lucena", "Ada – Babbage"];
    assert_eq!(chapters(&server, id).await, expected);
    let exported = export(&server, &json!({ "kind": "collection", "id": id }), "pgn").await;
    let text = exported.text();
    assert_eq!(text.matches("[StudyName \"Rook endings\"]").count(), 3, "{text}");
    let other = Fixture::start().await;
    let again = import(&other, "", &text).await;
    assert_eq!(
        again["collection"],
        json!({ "id": null, "name": "Rook endings", "games": [1, 2, 3] })
    );
    let of = json!({ "kind": "games", "games": [1, 2, 3] });
    let create = edit(json!({ "kind": "create", "name": "Rook endings", "of": of }));
    let copy = other.tab().await.ask(create).await;
    assert_eq!(chapters(&other, &copy["id"]).await, expected);
    let all = json!({ "kind": "collection", "id": copy["id"] });
    assert_eq!(export(&other, &all, "pgn").await.text(), text);
    other.stop().await;
}

/// Formats of shogi with headers have the names as well.
#[tokio::test(flavor = "multi_thread")]
async fn names_of_chapters_are_headers_of_shogi_records() {
    let server = Fixture::start().await;
    let text = "position startpos moves 7g7f\nposition startpos moves 2g2f\n";
    let imported = server.import("?name=moves.usi", text).await.json();
    let file = &imported["collection"];
    assert_eq!(file, &json!({ "id": null, "name": "moves", "games": [1, 2] }), "{imported}");
    let of = json!({ "kind": "games", "games": [2, 1] });
    let create = json!({ "kind": "create", "name": "m", "of": of });
    let mut tab = server.tab().await;
    let created = tab.ask(json!({ "kind": "edit_collection", "edit": create })).await;
    let names = chapters(&server, &created["id"]).await;
    for format in ["kif", "ki2", "jkf"] {
        let of = json!({ "kind": "collection", "id": created["id"] });
        let text = export(&server, &of, format).await.text();
        let other = Fixture::start().await;
        let again = other.import(&format!("?name=a.{format}"), &text).await.json();
        assert_eq!(again["collection"]["name"], "m", "{format}: {text}");
        let of = json!({ "kind": "games", "games": again["collection"]["games"] });
        let create = json!({ "kind": "create", "name": "m", "of": of });
        let create = json!({ "kind": "edit_collection", "edit": create });
        let copy = other.tab().await.ask(create).await;
        assert_eq!(chapters(&other, &copy["id"]).await, names, "{format}: {text}");
        other.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_games_leave_collections_until_they_are_restored() {
    let server = Fixture::start().await;
    import(&server, "", GAMES).await;
    let mut tab = server.tab().await;
    let edit = |edit: Value| json!({ "kind": "edit_collection", "edit": edit });
    let all = json!({ "kind": "filter", "filter": {} });
    let mut ids = Vec::new();
    for name in ["A", "B"] {
        let create = edit(json!({ "kind": "create", "name": name, "of": all }));
        ids.push(tab.ask(create).await["id"].clone());
    }
    let none = json!({ "kind": "games", "games": [] });
    tab.ask(edit(json!({ "kind": "create", "name": "C", "of": none }))).await;
    let before = chapters(&server, &ids[0]).await;
    assert_eq!(before.len(), 3);
    let carol = json!({ "kind": "games", "games": [2] });
    let deleted = tab.ask(json!({ "kind": "delete_games", "of": carol })).await;
    assert_eq!((&deleted["count"], &deleted["collections"]), (&json!(1), &json!(2)), "{deleted}");
    assert_eq!(chapters(&server, &ids[0]).await, [&*before[0], &*before[2]]);
    tab.ask(json!({ "kind": "restore_games" })).await;
    for id in &ids {
        assert_eq!(chapters(&server, id).await, before);
    }
    let deleted = tab.ask(json!({ "kind": "delete_game", "game": 1 })).await;
    assert_eq!((&deleted["count"], &deleted["collections"]), (&json!(1), &json!(2)), "{deleted}");
    // The games of a deleted collection remain.
    tab.ask(edit(json!({ "kind": "delete", "collection": ids[0] }))).await;
    let gone = post(&server, "/api/library/chapters", &json!({ "collection": ids[0] })).await;
    assert_eq!(
        (&gone["category"], &gone["error"]["subject"]),
        (&json!("not_found"), &json!("collection"))
    );
    assert_eq!(search(&server, &json!({})).await["total"], 2);
    let rename = edit(json!({ "kind": "rename", "collection": ids[1], "name": " " }));
    let error = tab.ask(rename).await;
    assert_eq!(error["error"]["subject"], "collection_name", "{error}");
}
