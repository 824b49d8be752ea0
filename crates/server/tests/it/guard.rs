//! Authentication: a test for each rule.

use std::time::Duration;

use readyok_server::{Options, Password, ServeError, Server, Warning};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Error;

use crate::support::{
    Fixture, LONG, get, log_in, open_socket, options, send, session_of, token_of,
};

/// The hash of `secret`.
fn password() -> Password {
    Password::new("secret").expect("a hash")
}

#[tokio::test(flavor = "multi_thread")]
async fn listens_on_loopback_only_unless_protected() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut open = options(directory.path());
    open.listen = Some("0.0.0.0".parse().expect("an address"));
    let rejected = Server::bind(open.clone()).await.err();
    assert!(matches!(rejected, Some(ServeError::Unprotected)), "{rejected:?}");
    open.password = Some(password());
    let rejected = Server::bind(open.clone()).await.err();
    assert!(matches!(rejected, Some(ServeError::Unprotected)), "{rejected:?}");
    open.hosts = vec!["readyok.example".to_owned()];
    let server = Fixture::start_with(open).await;
    let port = server.host.rsplit_once(':').expect("a port").1.to_owned();
    let host = format!("readyok.example:{port}");
    let login = |password: &'static str, host: String, to: String| async move {
        let origin = format!("http://{host}");
        let headers =
            [("host", host.as_str()), ("origin", &origin), ("content-type", "application/json")];
        let body = format!("{{\"password\":\"{password}\"}}");
        send(&to, "POST", "/api/login", &headers, body.as_bytes()).await
    };
    let methods = get(&server.host, "/api/login", &[("host", &host)]).await;
    assert_eq!(methods.json(), json!({ "password": true, "accounts": false }));
    assert_eq!(login("wrong", host.clone(), server.host.clone()).await.status, 401);
    let entered = login("secret", host.clone(), server.host.clone()).await;
    assert_eq!(entered.status, 200);
    let authorization = format!("Bearer {}", session_of(&entered));
    let headers = [("host", host.as_str()), ("authorization", &authorization)];
    assert_eq!(get(&server.host, "/api/choices", &headers).await.status, 200);
}

/// Sends a password from an address of this machine.
async fn try_password(host: &str, from: &str, password: &str) -> (u16, Option<u64>) {
    try_password_with(host, from, "", password).await
}

/// Sends a password with more header lines.
async fn try_password_with(
    host: &str,
    from: &str,
    lines: &str,
    password: &str,
) -> (u16, Option<u64>) {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(format!("{from}:0").parse().expect("an address")).expect("an address of loopback");
    let mut stream = socket.connect(host.parse().expect("an address")).await.expect("it listens");
    let body = json!({ "password": password }).to_string();
    let head = format!(
        "POST /api/login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n{lines}\
        Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    let status = answer.get(9..12).and_then(|status| status.parse().ok()).expect("a status");
    let wait = answer.lines().find_map(|line| line.strip_prefix("retry-after: ")?.parse().ok());
    (status, wait)
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn wrong_passwords_delay_their_own_address_only() {
    let server = Fixture::start_as(|options| options.password = Some(password())).await;
    let mut statuses = Vec::new();
    for _ in 0..30 {
        statuses.push(try_password(&server.host, "127.0.0.2", "wrong").await.0);
    }
    assert_eq!(statuses.first(), Some(&401));
    assert_eq!(statuses.last(), Some(&429));
    // Even the right one is rejected, with the waiting time.
    let (status, wait) = try_password(&server.host, "127.0.0.2", "secret").await;
    assert_eq!(status, 429);
    assert!((1..=60).contains(&wait.expect("a time")), "{wait:?}");
    assert_eq!(try_password(&server.host, "127.0.0.1", "secret").await.0, 200);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn wrong_passwords_count_by_the_client_that_a_trusted_proxy_names() {
    let server = Fixture::start_as(|options| {
        options.password = Some(password());
        options.trusted_proxies = vec!["127.0.0.2".parse().expect("an address")];
    })
    .await;
    let last = async |from: &str, line: fn(usize) -> String| {
        let mut status = 0;
        for number in 0..12 {
            status = try_password_with(&server.host, from, &line(number), "wrong").await.0;
        }
        status
    };
    // Each request names another client before the one that the proxy has appended.
    let forged = |number| format!("X-Forwarded-For: 198.51.100.{number}, 192.0.2.1\r\n");
    assert_eq!(last("127.0.0.2", forged).await, 429);
    let owner = "Forwarded: for=\"[2001:db8::1]\"\r\n";
    assert_eq!(try_password_with(&server.host, "127.0.0.2", owner, "secret").await.0, 200);
    // Only a trusted proxy names clients.
    assert_eq!(last("127.0.0.3", forged).await, 429);
    assert_eq!(try_password(&server.host, "127.0.0.3", "secret").await.0, 429);
    assert_eq!(try_password(&server.host, "127.0.0.1", "secret").await.0, 200);
}

/// Guesses from any number of addresses neither block the page nor reject its session.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn the_owner_is_served_and_logs_in_while_many_addresses_guess() {
    let server = Fixture::start_as(|options| options.password = Some(password())).await;
    assert_eq!(try_password(&server.host, "127.0.0.1", "secret").await.0, 200);
    let guesses: Vec<_> = (2..52)
        .map(|number| {
            let host = server.host.clone();
            tokio::spawn(async move {
                try_password(&host, &format!("127.0.1.{number}"), "wrong").await.0
            })
        })
        .collect();
    assert_eq!(server.get("/api/choices").await.status, 200);
    let mut tab = server.tab().await;
    assert_eq!(tab.follow("games").await["games"], json!([]));
    assert_eq!(try_password(&server.host, "127.0.0.1", "secret").await.0, 200);
    let mut statuses = Vec::new();
    for guess in guesses {
        statuses.push(guess.await.expect("an answer"));
    }
    // They exceed the rate of hashes.
    assert!(statuses.contains(&401) && statuses.iter().all(|status| [401, 429].contains(status)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_accepted_after_wrong_passwords() {
    let server = Fixture::start_as(|options| options.password = Some(password())).await;
    for _ in 0..30 {
        log_in(&server.host, &json!({ "password": "wrong" })).await;
    }
    let token = server.post("/api/link", "application/json", b"").await.json()["token"].clone();
    assert_eq!(log_in(&server.host, &json!({ "token": token })).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_passwords_if_none_is_set() {
    let server = Fixture::start().await;
    for password in ["", "wrong"] {
        let answer = log_in(&server.host, &json!({ "password": password })).await;
        assert_eq!(answer.status, 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_unknown_hosts() {
    let server = Fixture::start().await;
    let port = server.host.rsplit_once(':').expect("a port").1;
    for (host, status) in [
        (format!("localhost:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        ("evil.example".to_owned(), 421),
        (format!("evil.example:{port}"), 421),
        (format!("127.0.0.1.evil.example:{port}"), 421),
        ("127.0.0.1:1".to_owned(), 421),
        ("127.0.0.1".to_owned(), 421),
    ] {
        let answer = get(&server.host, "/", &[("host", &host)]).await;
        assert_eq!(answer.status, status, "{host}");
    }
    let twice = [("host", server.host.as_str()), ("host", "evil.example")];
    assert_eq!(get(&server.host, "/", &twice).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_valid_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::bind(options(directory.path())).await.expect("it can be served");
    let host = server.address().to_string();
    let link = server.link().expect("a link");
    let token = link.rsplit_once('=').expect("a token").1;
    assert_eq!(token.len(), 64, "256 bits");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    let path = format!("/?token={token}");
    // A program that previews links does not use them up.
    for _ in 0..2 {
        assert_eq!(get(&host, &path, &[]).await.status, 200);
    }
    let entered = log_in(&host, &token_of(&path)).await;
    assert_eq!(entered.status, 200);
    let session = session_of(&entered);
    assert_eq!(session.len(), 64, "256 bits");
    let headers = [("authorization", format!("Bearer {session}"))];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(get(&host, "/api/choices", &headers).await.status, 200);
    assert_eq!(log_in(&host, &token_of(&path)).await.status, 401);
    assert_eq!(log_in(&host, &json!({ "token": "0".repeat(64) })).await.status, 401);
    let _ = stop.send(());
    task.await.expect("it does not panic").expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_requires_authentication() {
    let server = Fixture::start().await;
    for path in ["/api/choices", "/api/files", "/api/engines.toml", "/api/export/1", "/api/nothing"]
    {
        assert_eq!(get(&server.host, path, &[]).await.status, 401, "{path}");
    }
    let wrong = server.authorization.replace(' ', " 0");
    assert_eq!(get(&server.host, "/api/choices", &[("authorization", &wrong)]).await.status, 401);
    // Cookies are sent to servers of other users on other ports.
    let session = server.authorization.trim_start_matches("Bearer ");
    let port = server.host.rsplit_once(':').expect("a port").1;
    for name in ["readyok", &format!("readyok-{port}"), "session", "authorization"] {
        let cookie = format!("{name}={session}");
        let answer = get(&server.host, "/api/choices", &[("cookie", &cookie)]).await;
        assert_eq!(answer.status, 401, "{name}");
    }
    // Requests that scripts of other pages can send are rejected.
    let paths =
        [format!("/api/choices?session={session}"), format!("/api/choices?token={session}")];
    for path in paths {
        assert_eq!(get(&server.host, &path, &[]).await.status, 401);
    }
    assert_eq!(server.get("/api/choices").await.status, 200);
    let note = std::fs::read_to_string(server.data.join("running")).expect("a note");
    let bearer = format!("Bearer {}", note.trim().rsplit_once(' ').expect("a token").1);
    let known = [("authorization", bearer.as_str())];
    assert_eq!(get(&server.host, "/api/choices", &known).await.status, 200);
    let unknown = [("authorization", "Bearer 0000")];
    assert_eq!(get(&server.host, "/api/choices", &unknown).await.status, 401);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let about = std::fs::metadata(server.data.join("running")).expect("a note");
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_requests_of_other_pages() {
    let server = Fixture::start().await;
    let ours = format!("http://{}", server.host);
    let body = br#"{"variant":"chess","text":"8/8/8/8/8/8/8/8 w - - 0 1"}"#;
    let json = "application/json";
    for (origin, site, kind, status) in [
        (Some(ours.as_str()), None, json, 200),
        (Some(ours.as_str()), Some("same-origin"), json, 200),
        // Programs send no origin.
        (None, None, json, 200),
        (Some("http://evil.example"), None, json, 403),
        // Another server on this machine is of the same site.
        (Some("http://127.0.0.1:1"), Some("same-site"), json, 403),
        (Some(ours.as_str()), Some("same-site"), json, 403),
        (Some(ours.as_str()), Some("cross-site"), json, 403),
        (Some("null"), None, json, 403),
        (Some(ours.as_str()), None, "text/plain", 415),
        (Some(ours.as_str()), None, "application/x-www-form-urlencoded", 415),
        (Some(ours.as_str()), None, "", 415),
    ] {
        let mut headers = vec![("authorization", server.authorization.as_str())];
        headers.extend(origin.map(|origin| ("origin", origin)));
        headers.extend(site.map(|site| ("sec-fetch-site", site)));
        headers.extend(Some(("content-type", kind)).filter(|_| !kind.is_empty()));
        let answer = send(&server.host, "POST", "/api/position", &headers, body).await;
        assert_eq!(answer.status, status, "{origin:?} {site:?} {kind}");
        // Another page cannot log in even with the password.
        if status == 403 || origin.is_none() {
            let answer = send(&server.host, "POST", "/api/login", &headers[1..], b"{}").await;
            assert_eq!(answer.status, 403, "{origin:?} {site:?} {kind}");
        }
    }
    // A read request changes nothing.
    assert_eq!(server.get("/api/import").await.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn cross_site_links_open_the_start_page_only() {
    let server = Fixture::start().await;
    let authorization = server.authorization.as_str();
    for (path, mode, status) in [
        ("/", "navigate", 200),
        // The first navigation of the browser that the program opens.
        ("/?token=0000", "navigate", 200),
        ("/?token=0000", "no-cors", 403),
        ("/?other=0000", "navigate", 403),
        ("/app.js?token=0000", "navigate", 403),
        ("/api/choices?token=0000", "navigate", 403),
    ] {
        let from = [
            ("authorization", authorization),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", mode),
        ];
        assert_eq!(get(&server.host, path, &from).await.status, status, "{path} {mode}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_require_the_origin_and_the_secret() {
    let server = Fixture::start().await;
    let ours = format!("http://{}", server.host);
    let [(_, protocols), _] = server.socket_headers();
    let guessed = format!("readyok, {}", "0".repeat(64));
    for (origin, protocols, status) in [
        (Some(ours.as_str()), Some(protocols.as_str()), None),
        (None, Some(&protocols), Some(403)),
        (Some("http://evil.example"), Some(&protocols), Some(403)),
        (Some("http://127.0.0.1:1"), Some(&protocols), Some(403)),
        (Some(&ours), Some("readyok"), Some(401)),
        (Some(&ours), Some(&guessed), Some(401)),
        (Some(&ours), None, Some(401)),
    ] {
        let session = server.authorization.replace("Bearer ", "readyok=");
        let mut headers = vec![("cookie", session)];
        headers.extend(origin.map(|origin| ("origin", origin.to_owned())));
        headers.extend(protocols.map(|all| ("sec-websocket-protocol", all.to_owned())));
        let stream = TcpStream::connect(&server.host).await.expect("it listens");
        let rejected = match open_socket(&server.host, stream, &headers).await {
            Ok(_) => None,
            Err(Error::Http(answer)) => Some(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(rejected, status, "{origin:?} {protocols:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_response_has_security_headers() {
    let server = Fixture::start().await;
    let paths = ["/", "/app.js", "/nothing", "/api/choices", "/api/engines.toml"];
    for path in paths {
        for answer in [server.get(path).await, get(&server.host, path, &[]).await] {
            let policy = answer.header("content-security-policy").expect("a policy");
            for part in [
                "default-src 'self'",
                "frame-ancestors 'none'",
                "base-uri 'none'",
                "form-action 'none'",
            ] {
                assert!(policy.contains(part), "{path}: {policy}");
            }
            assert!(!policy.contains("script-src"), "scripts follow the default");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
            assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
            assert_eq!(
                answer.header("cross-origin-resource-policy"),
                Some("same-origin"),
                "{path}"
            );
            assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
            assert_eq!(answer.header("set-cookie"), None, "{path}");
        }
    }
    let page = server.get("/").await;
    assert!(!page.text().contains("<script>"), "a script within the page");
    let tag = page.header("etag").expect("a tag").to_owned();
    let again = get(&server.host, "/", &[("if-none-match", &tag)]).await;
    assert_eq!(again.status, 304);
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_are_compressed_for_clients_that_accept_it() {
    let server = Fixture::start().await;
    let plain = server.get("/app.js").await;
    assert_eq!(plain.header("content-encoding"), None);
    let gzip = get(&server.host, "/app.js", &[("accept-encoding", "br, gzip;q=0.8")]).await;
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    assert_eq!(gzip.header("vary"), Some("accept-encoding"));
    // The first bytes of the format.
    assert!(gzip.body.starts_with(&[0x1f, 0x8b]) && gzip.body.len() * 2 < plain.body.len());
    let tag = gzip.header("etag").expect("a tag").to_owned();
    assert_ne!(Some(tag.as_str()), plain.header("etag"));
    let again = [("accept-encoding", "gzip"), ("if-none-match", tag.as_str())];
    assert_eq!(get(&server.host, "/app.js", &again).await.status, 304);
    let identity = get(&server.host, "/app.js", &[("accept-encoding", "gzip;q=0")]).await;
    assert_eq!(identity.header("content-encoding"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_large_requests() {
    let server = Fixture::start().await;
    let large = vec![b' '; (1 << 20) + 1];
    let answer = server.post("/api/library/search", "application/json", &large).await;
    assert_eq!(answer.status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_large_requests_before_authentication() {
    let server = Fixture::start().await;
    let origin = format!("http://{}", server.host);
    let headers = [("origin", origin.as_str()), ("content-type", "application/json")];
    let large = vec![b' '; 8 << 10];
    let answer = send(&server.host, "POST", "/api/login", &headers, &large).await;
    assert_eq!(answer.status, 413);
    // A large one is rejected early.
    for length in ["Content-Length: 60000000", "Transfer-Encoding: chunked"] {
        let mut stream = TcpStream::connect(&server.host).await.expect("it listens");
        let head = format!(
            "POST /api/login HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\n\
            Content-Type: application/json\r\n{length}\r\n\r\n1388\r\n",
            server.host
        );
        stream.write_all(head.as_bytes()).await.expect("it reads");
        stream.write_all(&[b' '; 5000]).await.expect("it reads");
        let mut answer = [0; 12];
        timeout(LONG, stream.read_exact(&mut answer)).await.expect("in time").expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 413", "{length}");
    }
}

/// Reads until the server closes the connection.
async fn closed(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // It may be reset as well.
    let _ = timeout(LONG, stream.read_to_end(&mut answer)).await.expect("it is closed");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_unauthenticated_clients_are_disconnected() {
    let server =
        Fixture::start_as(|options| options.request_timeout = Duration::from_millis(500)).await;
    let mut tab = server.tab().await;
    let login = format!(
        "POST /api/login HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\n\
        Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        server.host
    );
    for begun in ["", "GET / HTTP/1.1\r\nHost:", &login] {
        let mut stream = TcpStream::connect(&server.host).await.expect("it listens");
        stream.write_all(begun.as_bytes()).await.expect("it reads");
        let answer = closed(&mut stream).await;
        assert!(!answer.contains(" 200 "), "{answer}");
    }
    // A client that does not read occupies its connection for a limited time.
    let mut stream = TcpStream::connect(&server.host).await.expect("it listens");
    let ask = format!("GET /app.js HTTP/1.1\r\nHost: {}\r\n\r\n", server.host).repeat(500);
    let _ = timeout(LONG, stream.write_all(ask.as_bytes())).await.expect("it is closed");
    closed(&mut stream).await;
    // An idle tab stays connected.
    assert_eq!(tab.follow("games").await["games"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn unauthenticated_clients_do_not_block_the_page() {
    let server =
        Fixture::start_as(|options| options.request_timeout = Duration::from_hours(1)).await;
    let mut tab = server.tab().await;
    let mut strangers = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(&server.host).await.expect("it listens");
        let _ = stream.write_all(b"POST /api/login HTTP/1.1\r\nHost:").await;
        strangers.push(stream);
    }
    assert_eq!(server.get("/api/choices").await.status, 200);
    assert_eq!(tab.follow("games").await["games"], json!([]));
    let mut another = server.tab().await;
    assert_eq!(another.follow("games").await["games"], json!([]));
    // The oldest connection was closed.
    assert_eq!(closed(&mut strangers[0]).await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_listening_address_is_a_known_host() {
    // Not every system has more than one loopback address.
    for address in ["127.0.0.2", "127.0.0.1", "::1"] {
        if std::net::TcpListener::bind((address, 0)).is_err() {
            continue;
        }
        let server = Fixture::start_as(|options| {
            options.listen = Some(address.parse().expect("an address"));
        })
        .await;
        assert!(server.host.contains(address), "{}", server.host);
        assert_eq!(server.get("/").await.status, 200);
        // Another program may listen there.
        let port = server.host.rsplit_once(':').expect("a port").1;
        for other in ["127.0.0.3", "[::1]", "127.0.0.1"].map(|host| format!("{host}:{port}")) {
            if other != server.host {
                let answer = get(&server.host, "/", &[("host", &other)]).await;
                assert_eq!(answer.status, 421, "{other}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_shown_below_the_roots_only() {
    let server = Fixture::start().await;
    let roots = server.get("/api/files").await.json();
    let root = roots["entries"][0]["path"].as_str().expect("a root").to_owned();
    assert_eq!(server.get(&format!("/api/files?path={root}")).await.status, 200);
    for path in ["/etc", "/", "etc", &format!("{root}/..")] {
        assert_eq!(server.get(&format!("/api/files?path={path}")).await.status, 403, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_root_beyond_loopback_and_a_second_server() {
    let directory = tempfile::tempdir().expect("a directory");
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        let mut careful = options(directory.path());
        careful.allow_root = false;
        let beyond = Options {
            listen: Some("0.0.0.0".parse().expect("an address")),
            password: Some(password()),
            hosts: vec!["readyok.example".to_owned()],
            ..careful.clone()
        };
        let rejected = Server::bind(beyond).await.err();
        assert!(matches!(rejected, Some(ServeError::Root)), "{rejected:?}");
        let warned = Server::bind(careful).await.expect("it can be served");
        assert_eq!(warned.warnings(), [Warning::Root]);
    }
    let server = Fixture::start_with(options(directory.path())).await;
    // The second server waits for an answer of the first one, so it runs on another thread.
    let (again, here) = (options(directory.path()), Handle::current());
    let second = spawn_blocking(move || here.block_on(Server::bind(again)));
    let second = second.await.expect("it does not panic");
    let Err(ServeError::Running(Some(link))) = &second else { panic!("{second:?}") };
    let path = link.strip_prefix(&format!("http://{}", server.host)).expect("a link to it");
    assert_eq!(log_in(&server.host, &token_of(path)).await.status, 200);
    server.stop().await;
    drop(Fixture::start_with(options(directory.path())).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_server_has_the_same_address_and_requires_authentication_again() {
    let directory = tempfile::tempdir().expect("a directory");
    // Another program may use the port in the meantime.
    for _ in 0..10 {
        let first = Fixture::start_with(options(directory.path())).await;
        let (host, before) = (first.host.clone(), first.authorization.clone());
        first.stop().await;
        let second = Fixture::start_with(options(directory.path())).await;
        if second.host == host {
            let old = [("authorization", before.as_str())];
            assert_eq!(get(&host, "/api/choices", &old).await.status, 401);
            assert_eq!(second.get("/api/choices").await.status, 200);
            return;
        }
    }
    panic!("the address never stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_another_port_if_the_previous_one_is_in_use() {
    let directory = tempfile::tempdir().expect("a directory");
    let first = Fixture::start_with(options(directory.path())).await;
    let host = first.host.clone();
    first.stop().await;
    // Another program listens on the port from now on.
    let _taken = tokio::net::TcpListener::bind(&host).await;
    let second = Fixture::start_with(options(directory.path())).await;
    assert_ne!(second.host, host);
    assert_eq!(second.get("/api/choices").await.status, 200);
}
