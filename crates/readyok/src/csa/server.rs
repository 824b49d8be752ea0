//! The server: connections, and the thread that owns the games.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::client::save;
use super::lobby::{Lobby, Output, Rules};
use super::message::{MAX_LINE, TimeRules};
use crate::clock::now;
use crate::lines::read_line;
use crate::terminal::{print, print_error, printable};

/// Maximum time of one write to a player.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of lines per second of a player. Games between engines that do not think stay below it.
const MAX_RATE: u32 = 5000;
/// Number of messages that wait for a player. One that does not read is disconnected.
const MAX_UNSENT: usize = 256;
/// Maximum time for players to log out when the server ends.
const FAREWELL: Duration = Duration::from_secs(3);
/// Interval at which requests to stop are checked.
const STOP_INTERVAL: Duration = Duration::from_millis(200);

/// Settings of a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerSettings {
    pub(crate) times: TimeRules,
    pub(crate) max_moves: Option<u32>,
    /// Names with their passwords. Without it, any name is accepted.
    pub(crate) users: Option<BTreeMap<String, String>>,
    /// The number of games after which the server ends.
    pub(crate) games: Option<u64>,
    /// The directory for records.
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug)]
enum Event {
    Connected(u64, SyncSender<String>, TcpStream),
    Line(u64, String, Instant),
    Closed(u64),
}

/// Serves games until their number is reached or `stop` is set; then the running games are finished.
pub(crate) fn serve(
    listener: TcpListener,
    settings: ServerSettings,
    stop: &Arc<AtomicBool>,
) -> io::Result<()> {
    let (sender, events) = sync_channel(MAX_UNSENT);
    thread::Builder::new()
        .name("csa-listener".to_owned())
        .spawn(move || accept(&listener, &sender))?;
    let ServerSettings { times, max_moves, users, games, output } = settings;
    let mut server = Server {
        lobby: Lobby::new(Rules { times, max_moves, users, games }),
        connections: BTreeMap::new(),
        output,
        played: 0,
    };
    while games.is_none_or(|games| server.played < games) {
        if stop.load(Ordering::Acquire) {
            server.lobby.stop();
            if !server.lobby.has_games() {
                break;
            }
        }
        server.turn(&events)?;
    }
    // Players receive the result and log out.
    let until = now() + FAREWELL;
    while !server.connections.is_empty() && now() < until {
        server.turn(&events)?;
    }
    Ok(())
}

struct Server {
    lobby: Lobby,
    connections: BTreeMap<u64, (SyncSender<String>, TcpStream)>,
    output: Option<PathBuf>,
    played: u64,
}

impl Server {
    /// Waits for one event or deadline, and handles it.
    fn turn(&mut self, events: &Receiver<Event>) -> io::Result<()> {
        let until = self.lobby.deadline();
        let wait = until.map_or(STOP_INTERVAL, |until| until.saturating_duration_since(now()));
        match events.recv_timeout(wait.clamp(Duration::from_millis(1), STOP_INTERVAL)) {
            Ok(Event::Connected(id, sender, stream)) => {
                self.connections.insert(id, (sender, stream));
                self.lobby.on_connected(id, now());
            }
            Ok(Event::Line(id, line, at)) => self.lobby.on_line(id, &line, at),
            Ok(Event::Closed(id)) => {
                self.connections.remove(&id);
                self.lobby.on_closed(id, now());
            }
            Err(RecvTimeoutError::Timeout) => self.lobby.on_time(now()),
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::NotConnected.into()),
        }
        // A result is announced when its record is stored.
        let stored = self.store_finished();
        for output in self.lobby.drain_output() {
            match output {
                Output::Send(id, text) => self.send(id, text),
                // The writing thread closes the stream after the last message.
                Output::Close(id) => drop(self.connections.remove(&id)),
                Output::Log(text) => print(&printable(&text)),
            }
        }
        stored
    }

    /// Stores the records of the games that have ended.
    fn store_finished(&mut self) -> io::Result<()> {
        for (id, record) in self.lobby.drain_finished() {
            self.played += 1;
            if let Some(directory) = &self.output {
                save(directory, &id, &record).map_err(|(path, error)| {
                    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
                })?;
            }
        }
        Ok(())
    }

    fn send(&mut self, id: u64, text: String) {
        let Some((sender, stream)) = self.connections.get(&id) else { return };
        match sender.try_send(text) {
            Ok(()) => (),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                // The reading thread reports the end.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

fn accept(listener: &TcpListener, events: &SyncSender<Event>) {
    for (id, stream) in (0..).zip(listener.incoming()) {
        let started = stream.and_then(|stream| connect(id, stream, events));
        match started {
            Ok(true) => (),
            Ok(false) => return,
            Err(error) => {
                print_error(&format!("connection: {error}"));
                // Too many open files: wait for others to close.
                thread::sleep(STOP_INTERVAL);
            }
        }
    }
}

/// Starts both threads of a connection. False if the server has ended.
fn connect(id: u64, stream: TcpStream, events: &SyncSender<Event>) -> io::Result<bool> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let (sender, messages) = sync_channel::<String>(MAX_UNSENT);
    let mut writer = stream.try_clone()?;
    let write = move || {
        for message in messages {
            if writer.write_all(message.as_bytes()).is_err() {
                break;
            }
        }
        let _ = writer.shutdown(Shutdown::Both);
    };
    thread::Builder::new().name("csa-writer".to_owned()).spawn(write)?;
    let reader = stream.try_clone()?;
    if events.send(Event::Connected(id, sender, stream)).is_err() {
        return Ok(false);
    }
    let events = events.clone();
    let read = move || {
        read_lines(id, reader, &events);
        let _ = events.send(Event::Closed(id));
    };
    thread::Builder::new().name("csa-reader".to_owned()).spawn(read)?;
    Ok(true)
}

fn read_lines(id: u64, stream: TcpStream, events: &SyncSender<Event>) {
    let mut reader = BufReader::new(stream);
    let (mut second, mut count) = (now(), 0);
    while let Ok(line) = read_line(&mut reader, MAX_LINE) {
        let at = now();
        if at.saturating_duration_since(second) >= Duration::from_secs(1) {
            (second, count) = (at, 0);
        }
        count += 1;
        if count > MAX_RATE || events.send(Event::Line(id, line, at)).is_err() {
            break;
        }
    }
    let _ = reader.get_ref().shutdown(Shutdown::Both);
}
