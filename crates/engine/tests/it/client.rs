//! A client at the other end of a pair of pipes, and an engine that does as it is reported.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use readyok_engine::{Answer, Control, Engine, NoBoard, Runner, SearchRequest};

/// No test waits longer for anything. It is not what is measured.
const PATIENCE: Duration = Duration::from_secs(20);

type Search = dyn FnMut(&SearchRequest, &Control) -> Answer + Send;

/// An engine that searches as a test wants it to.
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

/// Returns when the search is stopped, as any engine does, without using a CPU meanwhile.
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
        let (said, lines) = mpsc::channel();
        let (done, served) = mpsc::channel();
        let reader = thread::spawn(move || read(output, |line| said.send(line).unwrap_or(())));
        let server = thread::spawn(move || {
            done.send(runner.run(engine_input, engine_output)).unwrap_or(());
        });
        Self { input: Some(input), lines, served, _threads: [reader, server] }
    }

    /// Starts an engine and greets it.
    pub(crate) fn greet<E: Engine>(runner: Runner<E>) -> Self {
        let mut client = Self::start(runner);
        client.say("uci");
        client.hear_until("uciok");
        client
    }

    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn hear(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line within the timeouts of the tests")
    }

    /// All lines up to one that starts so.
    pub(crate) fn hear_until(&self, start: &str) -> Vec<String> {
        let mut heard = Vec::new();
        loop {
            heard.push(self.hear());
            if heard.last().is_some_and(|line| line.starts_with(start)) {
                return heard;
            }
        }
    }

    #[track_caller]
    pub(crate) fn expect(&self, line: &str) {
        assert_eq!(self.hear(), line);
    }

    /// Says no more, and returns what the engine still says and how it ends.
    pub(crate) fn hang_up(mut self) -> (Vec<String>, io::Result<()>) {
        self.input = None;
        let result = self.served.recv_timeout(PATIENCE).expect("the engine ends");
        (self.lines.iter().collect(), result)
    }
}

fn read(output: PipeReader, mut take: impl FnMut(String)) {
    for line in BufReader::new(output).lines() {
        take(line.unwrap());
    }
}
