//! A server that takes the place of all online services.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A request that was received.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) host: String,
    /// Path and query.
    pub(super) path: String,
    headers: Vec<(String, String)>,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// A parameter of the query.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// The parameter `since`.
    pub(super) fn since(&self) -> Option<u64> {
        self.parameter("since")?.parse().ok()
    }
}

/// What the mock does after a request.
pub(super) enum Step {
    Send(Vec<u8>),
    /// Waits for a notification.
    Wait(Arc<Notify>),
    /// Waits until the client closes the connection, and notifies.
    Closed(Arc<Notify>),
}

/// An answer with a body of known length.
pub(super) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    vec![Step::Send([head.as_bytes(), body].concat())]
}

pub(super) fn json_answer(headers: &str, body: &Value) -> Vec<Step> {
    answer("200 OK", headers, body.to_string())
}

/// The head of a stream of lines.
pub(super) fn stream_head() -> Step {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
    Step::Send(head.as_bytes().to_vec())
}

/// A part of a stream.
pub(super) fn part(text: impl AsRef<[u8]>) -> Step {
    let text = text.as_ref();
    let size = format!("{:x}\r\n", text.len());
    Step::Send([size.as_bytes(), text, b"\r\n"].concat())
}

/// A complete stream of lines.
pub(super) fn stream(lines: &[String]) -> Vec<Step> {
    let parts = lines.chunks(100).map(|lines| part(lines.join("\n") + "\n"));
    let end = Step::Send(b"0\r\n\r\n".to_vec());
    std::iter::once(stream_head()).chain(parts).chain([end]).collect()
}

type Handler = Box<dyn FnMut(&Received, usize) -> Vec<Step> + Send>;

pub(super) struct Mock {
    pub(super) address: SocketAddr,
    requests: Arc<Mutex<Vec<Received>>>,
    handler: Arc<Mutex<Handler>>,
    task: JoinHandle<()>,
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Mock {
    /// A server that answers a request, which has a number from 0.
    pub(super) async fn start(
        handler: impl FnMut(&Received, usize) -> Vec<Step> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("an address");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let handler: Arc<Mutex<Handler>> = Arc::new(Mutex::new(Box::new(handler)));
        let (known, answers) = (Arc::clone(&requests), Arc::clone(&handler));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (known, answers) = (Arc::clone(&known), Arc::clone(&answers));
                tokio::spawn(async move { serve(stream, &known, &answers).await });
            }
        });
        Self { address, requests, handler, task }
    }

    /// Replaces the answers. Requests are counted from 0 again.
    pub(super) fn replace(
        &self,
        handler: impl FnMut(&Received, usize) -> Vec<Step> + Send + 'static,
    ) {
        self.requests.lock().expect("a lock").clear();
        *self.handler.lock().expect("a lock") = Box::new(handler);
    }

    pub(super) fn requests(&self) -> Vec<Received> {
        self.requests.lock().expect("a lock").clone()
    }
}

async fn serve(
    stream: TcpStream,
    requests: &Mutex<Vec<Received>>,
    handler: &Mutex<Handler>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        // Connections without a request count, too.
        let is_end = stream.read_line(&mut line).await.ok()? == 0 || line == "\r\n";
        if is_end {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_default();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| {
            line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()))
        })
        .collect();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut received = Received { host: String::new(), path, headers };
    received.host = received.header("host").unwrap_or_default().to_owned();
    let steps = {
        let mut requests = requests.lock().expect("a lock");
        let number = requests.len();
        requests.push(received.clone());
        drop(requests);
        handler.lock().expect("a lock")(&received, number)
    };
    for step in steps {
        match step {
            Step::Send(bytes) => stream.get_mut().write_all(&bytes).await.ok()?,
            Step::Wait(notify) => notify.notified().await,
            Step::Closed(notify) => {
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
                notify.notify_one();
            }
        }
    }
    Some(())
}

/// The time at which the first game of Lichess began, in milliseconds.
pub(super) const BEGIN: u64 = 1_750_000_000_000;

/// The time at which a game of Lichess began.
pub(super) fn begun(number: usize) -> u64 {
    BEGIN + 60_000 * number as u64
}

/// Four plies that distinguish 36,000 games.
pub(super) fn moves(number: usize) -> String {
    let pawn = |file: usize, double: bool, white: bool| {
        let rank = match (white, double) {
            (true, false) => 3,
            (true, true) => 4,
            (false, false) => 6,
            (false, true) => 5,
        };
        format!("{}{rank}", char::from(b'a' + u8::try_from(file % 8).expect("a file")))
    };
    let mut rest = number;
    let mut digit = |base: usize| {
        let digit = rest % base;
        rest /= base;
        digit
    };
    let (a, b) = (digit(16), digit(16));
    // The second pawn is another one.
    let (c, d) = (digit(7), digit(7));
    let white = [pawn(a / 2, a % 2 == 1, true), pawn(a / 2 + 1 + c, digit(2) == 1, true)];
    let black = [pawn(b / 2, b % 2 == 1, false), pawn(b / 2 + 1 + d, digit(2) == 1, false)];
    format!(
        "1. {} {{ [%eval 0.17] [%clk 0:03:00] }} 1... {} {{ [%clk 0:03:00] }} 2. {} {{ [%clk 0:02:58] }} 2... {} {{ [%clk 0:02:59] }} 1-0",
        white[0], black[0], white[1], black[1]
    )
}

pub(super) fn lichess_id(number: usize) -> String {
    format!("g{number:07}")
}

/// The PGN of a game of Lichess, as the API sends it.
pub(super) fn lichess_pgn(number: usize) -> String {
    let id = lichess_id(number);
    format!(
        "[Event \"rated blitz game\"]\n[Site \"https://lichess.org/{id}\"]\n[Date \"2025.06.15\"]\n[Round \"-\"]\n[White \"anna\"]\n[Black \"bela\"]\n[Result \"1-0\"]\n[GameId \"{id}\"]\n[UTCDate \"2025.06.15\"]\n[UTCTime \"15:06:40\"]\n[WhiteElo \"1500\"]\n[BlackElo \"1510\"]\n[WhiteRatingDiff \"+6\"]\n[BlackRatingDiff \"-6\"]\n[Variant \"Standard\"]\n[TimeControl \"180+2\"]\n[ECO \"A00\"]\n[Opening \"Opening\"]\n[Termination \"Normal\"]\n\n{}\n\n\n",
        moves(number)
    )
}

/// A line of Lichess with some other fields.
pub(super) fn lichess_line_with(number: usize, changes: &Value) -> String {
    let mut game = json!({
        "id": lichess_id(number), "rated": true, "variant": "standard", "speed": "blitz", "perf": "blitz",
        "createdAt": begun(number), "lastMoveAt": begun(number) + 30_000, "status": "resign", "source": "pool",
        "players": {
            "white": { "user": { "name": "anna", "id": "anna" }, "rating": 1500, "ratingDiff": 6 },
            "black": { "user": { "name": "bela", "id": "bela" }, "rating": 1510, "ratingDiff": -6 },
        },
        "winner": "white", "opening": { "eco": "A00", "name": "Opening", "ply": 1 },
        "moves": "", "clocks": [18003, 18003, 17800, 17900], "pgn": lichess_pgn(number),
        "clock": { "initial": 180, "increment": 2, "totalTime": 260 },
    });
    for (name, value) in changes.as_object().expect("fields") {
        game[name] = value.clone();
    }
    game.to_string()
}

pub(super) fn lichess_line(number: usize) -> String {
    lichess_line_with(number, &json!({}))
}

/// The lines of the games of a range that a request wants.
pub(super) fn lichess_lines(request: &Received, games: std::ops::Range<usize>) -> Vec<String> {
    let since = request.since().unwrap_or_default();
    games.filter(|number| since <= begun(*number)).map(lichess_line).collect()
}

/// A game of an archive of chess.com.
pub(super) fn chesscom_game(number: usize, end: u64, rules: &str) -> Value {
    let url = format!("https://www.chess.com/game/live/{number}");
    let pgn = format!(
        "[Event \"Live Chess\"]\n[Site \"Chess.com\"]\n[Date \"2025.06.15\"]\n[Round \"-\"]\n[White \"Anna\"]\n[Black \"Bela\"]\n[Result \"1-0\"]\n[CurrentPosition \"8/8/8/8/8/8/8/8 w - -\"]\n[Timezone \"UTC\"]\n[ECO \"A00\"]\n[ECOUrl \"https://www.chess.com/openings/Start\"]\n[UTCDate \"2025.06.15\"]\n[UTCTime \"15:06:40\"]\n[WhiteElo \"1500\"]\n[BlackElo \"1510\"]\n[TimeControl \"180+2\"]\n[Termination \"Anna won by resignation\"]\n[StartTime \"15:06:40\"]\n[EndDate \"2025.06.15\"]\n[EndTime \"15:10:00\"]\n[Link \"{url}\"]\n\n{}\n",
        moves(number)
    );
    json!({
        "url": url, "pgn": pgn, "time_control": "180+2", "end_time": end, "rated": true,
        "accuracies": { "white": 81.2, "black": 70.1 }, "tcn": "mC0K", "uuid": "5b1a", "initial_setup": "",
        "fen": "8/8/8/8/8/8/8/8 w - -", "time_class": "blitz", "rules": rules,
        "white": { "rating": 1500, "result": "win", "@id": "https://api.chess.com/pub/player/anna", "username": "Anna", "uuid": "a" },
        "black": { "rating": 1510, "result": "resigned", "@id": "https://api.chess.com/pub/player/bela", "username": "Bela", "uuid": "b" },
    })
}
