//! Records: import, export, search, and jobs on many games.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{Fixture, Options, Tab, against, game, id_of, options};

const PGN: &str = "[Event \"Club\"]\n[White \"Ada\"]\n[Black \"Babbage\"]\n[Date \"1843.07.10\"]\n\
    [Result \"0-1\"]\n\n1. f3 {weak} e5 2. g4?? Qh4# 0-1\n\n\
    [White \"Carol\"]\n[Black \"Ada\"]\n[Result \"*\"]\n\n1. e4 c5 (1... e5 2. Nf3) 2. Nf3 *\n";

#[tokio::test(flavor = "multi_thread")]
async fn games_are_found_by_their_properties() {
    let server = Fixture::start().await;
    let read = server.import("?name=a.pgn", PGN).await;
    let read = read.json();
    assert_eq!((&read["total"], &read["errors"]), (&json!(2), &json!([])), "{read}");
    for (query, total) in [
        (json!({}), 2),
        (json!({ "player": "ada" }), 2),
        (json!({ "player": "babb" }), 1),
        (json!({ "player": "%" }), 0),
        (json!({ "result": "0-1" }), 1),
        (json!({ "opening": "e4 c5" }), 1),
        (json!({ "opening": "1. e4 e5" }), 0),
        (json!({ "opening": "1.e4 c5 2.Nf3" }), 1),
        (json!({ "position": "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 7 9" }), 1),
        (json!({ "from": "1843-01-01", "until": "1843-12-31" }), 1),
        (json!({ "from": "1843", "until": "1843-07" }), 1),
        (json!({ "from": "1843-08" }), 0),
        (json!({ "variant": "shogi" }), 0),
        (json!({ "player": "'; DROP TABLE game; --" }), 0),
    ] {
        let page = server.search(&query).await;
        assert_eq!(page.json()["total"], total, "{query}: {}", page.text());
    }
    // An invalid condition is not ignored.
    let page = server.search(&json!({ "from": "soon" })).await;
    assert_eq!((page.status, page.json()["category"].clone()), (400, json!("invalid_request")));
    let page = server.search(&json!({ "opening": "e5" })).await;
    assert_eq!((page.status, page.json()["category"].clone()), (400, json!("illegal_move")));
}

/// The number of found games.
async fn total_found(server: &Fixture, query: &Value) -> Value {
    let page = server.search(query).await;
    assert_eq!(page.status, 200, "{query}: {}", page.text());
    page.json()["total"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_without_a_variant_match_all_variants() {
    let server = Fixture::start().await;
    let kif = "手合割：平手\n1 ７六歩(77)\n2 ８四歩(83)\n3 投了\n";
    for text in [kif, "1. e4 c5 2. Nf3 *\n"] {
        let read = server.import("", text).await;
        assert_eq!(read.json()["total"], 1, "{}", read.text());
    }
    let after = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
    for variant in [None, Some("shogi")] {
        for query in [
            json!({ "opening": "▲７六歩 △８四歩", "variant": variant }),
            json!({ "opening": "7g7f 8c8d", "variant": variant }),
            json!({ "opening": "P-7f", "variant": variant }),
            json!({ "position": after, "variant": variant }),
        ] {
            assert_eq!(total_found(&server, &query).await, 1, "{query}");
        }
    }
    assert_eq!(total_found(&server, &json!({ "opening": "e2e4" })).await, 1);
    assert_eq!(total_found(&server, &json!({ "opening": "e4", "variant": "chess960" })).await, 0);
    // The error is that of the variant that parses more of the text.
    let page = server.search(&json!({ "opening": "P-7f 7g7f" })).await;
    assert_eq!(page.json()["category"], "illegal_move");
    assert_eq!(page.json()["error"]["context"]["move"], "7g7f", "{}", page.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn openings_without_a_header_are_found_by_name() {
    let server = Fixture::start().await;
    let text = "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 *\n\n\
        [ECO \"C60\"]\n[White \"ÖZIL\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n";
    let read = server.import("", text).await;
    assert_eq!(read.json()["total"], 2);
    for (query, total) in [
        (json!({ "named": "najdorf" }), 1),
        (json!({ "named": "B90" }), 1),
        (json!({ "named": "Ruy Lopez" }), 1),
        (json!({ "named": "C60" }), 1),
        (json!({ "named": "French" }), 0),
        (json!({ "player": "özil" }), 1),
    ] {
        assert_eq!(total_found(&server, &query).await, total, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn players_of_unknown_type_match_engine_queries() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let none = json!({ "kind": "none" });
    tab.new_game(game("chess", against(&engine, none, false))).await;
    let pgn = "[White \"Bert\"]\n[WhiteType \"human\"]\n[Black \"Crafty\"]\n\
        [BlackType \"program\"]\n\n1. e4 *\n\n[White \"Dora\"]\n[Black \"Ada\"]\n\n1. d4 *\n";
    let read = server.import("?name=a.pgn", pgn).await;
    assert_eq!(read.json()["total"], 2);
    for (query, total) in [
        (json!({ "player": "ada" }), 2),
        (json!({ "engine": "ada" }), 1),
        (json!({ "engine": "mime" }), 1),
        (json!({ "player": "bert" }), 1),
        (json!({ "engine": "bert" }), 0),
        (json!({ "engine": "crafty" }), 1),
        (json!({ "player": "bert", "engine": "crafty" }), 1),
        (json!({ "engine": "dora" }), 1),
        (json!({ "engine": "%" }), 0),
    ] {
        let page = server.search(&query).await;
        assert_eq!(page.json()["total"], total, "{query}: {}", page.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn export_restores_the_imported_record() {
    let server = Fixture::start().await;
    let kif = "手合割：平手\n先手：Ada\n後手：Byron\n手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:01/00:00:01)\n*角道を開ける\n   2 ３四歩(33)   ( 0:02/00:00:02)\n   3 投了\n";
    let sjis = {
        // 7-bit parts and Shift_JIS alike come from the encoder of the rules.
        let read = server.import("?name=a.kif&open=true", kif).await.json();
        let id = read["opened"].clone();
        assert!(id.is_number(), "{read}");
        let answer = server.get(&format!("/api/export/{id}?format=kif&encoding=shift_jis")).await;
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=shift_jis"));
        answer.body
    };
    let read = server.import("?name=b.kif&open=true", &sjis).await.json();
    let id = read["opened"].clone();
    for (format, part) in [
        ("kif", "*角道を開ける"),
        ("ki2", "▲７六歩"),
        ("csa", "+7776FU"),
        ("jkf", "角道を開ける"),
        ("line", "position startpos"),
        ("position", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"),
    ] {
        let text = server.get(&format!("/api/export/{id}?format={format}")).await.text();
        assert!(text.contains(part), "{format}: {text}");
    }
    // JSON has no other encoding than UTF-8 (RFC 8259, 8.1).
    let jkf = server.get(&format!("/api/export/{id}?format=jkf&encoding=shift_jis")).await;
    assert_eq!(jkf.header("content-type"), Some("application/json; charset=utf-8"));
    assert!(jkf.text().contains("角道を開ける"));
    let pgn = server.get(&format!("/api/export/{id}?format=pgn")).await;
    assert_eq!((pgn.status, pgn.json()["category"].clone()), (400, json!("invalid_record")));
}

#[tokio::test(flavor = "multi_thread")]
async fn save_errors_are_published() {
    let (server, mut tab) = Fixture::with_tab().await;
    let (topic, state) = tab.new_game(game("chess", Value::Null)).await;
    assert_eq!(state["save_error"], Value::Null);
    let id = &state["id"];
    let db = Connection::open(server.data.join("app.sqlite")).expect("it opens");
    db.execute_batch(
        "CREATE TRIGGER full BEFORE INSERT ON open_game BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
    )
    .expect("it is made");
    let mv =
        |node: u32, text: &str| json!({ "kind": "move", "game": id, "node": node, "text": text });
    assert_eq!(tab.ask(mv(0, "e4")).await["kind"], "node");
    let delta = tab.change(&topic, |delta| delta["save_status"].is_object()).await;
    let error = &delta["save_status"]["error"];
    assert_eq!(error["code"], "system", "{delta}");
    assert!(
        error["text"].as_str().is_some_and(|as_str| as_str.contains("disk is full")),
        "{delta}"
    );
    let close = json!({ "kind": "close_game", "game": id });
    assert_eq!(tab.ask(close.clone()).await["category"], "storage");
    db.execute_batch("DROP TRIGGER full").expect("it is gone");
    assert_eq!(tab.ask(mv(1, "e5")).await["kind"], "node");
    let delta = tab.change(&topic, |delta| delta["save_status"].is_object()).await;
    assert_eq!(delta["save_status"]["error"], Value::Null);
    tab.done(close).await;
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": id })).await["kind"], "game");
    let state = tab.follow(&topic).await;
    assert_eq!(state["nodes"].as_array().map(Vec::len), Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn open_games_are_listed_with_what_distinguishes_them() {
    let (server, mut tab) = Fixture::with_tab().await;
    let pgn = "[Event \"Paris\"]\n[Round \"3\"]\n[Date \"1858.12.??\"]\n[White \"Morphy\"]\n\n1. e4 *\n\n\
        [Event \"?\"]\n[Round \"-\"]\n[Date \"????.??.??\"]\n[White \"Morphy\"]\n\n1. d4 *\n";
    let kif =
        "開始日時：2026/11/21 10:00:00\n棋戦：竜王戦\n手合割：平手\n先手：羽生\n1 ７六歩(77)\n";
    for text in [pgn, kif] {
        let read = server.import("", text).await;
        for game in read.json()["games"].as_array().expect("games") {
            tab.ask(json!({ "kind": "open_game", "game": game["id"] })).await;
        }
    }
    let games = tab.follow("games").await;
    let mut games = games["games"].as_array().expect("games").clone();
    games.sort_by_key(|game| game["id"].as_u64());
    let shown: Vec<_> =
        games.iter().map(|game| json!([game["event"], game["round"], game["date"]])).collect();
    let expected = [
        json!(["Paris", "3", "1858-12"]),
        json!(["", "", null]),
        json!(["竜王戦", "", "2026-11-21"]),
    ];
    assert_eq!(shown, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn arrows_and_circles_are_kept_on_both_boards() {
    let (server, mut tab) = Fixture::with_tab().await;
    let mark = |from: &str, to: Option<&str>| json!({ "color": "red", "from": from, "to": to });
    let set = |game: &Value, mark: &Value| {
        let edit = json!({ "kind": "marks", "node": 0, "marks": [mark] });
        json!({ "kind": "edit", "game": game, "edit": edit })
    };
    let mut games = Vec::new();
    for (variant, good, other) in [
        ("shogi", [mark("7g", Some("7f")), mark("9i", None)], mark("e2", None)),
        ("chess", [mark("a1", None), mark("e2", Some("e4"))], mark("7g", Some("7f"))),
    ] {
        let (topic, _) = tab.new_game(game(variant, Value::Null)).await;
        let id = json!(id_of(&topic));
        for mark in &good {
            let done = tab.ask(set(&id, mark)).await;
            assert_eq!(done["kind"], "done", "{mark}: {done}");
            let delta = tab.change(&topic, |delta| delta["nodes"][0]["id"] == 0).await;
            assert_eq!(delta["nodes"][0]["marks"], json!([mark]));
        }
        assert_eq!(tab.ask(set(&id, &other)).await["category"], "invalid_request", "{other}");
        games.push((id, topic, good[1].clone()));
    }
    // Shogi records do not support them.
    let kif = server.get(&format!("/api/export/{}?format=kif", games[0].0)).await;
    assert!(kif.status == 200 && !kif.text().contains("9i"), "{}", kif.text());
    let pgn = server.get(&format!("/api/export/{}?format=pgn", games[1].0)).await.text();
    assert!(pgn.contains("[%cal Re2e4]"), "{pgn}");
    let (_server, mut tab) = server.restart().await;
    for (_, topic, mark) in games {
        assert_eq!(tab.follow(&topic).await["nodes"][0]["marks"], json!([mark]), "{topic}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn defective_records_are_imported_as_expected() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases");
    let expected = std::fs::read_to_string(cases.join("expected.json")).expect("a file");
    let expected: serde_json::Map<String, Value> = serde_json::from_str(&expected).expect("JSON");
    let server = Fixture::start().await;
    let mut wrong = Vec::new();
    for (name, expected) in &expected {
        let bytes = std::fs::read(cases.join(name)).expect("a file");
        let read = server.import(&format!("?name={name}&duplicates=keep"), bytes).await.json();
        assert_eq!(read["errors"], json!([]), "{name}: {read}");
        let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let plies: Vec<u64> =
            array(&read["games"]).iter().filter_map(|game| game["plies"].as_u64()).collect();
        let moves = array(&expected["games"]);
        let moves = moves.iter().filter_map(Value::as_str);
        let expected_plies: Vec<u64> =
            moves.map(|text| text.split_whitespace().count() as u64).collect();
        let place = |value: &Value| {
            let context = &value["context"];
            json!(format!("{}:{}", context["line"], context["column"]))
        };
        let notices: Vec<Value> = array(&read["warnings"]).iter().map(place).collect();
        if plies != expected_plies || json!(notices) != expected["notices"] {
            wrong.push(format!("{name}: {read}"));
        }
        // Each game opens and is displayed.
        let mut tab = server.tab().await;
        for game in array(&read["games"]) {
            let id = &game["id"];
            let answer = tab.ask(json!({ "kind": "open_game", "game": id })).await;
            assert_eq!(answer["kind"], "game", "{name}: {answer}");
            let state = tab.follow(&format!("game/{id}")).await;
            assert!(state["nodes"].is_array(), "{name}: {state}");
            tab.ask(json!({ "kind": "close_game", "game": id })).await;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn notices_have_positions() {
    let server = Fixture::start().await;
    let broken = "[White \"A\"]\n\n1. e4 e5 2. Ke3 Nf6 *\n\n[White \"B\"]\n\n1. d4 *\n";
    let read = server.import("?name=x.pgn", broken).await.json();
    assert_eq!(read["total"], 2, "{read}");
    assert_eq!(read["games"][0]["plies"], 2, "{read}");
    let warning = json!({
        "code": "unreachable",
        "context": {
            "line": 3, "column": 13, "move": "Ke3", "kept": { "line": "main", "plies": 2 },
        },
    });
    assert_eq!(read["warnings"][0], warning);
    let lines = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - bm e5;\n8/8/8/4k3/8/8/4P3/4K3 w - - 0 1\n";
    let read = server.import("?name=x.epd", lines).await.json();
    assert_eq!(read["total"], 2, "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_of_the_library_is_opened_and_deleted() {
    let server = Fixture::start().await;
    let read = server.import("?name=a.pgn", PGN).await.json();
    let id = read["games"][1]["id"].clone();
    let mut tab = server.tab().await;
    let opened = tab.ask(json!({ "kind": "open_game", "game": id })).await;
    assert_eq!(opened, json!({ "kind": "game", "game": id }));
    let state = tab.follow(&format!("game/{id}")).await;
    let nodes = state["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.len(), 6);
    assert_eq!(nodes[1]["children"].as_array().map(Vec::len), Some(2));
    assert_eq!(tab.ask(json!({ "kind": "delete_game", "game": id })).await["kind"], "deleted");
    let closed = tab.until(|message| message["kind"] == "closed").await;
    assert_eq!(closed["topic"], format!("game/{id}"));
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": id })).await["category"], "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_editor_shows_errors_of_the_rules() {
    let server = Fixture::start().await;
    let check = async |variant: &str, text: &str| -> Value {
        let body = json!({ "variant": variant, "text": text }).to_string();
        server.post("/api/position", "application/json", body.as_bytes()).await.json()
    };
    let good = check("chess", "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1").await;
    assert!(good["position"]["legal"].is_array() && good["error"].is_null(), "{good}");
    let bad = check("chess", "8/8/8/8/8/8/4P3/4K3 w - - 0 1").await;
    assert!(bad["position"].is_null() && bad["text"].is_string(), "{bad}");
    let error = json!({
        "code": "king_count",
        "side": "second",
        "count": 0,
        "context": { "variant": "chess" },
    });
    assert_eq!(bad["error"], error);
    let none = check("shogi", "nonsense").await;
    assert!(none["text"].is_null(), "{none}");
    assert_eq!(none["error"]["field"], "turn");
    assert_eq!(none["error"]["context"]["variant"], "shogi");
    // After a null move, the other side moves.
    let body = json!({
        "variant": "chess", "text": "position startpos moves e2e4", "threat": ["d2d4", "e7e5"],
    });
    let body = body.to_string();
    let threat = server.post("/api/position", "application/json", body.as_bytes());
    let text = "rnbqkbnr/pppp1ppp/8/4p3/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 0 3";
    assert_eq!(threat.await.json()["position"]["text"], text);
    let choices = server.get("/api/choices").await.json();
    assert_eq!(choices["handicaps"].as_array().map(Vec::len), Some(16));
}

/// A UCI line does not name its game; its moves determine it.
#[tokio::test(flavor = "multi_thread")]
async fn lines_of_both_protocols_are_games() {
    let server = Fixture::start().await;
    for line in [
        "position startpos moves e2e4 e7e5",
        "position fen 8/8/8/4k3/8/8/4P3/4K3 w - - 0 1 moves e2e4",
        "position startpos moves 7g7f 3c3d",
    ] {
        let read = server.import("?name=", line).await.json();
        assert_eq!((&read["total"], &read["errors"]), (&json!(1), &json!([])), "{line}: {read}");
    }
}

const TWO_GAMES: &str = "[White \"Ada\"]\n[ECO \"B20\"]\n[Opening \"Sicilian Defence\"]\n\n1. e4 c5 *\n\n\
    [White \"Babbage\"]\n\n1. d4 d5 2. c4 *\n";
const KIF: &str =
    "手合割：平手\n手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:01/00:00:01)\n";

/// A server with a directory of records as a root.
async fn server_with(data: &Path, root: &Path) -> Fixture {
    let data = data.join("data");
    Fixture::start_with(Options { roots: vec![root.to_owned()], ..options(&data) }).await
}

fn records(directory: &Path, files: &[(&str, &str)]) -> std::path::PathBuf {
    let root = directory.join("records");
    std::fs::create_dir(&root).expect("it is made");
    for (name, text) in files {
        std::fs::write(root.join(name), text).expect("it is written");
    }
    root
}

async fn job_ends(tab: &mut Tab, id: &Value) -> Value {
    let over = |job: &Value| {
        job["id"] == *id && matches!(job["status"].as_str(), Some("done" | "failed" | "stopped"))
    };
    let delta = tab.change("jobs", |delta| {
        delta["changed"].as_array().is_some_and(|all| all.iter().any(over))
    });
    delta.await["changed"][0].clone()
}

async fn games_found(server: &Fixture, query: Value) -> Vec<Value> {
    let page = server.search(&query).await;
    page.json()["games"].as_array().expect("games").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn imports_the_games_of_a_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let broken = "no game\n";
    let root = records(
        directory.path(),
        &[("a.pgn", TWO_GAMES), ("b.kif", KIF), ("c.pgn", broken), ("notes.doc", "1. e4 *")],
    );
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    assert_eq!(tab.follow("jobs").await["jobs"], json!([]));
    let path = root.to_str().expect("it is UTF-8");
    let begun = tab.ask(json!({ "kind": "import_directory", "path": path })).await;
    assert_eq!(begun["kind"], "job", "{begun}");
    let job = job_ends(&mut tab, &begun["id"]).await;
    assert_eq!(job["status"], "done", "{job}");
    assert_eq!(
        (&job["files"], &job["files_done"], &job["games"]),
        (&json!(3), &json!(3), &json!(3))
    );
    assert_eq!(job["errors"][0]["of"], json!({ "kind": "file", "name": "c.pgn" }), "{job}");
    assert_eq!(games_found(&server, json!({})).await.len(), 3);
    for (named, count) in [("b20", 1), ("sicilian", 1), ("B2_", 0), ("king's", 0)] {
        assert_eq!(games_found(&server, json!({ "named": named })).await.len(), count, "{named}");
    }
    // No game is opened, and files elsewhere are not read.
    assert_eq!(tab.follow("games").await["games"], json!([]));
    let elsewhere = tab.ask(json!({ "kind": "import_directory", "path": "/etc" })).await;
    assert_eq!(elsewhere["category"], "invalid_path", "{elsewhere}");
    let id = &begun["id"];
    tab.done(json!({ "kind": "delete_job", "id": id })).await;
    assert_eq!(tab.follow("jobs").await["jobs"], json!([]));
}

/// Archives of shogi have file names in `Shift_JIS`, which are not Unicode.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn imports_files_whose_names_are_not_unicode() {
    use std::os::unix::ffi::OsStrExt;

    let directory = tempfile::tempdir().expect("a directory");
    let root = records(directory.path(), &[("a.pgn", TWO_GAMES)]);
    for (name, content) in
        [(&b"\x8a\xfb\x95\x88.kif"[..], KIF), (b"\x95s\x90\xb3.pgn", "no game\n")]
    {
        std::fs::write(root.join(std::ffi::OsStr::from_bytes(name)), content).expect("written");
    }
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    tab.follow("jobs").await;
    let path = root.to_str().expect("it is UTF-8");
    let begun = tab.ask(json!({ "kind": "import_directory", "path": path })).await;
    let job = job_ends(&mut tab, &begun["id"]).await;
    assert_eq!((&job["files"], &job["games"]), (&json!(3), &json!(3)), "{job}");
    // The unreadable one is named as well as possible.
    assert_eq!(
        (job["errors"].as_array().map_or(0, Vec::len), &job["total_errors"]),
        (1, &json!(1)),
        "{job}"
    );
    let name = job["errors"][0]["of"]["name"].as_str().expect("a name");
    assert!(name.contains(".pgn") && name != "a.pgn", "{job}");
}

/// Only the first errors of a job are listed, but all are counted.
#[tokio::test(flavor = "multi_thread")]
async fn all_cut_games_of_a_job_are_counted() {
    let directory = tempfile::tempdir().expect("a directory");
    let cut = "[White \"A\"]\n\n1. e4 Ke7 *\n\n".repeat(150);
    let root = records(directory.path(), &[("cut.pgn", &cut)]);
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    tab.follow("jobs").await;
    let path = root.to_str().expect("it is UTF-8");
    let begun = tab.ask(json!({ "kind": "import_directory", "path": path, "duplicates": "keep" }));
    let begun = begun.await;
    let job = job_ends(&mut tab, &begun["id"]).await;
    assert_eq!((&job["games"], &job["total_errors"]), (&json!(150), &json!(150)), "{job}");
    assert_eq!(job["errors"].as_array().map_or(0, Vec::len), 20, "{job}");
    let read = server.import("?name=cut.pgn", cut);
    let read = read.await.json();
    assert_eq!((&read["total_warnings"], &read["total_errors"]), (&json!(150), &json!(0)));
    assert_eq!(read["warnings"].as_array().map_or(0, Vec::len), 100, "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_on_the_games_of_a_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = records(directory.path(), &[("a.pgn", TWO_GAMES), ("b.kif", KIF)]);
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&[]).await;
    tab.follow("jobs").await;
    let settings = json!({ "engine": engine, "limits": { "depth": 1 }, "annotate": true });
    let on = json!({ "kind": "directory", "path": root.to_str() });
    let begun = tab.ask(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    assert_eq!(begun["kind"], "job", "{begun}");
    let job = job_ends(&mut tab, &begun["id"]).await;
    assert_eq!((&job["status"], &job["done"]), (&json!("done"), &json!(3)), "{job}");
    assert_eq!(tab.follow("games").await["games"], json!([]), "none is open");
    let games = games_found(&server, json!({ "player": "babbage" })).await;
    let id = games[0]["id"].clone();
    let text = server.get(&format!("/api/export/{id}?format=pgn&engine=true")).await.text();
    assert!(text.contains("[%eval"), "{text}");
    let of = format!("%7B%22kind%22:%22games%22,%22games%22:[{id}]%7D");
    let author = server.get(&format!("/api/export?of={of}&format=pgn")).await.text();
    assert!(author.contains("Babbage") && !author.contains("[%eval"), "{author}");
    let merged = server.get(&format!("/api/export?of={of}&format=pgn&engine=true")).await.text();
    assert_eq!(merged, text);
    // The report exists when the game is opened.
    assert_eq!(tab.ask(json!({ "kind": "open_game", "game": id })).await["kind"], "game");
    let report = tab.follow(&format!("report/{id}")).await;
    assert_eq!((&report["status"], &report["done"]), (&json!("done"), &json!(4)), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_resumed_after_a_restart_of_the_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let game = |number| format!("[White \"Ada {number}\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n\n");
    let many = (0..12).map(game).collect::<String>();
    let root = records(directory.path(), &[("a.pgn", &many)]);
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&[]).await;
    tab.follow("jobs").await;
    let settings = json!({ "engine": engine, "limits": { "depth": 1 } });
    let on = json!({ "kind": "directory", "path": root.to_str() });
    let begun = tab.ask(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    let id = begun["id"].clone();
    // The server stops during the job.
    tab.change("jobs", |delta| delta["changed"][0]["done"].as_u64() >= Some(1)).await;
    server.stop().await;

    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    let jobs = tab.follow("jobs").await;
    let job = &jobs["jobs"][0];
    assert_eq!(job["id"], id, "{jobs}");
    if job["status"] != "done" {
        assert_eq!(job["status"], "stopped", "{job}");
        tab.done(json!({ "kind": "resume_job", "id": id })).await;
        let job = job_ends(&mut tab, &id).await;
        assert_eq!((&job["status"], &job["done"]), (&json!("done"), &json!(12)), "{job}");
        assert_eq!(job["failed"], 0, "{job}");
    }
    assert_eq!(games_found(&server, json!({})).await.len(), 12, "no game was read twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_fails_if_its_engine_always_crashes() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = records(directory.path(), &[("a.pgn", &"1. e4 *\n\n".repeat(9))]);
    let server = server_with(directory.path(), &root).await;
    let mut tab = server.tab().await;
    let engine = tab.add_mime(&["crash"]).await;
    tab.follow("jobs").await;
    let settings = json!({ "engine": engine, "limits": { "depth": 1 } });
    let on = json!({ "kind": "directory", "path": root.to_str() });
    let begun = tab.ask(json!({ "kind": "start_report", "on": on, "settings": settings })).await;
    let job = job_ends(&mut tab, &begun["id"]).await;
    assert_eq!((&job["status"], &job["failed"]), (&json!("failed"), &json!(3)), "{job}");
}

/// The ratings of PGN headers, and of the comments of floodgate.
#[tokio::test(flavor = "multi_thread")]
async fn ratings_of_the_players_are_those_of_the_record() {
    let (server, mut tab) = Fixture::with_tab().await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/records");
    let floodgate = std::fs::read(root.join("floodgate-2026.csa")).expect("it is there");
    let pgn = b"[White \"Ada\"]\n[WhiteElo \"2817\"]\n[BlackElo \"?\"]\n\n1. e4 *\n".to_vec();
    for (name, file, first, second) in
        [("a.csa", floodgate, json!(3456), json!(3401)), ("a.pgn", pgn, json!(2817), Value::Null)]
    {
        let read = server.import(&format!("?name={name}&open=true"), file).await.json();
        let topic = format!("game/{}", read["opened"]);
        let state = tab.follow(&topic).await;
        assert_eq!(state["ratings"], json!({ "first": first, "second": second }), "{name}");
        if name == "a.pgn" {
            let headers = json!([{ "name": "BlackElo", "value": "2700" }]);
            let edit = json!({ "kind": "headers", "headers": headers });
            tab.done(json!({ "kind": "edit", "game": read["opened"], "edit": edit })).await;
            let delta = tab.change(&topic, |delta| delta["ratings"].is_object()).await;
            assert_eq!(delta["ratings"], json!({ "first": null, "second": 2700 }));
        }
    }
}
