//! Who may come in: a test for each thing that must be so.

use readyok_server::{ServeError, Server};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio_tungstenite::tungstenite::Error;

use crate::support::{Fixture, get, open_socket, options, send};

#[tokio::test(flavor = "multi_thread")]
async fn it_listens_on_loopback_alone_unless_it_is_protected() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut open = options(folder.path());
    open.listen = Some("0.0.0.0".parse().expect("an address"));
    let refused = Server::bind(open.clone()).await.err();
    assert!(matches!(refused, Some(ServeError::Unprotected)), "{refused:?}");
    open.password = Some("secret".to_owned());
    let refused = Server::bind(open.clone()).await.err();
    assert!(matches!(refused, Some(ServeError::Unprotected)), "{refused:?}");
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
    assert_eq!(login("wrong", host.clone(), server.host.clone()).await.status, 401);
    let entered = login("secret", host.clone(), server.host.clone()).await;
    assert_eq!(entered.status, 200);
    let cookie = entered.header("set-cookie").expect("a cookie").split(';').next();
    let headers = [("host", host.as_str()), ("cookie", cookie.expect("a value"))];
    assert_eq!(get(&server.host, "/api/choices", &headers).await.status, 200);
    for _ in 0..20 {
        login("wrong", host.clone(), server.host.clone()).await;
    }
    assert_eq!(login("secret", host, server.host.clone()).await.status, 429);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_known_hosts_are_answered() {
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
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_lets_one_visitor_in_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::bind(options(folder.path())).await.expect("it can be served");
    let host = server.address().to_string();
    let link = server.link().expect("a link");
    let token = link.rsplit_once('=').expect("a token").1;
    assert_eq!(token.len(), 64, "256 bits");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    let path = format!("/?token={token}");
    let entered = get(&host, &path, &[]).await;
    assert_eq!((entered.status, entered.header("location")), (303, Some("/")));
    let cookie = entered.header("set-cookie").expect("a cookie").to_owned();
    let port = host.rsplit_once(':').expect("a port").1;
    assert!(cookie.starts_with(&format!("readyok-{port}=")), "{cookie}");
    for needed in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(needed), "{cookie}");
    }
    assert_eq!(get(&host, &path, &[]).await.header("set-cookie"), None);
    let guessed = format!("/?token={}", "0".repeat(64));
    assert_eq!(get(&host, &guessed, &[]).await.header("set-cookie"), None);
    let _ = stop.send(());
    task.await.expect("it does not panic").expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_api_is_open_to_strangers() {
    let server = Fixture::start().await;
    for path in ["/api/choices", "/api/files", "/api/engines.toml", "/api/export/1", "/api/nothing"]
    {
        assert_eq!(get(&server.host, path, &[]).await.status, 401, "{path}");
    }
    let wrong = server.cookie.replace('=', "=0");
    assert_eq!(get(&server.host, "/api/choices", &[("cookie", &wrong)]).await.status, 401);
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
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_pages_can_change_nothing() {
    let server = Fixture::start().await;
    let ours = format!("http://{}", server.host);
    let body = br#"{"variant":"chess","text":"8/8/8/8/8/8/8/8 w - - 0 1"}"#;
    let json = "application/json";
    for (origin, site, kind, status) in [
        (Some(ours.as_str()), None, json, 200),
        (Some(ours.as_str()), Some("same-origin"), json, 200),
        (None, None, json, 403),
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
        let mut headers = vec![("cookie", server.cookie.as_str())];
        headers.extend(origin.map(|origin| ("origin", origin)));
        headers.extend(site.map(|site| ("sec-fetch-site", site)));
        headers.extend(Some(("content-type", kind)).filter(|_| !kind.is_empty()));
        let answer = send(&server.host, "POST", "/api/position", &headers, body).await;
        assert_eq!(answer.status, status, "{origin:?} {site:?} {kind}");
    }
    // Nothing is changed by asking for it.
    assert_eq!(server.get("/api/import").await.status, 405);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_elsewhere_lead_to_the_start_page_alone() {
    let server = Fixture::start().await;
    let cookie = server.cookie.as_str();
    for (path, mode, status) in [
        ("/", "navigate", 200),
        // As the page that the program opens browsers with.
        ("/?token=0000", "navigate", 303),
        ("/?token=0000", "no-cors", 403),
        ("/?other=0000", "navigate", 403),
        ("/app.js?token=0000", "navigate", 403),
        ("/api/choices?token=0000", "navigate", 403),
    ] {
        let from = [("cookie", cookie), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode)];
        assert_eq!(get(&server.host, path, &from).await.status, status, "{path} {mode}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_opens_for_the_page_alone() {
    let server = Fixture::start().await;
    let ours = format!("http://{}", server.host);
    let cookie = server.cookie.clone();
    for (origin, cookie, status) in [
        (Some(ours.clone()), Some(cookie.clone()), None),
        (None, Some(cookie.clone()), Some(403)),
        (Some("http://evil.example".to_owned()), Some(cookie.clone()), Some(403)),
        (Some("http://127.0.0.1:1".to_owned()), Some(cookie.clone()), Some(403)),
        (Some(ours.clone()), None, Some(401)),
    ] {
        let mut headers = Vec::new();
        headers.extend(origin.clone().map(|origin| ("origin", origin)));
        headers.extend(cookie.clone().map(|cookie| ("cookie", cookie)));
        let stream = TcpStream::connect(&server.host).await.expect("it listens");
        let refused = match open_socket(&server.host, stream, &headers).await {
            Ok(_) => None,
            Err(Error::Http(answer)) => Some(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(refused, status, "{origin:?} {cookie:?}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_tells_browsers_what_they_may_do_with_it() {
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
        }
    }
    let page = server.get("/").await;
    assert!(!page.text().contains("<script>"), "a script within the page");
    let tag = page.header("etag").expect("a tag").to_owned();
    let again = get(&server.host, "/", &[("if-none-match", &tag)]).await;
    assert_eq!(again.status, 304);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_not_taken() {
    let server = Fixture::start().await;
    let large = vec![b' '; (64 << 20) + 1];
    let answer = server.post("/api/import?name=x.pgn", "application/octet-stream", &large).await;
    assert_eq!(answer.status, 413);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_shown_below_the_roots_alone() {
    let server = Fixture::start().await;
    let roots = server.get("/api/files").await.json();
    let root = roots["entries"][0]["path"].as_str().expect("a root").to_owned();
    assert_eq!(server.get(&format!("/api/files?path={root}")).await.status, 200);
    for path in ["/etc", "/", "etc", &format!("{root}/..")] {
        assert_eq!(server.get(&format!("/api/files?path={path}")).await.status, 403, "{path}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_administrator_is_refused_and_a_second_start_too() {
    let folder = tempfile::tempdir().expect("a folder");
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        let mut careful = options(folder.path());
        careful.allow_root = false;
        let refused = Server::bind(careful).await.err();
        assert!(matches!(refused, Some(ServeError::Root)), "{refused:?}");
    }
    let server = Fixture::start_with(options(folder.path())).await;
    // It waits for the first one to answer, as another program would: not where that one runs.
    let (again, here) = (options(folder.path()), Handle::current());
    let second = spawn_blocking(move || here.block_on(Server::bind(again)));
    let second = second.await.expect("it does not panic");
    let Err(ServeError::Running(Some(link))) = &second else { panic!("{second:?}") };
    let path = link.strip_prefix(&format!("http://{}", server.host)).expect("a link to it");
    assert!(get(&server.host, path, &[]).await.header("set-cookie").is_some());
    server.stop().await;
    let third = Fixture::start_with(options(folder.path())).await;
    third.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_server_has_the_same_address_and_lets_everybody_in_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    // Any port can be taken by another program meanwhile.
    for _ in 0..10 {
        let first = Fixture::start_with(options(folder.path())).await;
        let (host, cookie) = (first.host.clone(), first.cookie.clone());
        first.stop().await;
        let second = Fixture::start_with(options(folder.path())).await;
        if second.host == host {
            let old = [("cookie", cookie.as_str())];
            assert_eq!(get(&host, "/api/choices", &old).await.status, 401);
            // What this one has given counts, whatever else the browser brings along.
            let port = host.rsplit_once(':').expect("a port").1;
            let other = format!("{cookie}; {}; readyok-1{port}=0", second.cookie);
            let both = [("cookie", other.as_str())];
            assert_eq!(get(&host, "/api/choices", &both).await.status, 200);
            let foreign = second.cookie.replacen(port, "1", 1);
            let foreign = [("cookie", foreign.as_str())];
            assert_eq!(get(&host, "/api/choices", &foreign).await.status, 401);
            second.stop().await;
            return;
        }
        second.stop().await;
    }
    panic!("the address never stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_keeps_no_server_from_running() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Fixture::start_with(options(folder.path())).await;
    let host = first.host.clone();
    first.stop().await;
    // Somebody listens there from now on, whoever it is.
    let _taken = tokio::net::TcpListener::bind(&host).await;
    let second = Fixture::start_with(options(folder.path())).await;
    assert_ne!(second.host, host);
    assert_eq!(second.get("/api/choices").await.status, 200);
    second.stop().await;
}
