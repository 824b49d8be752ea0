//! `readyok bot`: plays on Lichess with an engine (Bot API). One thread answers challenges, and each game has its own
//! thread, engine and stream.

mod config;
mod game;
mod message;
mod stream;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use readyok_client::Guard;
use readyok_rules::{Book, Move, Position, Syzygy};
use ureq::http::Method;

pub(crate) use config::Config;
use game::Overhead;
use message::{Account, AccountEvent, Challenge, GameRef, Playing, TokenScopes, is_id};
use stream::{Event, follow};

use crate::clock::{Backoff, now, sleep};
use crate::http::{Address, Content, Http, HttpError, Waits, read};
use crate::player::PlayerSettings;
use crate::terminal::{print, print_error, printable};

/// What the token must permit.
const SCOPE: &str = "bot:play";
/// Longest waits. The server sends an empty line to each stream every 7 s.
const WAITS: Waits = Waits { answer: Duration::from_secs(8), idle: Duration::from_secs(20) };
/// Interval at which requests to stop are checked.
const INTERVAL: Duration = Duration::from_millis(200);
/// Time within which the game of an accepted challenge begins.
const ACCEPTED_WAIT: Duration = Duration::from_secs(30);
/// Pauses after failed requests at the start.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));
const DAY: Duration = Duration::from_hours(24);

/// A connection with the account of a token.
pub(crate) struct Lichess {
    http: Arc<Http>,
    token: String,
}

impl Lichess {
    pub(crate) fn new(server: Address, token: String) -> Self {
        let http = Http::new(server, Some(token.clone()), "scope bot:play", WAITS);
        Self { http: Arc::new(http), token }
    }

    /// Makes the account a bot, which is irreversible.
    pub(crate) fn upgrade(&self) -> Result<(), HttpError> {
        post(&self.http, "/api/bot/account/upgrade", String::new())
    }

    /// The account, which must be a bot. Waits for the server until the command is to end.
    fn account(&self, stop: &AtomicBool) -> Result<Account, String> {
        let account = retry(stop, || self.http.get("/api/account").and_then(read::<Account>));
        let account = account.map_err(|error| error.to_string())?;
        if account.title.as_deref() == Some("BOT") {
            return Ok(account);
        }
        Err(format!(
            "`{}` is not a bot account; --upgrade makes it one, which is irreversible and possible only before its first game",
            account.username
        ))
    }

    /// The name of the account, which must be a bot. The token must have the scope.
    pub(crate) fn check(&self) -> Result<String, String> {
        let account = self.account(&AtomicBool::new(true))?;
        let token = Content::Text(self.token.clone());
        let answer = self.http.send(Method::POST, "/api/token/test", token);
        let tokens: BTreeMap<String, Option<TokenScopes>> =
            answer.and_then(read).map_err(|error| error.to_string())?;
        let scopes = tokens.get(&self.token).and_then(Option::as_ref);
        if scopes.is_some_and(|token| token.scopes.split(',').any(|scope| scope == SCOPE)) {
            return Ok(account.username);
        }
        Err(format!("the token does not have the scope {SCOPE}"))
    }
}

/// Repeats a request until it succeeds, is rejected, or the command is to end.
fn retry<T>(
    stop: &AtomicBool,
    mut request: impl FnMut() -> Result<T, HttpError>,
) -> Result<T, HttpError> {
    let mut pauses = Backoff::new(PAUSES.0, PAUSES.1);
    loop {
        match request() {
            Err(error) if !error.is_rejection() && !stop.load(Ordering::Acquire) => {
                let pause = error.retry_after().unwrap_or_else(|| pauses.pause());
                print_error(&format!("{error}; next attempt in {} s", pause.as_secs()));
                sleep(pause, stop);
            }
            done => return done,
        }
    }
}

fn post(http: &Http, path: &str, form: String) -> Result<(), HttpError> {
    http.send(Method::POST, path, Content::Form(form)).map(drop)
}

/// Text as a value of a form.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| {
        if byte.is_ascii_alphanumeric() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(escape).collect()
}

/// What all games share.
pub(crate) struct Bot<'a> {
    http: Arc<Http>,
    account: Account,
    config: Config,
    player: PlayerSettings,
    guard: &'a Guard,
    books: Mutex<Vec<Book>>,
    tables: Option<Syzygy>,
    overhead: Mutex<Overhead>,
    stop: Arc<AtomicBool>,
}

impl Config {
    /// The settings of the engine of one game: games divide threads and hash.
    pub(crate) fn divide(&self, player: PlayerSettings) -> PlayerSettings {
        let games = u32::try_from(self.games).unwrap_or(u32::MAX).max(1);
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or_else(|| u32::try_from(cpus).unwrap_or(1));
        let share = |all: u32| (all / games).max(1);
        let shares = vec![("Threads", share(threads)), ("Hash", share(self.hash))];
        PlayerSettings { shares, ponders: self.ponder, ..player }
    }

    /// Opens books and tables.
    pub(crate) fn open_files(&self) -> Result<(Vec<Book>, Option<Syzygy>), String> {
        let open = |path: &std::path::PathBuf| {
            Book::open(path).map_err(|error| format!("`{}`: {error}", path.display()))
        };
        let books = self.books.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let tables = (!self.syzygy.is_empty()).then(|| Syzygy::open(&self.syzygy)).transpose();
        Ok((books, tables.map_err(|error| error.to_string())?))
    }

    /// Declines Chess960, which the engine does not play.
    pub(crate) fn without_chess960(&mut self) {
        self.accept.variants.retain(|variant| variant != "chess960");
    }
}

impl<'a> Bot<'a> {
    pub(crate) fn new(
        lichess: Lichess,
        config: Config,
        player: PlayerSettings,
        guard: &'a Guard,
        (books, tables): (Vec<Book>, Option<Syzygy>),
        stop: Arc<AtomicBool>,
    ) -> Result<Self, String> {
        let account = lichess.account(&stop)?;
        let (books, overhead) = (Mutex::new(books), Mutex::default());
        Ok(Self {
            http: lichess.http,
            account,
            config,
            player,
            guard,
            books,
            tables,
            overhead,
            stop,
        })
    }

    /// Plays until the command is to end and no game is running.
    pub(crate) fn run(&self) -> Result<(), HttpError> {
        let playing: Playing =
            retry(&self.stop, || self.http.get("/api/account/playing").and_then(read))?;
        let events = follow::<AccountEvent>(&self.http, "/api/stream/event".to_owned());
        thread::scope(|scope| {
            let mut lobby = Lobby::new(self, scope);
            for game in playing.now_playing {
                lobby.start(game);
            }
            loop {
                match events.recv_timeout(INTERVAL) {
                    Ok(Event::Message(event, _)) => lobby.on_event(event),
                    Ok(Event::Alive) | Err(RecvTimeoutError::Timeout) => (),
                    Ok(Event::Rejected(error)) => return Err(error),
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                lobby.accepted.retain(|_, (_, until)| now() < *until);
                let running = lobby.running();
                if self.stop.load(Ordering::Acquire) {
                    if running == 0 {
                        return Ok(());
                    }
                } else {
                    lobby.seek(running);
                }
            }
        })
    }

    fn post(&self, path: &str, form: String) -> Result<(), HttpError> {
        post(&self.http, path, form)
    }

    /// A move of the first book that has the position, at random by its weights.
    fn book_move(&self, position: &Position) -> Option<Move> {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        for book in books.iter_mut() {
            let moves = match book.moves(position) {
                Ok(moves) => moves,
                Err(error) => {
                    print_error(&format!("a book cannot be read: {error}"));
                    continue;
                }
            };
            let weight = |weight: Option<u64>| weight.unwrap_or(1);
            let total = moves.iter().fold(0_u64, |sum, mv| sum.saturating_add(weight(mv.weight)));
            let mut random = getrandom::u64().ok()?.checked_rem(total).unwrap_or(0);
            for mv in moves {
                match random.checked_sub(weight(mv.weight)) {
                    Some(rest) => random = rest,
                    None => return Some(mv.mv),
                }
            }
        }
        None
    }
}

/// The games and challenges of the account.
struct Lobby<'scope, 'env> {
    bot: &'env Bot<'env>,
    scope: &'scope Scope<'scope, 'env>,
    /// The opponents by game.
    games: Arc<Mutex<BTreeMap<String, String>>>,
    /// The opponents of accepted challenges whose games have not begun, until when they can.
    accepted: BTreeMap<String, (String, Instant)>,
    /// When the next challenge may be sent, and those of the last 24 hours.
    next_seek: Instant,
    seeks: VecDeque<Instant>,
    sent: usize,
}

impl<'scope, 'env> Lobby<'scope, 'env> {
    fn new(bot: &'env Bot<'env>, scope: &'scope Scope<'scope, 'env>) -> Self {
        let next_seek = now() + Duration::from_secs(bot.config.challenge.pause);
        let (games, accepted) = (Arc::default(), BTreeMap::new());
        Self { bot, scope, games, accepted, next_seek, seeks: VecDeque::new(), sent: 0 }
    }

    fn running(&self) -> usize {
        self.games.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn start(&mut self, game: GameRef) {
        self.accepted.remove(&game.game_id);
        if !is_id(&game.game_id) || !game.is_for_bots() {
            return;
        }
        let mut games = self.games.lock().unwrap_or_else(PoisonError::into_inner);
        let opponent = game.opponent().to_owned();
        let id = game.game_id;
        // The server repeats the running games when a stream is opened.
        if games.contains_key(&id) {
            return;
        }
        games.insert(id.clone(), opponent);
        let (bot, games) = (self.bot, Arc::clone(&self.games));
        self.scope.spawn(move || {
            game::play(bot, &id);
            games.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        });
    }

    fn on_event(&mut self, event: AccountEvent) {
        match event {
            AccountEvent::GameStart { game } => self.start(game),
            AccountEvent::Challenge { challenge } => self.answer(&challenge),
            AccountEvent::ChallengeCanceled { challenge }
            | AccountEvent::ChallengeDeclined { challenge } => {
                self.accepted.remove(&challenge.id);
            }
            AccountEvent::GameFinish {} | AccountEvent::Other => (),
        }
    }

    fn answer(&mut self, challenge: &Challenge) {
        let challenger = challenge.challenger.as_ref().map_or("", |user| user.id.as_str());
        let id = &challenge.id;
        if !is_id(id) || challenger == self.bot.account.id || self.accepted.contains_key(id) {
            return;
        }
        let games = self.games.lock().unwrap_or_else(PoisonError::into_inner);
        let opponents = || games.values().chain(self.accepted.values().map(|(name, _)| name));
        let with_challenger = opponents().filter(|name| *name == challenger).count();
        let is_full = self.bot.config.games <= opponents().count();
        drop(games);
        let reason = self.bot.config.accept.decline_reason(challenge, with_challenger);
        let is_stopping = self.bot.stop.load(Ordering::Acquire);
        let reason = reason.or_else(|| (is_full || is_stopping).then_some("later"));
        let done = match reason {
            Some(reason) => {
                let form = format!("reason={reason}");
                self.bot.post(&format!("/api/challenge/{id}/decline"), form)
            }
            None => self.bot.post(&format!("/api/challenge/{id}/accept"), String::new()),
        };
        let answer =
            reason.map_or_else(|| "accepted".to_owned(), |key| format!("declined ({key})"));
        match done {
            Ok(()) => {
                print(&printable(&format!("challenge {id} of {challenger}: {answer}")));
                if reason.is_none() {
                    let until = now() + ACCEPTED_WAIT;
                    self.accepted.insert(id.clone(), (challenger.to_owned(), until));
                }
            }
            Err(error) => print_error(&format!("challenge {id} of {challenger}: {error}")),
        }
    }

    /// Sends a challenge when no game has been running for some time.
    fn seek(&mut self, running: usize) {
        let rules = &self.bot.config.challenge;
        let pause = Duration::from_secs(rules.pause);
        if 0 < running || !self.accepted.is_empty() {
            self.next_seek = now() + pause;
            return;
        }
        self.seeks.retain(|sent| now().saturating_duration_since(*sent) < DAY);
        if now() < self.next_seek || rules.per_day <= self.seeks.len() {
            return;
        }
        let opponent = self.sent.checked_rem(rules.opponents.len());
        let Some(opponent) = opponent.and_then(|index| rules.opponents.get(index)) else { return };
        self.sent = self.sent.wrapping_add(1);
        self.seeks.push_back(now());
        self.next_seek = now() + pause;
        let form = format!(
            "rated={}&clock.limit={}&clock.increment={}&variant={}&color=random",
            rules.rated, rules.time, rules.increment, rules.variant
        );
        match self.bot.post(&format!("/api/challenge/{}", escaped(opponent)), form) {
            Ok(()) => {
                print(&printable(&format!("challenge to {opponent}: sent")));
                // It occupies a game until it is answered or expires.
                let until = now() + ACCEPTED_WAIT;
                self.accepted.insert(format!("to {opponent}"), (opponent.clone(), until));
            }
            Err(error) => print_error(&format!("challenge to {opponent}: {error}")),
        }
    }
}
