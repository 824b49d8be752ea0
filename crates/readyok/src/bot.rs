//! `readyok bot`: plays on Lichess with an engine (Bot API). One thread answers challenges, and each game has its own
//! thread, engine and stream.

mod config;
mod game;
mod known;
mod message;
mod seeks;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use readyok_client::Guard;
use serde_json::Value;
use ureq::http::Method;

pub(crate) use config::Config;
use game::play_game;
pub(crate) use known::Known;
use message::{AccountEvent, Challenge, GameRef, Messages, Reference, User, failure};
use seeks::Seeks;

use crate::clock::now;
use crate::http::{Address, Content, Http, HttpError, Priority, Waits, escaped, is_id, read};
use crate::play::{Connection, Failure, Link};
use crate::player::PlayerSettings;
use crate::terminal::{print, print_error, printable};

/// What the token must permit.
const SCOPE: &str = "bot:play";
/// Longest waits. The server sends an empty line to each stream every 7 s.
const WAITS: Waits = Waits { answer: Duration::from_secs(8), idle: Duration::from_secs(20) };
/// Pauses before a stream is opened again. They are short, because clocks are running.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(8));
/// Interval at which requests to stop are checked.
const INTERVAL: Duration = Duration::from_millis(200);
/// Time within which the game of a challenge begins after it is sent or accepted.
const ACCEPTED_WAIT: Duration = Duration::from_secs(30);

/// Why a bot cannot play.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BotError {
    #[error("{what}: {error}")]
    Http { what: String, error: HttpError },
    #[error("`{0}` is no bot account; --upgrade makes it one, irreversibly, before its first game")]
    NotBot(String),
    #[error("the token does not have the scope {SCOPE}")]
    Scope,
    /// The game cannot be played.
    #[error("{0}")]
    Game(String),
}

/// The connection with a server.
pub(crate) fn http(server: Address, token: String) -> Http {
    Http::new(server, Some(token), "scope bot:play", WAITS)
}

/// What all games share.
pub(crate) struct Bot<'a> {
    pub(crate) http: Arc<Http>,
    pub(crate) config: Config,
    pub(crate) player: PlayerSettings,
    pub(crate) guard: &'a Guard,
    pub(crate) known: Known,
    /// Ends the bot after its games.
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) state: State,
}

/// What changes while a bot plays.
#[derive(Default)]
pub(crate) struct State {
    account: OnceLock<User>,
    /// The measured overhead of moves, and their number.
    overhead: Mutex<(Duration, u32)>,
    /// The opponents by game.
    games: Mutex<BTreeMap<String, String>>,
}

impl Bot<'_> {
    /// Makes the account a bot, which is irreversible.
    pub(crate) fn upgrade(&self) -> Result<(), HttpError> {
        self.http.post(Priority::Other, "/api/bot/account/upgrade", String::new())
    }

    /// The account, which must be a bot.
    fn account(&self) -> Result<User, Failure<BotError>> {
        const PATH: &str = "/api/account";
        let account = self.http.get(PATH).and_then(read::<User>);
        let account = account.map_err(|error| failure(PATH, error))?;
        if account.is_bot() {
            Ok(account)
        } else {
            Err(Failure::Fatal(BotError::NotBot(account.name())))
        }
    }

    /// The name of the account, which must be a bot. The token must have the scope.
    pub(crate) fn check(&self) -> Result<String, BotError> {
        const PATH: &str = "/api/token/test";
        let account = self.account().map_err(Failure::into_error)?;
        let token = self.http.token().unwrap_or_default();
        let answer = self.http.send(Method::POST, PATH, Content::Text(token.to_owned()));
        let tokens: Value =
            answer.and_then(read).map_err(|error| failure(PATH, error).into_error())?;
        let scopes = tokens.get(token).and_then(|token| token.get("scopes")?.as_str());
        if scopes.unwrap_or_default().split(',').any(|scope| scope == SCOPE) {
            return Ok(account.name());
        }
        Err(BotError::Scope)
    }

    /// Plays until the command is to end and no game is running.
    pub(crate) fn run(&self) -> Result<(), BotError> {
        let messages = Messages::new(&self.http, Priority::Other, "/api/stream/event".to_owned());
        let mut link = Link::new(AccountWire { bot: self, messages }, PAUSES);
        let seeks = self.config.seeks.clone();
        thread::scope(|scope| {
            let mut lobby = Lobby { bot: self, scope, expected: BTreeMap::new(), seeks };
            loop {
                if let Some(event) = link.poll(INTERVAL)? {
                    lobby.on_event(event);
                }
                lobby.expected.retain(|_, (_, until)| now() < *until);
                match self.stop.load(Ordering::Acquire) {
                    true if self.games().is_empty() => return Ok(()),
                    true => (),
                    false => lobby.seek(),
                }
            }
        })
    }

    fn games(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.state.games.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn overhead(&self) -> MutexGuard<'_, (Duration, u32)> {
        self.state.overhead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stream of the account, which is read before.
struct AccountWire<'a> {
    bot: &'a Bot<'a>,
    messages: Messages,
}

impl Connection for AccountWire<'_> {
    type Event = AccountEvent;
    type Error = BotError;

    fn open(&mut self) -> Result<(), Failure<BotError>> {
        if self.bot.state.account.get().is_none() {
            // This thread alone sets it.
            let _ = self.bot.state.account.set(self.bot.account()?);
        }
        self.messages.open()
    }

    fn receive(&mut self, within: Duration) -> Result<Option<AccountEvent>, Failure<BotError>> {
        Ok(self.messages.next(within)?.map(|(event, _)| event))
    }
}

/// The games and challenges of the account.
struct Lobby<'scope, 'env> {
    bot: &'env Bot<'env>,
    scope: &'scope Scope<'scope, 'env>,
    /// The opponents of challenges whose games have not begun, until when they can.
    expected: BTreeMap<String, (String, Instant)>,
    seeks: Seeks,
}

impl Lobby<'_, '_> {
    fn on_event(&mut self, event: AccountEvent) {
        match event {
            AccountEvent::GameStart { game } => self.start(&game),
            AccountEvent::Challenge { challenge } => self.answer(&challenge),
            AccountEvent::ChallengeCanceled { challenge }
            | AccountEvent::ChallengeDeclined { challenge } => {
                self.expected.remove(&challenge.id);
            }
            AccountEvent::Other => (),
        }
    }

    fn start(&mut self, game: &GameRef) {
        self.expected.remove(&game.game_id);
        let (bot, id) = (self.bot, game.game_id.clone());
        // The server repeats the running games when a stream is opened.
        if !is_id(&id) || bot.games().contains_key(&id) {
            return;
        }
        bot.games().insert(id.clone(), game.opponent.id().to_owned());
        self.scope.spawn(move || {
            play_game(bot, &id);
            bot.games().remove(&id);
        });
    }

    fn answer(&mut self, challenge: &Challenge) {
        let (bot, id) = (self.bot, &challenge.id);
        let challenger = challenge.challenger.as_ref().map_or("", User::id);
        let is_own = bot.state.account.get().is_some_and(|account| account.id() == challenger);
        if !is_id(id) || is_own || self.expected.contains_key(id) {
            return;
        }
        let mut opponents: Vec<String> = bot.games().values().cloned().collect();
        opponents.extend(self.expected.values().map(|(name, _)| name.clone()));
        let with_challenger = opponents.iter().filter(|name| *name == challenger).count();
        let is_full = bot.config.games <= opponents.len() || bot.stop.load(Ordering::Acquire);
        let reason = bot.config.accept.decline_reason(challenge, with_challenger);
        let (answer, form, text) = match reason.or_else(|| is_full.then_some("later")) {
            Some(key) => ("decline", format!("reason={key}"), format!("declined ({key})")),
            None => ("accept", String::new(), "accepted".to_owned()),
        };
        match bot.http.post(Priority::Other, &format!("/api/challenge/{id}/{answer}"), form) {
            Ok(()) => {
                print(&printable(&format!("challenge {id} of {challenger}: {text}")));
                if answer == "accept" {
                    let until = now() + ACCEPTED_WAIT;
                    self.expected.insert(id.clone(), (challenger.to_owned(), until));
                }
            }
            Err(error) => print_error(&format!("challenge {id} of {challenger}: {error}")),
        }
    }

    /// Sends a challenge when no game has been running for some time.
    fn seek(&mut self) {
        let is_busy = !self.bot.games().is_empty() || !self.expected.is_empty();
        let rules = &self.bot.config.challenge;
        let Some(opponent) = self.seeks.next(&rules.opponents, is_busy) else { return };
        let form = format!(
            "rated={}&clock.limit={}&clock.increment={}&variant={}&color=random",
            rules.rated, rules.time, rules.increment, rules.variant
        );
        let path = format!("/api/challenge/{}", escaped(opponent, "-_"));
        let answer = self.bot.http.send(Method::POST, &path, Content::Form(form));
        match answer.and_then(read::<Reference>) {
            Ok(challenge) => {
                print(&printable(&format!("challenge to {opponent}: sent")));
                // It occupies a game until it is answered or expires.
                let until = now() + ACCEPTED_WAIT;
                self.expected.insert(challenge.id, (opponent.to_owned(), until));
            }
            Err(error) => print_error(&format!("challenge to {opponent}: {error}")),
        }
    }
}
