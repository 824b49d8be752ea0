//! Exercises with spaced repetition.

use serde_json::{Value, json};

use crate::analysis::reported;
use crate::support::{Fixture, options};

const LADDER: &str = "[FEN \"7k/8/8/8/8/8/R7/1R5K w - - 0 1\"]\n[Event \"Ladder\"]\n\n\
    1. Ra7 Kg8 2. Rb8# *\n";

/// Of the set of own mistakes.
async fn training(server: &Fixture) -> Value {
    training_of(server, json!({})).await
}

async fn training_of(server: &Fixture, query: Value) -> Value {
    let query = query.to_string();
    let answer = server.post("/api/training", "application/json", query.as_bytes()).await;
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
    let set = imported["set"].clone();
    let of_set = json!({ "set": set });
    let view = training_of(&server, of_set.clone()).await;
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
    let view = training_of(&server, of_set.clone()).await;
    assert_eq!(view["queue"], json!([]));
    assert_eq!((&view["stats"]["today"], &view["stats"]["solved"]), (&json!(1), &json!(1)));
    assert_eq!(view["exercises"][0]["due"], graded["due"]);
    let mut tab = server.tab().await;
    tab.ask(json!({ "kind": "delete_exercises", "ids": [id] })).await;
    assert_eq!(training_of(&server, of_set.clone()).await["total"], 0);
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

const STUDY: &str = "[Event \"Queen's Gambit\"]\n\n1. d4 d5 2. c4 e6 3. Nc3! Nf6 4. Bg5 *\n\n\
    [Event \"By c4\"]\n\n1. c4 e6 2. Nc3 d5 3. d4 Nf6 (3... c5 4. cxd5!) 4. Nf3 (4. e4?) *\n";

/// Imports a study as a collection.
async fn study(server: &Fixture, tab: &mut crate::support::Tab, text: &str) -> (Value, Vec<Value>) {
    let imported = server
        .post("/api/import?name=a.pgn", "application/octet-stream", text.as_bytes())
        .await
        .json();
    let games: Vec<Value> =
        imported["games"].as_array().expect("games").iter().map(|it| it["id"].clone()).collect();
    let of = json!({ "kind": "games", "games": games });
    let edit = json!({ "kind": "create", "name": "Openings", "of": of });
    let collection = tab.ask(json!({ "kind": "edit_collection", "edit": edit })).await;
    (collection["id"].clone(), games)
}

fn repertoire(of: &Value, side: &str, marks: &[u8]) -> Value {
    let of = json!({ "kind": "collection", "id": of });
    json!({ "kind": "make_repertoire", "of": of, "name": format!("{side} {marks:?}"), "side": side, "marks": marks })
}

fn names(view: &Value) -> Vec<(String, u64)> {
    let chapters = view["chapters"].as_array().expect("chapters").iter();
    chapters
        .map(|it| {
            (it["name"].as_str().unwrap_or_default().to_owned(), it["total"].as_u64().unwrap_or(99))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repertoire_is_made_of_a_study_and_follows_it() {
    let (server, mut tab) = Fixture::with_tab().await;
    let (collection, games) = study(&server, &mut tab, STUDY).await;
    let made = tab.ask(repertoire(&collection, "first", &[])).await;
    // Both chapters have the start position, and the one after 3… Nf6.
    assert_eq!(made["added"], 7, "{made}");
    let of_set = json!({ "set": made["set"] });
    let view = training_of(&server, of_set.clone()).await;
    assert_eq!(names(&view), [("Queen's Gambit".to_owned(), 4), ("By c4".to_owned(), 3)], "{view}");
    let set = &view["sets"][1];
    assert_eq!(
        (&set["kind"], &set["side"], &set["linked"]),
        (&json!("repertoire"), &json!("first"), &json!(true))
    );
    assert_eq!((&set["variant"], &set["total"]), (&json!("chess"), &json!(7)));

    // The transposition: both moves are right, another one is not.
    let open = |id: &Value| json!({ "kind": "open_exercise", "id": id });
    let attempt = |id: &Value, text: &str| json!({ "kind": "try_exercise", "id": id, "moves": [], "text": text });
    let id = view["queue"][3]["id"].clone();
    let opened = tab.ask(open(&id)).await;
    let line: Vec<_> = opened["line"]["moves"]
        .as_array()
        .expect("moves")
        .iter()
        .map(|it| it["text"]["western"].as_str())
        .collect();
    assert_eq!(line, ["d4", "d5", "c4", "e6", "Nc3", "Nf6"].map(Some), "{opened}");
    assert_eq!(
        (&opened["line"]["first_number"], &opened["before"]["turn"]),
        (&json!(1), &json!("second"))
    );
    for (mv, right) in [("Bg5", true), ("Nf3", true), ("e4", false), ("a3", false)] {
        let tried = tab.ask(attempt(&id, mv)).await;
        assert_eq!(
            (&tried["attempt"]["right"], &tried["attempt"]["solved"]),
            (&json!(right), &json!(right)),
            "{mv}"
        );
    }
    let solution = tab.ask(json!({ "kind": "solve_exercise", "id": id, "moves": [] })).await;
    assert_eq!(solution["line"][0]["text"]["western"], "Bg5", "{solution}");
    tab.ask(json!({ "kind": "grade_exercise", "id": id, "grade": "easy" })).await;

    // The study is edited: a new move, and the second chapter is removed.
    let game = games[0].clone();
    tab.ask(json!({ "kind": "open_game", "game": game })).await;
    let state = tab.follow(&format!("game/{game}")).await;
    let last =
        state["nodes"].as_array().and_then(|nodes| nodes.last()).expect("nodes")["id"].clone();
    let insert =
        json!({ "kind": "insert", "node": last, "moves": ["f8e7", "e2e3"], "evaluation": null });
    let edited = tab.ask(json!({ "kind": "edit", "game": game, "edit": insert })).await;
    assert_eq!(edited["kind"], "node", "{edited}");
    let view = training_of(&server, of_set.clone()).await;
    assert_eq!(names(&view)[0].1, 5, "{view}");
    assert_eq!(view["stats"]["learning"], 1, "the review is kept");
    let query = json!({ "collection": collection });
    let chapters = server
        .post("/api/library/chapters", "application/json", query.to_string().as_bytes())
        .await
        .json();
    let edit = json!({ "kind": "remove_chapter", "chapter": chapters["chapters"][1]["id"] });
    tab.ask(json!({ "kind": "edit_collection", "edit": edit })).await;
    let view = training_of(&server, of_set.clone()).await;
    assert_eq!((names(&view).len(), &view["total"]), (1, &json!(5)), "{view}");
    assert_eq!(view["stats"]["learning"], 1);
    // Without the study, the repertoire remains.
    tab.ask(json!({ "kind": "edit_collection", "edit": { "kind": "delete", "collection": collection } })).await;
    assert_eq!(training_of(&server, of_set.clone()).await["total"], 5);

    tab.done(json!({ "kind": "rename_training_set", "set": made["set"], "name": " Gambit " }))
        .await;
    assert_eq!(training(&server).await["sets"][1]["name"], "Gambit");
    tab.done(json!({ "kind": "delete_training_set", "set": made["set"] })).await;
    let gone =
        server.post("/api/training", "application/json", of_set.to_string().as_bytes()).await;
    assert_eq!(gone.status, 404, "{}", gone.text());
    let own = tab.ask(json!({ "kind": "delete_training_set", "set": 0 })).await;
    assert_eq!(own["category"], "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_marked_moves_of_a_study_are_trained() {
    let (server, mut tab) = Fixture::with_tab().await;
    let (collection, _) = study(&server, &mut tab, STUDY).await;
    let made = tab.ask(repertoire(&collection, "first", &[1, 3, 5])).await;
    assert_eq!(made["added"], 2, "{made}");
    let view = training_of(&server, json!({ "set": made["set"] })).await;
    assert_eq!(view["sets"][1]["marks"], json!([1, 3, 5]));
    let none = tab.ask(repertoire(&collection, "second", &[1])).await;
    assert_eq!(none["error"]["code"], "no_repertoire_moves", "{none}");
}

#[tokio::test(flavor = "multi_thread")]
async fn joseki_are_trained_out_of_a_file() {
    let (server, mut tab) = Fixture::with_tab().await;
    let kif = "手合割：平手\n先手：A\n後手：B\n手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ６六歩(67)\n   4 ８四歩(83)\n   5 ６八飛(28)\n";
    let import =
        |marks: &str| format!("/api/training/import?name=shikenbisha.kif&side=first&marks={marks}");
    let imported =
        server.post(&import(""), "application/octet-stream", kif.as_bytes()).await.json();
    assert_eq!(
        (&imported["added"], &imported["total_errors"]),
        (&json!(3), &json!(0)),
        "{imported}"
    );
    let view = training_of(&server, json!({ "set": imported["set"], "limit": 1 })).await;
    let set = &view["sets"][1];
    assert_eq!((&set["name"], &set["variant"]), (&json!("shikenbisha"), &json!("shogi")), "{view}");
    assert_eq!(view["exercises"][0]["line"]["moves"], json!([]));
    let id = view["queue"][2]["id"].clone();
    let opened = tab.ask(json!({ "kind": "open_exercise", "id": id })).await;
    assert_eq!(opened["line"]["moves"][3]["text"]["japanese"], "△８四歩", "{opened}");
    let attempt = json!({ "kind": "try_exercise", "id": id, "moves": [], "text": "６八飛" });
    assert_eq!(tab.ask(attempt).await["attempt"]["solved"], true);
    // The file again, without its last move.
    let shorter = kif.replace("   5 ６八飛(28)\n", "");
    let imported =
        server.post(&import(""), "application/octet-stream", shorter.as_bytes()).await.json();
    let counts = ["added", "known", "removed"].map(|name| imported[name].as_u64());
    assert_eq!(counts, [0, 2, 1].map(Some), "{imported}");
}

/// Each row is a problem of its own, with a pawn on another square.
fn row(number: usize, rating: &str, themes: &str) -> String {
    let rank = |own: usize| if own == number { "P7" } else { "8" };
    let middle = (0..6).map(rank).collect::<Vec<_>>().join("/");
    format!(
        "p{number},7k/{middle}/7K b - - 0 1,h8h7 h1h2 h7h8 h2h1,{rating},80,95,100,{themes},https://lichess.org/x,\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn problems_of_csv_have_themes_and_ratings() {
    let (server, mut tab) = Fixture::with_tab().await;
    let header =
        "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n";
    let text = [
        header,
        &row(1, "1200", "endgame short"),
        "bad,8/8 w - - 0 1,e2e4 e7e5,1500,,,,,,\n",
        &row(2, "1400", "endgame quiet"),
        &row(3, "1600", "endgame short"),
        "illegal,7k/8/8/8/8/8/8/7K b - - 0 1,h8h7 h1h3,1500,,,,,,\n",
    ]
    .concat();
    let imported = import(&server, "lichess_db_puzzle.csv", &text).await;
    assert_eq!(
        (&imported["added"], &imported["total_errors"]),
        (&json!(3), &json!(2)),
        "{imported}"
    );
    let lines: Vec<_> = imported["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|it| it["context"]["line"].as_u64())
        .collect();
    assert_eq!(lines, [3, 6].map(Some), "{imported}");
    let set = imported["set"].clone();
    let view = training_of(&server, json!({ "set": set })).await;
    assert_eq!(view["themes"][0], json!({ "theme": "endgame", "count": 3 }), "{view}");
    assert_eq!(
        (&view["ratings"], &view["sets"][1]["name"]),
        (&json!([1200, 1600]), &json!("lichess_db_puzzle"))
    );
    let filter = json!({ "set": set, "themes": ["short"], "min_rating": 1300, "max_rating": 2000 });
    let view = training_of(&server, filter.clone()).await;
    assert_eq!((&view["total"], &view["queue"][0]["rating"]), (&json!(1), &json!(1600)), "{view}");

    // The move of the opponent leads to the position.
    let id = view["queue"][0]["id"].clone();
    let opened = tab.ask(json!({ "kind": "open_exercise", "id": id })).await;
    assert_eq!(opened["line"]["moves"][0]["text"]["western"], "Kh7", "{opened}");
    assert_eq!(
        (&opened["position"]["turn"], &opened["position"]["last"]["to"]),
        (&json!("first"), &json!("h7"))
    );
    let attempt = |moves: &[&str], text: &str| json!({ "kind": "try_exercise", "id": id, "moves": moves, "text": text });
    let first = tab.ask(attempt(&[], "Kh2")).await;
    assert_eq!(first["attempt"]["reply"]["uci"], "h7h8", "{first}");
    assert_eq!(tab.ask(attempt(&[], "Kg1")).await["attempt"]["right"], false);
    assert_eq!(tab.ask(attempt(&["h1h2", "h7h8"], "Kh1")).await["attempt"]["solved"], true);
    tab.ask(json!({ "kind": "grade_exercise", "id": id, "grade": "good" })).await;
    let view = training_of(&server, filter).await;
    assert_eq!((&view["queue"], &view["stats"]["learning"]), (&json!([]), &json!(1)), "{view}");
    let directory = server.stop().await.expect("a directory");

    let server = Fixture::start_with(options(directory.path())).await;
    let again = import(&server, "lichess_db_puzzle.csv", &text).await;
    assert_eq!(
        (&again["set"], &again["added"], &again["known"]),
        (&set, &json!(0), &json!(3)),
        "{again}"
    );
}
