//! The client: logs in, plays games with an engine, saves their records, and connects again.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use readyok_client::{EngineError, Guard};
use readyok_protocol::{Convention, GameResult as EngineResult, Score};
use readyok_rules::record::{self, Annotations, Format, GameRecord};
use readyok_rules::{
    Game, GameOutcome, GameResult, Move, Notation, Position, PositionHistory, Side, Termination,
};

use super::connection::{Connection, ConnectionError};
use super::message::{Message, Signal, Summary, SummaryError, SummaryReader, is_valid_name};
use crate::clock::{Backoff, now, sleep};
use crate::player::{Action, Board, Evaluation, Player, PlayerError, PlayerSettings, Turn};
use crate::terminal::{print, print_error, printable};

/// Maximum time for the reply to `LOGIN`, and for each line of a summary.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time for the reply to `LOGOUT`.
const LOGOUT_TIMEOUT: Duration = Duration::from_secs(3);
/// Interval at which a running search and requests to stop are checked.
const SEARCH_INTERVAL: Duration = Duration::from_millis(5);
const IDLE_INTERVAL: Duration = Duration::from_millis(200);
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

/// Why a client ends before all games are played.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The first connection failed.
    #[error("cannot connect to {address}: {error}")]
    Connect { address: String, error: ConnectionError },
    #[error("the server rejected the login of `{user}`")]
    LoginRejected { user: String },
    #[error("{0}")]
    Player(PlayerError),
    #[error("cannot write `{}`: {error}", path.display())]
    Record { path: PathBuf, error: io::Error },
}

/// What ends a session.
#[derive(Debug)]
enum SessionError {
    Connection(ConnectionError),
    /// The engine fails while no game is running.
    Engine(EngineError),
    Fatal(ClientError),
    /// A request to stop, while no game was running.
    Stopped,
    /// A message that the protocol does not allow here.
    Protocol(String),
}

impl From<ConnectionError> for SessionError {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(error)
    }
}

impl From<PlayerError> for SessionError {
    fn from(error: PlayerError) -> Self {
        match error {
            PlayerError::Engine(error) => Self::Engine(error),
            error => Self::Fatal(ClientError::Player(error)),
        }
    }
}

impl From<SummaryError> for SessionError {
    fn from(error: SummaryError) -> Self {
        Self::Protocol(error.to_string())
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
        let player =
            Player::start(&settings.player, Game::Shogi, guard).map_err(ClientError::Player)?;
        Ok(Self { settings, player, stop })
    }

    /// Plays games until their number is reached or the client is stopped.
    pub(crate) fn run(mut self) -> Result<(), ClientError> {
        let mut played = 0;
        let mut pauses = Backoff::new(MIN_PAUSE, MAX_PAUSE);
        let mut was_connected = false;
        let mut needs_restart = false;
        let mut failures = 0;
        while self.continues(played) {
            let session = match needs_restart.then(|| self.player.restart()) {
                None | Some(Ok(())) => self.session(&mut was_connected),
                Some(Err(error)) => Err(error.into()),
            };
            needs_restart = self.settings.restarts;
            match session {
                Ok(()) => {
                    played += 1;
                    pauses.reset();
                    failures = 0;
                    continue;
                }
                Err(SessionError::Stopped) => break,
                Err(SessionError::Fatal(error)) => return Err(error),
                Err(SessionError::Engine(error)) => {
                    failures += 1;
                    if failures == MAX_ENGINE_FAILURES {
                        return Err(ClientError::Player(PlayerError::Engine(error)));
                    }
                    print_error(&error.to_string());
                    needs_restart = true;
                }
                Err(SessionError::Connection(error)) if !was_connected => {
                    let address = self.settings.address.clone();
                    return Err(ClientError::Connect { address, error });
                }
                Err(SessionError::Connection(error)) => print_error(&error.to_string()),
                Err(SessionError::Protocol(text)) => print_error(&text),
            }
            let pause = pauses.pause();
            print_error(&format!("next connection in {} s", pause.as_secs()));
            sleep(pause, &self.stop);
        }
        Ok(())
    }

    /// Whether another game follows.
    fn continues(&self, played: u64) -> bool {
        self.settings.games.is_none_or(|games| played < games) && !self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Logs in, plays a game and logs out.
    fn session(&mut self, was_connected: &mut bool) -> Result<(), SessionError> {
        let mut connection = Connection::open(&self.settings.address)?;
        let Login { user, password } = &self.settings.login;
        connection.send(&format!("LOGIN {user} {password}"))?;
        loop {
            match Self::reply(&mut connection)? {
                Message::LoginAccepted => break,
                Message::LoginRejected => {
                    let error = ClientError::LoginRejected { user: user.clone() };
                    // The server may not have noticed the end of the last connection yet.
                    return Err(if *was_connected {
                        SessionError::Protocol(error.to_string())
                    } else {
                        SessionError::Fatal(error)
                    });
                }
                _ => (),
            }
        }
        *was_connected = true;
        let played = self.wait_and_play(&mut connection);
        if !matches!(played, Err(SessionError::Connection(_))) {
            log_out(&mut connection);
        }
        played
    }

    /// The next message within the timeout of replies.
    fn reply(connection: &mut Connection) -> Result<Message, SessionError> {
        match connection.receive(REPLY_TIMEOUT)? {
            Some((line, _)) => Ok(Message::read(&line)),
            None => Err(ConnectionError::Silent.into()),
        }
    }

    fn wait_and_play(&mut self, connection: &mut Connection) -> Result<(), SessionError> {
        loop {
            match self.next(connection)? {
                Message::BeginSummary => (),
                Message::LoggedOut => return Err(ConnectionError::Closed.into()),
                _ => continue,
            }
            let summary = Self::summary(connection)?;
            self.new_game(&summary)?;
            connection.send(&format!("AGREE {}", summary.id))?;
            let started = loop {
                match self.next(connection)? {
                    Message::Start(id) if id == summary.id => break true,
                    Message::Reject(_) => break false,
                    Message::LoggedOut => return Err(ConnectionError::Closed.into()),
                    _ => (),
                }
            };
            if started {
                return self.play(connection, &summary);
            }
        }
    }

    /// Prepares the engine for a game. An engine that failed after the last game is restarted.
    fn new_game(&mut self, summary: &Summary) -> Result<(), PlayerError> {
        match self.player.new_game(summary.record.start()) {
            Err(PlayerError::Engine(error)) => {
                print_error(&error.to_string());
                self.player.restart()?;
                self.player.new_game(summary.record.start())
            }
            done => done,
        }
    }

    /// The next message while no game is running.
    fn next(&self, connection: &mut Connection) -> Result<Message, SessionError> {
        loop {
            if let Some((line, _)) = connection.receive(IDLE_INTERVAL)? {
                return Ok(Message::read(&line));
            }
            if self.is_stopped() {
                return Err(SessionError::Stopped);
            }
        }
    }

    fn summary(connection: &mut Connection) -> Result<Summary, SessionError> {
        let mut reader = SummaryReader::default();
        loop {
            let line = connection.receive(REPLY_TIMEOUT)?.ok_or(ConnectionError::Silent)?;
            if let Some(summary) = reader.line(&line.0)? {
                return Ok(summary);
            }
        }
    }

    fn play(&mut self, connection: &mut Connection, summary: &Summary) -> Result<(), SessionError> {
        let [first, second] = &summary.names;
        print(&printable(&format!("game {}: {first} – {second}", summary.id)));
        let mut game = ClientGame::new(summary, self.settings.margin);
        let played = self.moves(connection, &mut game);
        self.player.game_over(match (game.record.result, summary.your_side) {
            (GameResult::Win(side), yours) if side == yours => EngineResult::Win,
            (GameResult::Win(_), _) => EngineResult::Lose,
            (GameResult::Draw | GameResult::Unknown, _) => EngineResult::Draw,
        });
        self.player.drain_notices();
        if played.is_err() && game.record.end().is_none() {
            let outcome =
                GameOutcome { result: GameResult::Unknown, termination: Termination::Aborted };
            game.record.conclude(outcome);
        }
        let termination = game.record.termination().map_or("", Termination::name);
        print(&printable(&format!(
            "game {}: {} {termination}",
            summary.id,
            game.record.result.as_str()
        )));
        self.save(&summary.id, &game.record).map_err(SessionError::Fatal)?;
        played
    }

    /// Plays until the server states the result.
    fn moves(
        &mut self,
        connection: &mut Connection,
        game: &mut ClientGame,
    ) -> Result<(), SessionError> {
        // `None` without a turn, or after the move.
        let mut turn = game.board.is_own_turn().then(|| Turn::new(now()));
        loop {
            if let Some(action) =
                turn.as_mut().and_then(|turn| turn.advance(&mut self.player, &game.board))
            {
                turn = None;
                connection.send(&self.text(game, action))?;
            }
            let pause = if turn.is_some() { SEARCH_INTERVAL } else { IDLE_INTERVAL };
            let Some((line, at)) = connection.receive(pause)? else { continue };
            match Message::read(&line) {
                Message::Action { text, elapsed } if text.starts_with('%') => {
                    game.on_statement(elapsed);
                }
                Message::Action { text, elapsed } => {
                    game.on_move(&text, elapsed).map_err(SessionError::Protocol)?;
                    // A move of the server for this side replaces that of the engine.
                    turn = game.board.is_own_turn().then(|| Turn::new(at));
                }
                Message::Signal(signal) if game.on_signal(signal) => return Ok(()),
                Message::LoggedOut => return Err(ConnectionError::Closed.into()),
                _ => (),
            }
        }
    }

    /// The line for an action of the engine. An engine that fails resigns.
    fn text(&self, game: &mut ClientGame, action: Result<Action, PlayerError>) -> String {
        match action {
            Ok(Action::Play { mv, evaluation }) => {
                let position = game.board.history.position();
                let mut text = position.notation(mv, Notation::Csa);
                if let Some(evaluation) = &evaluation
                    && self.settings.comments
                {
                    text.push_str(",'");
                    text.push_str(&comment(position, evaluation.score, &evaluation.pv));
                }
                game.evaluation = evaluation;
                text
            }
            Ok(Action::Resign) => "%TORYO".to_owned(),
            Ok(Action::Declare) => "%KACHI".to_owned(),
            Err(error) => {
                print_error(&format!("the engine resigns: {error}"));
                "%TORYO".to_owned()
            }
        }
    }

    fn save(&self, id: &str, record: &GameRecord) -> Result<(), ClientError> {
        let Some(directory) = &self.settings.output else { return Ok(()) };
        save(directory, id, record).map_err(|(path, error)| ClientError::Record { path, error })
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
        let created = fs::OpenOptions::new().write(true).create_new(true).open(&path);
        match created {
            Ok(mut file) => {
                return io::Write::write_all(&mut file, &text).map_err(|error| (path, error));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Err(error) => return Err((path, error)),
        }
    }
    Ok(())
}

fn log_out(connection: &mut Connection) {
    let until = now() + LOGOUT_TIMEOUT;
    if connection.send("LOGOUT").is_err() {
        return;
    }
    loop {
        let left = until.saturating_duration_since(now());
        match connection.receive(left) {
            Ok(Some((line, _))) if Message::read(&line) != Message::LoggedOut => (),
            Ok(_) | Err(_) => return,
        }
    }
}

/// A game from the view of a client.
struct ClientGame {
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
            board: Board {
                side: summary.your_side,
                history: PositionHistory::new(record.start().clone()),
                times: summary.times,
                remaining: summary.times.map(|times| times.total),
                convention: Convention::IncrementToCome,
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
    const MATE: i32 = 100_000;
    let score = match score {
        Score::Cp(score) => score,
        Score::MateIn { .. } | Score::MateInUnknown | Score::MateGiven => MATE,
        Score::Mated | Score::MatedIn { .. } | Score::MatedInUnknown => -MATE,
    };
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
