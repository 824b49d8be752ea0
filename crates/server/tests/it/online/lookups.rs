//! The explorer and the tablebases of Lichess as sources of the panels.

use serde_json::{Value, json};

use super::mock::{Mock, Received, Step, answer, json_answer};
use super::{settings, start};
use crate::support::{Fixture, Tab, post};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const QUEEN: &str = "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1";

async fn explore(server: &Fixture, variant: &str, database: &str) -> Value {
    let source = json!({ "kind": "lichess", "database": database });
    let query = json!({ "variant": variant, "position": START, "source": source });
    post(server, "/api/explorer", &query).await
}

async fn probe(server: &Fixture, position: &str) -> Value {
    post(server, "/api/tablebase", &json!({ "variant": "chess", "position": position })).await
}

async fn set_token(tab: &mut Tab, token: Option<&str>) {
    tab.done(json!({ "kind": "set_lichess_token", "token": token })).await;
}

/// The answers, in the form of the documentation of the API.
fn lichess(request: &Received, _: usize) -> Vec<Step> {
    let game = json!({
        "uci": "e2e4", "id": "kN6d9l2i", "winner": "white", "year": 2014, "month": "2014-06",
        "white": { "name": "Carlsen, M.", "rating": 2881 }, "black": { "name": "Anand, V.", "rating": 2785 },
    });
    let mv = json!({
        "uci": "e2e4", "san": "e4", "averageRating": 2396, "white": 4194, "draws": 5662, "black": 3168,
        "game": null, "opening": { "eco": "B00", "name": "King's Pawn Game" },
    });
    let explorer = json!({
        "white": 9338, "draws": 12712, "black": 6739, "moves": [mv], "topGames": [game], "opening": null,
    });
    let tablebase = json!({
        "checkmate": false, "stalemate": false, "variant_win": false, "variant_loss": false,
        "insufficient_material": false, "dtz": 1, "precise_dtz": 1, "dtm": 1, "category": "win",
        "moves": [
            {
                "uci": "f7g7", "san": "Qg7#", "zeroing": false, "checkmate": true, "stalemate": false,
                "insufficient_material": false, "dtz": -1, "dtm": 0, "category": "loss",
            },
            {
                "uci": "g6h6", "san": "Kh6", "zeroing": false, "checkmate": false, "stalemate": true,
                "insufficient_material": false, "dtz": 0, "dtm": 0, "category": "draw",
            },
        ],
    });
    match (request.host.as_str(), request.path.split('?').next()) {
        ("explorer.lichess.org", Some("/masters" | "/lichess")) => json_answer("", &explorer),
        ("tablebase.lichess.org", Some("/standard")) => json_answer("", &tablebase),
        _ => answer("404 Not Found", "", ""),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_explorer_shows_moves_of_lichess() {
    let mock = Mock::start(lichess).await;
    let (server, mut tab) = start(&mock, &["lichess_explorer"]).await;
    let without = explore(&server, "chess", "masters").await;
    assert_eq!(without["error"], json!({ "code": "token_required", "host": "lichess_explorer" }));
    assert!(mock.requests().is_empty());
    set_token(&mut tab, Some("lip_secret")).await;
    let view = explore(&server, "chess", "masters").await;
    assert_eq!(view["kind"], "lichess", "{view}");
    let counts = json!({ "first": 9338, "draws": 12712, "second": 6739, "unknown": 0 });
    assert_eq!(view["counts"], counts);
    let mv = &view["moves"][0];
    assert_eq!((&mv["text"]["western"], &mv["rating"]), (&json!("e4"), &json!(2396.0)));
    let game = &view["games"][0];
    assert_eq!((&game["names"]["first"], &game["result"]), (&json!("Carlsen, M."), &json!("1-0")));
    let request = &mock.requests()[0];
    let encoded = START.replace(' ', "%20");
    assert_eq!(request.parameter("fen"), Some(encoded.as_str()));
    assert_eq!(request.header("authorization"), Some("Bearer lip_secret"));
    // The answer is known.
    assert_eq!(explore(&server, "chess", "masters").await, view);
    assert_eq!(mock.requests().len(), 1);
    explore(&server, "chess960", "players").await;
    assert_eq!(mock.requests()[1].parameter("variant"), Some("chess960"));
    for (variant, database) in [("chess960", "masters"), ("shogi", "players")] {
        let position = if variant == "shogi" {
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
        } else {
            START
        };
        let source = json!({ "kind": "lichess", "database": database });
        let query = json!({ "variant": variant, "position": position, "source": source });
        let view = post(&server, "/api/explorer", &query).await;
        assert_eq!(view["error"]["code"], "unsupported_game", "{view}");
    }
    assert_eq!(mock.requests().len(), 2);
    // The token is used, but not shown.
    let online = settings(&mut tab).await["online"].clone();
    assert_eq!(online["lichess_token"], true);
    assert!(!online.to_string().contains("secret"));
    set_token(&mut tab, None).await;
    let without = explore(&server, "chess", "masters").await;
    assert_eq!(without["error"]["code"], "token_required");
    let invalid = json!({ "kind": "set_lichess_token", "token": "a\r\nHost: example.org" });
    assert_eq!(tab.ask(invalid).await["error"]["code"], "invalid_text");
}

#[tokio::test(flavor = "multi_thread")]
async fn tablebases_of_lichess_rate_moves_without_tables() {
    let mock = Mock::start(lichess).await;
    let (server, mut tab) = start(&mock, &["lichess_tablebase"]).await;
    set_token(&mut tab, Some("lip_secret")).await;
    let view = probe(&server, QUEEN).await;
    assert_eq!((&view["category"], &view["online"]), (&json!("win"), &json!(true)), "{view}");
    let (mate, draw) = (&view["moves"][0], &view["moves"][1]);
    assert_eq!((&mate["category"], &mate["end"]), (&json!("win"), &json!("checkmate")));
    assert_eq!((&draw["category"], &draw["end"]), (&json!("draw"), &json!("stalemate")));
    let request = &mock.requests()[0];
    assert_eq!(request.path, format!("/standard?fen={}", QUEEN.replace(' ', "%20")));
    assert_eq!(request.header("authorization"), None);
    let many = probe(&server, START.replace("KQkq", "-").as_str()).await;
    assert_eq!(many["error"], json!({ "code": "tablebase_pieces", "pieces": 32, "limit": 7 }));
    assert_eq!(probe(&server, START).await["error"]["code"], "tablebase_castling");
    assert_eq!(mock.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_this_computer_have_priority() {
    let mock = Mock::start(lichess).await;
    let (server, mut tab) = start(&mock, &["lichess_tablebase"]).await;
    let tables = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/syzygy");
    let own = server.data.join("syzygy");
    std::fs::create_dir(&own).expect("a directory");
    for file in tables.read_dir().expect("the tables") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), own.join(file.file_name())).expect("copied");
    }
    tab.done(json!({ "kind": "add_syzygy", "path": own })).await;
    let view = probe(&server, QUEEN).await;
    assert_eq!((&view["category"], &view["online"]), (&json!("win"), &json!(false)), "{view}");
    assert!(mock.requests().is_empty());
    // No table of this computer has a rook, a bishop and a knight.
    probe(&server, "7k/8/6K1/8/8/8/8/1RBN4 w - - 0 1").await;
    assert_eq!(mock.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_rate_limit_lichess_is_left_alone() {
    let mock = Mock::start(|_, _| answer("429 Too Many Requests", "Retry-After: 50\r\n", "")).await;
    let (server, mut tab) = start(&mock, &["lichess_explorer", "lichess_tablebase"]).await;
    set_token(&mut tab, Some("lip_secret")).await;
    for database in ["masters", "players", "masters"] {
        let limited = explore(&server, "chess", database).await;
        assert_eq!(limited["error"]["code"], "rate_limited", "{limited}");
        assert_eq!(limited["category"], "online");
    }
    assert_eq!(mock.requests().len(), 1);
    // The other service has a limit of its own.
    assert_eq!(probe(&server, QUEEN).await["error"]["code"], "rate_limited");
    assert_eq!(mock.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_answers_are_errors() {
    let huge = "x".repeat((1 << 20) + 1);
    let mock = Mock::start(move |_, number| match number {
        0 => answer("200 OK", "", "<html>"),
        1 => answer("200 OK", "", &huge),
        2 => vec![Step::Send(b"SSH-2.0-OpenSSH\r\n".to_vec())],
        _ => json_answer(
            "",
            &json!({ "category": "nonsense", "moves": [{ "uci": "x", "category": "win" }] }),
        ),
    })
    .await;
    let (server, _tab) = start(&mock, &["lichess_tablebase"]).await;
    for code in ["answer_malformed", "answer_too_large", "service_interrupted"] {
        assert_eq!(probe(&server, QUEEN).await["error"]["code"], code);
    }
    let view = probe(&server, QUEEN).await;
    assert_eq!((&view["category"], &view["moves"]), (&Value::Null, &json!([])), "{view}");
}
