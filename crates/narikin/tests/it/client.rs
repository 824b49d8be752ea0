//! A client that is connected to the engine by pipes.

use std::io::{self, BufRead, BufReader, PipeWriter, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The timeout of every wait. Tests do not measure it.
const TIMEOUT: Duration = Duration::from_mins(1);

pub(crate) struct Client {
    input: Option<PipeWriter>,
    lines: Receiver<String>,
    served: Option<JoinHandle<io::Result<()>>>,
}

impl Client {
    /// Starts the engine and sends `hello`: `uci` or `usi`.
    pub(crate) fn handshake(hello: &str) -> Self {
        let (input, mut client) = io::pipe().expect("a pipe");
        let (output, engine) = io::pipe().expect("a pipe");
        let runner = narikin::runner().expect("memory for the table");
        let served = thread::spawn(move || runner.run(input, engine));
        let (sent, lines) = mpsc::channel();
        thread::spawn(move || {
            BufReader::new(output).lines().try_for_each(|line| sent.send(line.expect("text")))
        });
        client.write_all(format!("{hello}\n").as_bytes()).expect("the engine listens");
        Self { input: Some(client), lines, served: Some(served) }
    }

    /// Starts the engine with some options set, each as `name value …`.
    pub(crate) fn with(hello: &str, options: &[&str]) -> Self {
        let mut client = Self::handshake(hello);
        client.receive_until(&format!("{hello}ok"));
        for option in options {
            client.send(&format!("setoption name {option}"));
        }
        client
    }

    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the engine listens");
        input.write_all(format!("{line}\n").as_bytes()).expect("the engine listens");
    }

    pub(crate) fn receive(&self) -> String {
        self.lines.recv_timeout(TIMEOUT).expect("a line before the timeout")
    }

    /// All lines up to one with this prefix.
    pub(crate) fn receive_until(&self, start: &str) -> Vec<String> {
        self.receive_up_to(|line| line.starts_with(start))
    }

    /// All lines up to one that matches.
    pub(crate) fn receive_up_to(&self, is_it: impl Fn(&str) -> bool) -> Vec<String> {
        let mut received = Vec::new();
        loop {
            received.push(self.receive());
            if received.last().is_some_and(|line| is_it(line)) {
                return received;
            }
        }
    }

    /// Sends lines and returns all lines up to the next `bestmove`.
    pub(crate) fn ask(&mut self, lines: &str) -> Vec<String> {
        self.send(lines);
        self.receive_until("bestmove")
    }

    /// Sends lines and returns the best move.
    pub(crate) fn best(&mut self, lines: &str) -> String {
        let received = self.ask(lines);
        let tokens = received.last().map(|line| line.split(' '));
        tokens.and_then(|mut tokens| tokens.nth(1)).unwrap_or_default().to_owned()
    }

    /// The messages before the next `readyok`, without the name of the evaluation.
    pub(crate) fn remarks(&mut self) -> Vec<String> {
        let mut remarks = self.all_remarks();
        remarks.retain(|remark| !remark.starts_with("evaluation of "));
        remarks
    }

    /// The messages before the next `readyok`.
    pub(crate) fn all_remarks(&mut self) -> Vec<String> {
        self.send("isready");
        let received = self.receive_until("readyok").into_iter();
        received.filter_map(|line| line.strip_prefix("info string ").map(str::to_owned)).collect()
    }
}

/// The engine exits with its client, without a panic.
impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        // Reads the remaining output, as the engine would block on a full pipe.
        while self.lines.recv_timeout(TIMEOUT).is_ok() {}
        let ended = self.served.take().map(JoinHandle::join);
        if !thread::panicking() {
            assert!(matches!(ended, Some(Ok(_))), "the engine does not panic");
        }
    }
}
