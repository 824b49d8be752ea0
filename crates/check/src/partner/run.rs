//! One run of the client: it is started, meets its engines, and is ended if it does not end by itself.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Command as Program, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use readyok_client::{Guard, PipedProcess};
use readyok_protocol::{
    Command, DiagnosticKind, Dialect, LineBuffer, Party, Phase, ProtocolState, Reply, decode,
};

use super::part::{Deed, Part};
use super::probe::Probe;
use super::wire::{Exchange, Heard, Order};
use crate::conversation::{Conversation, Entry};
use crate::time::now;

/// So many events may wait.
const BACKLOG: usize = 256;

/// A client that starts more engines than this gets no more of them.
const MOST_ENGINES: usize = 24;

/// So much of the end of what the client prints is kept.
const LAST_WORDS: usize = 4096;

/// How long a client that was told to end has for it, and engines when their client is gone.
const PARTING: Duration = Duration::from_secs(2);

/// How a client is run.
#[derive(Clone, Debug)]
pub(crate) struct Setting<'a> {
    /// The words of its command, without any placeholder.
    pub(crate) command: &'a [std::ffi::OsString],
    pub(crate) guard: Option<&'a Guard>,
    /// The protocol, if only one is meant.
    pub(crate) dialect: Option<Dialect>,
    pub(crate) probe: Option<Probe>,
    pub(crate) seed: u64,
    /// When nothing has happened for so long, it is over.
    pub(crate) patience: Duration,
    /// How long it has to start an engine.
    pub(crate) start: Duration,
    /// Whatever happens, then it is over.
    pub(crate) limit: Duration,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// One for each engine that was started.
    pub(crate) talks: Vec<Conversation>,
    /// What was tested: the number of the conversation, and of the entry with which it begins.
    pub(crate) mark: Option<(usize, usize)>,
    pub(crate) end: End,
    /// An engine was left behind.
    pub(crate) left_behind: bool,
    /// The last line that the client printed.
    pub(crate) last_words: String,
    pub(crate) took: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// The client ended by itself.
    Exited(ExitStatus),
    /// Nothing happened any more, and the client was ended.
    Quiet,
    /// It took too long, and the client was ended.
    Cut,
}

enum Event {
    Wire(Heard),
    Printed(Box<[u8]>),
    Exited(ExitStatus),
}

impl From<Heard> for Event {
    fn from(heard: Heard) -> Self {
        Self::Wire(heard)
    }
}

/// An engine that the client has started.
struct Engine {
    wire: Wire,
    part: Part,
    deeds: VecDeque<Deed>,
    /// Until then the next deed waits.
    due: Option<Instant>,
    heard: LineBuffer,
    said: LineBuffer,
    dialogue: ProtocolState,
    talk: Conversation,
    mark: Option<usize>,
    /// It was told to end: it says no more.
    over: bool,
    gone: bool,
}

/// The way to the process of an engine.
struct Wire(TcpStream);

struct Run<'a> {
    setting: &'a Setting<'a>,
    engines: Vec<Engine>,
    begin: Instant,
    /// When something happened last.
    last: Instant,
    printed: Vec<u8>,
    exited: Option<ExitStatus>,
}

/// Runs the client once.
pub(crate) fn run(setting: &Setting<'_>) -> io::Result<Outcome> {
    let (tell, inbox) = mpsc::sync_channel(BACKLOG);
    let exchange = Exchange::open(tell.clone())?;
    let process = start(setting, &exchange, &tell)?;
    let begin = now();
    let (engines, printed) = (Vec::new(), Vec::new());
    let mut run = Run { setting, engines, begin, last: begin, printed, exited: None };
    let end = run.attend(&inbox);
    let took = now().saturating_duration_since(begin);
    if run.exited.is_none() {
        process.terminate();
        run.wait(&inbox, PARTING, |run| run.exited.is_some());
        process.kill();
    }
    run.wait(&inbox, PARTING, |run| run.engines.iter().all(|engine| engine.gone));
    let left_behind =
        matches!(end, End::Exited(_)) && run.engines.iter().any(|engine| !engine.gone);
    let mark = run.engines.iter().enumerate().find_map(|(at, it)| Some((at, it.mark?)));
    let last_words = String::from_utf8_lossy(&run.printed);
    let last_words = last_words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let whole = matches!(end, End::Exited(status) if status.success());
    let talks = run.engines.into_iter().map(|engine| engine.talk.that_is(whole));
    Ok(Outcome {
        mark,
        end,
        left_behind,
        last_words: last_words.trim().to_owned(),
        took,
        talks: talks.collect(),
    })
}

fn start(
    setting: &Setting<'_>,
    exchange: &Exchange,
    tell: &SyncSender<Event>,
) -> io::Result<PipedProcess> {
    let (program, arguments) = setting.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let (errors, to_errors) = io::pipe()?;
    let mut command = Program::new(program);
    command.args(arguments).stderr(Stdio::from(to_errors));
    exchange.invite(&mut command);
    let on_exit = tell.clone();
    let (process, input, output) =
        PipedProcess::spawn(&mut command, setting.guard, move |status| {
            // Without a receiver the run is over.
            let _ = on_exit.send(Event::Exited(status));
        })?;
    // It gets no input.
    drop(input);
    for from in [Box::new(output) as Box<dyn Read + Send>, Box::new(errors)] {
        let tell = tell.clone();
        thread::Builder::new().name("printed".into()).spawn(move || read(from, &tell))?;
    }
    Ok(process)
}

fn read(mut from: Box<dyn Read + Send>, tell: &SyncSender<Event>) {
    let mut chunk = vec![0; LAST_WORDS];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        let bytes = chunk.get(..count).unwrap_or_default().into();
        if tell.send(Event::Printed(bytes)).is_err() {
            return;
        }
    }
}

impl Run<'_> {
    /// Plays the engines until the client has ended, or nothing happens any more.
    fn attend(&mut self, inbox: &Receiver<Event>) -> End {
        let limit = self.begin + self.setting.limit;
        loop {
            let due = self.act();
            if let Some(status) = self.exited {
                return End::Exited(status);
            }
            let started = !self.engines.is_empty();
            let patience = if started { self.setting.patience } else { self.setting.start };
            let quiet = self.last + patience;
            let until = due.into_iter().fold(quiet.min(limit), Instant::min);
            match inbox.recv_timeout(until.saturating_duration_since(now())) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) if limit <= now() => return End::Cut,
                Err(RecvTimeoutError::Timeout) if due.is_none() && quiet <= now() => {
                    return End::Quiet;
                }
                // A deed is due.
                Err(RecvTimeoutError::Timeout) => (),
                // The run holds a sender for as long as the client lives.
                Err(RecvTimeoutError::Disconnected) => return End::Quiet,
            }
        }
    }

    /// Goes on for a while after the end.
    fn wait(&mut self, inbox: &Receiver<Event>, time: Duration, done: impl Fn(&Self) -> bool) {
        let until = now() + time;
        while !done(self) {
            self.act();
            match inbox.recv_timeout(until.saturating_duration_since(now())) {
                Ok(event) => self.take(event),
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, event: Event) {
        let now = now();
        match event {
            Event::Wire(Heard::Started(stream)) => {
                self.last = now;
                self.meet(stream);
            }
            Event::Wire(Heard::Said(number, bytes, at)) => {
                self.last = now;
                let at = at.saturating_duration_since(self.begin);
                if let Some(engine) = self.engines.get_mut(number) {
                    engine.hear(&bytes, at, self.setting.dialect);
                }
            }
            Event::Wire(Heard::Closed(number)) => {
                self.last = now;
                if let Some(engine) = self.engines.get_mut(number) {
                    let deeds = engine.part.input_ended();
                    engine.deeds.extend(deeds);
                }
            }
            Event::Wire(Heard::Gone(number)) => {
                self.last = now;
                if let Some(engine) = self.engines.get_mut(number) {
                    engine.gone = true;
                }
            }
            // A spinning wheel is no progress.
            Event::Printed(bytes) => {
                self.printed.extend(bytes);
                let excess = self.printed.len().saturating_sub(LAST_WORDS);
                self.printed.drain(..excess);
            }
            Event::Exited(status) => self.exited = Some(status),
        }
    }

    fn meet(&mut self, stream: TcpStream) {
        let dialect = self.setting.dialect.unwrap_or_default();
        let number = self.engines.len();
        let probe = self.setting.probe;
        let fair = probe.is_none_or(|probe| probe.fair);
        let seed = self.setting.seed.wrapping_add(u64::try_from(number).unwrap_or_default());
        let mut part = Part::new(dialect, probe, seed);
        let deeds =
            if number < MOST_ENGINES { part.start().into() } else { [Deed::Exit(1)].into() };
        self.engines.push(Engine {
            wire: Wire(stream),
            part,
            deeds,
            due: None,
            heard: LineBuffer::default(),
            said: LineBuffer::default(),
            dialogue: ProtocolState::new(dialect),
            talk: Conversation::new(dialect, fair),
            mark: None,
            over: false,
            gone: false,
        });
    }

    /// Does what is due. Returns when the next deed is.
    fn act(&mut self) -> Option<Instant> {
        let now = now();
        let at = now.saturating_duration_since(self.begin);
        for engine in &mut self.engines {
            if engine.act(now, at) {
                self.last = now;
            }
        }
        let due = self.engines.iter().filter(|engine| !engine.over).filter_map(|engine| engine.due);
        due.min()
    }
}

impl Engine {
    /// Takes what the client said.
    fn hear(&mut self, bytes: &[u8], at: Duration, only: Option<Dialect>) {
        self.heard.push(bytes);
        while let Some(line) = self.heard.next_line() {
            // A line without end is passed over, as an engine would.
            let Ok(line) = line else { continue };
            let (text, undecodable) = decode(line);
            if only.is_none() && self.dialogue.phase() == Phase::Fresh {
                let hello = |it: &Dialect| Command::read(&text, *it).value == Command::Uci;
                if let Some(dialect) = Dialect::ALL.into_iter().find(hello) {
                    self.dialogue.expect_handshake(dialect);
                    self.talk.dialect = dialect;
                    self.part.speak(dialect);
                }
            }
            let reading = Command::read(&text, self.dialogue.dialect());
            let violation = self.dialogue.apply_command_lenient(&reading.value);
            let notes = undecodable.into_iter().chain(reading.diagnostics).map(|note| note.kind);
            let notes: Vec<DiagnosticKind> = notes.collect();
            self.deeds.extend(self.part.hear(&reading.value));
            let text = text.clone().into_owned();
            let entry = Entry::new(at, Party::Client, text);
            self.talk.add(Entry { violation, notes, ..entry });
        }
    }

    /// Does what is due. Returns whether something was done.
    fn act(&mut self, now: Instant, at: Duration) -> bool {
        let mut acted = false;
        while !self.over && self.due.is_none_or(|due| due <= now) {
            self.due = None;
            let Some(deed) = self.deeds.pop_front() else { break };
            acted = true;
            match deed {
                Deed::Say(bytes) => {
                    self.note(&bytes, at);
                    self.wire.send(Order::Say, &bytes);
                }
                Deed::SayApart(bytes) => {
                    self.note(&bytes, at);
                    self.wire.send(Order::SayApart, &bytes);
                }
                Deed::Wait(time) => self.due = Some(now + time),
                Deed::Mark => self.mark = Some(self.talk.entries.len()),
                Deed::Complain(bytes) => {
                    let text = "something is not as it should be\n";
                    self.wire.send(Order::Complain, text.repeat(bytes / text.len()).as_bytes());
                }
                Deed::Close => self.wire.send(Order::Close, &[]),
                Deed::Exit(code) => {
                    self.over = true;
                    self.wire.send(Order::Exit, &[code]);
                }
                Deed::Abort => {
                    self.over = true;
                    self.wire.send(Order::Abort, &[]);
                }
            }
        }
        acted
    }

    /// Takes note of what the engine says.
    fn note(&mut self, bytes: &[u8], at: Duration) {
        self.said.push(bytes);
        while let Some(line) = self.said.next_line() {
            let Ok(line) = line else { continue };
            let (text, _) = decode(line);
            let reply = Reply::read(&text, self.dialogue.dialect()).value;
            let violation = self.dialogue.apply_reply_lenient(&reply);
            let text = text.into_owned();
            self.talk.add(Entry { violation, ..Entry::new(at, Party::Engine, text) });
        }
    }
}

impl Wire {
    fn send(&mut self, order: Order, bytes: &[u8]) {
        // That the wire is gone will be heard. One that takes nothing more is of no use.
        if self.0.write_all(&order.frame(bytes)).is_err() {
            let _ = self.0.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // An engine that has not left has played its part: without its wire it does.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
