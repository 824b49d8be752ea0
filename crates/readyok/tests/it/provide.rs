//! `readyok provide` with a server of the external engine protocol, written from its published specification.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::http_server::{Head, answer, listen};
use crate::program::{Dir, Signal, TIMEOUT, finish, readyok, signal};
use serde_json::{Value, json};

const TOKEN: &str = "lip_secret-token";
const JSON: &str = "content-type: application/json\r\n";

/// A request of the provider.
#[derive(Debug)]
struct Request {
    line: String,
    authorization: String,
    body: Value,
}

/// Lichess and its broker.
struct Server {
    address: String,
    requests: Receiver<Request>,
    /// The next answers to requests for work.
    work: Sender<String>,
    /// Lines of streams, with the ID of the work; the text `end` at the end.
    lines: Receiver<(String, String)>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    engines: Mutex<Value>,
    /// Number of lines after which a stream is closed.
    closes_after: Mutex<Option<usize>>,
    token: Mutex<String>,
}

impl Server {
    fn start(engines: Value) -> Self {
        let (request, requests) = mpsc::channel();
        let (work, next_work) = mpsc::channel();
        let (line, lines) = mpsc::channel();
        let shared = Arc::new(Shared::default());
        *shared.engines.lock().expect("a lock") = engines;
        TOKEN.clone_into(&mut shared.token.lock().expect("a lock"));
        let (next_work, serving) = (Mutex::new(next_work), Arc::clone(&shared));
        let address = listen(move |stream| serve(stream, &request, &next_work, &line, &serving));
        Self { address, requests, work, lines, shared }
    }

    fn provide(&self, dir: &Dir, arguments: &[&str]) -> Child {
        let mut command = self.command(dir, arguments);
        command.env("LICHESS_API_TOKEN", TOKEN);
        command.spawn().expect("readyok starts")
    }

    fn command(&self, dir: &Dir, arguments: &[&str]) -> Command {
        let mut command = readyok(dir);
        command.arg("provide").args(arguments);
        command.args(["--server", &self.address, "--broker", &self.address]);
        command.args(["--max-threads", "1", "--max-hash", "64"]);
        command
    }

    fn request(&self) -> Request {
        self.requests.recv_timeout(TIMEOUT).expect("a request")
    }

    fn send_work(&self, id: &str, session: &str, limits: &Value) {
        let mut work = json!({
            "sessionId": session,
            "threads": 8,
            "hash": 1024,
            "multiPv": 1,
            "variant": "chess",
            "initialFen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "moves": ["e2e4", "e7e5"],
        });
        for (name, value) in limits.as_object().expect("an object") {
            work[name] = value.clone();
        }
        let job = json!({ "id": id, "work": work, "engine": { "id": "eei_1" } });
        self.work.send(job.to_string()).expect("the server runs");
    }

    /// The lines of a stream up to its end.
    fn stream(&self, id: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let (found, line) = self.lines.recv_timeout(TIMEOUT).expect("a line");
            assert_eq!(found, id);
            if line == "end" {
                return lines;
            }
            lines.push(line);
        }
    }

    fn first_line(&self, id: &str) -> String {
        let (found, line) = self.lines.recv_timeout(TIMEOUT).expect("a line");
        assert_eq!(found, id);
        line
    }
}

/// Serves the requests of a connection.
fn serve(
    stream: TcpStream,
    requests: &Sender<Request>,
    work: &Mutex<Receiver<String>>,
    lines: &Sender<(String, String)>,
    shared: &Shared,
) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut stream = stream;
    while let Some(head) = Head::read(&mut reader) {
        // The provider may have closed the connection.
        let mut answer = |status, body: &str| _ = answer(&mut stream, status, JSON, body);
        if let Some(id) = head.path.strip_prefix("/api/external-engine/work/") {
            assert_eq!(head.header("transfer-encoding"), "chunked");
            read_stream(&mut reader, id, lines, shared);
            answer(200, "");
            return;
        }
        let body = head.body(&mut reader);
        let body: Value = serde_json::from_str(&body).unwrap_or_default();
        let authorization = head.header("authorization").to_owned();
        if head.path == "/api/external-engine/work" {
            // Requests for work follow each other, so they are not recorded.
            let next = work.lock().expect("a lock").recv_timeout(Duration::from_millis(300));
            match next {
                Ok(job) => answer(200, &job),
                Err(_) => answer(204, ""),
            }
            continue;
        }
        let expected = format!("Bearer {}", shared.token.lock().expect("a lock"));
        let is_allowed = authorization == expected;
        let line = format!("{} {} HTTP/1.1", head.method, head.path);
        requests.send(Request { line, authorization, body }).expect("a test");
        match head.method.as_str() {
            _ if !is_allowed => answer(401, r#"{"error":"No such token"}"#),
            "GET" => answer(200, &shared.engines.lock().expect("a lock").to_string()),
            _ => answer(200, r#"{"id":"eei_1"}"#),
        }
    }
}

/// Reads a chunked body, and sends its lines as they arrive.
fn read_stream(
    reader: &mut impl BufRead,
    id: &str,
    lines: &Sender<(String, String)>,
    shared: &Shared,
) {
    let mut count = 0;
    let mut text = Vec::new();
    loop {
        let mut size = String::new();
        if reader.read_line(&mut size).is_err() {
            break;
        }
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let mut chunk = vec![0; size + 2];
        if reader.read_exact(&mut chunk).is_err() || size == 0 {
            break;
        }
        text.extend_from_slice(&chunk[..size]);
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            let line = String::from_utf8(line).expect("UTF-8").trim_end().to_owned();
            if line.is_empty() {
                continue;
            }
            count += 1;
            lines.send((id.to_owned(), line)).expect("a test");
            let limit = *shared.closes_after.lock().expect("a lock");
            if limit.is_some_and(|limit| limit <= count) {
                lines.send((id.to_owned(), "end".to_owned())).expect("a test");
                return;
            }
        }
    }
    lines.send((id.to_owned(), "end".to_owned())).expect("a test");
}

fn end(child: Child) {
    signal(child.id(), Signal::TERM);
    let output = finish(child);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(!output.stderr.contains(TOKEN), "{}", output.stderr);
}

#[test]
fn registers_and_streams_an_analysis() {
    let dir = Dir::new();
    let server = Server::start(json!([]));
    let child = server.provide(&dir, &["narikin", "--name", "Test engine"]);
    assert_eq!(server.request().line, "GET /api/external-engine HTTP/1.1");
    let registration = server.request();
    assert_eq!(registration.line, "POST /api/external-engine HTTP/1.1");
    assert_eq!(registration.authorization, format!("Bearer {TOKEN}"));
    let body = &registration.body;
    assert_eq!(body["name"], "Test engine");
    assert_eq!((&body["maxThreads"], &body["maxHash"]), (&json!(1), &json!(64)));
    assert_eq!(body["variants"], json!(["chess"]));
    assert_eq!(body["providerSecret"].as_str().map(str::len), Some(64));

    server.send_work("first-1", "a", &json!({ "depth": 5, "multiPv": 2 }));
    let lines = server.stream("first-1");
    let (best, infos) = lines.split_last().expect("lines");
    assert!(best.starts_with("bestmove "), "{best}");
    assert!(infos.iter().any(|line| line.contains(" multipv 2 ")), "{infos:?}");
    for line in infos {
        assert!(line.starts_with("info ") && line.contains(" score "), "{line}");
        assert!(!line.contains(" wdl ") && !line.contains("string"), "{line}");
    }
    end(child);
}

#[test]
fn updates_a_registered_engine() {
    let dir = Dir::new();
    let server = Server::start(json!([{ "id": "eei_7", "name": "Mine" }]));
    let child = server.provide(&dir, &["narikin", "--name", "Mine"]);
    server.request();
    assert_eq!(server.request().line, "PUT /api/external-engine/eei_7 HTTP/1.1");
    end(child);
}

#[test]
fn stops_an_endless_search_when_the_stream_is_closed() {
    let dir = Dir::new();
    let server = Server::start(json!([]));
    *server.shared.closes_after.lock().expect("a lock") = Some(2);
    let child = server.provide(&dir, &["narikin"]);
    server.send_work("endless", "a", &json!({ "infinite": true }));
    assert_eq!(server.stream("endless").len(), 2);
    *server.shared.closes_after.lock().expect("a lock") = None;
    server.send_work("next", "a", &json!({ "depth": 3 }));
    assert!(server.stream("next").last().is_some_and(|line| line.starts_with("bestmove ")));
    end(child);
}

#[test]
fn new_request_stops_the_previous_search() {
    let dir = Dir::new();
    let server = Server::start(json!([]));
    let child = server.provide(&dir, &["narikin"]);
    server.send_work("endless", "a", &json!({ "infinite": true }));
    assert!(server.first_line("endless").starts_with("info "));
    server.send_work("next", "b", &json!({ "nodes": 2000 }));
    let endless = server.stream("endless");
    assert!(endless.last().is_some_and(|line| line.starts_with("bestmove ")), "{endless:?}");
    assert!(!server.stream("next").is_empty());
    end(child);
}

#[test]
fn continues_after_invalid_requests() {
    let dir = Dir::new();
    let server = Server::start(json!([]));
    let child = server.provide(&dir, &["narikin"]);
    server.send_work("illegal", "a", &json!({ "moves": ["e2e5"] }));
    assert!(server.stream("illegal").is_empty());
    server.send_work("other", "a", &json!({ "variant": "atomic" }));
    assert!(server.stream("other").is_empty());
    server.work.send("{\"id\": \"../x\"".to_owned()).expect("the server runs");
    server.send_work("valid", "a", &json!({ "depth": 2 }));
    assert!(!server.stream("valid").is_empty());
    end(child);
}

#[test]
fn rejects_wrong_tokens_without_printing_them() {
    let dir = Dir::new();
    let server = Server::start(json!([]));
    "another".clone_into(&mut server.shared.token.lock().expect("a lock"));
    let output = finish(server.provide(&dir, &["narikin"]));
    output.reports(1, "rejects the token");
    assert!(!output.stderr.contains(TOKEN), "{}", output.stderr);

    let output = finish(
        server
            .command(&dir, &["narikin"])
            .env_remove("LICHESS_API_TOKEN")
            .spawn()
            .expect("readyok starts"),
    );
    output.reports(2, "LICHESS_API_TOKEN");
}

#[cfg(unix)]
#[test]
fn reads_the_token_from_a_private_file() {
    use std::os::unix::fs::PermissionsExt;

    let dir = Dir::new();
    let server = Server::start(json!([]));
    let file = dir.write("token", &format!("{TOKEN}\n"));
    let path = file.to_str().expect("UTF-8");
    let permit = |mode| {
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("permissions");
    };
    permit(0o644);
    let arguments = ["narikin", "--token-file", path];
    let output = finish(server.command(&dir, &arguments).spawn().expect("readyok starts"));
    assert!(output.stderr.contains("chmod 600"), "{}", output.stderr);
    permit(0o600);
    let child = server.command(&dir, &arguments).spawn().expect("readyok starts");
    assert_eq!(server.request().authorization, format!("Bearer {TOKEN}"));
    server.request();
    end(child);
}
