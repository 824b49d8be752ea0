//! A client connected by a pair of pipes, and a scripted engine.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use readyok_engine::{Answer, Control, Engine, Move, MoveList, NoBoard, Runner, SearchRequest};

/// Long enough for any load of the computer; no test measures it.
const TIMEOUT: Duration = Duration::from_secs(20);

type Search = dyn FnMut(&SearchRequest, &Control) -> Answer + Send;

/// An engine whose search is a closure.
pub(crate) struct Scripted(pub(crate) Box<Search>);

impl Engine for Scripted {
    type Board = NoBoard;
    fn search(&mut self, request: &SearchRequest, control: &Control) -> Answer {
        (self.0)(request, control)
    }
}

/// A runner for a search.
pub(crate) fn engine(
    search: impl FnMut(&SearchRequest, &Control) -> Answer + Send + 'static,
) -> Runner<Scripted> {
    Runner::new("Test", Scripted(Box::new(search)))
}

pub(crate) fn mv(text: &str) -> Move {
    text.parse().unwrap()
}

pub(crate) fn line(text: &str) -> MoveList<'static> {
    [mv(text)].into_iter().collect()
}

/// Returns when the search is stopped, without using a CPU meanwhile.
pub(crate) fn wait_for_stop(control: &Control) {
    while !control.stopped() {
        thread::yield_now();
    }
}

pub(crate) struct Client {
    input: Option<PipeWriter>,
    lines: Receiver<String>,
    served: Receiver<io::Result<()>>,
    _threads: [JoinHandle<()>; 2],
}

impl Client {
    /// Starts an engine.
    pub(crate) fn start<E: Engine>(runner: Runner<E>) -> Self {
        let (engine_input, input) = io::pipe().unwrap();
        let (output, engine_output) = io::pipe().unwrap();
        let (sender, lines) = mpsc::channel();
        let (done, served) = mpsc::channel();
        let reader = thread::spawn(move || read(output, |line| sender.send(line).unwrap_or(())));
        let server = thread::spawn(move || {
            done.send(runner.run(engine_input, engine_output)).unwrap_or(());
        });
        Self { input: Some(input), lines, served, _threads: [reader, server] }
    }

    /// Starts an engine and completes the handshake.
    pub(crate) fn handshake<E: Engine>(runner: Runner<E>) -> Self {
        let mut client = Self::start(runner);
        client.send("uci");
        client.receive_until("uciok");
        client
    }

    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn receive(&self) -> String {
        self.lines.recv_timeout(TIMEOUT).expect("a line within the timeouts of the tests")
    }

    /// All lines up to one with this start.
    pub(crate) fn receive_until(&self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            lines.push(self.receive());
            if lines.last().is_some_and(|line| line.starts_with(start)) {
                return lines;
            }
        }
    }

    #[track_caller]
    pub(crate) fn expect(&self, line: &str) {
        assert_eq!(self.receive(), line);
    }

    /// Closes the input, and returns the rest of the output and the result of the runner.
    pub(crate) fn close(mut self) -> (Vec<String>, io::Result<()>) {
        self.input = None;
        let result = self.served.recv_timeout(TIMEOUT).expect("the engine ends");
        (self.lines.iter().collect(), result)
    }
}

fn read(output: PipeReader, mut take: impl FnMut(String)) {
    for line in BufReader::new(output).lines() {
        take(line.unwrap());
    }
}
