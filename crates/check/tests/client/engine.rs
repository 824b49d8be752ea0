//! The engine of the client: its process, its lines, and what may be missing.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::deviations;
use crate::faults::Faults;

/// How long the engine has for each answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(3);

/// Timeout of an impatient client.
const HURRY: Duration = Duration::from_millis(700);

pub(crate) struct Engine {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    pub(crate) faults: Faults,
    /// The last line that came.
    last: String,
    /// What is waited for.
    pub(crate) state: State,
    /// Number of lines in this state.
    pub(crate) count: u32,
    /// It was given up.
    pub(crate) lost: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    Handshake,
    Ready,
    Again,
    Searching,
    Quitting,
}

pub(crate) type Trouble = String;

#[expect(clippy::disallowed_methods, reason = "it keeps time as clients do")]
fn now() -> Instant {
    Instant::now()
}

impl Engine {
    pub(crate) fn start(program: &str, faults: &Faults) -> Result<Self, Trouble> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let errors =
            if faults.breaks("search.stderr-flood") { Stdio::piped() } else { Stdio::null() };
        let mut child = command.stderr(errors).spawn().map_err(|error| error.to_string())?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("no output")?;
        let (sender, lines) = mpsc::channel();
        let by_pieces = faults.breaks("lines.fragments");
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = Vec::new();
                if by_pieces {
                    let Ok(bytes) = output.fill_buf() else { return };
                    line.extend(bytes);
                    output.consume(line.len());
                } else if output.read_until(b'\n', &mut line).is_err() {
                    return;
                }
                if line.is_empty() {
                    return;
                }
                for line in line.split_inclusive(|byte| *byte == b'\n') {
                    if sender.send(String::from_utf8_lossy(line).into_owned()).is_err() {
                        return;
                    }
                }
            }
        });
        let (last, state) = (String::new(), State::Handshake);
        Ok(Self { child, input, lines, faults: faults.clone(), last, state, count: 0, lost: false })
    }

    pub(crate) fn send(&mut self, line: &str) {
        let line = deviations::rewritten(&self.faults, line);
        if let Some(input) = &mut self.input {
            // That it does not listen will be seen.
            let _ = input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush());
        }
    }

    pub(crate) fn enter(&mut self, state: State) {
        self.state = state;
        self.count = 0;
    }

    /// The tokens of the next line.
    pub(crate) fn next(&mut self) -> Result<Vec<String>, Trouble> {
        self.next_within(TIMEOUT)?.ok_or_else(|| self.late())
    }

    /// The next line, if one comes in this time.
    pub(crate) fn next_within(&mut self, time: Duration) -> Result<Option<Vec<String>>, Trouble> {
        let hurry = match self.state {
            State::Handshake => "start.slow",
            State::Ready | State::Again => "ready.late",
            State::Searching => "search.late",
            State::Quitting => "quit.slow",
        };
        let until = now() + time;
        let waits = HURRY < time && self.faults.breaks(hurry);
        if waits && (self.state != State::Handshake || 0 < self.count) {
            match self.lines.recv_timeout(HURRY) {
                Ok(line) => return Ok(Some(self.take(line))),
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
                Err(RecvTimeoutError::Timeout) => {
                    self.faults.crashes("search.late");
                    self.faults.stumbles(hurry);
                }
            }
        }
        match self.lines.recv_timeout(until.saturating_duration_since(now())) {
            Ok(line) => Ok(Some(self.take(line))),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.gone()),
        }
    }

    fn take(&mut self, line: String) -> Vec<String> {
        self.faults.read(&line);
        self.count += 1;
        let tokens = line.split_whitespace().map(str::to_owned).collect();
        self.last = line;
        tokens
    }

    fn late(&mut self) -> Trouble {
        match self.state {
            State::Handshake if self.count == 0 => self.faults.hangs("start.silent"),
            State::Handshake => self.faults.hangs("start.no-uciok"),
            State::Ready | State::Again => self.faults.hangs("ready.never"),
            State::Searching => self.faults.hangs("search.no-reply"),
            State::Quitting => (),
        }
        self.kill();
        format!("nothing came while {:?}", self.state)
    }

    fn gone(&mut self) -> Trouble {
        let until = now() + TIMEOUT;
        let mut status = None;
        while status.is_none() && now() < until {
            status = self.child.try_wait().ok().flatten();
            // The end of a process comes after that of its output.
            thread::park_timeout(Duration::from_millis(5));
        }
        // A signal on Unix, an exception on Windows, whose code is negative.
        let aborted = status.is_some_and(|status| status.code().is_none_or(i32::is_negative));
        match (self.state, status) {
            (State::Handshake, _) if self.count == 0 => self.faults.hangs("start.exits"),
            (State::Handshake, _) => self.faults.hangs("start.exits-in-handshake"),
            (State::Ready, _) => self.faults.hangs("ready.exits"),
            (State::Again, _) => self.faults.hangs("search.exits-after"),
            (State::Searching, None) => self.faults.hangs("search.closes-output"),
            (State::Searching, Some(_)) if self.last == "bestmo" => {
                self.faults.hangs("search.half-line");
            }
            (State::Searching, Some(_)) if aborted => self.faults.hangs("search.aborts"),
            (State::Searching, Some(_)) if self.count == 0 => {
                self.faults.hangs("search.exits-at-go");
            }
            (State::Searching, Some(_)) => self.faults.hangs("search.exits"),
            (State::Quitting, _) => (),
        }
        self.kill();
        format!("it ended while {:?}", self.state)
    }

    pub(crate) fn kill(&mut self) {
        self.lost = true;
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Lets the engine go.
    pub(crate) fn quit(mut self) {
        self.enter(State::Quitting);
        if self.faults.breaks("conduct.after-quit") {
            self.send("quit\nisready");
        } else if !self.faults.breaks("conduct.quit") {
            self.send("quit");
        }
        self.input = None;
        if self.faults.breaks("quit.ignored") {
            return;
        }
        // Until its output ends, or it is late.
        let until = now() + TIMEOUT;
        while now() < until {
            match self.next_within(until.saturating_duration_since(now())) {
                Ok(Some(_)) => (),
                Ok(None) => break,
                Err(_) => {
                    let failed = self.child.wait().is_ok_and(|status| status.code() == Some(1));
                    if failed {
                        self.faults.stumbles("quit.error");
                    }
                    return;
                }
            }
        }
        self.kill();
    }
}
