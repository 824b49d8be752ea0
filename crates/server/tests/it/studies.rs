//! Studies: games that are merged and split, and chapters that are copied.

use std::env;
use std::fs;
use std::path::Path;

use readyok_rules::record::{self, GameRecord};
use serde_json::{Value, json};

use crate::support::{Fixture, Tab, export, post};

const GAMES: &str = "[White \"Ada\"]\n[Black \"Babbage\"]\n[Event \"Cup\"]\n[Date \"1843.09.01\"]\n[Result \"1-0\"]\n\n\
    1. e4 {best} e5 2. Nf3 1-0\n\n\
    [White \"Lovelace\"]\n[Black \"?\"]\n[Result \"0-1\"]\n\n1. e4 e5 2. f4! exf4 0-1\n\n\
    [FEN \"rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\"]\n[SetUp \"1\"]\n\n2. Bc4 *\n\n\
    [FEN \"8/8/8/8/8/4k3/4p3/4K3 w - - 0 1\"]\n[SetUp \"1\"]\n\n*\n";

/// Adds the games to the library as a collection. Returns its number.
async fn study(server: &Fixture, tab: &mut Tab) -> Value {
    let imported = server.import("?name=games.pgn", GAMES).await.json();
    let games = &imported["collection"]["games"];
    assert_eq!(games, &json!([1, 2, 3, 4]), "{imported}");
    let of = json!({ "kind": "games", "games": games });
    let create = json!({ "kind": "create", "name": "Study", "of": of });
    let created = tab.ask(json!({ "kind": "edit_collection", "edit": create })).await;
    created["id"].clone()
}

/// The moves of a game of the library as PGN.
async fn moves(server: &Fixture, game: u32) -> String {
    let text = export(server, &json!({ "kind": "games", "games": [game] }), "pgn").await.text();
    let (_, moves) = text.split_once("\n\n").unwrap_or_else(|| panic!("{text}"));
    moves.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The chapters of a collection: names and games.
async fn chapters(server: &Fixture, collection: &Value) -> Vec<(String, Value)> {
    let found = post(server, "/api/library/chapters", &json!({ "collection": collection })).await;
    let chapters = found["chapters"].as_array().expect("chapters");
    let name = |chapter: &Value| chapter["name"].as_str().unwrap_or_default().to_owned();
    chapters.iter().map(|chapter| (name(chapter), chapter["game"]["id"].clone())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn chapters_are_merged_into_one_tree() {
    let (server, mut tab) = Fixture::with_tab().await;
    let study = study(&server, &mut tab).await;
    let merge = |part: Value| {
        let of = json!({ "kind": "collection", "id": study });
        json!({ "kind": "merge_games", "game": 1, "of": of, "part": part })
    };
    // The game is not open.
    let answer = tab.ask(merge(Value::Null)).await;
    let merged = json!({ "moves": 3, "annotated": 0, "omitted": 0, "unconnected": 1 });
    assert_eq!(answer, json!({ "kind": "merged", "game": 1, "merged": merged }));
    assert_eq!(
        moves(&server, 1).await,
        "1. e4 { best } 1... e5 2. Nf3 (2. f4 $1 exf4 { Lovelace – ?, 0-1 }) (2. Bc4) 1-0"
    );
    // An open game is changed in one step.
    tab.ask(json!({ "kind": "open_game", "game": 2 })).await;
    let mut view = tab.follow("game/2").await;
    assert_eq!(view["nodes"].as_array().map(Vec::len), Some(5), "{view}");
    let of = json!({ "kind": "games", "games": [1] });
    let answer = tab.ask(json!({ "kind": "merge_games", "game": 2, "of": of })).await;
    assert_eq!(answer["merged"]["moves"], 2, "{answer}");
    tab.done(json!({ "kind": "edit", "game": 2, "edit": { "kind": "undo" } })).await;
    view = server.tab().await.follow("game/2").await;
    assert_eq!(view["nodes"].as_array().map(Vec::len), Some(5), "{view}");
    // One line of another game.
    let answer = tab.ask(json!({ "kind": "merge_games", "game": 2, "of": of, "part": 3 })).await;
    assert_eq!(answer["merged"]["moves"], 1, "{answer}");
    let missing = tab.ask(json!({ "kind": "merge_games", "game": 2, "of": of, "part": 99 })).await;
    assert_eq!(missing["category"], "not_found", "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn games_are_merged_into_a_new_one() {
    let (server, mut tab) = Fixture::with_tab().await;
    study(&server, &mut tab).await;
    let before = moves(&server, 1).await;
    let of = json!({ "kind": "games", "games": [1, 2, 3] });
    let answer = tab.ask(json!({ "kind": "merge_games", "of": of })).await;
    assert_eq!((&answer["game"], &answer["merged"]["moves"]), (&json!(5), &json!(3)), "{answer}");
    assert_eq!(
        moves(&server, 5).await,
        "1. e4 { best } 1... e5 2. Nf3 { Ada – Babbage, Cup 1843, 1-0 } \
         (2. f4 $1 exf4 { Lovelace – ?, 0-1 }) (2. Bc4) 1-0"
    );
    assert_eq!(moves(&server, 1).await, before);
    let none = json!({ "kind": "merge_games", "of": { "kind": "games", "games": [] } });
    assert_eq!(tab.ask(none).await["error"]["code"], "nothing_to_merge");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_study_is_searched() {
    let (server, mut tab) = Fixture::with_tab().await;
    let study = study(&server, &mut tab).await;
    let mut found = Vec::new();
    for text in ["babbage ada", "BEST", "king's", "lovelace", "nothing", " "] {
        let query = json!({ "collection": study, "text": text });
        found.push(post(&server, "/api/library/chapters", &query).await["found"].clone());
    }
    // By players, by a comment, by the opening; all parts must match.
    let expected = [json!([1]), json!([1]), json!([1, 2]), json!([2]), json!([]), Value::Null];
    assert_eq!(found, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_is_split_into_chapters() {
    let (server, mut tab) = Fixture::with_tab().await;
    let study = study(&server, &mut tab).await;
    let of = json!({ "kind": "collection", "id": study });
    tab.ask(json!({ "kind": "merge_games", "game": 1, "of": of })).await;
    let split = tab.ask(json!({ "kind": "split_game", "game": 1, "node": 2 })).await;
    assert_eq!(split, json!({ "kind": "collection", "id": study }));
    let games: Vec<Value> = chapters(&server, &study).await.into_iter().map(|(_, id)| id).collect();
    assert_eq!(games, [1, 5, 6, 7, 2, 3, 4].map(Value::from));
    assert_eq!(moves(&server, 5).await, "1. e4 { best } 1... e5 2. Nf3 1-0");
    assert_eq!(
        moves(&server, 6).await,
        "1. e4 { best } 1... e5 2. f4 $1 exf4 { Lovelace – ?, 0-1 } 1-0"
    );
    assert_eq!(moves(&server, 7).await, "1. e4 { best } 1... e5 2. Bc4 1-0");
    let nothing = tab.ask(json!({ "kind": "split_game", "game": 1, "node": 0 })).await;
    assert_eq!(nothing["error"]["code"], "nothing_to_split", "{nothing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chapter_is_copied_with_its_game() {
    let (server, mut tab) = Fixture::with_tab().await;
    let study = study(&server, &mut tab).await;
    let copy =
        |to: Value| json!({ "kind": "copy_chapter", "game": 2, "collection": study, "to": to });
    let answer = tab.ask(copy(Value::Null)).await;
    assert_eq!(answer, json!({ "kind": "game", "game": 5 }));
    let found = chapters(&server, &study).await;
    assert_eq!(found[2], (found[1].0.clone(), json!(5)), "{found:?}");
    assert_eq!(moves(&server, 5).await, moves(&server, 2).await);
    let create =
        json!({ "kind": "create", "name": "Other", "of": { "kind": "games", "games": [1] } });
    let other = tab.ask(json!({ "kind": "edit_collection", "edit": create })).await;
    tab.ask(copy(other["id"].clone())).await;
    let names: Vec<Value> =
        chapters(&server, &other["id"]).await.into_iter().map(|(_, id)| id).collect();
    assert_eq!(names, [json!(1), json!(6)]);
    let missing = json!({ "kind": "copy_chapter", "game": 9, "collection": study });
    assert_eq!(tab.ask(missing).await["category"], "not_found");
}

/// The nodes of a game with their annotations, and its headers.
type Content = (Vec<String>, Vec<(String, String)>);

/// The games of a file.
fn contents(file: &[u8]) -> Vec<Content> {
    let games = record::read(file, None).map(|game| game.expect("a game"));
    games
        .map(|game: GameRecord| {
            let nodes = game.ids().filter_map(|id| Some((game.node(id)?, game.annotations(id))));
            let nodes = nodes.map(|(node, notes)| {
                // Squares and arrows have no order.
                let mut notes = notes.clone();
                notes.marks.sort_by_key(|mark| format!("{mark:?}"));
                format!("{:?} {:?} {notes:?}", node.parent(), node.mv())
            });
            let headers =
                game.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
            (nodes.collect(), headers.collect())
        })
        .collect()
}

/// Public studies of Lichess, with `READYOK_REAL_ENGINES`; `scripts/install-record-peers.sh` installs them. The study of
/// this repository is always written.
#[tokio::test(flavor = "multi_thread")]
async fn public_studies_are_written_again_without_loss() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("testdata/records/lichess-study.pgn")];
    if env::var_os("READYOK_REAL_ENGINES").is_some() {
        let studies = fs::read_dir(root.join("target/record-peers/studies"));
        let studies = studies.expect("scripts/install-record-peers.sh was run");
        files.extend(studies.map(|entry| entry.expect("a file").path()));
        assert!(30 < files.len(), "{}", files.len());
    }
    let (server, _tab) = Fixture::with_tab().await;
    for path in files {
        let file = fs::read(&path).expect("a file");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let imported = server.import("?name=a.pgn&open=true&duplicates=keep", &file).await.json();
        assert_eq!(imported["errors"], json!([]), "{name}");
        let before = contents(&file);
        let of = match &imported["collection"]["id"] {
            Value::Null => {
                // A single game is a draft.
                let game = &imported["opened"];
                json!({ "kind": "games", "games": [game] })
            }
            id => json!({ "kind": "collection", "id": id }),
        };
        let written = export(&server, &of, "pgn").await.text();
        let after = contents(written.as_bytes());
        assert_eq!(before.len(), after.len(), "{name}");
        for ((moves, headers), (new_moves, new_headers)) in before.iter().zip(&after) {
            assert_eq!(moves.len(), new_moves.len(), "{name}");
            for (node, new) in moves.iter().zip(new_moves) {
                assert_eq!(node, new, "{name}");
            }
            let lost: Vec<_> =
                headers.iter().filter(|header| !new_headers.contains(header)).collect();
            assert!(lost.is_empty(), "{name}: {lost:?}");
        }
        // What was written is written in the same way again.
        let again = server.import("?name=b.pgn&open=true&duplicates=keep", &written).await.json();
        if let Value::Number(id) = &again["collection"]["id"] {
            let of = json!({ "kind": "collection", "id": id });
            assert_eq!(export(&server, &of, "pgn").await.text(), written, "{name}");
        }
    }
}
