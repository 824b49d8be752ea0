//! A game on a server, in any protocol: connects again after lost connections, searches, repeats requests until the
//! server shows their effect, and offers draws and resigns by rules.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use readyok_protocol::{GameResult, Score};
use readyok_rules::{Move, Position};

use crate::clock::{Backoff, now};
use crate::player::{Action, Board, Evaluation, Player, PlayerError, Turn};
use crate::settings::settings;
use crate::terminal::print_error;

/// Interval at which a running search is checked.
const SEARCH_INTERVAL: Duration = Duration::from_millis(5);
/// Interval at which requests to stop are checked.
const IDLE_INTERVAL: Duration = Duration::from_millis(200);
/// First and longest pause before a failed request is repeated.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// Why a connection or a request failed.
#[derive(Debug)]
pub(crate) enum Failure<E> {
    /// It can succeed later: after the pause that the server requires, if it does.
    Lost(E, Option<Duration>),
    /// A repetition is useless.
    Fatal(E),
}

impl<E> Failure<E> {
    pub(crate) fn into_error(self) -> E {
        let (Self::Lost(error, _) | Self::Fatal(error)) = self;
        error
    }
}

/// A connection that can be opened again.
pub(crate) trait Connection {
    type Event;
    type Error: Display;
    fn open(&mut self) -> Result<(), Failure<Self::Error>>;
    /// The next event of the open connection, if there is one within this time.
    fn receive(&mut self, within: Duration) -> Result<Option<Self::Event>, Failure<Self::Error>>;
}

/// A connection that is opened, also after losses, with growing pauses.
#[derive(Debug)]
pub(crate) struct Link<C> {
    pub(crate) connection: C,
    is_open: bool,
    pauses: Backoff,
    next: Instant,
}

impl<C: Connection> Link<C> {
    /// The first and the longest pause are for attempts to open the connection again.
    pub(crate) fn new(connection: C, pauses: (Duration, Duration)) -> Self {
        let pauses = Backoff::new(pauses.0, pauses.1);
        Self { connection, is_open: false, pauses, next: now() }
    }

    /// Opens the connection again before the next event.
    pub(crate) fn reopen(&mut self) {
        self.is_open = false;
    }

    /// The next event, if there is one within this time. Opening can take longer.
    pub(crate) fn poll(&mut self, within: Duration) -> Result<Option<C::Event>, C::Error> {
        let event = if self.is_open {
            self.connection.receive(within)
        } else {
            let wait = self.next.saturating_duration_since(now());
            if !wait.is_zero() {
                thread::park_timeout(wait.min(within));
                return Ok(None);
            }
            self.connection.open().map(|()| None)
        };
        match event {
            Ok(event) => {
                self.is_open = true;
                if event.is_some() {
                    self.pauses.reset();
                }
                Ok(event)
            }
            Err(Failure::Fatal(error)) => Err(error),
            Err(Failure::Lost(error, pause)) => {
                let pause = pause.unwrap_or_else(|| self.pauses.pause());
                print_error(&format!("{error}; next connection in {} s", pause.as_secs_f32()));
                (self.is_open, self.next) = (false, now() + pause);
                Ok(None)
            }
        }
    }
}

/// A message of the server about a game.
#[derive(Debug)]
pub(crate) enum Event {
    /// A game begins or is continued when the player accepts it.
    Offer { start: Position, is_continued: bool },
    /// The state of the game, and the time of its arrival.
    State { board: Box<Board>, at: Instant, offers_draw: bool },
    /// The result for the player.
    Over(GameResult),
}

/// A message of the player.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    Accept,
    Play {
        mv: Move,
        evaluation: Option<Evaluation>,
        offers_draw: bool,
    },
    Resign,
    Declare,
    /// The answer to a draw offer: whether the evaluations allow a draw.
    AnswerDraw(bool),
}

/// The protocol of a server.
pub(crate) trait Wire: Connection<Event = Event> {
    /// Sends a request. Returns the time after which it is repeated, if the server does not show its effect; `None` if it
    /// cannot get lost while the connection is open.
    fn send(&mut self, request: &Request) -> Result<Option<Duration>, Failure<Self::Error>>;

    /// A move that needs no search.
    fn known_move(&mut self, _board: &Board) -> Option<Move> {
        None
    }
}

settings! {
    /// When a player resigns, by the evaluations of its last moves.
    Resign {
        /// The score in centipawns at or below which the player resigns. Never without it.
        score: Option<i32> = None,
        /// Number of own moves in succession with such a score.
        moves: usize = 3,
    }

    /// When a draw is good enough, by the evaluations of the last moves.
    Draw {
        offer: bool = false,
        accept: bool = true,
        /// Largest distance to 0, in centipawns.
        score: i32 = 10,
        /// Number of own moves in succession with such a score.
        moves: usize = 5,
        /// The first move number.
        from_move: usize = 40,
    }
}

impl Resign {
    fn applies(&self, scores: &[i32]) -> bool {
        self.score.is_some_and(|limit| {
            last(scores, self.moves).is_some_and(|last| last.iter().all(|score| *score <= limit))
        })
    }
}

impl Draw {
    fn allows(&self, scores: &[i32], number: usize) -> bool {
        let is_even = |score: &i32| score.unsigned_abs() <= self.score.unsigned_abs();
        self.from_move <= number
            && last(scores, self.moves).is_some_and(|last| last.iter().all(is_even))
    }
}

/// The last `moves` scores, if there are as many.
fn last(scores: &[i32], moves: usize) -> Option<&[i32]> {
    scores.get(scores.len().checked_sub(moves.max(1))?..)
}

/// A score in centipawns. Mates are beyond all others.
pub(crate) fn centipawns(score: Score) -> i32 {
    match score {
        Score::Cp(score) => score,
        Score::MateIn { .. } | Score::MateInUnknown | Score::MateGiven => 100_000,
        Score::Mated | Score::MatedIn { .. } | Score::MatedInUnknown => -100_000,
    }
}

/// The rules of a player.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) resign: Resign,
    pub(crate) draw: Draw,
}

/// Why a game was not played to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayError<E> {
    #[error("{0}")]
    Wire(E),
    /// The engine cannot play an offered game.
    #[error(transparent)]
    Player(PlayerError),
}

/// Plays a game to its end. Returns false if `stop` was set before it began, or while it could not continue.
pub(crate) fn play<W: Wire>(
    link: &mut Link<W>,
    player: &mut Player<'_>,
    rules: &Rules,
    stop: &AtomicBool,
) -> Result<bool, PlayError<W::Error>> {
    let (mut game, mut is_prepared): (Option<Game>, _) = (None, false);
    loop {
        if stop.load(Ordering::Acquire) && !(link.is_open && game.is_some()) {
            return Ok(false);
        }
        if let Some(game) = &mut game {
            game.advance(&mut link.connection, player, rules);
        }
        let is_searching = game.as_ref().is_some_and(|game| game.turn.is_some());
        let pause = if is_searching { SEARCH_INTERVAL } else { IDLE_INTERVAL };
        match link.poll(pause).map_err(PlayError::Wire)? {
            None => (),
            Some(Event::Offer { start, is_continued }) => {
                if game.is_none() || !is_continued {
                    game = None;
                    player.prepare(&start).map_err(PlayError::Player)?;
                    is_prepared = true;
                }
                link.send_once(&Request::Accept);
            }
            Some(Event::State { board, at, offers_draw }) => {
                if !is_prepared {
                    // Each turn starts a failed engine again.
                    is_prepared = true;
                    if let Err(error) = player.prepare(board.history.start()) {
                        print_error(&error.to_string());
                    }
                }
                let game = game.get_or_insert_with(|| Game::new((*board).clone(), at));
                game.on_state(*board, at);
                if offers_draw && !game.is_draw_answered {
                    let is_allowed = rules.draw.allows(&game.scores, game.board.move_number());
                    link.send_once(&Request::AnswerDraw(is_allowed));
                }
                game.is_draw_answered = offers_draw;
            }
            Some(Event::Over(result)) => {
                player.game_over(result);
                return Ok(true);
            }
        }
    }
}

impl<W: Wire> Link<W> {
    /// Sends a request that is not repeated.
    fn send_once(&mut self, request: &Request) {
        if let Err(failure) = self.connection.send(request) {
            print_error(&failure.into_error().to_string());
        }
    }
}

/// A request that is repeated until the server shows its effect.
struct Pending {
    request: Request,
    /// `None` while the connection is open, if it is reliable.
    next: Option<Instant>,
    pauses: Backoff,
}

/// A running game.
struct Game {
    board: Board,
    /// The search for a move; `None` after the move.
    turn: Option<Turn>,
    pending: Option<Pending>,
    /// Of the own moves that the engine has selected.
    scores: Vec<i32>,
    is_draw_answered: bool,
}

impl Game {
    fn new(board: Board, at: Instant) -> Self {
        let turn = board.turn(at);
        Self { board, turn, pending: None, scores: Vec::new(), is_draw_answered: false }
    }

    fn on_state(&mut self, board: Board, at: Instant) {
        if board.history.moves() != self.board.history.moves() {
            self.turn = board.turn(at);
            self.pending = None;
            self.board = board;
        } else if let Some(pending) = &mut self.pending {
            // The connection was lost, and the server does not know the request.
            pending.next = pending.next.or_else(|| Some(now()));
        }
    }

    fn advance(&mut self, wire: &mut impl Wire, player: &mut Player<'_>, rules: &Rules) {
        if self.pending.is_none()
            && let Some(turn) = &mut self.turn
        {
            let known = if turn.is_new() { wire.known_move(&self.board) } else { None };
            let action = match known {
                Some(mv) => Some(Ok(Action::Play { mv, evaluation: None })),
                None => turn.advance(player, &self.board),
            };
            if let Some(action) = action {
                self.turn = None;
                let (request, pauses) =
                    (self.request(action, rules), Backoff::new(PAUSES.0, PAUSES.1));
                self.pending = Some(Pending { request, next: Some(now()), pauses });
            }
        }
        let Some(pending) = &mut self.pending else { return };
        if pending.next.is_none_or(|next| now() < next) {
            return;
        }
        pending.next = match wire.send(&pending.request) {
            Ok(wait) => wait.map(|wait| now() + wait),
            Err(Failure::Lost(error, pause)) => {
                print_error(&error.to_string());
                Some(now() + pause.unwrap_or_else(|| pending.pauses.pause()))
            }
            Err(Failure::Fatal(error)) => {
                print_error(&error.to_string());
                Some(now() + PAUSES.1)
            }
        };
    }

    /// The request for an action of the engine. One that fails resigns.
    fn request(&mut self, action: Result<Action, PlayerError>, rules: &Rules) -> Request {
        match action {
            Ok(Action::Play { mv, evaluation }) => {
                let score = evaluation.as_ref().map(|evaluation| centipawns(evaluation.score));
                self.scores.extend(score);
                if rules.resign.applies(&self.scores) {
                    return Request::Resign;
                }
                let is_allowed = rules.draw.allows(&self.scores, self.board.move_number());
                Request::Play { mv, evaluation, offers_draw: rules.draw.offer && is_allowed }
            }
            Ok(Action::Resign) => Request::Resign,
            Ok(Action::Declare) => Request::Declare,
            Err(error) => {
                print_error(&format!("the engine resigns: {error}"));
                Request::Resign
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_and_resigns_after_moves_in_succession() {
        let draw = Draw { score: 10, moves: 2, from_move: 30, ..Draw::default() };
        assert!(draw.allows(&[500, 10, -10], 30));
        assert!(!draw.allows(&[0, 0], 29) && !draw.allows(&[0], 40) && !draw.allows(&[0, 11], 40));
        let resign = Resign { score: Some(-900), moves: 2 };
        assert!(resign.applies(&[0, -900, centipawns(Score::Mated)]));
        assert!(!resign.applies(&[-900, 0]) && !resign.applies(&[-900]));
        assert!(!Resign::default().applies(&[-100_000; 9]));
    }
}
