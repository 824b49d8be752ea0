//! One game: its stream, its requests, and the measurement of the overhead.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use readyok_protocol::{Convention, GameResult as EngineResult};
use readyok_rules::{Game, Move, Position, PositionHistory, Side};

use super::message::{GameEvent, GameFull, GameState, Messages, User, failure};
use super::{Bot, BotError, PAUSES};
use crate::clock::now;
use crate::csa::TimeRules;
use crate::http::{HttpError, Priority, escaped};
use crate::play::{Connection, Event, Failure, Link, PlayError, Request, Rules, Wire, play};
use crate::player::{Board, Player};
use crate::terminal::{print, print_error, printable};

/// Time after which an accepted request is repeated, if the stream does not show its effect.
const CONFIRM_WAIT: Duration = Duration::from_secs(5);
/// The largest remaining time for the engine. Games by correspondence have days.
const MAX_TIME: Duration = Duration::from_hours(1);
/// Longer overheads are pauses of the network.
const MAX_OVERHEAD: Duration = Duration::from_secs(3);

/// Plays a game to its end.
pub(super) fn play_game(bot: &Bot<'_>, id: &str) {
    let rules = Rules { resign: bot.config.resign.clone(), draw: bot.config.draw.clone() };
    let path = format!("/api/bot/game/stream/{id}");
    let wire = GameWire {
        bot,
        id,
        stream: Messages::new(&bot.http, Priority::Game, path),
        start: None,
        board: None,
        sent: None,
        changed_at: now(),
        claim_at: None,
        is_takeback_answered: false,
    };
    // A game continues when the command is to end.
    let (mut link, never) = (Link::new(wire, PAUSES), AtomicBool::new(false));
    let played = Player::new(&bot.player, Game::Chess, bot.guard)
        .map_err(PlayError::Player)
        .and_then(|mut player| play(&mut link, &mut player, &rules, &never));
    if let Err(error) = played {
        print_error(&format!("game {id}: {error}"));
    }
}

/// The Bot API for one game.
struct GameWire<'a> {
    bot: &'a Bot<'a>,
    id: &'a str,
    stream: Messages,
    /// The start position and the own side. `None` before the first message.
    start: Option<(Position, Side)>,
    /// The last state with other moves.
    board: Option<(Board, Instant)>,
    /// When the move in this position was sent, and how often.
    sent: Option<(Instant, u32)>,
    changed_at: Instant,
    claim_at: Option<Instant>,
    is_takeback_answered: bool,
}

impl GameWire<'_> {
    fn begin(&mut self, full: &GameFull) -> Result<(), BotError> {
        let wrong = |text: &str| BotError::Game(text.to_owned());
        let kind = match full.variant.key.as_str() {
            "standard" | "fromPosition" => Game::Chess,
            "chess960" => Game::Chess960,
            other => return Err(wrong(&format!("variant `{other}` is not supported"))),
        };
        let start = match full.initial_fen.as_str() {
            "" | "startpos" => Position::start(kind),
            fen => Position::from_text(kind, fen).map_err(|error| wrong(&error.to_string()))?,
        };
        let id = self.bot.state.account.get().map(User::id);
        let (side, opponent) = match id {
            Some(id) if full.white.id() == id => (Side::First, &full.black),
            Some(id) if full.black.id() == id => (Side::Second, &full.white),
            _ => return Err(wrong("the account does not play")),
        };
        let name = opponent.name();
        print(&printable(&format!("game {}: against {name}, {}", self.id, full.variant.key)));
        self.start = Some((start, side));
        if full.state.moves.is_empty() {
            self.chat(&self.bot.config.chat.hello);
        }
        Ok(())
    }

    fn on_state(&mut self, state: &GameState, at: Instant, is_full: bool) -> Option<Event> {
        let (start, side) = self.start.clone()?;
        if !matches!(state.status.as_str(), "created" | "started") {
            return Some(Event::Over(self.end(state, side)));
        }
        let mut history = PositionHistory::new(start);
        if let Err(error) = history.push_line(state.moves.split_whitespace()) {
            print_error(&format!("game {}: ignores a state of the server: {error}", self.id));
            return None;
        }
        let time =
            |millis: i64| Duration::from_millis(u64::try_from(millis).unwrap_or(0)).min(MAX_TIME);
        let remaining = [state.wtime, state.btime].map(time);
        let times = [state.winc, state.binc].map(|increment| TimeRules {
            unit: Duration::from_millis(1),
            increment: time(increment),
            ..TimeRules::default()
        });
        let own = remaining.get(side.index()).copied().unwrap_or_default();
        let (draw, takeback) = match side {
            Side::First => (state.bdraw, state.btakeback),
            Side::Second => (state.wdraw, state.wtakeback),
        };
        if takeback && !self.is_takeback_answered {
            self.try_post(Priority::Game, "takeback/no", String::new());
        }
        self.is_takeback_answered = takeback;
        let known = self.board.as_ref().map(|(board, _)| board.history.moves().len());
        let is_changed = known != Some(history.moves().len());
        if known == history.moves().len().checked_sub(1) && !is_full {
            self.measure(own);
        }
        let is_clock_running = 2 <= history.moves().len();
        // A part of a short time remains for the search.
        let margin = self.bot.config.margin(self.bot.overhead().0).min(own / 2);
        let convention = Convention::IncrementIncluded;
        let board = Board { side, history, times, remaining, convention, is_clock_running, margin };
        if is_changed {
            (self.board, self.sent, self.changed_at) = (Some((board.clone(), at)), None, at);
        }
        Some(Event::State { board: Box::new(board), at, offers_draw: draw })
    }

    /// Compares the time that the server has counted for the own move with the time that passed here.
    fn measure(&self, after: Duration) {
        let (Some((board, at)), Some((sent, 1))) = (&self.board, self.sent) else { return };
        let side = board.side.index();
        if let (Some(before), Some(rules)) = (board.remaining.get(side), board.times.get(side))
            && board.is_clock_running
        {
            let counted = (*before + rules.increment).saturating_sub(after);
            let sample = counted.saturating_sub(sent.saturating_duration_since(*at));
            let (sample, mut overhead) = (sample.min(MAX_OVERHEAD), self.bot.overhead());
            // It follows increases immediately, and decreases slowly.
            *overhead = (sample.max((overhead.0 * 7 + sample) / 8), overhead.1 + 1);
        }
    }

    /// Ends a game that the opponent does not play.
    fn check_opponent(&mut self) {
        let waits = |board: &Board| !board.is_own_turn() && !board.is_clock_running;
        let limit = Duration::from_secs(self.bot.config.abort_after);
        if self.board.as_ref().is_some_and(|(board, _)| waits(board))
            && limit <= now().saturating_duration_since(self.changed_at)
        {
            self.changed_at = now();
            self.try_post(Priority::Game, "abort", String::new());
        }
        if self.claim_at.is_some_and(|at| at <= now()) {
            // Until the game is over, or the opponent returns.
            self.claim_at = now().checked_add(CONFIRM_WAIT);
            self.try_post(Priority::Game, "claim-victory", String::new());
        }
    }

    fn post(&self, priority: Priority, path: &str, form: String) -> Result<(), HttpError> {
        self.bot.http.post(priority, &format!("/api/bot/game/{}/{path}", self.id), form)
    }

    /// A request that is not repeated.
    fn try_post(&self, priority: Priority, path: &str, form: String) {
        if let Err(error) = self.post(priority, path, form) {
            print_error(&format!("game {}: {path}: {error}", self.id));
        }
    }

    fn chat(&self, text: &str) {
        if !text.is_empty() {
            let form = format!("room=player&text={}", escaped(text, "-_"));
            self.try_post(Priority::Other, "chat", form);
        }
    }

    fn end(&self, state: &GameState, side: Side) -> EngineResult {
        let own = if side == Side::First { "white" } else { "black" };
        let (result, text) = match state.winner.as_deref() {
            None if state.status == "aborted" => (EngineResult::Draw, "not played"),
            None => (EngineResult::Draw, "drawn"),
            Some(winner) if winner == own => (EngineResult::Win, "won"),
            Some(_) => (EngineResult::Lose, "lost"),
        };
        let (overhead, moves) = *self.bot.overhead();
        print(&printable(&format!(
            "game {}: {text} ({}) after {} plies; move overhead {} ms, measured in {moves} moves",
            self.id,
            state.status,
            state.moves.split_whitespace().count(),
            overhead.as_millis(),
        )));
        self.chat(&self.bot.config.chat.goodbye);
        result
    }
}

impl Connection for GameWire<'_> {
    type Event = Event;
    type Error = BotError;

    fn open(&mut self) -> Result<(), Failure<BotError>> {
        self.stream.open()
    }

    fn receive(&mut self, within: Duration) -> Result<Option<Event>, Failure<BotError>> {
        self.check_opponent();
        let Some((message, at)) = self.stream.next(within)? else { return Ok(None) };
        Ok(match message {
            GameEvent::GameFull(full) => {
                if self.start.is_none() {
                    self.begin(&full).map_err(Failure::Fatal)?;
                }
                self.on_state(&full.state, at, true)
            }
            GameEvent::GameState(state) => self.on_state(&state, at, false),
            GameEvent::OpponentGone { gone, claim_win_in_seconds } => {
                let wait = claim_win_in_seconds.filter(|_| gone).map(Duration::from_secs);
                self.claim_at = wait.and_then(|wait| at.checked_add(wait));
                None
            }
            GameEvent::Other => None,
        })
    }
}

impl Wire for GameWire<'_> {
    fn send(&mut self, request: &Request) -> Result<Option<Duration>, Failure<BotError>> {
        let Some((board, _)) = &self.board else { return Ok(None) };
        let mut priority = Priority::Move;
        let path = match request {
            Request::Accept => return Ok(None),
            Request::Play { mv, offers_draw, .. } => {
                let (sent, times) = self.sent.unwrap_or_else(|| (now(), 0));
                self.sent = Some((sent, times + 1));
                let uci = mv.to_uci(board.history.game().castling_form());
                format!("move/{uci}{}", if *offers_draw { "?offeringDraw=true" } else { "" })
            }
            Request::Resign | Request::Declare if board.is_clock_running => "resign".to_owned(),
            Request::Resign | Request::Declare => "abort".to_owned(),
            Request::AnswerDraw(is_allowed) => {
                priority = Priority::Game;
                let is_allowed = *is_allowed || self.bot.known.is_winless(board.history.position());
                let accepts = self.bot.config.draw.accept && is_allowed;
                format!("draw/{}", if accepts { "yes" } else { "no" })
            }
        };
        let mut done = self.post(priority, &path, String::new());
        if path == "abort" && done.as_ref().is_err_and(HttpError::is_rejection) {
            done = self.post(priority, "resign", String::new());
        }
        done.map(|()| Some(CONFIRM_WAIT)).map_err(|error| {
            if error.is_rejection() {
                // The stream has missed a change of the game.
                self.stream.lines = None;
            }
            failure(&format!("game {}: {path}", self.id), error)
        })
    }

    fn known_move(&mut self, board: &Board) -> Option<Move> {
        self.bot.known.best_move(board)
    }
}
