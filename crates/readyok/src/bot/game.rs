//! One game: follows its stream, plays with an engine, and answers offers by rules.

use std::sync::PoisonError;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use readyok_protocol::{Convention, GameResult as EngineResult};
use readyok_rules::{Game, Move, Position, PositionHistory, Side, TablebaseCategory};

use super::config::centipawns;
use super::message::{GameEvent, GameFull, GameState};
use super::stream::{Event, follow};
use super::{Bot, escaped};
use crate::clock::{Backoff, now};
use crate::csa::TimeRules;
use crate::http::HttpError;
use crate::player::{Action, Board, Player, PlayerError, Turn};
use crate::terminal::{print, print_error, printable};

/// Intervals at which a search and the other states of a game are checked.
const SEARCH_INTERVAL: Duration = Duration::from_millis(5);
const IDLE_INTERVAL: Duration = Duration::from_millis(200);
/// Pauses before a failed request is repeated.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// Time after which an accepted or rejected request is repeated, if the stream does not show its effect.
const CONFIRM_WAIT: Duration = Duration::from_secs(5);
/// Pause before a failed engine is started again, and the number of starts.
const START_PAUSE: Duration = Duration::from_secs(1);
const MAX_STARTS: u32 = 5;
/// The largest remaining time for the engine. Games by correspondence have days.
const MAX_TIME: Duration = Duration::from_hours(1);
/// Longer overheads are pauses of the network.
const MAX_OVERHEAD: Duration = Duration::from_secs(3);

/// The measured overhead of moves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overhead {
    /// Follows increases immediately, and decreases slowly.
    pub(super) estimate: Duration,
    pub(super) moves: u32,
}

impl Overhead {
    fn add(&mut self, sample: Duration) {
        let sample = sample.min(MAX_OVERHEAD);
        self.estimate = sample.max((self.estimate * 7 + sample) / 8);
        self.moves += 1;
    }
}

/// Plays a game to its end.
pub(super) fn play(bot: &Bot<'_>, id: &str) {
    let path = format!("/api/bot/game/stream/{id}");
    let mut events = follow::<GameEvent>(&bot.http, path.clone());
    let mut session: Option<Session<'_>> = None;
    loop {
        let is_searching = session.as_ref().is_some_and(|session| session.turn.is_some());
        let pause = if is_searching { SEARCH_INTERVAL } else { IDLE_INTERVAL };
        let state = match events.recv_timeout(pause) {
            Ok(Event::Message(GameEvent::GameFull(full), at)) => {
                match &mut session {
                    Some(_) => (),
                    None => match Session::new(bot, id, &full) {
                        Ok(new) => session = Some(new),
                        Err(error) => {
                            print_error(&format!("game {id}: {error}"));
                            return;
                        }
                    },
                }
                Some((full.state, at, true))
            }
            Ok(Event::Message(GameEvent::GameState(state), at)) => Some((state, at, false)),
            Ok(Event::Message(GameEvent::OpponentGone { gone, claim_win_in_seconds }, at)) => {
                if let Some(session) = &mut session {
                    let wait = claim_win_in_seconds.filter(|_| gone).map(Duration::from_secs);
                    session.claim_at = wait.and_then(|wait| at.checked_add(wait));
                }
                None
            }
            Ok(Event::Message(GameEvent::Other, _) | Event::Alive)
            | Err(RecvTimeoutError::Timeout) => None,
            Ok(Event::Rejected(error)) => {
                print_error(&format!("game {id}: {error}"));
                return;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let Some(session) = &mut session else { continue };
        if let Some((state, at, is_full)) = state
            && session.on_state(&state, at, is_full)
        {
            return;
        }
        if session.advance() {
            // The stream missed a change of the game.
            events = follow(&bot.http, path.clone());
        }
    }
}

/// A request that is repeated until the stream shows its effect.
struct Pending {
    kind: RequestKind,
    path: String,
    next: Instant,
    pauses: Backoff,
    first_sent: Option<Instant>,
    is_repeated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum RequestKind {
    Move,
    Abort,
    /// Resigns if the game cannot be aborted.
    AbortOrResign,
    Resign,
}

#[expect(clippy::struct_excessive_bools, reason = "independent parts of a state")]
struct Session<'a> {
    bot: &'a Bot<'a>,
    id: &'a str,
    board: Board,
    /// `None` before the start and after a failure.
    player: Option<Player<'a>>,
    starts: u32,
    next_start: Instant,
    /// The search for a move; `None` after the move.
    turn: Option<Turn>,
    /// Whether books and tables were asked in this turn.
    is_looked_up: bool,
    /// When the state with the own turn arrived, and the own time in it.
    turn_clock: Option<(Instant, Duration)>,
    pending: Option<Pending>,
    /// Of the own moves that the engine has selected.
    scores: Vec<i32>,
    changed_at: Instant,
    claim_at: Option<Instant>,
    is_draw_answered: bool,
    is_takeback_answered: bool,
    has_state: bool,
}

impl<'a> Session<'a> {
    fn new(bot: &'a Bot<'a>, id: &'a str, full: &GameFull) -> Result<Self, String> {
        let kind = match full.variant.key.as_str() {
            "standard" | "fromPosition" => Game::Chess,
            "chess960" => Game::Chess960,
            other => return Err(format!("variant `{other}` is not supported")),
        };
        let start = match full.initial_fen.as_str() {
            "" | "startpos" => Position::start(kind),
            fen => Position::from_text(kind, fen).map_err(|error| error.to_string())?,
        };
        let side = [(&full.white, Side::First), (&full.black, Side::Second)];
        let side = side.into_iter().find(|(user, _)| user.id == bot.account.id);
        let Some((_, side)) = side else { return Err("the account does not play".to_owned()) };
        let opponent = if side == Side::First { &full.black } else { &full.white };
        let name = opponent.name.as_deref().unwrap_or("Anonymous");
        print(&printable(&format!("game {id}: against {name}, {}", full.variant.key)));
        let mut session = Self {
            bot,
            id,
            board: Board {
                side,
                history: PositionHistory::new(start),
                times: [TimeRules::default(); 2],
                remaining: [Duration::ZERO; 2],
                convention: Convention::IncrementIncluded,
                margin: Duration::ZERO,
            },
            player: None,
            starts: 0,
            next_start: now(),
            turn: None,
            is_looked_up: false,
            turn_clock: None,
            pending: None,
            scores: Vec::new(),
            changed_at: now(),
            claim_at: None,
            is_draw_answered: false,
            is_takeback_answered: false,
            has_state: false,
        };
        session.start_player();
        if full.state.moves.is_empty() {
            session.chat(&bot.config.chat.hello);
        }
        Ok(session)
    }

    /// A state of the game. Returns whether the game is over.
    fn on_state(&mut self, state: &GameState, at: Instant, is_full: bool) -> bool {
        let mut history = PositionHistory::new(self.board.history.start().clone());
        for mv in state.moves.split_whitespace() {
            if let Err(error) = history.push_uci(mv) {
                print_error(&format!("game {}: ignores a state of the server: {error}", self.id));
                return false;
            }
        }
        let time = |millis: i64| Duration::from_millis(u64::try_from(millis).unwrap_or(0));
        self.board.remaining = [state.wtime, state.btime].map(|left| time(left).min(MAX_TIME));
        for (rules, increment) in self.board.times.iter_mut().zip([state.winc, state.binc]) {
            rules.increment = time(increment).min(MAX_TIME);
        }
        if !matches!(state.status.as_str(), "created" | "started") {
            self.end(state);
            return true;
        }
        let known = self.board.history.moves().len();
        if !self.has_state || history.moves() != self.board.history.moves() {
            self.has_state = true;
            let is_confirmation = history.moves().len() == known + 1;
            let pending = self.pending.take();
            self.turn = None;
            self.board.history = history;
            self.changed_at = at;
            if let Some(pending) = pending
                && is_confirmation
                && !is_full
                && 2 < known
            {
                self.measure(&pending);
            }
            if self.board.is_own_turn() && self.board.history.position().outcome().is_none() {
                self.begin_turn(at);
            }
        }
        self.answer_offers(state);
        false
    }

    fn own_time(&mut self) -> Option<&mut Duration> {
        self.board.remaining.get_mut(self.board.side.index())
    }

    fn begin_turn(&mut self, at: Instant) {
        let overhead = self.bot.overhead.lock().unwrap_or_else(PoisonError::into_inner).estimate;
        let is_clock_running = 2 <= self.board.history.moves().len();
        let started = now();
        if let Some(own) = self.own_time() {
            let before = *own;
            if is_clock_running {
                *own = own.saturating_sub(started.saturating_duration_since(at));
            }
            // A part of a short time remains for the search.
            let half = *own / 2;
            self.board.margin = self.bot.config.margin(overhead).min(half);
            self.turn_clock = Some((at, before));
        }
        self.is_looked_up = false;
        self.turn = Some(Turn::new(started));
    }

    /// Compares the time that the server has counted with the time that passed here.
    fn measure(&self, pending: &Pending) {
        let side = self.board.side.index();
        let (Some((at, before)), Some(sent)) = (self.turn_clock, pending.first_sent) else {
            return;
        };
        let (Some(after), Some(rules)) =
            (self.board.remaining.get(side), self.board.times.get(side))
        else {
            return;
        };
        if pending.is_repeated || pending.kind != RequestKind::Move {
            return;
        }
        let counted = (before + rules.increment).saturating_sub(*after);
        let sample = counted.saturating_sub(sent.saturating_duration_since(at));
        self.bot.overhead.lock().unwrap_or_else(PoisonError::into_inner).add(sample);
    }

    fn answer_offers(&mut self, state: &GameState) {
        let (draw, takeback) = match self.board.side {
            Side::First => (state.bdraw, state.btakeback),
            Side::Second => (state.wdraw, state.wtakeback),
        };
        if draw && !self.is_draw_answered {
            let rules = &self.bot.config.draw;
            let is_table_draw = self
                .table_moves()
                .is_some_and(|(category, _)| TablebaseCategory::CursedWin <= category);
            let accepts =
                rules.accept && (is_table_draw || rules.allows(&self.scores, self.move_number()));
            self.post(if accepts { "draw/yes" } else { "draw/no" });
        }
        self.is_draw_answered = draw;
        if takeback && !self.is_takeback_answered {
            self.post("takeback/no");
        }
        self.is_takeback_answered = takeback;
    }

    fn move_number(&self) -> usize {
        self.board.history.moves().len() / 2 + 1
    }

    /// The category of the position in the tables, and the best move.
    fn table_moves(&self) -> Option<(TablebaseCategory, Move)> {
        let result = self.bot.tables.as_ref()?.probe_moves(self.board.history.position()).ok()?;
        Some((result.value.category?, result.moves.first()?.mv))
    }

    /// A move of the tables that keeps a win, or of a book.
    fn known_move(&self) -> Option<Move> {
        match self.table_moves() {
            Some((TablebaseCategory::Win, mv)) => return Some(mv),
            Some(_) => return None,
            None => (),
        }
        if self.bot.config.book_moves < self.move_number() {
            return None;
        }
        self.bot.book_move(self.board.history.position())
    }

    /// Searches, sends, and ends a game that the opponent does not play. Returns whether the stream must be opened again.
    fn advance(&mut self) -> bool {
        if self.pending.is_none() {
            self.advance_turn();
        }
        let waits = self.pending.is_none() && !self.board.is_own_turn();
        if waits && self.has_state && self.board.history.moves().len() < 2 {
            let limit = Duration::from_secs(self.bot.config.abort_after);
            if limit <= now().saturating_duration_since(self.changed_at) {
                self.request(RequestKind::Abort, "abort".to_owned());
            }
        }
        if self.claim_at.is_some_and(|at| at <= now()) {
            self.claim_at = None;
            self.post("claim-victory");
        }
        self.send_pending()
    }

    fn advance_turn(&mut self) {
        if self.turn.is_none() {
            return;
        }
        if !self.is_looked_up {
            self.is_looked_up = true;
            if let Some(mv) = self.known_move() {
                self.turn = None;
                self.send_move(mv, false);
                return;
            }
        }
        if self.player.is_none() && self.next_start <= now() {
            self.start_player();
        }
        let (Some(player), Some(turn)) = (&mut self.player, &mut self.turn) else { return };
        let Some(action) = turn.advance(player, &self.board) else { return };
        self.turn = None;
        match action {
            Ok(Action::Play { mv, evaluation }) => {
                self.scores.extend(evaluation.map(|evaluation| centipawns(evaluation.score)));
                if self.bot.config.resign.applies(&self.scores) {
                    self.request(RequestKind::Resign, "resign".to_owned());
                } else {
                    let draw = &self.bot.config.draw;
                    let offers = draw.offer && draw.allows(&self.scores, self.move_number());
                    self.send_move(mv, offers);
                }
            }
            Ok(Action::Resign | Action::Declare) => self.forfeit("the engine resigns"),
            Err(error) => self.forfeit(&error.to_string()),
        }
    }

    fn start_player(&mut self) {
        self.starts += 1;
        let bot = self.bot;
        let start = self.board.history.start();
        let started = Player::start(&bot.player, start.game(), bot.guard);
        let started = started.and_then(|mut player| player.new_game(start).map(|()| player));
        match started {
            Ok(player) => self.player = Some(player),
            Err(error @ PlayerError::Engine(_)) if self.starts < MAX_STARTS => {
                print_error(&format!("game {}: {error}", self.id));
                self.next_start = now() + START_PAUSE;
            }
            Err(error) => self.forfeit(&error.to_string()),
        }
    }

    /// Ends a game that the engine cannot play.
    fn forfeit(&mut self, reason: &str) {
        print_error(&format!("game {}: cannot be played: {reason}", self.id));
        self.turn = None;
        if self.board.history.moves().len() < 2 {
            self.request(RequestKind::AbortOrResign, "abort".to_owned());
        } else {
            self.request(RequestKind::Resign, "resign".to_owned());
        }
    }

    fn send_move(&mut self, mv: Move, offers_draw: bool) {
        let uci = mv.to_uci(self.board.history.game().castling_form());
        let offer = if offers_draw { "?offeringDraw=true" } else { "" };
        self.request(RequestKind::Move, format!("move/{uci}{offer}"));
    }

    fn request(&mut self, kind: RequestKind, path: String) {
        self.pending = Some(Pending {
            kind,
            path,
            next: now(),
            pauses: Backoff::new(PAUSES.0, PAUSES.1),
            first_sent: None,
            is_repeated: false,
        });
    }

    /// Sends the pending request when it is due. Returns whether the server rejects a move.
    fn send_pending(&mut self) -> bool {
        let Some(pending) = self.pending.as_mut().filter(|pending| pending.next <= now()) else {
            return false;
        };
        pending.is_repeated = pending.first_sent.is_some();
        pending.first_sent.get_or_insert_with(now);
        let path = pending.path.clone();
        let Err(error) = self.bot.post(&format!("/api/bot/game/{}/{path}", self.id), String::new())
        else {
            pending.next = now() + CONFIRM_WAIT;
            return false;
        };
        print_error(&format!("game {}: {path}: {error}", self.id));
        if !error.is_rejection() {
            pending.next = now() + error.retry_after().unwrap_or_else(|| pending.pauses.pause());
            return false;
        }
        pending.next = now() + CONFIRM_WAIT;
        match pending.kind {
            RequestKind::Move | RequestKind::Resign => return true,
            RequestKind::Abort => {
                self.pending = None;
                self.changed_at = now();
            }
            RequestKind::AbortOrResign => {
                self.request(RequestKind::Resign, "resign".to_owned());
            }
        }
        false
    }

    /// A request without a repetition.
    fn post(&self, path: &str) {
        self.report(self.bot.post(&format!("/api/bot/game/{}/{path}", self.id), String::new()));
    }

    fn chat(&self, text: &str) {
        if !text.is_empty() {
            let form = format!("room=player&text={}", escaped(text));
            self.report(self.bot.post(&format!("/api/bot/game/{}/chat", self.id), form));
        }
    }

    fn report(&self, done: Result<(), HttpError>) {
        if let Err(error) = done {
            print_error(&format!("game {}: {error}", self.id));
        }
    }

    fn end(&mut self, state: &GameState) {
        let own = if self.board.side == Side::First { "white" } else { "black" };
        let result = match state.winner.as_deref() {
            None => EngineResult::Draw,
            Some(winner) if winner == own => EngineResult::Win,
            Some(_) => EngineResult::Lose,
        };
        let text = match (result, state.winner.is_some()) {
            (EngineResult::Win, _) => "won",
            (EngineResult::Lose, _) => "lost",
            (EngineResult::Draw, _) if state.status == "aborted" => "not played",
            (EngineResult::Draw, _) => "drawn",
        };
        let overhead = *self.bot.overhead.lock().unwrap_or_else(PoisonError::into_inner);
        print(&printable(&format!(
            "game {}: {text} ({}) after {} plies; move overhead {} ms, measured in {} moves",
            self.id,
            state.status,
            state.moves.split_whitespace().count(),
            overhead.estimate.as_millis(),
            overhead.moves,
        )));
        if let Some(player) = &mut self.player {
            player.game_over(result);
        }
        self.chat(&self.bot.config.chat.goodbye);
    }
}
