//! The client: logs in, plays games with an engine, saves their records, and connects again.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use readyok_arena::durable::{FileAccess, NewFile};
use readyok_client::Guard;
use readyok_protocol::{Convention, GameResult as EngineResult, Score};
use readyok_rules::record::{self, Annotations, Format, GameRecord};
use readyok_rules::{
    Game, GameOutcome, GameResult, Move, Notation, Position, PositionHistory, Side, Termination,
};

use super::connection::{Connection, ConnectionError};
use super::message::{Message, Signal, Summary, SummaryError, SummaryReader, is_valid_name};
use crate::clock::{Backoff, now, sleep};
use crate::lines::LineError;
use crate::play::{
    self, Event, Failure, Link, PlayError, Request, Resign, Rules, Wire, centipawns, play,
};
use crate::player::{Board, Evaluation, Player, PlayerError, PlayerSettings};
use crate::terminal::{print, print_error, printable};

/// Maximum time for the reply to `LOGIN`, and for each line of a summary.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time for the reply to `LOGOUT`.
const LOGOUT_TIMEOUT: Duration = Duration::from_secs(3);
/// Pauses before the next connection: doubled after each failure. The first one is short, because a game may be running.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_mins(5);
/// Number of failures of the engine between games in succession that end the client.
const MAX_ENGINE_FAILURES: u32 = 5;

/// The name and the password of `LOGIN`.
#[derive(Clone)]
pub(crate) struct Login {
    user: String,
    password: String,
}

impl Login {
    /// # Errors
    /// The name or the password cannot be sent.
    pub(crate) fn new(user: String, password: String) -> Result<Self, LoginError> {
        if !is_valid_name(&user) {
            return Err(LoginError::Name(user));
        }
        // The protocol allows 32 bytes; servers accept more, which passwords of floodgate need.
        let is_valid = |byte: u8| byte.is_ascii_graphic();
        if password.is_empty() || password.len() > 128 || !password.bytes().all(is_valid) {
            return Err(LoginError::Password);
        }
        Ok(Self { user, password })
    }
}

/// Why a login cannot be sent.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum LoginError {
    #[error("invalid name `{0}`: up to 32 letters, digits, `_` and `-` are allowed")]
    Name(String),
    #[error("invalid password: up to 128 ASCII characters without spaces are allowed")]
    Password,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Settings of a client.
#[derive(Clone, Debug)]
pub(crate) struct ClientSettings {
    /// `host:port`
    pub(crate) address: String,
    pub(crate) login: Login,
    pub(crate) player: PlayerSettings,
    pub(crate) resign: Resign,
    /// Whether the engine is restarted after each game.
    pub(crate) restarts: bool,
    /// Time that each move keeps in reserve for the network.
    pub(crate) margin: Duration,
    /// Whether moves have the evaluation and the PV as a comment, an extension of floodgate.
    pub(crate) comments: bool,
    /// The number of games; without one, until the client is stopped.
    pub(crate) games: Option<u64>,
    /// The directory for records.
    pub(crate) output: Option<PathBuf>,
}

/// Why a connection is lost, or a client ends before all games are played.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The first connection failed.
    #[error("cannot connect to {address}: {error}")]
    Connect { address: String, error: ConnectionError },
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    #[error("the server rejected the login of `{user}`")]
    LoginRejected { user: String },
    /// A message that the protocol does not allow here.
    #[error("{0}")]
    Protocol(String),
    #[error(transparent)]
    Summary(#[from] SummaryError),
    #[error(transparent)]
    Player(#[from] PlayerError),
    #[error("cannot write `{}`: {error}", path.display())]
    Record { path: PathBuf, error: io::Error },
}

impl From<LineError> for ClientError {
    fn from(error: LineError) -> Self {
        Self::Connection(error.into())
    }
}

impl From<ClientError> for Failure<ClientError> {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Connect { .. } | ClientError::Player(_) | ClientError::Record { .. } => {
                Self::Fatal(error)
            }
            ClientError::Connection(_)
            | ClientError::LoginRejected { .. }
            | ClientError::Protocol(_)
            | ClientError::Summary(_) => Self::Lost(error, None),
        }
    }
}

/// A client with its engine.
pub(crate) struct Client<'a> {
    settings: &'a ClientSettings,
    player: Player<'a>,
    /// Ends the client after the current game.
    stop: Arc<AtomicBool>,
}

impl<'a> Client<'a> {
    /// Starts the engine.
    pub(crate) fn new(
        settings: &'a ClientSettings,
        guard: &'a Guard,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, ClientError> {
        let mut player = Player::new(&settings.player, Game::Shogi, guard)?;
        player.start()?;
        Ok(Self { settings, player, stop })
    }

    /// Plays games until their number is reached or the client is stopped.
    pub(crate) fn run(mut self) -> Result<(), ClientError> {
        let settings = self.settings;
        let rules = Rules { resign: settings.resign.clone(), ..Rules::default() };
        let mut link = Link::new(CsaWire::new(settings), (MIN_PAUSE, MAX_PAUSE));
        let mut pauses = Backoff::new(MIN_PAUSE, MAX_PAUSE);
        let (mut played, mut failures) = (0, 0);
        while settings.games.is_none_or(|games| played < games) {
            let started = self.player.start().map(drop).map_err(PlayError::Player);
            match started.and_then(|()| play(&mut link, &mut self.player, &rules, &self.stop)) {
                Ok(true) => {
                    (played, failures) = (played + 1, 0);
                    pauses.reset();
                }
                Ok(false) => break,
                Err(PlayError::Player(PlayerError::Engine(error)))
                    if failures + 1 < MAX_ENGINE_FAILURES =>
                {
                    failures += 1;
                    self.player.stop();
                    let pause = pauses.pause();
                    print_error(&format!("{error}; next start in {} s", pause.as_secs()));
                    sleep(pause, &self.stop);
                }
                Err(PlayError::Player(error)) => return Err(error.into()),
                Err(PlayError::Wire(error)) => return Err(error),
            }
            link.connection.log_out();
            link.reopen();
            if settings.restarts {
                self.player.stop();
            }
        }
        link.connection.log_out();
        Ok(())
    }
}

/// The protocol for one player.
struct CsaWire<'a> {
    settings: &'a ClientSettings,
    connection: Option<Connection>,
    was_connected: bool,
    offered: Option<Summary>,
    game: Option<ClientGame>,
    /// The game in which the connection was lost.
    interrupted: Option<String>,
}

impl<'a> CsaWire<'a> {
    fn new(settings: &'a ClientSettings) -> Self {
        Self {
            settings,
            connection: None,
            was_connected: false,
            offered: None,
            game: None,
            interrupted: None,
        }
    }

    fn connection(&mut self) -> Result<&mut Connection, LineError> {
        self.connection.as_mut().ok_or(LineError::Closed)
    }

    /// The next line within the timeout of replies.
    fn reply(&mut self) -> Result<String, ClientError> {
        let line = self.connection()?.receive(REPLY_TIMEOUT)?;
        line.map(|(line, _)| line).ok_or_else(|| ConnectionError::Silent.into())
    }

    fn log_in(&mut self) -> Result<(), ClientError> {
        let address = &self.settings.address;
        self.connection = match Connection::open(address) {
            Ok(connection) => Some(connection),
            Err(error) if self.was_connected => return Err(error.into()),
            Err(error) => return Err(ClientError::Connect { address: address.clone(), error }),
        };
        let Login { user, password } = &self.settings.login;
        self.connection()?.send(&format!("LOGIN {user} {password}"))?;
        loop {
            match Message::read(&self.reply()?) {
                Message::LoginAccepted => break,
                Message::LoginRejected => {
                    return Err(ClientError::LoginRejected { user: user.clone() });
                }
                _ => (),
            }
        }
        self.was_connected = true;
        Ok(())
    }

    fn next(&mut self, within: Duration) -> Result<Option<Event>, ClientError> {
        let Some((line, at)) = self.connection()?.receive(within)? else { return Ok(None) };
        match (Message::read(&line), &mut self.game) {
            (Message::LoggedOut, _) => Err(LineError::Closed.into()),
            (Message::BeginSummary, None) => {
                let mut reader = SummaryReader::default();
                let summary = loop {
                    if let Some(summary) = reader.line(&self.reply()?)? {
                        break summary;
                    }
                };
                let is_continued = self.interrupted.take_if(|id| *id == summary.id).is_some();
                let start = summary.record.start().clone();
                self.offered = Some(summary);
                Ok(Some(Event::Offer { start, is_continued }))
            }
            (Message::Start(id), None) => {
                let Some(summary) = self.offered.take_if(|summary| summary.id == id) else {
                    return Ok(None);
                };
                let [first, second] = &summary.names;
                print(&printable(&format!("game {id}: {first} – {second}")));
                let game = ClientGame::new(&summary, self.settings.margin);
                Ok(Some(self.game.insert(game).state(at)))
            }
            (Message::Reject(_), None) => {
                self.offered = None;
                Ok(None)
            }
            (Message::Action { text, elapsed }, Some(game)) if text.starts_with('%') => {
                game.on_statement(elapsed);
                Ok(None)
            }
            (Message::Action { text, elapsed }, Some(game)) => {
                game.on_move(&text, elapsed).map_err(ClientError::Protocol)?;
                Ok(Some(game.state(at)))
            }
            (Message::Signal(signal), Some(game)) => {
                if !game.on_signal(signal) {
                    return Ok(None);
                }
                let (result, side) = (game.record.result, game.board.side);
                self.save()?;
                Ok(Some(Event::Over(match result {
                    GameResult::Win(winner) if winner == side => EngineResult::Win,
                    GameResult::Win(_) => EngineResult::Lose,
                    GameResult::Draw | GameResult::Unknown => EngineResult::Draw,
                })))
            }
            _ => Ok(None),
        }
    }

    /// Ends the game and saves its record.
    fn save(&mut self) -> Result<(), ClientError> {
        let Some(ClientGame { id, mut record, .. }) = self.game.take() else { return Ok(()) };
        if record.end().is_none() {
            let outcome =
                GameOutcome { result: GameResult::Unknown, termination: Termination::Aborted };
            record.conclude(outcome);
            self.interrupted = Some(id.clone());
        }
        let termination = record.termination().map_or("", Termination::name);
        // A result is announced when its record is stored.
        let stored = match &self.settings.output {
            Some(directory) => save(directory, &id, &record),
            None => Ok(()),
        };
        print(&printable(&format!("game {id}: {} {termination}", record.result.as_str())));
        stored.map_err(|(path, error)| ClientError::Record { path, error })
    }

    fn log_out(&mut self) {
        let until = now() + LOGOUT_TIMEOUT;
        let Some(mut connection) = self.connection.take() else { return };
        if connection.send("LOGOUT").is_err() {
            return;
        }
        while let Ok(Some((line, _))) = connection.receive(until.saturating_duration_since(now()))
            && Message::read(&line) != Message::LoggedOut
        {}
    }
}

impl play::Connection for CsaWire<'_> {
    type Event = Event;
    type Error = ClientError;

    fn open(&mut self) -> Result<(), Failure<ClientError>> {
        self.log_in().map_err(|error| match error {
            // Later, the server may not have noticed the end of the last connection yet.
            ClientError::LoginRejected { .. } if !self.was_connected => Failure::Fatal(error),
            error => error.into(),
        })
    }

    fn receive(&mut self, within: Duration) -> Result<Option<Event>, Failure<ClientError>> {
        self.next(within).map_err(|error| {
            if !matches!(error, ClientError::Connection(_)) {
                self.log_out();
            }
            (self.connection, self.offered) = (None, None);
            match self.save() {
                Ok(()) => error.into(),
                Err(error) => Failure::Fatal(error),
            }
        })
    }
}

impl Wire for CsaWire<'_> {
    fn send(&mut self, request: &Request) -> Result<Option<Duration>, Failure<ClientError>> {
        let text = match (request, &mut self.game, &self.offered) {
            (Request::Accept, _, Some(summary)) => format!("AGREE {}", summary.id),
            (Request::Play { mv, evaluation, .. }, Some(game), _) => {
                let position = game.board.history.position();
                let mut text = position.notation(*mv, Notation::Csa);
                if let Some(evaluation) = evaluation
                    && self.settings.comments
                {
                    text.push_str(",'");
                    text.push_str(&comment(position, evaluation.score, &evaluation.pv));
                }
                game.evaluation.clone_from(evaluation);
                text
            }
            (Request::Resign, Some(_), _) => "%TORYO".to_owned(),
            (Request::Declare, Some(_), _) => "%KACHI".to_owned(),
            // The game continues after the next login, or there are no draw offers.
            _ => return Ok(None),
        };
        let sent = self.connection().map_err(ClientError::from)?.send(&text);
        sent.map(|()| None).map_err(|error| ClientError::from(error).into())
    }
}

/// Writes a record into a directory, under a name that does not exist yet.
pub(super) fn save(
    directory: &Path,
    id: &str,
    record: &GameRecord,
) -> Result<(), (PathBuf, io::Error)> {
    let mut text = Vec::new();
    let written = record::write(record, Format::CSA, &mut text);
    written.map_err(|error| (directory.to_owned(), io::Error::other(error.to_string())))?;
    fs::create_dir_all(directory).map_err(|error| (directory.to_owned(), error))?;
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "+-_.".contains(letter);
    let name: String =
        id.chars().map(|letter| if is_safe(letter) { letter } else { '_' }).take(120).collect();
    let name = name.trim_start_matches('.');
    for number in 1_u32.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = directory.join(format!("{name}{suffix}.csa"));
        if path.symlink_metadata().is_ok() {
            continue;
        }
        let created = NewFile::create(&path, FileAccess::Default).and_then(|mut file| {
            io::Write::write_all(&mut file, &text)?;
            file.persist_new()
        });
        match created {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Err(error) => return Err((path, error)),
        }
    }
    Ok(())
}

/// A game from the view of a client.
struct ClientGame {
    id: String,
    board: Board,
    record: GameRecord,
    /// The evaluation of the move that was sent.
    evaluation: Option<Evaluation>,
    /// The time of the statement that ends the game.
    end_elapsed: Option<Duration>,
    reason: Option<Signal>,
}

impl ClientGame {
    fn new(summary: &Summary, margin: Duration) -> Self {
        let mut record = GameRecord::new(summary.record.start().clone());
        let [first, second] = &summary.names;
        record.set_player(Side::First, first.as_str());
        record.set_player(Side::Second, second.as_str());
        record.set_header(record::Tag::Event, summary.id.as_str());
        let mut game = Self {
            id: summary.id.clone(),
            board: Board {
                side: summary.your_side,
                history: PositionHistory::new(record.start().clone()),
                times: summary.times,
                remaining: summary.times.map(|times| times.total),
                convention: Convention::IncrementToCome,
                is_clock_running: true,
                margin,
            },
            record,
            evaluation: None,
            end_elapsed: None,
            reason: None,
        };
        for node in summary.record.mainline() {
            if let Some(mv) = node.mv().and_then(record::RecordMove::legal) {
                game.add(mv, summary.record.annotations(node.id()).elapsed.unwrap_or_default());
            }
        }
        game
    }

    fn state(&self, at: Instant) -> Event {
        Event::State { board: Box::new(self.board.clone()), at, offers_draw: false }
    }

    fn turn(&self) -> Side {
        self.board.history.position().turn()
    }

    fn add(&mut self, mv: Move, elapsed: Duration) {
        let side = self.turn();
        if let (Some(times), Some(remaining)) =
            (self.board.times.get(side.index()), self.board.remaining.get_mut(side.index()))
        {
            *remaining = times.remaining_after(*remaining, elapsed);
        }
        // The move is legal.
        if self.board.history.push(mv).is_err() {
            return;
        }
        let Ok(node) = self.record.play(mv) else { return };
        let evaluation = self.evaluation.take().filter(|_| side == self.board.side);
        if let Some(notes) = self.record.annotations_mut(node) {
            *notes = Annotations {
                elapsed: Some(elapsed),
                evaluation: evaluation.map(|evaluation| {
                    record::Evaluation::by(side, evaluation.score, evaluation.depth)
                }),
                ..Annotations::default()
            };
        }
    }

    fn elapsed(&self, units: Option<u64>) -> Duration {
        let times = self.board.times.get(self.turn().index());
        times.map_or(Duration::ZERO, |times| times.time(units.unwrap_or(0)))
    }

    /// A move from the server.
    fn on_move(&mut self, text: &str, elapsed: Option<u64>) -> Result<(), String> {
        let mv = self.board.history.position().parse(text, Notation::Csa);
        let mv = mv.map_err(|error| format!("the server sent an illegal move: {error}"))?;
        let elapsed = self.elapsed(elapsed);
        self.add(mv, elapsed);
        Ok(())
    }

    /// A statement such as `%TORYO`, which the next signals explain.
    fn on_statement(&mut self, elapsed: Option<u64>) {
        self.end_elapsed = Some(self.elapsed(elapsed));
    }

    /// A signal of the server. Returns whether the game is over.
    fn on_signal(&mut self, signal: Signal) -> bool {
        if !signal.ends_game() {
            self.reason = Some(signal);
            return false;
        }
        let termination = match self.reason.unwrap_or(signal) {
            Signal::Resign => Termination::Resignation,
            Signal::TimeUp => Termination::TimeForfeit,
            Signal::IllegalMove | Signal::IllegalAction => Termination::IllegalMove,
            Signal::Repetition => Termination::Repetition,
            Signal::PerpetualCheck => Termination::PerpetualCheck,
            Signal::Declaration => Termination::Declaration,
            Signal::MaxMoves => Termination::MoveLimit,
            Signal::Aborted => Termination::Aborted,
            Signal::Win | Signal::Lose | Signal::Draw | Signal::Censored => {
                Termination::Adjudication
            }
        };
        let result = match signal {
            Signal::Win => GameResult::Win(self.board.side),
            Signal::Lose => GameResult::Win(self.board.side.other()),
            Signal::Draw | Signal::Censored => GameResult::Draw,
            _ => GameResult::Unknown,
        };
        let elapsed = self.end_elapsed;
        self.record.conclude(record::End {
            outcome: GameOutcome { result, termination },
            text: None,
            elapsed,
            comments: Vec::new(),
        });
        true
    }
}

/// `* 30 -3334FU +2726FU`: the score for Black and the moves that follow the first one of the PV.
fn comment(position: &Position, score: Score, pv: &[String]) -> String {
    let score = centipawns(score);
    let score = if position.turn() == Side::First { score } else { score.saturating_neg() };
    let mut text = format!("* {score}");
    let mut position = position.clone();
    for (number, uci) in pv.iter().enumerate() {
        let Ok(mv) = position.parse_move(uci) else { break };
        if number > 0 {
            text.push(' ');
            text.push_str(&position.notation(mv, Notation::Csa));
        }
        if position.play(mv).is_err() {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_comments_of_floodgate_from_blacks_view() {
        let mut position = Position::start(Game::Shogi);
        let pv = ["7g7f", "3c3d", "2g2f", "resign"].map(str::to_owned);
        assert_eq!(comment(&position, Score::Cp(30), &pv), "* 30 -3334FU +2726FU");
        position.play_uci("7g7f").expect("legal");
        assert_eq!(comment(&position, Score::Cp(30), &pv[1..2]), "* -30");
        assert_eq!(comment(&position, Score::Mated, &[]), "* 100000");
    }
}
