//! A server in the test process, with tabs over real sockets.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use readyok_client::EngineProgram;
pub(crate) use readyok_server::Options;
use readyok_server::{OnlineSetup, ServeError, Server, ServerSettings};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, block_in_place, yield_now};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// A time limit for loaded machines.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// Path of the test engine, which is an example of this package: `cargo install` skips it.
pub(crate) fn mime() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| {
        let test = std::env::current_exe().expect("the path of this test");
        let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
        let program = profile.join("examples/mime").with_extension(std::env::consts::EXE_EXTENSION);
        assert!(
            program.exists(),
            "`cargo build --examples -p readyok-server` builds {}",
            program.display()
        );
        program.into_os_string().into_string().expect("UTF-8")
    });
    &PATH
}

/// A server with its data.
pub(crate) struct Fixture {
    pub(crate) host: String,
    /// The `Authorization` of the page.
    pub(crate) authorization: String,
    pub(crate) data: PathBuf,
    directory: Option<TempDir>,
    /// The server stops when it is dropped.
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<()>>,
}

/// At the end of a test that does not fail, the server has to end without a panic.
impl Drop for Fixture {
    fn drop(&mut self) {
        drop(self.stop.take());
        if !std::thread::panicking() {
            block_in_place(|| Handle::current().block_on(self.wait()));
        }
    }
}

/// Options for a server in a directory. The test engine is the built-in one.
pub(crate) fn options(data: &Path) -> Options {
    Options {
        port: 0,
        listen: None,
        password: None,
        hosts: Vec::new(),
        trusted_proxies: Vec::new(),
        allow_root: true,
        roots: Vec::new(),
        reload: Options::RELOAD,
        request_timeout: Options::REQUEST_TIMEOUT,
        queue: None,
        reader_password: None,
        accounts: Vec::new(),
        repositories: BTreeSet::new(),
        setup: ServerSettings {
            data: data.to_owned(),
            built_in: EngineProgram {
                dir: Some(data.to_owned()),
                ..EngineProgram::new(mime(), [""; 0])
            },
            translation: Vec::new(),
            guard: None,
            checks: Vec::new(),
            online: OnlineSetup::default(),
        },
    }
}

impl Fixture {
    pub(crate) async fn start() -> Self {
        Self::start_as(|_| ()).await
    }

    /// A server in its own directory with changed options.
    pub(crate) async fn start_as(change: impl FnOnce(&mut Options)) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut options = options(directory.path());
        change(&mut options);
        let mut server = Self::start_with(options).await;
        server.directory = Some(directory);
        server
    }

    pub(crate) async fn start_with(options: Options) -> Self {
        let data = options.setup.data.clone();
        let server = bind(&options).await.expect("it can be served");
        let host = server.address().to_string();
        let link = server.link().expect("a link");
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            server.run(stopped).await.expect("it listens");
        });
        let link = link.strip_prefix(&format!("http://{host}")).expect("a link to it");
        let answer = log_in(&host, &token_of(link)).await;
        assert_eq!(answer.status, 200);
        let authorization = format!("Bearer {}", session_of(&answer));
        Self { host, authorization, data, directory: None, stop: Some(stop), task: Some(task) }
    }

    /// A server and a tab.
    pub(crate) async fn with_tab() -> (Self, Tab) {
        let server = Self::start().await;
        let tab = server.tab().await;
        (server, tab)
    }

    /// A server, a tab, and the test engine with some faults.
    pub(crate) async fn with_engine(faults: &[&str]) -> (Self, Tab, Value) {
        let (server, mut tab) = Self::with_tab().await;
        let engine = tab.add_mime(faults).await;
        (server, tab, engine)
    }

    /// Stops the server, and starts another one with its data.
    pub(crate) async fn restart(self) -> (Self, Tab) {
        let directory = self.stop().await.expect("its directory");
        let mut server = Self::start_with(options(directory.path())).await;
        server.directory = Some(directory);
        let tab = server.tab().await;
        (server, tab)
    }

    /// Stops the server. Returns the directory of its data.
    pub(crate) async fn stop(mut self) -> Option<TempDir> {
        drop(self.stop.take());
        self.wait().await;
        self.directory.take()
    }

    /// Waits until the server exits.
    pub(crate) async fn ended(mut self) {
        self.wait().await;
    }

    async fn wait(&mut self) {
        let Some(task) = self.task.take() else { return };
        timeout(LONG, task).await.expect("it ends").expect("it does not panic");
    }

    pub(crate) async fn tab(&self) -> Tab {
        let stream = TcpStream::connect(&self.host).await.expect("it listens");
        let headers = self.socket_headers();
        let socket = open_socket(&self.host, stream, &headers).await.expect("it lets us in");
        let mut tab = Tab { socket, last: 0, waiting: VecDeque::new() };
        let hello = tab.next().await;
        assert_eq!(hello["kind"], "handshake");
        tab
    }

    /// Waits until the engines are probed and the results are saved.
    pub(crate) async fn probes_ended(&self) {
        let mut tab = self.tab().await;
        let ended = |state: &Value| {
            let processes = state["processes"].as_array().expect("processes");
            let over = |value: &Value| value["status"] == "ended" || value["status"] == "dead";
            !processes.is_empty() && processes.iter().all(over)
        };
        while !ended(&tab.follow("engines").await) {
            tab.change("engines", |delta| delta["processes"].is_array()).await;
            tab.ask(json!({ "kind": "unsubscribe", "topic": "engines" })).await;
        }
        // Commands that change the library are answered when all earlier changes are saved.
        tab.done(json!({ "kind": "set_settings", "settings": { "page": {} } })).await;
    }

    /// The headers of the page's socket.
    pub(crate) fn socket_headers(&self) -> [(&'static str, String); 2] {
        let session = self.authorization.trim_start_matches("Bearer ");
        [
            ("sec-websocket-protocol", format!("readyok, {session}")),
            ("origin", format!("http://{}", self.host)),
        ]
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        get(&self.host, path, &[("authorization", &self.authorization)]).await
    }

    /// Imports a file. The query contains its name.
    pub(crate) async fn import(&self, query: &str, file: impl AsRef<[u8]>) -> Answer {
        let path = format!("/api/import{query}");
        self.post(&path, "application/octet-stream", file.as_ref()).await
    }

    /// Imports a game in PGN and opens it. Returns its number.
    pub(crate) async fn open_pgn(&self, pgn: impl AsRef<[u8]>) -> Value {
        self.import("?name=a.pgn&open=true", pgn).await.json()["opened"].clone()
    }

    pub(crate) async fn search(&self, query: &Value) -> Answer {
        let query = query.to_string();
        self.post("/api/library/search", "application/json", query.as_bytes()).await
    }

    pub(crate) async fn post(&self, path: &str, kind: &str, body: &[u8]) -> Answer {
        let origin = format!("http://{}", self.host);
        let headers = [
            ("authorization", self.authorization.as_str()),
            ("origin", &origin),
            ("content-type", kind),
        ];
        send(&self.host, "POST", path, &headers, body).await
    }
}

/// The credential in the path of a link.
/// The JSON of an answer to JSON.
pub(crate) async fn post(server: &Fixture, path: &str, body: &Value) -> Value {
    server.post(path, "application/json", body.to_string().as_bytes()).await.json()
}

pub(crate) fn encoded(text: &str) -> String {
    let escaped: Vec<String> = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    escaped.concat()
}

pub(crate) async fn export(server: &Fixture, of: &Value, format: &str) -> Answer {
    let of = encoded(&of.to_string());
    server.get(&format!("/api/export?of={of}&format={format}")).await
}

pub(crate) fn token_of(link: &str) -> Value {
    json!({ "token": link.strip_prefix("/?token=").expect("a token") })
}

/// Logs in with a token or a password.
pub(crate) async fn log_in(host: &str, credential: &Value) -> Answer {
    let origin = format!("http://{host}");
    let headers = [("origin", origin.as_str()), ("content-type", "application/json")];
    send(host, "POST", "/api/login", &headers, credential.to_string().as_bytes()).await
}

/// The secret of the session.
pub(crate) fn session_of(answer: &Answer) -> String {
    answer.json()["session"].as_str().expect("a secret").to_owned()
}

/// A server. A process that another test has just forked holds the lock of a stopped server until it executes its
/// program.
pub(crate) async fn bind(options: &Options) -> Result<Server, ServeError> {
    let deadline = Instant::now() + LONG;
    loop {
        match Server::bind(options.clone()).await {
            Err(ServeError::Running(None)) if Instant::now() < deadline => yield_now().await,
            bound => return bound,
        }
    }
}

/// Opens a WebSocket with headers.
pub(crate) async fn open_socket(
    host: &str,
    stream: TcpStream,
    headers: &[(&'static str, String)],
) -> Result<WebSocketStream<TcpStream>, Error> {
    let mut request = format!("ws://{host}/api/ws").into_client_request()?;
    for (name, value) in headers {
        let value = value.parse().expect("a value");
        request.headers_mut().insert(*name, value);
    }
    client_async(request, stream).await.map(|(socket, _)| socket)
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| {
            let (it, value) = line.split_once(':')?;
            it.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

pub(crate) async fn get(host: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    send(host, "GET", path, headers, b"").await
}

/// Sends a request, with the right host unless the headers have another one.
pub(crate) async fn send(
    host: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        let _ = write!(request, "Host: {host}\r\n");
    }
    for (name, value) in headers {
        let _ = write!(request, "{name}: {value}\r\n");
    }
    // Writing into a `String` cannot fail.
    let _ = write!(request, "Content-Length: {}\r\n\r\n", body.len());
    let mut request = request.into_bytes();
    request.extend(body);
    let mut stream = TcpStream::connect(host).await.expect("it listens");
    // The server does not read the rest of a request that it rejects by its head.
    let _ = timeout(LONG, stream.write_all(&request)).await.expect("in time");
    let mut answer = Vec::new();
    // The connection may be reset after the answer.
    let _ = timeout(LONG, stream.read_to_end(&mut answer)).await.expect("in time");
    read_answer(&answer)
}

/// Parses an answer, whose body must be complete.
fn read_answer(answer: &[u8]) -> Answer {
    let end = answer.windows(4).position(|pair| pair == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let (first, headers) = head.split_once("\r\n").unwrap_or((&head, ""));
    let status = first.split(' ').nth(1).and_then(|nth| nth.parse().ok()).expect("a status");
    let body = answer[end + 4..].to_vec();
    let mut answer = Answer { status, headers: headers.to_owned(), body };
    if answer.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
    {
        answer.body = joined(&answer.body);
    }
    if let Some(length) = answer.header("content-length").filter(|_| status != 304) {
        assert_eq!(length.parse(), Ok(answer.body.len()), "the answer is cut");
    }
    answer
}

/// Joins the parts of a body.
fn joined(mut parts: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = parts.windows(2).position(|pair| pair == b"\r\n").expect("the answer is cut");
        let size = std::str::from_utf8(&parts[..end]).expect("a size");
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&parts[end + 2..end + 2 + size]);
        parts = &parts[end + 2 + size + 2..];
    }
}

/// Waits for the end of a process.
pub(crate) async fn gone(pid: u64) {
    let directory = format!("/proc/{pid}");
    let deadline = Instant::now() + LONG;
    while std::fs::exists(&directory).unwrap_or(false) {
        assert!(Instant::now() < deadline, "process {pid} is left");
        yield_now().await;
    }
}

/// A tab.
pub(crate) struct Tab {
    socket: WebSocketStream<TcpStream>,
    last: u32,
    /// Messages that came before an answer.
    waiting: VecDeque<Value>,
}

impl Tab {
    async fn next(&mut self) -> Value {
        loop {
            let message = timeout(LONG, self.socket.next()).await.expect("in time");
            match message.expect("it is open").expect("it can be read") {
                Message::Text(text) => return serde_json::from_str(&text).expect("JSON"),
                Message::Close(_) => panic!("it was closed"),
                _ => (),
            }
        }
    }

    /// Sends a command, and returns the answer or the error.
    pub(crate) async fn ask(&mut self, command: Value) -> Value {
        let id = self.send(command).await;
        self.answer(id).await
    }

    /// Sends a command that is executed.
    pub(crate) async fn done(&mut self, command: Value) {
        let answer = self.ask(command.clone()).await;
        assert_eq!(answer["kind"], "done", "{command}: {answer}");
    }

    /// Waits until the first process, with this number or purpose, has a status.
    pub(crate) async fn process_is(&mut self, process: &Value, status: &str) -> Value {
        let fits = |delta: &Value| {
            let it = &delta["processes"][0];
            [&it["id"], &it["purpose"]["kind"]].contains(&process) && it["status"] == status
        };
        self.change("engines", fits).await
    }

    /// Adds the next lines of a log.
    pub(crate) async fn read_log(&mut self, topic: &str, lines: &mut Vec<Value>) {
        let delta = self.change(topic, |delta| delta["lines"].is_array()).await;
        lines.extend(delta["lines"].as_array().expect("lines").iter().cloned());
    }

    /// Sends a command without waiting for its answer.
    pub(crate) async fn send(&mut self, command: Value) -> u32 {
        self.last += 1;
        let id = self.last;
        let text = json!({ "id": id, "command": command }).to_string();
        self.socket.send(Message::Text(text.into())).await.expect("it is open");
        id
    }

    /// The answer to a sent command, or its error.
    pub(crate) async fn answer(&mut self, id: u32) -> Value {
        let mut received = 0;
        loop {
            if received == self.waiting.len() {
                let message = self.next().await;
                self.waiting.push_back(message);
            }
            if answers(&self.waiting[received], id)
                && let Some(message) = self.waiting.remove(received)
            {
                let of = if message["kind"] == "answer" { "answer" } else { "error" };
                return message[of].clone();
            }
            received += 1;
        }
    }

    /// Whether the answer to a command has been received.
    pub(crate) fn has_answer(&self, id: u32) -> bool {
        self.waiting.iter().any(|message| answers(message, id))
    }

    /// Subscribes to a topic. Returns its first state.
    pub(crate) async fn follow(&mut self, topic: &str) -> Value {
        let answer = self.ask(json!({ "kind": "subscribe", "topic": topic })).await;
        assert_eq!(answer["kind"], "done", "{answer}");
        let found =
            self.until(|message| message["kind"] == "snapshot" && message["topic"] == topic).await;
        found["state"]["state"].clone()
    }

    /// The next matching message. Earlier messages are dropped.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = match self.waiting.pop_front() {
                Some(message) => message,
                None => self.next().await,
            };
            if fits(&message) {
                return message;
            }
        }
    }

    /// The next matching change of a topic. A snapshot that replaces changes has fields of the same names.
    pub(crate) async fn change(&mut self, topic: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let event = |message: &Value| match message["kind"].as_str() {
            Some("snapshot") => message["state"]["state"].clone(),
            _ => message["delta"]["delta"].clone(),
        };
        let found = self.until(|message| message["topic"] == topic && fits(&event(message))).await;
        event(&found)
    }

    /// Sets up a game and follows it.
    pub(crate) async fn new_game(&mut self, game: Value) -> (String, Value) {
        let answer = self.ask(json!({ "kind": "new_game", "game": game })).await;
        assert_eq!(answer["kind"], "game", "{answer}");
        let topic = format!("game/{}", answer["game"]);
        let state = self.follow(&topic).await;
        (topic, state)
    }

    /// Registers the test engine with some faults, and waits for its handshake.
    pub(crate) async fn add_mime(&mut self, faults: &[&str]) -> Value {
        self.follow("engines").await;
        let source =
            json!({ "kind": "program", "path": mime(), "args": faults, "dir": null, "env": {} });
        let entry = json!({ "name": "", "source": source, "protocol": null });
        let answer = self.ask(json!({ "kind": "add_engine", "entry": entry })).await;
        assert_eq!(answer["kind"], "engine", "{answer}");
        let id = answer["engine"].clone();
        self.change("engines", |delta| {
            let engines = delta["engines"].as_array();
            engines.is_some_and(|all| {
                all.iter().any(|one| one["id"] == id && one["identity"]["name"].is_string())
            })
        })
        .await;
        id
    }
}

fn answers(message: &Value, id: u32) -> bool {
    matches!(message["kind"].as_str(), Some("answer" | "error")) && message["id"] == id
}

/// The number of a game from its topic.
pub(crate) fn id_of(topic: &str) -> u32 {
    topic.rsplit_once('/').expect("a number").1.parse().expect("a number")
}

/// A human and an engine.
pub(crate) fn against(engine: &Value, time: Value, ponder: bool) -> Value {
    let mut players = json!({
        "first": { "kind": "human", "name": "Ada" },
        "second": {
            "kind": "engine", "engine": engine, "limits": {}, "ponder": ponder,
            "strength": null, "options": {},
        },
    });
    players["first"]["time"] = time.clone();
    players["second"]["time"] = time;
    players
}

/// A new game.
pub(crate) fn game(variant: &str, players: Value) -> Value {
    let mut game = json!({
        "variant": variant, "start": { "kind": "usual" }, "rules": "federation", "book": null,
    });
    game["players"] = players;
    game
}

/// An engine of the list.
pub(crate) fn engine_of<'a>(state: &'a Value, id: &Value) -> &'a Value {
    let engines = state["engines"].as_array().expect("engines");
    engines.iter().find(|engine| engine["id"] == *id).expect("it is listed")
}

/// Removes the stored handshakes from the library of a directory.
pub(crate) fn forget_what_was_learned(data: &Path) {
    let db = rusqlite::Connection::open(data.join("app.sqlite")).expect("a library");
    let changed = db.execute("UPDATE engine SET entry = json_remove(entry, '$.learned')", []);
    assert!(0 < changed.expect("it can be written"));
}
