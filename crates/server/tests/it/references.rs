//! Tablebases and opening books next to the board.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Fixture, Tab};

fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/syzygy")
        .canonicalize()
        .expect("the tables")
}

/// A server whose file picker shows the tables.
async fn start() -> Fixture {
    Fixture::start_as(|options| options.roots.push(tables())).await
}

async fn post(server: &Fixture, path: &str, body: &Value) -> Value {
    server.post(path, "application/json", body.to_string().as_bytes()).await.json()
}

async fn probe(server: &Fixture, variant: &str, position: &str) -> Value {
    post(server, "/api/tablebase", &json!({ "variant": variant, "position": position })).await
}

async fn explore(server: &Fixture, variant: &str, position: &str, path: &Value) -> Value {
    let source = json!({ "kind": "book", "path": path });
    let query = json!({ "variant": variant, "position": position, "source": source });
    post(server, "/api/explorer", &query).await
}

async fn add(tab: &mut Tab, kind: &str, path: &Path) -> Value {
    tab.ask(json!({ "kind": kind, "path": path.to_str() })).await
}

const QUEEN: &str = "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1";

#[tokio::test(flavor = "multi_thread")]
async fn tablebases_rate_every_move() {
    let server = start().await;
    let mut tab = server.tab().await;
    assert_eq!(probe(&server, "chess", QUEEN).await["error"]["code"], "no_tablebase_directory");
    assert_eq!(add(&mut tab, "add_syzygy", &tables()).await["kind"], "done");
    let settings = tab.follow("settings").await;
    assert_eq!(settings["references"]["syzygy"], json!([tables()]));
    let view = probe(&server, "chess", QUEEN).await;
    assert_eq!(view["category"], "win");
    assert_eq!(view["moves"][0]["end"], "checkmate");
    let find = |uci: &str| {
        let moves = view["moves"].as_array().expect("the moves");
        moves.iter().find(|mv| mv["uci"] == uci).expect(uci).clone()
    };
    assert_eq!(
        find("g6h6"),
        json!({
            "uci": "g6h6", "text": { "western": "Kh6" }, "category": "draw", "dtz": 0, "zeroing": false,
            "end": "stalemate",
        })
    );
    let view = probe(&server, "chess960", "8/P7/8/8/8/2k5/8/K7 w - - 0 1").await;
    assert_eq!(
        (&view["moves"][0]["uci"], &view["moves"][0]["zeroing"]),
        (&json!("a7a8q"), &json!(true))
    );
    // Other settings leave the directories as they are.
    let changed = json!({ "page": { "theme": "dark" }, "references": { "syzygy": ["/etc"] } });
    tab.ask(json!({ "kind": "set_settings", "settings": changed })).await;
    assert_eq!(probe(&server, "chess", QUEEN).await["category"], "win");
    tab.ask(json!({ "kind": "remove_syzygy", "path": tables() })).await;
    assert_eq!(probe(&server, "chess", QUEEN).await["error"]["code"], "no_tablebase_directory");
}

#[tokio::test(flavor = "multi_thread")]
async fn positions_outside_of_tables_are_errors() {
    let server = start().await;
    let mut tab = server.tab().await;
    add(&mut tab, "add_syzygy", &tables()).await;
    let castling = probe(&server, "chess960", "8/8/8/8/8/4k3/8/R3K3 w Q - 0 1").await;
    assert_eq!(castling["error"]["code"], "tablebase_castling");
    let many = probe(&server, "chess", "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1").await;
    assert_eq!(many["error"], json!({ "code": "tablebase_pieces", "pieces": 10, "limit": 4 }));
    let shogi = probe(&server, "shogi", "4k4/9/9/9/9/9/9/9/4K4 b - 1").await;
    assert_eq!(shogi["error"]["code"], "unsupported_game");
    assert_eq!(probe(&server, "chess", "nonsense").await["category"], "invalid_position");
    let unknown = probe(&server, "chess", "8/8/4k3/8/8/3BN3/8/K7 w - - 0 1").await;
    assert_eq!(unknown["category"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_usable_paths_of_the_file_picker_are_added() {
    let server = start().await;
    let mut tab = server.tab().await;
    let empty = server.data.join("empty");
    std::fs::create_dir(&empty).expect("a directory");
    let text = server.data.join("text.bin");
    std::fs::write(&text, "not a book").expect("a file");
    for (kind, path, code) in [
        ("add_syzygy", Path::new("/etc"), "path_not_allowed"),
        ("add_syzygy", &empty, "no_tablebases"),
        ("add_syzygy", &server.data.join("none"), "not_found"),
        ("add_book", Path::new("/etc/hostname"), "path_not_allowed"),
        ("add_book", &text, "not_a_book"),
    ] {
        let answer = add(&mut tab, kind, path).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    let unlisted = explore(&server, "chess", START, &json!(text)).await;
    assert_eq!(unlisted["category"], "not_found");
    let removed = add(&mut tab, "remove_book", &text).await;
    assert_eq!(removed["category"], "not_found");
    let settings = tab.follow("settings").await;
    assert_eq!(settings["references"], json!({ "syzygy": [], "books": [] }));
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// A Polyglot book of the start position.
fn polyglot() -> Vec<u8> {
    let entries: [(u64, u16, u16); 2] =
        [(0x463b_9618_1691_fc9c, 0x02db, 1), (0x463b_9618_1691_fc9c, 0x031c, 3)];
    let mut bytes = Vec::new();
    for (key, mv, weight) in entries {
        bytes.extend(key.to_be_bytes());
        bytes.extend(mv.to_be_bytes());
        bytes.extend(weight.to_be_bytes());
        bytes.extend([0; 4]);
    }
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn books_list_moves_with_shares() {
    let server = start().await;
    let mut tab = server.tab().await;
    let book = server.data.join("book.bin");
    std::fs::write(&book, polyglot()).expect("a file");
    assert_eq!(add(&mut tab, "add_book", &book).await["kind"], "done");
    let path = json!(book);
    let explored = explore(&server, "chess", START, &path).await;
    let mv = |uci: &str, san: &str, weight: u64, share: f64| {
        json!({
            "uci": uci, "text": { "western": san }, "weight": weight, "share": share,
            "score": null, "depth": null, "reply": null,
        })
    };
    let moves = json!([mv("e2e4", "e4", 3, 0.75), mv("d2d4", "d4", 1, 0.25)]);
    assert_eq!(explored, json!({ "kind": "book", "moves": moves, "other_game": false }));
    let later = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    assert_eq!(explore(&server, "chess", later, &path).await["moves"], json!([]));
    let shogi = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    assert_eq!(explore(&server, "shogi", shogi, &path).await["other_game"], true);
    // A changed file is read again.
    std::fs::write(&book, &polyglot()[..16]).expect("a file");
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    std::fs::File::options()
        .write(true)
        .open(&book)
        .expect("it exists")
        .set_modified(later)
        .expect("it is ours");
    let moves = explore(&server, "chess", START, &path).await;
    assert_eq!(moves["moves"], json!([mv("d2d4", "d4", 1, 1.0)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn games_of_the_library_are_explored() {
    let server = start().await;
    let games = [
        ("Ann", "Bob", "2026.01.01", "1-0", "1. Nf3 d5 2. d4"),
        ("Bob", "Ann", "2026.03.01", "0-1", "1. d4 d5 2. Nf3 Nf6 3. Ng1 Ng8 4. Nf3"),
        ("Cid", "Ann", "2025.01.01", "1/2-1/2", "1. d4 d5 2. c4"),
    ];
    let mut text = String::new();
    for (white, black, date, result, moves) in games {
        let headers = [("White", white), ("Black", black), ("Date", date), ("Result", result)];
        for (name, value) in headers {
            text.extend(["[", name, " \"", value, "\"]\n"]);
        }
        text.extend(["\n", moves, " ", result, "\n\n"]);
    }
    let read = server.import("?name=a.pgn", text);
    assert_eq!(read.await.json()["total"], 3);
    let explore = async |position: &str, filter: Value| {
        let source = json!({ "kind": "library", "filter": filter });
        let query = json!({ "variant": "chess", "position": position, "source": source });
        post(&server, "/api/explorer", &query).await
    };
    let counts = |first: u32, draws: u32, second: u32| json!({ "first": first, "draws": draws, "second": second, "unknown": 0 });
    let all = explore(START, json!({})).await;
    assert_eq!((&all["kind"], &all["counts"]), (&json!("library"), &counts(1, 1, 1)));
    let found = |view: &Value| {
        let moves = view["moves"].as_array().expect("moves").iter();
        moves.map(|mv| (mv["uci"].clone(), mv["counts"].clone())).collect::<Vec<_>>()
    };
    let expected = vec![(json!("d2d4"), counts(0, 1, 1)), (json!("g1f3"), counts(1, 0, 0))];
    assert_eq!(found(&all), expected);
    assert_eq!(all["moves"][0]["last_played"], "2026-03-01");
    assert_eq!(all["games"].as_array().map(Vec::len), Some(3));
    // A transposition; the second game reaches the position twice and counts once.
    let d4_d5_nf3 = "rnbqkbnr/ppp1pppp/8/3p4/3P4/5N2/PPP1PPPP/RNBQKB1R b KQkq - 1 2";
    let transposed = explore(d4_d5_nf3, json!({})).await;
    assert_eq!(transposed["counts"], counts(1, 0, 1));
    assert_eq!(found(&transposed), [(json!("g8f6"), counts(0, 0, 1))]);
    let ann = explore(START, json!({ "player": "ann", "side": "second" })).await;
    assert_eq!(ann["counts"], counts(0, 1, 1));
    let recent = explore(START, json!({ "from": "2026-02-01" })).await;
    assert_eq!(
        (&recent["counts"], &recent["games"][0]["names"]["first"]),
        (&counts(0, 0, 1), &json!("Bob"))
    );
    let won = explore(START, json!({ "player": "Ann", "result": "1-0" })).await;
    assert_eq!(won["counts"], counts(1, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn books_of_shogi_have_evaluations_and_replies() {
    let server = start().await;
    let mut tab = server.tab().await;
    let book = server.data.join("book.db");
    let sfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
    let text =
        format!("#YANEURAOU-DB2016 1.00\nsfen {sfen} 1\n2g2f 8c8d 30 12 2\n7g7f 3c3d 45 20 6\n");
    std::fs::write(&book, text).expect("a file");
    assert_eq!(add(&mut tab, "add_book", &book).await["kind"], "done");
    let explored = explore(&server, "shogi", &format!("{sfen} 1"), &json!(book)).await;
    let first = json!({
        "uci": "7g7f", "text": { "western": "P-7f", "japanese": "▲７六歩" }, "weight": 6, "share": 0.75,
        "score": 45, "depth": 20, "reply": { "western": "P-3d", "japanese": "△３四歩" },
    });
    assert_eq!(explored["moves"][0], first);
    assert_eq!(explored["moves"].as_array().map(Vec::len), Some(2));
}
