//! A server that is killed during an import.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;

use serde_json::Value;

use crate::program::{Dir, TIMEOUT, readyok, wait};
use crate::serve::{link, log_in};

const GAMES: usize = 3_000;

pub(crate) struct Server {
    child: Child,
    host: String,
    session: String,
}

impl Server {
    pub(crate) fn start(dir: &Dir, data: &Path) -> Self {
        let mut command = readyok(dir);
        command.args(["serve", "--no-open", "--data"]).arg(data);
        let mut child = command.spawn().expect("the process starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        output.read_line(&mut line).expect("a link");
        let (host, token) = link(&line);
        let session = log_in(&host, &token).expect("a session");
        Self { child, host, session }
    }

    /// Sends a request with a part of its body.
    fn send(&self, path: &str, size: usize, body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let Self { host, session, .. } = self;
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n\
             Authorization: Bearer {session}\r\nContent-Type: application/json\r\n\
             Content-Length: {size}\r\n\r\n"
        )
        .expect("data is sent");
        stream.write_all(body).expect("data is sent");
        stream
    }

    pub(crate) fn post(&self, path: &str, body: &[u8]) -> Value {
        let mut stream = self.send(path, body.len(), body);
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        let start = response.find('{').expect("JSON");
        let end = response.rfind('}').expect("JSON");
        serde_json::from_str(&response[start..=end]).expect("JSON")
    }

    pub(crate) fn total(&self) -> u64 {
        self.post("/api/library/search", b"{}")["total"].as_u64().expect("a number")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_import_that_was_killed_can_be_repeated() {
    let dir = Dir::new();
    let data = dir.path().join("data");
    let mut file = String::new();
    for game in 0..GAMES {
        write!(file, "[White \"Player{game}\"]\n[Black \"B\"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n")
            .expect("written");
    }
    let file = file.as_bytes();
    let server = Server::start(&dir, &data);
    let part = &file[..file.len() * 2 / 3];
    let upload = server.send("/api/import?name=a.pgn", file.len(), part);
    wait("no game is imported", || server.total() > 0);
    let acknowledged = server.total();
    drop(server);
    drop(upload);

    let server = Server::start(&dir, &data);
    let kept = server.total();
    assert!(acknowledged <= kept && kept < GAMES as u64, "{kept} of {acknowledged} games");
    let imported = server.post("/api/import?name=a.pgn", file);
    assert_eq!(imported["total"], GAMES as u64 - kept, "{}", imported["errors"]);
    assert_eq!((&imported["duplicates"], server.total()), (&kept.into(), GAMES as u64));
}
