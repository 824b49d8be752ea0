//! Nothing is requested before the user has switched it on.

use serde_json::{Value, json};

use super::mock::{Mock, answer};
use super::use_mock;
use crate::support::{Fixture, get, post};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const QUEEN: &str = "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1";

/// Uses every part of the app that a page can use without a decision of the user.
async fn use_everything(server: &Fixture) {
    for path in ["/", "/api/choices", "/api/files", "/api/engines.toml", "/manifest.webmanifest"] {
        server.get(path).await;
    }
    let mut tab = server.tab().await;
    for topic in ["games", "engines", "matches", "jobs", "settings"] {
        tab.follow(topic).await;
    }
    let own = server.import("?name=a.pgn", "[Site \"https://lichess.org/AbCdEfGh\"]\n\n1. e4 *\n");
    assert_eq!(own.await.json()["total"], 1);
    server.search(&json!({})).await;
    server.open_pgn("1. d4 d5 *").await;
    for source in [
        json!({ "kind": "library", "filter": {} }),
        json!({ "kind": "lichess", "database": "masters" }),
        json!({ "kind": "lichess", "database": "players" }),
    ] {
        let query = json!({ "variant": "chess", "position": START, "source": source });
        let view = post(server, "/api/explorer", &query).await;
        if source["kind"] == "lichess" {
            let off = json!({ "code": "service_off", "host": "lichess_explorer" });
            assert_eq!(view["error"], off);
        }
    }
    let query = json!({ "variant": "chess", "position": QUEEN });
    let view = post(server, "/api/tablebase", &query).await;
    assert_eq!(view["error"]["code"], "no_tablebase_directory");
    for (site, service) in [("lichess", "lichess_games"), ("chesscom", "chesscom_games")] {
        let account = json!({ "site": site, "name": "Anna" });
        let command = json!({ "kind": "import_account", "account": account, "since": null });
        let answer = tab.ask(command).await;
        assert_eq!(answer["error"], json!({ "code": "service_off", "host": service }));
    }
    // A token permits nothing by itself.
    tab.done(json!({ "kind": "set_lichess_token", "token": "lip_secret" })).await;
    post(server, "/api/tablebase", &query).await;
    server.probes_ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_installation_sends_no_request() {
    let mock = Mock::start(|_, _| answer("200 OK", "", "{}")).await;
    let server = Fixture::start_as(|options| use_mock(options, &mock)).await;
    use_everything(&server).await;
    assert!(mock.requests().is_empty(), "{:?}", mock.requests());
}

/// With the real hosts: no socket of this process leads to another computer, at any time of its use.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_installation_has_no_connection_beyond_loopback() {
    let server = Fixture::start().await;
    let watched = tokio::spawn(async {
        let mut rounds = 0_u32;
        loop {
            let foreign = foreign_sockets();
            assert!(foreign.is_empty(), "{foreign:?}");
            rounds += 1;
            tokio::task::yield_now().await;
            if rounds == u32::MAX {
                return;
            }
        }
    });
    use_everything(&server).await;
    assert!(!watched.is_finished(), "a socket leads to another computer");
    watched.abort();
    assert_eq!(foreign_sockets(), [""; 0]);
    // What the test would find: the sockets of the server are listed.
    assert_eq!(get(&server.host, "/", &[]).await.status, 200);
    assert!(own_sockets().iter().any(|socket| is_loopback(&socket.0)));
}

/// The local and the remote addresses of the sockets of this process.
#[cfg(target_os = "linux")]
fn own_sockets() -> Vec<(String, String)> {
    let files = std::fs::read_dir("/proc/self/fd").expect("the open files");
    let own: std::collections::HashSet<String> = files
        .filter_map(|file| {
            let target = std::fs::read_link(file.ok()?.path()).ok()?;
            Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let mut sockets = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = std::fs::read_to_string(format!("/proc/self/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let [_, local, remote, ..] = fields.as_slice()
                && fields.get(9).is_some_and(|inode| own.contains(*inode))
            {
                sockets.push(((*local).to_owned(), (*remote).to_owned()));
            }
        }
    }
    sockets
}

/// Whether an address of the table is on loopback, or missing.
#[cfg(target_os = "linux")]
fn is_loopback(address: &str) -> bool {
    let (host, _) = address.split_once(':').expect("an address and a port");
    let none = host.bytes().all(|digit| digit == b'0');
    // In the byte order of the machine: 127.0.0.1, and ::1 or the mapped address.
    let loopback = ["7F", "01000000"].iter().any(|end| host.ends_with(end));
    none || loopback
}

#[cfg(target_os = "linux")]
fn foreign_sockets() -> Vec<String> {
    own_sockets()
        .into_iter()
        .map(|(_, remote)| remote)
        .filter(|remote| !is_loopback(remote))
        .collect()
}

/// The settings page names the host of each service, and what is sent there, in both languages.
#[test]
fn the_page_states_what_is_sent() {
    let texts = |name: &str| {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src").join(name);
        std::fs::read_to_string(path).expect("the texts")
    };
    let hosts = texts("api/errors.ts");
    let services: Vec<Value> = [
        ("lichess_games", "lichess.org"),
        ("chesscom_games", "api.chess.com"),
        ("lichess_explorer", "explorer.lichess.org"),
        ("lichess_tablebase", "tablebase.lichess.org"),
    ]
    .into_iter()
    .map(|(service, host)| {
        assert!(hosts.contains(&format!("'host.{service}': \"{host}\"")), "{service}");
        json!(service)
    })
    .collect();
    for language in ["en", "ja"] {
        let texts = texts(&format!("i18n/{language}.ts"));
        for service in &services {
            let service = service.as_str().expect("a name");
            assert!(texts.contains(&format!("'online.{service}.sent':")), "{language}: {service}");
        }
    }
}
